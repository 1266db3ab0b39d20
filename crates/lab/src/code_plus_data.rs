//! The experiment code-plus-data: what happens when program code and data together do not fit.
//!
//! Without swap the kernel can only drop file pages, and code is made of those; with swap it can move idle data instead.
//! The observer stays outside the group; the workload is the same binary, started again inside it. What it is not: a
//! benchmark of the disk: the arms of one run share disk, sizes and access pattern, and only their differences count.

use ramline_act::{Run, RunLock, recover};
use ramline_evidence::Machine;
use ramline_kernel::cgroup::Version;
use ramline_kernel::gather::gather;
use ramline_kernel::{Root, process};
use ramline_snapshot::Wanted;

use crate::arm;
use crate::error::{LabError, Result};
use crate::preflight::Plan;
use crate::progress::Progress;
use crate::runner::{Bench, unix_ms};
use crate::scratch::Scratch;
use crate::store::RunFolder;

/// Its name on the command line and in records.
pub const NAME: &str = "code-plus-data";

/// Whether the reader agreed to what [`Plan::global`] lists: by answering, or with `--prove`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Consent {
    /// Nobody was asked, or the answer was no.
    NotGiven,
    /// Agreed.
    Given,
}

/// Where a run happens.
#[derive(Debug)]
pub struct Env<'a> {
    /// The live machine.
    pub root: &'a Root,
    /// One ramline at a time; also where state is kept.
    pub lock: &'a RunLock,
    /// Fault injection for tests: die after so many journal records.
    pub crash_after: Option<u64>,
}

/// Runs all arms of `plan`, interleaved, and returns the folder with the raw records. Call it from a thread that lives
/// until it returns: the workload is tied to the thread.
///
/// # Errors
/// No consent where it is needed; setting up failed; SIGINT or SIGTERM came. Everything made is undone in every case,
/// and records written so far stay.
pub fn run(env: &Env<'_>, plan: &Plan, consent: Consent, progress: &mut dyn Progress) -> Result<RunFolder> {
    if plan.needs_consent() && consent == Consent::NotGiven {
        return Err(LabError::Refused {
            reasons: plan.global.iter().map(|what| format!("not agreed to: {what}")).collect(),
            hint: format!("ramline lab run {NAME} --prove"),
        });
    }
    let state = env.lock.state();
    for left in recover(state, env.root)?.runs {
        if !left.removed.is_empty() {
            progress.step(&format!("removed what process {} had left: {}", left.pid, left.removed.join(", ")));
        }
    }
    let folder = RunFolder::create(state.path(), NAME, unix_ms())?;
    let mut run = Run::begin(env.lock, env.root, env.crash_after)?;
    let outcome = all(env, plan, &folder, &mut run, progress);
    progress.step("putting everything back");
    // The first error is the one to report; a failing clean-up after it is named by the journal.
    let cleaned = run.finish();
    outcome?;
    cleaned?;
    Ok(folder)
}

fn all(env: &Env<'_>, plan: &Plan, folder: &RunFolder, run: &mut Run, progress: &mut dyn Progress) -> Result<()> {
    progress.step(&format!("writing the code file below {}", plan.place.dir.display()));
    let scratch = Scratch::create(plan, run)?;
    let bench = Bench { root: env.root, plan, scratch: &scratch, machine: machine(env.root, plan) };
    let order = arm::interleaved(plan.arms.len(), plan.settings.runs);
    let total = u32::try_from(order.len()).unwrap_or(u32::MAX);
    for (number, (repetition, index)) in (0u32..).zip(order) {
        let Some(arm) = plan.arms.get(index) else { continue };
        run.check_interrupted()?;
        progress.begin(number, total, &arm.name);
        let mark = run.mark();
        let outcome = bench.once(arm, (repetition, number), run, progress);
        if let Ok(record) = &outcome {
            // Written before anything is concluded from it, and before anything else can fail.
            folder.write(record)?;
            progress.end(record);
        }
        run.undo_to(mark)?;
        outcome?;
    }
    Ok(())
}

fn machine(root: &Root, plan: &Plan) -> Machine {
    let seen = gather(root, Wanted { meminfo: true, ..Wanted::NOTHING });
    Machine {
        kernel: seen.machine.kernel.clone(),
        cpus: u32::try_from(seen.machine.cpus).unwrap_or_default(),
        mem_total: seen.mem_total().unwrap_or_default(),
        page_size: process::page_size(),
        cgroup_version: if plan.hierarchy.version() == Version::V1 { 1 } else { 2 },
        boot_id: seen.machine.boot_id.clone().unwrap_or_default(),
        scratch_fs: plan.place.fs_type.clone(),
        scratch_disk: plan.place.device.clone(),
        ramline: env!("CARGO_PKG_VERSION").to_owned(),
    }
}
