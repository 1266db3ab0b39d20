//! This binary started again: the hidden argument, the kinds of child, and how a child speaks to its supervisor.
//!
//! The table of kinds is made by the caller of [`main`]; nothing here knows an experiment.

use std::process::ExitCode;

use ramline_kernel::stdio;

use super::lines::{self, ChildLine, GO, LONGEST};
use crate::prelude::*;

/// The hidden subcommand; the kind of child and its task follow.
pub const ARGUMENT: &str = "__workload";
/// What a shell gives for a command that cannot be started.
const FAILED: u8 = 127;

/// A kind of child: its name on the command line, and what does its task.
pub type ChildKind = (&'static str, fn(Value) -> Result<()>);

/// The task as it stands on the command line.
#[derive(Serialize, Deserialize)]
struct Assignment<T> {
    /// The process without which the child ends.
    supervisor: u32,
    task: T,
}

/// This program as a child of this kind, spoken to through pipes.
///
/// # Errors
/// The task cannot be written down; this program has no path.
pub fn command(kind: &str, task: &impl Serialize) -> Result<Command> {
    let task = serde_json::to_string(&Assignment { supervisor: std::process::id(), task })
        .map_err(|error| LabError::Workload(error.to_string()))?;
    let mut command = Command::new(process::own_exe()?);
    command.args([ARGUMENT, kind, &task]).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    Ok(command)
}

/// The kind of child that does not end with us: it puts a limit back when we have died.
pub const OUTLIVES: &str = "keep-limit";

/// Does the task in the arguments after the hidden one, and reports on standard output.
#[must_use]
pub fn main(kinds: &[ChildKind], args: &[String]) -> ExitCode {
    let Err(error) = work(kinds, args) else { return ExitCode::SUCCESS };
    // The supervisor may be gone; then there is no one to tell.
    drop(send(&ChildLine::<()>::Failed(lines::short(&error))));
    stdio::tell(&format!("ramline: {}", lines::short(&error)));
    ExitCode::from(FAILED)
}

fn work(kinds: &[ChildKind], args: &[String]) -> Result<()> {
    let [kind, assignment] = args else {
        return Err(LabError::usage("this is for ramline's own use", "ramline lab list"));
    };
    let unknown = || LabError::Workload(format!("there is no kind of task '{}'", kind.escape_debug()));
    let (_, work) = kinds.iter().find(|(name, _)| name == kind).ok_or_else(unknown)?;
    let Assignment { supervisor, task } = ramline_units::json::parse(assignment).map_err(unreadable)?;
    if kind != OUTLIVES {
        process::die_with_parent(supervisor)?;
    }
    // When its group is out of memory it is this process, or the command it becomes, that must go. Raising needs no privilege;
    // where it is forbidden all the same, the kernel still prefers the largest, which this is.
    drop(process::prefer_oom_kill(&Root::live(), 1000));
    work(task)
}

fn unreadable(error: serde_json::Error) -> LabError {
    LabError::Workload(format!("the task is not readable: {error}"))
}

/// The task of a child.
///
/// # Errors
/// It is that of another kind.
pub fn task<T: DeserializeOwned>(task: Value) -> Result<T> {
    ramline_units::json::read(task).map_err(unreadable)
}

/// Reports, and goes on.
///
/// # Errors
/// The supervisor is gone.
pub fn report(report: &impl Serialize) -> Result<()> {
    send(&ChildLine::Report(report))
}

/// Reports, and stands still until the supervisor lets the child go on.
///
/// # Errors
/// The supervisor is gone.
pub fn report_and_wait(report: &impl Serialize) -> Result<()> {
    send(&ChildLine::Waiting(report))?;
    match lines::next(&mut std::io::stdin().lock(), LONGEST) {
        Some(word) if word == GO => Ok(()),
        _ => Err(LabError::Workload("the supervisor went away".to_owned())),
    }
}

fn send<T: Serialize>(line: &ChildLine<T>) -> Result<()> {
    lines::write(std::io::stdout().lock(), line)
}
