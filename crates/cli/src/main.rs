//! The binary `ramline`: arguments, wiring, exit codes. No logic of its own.

mod args;
mod commands;
mod exit;
mod output;
mod source;

use std::process::ExitCode;

use args::{Cli, Command};
use clap::Parser;

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = match &cli.command {
        Some(Command::Snapshot(command)) => command.run(&cli.source),
        None => Ok(exit::DONE),
    };
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            eprintln!("ramline: {error:#}");
            exit::of(&error)
        }
    }
}
