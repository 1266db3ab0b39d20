//! Who owns what is in swap: of `ramline show swap` and `ramline show zram`.

use ramline_gather::swapped;
use ramline_measure::pages::sample_swapped;
use ramline_model::swapped::SwapOwners;

use super::common::Common;
use crate::prelude::*;

/// How much is looked at.
#[derive(Debug, Clone, Args)]
pub struct Owners {
    /// Read a sample of each owner's pages in zram and compress it again, in locked memory, to tell what they cost (root)
    #[arg(long)]
    sample: bool,
    /// Look at no further process after this time
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "3s")]
    budget: Duration,
    /// Owners to list (default: 15 in text, all in JSON)
    #[arg(long, value_name = "N")]
    top: Option<usize>,
}

/// What is looked at besides: on this machine the processes, and shared memory, which no process owns.
pub fn wanted(source: &Source, screen: Wanted) -> Wanted {
    let live = source.is_live();
    Wanted { processes: live, shmem: live, ..screen }
}

impl Owners {
    /// Owners of the pages in swap; `None` where there are none, or of a capture, which has no page tables.
    ///
    /// # Errors
    /// A sample is asked of a capture or without root; interrupted.
    pub fn look(&self, source: &Source, seen: &Snapshot) -> Result<Option<SwapOwners>> {
        if self.sample {
            source.must_be_live("show swap --sample")?;
            let root =
                "a sample is read from the zram device, which only root may do\n  try: sudo ramline show swap --sample";
            ensure!(process::uid() == 0, Failure::usage(root.to_owned()));
        }
        let used = seen.swaps.data().is_some_and(|areas| areas.iter().any(|area| area.used.0 > 0));
        if !used || !source.is_live() {
            return Ok(None);
        }
        let root = source.kernel_root()?;
        let terminal = Terminal::look(&Arc::new(RunningCount::default()));
        let mut tell = |what: &str| terminal.now(ramline_view::escape(what).into_owned());
        let begin = Instant::now();
        let over = || begin.elapsed() > self.budget || signals::interrupted();
        let mut found = swapped::look(&root, seen, &over, &mut tell);
        if self.sample {
            let begin = Instant::now();
            let over = || begin.elapsed() > self.budget.saturating_mul(SAMPLING);
            sample_swapped(&root, &mut found, &over, &mut tell)?;
        }
        Ok(Some(SwapOwners::from_swapped(seen, &found.seen)))
    }

    /// So many rows.
    pub fn top(&self, common: Common) -> Option<usize> {
        self.top.or_else(|| (!common.json).then_some(15))
    }
}

/// The budget of reading pages, as a multiple of that of page tables.
const SAMPLING: u32 = 5;
