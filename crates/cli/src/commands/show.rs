//! `ramline show`: the answer on one screen, and what lies behind it.

mod cgroups;
mod maps;
mod processes;
mod tmpfs;
mod translate;

use std::time::Duration;

use anyhow::Result;
use clap::{Args, Subcommand};
use ramline_snapshot::{Snapshot, Wanted, Window};
use ramline_view::sheet::Depth;
use ramline_view::{ShowMemory, ShowPressure, ShowSwap, ShowTiers, ShowZram};

use crate::output::Format;
use crate::source::Source;
use crate::{duration, exit, remembered, state};

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
    /// Watch for this long, so that rates can be told (2s, 500ms)
    #[arg(long = "for", value_name = "TIME", value_parser = duration::parse, global = true)]
    pub span: Option<Duration>,
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
        Show { topic: None, common: Common { span: None, json: format.json, all: false } }
    }

    /// Runs the command.
    ///
    /// # Errors
    /// The source cannot be used.
    pub fn run(&self, source: &Source) -> Result<u8> {
        let topic = self.topic.as_ref().unwrap_or(&Topic::Memory);
        let code = match topic {
            Topic::Processes(command) => command.run(self.common, source),
            Topic::Cgroups(command) => command.run(self.common, source),
            Topic::Maps(command) => command.run(self.common, source),
            Topic::Tmpfs(command) => command.run(self.common, source),
            Topic::Translate(command) => command.run(self.common, source),
            _ => self.screen(topic, source),
        }?;
        if let Some(line) = state::left_behind(source) {
            ramline_kernel::stdio::tell(&line);
        }
        Ok(code)
    }

    fn screen(&self, topic: &Topic, source: &Source) -> Result<u8> {
        let (before, after) = source.window(topic.wants(self.common.span.is_some()), self.common.span)?;
        ramline_kernel::code::forget();
        let window = before.as_ref().and_then(|before| Window::new(before, &after).ok());
        let (seen, window) = (&after, window.as_ref());
        let format = self.common.format();
        let depth = self.common.depth();
        match topic {
            Topic::Tiers => {
                let model = ShowTiers::new(seen, remembered::tiers(source).as_ref());
                format.print(&model, |model, style| model.sheet().text(style, depth))
            }
            Topic::Zram => format.print(&ShowZram::new(seen), |model, style| model.sheet().text(style, depth)),
            Topic::Swap => format.print(&ShowSwap::new(seen, window), |model, style| model.sheet().text(style, depth)),
            Topic::Pressure => {
                format.print(&ShowPressure::new(seen, window), |model, style| model.sheet().text(style, depth))
            }
            // Who names the screen wants every line of it.
            _ => {
                let depth = if self.topic.is_some() { Depth::All } else { depth };
                format.print(&ShowMemory::new(seen, window), |model, style| model.sheet().text(style, depth))
            }
        }?;
        Ok(code(seen))
    }
}

/// Part of the answer is missing when a file made no sense, or when there is no /proc/meminfo at all.
pub fn code(seen: &Snapshot) -> u8 {
    if seen.is_malformed() || seen.mem_total().is_none() { exit::PARTLY } else { exit::DONE }
}
