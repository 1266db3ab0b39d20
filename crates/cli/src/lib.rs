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
mod place;
mod progress;
mod remembered;
mod source;
mod state;

use std::process::ExitCode;

use args::{Cli, Command};
use clap::{CommandFactory, Parser};
use ramline_kernel::{signals, stdio};

/// The table help, man pages and completions are made from.
#[must_use]
pub fn command() -> clap::Command {
    Cli::command()
}

/// Parses the command line and runs it.
#[must_use]
pub fn run() -> ExitCode {
    stdio::survive_file_size_limit();
    stdio::tell_panics();
    // The workload of the lab is this binary again; its arguments are its own and are no part of the command line.
    let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    if words.first().is_some_and(|word| word == ramline_lab::workload::ARGUMENT) {
        return ramline_lab::workload::main(words.get(1..).unwrap_or_default());
    }
    // And so is the first process of the lab's virtual machines.
    if words.first().is_some_and(|word| word == ramline_lab::vm::guest::ARGUMENT) {
        return ramline_lab::vm::guest::main();
    }
    // A panic has said by itself what it was.
    let bare = words.is_empty() || words == ["show"];
    signals::with_a_usual_stack(move || if bare { bare_show() } else { command_line() })
        .unwrap_or(ExitCode::from(exit::FAILED))
}

/// `ramline` and `ramline show`, for prompts and loops: nothing to parse, so the table of all commands, half of what a command takes, is not built.
fn bare_show() -> ExitCode {
    finish(commands::show::Show::plain(output::Format { json: false }).run(&source::Source::default()))
}

fn command_line() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => {
            stdio::tell(&in_our_words(&error.render().to_string()));
            return ExitCode::from(exit::USAGE);
        }
        Err(help) => return done(output::text(&help.render().to_string()).map(|()| exit::DONE)),
    };
    cli.format.for_all_commands();
    finish(run_command(&cli))
}

fn finish(result: anyhow::Result<u8>) -> ExitCode {
    let code = done(result);
    // What a thread of ours did not do is missing, whatever else went well.
    if signals::is_broken() { ExitCode::from(exit::FAILED) } else { code }
}

/// An error of the command line as all errors are: who says it, what is wrong, and a command to try.
fn in_our_words(text: &str) -> String {
    let text = text.trim_end().replacen("error: ", "ramline: ", 1);
    match text.strip_suffix("For more information, try '--help'.") {
        Some(text) => format!("{}\n  try: the command with --help", text.trim_end()),
        None => text,
    }
}

fn run_command(cli: &Cli) -> anyhow::Result<u8> {
    let source = &cli.source;
    match &cli.command {
        None => commands::show::Show::plain(cli.format).run(source),
        Some(Command::Show(command)) => command.run(source),
        Some(Command::Checkup(command)) => command.run(source),
        Some(Command::Explain(command)) => command.run(source),
        Some(Command::Measure(command)) => command.run(source),
        Some(Command::Cache(command)) => command.run(source),
        Some(Command::Lab(command)) => command.run(source),
        Some(Command::Snapshot(command)) => command.run(source),
    }
}

fn done(result: anyhow::Result<u8>) -> ExitCode {
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            stdio::tell(&format!("ramline: {error:#}"));
            exit::of(&error)
        }
    }
}
