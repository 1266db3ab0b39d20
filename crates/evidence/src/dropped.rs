//! The looks of the experiment drop: five kinds of pages of our own, page by page, and the machine, before and after.
//!
//! The record's `detail`, and what follows from it.

use ramline_units::SignedBytes;

use crate::free::FreeGauges;
use crate::prelude::*;

/// A kind of pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DropKind {
    /// Read once with read(2); nobody holds them.
    #[default]
    Clean,
    /// Written and not yet on the disk.
    Dirty,
    /// Of a mapping locked with mlock(2).
    Mlocked,
    /// Of a mapping whose every page was read.
    Mapped,
    /// Of a file in tmpfs.
    Tmpfs,
}

impl DropKind {
    /// All, in the order of tables.
    pub const ALL: [DropKind; 5] =
        [DropKind::Clean, DropKind::Dirty, DropKind::Mlocked, DropKind::Mapped, DropKind::Tmpfs];

    /// In a word.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            DropKind::Clean => "clean",
            DropKind::Dirty => "dirty",
            DropKind::Mlocked => "mlocked",
            DropKind::Mapped => "mapped",
            DropKind::Tmpfs => "tmpfs",
        }
    }
}

/// When it was looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum DropStage {
    /// All pages are there.
    #[default]
    Before,
    /// After the drop.
    Dropped,
    /// After the dirty file was written to the disk and caches were dropped again.
    Written,
    /// After the limit of the group was brought down to what cannot be reclaimed.
    Pressed,
}

/// The pages of one kind at one look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct KindCount {
    /// Which kind.
    pub kind: DropKind,
    /// Pages of the file in memory, by cachestat(2) where the kernel has it.
    pub cached: u64,
    /// Of these dirty or being written; `None` where only mincore(2) is there.
    pub unwritten: Option<u64>,
    /// Pages of the file in memory, by mincore(2).
    pub by_mincore: u64,
}

/// One look.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DropLook {
    /// When.
    pub stage: DropStage,
    /// How long the drop before it took.
    pub took: Option<Nanos>,
    /// Our pages.
    pub kinds: Vec<KindCount>,
    /// The whole machine.
    pub host: FreeGauges,
    /// Slab: what can be reclaimed of it and what cannot.
    pub slab: Bytes,
    /// Free pages in the lists of the processors, which MemFree does not count.
    pub cpu_lists: Bytes,
    /// Inodes of ext4 in use; `None` where the kernel does not tell.
    pub inodes: Option<Bytes>,
    /// Entries of directories in use.
    pub entries: Option<Bytes>,
    /// What the group is charged for.
    pub group: Bytes,
}

/// What a drop moved. The whole sum is free, the free lists of the processors, buffers, cached and slab.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DropBalance {
    /// Left buffers, cached and slab.
    pub gone: Bytes,
    /// The whole sum grew by so much.
    pub more: Bytes,
    /// Or shrank by so much.
    pub less: Bytes,
}

/// One number of the whole machine, before the drop and after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DropMove {
    /// What it is.
    pub name: &'static str,
    /// Before.
    pub before: Bytes,
    /// After.
    pub after: Bytes,
    /// After less before.
    pub change: SignedBytes,
}

impl DropBalance {
    /// How far the whole sum moved, of what left the caches, below zero where it shrank; `None` when nothing left.
    #[must_use]
    pub fn share(&self) -> Option<f64> {
        Some(self.more.share_of(self.gone)? - self.less.share_of(self.gone)?)
    }

    /// The same without the sign: 0 to 1 and more.
    #[must_use]
    pub fn part(&self) -> Option<f64> {
        self.share().map(f64::abs)
    }

    /// So much left that what other programs did meanwhile does not hide it.
    #[must_use]
    pub fn tells(&self) -> bool {
        self.part().is_some_and(|part| part <= 0.1)
    }
}

