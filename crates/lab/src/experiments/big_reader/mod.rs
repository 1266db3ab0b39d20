//! The experiment big-reader: does one big sequential read push out what others use?
//!
//! A hot set of files, one half read twice, the other half mapped and touched, lives in a memory cgroup with room for it and half as
//! much again. Then a stranger reads a file of several times that size once, in one of many ways. What is left of the hot set is
//! counted to the page, and then it is used again. The limit stands for the machine: nothing presses on the host.

mod arms;
mod once;

use crate::prelude::*;

/// Its name on the command line and in records.
pub const NAME: &str = "big-reader";

/// The row of the table.
pub const EXPERIMENT: Experiment = Experiment {
    name: NAME,
    question: "Does one big sequential read push out the files that others use?",
    how: "A hot set of files, half of it read twice and half of it mapped, lives in a memory cgroup that has room for it and half as \
          much again. Then another program reads a file of several times that size once, each setting in another way. How much of the hot set is \
          left is counted to the page; then it is used again, timed.",
    needs: "root, a memory cgroup (version 1 or 2), mke2fs, a disk with twice the files free, the limit and a margin in memory",
    reading: include_str!(concat!(env!("OUT_DIR"), "/reading/big-reader.md")),
    parameters: &[
        row("hot", Kind::Size, Some("64MiB"), "The hot set: half of it is read twice, half of it mapped"),
        params::size(
            "limit",
            "Memory of all together, which stands for the machine (one and a half times the hot set)",
        ),
        params::size("stream", "The file that is read once (four times the limit)"),
        row("arms", Kind::List, Some(arms::DEFAULT), arms::HELP),
        params::size("reader-limit", "Limit of the reader's own group in own-limit (half of what the hot set leaves)"),
        row(
            "use-every",
            Kind::Time,
            None,
            "Use the hot set again and again while the stream is read, at this interval (it lies idle)",
        ),
        row("read-ahead", Kind::Size, Some("128KiB"), "Read-ahead of the scratch device; the host's disks keep theirs"),
        row("timeout", Kind::Time, Some("60s"), "When a reader that does not come to an end is given up"),
    ],
    figures: &["hot set kept", "refaults", "time to use it again"],
    child: None,
    study: Study::Series,
    forecast: None,
    open,
};

/// What was asked for.
#[derive(Debug)]
struct BigReaderPlan {
    /// Half of the hot set.
    half: Bytes,
    limit: Bytes,
    stream: Bytes,
    reader_limit: Bytes,
    use_every: Option<Duration>,
    read_ahead: Bytes,
    timeout: Duration,
    arms: Vec<Arm>,
}

impl BigReaderPlan {
    fn from_params(params: &Params) -> Result<BigReaderPlan> {
        let size = |name: &str| params.size(name).unwrap_or_default();
        let (hot, read_ahead) = (size("hot"), size("read-ahead"));
        let limit = params.size("limit").unwrap_or(Bytes(hot.0 / 2 * 3));
        let stream = params.size("stream").unwrap_or(Bytes(limit.0.saturating_mul(4)));
        let text = format!("a hot set of {hot} is not an even number of MiB from 8 on");
        refuse_if(hot < Bytes::from_mib(8) || !hot.0.is_multiple_of(2 << 20), NAME, "--hot 64MiB", text)?;
        // The reader, the two processes and what the kernel keeps for them.
        let enough = format!("--hot {}MiB --limit {}MiB", hot.0 >> 20, (hot.0 / 2 * 3) >> 20);
        let text = format!("a limit of {limit} does not even hold the hot set of {hot} and 4 MiB for the processes");
        refuse_if(limit < hot + Bytes::from_mib(4), NAME, &enough, text)?;
        let enough = format!("--stream {}MiB", (limit.0 >> 20) * 4);
        let text = format!("a stream of {stream} does not fill the limit of {limit} (whole MiB)");
        refuse_if(stream < limit || !stream.0.is_multiple_of(1 << 20), NAME, &enough, text)?;
        let room = limit.saturating_sub(hot);
        let reader_limit = params.size("reader-limit").unwrap_or(Bytes((room.0 / 2).max(2 << 20)));
        let fits = (Bytes::from_mib(2)..limit).contains(&reader_limit);
        let text = format!("a limit of {reader_limit} for the reader is not from 2 MiB to below {limit}");
        refuse_if(!fits, NAME, "--reader-limit 16MiB", text)?;
        check_read_ahead(read_ahead, NAME)?;
        let (use_every, timeout) = (params.time("use-every"), params.time("timeout").unwrap_or_default());
        let arms = arms::parse(params.list("arms"))?;
        Ok(BigReaderPlan { half: Bytes(hot.0 / 2), limit, stream, reader_limit, use_every, read_ahead, timeout, arms })
    }

