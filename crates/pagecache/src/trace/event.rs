//! What the kernel's records mean: those of the page cache, of read-ahead, of reclaim, and of new processes.

use ramline_kernel::tracing::{Field, Format, Instance};

/// A file as the kernel names it in records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId {
    /// Device, as the kernel counts them inside: major in the bits from 20 on.
    pub device: u32,
    /// Inode.
    pub inode: u64,
}

impl FileId {
    /// Major and minor number.
    pub const fn numbers(self) -> (u32, u32) {
        (self.device >> 20, self.device & 0xf_ffff)
    }

    /// From what stat(2) says.
    pub fn of(device: u64, inode: u64) -> FileId {
        FileId { device: rustix::fs::major(device) << 20 | rustix::fs::minor(device), inode }
    }
}

/// Something that happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum What {
    /// A request of `first..=last` was served; also for what is left of a request that was served in parts.
    Get { file: FileId, first: u64, last: u64 },
    /// Of a window what was there was mapped.
    Map { file: FileId, first: u64, last: u64 },
    /// A fault that no window could serve begins.
    Fault { file: FileId, index: u64 },
    /// Pages came.
    Add { file: FileId, index: u64, pages: u64 },
    /// Pages went.
    Delete { file: FileId, index: u64, pages: u64 },
    /// Read-ahead begins: for a page that is not there, or since a mark was reached.
    ReadAhead { file: FileId },
    /// The task itself begins or ends making room.
    Reclaim { begins: bool },
    /// A new task, and whether it is a thread of the one that made it.
    New { task: u32, thread: bool, name: [u8; 16] },
    /// A task has another name.
    Rename { task: u32, name: [u8; 16] },
}

/// What, and which task did it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    pub task: u32,
    pub what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Get,
    Map,
    Fault,
    Add,
    Delete,
    ReadAhead,
    ReclaimBegins,
    ReclaimEnds,
    New,
    Rename,
}

/// The events, as the kernel names them.
const EVENTS: [(&str, Kind); 13] = [
    (GET, Kind::Get),
    ("filemap/mm_filemap_map_pages", Kind::Map),
    ("filemap/mm_filemap_fault", Kind::Fault),
    (ADD, Kind::Add),
    (DELETE, Kind::Delete),
    (MARK, Kind::ReadAhead),
    ("readahead/page_cache_async_ra", Kind::ReadAhead),
    ("vmscan/mm_vmscan_direct_reclaim_begin", Kind::ReclaimBegins),
    ("vmscan/mm_vmscan_direct_reclaim_end", Kind::ReclaimEnds),
    ("vmscan/mm_vmscan_memcg_reclaim_begin", Kind::ReclaimBegins),
    ("vmscan/mm_vmscan_memcg_reclaim_end", Kind::ReclaimEnds),
    ("task/task_newtask", Kind::New),
    ("task/task_rename", Kind::Rename),
];
const GET: &str = "filemap/mm_filemap_get_pages";
const ADD: &str = "filemap/mm_filemap_add_to_page_cache";
const DELETE: &str = "filemap/mm_filemap_delete_from_page_cache";
const MARK: &str = "readahead/page_cache_sync_ra";

/// What a process does to files.
pub const OF_PROCESSES: [&str; 8] = [
    GET,
    "filemap/mm_filemap_map_pages",
    "filemap/mm_filemap_fault",
    ADD,
    MARK,
    "readahead/page_cache_async_ra",
    "task/task_newtask",
    "task/task_rename",
];
/// What anybody does to the page cache to make room.
pub const OF_ROOM: [&str; 5] = [
    DELETE,
    "vmscan/mm_vmscan_direct_reclaim_begin",
    "vmscan/mm_vmscan_direct_reclaim_end",
    "vmscan/mm_vmscan_memcg_reclaim_begin",
    "vmscan/mm_vmscan_memcg_reclaim_end",
];
/// What comes, and for whom.
pub const OF_COMING: [&str; 5] = [ADD, MARK, "readahead/page_cache_async_ra", "task/task_newtask", "task/task_rename"];

/// Takes records apart.
#[derive(Debug, Default)]
pub struct Decoder {
    // By the number with which a record begins.
    kinds: Vec<Option<Known>>,
    kind: Option<Field>,
    task: Option<Field>,
    marks: bool,
    requests: bool,
}

#[derive(Debug, Clone, Copy)]
struct Known {
    kind: Kind,
    inode: Option<Field>,
    device: Option<Field>,
    index: Option<Field>,
    last: Option<Field>,
    order: Option<Field>,
    pid: Option<Field>,
    flags: Option<Field>,
    name: Option<Field>,
}

/// A new thread of the same process (linux/sched.h).
const CLONE_THREAD: u64 = 0x1_0000;

impl Decoder {
    /// Learns the formats of this kernel; events it does not have are left out.
    pub fn of(instance: &Instance) -> Decoder {
        let mut decoder = Decoder::default();
        for (event, kind) in EVENTS {
            let Ok(format) = instance.format(event) else { continue };
            decoder.learn(event, kind, &format);
        }
        decoder
    }

