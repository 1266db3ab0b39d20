use std::collections::BTreeMap;
use std::os::unix::fs::symlink;

use ramline_kernel::Root;
use rustix::fs::{Mode, OFlags, openat};

use super::*;

/// Remembers what was visited: path and length, each time.
#[derive(Default)]
struct Seen(Mutex<Vec<(String, u64)>>);

impl Visit for Seen {
    type Worker = ();

    fn file(&self, (): &mut (), found: &FoundFile<'_>) {
        let path = found.path().to_string_lossy().into_owned();
        lock(&self.0).push((path, found.length()));
    }
}

fn walked(names: &[&Path], options: &WalkOptions) -> (BTreeMap<String, u64>, Walked, Vec<String>) {
    let (seen, told) = (Seen::default(), Mutex::new(Vec::new()));
    let tell = |error: &KernelError| lock(&told).push(error.to_string());
    let names: Vec<PathBuf> = names.iter().map(|name| (*name).to_owned()).collect();
    let (walked, _) = walk(Context { root: &Root::live(), tell: &tell }, &names, options, &seen);
    let all = seen.0.into_inner().unwrap();
    let visits = all.len();
    let seen: BTreeMap<String, u64> = all.into_iter().collect();
    assert_eq!(seen.len(), visits, "a file is visited once");
    (seen, walked, told.into_inner().unwrap())
}

fn names(dir: &Path, seen: &BTreeMap<String, u64>) -> Vec<String> {
    seen.keys().map(|path| path.strip_prefix(&format!("{}/", dir.display())).unwrap_or(path).to_owned()).collect()
}

#[test]
fn a_tree_is_walked_once_without_links_fifos_and_second_names() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path();
    fs::create_dir_all(top.join("a/b")).unwrap();
    for name in ["x", "a/y", "a/b/z"] {
        fs::write(top.join(name), name).unwrap();
    }
    fs::hard_link(top.join("x"), top.join("a/b/x2")).unwrap();
    symlink("/", top.join("loop")).unwrap();
    let fifo = rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR;
    rustix::fs::mknodat(rustix::fs::CWD, top.join("fifo"), rustix::fs::FileType::Fifo, fifo, 0).unwrap();
    let (seen, walked, told) = walked(&[top, &top.join("a")], &WalkOptions::default());
    assert_eq!(seen.len(), 3, "{seen:?}");
    assert!(told.is_empty() && walked.directories == 3, "{told:?} {walked:?}");
    let texts: Vec<&str> = walked.skipped.iter().map(|remark| remark.text.as_str()).collect();
    for text in ["symbolic links", "FIFOs", "further names", "directories met a second time"] {
        assert!(texts.iter().any(|told| told.starts_with(text)), "{text}: {texts:?}");
    }
}

#[test]
fn links_are_followed_on_request_and_a_loop_ends() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path();
    fs::create_dir_all(top.join("a/b")).unwrap();
    fs::create_dir(top.join("elsewhere")).unwrap();
    fs::write(top.join("elsewhere/far"), "x").unwrap();
    symlink(top.join("a"), top.join("a/b/up")).unwrap();
    symlink(top.join("elsewhere"), top.join("a/there")).unwrap();
    symlink(top.join("elsewhere/far"), top.join("a/far")).unwrap();
    symlink("nowhere", top.join("a/dangling")).unwrap();
    let options = WalkOptions { follow: true, ..WalkOptions::default() };
    let (seen, _, told) = walked(&[&top.join("a")], &options);
    assert_eq!(seen.len(), 1, "one file under one of its names: {seen:?}");
    assert!(told.is_empty(), "{told:?}");
}

#[test]
fn excluded_names_take_everything_below_with_them() {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path();
    fs::create_dir_all(top.join("keep/cache")).unwrap();
    for name in ["a.log", "keep/b", "keep/cache/c"] {
        fs::write(top.join(name), name).unwrap();
    }
    let exclude = vec!["*.log".parse().unwrap(), format!("{}/*/cache", top.display()).parse().unwrap()];
    let (seen, ..) = walked(&[top], &WalkOptions { exclude, ..WalkOptions::default() });
    assert_eq!(names(top, &seen), ["keep/b"]);
}

#[test]
fn what_cannot_be_looked_at_is_told_and_the_rest_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "x").unwrap();
    let (seen, walked, told) =
        walked(&[Path::new("/no/such"), &dir.path().join("file"), Path::new("/dev/null")], &WalkOptions::default());
    assert_eq!((seen.len(), walked.failed), (1, 2));
    assert!(told[0].starts_with("cannot open /no/such: it does not exist"), "{told:?}");
    assert!(told[1].contains("neither a file, a directory nor a block device"), "{told:?}");
}

#[test]
fn a_large_directory_is_shared_and_every_name_of_any_bytes_is_seen() {
    use std::os::unix::ffi::OsStrExt;
    let dir = tempfile::tempdir().unwrap();
    for n in 0..5000u32 {
        fs::write(dir.path().join(format!("{n:0100}")), "").unwrap();
    }
    fs::write(dir.path().join(std::ffi::OsStr::from_bytes(b"a\xff\n")), "xyz").unwrap();
    let (seen, walked, told) = walked(&[dir.path()], &WalkOptions { threads: 4, ..WalkOptions::default() });
    assert_eq!((seen.len(), walked.failed), (5001, 0), "{told:?}");
    assert!(seen.values().any(|length| *length == 3));
}

