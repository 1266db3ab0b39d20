//! Memory files of control groups, version 1 and 2 under one set of names.

use ramline_units::Limit;

use crate::Noted;
use crate::prelude::*;
use crate::pressure::Pressure;

/// Which interface carries the memory controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Version {
    /// `memory.limit_in_bytes` and friends.
    V1,
    /// `memory.max` and friends.
    V2,
}

/// One group's memory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Group {
    /// Path below the hierarchy's mount.
    pub path: String,
    /// Memory charged. Gauge.
    pub current: Option<Bytes>,
    /// Hard limit.
    pub max: Option<Limit>,
    /// Throttling limit (version 2).
    pub high: Option<Limit>,
    /// Protected from reclaim while others have some (version 2).
    pub low: Option<Bytes>,
    /// Never reclaimed (version 2).
    pub min: Option<Bytes>,
    /// The most `current` ever was (version 1; version 2 from Linux 5.19).
    pub peak: Option<Bytes>,
    /// Swap charged; on version 1 memory+swap less memory. Gauge.
    pub swap_current: Option<Bytes>,
    /// Swap limit; on version 1 the limit of memory and swap together less that of memory.
    pub swap_max: Option<Limit>,
    /// Compressed pool charged (version 2). Gauge.
    pub zswap_current: Option<Bytes>,
    /// Limit of the compressed pool (version 2).
    pub zswap_max: Option<Limit>,
    /// Kernel memory charged: slab, stacks, page tables and others (version 1; version 2 has it in `stat`). Gauge.
    pub kernel: Option<Bytes>,
    /// TCP buffers (version 1, where they are not part of `current`). Gauge.
    pub kernel_tcp: Option<Bytes>,
    /// Groups below that were removed and still hold memory (version 2). Gauge.
    pub dying: Option<u64>,
    /// The group's own swappiness (version 1).
    pub swappiness: Option<u64>,
    /// `memory.stat` as it is: bytes and counters.
    pub stat: BTreeMap<String, u64>,
    /// `memory.events`, or version 1's `failcnt` and kill counter. Counters.
    pub events: BTreeMap<String, u64>,
    /// The group's own memory pressure.
    pub pressure: Option<Pressure>,
}

/// The memory hierarchy as seen from here.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cgroups {
    /// Interface.
    pub version: Version,
    /// The root group.
    pub root: Group,
    /// Our own group, when it is not the root.
    pub own: Option<Group>,
    /// The tightest memory limit on the way from our group to the root.
    pub effective_max: Limit,
    /// Files that could not be used.
    pub unseen: Vec<Unseen>,
}

/// Version 1 writes "no limit" as the largest page-aligned number.
const V1_NO_LIMIT: u64 = 0x7fff_ffff_ffff_0000;

/// A limit as either version writes it.
///
/// # Errors
/// Neither "max" nor a number.
pub fn limit(path: &str, text: &str) -> Result<Limit, Malformed> {
    match text.trim() {
        "max" => Ok(Limit::Max),
        number => match number.parse::<u64>() {
            Ok(n) if n >= V1_NO_LIMIT => Ok(Limit::Max),
            Ok(n) => Ok(Limit::At(Bytes(n))),
            Err(_) => Err(Malformed::new(path, 0, text.trim())),
        },
    }
}

/// Lines of `name value`.
///
/// # Errors
/// No line is of this form.
pub fn flat(from: &(impl Origin + ?Sized), text: &str) -> Result<BTreeMap<String, u64>, Malformed> {
    some_of(from, text, |_| true)
}

/// The same, of the names that are kept.
fn some_of(
    from: &(impl Origin + ?Sized),
    text: &str,
    kept: fn(&str) -> bool,
) -> Result<BTreeMap<String, u64>, Malformed> {
    let mut all = BTreeMap::new();
    // The word is taken in here, so that only what is kept is copied.
    let line = |line: &str| {
        let (key, value) = line.split_once(' ')?;
        let value: u64 = value.trim().parse().ok()?;
        if kept(key) {
            all.insert(key.to_owned(), value);
        }
        Some(())
    };
    parse_lines::<(), ()>(from, text, |_| true, line)?;
    Ok(all)
}

