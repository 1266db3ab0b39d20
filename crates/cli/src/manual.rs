//! Man pages, from the table of the command line: one a command, with its examples, files and environment.
//!
//! What it is: roff as text. What it is not: other words than those of the help; what belongs to all commands stands here.

use clap::{Arg, Command};

use crate::examples;

/// Files of ours.
const FILES: &[(&str, &str)] = &[
    (
        "/var/lib/ramline",
        "State of root: the journal of what was begun and undone, records of the lab, the last measurement. \
      RAMLINE_STATE_DIR names another place.",
    ),
    ("$XDG_STATE_HOME/ramline, ~/.local/state/ramline", "The same of any other user."),
];

/// Variables that change what is printed or where state lies.
pub const ENVIRONMENT: &[(&str, &str)] = &[
    ("RAMLINE_STATE_DIR", "Directory of the state."),
    ("NO_COLOR", "No colours, unless --color says otherwise."),
    ("CLICOLOR_FORCE, FORCE_COLOR", "Colours also in a pipe, unless they are 0 or NO_COLOR is set."),
    ("CLICOLOR", "0: no colours."),
    ("COLUMNS", "Width of text that goes to a pipe, 60 to 200; a terminal's own width comes first."),
    ("TERM", "dumb: plain characters, no colours, nothing is drawn over."),
    ("LC_ALL, LC_CTYPE, LANG", "A locale that is not UTF-8 gets plain characters."),
];

/// What others have to say, by the first word of the command.
const OTHERS: &[(&str, &[&str])] = &[
    ("", &["free(1)", "vmstat(8)", "proc(5)"]),
    ("show", &["free(1)", "vmstat(8)", "proc_meminfo(5)", "cgroups(7)", "zramctl(8)", "swapon(8)"]),
    ("checkup", &["free(1)", "sysctl(8)", "zramctl(8)"]),
    ("explain", &["proc_meminfo(5)", "proc_vmstat(5)"]),
    ("measure", &["zramctl(8)"]),
    ("cache", &["fincore(1)", "mincore(2)", "posix_fadvise(2)", "mlock(2)"]),
    ("lab", &["cgroups(7)", "tmpfs(5)", "swapon(8)"]),
    ("snapshot", &["proc(5)"]),
];

/// All pages: file name and text.
#[must_use]
pub fn pages() -> Vec<(String, String)> {
    let mut command = crate::command();
    command.build();
    let mut out = Vec::new();
    below(&command, &[], &mut out);
    out
}

fn below(command: &Command, above: &[&Command], out: &mut Vec<(String, String)>) {
    let mut path = above.to_vec();
    path.push(command);
    let name = words(&path, "-");
    out.push((format!("{name}.1"), Page { path: &path }.text()));
    for inner in shown(command) {
        below(inner, &path, out);
    }
}

fn shown(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| !command.is_hide_set() && command.get_name() != "help")
}

fn words(path: &[&Command], between: &str) -> String {
    path.iter().map(|command| command.get_name()).collect::<Vec<_>>().join(between)
}

struct Page<'a> {
    path: &'a [&'a Command],
}

