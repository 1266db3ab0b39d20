//! The stages of a checkup, each of which may be skipped with a reason.

mod late;
mod proof;

use ramline_advice::{Inputs, findings_on, not_looked, with_findings};
use ramline_evidence::{RunRecord, TierReport};
use ramline_measure::tiers::{TierOptions, TiersError, measure};
use ramline_model::costs::CostRatio;
use ramline_model::ledger::Ledger;
use ramline_model::{swap, tiers, tmpfs, verdict, watermarks, zram};
use ramline_sandbox::progress::{Progress, Silent};
use ramline_snapshot::setup::SetUp;
use ramline_view::measured::priced;
use ramline_view::{CheckupCost, CheckupReport, Drift, ProofTable, SCHEMA_VERSION, Skipped, UnseenSection, WhoUses};

use crate::commands::show;
use crate::prelude::*;

/// Rates come from a window of this length, before our own measuring moves the counters.
const WINDOW: Duration = Duration::from_secs(2);
/// The first look needs what has counters, or gauges whose growth counts; the rest is read once.
const COUNTERS: Wanted =
    Wanted { dirs: false, shmem: false, hugepages: false, configured: false, killers: false, ..Wanted::ALL };
/// Page-table walks for who holds memory, as `show processes` makes them.
const WALKS: Nanos = Nanos(250_000_000);
/// What is kept of the time promised for putting the report together.
const REPORT: Duration = Duration::from_secs(1);
/// Of the time promised, at most this part for the first look, which is of counters alone, and for the second.
const LOOKS: [f64; 2] = [0.2, 0.4];

/// What a checkup was asked for.
pub struct Stages<'a> {
    pub source: &'a Source,
    pub mode: Mode,
    pub prove: bool,
    pub dir: Option<&'a Path>,
}

/// What the stages that do something brought.
#[derive(Default)]
struct Done {
    measured: Option<TierReport>,
    cost_ratio: Option<CostRatio>,
    runs: Vec<RunRecord>,
    skipped: Vec<Skipped>,
    written: Bytes,
    removed: Vec<String>,
}

impl Done {
    fn skip(&mut self, what: &str, why: impl Into<String>, fix: Option<&str>) {
        self.skipped.push(skipped(what, why, fix));
    }
}

fn skipped(what: &str, why: impl Into<String>, fix: Option<&str>) -> Skipped {
    Skipped { what: what.to_owned(), why: why.into(), fix: fix.map(str::to_owned) }
}

/// The time promised.
fn promised(mode: Mode) -> Duration {
    Duration::from_secs(match mode {
        Mode::Quick => 15,
        Mode::Default => 60,
        Mode::Full => 300,
    })
}

