//! Numbers that share a path and are told apart by name: the lines of the ledger, the fields of a zram device.
//!
//! One entry for each, by an exhaustive match or from the model's own table, so that a new line or field without an
//! entry does not compile or has one by itself.

use ramline_model::ledger::Term;
use ramline_model::zram::{self, Scope as FieldScope, Unit};
use ramline_snapshot::zram::{BdStat, IoStat, MmStat, ZramDevice};
use ramline_units::Pages;

use super::FigureScope;

/// A number with a name of its own inside a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Names on the screens.
    pub labels: Vec<String>,
    /// The element's name in the JSON.
    pub element: String,
    /// Document and path of the list element's number; the list part ends in `[NAME]`.
    pub document: &'static str,
    /// `ledger.lines[page_tables].bytes`.
    pub path: String,
    /// What it says.
    pub what: String,
    /// Its unit.
    pub unit: &'static str,
    /// Its scope.
    pub scope: FigureScope,
    /// Its source.
    pub source: String,
    /// What makes it large.
    pub large: &'static str,
    /// The topic.
    pub topic: &'static str,
}

/// All of them.
#[must_use]
pub fn all() -> Vec<Named> {
    let lines = Term::ALL.iter().map(|term| line(*term));
    lines.chain(fields()).collect()
}

fn line(term: Term) -> Named {
    let (source, large, topic) = ledger(term);
    let id = ramline_units::json::tree(&term).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default();
    Named {
        labels: vec![term.label().to_owned()],
        path: format!("ledger.lines[{id}].bytes"),
        element: id,
        document: "show-memory",
        what: format!("A line of the ledger: {}. Whose: {}.", term.label(), term.owner()),
        unit: "bytes",
        scope: FigureScope::Gauge,
        source: source.to_owned(),
        large,
        topic,
    }
}

/// Source, what makes it large, topic.
#[rustfmt::skip]
const fn ledger(term: Term) -> (&'static str, &'static str, &'static str) {
    match term {
        Term::Free => ("/proc/meminfo MemFree", "nothing has used the memory yet since boot, or something large has just ended", "available"),
        Term::CpuLists => ("/proc/zoneinfo count: of every CPU, x page size", "there are many CPUs and much was freed lately; it counts as used in MemFree's eyes", "used"),
        Term::Anon => ("/proc/meminfo AnonPages and the swap cache: Active(anon) + Inactive(anon), what is locked, less the tmpfs line", "programs hold heaps and stacks; show processes tells which", "rss-pss"),
        Term::Shmem => ("/proc/meminfo Shmem", "files lie in tmpfs, or programs share segments", "shmem"),
        Term::FileClean => ("/proc/meminfo Active(file) + Inactive(file) less Dirty and Writeback", "files were read and nothing has needed the room since", "page-cache"),
        Term::FileDirty => ("/proc/meminfo Dirty + Writeback", "much was written lately, or the disk is slow", "dirty"),
        Term::Unevictable => ("/proc/meminfo Unevictable less the locked parts of process and shared memory", "programs lock files they map (mlockall), or a ramfs holds files", "used"),
        Term::Isolated => ("/proc/vmstat nr_isolated_anon + nr_isolated_file", "reclaim, compaction or migration is at work this moment", "pressure"),
        Term::SlabReclaimable => ("/proc/meminfo SReclaimable", "many files were looked at: their names and inodes are kept", "kernel-memory"),
        Term::SlabUnreclaimable => ("/proc/meminfo SUnreclaim", "there are many open files, sockets or groups, or something leaks", "kernel-memory"),
        Term::KernelReclaimable => ("/proc/meminfo KReclaimable - SReclaimable", "a driver keeps buffers for reuse", "kernel-memory"),
        Term::Vmalloc => ("/proc/meminfo VmallocUsed since 5.3; before, no counter of RAM", "there are many threads (stacks), modules or large kernel buffers", "kernel-memory"),
        Term::KernelStacks => ("/proc/meminfo KernelStack", "there are many threads: 16 KiB each on x86", "kernel-memory"),
        Term::PageTables => ("/proc/meminfo PageTables", "many processes map much memory: 8 bytes for every page and process, also where the pages are shared", "kernel-memory"),
        Term::SecPageTables => ("/proc/meminfo SecPageTables", "virtual machines run, or devices map much memory", "kernel-memory"),
        Term::Percpu => ("/proc/meminfo Percpu", "there are many CPUs, groups or devices", "kernel-memory"),
        Term::Quicklists => ("/proc/meminfo Quicklists", "many processes ended lately, on a kernel before 5.2", "kernel-memory"),
        Term::WriteCopies => ("/proc/meminfo Bounce + WritebackTmp", "writes go to a device that reaches a part of memory, or to FUSE", "dirty"),
        Term::Poisoned => ("/proc/meminfo HardwareCorrupted", "the hardware reported errors that it could not correct", "kernel-memory"),
        Term::Hugetlb => ("/proc/meminfo Hugetlb, before 4.15 HugePages_Total x Hugepagesize or /sys/kernel/mm/hugepages", "huge pages were set aside; used or not, nothing else gets them", "hugepages"),
        Term::CompressedPool => ("/proc/vmstat nr_zspages x page size", "much was swapped to zram or zswap, or it does not compress", "zram-ratio"),
        Term::ZswapPool => ("/proc/meminfo Zswap", "much was swapped out through zswap", "zram-vs-zswap"),
        Term::GpuActive => ("/proc/meminfo GPUActive", "programs draw or compute on the graphics card", "kernel-memory"),
        Term::GpuReclaim => ("/proc/meminfo GPUReclaim", "the driver keeps freed graphics memory for reuse", "kernel-memory"),
        Term::Arc => ("/proc/spl/kstat/zfs/arcstats size", "files on ZFS were read or written and nothing has needed the room since", "available"),
        Term::ArcShrinkable => ("/proc/spl/kstat/zfs/arcstats size - c_min, at most mru_evictable_* + mfu_evictable_*", "much of the ZFS cache is clean and above its minimum", "available"),
        Term::Balloon => ("/proc/meminfo Balloon, or /proc/vmstat balloon_inflate - balloon_deflate x page size", "the hypervisor is short of memory, or is set to take it back", "kernel-memory"),
        Term::PageDescriptors => ("/proc/vmstat nr_memmap_pages x page size", "memory was added at run time (CXL, GPU memory, a hypervisor): 64 bytes for every page of it", "numa"),
        Term::DeviceBuffers => ("/proc/meminfo ION_heap, of a vendor's kernel", "cameras, displays and codecs hold buffers, or an app leaks them", "kernel-memory"),
        Term::VendorOther => ("/proc/meminfo Misc, of a vendor's kernel", "drivers of the vendor hold pages of their own", "kernel-memory"),
        Term::CmaFree => ("/proc/meminfo CmaFree", "a part of RAM is reserved for devices that need it in one piece", "kernel-memory"),
        Term::Unaccepted => ("/proc/meminfo Unaccepted", "a confidential guest has not touched its memory yet", "available"),
        Term::SwapCache => ("/proc/meminfo SwapCached", "pages were swapped in and not changed: their copy on swap is still good", "swap-in-use"),
        Term::AnonHuge => ("/proc/meminfo AnonHugePages", "transparent huge pages are on and programs map large regions", "thp"),
        Term::FileActive => ("/proc/meminfo Active(file)", "files are in steady use", "page-cache"),
        Term::FileMapped => ("/proc/meminfo Mapped less mapped shared memory, which is known within bounds only", "large programs run, or files are mapped by a database", "page-cache"),
        Term::Buffers => ("/proc/meminfo Buffers", "a file system's metadata or a block device was read", "page-cache"),
        Term::AnonLocked => ("/proc/meminfo AnonPages + Shmem less the anonymous lists: at most this, at least what cannot be shared memory", "programs lock memory so that it is never reclaimed", "used"),
        Term::ShmemLocked => ("/proc/meminfo AnonPages + Shmem less the anonymous lists: at most this, at least what cannot be of processes", "programs lock shared memory (mlock, SHM_LOCK), or a graphics driver holds it", "shmem"),
        Term::ZswapShare => ("/proc/meminfo Zswap", "much was swapped out through zswap", "zram-vs-zswap"),
        Term::ZramShare => ("the compressed pool less zswap's part", "much was swapped to zram", "zram-ratio"),
        Term::HugetlbFree => ("/proc/meminfo (HugePages_Free - HugePages_Rsvd) x Hugepagesize", "more huge pages were set aside than are used or promised", "hugepages"),
        Term::HugetlbPromised => ("/proc/meminfo HugePages_Rsvd x Hugepagesize", "a program mapped huge pages and has not touched them yet", "hugepages"),
    }
}

