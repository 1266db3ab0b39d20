//! How much of a file is in the page cache, and evicting it with proof.
//!
//! cachestat(2) (Linux 6.5) where the kernel has it, else mincore(2)
//! over a mapping, which cannot tell dirty pages. Which of the two tells the truth is not asked of the kernel's version: cachestat
//! finds nothing of a file on overlayfs (its pages belong to the file below), so there mincore is asked; a filter that forbids
//! cachestat is found out by a call that cannot succeed; and mincore is asked only where it does not claim that every page is there.
//!
//! ```no_run
//! let file = std::fs::File::open("/usr/bin/env").map_err(|e| ramline_kernel::KernelError::io("open", "/usr/bin/env", e))?;
//! let evicted = ramline_kernel::residency::evict(&file, "/usr/bin/env".as_ref())?;
//! println!("{} pages before, {} after", evicted.before.cached, evicted.after.cached);
//! # Ok::<(), ramline_kernel::KernelError>(())
//! ```

mod ask;
mod change;

use std::io;
use std::os::fd::BorrowedFd;

use crate::prelude::*;
use crate::sys::{page_size, size_of_fd};

pub use ask::{cachestat, cachestat_works, mincore, mincore_tells_truth};
pub use change::{Evicted, ReadIn, bring_in, drop_range, evict, evict_ranges};

/// How the counts were obtained.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// cachestat(2).
    Cachestat,
    /// mincore(2): only `cached` is known, and only for files we own or may write (else all pages look resident).
    Mincore,
}

/// Pages of one file in the page cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Residency {
    /// Pages of the file in the page cache.
    pub cached: u64,
    /// Of these, dirty.
    pub dirty: Option<u64>,
    /// Of these, being written back.
    pub writeback: Option<u64>,
    /// Pages evicted whose shadow entry is still there.
    pub evicted: Option<u64>,
    /// Of these, evicted recently enough that a read would count as a refault of the working set.
    pub recently_evicted: Option<u64>,
    /// How it was counted.
    pub method: Method,
}

/// Counts the pages of the whole file.
///
/// # Errors
/// `Denied` when the file is not ours to ask about, `Unsupported` on hugetlbfs, `Io` otherwise.
pub fn count(file: &impl AsFd, path: &Path) -> Result<Residency> {
    count_ranges(file, path, &[(0, i64::MAX.unsigned_abs())])
}

/// Counts the pages of parts of a file, given as offset and length in bytes; parts must not overlap.
///
/// # Errors
/// `Denied` where the kernel would not tell the truth about a file that is not ours (mincore then says that every page is
/// there), `Unsupported` on hugetlbfs.
pub fn count_ranges(file: &impl AsFd, path: &Path, ranges: &[(u64, u64)]) -> Result<Residency> {
    let (file, failed) = (file.as_fd(), |error| KernelError::io("count the cached pages of", path, error));
    if method_for(file).map_err(failed)? == Method::Cachestat {
        return ranges_by(file, ranges, cachestat).map_err(failed);
    }
    refuse_to_be_fooled(file, path)?;
    ranges_by(file, ranges, mincore).map_err(failed)
}

/// Which of the two tells the truth about files of the file system this one is on.
///
/// # Errors
/// When the file cannot be asked.
pub fn method_for(file: BorrowedFd<'_>) -> io::Result<Method> {
    let by_mincore = !cachestat_works() || is_overlay(file)?;
    Ok(if by_mincore { Method::Mincore } else { Method::Cachestat })
}

fn refuse_to_be_fooled(file: BorrowedFd<'_>, path: &Path) -> Result<()> {
    let denied = || KernelError::new("count the cached pages of", path, crate::Cause::Denied);
    mincore_tells_truth(file).then_some(()).ok_or_else(denied)
}