#[test]
fn a_chain_of_a_thousand_directories_keeps_few_open() {
    let dir = tempfile::tempdir().unwrap();
    let deep: PathBuf = std::iter::once(dir.path().to_owned()).chain((0..1000).map(|_| "d".into())).collect();
    fs::create_dir_all(&deep).unwrap();
    fs::write(deep.join("bottom"), "x").unwrap();
    let (seen, walked, told) = walked(&[dir.path()], &WalkOptions::default());
    assert_eq!((seen.len(), walked.directories, walked.failed), (1, 1001, 0), "{told:?}");
}

#[test]
fn proc_is_no_place_for_files() {
    let (seen, walked, told) = walked(&[Path::new("/proc")], &WalkOptions::default());
    assert!(seen.is_empty() && walked.failed == 1, "{told:?}");
    assert!(told[0].contains("proc holds no files of a disk"), "{told:?}");
}

#[test]
fn directories_are_shared_among_threads_and_each_is_walked_once() {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..60 {
        let below = dir.path().join(format!("{n}/below/{n}"));
        fs::create_dir_all(&below).unwrap();
        (0..5).for_each(|file| fs::write(below.join(file.to_string()), "x").unwrap());
    }
    let (seen, walked, told) = walked(&[dir.path()], &WalkOptions { threads: 8, ..WalkOptions::default() });
    assert_eq!((seen.len(), walked.directories, walked.failed, walked.vanished), (300, 181, 0, 0), "{told:?}");
}

#[test]
fn a_path_longer_than_the_kernel_takes_is_walked_by_the_thread_that_is_there() {
    let dir = tempfile::tempdir().unwrap();
    let name = "x".repeat(200);
    let mut at = rustix::fs::open(dir.path(), OFlags::PATH, Mode::empty()).unwrap();
    for _ in 0..30 {
        rustix::fs::mkdirat(&at, &name, Mode::RWXU).unwrap();
        at = openat(&at, &name, OFlags::PATH, Mode::empty()).unwrap();
    }
    for n in 0..20 {
        openat(&at, n.to_string(), OFlags::CREATE | OFlags::WRONLY, Mode::RUSR).unwrap();
        rustix::fs::mkdirat(&at, format!("d{n}"), Mode::RWXU).unwrap();
    }
    let (seen, walked, told) = walked(&[dir.path()], &WalkOptions { threads: 4, ..WalkOptions::default() });
    assert_eq!((seen.len(), walked.directories, walked.failed, walked.vanished), (20, 51, 0, 0), "{told:?}");
}

#[test]
fn half_of_the_highest_directories_is_given_away_and_taken_up_again() {
    let dir = tempfile::tempdir().unwrap();
    for n in 0..9 {
        fs::create_dir_all(dir.path().join(format!("{n}/in"))).unwrap();
        fs::write(dir.path().join(format!("{n}/in/file")), "x").unwrap();
    }
    let (seen, options, root) = (Seen::default(), WalkOptions::default(), Root::live());
    let context = Context { root: &root, tell: &|error| panic!("{error}") };
    let mut walk = Walk::new(context, &options, &seen, 2);
    assert!(walk.begin(&[dir.path().to_owned()]));
    let top = walk.queue.take().unwrap();
    let mut local = share::Local::new(());
    assert!(!walk.give_away(&mut local), "nothing to give");
    walk.accept(top, &mut local);
    assert_eq!(local.stack.len(), 9);
    assert!(walk.give_away(&mut local));
    assert_eq!(local.stack.len(), 4);
    let (given, mut other) = (walk.queue.take().unwrap(), share::Local::new(()));
    walk.accept(given, &mut other);
    assert_eq!(other.stack.len(), 5);
    walk.walk_stack(&mut other);
    assert_eq!(lock(&seen.0).len(), 5, "to the bottom");
    // What is given away and then moved is told.
    assert!(walk.give_away(&mut local));
    std::fs::rename(dir.path(), dir.path().with_extension("moved")).unwrap();
    let (given, mut third) = (walk.queue.take().unwrap(), share::Local::new(()));
    walk.accept(given, &mut third);
    std::fs::rename(dir.path().with_extension("moved"), dir.path()).unwrap();
    assert!(third.stack.is_empty());
    assert_eq!(lock(&walk.counts).vanished, 2);
    assert!(walk.skipped.take()[0].text.contains("moved or removed"));
}

#[test]
fn a_directory_that_was_given_away_is_not_taken_for_another_of_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a");
    fs::create_dir(&path).unwrap();
    let stat = rustix::fs::stat(&path).unwrap();
    let fs = Ground::new(&Root::live()).file_system(rustix::fs::CWD, stat.st_dev, &path);
    let place = Place { index: 0, depth: 1, real: path.clone(), path: path.clone(), key: FileKey::from(&stat), fs };
    assert!(one::open_same(&place, false).is_ok());
    std::fs::rename(&path, dir.path().join("b")).unwrap();
    assert_eq!(one::open_same(&place, false).unwrap_err(), rustix::io::Errno::NOENT);
    std::fs::create_dir(&path).unwrap();
    assert_eq!(one::open_same(&place, false).unwrap_err(), rustix::io::Errno::STALE);
    std::fs::rename(dir.path().join("b"), dir.path().join("c")).unwrap();
    std::fs::remove_dir(&path).unwrap();
    symlink("c", &path).unwrap();
    assert_eq!(one::open_same(&place, false).unwrap_err(), rustix::io::Errno::LOOP);
    assert!(one::open_same(&place, true).is_ok());
}
