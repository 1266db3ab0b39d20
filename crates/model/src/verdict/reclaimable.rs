//! What explains a figure that looks wrong and is not: much reclaimable slab, a machine made smaller by its balloon.
//!
//! Neither is trouble: names and inodes of files shrink as page cache does, and what a balloon took is no part of MemTotal. Both are asked about, so both are
//! said where they are a tenth of RAM ([`crate::unowned::LARGE`] says why).

use crate::ledger::{Ledger, Term};
use crate::prelude::*;
use crate::unowned::{FIXED, LARGE};
use ramline_snapshot::machine::Machine;

/// So many caches are named.
const NAMED: usize = 2;

fn is_large(bytes: Bytes, whole: Bytes) -> bool {
    bytes.saturating_sub(FIXED).share_of(whole).is_some_and(|share| share >= LARGE)
}

/// Names and inodes of files, with their largest caches where root has seen them.
pub(super) fn slab(snapshot: &Snapshot, ledger: &Ledger) -> Option<String> {
    let bytes = Some(ledger.bytes(Term::SlabReclaimable)).filter(|bytes| is_large(*bytes, ledger.total))?;
    let caches = snapshot.slab.data().map(|slab| slab.caches.as_slice()).unwrap_or_default();
    // What is a tenth of it at least.
    let named = caches.iter().filter(|cache| cache.is_reclaimable() && cache.held.0 >= bytes.0 / 10).take(NAMED);
    let named: Vec<String> = named.map(|cache| format!("{} {}", cache.name, cache.held)).collect();
    let named = if named.is_empty() { String::new() } else { format!(" ({})", named.join(", ")) };
    Some(format!(
        "{bytes} is reclaimable slab{named}: names and inodes of files above all, freed when memory is needed."
    ))
}

/// Memory in nodes without processors, which MemAvailable counts as any other: programs get it, and it is slower, or a device has it.
pub(super) fn without_cpus(machine: &Machine, ledger: &Ledger) -> Option<String> {
    let nodes: Vec<_> = machine.nodes_without_cpus().collect();
    let all: Bytes = nodes.iter().map(|node| node.total).sum();
    let free: Bytes = nodes.iter().map(|node| node.free).sum();
    let (of, names) = match nodes.as_slice() {
        [node] => ("a node without processors", node.node.to_string()),
        _ => {
            ("nodes without processors", nodes.iter().map(|node| node.node.to_string()).collect::<Vec<_>>().join(", "))
        }
    };
    is_large(all, ledger.total).then(|| {
        format!("{all} of RAM is in {of} ({names}), {free} of it free: CXL, persistent memory or a graphics card's.")
    })
}

/// Memory that the hypervisor has taken off this machine.
pub(super) fn balloon(ledger: &Ledger) -> Option<String> {
    let bytes = ledger.balloon_outside()?;
    let whole = ledger.total + bytes;
    is_large(bytes, whole).then(|| {
        format!(
            "The hypervisor's balloon has taken {bytes} of {whole}; what is left of this machine is {}.",
            ledger.total
        )
    })
}
