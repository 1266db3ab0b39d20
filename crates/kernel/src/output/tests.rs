use super::*;
use std::os::unix::fs::{FileTypeExt, MetadataExt, PermissionsExt, symlink};

const FORMAT: Format = Format { begins: b"{\"schema", mode: 0o644 };
const HINT: &str = "ramline checkup --json -";

fn write(path: &Path, text: &str) -> Result<u64> {
    Output::open(path, FORMAT, HINT)?.write(text.as_bytes())
}

fn names(dir: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(dir).unwrap().flatten();
    let mut names: Vec<String> = entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_new_file_is_there_when_it_is_complete_and_not_before() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("report.json");
    let output = Output::open(&path, FORMAT, HINT).unwrap();
    assert!(names(dir.path()).is_empty());
    assert_eq!(output.write(b"new").unwrap(), 3);
    assert_eq!((names(dir.path()), std::fs::read(&path).unwrap()), (vec!["report.json".to_owned()], b"new".to_vec()));
    drop(Output::open(&dir.path().join("other"), FORMAT, HINT).unwrap());
    assert_eq!(names(dir.path()), ["report.json"]);
}

#[test]
fn a_file_is_replaced_with_its_mode_kept_and_its_links_left() {
    let dir = tempfile::tempdir().unwrap();
    let (file, link) = (dir.path().join("file"), dir.path().join("link"));
    std::fs::write(&file, "old").unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    symlink("file", &link).unwrap();
    let before = std::fs::metadata(&file).unwrap();
    write(&link, "new").unwrap();
    let after = std::fs::metadata(&file).unwrap();
    assert!(std::fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(std::fs::read(&file).unwrap(), b"new");
    assert_eq!((after.mode() & 0o777, after.uid()), (0o640, before.uid()));
    assert_ne!(after.ino(), before.ino());
    assert_eq!(names(dir.path()), ["file", "link"]);
}

#[test]
fn pipes_and_sockets_are_written_and_stay_what_they_are() {
    use std::io::Read;
    let dir = tempfile::tempdir().unwrap();
    let (pipe, socket) = (dir.path().join("pipe"), dir.path().join("socket"));
    rustix::fs::mknodat(CWD, &pipe, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    let alone = Output::open(&pipe, FORMAT, HINT).unwrap_err();
    assert!(alone.to_string().contains("from which nothing reads"), "{alone}");
    let listening = std::os::unix::net::UnixListener::bind(&socket).unwrap();
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| std::fs::read(&pipe).unwrap());
        let server = scope.spawn(|| {
            let mut got = Vec::new();
            listening.accept().unwrap().0.read_to_end(&mut got).unwrap();
            got
        });
        write(&pipe, "through the pipe").unwrap();
        write(&socket, "through the socket").unwrap();
        assert_eq!(reader.join().unwrap(), b"through the pipe");
        assert_eq!(server.join().unwrap(), b"through the socket");
    });
    assert!(std::fs::symlink_metadata(&pipe).unwrap().file_type().is_fifo());
    assert!(std::fs::symlink_metadata(&socket).unwrap().file_type().is_socket());
}

#[test]
fn what_is_no_place_for_a_file_is_refused_and_stays() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    std::fs::create_dir(at("directory")).unwrap();
    std::fs::write(at("file"), "x").unwrap();
    symlink("nowhere", at("dangling")).unwrap();
    symlink("circle", at("circle")).unwrap();
    symlink("directory", at("to-directory")).unwrap();
    let before = names(dir.path());
    for (name, want) in [
        ("directory", "it is a directory"),
        ("to-directory", "it is a directory"),
        ("dangling", "leads nowhere"),
        ("circle", "in a circle"),
        ("missing/file", "does not exist"),
        ("file/file", "Not a directory"),
        ("file/", "it is a directory"),
    ] {
        let error = Output::open(&at(name), FORMAT, HINT).unwrap_err().to_string();
        assert!(error.contains(want) && error.contains("\n  try: "), "{name}: {error}");
    }
    let long = Output::open(&at(&"x".repeat(300)), FORMAT, HINT).unwrap_err();
    assert_eq!(long.errno(), Some(libc::ENAMETOOLONG));
    assert_eq!(names(dir.path()), before);
}

