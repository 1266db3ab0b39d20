//! Shared memory by kind: tmpfs files, System V segments, memfd and deleted files that are still open, graphics objects.
//!
//! Shapes: every [`Amount`] tells RAM and swap apart, because a page of shared memory is in one of the two, never in both.
//! Figures are gauges in whole pages. Lists hold the largest first and are bounded; totals count what the lists leave out.
//! A file is known by device and inode, never by its name: a deleted file and a new one may share a name.
//!
//! Not process memory. A page mapped by ten processes is one page here.

mod parse;

use crate::prelude::*;

pub use parse::{drm_fdinfo, sysvipc};

/// Shared memory by kind, as far as it could be seen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Shmem {
    /// `Shmem` of /proc/meminfo just before the walk, and just after it: what they differ by is drift.
    pub before: Option<Bytes>,
    /// The second reading.
    pub after: Option<Bytes>,
    /// File systems in RAM, each once, largest first.
    pub filesystems: Vec<Filesystem>,
    /// System V segments (`/proc/sysvipc/shm`) of the name space ramline runs in.
    pub segments: Vec<Segment>,
    /// Files without a name in any directory: memfd, deleted, shared anonymous memory. Largest first.
    pub objects: Vec<Object>,
    /// What all objects of a kind hold, those left out of `objects` included.
    pub object_totals: Vec<ObjectTotal>,
    /// Users of a graphics device, from the `drm-` lines of fdinfo.
    pub graphics: Vec<GraphicsClient>,
    /// The largest files that have a name.
    pub files: Vec<File>,
    /// Files, segments and objects by their owner's user id, largest first.
    pub users: Vec<UserTotal>,
    /// Files with a name, by the time since they were last read or written.
    pub ages: Vec<AgeTotal>,
    /// Files with a name that no process seen has open or mapped, and no loop device or mount uses; `None` without root, unless
    /// every process could be asked. Who refused even root is in [`Walk::denied`].
    pub unowned: Option<Amount>,
    /// The largest of them.
    pub unowned_files: Vec<File>,
    /// How the two places were told apart.
    pub method: Method,
    /// What the walk covered.
    pub walk: Walk,
}

/// Bytes by place. Gauge.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Amount {
    /// Files, segments or objects counted.
    pub count: u64,
    /// In RAM.
    pub resident: Bytes,
    /// In swap.
    pub swapped: Bytes,
    /// In RAM or in swap: allocated, but where could not be asked.
    pub either: Bytes,
}

impl Amount {
    /// Wherever it is.
    #[must_use]
    pub fn all(&self) -> Bytes {
        self.resident + self.swapped + self.either
    }

    /// Adds another amount.
    pub fn add(&mut self, other: Amount) {
        add_each!(self, other; count, resident, swapped, either);
    }
}

/// How RAM and swap were told apart.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// No byte of swap was in use, so every allocated page is in RAM.
    NoSwapUsed,
    /// cachestat(2) of each file: pages in the cache, and pages evicted to swap.
    Cachestat,
    /// mincore(2) for pages in RAM, allocated blocks less those for swap. Holes of a file that were only read count as RAM.
    Mincore,
    /// Not asked.
    #[default]
    Unknown,
}

/// One file system in RAM.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Filesystem {
    /// `major:minor`.
    pub dev: String,
    /// tmpfs, devtmpfs, ramfs or rootfs.
    pub fs: String,
    /// Where it is mounted, as seen in the name space of `via`.
    pub at: String,
    /// A process in whose mount name space it was found; `None` for ours.
    pub via: Option<u32>,
    /// Its pages count in `Shmem` and can be swapped; false for ramfs, whose pages are page cache that is never evicted.
    pub in_shmem: bool,
    /// What `statfs` says it holds, deleted files included; `None` where it has no limit, and so does not count.
    pub used: Option<Bytes>,
    /// What was found in it by walking, files with a name only.
    pub found: Amount,
    /// Deleted files in it that processes hold; each is an [`Object`] too.
    pub deleted: Amount,
    /// Files, directories and links looked at.
    pub inodes: u64,
    /// Directories or files that could not be opened.
    pub refused: u64,
    /// It was entered, and walked to its end.
    pub complete: bool,
}

/// One System V segment.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Segment {
    /// Its id.
    pub id: i64,
    /// Its key; 0 for a private one.
    pub key: i64,
    /// Permissions, octal digits as the kernel writes them; 1000 is "to be destroyed", 2000 is "locked".
    pub perms: String,
    /// Its size, used or not.
    pub size: Bytes,
    /// In RAM.
    pub resident: Bytes,
    /// In swap.
    pub swapped: Bytes,
    /// Of huge pages from a pool, which is not part of `Shmem`; `None` where nobody has it attached.
    pub huge: Option<bool>,
    /// Owner.
    pub uid: u32,
    /// Process that made it; it may be gone, and its number in use again.
    pub creator: u32,
    /// Process that attached or detached it last.
    pub last_used_by: u32,
    /// How often it is attached.
    pub attached: u64,
    /// Time since it was last attached, detached or changed.
    pub age: Option<Nanos>,
    /// Processes that have it attached, as far as they could be seen.
    pub holders: Vec<Holder>,
}

