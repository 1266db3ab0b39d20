//! DAMON's schemes, its kernel threads, and the modules built on it.

use std::io::Read;

use ramline_snapshot::evictors::{DamonScheme, Evictors};

use super::reader::{NotRead, Reader};
use crate::prelude::*;

const ADMIN: &str = "/sys/kernel/mm/damon/admin/kdamonds";

pub fn evictors(reader: &Reader<'_>) -> Seen<Evictors> {
    let count = reader.text(format!("{ADMIN}/nr_kdamonds"));
    let parameters = |module: &str| {
        let dir = format!("/sys/module/{module}/parameters");
        let read = |name: String| Some((name.clone(), reader.word(&format!("{dir}/{name}"))?));
        reader.names(&dir).into_iter().filter_map(read).collect::<BTreeMap<_, _>>()
    };
    let (reclaim, lru_sort) = (parameters("damon_reclaim"), parameters("damon_lru_sort"));
    let stat = parameters("damon_stat");
    let threads = kdamond_threads(reader);
    match count {
        Err(NotRead::Denied) if reclaim.is_empty() => Seen::Denied { path: ADMIN.to_owned() },
        Err(NotRead::Absent) if reclaim.is_empty() && threads.is_none() => Seen::Absent { path: ADMIN.to_owned() },
        _ => reader.timed(|| {
            let mut unseen = Vec::new();
            Evictors {
                schemes: schemes(reader, &mut unseen),
                kdamond_threads: threads,
                damon_reclaim: reclaim,
                damon_lru_sort: lru_sort,
                damon_stat: stat,
                unseen,
            }
        }),
    }
}

fn schemes(reader: &Reader<'_>, unseen: &mut Vec<Unseen>) -> Vec<DamonScheme> {
    let mut out = Vec::new();
    let mut count = |path: &str, most: u64| reader.number_or(path, unseen).unwrap_or(0).min(most);
    for kdamond in 0..count(&format!("{ADMIN}/nr_kdamonds"), 1024) {
        let dir = format!("{ADMIN}/{kdamond}");
        let state = reader.word(&format!("{dir}/state")).unwrap_or_default();
        for context in 0..count(&format!("{dir}/contexts/nr_contexts"), 64) {
            let schemes = format!("{dir}/contexts/{context}/schemes");
            for scheme in 0..count(&format!("{schemes}/nr_schemes"), 64) {
                // The kernel updates the count on request, or by itself every refresh_ms (6.17): else it stands still.
                let refreshed = reader.number(&format!("{ADMIN}/{kdamond}/refresh_ms")).is_some_and(|ms| ms > 0);
                let applied = reader.number(&format!("{schemes}/{scheme}/stats/sz_applied"));
                out.push(DamonScheme {
                    kdamond,
                    state: state.clone(),
                    action: reader.word(&format!("{schemes}/{scheme}/action")).unwrap_or_default(),
                    applied_bytes: applied.filter(|_| refreshed),
                });
            }
        }
    }
    out
}

/// Kernel threads are the children of process 2; asking only them keeps this cheap beside many processes.
fn kdamond_threads(reader: &Reader<'_>) -> Option<u64> {
    if let Some(meta) = reader.meta() {
        return meta.kdamond_threads;
    }
    let children = std::fs::read_to_string(reader.root.path("/proc/2/task/2/children")).ok()?;
    const NAME: &[u8] = b"kdamond";
    // There are a hundred of them, and this is half of what `cache stat` does about one file: one read each, of no more than the name.
    let named = |pid: &&str| {
        let (mut name, path) = ([0; NAME.len()], reader.root.path(format!("/proc/{pid}/comm")));
        std::fs::File::open(path).is_ok_and(|mut comm| comm.read(&mut name).is_ok()) && name == NAME
    };
    u64::try_from(children.split_ascii_whitespace().filter(named).count()).ok()
}