    fn learn(&mut self, event: &str, kind: Kind, format: &Format) {
        let Some(id) = format.id().map(usize::from) else { return };
        self.marks |= event == MARK;
        self.requests |= event == GET;
        self.kind = self.kind.or(format.field("common_type"));
        self.task = self.task.or(format.field("common_pid"));
        if self.kinds.len() <= id {
            self.kinds.resize(id + 1, None);
        }
        let field = |name| format.field(name);
        self.kinds[id] = Some(Known {
            kind,
            inode: field("i_ino"),
            device: field("s_dev"),
            index: field("index"),
            last: field("last_index"),
            order: field("order"),
            pid: field("pid"),
            flags: field("clone_flags"),
            name: field(if kind == Kind::Rename { "newcomm" } else { "comm" }),
        });
    }

    /// Misses can be told from read-ahead.
    pub const fn has_marks(&self) -> bool {
        self.marks
    }

    /// Requests are told at all.
    pub const fn has_requests(&self) -> bool {
        self.requests
    }

    /// What a record says; `None` for one that is not ours or makes no sense.
    pub fn event(&self, record: &[u8]) -> Option<Event> {
        let id = usize::try_from(self.kind?.number(record)?).ok()?;
        let known = (*self.kinds.get(id)?)?;
        let task = u32::try_from(self.task?.number(record)?).ok()?;
        Some(Event { task, what: known.what(record)? })
    }
}

impl Known {
    fn what(&self, record: &[u8]) -> Option<What> {
        let number = |field: Option<Field>| field.and_then(|field| field.number(record));
        let file = || {
            let device = u32::try_from(number(self.device)?).ok()?;
            Some(FileId { device, inode: number(self.inode)? })
        };
        // Without the field (before 5.17) every record is of one page. No folio is larger than 2^30 pages.
        let pages = || 1u64 << number(self.order).unwrap_or(0).min(30);
        let task = || number(self.pid).and_then(|pid| u32::try_from(pid).ok());
        Some(match self.kind {
            Kind::Get => What::Get { file: file()?, first: number(self.index)?, last: number(self.last)? },
            Kind::Map => What::Map { file: file()?, first: number(self.index)?, last: number(self.last)? },
            Kind::Fault => What::Fault { file: file()?, index: number(self.index)? },
            Kind::Add => What::Add { file: file()?, index: number(self.index)?, pages: pages() },
            Kind::Delete => What::Delete { file: file()?, index: number(self.index)?, pages: pages() },
            Kind::ReadAhead => What::ReadAhead { file: file()? },
            Kind::ReclaimBegins => What::Reclaim { begins: true },
            Kind::ReclaimEnds => What::Reclaim { begins: false },
            Kind::New => {
                let thread = number(self.flags)? & CLONE_THREAD != 0;
                What::New { task: task()?, thread, name: self.name(record)? }
            }
            Kind::Rename => What::Rename { task: task()?, name: self.name(record)? },
        })
    }

    fn name(&self, record: &[u8]) -> Option<[u8; 16]> {
        self.name?.bytes(record)?.try_into().ok()
    }
}

/// The text of a task's name.
pub fn text(name: &[u8; 16]) -> String {
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    String::from_utf8_lossy(&name[..end]).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const COMMON: &str = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n";

    fn record(id: u16, words: &[u64]) -> Vec<u8> {
        let mut out = id.to_ne_bytes().to_vec();
        out.extend([0; 2]);
        out.extend(9u32.to_ne_bytes());
        out.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        out
    }

    #[test]
    fn a_record_is_read_by_the_places_this_kernel_names() {
        let fields = "ID: 3\n\tfield:unsigned long i_ino;\toffset:16;\tsize:8;\tsigned:0;\n\tfield:dev_t s_dev;\toffset:8;\tsize:4;\tsigned:0;\n\
            \tfield:unsigned long index;\toffset:24;\tsize:8;\tsigned:0;\n\tfield:unsigned char order;\toffset:32;\tsize:1;\tsigned:0;\n";
        let mut decoder = Decoder::default();
        decoder.learn(ADD, Kind::Add, &Format::parse(&format!("{COMMON}{fields}")));
        let file = FileId { device: 254 << 20 | 1, inode: 7 };
        let found = decoder.event(&record(3, &[u64::from(file.device), 7, 40, 2]));
        assert_eq!(found, Some(Event { task: 9, what: What::Add { file, index: 40, pages: 4 } }));
        assert_eq!(file.numbers(), (254, 1));
        assert_eq!(decoder.event(&record(3, &[1])), None);
        assert_eq!(decoder.event(&record(4, &[1, 7, 40, 2])), None);
        assert!(!decoder.has_requests() && !decoder.has_marks());
    }

    #[test]
    fn names_end_at_the_first_zero() {
        assert_eq!(text(b"cat\0garbage\0\0\0\0\0"), "cat");
        assert_eq!(text(b"sixteen-bytes-xx"), "sixteen-bytes-xx");
    }
}
