//! Which cgroup hierarchy has the memory controller, where it is mounted, where we are in it, and where a new group goes.

use ramline_snapshot::mounts::Mount;

use super::path::{PREFIX, Version, groups_in, pids_in};
use super::{delegated, v1, v2};
use crate::Cause;
use crate::prelude::*;

/// The hierarchy that has the memory controller.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hierarchy {
    version: Version,
    /// Where it is mounted.
    pub mount: PathBuf,
    own: PathBuf,
}

impl Hierarchy {
    /// Finds it. With both versions mounted, a controller is in exactly one of them.
    ///
    /// # Errors
    /// `Unsupported` when no mounted hierarchy has the memory controller.
    pub fn detect(root: &Root) -> Result<Hierarchy> {
        let mounts = mount::list(root)?;
        let memberships = memberships(root, "/proc/self/cgroup")?;
        let of_kind = |kind| mounts.iter().filter(move |mounted: &&Mount| mounted.fs == kind);
        let v1 = of_kind("cgroup").find(|mounted| mounted.super_options.split(',').any(|option| option == "memory"));
        let has_memory = |at: &str| v2::lists_memory(&root.path(at).join("cgroup.controllers"));
        let found = match v1 {
            Some(mounted) => Some((Version::V1, mounted, "memory")),
            // In /proc/self/cgroup the line of version 2 names no controller.
            None => of_kind("cgroup2").find(|mounted| has_memory(&mounted.at)).map(|at| (Version::V2, at, "")),
        };
        let Some((version, mounted, controllers)) = found else {
            let feature = "no mounted cgroup hierarchy has the memory controller";
            return Err(KernelError::unsupported("find the memory controller in", "/sys/fs/cgroup", feature)
                .hint("cat /proc/cgroups"));
        };
        let mount = root.path(&mounted.at);
        let own = memberships.iter().find(|(names, _)| names.split(',').any(|name| name == controllers));
        let own = below(&mount, &mounted.root, own.map_or("/", |(_, path)| path));
        Ok(Hierarchy { version, mount, own })
    }

    /// Mounted there, with us at its top.
    #[cfg(test)]
    pub(super) fn at(version: Version, mount: &Path) -> Hierarchy {
        Hierarchy { version, mount: mount.to_owned(), own: mount.to_owned() }
    }

    /// Version 1 or 2.
    #[must_use]
    pub fn version(&self) -> Version {
        self.version
    }

    /// The group this process is in.
    #[must_use]
    pub fn own(&self) -> &Path {
        &self.own
    }

    /// The group of a process, as a path in this hierarchy (`/system.slice/x.service`).
    ///
    /// # Errors
    /// When it has ended.
    pub fn group_of(&self, root: &Root, pid: u32) -> Result<String> {
        let path = root.path(format!("/proc/{pid}/cgroup"));
        let text = read_text(&path)?;
        let found = ramline_snapshot::processes::cgroup_path(text.as_bytes());
        let group = found.ok_or_else(|| KernelError::malformed("read", &path, &text))?;
        Ok(String::from_utf8_lossy(group).into_owned())
    }

    /// The name of our n-th group.
    #[must_use]
    pub fn group_name(n: u32) -> String {
        format!("{}{}-{n}", PREFIX, std::process::id())
    }

    /// The directory [`super::Group::create`] would make, for a journal that must know before.
    ///
    /// # Errors
    /// As [`Hierarchy::parent`].
    pub fn planned(&self, name: &str) -> Result<PathBuf> {
        Ok(self.parent()?.join(name))
    }

    /// The group a new one goes below: one that does not take us out of a limit set on us. Version 1: the highest. Version
    /// 2: the nearest that gives the memory controller to its children, or, for root and when none does, the real top. Without
    /// root: the group that was given to us, as systemd does with `Delegate=yes`.
    ///
    /// # Errors
    /// Version 2: `Unsupported` when no ancestor gives the memory controller to its children and that cannot be changed, or no
    /// group with it was given to us; `Refused` when others are in that group beside us.
    pub fn parent(&self) -> Result<PathBuf> {
        self.find_parent().map(|parent| parent.dir)
    }

