//! Who maps a file, and who reads it past the page cache.
//!
//! Without root other users' processes are not seen. A file system whose mappings name another
//! device than stat(2) does (btrfs) is matched by inode and path.

use ramline_kernel::FileKey;
use rustix::fs::{OFlags, major};

use crate::mapping::Mapping;
use crate::prelude::*;

/// A process that maps a file, or has it open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapper {
    /// Process id.
    pub pid: u32,
    /// Its name.
    pub name: String,
    /// It locks pages of the file.
    pub locked: bool,
}

/// The processes that map each of these files, by device and inode; files no process maps are left out.
#[must_use]
pub fn for_files(root: &Root, files: &[(FileKey, &Path)]) -> HashMap<FileKey, Vec<Mapper>> {
    let mut found: HashMap<FileKey, Vec<Mapper>> = HashMap::new();
    let wanted = WantedFiles::new(files);
    for pid in pids(root) {
        let dir = root.path(format!("/proc/{pid}"));
        let Ok(text) = read_text(&dir.join("maps")) else { continue };
        let mut here: Vec<FileKey> = text.lines().filter_map(|line| wanted.file(line)).collect();
        here.sort_unstable();
        here.dedup();
        if here.is_empty() {
            continue;
        }
        let locks = if locks_any(&dir) { read_text(&dir.join("smaps")).unwrap_or_default() } else { String::new() };
        for key in here {
            let mapper = Mapper { pid, name: name_of(&dir), locked: wanted.is_locked(&locks, key) };
            found.entry(key).or_default().push(mapper);
        }
    }
    found
}

/// The processes that have one of these files open with O_DIRECT.
#[must_use]
pub fn direct(root: &Root, files: &[FileKey]) -> HashMap<FileKey, Vec<Mapper>> {
    let mut found: HashMap<FileKey, Vec<Mapper>> = HashMap::new();
    for pid in pids(root) {
        let dir = root.path(format!("/proc/{pid}"));
        let Ok(entries) = std::fs::read_dir(dir.join("fdinfo")) else { continue };
        for entry in entries.flatten() {
            // Only what is opened that way is looked at further: a stat may wait for a server.
            if !read_text(&entry.path()).is_ok_and(|text| is_direct(&text)) {
                continue;
            }
            let Ok(meta) = std::fs::metadata(dir.join("fd").join(entry.file_name())) else { continue };
            let key = FileKey::from(&meta);
            let known = found.get(&key).is_some_and(|list| list.iter().any(|mapper| mapper.pid == pid));
            if files.contains(&key) && !known {
                found.entry(key).or_default().push(Mapper { pid, name: name_of(&dir), locked: false });
            }
        }
    }
    found
}

/// The line `flags:` of fdinfo, in octal.
fn is_direct(fdinfo: &str) -> bool {
    let flags = fdinfo.lines().find_map(|line| u32::from_str_radix(line.strip_prefix("flags:")?.trim(), 8).ok());
    flags.is_some_and(|flags| OFlags::from_bits_retain(flags).contains(OFlags::DIRECT))
}

pub(crate) fn name_of(dir: &Path) -> String {
    read_text(&dir.join("comm")).map(|name| name.trim_end().to_owned()).unwrap_or_default()
}

fn locks_any(dir: &Path) -> bool {
    let status = read_text(&dir.join("status")).unwrap_or_default();
    let locked = status.lines().find_map(|line| line.strip_prefix("VmLck:")?.split_whitespace().next()?.parse().ok());
    locked.is_some_and(|kib: u64| kib > 0)
}

struct WantedFiles<'a> {
    by_inode: HashMap<u64, Vec<(FileKey, &'a str)>>,
}

