//! The series: measure the guest once, then one boot for each run.
//!
//! What it is not: a benchmark of seconds. The unit is a sixteenth of the memory the guest had available when it was measured,
//! so 17 units of code and data are one too many, in every arm alike.

use ramline_evidence::Reclaim;

use super::super::report::WorkTask;
use super::super::settings::{CODE_UNITS, Settings};
use super::plan::VmPlan;
use crate::limited::report::{WorkLog, WorkReport};
use crate::prelude::*;
use ramline_sandbox::vm::guest::CODE_FILE;
use ramline_sandbox::vm::host::{self, GuestLog, Measured, Part, Patience};
use ramline_sandbox::vm::message::{GuestWork, Orders};
use ramline_sandbox::vm::qemu::{Accel, Guest};

/// A guest made by the processor itself must say its first line within this time, or it is emulated.
const KVM_PATIENCE: Duration = Duration::from_secs(5);
/// Units are whole multiples of this.
const GRAIN: u64 = 64 << 10;

/// One series.
struct VmSeries {
    plan: VmPlan,
    made: Option<Made>,
}

/// What all runs share.
struct Made {
    dir: PathBuf,
    initrd: PathBuf,
    code: PathBuf,
    accel: Accel,
    settings: Settings,
    measured: Measured,
    notes: Vec<String>,
}

/// The series of a plan.
#[must_use]
pub fn planned(plan: VmPlan) -> PlannedSeries {
    let VmPlan { options, settings, arms, kernel, place, .. } = &plan;
    let own = |unit: Bytes| unit.to_string();
    let unit = options.unit.map_or_else(|| "a sixteenth of the memory available in the guest".to_owned(), own);
    let (count, seconds) = (counted(arms.len(), "settings", settings.runs), settings.timeout.as_secs());
    let sentences = vec![
        format!("{count}; each one boot and at most {seconds} s of rounds"),
        format!(
            "in a virtual machine: {}, {} of memory, processors: {}; one unit is {unit}",
            kernel.release.as_deref().unwrap_or("a kernel that does not name itself"),
            options.memory,
            options.cpus
        ),
        format!(
            "takes up to {} of this machine's memory, and {} below {} ({}), removed afterwards",
            plan.memory,
            plan.scratch,
            place.dir.display(),
            place.fs_type
        ),
    ];
    // A boot, the fill, the rounds and the end, emulated.
    let longest_run = settings.timeout.saturating_mul(2).saturating_add(Duration::from_secs(40));
    let (arms, runs, doubts) = (arms.clone(), settings.runs, plan.doubts.clone());
    let work = Box::new(VmSeries { plan, made: None });
    PlannedSeries { arms, runs, sentences, global: Vec::new(), doubts, longest_run, work }
}

impl VmSeries {
    fn guest(&self, initrd: PathBuf, accel: Accel) -> Guest {
        let options = &self.plan.options;
        Guest {
            kernel: self.plan.kernel.image.clone(),
            initrd,
            memory: options.memory,
            cpus: options.cpus,
            accel,
            code: None,
            swap: None,
        }
    }

    /// Boots once: by the processor where that comes up, else emulated.
    fn measure(&self, initrd: &std::path::Path, bench: &mut Bench<'_>) -> Result<(Accel, Measured, Vec<String>)> {
        let mut notes = Vec::new();
        let asked = self.plan.options.accel;
        let patience = Patience::for_rounds(Duration::ZERO).first_line;
        if asked == Some(Accel::Kvm) || (asked.is_none() && has_kvm()) {
            bench.progress.step("booting the guest on this machine's processor (KVM)");
            let wait = if asked.is_some() { patience } else { KVM_PATIENCE };
            match host::measure(&self.guest(initrd.to_owned(), Accel::Kvm), bench.run, wait) {
                Ok(Some(measured)) => return Ok((Accel::Kvm, measured, notes)),
                Err(LabError::Interrupted) => return Err(LabError::Interrupted),
                Err(error) if asked.is_some() => return Err(error),
                Ok(None) if asked.is_some() => return Err(no_first_line(patience)),
                Ok(None) => notes.push(format!(
                    "KVM: no first line of the guest within {} s, so the processor is emulated",
                    KVM_PATIENCE.as_secs()
                )),
                Err(error) => notes.push(format!("KVM: {}", first_line(&error.to_string()))),
            }
        }
        bench.progress.step("booting the guest on an emulated processor");
        let guest = self.guest(initrd.to_owned(), Accel::Tcg);
        let measured = host::measure(&guest, bench.run, patience)?.ok_or_else(|| no_first_line(patience))?;
        Ok((Accel::Tcg, measured, notes))
    }

