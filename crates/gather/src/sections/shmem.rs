//! Shared memory by kind: who holds which file, and how much of each is in RAM and in swap.
//!
//! Three passes, all inside one budget of time: the mount name spaces (which file systems are in RAM, and how to get there),
//! the processes (what they have open or mapped), the file systems (every file). Only file systems in RAM are entered, and
//! only over mounts that cannot hang; no link is followed. Whatever is not reached is counted.
//!
//! Files are opened only to ask the kernel how many of their pages are where, and
//! only when swap is in use: without it every allocated page is in RAM.

mod ask;
mod holders;
mod spaces;
mod tree;

use std::time::{SystemTime, UNIX_EPOCH};

use ramline_snapshot::Malformed;
use ramline_snapshot::shmem::{Amount, Object, ObjectKind, ObjectTotal, Segment, Shmem, UserTotal, sysvipc};

use super::reader::{NotRead, Reader};
use crate::prelude::*;
use ask::Asker;
use holders::SharedHoldings;
use ramline_kernel::process;
use spaces::Spaces;
use tree::{Forest, LISTED, USERS};

/// All of it may take this long; what is not reached by then is not complete, and says so.
const TIME: Duration = Duration::from_secs(5);
/// Of it, at most this part for the processes.
const PART_OF_PROCESSES: f64 = 0.6;
const SEGMENTS: &str = "/proc/sysvipc/shm";

pub fn shmem(reader: &Reader<'_>) -> Seen<Shmem> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    if let Some(meta) = reader.meta() {
        return match (&meta.shmem, segments(reader, None)) {
            (Some(shmem), _) => Seen::new(shmem.clone()),
            (None, Ok(segments)) if reader.exists(SEGMENTS) => Seen::new(Shmem { segments, ..Shmem::default() }),
            (None, Err(malformed)) => Seen::Malformed(malformed),
            (None, Ok(_)) => Seen::Absent { path: "meta.json: shmem".into() },
        };
    }
    let start = Instant::now();
    match segments(reader, Some(now.as_secs())) {
        Err(malformed) => Seen::Malformed(malformed),
        Ok(segments) => reader.timed(|| look(reader, segments, start, now)),
    }
}

/// The table of segments; a kernel without System V has none.
fn segments(reader: &Reader<'_>, now: Option<u64>) -> Result<Vec<Segment>, Malformed> {
    match reader.text(SEGMENTS) {
        Ok(text) => sysvipc(SEGMENTS, &text, now),
        Err(NotRead::Denied | NotRead::Absent) => Ok(Vec::new()),
        Err(NotRead::Unusable(why)) => Err(Malformed { path: SEGMENTS.to_owned(), line: 0, text: why }),
    }
}

fn counted(reader: &Reader<'_>) -> Option<Bytes> {
    Meminfo::parse("/proc/meminfo", &reader.text("/proc/meminfo").ok()?).ok()?.shmem
}

fn look(reader: &Reader<'_>, segments: Vec<Segment>, start: Instant, now: Duration) -> Shmem {
    let before = counted(reader);
    let proc = reader.root.path("/proc");
    let asker = Asker::new(now);
    let end = reader.ends(TIME);
    let end_of_processes = start + end.saturating_duration_since(start).mul_f64(PART_OF_PROCESSES);
    let spaces = Spaces::look(reader.root, end_of_processes);
    let held = SharedHoldings::look(reader.root, &spaces, &asker, end_of_processes);
    // A process or two may refuse even root; "held by no process" needs the number that refused.
    let all_asked = held.walk.processes_complete && (held.walk.denied == 0 || process::uid() == 0);
    let mut forest = Forest::new(&asker, all_asked.then_some(&held.named), loops(reader), end);
    let filesystems = forest.walk(&proc, &spaces);
    let mut out = Shmem { before, filesystems, segments, method: asker.method, ..Shmem::default() };
    out.walk = held.walk.clone();
    out.walk.name_spaces = spaces.count();
    out.walk.unreached = forest.unreached;
    let mut users = std::mem::take(&mut forest.users);
    for segment in &mut out.segments {
        if let Some(attached) = held.segments.get(&segment.id) {
            segment.huge = Some(attached.huge);
            segment.holders.clone_from(&attached.holders);
        }
        let amount = Amount { count: 1, resident: segment.resident, swapped: segment.swapped, either: Bytes::ZERO };
        if segment.huge != Some(true) {
            users.entry(segment.uid).or_default().add(amount);
        }
    }
    for object in &held.objects {
        if let Some(uid) = object.uid {
            users.entry(uid).or_default().add(object.amount);
        }
    }
    out.object_totals = totals(&held.objects);
    for filesystem in &mut out.filesystems {
        let deleted = held.objects.iter().filter(|o| o.kind == ObjectKind::Deleted && o.dev == filesystem.dev);
        deleted.for_each(|object| filesystem.deleted.add(object.amount));
    }
    out.objects = held.objects;
    ramline_units::sort_by_key(&mut out.objects, |o| (std::cmp::Reverse(o.amount.all()), o.kind, o.ino));
    out.objects.truncate(LISTED);
    out.graphics = held.graphics;
    out.users = users.into_iter().map(|(uid, amount)| UserTotal { uid, amount }).collect();
    ramline_units::sort_by_key(&mut out.users, |u| (std::cmp::Reverse(u.amount.all()), u.uid));
    out.users.truncate(USERS);
    ramline_units::sort_by_key(&mut out.segments, |s| (std::cmp::Reverse(s.resident + s.swapped), s.id));
    forest.finish(&mut out);
    out.after = counted(reader);
    (out.walk.cost, out.walk.budget) = (Some(start.elapsed().into()), Some(TIME.into()));
    out
}

