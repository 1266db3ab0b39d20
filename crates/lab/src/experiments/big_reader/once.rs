//! One run of big-reader: cold files, fresh groups, a hot set proven to be there, the stream, what is left, and its use again.

use ramline_kernel::write;
use ramline_units::growth;

use super::arms::{self, Where};
use super::{BigReaderPlan, Made};
use crate::prelude::*;
use ramline_sandbox::child::Polled;

/// Time between two looks at what is left.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Looks are this many at most; then they become rarer.
const LOOKS: usize = 400;

/// One run.
pub struct Once<'a> {
    pub plan: &'a BigReaderPlan,
    pub found: &'a Resources,
    pub made: &'a Made,
}

/// The groups of a run: one with the limit, which holds the others.
struct Groups {
    hot: Group,
    reader: Group,
}

/// Pages in the cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Resident {
    read_twice: u64,
    mapped: u64,
    stream: u64,
}

/// What a stream cost, or how it ended without.
type Streamed = std::result::Result<Response, Verdict>;

impl Once<'_> {
    pub fn run(&self, arm: &Arm, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<()> {
        let way = arms::for_arm(arm).ok_or_else(|| LabError::Workload(format!("no such setting: {}", arm.name)))?;
        self.found.describe(record);
        record.notes.extend(requirements::settle(bench.root, Duration::ZERO, bench.run)?);
        let switch = knobs::file(bench.root, Knob::Mglru);
        if let Some((knob, value)) = switch.as_ref().zip(arms::lru(arm)) {
            bench.run.set_knob(knob, value)?;
        }
        if let Some(value) = switch.and_then(|knob| write::read_knob(&knob)) {
            record.verified.insert("lru_gen/enabled".to_owned(), value);
        }
        for path in [&self.made.read_twice, &self.made.mapped, &self.made.stream] {
            scratch::evict(path)?;
        }
        let groups = self.groups(bench.root, way.place, record, bench.run)?;
        let mut holder = Worker::start(bench.run, Some(&groups.hot))?;
        bench.progress.phase("bringing the hot set in");
        self.warm(&mut holder)?;
        let (full, charged) = (self.proven()?, groups.hot.stat()?);
        record.before = observe::counters(bench.root, &charged);
        let hot = pages(full.read_twice + full.mapped);
        record.verified.insert("hot set in the cache before the stream".to_owned(), hot.to_string());
        // The first toucher pays; statistics lag by up to 64 pages per CPU.
        let lag = pages(64 * u64::from(record.machine.cpus));
        if let Some(file) = charged.file.filter(|file| *file + lag < hot) {
            let text =
                format!("only {file} of the hot set of {hot} were charged to its group: others paid for the rest");
            record.notes.push(text);
        }
        let mut looks = Vec::new();
        bench.progress.phase("the big read");
        let streamed = match way.how {
            None => None,
            Some(how) => {
                let mut reader = Worker::start(bench.run, Some(&groups.reader))?;
                match self.stream(&mut reader, &mut holder, how, &groups, &mut looks)? {
                    Ok(done) => {
                        (record.elapsed, record.user, record.system) = (done.took, done.user, done.system);
                        Some(done)
                    }
                    Err(verdict) => {
                        record.verdict = verdict;
                        return Ok(());
                    }
                }
            }
        };
        bench.progress.phase("using the hot set again");
        let left = self.resident()?;
        let base = groups.hot.stat()?;
        let again = self.use_again(&mut holder)?;
        let after = groups.hot.stat()?;
        record.after = observe::counters(bench.root, &after);
        record.figures = figures(full, left, streamed, again, (&base, &after));
        record.detail = Some(json!({
            "hot_pages": { "read_twice": full.read_twice, "mapped": full.mapped },
            "left_pages": { "read_twice": left.read_twice, "mapped": left.mapped, "stream": left.stream },
            "over_time": looks,
        }));
        record.verdict = Verdict::Completed;
        let lost = full.read_twice + full.mapped - left.read_twice - left.mapped;
        if way.how.is_none() && lost > 0 {
            let text = format!(
                "{lost} pages of the hot set went although nothing was read: something else on this machine evicts"
            );
            record.notes.push(text);
        }
        Ok(())
    }

    /// One group with the limit, and in it one for the hot set and, where the arm says so, one for the reader.
    fn groups(&self, root: &Root, place: Where, record: &mut RunRecord, run: &mut Run) -> Result<Groups> {
        let whole = self.found.make_group(record.order, run)?;
        record.verified.extend(self.made.fs.verified());
        let mut set = |prefix: &str, changes: Vec<write::Change>| {
            record.verified.extend(group::verified(changes).map(|(file, value)| (format!("{prefix}{file}"), value)));
        };
        set("", whole.set_memory_limit(Limit::At(self.plan.limit))?);
        set("", group::forbid_swap(root, &whole)?);
        let hot = run.make_cgroup_below(&whole, "ramline-hot")?;
        let reader = match place {
            Where::Together => hot.clone(),
            Where::Apart => run.make_cgroup_below(&whole, "ramline-reader")?,
            Where::Limited => {
                let group = run.make_cgroup_below(&whole, "ramline-reader")?;
                set("reader: ", group.set_memory_limit(Limit::At(self.plan.reader_limit))?);
                group
            }
        };
        Ok(Groups { hot, reader })
    }

    /// One half is read twice, as the kernel asks of what it is to keep; the other mapped and touched, and it stays mapped.
    fn warm(&self, holder: &mut Worker) -> Result<()> {
        let mut execute = |request| holder.execute(&request, self.plan.timeout);
        for _ in 0..2 {
            execute(Request::Read { path: self.made.read_twice.clone(), how: ReadMethod::Plain })?;
        }
        execute(Request::Map { path: self.made.mapped.clone() })?;
        execute(Request::Touch).map(drop)
    }

    /// Reads the one half and touches the other.
    fn use_again(&self, holder: &mut Worker) -> Result<(Response, Response)> {
        let read = Request::Read { path: self.made.read_twice.clone(), how: ReadMethod::Plain };
        Ok((holder.execute(&read, self.plan.timeout)?, holder.execute(&Request::Touch, self.plan.timeout)?))
    }

    /// All of the hot set is there and nothing of the stream.
    fn proven(&self) -> Result<Resident> {
        let now = self.resident()?;
        let pages = self.plan.half.0 / process::page_size();
        let wanted = Resident { read_twice: pages, mapped: pages, stream: 0 };
        if now == wanted {
            return Ok(now);
        }
        let text = format!("the start is not what it should be, pages in the cache: {now:?}, not {wanted:?}");
        Err(LabError::Workload(text))
    }

    fn resident(&self) -> Result<Resident> {
        Ok(Resident {
            read_twice: scratch::cached(&self.made.read_twice)?,
            mapped: scratch::cached(&self.made.mapped)?,
            stream: scratch::cached(&self.made.stream)?,
        })
    }

    /// Reads the stream and looks meanwhile. Each look also brings the groups' statistics up to date, as those of a whole machine
    /// always are; left alone, reclaim in a group works on numbers up to 2 s old.
    fn stream(
        &self,
        reader: &mut Worker,
        holder: &mut Worker,
        how: ReadMethod,
        groups: &Groups,
        looks: &mut Vec<serde_json::Value>,
    ) -> Result<Streamed> {
        let begin = Instant::now();
        reader.send(&Request::Read { path: self.made.stream.clone(), how });
        let mut used = Instant::now();
        loop {
            // Both halves, as whoever works with them would.
            if self.plan.use_every.is_some_and(|every| used.elapsed() >= every) {
                used = Instant::now();
                self.use_again(holder)?;
            }
            let wait = LOOK_EVERY
                .min(self.plan.use_every.unwrap_or(LOOK_EVERY))
                .saturating_mul(u32::try_from(1 + looks.len() / LOOKS).unwrap_or(u32::MAX));
            match reader.poll(wait)? {
                Polled::Response(done) => return Ok(Ok(done)),
                Polled::Ended(end) => {
                    let oom = "the kernel: the group was out of memory";
                    let why = if end.out_of_memory { oom.to_owned() } else { end.status.to_string() };
                    return Ok(Err(Verdict::Killed(why)));
                }
                Polled::Pending if begin.elapsed() > self.plan.timeout => {
                    let why = format!("{} s passed and the stream was not read", self.plan.timeout.as_secs());
                    return Ok(Err(Verdict::Thrashing(why)));
                }
                Polled::Pending => {
                    groups.hot.stat()?;
                    let now = self.resident()?;
                    let at = u64::try_from(begin.elapsed().as_millis()).unwrap_or(u64::MAX);
                    looks.push(json!({ "at_ms": at, "read_twice": now.read_twice, "mapped": now.mapped, "stream": now.stream }));
                }
            }
        }
    }
}

