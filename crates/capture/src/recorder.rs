//! The loop: epoch by epoch, look at every process, and write what was touched.

mod sum;

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use ramline_kernel::bpf::{FileReads, PageTables};
use ramline_kernel::cgroup::ReclaimCount;
use ramline_kernel::process::MemoryKeeper;
use ramline_kernel::{KernelError, Root, place, process, signals};
use ramline_trace::touches::{Epoch, EpochAccess, MOST_RUNS, Record, TouchesError, Writer};
use ramline_units::{Bytes, Nanos};

use crate::pace::{Pace, SHORTEST, expected_pause};
use crate::proof::{Proof, prove_or_refuse};
use crate::reads::FileLog;
use crate::recorded::{CaptureError, EndReason, Recorded};
use crate::regions::{News, Regions};
use crate::target::Target;
use crate::watched::Watched;
use sum::Sum;

/// So much of the disk is left free.
const KEPT_FREE: Bytes = Bytes::from_mib(64);
/// How long there must have been no reclaim.
const RECLAIM: Duration = Duration::from_secs(1);
/// Reads of files are taken in so often: their ring holds as much as was ever seen in several times that.
const FILES: Duration = Duration::from_millis(50);
/// How often the disk is looked at.
const DISK: Duration = Duration::from_secs(1);

/// How.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Whose.
    pub target: Target,
    /// No longer than this.
    pub time: Option<Duration>,
    /// The share of time that reading and clearing may take.
    pub overhead: f64,
    /// The directory of the file, of which some space is left free.
    pub dir: Option<PathBuf>,
}

/// A recording that may begin.
#[derive(Debug)]
pub struct Recorder {
    root: Root,
    settings: Settings,
    tables: PageTables,
    /// What the proof found.
    pub proof: Proof,
    watched: BTreeMap<u32, Watched>,
    /// Keeps their memory until it was read for the last time.
    keeper: Option<MemoryKeeper>,
    /// How long to wait until processes that have begun are looked for again.
    admission: Duration,
    /// What processes that have ended in this epoch have touched last.
    left: Sum,
    /// Those that may not be read.
    unreadable: BTreeSet<u32>,
    reclaim: ReclaimCount,
    regions: Regions,
    pace: Pace,
    files: FileLog,
}

impl Recorder {
    /// Gets ready: reads our own pages for a proof, and refuses where it fails or where memory of the processes is being reclaimed.
    ///
    /// # Errors
    /// The kernel does not allow it; the proof fails; there is no such process; its memory is being reclaimed.
    pub fn open(root: &Root, settings: Settings) -> Result<Recorder, KernelError> {
        let mut tables = PageTables::open(root)?;
        let group = match &settings.target {
            Target::Process(pid) => ReclaimCount::group_of(root, *pid),
            Target::Descendants => ReclaimCount::group_of(root, std::process::id()),
            Target::Group(dir) => Some(dir.clone()),
        };
        let (begin, mut reclaim) = (Instant::now(), ReclaimCount::new(root, group));
        let mut recorder_pages = 0;
        let mut watched = BTreeMap::new();
        if settings.target != Target::Descendants {
            for pid in settings.target.pids(root)? {
                match Watched::open(root, pid, false) {
                    Ok(one) => {
                        recorder_pages += one.handle().resident().map_or(0, |bytes| bytes.0 / 4096);
                        watched.insert(pid, one);
                    }
                    Err(error) if error.is_absent() && settings.target != Target::Process(pid) => {}
                    Err(error) => return Err(error),
                }
            }
        }
        let pace = Pace::new(settings.overhead, recorder_pages);
        let proof = prove_or_refuse(root, &mut tables, pace.length().min(Duration::from_secs(2)))?;
        // What has not begun yet cannot be reclaimed.
        if settings.target != Target::Descendants {
            std::thread::sleep(RECLAIM.saturating_sub(begin.elapsed()));
        }
        if settings.target != Target::Descendants && reclaim.grew(root) {
            let rule = "memory of these processes is being reclaimed, which uses the bits that a recording clears; recording would change what is reclaimed";
            return Err(KernelError::refused("record touches of", settings.target.shown(), rule, ""));
        }
        let known: Vec<u32> = watched.keys().copied().collect();
        let files = match &settings.target {
            Target::Process(_) => FileReads::start(root, &known, &[]),
            Target::Group(_) => FileReads::start(root, &known, &known),
            Target::Descendants => FileReads::start(root, &[], &[std::process::id()]),
        };
        Ok(Recorder {
            root: root.clone(),
            settings,
            tables,
            proof,
            watched,
            keeper: MemoryKeeper::open(),
            admission: SHORTEST / 10,
            left: Sum::default(),
            unreadable: BTreeSet::new(),
            reclaim,
            regions: Regions::default(),
            pace,
            files: FileLog::new(files),
        })
    }

    /// The pause of each epoch that is to be expected, and the length of an epoch.
    #[must_use]
    pub fn expected(&self) -> (Duration, Duration) {
        let pages = self.watched.values().filter_map(|one| one.handle().resident().ok()).map(|bytes| bytes.0 / 4096);
        (expected_pause(pages.sum()), self.pace.length())
    }

