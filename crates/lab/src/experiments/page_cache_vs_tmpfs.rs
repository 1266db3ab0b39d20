//! The experiment page-cache-vs-tmpfs: the same reads and writes in a file that is cached, and in one that is only memory.
//!
//! What it is: system calls and copying, no device: what is read is proven to be in memory. What it is not: a comparison of
//! tmpfs with a disk; that is tmpfs-vs-disk. Here the question is whether data that is cached anyway gains by moving.

use std::time::Duration;

use ramline_evidence::{Arm, RunRecord, Verdict};
use ramline_kernel::Root;
use ramline_units::Bytes;
use serde_json::json;

use crate::experiment::{Bench, Experiment, Series};
use crate::fileops::child;
use crate::fileops::ground::{self, Grounds, Place};
use crate::fileops::{FileTask, Op, figures};
use crate::params::{Kind as Of, Parameter, Params, row};
use ramline_sandbox::error::{LabError, Result};
use ramline_sandbox::fill::Fill;
use ramline_sandbox::requirements::{Caller, Requirements, Resources, scratch_line};

/// Its name on the command line and in records.
pub const NAME: &str = "page-cache-vs-tmpfs";

const PLAIN: &str = "ramline lab run page-cache-vs-tmpfs --arms disk,tmpfs";

/// The row of the table.
pub const EXPERIMENT: Experiment = Experiment {
    name: NAME,
    question: "Does a file that is in the page cache anyway gain by lying in tmpfs?",
    how: "A file of 1.5 MB is opened, read in calls of 8 KiB and closed, many times, once on a disk and fully cached, once in \
          tmpfs. Then one block of 8 KiB is written many times, into a file that is emptied first and over what is there. \
          User and system time are kept apart, the cost of the loop itself is taken off.",
    needs: "root (to mount a tmpfs), a disk for the other file",
    docs: "docs/experiments/page-cache-vs-tmpfs.md",
    page: include_str!("../../../../docs/experiments/page-cache-vs-tmpfs.md"),
    parameters: PARAMETERS,
    figures: &["read: per CPU second", "rewrite: per CPU second", "in-place: per CPU second"],
    open,
};

const PARAMETERS: &[Parameter] = &[
    row(
        "arms",
        Of::List,
        Some("disk,tmpfs"),
        "Places, comma-separated: disk, tmpfs, tmpfs-huge, tmpfs-pinned, ramfs, ext4, xfs",
    ),
    row("size", Of::Size, Some("1500000B"), "Size of the file that is read"),
    row("block", Of::Size, Some("8KiB"), "Bytes per call"),
    row("reads", Of::Count(1, 10_000_000), None, "How often it is read (2000; 10000 with --full)"),
    row("writes", Of::Count(1, 10_000_000), None, "How often a block is written (20000; 100000 with --full)"),
    row("full", Of::Switch, Some("false"), "The numbers of the published measurement"),
    row("timeout", Of::Time, Some("2min"), "When an operation is given up"),
];

const OPS: [Op; 3] = [Op::Read, Op::Rewrite, Op::InPlace];

#[derive(Debug, Clone)]
struct Settings {
    places: Vec<Place>,
    size: Bytes,
    block: Bytes,
    reads: u64,
    writes: u64,
    seed: u64,
    runs: u32,
    timeout: Duration,
}

impl Settings {
    fn of(params: &Params) -> Result<Settings> {
        let full = params.switch("full");
        let settings = Settings {
            places: ground::places(params.list("arms"), PLAIN)?,
            size: params.size("size").unwrap_or(Bytes(1_500_000)),
            block: params.size("block").unwrap_or(Bytes::from_kib(8)),
            reads: params.count("reads").unwrap_or(if full { 10_000 } else { 2000 }),
            writes: params.count("writes").unwrap_or(if full { 100_000 } else { 20_000 }),
            seed: params.count("seed").unwrap_or_default(),
            runs: params.count("runs").and_then(|n| u32::try_from(n).ok()).unwrap_or(7),
            timeout: params.time("timeout").unwrap_or(Duration::from_secs(120)),
        };
        let wrong = |message: String, hint: &str| Err(LabError::usage(message, format!("{PLAIN} {hint}").trim_end()));
        if settings.block.0 == 0 || settings.block > settings.size {
            let text = format!("a block of {} is not between 1 B and the size, {}", settings.block, settings.size);
            return wrong(text, "--block 8KiB");
        }
        if settings.size > Bytes::from_gib(1) {
            return wrong(format!("--size: {} is more than 1 GiB", settings.size), "--size 1500000B");
        }
        if let Some(place) = settings.places.iter().find(|place| place.no_swap || place.name == "zram") {
            let text = format!(
                "the setting {} says nothing here: nothing is under pressure, nothing is compressed",
                place.name
            );
            return wrong(text, "");
        }
        Ok(settings)
    }

    fn content(&self) -> Bytes {
        self.size + self.block + Bytes::from_mib(16)
    }
}

