//! The size of a page, from the figures of a report: it is printed nowhere.

use ramline_snapshot::kernel_log::Report;

use crate::prelude::*;

/// Sizes that Linux has on any processor, in KiB.
const SIZES_KIB: [u64; 5] = [4, 8, 16, 64, 256];
/// Counters drift by what processors hold back; a quotient as near as this to a size is that size.
const NEAR: f64 = 0.1;

/// A page, and whether a figure of the log says so.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogPageSize {
    /// Its size.
    pub size: Bytes,
    /// Nothing in the log tells: the most usual one was taken.
    pub assumed: bool,
}

/// The size of a page.
#[must_use]
pub fn page_size(report: &Report) -> LogPageSize {
    let found =
        from_blocks(report).or_else(|| from_nodes(report)).or_else(|| from_kill(report)).or_else(|| from_arch(report));
    LogPageSize { size: found.unwrap_or(Bytes::from_kib(4)), assumed: found.is_none() }
}

/// The smallest free block is a page.
fn from_blocks(report: &Report) -> Option<Bytes> {
    let first = report.memory.zones.iter().find_map(|zone| zone.blocks.first())?.0;
    SIZES_KIB.contains(&(first / 1024)).then_some(Bytes(first))
}

/// The same counter in bytes, of all nodes or zones, and in pages.
fn from_nodes(report: &Report) -> Option<Bytes> {
    let memory = &report.memory;
    let names = ["inactive_file", "active_file", "inactive_anon", "active_anon", "unevictable"];
    let mut found = names.iter().filter_map(|name| Some((memory.counter(name)?, *name))).collect::<Vec<_>>();
    found.sort_unstable();
    let (pages, name) = found.pop().filter(|(pages, _)| *pages >= 256)?;
    let nodes: u64 =
        memory.nodes.iter().filter_map(|node| node.counters.get(name)).fold(0, |sum, bytes| sum.saturating_add(*bytes));
    let zones: u64 =
        memory.zones.iter().filter_map(|zone| zone.counters.get(name)).fold(0, |sum, bytes| sum.saturating_add(*bytes));
    let bytes = if nodes > 0 { nodes } else { zones };
    let kib = Bytes(bytes).share_of(Bytes(pages))? / 1024.0;
    let near = |size: &u64| Bytes(*size).as_f64() * (1.0 - NEAR) < kib && kib < Bytes(*size).as_f64() * (1.0 + NEAR);
    SIZES_KIB.iter().copied().find(near).map(Bytes::from_kib)
}

/// The address space of a task in pages, and in kB where it is killed.
fn from_kill(report: &Report) -> Option<Bytes> {
    report.kills.iter().find_map(|kill| {
        let task = report.tasks.largest.iter().find(|task| task.pid == kill.pid && task.total_vm > 0)?;
        let kib = kill.total_vm?.0 / 1024;
        SIZES_KIB.iter().copied().find(|size| task.total_vm.saturating_mul(*size) == kib).map(Bytes::from_kib)
    })
}

/// Processors that have one size only, or nearly so.
fn from_arch(report: &Report) -> Option<Bytes> {
    let version = report.kernel.as_deref()?;
    if version.contains("ppc64") {
        // Fedora, RHEL and SUSE build it with 64 KiB.
        return Some(Bytes::from_kib(64));
    }
    ["x86_64", "amd64", "i686", "i386", "s390x", "armv7", "riscv64"]
        .iter()
        .any(|arch| version.contains(arch))
        .then_some(Bytes::from_kib(4))
}
