//! Findings: what was found, what it rests on, what to do and how to undo it. Shown, not applied.

use ramline_advice::{Confidence, Finding, Weight};

use ramline_sheet::Depth;
use ramline_sheet::text::{Paint, Style};

/// All findings in full, in the order given.
#[must_use]
pub fn findings(findings: &[Finding], style: &Style) -> String {
    super::topics::findings(findings).text(style, Depth::All)
}

pub(crate) fn weight(weight: Weight) -> (Paint, &'static str) {
    match weight {
        Weight::Note => (Paint::Plain, "note"),
        Weight::Warning => (Paint::Warn, "warning"),
        Weight::Critical => (Paint::Bad, "critical"),
    }
}

pub(crate) fn confidence(confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Low => "low confidence",
        Confidence::Medium => "medium confidence",
        Confidence::High => "high confidence",
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use ramline_advice::{Change, Evidence};

    pub(crate) fn sample() -> Finding {
        Finding {
            id: "swap-outranked".into(),
            title: "zram0 is used after /dev/vda2, which is slower".into(),
            weight: Weight::Warning,
            group: None,
            effect: "saves about 80 us a swap-in".into(),
            evidence: vec![Evidence {
                what: "priority of zram0".into(),
                value: "-2 (setting)".into(),
                source: "/proc/swaps".into(),
            }],
            confidence: Confidence::High,
            already: vec!["zram is active".into()],
            cost_if_wrong: "none beyond the swapoff".into(),
            change: Some(Change {
                what: "raise its priority".into(),
                commands: vec!["swapoff /dev/zram0".into(), "swapon -p 100 /dev/zram0".into()],
                undo: vec!["swapoff /dev/zram0".into(), "swapon /dev/zram0".into()],
            }),
            explain: "swap-order".into(),
            tune: None,
            docs: "docs/findings/swap-outranked.md".into(),
        }
    }

    #[test]
    fn a_finding_comes_with_its_evidence_the_change_and_the_way_back() {
        assert_eq!(
            findings(&[sample()], &Style::default()),
            "\
1. zram0 is used after /dev/vda2, which is slower [warning, high confidence]
   worth: saves about 80 us a swap-in
   change: raise its priority
      swapoff /dev/zram0
      swapon -p 100 /dev/zram0
   undo:
      swapoff /dev/zram0
      swapon /dev/zram0
   priority of zram0  -2 (setting)  /proc/swaps
   already in place: zram is active
   if it is wrong: none beyond the swapoff
   more: ramline explain swap-order; docs/findings/swap-outranked.md
   name: swap-outranked
"
        );
    }

    #[test]
    fn a_device_name_cannot_break_out_of_a_command() {
        let mut finding = sample();
        finding.title = "\u{1b}[31mred".into();
        finding.change =
            Some(Change { what: "x".into(), commands: vec!["swapoff '/a\nrm -rf /'".into()], undo: vec![] });
        let text = findings(&[finding], &Style::default());
        assert!(text.contains("\\u{1b}[31mred") && text.contains("swapoff '/a\\nrm -rf /'"), "{text}");
    }
}
