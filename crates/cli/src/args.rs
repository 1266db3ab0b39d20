//! The command line. Help, man pages and completions follow from this one table.

use clap::Parser;

use crate::commands;
use crate::prelude::*;
use crate::source::ANYWHERE;
use crate::terminal::Colour;

/// Shows where memory is, measures what every tier costs, proves what another setting would do
#[derive(Debug, Parser)]
#[command(name = "ramline", version, max_term_width = 100, after_help = exit::HELP, args_conflicts_with_subcommands = false)]
pub struct Cli {
    #[command(flatten)]
    pub source: Source,
    #[command(flatten)]
    pub format: Format,
    /// Colours: always, never, or as the terminal and NO_COLOR say
    #[arg(long = "color", value_name = "WHEN", value_enum, global = true, default_value = "auto", hide_possible_values = true, help_heading = ANYWHERE)]
    pub colour: Colour,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    Show(commands::show::Show),
    Top(commands::top::Top),
    Checkup(commands::checkup::Checkup),
    Explain(commands::explain::Explain),
    Export(commands::export::Export),
    Need(commands::need::Need),
    Curve(commands::curve::Curve),
    Measure(commands::measure::Measure),
    Cache(commands::cache::Cache),
    Lab(commands::lab::Lab),
    Predict(Box<commands::predict::Predict>),
    Trace(commands::trace::Trace),
    Tune(commands::tune::Tune),
    Swap(commands::swap::Swap),
    Record(commands::record::Record),
    History(commands::history::History),
    Snapshot(commands::snapshot::Snapshot),
    Fleet(commands::fleet::Fleet),
    Generate(commands::generate::Generate),
}
