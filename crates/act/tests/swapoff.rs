//! A swapoff against the kernel of this machine, as root: everything made here is removed again, also when an assertion fails.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::path::Path;
use std::process::Command;

use ramline_act::check_swapoff;
use ramline_kernel::cgroup::{Group, Hierarchy};
use ramline_kernel::{Root, place, process, swap};
use ramline_testkit::{not_root, skip_if};
use ramline_units::{Bytes, Limit};

fn root() -> Root {
    Root::live()
}

/// Runs a clean-up at the end of the test, whatever the end is.
struct Finally<F: FnMut()>(F);

impl<F: FnMut()> Drop for Finally<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// A directory on a disk; the build directory, because /tmp may be a tmpfs.
fn scratch() -> tempfile::TempDir {
    tempfile::Builder::new().prefix("ramline-test-").tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap()
}

fn no_disk(test: &str, dir: &Path) -> bool {
    let place = place::describe(dir).unwrap();
    skip_if(!place.is_disk(), test, &format!("{} is {}", dir.display(), place.fs_type))
}

#[test]
fn an_area_with_pages_of_a_group_at_its_limit_stays_on_until_the_group_has_room() {
    let test = "swap area of a group at its limit";
    let dir = scratch();
    let hierarchy = Hierarchy::detect(&root()).ok().filter(|hierarchy| hierarchy.parent().is_ok());
    if not_root(test) || no_disk(test, dir.path()) || skip_if(hierarchy.is_none(), test, "no memory cgroup") {
        return;
    }
    let others = !swap::areas(&root()).unwrap().is_empty();
    if skip_if(others, test, "another swap area is on, which could hold the pages")
        || skip_if(!Path::new("/dev/shm").is_dir(), test, "no tmpfs at /dev/shm")
    {
        return;
    }
    let path = std::fs::canonicalize(dir.path()).unwrap().join("swap");
    swap::create_file(&path, Bytes::from_mib(64)).unwrap();
    swap::make(&path, process::page_size()).unwrap();
    let group = Group::create(&hierarchy.unwrap(), &Hierarchy::group_name(77)).unwrap();
    let told =
        ["memory.memsw.usage_in_bytes", "memory.swap.current"].iter().any(|file| group.dir().join(file).exists());
    if skip_if(!told, test, "swap is not accounted to groups") {
        return drop(group.remove());
    }
    let at = tempfile::Builder::new().prefix("ramline-test-").tempdir_in("/dev/shm").unwrap();
    let file = at.path().join("data");
    let _gone = Finally(|| {
        drop(std::fs::remove_file(&file));
        drop(swap::swapoff(&path));
        drop(group.remove());
    });
    group.set_memory_limit(Limit::At(Bytes::from_mib(24))).unwrap();
    swap::swapon(&path, None).unwrap();
    // Shared memory needs no process that could be killed if this goes wrong.
    let script = r#"echo 0 > "$0" && head -c 48M /dev/urandom > "$1""#;
    let made = Command::new("sh").args(["-c", script]).arg(group.procs_file()).arg(&file).status().unwrap();
    assert!(made.success() && std::fs::metadata(&file).unwrap().len() == 48 << 20);

    let error = check_swapoff(&root(), &path).unwrap_err();
    let text = error.to_string();
    assert!(
        error.is_refused()
            && text.contains(&group.dir().display().to_string())
            && text.contains("try: ramline show cgroups"),
        "{text}"
    );
    group.set_memory_limit(Limit::At(Bytes::from_mib(64))).unwrap();
    check_swapoff(&root(), &path).unwrap();
    swap::swapoff(&path).unwrap();
    assert!(check_swapoff(&root(), &path).unwrap_err().is_absent());
}
