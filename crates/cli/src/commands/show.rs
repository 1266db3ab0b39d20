//! `ramline show`: the answer on one screen, and what lies behind it.

mod cgroups;
mod common;
mod maps;
mod owners;
mod processes;
mod tmpfs;
mod translate;

use ramline_view::{ShowMemory, ShowPressure, ShowSwap, ShowTiers, ShowZram};

pub use self::common::{Common, code};
use crate::past::Past;
use crate::prelude::*;
use crate::watch;

/// Show where memory is: every byte of MemTotal, what could be freed and at what cost
#[derive(Debug, Clone, Args)]
#[command(disable_help_subcommand = true)]
pub struct Show {
    #[command(subcommand)]
    topic: Option<Topic>,
    #[command(flatten)]
    common: Common,
    #[command(flatten)]
    past: Past,
}

/// The screens of `show`.
#[derive(Debug, Clone, Subcommand)]
pub enum Topic {
    /// Where every byte of MemTotal is
    Memory,
    /// The tiers, in the order in which they are reclaimed
    Tiers,
    Processes(processes::Processes),
    Cgroups(cgroups::Cgroups),
    Maps(maps::Maps),
    /// zram: support, devices, every statistic with its unit; who owns its pages
    Zram(owners::Owners),
    /// Swap areas, in order of use; stock against flow; who owns what lies there, and what it costs in RAM
    Swap(owners::Owners),
    Tmpfs(tmpfs::Tmpfs),
    /// Waiting, refaults, zones and watermarks
    Pressure,
    Translate(translate::Translate),
}

impl Show {
    /// What `ramline` without a subcommand does.
    pub const fn plain(format: Format) -> Show {
        Show {
            topic: None,
            common: Common { span: None, watch: None, json: format.json, all: false },
            past: Past::NONE,
        }
    }

    /// Runs the command.
    ///
    /// # Errors
    /// The source cannot be used.
    pub fn run(&self, source: &Source) -> Result<u8> {
        let Common { span, watch, .. } = self.common;
        let then = "a moment of the past does not change, so it cannot be watched\n  try: ramline show --at TIME";
        ensure!(watch.is_none() || !self.past.is_asked(), Failure::usage(then));
        let source = &self.past.source(source, span, self.common.format())?;
        let readings = SourceReadings::new(source, span, watch.is_some());
        let Some(every) = watch else {
            let shown = self.look(&readings)?;
            shown.print()?;
            tell_left_behind(source);
            return Ok(shown.code);
        };
        let both = "--for looks twice and --watch again and again: one of them\n  try: ramline show --watch 2";
        ensure!(span.is_none(), Failure::usage(both));
        source.must_be_live("show --watch")?;
        tell_left_behind(source);
        watch::repeat(every, || self.look(&readings))
    }

    fn look(&self, readings: &SourceReadings<'_>) -> Result<Shown> {
        let topic = self.topic.as_ref().unwrap_or(&Topic::Memory);
        match topic {
            Topic::Processes(command) => command.look(self.common, readings),
            Topic::Cgroups(command) => command.look(self.common, readings),
            Topic::Maps(command) => command.look(self.common, readings),
            Topic::Tmpfs(command) => command.look(self.common, readings),
            Topic::Translate(command) => command.look(self.common, readings),
            _ => self.screen(topic, readings),
        }
    }

    fn screen(&self, topic: &Topic, readings: &SourceReadings<'_>) -> Result<Shown> {
        let wanted = match topic {
            Topic::Tiers => ShowTiers::WANTED,
            Topic::Zram(_) => owners::wanted(readings.source, ShowZram::WANTED),
            Topic::Swap(_) => owners::wanted(readings.source, ShowSwap::WANTED),
            Topic::Pressure => ShowPressure::WANTED,
            _ if self.common.span.is_some() || self.past.is_asked() => ramline_advice::FIRST_LINE_OVER_TIME,
            _ => ShowMemory::WANTED,
        };
        let (before, after) = readings.window(wanted, Walking::Never)?;
        let window = before.as_deref().and_then(|before| Window::new(before, &after).ok());
        let (seen, window) = (&*after, window.as_ref());
        // Who names the first screen wants every line of it.
        let all = self.common.all || matches!(self.topic, Some(Topic::Memory));
        let common = Common { all, ..self.common };
        match topic {
            Topic::Tiers => common.shown(&ShowTiers::new(seen, remembered::tiers(readings.source).as_ref()), seen),
            Topic::Zram(command) => {
                let owners = command.look(readings.source, seen)?;
                common.shown(&ShowZram::new(seen).with_owners(owners, command.top(common)), seen)
            }
            Topic::Swap(command) => {
                let owners = command.look(readings.source, seen)?;
                common.shown(&ShowSwap::new(seen, window).with_owners(owners, command.top(common)), seen)
            }
            Topic::Pressure => common.shown(&ShowPressure::new(seen, window), seen),
            _ => common.shown(&ShowMemory::new(seen, window), seen),
        }
    }
}

/// What an earlier run left behind, to standard error.
fn tell_left_behind(source: &Source) {
    if let Some(line) = state::left_behind(source) {
        output::tell(&line);
    }
}
