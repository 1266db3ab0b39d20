//! The command line of ramline: arguments, wiring, exit codes. No logic of its own.
//!
//! One file a subcommand; help, man pages and completions follow from one table.

mod args;
mod asked;
mod choice;
mod commands;
mod complete;
mod consent;
mod duration;
mod examples;
mod exit;
mod installed;
mod manual;
mod output;
mod past;
mod place;
mod prelude;
mod progress;
mod readings;
mod remembered;
mod retry;
mod source;
mod state;
mod terminal;
mod watch;
mod when;
mod whom;

use std::ffi::OsString;
use std::process::ExitCode;

use args::{Cli, Command};
use clap::{CommandFactory, FromArgMatches};
use ramline_kernel::{signals, stdio};

/// The table help, man pages and completions are made from.
fn command() -> clap::Command {
    examples::attach(live_only(Cli::command()))
}

/// What only a running machine has: there the options that name a capture are refused with the reason, and not offered.
const LIVE: &[&str] =
    &["top", "need", "curve", "measure", "cache", "lab", "swap", "record", "history", "fleet", "generate"];

fn live_only(command: clap::Command) -> clap::Command {
    LIVE.iter().fold(command, |command, name| command.mut_subcommand(*name, hide_source))
}

fn hide_source(command: clap::Command) -> clap::Command {
    let hidden = |id, long, value| {
        let path = clap::value_parser!(std::path::PathBuf);
        clap::Arg::new(id).long(long).value_name(value).value_parser(path).global(true).hide(true)
    };
    command.arg(hidden("root", "root", "DIR")).arg(hidden("captured-file", "snapshot", "FILE"))
}

/// Parses the command line and runs it.
#[must_use]
pub fn run() -> ExitCode {
    stdio::survive_file_size_limit();
    stdio::tell_panics();
    // A child of the lab is this binary again; its arguments are its own and are no part of the command line.
    let words: Vec<String> = std::env::args_os().skip(1).map(|word| word.to_string_lossy().into_owned()).collect();
    if words.first().is_some_and(|word| word == ramline_sandbox::child::ARGUMENT) {
        return ramline_lab::experiments::child_main(words.get(1..).unwrap_or_default());
    }
    // And so is the first process of the lab's virtual machines.
    if words.first().is_some_and(|word| word == ramline_sandbox::vm::guest::ARGUMENT) {
        return ramline_sandbox::vm::guest::main();
    }
    // A panic has said by itself what it was.
    let bare = bare_show_format(&words);
    signals::with_a_usual_stack(move || bare.map_or_else(command_line, bare_show))
        .unwrap_or(ExitCode::from(exit::FAILED))
}

/// `ramline`, `ramline show` and the same with `--json`, for prompts and loops: nothing to parse, so the table of all commands, half of what a
/// command takes, is not built.
fn bare_show_format(words: &[String]) -> Option<output::Format> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words.as_slice() {
        [] | ["show"] => Some(output::Format { json: false }),
        ["--json"] | ["show", "--json"] | ["--json", "show"] => Some(output::Format { json: true }),
        _ => None,
    }
}

fn bare_show(format: output::Format) -> ExitCode {
    finish(commands::show::Show::plain(format).run(&source::Source::default()))
}

fn command_line() -> ExitCode {
    let words: Vec<OsString> = std::env::args_os().collect();
    if words.get(1).is_some_and(|word| word == complete::ARGUMENT) {
        return done(output::text(&complete::answer(words.get(2..).unwrap_or_default())).map(|()| exit::DONE));
    }
    let words = watch::with_its_time(words);
    let parsed = command().try_get_matches_from(&words);
    let cli = match parsed.and_then(|given| Cli::from_arg_matches(&given).map_err(|e| e.format(&mut command()))) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => {
            let text = guessed(&error, &words).unwrap_or_else(|| in_our_words(&error.render().to_string(), &words));
            output::tell(&text);
            return ExitCode::from(exit::USAGE);
        }
        Err(help) => return done(output::text(&help.render().to_string()).map(|()| exit::DONE)),
    };
    cli.format.for_all_commands();
    cli.colour.for_all_commands();
    finish(run_command(&cli))
}

fn finish(result: anyhow::Result<u8>) -> ExitCode {
    let code = done(result);
    // What a thread of ours did not do is missing, whatever else went well.
    if signals::is_broken() { ExitCode::from(exit::FAILED) } else { code }
}