/// Every field of a zram device, from the model's table, by a device that has them all.
fn fields() -> impl Iterator<Item = Named> {
    let mm = MmStat {
        mem_limit: Some(ramline_units::Limit::Max),
        huge_pages: Some(Pages(0)),
        huge_pages_since: Some(Pages(0)),
        ..MmStat::default()
    };
    let device =
        ZramDevice { mm: Some(mm), bd: Some(BdStat::default()), io: Some(IoStat::default()), ..ZramDevice::default() };
    zram::fields(&device).into_iter().map(|field| {
        let short = field.name.rsplit('.').next().unwrap_or_default().to_owned();
        let value = match field.value {
            zram::FieldValue::Bytes(_) => "bytes",
            zram::FieldValue::Count(_) => "count",
            zram::FieldValue::Limit(_) => "limit.at",
        };
        let file = field.name.split_once('.').map_or(field.name.as_str(), |(file, _)| file);
        Named {
            path: format!("zram.devices[].fields[{}].value.{value}", field.name),
            source: format!("/sys/block/zramN/{file}"),
            labels: [Some(field.name.clone()), Some(short), field.zramctl].into_iter().flatten().collect(),
            element: field.name,
            document: "show-zram",
            what: format!("Of a zram device: {}.", field.meaning),
            unit: match field.unit {
                Unit::Bytes => "bytes",
                Unit::Pages => "pages",
                Unit::Events => "events",
            },
            scope: match field.scope {
                FieldScope::Gauge => FigureScope::Gauge,
                FieldScope::Counter => FigureScope::Counter,
                FieldScope::Peak => FigureScope::Peak,
                FieldScope::Setting => FigureScope::Setting,
            },
            large: "",
            topic: "zram-ratio",
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_of_the_ledger_is_in_the_list_of_all_terms() {
        let schema = schemars::schema_for!(Term).to_value();
        let variants = schema["oneOf"].as_array().map_or(0, Vec::len);
        assert_eq!(variants, Term::ALL.len(), "Term::ALL lacks a term");
    }

    #[test]
    fn every_name_leads_to_one_number() {
        for named in all() {
            assert!(!named.source.is_empty() && !named.element.is_empty(), "{:?}", named.labels);
            assert!(ramline_advice::topic_named(named.topic).is_some(), "{}", named.topic);
        }
    }
}
