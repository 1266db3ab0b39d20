//! On a tree of files: which are written, in which order a device is left as it was, and what is said.

use super::*;
use ramline_plan::UpkeepAsk;

/// A captured zram device; `files` besides those every kernel has.
fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().join("sys/block/zram4");
    std::fs::create_dir_all(&at).unwrap();
    std::fs::create_dir_all(dir.path().join("proc/pressure")).unwrap();
    std::fs::create_dir_all(dir.path().join("proc/sys/kernel/random")).unwrap();
    let swaps =
        "Filename\tType\tSize\tUsed\tPriority\n/dev/zram4 partition 1024 512 100\n/dev/vda2 partition 1024 0 -2\n";
    std::fs::write(dir.path().join("proc/swaps"), swaps).unwrap();
    std::fs::write(dir.path().join("proc/sys/kernel/random/boot_id"), "b\n").unwrap();
    let common = [("mm_stat", "4096 74 12288 0 12288 1 0 0 0\n"), ("idle", ""), ("compact", ""), ("initstate", "1\n")];
    for (name, text) in common.iter().chain(files) {
        std::fs::write(at.join(name), text).unwrap();
    }
    let root = Root::new(dir.path());
    (dir, root)
}

fn text(root: &Root, name: &str) -> String {
    std::fs::read_to_string(root.path(format!("/sys/block/zram4/{name}"))).unwrap_or_default().trim().to_owned()
}

#[test]
fn only_zram_devices_that_are_swap_areas_are_found() {
    let (_dir, root) = tree(&[]);
    let found: Vec<u32> = in_use(&root).unwrap().iter().map(Device::id).collect();
    assert_eq!(found, [4]);
    assert!(named(&root, "zram4").is_ok() && named(&root, "/dev/zram4").is_ok());
    assert!(named(&root, "zram0").unwrap_err().to_string().contains("in use as a swap area"));
    assert!(named(&root, "/dev/vda2").unwrap_err().to_string().contains("zram device"));
}

#[test]
fn a_kernel_without_both_compacts_and_nothing_is_marked() {
    let (dir, root) = tree(&[]);
    let state = StateDir::open(&dir.path().join("state")).unwrap();
    let seen = dry_run(&root, Some(&state), &in_use(&root).unwrap(), &UpkeepAsk::default()).unwrap();
    assert_eq!(seen.devices[0].would_write, ["write /sys/block/zram4/compact: 1"]);
    assert_eq!(text(&root, "compact"), "");
}

#[test]
fn a_machine_that_waits_is_not_touched() {
    let (dir, root) = tree(&[("backing_dev", "/dev/vdb\n")]);
    std::fs::write(root.path("/proc/pressure/memory"), "some avg10=55.00 avg60=0.00 avg300=0.00 total=1\n").unwrap();
    let state = StateDir::open(&dir.path().join("state")).unwrap();
    let seen = dry_run(&root, Some(&state), &in_use(&root).unwrap(), &UpkeepAsk::default()).unwrap();
    assert!(seen.skipped.unwrap().contains("for memory 55 %"));
}