fn figures(
    full: Resident,
    left: Resident,
    streamed: Option<Response>,
    (read, touched): (Response, Response),
    (base, after): (&GroupStat, &GroupStat),
) -> Vec<Figure> {
    let mut out = Figures::default();
    let share = |left: u64, full: u64| if full == 0 { 0.0 } else { left as f64 / full as f64 * 100.0 };
    let all = share(left.read_twice + left.mapped, full.read_twice + full.mapped);
    out.add("hot set kept", all, "%", Better::Higher);
    let refaults = base.refault_file.zip(after.refault_file).and_then(|(base, after)| growth(base, after));
    out.pages("refaults", refaults, Better::Lower);
    let again = read.took.as_secs_f64() + touched.took.as_secs_f64();
    out.add("time to use it again", again, "s", Better::Lower);
    out.add("read twice, kept", share(left.read_twice, full.read_twice), "%", Better::Higher);
    out.add("mapped, kept", share(left.mapped, full.mapped), "%", Better::Higher);
    out.time("read twice, time to read it again", read.took);
    out.time("mapped, time to touch it again", touched.took);
    if let Some(stream) = streamed {
        out.time("stream, time", stream.took);
        out.rate("stream, rate", stream.bytes.as_f64(), stream.took, "bytes/s");
        let cpu = stream.user.as_secs_f64() + stream.system.as_secs_f64();
        out.add("stream, CPU time", cpu, "s", Better::Lower);
        out.bytes("stream, left in the cache", pages(left.stream), Better::Lower);
    }
    out.0
}

/// So many pages of this machine.
fn pages(count: u64) -> Bytes {
    Bytes(count.saturating_mul(process::page_size()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_units::Nanos;

    #[test]
    fn what_is_kept_is_a_share_of_what_was_there_and_refaults_are_a_difference() {
        let full = Resident { read_twice: 100, mapped: 100, stream: 0 };
        let left = Resident { read_twice: 75, mapped: 25, stream: 8 };
        let stat = |refaults| GroupStat { refault_file: refaults, ..GroupStat::default() };
        let done = Response { took: Nanos(500_000_000), bytes: Bytes(4096), ..Response::default() };
        let of = |name: &str, base, after| {
            let all = figures(full, left, Some(done), (done, done), (&stat(base), &stat(after)));
            all.iter().find(|figure| figure.name == name).map(|figure| figure.value)
        };
        assert_eq!(of("hot set kept", None, None), Some(50.0));
        assert_eq!(of("read twice, kept", None, None), Some(75.0));
        assert_eq!(of("time to use it again", None, None), Some(1.0));
        assert_eq!((of("refaults", Some(5), Some(9)), of("refaults", None, Some(9))), (Some(4.0), None));
        assert_eq!(of("stream, rate", None, None), Some(8192.0));
    }
}
