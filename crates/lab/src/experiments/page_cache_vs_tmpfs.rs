//! The experiment page-cache-vs-tmpfs: the same reads and writes in a file that is cached, and in one that is only memory.
//!
//! What it is: system calls and copying, no device: what is read is proven to be in memory. What it is not: a comparison of
//! tmpfs with a disk; that is tmpfs-vs-disk. Here the question is whether data that is cached anyway gains by moving.

use crate::fileops::ground::{self, GroundPlace, Grounds};
use crate::fileops::{FileTask, Op, child, figures};
use crate::prelude::*;

/// Its name on the command line and in records.
pub const NAME: &str = "page-cache-vs-tmpfs";

const PLAIN: &str = "ramline lab run page-cache-vs-tmpfs --arms disk,tmpfs";

/// The same as the experiment and its first option.
const EXAMPLE: &str = "page-cache-vs-tmpfs --arms disk,tmpfs";

/// The row of the table.
pub const EXPERIMENT: Experiment = Experiment {
    name: NAME,
    question: "Does a file that is in the page cache anyway gain by lying in tmpfs?",
    how: "A file of 1.5 MB is opened, read in calls of 8 KiB and closed, many times, once on a disk and fully cached, once in \
          tmpfs. Then one block of 8 KiB is written many times, into a file that is emptied first and over what is there. \
          User and system time are kept apart, the cost of the loop itself is taken off.",
    needs: "root (to mount a tmpfs), a disk for the other file",
    reading: include_str!(concat!(env!("OUT_DIR"), "/reading/page-cache-vs-tmpfs.md")),
    parameters: PARAMETERS,
    figures: &["read: per CPU second", "rewrite: per CPU second", "in-place: per CPU second"],
    child: None,
    study: Study::Series,
    forecast: None,
    open,
};

const PARAMETERS: &[Parameter] = &[
    row(
        "arms",
        Kind::List,
        Some("disk,tmpfs"),
        "Places, comma-separated: disk, tmpfs, tmpfs-huge, tmpfs-pinned, ramfs, ext4, xfs",
    ),
    row("size", Kind::Size, Some("1500000B"), "Size of the file that is read"),
    row("block", Kind::Size, Some("8KiB"), "Bytes per call"),
    row("reads", Kind::Count(1, 10_000_000), None, "How often it is read (2000; 10000 with --full)"),
    row("writes", Kind::Count(1, 10_000_000), None, "How often a block is written (20000; 100000 with --full)"),
    row("full", Kind::Switch, Some("false"), "The numbers of the published measurement"),
    row("timeout", Kind::Time, Some("2min"), "When an operation is given up"),
];

const OPS: [Op; 3] = [Op::Read, Op::Rewrite, Op::InPlace];

#[derive(Debug)]
struct Settings {
    places: Vec<GroundPlace>,
    size: Bytes,
    block: Bytes,
    reads: u64,
    writes: u64,
    seed: u64,
    timeout: Duration,
}

impl Settings {
    fn from_params(params: &Params) -> Result<Settings> {
        let full = params.switch("full");
        let (size, block) = (params.size("size").unwrap_or_default(), params.size("block").unwrap_or_default());
        let places = ground::places(params.list("arms"), PLAIN)?;
        let text = format!("a block of {block} is not between 1 B and the size, {size}");
        refuse_if(block.0 == 0 || block > size, EXAMPLE, "--block 8KiB", text)?;
        let text = format!("--size: {size} is more than 1 GiB");
        refuse_if(size > Bytes::from_gib(1), EXAMPLE, "--size 1500000B", text)?;
        let idle = places.iter().find(|place| place.no_swap || place.name == "zram");
        let name = idle.map_or("", |place| place.name);
        let text = format!("the setting {name} says nothing here: nothing is under pressure, nothing is compressed");
        refuse_if(idle.is_some(), EXAMPLE, "", text)?;
        Ok(Settings {
            places,
            size,
            block,
            reads: params.count("reads").unwrap_or(if full { 10_000 } else { 2000 }),
            writes: params.count("writes").unwrap_or(if full { 100_000 } else { 20_000 }),
            seed: params.count("seed").unwrap_or_default(),
            timeout: params.time("timeout").unwrap_or_default(),
        })
    }

    fn content(&self) -> Bytes {
        self.size + self.block + Bytes::from_mib(16)
    }
}

fn open(root: &Root, params: &Params) -> Result<PlannedSeries> {
    let settings = Settings::from_params(params)?;
    let content = settings.content();
    let needed = Requirements {
        smaller: "--size 1500000B",
        root_for: ground::ROOT_FOR,
        memory: content + content,
        tools: &ground::tools(&settings.places),
        scratch: ground::images(&settings.places, content) + content,
        ..params.requirements(NAME)
    };
    let found = needed.check(root, ground::unknown_options(&settings.places, PLAIN))?;
    let (runs, arms) = (params.runs(), settings.places.iter().map(GroundPlace::arm).collect());
    let Settings { size, block, reads, writes, .. } = settings;
    let sentences = vec![
        counted(settings.places.len(), "places", runs),
        format!("each: {reads} reads of {size} in calls of {block}, {writes} writes of {block} in two ways"),
        scratch_line("", &found.place),
    ];
    let (doubts, longest_run) = (found.doubts.clone(), settings.timeout);
    let work = Box::new(PageCacheVsTmpfs { settings, found, grounds: None });
    Ok(PlannedSeries { arms, runs, sentences, global: Vec::new(), doubts, longest_run, work })
}

struct PageCacheVsTmpfs {
    settings: Settings,
    found: Resources,
    grounds: Option<Grounds>,
}

impl Series for PageCacheVsTmpfs {
    fn prepare(&mut self, bench: &mut Bench<'_>) -> Result<()> {
        let s = &self.settings;
        self.grounds = Some(Grounds::create(&self.found.place, &s.places, s.content(), bench)?);
        Ok(())
    }

    fn once(&mut self, arm: &Arm, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<()> {
        let ground = prepared(&self.grounds)?.prepare(GroundPlace::for_arm(arm)?, bench.root, bench.run)?;
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
            record.figures.extend(figures::from_report(op, &report));
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
        Settings::from_params(&params)
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
