//! `Mem-Info`: counters of the machine, its nodes and zones, as old or new as they are.

use super::fields::{Unit, pairs, split_number};
use crate::prelude::*;

/// Names of zones, in the order of addresses.
const ZONES: [&str; 6] = ["DMA", "DMA32", "Normal", "HighMem", "Movable", "Device"];
/// Counters of the first block, with which a line of it begins.
const COUNTERS: [&str; 15] = [
    "active_anon",
    "Active_anon",
    "active_file",
    "unevictable",
    "slab_reclaimable",
    "slab_unreclaimable",
    "mapped",
    "free",
    "kernel_misc_reclaimable",
    "sec_pagetables",
    "inactive_anon",
    "inactive_file",
    "isolated_file",
    "pagetables",
    "active",
];
/// No machine has more zones or nodes that are printed.
const MOST: usize = 4096;
/// Counters of a zone or a node are fewer.
const MOST_COUNTERS: usize = 64;

/// One node's counters in bytes.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct NodeFigures {
    /// Its number.
    pub node: u32,
    /// Counters.
    pub counters: BTreeMap<String, u64>,
}

/// One zone: counters in bytes, what it keeps from requests that higher zones could serve, and its free blocks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct ZoneFigures {
    /// Its node; 0 where none is printed.
    pub node: u32,
    /// DMA, DMA32, Normal, HighMem, Movable, Device.
    pub name: String,
    /// Counters.
    pub counters: BTreeMap<String, u64>,
    /// lowmem_reserve in pages, by the class of the request.
    pub reserve: Vec<u64>,
    /// Free blocks: size in bytes, number, and the types of memory they lie in (U M E C H I), where those are printed.
    pub blocks: Vec<(u64, u64, Option<String>)>,
}

/// A pool of huge pages of one node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct HugePool {
    /// Pages set aside.
    pub total: u64,
    /// Of them free.
    pub free: u64,
    /// The size of one.
    pub size: Bytes,
}

/// The memory of the machine, as a report prints it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct MemoryFigures {
    /// Counters of the first block, in pages.
    pub pages: BTreeMap<String, u64>,
    /// Nodes.
    pub nodes: Vec<NodeFigures>,
    /// Zones.
    pub zones: Vec<ZoneFigures>,
    /// Pools of huge pages.
    pub huge: Vec<HugePool>,
    /// Pages of RAM.
    pub ram: Option<u64>,
    /// Of them reserved.
    pub reserved: Option<u64>,
    /// Pages of high memory.
    pub high: Option<u64>,
    /// Pages of CMA.
    pub cma: Option<u64>,
    /// Pages of the page cache.
    pub page_cache: Option<u64>,
    /// Swap that is free.
    pub swap_free: Option<Bytes>,
    /// Swap in all.
    pub swap_total: Option<Bytes>,
}

/// Where a line that was wrapped goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Wrapped {
    /// Nowhere.
    #[default]
    Nothing,
    /// In the last node.
    Node,
    /// In the last zone.
    Zone,
}

impl MemoryFigures {
    /// A counter of the first block, in pages.
    #[must_use]
    pub fn counter(&self, name: &str) -> Option<u64> {
        self.pages.get(name).copied()
    }

