//! The experiment fork-storm: what forks of a large process cost, with small pages and with transparent huge pages.
//!
//! A fork copies page tables, not pages: with huge pages there are 512 times fewer entries to copy. What is written afterwards, by the
//! copy or by the process itself, is copied page by page. Both are timed, and what a storm of copies is charged is read off the group.

mod holder;

use self::holder::{ForkReport, ForkTask, Stage};
use crate::prelude::*;

/// Its name on the command line and in records.
pub const NAME: &str = "fork-storm";

/// The settings: pages of 4 KiB only, and huge ones where the kernel can.
const ARMS: [&str; 2] = ["small", "huge"];

/// The row of the table.
pub const EXPERIMENT: Experiment = Experiment {
    name: NAME,
    question: "What do forks of a large process cost, with and without transparent huge pages?",
    how: "A process in a memory cgroup fills private memory, of 4 KiB pages in one setting and of huge pages in the other. It forks copies that end at \
          once, one after the other, and each fork is timed. Then several copies live at once and write to one page of every 16 (--every); what the \
          group is charged for them is read while they stand still. At last the process writes to its own pages again.",
    needs: "root, a memory cgroup (version 1 or 2), memory for the process and all it may copy",
    reading: include_str!(concat!(env!("OUT_DIR"), "/reading/fork-storm.md")),
    parameters: &[
        row("arms", Kind::List, Some("small,huge"), "Settings, comma-separated: small, huge"),
        row("size", Kind::Size, Some("128MiB"), "Memory of the process"),
        row("forks", Kind::Count(1, 1000), Some("50"), "Copies that end at once, one after the other"),
        row("together", Kind::Count(1, 64), Some("4"), "Copies that live at once in the storm"),
        row("every", Kind::Count(1, 512), Some("16"), "Pages of which each copy of the storm writes to one"),
        row("timeout", Kind::Time, Some("60s"), "When a run is given up"),
    ],
    figures: &["fork", "copied in the storm"],
    child: Some(holder::hold),
    study: Study::Series,
    forecast: None,
    open,
};

fn open(root: &Root, params: &Params) -> Result<PlannedSeries> {
    let size = params.size("size").unwrap_or_default();
    let fits = (Bytes::from_mib(4)..=Bytes::from_gib(16)).contains(&size) && size.0.is_multiple_of(2 << 20);
    let text = format!("a size of {size} is not a multiple of 2 MiB from 4 MiB to 16 GiB");
    refuse_if(!fits, NAME, "--size 128MiB", text)?;
    let arm = |name: &String| {
        let text = format!("'{}' is not a setting", name.escape_debug());
        refuse_if(!ARMS.contains(&name.as_str()), NAME, "--arms small,huge", text)?;
        Ok(Arm::named(name, &[("pages", name)]))
    };
    let arms = params.list("arms").iter().map(arm).collect::<Result<Vec<_>>>()?;
    let count = |name: &str| params.count(name).unwrap_or(1);
    let (forks, together, every) = (count("forks"), count("together"), count("every"));
    let limit = Bytes(size.0.saturating_mul(together + 1)) + Bytes::from_mib(64);
    let needed = Requirements {
        smaller: "--size 32MiB",
        root_for: "a memory cgroup needs root",
        group: true,
        memory: limit,
        ..params.requirements(NAME)
    };
    let huge = arms.iter().any(|arm| arm.name == "huge");
    let found = needed.check(root, never(root).filter(|_| huge).into_iter().collect())?;
    let (runs, timeout) = (params.runs(), params.time("timeout").unwrap_or_default());
    let sentences = vec![
        format!("{} settings, {runs} times each, interleaved; each at most {} s", arms.len(), timeout.as_secs()),
        format!(
            "a process of {size} in a memory cgroup limited to {limit}: {forks} forks, then {together} copies that write to one of {every} pages"
        ),
    ];
    let (doubts, longest_run) = (found.doubts.clone(), timeout.saturating_add(Duration::from_secs(10)));
    let work = Box::new(ForkStorm { task: ForkTask { size, forks, together, every, huge }, limit, timeout, found });
    Ok(PlannedSeries { arms, runs, sentences, global: Vec::new(), doubts, longest_run, work })
}

/// Why there are no huge pages here.
fn never(root: &Root) -> Option<Reason> {
    let seen = gather(root, Wanted { thp: true, ..Wanted::NOTHING });
    let enabled = seen.thp.data().and_then(|thp| thp.enabled.clone());
    let text = match enabled.as_deref() {
        Some("always" | "madvise") => return None,
        Some(other) => format!("transparent huge pages are set to {other}"),
        None => "this kernel has no transparent huge pages".to_owned(),
    };
    Some(Reason::new(text, format!("ramline lab run {NAME} --arms small")))
}

struct ForkStorm {
    task: ForkTask,
    limit: Bytes,
    timeout: Duration,
    found: Resources,
}

