//! The loop: look, write, and keep to the times.
//!
//! | how often | what |
//! |---|---|
//! | 1 s | counters for the ring of seconds; in the minute after tasks began to wait for memory, also who holds memory |
//! | the interval (5 s) | a frame of counters |
//! | 15 s | also who holds memory; every frame for a minute after a kill, or after tasks began to wait |
//! | 60 s | also settings |
//! | 15 min | everything anew, as a whole frame |

use std::path::PathBuf;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ramline_gather::{Sampler, Sweep};
use ramline_history::{Encoder, Head, Moment, Note, Texts, from_changes, from_snapshot, note};
use ramline_kernel::{Root, process, signals};
use ramline_units::{Nanos, growth};

use crate::Result;
use crate::seconds::Seconds;
use crate::store::{Limits, Store};

/// How to record.
#[derive(Debug, Clone)]
pub struct Options {
    /// Where.
    pub dir: PathBuf,
    /// Time between frames.
    pub interval: Duration,
    /// The cap.
    pub limits: Limits,
    /// End after so long.
    pub span: Option<Duration>,
    /// Version of this program.
    pub ramline: String,
}

/// Summary of a recording.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RecordSummary {
    /// Frames written.
    pub frames: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Frames that could not be written.
    pub lost: u64,
    /// Files of seconds written.
    pub kills: u64,
}

/// The name of the text with the processors' ticks: no section of a snapshot.
pub const PROCESSORS: &str = "processors";

const SECOND: u64 = 1_000;
/// Who holds memory is read so often, in milliseconds.
pub const USERS_EVERY: u64 = 15 * SECOND;
const SETTINGS_EVERY: u64 = 60 * SECOND;
/// And everything anew.
pub const WHOLE_EVERY: u64 = 15 * 60 * SECOND;
/// After so long what was appended is written to disk.
const SYNC_EVERY: u64 = 30 * SECOND;
/// Users are read with every frame, and every second for the ring, for so long after a kill or the beginning of a stall.
const ALERT: u64 = 60 * SECOND;
/// The next alert of waiting alone begins so long after the last one began, when the ring has given up its first second: a machine that always waits
/// is read closely a tenth of the time.
const ALERT_AGAIN: u64 = 600 * SECOND;
/// Some task waits this share of a second, in microseconds: the trigger of the kernel's own example (`some 150000 1000000`, Documentation/accounting/psi.rst).
const WAITING_US: u64 = 150_000;
/// All tasks wait for memory this share of a second, in microseconds: a tenth, from where systemd-oomd's users set their limits down.
const STALL_US: u64 = 100_000;
/// Seconds of a stall, one after the other, after which the ring is written: systemd-oomd's default duration.
const LONG_STALL: u64 = 30;

/// Records until it is asked to end.
///
/// # Errors
/// The directory cannot be used, or another recorder has it. That frames cannot be written later on is no error: it is told once, and
/// recorded when it is over.
pub fn record(root: &Root, options: &Options, tell: &mut dyn FnMut(&str)) -> Result<RecordSummary> {
    let boot_id = process::boot_id(root).ok();
    let host = ramline_kernel::kernel_file::read_text(&root.path("/proc/sys/kernel/hostname")).ok();
    let head = Head {
        machine_id: process::machine(root),
        host: host.map(|host| host.trim().to_owned()),
        boot_id: boot_id.clone(),
        ramline: options.ramline.clone(),
    };
    let store = Store::open(&options.dir, options.limits, head)?;
    let mut recorder = Recorder {
        store,
        sampler: Sampler::new(root),
        encoder: Encoder::default(),
        texts: Texts::new(),
        seconds: Seconds::default(),
        done: RecordSummary::default(),
        due: Schedule::default(),
        lost: None,
        kills: None,
        waited: None,
        stall: 0,
        alert_until: 0,
        alert_again: 0,
    };
    let interval_ms = u64::try_from(options.interval.as_millis()).unwrap_or(u64::MAX).max(1);
    let begin = now();
    recorder.note(begin, &Note::Began { version: options.ramline.clone(), boot_id, interval_ms }, tell)?;
    let end =
        options.span.map(|span| begin.boot_ms.saturating_add(u64::try_from(span.as_millis()).unwrap_or(u64::MAX)));
    let mut next_frame = begin.boot_ms;
    loop {
        let at = now();
        let over = end.is_some_and(|end| at.boot_ms >= end);
        if at.boot_ms >= next_frame || over {
            recorder.frame(at, tell)?;
            next_frame = after(next_frame, interval_ms, now().boot_ms);
        } else {
            recorder.second(at, tell)?;
        }
        if over || signals::interrupted() {
            break;
        }
        let wait = next_frame.min(now().boot_ms / SECOND * SECOND + SECOND).min(end.unwrap_or(u64::MAX));
        sleep_until(wait);
        if signals::interrupted() {
            break;
        }
    }
    recorder.note(now(), &Note::Ended {}, tell)?;
    drop(recorder.store.sync());
    Ok(recorder.done)
}