fn open(root: &Root, params: &Params) -> Result<Box<dyn Series>> {
    let settings = Settings::of(params)?;
    let images = settings.places.iter().filter(|place| matches!(place.kind, ground::Kind::Image(_)));
    let images: u64 = images.map(|place| ground::image_size(place.kind, settings.content()).0).sum();
    let (command, dir) = (format!("ramline lab run {NAME}"), params.path("dir"));
    let needed = Requirements {
        caller: Caller { command: &command, smaller: "--size 1500000B", ..Caller::default() },
        root_for: ground::ROOT_FOR,
        memory: settings.content() + settings.content(),
        tools: &ground::tools(&settings.places),
        scratch: Bytes(images) + settings.content(),
        dir: dir.as_deref(),
        allow_busy: params.switch("allow-busy"),
        ..Requirements::default()
    };
    let found = needed.check(root, ground::unknown_options(&settings.places, PLAIN))?;
    let arms = settings.places.iter().map(Place::arm).collect();
    Ok(Box::new(PageCacheVsTmpfs { settings, found, arms, grounds: None }))
}

/// A series of page-cache-vs-tmpfs.
#[derive(Debug)]
struct PageCacheVsTmpfs {
    settings: Settings,
    found: Resources,
    arms: Vec<Arm>,
    grounds: Option<Grounds>,
}

impl Series for PageCacheVsTmpfs {
    fn arms(&self) -> &[Arm] {
        &self.arms
    }

    fn runs(&self) -> u32 {
        self.settings.runs
    }

    fn lines(&self) -> Vec<String> {
        let s = &self.settings;
        let mut lines = vec![
            format!(
                "{} runs: {} places, {} times each, interleaved",
                s.places.len() * usize::try_from(s.runs).unwrap_or_default(),
                s.places.len(),
                s.runs
            ),
            format!(
                "each: {} reads of {} in calls of {}, {} writes of {} in two ways",
                s.reads, s.size, s.block, s.writes, s.block
            ),
            scratch_line("", &self.found.place),
        ];
        lines.extend(self.found.doubts.iter().map(|what| format!("doubt: {what}")));
        lines
    }

    fn longest_run(&self) -> Duration {
        self.settings.timeout
    }

    fn prepare(&mut self, bench: &mut Bench<'_>) -> Result<()> {
        let s = &self.settings;
        self.grounds = Some(Grounds::create(&self.found.place, &s.places, s.content(), bench)?);
        Ok(())
    }

    fn once(&mut self, arm: &Arm, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<()> {
        let missing = || LabError::Workload("the scratch place is not prepared".to_owned());
        let place = self.settings.places.iter().find(|place| place.name == arm.name).ok_or_else(missing)?;
        let grounds = self.grounds.as_ref().ok_or_else(missing)?;
        let ground = grounds.prepare(place, bench.root, bench.run)?;
        self.found.describe_place(record);
        record.verified = ground.verified.clone();
        record.notes.extend(child::settle(bench)?);
        record.verdict = Verdict::Completed;
        let mut raw = serde_json::Map::new();
        for op in OPS {
            let task = self.task(op, &ground.dir);
            let report = match child::perform(bench, None, &task, self.settings.timeout, None)? {
                Ok(report) => report,
                Err(verdict) => {
                    record.verdict = child::named(op, &verdict);
                    continue;
                }
            };
            let name = op.name();
            record.figures.extend(figures::of(op, &report));
            if let Some((pages, before, after)) = report.pages {
                let text = format!("{before} of {pages} pages before, {after} after");
                record.verified.insert(format!("{name}: in memory"), text);
                if after < pages || report.major_faults > 0 {
                    record.notes.push(format!("{name}: not everything was in memory all the time"));
                }
            }
            raw.insert(name.to_owned(), json!({ "said": report }));
        }
        record.detail = Some(json!({ "operations": raw }));
        Ok(())
    }
}

impl PageCacheVsTmpfs {
    fn task(&self, op: Op, dir: &std::path::Path) -> FileTask {
        let s = &self.settings;
        FileTask {
            op,
            dir: dir.to_owned(),
            size: s.size,
            block: s.block,
            count: if op == Op::Read { s.reads } else { s.writes },
            anonymous: Bytes::ZERO,
            fill: Fill::Text,
            seed: s.seed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(name: &str, value: &str) -> Result<Settings> {
        let table = EXPERIMENT.table();
        let mut params = Params::defaults(&table);
        params.set(&table, name, vec![value.to_owned()]).unwrap();
        Settings::of(&params)
    }

    #[test]
    fn full_is_what_was_published() {
        let full = with("full", "true").unwrap();
        assert_eq!((full.size, full.block), (Bytes(1_500_000), Bytes(8192)));
        assert_eq!((full.reads, full.writes), (10_000, 100_000));
    }

    #[test]
    fn what_says_nothing_is_refused_with_a_command_that_does() {
        for (name, value, told) in [
            ("block", "2MiB", "between 1 B and the size"),
            ("size", "2GiB", "more than 1 GiB"),
            ("arms", "disk,zram", "says nothing here"),
        ] {
            let error = with(name, value).unwrap_err().to_string();
            assert!(error.contains(told) && error.contains("try: ramline lab run page-cache-vs-tmpfs"), "{error}");
        }
    }
}
