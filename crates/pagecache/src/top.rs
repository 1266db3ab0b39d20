//! `cache top`: which files and directories fill the page cache of the whole machine, also those no process has open.
//!
//! Every local file system is walked once, files without a name are asked through the processes that hold them, block devices
//! for their own pages, and the sum is held against what the kernel counts. A page that is read in or evicted
//! during the look is seen or not.

pub(crate) mod places;

use ramline_gather::gather;
use ramline_gather::held::{HeldFiles, held};
use ramline_snapshot::Wanted;
use ramline_snapshot::cache::{CacheHolder, CacheUser, HotFile, Source, Top as Seen};
use ramline_snapshot::containers::{self, ByGroup};
use ramline_units::SignedBytes;
use rustix::fs::FileType;

use crate::RunningCount;
use crate::prelude::*;
use crate::stat::{self, PlaceSums, Sums, ask};

/// What is to be told.
#[derive(Debug, Clone, Default)]
pub struct TopOptions {
    /// Rows of every list.
    pub rows: usize,
    /// How to walk; the places are chosen here.
    pub walking: WalkOptions,
    /// End after so long with what was seen by then.
    pub within: Option<Duration>,
    /// Tell what was seen after so long, and go on.
    pub first: Option<Duration>,
}

/// In the place of a group: a path begins with a slash.
const LOOPS: &str = "loop devices";
/// Holders named with a file.
const NAMED: usize = 3;
/// A directory is listed when it holds one part in so many of everything.
const PARTS: u64 = 50;

/// Between two looks whether it is over.
const ROUND: Duration = Duration::from_millis(20);

/// Looks at the whole machine; `tell` gets a first answer when that takes longer than [`TopOptions::first`].
pub fn top(context: Context<'_>, options: &TopOptions, tell: &dyn Fn(&Seen)) -> Seen {
    let begin = Instant::now();
    let (counted_before, _) = counted(context);
    let held = held(context.root);
    let places = places::places(context.root);
    let whole = Whole::new(&held, options.rows);
    let until = options.within.map(|within| begin + within);
    let walking = WalkOptions { stay_on_mount: true, until, ..options.walking.clone() };
    let walked = std::thread::scope(|scope| {
        let walk = || walk::walk(context, &places.paths, &walking, &whole).0;
        let Some(walker) = worker::beside(scope, "top", walk) else { return walk() };
        let mut first = options.first;
        while !walker.is_finished() {
            std::thread::sleep(ROUND);
            if first.is_some_and(|after| begin.elapsed() >= after) && !walker.is_finished() {
                first = None;
                let mut seen = whole.seen(counted_before, &places.closed);
                name_containers(context, &mut seen);
                reconcile(context, &mut seen);
                tell(&seen);
            }
        }
        walker.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    });
    let mut seen = whole.seen(counted_before, &places.closed);
    name_containers(context, &mut seen);
    whole.nameless(&mut seen);
    seen.complete = walked.complete;
    seen.skipped.extend(places.passed);
    seen.skipped.extend(walked.skipped);
    (seen.failed, seen.directories_read) = (walked.failed, walked.directories);
    seen.evictors = evictors(context.root);
    seen.unknown = whole.sums.unknown.take();
    reconcile(context, &mut seen);
    seen
}

/// Groups by the names of their containers, where there are any.
fn name_containers(context: Context<'_>, seen: &mut Seen) {
    if !seen.groups.iter().any(|group| containers::id_in(&group.name).is_some()) {
        return;
    }
    let read = gather(context.root, Wanted { containers: true, ..Wanted::NOTHING });
    let by_group = ByGroup::new(read.containers.data());
    for group in &mut seen.groups {
        group.container = by_group.container(&group.name).and_then(|one| one.words());
    }
}

fn reconcile(context: Context<'_>, seen: &mut Seen) {
    (seen.counted, seen.devices) = counted(context);
    let listed = ramline_units::saturating_sum(seen.device_files.iter().filter_map(|row| row.resident).map(|b| b.0));
    seen.devices_unlisted = seen.devices.saturating_sub(Bytes(listed));
    seen.rest = SignedBytes::difference(seen.counted, seen.explained());
}

/// Pages of files and block devices as the kernel counts them, without shared memory; and of it those of block devices.
fn counted(context: Context<'_>) -> (Bytes, Bytes) {
    let seen = gather(context.root, Wanted { meminfo: true, ..Wanted::NOTHING });
    let of = || {
        let meminfo = seen.meminfo.data()?;
        let devices = meminfo.buffers?;
        Some(((meminfo.cached? + devices).checked_sub(meminfo.shmem?)?, devices))
    };
    of().unwrap_or_default()
}

/// One process, or one group, and what it holds.
fn user(name: &str, pid: Option<u32>, sum: &RunningCount) -> CacheUser {
    let pid = pid.filter(|pid| *pid > 0);
    CacheUser { name: name.to_owned(), pid, container: None, resident: sum.resident(), files: sum.files() }
}

struct Whole<'a> {
    rows: usize,
    held: &'a HeldFiles,
    // By place in the list of holders.
    processes: Vec<RunningCount>,
    group_of: Vec<usize>,
    groups: Vec<(&'a str, RunningCount)>,
    held_pages: Count,
    sums: Sums,
    devices: Mutex<Vec<FileRow>>,
}

