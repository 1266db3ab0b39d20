//! Mappings of processes: address ranges, the files behind them, and what of those is in RAM.
//!
//! The document of one reading (`/proc/PID/maps`, `smaps`, the page cache asked file by file). Not a
//! section of the snapshot: reading it is dear, so a capture does not hold it.
//!
//! Shapes: a file stands once in [`Maps::files`], by device and inode, however many processes map it. Sizes in bytes, gauges.
//!
//! ```
//! use ramline_snapshot::maps::{MappingKind, Parser};
//! let mut parser = Parser::new("maps");
//! parser.line(b"7f00-9f00 r-xp 00001000 fe:00 42                 /usr/lib/a b.so (deleted)")?;
//! let (ranges, _) = parser.finish();
//! assert_eq!(ranges[0].mapping.kind, MappingKind::File);
//! assert_eq!((ranges[0].name.as_str(), ranges[0].deleted), ("/usr/lib/a b.so", true));
//! # Ok::<(), ramline_snapshot::Malformed>(())
//! ```

mod parse;

use std::path::PathBuf;

use crate::prelude::*;

pub use crate::processes::Missed;
pub use parse::{Parser, Range};

/// What was read.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Maps {
    /// Bytes of a page.
    pub page: u64,
    /// By process id.
    pub processes: Vec<MappedProcess>,
    /// Every file once; [`Mapping::file`] is an index into them.
    pub files: Vec<MappedFile>,
    /// Processes that were not seen.
    pub missed: Missed,
    /// How it was read, and what that cost.
    pub reading: Reading,
}

/// How the mappings were read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Reading {
    /// Page tables were walked (`smaps`, `pagemap`); else only the ranges were listed and the page cache asked.
    pub walked: bool,
    /// A captured tree was read, not this machine.
    pub capture: bool,
    /// Ranges read, of all kinds.
    pub ranges: u64,
    /// Time for the lists of ranges, with the page-table walks where they were made.
    pub lists: Nanos,
    /// Time for asking about the files.
    pub asking: Nanos,
    /// Time it was allowed; `None` without bound.
    pub budget: Option<Nanos>,
    /// Processes whose ranges were not read for the budget.
    pub processes_left_out: u64,
    /// Files that were not asked about for the budget.
    pub files_left_out: u64,
    /// Lines of keys this version does not know; they were skipped.
    pub unknown_lines: u64,
}

/// A process and its ranges.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MappedProcess {
    /// Process id.
    pub pid: u32,
    /// Its name; any bytes, so it is escaped where it is shown.
    pub name: String,
    /// Its control group for memory.
    pub group: Option<String>,
    /// What the kernel says of it as a whole, read just after the ranges; `None` where it was gone.
    pub totals: Option<Totals>,
    /// In order of address.
    pub mappings: Vec<Mapping>,
}

/// `/proc/PID/status`: what the ranges must add up to. Gauges; `None` where the kernel does not tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Totals {
    /// Address space.
    pub size: Option<Bytes>,
    /// Resident.
    pub rss: Option<Bytes>,
    /// Of it, anonymous.
    pub anon: Option<Bytes>,
    /// Of it, file pages.
    pub file: Option<Bytes>,
    /// Of it, shared memory.
    pub shmem: Option<Bytes>,
    /// Anonymous pages in swap.
    pub swap: Option<Bytes>,
    /// Locked address ranges.
    pub locked: Option<Bytes>,
    /// Pages of hugetlbfs, which `rss` leaves out.
    pub huge: Option<Bytes>,
}

/// What is behind a range.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MappingKind {
    /// A file of a file system on a disk, on the network or in RAM; see [`Store`].
    File,
    /// Memory with a name but without a mount: memfd, System V segments, shared anonymous memory.
    SharedMemory,
    /// A device, or an object of the kernel such as a ring of perf.
    Device,
    /// `[heap]`.
    Heap,
    /// `[stack]`.
    Stack,
    /// `[vdso]`, `[vvar]`, `[vsyscall]`: given by the kernel to every process.
    Kernel,
    /// Anonymous.
    #[default]
    Anonymous,
}

/// Where a file's pages go when they are evicted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Store {
    /// Nowhere: they are read again from a file system.
    #[default]
    FileSystem,
    /// To swap: tmpfs, memfd and shared memory have no file behind them.
    Memory,
    /// They cannot be evicted: hugetlbfs.
    HugePages,
    /// They are no page cache: a device's own memory.
    Device,
}

