//! Completion for shells: what may stand where the cursor is. `ramline complete WORD...` answers, a line each; the scripts in
//! `complete/` ask.
//!
//! What it is: a walk along the words through the table of the command line, so that nothing is listed twice; values that only this
//! machine knows (groups, processes, series) are looked up when they are asked for. What it is not: a check of the words.
//!
//! The protocol: the last word is the one to complete, maybe empty. A line is a candidate, a tab and its help; `:files`, `:dirs` and
//! `:commands` leave it to the shell. Of `--sort=r`, candidates are `--sort=rss`; where bash has made three words of it, only `rss`.
//!
//! Worked example: `show maps --sort r` gives `resident` and `reread`.

mod values;

use std::ffi::OsString;

use clap::{Arg, Command};

/// The word that asks.
pub const ARGUMENT: &str = "complete";

/// The scripts, each under the name below /usr/share where its shell looks for it.
pub const SCRIPTS: [(&str, &str); 3] = [
    ("bash-completion/completions/ramline", include_str!("complete/ramline.bash")),
    ("zsh/site-functions/_ramline", include_str!("complete/_ramline")),
    ("fish/vendor_completions.d/ramline.fish", include_str!("complete/ramline.fish")),
];

/// The candidates, a line each.
pub fn answer(words: &[OsString]) -> String {
    let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    let lines = Cursor::at(&joined(&words)).candidates();
    let printed = |(value, help): &(String, String)| match help.lines().next() {
        Some(help) => format!("{value}\t{help}\n"),
        None => format!("{value}\n"),
    };
    lines.iter().map(printed).collect()
}

/// Bash makes three words of `--sort=rss`. One of them is the current one: then what stands before it is the shell's.
fn joined(words: &[String]) -> Words {
    let mut out: Vec<String> = Vec::new();
    let mut apart = false;
    let mut all = words.iter().peekable();
    while let Some(word) = all.next() {
        match out.last_mut() {
            Some(last) if word == "=" && last.starts_with("--") => {
                let value = all.next();
                apart = all.peek().is_none();
                last.push('=');
                last.push_str(value.map_or("", String::as_str));
            }
            _ => out.push(word.clone()),
        }
    }
    let current = out.pop().unwrap_or_default();
    Words { before: out, current, apart }
}

struct Words {
    before: Vec<String>,
    current: String,
    /// The current word is only what follows its `=`.
    apart: bool,
}

/// Where the cursor is.
struct Cursor {
    command: Command,
    /// Options of commands above that hold here too.
    inherited: Vec<Arg>,
    /// The option whose value is to come.
    option: Option<Arg>,
    /// Arguments before the cursor.
    arguments: usize,
    /// After `--`.
    last: bool,
    current: String,
    apart: bool,
}

impl Cursor {
    fn at(words: &Words) -> Cursor {
        let mut cursor = Cursor {
            command: crate::command(),
            inherited: Vec::new(),
            option: None,
            arguments: 0,
            last: false,
            current: words.current.clone(),
            apart: words.apart,
        };
        for word in &words.before {
            cursor.pass(word);
        }
        cursor
    }

    fn pass(&mut self, word: &str) {
        if self.last {
            self.arguments += 1;
        } else if self.option.take().is_some() {
            // It was the value.
        } else if word == "--" {
            (self.last, self.arguments) = (true, 0);
        } else if let Some(name) = word.strip_prefix("--") {
            self.option = if name.contains('=') { None } else { self.named(name).filter(needs_value).cloned() };
        } else if word.len() > 1 && word.starts_with('-') {
            let letter = word.chars().last();
            let found = self.options().find(|arg| arg.get_short() == letter && needs_value(arg)).cloned();
            self.option = found;
        } else if let Some(below) = self.command.find_subcommand(word).cloned() {
            let global: Vec<Arg> = self.command.get_arguments().filter(|arg| arg.is_global_set()).cloned().collect();
            // What was said again further down is what holds.
            self.inherited.retain(|arg| global.iter().all(|other| other.get_id() != arg.get_id()));
            self.inherited.extend(global);
            self.command = below;
            self.arguments = 0;
        } else {
            self.arguments += 1;
        }
    }

    fn options(&self) -> impl Iterator<Item = &Arg> {
        // What a command has itself comes before what it inherits.
        let own = |arg: &&Arg| self.command.get_arguments().all(|other| other.get_id() != arg.get_id());
        self.command.get_arguments().chain(self.inherited.iter().filter(own)).filter(|arg| !arg.is_positional())
    }

    fn named(&self, name: &str) -> Option<&Arg> {
        self.options().find(|arg| arg.get_long() == Some(name))
    }

