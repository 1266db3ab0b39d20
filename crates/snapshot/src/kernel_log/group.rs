//! The figures of a control group in a report: usage and limits, and its statistics of either version.

use super::fields::{Unit, clip, number_after, pairs};
use crate::prelude::*;

/// A limit of this size is none: the kernel prints the largest number of pages it can count, in kB (PAGE_COUNTER_MAX).
const NO_LIMIT_KIB: u64 = 1 << 52;
/// Statistics of a group are fewer.
const MOST_STATISTICS: usize = 200;

/// One counter and its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct GroupUse {
    /// Charged.
    pub usage: Bytes,
    /// The limit; `None` where there is none.
    pub limit: Option<Bytes>,
    /// How often it was hit.
    pub failcnt: u64,
}

/// What a report says of the group in which it killed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct GroupFigures {
    /// The group whose limit it is, as far as a line names it.
    pub path: Option<String>,
    /// memory.max, or memory.limit_in_bytes.
    pub memory: Option<GroupUse>,
    /// memory.memsw.limit_in_bytes: memory and swap together (version 1).
    pub memory_and_swap: Option<GroupUse>,
    /// memory.swap.max (version 2).
    pub swap: Option<GroupUse>,
    /// memory.kmem.limit_in_bytes (version 1).
    pub kmem: Option<GroupUse>,
    /// Its statistics in bytes, those of this group alone.
    pub statistics: BTreeMap<String, u64>,
}

impl GroupFigures {
    /// A line of usage, if it is one.
    pub(super) fn usage_line(&mut self, text: &str) -> bool {
        let Some((name, rest)) = text.trim_start().split_once(": usage ") else { return false };
        let Some(usage) = number_after(&format!("usage {rest}"), "usage ") else { return false };
        let limit = number_after(rest, "limit ").filter(|limit| *limit < NO_LIMIT_KIB);
        let known = rest.contains("limit ");
        let figures = GroupUse {
            usage: Bytes::from_kib(usage),
            limit: limit.map(Bytes::from_kib),
            failcnt: number_after(rest, "failcnt ").unwrap_or_default(),
        };
        let place = match name {
            "memory" => &mut self.memory,
            "memory+swap" => &mut self.memory_and_swap,
            "swap" => &mut self.swap,
            "kmem" => &mut self.kmem,
            _ => return false,
        };
        // The first is that of the group; a line that is cut before its limit says nothing of one.
        if place.is_none() && known {
            *place = Some(figures);
        }
        true
    }

    /// `Memory cgroup stats for PATH: cache:1KB ...`, if it is one.
    pub(super) fn statistics_line(&mut self, text: &str) -> bool {
        let Some((_, rest)) =
            text.split_once("Memory cgroup stats for ").or_else(|| text.split_once("Memory cgroup stats"))
        else {
            return false;
        };
        let (path, values) = rest.split_once(": ").unwrap_or((rest.trim_end_matches(':'), ""));
        self.path = self.path.take().or_else(|| path.trim().starts_with('/').then(|| clip(path.trim(), 512)));
        // Version 1 prints a line for each group below as well, each of its own pages (mem_cgroup_print_oom_info up to 5.2): they add up.
        for (key, value, unit) in pairs(values) {
            let bytes = if unit == Unit::Kib { value.saturating_mul(1024) } else { value };
            if self.statistics.len() < MOST_STATISTICS && key.len() < 64 {
                let sum = self.statistics.entry(key.to_owned()).or_default();
                *sum = sum.saturating_add(bytes);
            }
        }
        true
    }

    /// `anon 535658496`, one a line, bytes; if it is one.
    pub(super) fn statistic(&mut self, text: &str) -> bool {
        let mut words = text.split_whitespace();
        let (Some(key), Some(value)) = (words.next(), words.next()) else { return false };
        let name = key.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_');
        let Some(value) = name.then(|| value.parse().ok()).flatten() else { return false };
        self.keep(key, value);
        true
    }

    fn keep(&mut self, key: &str, value: u64) {
        if self.statistics.len() < MOST_STATISTICS && key.len() < 64 {
            self.statistics.entry(key.to_owned()).or_insert(value);
        }
    }

    /// One of its statistics.
    #[must_use]
    pub fn statistic_named(&self, name: &str) -> Option<Bytes> {
        self.statistics.get(name).copied().map(Bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_and_statistics_of_both_versions_are_bytes() {
        let mut group = GroupFigures::default();
        assert!(group.usage_line("memory: usage 524288kB, limit 524288kB, failcnt 3"));
        assert!(group.usage_line("memory+swap: usage 600000kB, limit 9007199254740988kB, failcnt 0"));
        assert!(group.statistics_line("Memory cgroup stats for /a: cache:80KB rss:516948KB swap:12KB"));
        assert_eq!(group.memory.unwrap().limit, Some(Bytes::from_mib(512)));
        assert_eq!(group.memory_and_swap.unwrap().limit, None);
        assert_eq!((group.statistic_named("rss"), group.path.as_deref()), (Some(Bytes::from_kib(516_948)), Some("/a")));
        let mut newer = GroupFigures::default();
        assert!(newer.statistics_line("Memory cgroup stats for /b:") && newer.statistic("anon 535658496"));
        assert!(!newer.statistic("Tasks state (memory values in pages):"));
        assert_eq!((newer.statistic_named("anon"), newer.path.as_deref()), (Some(Bytes(535_658_496)), Some("/b")));
    }
}
