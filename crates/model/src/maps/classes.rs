//! What a range is: code apart from read-only data, from relocated data, from what is no file at all; and whether the sums
//! meet what the kernel says of the process.

use ramline_snapshot::maps::{MappedFile, Mapping, MappingKind, Maps, Store, Totals, Usage};

use super::files::{add, behind};
use crate::prelude::*;

/// What a range is. The first six are of files that are read again after an eviction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Class {
    /// Executable.
    Code,
    /// Only read: constants, locale archives, fonts, schemas.
    ReadOnly,
    /// Read-only now, but partly written before: addresses filled in when the program was loaded.
    Relocated,
    /// Private and writable: variables with a first value; a page that was written is a copy.
    Writable,
    /// Shared and writable: writes reach the file.
    SharedWritable,
    /// No access: keeps addresses free between the parts of a library.
    Reserved,
    /// Executable without a file: code made while running.
    Generated,
    /// `[heap]`.
    Heap,
    /// `[stack]`.
    Stack,
    /// Anonymous, all other.
    #[default]
    Anonymous,
    /// tmpfs, memfd, System V and other shared memory.
    SharedMemory,
    /// hugetlbfs.
    HugePages,
    /// A device's memory or an object of the kernel.
    Device,
    /// Given by the kernel to every process.
    Kernel,
}

impl Class {
    /// True for ranges of files that are read again after an eviction.
    #[must_use]
    pub fn is_file(self) -> bool {
        self <= Class::Reserved
    }
}

/// The class of a range.
pub fn class(mapping: &Mapping, file: Option<&MappedFile>) -> Class {
    match (mapping.kind, file.map(|f| f.store)) {
        (_, Some(Store::HugePages)) => Class::HugePages,
        (MappingKind::Device, _) | (_, Some(Store::Device)) => Class::Device,
        (MappingKind::SharedMemory, _) | (_, Some(Store::Memory)) => Class::SharedMemory,
        (MappingKind::Kernel, _) => Class::Kernel,
        (MappingKind::Heap, _) => Class::Heap,
        (MappingKind::Stack, _) => Class::Stack,
        (MappingKind::Anonymous, _) if mapping.execute => Class::Generated,
        (MappingKind::Anonymous, _) => Class::Anonymous,
        (MappingKind::File, _) if mapping.execute => Class::Code,
        (MappingKind::File, _) if mapping.write && mapping.shared => Class::SharedWritable,
        (MappingKind::File, _) if mapping.write => Class::Writable,
        (MappingKind::File, _) if mapping.usage.is_some_and(|u| u.anonymous.0 > 0 || u.swap.0 > 0) => Class::Relocated,
        (MappingKind::File, _) if mapping.read => Class::ReadOnly,
        (MappingKind::File, _) => Class::Reserved,
    }
}

/// The ranges of one class, of all processes added up: shared pages count once for each process.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ClassUse {
    /// The class.
    pub class: Class,
    /// Ranges.
    pub ranges: u64,
    /// Address space.
    pub size: Bytes,
    /// From walks of the page tables.
    pub usage: Option<Usage>,
}

impl ClassUse {
    /// Resident, pages of hugetlbfs included, which `Rss` leaves out; `None` unless page tables were walked.
    #[must_use]
    pub fn resident(&self) -> Option<Bytes> {
        self.usage.map(|used| used.rss + used.huge)
    }

    /// Pages others map as well.
    #[must_use]
    pub fn shared(&self) -> Option<Bytes> {
        self.usage.map(|used| used.shared_clean + used.shared_dirty)
    }

    /// Pages one process alone maps.
    #[must_use]
    pub fn private(&self) -> Option<Bytes> {
        self.usage.map(|used| used.private_clean + used.private_dirty)
    }

    /// Copies made by writing into private mappings of files; `None` for what is no file.
    #[must_use]
    pub fn copies(&self) -> Option<Bytes> {
        self.usage.filter(|_| self.class.is_file()).map(|used| used.anonymous)
    }
}

pub fn classes(maps: &Maps) -> Vec<ClassUse> {
    let mut out: BTreeMap<Class, ClassUse> = BTreeMap::new();
    for mapping in maps.processes.iter().flat_map(|p| &p.mappings) {
        let class = class(mapping, behind(maps, mapping));
        let sum = out.entry(class).or_insert_with(|| ClassUse { class, ..ClassUse::default() });
        sum.ranges += 1;
        sum.size += mapping.size();
        add(&mut sum.usage, mapping.usage);
    }
    out.into_values().collect()
}

/// Sums over all ranges against the kernel's own totals of the same processes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Closure {
    /// `VmRSS`, `RssAnon`, `RssFile`, `RssShmem`, `VmSwap`, as far as the kernel has them.
    pub lines: Vec<ClosureLine>,
}

/// One total.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ClosureLine {
    /// The kernel's name of it.
    pub name: String,
    /// Sum over the ranges.
    pub ranges: Bytes,
    /// What `/proc/PID/status` says.
    pub kernel: Bytes,
    /// The former minus the latter. What a running process did between the two readings, and counters the kernel keeps apart
    /// for each CPU before Linux 6.16.
    pub difference: SignedBytes,
}

/// `None` unless page tables were walked. Processes that ended before their totals were read are left out of both sides.
pub fn closure(maps: &Maps) -> Option<Closure> {
    let mut ours = [Bytes::ZERO; 5];
    let mut theirs: [Option<Bytes>; 5] = [Some(Bytes::ZERO); 5];
    let mut any = false;
    for process in &maps.processes {
        let Some(Totals { rss, anon, file, shmem, swap, .. }) = process.totals else { continue };
        for (sum, value) in theirs.iter_mut().zip([rss, anon, file, shmem, swap]) {
            *sum = sum.zip(value).map(|(a, b)| a + b);
        }
        for mapping in &process.mappings {
            let Some(usage) = mapping.usage else { continue };
            any = true;
            let pages = usage.rss.saturating_sub(usage.anonymous);
            let is_memory = class(mapping, behind(maps, mapping)) == Class::SharedMemory;
            let parts = [
                usage.rss,
                usage.anonymous,
                if is_memory { Bytes::ZERO } else { pages },
                if is_memory { pages } else { Bytes::ZERO },
                // Of shared memory smaps counts what is in swap as well; the process's own counter does not.
                if is_memory { Bytes::ZERO } else { usage.swap },
            ];
            ours.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
        }
    }
    let names = ["VmRSS", "RssAnon", "RssFile", "RssShmem", "VmSwap"];
    let lines = names.iter().zip(ours).zip(theirs).filter_map(|((name, ranges), kernel)| {
        let (kernel, name) = (kernel?, (*name).to_owned());
        Some(ClosureLine { name, ranges, kernel, difference: SignedBytes::difference(ranges, kernel) })
    });
    any.then(|| Closure { lines: lines.collect() })
}
