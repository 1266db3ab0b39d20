//! Bringing pages into the page cache and dropping them, with the counts before and after.

use std::io;
use std::num::NonZeroU64;
use std::os::unix::fs::FileExt;

use rustix::fs::{Advice, fadvise};

use super::{Residency, count_ranges};
use crate::prelude::*;

/// The whole file, as the calls that take a signed offset can say it.
const WHOLE: (u64, u64) = (0, i64::MAX.unsigned_abs());

/// How parts of a file are read in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadIn {
    /// Those pages and no others, without read-ahead; the kernel then keeps them page by page.
    Exactly,
    /// As a reader would, with read-ahead, which may bring in more, and in larger pieces (which are faster to use).
    AsAReader,
}

/// Reads parts of a file into the page cache.
///
/// # Errors
/// When the file cannot be read.
pub fn bring_in(file: &File, path: &Path, ranges: &[(u64, u64)], how: ReadIn) -> Result<()> {
    const PIECE: usize = 1 << 20;
    let failed = |error| KernelError::io("read into the page cache", path, error);
    if how == ReadIn::Exactly {
        fadvise(file, 0, None, Advice::Random).map_err(io::Error::from).map_err(failed)?;
    }
    let mut buffer = vec![0; PIECE];
    for (offset, length) in ranges {
        let (mut at, end) = (*offset, offset.saturating_add(*length));
        while at < end {
            let most = usize::try_from(end - at).unwrap_or(PIECE).min(PIECE);
            let got = file.read_at(&mut buffer[..most], at).map_err(failed)?;
            if got == 0 {
                break;
            }
            at += u64::try_from(got).unwrap_or(u64::MAX);
        }
    }
    Ok(())
}

/// Before and after an eviction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evicted {
    /// Pages when we came.
    pub before: Residency,
    /// Pages after it: what was not evicted (mapped, locked, or dirty again) is still counted here.
    pub after: Residency,
}

/// Writes back and drops the cached pages of a file, then counts what is left.
///
/// # Errors
/// When the file cannot be synced or counted. Pages that stay are not an error; compare `after`.
pub fn evict(file: &File, path: &Path) -> Result<Evicted> {
    evict_ranges(file, path, &[WHOLE], true)
}

/// The same for parts of a file, given as offset and length; without `sync` dirty pages stay (the kernel only begins to write
/// them). The kernel drops only clean pages that are not mapped, and pages still on their way to the lists of another CPU stay: three
/// attempts are made.
///
/// # Errors
/// As [`evict`].
pub fn evict_ranges(file: &File, path: &Path, ranges: &[(u64, u64)], sync: bool) -> Result<Evicted> {
    let failed = |error| KernelError::io("evict", path, error);
    let before = count_ranges(file, path, ranges)?;
    if sync {
        file.sync_data().map_err(failed)?;
    }
    let mut after = before;
    for attempt in 0..3 {
        if attempt > 0 {
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        ranges.iter().try_for_each(|range| drop_range(file, *range)).map_err(failed)?;
        after = count_ranges(file, path, ranges)?;
        if after.cached == 0 {
            break;
        }
    }
    Ok(Evicted { before, after })
}

/// Drops what can be dropped of a range (offset and length; length 0 is up to the end), without a look before or after. Any
/// reader of a file may ask for it.
///
/// # Errors
/// As posix_fadvise(2).
pub fn drop_range(file: &impl AsFd, (offset, length): (u64, u64)) -> io::Result<()> {
    let length = if (offset, length) == WHOLE { 0 } else { length };
    Ok(fadvise(file, offset, NonZeroU64::new(length), Advice::DontNeed)?)
}
