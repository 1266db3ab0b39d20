//! `ramline show`: the answer on one screen, and what lies behind it.

use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueEnum};
use ramline_snapshot::{Snapshot, Wanted, Window};
use ramline_view::{ShowMemory, ShowPressure, ShowSwap, ShowTiers, ShowTmpfs, ShowZram};

use crate::output::Format;
use crate::source::Source;
use crate::{duration, exit, state};

/// Show where memory is: every byte of MemTotal, what could be freed and at what cost
#[derive(Debug, Clone, Args)]
pub struct Show {
    /// What to show
    #[arg(value_enum, default_value_t = Topic::Memory)]
    pub topic: Topic,
    /// Watch for this long, so that rates can be told (2s, 500ms)
    #[arg(long = "for", value_name = "TIME", value_parser = duration::parse)]
    pub span: Option<Duration>,
    #[command(flatten)]
    pub format: Format,
}

/// The screens of `show`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Topic {
    /// Where every byte of MemTotal is
    Memory,
    /// The tiers, in the order in which they give way
    Tiers,
    /// zram: support, devices, every statistic with its unit
    Zram,
    /// Swap areas, in order of use; stock against flow
    Swap,
    /// tmpfs mounts, and what would fit into one
    Tmpfs,
    /// Waiting, refaults, zones and watermarks
    Pressure,
}

impl Topic {
    fn wants(self) -> Wanted {
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
            Topic::Memory => memory,
            Topic::Tiers => {
                Wanted { swaps: true, mounts: true, blocks: true, zswap: true, settings: true, lru_gen: true, ..memory }
            }
            Topic::Zram => Wanted { swaps: true, zswap: true, blocks: true, ..memory },
            Topic::Swap => {
                Wanted { swaps: true, blocks: true, mounts: true, zswap: true, settings: true, lru_gen: true, ..memory }
            }
            Topic::Tmpfs => Wanted { mounts: true, swaps: true, dirs: true, ..memory },
            Topic::Pressure => Wanted {
                buddyinfo: true,
                pressure_io: true,
                pressure_cpu: true,
                settings: true,
                swaps: true,
                lru_gen: true,
                ..memory
            },
        }
    }
}

impl Show {
    /// What `ramline` without a subcommand does.
    pub const fn plain(format: Format) -> Show {
        Show { topic: Topic::Memory, span: None, format }
    }

    /// Runs the command.
    ///
    /// # Errors
    /// The source cannot be used.
    pub fn run(&self, source: &Source) -> Result<u8> {
        let (before, after) = source.window(self.topic.wants(), self.span)?;
        let window = before.as_ref().and_then(|before| Window::new(before, &after).ok());
        let (seen, window) = (&after, window.as_ref());
        match self.topic {
            Topic::Memory => self.format.print(&ShowMemory::new(seen, window), ShowMemory::text),
            Topic::Tiers => self.format.print(&ShowTiers::new(seen, None), ShowTiers::text),
            Topic::Zram => self.format.print(&ShowZram::new(seen), ShowZram::text),
            Topic::Swap => self.format.print(&ShowSwap::new(seen, window), ShowSwap::text),
            Topic::Tmpfs => self.format.print(&ShowTmpfs::new(seen), ShowTmpfs::text),
            Topic::Pressure => self.format.print(&ShowPressure::new(seen, window), ShowPressure::text),
        }?;
        if let Some(line) = state::left_behind(source) {
            eprintln!("{line}");
        }
        Ok(code(seen))
    }
}

/// Part of the answer is missing when a file made no sense, or when there is no /proc/meminfo at all.
pub fn code(seen: &Snapshot) -> u8 {
    if seen.is_malformed() || seen.mem_total().is_none() { exit::PARTLY } else { exit::DONE }
}
