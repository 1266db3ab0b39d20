//! Whether memory is so short that more swap is worth its cost; where it is not, a machine without is best left as it is.

use ramline_model::pressure;
use ramline_plan::Reason;

use super::line::reason;
use crate::prelude::*;

/// Less than this share of RAM available: the next program that grows drops cache that is in use.
const LEAST_AVAILABLE: f64 = 0.1;
/// Tasks that waited for memory so many per cent of five minutes.
const LONG_WAIT: f64 = 5.0;

/// Why more swap is wanted; `None` where it is not.
pub(crate) fn swap_reason(inputs: &Inputs<'_>) -> Option<Reason> {
    let snapshot = inputs.snapshot;
    let rule = crate::RULES.iter().find(|rule| rule.id == "no-swap-and-refaults");
    if let Some(found) = rule.and_then(|rule| rule.finding(inputs)).filter(|found| found.group.is_none()) {
        return Some(reason(found.title, "/proc/vmstat workingset_refault_file"));
    }
    let waited = look::stall(snapshot).map(|stall| stall.avg300).filter(|waited| *waited >= LONG_WAIT);
    if let Some(waited) = waited.filter(|_| !pressure::is_free(snapshot)) {
        let why = format!("tasks waited for memory {waited:.1} % of the last five minutes");
        return Some(reason(why, "/proc/pressure/memory avg300"));
    }
    let (total, available) = (snapshot.mem_total()?, available::bytes(snapshot)?);
    (available.share_of(total)? < LEAST_AVAILABLE)
        .then(|| reason(format!("only {available} of {total} is available"), "/proc/meminfo MemAvailable"))
}

/// Why it is not.
pub(crate) fn none(inputs: &Inputs<'_>) -> Reason {
    let seen = available::bytes(inputs.snapshot).zip(inputs.snapshot.mem_total());
    let text = match seen {
        Some((available, total)) => format!("memory is not short: {available} of {total} is available"),
        None => "that memory is short was not seen".to_owned(),
    };
    reason(text, "/proc/meminfo MemAvailable, /proc/pressure/memory")
}
