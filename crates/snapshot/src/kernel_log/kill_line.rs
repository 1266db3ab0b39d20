//! `Killed process 42 (name) total-vm:...` in every form, and the line before it that names who was chosen.

use super::fields::{Unit, clip, pairs, split_number};
use crate::prelude::*;

/// A process that was killed.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct KillLine {
    /// Its number.
    pub pid: u32,
    /// Its name.
    pub name: String,
    /// Its user.
    pub uid: Option<u32>,
    /// Address space.
    pub total_vm: Option<Bytes>,
    /// Anonymous memory in RAM.
    pub anon: Option<Bytes>,
    /// Pages of files in RAM.
    pub file: Option<Bytes>,
    /// Shared memory in RAM.
    pub shmem: Option<Bytes>,
    /// The administrator's correction.
    pub adj: Option<i64>,
    /// The line says that a group's limit was hit.
    pub in_group: bool,
    /// The line says that the machine was out of memory.
    pub global: bool,
    /// Another was chosen, of which this is a child or a thread (up to Linux 5.2).
    pub chosen: Option<(u32, String)>,
    /// vm.oom_kill_allocating_task: who asked was killed, whatever its size.
    pub because_it_asked: bool,
}

/// What a line of a kill is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Kill {
    /// This one was chosen; the next line names who died.
    Chosen(KillLine),
    /// This one died.
    Died(KillLine),
}

/// A line that names who is killed, if it is one.
pub(super) fn kill(text: &str) -> Option<Kill> {
    let text = text.trim();
    let (head, rest, died) = ["Killed process ", "Kill process ", "kill process ", "Killing process "]
        .iter()
        .find_map(|mark| text.split_once(mark).map(|(head, rest)| (head, rest, mark.starts_with("Killed"))))?;
    let group = head.contains("emory cgroup");
    let global = head.to_ascii_lowercase().starts_with("out of memory");
    // Alone, at the beginning, the form is the kernel's too; behind other words it is another program's.
    if !group && !global && !head.is_empty() {
        return None;
    }
    let (pid, rest) = split_number(rest)?;
    let mut line = KillLine {
        pid: u32::try_from(pid).ok()?,
        in_group: group,
        global,
        because_it_asked: head.contains("oom_kill_allocating_task"),
        ..KillLine::default()
    };
    // 2.6.32 of RHEL 6: "Killed process 42, UID 5, (name) total-vm:"
    let name_from = rest.find('(')?;
    let behind = rest.get(name_from + 1..)?;
    // A name may hold brackets: it ends where the sizes, the score or the line begin.
    let ends = [") total-vm:", "), UID", ") score ", ") vsz:", "), adj", ") to free"];
    let end = ends.iter().filter_map(|end| behind.rfind(end)).min().or_else(|| behind.rfind(')'))?;
    line.name = clip(behind.get(..end)?, 64);
    let figures = behind.get(end + 1..)?;
    line.uid = uid(rest.get(..name_from)?).or_else(|| uid(figures));
    for (key, value, unit) in pairs(figures) {
        let bytes = (unit == Unit::Kib).then(|| Bytes::from_kib(value));
        match key {
            "total-vm" | "vsz" => line.total_vm = bytes,
            "anon-rss" => line.anon = bytes,
            "file-rss" => line.file = bytes,
            "shmem-rss" => line.shmem = bytes,
            _ => {}
        }
    }
    line.adj = figures.split_once("oom_score_adj:").and_then(|(_, adj)| adj.trim().parse().ok());
    Some(if died { Kill::Died(line) } else { Kill::Chosen(line) })
}

fn uid(text: &str) -> Option<u32> {
    let rest = text.split_once("UID:").or_else(|| text.split_once("UID "))?.1;
    u32::try_from(split_number(rest.trim_start())?.0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn died(text: &str) -> KillLine {
        match kill(text) {
            Some(Kill::Died(line)) => line,
            other => panic!("{text}: {other:?}"),
        }
    }

    #[test]
    fn every_form_of_the_line_names_who_died() {
        let newest = died(
            "Memory cgroup out of memory: Killed process 7 ((sd-pam)) total-vm:172kB, anon-rss:4kB, file-rss:8kB, shmem-rss:0kB, UID:1000 pgtables:64kB oom_score_adj:-200",
        );
        assert_eq!(
            (newest.pid, newest.name.as_str(), newest.uid, newest.adj, newest.in_group),
            (7, "(sd-pam)", Some(1000), Some(-200), true)
        );
        assert_eq!(newest.anon, Some(Bytes::from_kib(4)));
        let seven =
            died("Killed process 918 (db), UID 27, total-vm:2184052kB, anon-rss:18492kB, file-rss:0kB, shmem-rss:0kB");
        assert_eq!((seven.uid, seven.anon, seven.global), (Some(27), Some(Bytes::from_kib(18_492)), false));
        let six = died("Killed process 42, UID 5, (java) total-vm:9kB, anon-rss:5kB, file-rss:1kB");
        assert_eq!((six.name.as_str(), six.uid), ("java", Some(5)));
        assert!(died("Out of memory: Killed process 13432 (node1)").global);
        assert_eq!(died("Out of Memory: Killed process 9 (a) b).").name, "a) b");
    }

    #[test]
    fn who_was_chosen_is_told_from_who_died_and_from_other_programs() {
        let Some(Kill::Chosen(chosen)) =
            kill("Out of memory (oom_kill_allocating_task): Kill process 996 (db) score 0 or sacrifice child")
        else {
            panic!()
        };
        assert!(chosen.because_it_asked && chosen.name == "db");
        assert_eq!(kill("supervisor: Killed process 12 (x)"), None);
        assert_eq!(kill("Killed process twelve"), None);
    }
}
