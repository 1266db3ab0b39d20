//! `evictors`: what else evicts pages.

use super::{Answer, Area, LIGHT, Numbers, Topic, sentences, unseen};
use crate::Inputs;
use crate::text::{evidence, rate};
use ramline_snapshot::Wanted;
use ramline_units::Bytes;

pub(super) const TOPIC: Topic = Topic {
    id: "evictors",
    area: Area::Pressure,
    question: "What else evicts pages here, besides memory running short?",
    wants: Wanted { evictors: true, ..LIGHT },
    answer,
};

fn answer(inputs: &Inputs<'_>) -> Answer {
    let seen = inputs.snapshot.evictors.data();
    let mut numbers = Numbers::default();
    for scheme in seen.into_iter().flat_map(|e| &e.schemes) {
        let applied = match scheme.applied_bytes {
            Some(bytes) => format!(", applied to {} since it started", Bytes(bytes)),
            None => ", how much is not refreshed by the kernel".to_owned(),
        };
        let value = format!("{}, {}{applied}", scheme.action, scheme.state);
        numbers.0.push(evidence(
            &format!("DAMON scheme of kdamond {}", scheme.kdamond),
            value,
            "/sys/kernel/mm/damon/admin/kdamonds",
        ));
    }
    numbers.add("DAMON threads", seen.and_then(|e| e.kdamond_threads), "kernel threads named kdamond*");
    numbers.add(
        "damon_reclaim enabled",
        seen.and_then(|e| e.damon_reclaim.get("enabled")),
        "/sys/module/damon_reclaim/parameters/enabled",
    );
    numbers.add(
        "damon_stat enabled",
        seen.and_then(|e| e.damon_stat.get("enabled")),
        "/sys/module/damon_stat/parameters/enabled (it watches and evicts nothing)",
    );
    let asked =
        inputs.window.and_then(|w| Some(rate(w.per_second(|s| s.vmstat.data()?.pgsteal_proactive)?, "pages", w.span)));
    let asked_for = asked.is_some();
    numbers.add("reclaimed on request", asked, "/proc/vmstat pgsteal_proactive");
    let short = match seen {
        Some(e) if e.damon_evicts() => "DAMON pages memory out here, whether memory is short or not.".to_owned(),
        Some(e) if e.hidden_threads() > 0 => {
            "A DAMON thread runs here whose scheme cannot be seen: it may only watch, or evict.".into()
        }
        Some(e) if e.watchers() > 0 => "Nothing: DAMON runs here, but it only watches how memory is used.".into(),
        Some(_) => "Nothing that can be seen: no DAMON scheme pages out.".into(),
        None if asked_for => "No DAMON here; requests to reclaim show below.".into(),
        None => unseen(inputs, "evictors"),
    };
    Answer {
        short,
        numbers: numbers.0,
        mechanism: sentences([
            "Besides reclaim under pressure, three things evict: DAMON schemes that page out what was not touched for a while, damon_reclaim built on it, and programs that write to a group's memory.reclaim.",
            "They work with memory free. A file read once may be gone half a minute later, and a cache that looks too small is one that is being emptied.",
            "Where they run, free memory says nothing about need, and measurements of the page cache have to name them.",
        ]),
        myth: Some("Pages leave RAM only when it is full.".into()),
        next: "ramline show pressure --for 10s".into(),
    }
}
