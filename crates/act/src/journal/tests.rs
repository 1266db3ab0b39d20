//! What a journal keeps through crashes, full disks and its own old age.

use super::*;

fn state() -> (tempfile::TempDir, StateDir) {
    let dir = tempfile::tempdir().unwrap();
    let state = StateDir::open(&dir.path().join("state")).unwrap();
    (dir, state)
}

fn owner() -> Owner {
    Owner { pid: 1_000_000_000, start: 1, boot_id: "gone".into() }
}

fn file(name: &str) -> Step {
    Step::MakeFile { path: name.into(), id: None }
}

#[test]
fn every_kind_of_step_is_read_back_as_it_was_written() {
    let (_dir, state) = state();
    let id = Some(ramline_kernel::FileKey { device: 1, inode: 2 });
    let steps = [
        Step::MakeDir { path: "/a".into(), id: None },
        Step::MakeFile { path: "/a/b".into(), id },
        Step::AttachLoop { file: "/a/b".into(), number: Some(3), existing: Some(vec![0]) },
        Step::Mount { what: "/dev/loop3".into(), at: "/a/m".into(), fs: "ext4".into() },
        Step::EnableMemory { path: "/e".into() },
        Step::MakeCgroup { path: "/c".into() },
        Step::MoveProcess { pid: 4, start: 5, from: "/d".into(), to: "/d/c".into() },
        Step::MakeTrace { path: "/t/instances/ramline-1-0".into() },
        Step::SpawnInto { group: Some("/c".into()), pid: Some(4), start: Some(5) },
        Step::HotAddZram {
            id: Some(6),
            identity: Some(ramline_kernel::zram::Identity { inode: 7, diskseq: None }),
            existing: vec![0, 1],
        },
        Step::SwapOn { path: "/dev/zram6".into(), priority: Some(7), uuid: "u".into() },
        Step::SetKnob { path: "/k".into(), before: "8".into(), after: "9\n".into() },
    ];
    let mut journal = Journal::create(&state, &owner(), None).unwrap();
    for (number, step) in (0..).zip(&steps) {
        journal.append(number, step, Phase::Intend, Some("why")).unwrap();
    }
    let contents = read(&journal.path).unwrap();
    assert_eq!(contents.malformed, []);
    assert_eq!(contents.entries.into_iter().map(|entry| entry.step).collect::<Vec<_>>(), steps);
}

#[test]
fn a_step_is_pending_from_its_intention_until_it_is_undone() {
    let (_dir, state) = state();
    let mut journal = Journal::create(&state, &owner(), None).unwrap();
    journal.append(0, &file("a"), Phase::Intend, None).unwrap();
    journal.append(0, &file("a"), Phase::Done, None).unwrap();
    journal.append(1, &file("b"), Phase::Intend, None).unwrap();
    journal.append(0, &file("a"), Phase::Undone, None).unwrap();
    let pending = read(&journal.path).unwrap().pending();
    assert_eq!(pending.iter().map(|pending| pending.number).collect::<Vec<_>>(), [1]);
    assert_eq!(journal.records(), 4);
}

#[test]
fn a_last_line_cut_short_is_left_out_and_the_next_record_does_not_join_it() {
    let (_dir, state) = state();
    let mut journal = Journal::create(&state, &owner(), None).unwrap();
    journal.append(0, &file("a"), Phase::Intend, None).unwrap();
    let path = journal.path.clone();
    drop(journal);
    let mut raw = OpenOptions::new().append(true).open(&path).unwrap();
    raw.write_all(b"{\"run\":\"x\",\"own").unwrap();
    let (mut again, contents) = Journal::reopen(&path).unwrap().unwrap();
    assert_eq!((contents.entries.len(), contents.malformed.len()), (1, 0));
    again.append(0, &file("a"), Phase::Undone, None).unwrap();
    let contents = read(&path).unwrap();
    assert_eq!(contents.entries.iter().map(|entry| entry.seq).collect::<Vec<_>>(), [0, 1]);
    assert!(contents.pending().is_empty() && contents.malformed.is_empty());
}

