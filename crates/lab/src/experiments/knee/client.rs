//! What is looked at beside the first runs: how much of the command's memory cannot be reclaimed, and whether a server does its work.

use ramline_sandbox::child::command::Look;
use ramline_sandbox::child::outside::{Outside, Service};

use crate::prelude::*;

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

/// What the command was, and what it used.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
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
pub fn look_at(outside: &Outside, asked: &Asked<'_>, root: &Root) -> Result<Vec<String>> {
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

fn refusal(service: &Service, text: String, asked: &Asked<'_>) -> LabError {
    let (theirs, own) = (service.cpu.as_secs_f64(), asked.cpu.as_secs_f64());
    let program = short(asked.argv.first().map(String::as_str).unwrap_or_default());
    let share = format!("{} used {theirs:.2} s of processor time, {program} {own:.2} s", service.name);
    let way = format!(
        "give a script that starts {}, runs {program} and stops it, so that both are in the group; or --client-only",
        service.name
    );
    LabError::ended("the first runs, without a limit", vec![text, share, way], "ramline lab describe knee")
}

/// `postgres (pid 4711, group /system.slice/postgresql.service)`.
fn named(service: &Service) -> String {
    let group = if service.group.is_empty() { String::new() } else { format!(", group {}", service.group) };
    format!("{} (pid {}{group})", service.name, service.pid)
}

/// The name of a program without its folder.
fn short(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}