/// All looks of one run.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct DropRun {
    /// 1, 2 or 3.
    pub level: u8,
    /// Pages of each of the five files.
    pub pages: u64,
    /// In order.
    pub looks: Vec<DropLook>,
}

impl DropRun {
    /// The run in the detail of a record of this experiment.
    #[must_use]
    pub fn from_detail(detail: &serde_json::Value) -> Option<DropRun> {
        DropRun::deserialize(detail).ok()
    }

    /// The look of that stage.
    #[must_use]
    pub fn look(&self, stage: DropStage) -> Option<&DropLook> {
        self.looks.iter().find(|look| look.stage == stage)
    }

    /// Pages of that kind that were in memory then.
    #[must_use]
    pub fn cached(&self, kind: DropKind, stage: DropStage) -> Option<u64> {
        Some(self.look(stage)?.kinds.iter().find(|count| count.kind == kind)?.cached)
    }

    /// What left the caches by the drop against how far the sum of all that is free or cache moved.
    #[must_use]
    pub fn balance(&self) -> Option<DropBalance> {
        let (before, after) = (self.look(DropStage::Before)?, self.look(DropStage::Dropped)?);
        let caches = |look: &DropLook| look.host.buffers + look.host.cached + look.slab;
        let whole = |look: &DropLook| caches(look) + look.host.free + look.cpu_lists;
        Some(DropBalance {
            gone: caches(before).saturating_sub(caches(after)),
            more: whole(after).saturating_sub(whole(before)),
            less: whole(before).saturating_sub(whole(after)),
        })
    }

    /// What the whole machine showed before the drop and after it; empty when a look is missing.
    #[must_use]
    pub fn machine(&self) -> Vec<DropMove> {
        let (Some(before), Some(after)) = (self.look(DropStage::Before), self.look(DropStage::Dropped)) else {
            return Vec::new();
        };
        let of = |name, what: fn(&DropLook) -> Option<Bytes>| {
            let (then, now) = (what(before)?, what(after).unwrap_or_default());
            Some(DropMove { name, before: then, after: now, change: SignedBytes::difference(now, then) })
        };
        let all = [
            of("free", |look| Some(look.host.free)),
            of("buffers", |look| Some(look.host.buffers)),
            of("cached", |look| Some(look.host.cached)),
            of("free + buffers + cached", |look| Some(look.host.free_with_cache())),
            of("slab", |look| Some(look.slab)),
            of("free, in lists of CPUs", |look| Some(look.cpu_lists)),
            of("shmem (inside cached)", |look| Some(look.host.shmem)),
            of("ext4 inodes in use", |look| look.inodes),
            of("directory entries in use", |look| look.entries),
        ];
        all.into_iter().flatten().collect()
    }

    /// Whether both ways of counting agreed at every look.
    #[must_use]
    pub fn agreed(&self) -> bool {
        self.looks.iter().flat_map(|look| &look.kinds).all(|count| count.cached == count.by_mincore)
    }

