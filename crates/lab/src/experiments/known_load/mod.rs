//! The experiment known-load: a load whose touches are known exactly, in a memory cgroup, so that a simulator can repeat it.
//!
//! The generator ([`ramline_trace::generate`]) says what is touched; the workload is the same binary, started again inside the group. What it
//! is not: a benchmark of a program; a load is one kind of use, pure.

pub mod forecast;
mod load_options;
mod plan;
mod worker;

use ramline_gather::hardware;
use ramline_trace::generate::{Load, Memory};

use self::load_options::LoadOptions;
pub use self::load_options::NAME;
use self::plan::KnownLoadPlan;
use self::worker::LoadTask;
use crate::limited::run::RunSetup;
use crate::limited::{Sizes, hold_file, options};
use crate::prelude::*;

/// How long each run waits for a quiet moment before it begins all the same.
const SETTLE: Duration = Duration::from_secs(3);

/// The row of the table.
pub const EXPERIMENT: Experiment = Experiment {
    name: NAME,
    question: "What does a memory limit cost a load whose touches are known: a reader, a heap, a server?",
    how: "A generator says every touch of the load: files read at places of Zipf's law with read(2) or through a mapping, with a scan beside or without; \
          a heap; a server; a pointer chase; phases; code-plus-data. The touches are done in a memory cgroup with a limit, each setting in turn, with \
          cold files and a fresh swap area every time. One seed gives the same touches everywhere, so that a simulator can repeat a run.",
    needs: "root, a memory cgroup (version 1 or 2), mke2fs, a disk with room for the files of the load and a swap file, the limit and a margin in memory",
    reading: include_str!(concat!(env!("OUT_DIR"), "/reading/known-load.md")),
    parameters: &[
        row("load", Kind::Word(&Load::NAMES), Some("zipf-read"), "The load"),
        row("size", Kind::Size, Some("96MiB"), "Size of the load"),
        params::size("limit", "Limit of the group instead of three quarters of the size"),
        row("skew", Kind::Text, None, "How unequal its places are, 0 to 4 (0.9, and 1.2 of phases)"),
        params::size("read-length", "Bytes of each read of zipf-read and scan-read (16KiB)"),
        row(
            "rounds",
            Kind::Count(1, 1000),
            Some("8"),
            "Rounds; each has two to four touches for each page (code-plus-data: a step over its code, at most 11)",
        ),
        row("fill", Kind::List, Some("text"), "Contents of anonymous memory, comma-separated: zeros, text, random"),
        options::ARMS,
        options::TIMEOUT,
        row(
            "read-ahead",
            Kind::List,
            Some("128KiB"),
            "Read-ahead of the scratch device, or several, comma-separated, each with all settings",
        ),
        options::STALE_STATISTICS,
    ],
    figures: &[
        "time per round",
        "rounds",
        "major faults per round",
        "file refaults per round",
        "anonymous refaults per round",
        "swapped in per round",
        "read from disks per round",
    ],
    child: Some(worker::work),
    study: Study::Series,
    forecast: Some(forecast::question),
    open,
};

/// What a record keeps of the load, beside what its workload, arm and parameters say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownLoad {
    /// Its name.
    pub load: String,
    /// Its regions, in order.
    pub regions: Vec<KnownRegion>,
    /// How unequal its places are, times 1000.
    pub skew_thousandths: Option<u32>,
    /// Bytes of a read.
    pub read_length: Option<u32>,
    /// Touches of a round.
    pub touches_of_a_round: u64,
    /// Size of the swap area of a setting that has one.
    pub swap_area: Bytes,
    /// Size of a zram device above a swap file.
    pub swap_above_file: Bytes,
}

/// A region in a record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownRegion {
    /// `file`, `anonymous` or `shared`.
    pub memory: String,
    /// Its length.
    pub bytes: Bytes,
}

