//! `tune status`, `tune history`: what ramline has left in force, what of it is as it was made, and what to do where it is not.

use ramline_evidence::{BootFound, ChangeList, ChangeReport, ChangeState, StepReport, StepStands};
use ramline_sheet::format::date_ms;
use ramline_sheet::{Paint, Sheet, Table, number};

use crate::Screen;

impl Screen for ChangeList {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new();
        let standing: Vec<&ChangeReport> = self.changes.iter().filter(|change| change.stands()).collect();
        let left: Vec<&ChangeReport> = self.changes.iter().filter(|change| !change.left.is_empty()).collect();
        let (paint, answer) = answer(&standing, &left);
        sheet.answer(paint, answer);
        for record in &self.unreadable {
            let mut lines = record.lines();
            let first = lines.next().unwrap_or_default();
            sheet.painted(Paint::Bad, format!("A record cannot be read, so what it stands for is not known: {first}"));
            // What to try.
            lines.for_each(|line| sheet.point("  ", line.trim()));
        }
        standing.iter().for_each(|change| one(&mut sheet, change));
        left.iter().for_each(|change| left_alone(&mut sheet, change));
        sheet
    }
}

/// The first line: the most urgent first.
fn answer(standing: &[&ChangeReport], left: &[&ChangeReport]) -> (Paint, String) {
    let in_state = |state: ChangeState| standing.iter().filter(move |change| change.state == state);
    let half = in_state(ChangeState::HalfApplied).chain(in_state(ChangeState::HalfUndone)).next();
    if let Some(change) = half {
        let what = if change.state == ChangeState::HalfApplied { "apply" } else { "undo" };
        return (Paint::Bad, format!("The {what} of change {} was interrupted: finish it or undo it.", change.number));
    }
    let astray = standing.iter().filter(|change| change.is_astray()).count();
    match (standing.len(), astray) {
        (0, _) if !left.is_empty() => {
            (Paint::Warn, "No change of ramline is in force, but what an undo left alone still is.".to_owned())
        }
        (0, _) => (Paint::Good, "No change of ramline is in force.".to_owned()),
        (n, 0) => (Paint::Good, format!("{} of ramline in force, as made.", changes(n))),
        (n, astray) => {
            let verb = if astray == 1 { "is" } else { "are" };
            (Paint::Warn, format!("{} of ramline; {astray} {verb} no longer as made.", changes(n)))
        }
    }
}

/// What an undo has left alone: it stays until its owner takes it away.
fn left_alone(sheet: &mut Sheet, change: &ChangeReport) {
    sheet.heading(format!("Change {} is undone, but for this, which was changed by another since", change.number));
    change.left.iter().for_each(|what| sheet.point("  left: ", what));
    sheet.command(2, &format!("ramline tune diff {}", change.number));
}

fn changes(n: usize) -> String {
    if n == 1 { "1 change".to_owned() } else { format!("{n} changes") }
}

fn one(sheet: &mut Sheet, change: &ChangeReport) {
    sheet.heading(format!("Change {}: {}", change.number, change.what));
    let rebooted = if change.rebooted { ", in an earlier boot" } else { "" };
    sheet.line(format!("{}; applied {} by {}{rebooted}.", words(change.state), date_ms(change.applied_ms), change.who));
    sheet.line(boots(&change.boots));
    let number = change.number;
    match change.state {
        ChangeState::HalfApplied => {
            sheet.command(2, &format!("ramline tune finish {number}"));
            sheet.command(2, &format!("ramline tune undo {number}"));
        }
        ChangeState::HalfUndone | ChangeState::Gone => sheet.command(2, &format!("ramline tune undo {number}")),
        ChangeState::Drifted => {
            sheet.headed_points("Not as made", change.astray().map(astray));
            sheet.command(2, &format!("ramline tune diff {number}"));
        }
        ChangeState::InForce | ChangeState::Undone => {}
    }
    sheet.more(&format!("Every step of change {number}"), |more| {
        more.headed_points("Why", change.why.iter().map(String::as_str));
        let table =
            Table::from_rows(&change.steps).left("now", |step| stands(step.stands)).wrapped("step", |step| &step.step);
        more.table(table);
        more.dim(format!("Asked for by: {}", change.command));
    });
}

/// What was found at the boots since: where all was well, one short sentence; else the last boot at which it was not.
fn boots(found: &[BootFound]) -> Option<String> {
    let last = found.last()?;
    let bad = |boot: &&BootFound| boot.state != ChangeState::InForce;
    let Some(astray) = found.iter().rev().find(bad) else {
        return Some(match found.len() {
            1 => format!("Found in force at boot {}.", last.boot),
            n => format!("Found in force at each of {n} boots since."),
        });
    };
    let what = if astray.astray.is_empty() { words(astray.state).to_lowercase() } else { astray.astray.join("; ") };
    let at = format!("on boot {} ({}) {what}", astray.boot, date_ms(astray.time_ms));
    let since = found.iter().rev().take_while(|boot| boot.state == ChangeState::InForce).last();
    Some(match since {
        Some(since) => format!("Found in force since boot {}; {at}.", since.boot),
        None => format!("Not found as made at the last boot: {at}."),
    })
}

fn astray(step: &StepReport) -> String {
    match (&step.now, step.stands) {
        (Some(now), _) => format!("{}: it is {now} now", step.step),
        (None, _) if step.lasts => format!("{}: it is as before", step.step),
        (None, _) => format!("{}: it is as before; something sets it back, or the boot did not set it", step.step),
    }
}

