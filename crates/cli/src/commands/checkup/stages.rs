//! The stages of a checkup, each of which may be skipped with a reason.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use ramline_act::{RunLock, StateDir, recover};
use ramline_advice::{Inputs, findings};
use ramline_evidence::{RunRecord, TierReport};
use ramline_kernel::{Root, process, signals};
use ramline_lab::code_plus_data::{self, Consent, Env};
use ramline_lab::progress::Progress;
use ramline_lab::settings::Settings;
use ramline_lab::tiers::{Options, TiersError, measure};
use ramline_lab::{LabError, arm, preflight};
use ramline_model::costs::CostRatio;
use ramline_model::ledger::Ledger;
use ramline_model::{pressure, swap, tiers, tmpfs, verdict, watermarks, zram};
use ramline_snapshot::{Snapshot, Wanted, Window};
use ramline_units::{Bytes, Nanos};
use ramline_view::measured::priced;
use ramline_view::{CheckupReport, Cost, Drift, Mode, ProofTable, SCHEMA_VERSION, Skipped, UnseenSection};

use crate::commands::show;
use crate::exit::{self, Failure};
use crate::progress::Terminal;
use crate::source::Source;
use crate::state;

/// Rates come from a window of this length, before our own measuring moves the counters.
const WINDOW: Duration = Duration::from_secs(2);

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
}

impl Done {
    fn skip(&mut self, what: &str, why: impl Into<String>, fix: Option<&str>) {
        self.skipped.push(Skipped { what: what.to_owned(), why: why.into(), fix: fix.map(str::to_owned) });
    }
}

impl Stages<'_> {
    /// Runs all stages; returns the report and the exit code.
    ///
    /// # Errors
    /// The source cannot be read, or a signal came.
    pub fn report(&self) -> Result<(CheckupReport, u8)> {
        let start = Instant::now();
        signals::install();
        let mut terminal = Terminal::new();
        let mut done = Done::default();
        let live = self.source.is_live();
        // Read-only commands name what is left over; a checkup that may write removes it.
        let leftovers: Vec<String> = state::left_behind(self.source).into_iter().collect();
        if live && self.mode != Mode::Quick && !leftovers.is_empty() {
            terminal.step("removing what an earlier run left behind");
            recover_all()?;
        }
        terminal.step("watching the machine for 2 s");
        let before = live.then(|| self.source.snapshot(Wanted { dirs: false, ..Wanted::ALL })).transpose()?;
        if live {
            std::thread::sleep(WINDOW);
        }
        let after = self.source.snapshot(Wanted::ALL)?;
        stop_if_interrupted()?;
        if live {
            // One lock for all that is made: a second ramline is refused before anything starts.
            let lock =
                (process::uid() == 0 && self.mode != Mode::Quick).then(|| state::lock(&Root::live())).transpose()?;
            self.measure(&mut done, lock.as_ref(), &mut terminal)?;
            stop_if_interrupted()?;
            self.proof(&after, &mut done, lock.as_ref(), &mut terminal)?;
        } else {
            done.skip("measuring and proving", "this is a capture, not a running machine", None);
        }
        drop(terminal);
        let window = before.as_ref().and_then(|before| Window::new(before, &after).ok());
        let code = show::code(&after);
        let mut report = report(self.mode, &after, window, done);
        report.leftovers = leftovers;
        report.cost.wall = nanos(start.elapsed());
        Ok((report, code))
    }

    fn measure(&self, done: &mut Done, lock: Option<&RunLock>, terminal: &mut Terminal) -> Result<()> {
        let mut options = if self.mode == Mode::Quick { Options::quick() } else { Options::full() };
        if let Some(dir) = self.dir {
            dir.clone_into(&mut options.dir);
        }
        if self.prove {
            options.scratch_zram = lock.cloned();
        }
        match measure(&options, terminal) {
            Ok(measured) => {
                done.written += measured.written;
                done.cost_ratio = measured.cost;
                done.measured = Some(measured.report);
            }
            Err(TiersError::Interrupted) => stop_if_interrupted()?,
            Err(error) => done.skip("measuring the tiers", error.to_string(), Some("ramline measure tiers")),
        }
        Ok(())
    }

    fn proof(&self, seen: &Snapshot, done: &mut Done, lock: Option<&RunLock>, terminal: &mut Terminal) -> Result<()> {
        let (what, fix) = ("the proof in a sandbox", "sudo ramline checkup");
        let Some(lock) = lock else {
            let (why, fix) = match self.mode {
                Mode::Quick => ("--quick only reads", "ramline checkup"),
                _ => ("it needs root for a memory cgroup", fix),
            };
            done.skip(what, why, Some(fix));
            return Ok(());
        };
        let root = Root::live();
        let settings = self.settings(seen, done)?;
        let plan = match preflight::plan(&root, &settings) {
            Ok(plan) => plan,
            Err(error) => {
                done.skip(what, error.to_string(), Some("ramline lab run code-plus-data --dry-run"));
                return Ok(());
            }
        };
        let env = Env { root: &root, lock, crash_after: state::crash_after() };
        let consent = if self.prove { Consent::Given } else { Consent::NotGiven };
        match code_plus_data::run(&env, &plan, consent, terminal) {
            Ok(folder) => {
                done.written += plan.scratch;
                done.runs = folder.read()?.records;
            }
            Err(LabError::Interrupted) => stop_if_interrupted()?,
            Err(error) => done.skip(what, error.to_string(), Some("ramline lab run code-plus-data")),
        }
        Ok(())
    }

    /// Small and short enough for the time promised: 60 s, or 5 min with `--full`.
    fn settings(&self, seen: &Snapshot, done: &mut Done) -> Result<Settings> {
        let full = self.mode == Mode::Full;
        let has_swap = seen.swaps.data().is_some_and(|areas| !areas.is_empty());
        let swappiness = seen.settings.data().and_then(|s| s.swappiness).unwrap_or(60);
        let mut names = Vec::new();
        if has_swap {
            names.push("as-configured".to_owned());
        } else {
            done.skip("the arm as-configured", "no swap is configured here, so it is the arm no-swap", None);
        }
        names.push("no-swap".to_owned());
        if self.prove {
            names.extend([format!("swap:{swappiness}"), format!("zram:{swappiness}")]);
        } else {
            done.skip(
                "the arms with a swap file and with zram",
                "they touch more than the sandbox",
                Some("sudo ramline checkup --prove"),
            );
        }
        Ok(Settings {
            unit: Bytes::from_mib(if full { 32 } else { 16 }),
            arms: names.iter().map(|name| arm::parse(name)).collect::<Result<_, _>>()?,
            runs: if full { 3 } else { 1 },
            timeout: Duration::from_secs(if full { 15 } else { 6 }),
            dir: self.dir.map(Path::to_owned),
            ..Settings::default()
        })
    }
}