    /// Records until the processes have ended, the time is over, a signal comes or the disk is nearly full. `progress` is called once an epoch.
    ///
    /// # Errors
    /// Nothing can be read or written any more.
    pub fn record<W: Write>(
        mut self,
        writer: &mut Writer<W>,
        mut progress: impl FnMut(&Recorded),
    ) -> Result<Recorded, CaptureError> {
        let begin = Instant::now();
        let own = process::own_usage()?.cpu();
        let mut out = Recorded {
            proof: self.proof,
            files: self.files.sees(),
            damon: ramline_kernel::damon::running(&self.root),
            ended: EndReason::Processes,
            passed: Duration::ZERO,
            epochs: 0,
            reclaimed: 0,
            incomplete: 0,
            processes: self.watched.len() as u64,
            last_lost: 0,
            unreadable: 0,
            touched: 0,
            resident_peak: 0,
            huge_at_peak: 0,
            cpu: Nanos(0),
            own_cpu: Nanos(0),
            looking: Duration::ZERO,
            longest: Duration::ZERO,
            epoch: self.pace.length(),
        };
        // What was touched before is of no epoch: it is cleared, and what is held is announced.
        for one in self.watched.values_mut() {
            one.look(&mut self.tables, &mut self.regions, self.keeper.as_ref())?;
        }
        // A command that we have started begins now.
        if self.settings.target != Target::Descendants {
            self.files.forget();
        }
        self.regions.news.retain(|news| matches!(news, News::Region(_)));
        for one in self.watched.values() {
            one.announce(&mut self.regions);
        }
        self.write_news(writer)?;
        self.reclaim.grew(&self.root);
        let mut disk = Instant::now();
        loop {
            let reason = self.epoch_ends(begin, &mut out)?;
            let look = self.epoch(begin, writer, &mut out)?;
            self.pace.cost(look);
            out.epoch = self.pace.length();
            out.passed = begin.elapsed();
            out.own_cpu = Nanos(ramline_units::growth(own.0, process::own_usage()?.cpu().0).unwrap_or(0));
            progress(&out);
            let full = disk.elapsed() >= DISK && {
                disk = Instant::now();
                self.is_disk_full()
            };
            let ended = if self.watched.is_empty() {
                Some(EndReason::Processes)
            } else {
                reason.or(full.then_some(EndReason::Disk))
            };
            if let Some(ended) = ended {
                out.ended = ended;
                self.write_news(writer)?;
                return Ok(out);
            }
        }
    }

    /// Waits for the end of an epoch; why it is the last one.
    fn epoch_ends(&mut self, begin: Instant, out: &mut Recorded) -> Result<Option<EndReason>, CaptureError> {
        let start = Instant::now();
        let used = |watched: &BTreeMap<u32, Watched>| watched.values().map(|one| one.cpu().0).sum::<u64>();
        let before = used(&self.watched);
        loop {
            let mut wait = self.pace.wait(start.elapsed());
            if let Some(time) = self.settings.time {
                wait = wait.min(time.saturating_sub(begin.elapsed()));
            }
            if !matches!(self.settings.target, Target::Process(_)) {
                wait = wait.min(self.admission);
            }
            self.wait(wait);
            if signals::interrupted() {
                return Ok(Some(EndReason::Signal));
            }
            if self.settings.time.is_some_and(|time| begin.elapsed() >= time) {
                return Ok(Some(EndReason::Time));
            }
            let cpu = Duration::from_nanos(ramline_units::growth(before, used(&self.watched)).unwrap_or(0));
            self.admit(out)?;
            self.take_leave(out)?;
            // What it held is given back at the end of its epoch. One that ends at once would make epochs of nothing.
            let left = self.left.resident > 0 && start.elapsed() >= self.pace.length() / 8;
            let gone = left || self.watched.values().any(|one| one.handle().has_ended());
            if gone || self.watched.is_empty() || self.pace.is_over(start.elapsed(), cpu) {
                return Ok(None);
            }
        }
    }

    /// Takes in processes that have begun, so that what they touch is seen even if they end before the epoch does.
    fn admit(&mut self, out: &mut Recorded) -> Result<(), CaptureError> {
        let start = Instant::now();
        for pid in self.settings.target.arrived(&self.root)? {
            if self.unreadable.contains(&pid) {
                continue;
            }
            if let std::collections::btree_map::Entry::Vacant(place) = self.watched.entry(pid) {
                // One that has ended and was not waited for yet has no memory any more.
                let opened = Watched::open(&self.root, pid, true).ok();
                if let Some(mut one) = opened.filter(|one| one.handle().is_alive()) {
                    one.keep(&mut self.tables, self.keeper.as_ref())?;
                    self.files.follow(pid);
                    place.insert(one);
                    out.processes += 1;
                }
            }
        }
        // Looking for them takes no larger a share of time than recording may.
        self.admission = start.elapsed().div_f64(self.settings.overhead.max(1e-4)).max(SHORTEST / 10);
        Ok(())
    }

