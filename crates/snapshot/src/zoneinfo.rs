//! `/proc/zoneinfo`: zones with their watermarks and per-CPU free lists, nodes with their counters.

use crate::prelude::*;

/// The free list one CPU keeps for one zone. Its pages are free but not part of `MemFree`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CpuList {
    /// The CPU.
    pub cpu: u32,
    /// Pages held.
    pub count: Pages,
    /// Above this many the CPU gives some back.
    pub high: Option<Pages>,
    /// Counter changes a CPU may hold back before it publishes them, in pages.
    pub stat_threshold: Option<u64>,
}

/// One zone of one node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Zone {
    /// NUMA node.
    pub node: u32,
    /// DMA, DMA32, Normal, Movable, Device.
    pub name: String,
    /// Free pages.
    pub free: Pages,
    /// Temporary addition to all watermarks after mixed-block fallbacks.
    pub boost: Option<Pages>,
    /// Below: allocations reclaim by themselves.
    pub min: Pages,
    /// Below: kswapd is woken.
    pub low: Pages,
    /// Above: kswapd sleeps again.
    pub high: Pages,
    /// Above: pages may be promoted here (tiered memory).
    pub promo: Option<Pages>,
    /// Pages the allocator manages.
    pub managed: Pages,
    /// Pages present.
    pub present: Pages,
    /// Reserve against allocations that could use a higher zone, one number a zone.
    pub protection: Vec<u64>,
    /// Every other counter of the zone, in pages.
    pub stats: BTreeMap<String, u64>,
    /// Free lists of the CPUs.
    pub cpus: Vec<CpuList>,
}

/// `/proc/zoneinfo`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Zoneinfo {
    /// Zones in the order of the file.
    pub zones: Vec<Zone>,
    /// "per-node stats", by node, in pages or events.
    pub nodes: Vec<Node>,
}

/// Counters of one NUMA node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Node {
    /// NUMA node.
    pub node: u32,
    /// In pages or events.
    pub stats: BTreeMap<String, u64>,
}

impl Zoneinfo {
    /// Pages in the free lists of the CPUs: free, but not in `MemFree`.
    #[must_use]
    pub fn cpu_lists(&self) -> Pages {
        self.zones.iter().flat_map(|z| &z.cpus).map(|c| c.count).sum()
    }

    /// How far one global counter may be off, in pages: every CPU may hold back up to its threshold in every zone.
    #[must_use]
    pub fn counter_error(&self) -> Pages {
        self.zones.iter().flat_map(|z| &z.cpus).filter_map(|c| c.stat_threshold).map(Pages).sum()
    }

    /// Parses the file.
    ///
    /// # Errors
    /// A line of a form no kernel prints, with path, line and text.
    pub fn parse(path: &str, text: &str) -> Result<Self, Malformed> {
        let mut out = Self::default();
        let mut in_node_stats = false;
        let () = parse_lines(path, text, |line| {
            let trimmed = line.trim();
            if let Some(head) = trimmed.strip_prefix("Node ") {
                let (node, name) = head.split_once(", zone")?;
                let node = node.trim().parse().ok()?;
                out.zones.push(Zone { node, name: name.trim().to_owned(), ..Zone::default() });
                in_node_stats = false;
                return Some(());
            }
            let zone = out.zones.last_mut()?;
            in_node_stats = trimmed == "per-node stats" || in_node_stats && !trimmed.starts_with("pages free");
            if matches!(trimmed, "per-node stats" | "pagesets" | "") {
                return Some(());
            }
            if let Some(list) = trimmed.strip_prefix("protection:") {
                let numbers = list.trim_matches([' ', '(', ')']).split(',').map(|n| n.trim().parse().ok());
                zone.protection = numbers.collect::<Option<_>>()?;
                return Some(());
            }
            let (key, value) = trimmed.rsplit_once([' ', ':'])?;
            let value: u64 = value.parse().ok()?;
            let key = key.trim().trim_end_matches(':');
            if !in_node_stats {
                zone.take(key, value);
                return Some(());
            }
            if out.nodes.last().is_none_or(|last| last.node != zone.node) {
                out.nodes.push(Node { node: zone.node, ..Node::default() });
            }
            out.nodes.last_mut()?.stats.insert(key.to_owned(), value);
            Some(())
        })?;
        if out.zones.is_empty() { Err(Malformed::whole(path, text)) } else { Ok(out) }
    }
}

