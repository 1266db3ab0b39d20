//! Memory of the kernel that nothing can reclaim is growing: unreclaimable slab, or what no counter has.
//!
//! Needs a window. Fires when it grows so fast that what is available would be gone within an hour, and by more than a burst of new
//! processes explains. The leftover of the ledger is what no counter has: pages of drivers, of pipes and sockets, or of a leak.
//! Which cache grows is in /proc/slabinfo, which only root may read.

use ramline_model::ledger::Ledger;

use crate::prelude::*;

pub(super) const RULE: Rule = Rule {
    id: "kernel-memory-growing",
    looks_for: "unreclaimable kernel memory, or memory no counter has, that grows without an end in sight",
    explain: "kernel-memory",
    check,
    cost_if_wrong: "a burst that ends by itself looks the same over a short look; look for a minute: ramline show --for 60s",
    tune: Tune::No("what grows has to be found first"),
};

/// A thousand new processes cost about 10 KiB each in slab, and as much again for files and mappings; a build or a test run with
/// many files made 19 MiB in two seconds. In a long look that is over before the end.
const LEAST: Bytes = Bytes::from_mib(16);
const LEAST_SHORT: Bytes = Bytes::from_mib(64);
/// On a small machine less is much: what would use up all that is available within 30 times the look, and what begins a hundred processes or so is no growth.
const REACH: u64 = 30;
const LEAST_SMALL: Bytes = Bytes::from_mib(4);
/// A process that has begun: its task, stack, mappings and open files.
const A_PROCESS: Bytes = Bytes::from_kib(64);
/// What would fill the memory within an hour is worth a word; what takes a day is not seen in two seconds.
const HORIZON_S: f64 = 3600.0;
/// A look shorter than this may have met a burst.
const LONG_LOOK: Nanos = Nanos(60_000_000_000);

/// What grows.
struct Growth {
    what: &'static str,
    source: &'static str,
    from: Bytes,
    to: Bytes,
}

impl Growth {
    fn by(&self) -> Bytes {
        self.to.saturating_sub(self.from)
    }
}

fn check(inputs: &Inputs<'_>) -> Option<Draft> {
    let window = inputs.window?;
    let available = available::bytes(inputs.snapshot)?;
    let growth = [slab(&window), leftover(&window)].into_iter().flatten().max_by_key(Growth::by)?;
    let per_second = growth.by().as_f64() / window.span.as_secs_f64();
    let least = if window.span >= LONG_LOOK { LEAST } else { LEAST_SHORT };
    let least = least.min(LEAST_SMALL.max(Bytes(available.0 / REACH)) + begun(&window));
    if growth.by() < least || per_second * HORIZON_S < available.as_f64() {
        return None;
    }
    let minutes = available.as_f64() / per_second / 60.0;
    let of_slab = growth.what == SLAB;
    let caches = if of_slab { caches(&window) } else { vec![] };
    let named = match caches.first() {
        Some(first) => format!(", most of it in {}", first.0),
        None => String::new(),
    };
    let mut grounds =
        vec![evidence(growth.what, format!("{} to {} over {}", growth.from, growth.to, window.span), growth.source)];
    grounds.extend(caches.iter().map(|(name, grown)| cache_evidence(name, *grown, window.span)));
    if of_slab && caches.is_empty() {
        let (why, source) = if inputs.snapshot.machine.root {
            ("not seen", "/proc/slabinfo")
        } else {
            ("only root may see it", "/proc/slabinfo; try: sudo ramline checkup")
        };
        grounds.put("which cache", why, source);
    }
    grounds.put("available now", available.to_string(), "/proc/meminfo MemAvailable");
    Some(Draft {
        title: format!("{} grows by {:.1} MiB a second{named}", growth.what, per_second / f64::from(1 << 20)),
        weight: Weight::Warning,
        effect: format!(
            "at this pace the {available} available are gone in {minutes:.0} min, and ending a program may not give it back: {}",
            hint(of_slab, &caches)
        ),
        evidence: grounds,
        confidence: if window.span >= LONG_LOOK { Confidence::Medium } else { Confidence::Low },
        ..Draft::default()
    })
}

/// What processes that are there now and were not before may have taken.
fn begun(window: &Window<'_>) -> Bytes {
    let count = |seen: &Snapshot| seen.processes.data().map_or(0, |seen| seen.list.len());
    let more = count(window.after).saturating_sub(count(window.before));
    Bytes(A_PROCESS.0.saturating_mul(u64::try_from(more).unwrap_or(u64::MAX)))
}

const SLAB: &str = "Unreclaimable slab";
const LEFTOVER: &str = "Memory that no counter has";

fn slab(window: &Window<'_>) -> Option<Growth> {
    let seen = |s: &ramline_snapshot::Snapshot| s.meminfo.data()?.s_unreclaim;
    Some(Growth { what: SLAB, source: "/proc/meminfo SUnreclaim", from: seen(window.before)?, to: seen(window.after)? })
}

/// Beyond what the readings of the ledger themselves may be apart, and what was on its way to the hypervisor during one of them.
fn leftover(window: &Window<'_>) -> Option<Growth> {
    let (before, after) = (Ledger::from_snapshot(window.before)?, Ledger::from_snapshot(window.after)?);
    let bytes = |ledger: &Ledger| Bytes(u64::try_from(ledger.leftover.0).unwrap_or(0));
    let growth = Growth {
        what: LEFTOVER,
        source: "the ledger's leftover (ramline show)",
        from: bytes(&before),
        to: bytes(&after),
    };
    (growth.by() > before.bound + after.bound + after.in_report).then_some(growth)
}

/// Caches that grew, the most first.
fn caches(window: &Window<'_>) -> Vec<(String, Bytes)> {
    let Some((before, after)) = window.before.slab.data().zip(window.after.slab.data()) else { return vec![] };
    let grown = |cache: &ramline_snapshot::slab::Cache| {
        let held = before.cache(&cache.name).map_or(Bytes::ZERO, |cache| cache.held);
        (cache.name.clone(), cache.held.saturating_sub(held))
    };
    let mut out: Vec<(String, Bytes)> = after.caches.iter().map(grown).filter(|(_, by)| by.0 > 0).collect();
    ramline_units::sort_by_key(&mut out, |(_, by)| std::cmp::Reverse(*by));
    out.truncate(3);
    out
}

fn cache_evidence(name: &str, grown: Bytes, span: Nanos) -> Evidence {
    evidence(&format!("cache {name}"), format!("+{grown} over {span}"), "/proc/slabinfo")
}

fn hint(of_slab: bool, caches: &[(String, Bytes)]) -> String {
    let names: Vec<String> = caches.iter().map(|(name, _)| name.clone()).collect();
    match (of_slab, names.is_empty()) {
        (true, false) => {
            format!("look for what makes objects of {} (open files, sockets, queues, a driver)", list(&names))
        }
        (true, true) => "the cache that grows shows the cause".to_owned(),
        (false, _) => "pipes, sockets and drivers use pages that no counter has".to_owned(),
    }
}
