//! The reader's own program as what is predicted: a recording from a file, or one that is made first.

use std::io::{Cursor, Read, Seek, Write};
use std::os::fd::AsFd;
use std::process::Stdio;

use ramline_capture::{CaptureError, EndReason, FilesSeen};
use ramline_gather::headroom::own_headroom;
use ramline_lab::experiments::known_load::EXPERIMENT;
use ramline_lab::experiments::known_load::forecast::{from_recording, need_of};
use ramline_lab::experiments::swap_command;
use ramline_lab::forecast::{PredictError, compressed, refusal};
use ramline_lab::params::Params;
use ramline_predict::against::beside_recording;
use ramline_predict::forecast::Forecast;
use ramline_predict::need::Needs;
use ramline_predict::question::Question;
use ramline_trace::recording::Recording;
use ramline_trace::touches::{Reader, TouchesError};

use super::Predict;
use super::contents;
use super::load::params;
use crate::commands::lab;
use crate::commands::trace::contents::shares;
use crate::commands::trace::files;
use crate::commands::trace::record::{PreparedRecording, TargetOptions, finish, unseen};
use crate::prelude::*;

/// Settings that are predicted for a recording by default.
const SETTINGS: &str = "no-swap,swap:60,zram:lz4:60,zram:zstd:60";
/// More room for files than such a part of what it maps is worth limits of its own.
const FILES_MATTER: u64 = 20;
/// The limits, as parts of what it maps: all of it, three quarters, half.
const PARTS: [(u64, u64); 3] = [(1, 1), (3, 4), (1, 2)];
/// And those of a search for the least: twentieths, from 30 % on.
const STEPS: std::ops::RangeInclusive<u64> = 6..=STEPS_IN_ALL;
const STEPS_IN_ALL: u64 = 20;
/// From what it maps to what it reads.
const MORE_STEPS: u64 = 6;
/// A running program is recorded for so long.
const TIME: Duration = Duration::from_secs(60);
/// A recording in memory takes at most this part of what can be taken.
const PART: u64 = 8;
/// Runs of each setting that the lab makes for --verify, where there is time for them.
const RUNS: f64 = 3.0;
/// It is to take no longer than this, forecast and all, or than three times the command where that is more.
const VERIFIED_WITHIN: Duration = Duration::from_secs(300);
const TIMES_OF_COMMAND: f64 = 3.0;
/// A run of the lab is given up after this multiple of the time without a limit.
const PATIENCE: f64 = 10.0;
/// A whole command that would work.
const HINT: &str = "ramline predict --pid 1234";

/// A recording, and what it needs.
pub struct Recorded {
    recording: Arc<Recording>,
    needs: Needs,
    notes: Vec<String>,
    /// Contents were asked for.
    is_filled: bool,
}

impl Recorded {
    /// Reads the recording in a file.
    ///
    /// # Errors
    /// It cannot be read or simulated.
    pub fn from_file<R: Read + Seek>(path: &Path, mut reader: Reader<R>, options: &Predict) -> Result<Recorded> {
        must_have_a_command(options)?;
        let recording = Recording::read(&mut reader).map_err(|error| files::file_error(path, error))?;
        let mut notes = Vec::new();
        if !recording.is_whole() {
            notes.push("the file is cut off: predicted is what is there of it".to_owned());
        }
        Recorded::new(recording, options, (None, notes))
    }

    /// With why there is no sample of its pages, where that is known.
    fn new(
        recording: Recording,
        options: &Predict,
        (why, mut notes): (Option<String>, Vec<String>),
    ) -> Result<Recorded> {
        let is_filled = !options.fill.is_empty();
        let contents = match recording.sample() {
            _ if is_filled => "contents: as asked for with --fill, not those of its pages".to_owned(),
            Some(sample) => format!("contents: a sample of its pages compresses with {}", shares(sample)),
            None => {
                let why = why.unwrap_or_else(|| "the recording has no sample of its pages".to_owned());
                format!(
                    "contents: assumed to be text ({}); --fill random or zeros for others",
                    ramline_view::escape(&why)
                )
            }
        };
        notes.insert(0, contents);
        let recording = Arc::new(recording);
        let needs = need_of(&recording).map_err(refusal)?;
        Ok(Recorded { recording, needs, notes, is_filled })
    }

