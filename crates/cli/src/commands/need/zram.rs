//! `ramline need --zram`: how much of the group's memory is cold, and what it compresses to.

use ramline_capture::ColdWatch;
use ramline_kernel::cgroup;
use ramline_measure::pages::lengths;
use ramline_model::groups::GroupMemory;
use ramline_model::need::{ColdSeen, CompressedSample};

use crate::prelude::*;

/// Memory that is untouched for so long is cold: what the kernel moved to zram was within 10 % of that (one service, docs/need.md).
pub const COLD: Duration = Duration::from_secs(10);
/// Pages of a sample: the share that they compress to is known within a twentieth.
const PAGES: usize = 512;
/// The time it may take.
const TIME: Duration = Duration::from_secs(1);
/// What a zram device has unless another is chosen (CONFIG_ZRAM_DEF_COMP).
const ALGORITHM: &str = "lzo-rle";

/// A group whose anonymous memory is watched.
pub struct Cold {
    dir: PathBuf,
    watch: ColdWatch,
}

impl Cold {
    /// Clears the accessed bits.
    ///
    /// # Errors
    /// It swaps already, so that reclaim uses them; or the kernel does not let us.
    pub fn begin(root: &Root, dir: &Path, group: &GroupMemory) -> Result<Cold> {
        let shown = ramline_view::escape(&group.path);
        if let Some(used) = group.swap.filter(|used| *used > Bytes::ZERO) {
            return Err(Failure::refused(format!(
                "{shown} has {used} in swap: what is cold is chosen by the kernel already, by the bits that --zram would clear\n  try: sudo ramline need {shown}"
            ))
            .into());
        }
        let ids = cgroup::processes_below(root, dir)?;
        let watch =
            ColdWatch::begin(root, &ids).map_err(|error| error.or_hint(&format!("sudo ramline need {shown}")))?;
        Ok(Cold { dir: dir.to_owned(), watch })
    }

    /// What was not touched since.
    ///
    /// # Errors
    /// The kernel's memory cannot be read.
    pub fn end(self, root: &Root, current: Bytes) -> Result<ColdSeen> {
        while self.watch.elapsed() < COLD && !signals::interrupted() {
            std::thread::sleep(Duration::from_millis(50));
        }
        let seen = self.watch.read(current)?;
        let ids = cgroup::processes_below(root, &self.dir)?;
        let sampled = lengths(root, &ids, &[ALGORITHM.to_owned()], PAGES, TIME).ok();
        let sampled = sampled.and_then(|all| all.into_iter().next()).filter(|(_, lengths)| !lengths.is_empty());
        let sample = sampled.map(|(algorithm, lengths)| CompressedSample {
            algorithm,
            original: Bytes(lengths.len() as u64 * process::page_size()),
            compressed: Bytes(lengths.iter().map(|length| u64::from(*length)).sum()),
        });
        Ok(ColdSeen { present: seen.present, cold: seen.cold, time: seen.time, sample })
    }
}
