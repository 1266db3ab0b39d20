//! Lines of meminfo that only kernels of vendors print, phones above all.
//!
//! Vendors of Android add lines by a hook at the end of `meminfo_proc_show`. Some count what no counter of the kernel has, and are terms here; some
//! repeat what another line has:
//! - `ION_heap` (dma-buf heaps in use), `Gpu` and `GpuTotal`, `Misc`: pages straight from the page allocator, in no other line.
//! - `Zram` is the pool of zram, `nr_zspages` where vmstat was not seen.
//! - `ION_heap_pool` is in `KReclaimable`: on two captured phones it is `KReclaimable − SReclaimable` to within 84 KiB.
//! - `KgslShmemUsage` is in `Shmem`, whose pages it names.
//!
//! A line that no one here knows is no term, and where it could be a part of the leftover it is named beside it.
//!
//! Worked example: ION_heap 4.1, Zram 1.5, Gpu 0.4 and Misc 0.3 GiB leave 25 MiB of a leftover of 6.3 GiB.

use super::term::Term;
use crate::prelude::*;

/// Lines of the kernel's own that count no page of their own: address space, ways to map memory, parts of other lines, sums, and memory that is not
/// in MemTotal. What is not here and not known is a vendor's.
const NO_TERM: &[&str] = &[
    "VmallocTotal",
    "DirectMap4k",
    "DirectMap64k",
    "DirectMap1M",
    "DirectMap2M",
    "DirectMap4M",
    "DirectMap1G",
    "DirectMap2G",
    "HighTotal",
    "HighFree",
    "ShmemPmdMapped",
    "FilePmdMapped",
    "ShadowCallStack",
    "CmaAllocated",
    "CmaReleased",
    "MmapCopy",
    "MemShared",
    // Of vendors, in another line: see above.
    "ION_heap_pool",
    "KgslShmemUsage",
];

/// Lines that are terms, or stand for one.
const TERMS: &[&str] = &["ION_heap", "Gpu", "GpuTotal", "Misc", "Zram"];

/// A hundredth of the leftover is worth a name.
const WORTH_NAMING: u64 = 100;

fn size(meminfo: &Meminfo, key: &str) -> Option<Bytes> {
    let kib = meminfo.unknown.get(key)?.strip_suffix("kB")?.trim().parse().ok()?;
    Some(Bytes::from_kib(kib)).filter(|bytes| meminfo.mem_total.is_some_and(|total| *bytes < total))
}

/// Graphics memory, where a vendor counts it.
pub fn graphics(meminfo: &Meminfo) -> Option<Bytes> {
    size(meminfo, "Gpu").or_else(|| size(meminfo, "GpuTotal"))
}

/// The pool of zram, where a vendor counts it.
pub fn zram(meminfo: &Meminfo) -> Option<Bytes> {
    size(meminfo, "Zram")
}

/// What is in no other line.
pub fn lines(meminfo: &Meminfo) -> impl Iterator<Item = (Term, Bytes)> {
    let of = |key, term| Some((term, size(meminfo, key).filter(|bytes| bytes.0 > 0)?));
    [of("ION_heap", Term::DeviceBuffers), of("Misc", Term::VendorOther)].into_iter().flatten()
}

/// Lines that are not understood and could be a part of this leftover, the largest first: `Foo 1.2 GiB`.
pub fn unknown(meminfo: &Meminfo, leftover: Bytes) -> Vec<String> {
    let is_known = |key: &str| NO_TERM.contains(&key) || TERMS.contains(&key) || key.contains("Huge");
    let keys = meminfo.unknown.keys().filter(|key| !is_known(key));
    let sized = keys.filter_map(|key| Some((key, size(meminfo, key)?)));
    let may_be = |bytes: Bytes| bytes <= leftover && bytes.0 > leftover.0 / WORTH_NAMING;
    let mut found: Vec<_> = sized.filter(|(_, bytes)| bytes.0 > 0 && may_be(*bytes)).collect();
    ramline_units::sort_by_key(&mut found, |(_, bytes)| std::cmp::Reverse(*bytes));
    found.into_iter().map(|(key, bytes)| format!("{key} {bytes}")).collect()
}