/// What a file without a name is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ObjectKind {
    /// memfd_create(2).
    Memfd,
    /// A tmpfs file that was deleted, or never had a name, and is still open or mapped.
    Deleted,
    /// Shared anonymous memory (`MAP_SHARED | MAP_ANONYMOUS`), also of a mapped /dev/zero.
    SharedAnonymous,
    /// A buffer of a graphics driver.
    Graphics,
    /// A System V segment of another name space.
    Segment,
    /// Anything else the kernel keeps in its internal tmpfs.
    #[default]
    Other,
}

/// A file of shared memory without a name in any directory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Object {
    /// What it is.
    pub kind: ObjectKind,
    /// What the kernel calls it: the name given to memfd_create, the last path of a deleted file.
    pub name: String,
    /// `major:minor` of its file system; the kernel's internal one for all but deleted files.
    pub dev: String,
    /// Inode.
    pub ino: u64,
    /// Its length, used or not.
    pub size: Bytes,
    /// Where its pages are; `count` is 1.
    pub amount: Amount,
    /// Owner; `None` where it could not be asked.
    pub uid: Option<u32>,
    /// Time since it was last read or written with a system call (mapped access leaves no trace); never for shared anonymous memory.
    pub age: Option<Nanos>,
    /// The first processes that hold it, at most 4.
    pub holders: Vec<Holder>,
    /// Processes that hold it.
    pub holder_count: u64,
}

/// A process that has a file open or mapped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Holder {
    /// Process id.
    pub pid: u32,
    /// Its name (`comm`).
    pub name: String,
    /// Its user.
    pub uid: u32,
    /// It was asleep (`S`) or stopped (`T`) when it was looked at.
    pub asleep: bool,
    /// CPU time it has used, in clock ticks. Counter: between two snapshots it tells whether the process did anything.
    pub cpu_ticks: u64,
    /// It has the file open.
    pub open: bool,
    /// It has the file mapped.
    pub mapped: bool,
}

/// What all objects of one kind hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ObjectTotal {
    /// The kind.
    pub kind: ObjectKind,
    /// What they hold.
    pub amount: Amount,
}

/// One user of a graphics device: `drm-client-id` of one device, counted once however often it is open.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GraphicsClient {
    /// Driver (`drm-driver`).
    pub driver: String,
    /// Device (`drm-pdev`); empty where it has none.
    pub device: String,
    /// Number of the client on that device.
    pub client: u64,
    /// Memory regions the driver names.
    pub regions: Vec<GraphicsRegion>,
    /// The driver keeps system memory in shared-memory files (then it is part of `Shmem`), and not in pages of its own.
    pub in_shmem: bool,
    /// Who has it open.
    pub holder: Holder,
}

/// One memory region of a graphics client. Gauges; `None` where the driver does not say.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GraphicsRegion {
    /// The driver's name for it: `system`, `vram0`, `gtt`, ...
    pub name: String,
    /// Its buffers, backed by memory or not.
    pub total: Option<Bytes>,
    /// Of them, shared with another client: counted there too.
    pub shared: Option<Bytes>,
    /// Backed by memory.
    pub resident: Option<Bytes>,
    /// Backed, and may be thrown away.
    pub purgeable: Option<Bytes>,
}

/// One file with a name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct File {
    /// Where, as seen in the name space of its file system's `via`.
    pub path: String,
    /// `major:minor` of its file system.
    pub dev: String,
    /// Inode.
    pub ino: u64,
    /// Its length, holes included.
    pub size: Bytes,
    /// Where its pages are; `count` is 1.
    pub amount: Amount,
    /// Owner.
    pub uid: u32,
    /// Time since it was last read or written with a system call.
    pub age: Option<Nanos>,
    /// A process has it open or mapped; `None` where not all processes could be asked.
    pub held: Option<bool>,
}

/// What one user owns.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct UserTotal {
    /// User id.
    pub uid: u32,
    /// What it owns.
    pub amount: Amount,
}

/// Files last read or written within a time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct AgeTotal {
    /// At most this long ago; `None` for all that is older.
    pub within: Option<Nanos>,
    /// What they hold.
    pub amount: Amount,
}

/// What the walk covered.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Walk {
    /// Processes whose open files and mappings were read.
    pub processes: u64,
    /// Processes that did not let us.
    pub denied: u64,
    /// Processes that ended while they were read.
    pub vanished: u64,
    /// Every process was reached before the time was up.
    pub processes_complete: bool,
    /// Mount name spaces looked into.
    pub name_spaces: u64,
    /// File systems in RAM that no path leads to: covered by another mount, or behind one that could hang.
    pub unreached: u64,
    /// Objects whose size could not be asked.
    pub unasked: u64,
    /// Time it took; `None` in a captured tree.
    pub cost: Option<Nanos>,
    /// Time it may take.
    pub budget: Option<Nanos>,
}
