//! Version 2: memory.max, memory.swap.max, and the rule that a group with processes cannot give controllers to children.

use super::path::ancestors;
use crate::prelude::*;

pub const SUBTREE: &str = "cgroup.subtree_control";

/// Where a new group goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parent {
    pub dir: PathBuf,
    /// False when the memory controller must be given to its children first, with [`enable_memory`].
    pub gives_memory: bool,
    /// We are in it, and must leave it for a leaf before that: a group with processes gives no controller to children.
    pub must_leave: bool,
}

/// For root: the nearest ancestor of our group that gives the memory controller to its children; never above one that has a
/// limit, so that the limit on us holds for our sandbox too. Where none gives it, that is changed, but only at the
/// real top: the groups between belong to whoever made them (systemd), and one with processes cannot be changed at all.
pub fn parent(mount: &Path, own: &Path) -> Result<Parent> {
    let found = |dir: &Path, gives_memory| Ok(Parent { dir: dir.to_owned(), gives_memory, must_leave: false });
    let feature = match ancestors(mount, own).find(|dir| gives_memory(dir) || has_limit(dir)) {
        Some(dir) if gives_memory(dir) => return found(dir, true),
        None if is_real_top(mount) => return found(mount, false),
        Some(dir) => {
            format!("{} has a limit and processes of its own, so it cannot hold a limited child", dir.display())
        }
        None => "no ancestor group gives the memory controller to its children".to_owned(),
    };
    Err(KernelError::unsupported("make a memory cgroup below", own, feature)
        .hint("sudo systemd-run --scope -p Delegate=yes ramline lab run code-plus-data"))
}

/// The top of the whole tree has no limits of its own and no type; the top a cgroup namespace shows is an ordinary group,
/// where enabling a controller fails with EBUSY as long as we are in it.
fn is_real_top(mount: &Path) -> bool {
    let absent = |file: &str| !mount.join(file).exists();
    lists_memory(&mount.join("cgroup.controllers")) && absent("memory.max") && absent("cgroup.type")
}

/// Whether a list of controllers has memory in it.
pub fn lists_memory(path: &Path) -> bool {
    read_text(path).is_ok_and(|text| text.split_whitespace().any(|name| name == "memory"))
}

pub fn gives_memory(dir: &Path) -> bool {
    lists_memory(&dir.join(SUBTREE))
}

fn has_limit(dir: &Path) -> bool {
    let limit = |file: &str| read_text(&dir.join(file)).is_ok_and(|text| text.trim() != "max");
    limit("memory.max") || limit("memory.high") || limit("memory.swap.max")
}

/// Gives the memory controller to the children of a group, by its `knob`.
pub fn enable_memory(knob: &Path) -> Result<Change> {
    let change = write_knob(knob, "+memory")?;
    let taken = change.after.as_deref().is_some_and(|after| after.split_whitespace().any(|name| name == "memory"));
    // A captured tree keeps what is written to it.
    if taken || change.after.as_deref() == Some("+memory") {
        return Ok(change);
    }
    Err(KernelError::unsupported("give the memory controller to children at", knob, "the kernel did not take +memory"))
}

/// Takes it from them again. `Some(reason)` when it was not taken away, because others have come to use it.
pub fn disable_memory(knob: &Path) -> Result<Option<String>> {
    let parent = knob.parent().unwrap_or(knob);
    for child in std::fs::read_dir(parent).into_iter().flatten().flatten().map(|entry| entry.path()) {
        if has_limit(&child) || has_protection(&child) {
            return Ok(Some(format!("{} has a memory limit now, which would be lost", child.display())));
        }
    }
    match write_knob(knob, "-memory") {
        Ok(_) => Ok(None),
        // A child gives it to its own children.
        Err(error) if error.is_busy() => Ok(Some("a group below gives the memory controller on".to_owned())),
        Err(error) if error.is_absent() => Ok(None),
        Err(error) => Err(error),
    }
}

fn has_protection(dir: &Path) -> bool {
    let set = |file: &str| read_text(&dir.join(file)).is_ok_and(|text| text.trim() != "0");
    set("memory.min") || set("memory.low")
}

/// Writes `max` or bytes.
pub fn write_limit(path: &Path, limit: Limit) -> Result<Change> {
    let text = limit.bytes().map_or_else(|| "max".to_owned(), |bytes| bytes.0.to_string());
    write_knob(path, &text)
}

