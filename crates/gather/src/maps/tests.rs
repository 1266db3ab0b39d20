use super::*;
use ramline_testkit::Tree;

#[test]
fn a_group_is_named_as_processes_name_it() {
    for (given, name) in [
        ("a/b/", "/a/b"),
        ("/a/b", "/a/b"),
        ("/", "/"),
        ("/sys/fs/cgroup/memory/a", "/a"),
        ("/sys/fs/cgroup/a", "/a"),
        ("/sys/fs/cgroupish", "/sys/fs/cgroupish"),
    ] {
        assert_eq!(scan::group_name(given), name);
    }
}

#[test]
fn a_process_of_a_tree_is_read_and_nothing_of_this_machine_is_asked() {
    let line = "1000-3000 r-xp 00000000 fe:00 7 /usr/bin/env\n5000-6000 rw-p 00000000 00:00 0 [heap]\n";
    let tree = Tree::from_fixture("").file("/proc/12/maps", line).file("/proc/12/comm", "env\n");
    let request = Request { walk: false, ..Request::for_target(Target::Process(12)) };
    let seen = read(&Root::new(tree.path()), &request).unwrap();
    assert_eq!((seen.processes[0].name.as_str(), seen.files.len()), ("env", 1));
    assert_eq!(seen.files[0].residency.why.as_deref(), Some("a capture does not hold the page cache"));
    assert_eq!(seen.files[0].length, None);
    let other = read(&Root::new(tree.path()), &Request::for_target(Target::Process(13))).unwrap_err();
    assert!(other.to_string().contains("does not hold its mappings"), "{other}");
}

#[test]
fn what_has_no_mappings_is_told_apart() {
    let of = |pid| read(&Root::live(), &Request::for_target(Target::Process(pid))).unwrap_err();
    let nobody = of(u32::MAX);
    assert!(nobody.is_absent(), "{nobody}");
    if process_name(2).as_deref() == Some("kthreadd") {
        assert!(of(2).to_string().contains("thread of the kernel"), "{}", of(2));
    }
}

fn process_name(pid: u32) -> Option<String> {
    ramline_kernel::kernel_file::read_text(&Root::live().path(format!("/proc/{pid}/comm")))
        .ok()
        .map(|t| t.trim().to_owned())
}

#[test]
fn our_own_code_is_in_ram() {
    let seen = read(&Root::live(), &Request::for_target(Target::Process(std::process::id()))).unwrap();
    let own = std::env::current_exe().unwrap();
    let file = seen.files.iter().find(|f| f.path == own.to_string_lossy()).unwrap();
    let present = file.residency.present.unwrap();
    assert!(present.0 > 0 && file.residency.present_code.unwrap().0 > 0, "{file:?}");
    if let Some(cached) = file.residency.in_ranges {
        assert!(cached >= present, "{cached} cached, {present} present");
    }
}
