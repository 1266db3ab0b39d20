//! systemd-oomd and earlyoom: thresholds that can never be reached here, made reachable where a file of systemd does it.
//!
//! What earlyoom is given stands in a file of shell words, which is left to its owner: the line names what to write there.

use ramline_plan::{PlanLine, Step};
use ramline_snapshot::Seen;
use ramline_snapshot::killers::Oomd;

use super::desk::Desk;
use super::line::{Draft, reason};
use crate::findings::killer_cannot_trigger::RULE;
use crate::prelude::*;

const FOLDER: &str = "/etc/systemd/system/user@.service.d";
const FILE: &str = "/etc/systemd/system/user@.service.d/90-ramline-oomd.conf";
const EARLYOOM: &str = "/etc/default/earlyoom";
/// What systemd-oomd takes where nothing is given (oomd.conf(5)).
const PRESSURE: f64 = 60.0;
const FOR: Nanos = Nanos(30_000_000_000);

pub(super) fn plan(desk: &mut Desk<'_>) {
    let lines = [earlyoom(desk), oomd(desk)];
    desk.lines.extend(lines.into_iter().flatten());
}

fn earlyoom(desk: &Desk<'_>) -> Option<PlanLine> {
    let seen = desk.inputs.snapshot.killers.data()?.earlyoom.as_ref()?;
    let percent = |letter: &str, percent: Option<f64>| percent.map(|percent| format!("-{letter} {percent}"));
    let given: Vec<String> =
        percent("m", seen.memory_percent).into_iter().chain(percent("s", seen.swap_percent)).collect();
    let old = if given.is_empty() { "its own thresholds".to_owned() } else { given.join(" ") };
    let draft = |why: String| Draft::new("earlyoom", Some(old.clone()), reason(why, seen.source.clone()));
    let Some(found) = RULE.finding(desk.inputs) else {
        return Some(draft("its thresholds can be reached here".to_owned()).keep());
    };
    let fix = format!(
        "its words stand in {EARLYOOM}, which is left to you: EARLYOOM_ARGS=\"-m 10 -s 100\" lets memory alone decide"
    );
    Some(draft(found.title).change("-m 10 -s 100", found.effect, found.cost_if_wrong, Err(fix)))
}

fn oomd(desk: &mut Desk<'_>) -> Option<PlanLine> {
    let snapshot = desk.inputs.snapshot;
    let killers = snapshot.killers.data()?;
    let seen = killers.oomd.as_ref()?;
    let draft = |why: String| Draft::new("systemd-oomd", Some(thresholds(seen)), reason(why, seen.source.clone()));
    // The rule looks at one of the two, earlyoom first.
    let found = RULE.finding(desk.inputs).filter(|_| killers.earlyoom.is_none());
    let Some(found) = found else {
        return Some(match seen.watched {
            Some(_) => draft("its thresholds can be reached here".to_owned()).keep(),
            None => draft("which units ask it to watch them was not seen".to_owned()).not_known("sudo oomctl"),
        });
    };
    let (percent, time) = (seen.pressure_percent.unwrap_or(PRESSURE), seen.pressure_for.unwrap_or(FOR));
    let effect = format!(
        "of user sessions the group that waits for memory {percent:.0} % of {time} is ended, before the machine stands still"
    );
    let risk = found.cost_if_wrong;
    let steps = match &snapshot.pressure_memory {
        Seen::Absent { .. } => {
            Err("this kernel does not measure pressure; first: psi=1 on the kernel's command line".to_owned())
        }
        _ => steps(desk),
    };
    Some(draft(found.title).change("ends user sessions by pressure", effect, risk, steps))
}

fn thresholds(seen: &Oomd) -> String {
    let Some(watched) = &seen.watched else { return "which units are watched was not seen".to_owned() };
    format!("{} units watched", watched.iter().filter(|unit| unit.swap || unit.pressure).count())
}

fn steps(desk: &mut Desk<'_>) -> Result<Vec<Step>, String> {
    if desk.ask.runtime_only {
        return Err("what systemd watches stands in a file, so it is no change for this boot alone".to_owned());
    }
    let text =
        "# Written by ramline; undone by `ramline tune undo`.\n[Service]\nManagedOOMMemoryPressure=kill\n".to_owned();
    let file = desk.edit(FILE, None, |_| Ok(text))?;
    Ok(vec![Step::ReloadUnits, Step::MakeDirectory { path: FOLDER.to_owned() }, file, Step::ReloadUnits])
}
