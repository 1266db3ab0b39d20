//! The experiment big-reader: does one big sequential read push out what others use?
//!
//! A hot set of files, one half read twice, the other half mapped and touched, lives in a memory cgroup with room for it and half as
//! much again. Then a stranger reads a file of several times that size once, in one of many ways. What is left of the hot set is
//! counted to the page, and then it is used again. The limit stands for the machine: nothing presses on the host.

mod arms;
mod once;

use std::path::{Path, PathBuf};
use std::time::Duration;

use ramline_evidence::{Arm, RunRecord};
use ramline_kernel::Root;
use ramline_units::Bytes;

use crate::experiment::{Bench, Experiment, Series};
use crate::params::{Kind, Params, row};
use ramline_sandbox::error::{LabError, Result};
use ramline_sandbox::own_fs::{OwnFs, image_size};
use ramline_sandbox::requirements::{Caller, Requirements, Resources, Tool};

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
    docs: "docs/experiments/big-reader.md",
    page: include_str!("../../../../../docs/experiments/big-reader.md"),
    parameters: &[
        row("hot", Kind::Size, Some("64MiB"), "The hot set: half of it is read twice, half of it mapped"),
        row(
            "limit",
            Kind::Size,
            None,
            "Memory of all together, which stands for the machine (one and a half times the hot set)",
        ),
        row("stream", Kind::Size, None, "The file that is read once (four times the limit)"),
        row("arms", Kind::List, Some(arms::DEFAULT), arms::HELP),
        row(
            "reader-limit",
            Kind::Size,
            None,
            "Limit of the reader's own group in own-limit (half of what the hot set leaves)",
        ),
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
    open,
};

/// What was asked for.
#[derive(Debug, Clone)]
struct Plan {
    /// Half of the hot set.
    half: Bytes,
    limit: Bytes,
    stream: Bytes,
    reader_limit: Bytes,
    use_every: Option<Duration>,
    read_ahead: Bytes,
    timeout: Duration,
    runs: u32,
    arms: Vec<Arm>,
}

impl Plan {
    fn of(params: &Params) -> Result<Plan> {
        let size = |name: &str| params.size(name).unwrap_or_default();
        let hot = size("hot");
        let limit = params.size("limit").unwrap_or(Bytes(hot.0 / 2 * 3));
        let stream = params.size("stream").unwrap_or(Bytes(limit.0.saturating_mul(4)));
        let wrong = |text: String, hint: String| Err(LabError::usage(text, format!("ramline lab run {NAME} {hint}")));
        let mib = |size: Bytes| size.0.is_multiple_of(1 << 20);
        if hot < Bytes::from_mib(8) || !hot.0.is_multiple_of(2 << 20) {
            return wrong(
                format!("a hot set of {hot} is not an even number of MiB from 8 on"),
                "--hot 64MiB".to_owned(),
            );
        }
        // The reader, the two processes and what the kernel keeps for them.
        let least = hot + Bytes::from_mib(4);
        if limit < least {
            let text =
                format!("a limit of {limit} does not even hold the hot set of {hot} and 4 MiB for the processes");
            return wrong(text, format!("--hot {}MiB --limit {}MiB", hot.0 >> 20, (hot.0 / 2 * 3) >> 20));
        }
        if stream < limit || !mib(stream) {
            let text = format!("a stream of {stream} does not fill the limit of {limit} (whole MiB)");
            return wrong(text, format!("--stream {}MiB", (limit.0 >> 20) * 4));
        }
        let room = limit.saturating_sub(hot);
        let reader_limit = params.size("reader-limit").unwrap_or(Bytes((room.0 / 2).max(2 << 20)));
        if reader_limit < Bytes::from_mib(2) || reader_limit >= limit {
            let text = format!("a limit of {reader_limit} for the reader is not from 2 MiB to below {limit}");
            return wrong(text, "--reader-limit 16MiB".to_owned());
        }
        let read_ahead = size("read-ahead");
        if read_ahead > Bytes::from_mib(64) || !read_ahead.0.is_multiple_of(4096) {
            let text = format!("a read-ahead of {read_ahead} is not a multiple of 4 KiB up to 64 MiB");
            return wrong(text, "--read-ahead 128KiB".to_owned());
        }
        Ok(Plan {
            half: Bytes(hot.0 / 2),
            limit,
            stream,
            reader_limit,
            use_every: params.time("use-every"),
            read_ahead,
            timeout: params.time("timeout").unwrap_or(Duration::from_secs(60)),
            runs: params.count("runs").and_then(|n| u32::try_from(n).ok()).unwrap_or(7),
            arms: arms::parse(params.list("arms"))?,
        })
    }