impl<'a> Whole<'a> {
    fn new(held: &'a HeldFiles, rows: usize) -> Whole<'a> {
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let mut groups: Vec<(&str, RunningCount)> = Vec::new();
        let group_of = held.holders.iter().map(|holder| {
            // A loop device is no process, and in no group.
            let path = if holder.pid == 0 { LOOPS } else { holder.group.as_deref().unwrap_or("no group seen") };
            *numbers.entry(path).or_insert_with(|| {
                groups.push((path, RunningCount::default()));
                groups.len() - 1
            })
        });
        let group_of = group_of.collect();
        Whole {
            rows,
            held,
            processes: held.holders.iter().map(|_| RunningCount::default()).collect(),
            group_of,
            groups,
            held_pages: Count::default(),
            sums: Sums::new(rows),
            devices: Mutex::default(),
        }
    }

    /// Adds to everybody who holds the file; a group once.
    fn credit(&self, key: FileKey, pages: u64) {
        let Some(holders) = self.held.files.get(&key) else { return };
        self.held_pages.add(pages);
        let mut groups: Vec<usize> = Vec::new();
        for place in holders.iter().filter_map(|place| usize::try_from(*place).ok()) {
            if let Some(sum) = self.processes.get(place) {
                sum.add(pages);
            }
            groups.extend(self.group_of.get(place));
        }
        groups.sort_unstable();
        groups.dedup();
        for (_, sum) in groups.iter().filter_map(|group| self.groups.get(*group)) {
            sum.add(pages);
        }
    }

    /// What was seen so far.
    fn seen(&self, counted_before: Bytes, closed: &[String]) -> Seen {
        let (walked, named) = self.sums.trees.roots();
        let mut device_files = lock(&self.devices).clone();
        ramline_units::sort_by_key(&mut device_files, |row| std::cmp::Reverse(row.resident));
        let holders = self.held.holders.iter().zip(&self.processes);
        let groups = self.groups.iter().filter(|(path, _)| *path != LOOPS);
        Seen {
            page: bytes(1),
            counted_before,
            devices_closed: closed.to_vec(),
            named,
            held: bytes(self.held_pages.get()),
            directories: self.sums.trees.heavy(Bytes(named.resident.0 / PARTS), self.rows),
            files: self.sums.files().into_iter().map(|row| self.hot(row, None)).collect(),
            processes: self.most(holders.map(|(h, sum)| user(&h.name, Some(h.pid), sum))),
            groups: self.most(groups.map(|(path, sum)| user(path, None, sum))),
            device_files,
            walked,
            processes_denied: self.held.denied,
            ..Seen::default()
        }
    }

    fn most(&self, users: impl Iterator<Item = CacheUser>) -> Vec<CacheUser> {
        let mut users: Vec<CacheUser> = users.filter(|user| user.resident > Bytes::ZERO).collect();
        ramline_units::sort_by(&mut users, |a, b| b.resident.cmp(&a.resident).then_with(|| a.pid.cmp(&b.pid)));
        users.truncate(self.rows);
        users
    }

    /// A row with who holds the file; without a key the file is looked at by its name.
    fn hot(&self, row: FileRow, key: Option<FileKey>) -> HotFile {
        let key = key.or_else(|| {
            let stat = rustix::fs::lstat(row.name.bytes()).ok()?;
            Some(FileKey::from(&stat))
        });
        let none = Vec::new();
        let holders = key.and_then(|key| self.held.files.get(&key)).unwrap_or(&none);
        let named = holders.iter().filter_map(|place| self.held.holders.get(usize::try_from(*place).ok()?));
        HotFile {
            holders: u64::try_from(holders.len()).unwrap_or(u64::MAX),
            held_by: named.take(NAMED).map(|h| CacheHolder { pid: h.pid, name: h.name.clone() }).collect(),
            row,
        }
    }

    /// Files without a name, through their holders.
    fn nameless(&self, seen: &mut Seen) {
        for file in &self.held.nameless {
            let Ok(open) = std::fs::File::open(&file.link) else { continue };
            if residency::lives_in_memory(&open).unwrap_or(true) {
                continue;
            }
            let Ok(of) = residency::count(&open, &file.was) else { continue };
            let length = Bytes(open.metadata().map_or(0, |meta| meta.len()));
            let resident = bytes(of.cached);
            seen.nameless += resident;
            self.credit(file.key, of.cached);
            let row = FileRow {
                name: name(&file.was),
                length,
                source: Source::Cachestat,
                resident: Some(resident),
                ..FileRow::default()
            };
            seen.nameless_files.push(self.hot(row, Some(file.key)));
        }
        ramline_units::sort_by_key(&mut seen.nameless_files, |file| std::cmp::Reverse(file.row.resident));
        seen.nameless_files.truncate(self.rows);
    }
}

impl Visit for Whole<'_> {
    type Worker = PlaceSums;

    fn enter(&self, place: &Place, parent: Option<u32>) {
        self.sums.trees.begin(place, parent);
    }

    fn file(&self, worker: &mut PlaceSums, found: &FoundFile<'_>) {
        let (asked, length) = (ask(found), Bytes(found.length()));
        let row = || stat::row(&asked, name(&found.path()), length);
        if FileType::from_raw_mode(found.stat.st_mode) == FileType::BlockDevice {
            return lock(&self.devices).push(row());
        }
        self.sums.add(worker, &asked, length, || found.path());
        let pages = stat::pages(&asked);
        if pages == 0 {
            return;
        }
        self.credit(found.key(), pages);
        if self.sums.wants(worker, pages) {
            self.sums.keep(worker, row(), false);
        }
    }

    fn closed(&self, worker: &mut PlaceSums, _: &Place, _: &Path, length: u64, _: Option<&str>) -> bool {
        worker.tally.add(&Tally { unknown: 1, unknown_length: Bytes(length), ..Tally::default() });
        true
    }

    fn leave(&self, worker: &mut PlaceSums, place: &Place) {
        self.sums.leave(worker, place);
    }
}
