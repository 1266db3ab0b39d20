//! The reading itself: threads that take files, small ones in batches, large ones in stretches, as many at a time as the depth says.
//!
//! Of a batch the kernel is told of all files before the first is read (WILLNEED loads what is wanted of a small file, and does not wait): so a
//! reader keeps the device busy and waits once, not for each file.
//! A stretch is long: the kernel reads ahead of each, and where another thread begins right behind one, both read ahead into the same
//! pages and wait for each other.
//! Each thread keeps one [`Reader`] and the file it read last. Which file, and what of it, is said by [`Wanted`]. A file that shrinks ends its stretch;
//! an error of the disk is told once a file.

use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};

use ramline_kernel::limits;
use ramline_snapshot::cache::{Stop, Warmed};
use rustix::fs::{Advice, fadvise};

use super::cut::{BATCH, SMALL, WINDOW, batches, page_span, steps, stretch};
use super::depth::{Depth, MOST, Permits};
use super::guard::Guard;
use super::reader::Reader;
use super::wanted::{Progress, Wanted, WarmOptions};
use crate::prelude::*;
use crate::queue::Queue;

/// How often the depth is looked at and progress told.
const TICK: Duration = Duration::from_millis(150);
/// With less left to do, what a better depth gains is less than finding it costs.
const WORTH: Duration = Duration::from_millis(1500);
/// A rate over fewer bytes a reader says nothing.
const ENOUGH: u64 = 8 << 20;

enum Task {
    /// Files that follow each other.
    Files(Range<usize>),
    Stretch {
        file: usize,
        offset: u64,
        length: u64,
    },
}

struct Pool<'a, W> {
    context: Context<'a>,
    files: &'a W,
    guard: &'a Guard<'a>,
    options: &'a WarmOptions<'a>,
    page: u64,
    queue: Queue<Task>,
    permits: Permits,
    start: Instant,
    /// When the next read is allowed, where there is a rate.
    due: Mutex<Instant>,
    bytes: Count,
    over: AtomicBool,
    stopped: Mutex<Option<Stop>>,
    told: Mutex<HashSet<usize>>,
}

