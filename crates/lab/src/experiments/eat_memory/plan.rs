//! What a series of eat-memory will do, checked against the machine.
//!
//! What it is not: a default of its own; those stand in the table.

use std::time::Duration;

use ramline_evidence::{Arm, SwapKind};
use ramline_kernel::Root;
use ramline_units::Bytes;

use super::arms::{self, NAME};
use crate::params::Params;
use ramline_sandbox::error::{LabError, Result};
use ramline_sandbox::fill::Fill;
use ramline_sandbox::own_fs::image_size;
use ramline_sandbox::requirements::{Caller, PRIORITY, Requirements, Resources, Tool, consent, scratch_line};

/// Looks in a run, about: each stops the child for a millisecond.
const LOOKS: u64 = 128;

/// The plan.
#[derive(Debug, Clone)]
pub struct Plan {
    pub limit: Bytes,
    pub arms: Vec<Arm>,
    pub eat: Option<Bytes>,
    pub step: Bytes,
    pub cache: Bytes,
    pub reads: u32,
    pub idle: Bytes,
    pub fill: Fill,
    pub read_ahead: Bytes,
    pub runs: u32,
    pub seed: u64,
    pub timeout: Duration,
    pub found: Resources,
}

impl Plan {
    /// Of the values given.
    pub fn of(root: &Root, params: &Params) -> Result<Plan> {
        let count = |name: &str| params.count(name).and_then(|n| u32::try_from(n).ok()).unwrap_or(1);
        let size = |name: &str, otherwise: Bytes| params.size(name).unwrap_or(otherwise);
        let limit = size("limit", Bytes::from_mib(256));
        let whole = |bytes: Bytes| Bytes((bytes.0 >> 20 << 20).max(1 << 20));
        let arms = params.list("arms").iter().map(|text| arms::parse(text)).collect::<Result<Vec<_>>>()?;
        let values = Values {
            limit,
            arms,
            eat: params.size("eat"),
            step: size("step", Bytes::from_mib(1)),
            cache: size("cache", whole(Bytes(limit.0 / 8 * 7))),
            idle: size("idle", whole(Bytes(limit.0 / 4))),
            read_ahead: size("read-ahead", Bytes::from_kib(128)),
        };
        values.check()?;
        let Values { limit, arms, eat, step, cache, idle, read_ahead } = values;
        let swap_file = arms.iter().any(|arm| arm.swap == SwapKind::File);
        let tree = if arms.iter().any(|arm| arms::has(arm, arms::CACHE)) { cache } else { Bytes::from_mib(1) };
        let swap = if swap_file { limit } else { Bytes::ZERO };
        // Without a limit the end of eating is what bounds it, with what is there before.
        let unlimited = arms.iter().any(|arm| arms::has(arm, arms::NO_LIMIT));
        let open = if unlimited { eat.unwrap_or_default() + cache + idle } else { Bytes::ZERO };
        let (command, dir) = (format!("ramline lab run {NAME}"), params.path("dir"));
        let needed = Requirements {
            caller: Caller { command: &command, smaller: "--limit 64MiB", without_swap: "--arms no-swap" },
            root_for: "a memory cgroup, a loop device and a mount need root",
            group: true,
            memory: limit.max(open),
            tools: Tool::OWN_FS,
            scratch: image_size(tree) + swap,
            swap_priority: swap_file.then_some(PRIORITY),
            dir: dir.as_deref(),
            allow_busy: params.switch("allow-busy"),
        };
        let found = needed.check(root, Vec::new())?;
        let fill = params.text("fill").unwrap_or("zeros").parse()?;
        let timeout = params.time("timeout").unwrap_or(Duration::from_secs(60));
        let (runs, reads, seed) = (count("runs"), count("reads"), params.count("seed").unwrap_or(256));
        Ok(Plan { limit, arms, eat, step, cache, reads, idle, fill, read_ahead, runs, seed, timeout, found })
    }

    /// `None` in an arm without.
    pub fn limit_of(&self, arm: &Arm) -> Option<Bytes> {
        (!arms::has(arm, arms::NO_LIMIT)).then_some(self.limit)
    }

    /// All files; a token one where no arm reads them.
    pub fn tree(&self) -> Bytes {
        if self.arms.iter().any(|arm| arms::has(arm, arms::CACHE)) { self.cache } else { Bytes::from_mib(1) }
    }

    /// As much as the limit: what does not fit into memory fits there.
    pub fn swap_size(&self) -> Bytes {
        self.limit
    }

    /// So much is taken or read between two looks.
    pub fn look_every(&self, arm: &Arm) -> Bytes {
        let all = match (arm.swap == SwapKind::File, self.eat) {
            (_, Some(eat)) => eat,
            (true, None) => self.limit + self.swap_size(),
            (false, None) => self.limit,
        };
        let steps = (all.0 / LOOKS).div_ceil(self.step.0.max(1)).max(1);
        Bytes(self.step.0.saturating_mul(steps))
    }

