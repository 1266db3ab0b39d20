//! zswap: off where zram is swapped to, since pages would be compressed twice; elsewhere kept as it is.

use ramline_plan::{PlanLine, Step};

use super::super::desk::Desk;
use super::super::line::{Draft, reason};
use crate::prelude::*;

const TARGET: &str = "zswap";
const SWITCH: &str = "/sys/module/zswap/parameters/enabled";
/// systemd writes it at each boot, before swap is used.
const AT_BOOT: &str = "/etc/tmpfiles.d/ramline-zswap.conf";

/// `None` where the kernel has none.
pub(super) fn line(desk: &mut Desk<'_>) -> Option<PlanLine> {
    let snapshot = desk.inputs.snapshot;
    let zswap = snapshot.zswap.data()?;
    let old = if zswap.enabled { "on" } else { "off" };
    let draft = |why: String| Draft::new(TARGET, Some(old.to_owned()), reason(why, SWITCH));
    let areas = look::areas(snapshot)?;
    let zram = areas.iter().find(|area| area.zram().is_some()).map(|area| area.path.clone());
    let disk = areas.iter().find(|area| area.zram().is_none()).map(|area| area.path.clone());
    let zram = match (zswap.enabled, zram, disk) {
        (false, _, _) => return None,
        (true, None, None) => return Some(draft("no swap area is on, so nothing reaches it".to_owned()).keep()),
        (true, None, Some(disk)) => {
            return Some(
                draft(format!("it compresses in RAM what would go to {disk}, and writes the coldest there")).keep(),
            );
        }
        (true, Some(zram), _) => zram,
    };
    let why = format!(
        "pages bound for {zram} are compressed into its pool, unpacked when that is full, and compressed again"
    );
    let pool = snapshot.meminfo.data().and_then(|meminfo| meminfo.zswap.zip(meminfo.zswapped));
    let effect = match pool {
        Some((pool, stored)) if pool.0 > 0 => {
            format!("{stored} of pages kept in {pool} are no longer packed twice; the pool empties as they are used")
        }
        _ => "no page is compressed twice".to_owned(),
    };
    let risk = "zram has no write-back of cold pages by itself; with a disk area, zswap alone (zram off) is the other good choice";
    let steps = steps(desk);
    Some(draft(why).change("off", effect, risk.to_owned(), steps))
}

fn steps(desk: &mut Desk<'_>) -> Result<Vec<Step>, String> {
    let set = Step::SetKnob { path: SWITCH.to_owned(), before: "Y".to_owned(), after: "N".to_owned() };
    if desk.ask.runtime_only {
        return Ok(vec![set]);
    }
    if !desk.set_up.systemd {
        return Err(String::from(
            "without systemd it is on again at boot: put zswap.enabled=0 on the kernel's command line, or for this boot alone: ramline tune plan zram-and-zswap --runtime-only",
        ));
    }
    let text = format!("# Written by ramline; undone by `ramline tune undo`.\nw {SWITCH} - - - - N\n");
    let file = desk.edit(AT_BOOT, None, |_| Ok(text))?;
    Ok(vec![file, set])
}
