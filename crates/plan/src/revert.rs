//! The dead man's timer of a change: units of systemd that undo it unless it is kept, in this boot and in any later one.
//!
//! They are steps of the change itself: recorded like the others, and gone when the change is kept or undone. The time begins when the timer is
//! started, which is behind all other steps, and anew at each boot: after a reboot the full time is there again to keep the change.

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
    /// What is done before the change: from here on a crash or a reboot ends in an undo.
    #[must_use]
    pub fn before(&self, number: u64) -> Vec<Step> {
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

    /// What is done behind it: the time begins.
    #[must_use]
    pub fn behind(&self, number: u64) -> Vec<Step> {
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
        let lines: Vec<String> = revert.before(7).iter().map(Step::line).collect();
        assert_eq!(
            lines,
            [
                "reload units of systemd",
                "create /etc/systemd/system/ramline-revert-7.service",
                "create /etc/systemd/system/ramline-revert-7.timer",
                "create /etc/systemd/system/timers.target.wants/",
                "link /etc/systemd/system/timers.target.wants/ramline-revert-7.timer -> /etc/systemd/system/ramline-revert-7.timer",
                "reload units of systemd",
            ]
        );
        assert_eq!(revert.behind(7)[0].line(), "start ramline-revert-7.timer");
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