impl KnownLoad {
    fn from_options(options: &LoadOptions) -> KnownLoad {
        let (load, swap) = (&options.load, options.swap_sizes());
        let word = |memory| match memory {
            Memory::File => "file",
            Memory::Anonymous => "anonymous",
            Memory::Shared => "shared",
        };
        let regions = load.regions().into_iter();
        KnownLoad {
            load: load.name().to_owned(),
            regions: regions
                .map(|region| KnownRegion { memory: word(region.memory).to_owned(), bytes: Bytes(region.bytes) })
                .collect(),
            skew_thousandths: load.skew().map(|skew| skew.thousandths),
            read_length: load.length(),
            touches_of_a_round: load.touches_of_a_round(),
            swap_area: swap.area,
            swap_above_file: swap.above_file,
        }
    }
}

fn open(root: &Root, params: &Params) -> Result<PlannedSeries> {
    let plan = KnownLoadPlan::checked(root, LoadOptions::from_params(params)?)?;
    let (sentences, options) = (plan.sentences(), &plan.options);
    let longest_run = SETTLE.saturating_add(options.timeout).saturating_add(Duration::from_secs(7));
    let (arms, runs) = (options.arms.clone(), options.runs);
    let (global, doubts) = (plan.global.clone(), plan.doubts.clone());
    let work = Box::new(KnownLoadSeries { plan, params: params.clone(), made: None });
    Ok(PlannedSeries { arms, runs, sentences, global, doubts, longest_run, work })
}

struct KnownLoadSeries {
    plan: KnownLoadPlan,
    params: Params,
    made: Option<Made>,
}

/// What all runs share.
struct Made {
    fs: OwnFs,
    /// One of each region that is a file.
    files: Vec<PathBuf>,
    hold: PathBuf,
}

impl Series for KnownLoadSeries {
    fn prepare(&mut self, bench: &mut Bench<'_>) -> Result<()> {
        let KnownLoadPlan { options, place, hierarchy, .. } = &self.plan;
        bench.run.prepare_cgroups(hierarchy)?;
        bench.progress.step(&format!("writing the files of the load below {}", place.dir.display()));
        let read_ahead = options.read_aheads.first().copied().unwrap_or_default();
        let fs = OwnFs::create(&place.dir, image_size(options.bytes(true)), read_ahead, bench.run)?;
        let regions = options.load.regions().into_iter().enumerate();
        let files = regions
            .filter(|(_, region)| region.memory == Memory::File)
            .map(|(n, region)| fs.file(&format!("region-{n}"), Bytes(region.bytes)))
            .collect::<Result<_>>()?;
        let hold = hold_file(&fs.at)?;
        self.made = Some(Made { fs, files, hold });
        Ok(())
    }

    fn once(&mut self, arm: &Arm, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<()> {
        let (made, KnownLoadPlan { options, place, hierarchy, .. }) = (prepared(&self.made)?, &self.plan);
        requirements::describe(record, Some(hierarchy.version()), Some(place));
        // By hand inside a guest: nobody outside says what its processor is.
        record.emulated = hardware::is_emulated(bench.root);
        record.workload = options.workload(arm);
        record.detail = ramline_units::json::tree(&KnownLoad::from_options(options)).ok();
        bench.progress.phase("waiting for a quiet moment");
        record.notes.extend(requirements::settle(bench.root, SETTLE, bench.run)?);
        bench.progress.phase("evicting the files, making the sandbox");
        made.fs.set_read_ahead(record.workload.read_ahead, bench.run)?;
        made.files.iter().try_for_each(|path| scratch::evict(path))?;
        let swap = options.swap_sizes();
        let one = RunSetup {
            kind: NAME,
            sizes: Sizes {
                hierarchy,
                limit: options.limit,
                zram: swap.zram(&arm.swap),
                swap_file: Some((made.fs.dir.join("swap"), swap.area)),
                hold: Some(&made.hold),
            },
            files: &made.files,
            what: "files",
            loop_device: true,
            verified: made.fs.verified(),
        };
        let (timeout, seed) = (record.workload.timeout, options.seed);
        let task = |hold| {
            let (params, files) = (self.params.clone(), made.files.clone());
            Ok(LoadTask { params, seed, fill: arm.fill.parse()?, timeout, files, hold })
        };
        one.once(task, arm, record, bench)
    }
}
