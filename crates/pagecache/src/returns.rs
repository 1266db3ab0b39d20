//! How far behind evicted pages of a group are when they are read again: a watch on the page cache, of some seconds.
//!
//! Nothing of the group is touched. It ends early when enough is known, or when nothing returns; it goes on, up to a limit, while what was
//! evicted does not reach far enough.

use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, Instant};

use ramline_kernel::bpf::{PageCacheChange, PageCacheWatch};
use ramline_kernel::cgroup::{Existing, ids_below};
use ramline_kernel::{KernelError, Root, process};
use ramline_trace::FileId;
pub use ramline_trace::ghosts::FEWEST_RETURNS;
use ramline_trace::ghosts::{GhostCurve, Ghosts};
use ramline_units::{Bytes, Nanos};

/// The ring and the group's size are read so often: at the fastest rate that was seen, 70,000 events a second, it is a fifteenth full by then.
const OFTEN: Duration = Duration::from_millis(50);
/// Whether enough is known is asked so often.
const ASK: Duration = Duration::from_secs(1);

/// How long to watch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WatchTime {
    /// At least so long.
    pub least: Duration,
    /// Not longer.
    pub most: Duration,
}

impl WatchTime {
    /// Long enough for a service that misses thousands of times a second, and at most what a person waits for.
    pub const USUAL: WatchTime = WatchTime { least: Duration::from_secs(8), most: Duration::from_secs(110) };
}

/// Watches the group with this directory and those below it; `wanted` more memory is to be spoken of. `seen` is called each second with what was seen so far, and may end
/// the watch.
///
/// # Errors
/// As [`PageCacheWatch::start`], and where there is no such group.
pub fn watch(
    root: &Root,
    group: &Path,
    time: WatchTime,
    wanted: Bytes,
    mut seen: impl FnMut(&GhostCurve, Duration) -> ControlFlow<()>,
) -> Result<GhostCurve, KernelError> {
    let mut watch = PageCacheWatch::start(root, &ids_below(group)?)?;
    // The root of version 2 has no size.
    let group = Existing::open(group).ok();
    let mut ghosts = Ghosts::default();
    let (mut sizes, mut reads) = (0_u64, 0_u64);
    let begin = Instant::now();
    let mut asked = begin;
    loop {
        std::thread::sleep(OFTEN);
        if let Some(Ok(size)) = group.as_ref().map(Existing::usage) {
            (sizes, reads) = (sizes + size.0, reads + 1);
        }
        watch.drain(|event| {
            let file = FileId { device: event.device, inode: event.inode };
            match event.what {
                PageCacheChange::Added => ghosts.added(event.at, event.task, file, event.index, event.pages),
                PageCacheChange::Evicted => ghosts.evicted(file, event.index, event.pages),
                PageCacheChange::Dropped => ghosts.dropped(file, event.index, event.pages),
            }
        });
        let passed = begin.elapsed();
        let is_over = passed >= time.most;
        if asked.elapsed() < ASK && !is_over {
            continue;
        }
        asked = Instant::now();
        let mut curve = ghosts.curve(Nanos::from(passed), Bytes(process::page_size()));
        curve.lost = watch.lost()?;
        curve.mean_size = sizes.checked_div(reads).map(Bytes);
        if seen(&curve, passed).is_break() || is_over || (passed >= time.least && is_enough(&curve, wanted)) {
            return Ok(curve);
        }
    }
}

/// Where longer would tell no more: the knee is known, or the wanted size is reached, or hardly anything is evicted.
fn is_enough(curve: &GhostCurve, wanted: Bytes) -> bool {
    let is_idle = curve.pages_evicted < FEWEST_RETURNS && curve.misses < FEWEST_RETURNS;
    is_idle || curve.knee().is_some() || (curve.returns >= FEWEST_RETURNS && curve.reach() >= wanted)
}
