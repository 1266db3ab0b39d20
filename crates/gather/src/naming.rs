//! Names for what the kernel's records call by numbers: files by device and inode, tasks by their ids.
//!
//! A name is not always found. A file is looked up by its inode where its file system lets that be done without knowing more
//! (ext2, ext3, ext4), else among what a task has open or mapped at this moment. Needs root.
//!
//! ```
//! use ramline_gather::naming;
//! use ramline_kernel::Root;
//! let task = naming::task(&Root::live(), std::process::id()).expect("we exist");
//! assert_eq!((task.pid, task.kernel), (std::process::id(), false));
//! ```

use std::io::Read as _;
use std::os::fd::AsRawFd;

use ramline_kernel::{handle, mount};

use crate::prelude::*;

/// Who a task belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Task {
    /// Its process.
    pub pid: u32,
    /// Name of the task.
    pub name: String,
    /// A thread of the kernel.
    pub kernel: bool,
}

/// A task that is alive.
#[must_use]
pub fn task(root: &Root, id: u32) -> Option<Task> {
    let text = read_text(&root.path(format!("/proc/{id}/status"))).ok()?;
    let of = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(":\t"));
    Some(Task {
        pid: of("Tgid")?.trim().parse().ok()?,
        name: of("Name")?.to_owned(),
        // A thread of the kernel has no memory of its own; neither has a process that is just ending.
        kernel: of("VmSize").is_none() && of("State").is_none_or(|state| !state.starts_with(['Z', 'X'])),
    })
}

/// What a ramline is doing, as `ramline cache evict`: the first words of its command line that are no options.
#[must_use]
pub fn ramline(root: &Root, pid: u32) -> Option<String> {
    // Its arguments may be many.
    const MOST: u64 = 4096;
    let mut line = Vec::new();
    File::open(root.path(format!("/proc/{pid}/cmdline"))).ok()?.take(MOST).read_to_end(&mut line).ok()?;
    let is_verb = |word: &&[u8]| !word.is_empty() && word.iter().all(|byte| byte.is_ascii_lowercase() || *byte == b'-');
    let words = line.split(|byte| *byte == 0).skip(1).filter(|word| !word.starts_with(b"-"));
    let verbs: Vec<_> = words.take_while(is_verb).take(2).map(String::from_utf8_lossy).collect();
    (!verbs.is_empty()).then(|| format!("ramline {}", verbs.join(" ")))
}

/// The threads of a process.
#[must_use]
pub fn threads(root: &Root, pid: u32) -> Vec<u32> {
    let Ok(entries) = std::fs::read_dir(root.path(format!("/proc/{pid}/task"))) else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// A file that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundFile {
    /// Its path; `None` when it has none that is known.
    pub path: Option<PathBuf>,
    /// Its length.
    pub length: u64,
}

/// The file with this inode on the file system `mounted`, a directory of it; of ext2, ext3 or ext4.
#[must_use]
pub fn by_inode(mounted: &File, inode: u64) -> Option<FoundFile> {
    let file = handle::open_by_inode(mounted, inode)?;
    let meta = file.metadata().ok()?;
    let path = std::fs::read_link(format!("/proc/self/fd/{}", file.as_raw_fd())).ok();
    // A file that the kernel knows without a name is called "/".
    Some(FoundFile { path: path.filter(|path| path != Path::new("/") || meta.is_dir()), length: meta.len() })
}

/// The file with these numbers among what a task has open or mapped.
#[must_use]
pub fn from_task(root: &Root, task: u32, (major, minor): (u32, u32), inode: u64) -> Option<FoundFile> {
    let dir = root.path(format!("/proc/{task}"));
    let device = rustix::fs::makedev(major, minor);
    // A server that is gone never answers.
    let remote = mount::Remote::read(root);
    let open = std::fs::read_dir(dir.join("fd")).ok()?.flatten().find_map(|entry| {
        let path = std::fs::read_link(entry.path()).ok().filter(|path| path.is_absolute() && !remote.holds(path))?;
        let meta = std::fs::metadata(entry.path()).ok()?;
        (meta.ino() == inode && meta.dev() == device).then_some(FoundFile { path: Some(path), length: meta.len() })
    });
    open.or_else(|| {
        let text = read_text(&dir.join("maps")).ok()?;
        let numbers = format!("{major:02x}:{minor:02x} {inode} ");
        let path = text.lines().find_map(|line| Some(line.split_once(&numbers)?.1.trim_start()))?;
        if remote.holds(Path::new(path)) {
            return None;
        }
        let length = std::fs::metadata(path).ok().filter(|meta| meta.ino() == inode)?.len();
        Some(FoundFile { path: Some(PathBuf::from(path)), length })
    })
}

/// The name of a block device by its numbers, as `vda`.
#[must_use]
pub fn block_device(root: &Root, (major, minor): (u32, u32)) -> Option<String> {
    let link = std::fs::read_link(root.path(format!("/sys/dev/block/{major}:{minor}"))).ok()?;
    Some(link.file_name()?.to_string_lossy().into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_testkit::able::{CAP_DAC_READ_SEARCH, has_capability, skip_if};

    #[test]
    fn a_file_we_have_open_is_found_by_its_numbers() {
        let path = std::env::current_exe().unwrap();
        let file = File::open(&path).unwrap();
        let meta = file.metadata().unwrap();
        let numbers = (rustix::fs::major(meta.dev()), rustix::fs::minor(meta.dev()));
        let found = from_task(&Root::live(), std::process::id(), numbers, meta.ino()).unwrap();
        assert_eq!((found.path.as_deref(), found.length), (Some(path.as_path()), meta.len()));
        assert_eq!(from_task(&Root::live(), std::process::id(), numbers, u64::MAX), None);
    }

    #[test]
    fn a_file_is_found_by_its_inode() {
        let path = std::env::current_exe().unwrap();
        let (test, place) = ("a file by its inode", ramline_kernel::place::describe(&path).unwrap());
        let other = !["ext2", "ext3", "ext4"].contains(&place.fs_type.as_str());
        if skip_if(!has_capability(CAP_DAC_READ_SEARCH), test, "needs root (CAP_DAC_READ_SEARCH)")
            || skip_if(other, test, &format!("{} is {}, not ext4", path.display(), place.fs_type))
        {
            return;
        }
        let meta = std::fs::metadata(&path).unwrap();
        let by = by_inode(&File::open(path.parent().unwrap()).unwrap(), meta.ino()).unwrap();
        assert_eq!((by.path.as_deref(), by.length), (Some(path.as_path()), meta.len()));
    }

    #[test]
    fn a_thread_of_the_kernel_is_told_from_a_program() {
        let ours = std::process::id();
        assert!(threads(&Root::live(), ours).contains(&ours) && !task(&Root::live(), ours).unwrap().kernel);
        let second = std::fs::read_to_string("/proc/2/comm").unwrap_or_default();
        if skip_if(second.trim() != "kthreadd", "a thread of the kernel", "process 2 is not the kernel's") {
            return;
        }
        let kthreadd = task(&Root::live(), 2).unwrap();
        assert!(kthreadd.kernel && kthreadd.name == "kthreadd", "{kthreadd:?}");
    }
}
