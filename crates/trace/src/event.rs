//! What the kernel's records mean: those of the page cache, of read-ahead, of reclaim, and of new processes.

use ramline_snapshot::cache::Level;

use crate::{Field, Format};

/// A file as the kernel names it in records; not as stat(2) does, whose device numbers are others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileId {
    /// Device, as [`device_number`] counts them.
    pub device: u32,
    /// Inode.
    pub inode: u64,
}

impl FileId {
    /// Major and minor number of the device.
    #[must_use]
    pub const fn numbers(self) -> (u32, u32) {
        (self.device >> 20, self.device & 0xf_ffff)
    }
}

/// A device as the kernel numbers it inside (linux/kdev_t.h), which its tracepoints print: major in the bits from 20 on.
#[must_use]
pub const fn device_number(major: u32, minor: u32) -> u32 {
    major << 20 | minor
}

/// The name of a task, up to its first zero byte.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TaskName(pub [u8; 16]);

impl std::fmt::Display for TaskName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&String::from_utf8_lossy(self.0.split(|byte| *byte == 0).next().unwrap_or_default()))
    }
}

/// An event of the page cache or of a task. Places in files are in pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the doc of each variant names its fields")]
pub enum EventKind {
    /// A request of `first..=last` was served; also for what is left of a request that was served in parts.
    Get { file: FileId, first: u64, last: u64 },
    /// Of a window what was there was mapped.
    Map { file: FileId, first: u64, last: u64 },
    /// A fault that no window could serve begins.
    Fault { file: FileId, index: u64 },
    /// Pages were added to the page cache.
    Add { file: FileId, index: u64, pages: u64 },
    /// Pages were taken out of it.
    Delete { file: FileId, index: u64, pages: u64 },
    /// Read-ahead begins: for a page that is not there, or since a mark was reached.
    ReadAhead { file: FileId },
    /// The task itself begins or ends direct reclaim.
    Reclaim { begins: bool },
    /// A new task, and whether it is a thread of the one that made it.
    New { task: u32, thread: bool, name: TaskName },
    /// A task has another name.
    Rename { task: u32, name: TaskName },
}

/// What, and which task did it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Id of the task (thread).
    pub task: u32,
    /// What happened.
    pub what: EventKind,
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

/// What is to be recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Events {
    /// What a process does to files.
    OfProcesses,
    /// What adds pages to the page cache, and for whom.
    Adding,
    /// What takes pages out of the page cache, and reclaim that does.
    Removing,
}

impl Events {
    /// Their names, as `GROUP/EVENT`.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        EVENTS.iter().filter(move |event| event.2.contains(&self)).map(|event| event.0)
    }
}

/// The events, as the kernel names them, and for whom they are recorded.
const EVENTS: [(&str, Kind, &[Events]); 13] = [
    (GET, Kind::Get, &[Events::OfProcesses]),
    ("filemap/mm_filemap_map_pages", Kind::Map, &[Events::OfProcesses]),
    ("filemap/mm_filemap_fault", Kind::Fault, &[Events::OfProcesses]),
    ("filemap/mm_filemap_add_to_page_cache", Kind::Add, &[Events::OfProcesses, Events::Adding]),
    (MARK, Kind::ReadAhead, &[Events::OfProcesses, Events::Adding]),
    ("readahead/page_cache_async_ra", Kind::ReadAhead, &[Events::OfProcesses, Events::Adding]),
    ("task/task_newtask", Kind::New, &[Events::OfProcesses, Events::Adding]),
    ("task/task_rename", Kind::Rename, &[Events::OfProcesses, Events::Adding]),
    ("filemap/mm_filemap_delete_from_page_cache", Kind::Delete, &[Events::Removing]),
    ("vmscan/mm_vmscan_direct_reclaim_begin", Kind::ReclaimBegins, &[Events::Removing]),
    ("vmscan/mm_vmscan_direct_reclaim_end", Kind::ReclaimEnds, &[Events::Removing]),
    ("vmscan/mm_vmscan_memcg_reclaim_begin", Kind::ReclaimBegins, &[Events::Removing]),
    ("vmscan/mm_vmscan_memcg_reclaim_end", Kind::ReclaimEnds, &[Events::Removing]),
];
const GET: &str = "filemap/mm_filemap_get_pages";
const MARK: &str = "readahead/page_cache_sync_ra";

/// Records to events, by the formats of the kernel that wrote them.
#[derive(Debug, Default)]
pub struct Decoder {
    known: Vec<EventFormat>,
    // By the number with which a record begins: the place in `known`, and 1; 0 is none of ours.
    places: Vec<u8>,
    kind: Option<Field>,
    task: Option<Field>,
    marks: bool,
    requests: bool,
}

