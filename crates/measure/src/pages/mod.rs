//! What the pages of running processes compress to, with which algorithm, and how long that takes.
//!
//! What it is not: an image of memory. Pages are copied into locked memory, compressed there and zeroed; only lengths and times leave
//! ([`PageProfile`]). Compressing is done here, in user space, by the libraries whose code the kernel has; with consent the same pages
//! go to a scratch zram device too, which tells what the kernel makes of them.
//!
//! ```no_run
//! use ramline_measure::pages::{self, PagesOptions};
//! use ramline_sandbox::progress::Silent;
//! let profile = pages::measure(&PagesOptions::all(), &mut Silent)?;
//! println!("{} pages", profile.sampling.taken);
//! # Ok::<(), pages::PagesError>(())
//! ```

mod bench;
mod chain;
mod choose;
mod dictionary;
mod error;
mod owners;
mod sample;
mod scratch;
mod store;
mod swapin;
mod swapped;
mod timed;
mod train;

use std::path::PathBuf;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ramline_act::RunLock;
use ramline_evidence::pages::{Chain, PROFILE_FORMAT, PageProfile, ProfileHost};
use ramline_gather::hardware;
use ramline_gather::pages::{Ranges, pids, read_ranges};
use ramline_kernel::arena::{self, Arena};
use ramline_kernel::{KernelError, Root, cgroup, process};
use ramline_model::zsmalloc::Zsmalloc;
use ramline_sandbox::progress::Progress;
use ramline_units::Bytes;

pub use crate::codec::{DEFAULT as ALGORITHMS, named};
use crate::tiers::timing::Clock;
pub use error::PagesError;
use owners::Owners;
use sample::{Wish, wide};
use store::Store;
pub use swapped::{OF_AN_OWNER, sample_swapped};

/// Whose pages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Whose {
    /// Of all processes this user may see.
    All,
    /// Of these processes.
    Processes(Vec<u32>),
    /// Of a control group and all below it.
    Group(PathBuf),
}

/// What is measured.
#[derive(Debug, Clone)]
pub struct PagesOptions {
    /// The machine; it must be the live one.
    pub root: Root,
    /// Whose pages.
    pub whose: Whose,
    /// Algorithms, in order.
    pub algorithms: Vec<String>,
    /// Pages of the sample.
    pub pages: usize,
    /// Of these at most so many from swap, which reading brings back.
    pub swapped: usize,
    /// Time for all.
    pub budget: Duration,
    /// Seed of the choice.
    pub seed: u64,
    /// Consent to scratch zram devices.
    pub scratch_zram: Option<RunLock>,
    /// Version of the program, for the profile.
    pub version: String,
}

impl PagesOptions {
    /// Of the whole machine, with what needs no consent.
    #[must_use]
    pub fn all() -> PagesOptions {
        PagesOptions {
            root: Root::live(),
            whose: Whose::All,
            algorithms: ALGORITHMS.iter().map(|name| (*name).to_owned()).collect(),
            pages: PAGES,
            swapped: SWAPPED,
            budget: Duration::from_secs(30),
            seed: 256,
            scratch_zram: None,
            version: String::new(),
        }
    }
}

/// Pages of a sample: 32 MiB, and the share of incompressible ones within a hundredth.
pub const PAGES: usize = 8192;
/// Pages brought back from swap at most: 2 MiB.
pub const SWAPPED: usize = 512;
/// Of the time, what choosing and reading pages may take.
const SAMPLING_OF_FOUR: u32 = 3;
/// Time for reading back one cluster size of one algorithm.
const SLICE: Duration = Duration::from_millis(100);
/// The sample and the store together take at most this part of the memory that is available.
const OF_AVAILABLE: u64 = 8;