    /// What so many of its pages compress to: as those of its sample, unless other contents were asked for.
    ///
    /// # Errors
    /// There are no such contents, or no such algorithm.
    pub fn lengths(&self, of: (&str, Option<&str>), seed: u64, pages: u32) -> Result<Vec<u16>, PredictError> {
        match self.recording.sample().filter(|_| !self.is_filled) {
            Some(sample) => contents::lengths(sample, of, seed, pages),
            None => compressed(of.0, of.1, seed, pages),
        }
    }

    /// Records first, in memory.
    ///
    /// # Errors
    /// It cannot be recorded; nothing was touched.
    pub fn live(options: &Predict) -> Result<Recorded> {
        let whose = TargetOptions {
            pid: options.pid.as_deref(),
            cgroup: options.cgroup.as_deref(),
            command: &options.command,
            hint: HINT,
        };
        must_have_a_command(options)?;
        let target = whose.target(&Root::live())?;
        signals::install();
        let time = options.time.or_else(|| options.command.is_empty().then_some(TIME));
        let mut session = PreparedRecording::open(&whose, target, (time, options.overhead), None)?;
        // Standard output is for what is predicted.
        let beside = std::io::stderr().as_fd().try_clone_to_owned().map(Stdio::from);
        let mut child = session.start(&whose, beside.unwrap_or_else(|_| Stdio::null()))?;
        let room = own_headroom(&Root::live())?;
        let mut kept = RecordBuffer { bytes: Vec::new(), most: room.0 / PART };
        let recorded = session.write(&mut kept);
        let (recorded, why) = match recorded {
            Ok((done, sample)) => (Ok(done), sample.err()),
            Err(error) => (Err(error), None),
        };
        let ended = recorded.as_ref().ok().map(|done| done.ended).filter(|ended| *ended == EndReason::Processes);
        // What was started for this is ended when the time is over.
        let (status, usage) = child.as_mut().map(|child| finish(child, ended)).transpose()?.unzip();
        let recorded = recorded.map_err(|error| match error {
            CaptureError::Kernel(error) => anyhow::Error::from(error),
            CaptureError::Write(error) => too_long(&error).into(),
        })?;
        let mut reader = Reader::new(Cursor::new(kept.bytes))?.within(room.0);
        let recording = Recording::read(&mut reader).map_err(|error| match error {
            TouchesError::NoTouches => Failure::usage(
                "it ended before it was looked at for the first time, after 100 ms\n  try: a longer run, or ramline lab run knee -- COMMAND".to_owned(),
            ),
            error => Failure::usage(format!("{error}\n  try: ramline predict --pid 1234 --for 20s")),
        })?;
        // How much more than a recording says it needs then is not known.
        if let Some((largest, seen)) = usage.and_then(|usage| unseen(&recorded, &usage)) {
            let text = format!(
                "it ended too soon to be recorded: a process had up to {largest} in RAM, of which {seen} were seen (it is looked at every 100 ms or more seldom, and never after its end)"
            );
            return Err(
                Failure::usage(format!("{text}\n  try: a longer run, or ramline lab run knee -- COMMAND")).into()
            );
        }
        let mut notes = Vec::new();
        if let Some(status) = status.filter(|status| ended.is_some() && !status.success()) {
            notes.push(format!("the command failed ({status}): what was recorded may not be what it does"));
        }
        if let FilesSeen::Unseen(why) = &recorded.files {
            notes.push(format!(
                "not recorded: files that are read and written with read(2) and write(2) ({})",
                ramline_view::escape(why)
            ));
        }
        if recorded.last_lost > 0 {
            notes.push(format!("not recorded: what {} processes touched last before they ended", recorded.last_lost));
        }
        if recorded.unreadable > 0 {
            notes.push(format!("not recorded: {} processes that this user may not read", recorded.unreadable));
        }
        if !recorded.damon.is_empty() {
            notes.push(format!("DAMON runs ({}): touches may be missing", recorded.damon.join(", ")));
        }
        Recorded::new(recording, options, (why, notes))
    }