/// One range.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Mapping {
    /// First address.
    pub start: u64,
    /// First address behind it.
    pub end: u64,
    /// `r`.
    pub read: bool,
    /// `w`.
    pub write: bool,
    /// `x`.
    pub execute: bool,
    /// `s`: writes go to the file; else they are copies of the process's own.
    pub shared: bool,
    /// Where in the file it starts, in bytes.
    pub offset: u64,
    /// What is behind it.
    pub kind: MappingKind,
    /// Index into [`Maps::files`].
    pub file: Option<u32>,
    /// From a walk of the page tables.
    pub usage: Option<Usage>,
}

impl Mapping {
    /// Address space it takes.
    #[must_use]
    pub const fn size(&self) -> Bytes {
        Bytes(self.end.saturating_sub(self.start))
    }

    /// `r-xp` as the kernel writes it.
    #[must_use]
    pub fn permissions(&self) -> String {
        let flag = |on, c| if on { c } else { '-' };
        [flag(self.read, 'r'), flag(self.write, 'w'), flag(self.execute, 'x'), if self.shared { 's' } else { 'p' }]
            .iter()
            .collect()
    }
}

/// What a walk of the page tables says of one range (`smaps`).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Usage {
    /// Resident.
    pub rss: Bytes,
    /// Resident, each page divided by the number of its mappers.
    pub pss: Bytes,
    /// Mapped by others too, unchanged.
    pub shared_clean: Bytes,
    /// Mapped by others too, changed.
    pub shared_dirty: Bytes,
    /// Mapped by this process alone, unchanged.
    pub private_clean: Bytes,
    /// Mapped by this process alone, changed.
    pub private_dirty: Bytes,
    /// Of `rss`, anonymous: copies made by writing into a private mapping, which eviction cannot drop.
    pub anonymous: Bytes,
    /// Of `rss`, locked; shared pages by their share.
    pub locked: Bytes,
    /// In swap.
    pub swap: Bytes,
    /// Pages of hugetlbfs, which `rss` leaves out.
    pub huge: Bytes,
}

impl Usage {
    /// Adds another.
    pub fn add(&mut self, other: Usage) {
        add_each!(self, other; rss, pss, shared_clean, shared_dirty, private_clean, private_dirty, anonymous, locked,
            swap, huge);
    }
}

/// A file that is mapped.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct MappedFile {
    /// Device of the file system.
    pub major: u32,
    /// Device of the file system.
    pub minor: u32,
    /// Inode.
    pub inode: u64,
    /// Path as the first process that maps it sees it; any bytes, so it is escaped where it is shown.
    pub path: String,
    /// Whether the name still leads to it.
    pub name: NameState,
    /// File-system type, where its mount was seen.
    pub fs: Option<String>,
    /// Where its pages go when they are evicted.
    pub store: Store,
    /// Length of the file.
    pub length: Option<Bytes>,
    /// What of it is in RAM.
    pub residency: Residency,
    /// What it holds, where it was compared with another file.
    pub contents: Option<Contents>,
    /// A path by which this very file can be opened now; not part of any document.
    pub via: Option<PathBuf>,
}

/// Whether a file's name still leads to it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NameState {
    /// It does, as far as was seen.
    #[default]
    There,
    /// The file has no name any more.
    Deleted,
    /// The name leads to another file now: whoever maps this one still runs the old one.
    Replaced,
}

/// What of a file is in RAM.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Residency {
    /// How it is known.
    pub source: Source,
    /// Why it is not known, or not exactly.
    pub why: Option<String>,
    /// Of the whole file, in the page cache, mapped or not.
    pub cached: Option<Bytes>,
    /// In the page cache inside the ranges somebody maps, each page once.
    pub in_ranges: Option<Bytes>,
    /// The same inside executable ranges.
    pub in_code: Option<Bytes>,
    /// Of `in_ranges`, changed and not yet written; `None` where the kernel cannot tell.
    pub dirty: Option<Bytes>,
    /// Present in the page tables of the processes that were read, each page once.
    pub present: Option<Bytes>,
    /// The same inside executable ranges.
    pub present_code: Option<Bytes>,
}

/// Where the residency is from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// cachestat(2).
    Cachestat,
    /// mincore(2): dirty pages are not told.
    Mincore,
    /// Page tables of the processes read: at least so much.
    PageTables,
    /// It was not asked, or the kernel would not have told the truth.
    #[default]
    Unknown,
}

/// What tells that two files are copies of each other.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Contents {
    /// The build id an ELF file carries: two files with the same are the result of one build.
    pub build_id: Option<String>,
    /// Hash of the length and of pieces spread over the file.
    pub pieces: Option<u64>,
}
