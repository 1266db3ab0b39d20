//! vm.watermark_scale_factor was changed, and the change does nothing.
//!
//! The gap between two watermarks is the larger of min/4 and RAM · factor / 10000, so below 2500 · min_free / RAM the
//! factor has no effect. At its default of 10 nothing is said: no one expects it to do anything.

use crate::prelude::*;

pub(super) const RULE: Rule = Rule {
    id: "watermark-scale-factor-without-effect",
    looks_for: "vm.watermark_scale_factor changed to a value that does nothing",
    explain: "watermarks",
    check,
    cost_if_wrong: "none either way at this value",
    tune: Tune::Settings(&["vm.watermark_scale_factor"]),
};

/// The kernel's default (mm/page_alloc.c).
const DEFAULT: u64 = 10;

fn check(inputs: &Inputs<'_>) -> Option<Draft> {
    let marks = watermarks::from_snapshot(inputs.snapshot, None)?;
    let scale = marks.scale.filter(|scale| scale.value != DEFAULT && !scale.has_effect)?;
    // Where the default does have an effect, a lower value takes it away, and so does something.
    if bytes_of(scale.crossover).0 < DEFAULT {
        return None;
    }
    // A machine that still hands out RAM has too few managed pages, and so a crossover that will fall.
    let total = inputs.snapshot.mem_total()?;
    if marks.not_handed_out.0 > total.0 / 20 {
        return None;
    }
    let low: Bytes = marks.nodes.iter().map(|n| n.low).sum();
    let least = bytes_of(scale.crossover.floor() + 1.0).0;
    Some(Draft {
        title: format!(
            "vm.watermark_scale_factor is {}, and below {:.1} it has no effect here",
            scale.value, scale.crossover
        ),
        weight: Weight::Note,
        effect: format!("none: the gap between watermarks stays {} through vm.min_free_kbytes", scale.gap),
        evidence: vec![
            evidence("vm.watermark_scale_factor", scale.value.to_string(), "/proc/sys/vm/watermark_scale_factor"),
            evidence(
                "takes effect above",
                format!("{:.1}", scale.crossover),
                "2500 · min_free_kbytes / managed memory",
            ),
            evidence("the least value with an effect", least.to_string(), "if a wider gap was wanted"),
            evidence("vm.min_free_kbytes", scale.min_free.to_string(), "/proc/sys/vm/min_free_kbytes"),
            evidence("kswapd wakes below", low.to_string(), "/proc/zoneinfo low, all zones"),
        ],
        confidence: Confidence::High,
        way: Way::one("watermark_scale_factor", scale.value, DEFAULT),
        ..Draft::default()
    })
}
