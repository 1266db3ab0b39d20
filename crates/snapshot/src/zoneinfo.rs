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

    /// Parses the file. A zone whose first line, free pages or watermarks are not understood is left out: 0 would be a statement.
    /// Kernels before 3.9 print no `managed`: their `present` is what the allocator manages.
    ///
    /// # Errors
    /// There is no zone, with path, line and text.
    pub fn parse(from: &(impl Origin + ?Sized), text: &str) -> Result<Self, Malformed> {
        let mut reading = Reading::default();
        let () = parse_lines(from, text, |word| MATTERS.contains(&word), |line| reading.line(line.trim()))?;
        let Reading { mut out, known, managed, .. } = reading;
        // The last zone of a text that is cut off may lack the rest.
        let cut = out.zones.len().checked_sub(1).filter(|_| !text.ends_with('\n'));
        let bad = known.into_iter().enumerate().map(|(index, known)| match cut {
            Some(last) if last == index => known.contains(&None) || known.contains(&Some(false)),
            _ => known.contains(&Some(false)),
        });
        let whole = |(zone, bad): (Zone, bool)| (!bad).then_some(zone);
        out.zones = std::mem::take(&mut out.zones).into_iter().zip(bad).filter_map(whole).collect();
        if !managed {
            out.zones.iter_mut().for_each(|zone| zone.managed = zone.present);
        }
        if out.zones.is_empty() { Err(Malformed::whole(from.path(), text)) } else { Ok(out) }
    }
}

/// First words of lines that are read for more than their name.
const MATTERS: &[&str] =
    &["Node", "pages", "boost", "min", "low", "high", "managed", "present", "protection", "cpu", "count", "vm"];

/// What a zone is judged by.
const MARKS: [&str; 4] = ["pages free", "min ", "low ", "high "];

/// The only counter that a kernel prints without a name, of a node, in bytes: 4.17 to 4.19 (mm/vmstat.c).
const NAMELESS: &str = "nr_indirectly_reclaimable";

/// The file while it is read.
#[derive(Default)]
struct Reading {
    out: Zoneinfo,
    /// Of each zone, whether its free pages, min, low and high were understood; `None` where they were not met.
    known: Vec<[Option<bool>; 4]>,
    /// Whether any zone says what it manages.
    managed: bool,
    in_node_stats: bool,
    /// The lines belong to a zone whose head was not understood.
    lost: bool,
}