fn recover_all() -> Result<()> {
    let Some(state) = StateDir::open_existing(&state::path()?)? else { return Ok(()) };
    for run in recover(&state, &Root::live())?.runs {
        for error in run.errors {
            eprintln!("ramline: {error}");
        }
    }
    Ok(())
}

fn report(mode: Mode, seen: &Snapshot, window: Option<Window<'_>>, done: Done) -> CheckupReport {
    let inputs = Inputs { snapshot: seen, window, tiers: done.measured.as_ref(), runs: &done.runs };
    let findings = findings(&inputs);
    let ledger = Ledger::of(seen);
    let earlier = window.and_then(|w| Some((Ledger::of(w.before)?, w.span)));
    let dirs = seen.dirs.data().map(Vec::as_slice).unwrap_or_default();
    let verdict = verdict::of(seen, window);
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
            Some(measured) => priced(seen, tiers::of(seen), measured),
            None => tiers::of(seen),
        },
        cost_ratio: done.cost_ratio,
        drift: earlier.zip(ledger.as_ref()).map(|((before, span), after)| Drift::between(&before, after, span)),
        ledger,
        watermarks: watermarks::of(seen, window),
        pressure: Some(pressure::of(seen, window)),
        swap: swap::of(seen, window),
        zram: zram::of(seen),
        tmpfs: tmpfs::of(seen),
        would_fit: dirs.iter().filter_map(|dir| tmpfs::would_fit(dir, seen)).collect(),
        proof: ProofTable::of(&done.runs),
        findings,
        skipped: done.skipped,
        unseen: UnseenSection::of(seen),
        cost: Cost {
            wall: Nanos(0),
            cpu: usage.as_ref().map_or(Nanos(0), |u| Nanos(u.user.0.saturating_add(u.system.0))),
            peak_memory: usage.map_or(Bytes::ZERO, |u| u.max_rss),
            written: done.written,
        },
        measured: done.measured,
        leftovers: Vec::new(),
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