/// Samples and measures.
///
/// # Errors
/// See [`PagesError`]. A process that ends meanwhile is no error: it is counted.
pub fn measure(options: &PagesOptions, progress: &mut dyn Progress) -> Result<PageProfile, PagesError> {
    if !options.root.is_live() {
        return Err(PagesError::NotLive(options.root.path("/").display().to_string()));
    }
    let start = Instant::now();
    let used = process::own_usage()?;
    let mut codecs = Vec::new();
    for name in &options.algorithms {
        let codec = named(name).map_err(|rule| PagesError::Algorithm { name: name.clone(), rule })?;
        codecs.push((name.clone(), codec));
    }
    arena::seclude(&options.root)?;
    progress.step("sampling pages: looking at the ranges of processes");
    // One process whose ranges take long must not leave nothing for the pages of the others.
    let looked_by = start + options.budget / 4;
    let sampled_by = start + options.budget / 4 * SAMPLING_OF_FOUR;
    let over = || Instant::now() > sampled_by;
    let (scope, ids) = processes(options)?;
    let ranges = read_ranges(&options.root, &ids, &|| Instant::now() > looked_by);
    let mut profile = PageProfile { format: PROFILE_FORMAT, host: host(options), ..PageProfile::default() };
    let page = usize::try_from(process::page_size()).unwrap_or(4096);
    let pages = room(options, page, &mut profile.skipped)?;
    progress.step(&format!("sampling pages: {pages} of {} processes", ranges.processes.len()));
    let wish = Wish { root: &options.root, scope, seed: options.seed, pages, swapped: options.swapped, over: &over };
    let arena = Arena::new(Bytes(wide(pages * page)))?;
    let sample = sample::draw(&wish, &ranges, arena, page)?;
    if sample.len() == 0 {
        return Err(nothing(&wish.scope, &ranges));
    }
    let huge_from = Zsmalloc::new(wide(page), Chain::default().pages).huge_from();
    let mut store = Store::new(sample.len(), page, usize::try_from(huge_from).unwrap_or(page))?;
    let clock = Clock::calibrate();
    let share = wide(codecs.len() * timed::CLUSTERS.len()).max(1);
    let slice =
        Duration::from_millis(u64::try_from(options.budget.as_millis()).unwrap_or(u64::MAX) / 2 / share).min(SLICE);
    let mut owners = Owners::from_sample(&sample);
    for (at, (name, codec)) in codecs.iter_mut().enumerate() {
        progress.step(&format!("measuring pages, {} of {}: {name}", at + 1, options.algorithms.len()));
        if start.elapsed() > options.budget {
            profile.skipped.push(format!("{name}: the time of {} s was over", options.budget.as_secs()));
            continue;
        }
        let measured = timed::measure(&sample, name, codec.as_mut(), &mut store, &clock, slice)?;
        owners.add(&sample, name, |index| store.length(index));
        profile.algorithms.push(measured);
    }
    // Nothing is timed below but requests and faults: what libraries have kept of pages may cost time to overwrite.
    arena::overwrite_freed();
    drop(codecs);
    if start.elapsed() < options.budget {
        progress.step("measuring pages: training a dictionary");
        profile.dictionaries = dictionary::measure(&sample, &options.algorithms, &mut store, &mut profile.skipped)?;
    }
    if let Some(lock) = &options.scratch_zram {
        let bench = bench::Bench {
            sample: &sample,
            root: &options.root,
            clock,
            slice,
            kernel: profile.host.kernel.clone(),
            ends: start + options.budget,
        };
        scratch::measure(&bench, lock, &mut profile, progress)?;
    } else {
        profile.skipped.push("the kernel's own algorithms, lzo-rle among them: as root, with --prove".to_owned());
    }
    (profile.owners, profile.groups) = owners.finish(&sample);
    profile.sampling = sample.sampling.clone();
    profile.took_s = start.elapsed().as_secs_f64();
    profile.cpu_s = process::own_usage()?.since(&used).map(|usage| usage.cpu().as_secs_f64()).unwrap_or(0.0);
    Ok(profile)
}

/// Pages of processes, read and not yet compressed. What they hold is overwritten when this is dropped.
#[derive(Debug)]
pub struct Sampled(sample::Sample);

/// Reads a sample of the pages that processes have in RAM. None is brought back from swap for it.
///
/// # Errors
/// No page could be read.
pub fn sampled(root: &Root, ids: &[u32], pages: usize, time: Duration) -> Result<Sampled, PagesError> {
    let over = {
        let start = Instant::now();
        move || start.elapsed() > time
    };
    arena::seclude(root)?;
    let ranges = read_ranges(root, ids, &over);
    let page = usize::try_from(process::page_size()).unwrap_or(4096);
    let wish = Wish { root, scope: String::new(), seed: 256, pages, swapped: 0, over: &over };
    Ok(Sampled(sample::draw(&wish, &ranges, Arena::new(Bytes(wide(pages * page)))?, page)?))
}

impl Sampled {
    /// How many pages were read.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// How many pages the processes had in RAM.
    #[must_use]
    pub fn present(&self) -> u64 {
        self.0.sampling.present
    }

