//! A stall without a kill, as it was recorded: when tasks waited for memory, what the first line was then, and who grew before.

use ramline_model::kill::{GrowthBefore, Kill};
use ramline_model::stalled::StalledTime;
use ramline_units::{Deserialize, JsonSchema, Serialize, escape, quoted};

use super::Remedy;
use super::grown;

/// Other stalls that are named.
const NAMED: usize = 5;

/// A time, with its words.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct WordedStall {
    /// The time.
    #[serde(flatten)]
    pub time: StalledTime,
    /// When it began, in local time: `2026-11-30 00:41:10`.
    pub from: String,
    /// When it ended.
    pub to: String,
}

/// When tasks waited for memory.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct RecordedStall {
    /// The one in which tasks waited longest.
    #[serde(flatten)]
    pub worst: WordedStall,
    /// Processes that the kernel killed for memory in that time, by its counter; `None` where it was not recorded.
    pub kills: Option<u64>,
    /// The first line over that time.
    pub verdict: Option<String>,
    /// The control group that waited or was at its limit.
    pub group: Option<String>,
    /// Who grew in the minutes before.
    pub growth: Option<GrowthBefore>,
    /// The other stalls in the time that was looked at, the last ones.
    pub others: Vec<WordedStall>,
    /// How many others there are.
    pub other_stalls: u64,
}

impl RecordedStall {
    pub(super) fn headline(&self) -> String {
        let worst = &self.worst;
        let share = 100.0 * worst.time.share();
        let kills = match self.kills {
            Some(0) => "The kernel killed nothing.".to_owned(),
            Some(kills) => format!("The log has no kill, but the kernel counted {kills}."),
            None => "The log has no kill.".to_owned(),
        };
        format!(
            "{kills} From {} to {} tasks waited for memory {share:.0} % of the time.",
            worst.from,
            of_day(&worst.from, &worst.to)
        )
    }

    pub(super) fn why(&self) -> Vec<String> {
        let mut out = Vec::new();
        let full = self.worst.time.full.as_secs_f64();
        if full >= 1.0 {
            out.push(format!("For {full:.0} s of it nothing went on: every task that was not idle waited."));
        }
        out.extend(self.verdict.as_ref().map(|line| format!("The first line of that time: {line}")));
        out.extend(self.growth.iter().flat_map(|growth| grown::sentences(growth, &Kill::default())));
        if !self.others.is_empty() {
            let named: Vec<String> = self.others.iter().take(NAMED).map(short).collect();
            let more = self.other_stalls.saturating_sub(named.len() as u64);
            let more = if more > 0 { format!(", and {more} more") } else { String::new() };
            out.push(format!("Tasks also waited at {}{more}.", named.join(", ")));
        }
        out.push("The kernel counts the time that tasks wait (PSI); it was recorded.".to_owned());
        out
    }

    pub(super) fn avoid(&self) -> Vec<Remedy> {
        let (from, to) = (quoted(&self.worst.from), quoted(&self.worst.to));
        let remedy = |what: &str, commands: &[String]| Remedy { what: what.to_owned(), commands: commands.to_vec() };
        let mut out = Vec::new();
        if let Some(group) = &self.group {
            let shown = quoted(group);
            out.push(remedy(
                "Find out how much memory the group needs",
                &[
                    format!("sudo ramline need {shown}"),
                    format!("ramline explain cgroup-memory --from {from} --to {to}"),
                ],
            ));
        }
        out.push(remedy(
            "See what that time looked like, and what it needs",
            &[format!("ramline checkup --from {from} --to {to}")],
        ));
        if self.group.is_none() {
            out.push(remedy(
                "Have something kill before the machine freezes",
                &["systemctl enable --now systemd-oomd".to_owned(), "ramline explain available-but-frozen".to_owned()],
            ));
        }
        out
    }
}

/// The time of the day alone, where the day is the same.
fn of_day(from: &str, to: &str) -> String {
    match (from.split_once(' '), to.split_once(' ')) {
        (Some((day, _)), Some((same, time))) if day == same => time.to_owned(),
        _ => to.to_owned(),
    }
}

/// `00:10:05 (20 s)`.
fn short(stall: &WordedStall) -> String {
    format!("{} ({:.0} s)", escape(&stall.from), stall.time.length().as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_units::Nanos;

    fn stall(from: &str, to: &str, seconds: u64) -> WordedStall {
        let time = StalledTime {
            from_unix_ms: 0,
            to_unix_ms: seconds * 1000,
            some: Nanos(seconds * 630_000_000),
            full: Nanos(seconds * 200_000_000),
        };
        WordedStall { time, from: from.to_owned(), to: to.to_owned() }
    }

    #[test]
    fn who_asks_about_a_freeze_reads_when_how_long_and_what_it_was() {
        let seen = RecordedStall {
            worst: stall("2026-11-30 00:41:10", "2026-11-30 00:44:35", 205),
            verdict: Some("Tasks wait for memory 63 % of the time.".to_owned()),
            group: Some("/system.slice/db.service".to_owned()),
            kills: Some(0),
            others: vec![stall("2026-11-29 23:10:05", "2026-11-29 23:10:25", 20)],
            other_stalls: 3,
            ..RecordedStall::default()
        };
        assert_eq!(
            seen.headline(),
            "The kernel killed nothing. From 2026-11-30 00:41:10 to 00:44:35 tasks waited for memory 63 % of the time."
        );
        let unknown = RecordedStall { kills: None, ..seen.clone() };
        assert!(unknown.headline().starts_with("The log has no kill. From "));
        let counted = RecordedStall { kills: Some(2), ..seen.clone() };
        assert!(counted.headline().starts_with("The log has no kill, but the kernel counted 2. From "));
        let expected = [
            "For 41 s of it nothing went on: every task that was not idle waited.",
            "The first line of that time: Tasks wait for memory 63 % of the time.",
            "Tasks also waited at 2026-11-29 23:10:05 (20 s), and 2 more.",
            "The kernel counts the time that tasks wait (PSI); it was recorded.",
        ];
        assert_eq!(seen.why(), expected);
        assert_eq!(seen.avoid()[0].commands[0], "sudo ramline need /system.slice/db.service");
        assert_eq!(
            seen.avoid()[1].commands,
            ["ramline checkup --from '2026-11-30 00:41:10' --to '2026-11-30 00:44:35'"]
        );
    }
}