    fn find_parent(&self) -> Result<v2::Parent> {
        let (mount, own) = (&self.mount, &self.own);
        match (self.version, crate::process::uid()) {
            // Nothing need be enabled there.
            (Version::V1, _) => Ok(v2::Parent { dir: v1::parent(mount, own), gives_memory: true, must_leave: false }),
            (Version::V2, 0) => v2::parent(mount, own),
            (Version::V2, _) => delegated::parent(mount, own),
        }
    }

    /// The group to make and to go into ([`super::move_process`]) before the knob of [`Hierarchy::memory_to_enable`] is
    /// written to: version 2 gives no controller to the children of a group that has processes. `None` where we are not in
    /// the way.
    ///
    /// # Errors
    /// As [`Hierarchy::parent`].
    pub fn leaf_to_enter(&self) -> Result<Option<PathBuf>> {
        let leaf = |dir: &Path| dir.join(format!("{}{}-self", PREFIX, std::process::id()));
        self.find_parent().map(|parent| parent.must_leave.then(|| leaf(&parent.dir)))
    }

    /// The knob [`Hierarchy::enable_memory`] would write to before a group can be made, `None` when nothing need be enabled.
    ///
    /// # Errors
    /// As [`Hierarchy::parent`].
    pub fn memory_to_enable(&self) -> Result<Option<PathBuf>> {
        self.find_parent().map(|parent| (!parent.gives_memory).then(|| parent.dir.join(v2::SUBTREE)))
    }

    /// Gives the memory controller to the children of the top of the tree, or of the group that was given to us: a change to
    /// others' groups that must be journalled by `knob`, from [`Hierarchy::memory_to_enable`], and undone with [`Hierarchy::disable_memory`].
    ///
    /// # Errors
    /// `Denied` without the privilege, `Unsupported` when the kernel does not take it.
    pub fn enable_memory(knob: &Path) -> Result<Change> {
        v2::enable_memory(knob)
    }

    /// True while the knob gives the memory controller.
    #[must_use]
    pub fn is_memory_enabled(knob: &Path) -> bool {
        v2::lists_memory(knob)
    }

    /// Undoes [`Hierarchy::enable_memory`]. The reason when it is left as it is: others have come to use the controller.
    ///
    /// # Errors
    /// `Denied` without the privilege.
    pub fn disable_memory(knob: &Path) -> Result<Option<String>> {
        v2::disable_memory(knob)
    }
}

/// The path, in the hierarchy that has the memory controller, of the group that a process is in.
///
/// # Errors
/// `Absent` when there is no such process; `Unsupported` when no mounted hierarchy has the memory controller.
pub fn group_of(root: &Root, pid: u32) -> Result<String> {
    let wanted = if Hierarchy::detect(root)?.version == Version::V1 { "memory" } else { "" };
    let file = format!("/proc/{pid}/cgroup");
    let found = memberships(root, &file)?.into_iter().find(|(names, _)| names.split(',').any(|name| name == wanted));
    found.map(|(_, path)| path).ok_or_else(|| {
        KernelError::unsupported("find the control group of", file, "it is in none with the memory controller")
    })
}

/// The lines `id:controllers:path` of such a file as (controllers, path).
fn memberships(root: &Root, file: &str) -> Result<Vec<(String, String)>> {
    let text = match read_text(&root.path(file)) {
        Err(error) if error.is_absent() && !root.is_live() => String::new(),
        other => other?,
    };
    let pair = |line: &str| {
        let (controllers, path) = line.split_once(':')?.1.split_once(':')?;
        Some((controllers.to_owned(), path.to_owned()))
    };
    Ok(text.lines().filter_map(pair).collect())
}