    pub fn lines(&self) -> Vec<String> {
        let until = self.eat.map_or_else(|| "until it is killed".to_owned(), |eat| format!("up to {eat}"));
        let mut lines = vec![
            format!(
                "{} runs: {} settings, {} times each, interleaved; each at most {} s",
                self.arms.len().saturating_mul(usize::try_from(self.runs).unwrap_or(usize::MAX)),
                self.arms.len(),
                self.runs,
                self.timeout.as_secs()
            ),
            format!(
                "a program in a memory cgroup limited to {} eats {} at a time {until}; nobody else is killed",
                self.limit, self.step
            ),
            scratch_line(&format!(": {} of files", self.tree()), &self.found.place),
        ];
        lines.extend(self.global().iter().map(|what| format!("outside the sandbox: {what}")));
        lines.extend(self.found.doubts.iter().map(|what| format!("doubt: {what}")));
        lines
    }

    pub fn global(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.arms.iter().any(|arm| arm.swap == SwapKind::File) {
            let area = format!("a swap file of {} with priority {PRIORITY} per run", self.swap_size());
            lines.extend(consent::swap_areas(&Root::live(), vec![area]));
        }
        if self.arms.iter().any(|arm| arm.swappiness.is_some()) {
            lines.extend(consent::swappiness(self.found.version()));
        }
        lines
    }
}

/// What can be judged without a machine.
#[derive(Debug, Clone)]
struct Values {
    limit: Bytes,
    arms: Vec<Arm>,
    eat: Option<Bytes>,
    step: Bytes,
    cache: Bytes,
    idle: Bytes,
    read_ahead: Bytes,
}

impl Values {
    fn check(&self) -> Result<()> {
        let wrong =
            |message: String, hint: &str| Err(LabError::usage(message, format!("ramline lab run {NAME} {hint}")));
        let mib = |bytes: Bytes| bytes.0 > 0 && bytes.0.is_multiple_of(1 << 20);
        if self.arms.is_empty() {
            return wrong("there is no setting".to_owned(), "--arms no-swap,cache+no-swap");
        }
        if !mib(self.limit) || self.limit < Bytes::from_mib(16) {
            return wrong(
                format!("a limit of {} is not a whole number of MiB from 16 on", self.limit),
                "--limit 256MiB",
            );
        }
        if !self.step.0.is_multiple_of(4096) || self.step < Bytes(4096) || self.step > Bytes(self.limit.0 / 8) {
            return wrong(
                format!("a step of {} is not a multiple of 4 KiB up to an eighth of the limit", self.step),
                "--step 1MiB",
            );
        }
        for (name, value) in [("cache", self.cache), ("idle", self.idle)] {
            if !mib(value) || value > Bytes(self.limit.0.saturating_mul(4)) {
                let text = format!("{value} of {name} is not a whole number of MiB up to four times the limit");
                return wrong(text, &format!("--{name} 64MiB"));
            }
        }
        let unlimited = self.arms.iter().find(|arm| arms::has(arm, arms::NO_LIMIT));
        if let (Some(arm), None) = (unlimited, self.eat) {
            let text = format!("setting {}: without a limit it must be said where eating ends", arm.name);
            return wrong(text, &format!("--arms {} --eat 400MiB", arm.name));
        }
        if self.eat.is_some_and(|eat| eat < self.step) {
            return wrong(format!("--eat is less than a step of {}", self.step), "--eat 128MiB");
        }
        if self.read_ahead > Bytes::from_mib(64) || !self.read_ahead.0.is_multiple_of(4096) {
            let text = format!("a read-ahead of {} is not a multiple of 4 KiB up to 64 MiB", self.read_ahead);
            return wrong(text, "--read-ahead 128KiB");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(arms: &[&str]) -> Values {
        let mib = Bytes::from_mib;
        Values {
            limit: mib(256),
            arms: arms.iter().map(|text| arms::parse(text).unwrap()).collect(),
            eat: None,
            step: mib(1),
            cache: mib(224),
            idle: mib(64),
            read_ahead: Bytes::from_kib(128),
        }
    }

    #[test]
    fn nonsense_is_refused_with_a_command_that_works() {
        values(&["no-swap", "idle+cache+swap:60"]).check().unwrap();
        let told = |change: fn(&mut Values)| {
            let mut changed = values(&["no-swap"]);
            change(&mut changed);
            changed.check().unwrap_err().to_string()
        };
        assert!(told(|v| v.arms.clear()).contains("--arms no-swap"));
        assert!(told(|v| v.limit = Bytes::from_mib(8)).contains("from 16 on"));
        assert!(told(|v| v.step = Bytes(5000)).contains("--step 1MiB"));
        assert!(told(|v| v.step = Bytes::from_mib(64)).contains("an eighth of the limit"));
        assert!(told(|v| v.idle = Bytes::ZERO).contains("--idle 64MiB"));
        assert!(told(|v| v.eat = Some(Bytes(1))).contains("--eat 128MiB"));
        assert!(told(|v| v.read_ahead = Bytes(1)).contains("--read-ahead 128KiB"));
    }

    #[test]
    fn without_a_limit_the_end_must_be_given() {
        let open = values(&["no-limit+cache"]);
        assert!(open.check().unwrap_err().to_string().contains("--arms no-limit+cache --eat 400MiB"));
        Values { eat: Some(Bytes::from_mib(64)), ..open }.check().unwrap();
    }
}