impl Zone {
    fn take(&mut self, key: &str, value: u64) {
        let last = self.cpus.last_mut();
        match (key, last) {
            ("pages free", _) => self.free = Pages(value),
            ("boost", _) => self.boost = Some(Pages(value)),
            ("min", _) => self.min = Pages(value),
            ("low", _) => self.low = Pages(value),
            ("high", None) => self.high = Pages(value),
            ("promo", _) => self.promo = Some(Pages(value)),
            ("managed", _) => self.managed = Pages(value),
            ("present", _) => self.present = Pages(value),
            ("cpu", _) => {
                self.cpus.push(CpuList { cpu: u32::try_from(value).unwrap_or(u32::MAX), ..CpuList::default() });
            }
            ("count", Some(cpu)) => cpu.count = Pages(value),
            ("high", Some(cpu)) => cpu.high = Some(Pages(value)),
            ("vm stats threshold", Some(cpu)) => cpu.stat_threshold = Some(value),
            _ => {
                self.stats.insert(key.to_owned(), value);
            }
        }
    }

    /// A counter of the zone, in pages.
    #[must_use]
    pub fn stat(&self, key: &str) -> Option<Pages> {
        self.stats.get(key).copied().map(Pages)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Node 0, zone   Normal\n  per-node stats\n      nr_inactive_anon 592\n  pages free     56720\n        boost    0\n        min      5986\n        low      7482\n        high     8978\n        managed  425984\n        protection: (0, 0, 9)\n      nr_zspages   7\n  pagesets\n    cpu: 0\n              count:    12636\n              high:     19453\n              batch:    63\n  vm stats threshold: 20\n    cpu: 1\n              count: 4\n              high:     1\n  vm stats threshold: 20\n  node_unreclaimable:  0\n";

    #[test]
    fn per_cpu_free_lists_are_summed_and_do_not_overwrite_the_watermark() {
        let seen = Zoneinfo::parse("z", TEXT).unwrap();
        let zone = &seen.zones[0];
        assert_eq!((zone.node, zone.name.as_str()), (0, "Normal"));
        assert_eq!((zone.free, zone.min, zone.low, zone.high), (Pages(56720), Pages(5986), Pages(7482), Pages(8978)));
        assert_eq!(seen.cpu_lists(), Pages(12640));
        assert_eq!(seen.counter_error(), Pages(40));
        assert_eq!(zone.stat("nr_zspages"), Some(Pages(7)));
        assert_eq!(zone.protection, [0, 0, 9]);
        assert_eq!((seen.nodes[0].node, seen.nodes[0].stats["nr_inactive_anon"]), (0, 592));
    }

    #[test]
    fn a_file_that_does_not_start_with_a_zone_is_malformed() {
        assert_eq!(Zoneinfo::parse("z", "  pages free 3\n").unwrap_err().line, 1);
        assert!(Zoneinfo::parse("z", "").is_err());
        assert!(Zoneinfo::parse("z", "Node x, zone Normal\n").is_err());
    }

    #[test]
    fn impossible_counts_of_several_cpus_end_at_the_end_of_the_range() {
        let text =
            TEXT.replace("12636", "18446744073709551615").replace("threshold: 20", "threshold: 18446744073709551615");
        let seen = Zoneinfo::parse("z", &text).unwrap();
        assert_eq!((seen.cpu_lists(), seen.counter_error()), (Pages(u64::MAX), Pages(u64::MAX)));
    }
}
