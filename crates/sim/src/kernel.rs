//! What a kernel does where kernels differ: by ability, with presets of four releases.
//!
//! Read in 6.1, 6.12, 6.18, 7.2 and 7.3. A release between two presets has some abilities of the one and some of the other, and can be set one
//! by one. What no ability here describes is in [`Kernel::notes`], and how far counts may be off in `ramline_predict::margin`.
//!
//! ```
//! use ramline_sim::kernel::{Kernel, Lists, Mglru};
//! let debian = Kernel::preset("6.12").unwrap();
//! assert!(debian.zero_map && debian.generations == Mglru::Mended);
//! assert_eq!(Kernel { lists: Lists::Generations, ..debian }.named(), "MGLRU as in Linux 6.3 to 6.13, in a cgroup v1");
//! ```

/// Of reclaim the first of 13 passes looks at 1/4096 of each list.
pub const PRIORITY: u32 = 12;
/// Pages of one batch of it (`SWAP_CLUSTER_MAX`).
pub const BATCH: u64 = 32;

/// Which lists its pages are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lists {
    /// Active and inactive.
    Classic,
    /// MGLRU: generations.
    Generations,
}

/// How generations work, where they are on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mglru {
    /// A page that a page table says was used is at once of the youngest generation; what is on its way to a disk is put aside; 6.1 and 6.2.
    First,
    /// As the first, but a pass ends when its share was looked at or a generation was made, and what is on its way is taken as any page; 6.3 to 6.13, as
    /// the stable releases of 6.12 have it by 2026.
    Mended,
    /// It is so at the second time; kinds have their generations by themselves; 6.14 to 7.1.
    Reworked,
    /// What is looked at is counted once a pass, aging is no reason to stop, and what is read ahead is not young; 7.2 and later.
    Rewritten,
}

/// Memory controller.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    /// Reclaim waits for pages on their way to a disk.
    V1,
    /// It lets them be, and looks at others.
    V2,
}

/// Cost of reclaim of a kind, for the balance of both kinds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cost {
    /// Pages written, and refaults of the working set.
    Transfers,
    /// Each of those 32 times, and pages looked at in vain.
    TransfersAndRotations,
    /// The same, but by the statistics, which each pass of reclaim takes as they are: what was done since they were summed up counts later, all of it together (read in 7.3).
    Counted,
}

/// What counts as a hit against a file's misses (`mmap_miss`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hits {
    /// Each page that a fault maps.
    All,
    /// Each but those of the working set.
    New,
    /// The page that was touched, where it was there and is not of the working set.
    Touched,
}

/// Where PG_readahead is set when the end of the file truncates the window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// One counted from the end of the file; folios have one page.
    OfTheFile,
    /// One counted from where the window would end, if the file has it.
    OfTheWindow,
    /// None, nor where the window ends with the file.
    Never,
}

/// How a page comes from an area that answers at once, as zram does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SwapCache {
    /// Past the swap cache, if it is a page of one process; shared memory comes as from a disk, in clusters.
    PastForPrivate,
    /// Past the swap cache, shared memory too.
    Past,
    /// Through it, and its slot is free as soon as it is mapped; 7.0 and later.
    Through,
}

