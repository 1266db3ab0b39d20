//! Parameters of experiments: a table of names, kinds and defaults, and the values of one series.
//!
//! What it is: the source of options, help and checks; a value that is in [`Params`] has been checked. What it is not: a
//! meaning; an experiment reads its own.
//!
//! ```
//! use ramline_lab::params::{ParameterKind, Parameter, Params};
//! const TABLE: &[Parameter] = &[Parameter { name: "unit", kind: ParameterKind::Size, default: Some("32MiB"), help: "One unit" }];
//! let mut params = Params::defaults(TABLE);
//! assert_eq!(params.size("unit").map(|b| b.to_string()).as_deref(), Some("32.0 MiB"));
//! assert!(params.set(TABLE, "unit", vec!["much".to_owned()]).is_err());
//! ```

use crate::prelude::*;

/// What a value may be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterKind {
    /// Bytes with a unit: `32MiB`.
    Size,
    /// A number in these bounds, both included.
    Count(u64, u64),
    /// `500ms`, `20s`, `5min`.
    Time,
    /// Given or not.
    Switch,
    /// One of these words.
    Word(&'static [&'static str]),
    /// Texts with commas between them.
    List,
    /// A file or directory.
    Path,
    /// Any text.
    Text,
    /// A command with its arguments, after `--`.
    Command,
}

/// One row of an experiment's table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parameter {
    /// Its name; the option is `--NAME`.
    pub name: &'static str,
    /// What it may be.
    pub kind: ParameterKind,
    /// As it would be written; `None` where leaving it out has a meaning of its own.
    pub default: Option<&'static str>,
    /// One line.
    pub help: &'static str,
}

/// The command of an experiment, as all of them take it.
pub const COMMAND: Parameter = row(
    "command",
    ParameterKind::Command,
    None,
    "The command, after --; it runs as the user who runs ramline, without input and with its output thrown away",
);

/// A row of such a table.
#[must_use]
pub const fn row(
    name: &'static str,
    kind: ParameterKind,
    default: Option<&'static str>,
    help: &'static str,
) -> Parameter {
    Parameter { name, kind, default, help }
}

/// The row of a size whose absence has a meaning of its own.
#[must_use]
pub const fn size(name: &'static str, help: &'static str) -> Parameter {
    row(name, ParameterKind::Size, None, help)
}

/// Reads a duration: a number and `ms`, `s` or `min`, up to an hour.
#[must_use]
pub fn duration(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at(text.find(|c: char| !c.is_ascii_digit() && c != '.')?);
    let scale = match unit {
        "ms" => 1e-3,
        "s" => 1.0,
        "min" => 60.0,
        _ => return None,
    };
    let read = Duration::try_from_secs_f64(number.parse::<f64>().ok()? * scale).ok()?;
    (!read.is_zero() && read <= Duration::from_secs(3600)).then_some(read)
}

/// Refuses values of an experiment that are wrong, with an option that is right.
pub(crate) fn refuse_if(wrong: bool, name: &str, option: &str, text: impl Into<String>) -> Result<()> {
    if wrong { Err(LabError::usage(text, format!("ramline lab run {name} {option}").trim_end())) } else { Ok(()) }
}

/// Refuses a read-ahead no device takes.
pub(crate) fn check_read_ahead(size: Bytes, name: &str) -> Result<()> {
    let text = format!("a read-ahead of {size} is not a multiple of 4 KiB up to 64 MiB");
    refuse_if(size > Bytes::from_mib(64) || !size.0.is_multiple_of(4096), name, "--read-ahead 128KiB", text)
}

impl ParameterKind {
    /// What is wrong with a value of this kind; `None` when nothing is.
    #[must_use]
    pub fn objection(self, text: &str) -> Option<String> {
        match self {
            Self::Size => text.parse::<Bytes>().err().map(|error| error.to_string()),
            Self::Count(least, most) => {
                let fits = text.parse::<u64>().is_ok_and(|n| (least..=most).contains(&n));
                (!fits).then(|| format!("'{text}' is not a number from {least} to {most}"))
            }
            Self::Time => duration(text)
                .is_none()
                .then(|| format!("'{text}' is not a time up to 60min; write for example 500ms, 20s or 5min")),
            Self::Word(words) => (!words.contains(&text)).then(|| format!("'{text}' is none of {}", words.join(", "))),
            // An argument of a command may be empty.
            Self::Command => None,
            Self::List | Self::Path | Self::Text => text.is_empty().then(|| "it is empty".to_owned()),
            Self::Switch => (!matches!(text, "true" | "false")).then(|| format!("'{text}' is neither true nor false")),
        }
    }
}

/// The values of one series, as written.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Params(BTreeMap<String, Vec<String>>);

impl Params {
    /// The defaults of a table.
    #[must_use]
    pub fn defaults(table: &[Parameter]) -> Params {
        let values = |row: &Parameter| row.default.map(|text| (row.name.to_owned(), split(row.kind, text)));
        Params(table.iter().filter_map(values).collect())
    }

    /// These, and those of `others` that are not among them.
    pub(crate) fn over(&self, mut others: Params) -> Params {
        others.0.extend(self.0.clone());
        others
    }

