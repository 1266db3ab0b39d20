//! Version 2 without root: the group that was given to us, with all that is below it (`Delegate=yes` of systemd, a container).
//!
//! That we may write a group's files is not enough. systemd's groups in a user's own tree belong to the user too, but systemd
//! changes them as it likes, also their controllers, and with those the limits of what is below. The system's systemd marks the
//! groups it gives away with the attribute `user.delegate`; a user's does not (cgroup_xattr_apply, src/core/cgroup.c), so it is asked.
//!
//! A group with processes gives no controller to its children, so whoever is in it goes into a leaf first. That is done for
//! ourselves only: where others are beside us, nothing is moved.

use std::process::Stdio;

use super::path::{ancestors, pids_in};
use super::v2::{Parent, SUBTREE, gives_memory, lists_memory};
use crate::prelude::*;
use crate::sys::{attribute, is_writable};

const TRIED: &str = "make a memory cgroup below";
/// Gives ramline a group of its own, and nothing else is in it.
const SCOPE: &str = "systemd-run --user --scope -p Delegate=yes ramline lab run code-plus-data";
/// What systemd's groups end in.
const UNITS: [&str; 3] = [".scope", ".service", ".slice"];

/// Where a group of ours goes: below the nearest group, from our own up to the one that was given to us, that gives the memory
/// controller to its children; else below the latter, which then has to be made to.
pub fn parent(mount: &Path, own: &Path) -> Result<Parent> {
    let top = given(mount, own, says_systemd)?;
    let mut inside = ancestors(mount, own).take_while(|dir| dir.starts_with(top));
    if let Some(dir) = inside.find(|dir| gives_memory(dir) && is_ours(dir)) {
        return Ok(Parent { dir: dir.to_owned(), gives_memory: true, must_leave: false });
    }
    if !lists_memory(&top.join("cgroup.controllers")) {
        let controllers = read_text(&top.join("cgroup.controllers")).unwrap_or_default();
        let listed = if controllers.trim().is_empty() { "none" } else { controllers.trim() };
        let feature = format!("the memory controller was not delegated to it; its controllers: {listed}");
        // The drop-in then holds [Service] and Delegate=memory pids.
        return Err(KernelError::unsupported(TRIED, top, feature).hint("sudo systemctl edit user@.service"));
    }
    let (we, others) = members(top)?;
    if let Some(first) = others.first() {
        let rule = "a group gives no controller to its children while it has processes, and we are not alone in it";
        return Err(KernelError::refused(TRIED, top, rule, named(*first, others.len())).hint(SCOPE));
    }
    Ok(Parent { dir: top.to_owned(), gives_memory: false, must_leave: we })
}

/// Moves a process to a group. What it has touched before stays charged where it was.
///
/// # Errors
/// `Denied` where the group, or what both groups lie below, is not ours; EBUSY when the group gives controllers to children.
pub fn move_process(pid: u32, group: &Path) -> Result<()> {
    write_knob(&group.join("cgroup.procs"), &pid.to_string()).map(drop)
}

/// The group that was given to us: the systemd unit we are in, if systemd says so, or, without systemd, all we see.
fn given<'a>(mount: &'a Path, own: &'a Path, says: fn(&str) -> bool) -> Result<&'a Path> {
    let unit = ancestors(mount, own).find(|dir| UNITS.iter().any(|end| name(dir).ends_with(end)));
    let dir = unit.unwrap_or(mount);
    // user@UID.service was given to the user's systemd, which does not share it. That a unit of another kind than a slice gives
    // memory to its children is our own doing, and needs no second question.
    let delegated = |dir: &Path| {
        let marked = attribute(dir, c"user.delegate").as_deref() == Some("1");
        let organised = gives_memory(dir) && !name(dir).ends_with(".slice");
        !name(dir).starts_with("user@") && (marked || organised || says(name(dir)))
    };
    if is_ours(dir) && unit.is_none_or(delegated) {
        return Ok(dir);
    }
    let feature = "it was not delegated to us: without root a memory cgroup needs a group of one's own, in version 2";
    Err(KernelError::unsupported(TRIED, dir, feature).hint(SCOPE))
}

/// Asks the user's systemd whether it has given a unit away.
fn says_systemd(unit: &str) -> bool {
    let Ok(mut command) = crate::program::command("systemctl") else { return false };
    command.args(["--user", "show", "--property=Delegate", "--value", "--", unit]).stdin(Stdio::null());
    command.output().is_ok_and(|said| said.stdout.trim_ascii() == b"yes")
}