/// The next time of a rhythm that lies ahead.
const fn after(last: u64, every: u64, now: u64) -> u64 {
    let next = last.saturating_add(every);
    if next > now { next } else { now.saturating_add(every - (now - last) % every) }
}

/// In steps that a signal ends soon.
fn sleep_until(boot_ms: u64) {
    while let Some(left) = boot_ms.checked_sub(now().boot_ms).filter(|left| *left > 0)
        && !signals::interrupted()
    {
        std::thread::sleep(Duration::from_millis(left.min(SECOND)));
    }
}

fn now() -> Moment {
    let wall = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Moment { wall_ms: u64::try_from(wall.as_millis()).unwrap_or_default(), boot_ms: process::boottime().0 / 1_000_000 }
}

/// When each sweep is due, by the clock since boot.
#[derive(Debug, Default)]
struct Schedule {
    users: u64,
    settings: u64,
    whole: u64,
    sync: u64,
}

struct Recorder {
    store: Store,
    sampler: Sampler,
    encoder: Encoder,
    texts: Texts,
    seconds: Seconds,
    done: RecordSummary,
    due: Schedule,
    /// Since when frames are lost, how many, and why.
    lost: Option<(u64, u64, String)>,
    kills: Option<u64>,
    /// When waiting was last read, and how long some and all tasks had waited then, in microseconds.
    waited: Option<(u64, u64, u64)>,
    stall: u64,
    alert_until: u64,
    alert_again: u64,
}

impl Recorder {
    fn sweep(&mut self, at: Moment) -> Sweep {
        let mut sweep = Sweep::Counters;
        let mut due = |due: &mut u64, every: u64, this: Sweep| {
            if at.boot_ms >= *due {
                *due = at.boot_ms.saturating_add(every);
                sweep = sweep.max(this);
            }
        };
        due(&mut self.due.users, USERS_EVERY, Sweep::Users);
        due(&mut self.due.settings, SETTINGS_EVERY, Sweep::Settings);
        due(&mut self.due.whole, WHOLE_EVERY, Sweep::Whole);
        if at.boot_ms < self.alert_until { sweep.max(Sweep::Users) } else { sweep }
    }

    fn frame(&mut self, at: Moment, tell: &mut dyn FnMut(&str)) -> Result<()> {
        let sweep = self.sweep(at);
        if sweep == Sweep::Whole {
            self.texts.clear();
            self.encoder.start_anew();
        }
        self.look(sweep)?;
        if let Some(ticks) = self.sampler.processors() {
            self.texts.insert(PROCESSORS.to_owned(), serde_json::to_string(&ticks)?);
        }
        let (killed, stalled) = self.ring(at);
        if killed && sweep < Sweep::Users {
            // Who is left, in the frame of the kill itself.
            self.look(Sweep::Users)?;
        }
        self.write(at, tell);
        self.out_of_the_ordinary(at, killed, stalled, tell);
        if at.boot_ms >= self.due.sync {
            self.due.sync = at.boot_ms.saturating_add(SYNC_EVERY);
            drop(self.store.sync());
        }
        Ok(())
    }

    fn look(&mut self, sweep: Sweep) -> Result<()> {
        let mut seen = self.sampler.sample(sweep);
        let (processes, groups) = self.sampler.unchanged();
        Ok(from_changes(&mut seen, &mut self.texts, processes, groups)?)
    }

    /// Between frames, for the ring alone.
    fn second(&mut self, at: Moment, tell: &mut dyn FnMut(&str)) -> Result<()> {
        if at.boot_ms < self.alert_until {
            self.look(Sweep::Users)?;
        }
        let (killed, stalled) = self.ring(at);
        if killed {
            // Not only in five seconds: the groups and processes of now are what is asked for later.
            self.due.users = 0;
            self.look(Sweep::Users)?;
            self.write(at, tell);
        }
        self.out_of_the_ordinary(at, killed, stalled, tell);
        Ok(())
    }

    /// Reads this second's files for the ring; whether something was killed since the last ones, and whether all tasks have waited for long.
    fn ring(&mut self, at: Moment) -> (bool, bool) {
        let mut files = self.sampler.second();
        let text = |path: &str| files.get(path).map(String::as_str).unwrap_or_default();
        let kills = counter(text("/proc/vmstat"), "oom_kill ");
        let waited = |who: &str| {
            let line = text("/proc/pressure/memory").lines().find(|line| line.starts_with(who))?;
            line.rsplit_once("total=")?.1.parse().ok()
        };
        let waited = waited("some").zip(waited("full"));
        let seen = self.watch(at, kills, waited);
        if at.boot_ms < self.alert_until {
            let users = self.texts.iter().filter(|(name, _)| is_of_users(name));
            files.extend(users.map(|(name, text)| (name.clone(), text.clone())));
        }
        self.seconds.push(at, &files);
        seen
    }

