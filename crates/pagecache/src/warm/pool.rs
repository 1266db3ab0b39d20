//! The reading itself: threads that take files, large ones in windows, as many at a time as the depth says.
//!
//! Each thread keeps one buffer and the file it read last. Where a file has holes, only its data is looked at (SEEK_DATA); where
//! part of it is there, mincore tells which. A file that shrinks ends its window; an error of the disk is told once a file.

use std::collections::HashSet;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use ramline_kernel::{KernelError, residency, signals};
use ramline_snapshot::cache::Stop;
use ramline_units::Bytes;
use rustix::fs::{Advice, SeekFrom, fadvise, seek};

use super::depth::{Depth, MOST};
use super::guard::Guard;
use super::plan::Planned;
use super::{Options, Progress};
use crate::queue::Queue;
use crate::shared::{lock, wait};
use crate::{Context, evict};

/// A window of a large file, and what one read asks for.
const WINDOW: u64 = 8 << 20;
const PIECE: usize = 512 << 10;
/// How often the depth is looked at and progress told.
const TICK: Duration = Duration::from_millis(150);
/// A rate over fewer bytes says nothing.
const ENOUGH: u64 = 8 << 20;

enum Task {
    File(usize),
    Window { file: usize, offset: u64, length: u64 },
}

/// How it went.
pub struct Read {
    pub bytes: u64,
    pub took: Duration,
    pub depth: u64,
    pub tried: Vec<(u64, Bytes)>,
    pub failed: u64,
    pub stopped: Option<Stop>,
}

struct Pool<'a> {
    context: Context<'a>,
    files: &'a [Planned],
    guard: &'a Guard<'a>,
    options: &'a Options<'a>,
    queue: Queue<Task>,
    permits: Permits,
    start: Instant,
    bytes: AtomicU64,
    over: AtomicBool,
    stopped: Mutex<Option<Stop>>,
    told: Mutex<HashSet<usize>>,
}

/// Reads what is missing of all files.
pub fn read(context: Context<'_>, files: &[Planned], guard: &Guard<'_>, options: &Options<'_>, total: Bytes) -> Read {
    let mut depth = Depth::new(options.depth);
    let threads =
        usize::try_from(options.depth.unwrap_or(MOST).clamp(1, MOST)).unwrap_or(1).min(files.len().max(1) * 16);
    let pool = Pool {
        context,
        files,
        guard,
        options,
        queue: Queue::new((0..files.len()).rev().map(Task::File).collect(), threads),
        permits: Permits::new(depth.now()),
        start: Instant::now(),
        bytes: AtomicU64::new(0),
        over: AtomicBool::new(false),
        stopped: Mutex::default(),
        told: Mutex::default(),
    };
    std::thread::scope(|scope| {
        let (done, finished) = channel::<()>();
        for _ in 0..threads {
            let (pool, done) = (&pool, done.clone());
            scope.spawn(move || pool.work(done));
        }
        drop(done);
        let mut last = (Instant::now(), 0);
        while let Err(RecvTimeoutError::Timeout) = finished.recv_timeout(TICK) {
            let (now, bytes) = (Instant::now(), pool.bytes.load(Ordering::Relaxed));
            let rate = rate(bytes - last.1, now - last.0);
            if bytes - last.1 >= ENOUGH && options.rate.is_none() {
                pool.permits.set(depth.measured(rate.as_f64()));
            }
            last = (now, bytes);
            if let Some(tell) = options.progress {
                tell(&Progress { depth: depth.now(), ..progress(bytes, total, rate) });
            }
        }
    });
    let tried = depth.tried().iter().map(|(depth, rate)| (*depth, Bytes(whole(*rate)))).collect();
    let failed = u64::try_from(lock(&pool.told).len()).unwrap_or(0);
    let stopped = lock(&pool.stopped).take();
    let (bytes, took) = (pool.bytes.load(Ordering::Relaxed), pool.start.elapsed());
    Read { bytes, took, depth: depth.now(), tried, failed, stopped }
}