    fn files(&self) -> Bytes {
        self.half + self.half + self.stream
    }
}

fn open(root: &Root, params: &Params) -> Result<PlannedSeries> {
    let plan = BigReaderPlan::from_params(params)?;
    let needed = Requirements {
        smaller: "--hot 16MiB",
        root_for: "memory cgroups, loop devices and mounts need root",
        group: true,
        memory: plan.limit,
        tools: Tool::OWN_FS,
        scratch: image_size(plan.files()),
        ..params.requirements(NAME)
    };
    let tried = needed.dir.as_deref().unwrap_or(Path::new("/var/tmp"));
    let found = needed.check(root, arms::impossible(root, &plan.arms, tried))?;
    let (runs, arms, hot) = (params.runs(), plan.arms.clone(), plan.half + plan.half);
    let used = plan.use_every.map(|every| format!(", used every {} ms", every.as_millis())).unwrap_or_default();
    let sentences = vec![
        counted(arms.len(), "settings", runs),
        format!(
            "in a memory cgroup limited to {}: a hot set of {hot}{used}, and a stream of {} beside it",
            plan.limit, plan.stream
        ),
        found.scratch_sentence(image_size(plan.files())),
    ];
    let text = "the multi-generational LRU of the whole machine is switched on or off and put back after each run";
    let lru = arms.iter().any(|arm| arm.settings.contains_key("lru"));
    let global = lru.then(|| text.to_owned()).into_iter().collect();
    let longest_run = plan.timeout.saturating_add(Duration::from_secs(10));
    let doubts = found.doubts.clone();
    let work = Box::new(BigReader { plan, found, made: None });
    Ok(PlannedSeries { arms, runs, sentences, global, doubts, longest_run, work })
}

/// The files of a series.
struct Made {
    fs: OwnFs,
    read_twice: PathBuf,
    mapped: PathBuf,
    stream: PathBuf,
}

struct BigReader {
    plan: BigReaderPlan,
    found: Resources,
    made: Option<Made>,
}

impl Series for BigReader {
    fn prepare(&mut self, bench: &mut Bench<'_>) -> Result<()> {
        let (plan, place) = (&self.plan, &self.found.place);
        bench.progress.step(&format!("writing {} of files below {}", plan.files(), place.dir.display()));
        let fs = OwnFs::create(&place.dir, image_size(plan.files()), plan.read_ahead, bench.run)?;
        let (read_twice, mapped) = (fs.file("read-twice", plan.half)?, fs.file("mapped", plan.half)?);
        self.made = Some(Made { read_twice, mapped, stream: fs.file("stream", plan.stream)?, fs });
        Ok(())
    }

    fn once(&mut self, arm: &Arm, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<()> {
        once::Once { plan: &self.plan, found: &self.found, made: prepared(&self.made)? }.run(arm, record, bench)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(values: &[(&str, &str)]) -> Result<BigReaderPlan> {
        let mut params = EXPERIMENT.defaults();
        for (name, value) in values {
            params.set(&EXPERIMENT.table(), name, vec![(*value).to_owned()])?;
        }
        BigReaderPlan::from_params(&params)
    }

    #[test]
    fn the_limit_holds_the_hot_set_and_half_as_much_again_and_the_stream_four_times_that() {
        let plan = plan(&[]).unwrap();
        assert_eq!((plan.limit, plan.stream), (Bytes::from_mib(96), Bytes::from_mib(384)));
    }

    #[test]
    fn sizes_that_prove_nothing_are_refused_with_sizes_that_do() {
        let text = |values: &[(&str, &str)]| plan(values).unwrap_err().to_string();
        assert!(text(&[("hot", "3MiB")]).contains("--hot 64MiB"));
        assert!(text(&[("limit", "66MiB")]).contains("does not even hold the hot set"));
        assert!(text(&[("stream", "64MiB")]).contains("--stream 384MiB"));
        assert!(text(&[("reader-limit", "96MiB")]).contains("--reader-limit"));
        assert!(text(&[("read-ahead", "5KiB")]).contains("multiple of 4 KiB"));
        assert!(text(&[("arms", "plain,sideways")]).contains("there is no setting 'sideways'"));
    }
}
