//! Version 2: memory.max, memory.swap.max, and the rule that a group with processes cannot give controllers to children.

use std::path::{Path, PathBuf};

use ramline_units::Limit;

use super::hierarchy::ancestors;
use crate::error::{KernelError, Result};
use crate::sys::read_text;
use crate::write::{Change, write_knob};

const SUBTREE: &str = "cgroup.subtree_control";

/// The nearest ancestor of our group that gives the memory controller to its children, or may be made to; never above one
/// that has a limit, so that the limit on us holds for our sandbox too.
pub fn parent(mount: &Path, own: &Path) -> Result<PathBuf> {
    let mut limited = None;
    for dir in ancestors(mount, own) {
        if gives_memory(dir) || can_give_memory(mount, dir) {
            return Ok(dir.to_owned());
        }
        if has_limit(dir) {
            limited = Some(dir);
            break;
        }
    }
    let feature = match limited {
        Some(dir) => {
            format!("{} has a limit and processes of its own, so it cannot hold a limited child", dir.display())
        }
        None => "no ancestor group gives the memory controller to its children".to_owned(),
    };
    Err(KernelError::unsupported("make a memory cgroup below", own, feature)
        .hint("sudo systemd-run --scope -p Delegate=yes ramline lab run code-plus-data"))
}

fn lists_memory(path: &Path) -> bool {
    read_text(path).is_ok_and(|text| text.split_whitespace().any(|name| name == "memory"))
}

fn gives_memory(dir: &Path) -> bool {
    lists_memory(&dir.join(SUBTREE))
}

/// The top may always; any other group only without processes of its own ("no internal processes").
fn can_give_memory(mount: &Path, dir: &Path) -> bool {
    let empty = || read_text(&dir.join("cgroup.procs")).is_ok_and(|text| text.trim().is_empty());
    lists_memory(&dir.join("cgroup.controllers")) && (dir == mount || empty())
}

fn has_limit(dir: &Path) -> bool {
    let limit = |file: &str| read_text(&dir.join(file)).is_ok_and(|text| text.trim() != "max");
    limit("memory.max") || limit("memory.high") || limit("memory.swap.max")
}

/// Gives the memory controller to the children of `parent` if it does not yet. This outlives us: the controller of a
/// group that others use must not be taken away again, and it changes no limit.
pub fn enable_memory(parent: &Path) -> Result<()> {
    if gives_memory(parent) {
        return Ok(());
    }
    let path = parent.join(SUBTREE);
    write_knob(&path, "+memory")?;
    if gives_memory(parent) || !crate::place::describe(parent).is_ok_and(|place| place.fs_type == "cgroup2") {
        return Ok(());
    }
    Err(KernelError::unsupported("give the memory controller to children at", &path, "the kernel did not take +memory"))
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

    #[test]
    fn from_a_login_session_the_group_goes_beside_the_session() {
        let top = tempfile::tempdir().unwrap();
        let slice = top.path().join("user.slice");
        let session = slice.join("session-1.scope");
        group(top.path(), "cpu memory\n", "cpu memory\n", "1\n", None);
        group(&slice, "cpu memory\n", "memory\n", "", Some("max\n"));
        group(&session, "memory\n", "\n", "42\n", Some("max\n"));
        assert_eq!(parent(top.path(), &session).unwrap(), slice);
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
    fn the_controller_is_enabled_only_where_it_is_not() {
        let top = tempfile::tempdir().unwrap();
        group(top.path(), "memory\n", "cpu\n", "1\n", None);
        enable_memory(top.path()).unwrap();
        assert_eq!(std::fs::read_to_string(top.path().join(SUBTREE)).unwrap().trim(), "+memory");
        group(top.path(), "memory\n", "cpu memory\n", "1\n", None);
        enable_memory(top.path()).unwrap();
        assert_eq!(std::fs::read_to_string(top.path().join(SUBTREE)).unwrap(), "cpu memory\n");
    }
}
