use std::os::unix::ffi::OsStrExt;

use super::super::cgroups::hierarchy;
use super::*;
use ramline_kernel::Root;

const MOUNT: &str = "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot\n";

fn tree() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let at = |path: &str| dir.path().join(path);
    std::fs::create_dir_all(at("proc/self")).unwrap();
    std::fs::write(at("proc/self/mountinfo"), MOUNT).unwrap();
    for (group, current) in [("a", 8), ("a/b", 3), ("a-b", 2), ("z", 1)] {
        std::fs::create_dir_all(at("sys/fs/cgroup").join(group)).unwrap();
        std::fs::write(at("sys/fs/cgroup").join(group).join("memory.current"), format!("{current}\n")).unwrap();
    }
    std::fs::write(at("sys/fs/cgroup/cgroup.controllers"), "memory\n").unwrap();
    std::fs::write(at("sys/fs/cgroup/memory.stat"), "anon 5\npgscan 7\n").unwrap();
    dir
}

fn seen(dir: &tempfile::TempDir) -> Groups {
    let root = Root::new(dir.path());
    let reader = Reader::new(&root);
    groups(&reader, hierarchy(&reader).as_ref(), &Machine::default()).data().unwrap().clone()
}

#[test]
fn a_parent_comes_before_its_children_and_only_kept_keys_are_kept() {
    let groups = seen(&tree());
    let paths: Vec<&str> = groups.list.iter().map(|g| g.path.as_str()).collect();
    assert_eq!(paths, ["/", "/a", "/a/b", "/a-b", "/z"]);
    assert!(groups.complete && groups.recursive_protection && groups.mount == "/sys/fs/cgroup");
    assert_eq!(groups.list[0].stat.keys().collect::<Vec<_>>(), ["anon"]);
}

#[test]
fn what_is_not_read_of_a_group_of_this_machine_is_what_its_files_say() {
    let root = Root::live();
    let read = |reader: Reader<'_>| groups(&reader, hierarchy(&reader).as_ref(), &Machine::default()).data().cloned();
    let (Some(spared), Some(whole), Some(after)) =
        (read(Reader::new(&root)), read(Reader::recording(&root)), read(Reader::new(&root)))
    else {
        return;
    };
    assert!(spared.complete && whole.complete);
    let paths = |groups: &Groups| groups.list.iter().map(|g| g.path.clone()).collect::<Vec<_>>();
    if paths(&spared) == paths(&whole) && paths(&whole) == paths(&after) {
        assert_eq!(spared.unreadable, whole.unreadable);
    }
    let settings = |g: &Group| (g.max, g.swap_max, g.high, g.low, g.min, g.zswap_max, g.swappiness);
    let is_there =
        |g: &Group| [g.current, g.peak, g.swap_current, g.kernel, g.kernel_tcp, g.zswap_current].map(|b| b.is_some());
    let mut compared = 0;
    for theirs in &whole.list {
        // Others make and remove groups meanwhile: one that is removed while it is read loses its files one by one.
        let Some(ours) = spared.list.iter().find(|g| g.path == theirs.path) else { continue };
        if !after.list.iter().any(|g| g.path == theirs.path) {
            continue;
        }
        assert_eq!(settings(ours), settings(theirs), "{}", ours.path);
        assert_eq!(is_there(ours), is_there(theirs), "{}", ours.path);
        assert!(ours.stat.keys().eq(theirs.stat.keys()) && ours.dying.is_some() == theirs.dying.is_some());
        assert_eq!(ours.events.get("oom_kill"), theirs.events.get("oom_kill"), "{}", ours.path);
        compared += 1;
    }
    assert!(compared > 0 || whole.list.is_empty());
}

#[test]
fn a_name_of_any_bytes_is_read_and_written_out() {
    let dir = tree();
    let odd = dir.path().join("sys/fs/cgroup").join(OsStr::from_bytes(b"od\xffd\n"));
    std::fs::create_dir(&odd).unwrap();
    std::fs::write(odd.join("memory.current"), "4096\n").unwrap();
    let groups = seen(&dir);
    let found = groups.list.iter().find(|g| g.path.starts_with("/od")).unwrap();
    assert_eq!((found.path.as_str(), found.current.unwrap().0), ("/od\\xffd\n", 4096));
}

#[test]
fn a_link_in_a_capture_is_not_followed_and_a_garbage_file_is_counted() {
    let dir = tree();
    std::os::unix::fs::symlink("/", dir.path().join("sys/fs/cgroup/loop")).unwrap();
    std::fs::write(dir.path().join("sys/fs/cgroup/z/memory.max"), "much\n").unwrap();
    // Without the controller there is still pressure to read: no group of memory.
    std::fs::create_dir(dir.path().join("sys/fs/cgroup/z/bare")).unwrap();
    std::fs::write(dir.path().join("sys/fs/cgroup/z/bare/memory.pressure"), "").unwrap();
    let groups = seen(&dir);
    assert_eq!((groups.list.len(), groups.unreadable, groups.unseen.len()), (5, 1, 1));
}

#[test]
fn of_open_groups_only_those_are_read_again_whose_size_or_limit_has_changed() {
    let dir = tempfile::tempdir().unwrap();
    let write = |name: &str, text: &str| std::fs::write(dir.path().join(name), text).unwrap();
    let open = OpenGroups::new();
    let read = || {
        let walk = Walk::of_test(dir.path(), Some(&open));
        let mut out = Groups { complete: true, ..Groups::default() };
        open.begin();
        walk.level(&[(PathBuf::new(), Above::the_top(true))], &mut out);
        open.end();
        let group = out.list.remove(0);
        (group.stat.get("anon").copied(), group.pressure.and_then(|p| p.some).map(|some| some.total_us))
    };
    write("memory.current", "81920\n");
    write("memory.max", "max\n");
    write("memory.high", "max\n");
    let later = |anon: &str, waited: u64| {
        write("memory.stat", &format!("anon {anon}\n"));
        write("memory.pressure", &format!("some avg10=0.00 avg60=0.00 avg300=0.00 total={waited}\n"));
        read()
    };
    assert_eq!(later("5", 1), (Some(5), Some(1)));
    assert_eq!(later("6", 2), (Some(5), Some(2)), "its size is as it was, and how long it waited is read");
    write("memory.current", "86016\n");
    assert_eq!(later("7", 3), (Some(7), Some(3)));
    write("memory.max", "90112\n");
    assert_eq!(later("8", 4), (Some(8), Some(4)), "a limit was set");
    assert_eq!(later("9", 5), (Some(9), Some(5)), "at a limit its size says nothing");
}
