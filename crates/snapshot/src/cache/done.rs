//! What `cache evict` and `cache warm` did: files that kept pages and why; what was read, how fast, and what stopped it.

use ramline_units::{Bytes, Deserialize, JsonSchema, Nanos, Serialize, saturating_sum};

use super::{Name, Remark, Tally};

/// Whether something was done or only looked at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Doing {
    /// It was done.
    #[default]
    Done,
    /// Only what would be done was found out.
    Dry,
}

/// Why pages stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Why {
    /// Changed and not yet written, or being written.
    Dirty,
    /// Locked into memory by a process.
    Locked,
    /// Mapped by a process.
    Mapped,
    /// The range ends inside a large folio, which the kernel drops only as a whole.
    LargeFolio,
    /// The file system is in memory: its page cache is the file.
    InMemory,
    /// None of these: in use for a moment, on another processor's list, or mapped by a process that was not seen.
    Other,
}

/// A process that maps a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Holder {
    /// Process id.
    pub pid: u32,
    /// Its name; any bytes, so it is escaped where it is shown.
    pub name: String,
    /// It locks the file's pages.
    pub locked: bool,
}

/// Pages that stay, and why.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Stay {
    /// The reasons that hold, in the order of the kernel's own tests.
    pub why: Vec<Why>,
    /// Of what stays, dirty or being written; `None` where not known.
    pub dirty: Option<Bytes>,
    /// Processes that map the file, as far as they were seen.
    pub holders: Vec<Holder>,
}

/// One file of which something stays.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EvictedFile {
    /// Its name.
    #[serde(flatten)]
    pub name: Name,
    /// In the page cache before.
    pub before: Bytes,
    /// After.
    pub after: Bytes,
    /// Why that stays.
    #[serde(flatten)]
    pub stay: Stay,
}

/// What `cache evict` did: what is there now, counted before and after.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct EvictedFiles {
    /// Done, or only looked at.
    pub doing: Doing,
    /// Waited until dirty pages were written.
    pub synced: bool,
    /// Of what left, not yet written before: asked to drop dirty pages the kernel begins to write them, and they go once that is done.
    pub written: Bytes,
    /// Files looked at.
    pub files: u64,
    /// In the page cache before.
    pub before: Bytes,
    /// After; when only looked at, what would stay as far as that is known.
    pub after: Bytes,
    /// Files of which something stays, the most first.
    pub stays: Vec<EvictedFile>,
    /// Files of which something stays and that are not in that list.
    pub more: u64,
    /// What stays, summed up by reason; a file with several counts under the first.
    pub reasons: Vec<(Why, Bytes)>,
    /// Files that were asked to go but of which nothing could be proven, and why.
    pub unproven: Vec<Remark>,
    /// What was passed over, and why.
    pub skipped: Vec<Remark>,
    /// What failed; each was printed on stderr.
    pub failed: u64,
    /// What else evicts here too: named.
    pub evictors: Vec<String>,
}

impl EvictedFiles {
    /// What left the page cache; when only looked at, what would.
    #[must_use]
    pub const fn gone(&self) -> Bytes {
        self.before.saturating_sub(self.after)
    }

    /// Files of which nothing could be proven.
    #[must_use]
    pub fn unproven_files(&self) -> u64 {
        saturating_sum(self.unproven.iter().map(|remark| remark.files))
    }
}

/// What ended warming before all was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case", tag = "reason")]
pub enum Stop {
    /// The guard: no more may be brought in without pushing out what is in use.
    Room {
        /// What bounds it: the machine, or a control group.
        bound: String,
        /// What could still be had there.
        room: Bytes,
        /// What is kept free of it.
        margin: Bytes,
    },
    /// A signal.
    Interrupted,
}

/// One file that was not warmed as wanted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WarmedFile {
    /// Its name.
    #[serde(flatten)]
    pub name: Name,
    /// In the page cache before.
    pub before: Bytes,
    /// After.
    pub after: Bytes,
    /// What there is to say of it.
    pub text: String,
}

/// What `cache warm` did.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Warmed {
    /// Done, or only looked at.
    pub doing: Doing,
    /// Before. Gauge.
    pub before: Tally,
    /// What was missing before and has data behind it: holes are not read.
    pub missing: Bytes,
    /// Read to bring it in.
    pub read: Bytes,
    /// Resident afterwards, asked again; `None` when only looked at.
    pub after: Option<Bytes>,
    /// Time spent reading.
    pub took: Nanos,
    /// Readers at a time that served best, and what each depth that was tried gave, in bytes a second.
    pub depth: u64,
    /// Depth and bytes a second.
    pub tried: Vec<(u64, Bytes)>,
    /// What the guard allowed at the start.
    pub room: Bytes,
    /// What set that bound.
    pub bound: String,
    /// What ended it early.
    pub stopped: Option<Stop>,
    /// Files that are opened with direct I/O, past the page cache: warming gains their readers nothing.
    pub direct: Vec<WarmedFile>,
    /// Files that lost pages again before the end, or changed while being read; the first few.
    pub lost: Vec<WarmedFile>,
    /// Files that could not be asked what is missing, and why; they were left alone.
    pub unknown: Vec<Remark>,
    /// What was passed over, and why.
    pub skipped: Vec<Remark>,
    /// What failed; each was printed on stderr.
    pub failed: u64,
    /// What else evicts here, so that what was warmed goes by itself: named.
    pub evictors: Vec<String>,
}

