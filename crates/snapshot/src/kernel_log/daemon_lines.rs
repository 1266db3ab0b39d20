//! The lines of systemd-oomd, earlyoom, nohang, the kubelet, lmkd, systemd and container runtimes.

use super::daemon::{DaemonKill, DaemonKind, DaemonLine, Policy};
use super::fields::{between, clip, number_after, split_number};
use super::prefix::Line;
use crate::prelude::*;

/// earlyoom sends SIGTERM at this share of available memory where it was not told otherwise (its manual).
const EARLYOOM_TERM_PERCENT: f64 = 10.0;
/// No reading of memory is larger than the address space of any processor (57 bits on x86-64, s390x 64 with less RAM).
const IMPOSSIBLE: u64 = 1 << 57;
/// Of a reason so much is kept.
const REASON: usize = 300;

/// Which program a line is of that runs in a terminal, or whose journal is printed without names (`-o cat`): no other prints these words.
fn by_its_words(text: &str) -> &'static str {
    let lower = text.get(..text.floor_char_boundary(120.min(text.len()))).unwrap_or_default().to_ascii_lowercase();
    let signal = lower.starts_with("sending sig") && lower.contains(" to process ") && lower.contains("badness")
        || lower.starts_with("killing process") && lower.contains(" with signal ");
    let limits = lower.starts_with("mem avail:")
        || lower.starts_with("low memory! at or below sig")
        || lower.starts_with("sending sigterm when mem <=");
    let exited = lower.starts_with("process ") && lower.contains("exited after ");
    if signal || limits || exited {
        "earlyoom"
    } else if lower.starts_with("killed /") && lower.contains(" due to memory ") {
        "systemd-oomd"
    } else {
        ""
    }
}

/// What was said so far, by program.
#[derive(Debug, Default)]
pub(super) struct DaemonLines {
    earlyoom: DaemonKill,
    earlyoom_limit: Option<f64>,
    earlyoom_killed: bool,
    oomd: DaemonKill,
    oomd_path: Option<String>,
    nohang: DaemonKill,
    kubelet: Option<DaemonKill>,
}

impl DaemonLines {
    /// A line of one of them.
    pub fn line(&mut self, line: &Line<'_>) -> Option<DaemonLine> {
        let text = line.text.trim();
        let program = line.program.unwrap_or_default();
        let name = match program.rsplit('/').next().unwrap_or_default() {
            "" => by_its_words(text),
            name => name,
        };
        let done = match name {
            "earlyoom" => self.earlyoom(text),
            "systemd-oomd" => self.oomd(text),
            "lmkd" | "lowmemorykiller" => lmkd(text),
            "systemd" => self.systemd(text),
            _ if name.starts_with("nohang") => self.nohang(text),
            "" | "kernel" if text.starts_with("lowmemorykiller: ") => lmkd(text),
            "kernel" => None,
            _ => self.kubelet(text).or_else(|| container(text)),
        }?;
        Some(match done {
            DaemonLine::Kill(mut kill) => {
                kill.at = line.stamp.clone();
                DaemonLine::Kill(kill)
            }
            other => {
                let pending = [&mut self.earlyoom, &mut self.nohang, &mut self.oomd];
                let at = pending
                    .into_iter()
                    .zip(["earlyoom", "nohang", "systemd-oomd"])
                    .find(|(_, of)| name.starts_with(of));
                if let Some((pending, _)) = at {
                    pending.at.clone_from(&line.stamp);
                }
                if let Some(pending) = self.kubelet.as_mut().filter(|pending| pending.at.is_none()) {
                    pending.at.clone_from(&line.stamp);
                }
                other
            }
        })
    }

    /// What was left open at the end of the log.
    pub fn finish(self) -> Vec<DaemonKill> {
        let limit = self.earlyoom_limit.unwrap_or(EARLYOOM_TERM_PERCENT);
        let low = self.earlyoom.available_percent.is_some_and(|available| available <= limit) && !self.earlyoom_killed;
        let unfinished = self.nohang.victim.is_some() && !self.nohang.killed;
        let earlyoom = low.then_some(DaemonKill { kind: DaemonKind::EarlyOom, killed: false, ..self.earlyoom });
        let nohang = unfinished.then_some(DaemonKill { kind: DaemonKind::Nohang, killed: true, ..self.nohang });
        self.kubelet.into_iter().chain(earlyoom).chain(nohang).collect()
    }

