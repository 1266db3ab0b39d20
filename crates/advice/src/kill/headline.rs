//! The first sentence: who was killed, by whom, when, under which limit.

use ramline_model::kill::{Certainty, Kill, KillCause, Killer, Reason, Victim};
use ramline_snapshot::kernel_log::Stamp;
use ramline_units::escape;

/// The first sentence of a kill, or of a failure without one.
pub(super) fn headline(kill: &Kill) -> String {
    if kill.nothing_found {
        return "No kill, failed request or stall for memory is in this log.".to_owned();
    }
    let when = kill.at.as_ref().map(|at| format!(" at {}", time(at))).unwrap_or_default();
    let under = limit(kill);
    match (&kill.victim, kill.killer) {
        (_, Killer::None) => no_kill(kill, &when),
        (Some(victim), _) => format!("{} was killed by {}{when}{under}.", subject(victim), by(kill.killer)),
        (None, Killer::Kubelet) if kill.cause == KillCause::NotMemory => {
            format!("The kubelet evicted pods{when}, and not for a lack of RAM.")
        }
        (None, Killer::Kubelet) => {
            format!("The kubelet evicts pods to reclaim memory{when}; the log names none that was evicted.")
        }
        (None, _) if kill.panicked => format!("The machine panicked{when} instead of a kill: vm.panic_on_oom is set."),
        (None, _) if kill.reasons.contains(&Reason::BeforeUserSpace) => {
            format!("The kernel ran out of memory{when} before anything could be killed.")
        }
        // The line is not missing, and there is none: no process could be killed.
        (None, Killer::KernelGlobal | Killer::KernelMemcg)
            if !kill.missing.iter().any(|line| line.contains("who was killed")) =>
        {
            format!("The kernel was out of memory{when}{under}, and found no process to kill.")
        }
        (None, killer) => format!("{} killed{when}{under}. The log does not name who died.", capital(by(killer))),
    }
}

/// A time, as the log has it; seconds since boot are named.
pub(super) fn time(at: &Stamp) -> String {
    match at.wall {
        Some(_) => escape(&at.text).into_owned(),
        None => format!("{} s after boot", escape(&at.text)),
    }
}

/// `rsync (pid 7)`, with others that died.
fn subject(victim: &Victim) -> String {
    let name = victim.name.as_deref().map(|name| escape(name).into_owned());
    let one = match (name, victim.pid) {
        (Some(name), Some(pid)) => format!("{name} (pid {pid})"),
        (Some(name), None) => name,
        (None, Some(pid)) => format!("Process {pid}"),
        (None, None) => "A process".to_owned(),
    };
    match victim.others {
        0 => one,
        1 => format!("{one}, with one more process,"),
        others => format!("{one}, with {others} more processes,"),
    }
}

/// Who killed, in words.
pub(super) const fn by(killer: Killer) -> &'static str {
    match killer {
        Killer::KernelGlobal | Killer::KernelMemcg | Killer::Kernel | Killer::Hugetlb => "the kernel",
        Killer::Bpf => "a BPF program",
        Killer::SystemdOomd => "systemd-oomd",
        Killer::Earlyoom => "earlyoom",
        Killer::Nohang => "nohang",
        Killer::Kubelet => "the kubelet",
        Killer::Lmkd => "lmkd",
        Killer::None => "nothing",
    }
}

/// Under which limit: the machine's memory, or a group's.
fn limit(kill: &Kill) -> String {
    // The last part of its path; the whole stands below.
    let group = kill.group.as_deref().and_then(|path| path.rsplit('/').find(|part| !part.is_empty())).map(escape);
    match (kill.killer, kill.limit_bytes, group) {
        (Killer::KernelGlobal, ..) => ", for the whole machine".to_owned(),
        (Killer::Hugetlb, ..) => ", for want of a free huge page".to_owned(),
        (Killer::KernelMemcg, Some(limit), Some(group)) => format!(": {group} was at its limit of {limit}"),
        (Killer::KernelMemcg, Some(limit), None) => format!(": its control group was at its limit of {limit}"),
        (Killer::KernelMemcg, None, Some(group)) => format!(": {group} was at a limit"),
        (Killer::KernelMemcg, None, None) => ": its control group was at a limit".to_owned(),
        (Killer::Bpf, _, Some(group)) => format!(", in {group}"),
        _ => String::new(),
    }
}

fn no_kill(kill: &Kill, when: &str) -> String {
    let who = kill.request.as_ref().map(|request| escape(&request.name).into_owned());
    match (kill.cause, who) {
        (KillCause::ThrashFreeze, None) if kill.reasons.iter().any(|reason| matches!(reason, Reason::Stuck(..))) => {
            format!("Nothing was killed{when}: tasks were stuck waiting for memory.")
        }
        (KillCause::ThrashFreeze, None) => format!("Nothing was killed{when}, though hardly any memory was available."),
        (KillCause::ThrashFreeze, Some(who)) => format!("Nothing was killed{when}: {who} waited for memory."),
        (_, Some(who)) => {
            format!("Nothing was killed{when}: a request of {who} for memory failed, and the kernel went on.")
        }
        (_, None) if kill.confidence == Certainty::Unknown => {
            format!("Nothing was killed{when}: a task was stuck, and the log does not show for what.")
        }
        (_, None) => format!("Nothing was killed{when}: tasks were stuck."),
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