impl Warmed {
    /// How fast it was read, in bytes a second.
    #[must_use]
    pub fn rate(&self) -> Bytes {
        per_second(self.read, self.took)
    }
}

/// Bytes a second. What took less than a millisecond counts as one.
pub(super) fn per_second(bytes: Bytes, took: Nanos) -> Bytes {
    Bytes(bytes.0.saturating_mul(1000) / (took.0 / 1_000_000).max(1))
}

/// What kept the command's page cache apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Apart {
    /// A memory control group that we made and removed.
    #[default]
    Group,
    /// A scope of the user's systemd.
    Scope,
}

/// What `cache run` saw of a command.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Ran {
    /// The command; any bytes, so it is escaped where it is shown.
    pub command: Vec<String>,
    /// What kept its page cache apart.
    pub apart: Apart,
    /// Limit on all its memory at the beginning.
    pub limit: Bytes,
    /// The limit was raised as its own memory grew, up to this; `None` for a limit that was chosen and stayed.
    pub raised_to: Option<Bytes>,
    /// Exit status; `None` when a signal ended it.
    pub status: Option<i32>,
    /// The signal that ended it.
    pub signal: Option<i32>,
    /// Processes of it that the kernel killed because the limit left no memory.
    pub oom_kills: u64,
    /// Time from start to end.
    pub wall: Nanos,
    /// Read from disks, by it and the children it waited for. Counter.
    pub read: Bytes,
    /// Written to disks by itself; what the kernel writes later is not in it. Counter.
    pub written: Bytes,
    /// The most memory it ever had, page cache included. Peak; `None` where the kernel does not tell.
    pub peak: Option<Bytes>,
    /// Page cache that it had brought in and that was there at its end. Gauge.
    pub cached: Option<Bytes>,
    /// Of it, what is left now. Gauge.
    pub left: Option<Bytes>,
    /// Leaving it was asked for.
    pub kept: bool,
    /// Processes it left running; they were ended.
    pub ended: u64,
}

/// What `cache pin` holds in memory now; counters are named so.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Pinned {
    /// Files that are locked.
    pub files: u64,
    /// Their lengths in whole pages.
    pub pinned: Bytes,
    /// No more is locked than this.
    pub budget: Bytes,
    /// Files that are not locked.
    pub left_out: u64,
    /// The first few of them, with the reason.
    pub left_out_files: Vec<WarmedFile>,
    /// Files that were replaced by others of the same name and locked again. Counter.
    pub replaced: u64,
    /// Files that changed their length and were locked again. Counter.
    pub resized: u64,
    /// Files that came to be, or came back. Counter.
    pub added: u64,
    /// Files that went. Counter.
    pub gone: u64,
    /// The kernel notifies of changes (inotify); otherwise files are looked at every 30 s.
    pub watched: bool,
    /// What was passed over, and why.
    pub skipped: Vec<Remark>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_that_of_the_time_spent_reading_and_an_instant_divides_nothing_by_zero() {
        let warmed = Warmed { read: Bytes::from_mib(300), took: Nanos(1_500_000_000), ..Warmed::default() };
        assert_eq!(warmed.rate(), Bytes::from_mib(200));
        assert_eq!(per_second(Bytes(7), Nanos(0)), Bytes(7000));
        assert_eq!(per_second(Bytes(u64::MAX), Nanos(1_000_000_000)), Bytes(u64::MAX / 1000));
    }

    #[test]
    fn what_is_gone_is_what_is_no_longer_there_and_never_less_than_nothing() {
        let of = |before, after| EvictedFiles { before: Bytes(before), after: Bytes(after), ..EvictedFiles::default() };
        // Others may read meanwhile.
        assert_eq!((of(8192, 4096).gone(), of(4096, 8192).gone()), (Bytes(4096), Bytes::ZERO));
        let remark = |files| Remark { files, ..Remark::default() };
        let unproven = EvictedFiles { unproven: vec![remark(2), remark(3)], ..EvictedFiles::default() };
        assert_eq!(unproven.unproven_files(), 5);
    }
}