    /// Nothing was read.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pages.is_empty() && self.zones.is_empty() && self.ram.is_none()
    }

    /// A line of it, if it is one.
    pub(super) fn line(&mut self, text: &str, wrapped: &mut Wrapped) -> bool {
        let text = text.trim();
        if self.totals(text) {
            return true;
        }
        let (node, rest) = node_of(text);
        if let Some((name, rest)) = zone_of(rest) {
            if let Some(rest) = rest.strip_prefix(' ').filter(|rest| rest.starts_with("free:")) {
                *wrapped = Wrapped::Zone;
                self.zone(node, name).counters = counters(rest);
                return true;
            }
            if let Some(blocks) = rest.strip_prefix(": ").and_then(blocks) {
                *wrapped = Wrapped::Nothing;
                self.zone(node, name).blocks = blocks;
                return true;
            }
            return false;
        }
        if let Some(values) = text.strip_prefix("lowmem_reserve[]:") {
            if let Some(zone) = self.zones.last_mut() {
                zone.reserve = values.split_whitespace().take(16).map_while(|word| word.parse().ok()).collect();
            }
            return true;
        }
        if text.starts_with("Node ") && rest.starts_with("hugepages_total=") {
            self.huge.extend(huge(rest).filter(|_| self.huge.len() < MOST));
            return true;
        }
        if text.starts_with("Node ") && rest.starts_with("active_anon:") {
            if self.nodes.len() < MOST {
                *wrapped = Wrapped::Node;
                self.nodes.push(NodeFigures { node, counters: counters(rest) });
            }
            return true;
        }
        self.rest_of_a_line(text, *wrapped)
    }

    fn rest_of_a_line(&mut self, text: &str, wrapped: Wrapped) -> bool {
        let found = pairs(text);
        let Some((first, _, unit)) = found.first() else { return false };
        // A line of the log that happens to hold a pair is none of these.
        if !text.starts_with(first) {
            return false;
        }
        match (unit, wrapped) {
            (Unit::Kib, Wrapped::Node) => {
                self.nodes.last_mut().map(|node| node.counters.append(&mut counters(text))).is_some()
            }
            (Unit::Kib, Wrapped::Zone) => {
                self.zones.last_mut().map(|zone| zone.counters.append(&mut counters(text))).is_some()
            }
            (Unit::Bare, _) if COUNTERS.contains(first) => {
                for (key, value, unit) in found {
                    if unit == Unit::Bare && self.pages.len() < MOST_COUNTERS {
                        self.pages.entry(key.to_ascii_lowercase()).or_insert(value);
                    }
                }
                true
            }
            _ => false,
        }
    }

    fn zone(&mut self, node: u32, name: &str) -> &mut ZoneFigures {
        let at = self.zones.iter().rposition(|zone| zone.node == node && zone.name == name);
        let at = at.or_else(|| (self.zones.len() >= MOST).then_some(MOST - 1)).unwrap_or_else(|| {
            self.zones.push(ZoneFigures { node, name: name.to_owned(), ..ZoneFigures::default() });
            self.zones.len() - 1
        });
        &mut self.zones[at]
    }

    fn totals(&mut self, text: &str) -> bool {
        if let Some((name, rest)) = text.split_once('=') {
            let place = match name.trim_end() {
                "Free swap" => &mut self.swap_free,
                "Total swap" => &mut self.swap_total,
                _ => return false,
            };
            *place = rest.trim().strip_suffix("kB").and_then(|kib| kib.parse().ok()).map(Bytes::from_kib);
            return true;
        }
        let Some((number, rest)) = split_number(text) else { return false };
        let place = match rest.trim() {
            "pages RAM" | "pages of RAM" => &mut self.ram,
            "pages reserved" | "reserved pages" => &mut self.reserved,
            "pages HighMem/MovableOnly" | "pages HighMem" | "pages of HIGHMEM" => &mut self.high,
            "pages cma reserved" => &mut self.cma,
            "total pagecache pages" => &mut self.page_cache,
            _ => return false,
        };
        *place = Some(number);
        true
    }
}

/// `Node 0 ` in front, or not.
fn node_of(text: &str) -> (u32, &str) {
    let number = text.strip_prefix("Node ").and_then(split_number);
    number.and_then(|(node, rest)| Some((u32::try_from(node).ok()?, rest.strip_prefix(' ')?))).unwrap_or((0, text))
}

fn zone_of(text: &str) -> Option<(&'static str, &str)> {
    ZONES.iter().rev().find_map(|name| {
        let rest = text.strip_prefix(name)?;
        (rest.starts_with(' ') || rest.starts_with(": ")).then_some((*name, rest))
    })
}

