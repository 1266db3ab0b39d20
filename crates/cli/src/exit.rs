//! Exit codes, documented in `ramline --help`.

use ramline_measure::pages::PagesError;
use ramline_measure::tiers::TiersError;
use ramline_sandbox::LabError;

use crate::prelude::*;

/// Done. Findings do not change it, unless `--exit-code` was given.
pub const DONE: u8 = 0;
/// Something failed that has no code of its own.
pub const FAILED: u8 = 1;
/// The command line makes no sense.
pub const USAGE: u8 = 2;
/// More privilege is needed.
pub const PRIVILEGE: u8 = 3;
/// The kernel lacks what is needed.
pub const KERNEL: u8 = 4;
/// Refused before anything was started.
pub const REFUSED: u8 = 5;
/// Started, ended early, put back as it was.
pub const ROLLED_BACK: u8 = 6;
/// Done but for a part: a file made no sense or could not be looked at, or not all of what was asked for could be done.
pub const PARTLY: u8 = 7;
/// With `--exit-code`: the first line or a finding is a warning or critical.
pub const FINDINGS: u8 = 10;

/// What `--help` says of them.
pub const HELP: &str = "Exit codes: 0 done, also when there are findings; 1 failed; 2 usage; 3 more privilege needed; \
4 kernel feature missing; 5 refused before anything was started; 6 ended early and put back; 7 done but for a part: a file \
could not be read, or stays as it was; 10 the first line or a finding is a warning or critical (only with --exit-code)";

/// An error with the exit code that belongs to it.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Failure {
    /// The exit code.
    pub code: u8,
    /// What goes to stderr.
    pub message: String,
}

impl Failure {
    /// A failure with its code.
    pub fn new(code: u8, message: impl Into<String>) -> Self {
        Failure { code, message: message.into() }
    }

    /// A command line that cannot be followed.
    pub fn usage(message: impl Into<String>) -> Self {
        Failure::new(USAGE, message)
    }

    /// Refused, with nothing done.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(REFUSED, message)
    }

    /// Begun, and put back.
    pub fn rolled_back(message: impl Into<String>) -> Self {
        Self::new(ROLLED_BACK, message)
    }
}

/// The exit code of an error, by the most specific cause in its chain.
#[must_use]
pub fn for_error(error: &anyhow::Error) -> ExitCode {
    let code = error.chain().find_map(|cause| {
        if let Some(failure) = cause.downcast_ref::<Failure>() {
            return Some(failure.code);
        }
        if let Some(error) = cause.downcast_ref::<LabError>() {
            return lab_code(error);
        }
        if let Some(TiersError::Act(error)) = cause.downcast_ref::<TiersError>() {
            return Some(act_code(error));
        }
        if let Some(TiersError::Interrupted) = cause.downcast_ref::<TiersError>() {
            return Some(ROLLED_BACK);
        }
        match cause.downcast_ref::<PagesError>() {
            Some(PagesError::Act(error)) => return Some(act_code(error)),
            Some(PagesError::Interrupted) => return Some(ROLLED_BACK),
            Some(PagesError::Algorithm { .. }) => return Some(USAGE),
            Some(PagesError::Nothing { .. }) => return Some(PRIVILEGE),
            Some(PagesError::Kernel(_) | PagesError::NotLive(_)) | None => {}
        }
        if let Some(error) = cause.downcast_ref::<ActError>() {
            return Some(act_code(error));
        }
        cause.downcast_ref::<KernelError>().map(kernel_code)
    });
    ExitCode::from(code.unwrap_or(FAILED))
}

fn kernel_code(error: &KernelError) -> u8 {
    match error.cause {
        Cause::Denied => PRIVILEGE,
        Cause::Unsupported { .. } => KERNEL,
        Cause::Refused { .. } => REFUSED,
        _ => FAILED,
    }
}

fn act_code(error: &ActError) -> u8 {
    match error {
        ActError::Kernel(error) => kernel_code(error),
        ActError::Busy { .. } | ActError::Changed { .. } | ActError::LeftBehind { .. } => REFUSED,
        ActError::Interrupted { .. } | ActError::RolledBack { .. } => ROLLED_BACK,
        ActError::Undo { .. } | ActError::UndoChange { .. } => FAILED,
    }
}

fn lab_code(error: &LabError) -> Option<u8> {
    match error {
        LabError::Usage { .. } => Some(USAGE),
        LabError::Interrupted | LabError::Ended { .. } => Some(ROLLED_BACK),
        LabError::CleanUp { .. } => Some(FAILED),
        LabError::Refused { privilege: true, .. } => Some(PRIVILEGE),
        LabError::Kernel(error) => Some(kernel_code(error)),
        LabError::Act(error) => Some(act_code(error)),
        error if error.is_refused() => Some(REFUSED),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(privilege: bool) -> LabError {
        LabError::Refused { reasons: vec!["no".to_owned()], hint: "ramline show".to_owned(), privilege }
    }

    #[test]
    fn missing_privilege_is_told_apart_from_other_refusals() {
        assert_eq!((lab_code(&refused(true)), lab_code(&refused(false))), (Some(PRIVILEGE), Some(REFUSED)));
    }

    #[test]
    fn what_was_not_put_back_is_never_reported_as_rolled_back() {
        let left = ActError::Undo { errors: Vec::new() };
        let error = LabError::CleanUp { left, outcome: Some(Box::new(LabError::Interrupted)) };
        assert_eq!(format!("{:?}", for_error(&error.into())), format!("{:?}", ExitCode::from(FAILED)));
        let left = TiersError::Act(ActError::Undo { errors: Vec::new() });
        assert_eq!(format!("{:?}", for_error(&left.into())), format!("{:?}", ExitCode::from(FAILED)));
        let stopped = TiersError::Interrupted;
        assert_eq!(format!("{:?}", for_error(&stopped.into())), format!("{:?}", ExitCode::from(ROLLED_BACK)));
    }
}
