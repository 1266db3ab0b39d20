//! `ramline tune`: settings of memory that stay, planned from this machine's numbers.

mod answers;
mod apply;
mod back;
mod changes;
mod needs;
mod own;
mod unit;
mod verify;

use ramline_advice::{Inputs, NotPlanned, planned_finding, planning};
use ramline_plan::{Goal, Topic};
use ramline_view::TunePlan;

use ramline_sandbox::LabError;

use crate::commands::judge::{Ahead, Judging};
use crate::commands::lab;
use crate::commands::measure::pages;
use crate::commands::show;
use crate::prelude::*;
use crate::retry;

choices!(Topic {
    Swap: "swap", "swap areas on disk, their size and order";
    Zram: "zram", "compressed swap in RAM";
    Vm: "vm", "settings below vm.";
    Tmp: "tmp", "/tmp in RAM or on disk";
    Maintain: "maintain", "a timer that maintains zram swap";
});

choices!(Goal {
    Balanced: "balanced", "no more latency than the memory is worth";
    Capacity: "capacity", "the most data in RAM";
    Latency: "latency", "the shortest waits";
    FlashWear: "flash-wear", "the fewest bytes written to flash";
});

/// Plan and change zram, swap, vm settings and /tmp, with an undo
#[derive(Debug, Args)]
pub struct Tune {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Plan(Plan),
    Apply(Apply),
    Status(changes::Status),
    Diff(changes::Diff),
    Undo(back::Undo),
    Finish(back::Finish),
    Keep(back::Keep),
    History(changes::History),
    Verify(verify::Verify),
}

/// A topic, a finding whose advice is planned, or a service whose limit is to be what it needs.
#[derive(Debug, Clone)]
enum Subject {
    Topic(Topic),
    Finding(&'static str),
    Need(String),
}

/// `zram`, `swap-outranked`, `need:postgresql`.
fn subject(text: &str) -> Result<Subject, String> {
    if let Some(group) = text.strip_prefix("need:").filter(|group| !group.is_empty()) {
        return Ok(Subject::Need(group.to_owned()));
    }
    if let Ok(Choice(topic)) = <Choice<Topic> as clap::ValueEnum>::from_str(text, false) {
        return Ok(Subject::Topic(topic));
    }
    planned_finding(text).map(|rule| Subject::Finding(rule.id)).map_err(|error| match error {
        NotPlanned::Unknown(_) => {
            format!(
                "topics are swap, zram, vm, tmp, maintain, need:GROUP; {error} (ramline checkup names those found here)"
            )
        }
        NotPlanned::NoPlan { .. } => error.to_string(),
    })
}

/// What a plan is made for.
#[derive(Debug, Args)]
struct Asked {
    /// What to plan: swap, zram, vm, tmp, maintain, a finding by the name that checkup prints, or need:GROUP (the limit of a service, as 'ramline need GROUP'
    /// finds it); all but the last when left out
    #[arg(value_name = "TOPIC|FINDING|need:GROUP", value_parser = subject)]
    topics: Vec<Subject>,
    /// What it is for
    #[arg(long, value_name = "GOAL", default_value = "balanced")]
    goal: Choice<Goal>,
    /// Nothing is to stay after a reboot
    #[arg(long)]
    runtime_only: bool,
    /// A value of your own (vm.swappiness=60), with the same undo and guard
    #[arg(long, value_name = "KEY=VALUE", value_parser = own::value, conflicts_with = "topics")]
    set: Vec<(String, i64)>,
    /// Choose a new zram's algorithm and size by this profile of `measure pages` (default: the last one of this boot)
    #[arg(long, value_name = "FILE")]
    profile: Option<PathBuf>,
    /// Plan zram, swap and swappiness by what a command of yours runs fastest with, within a memory limit (as root; the command after --)
    #[arg(long, requires = "command", conflicts_with_all = ["goal", "set", "by"])]
    judge: bool,
    #[command(flatten)]
    judging: Judging,
    /// With --judge: these settings of 'lab run swap-command' besides things as they are, comma-separated (left out: what this machine could have)
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "judge")]
    settings: Vec<String>,
    /// With --judge: make swap areas and zram devices without asking; they are removed afterwards
    #[arg(long, requires = "judge")]
    prove: bool,
    /// Plan them by a series of the lab, code-plus-data or swap-command: its number in 'lab list' or its folder
    #[arg(long, value_name = "SERIES", conflicts_with_all = ["goal", "set"])]
    by: Option<PathBuf>,
    /// Watch for this long, for rates (10s, 500ms); 2 s when left out
    #[arg(long = "for", value_name = "TIME", value_parser = duration::parse)]
    span: Option<Duration>,
    /// Everything: sources, steps, and the same as commands
    #[arg(long)]
    all: bool,
}