    fn earlyoom(&mut self, text: &str) -> Option<DaemonLine> {
        if text.starts_with("mem avail:") {
            let mut percents = text
                .match_indices('%')
                .filter_map(|(at, _)| text.get(..at)?.rsplit(['(', ' ']).find(|word| !word.is_empty())?.parse().ok());
            self.earlyoom.available_percent = percents.next();
            self.earlyoom.swap_free_percent = percents.next();
            self.earlyoom.ram = number_after(text, " of ").map(Bytes::from_mib).or(self.earlyoom.ram);
            return Some(DaemonLine::Noted);
        }
        if text.starts_with("sending SIGTERM when mem <=") {
            self.earlyoom_limit = between(text, "<=", "%").and_then(|percent| percent.trim().parse().ok());
            return Some(DaemonLine::Noted);
        }
        if text.starts_with("process ") && text.contains(" exited") {
            return Some(DaemonLine::Exited);
        }
        if text.to_ascii_lowercase().contains("low memory!") || text.starts_with("Out of memory!") {
            self.earlyoom.reason = Some(clip(text, REASON));
            return Some(DaemonLine::Noted);
        }
        let (pid, name) = if let Some(rest) = text
            .split_once("to process ")
            .map(|(_, rest)| rest)
            .filter(|_| text.to_lowercase().starts_with("sending sig"))
        {
            (split_number(rest)?.0, between(rest, "\"", "\"").or_else(|| between(rest, "(", ")"))?)
        } else if let Some(rest) = text.strip_prefix("Killing process: ") {
            (number_after(rest, "pid: ")?, rest.split_once(',')?.0)
        } else {
            let rest = text
                .to_lowercase()
                .starts_with("killing process")
                .then(|| text.get("killing process".len()..))
                .flatten()?;
            let name =
                between(rest, "(", ")").or_else(|| between(rest, "\"", "\"")).or_else(|| between(rest, "'", "'"));
            let pid = split_number(rest.trim_start()).map(|(pid, _)| pid).or_else(|| number_after(rest, "pid:"));
            (pid?, name.unwrap_or_default())
        };
        self.earlyoom_killed = true;
        let kill = DaemonKill {
            kind: DaemonKind::EarlyOom,
            killed: true,
            victim: Some(clip(name, 64)).filter(|name| !name.is_empty()),
            pid: u32::try_from(pid).ok(),
            rss: number_after(text, "VmRSS").or_else(|| number_after(text, "VmRSS:")).map(Bytes::from_mib),
            policy: Policy::Threshold,
            ..self.earlyoom.clone()
        };
        Some(DaemonLine::Kill(Box::new(kill)))
    }

    fn oomd(&mut self, text: &str) -> Option<DaemonLine> {
        let marked = text.strip_prefix("Marked ").and_then(|rest| rest.split_once(" for killing"));
        let killed = text.strip_prefix("Killed ").and_then(|rest| rest.split_once(" due to "));
        if let Some((path, reason)) = marked.or(killed) {
            let usage = self.oomd.rss.filter(|_| self.oomd_path.as_deref() == Some(path));
            let kill = DaemonKill {
                kind: DaemonKind::SystemdOomd,
                killed: true,
                victim: Some(clip(path.rsplit('/').next().unwrap_or(path), 200)),
                pid: self.oomd.pid,
                rss: usage,
                policy: reason_of_oomd(reason).unwrap_or(self.oomd.policy),
                reason: Some(clip(reason.trim_start_matches(" due to "), REASON)),
                ..DaemonKill::default()
            };
            self.oomd = DaemonKill::default();
            return Some(DaemonLine::Kill(Box::new(kill)));
        }
        if let Some(pid) = number_after(text, "attempting to kill ") {
            self.oomd.pid = self.oomd.pid.or_else(|| u32::try_from(pid).ok());
        } else if let Some(path) = text.strip_prefix("Path: ") {
            // The first of the candidates is the one that is tried first.
            self.oomd_path.get_or_insert_with(|| clip(path.trim(), 300));
        } else if let Some(usage) = text.strip_prefix("Current Memory Usage: ") {
            self.oomd.rss = self.oomd.rss.or_else(|| size(usage.trim()));
        } else if let Some(policy) = reason_of_oomd(text) {
            self.oomd.policy = policy;
            self.oomd.reason = Some(clip(text, REASON));
            self.oomd_path = None;
        }
        Some(DaemonLine::Noted)
    }

    fn systemd(&mut self, text: &str) -> Option<DaemonLine> {
        let (unit, rest) = text.split_once(": ")?;
        let by_oomd = rest.starts_with("systemd-oomd killed");
        if !by_oomd && !rest.contains("killed by the OOM killer") && !rest.contains("result 'oom-kill'") {
            return None;
        }
        let pending = std::mem::take(&mut self.oomd);
        let kind = if by_oomd { DaemonKind::SystemdOomd } else { DaemonKind::Systemd };
        let pending = if by_oomd { pending } else { DaemonKill::default() };
        Some(DaemonLine::Kill(Box::new(DaemonKill { kind, killed: true, victim: Some(clip(unit, 200)), ..pending })))
    }

