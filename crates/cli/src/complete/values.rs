//! What may stand as the value of an option or an argument: its own choices, or what its name in the help says it is.
//!
//! What it is not: complete. What takes long to find out is left out.

use clap::Arg;
use ramline_gather::gather;
use ramline_lab::experiments::EXPERIMENTS;

use crate::prelude::*;

/// The shell knows files best.
pub const FILES: &str = ":files";
/// And directories.
pub const DIRS: &str = ":dirs";
/// And programs.
pub const COMMANDS: &str = ":commands";

type Lines = Vec<(String, String)>;

/// The values of an option or an argument, with their help.
pub fn for_arg(arg: &Arg) -> Lines {
    let choices = arg.get_possible_values();
    if !choices.is_empty() {
        let help = |value: &clap::builder::PossibleValue| value.get_help().map(ToString::to_string).unwrap_or_default();
        let shown = choices.iter().filter(|value| !value.is_hide_set());
        return shown.map(|value| (value.get_name().to_owned(), help(value))).collect();
    }
    let name = arg.get_value_names().and_then(|names| names.first()).map(|name| name.as_str().to_ascii_uppercase());
    match name.as_deref().unwrap_or_default() {
        "PATH" | "FILE" | "LIST" | "OLD.JSON" => shell(FILES),
        "DIR" => shell(DIRS),
        "CMD" | "COMMAND" => shell(COMMANDS),
        "TOPIC|NUMBER" => topics(),
        "TOPIC|FINDING" => plans(),
        "EXPERIMENT" => experiments(),
        "EXPERIMENT|FILE" => experiments().into_iter().chain(shell(FILES)).collect(),
        "DOCUMENT" => ramline_view::schema::names().map(|name| (name.to_owned(), String::new())).collect(),
        "FOLDER" | "FIRST" | "SECOND" | "SERIES" => series().into_iter().chain(shell(DIRS)).collect(),
        "GROUP" => groups(),
        "PID|NAME" | "TEXT" => processes(),
        "PID" => processes(),
        "USER" => users(),
        _ => Lines::new(),
    }
}

fn shell(what: &str) -> Lines {
    vec![(what.to_owned(), String::new())]
}

fn topics() -> Lines {
    ramline_advice::TOPICS.iter().map(|topic| (topic.id.to_owned(), topic.question.to_owned())).collect()
}

/// What tune has a plan for.
fn plans() -> Lines {
    let topics = ["swap", "zram", "vm", "tmp"].map(|topic| (topic.to_owned(), String::new()));
    let findings = ramline_advice::RULES.iter().filter(|rule| ramline_advice::planned_finding(rule.id).is_ok());
    topics.into_iter().chain(findings.map(|rule| (rule.id.to_owned(), rule.looks_for.to_owned()))).collect()
}

fn experiments() -> Lines {
    EXPERIMENTS.iter().map(|experiment| (experiment.name.to_owned(), experiment.question.to_owned())).collect()
}

/// Folders of past series, the latest first.
fn series() -> Lines {
    let Ok(state) = state::path() else { return Lines::new() };
    let mut all: Vec<(RunFolder, &str)> =
        EXPERIMENTS.iter().flat_map(|e| RunFolder::all(&state, e.name).into_iter().map(|f| (f, e.name))).collect();
    ramline_units::sort_by_key(&mut all, |(folder, _)| std::cmp::Reverse(folder.began()));
    all.into_iter().map(|(folder, name)| (folder.dir().display().to_string(), name.to_owned())).collect()
}

fn look(want: Wanted) -> Snapshot {
    gather(&Root::live(), want)
}

fn groups() -> Lines {
    let seen = look(Wanted { groups: true, ..Wanted::NOTHING });
    let all = seen.groups.data().map(|groups| groups.list.as_slice()).unwrap_or_default();
    all.iter()
        .map(|group| group.path.clone())
        .filter(|path| is_simple(path))
        .map(|path| (path, String::new()))
        .collect()
}

fn processes() -> Lines {
    let seen = look(Wanted { processes: true, ..Wanted::NOTHING });
    let all = seen.processes.data().map(|all| all.list.as_slice()).unwrap_or_default();
    let mut names: Vec<&str> = all.iter().filter(|p| p.has_memory()).map(|p| p.name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    let names = names.into_iter().filter(|name| is_simple(name)).map(|name| (name.to_owned(), String::new()));
    names.collect()
}

fn users() -> Lines {
    let seen = look(Wanted { processes: true, ..Wanted::NOTHING });
    let names = seen.processes.data().map(|all| all.users.values().cloned().collect::<Vec<_>>()).unwrap_or_default();
    names.into_iter().filter(|name| is_simple(name)).map(|name| (name, String::new())).collect()
}

/// A name that a shell takes as it is, on one line; others are typed by hand.
fn is_simple(name: &str) -> bool {
    !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || "/._-@:+,".contains(c))
}