/// Where a change stands, in words.
#[must_use]
pub const fn words(state: ChangeState) -> &'static str {
    match state {
        ChangeState::InForce => "In force",
        ChangeState::Drifted => "In force in part",
        ChangeState::Gone => "Not in force any more",
        ChangeState::HalfApplied => "Applied in part",
        ChangeState::HalfUndone => "Undone in part",
        ChangeState::Undone => "Undone",
    }
}

const fn stands(step: StepStands) -> &'static str {
    match step {
        StepStands::After => "in force",
        StepStands::Before => "as before",
        StepStands::WasSo => "was so",
        StepStands::Changed => "changed since",
        StepStands::Stateless => "",
    }
}

/// `tune history`: every change there ever was, the latest first.
#[must_use]
pub fn history(list: &ChangeList) -> Sheet {
    let mut sheet = Sheet::new();
    let all = number::count(list.changes.len() as u64);
    sheet.answer(
        Paint::Bold,
        if list.changes.is_empty() {
            "ramline has changed nothing here.".to_owned()
        } else {
            format!("{all} changes in all, the latest first.")
        },
    );
    let table = Table::from_rows(list.changes.iter().rev())
        .right("change", |change| change.number)
        .left("applied", |change| date_ms(change.applied_ms))
        .left("by", |change| &change.who)
        .left("state", |change| words(change.state))
        .left("at boots", |change| {
            let well = change.boots.iter().filter(|boot| boot.state == ChangeState::InForce).count();
            if change.boots.is_empty() { String::new() } else { format!("{well} of {}", change.boots.len()) }
        })
        .wrapped("what", |change| match &change.undone_why {
            Some(why) if change.state == ChangeState::Undone => format!("{}; undone: {why}", change.what),
            _ => change.what.clone(),
        });
    sheet.table(table);
    sheet
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_sheet::text::Style;

    fn list(state: ChangeState) -> ChangeList {
        let step = StepReport {
            step: "write /k: 60 -> 133".into(),
            stands: StepStands::Changed,
            now: Some("10".into()),
            lasts: false,
        };
        let change = ChangeReport {
            number: 2,
            what: "vm.swappiness 133".into(),
            who: "root".into(),
            state,
            steps: vec![step],
            ..ChangeReport::default()
        };
        ChangeList { changes: vec![change], unreadable: vec![] }
    }

    #[test]
    fn the_first_line_says_what_is_to_be_done_first() {
        let first = |list: &ChangeList| list.text(&Style::default()).lines().next().unwrap_or_default().to_owned();
        assert_eq!(first(&ChangeList::default()), "No change of ramline is in force.");
        assert_eq!(first(&list(ChangeState::InForce)), "1 change of ramline in force, as made.");
        assert_eq!(first(&list(ChangeState::Drifted)), "1 change of ramline; 1 is no longer as made.");
        assert_eq!(
            first(&list(ChangeState::HalfApplied)),
            "The apply of change 2 was interrupted: finish it or undo it."
        );
        assert_eq!(first(&list(ChangeState::Undone)), "No change of ramline is in force.");
    }

    #[test]
    fn a_record_that_cannot_be_read_is_named_with_its_way_out_on_a_line_of_its_own() {
        let unreadable = vec!["cannot read /s/000009.jsonl: refused\n  try: ls -l /s/000009.jsonl".to_owned()];
        let text = ChangeList { changes: vec![], unreadable }.text(&Style::default());
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[1].ends_with("cannot read /s/000009.jsonl: refused"), "{text}");
        assert_eq!(lines[2], "  try: ls -l /s/000009.jsonl");
    }

    #[test]
    fn what_an_undo_has_left_alone_is_named_by_the_first_line_and_below() {
        let mut all = list(ChangeState::Undone);
        all.changes[0].left = vec!["file /etc/sysctl.d/99-zz-ramline.conf: another text".to_owned()];
        let text = all.text(&Style::default());
        assert!(
            text.starts_with("No change of ramline is in force, but what an undo left alone still is.\n"),
            "{text}"
        );
        assert!(text.contains("left: file /etc/sysctl.d/99-zz-ramline.conf: another text"), "{text}");
    }

    #[test]
    fn what_was_found_at_boots_is_one_sentence_with_who_overruled_it() {
        let boot = |boot, state, astray: &[&str]| BootFound {
            boot,
            state,
            astray: astray.iter().map(|text| (*text).to_owned()).collect(),
            ..BootFound::default()
        };
        let (good, bad) = (
            |n| boot(n, ChangeState::InForce, &[]),
            |n| boot(n, ChangeState::Drifted, &["vm.swappiness was 60, set by /etc/sysctl.d/zz.conf:1"]),
        );
        assert_eq!(boots(&[]), None);
        assert_eq!(boots(&[good(2), good(3)]).unwrap(), "Found in force at each of 2 boots since.");
        let mended = boots(&[bad(2), good(3), good(4)]).unwrap();
        assert!(mended.starts_with("Found in force since boot 3; on boot 2 ("), "{mended}");
        assert!(mended.ends_with("vm.swappiness was 60, set by /etc/sysctl.d/zz.conf:1."), "{mended}");
        assert!(boots(&[good(2), bad(3)]).unwrap().starts_with("Not found as made at the last boot: on boot 3 ("));
    }

    #[test]
    fn what_is_not_as_made_is_named_with_how_it_is() {
        let text = list(ChangeState::Drifted).text(&Style::default());
        assert!(text.contains("write /k: 60 -> 133: it is 10 now"), "{text}");
        assert!(text.contains("ramline tune diff 2"), "{text}");
    }
}
