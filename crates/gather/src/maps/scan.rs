//! One process after the other: its ranges, its totals, its group; and every file once.

use std::io::{BufRead, BufReader, ErrorKind, Read};

use ramline_kernel::process;
use ramline_snapshot::maps::{MappedFile, MappedProcess, MappingKind, NameState, Parser, Range, Store, Totals};
use ramline_snapshot::{Malformed, mounts};

use crate::prelude::*;

/// Why a process was not seen.
#[derive(Debug)]
pub enum NotSeen {
    Denied,
    Gone,
    KernelThread,
    Zombie,
    Malformed(Malformed),
}

/// What distinguishes files. System V segments use their id as inode number, on the same device as memfd: there the name counts.
type Identity = (u32, u32, u64, String);

pub struct Scan<'a> {
    pub root: &'a Root,
    walk: bool,
    known: HashMap<Identity, u32>,
    pub files: Vec<MappedFile>,
    /// File-system type by device, from the mounts this process sees and, where those do not name it, from those of the process read.
    types: HashMap<(u32, u32), String>,
    /// Lines that were not understood.
    pub unknown: u64,
}

impl<'a> Scan<'a> {
    pub fn new(root: &'a Root, walk: bool) -> Scan<'a> {
        let mut scan = Scan { root, walk, known: HashMap::new(), files: Vec::new(), types: HashMap::new(), unknown: 0 };
        scan.mounts("/proc/self/mountinfo");
        scan
    }

    /// Reads one process.
    pub fn process(&mut self, pid: u32) -> Result<MappedProcess, NotSeen> {
        let name = if self.walk { "smaps" } else { "maps" };
        let path = format!("/proc/{pid}/{name}");
        let ranges = match self.ranges(&path) {
            Ok(ranges) if ranges.is_empty() => return Err(self.without_ranges(pid, true)),
            // A process that ended may still be listed: then its state says why.
            Err(NotSeen::Gone) => return Err(self.without_ranges(pid, false)),
            ranges => ranges?,
        };
        let status = format!("/proc/{pid}/status");
        let totals = read_text(&self.root.path(&status)).ok().and_then(|t| Totals::parse(&status, &t).ok().flatten());
        let comm = read_text(&self.root.path(format!("/proc/{pid}/comm")));
        let mut out = MappedProcess {
            pid,
            name: comm.unwrap_or_default().trim_end_matches('\n').to_owned(),
            group: group_of(self.root, pid),
            totals,
            mappings: Vec::with_capacity(ranges.len()),
        };
        for range in ranges {
            let file = self.file(&range, pid);
            out.mappings.push(ramline_snapshot::maps::Mapping { file, ..range.mapping });
        }
        Ok(out)
    }

    fn ranges(&mut self, path: &str) -> Result<Vec<Range>, NotSeen> {
        let full = self.root.path(path);
        if !self.root.is_live() && !std::fs::symlink_metadata(&full).is_ok_and(|m| m.is_file()) {
            return Err(NotSeen::Gone);
        }
        let mut lines = BufReader::new(File::open(&full)?);
        let mut parser = Parser::new(path);
        let mut line = Vec::new();
        loop {
            line.clear();
            // A name can be long, but not longer than a path and a line break each byte; more is no file of the kernel.
            let read = lines.by_ref().take(LONGEST).read_until(b'\n', &mut line)?;
            if read == 0 {
                break;
            }
            parser.line(line.strip_suffix(b"\n").unwrap_or(&line)).map_err(NotSeen::Malformed)?;
        }
        let (ranges, unknown) = parser.finish();
        self.unknown += unknown;
        Ok(ranges)
    }

    /// The file of a range, entered once. Kernel objects and anonymous memory have none.
    fn file(&mut self, range: &Range, pid: u32) -> Option<u32> {
        if !matches!(range.mapping.kind, MappingKind::File | MappingKind::SharedMemory | MappingKind::Device) {
            return None;
        }
        let (major, minor) = range.device;
        let name = if range.mapping.kind == MappingKind::File { String::new() } else { range.name.clone() };
        let identity = (major, minor, range.inode, name);
        if let Some(index) = self.known.get(&identity) {
            return Some(*index);
        }
        if !self.types.contains_key(&range.device) && range.mapping.kind == MappingKind::File {
            // In a container the file system may be mounted only there.
            self.mounts(&format!("/proc/{pid}/mountinfo"));
        }
        let fs = self.types.get(&range.device).filter(|fs| !fs.is_empty()).cloned();
        let store = match (range.mapping.kind, fs.as_deref()) {
            (MappingKind::Device, _) => Store::Device,
            (_, Some("hugetlbfs")) => Store::HugePages,
            (_, None) if range.name.starts_with("/anon_hugepage") => Store::HugePages,
            (MappingKind::SharedMemory, _) | (_, Some("tmpfs" | "ramfs" | "rootfs")) => Store::Memory,
            (_, Some("devtmpfs" | "proc" | "sysfs")) => Store::Device,
            _ => Store::FileSystem,
        };
        let index = u32::try_from(self.files.len()).ok()?;
        self.files.push(MappedFile {
            major,
            minor,
            inode: range.inode,
            path: range.name.clone(),
            name: if range.deleted { NameState::Deleted } else { NameState::There },
            fs,
            store,
            ..MappedFile::default()
        });
        self.known.insert(identity, index);
        Some(index)
    }

    fn mounts(&mut self, path: &str) {
        let text = read_text(&self.root.path(path)).unwrap_or_default();
        for mount in mounts::parse(path, &text).unwrap_or_default() {
            let number = mount.dev.split_once(':').and_then(|(a, b)| Some((a.parse().ok()?, b.parse().ok()?)));
            if let Some(device) = number {
                self.types.entry(device).or_insert(mount.fs);
            }
        }
    }

    /// No ranges: a thread of the kernel, a zombie, or a process between its last breath and that.
    /// `listed`: its mappings could be read, and are none.
    fn without_ranges(&self, pid: u32, listed: bool) -> NotSeen {
        match process::stat(self.root, pid) {
            Ok(stat) if matches!(stat.state, 'Z' | 'X') => NotSeen::Zombie,
            Ok(_) if listed && !self.has_memory(pid) => NotSeen::KernelThread,
            // A refusal would have been an error: it is on its way out.
            _ => NotSeen::Gone,
        }
    }

    fn has_memory(&self, pid: u32) -> bool {
        read_text(&self.root.path(format!("/proc/{pid}/status"))).is_ok_and(|t| t.contains("\nVmSize:"))
    }
}

/// The longest line: a path of 4096 bytes, each written as four characters, and the columns before it.
const LONGEST: u64 = 5 * 4096;

impl From<std::io::Error> for NotSeen {
    fn from(error: std::io::Error) -> NotSeen {
        if error.kind() == ErrorKind::PermissionDenied { NotSeen::Denied } else { NotSeen::Gone }
    }
}

/// True where other users' processes are not even listed: process 1 always exists.
pub fn is_hidden(root: &Root) -> bool {
    root.is_live() && !root.path("/proc/1").exists()
}

/// The control group of a process for memory.
pub fn group_of(root: &Root, pid: u32) -> Option<String> {
    crate::held::group(&root.path(format!("/proc/{pid}")))
}

/// A group as processes name it: `/a/b`, from that, `a/b`, or its directory below the usual mount points.
pub fn group_name(given: &str) -> String {
    let inside = ["/sys/fs/cgroup/memory", "/sys/fs/cgroup/unified", "/sys/fs/cgroup"]
        .iter()
        .find_map(|mount| given.strip_prefix(mount).filter(|rest| rest.is_empty() || rest.starts_with('/')));
    let name = inside.unwrap_or(given).trim_matches('/');
    format!("/{name}")
}
