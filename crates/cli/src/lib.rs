//! The command line of ramline: arguments, wiring, exit codes. No logic of its own.
//!
//! What it is: one file a subcommand. What it is not: a library for others; it is one only so that man
//! pages and completions can be generated from the same table as the help.

mod args;
mod choice;
mod commands;
mod consent;
mod duration;
mod exit;
mod output;
mod progress;
mod remembered;
mod source;
mod state;
mod target;

use std::process::ExitCode;

use args::{Cli, Command};
use clap::{CommandFactory, Parser};

/// The table help, man pages and completions are made from.
#[must_use]
pub fn command() -> clap::Command {
    Cli::command()
}

/// Parses the command line and runs it.
#[must_use]
pub fn run() -> ExitCode {
    // The workload of the lab is this binary again; its arguments are its own and are no part of the command line.
    let words: Vec<String> = std::env::args().skip(1).collect();
    if words.first().is_some_and(|word| word == ramline_lab::workload::ARGUMENT) {
        return ramline_lab::workload::main(words.get(1..).unwrap_or_default());
    }
    // And so is the first process of the lab's virtual machines.
    if words.first().is_some_and(|word| word == ramline_lab::vm::guest::ARGUMENT) {
        return ramline_lab::vm::guest::main();
    }
    let cli = Cli::parse();
    let source = &cli.source;
    let result = match &cli.command {
        None => commands::show::Show::plain(cli.format).run(source),
        Some(Command::Show(command)) => command.run(source),
        Some(Command::Checkup(command)) => command.run(source),
        Some(Command::Explain(command)) => command.run(source),
        Some(Command::Measure(command)) => command.run(source),
        Some(Command::Cache(command)) => command.run(source),
        Some(Command::Lab(command)) => command.run(source),
        Some(Command::Snapshot(command)) => command.run(source),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("ramline: {error:#}");
            exit::of(&error)
        }
    }
}
