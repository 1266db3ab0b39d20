//! Units of systemd that ramline leaves: the check of changes at each boot, and the timer of upkeep.
//!
//! Both run this binary, by a path that must be there after a reboot; who calls them knows that ([`check_at_boot`], [`upkeep_timer`] do not look).
//! Neither can fail the boot: a failure of the check is no failure of its unit (`-`), it begins when the boot is done, and both give way to
//! everything else. They name no manual page: systemd-analyze fails a unit whose page is not installed, as that of a lone binary is not.

use crate::edit::OWN;
use crate::{ServiceVerb, Step};

/// The unit of the check.
pub const CHECK: &str = "/etc/systemd/system/ramline-tune-verify.service";
/// The unit of a pass of upkeep, and its timer.
pub const UPKEEP: &str = "/etc/systemd/system/ramline-maintain.service";
/// Its timer.
pub const UPKEEP_TIMER: &str = "/etc/systemd/system/ramline-maintain.timer";

/// What a unit runs, and where it keeps its state if not in the usual place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitProgram {
    /// The path of the binary.
    pub path: String,
    /// `RAMLINE_STATE_DIR`.
    pub state: Option<String>,
}

impl UnitProgram {
    /// The text of a unit, from its file beside this one: what it may do is written there.
    fn unit(&self, text: &str) -> String {
        let environment =
            self.state.as_ref().map_or(String::new(), |dir| format!("Environment=RAMLINE_STATE_DIR={dir}\n"));
        let text = text.replace("@PROGRAM@", &self.path).replace("@ENVIRONMENT@", &environment);
        format!("{OWN}{}", text.replace("@STATE@", self.state.as_deref().unwrap_or("/var/lib/ramline")))
    }
}

/// A unit that checks at the end of each boot what is in force. `now` is the text of the unit that is there already.
#[must_use]
pub fn check_at_boot(program: &UnitProgram, now: Option<&str>) -> Vec<Step> {
    let mut steps = vec![Step::ReloadUnits];
    steps.extend(switched_on(
        CHECK,
        now,
        program.unit(include_str!("units/verify.service")),
        "multi-user.target.wants",
    ));
    steps.push(Step::ReloadUnits);
    steps
}

/// A timer that makes a pass of upkeep every ten minutes. `now` is the text of the service and of the timer that are there already.
#[must_use]
pub fn upkeep_timer(program: &UnitProgram, now: (Option<&str>, Option<&str>)) -> Vec<Step> {
    let edit = |path: &str, before: Option<&str>, after: String| Step::EditFile {
        path: path.to_owned(),
        before: before.map(str::to_owned),
        after: Some(after),
    };
    let mut steps = vec![Step::ReloadUnits, edit(UPKEEP, now.0, program.unit(include_str!("units/maintain.service")))];
    let timer = program.unit(include_str!("units/maintain.timer"));
    steps.extend(switched_on(UPKEEP_TIMER, now.1, timer, "timers.target.wants"));
    steps.push(Step::ReloadUnits);
    steps.push(Step::Service { unit: name(UPKEEP_TIMER).to_owned(), verb: ServiceVerb::Start });
    steps
}

fn name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

/// The file, and the link by which systemd wants it.
fn switched_on(path: &str, now: Option<&str>, text: String, wants: &str) -> [Step; 3] {
    let dir = format!("/etc/systemd/system/{wants}");
    let link = format!("{dir}/{}", name(path));
    [
        Step::EditFile { path: path.to_owned(), before: now.map(str::to_owned), after: Some(text) },
        Step::MakeDirectory { path: dir },
        Step::Link { path: link, before: None, after: Some(path.to_owned()) },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn program() -> UnitProgram {
        UnitProgram { path: "/usr/local/bin/ramline".into(), state: None }
    }

    fn text(steps: &[Step], wanted: &str) -> String {
        let found = steps.iter().find_map(|step| match step {
            Step::EditFile { path, after, .. } if path == wanted => after.clone(),
            _ => None,
        });
        found.unwrap()
    }

    #[test]
    fn the_check_begins_when_the_boot_is_done_and_its_failure_is_none_of_the_boot() {
        let unit = text(&check_at_boot(&program(), None), CHECK);
        assert!(unit.contains("\nAfter=multi-user.target\n"), "{unit}");
        assert!(unit.contains("\nExecStart=-/usr/local/bin/ramline tune verify --quiet\n"), "{unit}");
        assert!(!unit.contains("Environment"), "{unit}");
        let elsewhere = UnitProgram { state: Some("/srv/state".into()), ..program() };
        assert!(text(&check_at_boot(&elsewhere, None), CHECK).contains("RAMLINE_STATE_DIR=/srv/state\n"));
        let unit = text(&upkeep_timer(&elsewhere, (None, None)), UPKEEP);
        assert!(
            unit.contains("RAMLINE_STATE_DIR=/srv/state\n") && unit.contains("\nReadWritePaths=-/srv/state\n"),
            "{unit}"
        );
    }

    #[test]
    fn nothing_is_left_to_fill_in() {
        for (steps, paths) in [
            (check_at_boot(&program(), None), &[CHECK][..]),
            (upkeep_timer(&program(), (None, None)), &[UPKEEP, UPKEEP_TIMER][..]),
        ] {
            for path in paths {
                let unit = text(&steps, path);
                assert!(!["@PROGRAM@", "@ENVIRONMENT@", "@STATE@"].iter().any(|word| unit.contains(word)), "{unit}");
            }
        }
    }

    #[test]
    fn a_unit_that_is_there_is_replaced_and_comes_back_by_the_undo() {
        let steps = check_at_boot(&program(), Some("old"));
        assert!(matches!(&steps[1], Step::EditFile { before: Some(old), .. } if old == "old"));
    }

    #[test]
    fn the_timer_is_started_behind_its_files_and_units_are_read_again_in_both_directions() {
        let steps = upkeep_timer(&program(), (None, None));
        assert_eq!((steps.first(), steps.get(5)), (Some(&Step::ReloadUnits), Some(&Step::ReloadUnits)));
        assert!(
            matches!(steps.last(), Some(Step::Service { unit, verb: ServiceVerb::Start }) if unit == "ramline-maintain.timer")
        );
        assert!(text(&steps, UPKEEP).contains("ExecStart=/usr/local/bin/ramline swap maintain --once --json\n"));
        assert!(text(&steps, UPKEEP_TIMER).contains("OnUnitActiveSec=10min\n"));
    }
}