/// The longest name of `memory.stat` is half of this, with `total_`.
const LONGEST_NAME: usize = 64;

impl Group {
    /// A line of `memory.stat` that counts the group with all below it: version 1 has those as `total_`, and without where groups do not count for others.
    #[must_use]
    pub fn in_total(&self, name: &str) -> Option<u64> {
        let mut buffer = [0; LONGEST_NAME];
        let all = buffer.get_mut(.."total_".len() + name.len()).and_then(|all| {
            all[..6].copy_from_slice(b"total_");
            all[6..].copy_from_slice(name.as_bytes());
            std::str::from_utf8(all).ok()
        });
        all.and_then(|all| self.stat.get(all)).or_else(|| self.stat.get(name)).copied()
    }

    /// Builds a group from the texts of its files; what cannot be understood goes to `unseen`.
    #[must_use]
    pub fn from_files(
        version: Version,
        path: &str,
        files: &BTreeMap<String, String>,
        unseen: &mut Vec<Unseen>,
    ) -> Self {
        Self::from_files_kept(version, path, files, |_| true, unseen)
    }

    /// The same with some keys of `memory.stat` only: of thousands of groups all are too dear.
    #[must_use]
    pub fn from_files_kept(
        version: Version,
        path: &str,
        files: &BTreeMap<String, String>,
        kept: fn(&str) -> bool,
        unseen: &mut Vec<Unseen>,
    ) -> Self {
        let mut texts = Texts { path, files, unseen };
        let stat = texts.noted("memory.stat", |from, text| some_of(from, text, kept)).unwrap_or_default();
        let mut group = Group { path: path.to_owned(), stat, ..Group::default() };
        match version {
            Version::V2 => {
                group.current = texts.bytes("memory.current");
                group.max = texts.limit("memory.max");
                group.high = texts.limit("memory.high");
                group.low = texts.protection("memory.low");
                group.min = texts.protection("memory.min");
                group.peak = texts.bytes("memory.peak");
                group.zswap_max = texts.limit("memory.zswap.max");
                let mut counts = texts.table("cgroup.stat");
                // Since 6.12 counted by controller: a group without memory holds none.
                let of_memory = counts.remove("nr_dying_subsys_memory");
                group.dying = of_memory.or_else(|| counts.remove("nr_dying_descendants"));
                group.swap_current = texts.bytes("memory.swap.current");
                group.swap_max = texts.limit("memory.swap.max");
                group.zswap_current = texts.bytes("memory.zswap.current");
                group.events = texts.table("memory.events");
            }
            Version::V1 => {
                group.current = texts.bytes("memory.usage_in_bytes");
                group.max = texts.limit("memory.limit_in_bytes");
                let both = texts.bytes("memory.memsw.usage_in_bytes");
                // Two files: a group that grew between the two reads has less of both than of memory; its table has swap alone.
                let between = both.zip(group.current).and_then(|(both, memory)| both.checked_sub(memory));
                let swap = || ["total_swap", "swap"].iter().find_map(|key| group.stat.get(*key).copied().map(Bytes));
                group.swap_current = between.or_else(swap);
                group.swap_max = match (texts.limit("memory.memsw.limit_in_bytes"), group.max) {
                    (Some(Limit::At(both)), Some(Limit::At(memory))) => both.checked_sub(memory).map(Limit::At),
                    (Some(_), _) => Some(Limit::Max),
                    (None, _) => None,
                };
                group.swappiness = texts.bytes("memory.swappiness").map(|b| b.0);
                group.peak = texts.bytes("memory.max_usage_in_bytes");
                group.kernel = texts.bytes("memory.kmem.usage_in_bytes");
                group.kernel_tcp = texts.bytes("memory.kmem.tcp.usage_in_bytes");
                group.events = texts.table("memory.oom_control");
                // With a limit of memory and swap that is no higher than that of memory, hits are counted for the former.
                let hits = [texts.bytes("memory.failcnt"), texts.bytes("memory.memsw.failcnt")];
                if hits.iter().any(Option::is_some) {
                    group.events.insert("failcnt".into(), hits.into_iter().flatten().sum::<Bytes>().0);
                }
            }
        }
        group.pressure = texts.noted("memory.pressure", Pressure::parse);
        group
    }
}

