//! Kills by programs, and the kernel's kills as programs report them.

use ramline_snapshot::kernel_log::{DaemonKill, DaemonKind, Policy};

use super::types::{Certainty, KillCause, Killer, Reason, Verdict};

/// Who killed.
pub(super) fn killer(kill: &DaemonKill) -> Killer {
    match kill.kind {
        _ if !kill.killed => Killer::None,
        DaemonKind::SystemdOomd => Killer::SystemdOomd,
        DaemonKind::EarlyOom => Killer::Earlyoom,
        DaemonKind::Nohang => Killer::Nohang,
        DaemonKind::Kubelet => Killer::Kubelet,
        DaemonKind::Lmkd => Killer::Lmkd,
        // "System OOM" names a process; a container's mark says that its group was at its limit.
        DaemonKind::Container if kill.victim.is_some() => Killer::KernelGlobal,
        DaemonKind::Container => Killer::KernelMemcg,
        DaemonKind::Systemd => Killer::Kernel,
    }
}

/// Why, as its line says.
pub(super) fn by_daemon(kill: &DaemonKill) -> Verdict {
    if !kill.killed {
        let reason = Reason::LowWithoutKill(kill.available_percent.unwrap_or_default(), kill.swap_free_percent);
        return Verdict::new(KillCause::ThrashFreeze, Certainty::Likely).because(reason);
    }
    let reason = kill.reason.clone().unwrap_or_default();
    let (cause, also) = match (kill.kind, kill.policy) {
        (DaemonKind::Container | DaemonKind::Systemd, _) => (KillCause::Unknown, None),
        (_, Policy::Pressure) => (KillCause::PressurePolicy, Some(KillCause::ThresholdPolicy)),
        (_, Policy::Threshold) => (KillCause::ThresholdPolicy, None),
        (_, Policy::NotMemory) => (KillCause::NotMemory, None),
        (_, Policy::Unknown) => (KillCause::Unknown, None),
    };
    let said = !reason.is_empty();
    let confidence = match kill.kind {
        _ if cause == KillCause::Unknown => Certainty::Unknown,
        // Without a pod that was evicted it is a wish; what lmkd prints as its reason is not always so.
        DaemonKind::Kubelet if kill.victim.is_none() => Certainty::Likely,
        DaemonKind::Lmkd | DaemonKind::Nohang => Certainty::Likely,
        _ if said => Certainty::Sure,
        _ => Certainty::Likely,
    };
    let mut verdict = Verdict { also: also.into_iter().collect(), ..Verdict::new(cause, confidence) };
    if said {
        verdict.reasons.push(if contradicts(&reason) { Reason::Contradicts(reason) } else { Reason::Said(reason) });
    }
    verdict
}

/// `(5835264kB < 838860kB)`: a comparison in the reason that is not so.
fn contradicts(reason: &str) -> bool {
    let kib = |text: &str| text.trim().strip_suffix("kB").and_then(|number| number.parse::<u64>().ok());
    reason.split(['(', ')', ',', ';']).any(|part| {
        let less = part.split_once('<').map(|(a, b)| (kib(a), kib(b)));
        matches!(less, Some((Some(a), Some(b))) if a >= b)
    })
}
