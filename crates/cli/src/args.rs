//! The command line. Help, man pages and completions follow from this one table.

use clap::{Parser, Subcommand};

use crate::commands;
use crate::exit;
use crate::source::Source;

/// Shows where memory is, measures what every tier costs, proves what another setting would do
#[derive(Debug, Parser)]
#[command(name = "ramline", version, max_term_width = 100, after_help = exit::HELP)]
pub struct Cli {
    #[command(flatten)]
    pub source: Source,
    /// Machine-readable output, sizes in bytes
    #[arg(long, global = true)]
    pub json: bool,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// One verb, one subcommand, one file.
#[derive(Debug, Subcommand)]
pub enum Command {
    Snapshot(commands::snapshot::Snapshot),
}
