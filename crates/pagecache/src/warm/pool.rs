//! The reading itself: threads that take files, large ones in windows, as many at a time as the depth says.
//!
//! Each thread keeps one buffer and the file it read last. Which file, and what of it, is said by [`Wanted`]. A file that shrinks ends its
//! window; an error of the disk is told once a file.

use std::collections::HashSet;
use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::sync::{Condvar, Mutex};
use std::time::{Duration, Instant};

use ramline_kernel::{KernelError, signals};
use ramline_snapshot::cache::Stop;
use ramline_units::Bytes;

use super::depth::{Depth, MOST};
use super::guard::Guard;
use super::{Options, Progress};
use crate::Context;
use crate::queue::Queue;
use crate::shared::{lock, wait};

/// A window of a large file, and what one read asks for.
const WINDOW: u64 = 8 << 20;
const PIECE: usize = 512 << 10;
/// How often the depth is looked at and progress told.
const TICK: Duration = Duration::from_millis(150);
/// A rate over fewer bytes says nothing.
const ENOUGH: u64 = 8 << 20;

/// Files to be read, in their order, by number.
pub trait Wanted: Sync {
    fn count(&self) -> usize;
    fn path(&self, number: usize) -> &Path;
    /// Opens a file and sets how it is to be read; nothing when nothing of it is to be read. Called again for other windows of it.
    fn open(&self, number: usize) -> Option<File>;
    /// What of it is missing and has data behind it, as offset and length.
    ///
    /// # Errors
    /// When that cannot be found out.
    fn missing(&self, number: usize, file: &File) -> Result<Vec<(u64, u64)>, KernelError>;
    /// It will not be read, because the room is used up.
    fn pass(&self, _number: usize) {}
    /// Bytes of the total that turned out not to need reading.
    fn settled(&self) -> u64 {
        0
    }
}

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

struct Pool<'a, W> {
    context: Context<'a>,
    files: &'a W,
    guard: &'a Guard<'a>,
    options: &'a Options<'a>,
    queue: Queue<Task>,
    permits: Permits,
    start: Instant,
    /// When the next read is allowed, where there is a rate.
    due: Mutex<Instant>,
    bytes: AtomicU64,
    over: AtomicBool,
    stopped: Mutex<Option<Stop>>,
    told: Mutex<HashSet<usize>>,
}

/// Reads what is missing of all files.
pub fn read(context: Context<'_>, files: &impl Wanted, guard: &Guard<'_>, options: &Options<'_>, total: Bytes) -> Read {
    let mut depth = Depth::new(options.depth);
    let threads = usize::try_from(options.depth.unwrap_or(MOST).clamp(1, MOST)).unwrap_or(1);
    let pool = Pool {
        context,
        files,
        guard,
        options,
        queue: Queue::new((0..files.count()).rev().map(Task::File).collect(), threads),
        permits: Permits::new(depth.now()),
        start: Instant::now(),
        due: Mutex::new(Instant::now()),
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
                tell(&Progress { depth: depth.now(), ..progress(bytes + files.settled(), total, rate) });
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

impl<W: Wanted> Pool<'_, W> {
    /// The sender ends with the thread: that is how its end is known.
    fn work(&self, _alive: Sender<()>) {
        let mut buffer = vec![0u8; PIECE];
        let mut open: Option<(usize, File)> = None;
        while let Some(task) = self.queue.take() {
            if self.is_over() {
                self.pass(&task);
                continue;
            }
            let (number, window) = match task {
                Task::File(number) => (number, None),
                Task::Window { file, offset, length } => (file, Some((offset, length))),
            };
            if open.as_ref().is_none_or(|(last, _)| *last != number) {
                // Gone since: that is found when it is asked again.
                open = self.files.open(number).map(|file| (number, file));
            }
            let Some((_, file)) = &open else { continue };
            match window {
                Some(window) => self.window(number, file, window, &mut buffer),
                None => self.file(number, file, &mut buffer),
            }
        }
    }

    /// Not read; but what became of it is known, unless there is no time for that either.
    fn pass(&self, task: &Task) {
        let Task::File(number) = task else { return };
        if signals::interrupted() {
            *lock(&self.stopped) = Some(Stop::Interrupted);
        } else {
            self.files.pass(*number);
        }
    }

    /// Small ones are read here; of large ones the windows are shared.
    fn file(&self, number: usize, file: &File, buffer: &mut [u8]) {
        if self.options.dry {
            return;
        }
        let runs = match self.files.missing(number, file) {
            Ok(runs) => runs,
            Err(error) => return self.tell(number, &error),
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
            self.queue.push(Task::Window { file: number, offset, length });
        }
        windows.into_iter().for_each(|window| self.window(number, file, window, buffer));
    }

    fn window(&self, number: usize, file: &File, (offset, length): (u64, u64), buffer: &mut [u8]) {
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
                Err(error) => return self.tell(number, &KernelError::io("read", self.files.path(number), error)),
            }
            let asked = u64::try_from(most).unwrap_or(0);
            self.bytes.fetch_add(asked, Ordering::Relaxed);
            self.pace(asked);
        }
    }

    /// Sleeps until what the rate allows has caught up with these bytes too. Time in which nothing was read gives no credit.
    fn pace(&self, bytes: u64) {
        let Some(rate) = self.options.rate.filter(|rate| rate.0 > 0) else { return };
        let due = {
            let mut due = lock(&self.due);
            *due = (*due).max(Instant::now()) + Duration::from_micros(bytes.saturating_mul(1_000_000) / rate.0);
            *due
        };
        while let Some(wait) = due.checked_duration_since(Instant::now()).filter(|wait| !wait.is_zero()) {
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

    fn tell(&self, number: usize, error: &KernelError) {
        if lock(&self.told).insert(number) {
            (self.context.tell)(error);
        }
    }
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
