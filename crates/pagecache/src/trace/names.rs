//! The files in records: which are in question, by what the kernel calls them, and their names and lengths, found while they are
//! still there.

use std::fs;
use std::os::unix::fs::MetadataExt;

use ramline_act::Result;
use ramline_gather::{hardware, naming};
use ramline_kernel::mount;
use ramline_snapshot::mounts::Mount;
use ramline_trace::count::{Process, Role, World};
use ramline_trace::{Event, EventKind, FileId, device_number};

use crate::prelude::*;

/// Names of files that were given, by what the kernel calls them.
pub type GivenNames = HashMap<FileId, PathBuf>;

/// Path and length of a file.
#[derive(Debug, Clone, Default)]
struct KnownFile {
    path: Option<PathBuf>,
    length: Option<u64>,
}

/// The machine, asked for names.
#[derive(Debug)]
pub struct Names {
    root: Root,
    page: u64,
    mounts: Vec<Mount>,
    // A directory of the file systems files can be opened of by their inodes; `None` where they cannot.
    open: HashMap<u32, Option<File>>,
    known: HashMap<FileId, KnownFile>,
    maps_folios: bool,
}

/// Since then a fault on a page of a file maps the whole folio (finish_fault of mm/memory.c). By version, since nothing tells but a
/// mapping of a file with a large folio, which not every file system has; a kernel that took it over earlier is counted as before.
const MAPS_FOLIOS: (u32, u32) = (6, 18);

impl Names {
    /// Files that were given are known by the names they were given by.
    pub fn new(root: &Root, given: &GivenNames) -> Names {
        let known =
            given.iter().map(|(id, path)| (*id, KnownFile { path: Some(path.clone()), length: None })).collect();
        let mounts = mount::list(root).unwrap_or_default();
        let maps_folios = hardware::kernel_version(root).is_some_and(|version| version >= MAPS_FOLIOS);
        Names { root: root.clone(), page: process::page_size(), mounts, open: HashMap::new(), known, maps_folios }
    }

    /// The path of a file, or its numbers; and its length.
    pub fn path_and_length(&self, file: FileId) -> (PathBuf, Option<u64>) {
        let known = self.known.get(&file).cloned().unwrap_or_default();
        let (major, minor) = file.numbers();
        let numbers = || format!("{major}:{minor} inode {}", file.inode).into();
        let device = || {
            // The pages of a block device belong to an inode that is numbered like the device.
            let numbers = u32::try_from(file.inode).ok().map(|device| (device >> 20, device & 0xf_ffff))?;
            let name = naming::block_device(&self.root, numbers).filter(|_| major == 0)?;
            Some(format!("block device {name} (also what its file system keeps of directories and inodes)").into())
        };
        (known.path.or_else(device).unwrap_or_else(numbers), known.length)
    }

    fn look(&mut self, file: FileId, task: u32) -> Option<naming::FoundFile> {
        let given = self.known.get(&file).and_then(|known| known.path.as_deref());
        if let Some(found) = given.and_then(|path| by_name(path, file.inode)) {
            return Some(found);
        }
        let (root, mounts) = (&self.root, &self.mounts);
        let open = self.open.entry(file.device).or_insert_with(|| directory(root, mounts, file));
        let by_inode = open.as_ref().and_then(|dir| naming::by_inode(dir, file.inode));
        match by_inode {
            Some(found) if found.path.is_some() => Some(found),
            other => naming::from_task(root, task, file.numbers(), file.inode).or(other),
        }
    }
}

fn by_name(path: &Path, inode: u64) -> Option<naming::FoundFile> {
    let meta = fs::metadata(path).ok().filter(|meta| meta.ino() == inode)?;
    Some(naming::FoundFile { path: Some(path.to_owned()), length: meta.len() })
}

/// The name the kernel's records have for a file of which stat(2) gives these numbers.
pub fn id(device: u64, inode: u64) -> FileId {
    FileId { device: device_number(rustix::fs::major(device), rustix::fs::minor(device)), inode }
}

/// A directory on the file system of the file, where files can be opened by their inodes.
fn directory(root: &Root, mounts: &[Mount], file: FileId) -> Option<File> {
    let (major, minor) = file.numbers();
    let device = format!("{major}:{minor}");
    let on = mounts.iter().filter(|mounted| mounted.dev == device && mounted.fs.starts_with("ext"));
    // What is mounted as a whole gives whole paths.
    let (whole, parts): (Vec<_>, Vec<_>) = on.partition(|mounted| mounted.root == "/");
    whole.into_iter().chain(parts).find_map(|mounted| {
        let open = File::open(root.path(&mounted.at)).ok()?;
        // Another one may be mounted above it.
        let meta = open.metadata().ok()?;
        (meta.is_dir() && id(meta.dev(), 0).device == file.device).then_some(open)
    })
}

/// The name `cache evict` gives itself.
pub const EVICTS: &str = "ramline evict";

