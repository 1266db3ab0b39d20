//! `ramline export`: metrics for Prometheus and whatever else reads its formats.

use ramline_advice::FIRST_LINE_OVER_TIME;
use ramline_export::{Form, Limits, text};

use crate::prelude::*;

/// Print metrics for Prometheus: refaults, distance to reclaim, pressure, swap, zram, groups, findings
///
/// Without an option, or with --once, the metrics are printed once. docs/export.md has all names, alert rules and a dashboard.
#[derive(Debug, Clone, Args)]
pub struct Export {
    /// Print them once to standard output
    #[arg(long)]
    once: bool,
    #[command(flatten)]
    what: What,
}

/// What is exported.
#[derive(Debug, Clone, Copy, Args)]
struct What {
    /// Control groups: half of them the largest, half those that wait most
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(0..=1000))]
    groups: u16,
    /// The format: openmetrics, or prometheus for its older text format
    #[arg(long, value_name = "FORMAT", value_enum)]
    format: Option<Written>,
}

/// A format by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Written {
    Openmetrics,
    Prometheus,
}

/// What metrics are made of: files of the kernel that are read in a few milliseconds, and what configures it.
const WANTED: Wanted = Wanted { settings: true, configured: true, slab: false, processes: false, ..FIRST_LINE_OVER_TIME };

impl Export {
    /// Runs the command.
    ///
    /// # Errors
    /// The source cannot be used; standard output cannot be written.
    pub fn run(&self, source: &Source) -> Result<u8> {
        let limits = Limits { groups: usize::from(self.what.groups), ..Limits::default() };
        let form = match self.what.format {
            Some(Written::Prometheus) => Form::Prometheus,
            _ => Form::OpenMetrics,
        };
        let seen = source.snapshot(WANTED)?;
        output::text(&text(&seen, None, &limits, form))?;
        Ok(if seen.is_malformed() { exit::PARTLY } else { exit::DONE })
    }
}