/// Of a first word that is no command, or an option of `show` without it: the command that answers it.
fn guessed(error: &clap::Error, words: &[OsString]) -> Option<String> {
    use clap::error::{ContextKind, ContextValue, ErrorKind};
    let (table, first) = (command(), words.get(1)?.to_str()?);
    let first = first.split_once('=').map_or(first, |(option, _)| option);
    let show = table.find_subcommand("show")?;
    let context = |kind| match error.get(kind) {
        Some(ContextValue::String(value)) => Some(value.as_str()),
        _ => None,
    };
    match error.kind() {
        ErrorKind::InvalidSubcommand if context(ContextKind::InvalidSubcommand) == Some(first) => {
            let below: Vec<&str> = show.get_subcommands().map(clap::Command::get_name).collect();
            let answer = asked::answer(first, below)?;
            Some(format!("ramline: there is no command '{}'\n  try: {answer}", first.escape_debug()))
        }
        ErrorKind::InvalidSubcommand
            if context(ContextKind::InvalidSubcommand).is_some_and(ramline_units::is_time_of_day) =>
        {
            let time = context(ContextKind::InvalidSubcommand)?;
            Some(format!("ramline: {time} is a time, which --at takes\n  try: ramline {first} --at {time}"))
        }
        ErrorKind::UnknownArgument if context(ContextKind::InvalidArg) == Some(first) => {
            let is_of_show =
                show.get_arguments().filter_map(clap::Arg::get_long).any(|long| first == format!("--{long}"));
            is_of_show.then(|| format!("ramline: '{first}' is an option of show\n  try: ramline show {first}"))
        }
        _ => None,
    }
}

/// An error of the command line as all errors are: who says it, what is wrong, and a command to try.
fn in_our_words(text: &str, words: &[OsString]) -> String {
    let text = text.trim_end().replacen("error: ", "ramline: ", 1);
    match text.strip_suffix("For more information, try '--help'.") {
        Some(text) => format!("{}\n  try: {} --help", text.trim_end(), meant(words)),
        None => text,
    }
}

/// The command these words name, as far as they do: `ramline cache trace`.
fn meant(words: &[OsString]) -> String {
    let table = command();
    let (mut at, mut name) = (&table, "ramline".to_owned());
    for word in words.iter().skip(1).take_while(|word| *word != "--") {
        if let Some(below) = at.find_subcommand(word) {
            (at, name) = (below, format!("{name} {}", below.get_name()));
        }
    }
    name
}

fn run_command(cli: &Cli) -> anyhow::Result<u8> {
    let source = &cli.source;
    match &cli.command {
        None => commands::show::Show::plain(cli.format).run(source),
        Some(Command::Show(command)) => command.run(source),
        Some(Command::Top(command)) => command.run(source),
        Some(Command::Checkup(command)) => command.run(source),
        Some(Command::Explain(command)) => command.run(source),
        Some(Command::Export(command)) => command.run(source),
        Some(Command::Need(command)) => command.run(source),
        Some(Command::Curve(command)) => command.run(source),
        Some(Command::Measure(command)) => command.run(source),
        Some(Command::Cache(command)) => command.run(source),
        Some(Command::Lab(command)) => command.run(source),
        Some(Command::Predict(command)) => command.run(source),
        Some(Command::Trace(command)) => command.run(),
        Some(Command::Tune(command)) => command.run(source),
        Some(Command::Swap(command)) => command.run(source),
        Some(Command::Record(command)) => command.run(source),
        Some(Command::History(command)) => command.run(),
        Some(Command::Snapshot(command)) => command.run(source),
        Some(Command::Fleet(command)) => command.run(),
        Some(Command::Generate(command)) => command.run(source),
    }
}

fn done(result: anyhow::Result<u8>) -> ExitCode {
    match result {
        Ok(code) => ExitCode::from(code),
        Err(error) => {
            output::tell(&format!("ramline: {error:#}"));
            exit::for_error(&error)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_names_the_command_whose_help_says_more() {
        let of = |line: &str| meant(&line.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert_eq!(of("ramline cache trace --cgroup x -- show"), "ramline cache trace");
        assert_eq!(of("ramline --root x show zram --foo"), "ramline show zram");
        assert_eq!(of("ramline nothing"), "ramline");
        let error = "error: unexpected\n\nUsage: ramline\n\nFor more information, try '--help'.\n";
        let words = ["ramline", "lab", "run"].map(OsString::from);
        assert_eq!(in_our_words(error, &words), "ramline: unexpected\n\nUsage: ramline\n  try: ramline lab run --help");
    }
}