impl Page<'_> {
    fn command(&self) -> &Command {
        self.path[self.path.len() - 1]
    }

    fn text(&self) -> String {
        let command = self.command();
        let (name, version) = (words(self.path, "-"), env!("CARGO_PKG_VERSION"));
        let about = command.get_about().map(ToString::to_string).unwrap_or_default();
        let mut out = format!(
            ".ie \\n(.g .ds Aq \\(aq\n.el .ds Aq '\n.TH {} 1 \"\" \"ramline {version}\" \"\"\n.ad l\n",
            escape(&name)
        );
        out += &format!(".SH NAME\n{} \\- {}\n", escape(&name), escape(about.trim()));
        out += &format!(".SH SYNOPSIS\n{}\n", self.synopsis());
        let long = command.get_long_about().map_or(about.clone(), ToString::to_string);
        out += &format!(".SH DESCRIPTION\n{}", paragraphs(&long));
        self.options(&mut out);
        self.commands(&mut out);
        out += &examples_of(&words(&self.path[1..], " "));
        if self.path.len() == 1 {
            out += &format!(".SH EXIT STATUS\n{}\n", escape(crate::exit::HELP));
        }
        out += &listed("FILES", FILES);
        out += &listed("ENVIRONMENT", ENVIRONMENT);
        out + &self.see_also()
    }

    fn synopsis(&self) -> String {
        let mut out = format!("\\fB{}\\fR", escape(&words(self.path, " ")));
        for arg in self.command().get_arguments().filter(|arg| !arg.is_hide_set()) {
            let inner = if arg.is_positional() { value(arg) } else { named(arg, "|") };
            let dashes = if arg.is_last_set() { "\\-\\- " } else { "" };
            let more = if arg.is_positional() && is_repeated(arg) { "..." } else { "" };
            out += &if arg.is_required_set() {
                format!(" {dashes}{inner}{more}")
            } else {
                format!(" [{dashes}{inner}]{more}")
            };
        }
        if shown(self.command()).next().is_some() {
            let required = self.command().is_subcommand_required_set();
            out += if required { " \\fICOMMAND\\fR" } else { " [\\fICOMMAND\\fR]" };
        }
        out
    }

    fn options(&self, out: &mut String) {
        let all: Vec<&Arg> = self.command().get_arguments().filter(|arg| !arg.is_hide_set()).collect();
        for (heading, positional) in [("ARGUMENTS", true), ("OPTIONS", false)] {
            let of = all.iter().filter(|arg| arg.is_positional() == positional);
            let lines: String = of
                .map(|arg| {
                    format!(".TP\n{}\n{}", if positional { value(arg) } else { named(arg, ", ") }, described(arg))
                })
                .collect();
            if !lines.is_empty() {
                *out += &format!(".SH {heading}\n{lines}");
            }
        }
    }

    fn commands(&self, out: &mut String) {
        let name = words(self.path, "-");
        let one = |below: &Command| {
            let about = below.get_about().map(ToString::to_string).unwrap_or_default();
            format!(".TP\n\\fB{}\\-{}\\fR(1)\n{}\n", escape(&name), escape(below.get_name()), escape(&about))
        };
        let lines: String = shown(self.command()).map(one).collect();
        if !lines.is_empty() {
            *out += &format!(".SH COMMANDS\n{lines}");
        }
    }

    fn see_also(&self) -> String {
        let mut all: Vec<String> = Vec::new();
        if let [.., parent, _] = self.path {
            let above = words(&self.path[..self.path.len() - 1], "-");
            all.push(format!("{above}(1)"));
            let siblings = shown(parent).filter(|below| below.get_name() != self.command().get_name());
            all.extend(siblings.map(|below| format!("{above}-{}(1)", below.get_name())));
        }
        let first = self.path.get(1).map_or("", |command| command.get_name());
        let others = OTHERS.iter().find(|(word, _)| *word == first).map(|(_, others)| *others).unwrap_or_default();
        all.extend(others.iter().map(|other| (*other).to_owned()));
        let one = |page: &String| {
            let (name, section) = page.split_once('(').unwrap_or((page, ""));
            format!("\\fB{}\\fR({section}", escape(name))
        };
        format!(".SH SEE ALSO\n{}\n", all.iter().map(one).collect::<Vec<_>>().join(",\n"))
    }
}

/// `-x`, `--long VALUE`.
fn named(arg: &Arg, between: &str) -> String {
    let short = arg.get_short().map(|letter| format!("\\fB\\-{letter}\\fR"));
    let long = arg.get_long().map(|name| format!("\\fB\\-\\-{}\\fR", escape(name)));
    let names = short.into_iter().chain(long).collect::<Vec<_>>().join(between);
    if !arg.get_action().takes_values() {
        return names;
    }
    let optional = arg.get_num_args().is_some_and(|n| n.min_values() == 0);
    if optional { format!("{names} [{}]", value(arg)) } else { format!("{names} {}", value(arg)) }
}