    fn nohang(&mut self, text: &str) -> Option<DaemonLine> {
        let value = |key: &str| text.strip_prefix(key).map(str::trim);
        let mib = |text: &str| split_number(text).map(|(number, _)| Bytes::from_mib(number));
        if let Some(name) = value("Name:") {
            self.nohang = DaemonKill {
                victim: Some(clip(name, 64)),
                policy: self.nohang.policy,
                reason: self.nohang.reason.take(),
                ..DaemonKill::default()
            };
        } else if let Some(pid) = value("PID:").or_else(|| value("Pid:")) {
            self.nohang.pid = split_number(pid).and_then(|(pid, _)| u32::try_from(pid).ok());
        } else if let Some(path) = value("Realpath:") {
            let name = path.rsplit('/').next().unwrap_or(path);
            self.nohang.victim.get_or_insert_with(|| clip(name, 64));
        } else if let Some(rss) = value("VmRSS:") {
            self.nohang.rss = mib(rss);
        } else if let Some(swap) = value("VmSwap:") {
            self.nohang.swap = mib(swap);
        } else if (text.contains("MemAvailable") || text.contains("SwapFree") || text.contains("PSI"))
            && !self.nohang.killed
        {
            let psi = text.contains("PSI") && [">", "exceed"].iter().any(|mark| text.contains(mark));
            let low = text.contains("MemAvailable") && ["<", "less"].iter().any(|mark| text.contains(mark));
            self.nohang.policy = match (psi, low) {
                (true, _) => Policy::Pressure,
                (_, true) => Policy::Threshold,
                _ => self.nohang.policy,
            };
            self.nohang.reason = Some(clip(text, REASON));
        }
        let sends = ["Send SIG", "Sending SIG", "Send a SIG"].iter().any(|mark| text.contains(mark));
        if !sends {
            return Some(DaemonLine::Noted);
        }
        if let Some((_, rest)) = text.split_once("signal to process ") {
            self.nohang.victim = rest.split([',', ';']).next().map(|name| clip(name.trim(), 64));
            self.nohang.pid = number_after(rest, "Pid: ")
                .or_else(|| number_after(rest, "PID: "))
                .and_then(|pid| u32::try_from(pid).ok());
        }
        // A second signal to the same victim is the same kill.
        if self.nohang.killed {
            return Some(DaemonLine::Noted);
        }
        self.nohang.killed = true;
        let policy = if self.nohang.policy == Policy::Unknown { Policy::Threshold } else { self.nohang.policy };
        Some(DaemonLine::Kill(Box::new(DaemonKill { kind: DaemonKind::Nohang, policy, ..self.nohang.clone() })))
    }

    fn kubelet(&mut self, text: &str) -> Option<DaemonLine> {
        let lower = text.to_lowercase();
        let low_on = lower
            .split_once("the node was low on resource: ")
            .map(|(_, rest)| rest.split(['.', ' ']).next().unwrap_or_default().to_owned());
        if let Some(resource) = low_on {
            let kill = DaemonKill { victim: pod(text), ..eviction(&resource, text) };
            return Some(DaemonLine::Kill(Box::new(kill)));
        }
        if lower.contains("node has conditions: [memorypressure") {
            self.kubelet.get_or_insert_with(|| eviction("memory", text));
            return Some(DaemonLine::Noted);
        }
        if !(lower.contains("eviction manager") || lower.contains("evicted successfully") && lower.contains("pod")) {
            return None;
        }
        if let Some(resource) = between(text, "resourceName=\"", "\"").map(str::to_owned).or_else(|| {
            lower
                .split_once("to reclaim ")
                .map(|(_, rest)| rest.split([' ', '"']).next().unwrap_or_default().to_owned())
        }) {
            self.kubelet.get_or_insert_with(|| eviction(&resource, text));
        } else if lower.contains("evicted successfully") {
            let kill = self.kubelet.take().unwrap_or_else(|| eviction("", text));
            return Some(DaemonLine::Kill(Box::new(DaemonKill { killed: true, victim: pod(text), ..kill })));
        }
        if let Some(pending) = self.kubelet.as_mut().filter(|_| is_impossible(text)) {
            pending.policy = Policy::NotMemory;
            pending.reason = Some(clip(text, REASON));
        }
        Some(DaemonLine::Noted)
    }
}

