//! Whether a section was seen, and if not, why: "what I could not see" falls out of the type.

use ramline_units::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::prelude::*;

/// A line that does not have the form the kernel documents.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema, thiserror::Error)]
#[error("{path}, line {line}: cannot read '{}'", text.escape_debug())]
pub struct Malformed {
    /// The file.
    pub path: String,
    /// The line, counted from 1; 0 when the whole file is meant.
    pub line: usize,
    /// The line's text, at most 120 characters.
    pub text: String,
}

impl Malformed {
    /// A malformed line; `index` counts from 0.
    #[must_use]
    pub fn new(path: &str, index: usize, text: &str) -> Self {
        Malformed { line: index + 1, ..Malformed::whole(path, text) }
    }

    /// A malformed file.
    #[must_use]
    pub fn whole(path: &str, text: &str) -> Self {
        Malformed { path: path.to_owned(), line: 0, text: text.chars().take(120).collect() }
    }
}

/// One file inside a section that could not be used; the rest of the section works.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Unseen {
    /// The file.
    pub path: String,
    /// Why, in words: "permission denied", "line 3: cannot read 'x'".
    pub reason: String,
    /// True when it was read and makes no sense: the exit status tells.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub garbage: bool,
}

impl Unseen {
    /// A file that could not be read or used, and why.
    #[must_use]
    pub fn new(path: impl Into<String>, reason: impl Into<String>) -> Self {
        Unseen { path: path.into(), reason: reason.into(), garbage: false }
    }

    /// A line that is not understood, of a file that is not the kernel's; `index` counts from 0.
    pub(crate) fn line(file: &str, index: usize, text: &str) -> Self {
        Unseen { garbage: false, ..(&Malformed::new(file, index, text)).into() }
    }

    /// A file the kernel refused to this user.
    #[must_use]
    pub fn denied(path: impl Into<String>) -> Self {
        Unseen::new(path, "permission denied")
    }
}

impl From<&Malformed> for Unseen {
    fn from(m: &Malformed) -> Self {
        let line = if m.line == 0 { String::new() } else { format!("line {}: ", m.line) };
        Unseen { path: m.path.clone(), reason: format!("{line}cannot read '{}'", m.text.escape_debug()), garbage: true }
    }
}

/// A section of a snapshot.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Seen<T> {
    /// Read and understood, but for the lines that `skipped` counts.
    Seen {
        /// What was read.
        data: T,
        /// When, on the machine's boot-time clock; `None` for a captured tree.
        at: Option<Nanos>,
        /// How long reading took; `None` for a captured tree.
        cost: Option<Nanos>,
        /// Lines of the file that are not understood; `None` when all are.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        skipped: Option<Unseen>,
    },
    /// The kernel refused it to this user.
    Denied {
        /// The file that was refused.
        path: String,
    },
    /// This kernel, or this capture, does not have it.
    Absent {
        /// The file that is missing.
        path: String,
    },
    /// It is of another machine than the rest: the host's, where the rest is a container's.
    Foreign {
        /// The file.
        path: String,
        /// Whose it is.
        why: String,
    },
    /// The file is there but makes no sense.
    Malformed(Malformed),
    /// This command did not need it.
    #[default]
    Unread,
}

impl<T> Seen<T> {
    /// The data, if it was seen.
    pub const fn data(&self) -> Option<&T> {
        match self {
            Seen::Seen { data, .. } => Some(data),
            _ => None,
        }
    }

    /// The data, to be changed.
    pub const fn data_mut(&mut self) -> Option<&mut T> {
        match self {
            Seen::Seen { data, .. } => Some(data),
            _ => None,
        }
    }

    /// When and how long it was read is forgotten.
    pub const fn forget_clock(&mut self) {
        if let Seen::Seen { at, cost, .. } = self {
            (*at, *cost) = (None, None);
        }
    }

    /// A seen section without a clock, for tests and captured trees.
    pub const fn new(data: T) -> Self {
        Seen::Seen { data, at: None, cost: None, skipped: None }
    }

    /// From its JSON form. The same as what is derived, which would take in the data twice: first as anything at all, as a variant that
    /// is named inside is read, and then as what they are.
    ///
    /// # Errors
    /// It is not that form.
    pub fn from_value(value: Value) -> Result<Self, serde_json::Error>
    where
        T: DeserializeOwned,
    {
        let mut value = value;
        if value["state"] == "seen" {
            let mut part = |name: &str| value.get_mut(name).map(Value::take).unwrap_or_default();
            let (data, at, cost, skipped) = (part("data"), part("at"), part("cost"), part("skipped"));
            return Ok(Seen::Seen {
                data: ramline_units::json::read(data)?,
                at: ramline_units::json::read(at)?,
                cost: ramline_units::json::read(cost)?,
                skipped: ramline_units::json::read(skipped)?,
            });
        }
        Ok(match ramline_units::json::read::<Seen<()>>(value)? {
            Seen::Denied { path } => Seen::Denied { path },
            Seen::Absent { path } => Seen::Absent { path },
            Seen::Foreign { path, why } => Seen::Foreign { path, why },
            Seen::Malformed(why) => Seen::Malformed(why),
            Seen::Seen { .. } | Seen::Unread => Seen::Unread,
        })
    }

    /// Why it was not seen: `None` when it was, or was not asked for.
    #[must_use]
    pub fn unseen(&self) -> Option<Unseen> {
        match self {
            Seen::Seen { .. } | Seen::Unread => None,
            Seen::Denied { path } => Some(Unseen::denied(path)),
            Seen::Absent { path } => Some(Unseen::new(path, "not there")),
            Seen::Foreign { path, why } => Some(Unseen::new(path, why)),
            Seen::Malformed(m) => Some(m.into()),
        }
    }

    /// Lines that are not understood, of a file that otherwise was.
    pub const fn skipped(&self) -> Option<&Unseen> {
        match self {
            Seen::Seen { skipped, .. } => skipped.as_ref(),
            _ => None,
        }
    }

    /// True when the file, or a line of it that matters, is there but cannot be understood: the exit status tells.
    pub fn is_malformed(&self) -> bool {
        matches!(self, Seen::Malformed(_)) || self.skipped().is_some_and(|skipped| skipped.garbage)
    }
}
