//! `ramline show`: the answer on one screen, and what lies behind it.

mod cgroups;
mod maps;
mod processes;
mod tmpfs;
mod translate;

use std::time::Duration;

use anyhow::{Result, ensure};
use clap::{Args, Subcommand};
use ramline_gather::Walking;
use ramline_snapshot::{Snapshot, Wanted, Window};
use ramline_view::sheet::Depth;
use ramline_view::{ShowMemory, ShowPressure, ShowSwap, ShowTiers, ShowZram};

use crate::exit::Failure;
use crate::looks::Looks;
use crate::output::{Format, Shown};
use crate::source::Source;
use crate::{duration, exit, output, remembered, state, watch};

/// Show where memory is: every byte of MemTotal, what could be freed and at what cost
#[derive(Debug, Clone, Args)]
#[command(disable_help_subcommand = true)]
pub struct Show {
    #[command(subcommand)]
    topic: Option<Topic>,
    #[command(flatten)]
    common: Common,
}

/// What every screen takes.
#[derive(Debug, Clone, Copy, Args)]
pub struct Common {
    /// Look twice, so long apart, for rates; a bare number is seconds (2, 500ms)
    #[arg(long = "for", value_name = "TIME", value_parser = duration::parse, global = true)]
    pub span: Option<Duration>,
    /// Look again and again until Ctrl-C, every 2 s or as often as said; rates are those between two looks
    #[arg(long, value_name = "SECONDS", value_parser = duration::parse, num_args = 0..=1, default_missing_value = "2", global = true)]
    pub watch: Option<Duration>,
    /// Print one JSON document, sizes in bytes
    #[arg(long, global = true)]
    pub json: bool,
    /// Everything: every line of the ledger, how it is known, full tables
    #[arg(long, global = true)]
    pub all: bool,
}

impl Common {
    /// Text or JSON.
    pub const fn format(self) -> Format {
        Format { json: self.json }
    }

    /// How much of a sheet is wanted.
    pub const fn depth(self) -> Depth {
        if self.all { Depth::All } else { Depth::Brief }
    }
}

/// The screens of `show`.
#[derive(Debug, Clone, Subcommand)]
pub enum Topic {
    /// Where every byte of MemTotal is
    Memory,
    /// The tiers, in the order in which they give way
    Tiers,
    Processes(processes::Processes),
    Cgroups(cgroups::Cgroups),
    Maps(maps::Maps),
    /// zram: support, devices, every statistic with its unit
    Zram,
    /// Swap areas, in order of use; stock against flow
    Swap,
    Tmpfs(tmpfs::Tmpfs),
    /// Waiting, refaults, zones and watermarks
    Pressure,
    Translate(translate::Translate),
}

impl Topic {
    fn wants(&self, windowed: bool) -> Wanted {
        let memory = Wanted {
            meminfo: true,
            zoneinfo: true,
            vmstat: true,
            zram: true,
            pressure_memory: true,
            cgroups: true,
            ..Wanted::NOTHING
        };
        match self {
            Topic::Tiers => {
                Wanted { swaps: true, mounts: true, blocks: true, zswap: true, settings: true, lru_gen: true, ..memory }
            }
            Topic::Zram => Wanted { swaps: true, zswap: true, blocks: true, ..memory },
            Topic::Swap => {
                Wanted { swaps: true, blocks: true, mounts: true, zswap: true, settings: true, lru_gen: true, ..memory }
            }
            Topic::Pressure => Wanted {
                buddyinfo: true,
                pressure_io: true,
                pressure_cpu: true,
                settings: true,
                swaps: true,
                lru_gen: true,
                ..memory
            },
            _ if windowed => ramline_advice::FIRST_LINE_OVER_TIME,
            _ => ramline_advice::FIRST_LINE,
        }
    }
}

impl Show {
    /// What `ramline` without a subcommand does.
    pub const fn plain(format: Format) -> Show {
        Show { topic: None, common: Common { span: None, watch: None, json: format.json, all: false } }
    }

    /// Runs the command.
    ///
    /// # Errors
    /// The source cannot be used.
    pub fn run(&self, source: &Source) -> Result<u8> {
        let Common { span, watch, .. } = self.common;
        let looks = Looks::of(source, span, watch.is_some());
        let Some(every) = watch else {
            let shown = self.look(&looks)?;
            shown.print()?;
            tell_left_behind(source);
            return Ok(shown.code);
        };
        let both = "--for looks twice and --watch again and again: one of them\n  try: ramline show --watch 2";
        ensure!(span.is_none(), Failure::new(exit::USAGE, both));
        source.must_be_live("show --watch")?;
        tell_left_behind(source);
        watch::repeat(every, || self.look(&looks))
    }

    fn look(&self, looks: &Looks<'_>) -> Result<Shown> {
        let topic = self.topic.as_ref().unwrap_or(&Topic::Memory);
        match topic {
            Topic::Processes(command) => command.look(self.common, looks),
            Topic::Cgroups(command) => command.look(self.common, looks),
            Topic::Maps(command) => command.look(self.common, looks),
            Topic::Tmpfs(command) => command.look(self.common, looks),
            Topic::Translate(command) => command.look(self.common, looks),
            _ => self.screen(topic, looks),
        }
    }

    fn screen(&self, topic: &Topic, looks: &Looks<'_>) -> Result<Shown> {
        let (before, after) = looks.window(topic.wants(self.common.span.is_some()), Walking::Never)?;
        if self.common.watch.is_none() {
            ramline_kernel::code::forget();
        }
        let window = before.as_deref().and_then(|before| Window::new(before, &after).ok());
        let (seen, window) = (&*after, window.as_ref());
        let (format, code, depth) = (self.common.format(), code(seen), self.common.depth());
        match topic {
            Topic::Tiers => {
                let model = ShowTiers::new(seen, remembered::tiers(looks.source).as_ref());
                format.shown(&model, code, |model, style| model.sheet().text(style, depth))
            }
            Topic::Zram => format.shown(&ShowZram::new(seen), code, |model, style| model.sheet().text(style, depth)),
            Topic::Swap => {
                format.shown(&ShowSwap::new(seen, window), code, |model, style| model.sheet().text(style, depth))
            }
            Topic::Pressure => {
                format.shown(&ShowPressure::new(seen, window), code, |model, style| model.sheet().text(style, depth))
            }
            // Who names the screen wants every line of it.
            _ => {
                let depth = if self.topic.is_some() { Depth::All } else { depth };
                format.shown(&ShowMemory::new(seen, window), code, |model, style| model.sheet().text(style, depth))
            }
        }
    }
}

/// What an earlier run left behind, to standard error.
fn tell_left_behind(source: &Source) {
    if let Some(line) = state::left_behind(source) {
        output::tell(&line);
    }
}

/// Part of the answer is missing when a file made no sense, or when there is no /proc/meminfo at all.
pub fn code(seen: &Snapshot) -> u8 {
    if seen.is_malformed() || seen.mem_total().is_none() { exit::PARTLY } else { exit::DONE }
}
