//! Configuration files with one setting changed and everything else as it was, to the last byte.
//!
//! Each takes the text as it is (`None`: no such file) and gives the text as it would be, or says why it leaves a file alone whose syntax it does
//! not know.

pub mod fstab;
pub mod ini;
pub mod sysctl;

/// How files that are ramline's alone begin.
pub const OWN: &str = "# Written by ramline; `ramline tune undo` takes it away.\n";

/// Why a file is left alone: its line, counted from 1, and the rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftAlone {
    /// The line.
    pub line: usize,
    /// What it would have to be.
    pub rule: String,
}

impl std::fmt::Display for LeftAlone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {}: {}", self.line, self.rule)
    }
}

/// The lines of a text, each with how it ends: in a line feed, in carriage return and line feed, or, the last one, in nothing.
fn lines(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split_inclusive('\n').map(|line| {
        let bare = line.strip_suffix("\r\n").or_else(|| line.strip_suffix('\n')).unwrap_or(line);
        (bare, &line[bare.len()..])
    })
}

/// How lines of a text end: as its first one does.
fn line_end(text: &str) -> &str {
    lines(text).map(|(_, end)| end).find(|end| !end.is_empty()).unwrap_or("\n")
}

/// Lines put together again; the last one ends as well.
fn joined<'a>(lines: impl IntoIterator<Item = (impl AsRef<str>, &'a str)>, end: &str) -> String {
    let whole =
        |(line, own): (_, &'a str)| AsRef::<str>::as_ref(&line).to_owned() + if own.is_empty() { end } else { own };
    lines.into_iter().map(whole).collect()
}