/// Counters with a unit, in bytes.
fn counters(text: &str) -> BTreeMap<String, u64> {
    let with_unit = pairs(text).into_iter().filter(|(_, _, unit)| *unit == Unit::Kib).take(MOST_COUNTERS);
    with_unit.map(|(key, value, _)| (key.to_owned(), value.saturating_mul(1024))).collect()
}

/// `705*4kB (UM) 0*8kB ... = 100kB`; cut ones up to the cut.
fn blocks(text: &str) -> Option<Vec<(u64, u64, Option<String>)>> {
    let mut out: Vec<(u64, u64, Option<String>)> = Vec::new();
    for word in text.split_whitespace() {
        if let Some((count, size)) = word.split_once('*') {
            let (Ok(count), Some(Ok(size))) = (count.parse(), size.strip_suffix("kB").map(str::parse::<u64>)) else {
                break;
            };
            out.push((size.saturating_mul(1024), count, None));
        } else if let (Some(last), Some(types)) =
            (out.last_mut(), word.strip_prefix('(').and_then(|word| word.strip_suffix(')')))
        {
            last.2 = Some(types.chars().take(8).collect());
        } else {
            break;
        }
        if out.len() > 32 {
            break;
        }
    }
    (!out.is_empty()).then_some(out)
}

fn huge(text: &str) -> Option<HugePool> {
    let value = |name: &str| {
        text.split_whitespace()
            .find_map(|word| split_number(word.strip_prefix(name)?.strip_prefix('=')?).map(|(n, _)| n))
    };
    Some(HugePool {
        total: value("hugepages_total")?,
        free: value("hugepages_free")?,
        size: Bytes::from_kib(value("hugepages_size")?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[&str]) -> MemoryFigures {
        let mut memory = MemoryFigures::default();
        let mut wrapped = Wrapped::Nothing;
        for line in lines {
            assert!(memory.line(line, &mut wrapped), "{line}");
        }
        memory
    }

    #[test]
    fn counters_zones_blocks_and_totals_are_read_at_every_age() {
        let memory = read(&[
            "active_anon:100 inactive_anon:20 isolated_anon:0",
            " active_file:3 inactive_file:4 isolated_file:0",
            "Node 0 active_anon:400kB inactive_anon:80kB",
            "unevictable:0kB kernel_stack:16kB all_unreclaimable? no",
            "Node 0 DMA32 free:1000kB min:300kB low:400kB free_cma:8kB local_pcp:12k",
            "lowmem_reserve[]: 0 0 40 40",
            "HighMem free:7kB min:1kB",
            "Node 0 DMA32: 5*4kB (UMC) 1*8kB (C) 2*8192kB (H) = 28kB",
            "Node 0 hugepages_total=3 hugepages_free=1 hugepages_surp=0 hugepages_size=2048kB",
            "Free swap  = 0kB",
            "Total swap = 100kB",
            "1000 pages RAM",
            "10 pages reserved",
        ]);
        assert_eq!((memory.counter("active_anon"), memory.counter("inactive_file")), (Some(100), Some(4)));
        assert_eq!(memory.nodes[0].counters["kernel_stack"], 16 * 1024);
        let zone = &memory.zones[0];
        assert_eq!((zone.name.as_str(), zone.reserve.len(), zone.counters.get("local_pcp")), ("DMA32", 4, None));
        assert_eq!(zone.blocks[1], (8192, 1, Some("C".to_owned())));
        assert_eq!((memory.zones[1].name.as_str(), memory.huge[0].total, memory.ram), ("HighMem", 3, Some(1000)));
        assert_eq!((memory.swap_free, memory.swap_total), (Some(Bytes::ZERO), Some(Bytes::from_kib(100))));
    }

    #[test]
    fn lines_of_others_are_none_of_it() {
        let mut memory = MemoryFigures::default();
        let mut wrapped = Wrapped::Zone;
        for line in
            ["audit: type=1400 audit(1.2:3): pid=1", "DMA-API: mapping error", "Normalized 4 entries", "eth0: link up"]
        {
            assert!(!memory.line(line, &mut wrapped), "{line}");
        }
    }
}