#[test]
fn a_full_disk_fails_the_record_and_spoils_no_other() {
    let dir = tempfile::tempdir().unwrap();
    let mounted = ramline_kernel::mount::tmpfs(dir.path(), ramline_units::Bytes::from_kib(64));
    let denied = mounted.as_ref().is_err_and(ramline_kernel::KernelError::is_denied);
    if ramline_testkit::skip_if(denied, "a full disk", "needs root to mount a small tmpfs") {
        return;
    }
    mounted.unwrap();
    let _mount = Unmount(dir.path());
    let state = StateDir::open(&dir.path().join("state")).unwrap();
    let mut journal = Journal::create(&state, &owner(), None).unwrap();
    journal.append(0, &file("a"), Phase::Intend, None).unwrap();
    let ballast = dir.path().join("ballast");
    std::fs::write(&ballast, vec![1; 1 << 20]).unwrap_err();
    let mut whole = 1;
    let error = loop {
        match journal.append(1, &file("b"), Phase::Intend, Some(&"x".repeat(700))) {
            Ok(_) => whole += 1,
            Err(error) => break error,
        }
    };
    assert!(error.to_string().contains("append to the journal"), "{error}");
    let length = std::fs::metadata(&journal.path).unwrap().len();
    assert_eq!(length, journal.good, "the part of a line that was written is cut off");
    std::fs::remove_file(&ballast).unwrap();
    journal.append(1, &file("b"), Phase::Undone, None).unwrap();
    let contents = read(&journal.path).unwrap();
    assert_eq!((contents.entries.len(), contents.malformed.len()), (whole + 1, 0));
}

struct Unmount<'a>(&'a Path);

impl Drop for Unmount<'_> {
    fn drop(&mut self) {
        ramline_kernel::mount::unmount(self.0).unwrap();
    }
}

#[test]
fn only_the_last_twenty_finished_journals_are_kept_and_no_unfinished_one_is_lost() {
    let (_dir, state) = state();
    let mut first = Journal::create(&state, &owner(), None).unwrap();
    first.append(0, &file("a"), Phase::Intend, None).unwrap();
    let unfinished = first.path.clone();
    drop(first);
    for _ in 0..25 {
        Journal::create(&state, &owner(), None).unwrap();
    }
    prune(&state).unwrap();
    assert_eq!(list(&state).unwrap().len(), 21);
    assert!(unfinished.exists());
}

#[test]
fn a_journal_of_a_live_run_is_not_reopened() {
    let (_dir, state) = state();
    let mut journal = Journal::create(&state, &owner(), None).unwrap();
    journal.append(0, &file("a"), Phase::Intend, None).unwrap();
    assert!(Journal::reopen(&journal.path).unwrap().is_none());
}

#[test]
fn a_journal_is_settled_when_nothing_is_pending_or_its_last_record_says_so() {
    let (_dir, state) = state();
    let mut journal = Journal::create(&state, &owner(), None).unwrap();
    let path = journal.path.clone();
    assert!(is_settled(&path).unwrap());
    for (number, phase, settled) in [
        (0, Phase::Intend, false),
        (0, Phase::Done, false),
        (1, Phase::Intend, false),
        (1, Phase::Undone, false),
        (0, Phase::Undone, true),
        (2, Phase::Done, false),
        (2, Phase::Kept, true),
        (3, Phase::Done, false),
        (3, Phase::Ended, true),
    ] {
        journal.append(number, &file("a"), phase, None).unwrap();
        assert_eq!(is_settled(&path).unwrap(), settled, "{phase:?}");
    }
    let mut raw = OpenOptions::new().append(true).open(&path).unwrap();
    raw.write_all(b"\0\0\0\n{\"cut short").unwrap();
    assert!(is_settled(&path).unwrap());
    raw.write_all(b"}garbage\n").unwrap();
    assert!(!is_settled(&path).unwrap());
}

#[test]
fn a_record_longer_than_the_tail_that_is_looked_at_is_not_lost() {
    let (_dir, state) = state();
    let mut journal = Journal::create(&state, &owner(), None).unwrap();
    journal.append(0, &file(&"a".repeat(5000)), Phase::Intend, None).unwrap();
    assert!(!is_settled(&journal.path).unwrap());
    journal.append(0, &file(&"a".repeat(5000)), Phase::Undone, None).unwrap();
    assert!(is_settled(&journal.path).unwrap());
}
