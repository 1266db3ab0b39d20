//! The first line: the machine's verdict, or the worst finding where that is worse.
//!
//! People read one line. A machine on which nothing waits, and whose next write to zram fails, must not open in green. What it is not: a
//! summary; the other findings follow below, and what the verdict said stays as its first detail.
//!
//! Worked example: the verdict "Memory is fine: 403.3 of 464.1 MiB available, no task waits for memory." and the finding
//! `zram-limit-fails-writes` [warning] become "Warning: zram0 has used 99 % of its mem_limit: the next writes fail."

use ramline_model::verdict::{self, Deciding, Status, Verdict};

use crate::{Finding, Inputs, Weight, findings};

/// A first line is shorter than this.
pub const LONGEST: usize = 100;

/// The verdict on a snapshot, with the worst of what the rules find in it; `None` without MemTotal.
#[must_use]
pub fn headline(inputs: &Inputs<'_>) -> Option<Verdict> {
    Some(with_findings(verdict::of(inputs.snapshot, inputs.window)?, &findings(inputs)))
}

/// The same where both are known already. A note changes no first line: it is good to know and no state of the machine.
#[must_use]
pub fn with_findings(mut verdict: Verdict, findings: &[Finding]) -> Verdict {
    // That nothing fired is no state of the machine; what is wrong all the same the verdict says itself.
    let worst = findings
        .iter()
        .filter(|finding| finding.id != "nothing-to-change")
        .max_by_key(|finding| (finding.weight, finding.confidence));
    let Some((status, word, finding)) = worst.and_then(|finding| match finding.weight {
        Weight::Note => None,
        Weight::Warning => Some((Status::Warning, "Warning", finding)),
        Weight::Critical => Some((Status::Critical, "Critical", finding)),
    }) else {
        return verdict;
    };
    // Of one group, and said of the group: the machine's own state comes first.
    if let Some(group) = &finding.group {
        if verdict.status <= Status::Note {
            let room = verdict::of_total(verdict.available, verdict.total);
            let before = std::mem::replace(
                &mut verdict.text,
                fitting(&format!("Machine ok, {room} available; group {group} is at its limit and loses its cache.")),
            );
            verdict.status = Status::Note;
            verdict.details.insert(0, before);
            verdict.details.insert(1, format!("{}.", finding.title));
            verdict.deciding = Some(Deciding::Finding(finding.id.clone()));
        }
        return verdict;
    }
    if status > verdict.status {
        let before = std::mem::replace(&mut verdict.text, fitting(&format!("{word}: {}.", finding.title)));
        if verdict.text.ends_with("...") {
            verdict.details.insert(0, format!("{}.", finding.title));
        }
        verdict.details.insert(0, before);
        verdict.status = status;
        verdict.deciding = Some(Deciding::Finding(finding.id.clone()));
    }
    verdict
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
