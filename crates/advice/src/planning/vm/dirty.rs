//! vm.dirty_bytes and vm.dirty_background_bytes: unwritten data as seconds of the disk.
//!
//! Bytes and ratio exclude each other, and setting one makes the other 0: a step that sets bytes holds the ratio that was in force.

use ramline_plan::PlanLine;

use super::super::desk::Desk;
use super::super::line::{Draft, reason};
use crate::findings::dirty_limits_in_seconds::{ADVISED_S, EXPIRE_S, limits, missing, pace};
use crate::prelude::*;

const TARGET: &str = "vm.dirty_bytes";
/// A disk that writes less than this a second is none to work on.
const SLOWEST: u64 = 10 << 20;

pub(super) fn line(desk: &mut Desk<'_>) -> Option<PlanLine> {
    let inputs = *desk.inputs;
    let snapshot = inputs.snapshot;
    let settings = snapshot.settings.data()?;
    let limit = Pages(snapshot.vmstat.data()?.nr_dirty_threshold?).bytes(snapshot.machine.page_size);
    let bytes = settings.dirty_bytes.filter(|bytes| *bytes > 0);
    let old = match (bytes, settings.dirty_ratio) {
        (Some(bytes), _) => bytes.to_string(),
        (None, Some(ratio)) => format!("{ratio} % (dirty_ratio)"),
        (None, None) => return None,
    };
    let set_by: Vec<String> = ["vm.dirty_ratio", TARGET].iter().flat_map(|key| desk.set_by(key)).collect();
    let draft =
        |why: String, source: &str| Draft::new(TARGET, Some(old.clone()), reason(why, source)).set_by(set_by.clone());
    let source = "/proc/vmstat nr_dirty_threshold";
    #[expect(clippy::cast_precision_loss, reason = "a limit of fewer than 2^53 bytes")]
    let at_slowest = limit.0 as f64 / SLOWEST as f64;
    if at_slowest <= EXPIRE_S {
        let why = format!("at most {limit} waits to be written, {at_slowest:.0} s even at {}/s", Bytes(SLOWEST));
        return Some(draft(why, source).keep());
    }
    let Some(pace) = pace(&inputs).filter(|pace| pace.per_second > 0.0) else {
        let why = missing(&inputs).unwrap_or_else(|| "the speed of the root disk is not known".to_owned());
        return Some(
            draft(format!("up to {limit} may wait to be written, and {why}"), source)
                .not_known("sudo ramline measure tiers"),
        );
    };
    let seconds = limit.as_f64() / pace.per_second;
    let why = format!("up to {limit} may wait to be written: {seconds:.0} s at {}/s", bytes_of(pace.per_second));
    if seconds <= EXPIRE_S {
        return Some(draft(why, &pace.grounds.source).keep());
    }
    let then = Bytes((bytes_of(pace.per_second * ADVISED_S).0 >> 20).max(16) << 20);
    let draft = draft(why, &pace.grounds.source);
    let settings = limits(settings, then)?;
    let steps = desk.set(&settings);
    let effect = format!(
        "an fsync, unmount or shutdown after a large copy waits about {ADVISED_S:.0} s instead of {seconds:.0}"
    );
    let risk = format!("a burst of writes above {then} waits for the disk earlier");
    Some(draft.change(format!("{then} (writing begins at {})", Bytes(then.0 / 2)), effect, risk, steps))
}