fn value(arg: &Arg) -> String {
    let names = arg.get_value_names().map(|names| names.iter().map(|name| name.to_string()).collect::<Vec<_>>());
    let name = names.map_or_else(|| arg.get_id().as_str().to_ascii_uppercase(), |names| names.join(" "));
    format!("\\fI{}\\fR", escape(&name))
}

fn is_repeated(arg: &Arg) -> bool {
    arg.get_num_args().is_some_and(|n| n.max_values() > 1)
}

fn described(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut out = format!("{}\n", escape(&help));
    let choices = arg.get_possible_values();
    let takes = arg.get_action().takes_values();
    let shown: Vec<_> = choices.iter().filter(|choice| !choice.is_hide_set()).collect();
    if takes && !shown.is_empty() {
        let one = |choice: &&clap::builder::PossibleValue| {
            let help = choice.get_help().map(|help| format!(" ({help})")).unwrap_or_default();
            format!("{}{help}", choice.get_name())
        };
        out += &format!(".br\nOne of: {}.\n", escape(&shown.iter().map(one).collect::<Vec<_>>().join("; ")));
    }
    let usual: Vec<String> = arg.get_default_values().iter().map(|value| escape(&value.to_string_lossy())).collect();
    if takes && !usual.is_empty() {
        // A long list may be broken behind a comma.
        out += &format!(".br\nBy default {}.\n", usual.join(",").replace(',', ",\\:"));
    }
    out
}

fn examples_of(path: &str) -> String {
    let one = |(line, what): &(String, String)| format!(".TP\n\\fB{}\\fR\n{}\n", escape(line), escape(&capital(what)));
    let lines: String = examples::for_command(path).iter().map(one).collect();
    if lines.is_empty() { lines } else { format!(".SH EXAMPLES\n{lines}") }
}

fn listed(heading: &str, rows: &[(&str, &str)]) -> String {
    let one = |(name, what): &(&str, &str)| format!(".TP\n\\fI{}\\fR\n{}\n", escape(name), escape(what));
    format!(".SH {heading}\n{}", rows.iter().map(one).collect::<String>())
}

fn paragraphs(text: &str) -> String {
    let parts = text.split("\n\n").map(|part| escape(part.trim()));
    parts.collect::<Vec<_>>().join("\n.PP\n") + "\n"
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().collect::<String>() + letters.as_str() + ".").unwrap_or_default()
}

/// What roff would take for something of its own.
fn escape(text: &str) -> String {
    let escaped = text.replace('\\', "\\e").replace('-', "\\-").replace('\'', "\\*(Aq");
    let lines = escaped.lines().map(|line| if line.starts_with('.') { format!("\\&{line}") } else { line.to_owned() });
    lines.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(name: &str) -> String {
        pages().into_iter().find(|(file, _)| file == name).map(|(_, text)| text).unwrap_or_default()
    }

    #[test]
    fn every_page_has_its_sections() {
        for (file, text) in pages() {
            for section in ["NAME", "SYNOPSIS", "DESCRIPTION", "EXAMPLES", "FILES", "ENVIRONMENT", "SEE ALSO"] {
                assert!(text.contains(&format!(".SH {section}\n")), "{file} has no {section}");
            }
        }
    }

    #[test]
    fn a_synopsis_names_the_values_and_a_capture_only_where_there_is_one() {
        let maps = page("ramline-show-maps.1");
        assert!(maps.contains("[\\fIPID|NAME\\fR]") && maps.contains("[\\fB\\-\\-budget\\fR \\fITIME\\fR]"), "{maps}");
        assert!(
            maps.contains("[\\fB\\-\\-watch\\fR [\\fISECONDS\\fR]]") && maps.contains("\\-\\-root\\fR \\fIDIR"),
            "{maps}"
        );
        for name in ["ramline-cache-pin.1", "ramline-cache-run.1", "ramline-lab-run-knee.1"] {
            assert!(!page(name).contains("\\-\\-root"), "{name}");
        }
        assert!(page("ramline-cache-run.1").contains("\\-\\- \\fICMD\\fR..."));
    }

    #[test]
    fn what_roff_knows_is_written_out() {
        assert_eq!(escape(".x\n'a\\b-c"), "\\&.x\n\\*(Aqa\\eb\\-c");
    }
}
