//! The dead man's timer of a change: units of systemd that undo it unless it is kept, in this boot and in any later one.
//!
//! They are steps of the change itself: recorded like the others, and gone when the change is kept or undone. The time begins when the timer is
//! started, which is behind all other steps but the knobs, and anew at each boot: after a reboot the full time is there again to keep the change.

use std::time::Duration;

use crate::edit::OWN;
use crate::{ServiceVerb, Step};

const UNITS: &str = "/etc/systemd/system";

/// What undoes a change that is not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Revert {
    /// How long it waits.
    pub after: Duration,
    /// The program.
    pub exe: String,
    /// Where the record of the change is.
    pub state_dir: String,
}

impl Revert {
    /// The steps of a change with its own around them, those marked that go when the change is kept.
    #[must_use]
    pub fn around(revert: Option<&Revert>, number: u64, steps: Vec<Step>) -> Vec<(Step, bool)> {
        let own = |steps: Option<Vec<Step>>| steps.into_iter().flatten().map(|step| (step, true));
        let (knobs, others): (Vec<Step>, Vec<Step>) = steps.into_iter().partition(Step::is_knob);
        own(revert.map(|revert| revert.before(number)))
            .chain(others.into_iter().map(|step| (step, false)))
            .chain(own(revert.map(|revert| revert.behind(number))))
            .chain(knobs.into_iter().map(|step| (step, false)))
            .collect()
    }

    /// What is done before the change: from here on a crash or a reboot ends in an undo.
    fn before(&self, number: u64) -> Vec<Step> {
        let (service, timer) = (format!("{}.service", name(number)), format!("{}.timer", name(number)));
        let file = |name: &str, text: String| Step::EditFile {
            path: format!("{UNITS}/{name}"),
            before: None,
            after: Some(format!("{OWN}{text}")),
        };
        let wants = format!("{UNITS}/timers.target.wants");
        let undo = format!(
            "[Unit]\nDescription=Undo of change {number} of ramline, which was not kept\nConditionPathExists={}\n\n\
             [Service]\nType=oneshot\nEnvironment={}\nExecStart={} tune undo {number} --yes --unless-kept --leave-changed\n",
            self.exe.replace('%', "%%"),
            quoted(&format!("RAMLINE_STATE_DIR={}", self.state_dir), false),
            quoted(&self.exe, true)
        );
        let time = format!(
            "[Unit]\nDescription=Time in which change {number} of ramline can be kept\n\n\
             [Timer]\nOnActiveSec={}s\nAccuracySec=100ms\n\n[Install]\nWantedBy=timers.target\n",
            self.after.as_secs().max(1)
        );
        vec![
            Step::ReloadUnits,
            file(&service, undo),
            file(&timer, time),
            Step::MakeDirectory { path: wants.clone() },
            Step::Link { path: format!("{wants}/{timer}"), before: None, after: Some(format!("{UNITS}/{timer}")) },
            Step::ReloadUnits,
        ]
    }

    /// What is done behind it: the time begins. Under a knob that does harm systemctl may not even start, so those are set afterwards.
    fn behind(&self, number: u64) -> Vec<Step> {
        vec![Step::Service { unit: format!("{}.timer", name(number)), verb: ServiceVerb::Start }]
    }
}

fn name(number: u64) -> String {
    format!("ramline-revert-{number}")
}

/// One word of a unit: systemd knows quotes and escapes, specifiers after `%` and, in commands, variables after `$`.
fn quoted(text: &str, command: bool) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            '%' => out.push_str("%%"),
            '$' if command => out.push_str("$$"),
            '\n' => out.push_str("\\n"),
            c => out.push(c),
        }
    }
    out + "\""
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_units_are_on_at_boot_before_the_change_and_the_time_begins_behind_it() {
        let revert =
            Revert { after: Duration::from_secs(600), exe: "/opt/a b/ram%line".into(), state_dir: "/s".into() };
        let knob = Step::SetKnob { path: "/k".into(), before: "1".into(), after: "2".into() };
        let file = Step::MakeDirectory { path: "/d".into() };
        let steps = Revert::around(Some(&revert), 7, vec![knob.clone(), file.clone()]);
        let lines: Vec<String> = steps.iter().map(|(step, own)| format!("{own} {}", step.line())).collect();
        assert_eq!(
            lines,
            [
                "true reload units of systemd",
                "true create /etc/systemd/system/ramline-revert-7.service",
                "true create /etc/systemd/system/ramline-revert-7.timer",
                "true create /etc/systemd/system/timers.target.wants/",
                "true link /etc/systemd/system/timers.target.wants/ramline-revert-7.timer -> /etc/systemd/system/ramline-revert-7.timer",
                "true reload units of systemd",
                "false create /d/",
                "true start ramline-revert-7.timer",
                "false write /k: 1 -> 2",
            ]
        );
        assert_eq!(Revert::around(None, 7, vec![knob.clone(), file.clone()]), [(file, false), (knob, false)]);
        let Step::EditFile { after: Some(text), .. } = &revert.before(7)[1] else { panic!("no file") };
        assert!(
            text.contains("ExecStart=\"/opt/a b/ram%%line\" tune undo 7 --yes --unless-kept --leave-changed\n"),
            "{text}"
        );
    }

    #[test]
    fn quotes_and_specifiers_are_no_more_than_letters() {
        assert_eq!(quoted("a\"$b\\%", true), "\"a\\\"$$b\\\\%%\"");
        assert_eq!(quoted("$b", false), "\"$b\"");
    }
}
