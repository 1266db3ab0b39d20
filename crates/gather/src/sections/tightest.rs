//! The tightest limits on the way up from a group, as its `memory.stat` of version 1 has them.

use ramline_snapshot::cgroup::limit;
use ramline_units::Limit;

/// The tightest limits on the way up, as `memory.stat` of version 1 has them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Tightest {
    pub memory: Option<Limit>,
    /// Memory and swap together; absent where swap is not counted.
    pub both: Option<Limit>,
}

impl Tightest {
    pub fn in_stat(stat: &str) -> Tightest {
        let read = |key| limit("", value(stat, key)?).ok();
        Tightest { memory: read("hierarchical_memory_limit"), both: read("hierarchical_memsw_limit") }
    }

    pub fn is_none(self) -> bool {
        self.memory == Some(Limit::Max) && self.both.is_none_or(|limit| limit == Limit::Max)
    }
}

/// The number of a line of `memory.stat`.
pub fn value<'a>(stat: &'a str, key: &str) -> Option<&'a str> {
    stat.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '))
}