    /// What became of one kind, in a sentence without its subject; `None` when a look is missing.
    #[must_use]
    pub fn fate(&self, kind: DropKind) -> Option<String> {
        let at = |stage| self.cached(kind, stage);
        let (before, dropped) = (at(DropStage::Before)?, at(DropStage::Dropped)?);
        let mut out = match dropped {
            0 => format!("all {before} pages went"),
            _ if dropped == before => format!("all {before} pages stayed"),
            _ => format!("{dropped} of {before} pages stayed"),
        };
        let went = |stage, how: &str, before: u64| match at(stage) {
            Some(0) if before > 0 => format!("; {how}, they went"),
            Some(after) if after == before && before > 0 => format!("; {how}, they stayed"),
            Some(after) if after < before => format!("; {how}, {} of them went", before - after),
            _ => String::new(),
        };
        if kind == DropKind::Dirty {
            out += &went(DropStage::Written, "once written to the disk and dropped again", dropped);
        }
        if let Some(written) = at(DropStage::Written) {
            out += &went(DropStage::Pressed, "when the group's limit pressed", written);
        }
        Some(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(stage: DropStage, counts: [u64; 5], free: u64, cached: u64) -> DropLook {
        let kinds = DropKind::ALL
            .into_iter()
            .zip(counts)
            .map(|(kind, cached)| KindCount { kind, cached, by_mincore: cached, ..KindCount::default() })
            .collect();
        let mib = Bytes::from_mib;
        let host = FreeGauges { free: mib(free), cached: mib(cached), ..FreeGauges::default() };
        DropLook { stage, kinds, host, ..DropLook::default() }
    }

    /// The article's numbers: free 33 to 741 MB, cached 801 to 134.
    fn run() -> DropRun {
        DropRun {
            level: 1,
            pages: 100,
            looks: vec![
                look(DropStage::Before, [100; 5], 33, 801),
                look(DropStage::Dropped, [0, 100, 100, 100, 100], 741, 134),
                look(DropStage::Written, [0, 0, 100, 100, 100], 741, 134),
                look(DropStage::Pressed, [0, 0, 100, 12, 100], 741, 134),
            ],
        }
    }

    #[test]
    fn each_kind_has_its_fate() {
        let fate = |kind| run().fate(kind).unwrap();
        assert_eq!(fate(DropKind::Clean), "all 100 pages went");
        assert_eq!(
            fate(DropKind::Dirty),
            "all 100 pages stayed; once written to the disk and dropped again, they went"
        );
        assert_eq!(fate(DropKind::Mapped), "all 100 pages stayed; when the group's limit pressed, 88 of them went");
        assert_eq!(fate(DropKind::Mlocked), "all 100 pages stayed; when the group's limit pressed, they stayed");
        assert_eq!(DropRun::default().fate(DropKind::Clean), None);
    }

    #[test]
    fn the_sum_is_level_when_what_leaves_the_cache_is_free_afterwards() {
        let mut run = run();
        // 708 MB more are free, 667 left the cache; the rest was slab and free pages of the processors.
        run.looks[0].slab = Bytes::from_mib(60);
        run.looks[1].slab = Bytes::from_mib(29);
        run.looks[0].cpu_lists = Bytes::from_mib(10);
        let balance = run.balance().unwrap();
        assert_eq!((balance.gone, balance.more, balance.less), (Bytes::from_mib(698), Bytes::ZERO, Bytes::ZERO));
        assert!(balance.tells());
        run.looks[1].cpu_lists = Bytes::from_mib(100);
        assert!(!run.balance().unwrap().tells(), "another program gave 100 MB back meanwhile");
        assert_eq!(DropRun::default().balance(), None);
        assert_eq!(DropBalance { gone: Bytes::ZERO, more: Bytes(1), less: Bytes::ZERO }.share(), None);
    }

    #[test]
    fn each_number_of_the_machine_stands_with_what_it_changed_by() {
        let mut run = run();
        run.looks[0].inodes = Some(Bytes(7));
        let moved = run.machine();
        let of = |name: &str| moved.iter().find(|row| row.name == name).map(|row| row.change.0 >> 20);
        assert_eq!((of("free"), of("cached"), of("free + buffers + cached")), (Some(708), Some(-667), Some(41)));
        assert_eq!((of("ext4 inodes in use"), of("directory entries in use")), (Some(-1), None));
        assert_eq!(DropRun::default().machine(), []);
        let less = DropBalance { gone: Bytes(100), more: Bytes::ZERO, less: Bytes(25) };
        assert_eq!((less.share(), less.part()), (Some(-0.25), Some(0.25)));
    }

    #[test]
    fn two_ways_of_counting_that_differ_are_noticed() {
        let mut run = run();
        assert!(run.agreed());
        run.looks[1].kinds[0].by_mincore = 3;
        assert!(!run.agreed());
    }
}
