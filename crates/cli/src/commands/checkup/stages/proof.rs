//! The proof of a checkup: code-plus-data, small and short enough for the time promised.
//!
//! What it is not: as patient as `lab run`. A busy machine gives a doubtful proof and not none: the doubt stands beside it.

use ramline_gather::quiet;
use ramline_lab::experiments::code_plus_data;
use ramline_lab::experiments::code_plus_data::plan::CodePlusDataPlan;
use ramline_lab::experiments::code_plus_data::settings::Settings;
use ramline_lab::series::{Consent, Env};
use ramline_sandbox::requirements::BUSY_LIMIT;
use ramline_sandbox::{LabError, arm};

use super::{Done, Stages, left, say, stop_if_interrupted};
use crate::prelude::*;

/// Its name among what was skipped.
pub const WHAT: &str = "the proof in a sandbox";
const GLOBAL_ARMS: &str = "the settings with a swap file and with zram";
/// How long a machine that has just compiled ramline may take to become quiet.
const PATIENCE: Duration = Duration::from_secs(5);

impl Stages<'_> {
    pub(super) fn proof(&self, seen: &Snapshot, done: &mut Done, lock: &RunLock, deadline: Instant) -> Result<()> {
        let root = Root::live();
        let settings = self.settings(seen, done)?;
        if left(deadline) < settings.longest_run() {
            done.skip(WHAT, "out of time", Some("ramline lab run code-plus-data"));
            return Ok(());
        }
        wait_for_quiet(&root)?;
        let Some(plan) = plan(&root, settings, done) else { return Ok(()) };
        say(&plan.lines());
        let env = Env { root: &root, lock, deadline: Some(deadline), crash_after: state::crash_after() };
        let consent = if self.prove { Consent::Given } else { Consent::NotGiven };
        let outcome = code_plus_data::run(&env, &plan, consent, &mut Terminal::new());
        match outcome {
            Ok(brought) => {
                done.written += plan.scratch;
                if !brought.out_of_time.is_empty() {
                    let what = format!("runs of the proof: {}", brought.out_of_time.join(", "));
                    done.skip(&what, "out of time", Some("ramline lab run code-plus-data"));
                }
                if let Some(error) = brought.ended {
                    done.skip("runs of the proof", error.to_string(), Some("ramline lab run code-plus-data"));
                }
                if let Some(folder) = brought.folder {
                    done.runs = folder.read()?.records;
                }
            }
            // What was not put back is not a line among others.
            Err(error @ (LabError::CleanUp { .. } | LabError::Act(ActError::Undo { .. }))) => return Err(error.into()),
            Err(error) => {
                stop_if_interrupted()?;
                done.skip(WHAT, error.to_string(), Some("ramline lab run code-plus-data"));
            }
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
            done.skip("the setting as-configured", "no swap is configured here, so it is the setting no-swap", None);
        }
        names.push("no-swap".to_owned());
        if self.prove {
            names.extend([format!("swap:{swappiness}"), format!("zram:{swappiness}")]);
        } else {
            // Nothing is proved but by root.
            done.skip(GLOBAL_ARMS, "they touch more than the sandbox", Some("ramline checkup --prove"));
        }
        Ok(Settings {
            unit: Bytes::from_mib(if full { 32 } else { 16 }),
            arms: names.iter().map(|name| arm::parse(name)).collect::<Result<_, _>>()?,
            runs: if full { 6 } else { 1 },
            timeout: Duration::from_secs(if full { 15 } else { 6 }),
            dir: self.dir.map(std::path::Path::to_owned),
            // Each record says what disturbed it.
            allow_busy: true,
            settle: Duration::from_secs(1),
            ..Settings::default()
        })
    }
}

/// The plan for all arms; where that is refused, for those that touch nothing outside the sandbox; else the reason why not.
fn plan(root: &Root, settings: Settings, done: &mut Done) -> Option<CodePlusDataPlan> {
    let refused = match CodePlusDataPlan::checked(root, &settings) {
        Ok(plan) => return Some(plan),
        Err(refused) => refused.to_string(),
    };
    let all = settings.arms.len();
    let arms: Vec<_> = settings.arms.iter().filter(|arm| !arm::needs_consent(arm)).cloned().collect();
    let fix = Some("ramline lab run code-plus-data --dry-run");
    if arms.len() < all
        && let Ok(plan) = CodePlusDataPlan::checked(root, &Settings { arms, ..settings })
    {
        done.skip(GLOBAL_ARMS, refused, fix);
        return Some(plan);
    }
    done.skip(WHAT, refused, fix);
    None
}

/// Waits a little, and goes on all the same.
fn wait_for_quiet(root: &Root) -> Result<()> {
    let begin = Instant::now();
    while quiet::look(root, Duration::from_millis(250))?.cpu_busy > BUSY_LIMIT && begin.elapsed() < PATIENCE {
        if signals::interrupted() {
            break;
        }
    }
    stop_if_interrupted()
}