#[derive(Debug, Clone, Copy)]
struct EventFormat {
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
    /// With what `format` says of each event (`GROUP/EVENT`): the text of its `format` file, `None` where this kernel does not have it.
    #[must_use]
    pub fn new(format: impl Fn(&str) -> Option<String>) -> Decoder {
        let mut decoder = Decoder::default();
        for (event, kind, _) in EVENTS {
            if let Some(text) = format(event) {
                decoder.learn(event, kind, &Format::parse(&text));
            }
        }
        decoder
    }

    fn learn(&mut self, event: &str, kind: Kind, format: &Format) {
        let Some(id) = format.id().map(usize::from) else { return };
        self.marks |= event == MARK;
        self.requests |= event == GET;
        self.kind = self.kind.or(format.field("common_type"));
        self.task = self.task.or(format.field("common_pid"));
        if self.places.len() <= id {
            self.places.resize(id + 1, 0);
        }
        let field = |name| format.field(name);
        self.known.push(EventFormat {
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
        self.places[id] = u8::try_from(self.known.len()).unwrap_or(0);
    }

    /// How much is recorded: whether requests are at all, and whether misses can be told from read-ahead.
    #[must_use]
    pub const fn level(&self) -> Level {
        match (self.requests, self.marks) {
            (true, true) => Level::Full,
            (true, false) => Level::NoMarks,
            (false, _) => Level::ChangesOnly,
        }
    }

    /// What a record says; `None` for one of another event, and for one that makes no sense.
    #[must_use]
    pub fn event(&self, record: &[u8]) -> Option<Event> {
        let id = usize::try_from(self.kind?.number(record)?).ok()?;
        let known = self.known.get(usize::from(self.places.get(id)?.checked_sub(1)?))?;
        let task = u32::try_from(self.task?.number(record)?).ok()?;
        Some(Event { task, what: known.what(record)? })
    }
}

impl EventFormat {
    fn what(&self, record: &[u8]) -> Option<EventKind> {
        let number = |field: Option<Field>| field.and_then(|field| field.number(record));
        let file = || {
            let device = u32::try_from(number(self.device)?).ok()?;
            Some(FileId { device, inode: number(self.inode)? })
        };
        // Without the field (before 5.17) every record is of one page. No folio is larger than 2^30 pages.
        let pages = || 1u64 << number(self.order).unwrap_or(0).min(30);
        let task = || number(self.pid).and_then(|pid| u32::try_from(pid).ok());
        Some(match self.kind {
            Kind::Get => EventKind::Get { file: file()?, first: number(self.index)?, last: number(self.last)? },
            Kind::Map => EventKind::Map { file: file()?, first: number(self.index)?, last: number(self.last)? },
            Kind::Fault => EventKind::Fault { file: file()?, index: number(self.index)? },
            Kind::Add => EventKind::Add { file: file()?, index: number(self.index)?, pages: pages() },
            Kind::Delete => EventKind::Delete { file: file()?, index: number(self.index)?, pages: pages() },
            Kind::ReadAhead => EventKind::ReadAhead { file: file()? },
            Kind::ReclaimBegins => EventKind::Reclaim { begins: true },
            Kind::ReclaimEnds => EventKind::Reclaim { begins: false },
            Kind::New => {
                let thread = number(self.flags)? & CLONE_THREAD != 0;
                EventKind::New { task: task()?, thread, name: self.name(record)? }
            }
            Kind::Rename => EventKind::Rename { task: task()?, name: self.name(record)? },
        })
    }

    fn name(&self, record: &[u8]) -> Option<TaskName> {
        self.name?.bytes(record)?.try_into().ok().map(TaskName)
    }
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
        let decoder = Decoder::new(|event| event.contains("_add_to_").then(|| format!("{COMMON}{fields}")));
        let file = FileId { device: device_number(254, 1), inode: 7 };
        assert_eq!(file.device, 266_338_305, "as tracepoints print it");
        let found = decoder.event(&record(3, &[u64::from(file.device), 7, 40, 2]));
        assert_eq!(found, Some(Event { task: 9, what: EventKind::Add { file, index: 40, pages: 4 } }));
        assert_eq!(file.numbers(), (254, 1));
        assert_eq!(decoder.event(&record(3, &[1])), None);
        assert_eq!(decoder.event(&record(4, &[1, 7, 40, 2])), None);
        assert!(!decoder.requests && !decoder.marks);
    }

    #[test]
    fn names_end_at_the_first_zero() {
        assert_eq!(TaskName(*b"cat\0garbage\0\0\0\0\0").to_string(), "cat");
        assert_eq!(TaskName(*b"sixteen-bytes-xx").to_string(), "sixteen-bytes-xx");
    }
}