    fn files(&self) -> Bytes {
        self.half + self.half + self.stream
    }
}

fn open(root: &Root, params: &Params) -> Result<Box<dyn Series>> {
    let plan = Plan::of(params)?;
    let (command, dir) = (format!("ramline lab run {NAME}"), params.path("dir"));
    let needed = Requirements {
        caller: Caller { command: &command, smaller: "--hot 16MiB", ..Caller::default() },
        root_for: "memory cgroups, loop devices and mounts need root",
        group: true,
        memory: plan.limit,
        tools: Tool::OWN_FS,
        scratch: image_size(plan.files()),
        dir: dir.as_deref(),
        allow_busy: params.switch("allow-busy"),
        ..Requirements::default()
    };
    let tried = dir.as_deref().unwrap_or(Path::new("/var/tmp"));
    let found = needed.check(root, arms::impossible(root, &plan.arms, tried))?;
    Ok(Box::new(BigReader { plan, found, made: None }))
}

/// The files of a series.
#[derive(Debug)]
struct Made {
    fs: OwnFs,
    read_twice: PathBuf,
    mapped: PathBuf,
    stream: PathBuf,
}

#[derive(Debug)]
struct BigReader {
    plan: Plan,
    found: Resources,
    made: Option<Made>,
}

impl Series for BigReader {
    fn arms(&self) -> &[Arm] {
        &self.plan.arms
    }

    fn runs(&self) -> u32 {
        self.plan.runs
    }

    fn lines(&self) -> Vec<String> {
        let plan = &self.plan;
        let mut lines = vec![
            format!(
                "{} runs: {} settings, {} times each, interleaved",
                plan.arms.len() * usize::try_from(plan.runs).unwrap_or(usize::MAX),
                plan.arms.len(),
                plan.runs
            ),
            format!(
                "in a memory cgroup limited to {}: a hot set of {}{}, and a stream of {} beside it",
                plan.limit,
                plan.half + plan.half,
                plan.use_every.map_or_else(String::new, |every| format!(", used every {} ms", every.as_millis())),
                plan.stream
            ),
            format!(
                "scratch: {} below {} ({}), removed afterwards",
                image_size(plan.files()),
                self.found.place.dir.display(),
                self.found.place.fs_type
            ),
        ];
        lines.extend(self.global().iter().map(|what| format!("outside the sandbox: {what}")));
        lines.extend(self.found.doubts.iter().map(|what| format!("doubt: {what}")));
        lines
    }

    fn global(&self) -> Vec<String> {
        let lru = self.plan.arms.iter().any(|arm| arm.settings.contains_key("lru"));
        let text = "the multi-generational LRU of the whole machine is switched on or off and put back after each run";
        if lru { vec![text.to_owned()] } else { Vec::new() }
    }

    fn longest_run(&self) -> Duration {
        self.plan.timeout.saturating_add(Duration::from_secs(10))
    }

    fn prepare(&mut self, bench: &mut Bench<'_>) -> Result<()> {
        let plan = &self.plan;
        bench.progress.step(&format!("writing {} of files below {}", plan.files(), self.found.place.dir.display()));
        let fs = OwnFs::create(&self.found.place.dir, image_size(plan.files()), plan.read_ahead, bench.run)?;
        self.made = Some(Made {
            read_twice: fs.file("read-twice", plan.half)?,
            mapped: fs.file("mapped", plan.half)?,
            stream: fs.file("stream", plan.stream)?,
            fs,
        });
        Ok(())
    }

    fn once(&mut self, arm: &Arm, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<()> {
        let made =
            self.made.as_ref().ok_or_else(|| LabError::Workload("the scratch place is not prepared".to_owned()))?;
        once::Once { plan: &self.plan, found: &self.found, made }.run(arm, record, bench)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(values: &[(&str, &str)]) -> Result<Plan> {
        let mut params = EXPERIMENT.defaults();
        for (name, value) in values {
            params.set(&EXPERIMENT.table(), name, vec![(*value).to_owned()])?;
        }
        Plan::of(&params)
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