    /// The settings of the workload for a guest with this much memory.
    fn sized(&self, available: Bytes) -> Result<Settings> {
        let unit = self.plan.options.unit.unwrap_or(Bytes(available.0 / 16 / GRAIN * GRAIN));
        if unit < Bytes::from_mib(1) {
            let message = format!("the guest has {available} available: a sixteenth of it is less than 1 MiB");
            return Err(LabError::usage(message, "ramline lab run code-plus-data --sandbox vm --memory 256MiB"));
        }
        Ok(Settings { unit, limit: Some(available), ..self.plan.settings.clone() })
    }
}

fn no_first_line(patience: Duration) -> LabError {
    LabError::Workload(format!("the guest's first line did not come within {} s", patience.as_secs()))
}

/// Opening it tells; whether a guest then comes up is another matter.
fn has_kvm() -> bool {
    std::fs::OpenOptions::new().read(true).write(true).open("/dev/kvm").is_ok()
}

impl Series for VmSeries {
    fn prepare(&mut self, bench: &mut Bench<'_>) -> Result<()> {
        let dir = scratch::own_dir(&self.plan.place.dir, bench.run)?;
        let bytes = std::mem::take(&mut self.plan.initramfs);
        let initrd = bench.run.make_file(&dir.join("initrd"), |file| std::io::Write::write_all(file, &bytes))?;
        let (accel, measured, notes) = self.measure(&initrd, bench)?;
        notes.iter().for_each(|note| bench.progress.step(note));
        let settings = self.sized(measured.available)?;
        bench.progress.step(&format!(
            "the guest came up in {:.1} s and has {} available: one unit is {}",
            measured.set_up.as_secs_f64(),
            measured.available,
            settings.unit
        ));
        let content = bench.run.make_dir(&dir.join("ramline-content"))?;
        let size = settings.units(CODE_UNITS);
        bench.run.make_file(&content.join("code"), |file| scratch::fill(file, size))?;
        let code = bench.run.make_image_file(&dir.join("code.img"), image_size(size))?;
        bench.run.mkfs_ext4_holding(&code, Some(&content))?;
        self.made = Some(Made { dir, initrd, code, accel, settings, measured, notes });
        Ok(())
    }

    fn once(&mut self, arm: &Arm, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<()> {
        let made = prepared(&self.made)?;
        let options = &self.plan.options;
        let mut guest = self.guest(made.initrd.clone(), made.accel);
        guest.code = Some(made.code.clone());
        if arm::on_disk(&arm.swap) {
            let size = options.swap_disk.unwrap_or_else(|| made.settings.swap_size());
            // Sparse: the host gives blocks only for what the guest writes. Fresh, so its slots are in order.
            guest.swap = Some(bench.run.make_file(&made.dir.join("swap.img"), |file| file.set_len(size.0))?);
        }
        describe(record, &self.plan, made, bench.root);
        let orders = Orders {
            swap: arm.swap.clone(),
            zram_size: made.settings.zram_size(&arm.swap),
            swappiness: arm.swappiness,
            mglru: arm.settings.get("lru").map(|word| word == "mglru"),
            sysctls: options.sysctls.clone(),
            read_ahead: made.settings.read_ahead(arm),
            work: Some(work(&made.settings.task(arm, PathBuf::from(CODE_FILE))?)?),
        };
        let patience = Patience::for_rounds(made.settings.timeout);
        host::follow(&guest, &orders, patience, &mut WorkLog::default(), record, bench.run, bench.progress)?;
        // A signal from the terminal ends QEMU too in the end: what the guest did then is no result.
        bench.run.check_interrupted()?;
        conclude(record);
        Ok(())
    }
}

fn work(task: &WorkTask) -> Result<GuestWork> {
    let shared = task.workload.shared;
    let task = ramline_units::json::tree(&task).map_err(|error| LabError::Workload(error.to_string()))?;
    Ok(GuestWork { kind: super::super::NAME.to_owned(), task, shared })
}

impl GuestLog for WorkLog {
    fn take(&mut self, report: serde_json::Value, record: &mut RunRecord) -> Option<Part> {
        let report: WorkReport = ramline_units::json::read(report).ok()?;
        let part = match (report.phase, report.took) {
            (Phase::Fill, Some(_)) => Some(Part::Rounds),
            (Phase::Done, _) => Some(Part::Ending),
            _ => None,
        };
        self.take(report, record);
        part
    }

