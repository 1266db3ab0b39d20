//! vm.page-cluster: how many pages a swap-in reads, by the share of those read ahead that is used.
//!
//! zram hands out single pages of private memory whatever it says, and from Linux 7.0 on all others too. Where there is a disk area it is
//! lowered only where the measured share says so.

use ramline_plan::PlanLine;

use super::super::desk::{Desk, Setting};
use super::super::line::{Draft, reason};
use crate::findings::page_cluster_against_hits::{LEAST_PAGES, break_even, hits};
use crate::prelude::*;

const TARGET: &str = "vm.page-cluster";
/// The kernel's default: up to 8 pages a read.
const DEFAULT: i64 = 3;

pub(super) fn line(desk: &mut Desk<'_>) -> Option<PlanLine> {
    let inputs = *desk.inputs;
    let now = inputs.snapshot.settings.data()?.page_cluster?;
    let draft = |why: ramline_plan::Reason| Draft::new(TARGET, Some(now.to_string()), why).set_by(desk.set_by(TARGET));
    let areas = look::areas(inputs.snapshot)?;
    let Some(first) = areas.first().copied() else {
        return Some(draft(reason("no swap area is on, so nothing is read ahead", "/proc/swaps")).keep());
    };
    let disk = areas.iter().copied().find(|area| area.zram().is_none());
    let in_use = disk.filter(|area| area.used.0 > 0);
    let window = inputs.window.as_ref();
    let (seen, even) = (
        window.and_then(hits).filter(|(ahead, _)| *ahead >= LEAST_PAGES),
        break_even(&inputs, in_use.unwrap_or(first)).0,
    );
    let (then, why, effect, risk) = match (seen, in_use) {
        (Some((ahead, ratio)), _) if ratio < even && now > 0 => {
            let why = format!(
                "of {ahead:.0} pages a second read ahead {} are used, and it pays from {} on",
                percent(ratio),
                percent(even)
            );
            let then = if in_use.is_some() { now - 1 } else { 0 };
            (then, why, "fewer pages are read for nothing", "memory that is swapped in in order faults more often")
        }
        (Some((_, ratio)), _) => {
            let why = format!("{} of the pages read ahead are used; it pays from {} on", percent(ratio), percent(even));
            return Some(draft(reason(why, "/proc/vmstat swap_ra_hit / swap_ra")).keep());
        }
        (None, Some(area)) if now < DEFAULT => {
            let why = format!(
                "{} of swap is on {}, which reads up to {} a request, and no measured share speaks for less than 8",
                area.used,
                area.path,
                pages(now)
            );
            (
                DEFAULT,
                why,
                "a swap-in from disk brings its neighbours in the same request",
                "neighbours that are not used take room; this line looks at their share when planned again",
            )
        }
        (None, None) if disk.is_none() => {
            let why = "only zram is swapped to, which hands out single pages of private memory whatever this says";
            return Some(draft(reason(why, "/proc/swaps")).keep());
        }
        _ => {
            let why = "too little is swapped in to judge: kept";
            return Some(draft(reason(why, "/proc/vmstat swap_ra")).keep());
        }
    };
    let draft = draft(reason(why, "/proc/vmstat swap_ra_hit / swap_ra, /proc/swaps"));
    let steps = desk.set(&[Setting { name: "page-cluster", now, then, instead: None }]);
    Some(draft.change(then.to_string(), effect.to_owned(), risk.to_owned(), steps))
}

fn pages(page_cluster: i64) -> String {
    match 1_u64 << page_cluster.clamp(0, 31) {
        1 => "one page".to_owned(),
        many => format!("{many} pages"),
    }
}
