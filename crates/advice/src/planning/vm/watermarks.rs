//! vm.watermark_scale_factor by allocation stalls; vm.min_free_kbytes by its share of RAM.
//!
//! A larger factor wakes kswapd earlier, which helps where allocations stall, and keeps that much RAM free for nothing elsewhere. It has no
//! effect below 2500 min_free / managed (model `watermarks`).

use ramline_model::watermarks;
use ramline_plan::PlanLine;

use super::super::desk::{Desk, Setting};
use super::super::line::{Draft, reason};
use crate::prelude::*;

const SCALE: &str = "vm.watermark_scale_factor";
const MIN_FREE: &str = "vm.min_free_kbytes";
/// Fewer stalls a second than this are bursts that a larger gap does not catch.
const LEAST_STALLS: f64 = 1.0;
/// The most that is advised: 1 % of RAM between two watermarks.
const MOST: u64 = 100;
/// A reserve of more than this share of RAM is kept from everyone.
const LARGE_RESERVE: f64 = 0.05;

/// Tasks that had to reclaim before they got memory, all zones together.
fn stalls(snapshot: &Snapshot) -> Option<u64> {
    snapshot.vmstat.data()?.allocstall()
}

pub(super) fn scale(desk: &mut Desk<'_>) -> Option<PlanLine> {
    let inputs = *desk.inputs;
    let snapshot = inputs.snapshot;
    let now = u64::try_from(snapshot.settings.data()?.watermark_scale_factor?).ok()?;
    let draft = |why: ramline_plan::Reason| Draft::new(SCALE, Some(now.to_string()), why).set_by(desk.set_by(SCALE));
    let source = "/proc/vmstat allocstall_*";
    let rate = inputs.window.as_ref().and_then(|window| window.per_second(stalls));
    let Some(rate) = rate else {
        return Some(match stalls(snapshot) {
            Some(0) => draft(reason("no allocation had to wait for reclaim since boot", source)).keep(),
            Some(n) => draft(reason(
                format!("{n} allocations waited for reclaim since boot; how many do now takes two looks"),
                source,
            ))
            .not_known("ramline tune plan vm --for 10"),
            None => draft(reason("whether allocations wait for reclaim was not seen", source)).keep(),
        });
    };
    if rate < LEAST_STALLS {
        let span = inputs.window.as_ref().map_or(Nanos(0), |window| window.span);
        let seen = if rate > 0.0 { format!("only {rate:.1} allocations a second") } else { "no allocation".to_owned() };
        return Some(draft(reason(format!("{seen} waited for reclaim over {span}"), source)).keep());
    }
    let scale = watermarks::from_snapshot(snapshot, None)?.scale?;
    let managed: Bytes = watermarks::from_snapshot(snapshot, None)?.nodes.iter().map(|node| node.managed).sum();
    let least = bytes_of(scale.crossover.ceil()).0;
    let then = now.max(least).saturating_mul(2).min(MOST);
    let why = reason(format!("{rate:.0} allocations a second wait for reclaim"), source);
    if then <= now || then <= least {
        return Some(draft(why).also([reason(format!("it is at the most that is advised ({MOST})"), SCALE)]).keep());
    }
    let draft = draft(why).also([reason(
        format!("below {:.1} it has no effect here: 2500 · min_free_kbytes / managed memory", scale.crossover),
        "/proc/zoneinfo, /proc/sys/vm/min_free_kbytes",
    )]);
    let gap = Bytes(managed.0 / 10_000 * then);
    let more = Bytes(gap.saturating_sub(scale.gap).0.saturating_mul(2));
    let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    let setting = Setting { name: "watermark_scale_factor", now: number(now), then: number(then), instead: None };
    let steps = desk.set(&[setting]);
    let effect = format!("kswapd wakes {gap} before allocations stall instead of {}", scale.gap);
    Some(draft.change(then.to_string(), effect, format!("up to {more} more of RAM stays free"), steps))
}

pub(super) fn min_free(desk: &mut Desk<'_>) -> Option<PlanLine> {
    let snapshot = desk.inputs.snapshot;
    let now = Bytes::from_kib(u64::try_from(snapshot.settings.data()?.min_free_kbytes?).ok()?);
    let share = now.share_of(snapshot.mem_total()?)?;
    let source = "/proc/sys/vm/min_free_kbytes, /proc/meminfo MemTotal";
    let draft = |why: String| {
        let old = (now.0 / 1024).to_string();
        Draft::new(MIN_FREE, Some(old), reason(why, source)).set_by(desk.set_by(MIN_FREE))
    };
    if share <= LARGE_RESERVE {
        return Some(draft(format!("{now} ({}) is kept for the kernel's own allocations", percent(share))).keep());
    }
    let why = format!(
        "{now} ({} of RAM) is kept from programs; the kernel's own choice is known after a boot without this setting",
        percent(share)
    );
    Some(
        draft(why)
            .not_known(format!("grep -rn {MIN_FREE} /etc/sysctl.conf /etc/sysctl.d /run/sysctl.d /usr/lib/sysctl.d")),
    )
}
