//! Mount name spaces: which file systems are in RAM, and over which path each can be entered without a risk to hang.

use std::os::unix::ffi::OsStrExt;

use super::super::mounts::{Line, Table, is_local};
use crate::prelude::*;

/// One way to a file system in RAM.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Way {
    pub fs: String,
    /// A process of the name space; `None` for ours.
    pub via: Option<u32>,
    pub at: PathBuf,
    /// The whole file system is mounted there, and not a part.
    pub whole: bool,
    /// No limit on its size, so that it does not count.
    pub options: String,
    /// Mount points inside, relative to it: what is there belongs to other file systems.
    pub covered: HashSet<PathBuf>,
}

/// What is mounted in one name space.
#[derive(Debug, Default)]
pub struct Space {
    /// By mount id: device, when it is in RAM.
    pub ids: HashMap<u64, Option<u64>>,
    /// By mount point, the topmost: in RAM.
    pub points: HashMap<Vec<u8>, bool>,
}

impl Space {
    /// Whether the file of this name is in RAM, by the longest mount point that leads to it.
    pub fn in_ram(&self, path: &[u8]) -> bool {
        let mut end = path.len();
        while let Some(slash) = path[..end].iter().rposition(|b| *b == b'/') {
            if let Some(found) = self.points.get(&path[..end]) {
                return *found;
            }
            end = slash;
        }
        self.points.get(b"/".as_slice()).copied().unwrap_or(false)
    }
}

#[derive(Debug, Default)]
pub struct Spaces {
    spaces: HashMap<u64, Space>,
    /// Name space of each process that let us see it.
    of_process: HashMap<u32, u64>,
    /// The best way to each device in RAM.
    pub ways: BTreeMap<u64, Way>,
    /// Devices in RAM without one.
    pub unreached: HashSet<u64>,
    /// Parts of file systems that are mounted by themselves, and so in use: device and path inside.
    pub parts: HashMap<u64, HashSet<PathBuf>>,
}

impl Spaces {
    pub fn look(root: &Root, end: Instant) -> Spaces {
        let (mut out, proc) = (Spaces::default(), root.path("/proc"));
        let own = space_of(&proc.join("self"));
        if let Ok(text) = fs::read(proc.join("self/mountinfo")) {
            let space = out.add(&String::from_utf8_lossy(&text), None);
            out.spaces.insert(own.unwrap_or(0), space);
        }
        for pid in pids(root) {
            if Instant::now() > end {
                break;
            }
            let dir = proc.join(pid.to_string());
            let Some(id) = space_of(&dir) else { continue };
            if !out.spaces.contains_key(&id) {
                let Ok(text) = fs::read(dir.join("mountinfo")) else { continue };
                let space = out.add(&String::from_utf8_lossy(&text), Some(pid));
                out.spaces.insert(id, space);
            }
            out.of_process.insert(pid, id);
        }
        let reached: HashSet<u64> = out.ways.keys().copied().collect();
        out.unreached.retain(|dev| !reached.contains(dev));
        out
    }

    pub fn count(&self) -> u64 {
        u64::try_from(self.spaces.len()).unwrap_or(u64::MAX)
    }

    pub fn for_process(&self, pid: u32) -> Option<&Space> {
        self.spaces.get(self.of_process.get(&pid)?)
    }

    /// True for a device of a file system in RAM.
    pub fn is_in_ram(&self, dev: u64) -> bool {
        self.ways.contains_key(&dev) || self.unreached.contains(&dev)
    }

    /// Adds the mounts of one name space.
    fn add(&mut self, text: &str, via: Option<u32>) -> Space {
        let table = Table::parse(text);
        let mut space = Space::default();
        let mut inside = inside(&table);
        for (line, reachable) in table.lines.iter().zip(reachable(&table)) {
            let ram = in_ram(line.fs);
            space.ids.insert(line.id, ram.then_some(line.dev));
            space.points.insert(line.at.as_os_str().as_bytes().to_vec(), ram);
            if !ram {
                continue;
            }
            let whole = line.is_whole();
            if !whole {
                let part = line.root.strip_prefix("/").unwrap_or(&line.root);
                self.parts.entry(line.dev).or_default().insert(part.to_owned());
            }
            if self.ways.get(&line.dev).is_some_and(|known| known.whole || !whole) {
                continue;
            }
            if !reachable {
                self.unreached.insert(line.dev);
                continue;
            }
            let covered = inside.remove(line.at.as_path()).unwrap_or_default();
            let (fs, options) = (line.fs.to_owned(), line.options.to_owned());
            self.ways.insert(line.dev, Way { fs, via, at: line.at.clone(), whole, options, covered });
        }
        space
    }
}

/// As `ramline_model::tmpfs::in_ram`; `gather` does not depend on the model.
fn in_ram(fs: &str) -> bool {
    matches!(fs, "tmpfs" | "devtmpfs" | "ramfs" | "rootfs")
}