    fn candidates(&self) -> Vec<(String, String)> {
        let current = self.current.as_str();
        if let Some(option) = &self.option {
            return matching(values::for_arg(option), current, "");
        }
        if !self.last && current.starts_with("--") && current.contains('=') {
            let (name, value) = current.split_once('=').unwrap_or((current, ""));
            let before = if self.apart { String::new() } else { format!("{name}=") };
            let values = self.named(name.trim_start_matches('-')).map(values::for_arg).unwrap_or_default();
            return matching(values, value, &before);
        }
        if !self.last && current.starts_with('-') {
            let options = self.options().filter(|arg| !arg.is_hide_set());
            let lines = options.filter_map(|arg| Some((format!("--{}", arg.get_long()?), help(arg))));
            let usual = [("--help".to_owned(), "Print help".to_owned())];
            return matching(lines.chain(usual).collect(), current, "");
        }
        let mut lines = Vec::new();
        if !self.last {
            let below = self.command.get_subcommands().filter(|command| !command.is_hide_set());
            let about = |command: &Command| command.get_about().map(ToString::to_string).unwrap_or_default();
            lines.extend(below.map(|command| (command.get_name().to_owned(), about(command))));
        }
        // What follows the name of a command are mostly files.
        let follows = self.last && self.arguments > 0;
        let argument = if follows { vec![(values::FILES.to_owned(), String::new())] } else { self.values() };
        lines.extend(argument);
        matching(lines, current, "")
    }

    fn values(&self) -> Vec<(String, String)> {
        self.argument().map(values::for_arg).unwrap_or_default()
    }

    /// The argument at the cursor: the one behind `--`, or that of this place; the last may be repeated.
    fn argument(&self) -> Option<&Arg> {
        let behind = self.command.get_positionals().find(|arg| arg.is_last_set());
        if self.last && behind.is_some() {
            return behind;
        }
        let own: Vec<&Arg> = self.command.get_positionals().filter(|arg| !arg.is_last_set()).collect();
        let repeated = || own.last().filter(|arg| arg.get_num_args().is_some_and(|n| n.max_values() > 1)).copied();
        own.get(self.arguments).copied().or_else(repeated)
    }
}

fn needs_value(arg: &&Arg) -> bool {
    arg.get_action().takes_values() && arg.get_num_args().is_none_or(|n| n.min_values() > 0)
}

fn help(arg: &Arg) -> String {
    arg.get_help().map(ToString::to_string).unwrap_or_default()
}

/// Those that begin as the word does; what is left to the shell always.
fn matching(lines: Vec<(String, String)>, current: &str, before: &str) -> Vec<(String, String)> {
    let of_shell = |value: &str| [values::FILES, values::DIRS, values::COMMANDS].contains(&value);
    lines
        .into_iter()
        .filter(|(value, _)| of_shell(value) || value.starts_with(current))
        .map(|(value, help)| if of_shell(&value) { (value, help) } else { (format!("{before}{value}"), help) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(line: &str) -> Vec<String> {
        let words: Vec<OsString> = line.split(' ').map(OsString::from).collect();
        answer(&words).lines().map(|line| line.split('\t').next().unwrap_or_default().to_owned()).collect()
    }

    #[test]
    fn commands_options_and_values_are_those_of_the_table() {
        assert_eq!(given("sn"), ["snapshot"]);
        assert!(given("show ").contains(&"processes".to_owned()));
        assert_eq!(given("show maps --sort r"), ["resident", "reread"]);
        assert_eq!(given("show maps --sort=r"), ["--sort=resident", "--sort=reread"]);
        assert_eq!(given("show maps --sort = r"), ["resident", "reread"]);
        assert_eq!(given("show --wa"), ["--watch"]);
        assert_eq!(given("show tiers --color a"), ["auto", "always"]);
        assert_eq!(given("show --watch ti"), ["tiers"], "its time is optional");
        assert!(given("cache stat -").contains(&"--du".to_owned()));
    }

    #[test]
    fn topics_experiments_and_files_are_offered() {
        assert!(given("explain sw").contains(&"swappiness".to_owned()));
        assert_eq!(given("lab describe kn"), ["knee", "known-load"]);
        assert_eq!(given("lab run kne"), ["knee"]);
        assert_eq!(given("cache stat "), [values::FILES]);
        assert_eq!(given("cache stat a b"), [values::FILES], "repeated");
        assert_eq!(given("cache run -- l"), [values::COMMANDS]);
        assert_eq!(given("cache run -- ls "), [values::FILES]);
        assert_eq!(given("--root "), [values::DIRS]);
    }

    #[test]
    fn a_capture_is_not_offered_where_only_a_running_machine_has_an_answer() {
        for line in ["cache pin --", "cache run --", "lab run knee --", "measure tiers --"] {
            assert!(!given(line).iter().any(|word| word == "--root" || word == "--snapshot"), "{line}");
        }
        for line in ["show zram --", "explain --", "checkup --", "snapshot --"] {
            assert!(given(line).contains(&"--root".to_owned()), "{line}");
        }
    }
}