impl Reading {
    fn line(&mut self, line: &str) -> Option<()> {
        if let Some(head) = line.strip_prefix("Node ") {
            self.in_node_stats = false;
            self.lost = true;
            let (node, name) = head.split_once(", zone")?;
            let node = node.trim().parse().ok()?;
            self.out.zones.push(Zone { node, name: name.trim().to_owned(), ..Zone::default() });
            self.known.push([None; 4]);
            self.lost = false;
            return Some(());
        }
        if self.lost {
            return Some(());
        }
        let (zone, known) = self.out.zones.last_mut().zip(self.known.last_mut())?;
        let mark = MARKS.iter().position(|mark| line.starts_with(mark)).filter(|_| zone.cpus.is_empty());
        let mark = mark.filter(|_| !self.in_node_stats || line.starts_with("pages free"));
        let mark = mark.and_then(|at| known.get_mut(at));
        if let Some(mark) = mark {
            *mark = Some(line.rsplit_once(' ').is_some_and(|(_, value)| value.parse::<u64>().is_ok()));
        }
        self.in_node_stats = line == "per-node stats" || self.in_node_stats && !line.starts_with("pages free");
        if matches!(line, "per-node stats" | "pagesets" | "") {
            return Some(());
        }
        if let Some(list) = line.strip_prefix("protection:") {
            let numbers = list.trim_matches([' ', '(', ')']).split(',').map(|n| n.trim().parse().ok());
            zone.protection = numbers.collect::<Option<_>>()?;
            return Some(());
        }
        // Before 2.6.25 each CPU has two lists: "cpu: 0 pcp: 0" and "cpu: 0 pcp: 1".
        let line = line.strip_prefix("cpu:").and_then(|_| line.split_once(" pcp:")).map_or(line, |(cpu, _)| cpu);
        let (key, value) =
            if line.bytes().all(|b| b.is_ascii_digit()) { (NAMELESS, line) } else { line.rsplit_once([' ', ':'])? };
        let value: u64 = value.parse().ok()?;
        let key = key.trim().trim_end_matches(':');
        if !self.in_node_stats {
            self.managed |= key == "managed";
            zone.take(key, value);
            return Some(());
        }
        if self.out.nodes.last().is_none_or(|last| last.node != zone.node) {
            self.out.nodes.push(Node { node: zone.node, ..Node::default() });
        }
        self.out.nodes.last_mut()?.stats.insert(key.to_owned(), value);
        Some(())
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
    fn a_line_that_is_not_understood_costs_that_line() {
        let from = crate::Noted::new("z");
        let text = TEXT.replace("      nr_zspages   7", "      nr_new much\n      nr_zspages   7");
        let seen = Zoneinfo::parse(&from, &text).unwrap();
        assert_eq!((seen.zones[0].stat("nr_zspages"), seen.cpu_lists()), (Some(Pages(7)), Pages(12_640)));
        let note = from.note().unwrap();
        assert!(!note.garbage && note.reason.contains("nr_new much"), "{note:?}");
        let from = crate::Noted::new("z");
        let broken = Zoneinfo::parse(&from, &TEXT.replace("low      7482", "low      74x82"));
        assert_eq!(broken.unwrap_err().line, 0, "a zone without its watermark is no zone");
        let two = format!("{}{}", TEXT.replace("low      7482", "low      74x82"), TEXT.replace("Node 0", "Node 1"));
        let seen = Zoneinfo::parse(&from, &two).unwrap();
        assert_eq!((seen.zones.len(), seen.zones[0].node), (1, 1));
        assert!(from.note().unwrap().garbage);
    }

    #[test]
    fn lines_under_a_head_that_is_not_understood_are_not_those_of_the_zone_before() {
        let text = format!("{TEXT}{}", TEXT.replace("Node 0, zone", "Node 1; zone").replace("56720", "1"));
        let seen = Zoneinfo::parse("z", &text).unwrap();
        assert_eq!((seen.zones.len(), seen.zones[0].free, seen.cpu_lists()), (1, Pages(56_720), Pages(12_640)));
    }

    #[test]
    fn the_counter_without_a_name_of_4_17_to_4_19_is_no_fault() {
        let from = crate::Noted::new("z");
        let text =
            TEXT.replace("      nr_inactive_anon 592\n", "      nr_inactive_anon 592\n                   3221440\n");
        let seen = Zoneinfo::parse(&from, &text).unwrap();
        assert_eq!(seen.nodes[0].stats["nr_indirectly_reclaimable"], 3_221_440);
        assert_eq!(from.note(), None);
    }

    #[test]
    fn kernels_before_3_9_manage_what_is_present_and_before_2_6_25_each_cpu_has_two_lists() {
        let text = "Node 0, zone   Normal\n  pages free     900\n        min      20\n        low      25\n        high     30\n        active   0\n        inactive 0\n        scanned  0 (a: 17 i: 17)\n        spanned  4096\n        present  2852\n        protection: (0, 0)\n  pagesets\n    cpu: 0 pcp: 0\n              count: 12\n              high:  186\n    cpu: 0 pcp: 1\n              count: 3\n              high:  62\n            vm stats threshold: 6\n  all_unreclaimable: 0\n";
        let from = crate::Noted::new("z");
        let seen = Zoneinfo::parse(&from, text).unwrap();
        let zone = &seen.zones[0];
        assert_eq!((zone.high, zone.managed, seen.cpu_lists()), (Pages(30), Pages(2852), Pages(15)));
        assert!(!from.note().unwrap().garbage);
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
