//! `evictors`: what else evicts pages.

use crate::prelude::*;

pub(super) const TOPIC: Topic = Topic {
    id: "evictors",
    area: Area::Pressure,
    question: "What else evicts pages here, besides memory running short?",
    wants: Wanted { evictors: true, ..LIGHT },
    answer,
    mechanism: &[
        "Besides reclaim under pressure, these evict by themselves: DAMON schemes that page out what was not used for a while, and damon_reclaim built on it. A group at its limit evicts its own pages.",
        "On request evict: writes to a group's memory.reclaim or, on newer kernels, to a node's /sys/devices/system/node/node*/reclaim; drop_caches; posix_fadvise(DONTNEED), as backup programs call it, on one file; madvise(MADV_PAGEOUT, MADV_COLD) and process_madvise, as phones use them, on one program.",
        "All of them work with memory free: a file read once may be gone half a minute later, and a cache that looks too small is one that is being emptied.",
    ],
    myth: "Pages leave RAM only when it is full.",
    to_do: "Nothing.",
    next: "ramline show pressure --for 10s",
};

fn answer(inputs: &Inputs<'_>, out: &mut Explanation) -> String {
    let seen = inputs.snapshot.evictors.data();
    for scheme in seen.into_iter().flat_map(|e| &e.schemes) {
        let applied = match scheme.applied_bytes {
            Some(bytes) => format!(", applied to {} since it started", Bytes(bytes)),
            None => ", how much is not refreshed by the kernel".to_owned(),
        };
        let value = format!("{}, {}{applied}", scheme.action, scheme.state);
        out.put(&format!("DAMON scheme of kdamond {}", scheme.kdamond), value, "/sys/kernel/mm/damon/admin/kdamonds");
    }
    out.add("DAMON threads", seen.and_then(|e| e.kdamond_threads), "kernel threads named kdamond*");
    let value = seen.and_then(|e| e.damon_reclaim.get("enabled"));
    out.add("damon_reclaim enabled", value, "/sys/module/damon_reclaim/parameters/enabled");
    let value = seen.and_then(|e| e.damon_stat.get("enabled"));
    out.add("damon_stat enabled", value, "/sys/module/damon_stat/parameters/enabled (it watches and evicts nothing)");
    let asked =
        inputs.window.and_then(|w| Some(rate(w.per_second(|s| s.vmstat.data()?.pgsteal_proactive)?, "pages", w.span)));
    let asked_for = asked.is_some();
    out.add("reclaimed on request", asked, "/proc/vmstat pgsteal_proactive");
    if seen.is_some_and(|e| e.damon_evicts()) {
        out.to_do = "Nothing if it is intended; cold starts after idle time are its price.".into();
    }
    match seen {
        Some(e) if e.damon_evicts() => "DAMON evicts pages here, whether memory is short or not.".to_owned(),
        Some(e) if e.hidden_threads() > 0 => {
            "A DAMON thread runs here whose scheme cannot be seen. It may evict, or only watch.".into()
        }
        Some(e) if e.watchers() > 0 => "Nothing else evicts pages here: DAMON runs, but it only watches.".into(),
        Some(_) => "Nothing else evicts pages here, as far as can be seen: no DAMON scheme does.".into(),
        None if asked_for => "There is no DAMON here; requests to reclaim show below.".into(),
        None => unseen(inputs, "evictors"),
    }
}
