//! Which processes are likely forks of one another: the same program, the same parent or control group, and about as much
//! of each kind of memory.
//!
//! Groups in which one member's page tables tell about the others'. Not proof; what is concluded
//! from it is an estimate and says so.
//!
//! Worked example: 253 database backends are children of one server of the same program and map 4 GiB each: one group.
//! The server itself, whose parent is another program, stands alone.

use std::collections::HashMap;

use super::{Process, Processes};
use crate::prelude::*;

/// Sizes are alike when they fall into the same quarter of a doubling: within 19 %.
const STEPS_A_DOUBLING: f64 = 4.0;
/// Below this a size tells nothing.
const SMALLEST: Bytes = Bytes::from_kib(256);

/// What runs: the program's file where it may be seen, otherwise the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Program<'a> {
    /// Index into [`Processes::programs`].
    File(u32),
    /// Its own name for itself.
    Name(&'a str),
}

impl Process {
    /// What it runs.
    #[must_use]
    pub fn program(&self) -> Program<'_> {
        self.exe.map_or(Program::Name(&self.name), Program::File)
    }

    /// True when it has memory of its own: no zombie, no thread of the kernel.
    #[must_use]
    pub const fn has_memory(&self) -> bool {
        self.rss_anon.is_some()
    }

    /// True while it ends: its memory is no longer its own, and not all of it is free yet.
    #[must_use]
    pub const fn is_ending(&self) -> bool {
        !self.has_memory() && !self.kernel_thread && !matches!(self.state, 'Z' | 'X')
    }

    /// All that it maps and that is in RAM, at the time of its walk where there was one: it may have grown since it was listed.
    #[must_use]
    pub fn resident(&self) -> Bytes {
        match self.walked {
            Some(walked) if walked.rss >= walked.pss && walked.rss.0 > 0 => walked.rss,
            Some(walked) => self.rss().max(walked.pss),
            None => self.rss(),
        }
    }
}

impl Processes {
    /// For each process of the list the number of its group of likely forks, counted from 0; `None` without memory.
    #[must_use]
    pub fn kin(&self) -> Vec<Option<u32>> {
        let by_pid = |pid: u32| self.list.binary_search_by_key(&pid, |p| p.pid).ok().and_then(|at| self.list.get(at));
        let mut numbers = HashMap::new();
        let mut out = Vec::with_capacity(self.list.len());
        for p in &self.list {
            let program = p.program();
            let parent = by_pid(p.parent).filter(|parent| parent.program() == program).map(|parent| parent.pid);
            let group = if parent.is_some() { None } else { p.group };
            let sizes = [p.rss_anon, p.rss_file, p.rss_shmem].map(step);
            let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
            out.push(p.has_memory().then(|| *numbers.entry((program, parent, group, sizes)).or_insert(next)));
        }
        out
    }
}

#[expect(clippy::cast_possible_truncation, reason = "four times the logarithm of a 64-bit number is below 256")]
fn step(size: Option<Bytes>) -> i16 {
    match size {
        Some(size) if size > SMALLEST => (size.as_f64().log2() * STEPS_A_DOUBLING).floor() as i16,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: u32, parent: u32, exe: u32, shmem_mib: u64) -> Process {
        let (anon, shmem) = (Some(Bytes::from_mib(1)), Some(Bytes::from_mib(shmem_mib)));
        Process { pid, parent, exe: Some(exe), group: Some(0), rss_anon: anon, rss_shmem: shmem, ..Process::default() }
    }

    #[test]
    fn children_of_one_server_with_as_much_shared_memory_are_kin_and_nobody_else_is() {
        let mut list =
            vec![process(1, 0, 0, 1), process(5, 1, 7, 4096), process(6, 5, 7, 4096), process(7, 5, 7, 4100)];
        list.push(process(8, 5, 7, 2000));
        list.push(process(9, 5, 8, 4096));
        list.push(Process { rss_anon: None, ..process(10, 5, 7, 4096) });
        let all = Processes { list, ..Processes::default() };
        assert_eq!(all.kin(), [Some(0), Some(1), Some(2), Some(2), Some(3), Some(4), None]);
    }

    #[test]
    fn orphans_of_one_program_are_kin_within_a_control_group_and_names_stand_in_for_hidden_programs() {
        let orphan = |pid, name: &str, group| Process {
            name: name.to_owned(),
            exe: None,
            group: Some(group),
            ..process(pid, 1, 0, 50)
        };
        let list = vec![orphan(3, "a", 0), orphan(4, "a", 0), orphan(5, "a", 1), orphan(6, "b", 0)];
        let all = Processes { list, ..Processes::default() };
        assert_eq!(all.kin(), [Some(0), Some(0), Some(1), Some(2)]);
    }
}
