//! What `cache evict` and `cache warm` did: files that kept pages and why; what was read, how fast, and what stopped it.

use ramline_units::{Bytes, Nanos};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
