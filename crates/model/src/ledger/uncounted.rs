//! Memory that no counter of the kernel has and whose size is known from elsewhere: the ZFS cache, a balloon. And what lies outside of MemTotal.
//!
//! **ZFS cache**: `size` of arcstats. Its data are pages taken straight from the page allocator, in no counter; its headers and small buffers come from
//! slab. So its line is taken from the leftover first, and what the leftover does not hold from the lines of slab and vmalloc. Where all of these
//! together are smaller than it, the file speaks of another machine than meminfo (a container with lxcfs on a ZFS host), and there is no line.
//!
//! **Balloon**: `Balloon:` (6.16), before that `balloon_inflate − balloon_deflate` pages of vmstat. Only a driver that calls
//! `adjust_managed_page_count` takes its pages off MemTotal: Xen, pseries cmm, Hyper-V (5.11), and virtio unless `VIRTIO_BALLOON_F_DEFLATE_ON_OOM` is
//! agreed. VMware's does not, nor virtio with it: their pages are in MemTotal and in the leftover. Where the driver is not known, the leftover tells: one that
//! is smaller than the balloon cannot hold it.
//!
//! **Page descriptors** of memory that was added at run time (`nr_memmap_pages`): the kernel's note on every page, 64 bytes each, taken from MemTotal.
//! Those of boot lie outside of it.
//!
//! Worked example: 4,178,013 pages of a VMware balloon are 15.9 GiB; the leftover of 17.9 GiB becomes a line of 15.9 and a leftover of 2.0 GiB.

use super::line::{LedgerLine, Outside};
use super::term::{self, Term};
use crate::prelude::*;

/// What a balloon outside of MemTotal is called.
pub const BALLOON: &str = "balloon";

/// Adds their lines; returns what is not in MemTotal.
pub fn place(
    snapshot: &Snapshot,
    meminfo: &Meminfo,
    total: Bytes,
    lines: &mut Vec<LedgerLine>,
    bound: Bytes,
) -> Vec<Outside> {
    let leftover = |lines: &[LedgerLine]| total.saturating_sub(lines.iter().map(|line| line.bytes).sum());
    let mut out: Vec<Outside> = descriptors(snapshot).into_iter().collect();
    // Since 6.11 (15995a352474). On memory that brings its own space for them they are not in MemTotal, and the leftover does not hold them.
    let added =
        snapshot.vmstat.data().and_then(|seen| seen.nr_memmap).map(|n| Pages(n).bytes(snapshot.machine.page_size));
    if let Some(bytes) = added.filter(|bytes| bytes.0 > 0 && leftover(lines) + bound >= *bytes) {
        lines.push(term::line(Term::PageDescriptors, bytes, meminfo));
    }
    if let Some(pages) = ballooned(snapshot, meminfo) {
        // An off-by-some of the counters must not push it out of MemTotal.
        if is_in_total(snapshot) != Some(false) && leftover(lines) + bound >= pages {
            lines.push(term::line(Term::Balloon, pages, meminfo));
        } else {
            let why = "given back to the hypervisor; its driver takes it off MemTotal";
            out.push(Outside { label: BALLOON.into(), bytes: pages, why: why.into() });
        }
    }
    if let Some(arc) = snapshot.zfs.data().copied().flatten().filter(|arc| arc.size.0 > 0) {
        let in_slab = arc.size.saturating_sub(leftover(lines));
        if take(lines, in_slab) {
            let mut line = term::line(Term::Arc, arc.size, meminfo);
            line.children.push(term::line(Term::ArcShrinkable, arc.shrinkable(), meminfo));
            line.children.retain(|part| part.bytes.0 > 0);
            if line.children.is_empty() {
                line.freeable = super::Freeable::No;
                line.by_what = "lowering zfs_arc_min: ZFS keeps all of it".into();
            }
            lines.push(line);
        }
    }
    out
}

/// Takes this much off the lines that hold what ZFS has from slab; `false`, and nothing is taken, where they hold less.
fn take(lines: &mut [LedgerLine], mut bytes: Bytes) -> bool {
    const HOLDERS: [Term; 3] = [Term::SlabUnreclaimable, Term::SlabReclaimable, Term::Vmalloc];
    let held = |line: &LedgerLine| line.bytes.saturating_sub(line.children.iter().map(|part| part.bytes).sum());
    let all: Bytes = lines.iter().filter(|line| HOLDERS.contains(&line.id)).map(held).sum();
    if all < bytes {
        return false;
    }
    for term in HOLDERS {
        for line in lines.iter_mut().filter(|line| line.id == term) {
            let part = held(line).min(bytes);
            line.bytes = line.bytes.saturating_sub(part);
            bytes = bytes.saturating_sub(part);
        }
    }
    true
}

/// Pages that a balloon holds; `None` without one.
fn ballooned(snapshot: &Snapshot, meminfo: &Meminfo) -> Option<Bytes> {
    let counted = snapshot.vmstat.data().and_then(|seen| {
        let pages = seen.get("balloon_inflate")?.checked_sub(seen.get("balloon_deflate")?)?;
        Some(Pages(pages).bytes(snapshot.machine.page_size))
    });
    meminfo.balloon.max(counted).filter(|bytes| bytes.0 > 0)
}

/// Whether its driver leaves the pages in MemTotal, where the driver is known.
fn is_in_total(snapshot: &Snapshot) -> Option<bool> {
    let vendor = snapshot.machine.hypervisor.as_deref().unwrap_or_default().to_ascii_lowercase();
    match snapshot.machine.balloon_deflates_on_oom {
        Some(deflates) => Some(deflates),
        None if vendor.contains("xen") || vendor.contains("microsoft") => Some(false),
        None if vendor.contains("vmware") => Some(true),
        None => None,
    }
}

fn descriptors(snapshot: &Snapshot) -> Option<Outside> {
    let seen = snapshot.vmstat.data()?;
    let pages = seen.nr_memmap_boot.or_else(|| seen.unknown.get("nr_memmap_boot").and_then(|text| text.parse().ok()));
    Some(Outside {
        label: "page descriptors".into(),
        bytes: Pages(pages.filter(|n| *n > 0)?).bytes(snapshot.machine.page_size),
        why: "reserved at boot for the kernel's note on every page, before MemTotal was counted".into(),
    })
}
