//! Errors of the lab: what was tried, on which object, the cause, then one command to try.
//!
//! What it is not: a verdict of a run; a run that thrashes or is killed is a result, not an error.

use ramline_act::ActError;

use crate::prelude::*;

/// What went wrong.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// The request makes no sense.
    #[error("{message}\n  try: {hint}")]
    Usage {
        /// What is wrong with it.
        message: String,
        /// One command or option that works.
        hint: String,
    },
    /// Nothing was started: what is missing, with the numbers.
    #[error("refused before anything was started:\n  - {}{}", .reasons.join("\n  - "), try_line(.hint))]
    Refused {
        /// Every reason found, not only the first.
        reasons: Vec<String>,
        /// One command that helps against the first of them.
        hint: String,
        /// One of them is missing privilege.
        privilege: bool,
    },
    /// Begun, ended before there was an answer, and put back: why, with the numbers.
    #[error("ended after {done}, everything was put back:\n  - {}{}", .reasons.join("\n  - "), try_line(.hint))]
    Ended {
        /// What was done by then.
        done: String,
        /// Why it is not continued.
        reasons: Vec<String>,
        /// One command that leads to an answer.
        hint: String,
    },
    /// Something made could not be removed: what counts now, whatever else happened.
    #[error("{left}{}", after(.outcome.as_deref()))]
    CleanUp {
        /// What is left, and why.
        left: ActError,
        /// How the run itself had ended, if not well.
        outcome: Option<Box<LabError>>,
    },
    /// The kernel said no.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// The journal or a journalled step failed.
    #[error(transparent)]
    Act(#[from] ActError),
    /// A file of the run folder.
    #[error("cannot {operation} {object}: {cause}\n  try: {hint}")]
    File {
        /// A verb.
        operation: &'static str,
        /// The path.
        object: String,
        /// Why. No source of the error, or it would be said twice.
        cause: std::io::Error,
        /// One command.
        hint: String,
    },
    /// The workload did not do what it should.
    #[error("the workload failed: {0}\n  try: ramline lab clean")]
    Workload(String),
    /// SIGINT or SIGTERM; everything was put back.
    #[error("interrupted; everything was put back\n  try: ramline lab report")]
    Interrupted,
}

/// An error in one line, without its hint.
#[must_use]
pub fn first_line(text: &str) -> String {
    text.lines().next().unwrap_or_default().to_owned()
}

/// None where the hint is no help to this user.
fn try_line(hint: &str) -> String {
    ramline_kernel::error::for_this_user(hint).map(|hint| format!("\n  try: {hint}")).unwrap_or_default()
}

fn after(outcome: Option<&LabError>) -> String {
    // That an arm could not put back what is left says nothing new.
    let outcome = outcome.filter(|outcome| !matches!(outcome, LabError::Act(ActError::Undo { .. })));
    let text = outcome.map(ToString::to_string).unwrap_or_default();
    // Without its hint: the one that counts is to clean up.
    if text.is_empty() { text } else { format!("\n  before that: {}", first_line(&text)) }
}

impl LabError {
    /// A request that makes no sense, and one that does.
    pub fn usage(message: impl Into<String>, hint: impl Into<String>) -> LabError {
        LabError::Usage { message: message.into(), hint: hint.into() }
    }

    /// Nothing was started, for want of anything but privilege.
    pub fn refused(reasons: Vec<String>, hint: impl Into<String>) -> LabError {
        LabError::Refused { reasons, hint: hint.into(), privilege: false }
    }

    /// Begun and ended early, after `done`.
    pub fn ended(done: impl Into<String>, reasons: Vec<String>, hint: impl Into<String>) -> LabError {
        LabError::Ended { done: done.into(), reasons, hint: hint.into() }
    }

    /// The same after so many runs: what says that nothing was started would not be true.
    #[must_use]
    pub fn after(self, runs: usize) -> LabError {
        let done = if runs == 1 { "1 run".to_owned() } else { format!("{runs} runs") };
        match self {
            LabError::Refused { reasons, hint, .. } | LabError::Ended { reasons, hint, .. } => {
                LabError::Ended { done, reasons, hint }
            }
            LabError::Workload(why) => LabError::ended(done, vec![why], "ramline lab report"),
            other => other,
        }
    }

    /// A signal, or something that could not be put back: nothing else counts then.
    #[must_use]
    pub const fn is_interruption(&self) -> bool {
        matches!(self, LabError::Interrupted | LabError::CleanUp { .. } | LabError::Act(_))
    }

    /// With its one command to try made whole.
    #[must_use]
    pub fn completed(self, whole: impl Fn(&str) -> String) -> LabError {
        match self {
            LabError::Usage { message, hint } => LabError::Usage { message, hint: whole(&hint) },
            LabError::Refused { reasons, hint, privilege } => {
                LabError::Refused { reasons, hint: whole(&hint), privilege }
            }
            LabError::Ended { done, reasons, hint } => LabError::Ended { done, reasons, hint: whole(&hint) },
            other => other,
        }
    }

    /// A file that could not be read or written.
    pub fn file(operation: &'static str, object: &std::path::Path, cause: std::io::Error) -> LabError {
        let dir = object.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(std::path::Path::new("."));
        LabError::File {
            operation,
            object: object.display().to_string(),
            cause,
            hint: format!("ls -ld {}", dir.display()),
        }
    }

    /// Nothing was started and nothing is wrong with ramline: the exit code for "refused".
    #[must_use]
    pub fn is_refused(&self) -> bool {
        match self {
            LabError::Refused { .. } => true,
            LabError::Kernel(error) => error.is_refused(),
            LabError::Act(error) => matches!(error, ActError::LeftBehind { .. }),
            _ => false,
        }
    }
}

/// What functions of the lab return.
pub type Result<T, E = LabError> = std::result::Result<T, E>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_not_be_removed_comes_first_and_why_the_run_ended_after_it() {
        let left = || ActError::Undo { errors: vec![KernelError::unsupported("unmount", "/x/mnt", "it is busy")] };
        let text = |outcome| LabError::CleanUp { left: left(), outcome: Some(Box::new(outcome)) }.to_string();
        assert!(!text(LabError::Act(left())).contains("before that"));
        let text = text(LabError::Workload("no".to_owned()));
        assert!(text.starts_with("cannot undo everything") && text.contains("unmount /x/mnt"), "{text}");
        assert!(text.ends_with("before that: the workload failed: no") && text.contains("ramline lab clean"), "{text}");
    }
}