#[test]
fn a_link_of_a_stranger_in_a_shared_directory_is_not_followed() {
    if ramline_testkit::not_root("a link of a stranger") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let (shared, link) = (dir.path().join("shared"), dir.path().join("shared/link"));
    std::fs::create_dir(&shared).unwrap();
    std::fs::set_permissions(&shared, std::fs::Permissions::from_mode(0o1777)).unwrap();
    std::fs::write(dir.path().join("victim"), "dear").unwrap();
    symlink("../victim", &link).unwrap();
    std::os::unix::fs::lchown(&link, Some(65534), Some(65534)).unwrap();
    // With fs.protected_symlinks the kernel refuses first.
    assert!(write(&link, "mine").is_err());
    assert_eq!(std::fs::read(dir.path().join("victim")).unwrap(), b"dear");
    std::os::unix::fs::lchown(&link, Some(0), Some(0)).unwrap();
    write(&link, "mine").unwrap();
    assert_eq!(std::fs::read(dir.path().join("victim")).unwrap(), b"mine");
}

#[test]
fn what_a_killed_command_left_is_removed_and_what_is_a_users_own_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    // Killed while nothing, a part and all of the first bytes were written; a letter; one that is being written.
    for (slot, text) in [(0, ""), (1, "{\"sch"), (2, "{\"schema_version\":1"), (3, "dear"), (4, "{\"schema")] {
        std::fs::write(at(&format!(".r.json.ramline-{slot}")), text).unwrap();
    }
    let held = std::fs::File::open(at(".r.json.ramline-4")).unwrap();
    held.lock().unwrap();
    write(&at("r.json"), "{\"schema_version\":2}").unwrap();
    assert_eq!(names(dir.path()), [".r.json.ramline-3", ".r.json.ramline-4", "r.json"]);
    write(&at("r.json"), "{\"schema_version\":3}").unwrap();
    assert_eq!(names(dir.path()), [".r.json.ramline-3", ".r.json.ramline-4", "r.json"]);
}

#[test]
fn a_place_that_turns_into_something_else_meanwhile_is_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("report");
    let output = Output::open(&path, FORMAT, HINT).unwrap();
    rustix::fs::mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    assert!(output.write(b"x").unwrap_err().is_refused());
    assert!(std::fs::symlink_metadata(&path).unwrap().file_type().is_fifo());
    assert_eq!(names(dir.path()), ["report"]);
}

#[test]
fn what_fails_halfway_leaves_the_old_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("report");
    write(&path, "old").unwrap();
    let error = Output::open(&path, FORMAT, HINT)
        .unwrap()
        .write_with(|out| {
            out.write_all(b"half")?;
            Err(io::Error::from_raw_os_error(libc::ENOSPC))
        })
        .unwrap_err()
        .to_string();
    assert!(error.contains("try: df -h "), "{error}");
    assert_eq!((std::fs::read(&path).unwrap(), names(dir.path())), (b"old".to_vec(), vec!["report".to_owned()]));
}

#[test]
fn a_tree_takes_its_place_as_a_whole() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join("tree");
    let tree = Tree::make(&place, &["proc"]).unwrap();
    std::fs::create_dir(tree.dir().join("proc")).unwrap();
    assert!(!place.exists());
    tree.place().unwrap();
    assert_eq!(names(&place), ["proc"]);
    assert!(Tree::make(&place, &["proc"]).unwrap_err().to_string().contains("not empty"));
    // Killed: what is left of it is known by what is in it.
    std::fs::create_dir_all(dir.path().join(".new.ramline-0/proc")).unwrap();
    std::fs::create_dir_all(dir.path().join(".new.ramline-1/letters")).unwrap();
    Tree::make(&dir.path().join("new"), &["proc"]).unwrap().place().unwrap();
    assert_eq!(names(dir.path()), [".new.ramline-1", "new", "tree"]);
    assert!(Tree::make(&dir.path().join("missing/new"), &["proc"]).unwrap_err().is_absent());
}