    /// Sets one; a list may come as several values or as one with commas.
    ///
    /// # Errors
    /// There is no such parameter, or the value is not of its kind; the error says what is.
    pub fn set(&mut self, table: &[Parameter], name: &str, values: Vec<String>) -> Result<()> {
        let Some(row) = table.iter().find(|row| row.name == name) else {
            let names: Vec<&str> = table.iter().map(|row| row.name).collect();
            return Err(LabError::usage(
                format!("there is no parameter '{}'; there are {}", name.escape_debug(), names.join(", ")),
                "ramline lab list",
            ));
        };
        let values: Vec<String> = match row.kind {
            ParameterKind::List => values.iter().flat_map(|value| split(ParameterKind::List, value)).collect(),
            _ => values,
        };
        let list = row.kind == ParameterKind::List;
        let twice = values.iter().enumerate().find(|(at, value)| list && values[..*at].contains(value));
        let twice = twice.map(|(_, value)| format!("'{}' is named twice", value.escape_debug()));
        if let Some(why) = values.iter().find_map(|value| row.kind.objection(value)).or(twice) {
            let example = row.default.filter(|text| !text.is_empty());
            let hint = example.map_or_else(|| "ramline lab list".to_owned(), |text| format!("--{name} {text}"));
            return Err(LabError::usage(format!("--{name}: {why}"), hint));
        }
        self.0.insert(name.to_owned(), values);
        Ok(())
    }

    /// All of them, for the record.
    #[must_use]
    pub const fn all(&self) -> &BTreeMap<String, Vec<String>> {
        &self.0
    }

    /// As written; the first where there are several.
    #[must_use]
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.first().map(String::as_str)
    }

    /// A size.
    #[must_use]
    pub fn size(&self, name: &str) -> Option<Bytes> {
        self.text(name)?.parse().ok()
    }

    /// A number.
    #[must_use]
    pub fn count(&self, name: &str) -> Option<u64> {
        self.text(name)?.parse().ok()
    }

    /// What every experiment of this name asks of the machine.
    pub(crate) fn requirements(&self, name: &str) -> Requirements<'static> {
        let (dir, allow_busy) = (self.path("dir"), self.switch("allow-busy"));
        Requirements { command: format!("ramline lab run {name}"), dir, allow_busy, ..Requirements::default() }
    }

    /// Runs of each setting.
    #[must_use]
    pub fn runs(&self) -> u32 {
        self.count("runs").and_then(|n| u32::try_from(n).ok()).unwrap_or(1)
    }

    /// A time.
    #[must_use]
    pub fn time(&self, name: &str) -> Option<Duration> {
        duration(self.text(name)?)
    }

    /// Whether a switch is given.
    #[must_use]
    pub fn switch(&self, name: &str) -> bool {
        self.text(name) == Some("true")
    }

    /// A path.
    #[must_use]
    pub fn path(&self, name: &str) -> Option<PathBuf> {
        self.text(name).map(PathBuf::from)
    }

    /// A list, or a command with its arguments; empty when it was not given.
    #[must_use]
    pub fn list(&self, name: &str) -> &[String] {
        self.0.get(name).map(Vec::as_slice).unwrap_or_default()
    }
}

fn split(kind: ParameterKind, text: &str) -> Vec<String> {
    match kind {
        ParameterKind::List => text.split(',').map(|part| part.trim().to_owned()).collect(),
        _ => vec![text.to_owned()],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &[Parameter] = &[
        Parameter { name: "size", kind: ParameterKind::Size, default: Some("1MiB"), help: "" },
        Parameter { name: "n", kind: ParameterKind::Count(1, 9), default: Some("7"), help: "" },
        Parameter { name: "time", kind: ParameterKind::Time, default: None, help: "" },
        Parameter { name: "fill", kind: ParameterKind::Word(&["text", "zeros"]), default: Some("text"), help: "" },
        Parameter { name: "arms", kind: ParameterKind::List, default: Some("a,b"), help: "" },
        Parameter { name: "shared", kind: ParameterKind::Switch, default: Some("false"), help: "" },
    ];

    #[test]
    fn values_are_read_as_written_and_lists_are_split_at_commas() {
        let mut params = Params::defaults(TABLE);
        assert_eq!((params.count("n"), params.time("time"), params.switch("shared")), (Some(7), None, false));
        params.set(TABLE, "arms", vec!["x, y".into(), "z".into()]).unwrap();
        params.set(TABLE, "time", vec!["1.5s".into()]).unwrap();
        assert_eq!(params.list("arms"), ["x", "y", "z"]);
        let twice = params.set(TABLE, "arms", vec!["x,y".into(), "x".into()]).unwrap_err().to_string();
        assert!(twice.contains("--arms: 'x' is named twice"), "{twice}");
        assert_eq!(params.time("time"), Some(Duration::from_millis(1500)));
    }

    #[test]
    fn what_is_not_of_its_kind_is_refused_with_an_example() {
        let mut params = Params::defaults(TABLE);
        for (name, bad) in
            [("size", "12"), ("n", "0"), ("n", "x"), ("time", "3"), ("fill", "noise"), ("shared", "maybe")]
        {
            let error = params.set(TABLE, name, vec![bad.to_owned()]).unwrap_err().to_string();
            assert!(error.contains(&format!("--{name}")) && error.contains("try:"), "{error}");
        }
        assert!(params.set(TABLE, "nmae", vec![]).unwrap_err().to_string().contains("fill, arms"));
        assert_eq!(params, Params::defaults(TABLE), "nothing was taken over");
    }
}