/// The abilities.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kernel {
    /// The release whose preset it is.
    pub release: &'static str,
    /// Which lists are used.
    pub lists: Lists,
    /// How generations work here.
    pub generations: Mglru,
    /// Which memory controller.
    pub group: Group,
    /// Another processor may answer for the disk: what is written waits there until a batch is full.
    pub several_cpus: bool,
    /// Pages of zeros never reach an area, they are only noted.
    pub zero_map: bool,
    /// What reclaim costs.
    pub cost: Cost,
    /// What is a hit.
    pub hits: Hits,
    /// How pages come from zram.
    pub swap_cache: SwapCache,
    /// Pages on their way to a list, at most.
    pub batch: usize,
    /// A reclaim that frees nothing walks over all groups once more.
    pub second_walk: bool,
    /// A cluster that was read from a disk goes to its lists at once, and so does a page of the swap cache that is stored to; one that a batch holds keeps its
    /// slot then.
    pub drains_clusters: bool,
    /// Where PG_readahead is set in a window that the end of the file truncates.
    pub cut: Cut,
    /// Read-ahead as before 6.11 (`ondemand_readahead`): a window that would be passed at once is read with the next; a read behind the last window
    /// begins the next; where no page behind a PG_readahead page is missing, the last of them counts as missing; and each batch of pages that a
    /// read(2) finds is remembered as a read of its own.
    pub on_demand: bool,
    /// A fault that is tried again counts as major though its page was in RAM, as that for a PG_readahead page; until reads through mappings were
    /// done under the lock of one mapping alone (6.7; `mm_account_fault`, and `FAULT_FLAG_TRIED` in the handlers of each architecture).
    pub retries_are_major: bool,
    /// Each pass of reclaim flushes the group's statistics first (`prepare_scan_count`, 5.15 to 6.11); later ones take them as they are.
    pub flushes_first: bool,
    /// What is plugged is submitted once its oldest request is long (6.12 and later, as they are now); before, once its newest is.
    pub oldest_request: bool,
    /// The version of groups in which its rules were traced on this release itself, event by event; others were only read.
    pub traced: Option<Group>,
    /// Pages of one zspage at most.
    pub zspage: u64,
    /// By how full they are, zspages have four lists instead of twelve; before 6.4.
    pub quarters: bool,
    /// A slot that is not needed any more is free with 64 others only, and a zram keeps its page until then; before 6.14. Later kernels give slots from
    /// clusters (`slots`).
    pub frees_late: bool,
}

const L6_18: Kernel = Kernel {
    release: "6.18",
    lists: Lists::Classic,
    generations: Mglru::Reworked,
    group: Group::V1,
    several_cpus: true,
    zero_map: true,
    cost: Cost::TransfersAndRotations,
    hits: Hits::New,
    swap_cache: SwapCache::Past,
    batch: 31,
    second_walk: true,
    drains_clusters: true,
    cut: Cut::OfTheWindow,
    on_demand: false,
    retries_are_major: false,
    flushes_first: false,
    oldest_request: true,
    traced: Some(Group::V1),
    zspage: 8,
    quarters: false,
    frees_late: false,
};

const L6_12: Kernel = Kernel {
    release: "6.12",
    generations: Mglru::Mended,
    swap_cache: SwapCache::PastForPrivate,
    traced: Some(Group::V2),
    cut: Cut::OfTheFile,
    frees_late: true,
    ..L6_18
};

/// The presets, oldest first: Debian 12, Debian 13, the kernel this was first written for, and the newest.
pub const PRESETS: [Kernel; 4] = [
    Kernel {
        release: "6.1",
        generations: Mglru::First,
        zero_map: false,
        cost: Cost::Transfers,
        hits: Hits::All,
        batch: 15,
        second_walk: false,
        on_demand: true,
        retries_are_major: true,
        flushes_first: true,
        oldest_request: false,
        zspage: 4,
        quarters: true,
        ..L6_12
    },
    L6_12,
    L6_18,
    Kernel {
        release: "7.3",
        generations: Mglru::Rewritten,
        cost: Cost::Counted,
        hits: Hits::Touched,
        swap_cache: SwapCache::Through,
        drains_clusters: false,
        cut: Cut::Never,
        traced: Some(Group::V2),
        ..L6_18
    },
];

/// A release that has no preset. Never simulated as another without a word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotModelled(pub String);

impl std::fmt::Display for NotModelled {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let known = PRESETS.map(|kernel| kernel.release).join(", ");
        write!(out, "kernel '{}' is not simulated, only {known}", self.0.escape_debug())
    }
}

impl std::error::Error for NotModelled {}

impl Mglru {
    /// A page that is in use goes to the youngest generation at the first sight of it.
    #[must_use]
    pub const fn is_early(self) -> bool {
        matches!(self, Mglru::First | Mglru::Mended)
    }
}

impl Kernel {
    /// The preset of a release.
    ///
    /// # Errors
    /// It has none: what that kernel does is not known here.
    pub fn preset(release: &str) -> Result<Kernel, NotModelled> {
        PRESETS.into_iter().find(|kernel| kernel.release == release).ok_or_else(|| NotModelled(release.to_owned()))
    }