/// Show what to change and what to keep, why, who sets it today, and each step; changes nothing
#[derive(Debug, Args)]
struct Plan {
    #[command(flatten)]
    asked: Asked,
    #[command(flatten)]
    format: Format,
}

/// Apply a plan: each step is recorded, made and read back; what fails or does harm is undone
#[derive(Debug, Args)]
struct Apply {
    #[command(flatten)]
    asked: Asked,
    #[command(flatten)]
    how: apply::How,
}

/// Rates are those of this long where nothing else was asked for.
const LOOK: Duration = Duration::from_secs(2);

impl Tune {
    /// Runs the command.
    ///
    /// # Errors
    /// The source cannot be used.
    pub fn run(&self, source: &Source) -> Result<u8> {
        match &self.verb {
            Verb::Plan(plan) => plan.run(source),
            Verb::Apply(apply) => apply.run(source),
            Verb::Status(status) => status.run(),
            Verb::Diff(diff) => diff.run(),
            Verb::Undo(undo) => undo.run(),
            Verb::Finish(finish) => finish.run(),
            Verb::Keep(keep) => keep.run(),
            Verb::History(history) => history.run(),
            Verb::Verify(verify) => verify.run(),
        }
    }
}

/// A load by which zram, swap and swappiness are planned.
enum Trial {
    /// A series that is to be run.
    Ahead(Box<Ahead>),
    /// One that is there.
    Made(RunFolder),
}

impl Trial {
    /// Runs it where it was not run, and says what was fastest, if this machine can become that.
    fn result(self, now: &Snapshot) -> Result<planning::ByLoad> {
        let (folder, records) = match self {
            Trial::Made(folder) => {
                let (_, records) = lab::report::series_of(&folder)?;
                (folder, records)
            }
            Trial::Ahead(ahead) => {
                let root = Root::live();
                let lock = state::lock(&root)?;
                signals::install();
                let run = |ahead: Ahead| -> Result<_> {
                    let folder = ahead.run(&root, &lock, None)?;
                    stdio::tell(&format!("Raw records: {}", folder.dir().display()));
                    let (_, records) = lab::report::series_of(&folder)?;
                    Ok((folder, records))
                };
                let (folder, mut records) = run((*ahead).clone())?;
                let near = planning::nearly_fastest(&records);
                if let Some(first) = records.first().filter(|_| !near.is_empty()) {
                    let names = near.join(", ");
                    stdio::tell(&format!("{names} are nearly as fast: more runs of these tell which is fastest"));
                    let closer = ahead.closer(near.clone(), first.workload.limit)?;
                    match run(closer) {
                        // The first runs chose these; fresh ones alone decide between them.
                        Ok((_, fresh)) => {
                            records.retain(|run| !near.contains(&run.arm.name));
                            records.extend(fresh);
                        }
                        // Nothing of it was started.
                        Err(error) if matches!(error.downcast_ref(), Some(LabError::Refused { .. })) => {
                            stdio::tell(&format!(
                                "doubt: they were not run again, so the first runs decide: {error:#}"
                            ));
                        }
                        Err(error) => return Err(error),
                    }
                }
                (folder, records)
            }
        };
        for doubt in ramline_lab::report::doubts(&records) {
            stdio::tell(&format!("doubt: {doubt}"));
        }
        let refused = |why: String| {
            let (why, hint) = retry::after(&records, why, &retry::given());
            Failure::rolled_back(format!(
                "the series in {} decides nothing: {why}\n  try: {hint}",
                folder.dir().display()
            ))
        };
        let by_load = planning::ByLoad::from_records(&records).map_err(refused)?;
        by_load.fits(now).map_err(refused)?;
        if let Some(differs) = by_load.differs_from(now) {
            stdio::tell(&format!("doubt: {differs}"));
        }
        Ok(by_load)
    }
}