impl<'a> WantedFiles<'a> {
    fn new(files: &[(FileKey, &'a Path)]) -> WantedFiles<'a> {
        let mut by_inode: HashMap<u64, Vec<(FileKey, &str)>> = HashMap::new();
        for (key, path) in files {
            by_inode.entry(key.inode).or_default().push((*key, path.to_str().unwrap_or_default()));
        }
        WantedFiles { by_inode }
    }

    /// `7f00-7f01 r-xp 00000000 fe:01 1234  /usr/lib/x`
    fn file(&self, line: &str) -> Option<FileKey> {
        let key = key_of(line)?;
        let same = self.by_inode.get(&key.inode)?;
        let exact = same.iter().find(|(wanted, _)| *wanted == key);
        // Several devices for one file system have no number of their own: then the path must agree.
        let like = || same.iter().find(|(_, path)| !path.is_empty() && line.ends_with(path) && major(key.device) == 0);
        exact.or_else(like).map(|(wanted, _)| *wanted)
    }

    /// Ranges of smaps begin with the line of maps and end in `VmFlags:`, where `lo` is locked.
    fn is_locked(&self, smaps: &str, key: FileKey) -> bool {
        let mut inside = false;
        smaps.lines().any(|line| {
            if let Some(flags) = line.strip_prefix("VmFlags:") {
                return inside && flags.split_whitespace().any(|flag| flag == "lo");
            }
            if key_of(line).is_some() || line.split(' ').next().is_some_and(|word| word.contains('-')) {
                inside = self.file(line) == Some(key);
            }
            false
        })
    }
}

fn key_of(line: &str) -> Option<FileKey> {
    Mapping::parse(line.as_bytes())?.key()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::makedev;
    use std::fs::File;

    #[test]
    fn a_line_of_maps_names_its_file_by_device_and_inode() {
        let line = "7f0a-7f0b r-xp 00001000 fe:10 1311 /usr/lib/a name";
        assert_eq!(key_of(line), Some(FileKey { device: makedev(0xfe, 0x10), inode: 1311 }));
        assert_eq!(key_of("7f0a-7f0b rw-p 00000000 00:00 0 [heap]"), None);
        assert_eq!(key_of("garbage"), None);
    }

    #[test]
    fn a_file_of_a_device_without_a_number_is_known_by_inode_and_path() {
        let key = FileKey { device: makedev(0, 55), inode: 7 };
        let wanted = [(key, Path::new("/a/b"))];
        let wanted = WantedFiles::new(&wanted);
        assert_eq!(wanted.file("7f0a-7f0b r-xp 00001000 00:31 7 /a/b"), Some(key));
        assert_eq!(wanted.file("7f0a-7f0b r-xp 00001000 00:31 7 /a/c"), None);
        assert_eq!(wanted.file("7f0a-7f0b r-xp 00001000 fe:31 7 /a/b"), None);
    }

    #[test]
    fn a_locked_range_is_told_from_its_flags() {
        let key = FileKey { device: makedev(0xfe, 1), inode: 7 };
        let files = [(key, Path::new("/a"))];
        let wanted = WantedFiles::new(&files);
        let smaps = "1-2 r--s 00 fe:01 8 /b\nLocked: 4 kB\nVmFlags: rd lo\n3-4 r--s 00 fe:01 7 /a\nVmFlags: rd FLAG\n";
        assert!(!wanted.is_locked(&smaps.replace("FLAG", "mr"), key));
        assert!(wanted.is_locked(&smaps.replace("FLAG", "mr lo"), key));
    }

    #[test]
    fn our_own_program_is_mapped_by_at_least_us() {
        let path = std::env::current_exe().unwrap();
        let key = FileKey::from_file(&File::open(&path).unwrap()).unwrap();
        let found = for_files(&Root::live(), &[(key, &path)]);
        assert!(found[&key].iter().any(|mapper| mapper.pid == std::process::id() && !mapper.locked), "{found:?}");
    }

    #[test]
    fn direct_io_is_a_flag_of_the_open_file() {
        assert!(is_direct(&format!("pos:\t0\nflags:\t0{:o}\n", OFlags::DIRECT.bits() | 1)));
        assert!(!is_direct("pos:\t0\nflags:\t0100002\n") && !is_direct("garbage"));
    }
}