    fn conclude(&self, end: &End, record: &mut RunRecord) {
        self.conclude(end, "the machine", record);
    }
}

fn describe(record: &mut RunRecord, plan: &VmPlan, made: &Made, root: &Root) {
    let host = ramline_gather::gather(root, ramline_snapshot::Wanted::NOTHING).machine.kernel;
    record.sandbox = "vm".to_owned();
    record.emulated = made.accel == Accel::Tcg;
    record.workload = made.settings.workload(&record.arm);
    record.machine.scratch_fs = "ext4 (virtio disk)".to_owned();
    record.machine.scratch_disk = Some(format!("image on {}", plan.place.fs_type));
    record.notes.extend(made.notes.iter().cloned());
    if !record.emulated {
        let note = "the guest's disks are files that this machine may hold in its page cache: reading from them is faster than from a disk";
        record.notes.push(note.to_owned());
    }
    let facts = [
        ("host kernel", host),
        ("emulator", plan.emulator.clone()),
        ("processor", made.accel.word().to_owned()),
        ("guest memory", plan.options.memory.to_string()),
        ("memory available when measured", made.measured.available.to_string()),
    ];
    record.verified.extend(facts.map(|(name, value)| (name.to_owned(), value)));
}

/// What follows from the counters.
fn conclude(record: &mut RunRecord) {
    if matches!(record.verdict, ramline_evidence::Verdict::Failed(_)) {
        // What was counted until it failed is no result.
        return;
    }
    let faults = record.reclaim.major_faults;
    record.reclaim = reclaim(record, faults);
    record.figures = ramline_evidence::work::figures(record);
    let mut out = Figures(std::mem::take(&mut record.figures));
    let delta = |name: &str| record.growth(name);
    let mut count = |name: &str, count| out.pages(name, count, Better::Neither);
    count("taken by kswapd", delta("vm.pgsteal_kswapd"));
    count("taken directly", delta("vm.pgsteal_direct"));
    count("looked at by kswapd", delta("vm.pgscan_kswapd"));
    count("looked at directly", delta("vm.pgscan_direct"));
    // zswap's hits never become swap-ins of a device.
    count("stored in zswap", delta("vm.zswpout").filter(|count| *count > 0));
    count("loaded from zswap", delta("vm.zswpin").filter(|count| *count > 0));
    let pool = record.samples.iter().filter_map(|sample| sample.pool).max();
    out.bytes("largest zram pool", pool, Better::Neither);
    record.figures = out.0;
}

/// The whole machine is the sandbox: its counters are the run's, and what was read is what its disks say.
fn reclaim(record: &RunRecord, faults: u64) -> Reclaim {
    let delta = |name: &str| record.growth(name);
    let sectors = [delta("disk.code.read_sectors"), delta("disk.swap.read_sectors")];
    Reclaim {
        refault_file: delta("vm.workingset_refault_file").or_else(|| delta("vm.workingset_refault")),
        refault_anon: delta("vm.workingset_refault_anon"),
        read_bytes: sectors.into_iter().flatten().reduce(|a, b| a + b).map(|sum| Bytes(sum.saturating_mul(512))),
        ..observe::reclaim(record, faults)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn the_machines_own_counters_are_the_runs_and_disks_say_what_was_read() {
        let table = |pairs: &[(&str, u64)]| -> BTreeMap<String, u64> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect()
        };
        let before = table(&[("vm.workingset_refault_file", 1), ("disk.code.read_sectors", 10), ("vm.pswpin", 0)]);
        let after = table(&[("vm.workingset_refault_file", 8), ("disk.code.read_sectors", 18), ("vm.pswpin", 4)]);
        let found = reclaim(&RunRecord { before, after, ..RunRecord::default() }, 3);
        assert_eq!((found.refault_file, found.refault_anon, found.swap_in), (Some(7), None, Some(4)));
        assert_eq!((found.read_bytes, found.major_faults), (Some(Bytes(8 * 512)), 3));
    }
}