impl World for Names {
    fn length(&mut self, file: FileId, task: u32) -> Option<u64> {
        let found = self.look(file, task);
        let known = self.known.entry(file).or_default();
        if let Some(found) = found {
            known.length = Some(found.length);
            known.path = known.path.take().or(found.path);
        }
        known.length.map(|length| length.div_ceil(self.page))
    }

    fn process(&mut self, task: u32) -> Process {
        match naming::task(&self.root, task) {
            Some(found) => {
                let role = match found.name.as_str() {
                    name if found.kernel && name.starts_with("kswapd") => Role::MakesRoom,
                    name if found.kernel && name.starts_with("kdamond") => Role::ByAge,
                    _ => Role::Program,
                };
                Process { pid: found.pid, name: self.renamed(found.pid, found.name), role }
            }
            None => Process { pid: task, name: "(gone)".to_owned(), role: Role::Program },
        }
    }

    fn renamed(&mut self, task: u32, name: String) -> String {
        // One that has ended has no command line any more, and `cache evict` is quick: it says in its name what it is.
        match name.as_str() {
            "ramline" => naming::ramline(&self.root, task).unwrap_or(name),
            EVICTS => "ramline cache evict".to_owned(),
            _ => name,
        }
    }

    fn maps_folios(&self) -> bool {
        self.maps_folios
    }
}

/// A filter in the kernel names at most so many inodes; of more files all records are taken, and passed over here.
const FILTERED: usize = 32;

/// The files in question; none means any.
#[derive(Debug, Default)]
pub struct Files {
    /// By what the kernel calls them.
    pub names: GivenNames,
    /// For the kernel; empty when it does not pay.
    pub filter: String,
    any: bool,
}

impl Files {
    /// Whether an event is about them, or about no file at all.
    pub fn wants(&self, event: &Event) -> bool {
        let file = match event.what {
            EventKind::Get { file, .. }
            | EventKind::Map { file, .. }
            | EventKind::Fault { file, .. }
            | EventKind::Add { file, .. }
            | EventKind::Delete { file, .. }
            | EventKind::ReadAhead { file } => file,
            EventKind::Reclaim { .. } | EventKind::New { .. } | EventKind::Rename { .. } => return true,
        };
        self.any || self.names.contains_key(&file)
    }
}

#[derive(Default)]
struct FoundNames {
    files: GivenNames,
    in_memory: Option<PathBuf>,
}

/// Finds all files below the names.
///
/// # Errors
/// None of what was named is a file the kernel tells of.
pub fn from_paths(context: Context<'_>, paths: &[PathBuf], walking: &WalkOptions) -> Result<Files> {
    if paths.is_empty() {
        return Ok(Files { any: true, ..Files::default() });
    }
    let (walked, seen) = walk::walk(context, paths, walking, &Ids { context });
    let in_memory = seen.iter().find_map(|seen| seen.in_memory.clone());
    let names: GivenNames = seen.into_iter().flat_map(|seen| seen.files).collect();
    if names.is_empty() {
        let passed = walked.skipped.first().map(|remark| remark.text.as_str());
        let (what, rule) = match in_memory {
            Some(path) => (path, "it is in memory (tmpfs): the kernel records nothing of such files"),
            None => (paths[0].clone(), passed.unwrap_or("there is no file")),
        };
        return Err(KernelError::refused("record", what, rule, "").into());
    }
    let mut inodes: Vec<u64> = names.keys().map(|file| file.inode).collect();
    inodes.sort_unstable();
    inodes.dedup();
    let filter = match inodes.len() {
        1..=FILTERED => inodes.iter().map(|inode| format!("i_ino == {inode}")).collect::<Vec<_>>().join(" || "),
        _ => String::new(),
    };
    Ok(Files { names, filter, any: false })
}

struct Ids<'a> {
    context: Context<'a>,
}

impl Visit for Ids<'_> {
    type Worker = FoundNames;

    fn file(&self, seen: &mut FoundNames, found: &FoundFile<'_>) {
        let path = found.path();
        if residency::lives_in_memory(&found.file).unwrap_or(false) {
            seen.in_memory = Some(path);
            return;
        }
        let plain = id(found.stat.st_dev, found.stat.st_ino);
        let real = layer(self.context, &path).unwrap_or(plain);
        seen.files.insert(real, path);
    }
}

/// On an overlay the kernel tells of the file in the layer it comes from.
fn layer(context: Context<'_>, path: &Path) -> Option<FileId> {
    let full = path.canonicalize().ok()?;
    let mounted = mount::containing(context.root, &full).filter(|mounted| mounted.fs == "overlay")?;
    let below = full.strip_prefix(&mounted.at).ok()?;
    let (upper, lower) = (mounted.option("upperdir"), mounted.option("lowerdir").unwrap_or_default());
    let meta = upper.into_iter().chain(lower.split(':')).find_map(|dir| Path::new(dir).join(below).metadata().ok())?;
    Some(id(meta.dev(), meta.ino()))
}
