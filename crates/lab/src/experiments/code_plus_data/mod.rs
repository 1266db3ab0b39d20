//! The experiment code-plus-data: what happens when program code and data together do not fit.
//!
//! Without swap the kernel can only drop file pages, and code is made of those; with swap it can move idle data instead.
//! The observer stays outside the group; the workload is the same binary, started again inside it. What it is not: a
//! benchmark of the disk: the arms of one run share disk, sizes and access pattern, and only their differences count.

mod code_file;
pub mod forecast;
pub mod plan;
pub mod report;
mod runner;
pub mod settings;
pub mod vm;
mod workload;

use self::code_file::Scratch;
use self::plan::{CodePlusDataPlan, Ground};
use self::runner::Runner;
pub use self::settings::NAME;
use self::settings::Settings;
use crate::limited::options;
use crate::prelude::*;
use crate::series::{self, Consent, Env, Order, SeriesResult};

/// The row of the table.
pub const EXPERIMENT: Experiment = Experiment {
    name: NAME,
    question: "What happens when programs and data together do not fit into memory, with swap and without?",
    how: "A file of 3 units stands for program code, anonymous memory of 14 units for data, in a memory cgroup limited to 15. \
          The data is filled; then 11 rounds read code at random places and data in a window that moves on. Each setting is the same \
          under other swap settings, in interleaved order, with cold code and a fresh swap area every time.",
    needs: "root, a memory cgroup (version 1 or 2), mke2fs, a disk with about twice the code and swap free, the limit and a margin in memory; \
            without root the settings as-configured and no-swap, in a group of version 2 of one's own: systemd-run --user --scope -p Delegate=yes ...; \
            or --sandbox vm: QEMU, a kernel with its modules, a static ramline",
    reading: include_str!(concat!(env!("OUT_DIR"), "/reading/code-plus-data.md")),
    parameters: &PARAMETERS,
    figures: &[
        "time per round",
        "rounds",
        "major faults per round",
        "file refaults per round",
        "anonymous refaults per round",
    ],
    child: Some(workload::work),
    study: Study::Proof,
    forecast: Some(forecast::question),
    open,
};

const OWN: &[Parameter] = &[
    row(
        "sandbox",
        Kind::Word(&["cgroup", "vm"]),
        Some("cgroup"),
        "Where the workload runs: a memory cgroup, or a virtual machine",
    ),
    params::size(
        "unit",
        "Size of one unit; the load has 14 units of data and 3 of code, in a limit of 15 (32MiB; in a virtual machine a sixteenth of what is available)",
    ),
    params::size("limit", "Limit of the sandbox instead of 15 units"),
    row("ballast", Kind::Count(0, 3), Some("0"), "Units of other programs"),
    row("rounds", Kind::Count(1, 11), Some("11"), "Rounds"),
    row("fill", Kind::List, Some("text"), "Contents of the data, comma-separated: zeros, text, random"),
    row("shared", Kind::Switch, Some("false"), "Data in shared instead of private anonymous memory"),
    options::ARMS,
    row("runs", Kind::Count(1, 100), Some("7"), "Runs of each setting, in alternating order"),
    options::TIMEOUT,
    row(
        "read-ahead",
        Kind::List,
        Some("128KiB"),
        "Read-ahead of the scratch device, or several, comma-separated, each with all settings; the host's disks keep theirs (without root the code is read with that of the disk)",
    ),
    options::STALE_STATISTICS,
];

/// Its own, then those of the virtual machine.
const PARAMETERS: [Parameter; OWN.len() + vm::options::PARAMETERS.len()] = {
    let mut all = [OWN[0]; OWN.len() + vm::options::PARAMETERS.len()];
    let mut at = 0;
    while at < all.len() {
        all[at] = if at < OWN.len() { OWN[at] } else { vm::options::PARAMETERS[at - OWN.len()] };
        at += 1;
    }
    all
};

fn open(root: &Root, params: &Params) -> Result<PlannedSeries> {
    if params.text("sandbox") == Some("vm") {
        return vm::open(root, params);
    }
    if let Some(row) = vm::options::PARAMETERS.iter().find(|row| params.text(row.name).is_some()) {
        let hint = format!("ramline lab run {NAME} --sandbox vm --kernel 6.12");
        return Err(LabError::usage(format!("--{} is for a virtual machine", row.name), hint));
    }
    Ok(CodePlusDataPlan::checked(root, &Settings::from_params(params)?)?.planned())
}

impl CodePlusDataPlan {
    /// The plan in sentences, printed before anything is done.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        self.planned().lines()
    }

    fn planned(&self) -> PlannedSeries {
        let CodePlusDataPlan { settings, arms, place, hierarchy, .. } = self;
        let (limit, demand) = (settings.limit(), settings.demand());
        let count = counted(arms.len(), "settings", settings.runs);
        let too_much = demand.saturating_sub(limit);
        let mut sentences = vec![
            format!("{count}; each at most {} s of rounds", settings.timeout.as_secs()),
            format!("in a memory cgroup limited to {limit}; the workload wants {demand}: {too_much} too much"),
            scratch_line(&format!(": up to {}", self.scratch), place),
        ];
        if let Ground::Plain { read_ahead } = self.ground {
            sentences.push(format!(
                "without root: the groups lie below {}; the code is read with the read-ahead of {}, {}",
                hierarchy.parent().unwrap_or_default().display(),
                place.device.as_deref().unwrap_or("its disk"),
                arm::kib(read_ahead)
            ));
        }
        PlannedSeries {
            arms: arms.clone(),
            runs: settings.runs,
            sentences,
            global: self.global.clone(),
            doubts: self.doubts.clone(),
            longest_run: settings.longest_run(),
            work: Box::new(CodePlusData { plan: self.clone(), scratch: None }),
        }
    }
}

struct CodePlusData {
    plan: CodePlusDataPlan,
    scratch: Option<Scratch>,
}

impl Series for CodePlusData {
    fn prepare(&mut self, bench: &mut Bench<'_>) -> Result<()> {
        // Once for all runs; else an ordinary user's ramline would go to its leaf and back with each.
        bench.run.prepare_cgroups(&self.plan.hierarchy)?;
        bench.progress.step(&format!("writing the code file below {}", self.plan.place.dir.display()));
        self.scratch = Some(Scratch::create(&self.plan, bench.run)?);
        Ok(())
    }

    fn once(&mut self, arm: &Arm, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<()> {
        let scratch = prepared(&self.scratch)?;
        requirements::describe(record, Some(self.plan.hierarchy.version()), Some(&self.plan.place));
        if matches!(self.plan.ground, Ground::Plain { .. }) {
            record.sandbox.push_str(" delegated");
        }
        Runner { plan: &self.plan, scratch }.once(arm, record, bench)
    }
}

/// Runs a plan: for those who made it themselves, as a checkup does.
///
/// # Errors
/// As [`series::run`].
pub fn run(
    env: &Env<'_>,
    plan: &CodePlusDataPlan,
    consent: Consent,
    progress: &mut dyn Progress,
) -> Result<SeriesResult> {
    let params = plan.settings.params(&table());
    let order = Order { experiment: &EXPERIMENT, params: &params, resume: None };
    series::run(env, &order, &mut plan.planned(), consent, progress)
}

/// All parameters of this experiment.
#[must_use]
pub fn table() -> Vec<Parameter> {
    EXPERIMENT.table()
}
