//! What else evicts here: DAMON schemes, `damon_reclaim`, `damon_lru_sort`, users of `memory.reclaim`.

use crate::prelude::*;

/// One scheme of a DAMON thread.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DamonScheme {
    /// `kdamonds/N`.
    pub kdamond: u64,
    /// `on` or `off`.
    pub state: String,
    /// `pageout`, `lru_prio`, `stat`…
    pub action: String,
    /// Bytes the action was applied to; `None` where the kernel does not keep the count up to date. Counter.
    pub applied_bytes: Option<u64>,
}

/// Everything known to evict besides reclaim itself.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Evictors {
    /// Schemes set through sysfs.
    pub schemes: Vec<DamonScheme>,
    /// Kernel threads named `kdamond*`, whoever started them.
    pub kdamond_threads: Option<u64>,
    /// Parameters of `damon_reclaim`; empty when it is not there.
    pub damon_reclaim: BTreeMap<String, String>,
    /// Parameters of `damon_lru_sort`; empty when it is not there.
    pub damon_lru_sort: BTreeMap<String, String>,
    /// Parameters of `damon_stat`, which counts how long memory is idle and evicts nothing; empty when it is not there.
    pub damon_stat: BTreeMap<String, String>,
    /// Files that could not be used.
    pub unseen: Vec<Unseen>,
}

/// A module's `enabled` says that its thread runs.
fn runs(parameters: &BTreeMap<String, String>) -> bool {
    parameters.get("enabled").is_some_and(|v| v == "Y")
}

impl Evictors {
    /// Threads that only watch and move nothing out of RAM: `damon_stat`, `damon_lru_sort`, and kdamonds that are on without
    /// any scheme that pages out.
    #[must_use]
    pub fn watchers(&self) -> u64 {
        let modules = [&self.damon_stat, &self.damon_lru_sort].iter().filter(|m| runs(m)).count();
        let mut on: Vec<u64> = self.schemes.iter().filter(|s| s.state == "on").map(|s| s.kdamond).collect();
        on.dedup();
        let pages_out = |k: &&u64| self.schemes.iter().any(|s| s.kdamond == **k && s.action == "pageout");
        let schemes = on.iter().filter(|k| !pages_out(k)).count();
        u64::try_from(modules + schemes).unwrap_or(u64::MAX)
    }

    /// Threads whose work is not visible: set up from inside the kernel, or out of sight here. They may watch or evict.
    #[must_use]
    pub fn hidden_threads(&self) -> u64 {
        let mut evicting: Vec<u64> =
            self.schemes.iter().filter(|s| s.state == "on" && s.action == "pageout").map(|s| s.kdamond).collect();
        evicting.dedup();
        let evicting = u64::try_from(evicting.len()).unwrap_or(u64::MAX) + u64::from(runs(&self.damon_reclaim));
        self.kdamond_threads.unwrap_or(0).saturating_sub(evicting.saturating_add(self.watchers()))
    }

    /// True when a DAMON pageout scheme or `damon_reclaim` runs.
    #[must_use]
    pub fn damon_evicts(&self) -> bool {
        self.schemes.iter().any(|s| s.state == "on" && s.action == "pageout") || runs(&self.damon_reclaim)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn module(enabled: &str) -> BTreeMap<String, String> {
        BTreeMap::from([("enabled".to_owned(), enabled.to_owned())])
    }

    fn scheme(kdamond: u64, action: &str) -> DamonScheme {
        DamonScheme { kdamond, state: "on".into(), action: action.into(), applied_bytes: None }
    }

    #[test]
    fn the_thread_of_damon_stat_watches_and_one_more_thread_is_not_explained() {
        let mut seen = Evictors { kdamond_threads: Some(1), damon_stat: module("Y"), ..Evictors::default() };
        assert_eq!((seen.watchers(), seen.hidden_threads(), seen.damon_evicts()), (1, 0, false));
        seen.kdamond_threads = Some(2);
        assert_eq!((seen.watchers(), seen.hidden_threads()), (1, 1));
        seen.damon_stat = module("N");
        assert_eq!((seen.watchers(), seen.hidden_threads()), (0, 2));
    }

    #[test]
    fn one_thread_with_a_scheme_that_counts_and_one_that_pages_out_evicts() {
        let both = vec![scheme(0, "stat"), scheme(0, "pageout"), scheme(1, "stat")];
        let seen =
            Evictors { schemes: both, kdamond_threads: Some(3), damon_reclaim: module("Y"), ..Evictors::default() };
        assert_eq!((seen.watchers(), seen.hidden_threads(), seen.damon_evicts()), (1, 0, true));
    }
}