impl Stages<'_> {
    /// Runs all stages; returns the report and the exit code.
    ///
    /// # Errors
    /// The source cannot be read, a signal came, another ramline is running, or something could not be put back.
    pub fn report(&self) -> Result<(CheckupReport, u8)> {
        let start = Instant::now();
        let deadline = start + promised(self.mode).saturating_sub(REPORT);
        signals::install();
        let mut done = Done::default();
        let live = self.source.is_live();
        // Read-only commands name what is left over; a checkup that may write removes it.
        let mut lock = if live { self.lock()? } else { Err(skipped("", "", None)) };
        if let Ok(held) = &lock {
            match remove_leftovers(held) {
                Ok(removed) => done.removed = removed,
                Err(why) => lock = Err(why),
            }
        }
        let leftovers = state::left_behind(self.source).into_iter().collect();
        let mut terminal = Terminal::new();
        terminal.step("watching the machine for 2 s");
        let ends = |part: f64| Instant::now() + promised(self.mode).mul_f64(part);
        let before = live.then(|| self.source.snapshot_until(COUNTERS, Walking::Never, ends(LOOKS[0]))).transpose()?;
        if live {
            std::thread::sleep(WINDOW);
        }
        let (after, missed) = self.source.snapshot_until(Wanted::ALL, Walking::Within(WALKS), ends(LOOKS[1]))?;
        done.skipped.extend(late::left_out(&after, &missed));
        let of_the_past = || self.source.past.as_ref().and_then(|past| past.before.clone());
        let before = before.map(|(before, _)| before).or_else(of_the_past);
        drop(terminal);
        stop_if_interrupted()?;
        if live {
            self.measure(&mut done, lock.as_ref().ok(), deadline)?;
            stop_if_interrupted()?;
            match lock {
                Ok(lock) => self.proof(&after, &mut done, &lock, deadline)?,
                Err(why) => done.skipped.push(why),
            }
            stop_if_interrupted()?;
        } else {
            done.skip("measuring and proving", "this is a capture, not a running machine", None);
        }
        let window = before.as_ref().and_then(|before| Window::new(before, &after).ok());
        let code = show::code(&after);
        let set_up = late::set_up(self.source, &mut done)?;
        let mut report = report(self.mode, &after, &set_up, window, done);
        report.leftovers = leftovers;
        report.cost.wall = nanos(start.elapsed());
        Ok((report, code))
    }

    /// One lock for all that is made: a second ramline is refused before anything starts. Where there can be none, that is
    /// why nothing is proved.
    fn lock(&self) -> Result<std::result::Result<RunLock, Skipped>> {
        if self.mode == Mode::Quick {
            return Ok(Err(skipped(proof::WHAT, "--quick only reads", Some("ramline checkup"))));
        }
        if process::uid() != 0 {
            return Ok(Err(skipped(proof::WHAT, "it needs root for a memory cgroup", Some("sudo ramline checkup"))));
        }
        match state::lock(&Root::live()) {
            Ok(lock) => Ok(Ok(lock)),
            Err(error) if error.downcast_ref::<ActError>().is_some_and(|error| error.busy_pid().is_some()) => {
                Err(error)
            }
            Err(error) => {
                let fix = "RAMLINE_STATE_DIR=/root/ramline ramline checkup";
                Ok(Err(skipped(proof::WHAT, format!("{error:#}"), Some(fix))))
            }
        }
    }

    fn measure(&self, done: &mut Done, lock: Option<&RunLock>, deadline: Instant) -> Result<()> {
        let what = "measuring the tiers";
        let quick = self.mode == Mode::Quick;
        let mut options = if quick { TierOptions::quick() } else { TierOptions::full() };
        if left(deadline) < Duration::from_secs(if quick { 6 } else { 15 }) {
            done.skip(what, "out of time", Some("ramline measure tiers"));
            return Ok(());
        }
        if lock.is_none()
            && let Err(error) = state::alone(&Root::live())
        {
            done.skip(what, format!("{error:#}"), Some("ramline measure tiers"));
            return Ok(());
        }
        if let Some(dir) = self.dir {
            dir.clone_into(&mut options.dir);
        }
        if self.prove {
            options.scratch_zram = lock.cloned();
        }
        say(&options.announcement().into_iter().collect::<Vec<_>>());
        let measured = if quick {
            // Whatever the machine does, it ends: a read may wait for a device, and a loop for a processor.
            let most = left(deadline);
            options.until = Some(deadline - most / 8);
            let mut terminal = Terminal::new();
            terminal.step("measuring tiers");
            let within = ramline_kernel::worker::within("tiers", most, move || measure(&options, &mut Silent));
            let Some(measured) = within else {
                done.skip(what, late::time_was_up(most), Some("ramline measure tiers"));
                return Ok(());
            };
            measured
        } else {
            measure(&options, &mut Terminal::new())
        };
        match measured {
            Ok(measured) => {
                if !quick {
                    remembered::keep(&measured.report);
                }
                done.written += measured.written;
                done.cost_ratio = measured.cost;
                done.measured = Some(measured.report);
            }
            // What was not removed is not a line among others.
            Err(error @ TiersError::Act(ActError::Undo { .. })) => return Err(error.into()),
            Err(error) => {
                stop_if_interrupted()?;
                done.skip(what, error.to_string(), Some("ramline measure tiers"));
            }
        }
        Ok(())
    }
}

