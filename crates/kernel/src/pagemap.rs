//! PAGEMAP_SCAN (Linux 6.7): which pages of a range are anonymous and in RAM or in swap, without reading an entry for every hole.
//!
//! What it is not: what page of RAM each is, which `/proc/PID/pagemap` itself tells root.
//!
//! Worked example: of a range of 1 TiB with three pages in it one call returns three regions, where pagemap has 2 GiB of entries.

#![expect(unsafe_code, reason = "ioctl")]

use std::fs::File;
use std::os::fd::{AsFd, OwnedFd};

use crate::error::{KernelError, Result};
use crate::sys::ioctl_with;

/// `_IOWR('f', 16, struct pm_scan_arg)`, include/uapi/linux/fs.h.
const PAGEMAP_SCAN: libc::Ioctl = (3 << 30 | 96 << 16 | (b'f' as libc::Ioctl) << 8 | 16) as libc::Ioctl;
const IS_FILE: u64 = 1 << 2;
const IS_PRESENT: u64 = 1 << 3;
const IS_SWAPPED: u64 = 1 << 4;
/// The kernel's one page of zeros.
const IS_ZERO: u64 = 1 << 5;
/// Regions of one call.
const AT_ONCE: usize = 512;

/// struct pm_scan_arg.
#[repr(C)]
#[derive(Default)]
struct Argument {
    size: u64,
    flags: u64,
    start: u64,
    end: u64,
    walk_end: u64,
    vec: u64,
    vec_len: u64,
    max_pages: u64,
    category_inverted: u64,
    category_mask: u64,
    category_anyof_mask: u64,
    return_mask: u64,
}

/// struct page_region.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Raw {
    start: u64,
    end: u64,
    categories: u64,
}

/// Anonymous pages one after the other, of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Region {
    /// Address of the first.
    pub start: u64,
    /// Behind the last.
    pub end: u64,
    /// They are in swap.
    pub swapped: bool,
}

/// Scans by way of an open `/proc/PID/pagemap`.
#[derive(Debug)]
pub struct Scanner {
    file: File,
}

impl Scanner {
    /// Over the same open file.
    ///
    /// # Errors
    /// When the descriptor cannot be doubled.
    pub fn new(pagemap: &OwnedFd) -> Result<Scanner> {
        let double = pagemap.as_fd().try_clone_to_owned();
        let file = double.map_err(|error| KernelError::io("open again", "pagemap", error))?;
        Ok(Scanner { file: file.into() })
    }

    /// Up to 512 regions from `start` on, and the address to go on from.
    ///
    /// # Errors
    /// ENOTTY on kernels without it.
    pub fn regions(&self, start: u64, end: u64) -> Result<(Vec<Region>, u64)> {
        // Neither of a file nor the page of zeros, and in RAM or in swap.
        self.scan(start, end, IS_FILE | IS_ZERO, IS_PRESENT | IS_SWAPPED)
    }

    /// Up to 512 regions of pages in swap alone, and the address to go on from.
    ///
    /// # Errors
    /// ENOTTY on kernels without it.
    pub fn swapped(&self, start: u64, end: u64) -> Result<(Vec<Region>, u64)> {
        self.scan(start, end, 0, IS_SWAPPED)
    }

    fn scan(&self, start: u64, end: u64, none_of: u64, any_of: u64) -> Result<(Vec<Region>, u64)> {
        let mut found = [Raw::default(); AT_ONCE];
        let mut argument = Argument {
            size: size_of::<Argument>() as u64,
            start,
            end,
            vec: found.as_mut_ptr().expose_provenance() as u64,
            vec_len: AT_ONCE as u64,
            category_inverted: none_of,
            category_mask: none_of,
            category_anyof_mask: any_of,
            return_mask: IS_PRESENT | IS_SWAPPED,
            ..Argument::default()
        };
        // SAFETY: PAGEMAP_SCAN reads and writes one pm_scan_arg, which has its size, and writes at most `vec_len` regions to `found`, which
        // lives as long as the call and has exposed its address.
        let done = unsafe { ioctl_with(&self.file, PAGEMAP_SCAN, &mut argument) };
        let count = done.map_err(|error| KernelError::io("scan", "pagemap", error))?;
        let filled = found.iter().take(usize::try_from(count).unwrap_or(0));
        let regions =
            filled.map(|raw| Region { start: raw.start, end: raw.end, swapped: raw.categories & IS_SWAPPED != 0 });
        Ok((regions.collect(), argument.walk_end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map::{Advice, Map, Sharing};
    use ramline_testkit::able::skip_if;
    use ramline_units::Bytes;

    #[test]
    fn of_a_large_range_only_the_pages_in_it_are_named() {
        let page = crate::process::page_size();
        let mut map = Map::anonymous(Bytes::from_mib(512), Sharing::Private).unwrap();
        map.advise(Advice::NoHugePages).unwrap();
        let wide = usize::try_from(page).unwrap();
        for index in [3, 4, 1000] {
            map.write_at(index * wide, &[1]).unwrap();
        }
        // A read gives the page of zeros, which is nobody's.
        map.touch_read(2000 * wide).unwrap();
        let start = map.as_slice().as_ptr().addr() as u64;
        let scanner = Scanner::new(&File::open("/proc/self/pagemap").unwrap().into()).unwrap();
        let scanned = scanner.regions(start, start + (512 << 20));
        let without = scanned.as_ref().is_err_and(|error| error.errno() == Some(libc::ENOTTY));
        if skip_if(without, "PAGEMAP_SCAN", "needs Linux 6.7") {
            return;
        }
        let (regions, walked) = scanned.unwrap();
        let found: Vec<(u64, u64)> =
            regions.iter().map(|r| ((r.start - start) / page, (r.end - start) / page)).collect();
        assert_eq!((found, walked), (vec![(3, 5), (1000, 1001)], start + (512 << 20)));
    }
}