    /// What is asked of the simulator, with all limits.
    ///
    /// # Errors
    /// The options make no sense.
    pub fn question(&self, options: &Predict) -> Result<Question> {
        let Needs { mapped, cached, .. } = self.needs;
        let has_files = cached.0 > mapped.0 / FILES_MATTER * (FILES_MATTER + 1);
        let limits: Vec<Bytes> = match options.limit.as_slice() {
            [] if options.min_ram => {
                let of_mapped = STEPS.map(|step| mapped.0 / STEPS_IN_ALL * step);
                let more = (1..=MORE_STEPS).filter(|_| has_files);
                let more = more.map(|step| mapped.0 + (cached.0 - mapped.0) / MORE_STEPS * step);
                of_mapped.chain(more).map(|bytes| Bytes(bytes / 4096 * 4096)).collect()
            }
            [] => {
                let with_files = [cached, Bytes(mapped.0.midpoint(cached.0) / 4096 * 4096)];
                let parts = PARTS.iter().map(|(part, of)| Bytes(mapped.0 / of * part / 4096 * 4096));
                with_files.into_iter().filter(|_| has_files).chain(parts).collect()
            }
            given => given.iter().map(|text| limit(text)).collect::<Result<_>>()?,
        };
        let settings = options.settings_or(SETTINGS);
        let timeout = options.timeout.as_deref().map(duration::parse).transpose();
        let timeout =
            timeout.map_err(|why| Failure::usage(format!("{why}\n  try: ramline predict FILE --timeout 5min")))?;
        let params = params(&EXPERIMENT, &settings, None, options)?;
        let mut all = Vec::new();
        for limit in limits {
            all.push(from_recording(&self.recording, &params, limit, &self.needs, timeout)?);
        }
        let first = all.remove(0);
        let mut question = first.with_limits(all);
        question.notes.extend(self.notes.iter().cloned());
        Ok(question)
    }
}

/// What is verified is run.
fn must_have_a_command(options: &Predict) -> Result<()> {
    let none =
        "--verify runs the command in the lab, and there is none to run: only what stands behind -- can be verified";
    let has_one = !options.verify || !options.command.is_empty();
    ensure!(has_one, Failure::usage(format!("{none}\n  try: sudo ramline predict --verify -- make")));
    Ok(())
}

/// Runs the command itself at the settings that matter, and puts what was measured beside the forecast.
///
/// # Errors
/// As the lab refuses; there is no command to run.
pub fn verify(mut forecast: Forecast, options: &Predict, begun: Instant) -> Result<Forecast> {
    must_have_a_command(options)?;
    let argv: Vec<String> = options.command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let Some((limit, arms)) = forecast.to_verify_recording() else { return Ok(forecast) };
    let table = swap_command::EXPERIMENT.table();
    let mut params = Params::defaults(&table);
    let kib = format!("{}KiB", limit.0 / 1024);
    let (runs, timeout) = fitting(&forecast, (limit, &arms), begun.elapsed());
    let (runs, timeout) = (vec![format!("{runs:.0}")], vec![format!("{:.0}s", timeout.as_secs_f64().ceil())]);
    let values = [("command", argv), ("memory", vec![kib]), ("arms", arms), ("runs", runs), ("timeout", timeout)];
    for (name, values) in values {
        params.set(&table, name, values)?;
    }
    if options.allow_busy {
        params.set(&table, "allow-busy", vec!["true".to_owned()])?;
    }
    let (folder, ended) =
        lab::run::made(&swap_command::EXPERIMENT, &params, None, options.prove).map_err(super::own_way_out)?;
    if let Some(error) = ended {
        return Err(error.into());
    }
    beside_recording(&mut forecast, &folder.read()?.records);
    Ok(forecast)
}