impl Asked {
    fn plan(&self, source: &Source) -> Result<(TunePlan, u8)> {
        let others = own::look_up(source, &self.set)?;
        let trial = self.trial(source)?;
        let span = self.span.or_else(|| source.is_live().then_some(LOOK));
        let mut ask = planning::Ask {
            goal: self.goal.0,
            runtime_only: self.runtime_only,
            own: self.set.clone(),
            pages: match &self.profile {
                Some(file) => Some(pages::profile(file)?),
                None => remembered::pages(source),
            },
            program: source.is_live().then(unit::program),
            state: unit::state_dir(),
            ..planning::Ask::default()
        };
        if let Some(profile) = ask.pages.as_ref().filter(|_| self.profile.is_some()) {
            ask.pages_of = pages::differs(profile);
        }
        for subject in &self.topics {
            match subject {
                Subject::Topic(topic) => ask.topics.push(*topic),
                Subject::Finding(id) => ask.findings.push((*id).to_owned()),
                Subject::Need(group) => ask.services.push(needs::watched(source, group)?),
            }
        }
        let (before, mut after) = source.window(planning::wanted(&ask), span)?;
        own::add(&mut after, others);
        let window = before.as_ref().and_then(|before| Window::new(before, &after).ok());
        let tiers = remembered::tiers(source);
        ask.by_load = trial.map(|trial| trial.result(&after)).transpose()?;
        let inputs = Inputs { snapshot: &after, window, tiers: tiers.as_ref(), runs: &[] };
        let set_up = source.set_up()?;
        Ok((TunePlan::new(planning::plan(&inputs, &set_up, &ask), &after, &set_up.unseen), show::code(&after)))
    }

    /// What a load of the reader's own is asked by; refused before this machine is watched.
    fn trial(&self, source: &Source) -> Result<Option<Trial>> {
        if !self.judge && self.by.is_none() {
            return Ok(None);
        }
        source.must_be_live(if self.judge { "tune plan --judge" } else { "tune plan --by" })?;
        let is_of_swap = |subject: &Subject| matches!(subject, Subject::Topic(Topic::Swap | Topic::Zram | Topic::Vm));
        ensure!(
            self.topics.iter().all(is_of_swap),
            Failure::usage(
                "a load decides zram, swap and vm: name no other topic\n  try: ramline tune plan zram swap vm"
            )
        );
        if let Some(series) = &self.by {
            return Ok(Some(Trial::Made(lab::folder_of(Some(series))?)));
        }
        let root = Root::live();
        state::alone(&root)?;
        let pages =
            self.profile.as_ref().map(|file| pages::profile(file)).transpose()?.or_else(|| remembered::pages(source));
        let now = source.snapshot(planning::wanted(&planning::Ask::default()))?;
        let mut settings = planning::settings_to_try(&now, pages.as_ref());
        if !self.settings.is_empty() {
            settings = std::iter::once("as-configured".to_owned()).chain(self.settings.clone()).collect();
        }
        let ahead = self.judging.ahead(&root, Some(settings))?;
        ahead.must_be_agreed(consent::given(self.prove, &ahead.global)?, "tune plan --prove --judge")?;
        Ok(Some(Trial::Ahead(Box::new(ahead))))
    }

    fn depth(&self) -> Depth {
        if self.all { Depth::All } else { Depth::Brief }
    }
}

impl Plan {
    fn run(&self, source: &Source) -> Result<u8> {
        let (plan, code) = self.asked.plan(source)?;
        self.format.print(&plan, |style| plan.sheet().text(style, self.asked.depth()))?;
        Ok(code)
    }
}

impl Apply {
    fn run(&self, source: &Source) -> Result<u8> {
        // A dry run can list the steps for any machine.
        if !self.how.dry_run {
            source.must_be_live("tune apply")?;
            whom::must_be_root("tune apply", "it changes settings of the machine")?;
        }
        if self.asked.judge {
            ensure!(
                !self.how.dry_run,
                Failure::usage(
                    "--dry-run runs nothing, and --judge runs your command\n  try: ramline tune plan --judge, then apply --by its series"
                )
            );
            back::refuse_half_done()?;
        }
        let (plan, _) = self.asked.plan(source)?;
        let shown = || Format { json: false }.print(&plan, |style| plan.sheet().text(style, self.asked.depth()));
        apply::apply(&plan.plan, &self.how, source.is_live(), shown)
    }
}
