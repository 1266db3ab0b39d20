//! What can go wrong around a run, with one command to try.

use std::path::PathBuf;

use ramline_kernel::KernelError;

/// What every function of this crate returns.
pub type Result<T> = std::result::Result<T, ActError>;

/// An error of a run.
#[derive(Debug, thiserror::Error)]
#[expect(missing_docs, reason = "the doc of each variant names its fields")]
pub enum ActError {
    /// A step, or the journal itself.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// Another run is alive; it is not touched.
    #[error("cannot start: another ramline is running, process {pid} (lock {})\n  try: ps -p {pid}", lock.display())]
    Busy { pid: u32, lock: PathBuf },
    /// SIGINT or SIGTERM came; what was done is undone.
    #[error("stopped by signal {signal}")]
    Interrupted { signal: i32 },
    /// A standing change that could not be made: what was done of it is undone.
    #[error("change {number} was not applied, and what was done of it is undone: {cause}")]
    RolledBack { number: u64, cause: KernelError },
    /// Objects that somebody else has changed since: nothing was done.
    #[error("cannot {what}: changed since by another program or person:\n  {}\n  try: {hint}", objects.join("\n  "))]
    Changed { what: String, objects: Vec<String>, hint: String },
    /// What dead runs have left and cannot be removed: nothing new is begun on top of it.
    #[error("refused before anything was started:\n  - {}{}", reasons.join("\n  - "), try_clean())]
    LeftBehind { reasons: Vec<String> },
    /// Steps that could not be undone; the journal still names them.
    #[error("cannot undo everything:\n{}\n  try: ramline lab clean", lines(errors))]
    Undo { errors: Vec<KernelError> },
    /// Steps of a standing change that could not be undone: the others are, and these are tried again by the same command.
    #[error(
        "change {number} is undone but for this, which the same command tries again:\n{}\n  try: ramline tune undo {number}",
        lines(errors)
    )]
    UndoChange { number: u64, errors: Vec<KernelError> },
}

/// None where the command is no help to this user.
fn try_clean() -> String {
    ramline_kernel::error::for_this_user("ramline lab clean").map(|hint| format!("\n  try: {hint}")).unwrap_or_default()
}

fn lines(errors: &[KernelError]) -> String {
    errors.iter().map(|error| format!("  {}", error.to_string().replace('\n', "\n  "))).collect::<Vec<_>>().join("\n")
}

impl ActError {
    /// The process that holds the lock, when that is the reason.
    #[must_use]
    pub fn busy_pid(&self) -> Option<u32> {
        match self {
            ActError::Busy { pid, .. } => Some(*pid),
            _ => None,
        }
    }
}