fn ranges_by(
    file: BorrowedFd<'_>,
    ranges: &[(u64, u64)],
    ask: fn(BorrowedFd<'_>, u64, u64) -> io::Result<Residency>,
) -> io::Result<Residency> {
    let add = |a: Option<u64>, b: Option<u64>| a.zip(b).map(|(a, b)| a + b);
    let mut answers = ranges.iter().map(|(offset, length)| ask(file, *offset, (*length).max(1)));
    // Nothing to ask about is still asked once, for the method and the permission; offsets beyond any file hold no page.
    let first = answers.next().unwrap_or_else(|| ask(file, 1 << 62, 1))?;
    answers.try_fold(first, |sum, one| {
        let one = one?;
        Ok(Residency {
            cached: sum.cached + one.cached,
            dirty: add(sum.dirty, one.dirty),
            writeback: add(sum.writeback, one.writeback),
            evicted: add(sum.evicted, one.evicted),
            recently_evicted: add(sum.recently_evicted, one.recently_evicted),
            method: one.method,
        })
    })
}

fn magic(file: BorrowedFd<'_>) -> io::Result<u64> {
    Ok(u64::try_from(rustix::fs::fstatfs(file)?.f_type).unwrap_or(0))
}

/// Overlayfs answers cachestat for its own inode, which has no pages; mincore looks at the file below.
fn is_overlay(file: BorrowedFd<'_>) -> io::Result<bool> {
    // linux/magic.h
    const OVERLAYFS: u64 = 0x794c_7630;
    Ok(magic(file)? == OVERLAYFS)
}

/// True for tmpfs, ramfs and hugetlbfs: there the page cache is the file, and evicting means swapping.
///
/// # Errors
/// When the file cannot be asked.
pub fn lives_in_memory(file: &impl AsFd) -> io::Result<bool> {
    // linux/magic.h
    const KINDS: [u64; 3] = [0x0102_1994, 0x8584_58f6, 0x9584_58f6];
    Ok(KINDS.contains(&magic(file.as_fd())?))
}

/// The size in bytes of a file or block device.
///
/// # Errors
/// When it cannot be asked.
pub fn size(file: &impl AsFd) -> io::Result<u64> {
    size_of_fd(file.as_fd())
}

/// What the kernel reads ahead of a reader in order at most, by the disk the file is on; `None` where no one disk is named (btrfs, a network).
#[must_use]
pub fn read_ahead(root: &Root, file: &impl AsFd) -> Option<Bytes> {
    let device = rustix::fs::fstat(file).ok()?.st_dev;
    let block = format!("/sys/dev/block/{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
    // A partition has the queue of its disk.
    let kib = |queue| read_u64(&root.path(format!("{block}/{queue}/read_ahead_kb"))).ok();
    ["queue", "../queue"].into_iter().find_map(kib).map(Bytes::from_kib)
}

/// Which parts of a file are in the page cache, as offset and length in bytes of whole pages, in order and apart from each other.
///
/// # Errors
/// `Denied` where the kernel would say of every page that it is there: a file that is not ours, and we are not root.
pub fn present(file: &impl AsFd, path: &Path) -> Result<Vec<(u64, u64)>> {
    runs(file, path, (0, u64::MAX), true)
}

/// The same of a range, as offset and length in bytes.
///
/// # Errors
/// As [`present`].
pub fn present_in(file: &impl AsFd, path: &Path, range: (u64, u64)) -> Result<Vec<(u64, u64)>> {
    runs(file, path, range, true)
}

/// Which parts of a range (offset and length in bytes) of a file are not in the page cache, in the same form.
///
/// # Errors
/// As [`present`].
pub fn missing(file: &impl AsFd, path: &Path, range: (u64, u64)) -> Result<Vec<(u64, u64)>> {
    runs(file, path, range, false)
}

fn runs(file: &impl AsFd, path: &Path, (offset, length): (u64, u64), wanted: bool) -> Result<Vec<(u64, u64)>> {
    let file = file.as_fd();
    refuse_to_be_fooled(file, path)?;
    let (page, mut ranges) = (page_size(), Vec::<(u64, u64)>::new());
    ask::each_page(file, offset, length, |number, there| match ranges.last_mut() {
        _ if there != wanted => {}
        Some((offset, length)) if *offset + *length == number * page => *length += page,
        _ => ranges.push((number * page, page)),
    })
    .tried("find the cached pages of", path)?;
    Ok(ranges)
}

#[cfg(test)]
mod tests;
