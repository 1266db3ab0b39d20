//! The first line: the machine's verdict, or the worst finding where that is worse.
//!
//! People read one line. A machine on which nothing waits, and whose next write to zram fails, must not open in green. What it is not: a
//! summary; the other findings follow below, and what the verdict said stays as its first detail.
//!
//! Worked example: the verdict "Memory is fine: 403.3 of 464.1 MiB available, no task waits for memory." and the finding
//! `zram-limit-fails-writes` [warning] become "Warning: zram0 has used 99 % of its mem_limit: the next writes fail."

use ramline_model::groups::{Cause, Trouble};
use ramline_model::verdict::{self, Basis, Deciding, LONGEST, Status, Verdict, VerdictState};
use ramline_snapshot::Wanted;

use crate::text::capital;
use crate::{Finding, Inputs, Weight, findings};

/// The sections that a first line rests on at one moment: all are read in a few milliseconds. Without them a screen would open in green
/// where the checkup warns.
pub const FIRST_LINE: Wanted = Wanted {
    meminfo: true,
    zoneinfo: true,
    vmstat: true,
    pressure_memory: true,
    pressure_io: true,
    pressure_cpu: true,
    cgroups: true,
    limited: true,
    swaps: true,
    zram: true,
    zswap: true,
    blocks: true,
    mounts: true,
    hugepages: true,
    ..Wanted::NOTHING
};

/// The same over a window: what has counters besides.
pub const FIRST_LINE_OVER_TIME: Wanted =
    Wanted { groups: true, slab: true, settings: true, processes: true, ..FIRST_LINE };

/// The verdict on a snapshot, with the worst of what the rules find in it; `None` without MemTotal.
#[must_use]
pub fn headline(inputs: &Inputs<'_>) -> Option<Verdict> {
    Some(with_findings(verdict::from_snapshot(inputs.snapshot, inputs.window)?, &findings(inputs)))
}

/// The same where both are known, the findings in their order. A note changes no first line: it is good to know and no state of the machine.
#[must_use]
pub fn with_findings(mut verdict: Verdict, findings: &[Finding]) -> Verdict {
    // That nothing fired is no state of the machine either; what is wrong all the same the verdict says itself.
    let telling = |finding: &&Finding| finding.weight > Weight::Note && finding.id != "nothing-to-change";
    let (of_groups, of_machine): (Vec<_>, Vec<_>) = findings.iter().filter(telling).partition(|f| f.group.is_some());
    // The weightiest come first.
    if let Some(finding) = of_machine.first() {
        let (status, word) = match finding.weight {
            Weight::Critical => (Status::Critical, "Critical"),
            _ => (Status::Warning, "Warning"),
        };
        if status > verdict.status {
            let text = fitting(&format!("{word}: {}.", finding.title));
            if text.ends_with("...") {
                verdict.details.insert(0, format!("{}.", finding.title));
            }
            lead(&mut verdict, text, status, finding);
        } else {
            // The machine is short of memory and the line says so; the finding says what has it, or what keeps it from being freed.
            verdict.details.insert(0, format!("{}.", finding.title));
        }
    } else if says_so_itself(&verdict) {
        // The sentence is the verdict's; what to add to it is the finding's.
        let same = |f: &&&Finding| f.group.as_deref() == verdict.trouble.as_ref().map(|trouble| trouble.path.as_str());
        let stands = verdict.trouble.as_ref().is_some_and(|trouble| trouble.cause == Cause::StuckInOom);
        if let Some(finding) = of_groups.iter().find(same) {
            // The line says all of it but the way out.
            let more = if stands { capital(&finding.effect) } else { finding.title.clone() };
            verdict.details.insert(0, format!("{more}."));
        }
    } else if let Some(finding) = of_groups.first().filter(|_| matches!(verdict.status, Status::Ok | Status::Note)) {
        // Of one group, and said of the group: the machine's own state comes first.
        let room = verdict::amount_of(verdict.machine_available, verdict.total);
        let group = finding.group.as_deref().filter(|name| !name.is_empty());
        let group = group.map_or_else(|| "a group".to_owned(), |name| format!("group {name}"));
        // What the verdict says of the same group is in the finding but for the waiting.
        let of_same = verdict.state == VerdictState::GroupAtLimit
            && finding.group.as_deref() == verdict.trouble.as_ref().map(|trouble| trouble.path.as_str());
        let waits = match verdict.deciding {
            Some(Deciding::Waiting(percent)) if of_same => format!("; tasks wait {percent:.1} % of the time"),
            _ => String::new(),
        };
        verdict.details.insert(0, format!("{}{waits}.", finding.title));
        let what = match finding.id.as_str() {
            "process-swap-hot" => "waits for its swapped pages",
            "group-at-limit-loses-cache" => "loses its cache",
            _ => "its tasks wait",
        };
        let trouble = format!("{group} is at its limit and {what}.");
        let long = format!("Machine ok, {room} available; {trouble}");
        // What is available stands in the verdict, which becomes a detail; what the group loses stands here alone.
        let text = if long.chars().count() < LONGEST { long } else { fitting(&format!("Machine ok; {trouble}")) };
        lead(&mut verdict, text, Status::Note, finding);
        if of_same {
            verdict.details.remove(0);
        }
    }
    verdict
}

/// The verdict names the group, and why its tasks wait: that files or swapped pages are needed again a finding says with its numbers.
fn says_so_itself(verdict: &Verdict) -> bool {
    let seen_alone = |trouble: &Trouble| !matches!(trouble.cause, Cause::LosesCache | Cause::Swaps | Cause::Waits);
    let trouble = verdict.trouble.as_ref().filter(|_| verdict.state == VerdictState::GroupAtLimit);
    trouble.is_some_and(|trouble| seen_alone(trouble) || verdict.basis == Basis::Averages)
}

/// A new first line; the one before becomes a detail.
fn lead(verdict: &mut Verdict, text: String, status: Status, finding: &Finding) {
    let before = std::mem::replace(&mut verdict.text, text);
    verdict.details.insert(0, before);
    verdict.status = status;
    verdict.deciding = Some(Deciding::Finding(finding.id.clone()));
}

/// Whole words of it, as many as fit; the rest stands in the details.
fn fitting(text: &str) -> String {
    if text.chars().count() < LONGEST {
        return text.to_owned();
    }
    let mut out = String::new();
    for word in text.split(' ') {
        if out.chars().count() + word.chars().count() + 5 > LONGEST {
            break;
        }
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out.push_str("...");
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_is_too_long_ends_with_a_whole_word() {
        let short = "x".repeat(99);
        assert_eq!(fitting(&short), short);
        let long = format!("{} end of it", "word ".repeat(30));
        let cut = fitting(&long);
        assert!(cut.chars().count() < LONGEST && cut.ends_with("word..."), "{cut}");
    }
}