/// memory.swap.max is missing on a kernel without swap.
pub fn set_swap_limit(dir: &Path, limit: Limit) -> Result<Change> {
    let path = dir.join("memory.swap.max");
    if !path.exists() {
        return Err(KernelError::unsupported("limit swap at", &path, "this kernel does not account swap"));
    }
    write_limit(&path, limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(dir: &Path, controllers: &str, subtree: &str, procs: &str, max: Option<&str>) {
        std::fs::create_dir_all(dir).unwrap();
        std::fs::write(dir.join("cgroup.controllers"), controllers).unwrap();
        std::fs::write(dir.join(SUBTREE), subtree).unwrap();
        std::fs::write(dir.join("cgroup.procs"), procs).unwrap();
        if let Some(max) = max {
            std::fs::write(dir.join("memory.max"), max).unwrap();
        }
    }

    fn giving(dir: PathBuf) -> Parent {
        Parent { dir, gives_memory: true, must_leave: false }
    }

    #[test]
    fn from_a_login_session_the_group_goes_beside_the_session() {
        let top = tempfile::tempdir().unwrap();
        let slice = top.path().join("user.slice");
        let session = slice.join("session-1.scope");
        group(top.path(), "cpu memory\n", "cpu memory\n", "1\n", None);
        group(&slice, "cpu memory\n", "memory\n", "", Some("max\n"));
        group(&session, "memory\n", "\n", "42\n", Some("max\n"));
        assert_eq!(parent(top.path(), &session).unwrap(), giving(slice));
    }

    #[test]
    fn a_limit_on_our_group_is_not_escaped_but_explained() {
        let top = tempfile::tempdir().unwrap();
        let own = top.path().join("box");
        group(top.path(), "memory\n", "memory\n", "1\n", None);
        group(&own, "memory\n", "\n", "42\n", Some("1073741824\n"));
        let error = parent(top.path(), &own).unwrap_err();
        assert!(error.is_unsupported() && error.to_string().contains("has a limit"), "{error}");
    }

    #[test]
    fn an_ancestor_that_gives_memory_wins_over_a_nearer_one_that_could_be_made_to() {
        let top = tempfile::tempdir().unwrap();
        let slice = top.path().join("user.slice");
        let delegated = slice.join("empty.slice");
        let own = delegated.join("own.scope");
        group(top.path(), "cpu memory\n", "cpu memory\n", "1\n", None);
        group(&slice, "cpu memory\n", "memory\n", "", Some("max\n"));
        group(&delegated, "memory\n", "\n", "", Some("max\n"));
        group(&own, "\n", "\n", "42\n", None);
        assert_eq!(parent(top.path(), &own).unwrap(), giving(slice));
    }

    #[test]
    fn where_nothing_gives_memory_root_has_it_given_but_only_at_the_real_top() {
        let top = tempfile::tempdir().unwrap();
        let own = top.path().join("a.slice/own");
        group(top.path(), "cpu memory\n", "cpu\n", "1\n", None);
        group(&top.path().join("a.slice"), "cpu\n", "cpu\n", "", None);
        group(&own, "cpu\n", "\n", "42\n", None);
        let at_top = Parent { gives_memory: false, ..giving(top.path().to_owned()) };
        assert_eq!(parent(top.path(), &own).unwrap(), at_top);
        // In a cgroup namespace the mount is an ordinary group: said before anything is made, not EBUSY after.
        std::fs::write(top.path().join("memory.max"), "max\n").unwrap();
        assert!(parent(top.path(), &own).unwrap_err().is_unsupported());
        assert_eq!(std::fs::read_to_string(top.path().join(SUBTREE)).unwrap(), "cpu\n", "nothing was written");
    }

    #[test]
    fn the_controller_is_not_taken_from_a_group_that_has_come_to_use_it() {
        let top = tempfile::tempdir().unwrap();
        let child = top.path().join("other.slice");
        group(top.path(), "memory\n", "cpu memory\n", "1\n", None);
        group(&child, "memory\n", "\n", "", Some("1048576\n"));
        let subtree = top.path().join(SUBTREE);
        assert!(disable_memory(&subtree).unwrap().unwrap().contains("other.slice"));
        assert_eq!(std::fs::read_to_string(&subtree).unwrap(), "cpu memory\n");
        group(&child, "memory\n", "\n", "", Some("max\n"));
        assert_eq!(disable_memory(&subtree).unwrap(), None);
        assert_eq!(std::fs::read_to_string(&subtree).unwrap(), "-memory");
    }

    #[test]
    fn enabling_says_what_was_there_before() {
        let top = tempfile::tempdir().unwrap();
        group(top.path(), "memory\n", "cpu\n", "1\n", None);
        let change = enable_memory(&top.path().join(SUBTREE)).unwrap();
        assert_eq!((change.before.as_deref(), change.after.as_deref()), (Some("cpu"), Some("+memory")));
    }
}