    fn watch(&mut self, at: Moment, kills: Option<u64>, waited: Option<(u64, u64)>) -> (bool, bool) {
        let killed = self.kills.zip(kills).and_then(|(before, now)| growth(before, now)).is_some_and(|more| more > 0);
        self.kills = kills.or(self.kills);
        let last = self.waited.zip(waited).and_then(|((then, some, full), now)| {
            // Of the time that has passed, which is a second where nothing holds the recorder up.
            let passed_ms = at.boot_ms.checked_sub(then)?.max(SECOND);
            let each_second = |waited: u64| waited.saturating_mul(SECOND) / passed_ms;
            Some((each_second(growth(some, now.0)?), each_second(growth(full, now.1)?)))
        });
        self.waited = waited.map(|(some, full)| (at.boot_ms, some, full)).or(self.waited);
        let stalled = last.is_some_and(|(_, full)| full >= STALL_US);
        self.stall = if stalled { self.stall + 1 } else { 0 };
        let waiting = last.is_some_and(|(some, _)| some >= WAITING_US) && at.boot_ms >= self.alert_again;
        if killed || waiting {
            self.alert_until = at.boot_ms.saturating_add(ALERT);
            self.alert_again = at.boot_ms.saturating_add(ALERT_AGAIN);
        }
        (killed, self.stall == LONG_STALL)
    }

    fn out_of_the_ordinary(&mut self, at: Moment, killed: bool, stalled: bool, tell: &mut dyn FnMut(&str)) {
        if !killed && !stalled {
            return;
        }
        drop(self.store.sync());
        let sampler = &self.sampler;
        let frames = self.seconds.take(|at, files| parsed(sampler, at, files));
        let what = if killed { "a process was killed for memory" } else { "all tasks have waited for memory for 30 s" };
        match self.store.seconds(at.wall_ms, &frames) {
            Ok(path) => {
                self.done.kills += 1;
                tell(&format!("{what}; the seconds before it are in {}", path.display()));
            }
            Err(error) => tell(&format!("{what}; {error}")),
        }
    }

    fn write(&mut self, at: Moment, tell: &mut dyn FnMut(&str)) {
        match self.store.ready(at.wall_ms) {
            Ok(true) => self.encoder.start_anew(),
            Ok(false) => {}
            Err(error) => return self.not_written(at, &error.to_string(), tell),
        }
        let mut bytes = Vec::new();
        if let Some((since_ms, frames, why)) = &self.lost {
            bytes = note(at, &Note::NotWritten { since_ms: *since_ms, frames: *frames, why: why.clone() });
        }
        bytes.extend(self.encoder.frame(at, &self.texts));
        match self.store.append(at.wall_ms, &bytes) {
            Ok(()) => {
                self.done.frames += 1;
                self.done.bytes += bytes.len() as u64;
                if let Some((_, frames, _)) = self.lost.take() {
                    tell(&format!("frames are written again; {frames} are missing"));
                }
            }
            Err(error) => self.not_written(at, &error.to_string(), tell),
        }
    }

    fn not_written(&mut self, at: Moment, why: &str, tell: &mut dyn FnMut(&str)) {
        self.encoder.start_anew();
        self.done.lost += 1;
        if self.lost.is_none() {
            tell(&format!("{why}; ramline goes on recording in memory and writes again when it can"));
        }
        let (_, frames, _) = self.lost.get_or_insert_with(|| (at.wall_ms, 0, why.to_owned()));
        *frames += 1;
    }

    fn note(&mut self, at: Moment, what: &Note, tell: &mut dyn FnMut(&str)) -> Result<()> {
        self.encoder.start_anew();
        let written = self.store.ready(at.wall_ms).and_then(|_| self.store.append(at.wall_ms, &note(at, what)));
        if let Err(error) = written {
            tell(&format!("{error}; ramline goes on recording in memory and writes again when it can"));
        }
        Ok(())
    }
}

/// A counter of a file with a line for each.
fn counter(text: &str, name: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(name))?.trim().parse().ok()
}

/// Texts of history that the ring takes as they are: who holds memory. All others in it are files of the kernel.
fn is_of_users(name: &str) -> bool {
    name.starts_with("process ") || name.starts_with("group ") || name == "processes" || name == "groups"
}

/// A second of the ring as texts of history.
fn parsed(sampler: &Sampler, at: Moment, files: &Texts) -> Option<Texts> {
    const NS: u64 = 1_000_000;
    let mut seen = sampler.at_second(files, Nanos(at.boot_ms.checked_mul(NS)?), at.wall_ms.checked_mul(NS)?)?;
    let mut texts = Texts::new();
    from_snapshot(&mut seen, &mut texts).ok()?;
    texts.extend(files.iter().filter(|(name, _)| is_of_users(name)).map(|(name, text)| (name.clone(), text.clone())));
    Some(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rhythm_goes_on_in_step_after_a_delay() {
        assert_eq!(after(100, 5, 101), 105);
        assert_eq!(after(100, 5, 112), 115);
        assert_eq!(after(100, 5, 105), 110);
    }
}