fn rate(bytes: u64, span: Duration) -> Bytes {
    let millis = u64::try_from(span.as_millis()).unwrap_or(u64::MAX).max(1);
    Bytes(bytes.saturating_mul(1000) / millis)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a rate that was an integer")]
fn whole(rate: f64) -> u64 {
    rate as u64
}

fn progress(bytes: u64, total: Bytes, rate: Bytes) -> Progress {
    let missing = total.0.saturating_sub(bytes);
    let left = missing.checked_div(rate.0).map(Duration::from_secs);
    Progress { done: Bytes(bytes), total, rate, left, depth: 0 }
}

impl Pool<'_> {
    /// The sender ends with the thread: that is how its end is known.
    fn work(&self, _alive: Sender<()>) {
        let mut buffer = vec![0u8; PIECE];
        let mut open: Option<(usize, File)> = None;
        while let Some(task) = self.queue.take() {
            if self.over.load(Ordering::Relaxed) {
                continue;
            }
            let (index, window) = match task {
                Task::File(index) => (index, None),
                Task::Window { file, offset, length } => (file, Some((offset, length))),
            };
            let Some(planned) = self.files.get(index) else { continue };
            if open.as_ref().is_none_or(|(last, _)| *last != index) {
                // Gone since: that is found when it is asked again.
                open = evict::reopen(&planned.path, planned.key).map(|file| (index, file));
                // Read-ahead would go on into a hole, whose pages are real ones, or beyond what is wanted.
                let exactly = planned.sparse || planned.parts.is_some() || self.options.range.is_some();
                if let Some((_, file)) = open.as_ref().filter(|_| exactly) {
                    fadvise(file, 0, None, Advice::Random).ok();
                }
            }
            let Some((_, file)) = &open else { continue };
            match window {
                Some(window) => self.window(index, planned, file, window, &mut buffer),
                None => self.file(index, planned, file, &mut buffer),
            }
        }
    }

    /// Small ones are read here; of large ones the windows are shared.
    fn file(&self, index: usize, planned: &Planned, file: &File, buffer: &mut [u8]) {
        let runs = match self.runs(planned, file) {
            Ok(runs) => runs,
            Err(error) => return self.tell(index, &error),
        };
        let mut windows = Vec::new();
        for (offset, length) in runs {
            let pieces = (0..length.div_ceil(WINDOW)).map(|n| n * WINDOW);
            windows.extend(pieces.map(|at| (offset + at, WINDOW.min(length - at))));
        }
        let large = windows.iter().map(|window| window.1).sum::<u64>() > WINDOW;
        let own = if large { 1 } else { windows.len() };
        let rest = windows.split_off(own.min(windows.len()));
        for (offset, length) in rest.into_iter().rev() {
            self.queue.push(Task::Window { file: index, offset, length });
        }
        windows.into_iter().for_each(|window| self.window(index, planned, file, window, buffer));
    }

    /// What is missing and has data behind it.
    fn runs(&self, planned: &Planned, file: &File) -> Result<Vec<(u64, u64)>, KernelError> {
        let (offset, most) = self.options.range.unwrap_or((0, u64::MAX));
        let end = offset.saturating_add(most).min(planned.length);
        let wanted = match &planned.parts {
            Some(parts) => parts.to_vec(),
            None if planned.sparse => data(file, offset, end),
            None => vec![(offset, end.saturating_sub(offset))],
        };
        let mut out = Vec::new();
        for (at, length) in wanted {
            if planned.empty || planned.untold {
                out.push((at, length));
            } else {
                out.extend(residency::missing(file, &planned.path, (at, length))?);
            }
        }
        Ok(out)
    }

    fn window(&self, index: usize, planned: &Planned, file: &File, (offset, length): (u64, u64), buffer: &mut [u8]) {
        if self.is_over() {
            return;
        }
        if let Err(stop) = self.guard.allow(length) {
            return self.stop(stop);
        }
        let _permit = self.permits.take();
        let (mut at, end) = (offset, offset.saturating_add(length));
        while at < end && !self.is_over() {
            let most = usize::try_from(end - at).unwrap_or(PIECE).min(buffer.len());
            match file.read_at(&mut buffer[..most], at) {
                // It became shorter: what is gone need not be read.
                Ok(0) => return,
                Ok(got) => at += u64::try_from(got).unwrap_or(0),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => return self.tell(index, &KernelError::io("read", &planned.path, error)),
            }
            let sum = self.bytes.fetch_add(u64::try_from(most).unwrap_or(0), Ordering::Relaxed);
            self.pace(sum);
        }
    }

    /// Sleeps so that the sum so far does not exceed what the rate allows.
    fn pace(&self, sum: u64) {
        let Some(rate) = self.options.rate.filter(|rate| rate.0 > 0) else { return };
        let due = Duration::from_millis(sum.saturating_mul(1000) / rate.0);
        while let Some(wait) = due.checked_sub(self.start.elapsed()).filter(|wait| !wait.is_zero()) {
            if self.is_over() {
                return;
            }
            std::thread::sleep(wait.min(TICK));
        }
    }

    fn is_over(&self) -> bool {
        if signals::interrupted() {
            self.stop(Stop::Interrupted);
        }
        self.over.load(Ordering::Relaxed)
    }

    fn stop(&self, why: Stop) {
        self.over.store(true, Ordering::Relaxed);
        lock(&self.stopped).get_or_insert(why);
    }

    fn tell(&self, index: usize, error: &KernelError) {
        if lock(&self.told).insert(index) {
            (self.context.tell)(error);
        }
    }
}

/// Where there is data, as offset and length; all of it where the file system does not tell.
fn data(file: &File, from: u64, end: u64) -> Vec<(u64, u64)> {
    let (mut out, mut at) = (Vec::new(), from);
    while at < end {
        let Ok(begin) = seek(file, SeekFrom::Data(at)) else { break };
        if begin >= end {
            break;
        }
        let stop = seek(file, SeekFrom::Hole(begin)).unwrap_or(end).min(end);
        out.push((begin, stop - begin));
        at = stop.max(begin + 1);
    }
    out
}

/// How many may read at a time; the number can change.
struct Permits {
    state: Mutex<(u64, u64)>,
    wake: Condvar,
}

impl Permits {
    fn new(most: u64) -> Permits {
        Permits { state: Mutex::new((0, most)), wake: Condvar::new() }
    }

    fn set(&self, most: u64) {
        lock(&self.state).1 = most;
        self.wake.notify_all();
    }

    fn take(&self) -> Permit<'_> {
        let mut state = lock(&self.state);
        while state.0 >= state.1 {
            state = wait(&self.wake, state);
        }
        state.0 += 1;
        Permit(self)
    }
}

struct Permit<'a>(&'a Permits);

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        lock(&self.0.state).0 -= 1;
        self.0.wake.notify_one();
    }
}
