//! How much of some processes' memory that could be swapped is cold: not touched for some seconds.
//!
//! Its accessed bits are cleared once and read once. Only those of anonymous memory are cleared (`CLEAR_REFS_ANON`): reclaim of the page cache goes on
//! as before, and anonymous pages are not looked at by reclaim where there is no swap. A page that several processes map is one page, by its frame,
//! and is touched if one of them touched it.
//!
//! Worked example: of a heap of 300 MiB a server used 120 MiB in ten seconds: 180 MiB are cold for ten seconds.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use ramline_kernel::bpf::PageTables;
use ramline_kernel::process::Followed;
use ramline_kernel::{KernelError, Root};
use ramline_units::{Bytes, Nanos};

use crate::mappings::{self, Mapped};
use crate::proof::prove;
use crate::regions::PAGE;

/// Frames that are followed at once, at about 16 bytes each; with more pages every second, fourth, eighth is.
const MOST: u64 = 1 << 18;
/// How long our own pages wait for the proof: what clears bits at random is seen in as long as a scan of DAMON's usual sampling takes.
const PROOF: Duration = Duration::from_millis(500);

/// What was found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Cold {
    /// Anonymous and shared memory that is in RAM.
    pub present: Bytes,
    /// Of it, what was not touched.
    pub cold: Bytes,
    /// For how long.
    pub time: Nanos,
    /// Processes that could not be read, or ended.
    pub missed: u64,
}

/// One touched page in 20 may be counted as cold: the amount of cold memory is stated to about 10 %.
const LOST: u64 = 20;

/// Processes whose bits were cleared.
#[derive(Debug)]
pub struct ColdWatch {
    tables: PageTables,
    processes: Vec<Followed>,
    begun: Instant,
    missed: u64,
}

impl ColdWatch {
    /// Proves the way on own pages, then clears the bits of these processes.
    ///
    /// # Errors
    /// The kernel does not let us, or something else clears the bits.
    pub fn begin(root: &Root, ids: &[u32]) -> Result<ColdWatch, KernelError> {
        let mut tables = PageTables::open(root)?;
        let proof = prove(root, &mut tables, PROOF)?;
        if !proof.is_within(LOST) {
            let rule = "nothing else that clears accessed bits (DAMON, another recorder)";
            let numbers = format!("{} of {} own pages were seen touched", proof.seen, proof.touched);
            return Err(KernelError::refused("read", std::path::Path::new("accessed bits"), rule, numbers));
        }
        let (mut processes, mut missed) = (Vec::new(), 0);
        for pid in ids {
            let cleared = Followed::open(root, *pid).and_then(|process| {
                process.clear_accessed_anonymous()?;
                Ok(process)
            });
            match cleared {
                Ok(process) => processes.push(process),
                Err(error) if error.is_denied() => return Err(error),
                Err(_) => missed += 1,
            }
        }
        Ok(ColdWatch { tables, processes, begun: Instant::now(), missed })
    }

    /// For how long it has been watched.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// Reads the bits; `expected` bytes are there to be read, by which a sample is chosen.
    ///
    /// # Errors
    /// The kernel's memory cannot be read.
    pub fn read(mut self, expected: Bytes) -> Result<Cold, KernelError> {
        let each = (expected.0 / PAGE).div_ceil(MOST).max(1).next_power_of_two();
        let mut frames: HashMap<u64, bool> = HashMap::new();
        let time = Nanos::from(self.begun.elapsed());
        let mut missed = self.missed;
        for process in &self.processes {
            let seen = seen(&mut self.tables, process, each)?;
            match seen {
                Some(seen) => {
                    for (frame, touched) in seen {
                        *frames.entry(frame).or_default() |= touched;
                    }
                }
                None => missed += 1,
            }
        }
        let size = |pages: usize| Bytes(u64::try_from(pages).unwrap_or(0).saturating_mul(each * PAGE));
        let cold = frames.values().filter(|touched| !**touched).count();
        Ok(Cold { present: size(frames.len()), cold: size(cold), time, missed })
    }
}

/// Frames of a process that could be swapped out, and whether it touched them; `None` where it could not be read.
fn seen(tables: &mut PageTables, process: &Followed, each: u64) -> Result<Option<Vec<(u64, bool)>>, KernelError> {
    let Ok(text) = process.maps() else { return Ok(None) };
    let Some(space) = tables.space(process.pid())? else { return Ok(None) };
    let mappings = mappings::parse(&text);
    let ranges: Vec<_> = mappings.iter().map(|mapping| mapping.range.clone()).collect();
    let (mut at, mut out) = (0, Vec::new());
    let walked = tables.walk(&space, &ranges, |leaf| {
        while ranges.get(at).is_some_and(|range| range.end <= leaf.address) {
            at += 1;
        }
        let swaps = match mappings.get(at).map(|mapping| &mapping.what) {
            Some(Mapped::Anonymous) => true,
            Some(Mapped::File { private, shmem, .. }) => *shmem || (*private && leaf.entry.is_dirty()),
            None => false,
        };
        if swaps && leaf.entry.is_present() {
            // A huge page is one frame of many; bits below its size are no part of its number.
            let first = leaf.entry.frame() & !(leaf.pages - 1);
            let frames = (first..first + leaf.pages).filter(|frame| frame % each == 0);
            out.extend(frames.map(|frame| (frame, leaf.entry.is_accessed())));
        }
    })?;
    Ok((walked.is_sound && walked.missed == 0).then_some(out))
}