/// Before anything is measured: what an earlier run left would be measured with it.
fn remove_leftovers(lock: &RunLock) -> std::result::Result<Vec<String>, Skipped> {
    match ramline_act::clean_up(lock, &Root::live()) {
        Ok(removed) => {
            say(&removed);
            Ok(removed)
        }
        Err(error) => Err(skipped(proof::WHAT, error.to_string(), Some("ramline lab clean"))),
    }
}

/// To stderr, on a terminal or not.
fn say(lines: &[String]) {
    for line in lines {
        ramline_kernel::stdio::tell(line);
    }
}

fn left(deadline: Instant) -> Duration {
    deadline.saturating_duration_since(Instant::now())
}

fn report(mode: Mode, seen: &Snapshot, set_up: &SetUp, window: Option<Window<'_>>, mut done: Done) -> CheckupReport {
    // A rule that could not look is not one that found nothing. What was left out on purpose is named already.
    let blind = not_looked(&Inputs { snapshot: seen, window, tiers: done.measured.as_ref(), runs: &done.runs });
    for gap in blind.into_iter().filter(|_| done.measured.is_some()) {
        done.skipped.push(skipped(&format!("rules {}", gap.rules.join(", ")), gap.why, Some(gap.fix)));
    }
    let inputs = Inputs { snapshot: seen, window, tiers: done.measured.as_ref(), runs: &done.runs };
    let findings = findings_on(&inputs, set_up);
    let ledger = Ledger::from_snapshot(seen);
    let earlier = window.and_then(|w| Some((Ledger::from_snapshot(w.before)?, w.span)));
    let dirs = seen.dirs.data().map(Vec::as_slice).unwrap_or_default();
    let verdict = verdict::from_snapshot(seen, window).map(|verdict| with_findings(verdict, &findings));
    let usage = process::own_usage().ok();
    CheckupReport {
        schema_version: SCHEMA_VERSION,
        ramline: env!("CARGO_PKG_VERSION").to_owned(),
        mode,
        machine: seen.machine.clone(),
        taken_unix_ns: seen.machine.taken_unix_ns,
        window: window.map(|w| w.span),
        sentence: verdict.as_ref().map(|v| v.text.clone()).unwrap_or_default(),
        verdict,
        tiers: match &done.measured {
            Some(measured) => priced(seen, tiers::from_snapshot(seen), measured),
            None => tiers::from_snapshot(seen),
        },
        cost_ratio: done.cost_ratio,
        drift: earlier.zip(ledger.as_ref()).map(|((before, span), after)| Drift::between(&before, after, span)),
        ledger,
        watermarks: watermarks::from_snapshot(seen, window),
        pressure: Some(verdict::pressure_with_groups(seen, window)),
        swap: swap::from_snapshot(seen, window),
        zram: zram::from_snapshot(seen),
        tmpfs: tmpfs::from_snapshot(seen),
        would_fit: dirs.iter().filter_map(|dir| tmpfs::would_fit(dir, seen)).collect(),
        who: WhoUses::from_snapshot(seen, window.as_ref()),
        proof: ProofTable::from_runs(&done.runs),
        findings,
        skipped: done.skipped,
        unseen: UnseenSection::from_snapshot(seen),
        cost: CheckupCost {
            wall: Nanos(0),
            cpu: usage.as_ref().map_or(Nanos(0), |u| Nanos(u.user.0.saturating_add(u.system.0))),
            peak_memory: usage.map_or(Bytes::ZERO, |u| u.max_rss),
            written: done.written,
        },
        measured: done.measured,
        leftovers: Vec::new(),
        removed: done.removed,
    }
}

fn stop_if_interrupted() -> Result<()> {
    if signals::interrupted() {
        return Err(
            Failure::new(exit::ROLLED_BACK, "interrupted; everything was put back\n  try: ramline checkup").into()
        );
    }
    Ok(())
}

fn nanos(duration: Duration) -> Nanos {
    Nanos(u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX))
}
