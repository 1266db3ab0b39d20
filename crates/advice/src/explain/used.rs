//! `used`: two programs, two definitions, and what uses the memory that cannot be dropped.

use ramline_model::ledger::{Freeable, Ledger, LedgerLine, Term};
use ramline_model::verdict::amount_of;

use crate::prelude::*;

pub(super) const TOPIC: Topic = Topic {
    id: "used",
    area: Area::Memory,
    question: "How much memory is used, and what uses it?",
    wants: LIGHT,
    answer,
    mechanism: &[
        "There is no single \"used\": one definition subtracts what the kernel estimates it could free (MemAvailable), the other subtracts free memory and all cache.",
        "tmpfs and shared memory count as cache in /proc/meminfo although they cannot be dropped; the ledger gives them a line of their own.",
        "Compressed swap (zram, zswap) is RAM with compressed pages in it: used memory. What it saves is the uncompressed size less that.",
    ],
    myth: "The sum of RSS over all processes is the memory in use: shared pages are in it once for every process that maps them.",
    to_do: "Nothing while no task waits; for names, ramline show processes.",
    next: "ramline show",
};

/// What processes, shared memory and the kernel have; a cache that can be dropped is not used, nor is what is free.
fn is_used(line: &LedgerLine) -> bool {
    let is_spare = matches!(line.id, Term::FileDirty | Term::Arc | Term::CmaFree | Term::Unaccepted);
    line.freeable != Freeable::Now && !is_spare && line.bytes.0 > 0
}

/// Lines of the ledger worth naming: the largest.
const MOST: usize = 5;

fn answer(inputs: &Inputs<'_>, out: &mut Explanation) -> String {
    let meminfo = inputs.snapshot.meminfo.data();
    let total = meminfo.and_then(|m| m.mem_total);
    let by_available = meminfo.and_then(|m| m.mem_total?.checked_sub(m.believed().mem_available?));
    let by_cache = meminfo.and_then(|m| {
        let cache = m.buffers? + m.cached? + m.s_reclaimable.unwrap_or_default();
        m.mem_total?.checked_sub(m.mem_free? + cache)
    });
    out.add("used, as free of procps 4 counts it", by_available, "/proc/meminfo MemTotal - MemAvailable");
    out.add(
        "used, as free of procps 3.3 and top count it",
        by_cache,
        "/proc/meminfo MemTotal - MemFree - Buffers - Cached - SReclaimable",
    );
    let ledger = Ledger::from_snapshot(inputs.snapshot);
    let mut held = Bytes::ZERO;
    if let Some(ledger) = &ledger {
        let mut lines: Vec<_> = ledger.lines.iter().filter(|line| is_used(line)).collect();
        ramline_units::sort_by_key(&mut lines, |line| std::cmp::Reverse(line.bytes));
        held = lines.iter().map(|line| line.bytes).sum::<Bytes>() + ledger.leftover.or_zero();
        for line in lines.iter().take(MOST) {
            out.put(&line.label, format!("{}: {}", line.bytes, line.owner), "the ledger: ramline show");
        }
        let value = Some(format!("{} (bound {})", ledger.leftover, ledger.bound));
        out.add("in no line", value, "the ledger: MemTotal less all lines");
    }
    match (total, ledger) {
        (Some(total), Some(ledger)) if ledger.lines.iter().any(is_used) => sentence(held, total, &ledger),
        (Some(total), Some(_)) if by_available.is_some() => format!(
            "About {} is used, by MemTotal less MemAvailable; by what is not known: /proc/meminfo has no line for it.",
            amount_of(by_available.unwrap_or_default(), total)
        ),
        _ => unseen(inputs, "meminfo"),
    }
}

fn sentence(held: Bytes, total: Bytes, ledger: &Ledger) -> String {
    let of = |terms: &[Term]| terms.iter().map(|term| ledger.bytes(*term)).sum::<Bytes>();
    let (processes, shared) = (of(&[Term::Anon, Term::Unevictable]), of(&[Term::Shmem]));
    let unknown = ledger.leftover_not_known();
    let rest = held.saturating_sub(processes + shared + unknown);
    let whose = match unknown {
        Bytes::ZERO => String::new(),
        _ => format!("; whose {unknown} is, no line tells"),
    };
    format!(
        "{} ({}) is used. Processes have {processes} of it, tmpfs and shared memory {shared}, the kernel and drivers {rest}{whose}.",
        amount_of(held, total),
        percent(held.share_of(total).unwrap_or(0.0))
    )
}
