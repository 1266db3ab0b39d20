//! What a group has swapped out, and the figures that bound what it may take back.

use super::path::Version;
use super::stat::{Table, table};
use super::v1::UNLIMITED_FROM;
use crate::prelude::*;

/// Figures of a group with those of its children. A limit that is none is the largest number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SwapFigures {
    /// Pages that have a place in swap.
    pub swapped: Bytes,
    /// Those that are in memory as well, and charged there.
    pub cached: Bytes,
    /// Charged memory.
    pub usage: Bytes,
    /// Its limit.
    pub limit: Bytes,
    /// Files, and compressed copies of zswap, which give up their memory as their pages come in: what reclaim takes first.
    pub files: Bytes,
    /// How much more it may swap: in version 1 what is left of memory and swap together.
    pub swap_left: Bytes,
    /// Version 1: the limit of memory and swap together.
    pub memsw_limit: Option<Bytes>,
    /// Version 1: its own swappiness is above 0, so that its reclaim swaps at all. `None` in version 2, which has that of the machine.
    pub swaps: Option<bool>,
    /// Its children are in these figures.
    pub with_children: bool,
}

impl SwapFigures {
    /// Of the group in a directory. `None` when what is swapped is not known.
    #[must_use]
    pub fn read(dir: &Path, version: Version) -> Option<SwapFigures> {
        let stat = table(&read_text(&dir.join("memory.stat")).ok()?);
        let number = |file: &str| read_u64(&dir.join(file)).ok().map(Bytes);
        let limit = |file: &str| number(file).filter(|at| at.0 < UNLIMITED_FROM).unwrap_or(Bytes(u64::MAX));
        Some(match version {
            // A page that is read back leaves the count of swap at once. The difference of the two counters is exact, the line of
            // memory.stat may be late.
            Version::V1 => {
                let (usage, most) = (number("memory.usage_in_bytes")?, limit("memory.limit_in_bytes"));
                let (memsw, together) = (number("memory.memsw.usage_in_bytes")?, limit("memory.memsw.limit_in_bytes"));
                SwapFigures {
                    swapped: memsw.saturating_sub(usage),
                    cached: Bytes::ZERO,
                    usage,
                    limit: most,
                    files: sum(&stat, &["total_inactive_file", "total_active_file"]),
                    swap_left: together.saturating_sub(memsw),
                    memsw_limit: Some(together),
                    swaps: Some(number("memory.swappiness") != Some(Bytes::ZERO)),
                    with_children: number("memory.use_hierarchy") != Some(Bytes::ZERO),
                }
            }
            Version::V2 => {
                let (swapped, most) = (number("memory.swap.current")?, limit("memory.max"));
                SwapFigures {
                    swapped,
                    cached: sum(&stat, &["swapcached"]),
                    usage: number("memory.current")?,
                    limit: most,
                    files: sum(&stat, &["inactive_file", "active_file", "zswap"]),
                    swap_left: limit("memory.swap.max").saturating_sub(swapped),
                    memsw_limit: None,
                    swaps: None,
                    with_children: true,
                }
            }
        })
    }
}

fn sum(stat: &Table, keys: &[&str]) -> Bytes {
    keys.iter().filter_map(|key| stat.get(*key)).fold(Bytes::ZERO, |all, one| all + Bytes(*one))
}