/// An eviction for want of something.
fn eviction(resource: &str, text: &str) -> DaemonKill {
    let policy = match resource {
        _ if is_impossible(text) => Policy::NotMemory,
        "memory" | "memory.available" | "" => Policy::Threshold,
        _ => Policy::NotMemory,
    };
    DaemonKill {
        kind: DaemonKind::Kubelet,
        killed: true,
        policy,
        reason: Some(clip(text, REASON)),
        ..DaemonKill::default()
    }
}

/// A size that no machine has, or a negative one.
fn is_impossible(text: &str) -> bool {
    let sizes = text.split([' ', ',', '=', '"', '[', ']', ':']);
    let mut sizes = sizes.filter(|word| word.ends_with("Ki") || word.ends_with("Mi") || word.ends_with("Gi"));
    sizes.any(|word| word.starts_with('-') || size(word).is_some_and(|size| size.0 >= IMPOSSIBLE))
}

/// `pod="a/b"`, `pod a_b(uid)`, `pod/b`.
fn pod(text: &str) -> Option<String> {
    let quoted = between(text, "pod=\"", "\"");
    let plain = || between(text, "pod ", "(").filter(|name| !name.contains(' '));
    let event = || text.split_once("pod/").map(|(_, rest)| rest.split_whitespace().next().unwrap_or_default());
    quoted.or_else(plain).or_else(event).map(|name| clip(name, 200))
}

fn reason_of_oomd(text: &str) -> Option<Policy> {
    let lower = text.to_lowercase();
    if lower.contains("memory pressure for") {
        Some(Policy::Pressure)
    } else if lower.contains("swap used") || lower.contains("memory used") {
        Some(Policy::Threshold)
    } else {
        None
    }
}

/// `Kill 'a.b' (591), uid 1, oom_score_adj 975 to free 19252kB rss, 52772kB swap; reason: ...`.
fn lmkd(text: &str) -> Option<DaemonLine> {
    let (_, rest) = ["Killing '", "Kill '", "Reclaim '"].iter().find_map(|mark| text.split_once(mark))?;
    let (name, rest) = rest.split_once("' (")?;
    let reason = text.split_once("reason: ").map(|(_, reason)| clip(reason, REASON));
    // lmkd.cpp: of its reasons only this one goes by stalls.
    let pressure = reason.as_deref().is_some_and(|reason| reason.contains("not responding"));
    let kill = DaemonKill {
        kind: DaemonKind::Lmkd,
        killed: true,
        victim: Some(clip(name, 128)),
        pid: split_number(rest).and_then(|(pid, _)| u32::try_from(pid).ok()),
        rss: number_after(rest, "to free ").map(Bytes::from_kib),
        swap: number_after(rest, "kB rss, ").map(Bytes::from_kib),
        policy: if pressure { Policy::Pressure } else { Policy::Threshold },
        reason,
        ..DaemonKill::default()
    };
    Some(DaemonLine::Kill(Box::new(kill)))
}

/// What runtimes and Kubernetes print of a kill by the kernel.
fn container(text: &str) -> Option<DaemonLine> {
    if let Some(rest) = text.split_once("System OOM encountered, victim process: ").map(|(_, rest)| rest) {
        let kill = DaemonKill {
            kind: DaemonKind::Container,
            killed: true,
            victim: rest.split(',').next().map(|name| clip(name, 64)),
            pid: number_after(rest, "pid: ").and_then(|pid| u32::try_from(pid).ok()),
            ..DaemonKill::default()
        };
        return Some(DaemonLine::Kill(Box::new(kill)));
    }
    let marks = ["OOMKilled", "TaskOOM", "/tasks/oom"];
    let denied =
        text.contains("OOMKilled\":false") || text.contains("OOMKilled\": false") || text.contains("OOMKilled:false");
    if denied || !marks.iter().any(|mark| text.contains(mark)) {
        return None;
    }
    let kill = DaemonKill {
        kind: DaemonKind::Container,
        killed: true,
        reason: Some(clip(text, REASON)),
        ..DaemonKill::default()
    };
    Some(DaemonLine::Kill(Box::new(kill)))
}

/// `55.5M`, `12345Ki`, `16195358720`.
fn size(text: &str) -> Option<Bytes> {
    let end = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let number: f64 = text.get(..end)?.parse().ok()?;
    let shift = match text.get(end..)?.chars().next() {
        None | Some('B') => 0,
        Some('K' | 'k') => 10,
        Some('M') => 20,
        Some('G') => 30,
        Some('T') => 40,
        Some(_) => return None,
    };
    let bytes = number * f64::from(1 << 20) * 2_f64.powi(shift - 20);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a size; what is larger ends at the largest"
    )]
    Some(Bytes(bytes as u64))
}