/// Our group's directory: its path, less what the mount leaves out. Outside of what is mounted (a container without a
/// namespace of its own) it is the mount point itself.
fn below(at: &Path, subtree: &str, path: &str) -> PathBuf {
    let inside = Path::new(path).strip_prefix(subtree).unwrap_or(Path::new(""));
    let dir = at.join(inside.strip_prefix("/").unwrap_or(inside));
    if dir.exists() { dir } else { at.to_owned() }
}

/// The processes of a group and of all below it; `path` is its directory, or its name in the hierarchy that has the memory controller.
///
/// # Errors
/// `Absent` when there is no such group.
pub fn processes_below(root: &Root, path: &Path) -> Result<Vec<u32>> {
    let named = || Some(Hierarchy::detect(root).ok()?.mount.join(path.strip_prefix("/").unwrap_or(path)));
    let is_group = |dir: &PathBuf| dir.join("cgroup.procs").exists();
    let dir = Some(path.to_owned()).filter(is_group).or_else(|| named().filter(is_group));
    let dir = dir.ok_or_else(|| KernelError::new("find the control group", path, Cause::Absent))?;
    let (mut left, mut pids) = (vec![dir], Vec::new());
    while let Some(dir) = left.pop() {
        // One that is removed meanwhile has no processes.
        pids.extend(pids_in(&dir).unwrap_or_default());
        left.extend(groups_in(&dir));
    }
    Ok(pids)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn with_both_versions_mounted_the_one_with_memory_is_found() {
        let tree = tempfile::tempdir().unwrap();
        let at = |path: &str| tree.path().join(path);
        for dir in ["proc/self", "sys/fs/cgroup/memory/user/x", "sys/fs/cgroup/unified"] {
            std::fs::create_dir_all(at(dir)).unwrap();
        }
        let mountinfo = "35 31 0:32 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n\
                         41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
        std::fs::write(at("proc/self/mountinfo"), mountinfo).unwrap();
        std::fs::write(at("proc/self/cgroup"), "4:memory:/user/x\n0::/\n").unwrap();
        std::fs::write(at("sys/fs/cgroup/unified/cgroup.controllers"), "hugetlb\n").unwrap();
        let root = Root::new(tree.path());
        let found = Hierarchy::detect(&root).unwrap();
        assert_eq!((found.version(), found.own()), (Version::V1, at("sys/fs/cgroup/memory/user/x").as_path()));

        std::fs::write(at("proc/self/mountinfo"), mountinfo.lines().nth(1).unwrap()).unwrap();
        assert!(Hierarchy::detect(&root).unwrap_err().is_unsupported());
        std::fs::write(at("sys/fs/cgroup/unified/cgroup.controllers"), "cpu memory\n").unwrap();
        assert_eq!(Hierarchy::detect(&root).unwrap().version(), Version::V2);
    }

    #[test]
    fn a_container_sees_its_own_subtree_as_the_mount() {
        let tree = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(tree.path().join("sub")).unwrap();
        assert_eq!(below(tree.path(), "/docker/x", "/docker/x"), tree.path());
        assert_eq!(below(tree.path(), "/docker/x", "/docker/x/sub"), tree.path().join("sub"));
        assert_eq!(below(tree.path(), "/docker/x", "/elsewhere"), tree.path());
    }

    #[test]
    fn the_processes_of_a_group_are_those_of_its_children_too() {
        let dir = tempfile::tempdir().unwrap();
        let child = dir.path().join("a/b");
        std::fs::create_dir_all(&child).unwrap();
        std::fs::write(dir.path().join("a/cgroup.procs"), "7\n").unwrap();
        std::fs::write(child.join("cgroup.procs"), "8\n9\n").unwrap();
        let root = Root::live();
        assert_eq!(processes_below(&root, &dir.path().join("a")).unwrap(), [7, 8, 9]);
        assert!(processes_below(&root, &dir.path().join("no-such-group")).unwrap_err().is_absent());
    }
}