    /// The newest preset that is not newer than a release such as `6.12.48-amd64`, else the oldest; `None` if it begins with no version.
    #[must_use]
    pub fn nearest(release: &str) -> Option<Kernel> {
        let asked = version(release)?;
        let known = PRESETS.into_iter().rev().find(|kernel| version(kernel.release).is_some_and(|one| one <= asked));
        let known = known.unwrap_or(PRESETS[0]);
        let traced = known.traced.filter(|_| version(known.release) == Some(asked));
        Some(Kernel { traced, retries_are_major: known.retries_are_major && asked < (6, 7), ..known })
    }

    /// ext4 reads files ahead in folios of several pages (6.16).
    #[must_use]
    pub fn reads_folios(&self) -> bool {
        self.cut != Cut::OfTheFile
    }

    /// How generations work, if they are on.
    #[must_use]
    pub fn mglru(&self) -> Option<Mglru> {
        (self.lists == Lists::Generations).then_some(self.generations)
    }

    /// What is simulated, in words.
    #[must_use]
    pub fn named(&self) -> String {
        let lists = match self.mglru() {
            None => format!("Linux {} without MGLRU", self.release),
            Some(Mglru::First) => "MGLRU as in Linux 6.1 and 6.2".to_owned(),
            Some(Mglru::Mended) => "MGLRU as in Linux 6.3 to 6.13".to_owned(),
            Some(Mglru::Reworked) => "MGLRU as in Linux 6.14 to 7.1".to_owned(),
            Some(Mglru::Rewritten) => "MGLRU as in Linux 7.2 and later".to_owned(),
        };
        let group = if self.group == Group::V1 { "1" } else { "2" };
        format!("{lists}, in a cgroup v{group}")
    }

    /// What this kernel does that is not simulated.
    #[must_use]
    pub fn notes(&self) -> Vec<&'static str> {
        let all = [
            (self.group == Group::V2, "memory.high, and the kernel's throttling of writers in version 2"),
            (
                self.lists == Lists::Generations,
                "false positives of MGLRU's Bloom filter, and tables that cross regions",
            ),
            (self.lists == Lists::Generations, "min_ttl_ms"),
            (
                self.mglru() == Some(Mglru::Reworked),
                "whether stable releases of 6.18 differ from 6.12 in when a pass ends",
            ),
            (self.swap_cache == SwapCache::Through, "swap-in of large folios from zram, as from 7.0 on"),
        ];
        all.into_iter().filter_map(|(has, text)| has.then_some(text)).collect()
    }
}

/// `6.12.48-amd64` is 6 and 12.
fn version(release: &str) -> Option<(u32, u32)> {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_release_between_two_presets_is_simulated_as_the_older_one() {
        let near = |release| Kernel::nearest(release).map(|kernel| kernel.release);
        assert_eq!(near("6.12.48+deb13-amd64"), Some("6.12"));
        assert_eq!([near("6.6.9"), near("6.18.4"), near("7.1.0")], [Some("6.1"), Some("6.18"), Some("6.18")]);
        let retries = |release: &str| Kernel::nearest(release).map(|kernel| kernel.retries_are_major);
        assert_eq!(["6.1.0", "6.6.9", "6.7.0", "6.12.1"].map(retries), [true, true, false, false].map(Some));
        assert_eq!([near("5.10.0-9"), near("8.0"), near("Linux")], [Some("6.1"), Some("7.3"), None]);
    }

    #[test]
    fn a_release_without_a_preset_is_refused() {
        let why = Kernel::preset("5.10").unwrap_err().to_string();
        assert_eq!(why, "kernel '5.10' is not simulated, only 6.1, 6.12, 6.18, 7.3");
    }

    #[test]
    fn what_a_preset_leaves_out_is_named() {
        let old = Kernel { lists: Lists::Generations, ..PRESETS[0] };
        assert_eq!(old.notes().len(), 2);
        assert_eq!(L6_18.notes(), [""; 0]);
        let generations = Kernel { lists: Lists::Generations, ..L6_18 };
        assert!(generations.notes().contains(&"min_ttl_ms"));
    }
}
