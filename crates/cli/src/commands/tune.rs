//! `ramline tune`: settings of memory that stay, planned from this machine's numbers.

use std::time::Duration;

use anyhow::Result;
use clap::{Args, Subcommand};
use ramline_advice::{Inputs, planning};
use ramline_plan::{Goal, Topic};
use ramline_snapshot::Window;
use ramline_snapshot::setup::SetUp;
use ramline_view::sheet::Depth;
use ramline_view::{Screen, TunePlan};

use crate::choice::{Choice, choices};
use crate::commands::show;
use crate::duration;
use crate::output::Format;
use crate::remembered;
use crate::source::Source;

choices!(Topic {
    Swap: "swap", "swap areas on disk, their size and order";
    Zram: "zram", "compressed swap in RAM";
    Vm: "vm", "settings below vm.";
    Tmp: "tmp", "/tmp in RAM or on disk";
});

choices!(Goal {
    Balanced: "balanced", "no more latency than the memory is worth";
    Capacity: "capacity", "the most data in RAM";
    Latency: "latency", "the shortest waits";
    FlashWear: "flash-wear", "the fewest bytes written to flash";
});

/// Plan zram, swap, vm settings and /tmp from this machine's numbers
#[derive(Debug, Args)]
pub struct Tune {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Plan(Plan),
}

/// Show what to change and what to keep, why, who sets it today, and each step; changes nothing
#[derive(Debug, Args)]
struct Plan {
    /// What to plan; all when left out
    #[arg(value_name = "TOPIC")]
    topics: Vec<Choice<Topic>>,
    /// What it is for
    #[arg(long, value_name = "GOAL", default_value = "balanced")]
    goal: Choice<Goal>,
    /// Nothing is to stay after a reboot
    #[arg(long)]
    runtime_only: bool,
    /// Watch for this long, for rates (10s, 500ms); 2 s when left out
    #[arg(long = "for", value_name = "TIME", value_parser = duration::parse)]
    span: Option<Duration>,
    /// Everything: sources, steps, and the same as commands
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    format: Format,
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
        }
    }
}

impl Plan {
    fn run(&self, source: &Source) -> Result<u8> {
        let span = self.span.or_else(|| source.is_live().then_some(LOOK));
        let topics: Vec<Topic> = self.topics.iter().map(|topic| topic.0).collect();
        let (before, after) = source.window(planning::wanted(&topics), span)?;
        let window = before.as_ref().and_then(|before| Window::new(before, &after).ok());
        let tiers = remembered::tiers(source);
        let inputs = Inputs { snapshot: &after, window, tiers: tiers.as_ref(), runs: &[] };
        // A file of a snapshot does not hold it.
        let set_up = match source.file {
            Some(_) => SetUp::default(),
            None => ramline_gather::set_up(&source.kernel_root()?),
        };
        let ask = planning::Ask { topics, goal: self.goal.0, runtime_only: self.runtime_only };
        let plan = TunePlan::new(planning::plan(&inputs, &set_up, &ask), &after, &set_up.unseen);
        let depth = if self.all { Depth::All } else { Depth::Brief };
        self.format.print(&plan, |style| plan.sheet().text(style, depth))?;
        Ok(show::code(&after))
    }
}
