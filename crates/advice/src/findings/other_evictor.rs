//! Something besides reclaim evicts pages here: a DAMON scheme, `damon_reclaim`, or a user of `memory.reclaim`.
//!
//! Pages then leave although memory is free, and free memory, refaults and cache sizes no longer mean what they mean
//! elsewhere. That can be wanted; it has to be known before anything is measured or tuned.

use ramline_snapshot::evictors::Evictors;

use crate::prelude::*;

pub(super) const RULE: Rule = Rule {
    id: "other-evictor",
    looks_for: "DAMON, damon_reclaim or memory.reclaim evicting pages",
    explain: "evictors",
    check,
    cost_if_wrong: "where it was set up on purpose (to pack more onto a machine), stopping it gives that memory back to caches",
    tune: Tune::No("it belongs to the program that started it"),
};

const RECLAIM: &str = "/sys/module/damon_reclaim/parameters/enabled";

/// Reclaimed on request over the window; less is a test, not a habit.
const LEAST_PROACTIVE: Bytes = Bytes::from_mib(1);

/// Everything that evicts, collected before it is told.
#[derive(Default)]
struct Culprits {
    names: Vec<String>,
    evidence: Vec<Evidence>,
    on: Vec<String>,
    off: Vec<String>,
    confidence: Option<Confidence>,
    busy: bool,
}

impl Culprits {
    fn add(&mut self, name: String, evidence: Evidence, confidence: Confidence) {
        self.names.push(name);
        self.evidence.push(evidence);
        self.confidence = self.confidence.max(Some(confidence));
    }
}

fn check(inputs: &Inputs<'_>) -> Option<Draft> {
    let mut found = Culprits::default();
    if let Some(evictors) = inputs.snapshot.evictors.data() {
        schemes(inputs, evictors, &mut found);
        damon_reclaim(evictors, &mut found);
        hidden_threads(evictors, &mut found);
    }
    proactive(inputs, &mut found);
    let confidence = found.confidence?;
    let who = list(&found.names);
    let hint = if confidence == Confidence::Low { "may evict" } else { "evicts" };
    let free = inputs.snapshot.meminfo.data().and_then(|m| m.mem_free.zip(m.mem_total));
    if let Some((free, total)) = free {
        found.evidence.put("free all the same", format!("{free} of {total}"), "/proc/meminfo MemFree");
    }
    let change = (!found.on.is_empty()).then(|| Change {
        what: format!("stops {who}; the service that set it up may start it again"),
        commands: found.off,
        undo: found.on,
    });
    Some(Draft {
        title: format!("{} {hint} pages here although memory is not short", capital(&who)),
        weight: if found.busy { Weight::Warning } else { Weight::Note },
        effect: "the cache empties even while memory is free, so files are read again and measurements look worse; if you did not set it up, the hypervisor or cloud image did".into(),
        evidence: found.evidence,
        confidence,
        change,
        ..Draft::default()
    })
}

fn schemes(inputs: &Inputs<'_>, evictors: &Evictors, found: &mut Culprits) {
    for (index, scheme) in evictors.schemes.iter().enumerate().filter(|(_, s)| s.state == "on" && s.action == "pageout")
    {
        let dir = format!("/sys/kernel/mm/damon/admin/kdamonds/{}", scheme.kdamond);
        let applied = |s: &ramline_snapshot::Snapshot| s.evictors.data()?.schemes.get(index)?.applied_bytes;
        let value = match inputs.window.and_then(|w| Some((w.delta(applied)?, w.span))) {
            Some((bytes, span)) => {
                found.busy |= bytes > 0;
                format!("on, {} paged out over {span}", Bytes(bytes))
            }
            None if applied(inputs.snapshot).is_none() => {
                "on; how much it pages out is not refreshed by the kernel".to_owned()
            }
            None => "on".to_owned(),
        };
        found.add(
            format!("a DAMON pageout scheme (kdamond {})", scheme.kdamond),
            evidence("DAMON scheme", value, format!("{dir}/state, schemes")),
            Confidence::High,
        );
        let (off, on) = (format!("echo off > {dir}/state"), format!("echo on > {dir}/state"));
        if !found.off.contains(&off) {
            found.off.push(off);
            found.on.push(on);
        }
    }
}

fn damon_reclaim(evictors: &Evictors, found: &mut Culprits) {
    if evictors.damon_reclaim.get("enabled").is_some_and(|v| v == "Y") {
        found.add("damon_reclaim".into(), evidence("damon_reclaim", "enabled", RECLAIM), Confidence::High);
        found.off.push(format!("echo N > {RECLAIM}"));
        found.on.push(format!("echo Y > {RECLAIM}"));
    }
}

/// Threads beyond those whose work is known. One that only watches (`damon_stat`, which Debian's newest kernels switch on) is no evictor.
fn hidden_threads(evictors: &Evictors, found: &mut Culprits) {
    let hidden = evictors.hidden_threads();
    if hidden == 0 {
        return;
    }
    let noun = if hidden == 1 { "thread" } else { "threads" };
    found.add(
        format!("{hidden} DAMON {noun} whose scheme is not visible"),
        evidence(
            "DAMON threads without a visible scheme",
            format!("{hidden}; they may only be monitoring"),
            "kernel threads named kdamond*",
        ),
        Confidence::Low,
    );
}

fn proactive(inputs: &Inputs<'_>, found: &mut Culprits) {
    let Some(window) = inputs.window else { return };
    let counter = |s: &ramline_snapshot::Snapshot| s.vmstat.data()?.pgsteal_proactive;
    let (Some(pages), Some(per_second)) = (window.delta(counter), window.per_second(counter)) else { return };
    if Pages(pages).bytes(inputs.snapshot.machine.page_size) < LEAST_PROACTIVE {
        return;
    }
    found.busy = true;
    found.add(
        "a user of memory.reclaim".into(),
        evidence("reclaimed on request", rate(per_second, "pages", window.span), "/proc/vmstat pgsteal_proactive"),
        Confidence::Medium,
    );
}
