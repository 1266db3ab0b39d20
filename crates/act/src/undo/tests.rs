//! What is undone only while it is ours.

use super::*;

/// A tree with one zram device, set up, that is not a device of this machine.
fn tree() -> (tempfile::TempDir, Root) {
    let tree = tempfile::tempdir().unwrap();
    let put = |path: &str, text: &str| {
        let path = tree.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    put("sys/block/zram3/initstate", "1\n");
    put("sys/block/zram3/diskseq", "41\n");
    put("sys/block/zram3/reset", "");
    put("sys/class/zram-control/hot_remove", "");
    put("dev/zram3", "");
    put("proc/swaps", "Filename Type Size Used Priority\n");
    put("proc/self/mountinfo", "");
    let root = Root::new(tree.path());
    (tree, root)
}

#[track_caller]
fn undone(root: &Root, id: Option<u32>, identity: Option<zram::Identity>) -> Outcome {
    let intended_ms = u64::MAX / 4;
    let step = Step::HotAddZram { id, identity, existing: vec![0] };
    undo(&step, Context { root, same_boot: true, intended_ms }).unwrap()
}

#[test]
fn a_zram_device_that_got_the_number_of_ours_is_left_alone() {
    let (tree, root) = tree();
    let ours = zram::Device::open(&root, 3).identity().unwrap();
    let reset = || std::fs::read_to_string(tree.path().join("sys/block/zram3/reset")).unwrap();
    std::fs::write(tree.path().join("sys/block/zram3/diskseq"), "42\n").unwrap();
    assert!(matches!(undone(&root, Some(3), Some(ours)), Outcome::LeftAlone(_)));
    let other = zram::Identity { inode: ours.inode + 1, diskseq: Some(42) };
    assert!(matches!(undone(&root, Some(3), Some(other)), Outcome::LeftAlone(_)));
    assert!(matches!(undone(&root, Some(3), None), Outcome::LeftAlone(_)));
    assert_eq!(reset(), "");
    std::fs::write(tree.path().join("sys/block/zram3/diskseq"), "41\n").unwrap();
    assert_eq!(undone(&root, Some(3), Some(ours)), Outcome::Removed);
    assert_eq!(reset(), "1");
    assert_eq!(undone(&root, Some(4), Some(ours)), Outcome::AlreadyGone);
}

#[test]
fn a_tree_goes_with_its_files_and_one_that_has_only_its_name_stays() {
    let base = tempfile::tempdir().unwrap();
    let root = Root::live();
    let context = Context { root: &root, same_boot: true, intended_ms: 0 };
    let path = std::fs::canonicalize(base.path()).unwrap().join("ramline-work");
    std::fs::create_dir_all(path.join("many/deep")).unwrap();
    std::fs::write(path.join("many/deep/file"), "x").unwrap();
    let outside = base.path().join("outside");
    std::fs::write(&outside, "mine").unwrap();
    std::os::unix::fs::symlink(&outside, path.join("link")).unwrap();
    let id = FileKey::at(&path).unwrap();
    let other = Step::MakeTree { path: path.clone(), id: Some(FileKey { inode: id.inode + 1, ..id }) };
    assert!(matches!(undo(&other, context).unwrap(), Outcome::LeftAlone(_)));
    assert!(path.join("many/deep/file").exists());
    let step = Step::MakeTree { path: path.clone(), id: Some(id) };
    assert_eq!(undo(&step, context).unwrap(), Outcome::Removed);
    assert_eq!(undo(&step, context).unwrap(), Outcome::AlreadyGone);
    assert_eq!(std::fs::read_to_string(outside).unwrap(), "mine", "a link is not followed");
}

#[test]
fn a_device_without_a_record_is_removed_only_while_it_is_empty_and_as_old_as_the_announcement() {
    let (tree, root) = tree();
    let born = std::fs::metadata(tree.path().join("dev/zram3")).unwrap().modified().unwrap();
    let born = born.duration_since(std::time::UNIX_EPOCH).unwrap().as_millis().try_into().unwrap();
    assert!(unrecorded_zram(&root, &[0], born).is_empty());
    std::fs::write(tree.path().join("sys/block/zram3/initstate"), "0\n").unwrap();
    assert_eq!(unrecorded_zram(&root, &[0], born), [3]);
    assert!(unrecorded_zram(&root, &[0, 3], born).is_empty());
    assert!(unrecorded_zram(&root, &[0], born - 60_000).is_empty());
    assert_eq!(undone(&root, None, None), Outcome::AlreadyGone);
    let step = Step::HotAddZram { id: None, identity: None, existing: vec![] };
    let outcome = undo(&step, Context { root: &root, same_boot: true, intended_ms: born }).unwrap();
    assert_eq!(outcome, Outcome::Removed);
    assert_eq!(std::fs::read_to_string(tree.path().join("sys/block/zram3/reset")).unwrap(), "", "nothing is reset");
}
