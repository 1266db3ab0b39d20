//! What is looked at beside the first runs: how much of the command's memory cannot be reclaimed, and whether a server does its work.

use ramline_sandbox::child::command::Look;
use ramline_sandbox::child::outside::{Outside, Service};

use crate::prelude::*;
use ramline_units::quoted;

/// Looks at both.
pub struct Beside {
    group: Group,
    without_swap: bool,
    /// The most of its memory that had no file behind it and no swap to go to; zero where there is swap.
    pub least: Bytes,
    /// What others did for it.
    pub outside: Outside,
}

impl Beside {
    /// Of the group the command will run in.
    pub fn new(group: &Group, without_swap: bool) -> Beside {
        Beside { group: group.clone(), without_swap, least: Bytes::ZERO, outside: Outside::default() }
    }
}

impl Look for Beside {
    fn begin(&mut self, root: &Root) {
        self.outside.begin(root);
    }

    fn look(&mut self, root: &Root, members: &[u32]) -> Result<Option<Verdict>> {
        self.outside.look(root, members);
        if self.without_swap {
            let stat = self.group.stat()?;
            let now = stat.anon.unwrap_or_default() + stat.shmem.unwrap_or_default();
            self.least = self.least.max(now);
        }
        Ok(None)
    }

    fn end(&mut self, root: &Root) {
        self.outside.end(root);
    }
}

/// The command, and what it used.
#[derive(Debug, Clone, Copy)]
pub struct CommandUse<'a> {
    pub argv: &'a [String],
    pub within: f64,
    pub client_only: bool,
    pub cpu: Nanos,
    pub peak: Bytes,
}

/// What has to be said of a command with a server; an error where the answer would be the client's and was not asked for.
///
/// # Errors
/// A service outside does a part of the work that is larger than the margin.
pub fn look_at(outside: &Outside, asked: &CommandUse<'_>, root: &Root) -> Result<Vec<String>> {
    let mut notes = Vec::new();
    if let Some(service) = outside.service(root, asked.cpu, asked.peak, asked.within) {
        let program = asked.argv.first().map(String::as_str).unwrap_or_default();
        let what = format!("this measures {} only", short(program));
        let text = format!("the work is done by {} outside: {what}", named(&service));
        if !asked.client_only {
            return Err(refusal(&service, text, asked));
        }
        notes.push(text);
    }
    if !outside.elsewhere.is_empty() {
        let named: Vec<&str> = outside.elsewhere.iter().take(3).map(String::as_str).collect();
        let whose = "whose memory is not in this measurement";
        notes.push(format!("it talks to {}, which no process of this machine holds, {whose}", named.join(", ")));
    }
    Ok(notes)
}

fn refusal(service: &Service, text: String, asked: &CommandUse<'_>) -> LabError {
    let (theirs, own) = (service.cpu.as_secs_f64(), asked.cpu.as_secs_f64());
    let program = short(asked.argv.first().map(String::as_str).unwrap_or_default());
    let share = format!("{} used {theirs:.2} s of processor time, {program} {own:.2} s", service.name);
    let script = format!("give a script that starts {}, runs {program} and stops it, or --client-only", service.name);
    let (way, hint) = match unit(&service.group) {
        // Whose group it is says the search itself.
        Some(unit) => (
            format!("set the limit on the service with --with; or {script}"),
            format!("ramline lab run knee --with {}", quoted(&unit)),
        ),
        None => {
            (format!("{} is in no group of its own: {script}", service.name), "ramline lab describe knee".to_owned())
        }
    };
    LabError::ended("the first runs, without a limit", vec![text, share, way], hint)
}

/// `postgres (pid 4711, group /system.slice/postgresql.service)`.
fn named(service: &Service) -> String {
    let group = if service.group.is_empty() { String::new() } else { format!(", group {}", service.group) };
    format!("{} (pid {}{group})", service.name, service.pid)
}

/// What names a group for `--with`: of a unit its name, else the path; nothing of the root group, and of one in which this process is.
fn unit(group: &str) -> Option<String> {
    let own = Hierarchy::detect(&Root::live()).and_then(|found| found.group_of(&Root::live(), std::process::id()));
    let inside = own.is_ok_and(|own| Path::new(&own).starts_with(group));
    let last = group.rsplit('/').next().filter(|last| !last.is_empty() && !inside)?;
    let is_unit = [".service", ".scope"].iter().any(|kind| last.ends_with(kind));
    Some(if is_unit { last.to_owned() } else { group.to_owned() })
}

/// The name of a program without its folder.
fn short(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}