/// Reads what is missing of all files, and says how it went.
pub fn read(
    context: Context<'_>,
    files: &impl Wanted,
    guard: &Guard<'_>,
    options: &WarmOptions<'_>,
    total: Bytes,
) -> Warmed {
    // Each reader has a batch of them open.
    Limited::OpenFiles.raise();
    let mut depth = Depth::new(options.depth);
    let threads = usize::try_from(options.depth.unwrap_or(MOST).clamp(1, MOST)).unwrap_or(1);
    let threads = limits::threads_within(threads);
    let pool = Pool {
        context,
        files,
        guard,
        options,
        page: process::page_size(),
        queue: Queue::new(batches(files, options.rate.is_none()).into_iter().rev().map(Task::Files).collect(), threads),
        permits: Permits::new(depth.now()),
        start: Instant::now(),
        due: Mutex::new(Instant::now()),
        bytes: Count::default(),
        over: AtomicBool::new(false),
        stopped: Mutex::default(),
        told: Mutex::default(),
    };
    std::thread::scope(|scope| {
        let (done, finished) = channel::<()>();
        let begin = || {
            let (pool, done) = (&pool, done.clone());
            worker::with_own_descriptors(scope, "reader", move || pool.work(done))
        };
        let begun = (0..threads).filter(|_| begin()).count();
        if begun < threads {
            // Without any of them this one reads, and says nothing of how far it is.
            pool.queue.without(threads - begun.max(1));
            if begun == 0 {
                pool.work(done.clone());
            }
        }
        drop(done);
        let mut last = (Instant::now(), 0);
        // Where the present depth began.
        let mut mark = last;
        while let Err(RecvTimeoutError::Timeout) = finished.recv_timeout(TICK) {
            let (now, bytes) = (Instant::now(), pool.bytes.get());
            let rate = rate(bytes - last.1, now - last.0);
            let progress = progress(bytes + files.settled(), total, rate);
            let worth = progress.left.is_some_and(|left| left >= WORTH);
            if bytes - mark.1 >= ENOUGH * depth.now() && options.rate.is_none() && worth {
                pool.permits.set(depth.measured(self::rate(bytes - mark.1, now - mark.0).as_f64()));
                mark = (now, bytes);
            }
            last = (now, bytes);
            if let Some(tell) = options.progress {
                tell(&Progress { depth: depth.now(), ..progress });
            }
        }
    });
    let tried = depth.tried().iter().map(|(depth, rate)| (*depth, Bytes(whole(*rate)))).collect();
    let failed = u64::try_from(lock(&pool.told).len()).unwrap_or(0);
    let stopped = lock(&pool.stopped).take();
    let (read, took) = (Bytes(pool.bytes.get()), pool.start.elapsed().into());
    Warmed { read, took, depth: depth.now(), tried, failed, stopped, ..Warmed::default() }
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
        // Small pieces keep to a rate.
        let mut reader = Reader::new(self.options.rate.is_none());
        let mut open: Option<(usize, File)> = None;
        while let Some(task) = self.queue.take() {
            if self.is_over() {
                self.pass(&task);
                continue;
            }
            let (number, stretch) = match task {
                Task::Files(batch) if batch.len() > 1 => {
                    self.batch(batch, &mut reader);
                    continue;
                }
                Task::Files(one) => (one.start, None),
                Task::Stretch { file, offset, length } => (file, Some((offset, length))),
            };
            if open.as_ref().is_none_or(|(last, _)| *last != number) {
                // Gone since: that is found when it is asked again.
                open = self.files.open(number).map(|file| (number, file));
            }
            let Some((_, file)) = &open else { continue };
            match stretch {
                Some(stretch) => self.stretch(number, file, stretch, &mut reader),
                None => self.file(number, file, &mut reader),
            }
        }
    }

    /// Small files: told of all, then read one after the other, also when no more is allowed meanwhile: what was told comes anyhow.
    fn batch(&self, batch: Range<usize>, reader: &mut Reader) {
        let mut permit = None;
        let (mut told, mut grown) = (Vec::with_capacity(batch.len()), Vec::new());
        for number in batch {
            if self.is_over() {
                self.pass_one(number);
                continue;
            }
            // Gone since: that is found when it is asked again.
            let Some(file) = self.files.open(number) else { continue };
            let Some(runs) = self.runs(number, &file) else { continue };
            let bytes: u64 = runs.iter().map(|run| page_span(*run, self.page)).sum();
            // More of it is missing by now.
            if bytes > BATCH.1 {
                grown.push((number, file));
                continue;
            }
            if let Err(stop) = self.guard.allow(bytes) {
                self.stop(stop);
                continue;
            }
            self.permits.keep(&mut permit);
            for (offset, length) in &runs {
                fadvise(&file, *offset, NonZeroU64::new(*length), Advice::WillNeed).ok();
            }
            told.push((number, file, runs));
        }
        for (number, file, runs) in told {
            for run in runs {
                self.window(number, &file, run, reader, signals::interrupted);
            }
        }
        drop(permit);
        for (number, file) in grown {
            if self.is_over() {
                self.pass_one(number);
            } else {
                self.file(number, &file, reader);
            }
        }
    }

    /// What is to be read of a file.
    fn runs(&self, number: usize, file: &File) -> Option<Vec<(u64, u64)>> {
        if self.options.dry {
            return None;
        }
        self.files.missing(number, file).map_err(|error| self.tell(number, &error)).ok()
    }

    /// Not read; but what became of it is known, unless there is no time for that either.
    fn pass(&self, task: &Task) {
        let Task::Files(batch) = task else { return };
        batch.clone().for_each(|number| self.pass_one(number));
    }

    fn pass_one(&self, number: usize) {
        if signals::interrupted() {
            *lock(&self.stopped) = Some(Stop::Interrupted);
        } else {
            self.files.pass(number);
        }
    }

    /// Small ones are read here; of large ones the stretches are shared.
    fn file(&self, number: usize, file: &File, reader: &mut Reader) {
        let Some(runs) = self.runs(number, file) else { return };
        let all: u64 = runs.iter().map(|run| run.1).sum();
        let ahead = || residency::read_ahead(self.context.root, file);
        let most = if all > SMALL { stretch(all, self.guard.margin(), ahead()) } else { WINDOW };
        let mut stretches = Vec::new();
        for (offset, length) in runs {
            stretches.extend(steps(offset, length, most));
        }
        let own = if all > most { 1 } else { stretches.len() };
        let rest = stretches.split_off(own.min(stretches.len()));
        for (offset, length) in rest.into_iter().rev() {
            self.queue.push(Task::Stretch { file: number, offset, length });
        }
        stretches.into_iter().for_each(|stretch| self.stretch(number, file, stretch, reader));
    }

    fn stretch(&self, number: usize, file: &File, (offset, length): (u64, u64), reader: &mut Reader) {
        let mut permit = None;
        for window in steps(offset, length, WINDOW) {
            if self.is_over() {
                return;
            }
            if let Err(stop) = self.guard.allow(page_span(window, self.page)) {
                return self.stop(stop);
            }
            // Kept for all of the stretch, unless fewer are wanted by now.
            self.permits.keep(&mut permit);
            if !self.window(number, file, window, reader, || self.is_over()) {
                return;
            }
        }
    }

    /// False when the file ends here. An error ends the window alone: the disk may give what is behind it.
    fn window(
        &self,
        number: usize,
        file: &File,
        (offset, length): (u64, u64),
        reader: &mut Reader,
        is_over: impl Fn() -> bool,
    ) -> bool {
        let (mut at, end) = (offset, offset.saturating_add(length));
        // Whole pages, as in what is missing.
        let so_far = |at: u64| if at == offset { 0 } else { at.next_multiple_of(self.page) - offset };
        while at < end && !is_over() {
            let got = match reader.read(file, at, end) {
                // It became shorter: what is gone need not be read.
                Ok(0) => return false,
                Ok(got) => u64::try_from(got).unwrap_or(0),
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) => {
                    self.tell(number, &KernelError::io("read", self.files.path(number), error));
                    return true;
                }
            };
            let before = so_far(at);
            at += got;
            self.bytes.add(so_far(at) - before);
            self.pace(got);
        }
        true
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