fn totals(objects: &[Object]) -> Vec<ObjectTotal> {
    let mut sums: HashMap<ObjectKind, Amount> = HashMap::new();
    for object in objects {
        sums.entry(object.kind).or_default().add(object.amount);
    }
    let mut out: Vec<ObjectTotal> = sums.into_iter().map(|(kind, amount)| ObjectTotal { kind, amount }).collect();
    ramline_units::sort_by_key(&mut out, |total| total.kind);
    out
}

/// Files that loop devices are made of: the kernel holds them, no process does.
fn loops(reader: &Reader<'_>) -> Vec<String> {
    let names = reader.names("/sys/block").into_iter().filter(|name| name.starts_with("loop"));
    names.filter_map(|name| reader.word(&format!("/sys/block/{name}/loop/backing_file"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_kernel::Root;

    const TABLE: &str = "key shmid perms size cpid lpid nattch uid gid cuid cgid atime dtime ctime rss swap\n\
0 5 600 8192 1 1 0 0 0 0 0 1 0 1 4096 4096\n";

    #[test]
    fn a_captured_tree_answers_from_its_meta_file_or_from_the_table_alone() {
        let dir = tempfile::tempdir().unwrap();
        let look = || shmem(&Reader::new(&Root::new(dir.path())));
        assert!(matches!(look(), Seen::Absent { .. }));
        std::fs::create_dir_all(dir.path().join("proc/sysvipc")).unwrap();
        std::fs::write(dir.path().join("proc/sysvipc/shm"), TABLE).unwrap();
        let seen = look();
        let segments = &seen.data().unwrap().segments;
        assert_eq!((segments[0].id, segments[0].swapped, segments[0].age), (5, Bytes(4096), None));
        let whole = Shmem { before: Some(Bytes(7)), ..Shmem::default() };
        let meta = format!("{{\"shmem\": {}}}", serde_json::to_string(&whole).unwrap());
        std::fs::write(dir.path().join("meta.json"), meta).unwrap();
        assert_eq!(look(), Seen::new(whole));
        std::fs::remove_file(dir.path().join("meta.json")).unwrap();
        std::fs::write(dir.path().join("proc/sysvipc/shm"), "x\n").unwrap();
        assert!(look().is_malformed());
    }

    #[test]
    fn our_own_memfd_is_found_to_the_page() {
        use std::io::Write;
        let fd = rustix::fs::memfd_create("ramline \u{1b} test", rustix::fs::MemfdFlags::CLOEXEC).unwrap();
        let mut file = std::fs::File::from(fd);
        let page = ramline_kernel::process::page_size();
        file.write_all(&vec![1; usize::try_from(3 * page).unwrap()]).unwrap();
        let ino = rustix::fs::fstat(&file).unwrap().st_ino;
        let root = Root::live();
        let end = Instant::now() + Duration::from_secs(60);
        let held = SharedHoldings::look(&root, &Spaces::look(&root, end), &Asker::new(Duration::ZERO), end);
        let ours = held.objects.iter().find(|o| o.ino == ino && o.kind == ObjectKind::Memfd).unwrap();
        assert_eq!(ours.amount.all(), Bytes(3 * page));
        assert!(ours.holders.iter().any(|h| h.pid == std::process::id() && h.open && !h.mapped));
        assert_eq!(ours.name, "/memfd:ramline \u{1b} test");
    }
}