/// How many runs of each setting there is time for, by what they are predicted to take, and how long each may take at most.
fn fitting(forecast: &Forecast, (limit, arms): (Bytes, &[String]), passed: Duration) -> (f64, Duration) {
    let alone = forecast.recorded.as_ref().map_or(0.0, |recorded| recorded.seconds);
    let whole = VERIFIED_WITHIN.as_secs_f64().max(alone * TIMES_OF_COMMAND);
    // The lab runs it once without a limit.
    let left = (whole - passed.as_secs_f64() - alone).max(0.0);
    let of = |arm: &String| {
        let found = forecast.settings.iter().find(|one| one.limit == limit && one.short_name() == arm);
        let slower = found.and_then(|one| one.forecast?.slower);
        alone * slower.map_or(1.0, |range| range.median).clamp(1.0, PATIENCE)
    };
    let once: f64 = arms.iter().map(of).sum();
    let runs = if once > 0.0 { (left / once).floor().clamp(1.0, RUNS) } else { RUNS };
    #[expect(clippy::cast_precision_loss, reason = "a number of settings")]
    let each = (left / arms.len().max(1) as f64).max(alone * 2.0).max(1.0);
    (runs, Duration::from_secs_f64(each))
}

fn limit(text: &str) -> Result<Bytes> {
    let wrong = || Failure::usage(format!("'{}' is not a size\n  try: --limit 300MiB,400MiB", text.escape_debug()));
    Ok(text.parse::<Bytes>().map_err(|_| wrong())?)
}

fn too_long(error: &TouchesError) -> Failure {
    Failure::usage(format!(
        "{error}\n  try: a shorter time, --for 20s, or ramline trace record --out FILE and ramline predict FILE"
    ))
}

/// A recording in memory, up to `most` bytes.
struct RecordBuffer {
    bytes: Vec<u8>,
    most: u64,
}

impl Write for RecordBuffer {
    fn write(&mut self, part: &[u8]) -> std::io::Result<usize> {
        if self.bytes.len() as u64 + part.len() as u64 > self.most {
            let text = format!("the recording takes more than the {} that can be taken for it", Bytes(self.most));
            return Err(std::io::Error::other(text));
        }
        self.bytes.extend_from_slice(part);
        Ok(part.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_predict::forecast::{Figures, Range, SettingForecast};
    use ramline_predict::recorded::Recorded as Known;

    #[test]
    fn a_verification_has_as_many_runs_as_five_minutes_or_three_times_the_command_have_time_for() {
        let setting = |name: &str, slower: f64| {
            let slower = Some(Range { median: slower, low: slower, high: slower });
            let forecast = Some(Figures { slower, ..Figures::default() });
            SettingForecast { name: format!("{name} at 9 B"), limit: Bytes(9), forecast, ..SettingForecast::default() }
        };
        let of = |seconds: f64, passed: u64| {
            let recorded = Some(Known { seconds, ..Known::default() });
            let settings = vec![setting("no-swap", 1.0), setting("swap:60", 4.0)];
            let forecast = Forecast { settings, recorded, ..Forecast::default() };
            let arms = ["no-swap", "swap:60"].map(str::to_owned);
            let (runs, timeout) = fitting(&forecast, (Bytes(9), &arms), Duration::from_secs(passed));
            (runs, timeout.as_secs())
        };
        // 300 s less 60 and 4: 236 s, of which a run of both takes 20.
        assert_eq!(of(4.0, 60), (3.0, 118));
        // 300 less 60 and 30: 210 s, of which a run of both takes 150.
        assert_eq!(of(30.0, 60), (1.0, 105));
        // Three times 200 s: one run of each, and twice its time.
        assert_eq!(of(200.0, 300), (1.0, 400));
    }
}