    /// What the pages compress to, by algorithm; 0 for one of a repeated word.
    ///
    /// # Errors
    /// There is no such algorithm.
    pub fn lengths(&self, algorithms: &[String]) -> Result<Vec<(String, Vec<u16>)>, PagesError> {
        let (sample, page) = (&self.0, self.0.page_bytes());
        // What codecs keep of pages is wiped as they end.
        arena::overwrite_freed();
        let mut out = Vec::new();
        let mut room = vec![0_u8; 2 * page];
        for name in algorithms {
            let mut codec = named(name).map_err(|rule| PagesError::Algorithm { name: name.clone(), rule })?;
            let mut length = |index: usize| {
                let contents = sample.page(index);
                if sample::repeated(contents).is_some() {
                    return 0;
                }
                let length = codec.compress(contents, &mut room).unwrap_or(page).min(page);
                u16::try_from(length).unwrap_or(u16::MAX)
            };
            out.push((name.clone(), (0..sample.len()).map(&mut length).collect()));
        }
        Ok(out)
    }
}

/// What sampled pages of processes compress to, by algorithm; nothing is timed.
///
/// # Errors
/// There is no such algorithm, or no page could be read.
pub fn lengths(
    root: &Root,
    ids: &[u32],
    algorithms: &[String],
    pages: usize,
    time: Duration,
) -> Result<Vec<(String, Vec<u16>)>, PagesError> {
    sampled(root, ids, pages, time)?.lengths(algorithms)
}

fn processes(options: &PagesOptions) -> Result<(String, Vec<u32>), PagesError> {
    Ok(match &options.whose {
        Whose::All => ("all processes".to_owned(), pids(&options.root)),
        Whose::Processes(ids) => {
            for pid in ids {
                process::start_time(&options.root, *pid).map_err(|error| error.or_hint("ramline show processes"))?;
            }
            let names: Vec<String> = ids.iter().map(u32::to_string).collect();
            (format!("process {}", names.join(", ")), ids.clone())
        }
        Whose::Group(path) => {
            let ids =
                cgroup::processes_below(&options.root, path).map_err(|error| error.or_hint("ramline show cgroups"))?;
            (format!("control group {}", path.display()), ids)
        }
    })
}

/// How many pages fit into what may be locked, and into what is available.
fn room(options: &PagesOptions, page: usize, skipped: &mut Vec<String>) -> Result<usize, PagesError> {
    let available = ramline_gather::headroom::memory_headroom(&options.root)?;
    let lockable = arena::most().unwrap_or(available);
    let most = Bytes(lockable.0.min(available.0 / OF_AVAILABLE));
    // Each page is there twice; the store needs a little more, and a dictionary its room.
    let spare = store::size(0, page).0 + wide(dictionary::SIZE);
    let fit = usize::try_from(most.0.saturating_sub(spare) / wide(2 * page)).unwrap_or(usize::MAX);
    if fit == 0 {
        let numbers = format!("{most} may be, {} are needed", store::size(2, page));
        let error = KernelError::refused("lock in memory", "a sample of pages", "it must not be swapped", numbers);
        return Err(error.hint("ulimit -l unlimited").into());
    }
    if fit < options.pages {
        skipped.push(format!("{} of {} pages: only {most} may be locked for them", options.pages - fit, options.pages));
    }
    Ok(options.pages.min(fit))
}

fn nothing(scope: &str, ranges: &Ranges) -> PagesError {
    let root = process::uid() == 0;
    let why = match () {
        () if ranges.processes.is_empty() && ranges.denied > 0 => "they belong to other users".to_owned(),
        () if ranges.processes.is_empty() => "they have no anonymous pages that can be swapped".to_owned(),
        () if root => "none could be read before they went".to_owned(),
        () => "this user may not read their memory (another user, or kernel.yama.ptrace_scope)".to_owned(),
    };
    let hint = if root { "ramline show processes" } else { "sudo ramline measure pages --all" };
    PagesError::Nothing { scope: scope.to_owned(), why, hint: hint.to_owned() }
}

fn host(options: &PagesOptions) -> ProfileHost {
    let machine = hardware::read(&options.root);
    ProfileHost {
        kernel: machine.kernel,
        cpu: machine.cpu_model,
        cpus: machine.cpus,
        page: process::page_size(),
        mem_total: ramline_gather::headroom::memory_total(&options.root).ok(),
        taken_unix_s: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
        ramline: options.version.clone(),
        unoptimised: cfg!(debug_assertions),
    }
}

/// The host of this moment, to hold a profile of another against.
#[must_use]
pub fn this_host(version: &str) -> ProfileHost {
    host(&PagesOptions { version: version.to_owned(), ..PagesOptions::all() })
}