    /// Reads what processes that have ended have touched last, and lets go of their memory.
    fn take_leave(&mut self, out: &mut Recorded) -> Result<(), CaptureError> {
        let start = Instant::now();
        let ended: Vec<u32> = self.watched.iter().filter(|(_, one)| one.is_left()).map(|(pid, _)| *pid).collect();
        for pid in &ended {
            let Some(mut one) = self.watched.remove(pid) else { continue };
            let look = one.last(&mut self.tables, &mut self.regions)?;
            self.left.add(look);
        }
        if !ended.is_empty() {
            out.looking += start.elapsed();
        }
        Ok(())
    }

    fn epoch<W: Write>(
        &mut self,
        begin: Instant,
        writer: &mut Writer<W>,
        out: &mut Recorded,
    ) -> Result<Duration, CaptureError> {
        self.admit(out)?;
        self.take_leave(out)?;
        let (start, cpu) = (Instant::now(), process::own_usage()?.cpu());
        let mut sum = std::mem::take(&mut self.left);
        self.regions.frames.clear();
        let mut gone = Vec::new();
        let mut by_age: Vec<(&u32, &mut Watched)> = self.watched.iter_mut().collect();
        by_age.sort_by_key(|(_, one)| one.age());
        for (pid, one) in by_age {
            let look = match one.look(&mut self.tables, &mut self.regions, self.keeper.as_ref()) {
                // One of many that belongs to another user (set-uid) is no reason to lose the others.
                Err(error) if error.is_denied() && !matches!(self.settings.target, Target::Process(_)) => {
                    self.unreadable.insert(*pid);
                    gone.push(*pid);
                    sum.state.incomplete = true;
                    continue;
                }
                other => other?,
            };
            if look.ended {
                gone.push(*pid);
            }
            sum.add(look);
        }
        gone.iter().for_each(|pid| drop(self.watched.remove(pid)));
        self.files.take();
        let Sum { touched, resident, files, huge, mut state, late, lost } = sum;
        // What several processes map is there once.
        let resident = resident + files.ordered().all().map(|(_, run)| run.count).sum::<u64>();
        out.last_lost += lost;
        let took = start.elapsed();
        // An epoch ends when page tables are read: what is touched later is of the next one.
        state.time_ns = Nanos::from(start.duration_since(begin)).0;
        state.resident_pages = resident;
        state.reclaimed |= self.reclaim.grew(&self.root);
        let (files, pages, incomplete) = self.files.epoch(state.time_ns, &mut self.regions);
        state.incomplete |= incomplete;
        self.write_news(writer)?;
        writer.record(&Record::State(state))?;
        for (region, runs) in touched.sorted() {
            out.touched += runs.iter().map(|run| run.count).sum::<u64>();
            for part in runs.chunks(MOST_RUNS) {
                let (by, pages) = (EpochAccess::Mapped, part.to_vec());
                writer.record(&Record::Epoch(Epoch { time_ns: state.time_ns, region, by, pages }))?;
            }
        }
        out.touched += pages;
        files.into_iter().try_for_each(|epoch| writer.record(&Record::Epoch(epoch)))?;
        // What was touched in this epoch is given back in the next.
        self.regions.news.extend(late);
        out.epochs += 1;
        out.unreadable = self.unreadable.len() as u64;
        out.reclaimed += u64::from(state.reclaimed);
        out.incomplete += u64::from(state.incomplete);
        out.cpu = Nanos(out.cpu.0.saturating_add(state.cpu_ns));
        if resident > out.resident_peak {
            (out.resident_peak, out.huge_at_peak) = (resident, huge);
        }
        out.looking += took;
        out.longest = out.longest.max(took);
        // CPU time, since a busy machine takes the processor away meanwhile, which is no cost of ours.
        Ok(Duration::from_nanos(ramline_units::growth(cpu.0, process::own_usage()?.cpu().0).unwrap_or(0)))
    }

    /// Waits until a process ends, or for so long; reads of files are taken in meanwhile.
    fn wait(&mut self, time: Duration) {
        let begun = Instant::now();
        loop {
            let left = time.saturating_sub(begun.elapsed());
            // Where there are many processes, waiting for all of them takes time too.
            let next = if self.files.is_on() { left.min(FILES.max(self.admission)) } else { left };
            let ended = process::wait_for_an_end(self.watched.values().map(Watched::handle), next);
            self.files.take();
            if ended || begun.elapsed() >= time || signals::interrupted() {
                return;
            }
        }
    }

    fn write_news<W: Write>(&mut self, writer: &mut Writer<W>) -> Result<(), TouchesError> {
        for news in self.regions.news.drain(..) {
            match news {
                News::Region(region) => drop(writer.region(&region)?),
                News::Change(region, change) => writer.record(&Record::Mapping { region, change })?,
            }
        }
        Ok(())
    }

    fn is_disk_full(&self) -> bool {
        let dir = self.settings.dir.as_deref();
        dir.and_then(|dir| place::describe(dir).ok()).is_some_and(|place| place.available < KEPT_FREE)
    }
}