impl Series for ForkStorm {
    fn once(&mut self, arm: &Arm, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<()> {
        self.found.describe(record);
        record.notes.extend(requirements::settle(bench.root, Duration::from_secs(3), bench.run)?);
        let group = bench.group(&self.found, Some(self.limit), true, record)?;
        let task = ForkTask { huge: arm.name == "huge", ..self.task.clone() };
        let looks = self.follow(&group, &task, record, bench)?;
        record.after = observe::counters(bench.root, &group.stat()?);
        observe::note_killed_bystanders(record);
        if let Some(huge) = looks.iter().find(|(stage, _)| *stage == Stage::Filled).and_then(|(_, stat)| stat.anon_huge)
        {
            record.verified.insert("huge pages".to_owned(), huge.to_string());
            if task.huge && huge < Bytes(task.size.0 / 10 * 9) {
                record.notes.push(format!("only {huge} of {} are huge pages: memory is fragmented", task.size));
            }
        }
        Ok(())
    }
}

impl ForkStorm {
    /// From start to end; what the group was charged each time the process stood still.
    fn follow(
        &self,
        group: &Group,
        task: &ForkTask,
        record: &mut RunRecord,
        bench: &mut Bench<'_>,
    ) -> Result<Vec<(Stage, GroupStat)>> {
        let mut holder = Supervisor::<ForkReport>::from_task(NAME, task, group, bench.run)?;
        let late = bench.deadline.map_or(Instant::now() + self.timeout, |end| end.min(Instant::now() + self.timeout));
        let (begin, mut looks, mut last) = (process::monotonic(), Vec::new(), ForkReport::default());
        let end = loop {
            match holder.next_event()? {
                Event::Waiting(report) => {
                    if looks.is_empty() {
                        holder.must_be_in(group)?;
                    }
                    looks.push((report.stage, group.stat()?));
                    bench.progress.phase(report.stage.next());
                    last = report;
                    holder.resume();
                }
                Event::Tick if Instant::now() > late => {
                    holder.stop(Verdict::Thrashing(format!("{} s passed", self.timeout.as_secs())))?;
                }
                Event::Tick | Event::Report(_) => {}
                Event::Ended(end) => break end,
            }
        };
        let finished = (last.stage == Stage::Written).then_some(Verdict::Completed);
        record.verdict =
            end.verdict(finished, "the group was out of memory: the copies took more than they were given");
        record.elapsed = end.at.saturating_sub(begin);
        (record.user, record.system) = (end.usage.user, end.usage.system);
        record.reclaim = observe::reclaim(record, end.usage.majflt);
        if record.verdict == Verdict::Completed {
            record.figures = figures(task, &last, &looks);
        }
        record.detail = ramline_units::json::tree(&last).ok();
        Ok(looks)
    }
}

/// What the table of a series is made of.
fn figures(task: &ForkTask, last: &ForkReport, looks: &[(Stage, GroupStat)]) -> Vec<Figure> {
    let at = |stage: Stage| looks.iter().find(|(other, _)| *other == stage).map(|(_, stat)| stat);
    let copied = || Some(at(Stage::Storm)?.anon?.saturating_sub(at(Stage::Filled)?.anon?));
    let pages = task.size.0 / process::page_size();
    let writes = pages.div_ceil(task.every.max(1)) * task.together;
    let each = |ns: u64, pages: u64| (pages > 0).then(|| ns as f64 / 1e9 / pages as f64);
    let huge = |stage: Stage| at(stage).and_then(|stat| stat.anon_huge);
    let times = copied().map(|all| all.as_f64() / (writes * 4096) as f64);
    let mut out = Figures::default();
    out.time("fork", median(&last.forks_ns).map(Nanos));
    out.time("fork and end", median(&last.whole_ns).map(Nanos));
    out.bytes("copied in the storm", copied(), Better::Lower);
    out.add("copied for each byte written to", times, "times", Better::Lower);
    out.add("a write of a copy", each(last.copies_ns, writes), "s", Better::Lower);
    out.add("faults of a copy", last.faults as f64 / task.together.max(1) as f64, "faults", Better::Lower);
    out.add("a write of the process afterwards", each(last.written_ns, pages), "s", Better::Lower);
    out.bytes("huge pages before", huge(Stage::Filled), Better::Neither);
    out.bytes("huge pages afterwards", huge(Stage::Written), Better::Neither);
    out.bytes("page tables", at(Stage::Filled).and_then(|stat| stat.page_tables), Better::Lower);
    out.0
}

/// Of an even number the lower of the two in the middle.
fn median(values: &[u64]) -> Option<u64> {
    let mut sorted = values.to_vec();
    sorted.sort_unstable();
    sorted.get(sorted.len().saturating_sub(1) / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_hold_what_was_copied_against_what_was_written_to() {
        let task = ForkTask { size: Bytes::from_mib(8), forks: 3, together: 2, every: 16, huge: true };
        // 128 pages for each of two copies: 1 MiB is written to.
        let at = |stage, mib| (stage, GroupStat { anon: Some(Bytes::from_mib(mib)), ..GroupStat::default() });
        let last = ForkReport { forks_ns: vec![30, 10, 20], copies_ns: 256_000, faults: 256, ..ForkReport::default() };
        let told = figures(&task, &last, &[at(Stage::Filled, 8), at(Stage::Storm, 10)]);
        let value = |name: &str| told.iter().find(|figure| figure.name == name).map(|figure| figure.value);
        assert_eq!(value("fork"), Some(2e-8));
        assert_eq!(
            (value("copied in the storm"), value("copied for each byte written to")),
            (Some(2_097_152.0), Some(2.0))
        );
        assert_eq!((value("a write of a copy"), value("faults of a copy")), (Some(1e-6), Some(128.0)));
        assert_eq!(value("page tables"), None, "not told here");
    }
}