/// File systems that the kernel answers from its own tables: a tmpfs is often mounted below one (/sys/fs/cgroup).
const OF_THE_KERNEL: &[&str] =
    &["rootfs", "sysfs", "proc", "cgroup", "cgroup2", "devpts", "mqueue", "hugetlbfs", "securityfs"];

/// For each line: the path to it crosses only mounts that cannot hang, and ends at it. The root of the name space has answered already.
fn reachable(table: &Table<'_>) -> Vec<bool> {
    let may_hang =
        |mount: &Line<'_>| mount.at != Path::new("/") && !is_local(mount.fs) && !OF_THE_KERNEL.contains(&mount.fs);
    table.any_up(may_hang).into_iter().zip(table.covered()).map(|(hangs, covered)| !hangs && !covered).collect()
}

/// By mount point of a file system in RAM, the mount points below it, relative to it.
fn inside<'t>(table: &'t Table<'_>) -> HashMap<&'t Path, HashSet<PathBuf>> {
    let in_ram = table.lines.iter().filter(|line| in_ram(line.fs));
    let mut inside: HashMap<&Path, HashSet<PathBuf>> = in_ram.map(|line| (line.at.as_path(), HashSet::new())).collect();
    for line in &table.lines {
        for above in line.at.ancestors().skip(1) {
            if let (Some(inside), Ok(below)) = (inside.get_mut(above), line.at.strip_prefix(above)) {
                inside.insert(below.to_owned());
            }
        }
    }
    inside
}

/// The number of a process's mount name space.
fn space_of(dir: &Path) -> Option<u64> {
    number_in_link(&fs::read_link(dir.join("ns/mnt")).ok()?)
}

/// `mnt:[4026531832]`
pub fn number_in_link(link: &Path) -> Option<u64> {
    link.to_str()?.split_once('[')?.1.trim_end_matches(']').parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n\
        2 1 0:6 / /dev rw - devtmpfs d rw\n\
        3 2 0:23 / /dev/shm rw - tmpfs t rw\n\
        4 3 0:27 / /dev/shm rw - tmpfs t rw,size=1k\n\
        5 1 0:50 / /net rw - nfs4 host:/x rw\n\
        6 5 0:51 / /net/ram rw - tmpfs t rw\n\
        7 1 0:52 /part /bind rw - tmpfs t rw\n\
        8 1 0:52 / /a\\040b rw - tmpfs t rw\n\
        9 8 8:2 / /a\\040b/disk rw - ext4 /dev/sdb rw\n\
        10 1 0:22 / /sys rw - sysfs sysfs rw\n\
        11 10 0:53 / /sys/fs/cgroup rw - tmpfs t rw\n";

    #[test]
    fn a_file_system_in_ram_is_entered_only_over_mounts_that_cannot_hang() {
        let mut spaces = Spaces::default();
        let space = spaces.add(TEXT, None);
        let dev = |minor| rustix::fs::makedev(0, minor);
        assert_eq!(spaces.ways.keys().copied().collect::<Vec<_>>(), [dev(6), dev(27), dev(52), dev(53)]);
        assert!(spaces.unreached.contains(&dev(23)), "covered by another tmpfs");
        assert!(spaces.unreached.contains(&dev(51)), "behind a network file system");
        let way = &spaces.ways[&dev(52)];
        assert_eq!((way.at.as_path(), way.whole), (Path::new("/a b"), true), "the whole is better than a part");
        assert_eq!(way.covered, HashSet::from([PathBuf::from("disk")]));
        assert!(spaces.parts[&dev(52)].contains(Path::new("part")));
        assert_eq!(space.ids[&4], Some(dev(27)));
        assert_eq!(space.ids[&5], None);
    }

    #[test]
    fn a_name_belongs_to_the_longest_mount_point() {
        let space = Spaces::default().add(TEXT, None);
        let in_ram = |path: &str| space.in_ram(path.as_bytes());
        assert!(in_ram("/dev/shm/x") && in_ram("/dev/null") && in_ram("/a b/c"));
        assert!(!in_ram("/a b/disk/x") && !in_ram("/devel") && !in_ram("/") && !in_ram("memfd") && !in_ram(""));
    }

    #[test]
    fn hostile_lines_are_passed_over() {
        let text = "x\n1 0 0 / / rw - tmpfs t rw\n1 1 99999999999:0 / / rw - tmpfs t rw\n - \n7 7 0:9 / /loop rw - tmpfs t rw\n";
        let mut spaces = Spaces::default();
        spaces.add(text, Some(3));
        assert_eq!(spaces.ways.len(), 1, "a mount that is its own parent ends the chain");
        assert_eq!(number_in_link(Path::new("mnt:[12]")), Some(12));
        assert_eq!(number_in_link(Path::new("mnt")), None);
    }
}