/// The texts of one group's files, and where to note what cannot be understood.
pub(crate) struct Texts<'a> {
    pub path: &'a str,
    pub files: &'a BTreeMap<String, String>,
    pub unseen: &'a mut Vec<Unseen>,
}

impl Texts<'_> {
    pub fn get<T>(&mut self, name: &str, parse: impl Fn(&str, &str) -> Result<T, Malformed>) -> Option<T> {
        let path = format!("{}/{name}", self.path);
        parse(&path, self.files.get(name)?).map_err(|m| self.unseen.push((&m).into())).ok()
    }

    /// Of a file of many lines, of which some may be passed over.
    fn noted<T>(&mut self, name: &str, parse: impl Fn(&Noted, &str) -> Result<T, Malformed>) -> Option<T> {
        let from = Noted::new(&format!("{}/{name}", self.path));
        let read = parse(&from, self.files.get(name)?).map_err(|m| self.unseen.push((&m).into())).ok();
        self.unseen.extend(from.note());
        read
    }

    fn limit(&mut self, name: &str) -> Option<Limit> {
        self.get(name, limit)
    }

    fn bytes(&mut self, name: &str) -> Option<Bytes> {
        self.limit(name).and_then(Limit::bytes)
    }

    /// A protection may be "max": everything.
    fn protection(&mut self, name: &str) -> Option<Bytes> {
        self.limit(name).map(|limit| limit.bytes().unwrap_or(Bytes(u64::MAX)))
    }

    fn table(&mut self, name: &str) -> BTreeMap<String, u64> {
        self.noted(name, flat).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
        pairs.iter().map(|(k, v)| ((*k).to_owned(), (*v).to_owned())).collect()
    }

    #[test]
    fn version_1_writes_no_limit_as_a_huge_number_and_swap_as_a_difference() {
        let mut unseen = Vec::new();
        let group = Group::from_files(
            Version::V1,
            "/g",
            &files(&[
                ("memory.limit_in_bytes", "9223372036854771712\n"),
                ("memory.memsw.limit_in_bytes", "9223372036854771712\n"),
                ("memory.usage_in_bytes", "4096\n"),
                ("memory.memsw.usage_in_bytes", "12288\n"),
                ("memory.swappiness", "60\n"),
                ("memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n"),
            ]),
            &mut unseen,
        );
        assert_eq!((group.max, group.swap_max), (Some(Limit::Max), Some(Limit::Max)));
        assert_eq!((group.swap_current, group.swappiness), (Some(Bytes(8192)), Some(60)));
        assert_eq!(group.events["oom_kill"], 2);
        let grew = files(&[
            ("memory.usage_in_bytes", "16384\n"),
            ("memory.memsw.usage_in_bytes", "12288\n"),
            ("memory.stat", "swap 0\ntotal_swap 4096\n"),
        ]);
        let group = Group::from_files(Version::V1, "/g", &grew, &mut unseen);
        assert_eq!(group.swap_current, Some(Bytes(4096)), "it grew between the two reads");
        assert!(unseen.is_empty());
    }

    #[test]
    fn version_2_says_max_and_a_garbage_file_does_not_spoil_the_others() {
        let mut unseen = Vec::new();
        let group = Group::from_files(
            Version::V2,
            "/g",
            &files(&[
                ("memory.max", "max\n"),
                ("memory.current", "x\n"),
                ("memory.swap.max", "0\n"),
                ("memory.stat", "anon 5\n"),
            ]),
            &mut unseen,
        );
        assert_eq!((group.max, group.swap_max), (Some(Limit::Max), Some(Limit::At(Bytes(0)))));
        assert_eq!((group.current, group.stat["anon"]), (None, 5));
        let all = files(&[("memory.low", "max\n"), ("cgroup.stat", "nr_descendants 3\nnr_dying_descendants 2\n")]);
        let protected = Group::from_files(Version::V2, "/g", &all, &mut unseen);
        assert_eq!((protected.low, protected.min, protected.dying), (Some(Bytes(u64::MAX)), None, Some(2)));
        assert_eq!(unseen.len(), 1);
    }
}