fn name(dir: &Path) -> &str {
    dir.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// Ours, with the two files a delegation consists of.
fn is_ours(dir: &Path) -> bool {
    let own = std::fs::metadata(dir).is_ok_and(|meta| meta.uid() == crate::process::uid());
    own && ["cgroup.procs", SUBTREE].iter().all(|file| is_writable(&dir.join(file)))
}

/// Whether we are directly in a group, and who else is.
fn members(dir: &Path) -> Result<(bool, Vec<u32>)> {
    let all = pids_in(dir)?;
    let others = all.iter().copied().filter(|pid| *pid != std::process::id()).collect();
    Ok((all.contains(&std::process::id()), others))
}

fn named(pid: u32, count: usize) -> String {
    let command = read_text(&Root::live().path(format!("/proc/{pid}/comm"))).unwrap_or_default();
    let more = if count > 1 { format!(" and {} more", count - 1) } else { String::new() };
    format!("process {pid} {}{more}", command.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::PathBuf;

    fn group(dir: &Path, controllers: &str, subtree: &str, procs: &str) -> PathBuf {
        std::fs::create_dir_all(dir).unwrap();
        for (file, text) in [("cgroup.controllers", controllers), (SUBTREE, subtree), ("cgroup.procs", procs)] {
            std::fs::write(dir.join(file), text).unwrap();
        }
        dir.to_owned()
    }

    fn me() -> String {
        format!("{}\n", std::process::id())
    }

    #[test]
    fn alone_in_a_group_of_ours_we_leave_it_before_it_gives_memory_and_then_it_does() {
        let tree = tempfile::tempdir().unwrap();
        let own = group(&tree.path().join("box"), "cpu memory\n", "\n", &me());
        let before = Parent { dir: own.clone(), gives_memory: false, must_leave: true };
        assert_eq!(parent(&own, &own).unwrap(), before);
        std::fs::write(own.join("cgroup.procs"), "").unwrap();
        assert_eq!(parent(&own, &own).unwrap(), Parent { must_leave: false, ..before.clone() });
        std::fs::write(own.join(SUBTREE), "memory\n").unwrap();
        let giving = Parent { gives_memory: true, must_leave: false, ..before };
        assert_eq!(parent(&own, &own).unwrap(), giving);
        let leaf = group(&own.join("ramline-1-self"), "memory\n", "\n", &me());
        assert_eq!(parent(&own, &leaf).unwrap(), giving, "seen from the leaf");
    }

    #[test]
    fn nobody_else_is_moved_but_named() {
        let tree = tempfile::tempdir().unwrap();
        let own = group(&tree.path().join("box"), "memory\n", "\n", &format!("{}1\n", me()));
        let error = parent(&own, &own).unwrap_err();
        assert!(error.is_refused() && error.to_string().contains("process 1 "), "{error}");
        assert!(error.to_string().contains("systemd-run --user --scope -p Delegate=yes"), "{error}");
    }

    #[test]
    fn a_group_without_the_memory_controller_says_which_it_has() {
        let tree = tempfile::tempdir().unwrap();
        let own = group(&tree.path().join("box"), "cpu pids\n", "\n", &me());
        let error = parent(&own, &own).unwrap_err();
        assert!(error.is_unsupported() && error.to_string().contains("its controllers: cpu pids"), "{error}");
        assert!(error.to_string().contains("systemctl edit user@.service"), "{error}");
    }

    #[test]
    fn a_group_of_systemd_is_ours_only_where_systemd_says_so() {
        let tree = tempfile::tempdir().unwrap();
        let slice = group(&tree.path().join("app.slice"), "memory\n", "memory\n", "");
        let own = group(&slice.join("run-1.scope"), "memory\n", "\n", &me());
        let error = given(tree.path(), &own, |_| false).unwrap_err().to_string();
        assert!(error.contains("was not delegated to us") && error.contains("run-1.scope"), "{error}");
        assert_eq!(given(tree.path(), &own, |unit| unit == "run-1.scope").unwrap(), own);
        std::fs::write(own.join(SUBTREE), "memory\n").unwrap();
        assert_eq!(given(tree.path(), &own, |_| panic!("asked twice")).unwrap(), own);
        let manager = group(&tree.path().join("user@1000.service"), "memory\n", "memory\n", &me());
        assert!(given(tree.path(), &manager, |_| true).unwrap_err().is_unsupported(), "it is systemd's own");
    }
}
