//! A setting that files disagree about, or that is not in force as the files have it.
//!
//! sysctl.d is read in the order of the file names, whatever the directory, and the last word counts. An administrator's file that comes
//! before another one loses without a word; and a value set by hand or by a service is gone at the next boot.
//!
//! A file in /etc that comes after the distribution's and says something else is what those directories are for: no finding.

use ramline_snapshot::configured::{Configured, Setting};

use crate::prelude::*;

pub(super) const RULE: Rule = Rule {
    id: "sysctl-set-twice",
    looks_for: "a setting of vm that two files set differently, or that is not in force as the files have it",
    explain: "swappiness",
    check,
    cost_if_wrong: "a service that sets the value on purpose (tuned, a cloud agent) sets it again",
    tune: Tune::No("which of two files is right, only their administrator knows"),
};

/// Written to make something happen once, or a state of their own: what is read back says nothing about the file.
const NOT_VALUES: &[&str] = &["vm.drop_caches", "vm.compact_memory", "vm.stat_refresh", "vm.mem_profiling"];

/// Each pair shares one switch: setting one puts the other to 0.
const PAIRS: &[(&str, &str)] = &[
    ("vm.dirty_bytes", "vm.dirty_ratio"),
    ("vm.dirty_background_bytes", "vm.dirty_background_ratio"),
    ("vm.overcommit_kbytes", "vm.overcommit_ratio"),
];

/// What is wrong with one setting.
enum Wrong {
    /// The administrator's value loses to a file of the distribution.
    Loses { loser: Setting },
    /// Two of the administrator's own lines differ.
    Twice { loser: Setting },
    /// The kernel has another value than the files.
    NotInForce { now: String },
}

fn check(inputs: &Inputs<'_>) -> Option<Draft> {
    let snapshot = inputs.snapshot;
    // The files of a container are not what set the host's kernel.
    if snapshot.machine.container.is_some() {
        return None;
    }
    let seen = snapshot.configured.data()?;
    let mut keys: Vec<&str> = seen.settings.iter().map(|s| s.key.as_str()).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut found: Vec<(Setting, Wrong)> = keys.into_iter().filter_map(|key| wrong(seen, key)).collect();
    // What is lost weighs more than what is said twice.
    ramline_units::sort_by_key(&mut found, |(_, wrong)| match wrong {
        Wrong::Loses { .. } => 0,
        Wrong::NotInForce { .. } => 1,
        Wrong::Twice { .. } => 2,
    });
    let (winner, wrong) = found.first()?;
    let others = found.len() - 1;
    let more = if others > 0 { format!(" (and {others} more)") } else { String::new() };
    Some(Draft {
        title: format!("{}{more}", title(winner, wrong)),
        weight: if matches!(wrong, Wrong::Loses { .. }) { Weight::Warning } else { Weight::Note },
        effect: effect(winner, wrong),
        evidence: found.iter().take(4).flat_map(|(winner, wrong)| grounds(snapshot, winner, wrong)).collect(),
        confidence: Confidence::High,
        change: change(winner, wrong),
        ..Draft::default()
    })
}

fn wrong(seen: &Configured, key: &str) -> Option<(Setting, Wrong)> {
    let of_key: Vec<&Setting> = seen.for_key(key).collect();
    let winner = *of_key.last()?;
    let loser = of_key.iter().rev().find(|s| is_admins(s) && s.value != winner.value).map(|s| (*s).clone());
    let told = |wrong| Some((winner.clone(), wrong));
    match loser {
        Some(loser) if !is_admins(winner) => return told(Wrong::Loses { loser }),
        Some(loser) => return told(Wrong::Twice { loser }),
        None => {}
    }
    let now = seen.in_force.get(key)?;
    let same_shape = now.split(' ').count() == winner.value.split(' ').count();
    let replaced = now == "0"
        && PAIRS.iter().any(|(a, b)| {
            let twin = if *a == key {
                Some(b)
            } else if *b == key {
                Some(a)
            } else {
                None
            };
            twin.is_some_and(|twin| seen.for_key(twin).next().is_some())
        });
    let differs = now != &winner.value && same_shape && !replaced && !NOT_VALUES.contains(&key);
    if differs { told(Wrong::NotInForce { now: now.clone() }) } else { None }
}

/// Files below /usr belong to packages, the others to the administrator.
fn is_admins(setting: &Setting) -> bool {
    !setting.file.starts_with("/usr/lib/")
}

/// Without its folder, which the evidence has.
fn name_of(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

fn title(winner: &Setting, wrong: &Wrong) -> String {
    let Setting { key, value, file, .. } = winner;
    match wrong {
        Wrong::Loses { loser } => {
            format!("{key} = {} in {} has no effect: {} sets {value}", loser.value, name_of(&loser.file), name_of(file))
        }
        Wrong::Twice { loser } => {
            format!(
                "{key} is set twice: {} in {}, then {value} in {}",
                loser.value,
                name_of(&loser.file),
                name_of(file)
            )
        }
        Wrong::NotInForce { now } => format!("{key} is {now}, and {file} sets {value}"),
    }
}

fn effect(winner: &Setting, wrong: &Wrong) -> String {
    match wrong {
        Wrong::Loses { .. } => format!(
            "a name that sorts after {} makes it count, or a file of the same name in /etc/sysctl.d in its place",
            name_of(&winner.file)
        ),
        Wrong::Twice { loser } => {
            format!("none until the line is edited that does not count: remove {} line {}", loser.file, loser.line)
        }
        Wrong::NotInForce { now } => {
            format!("at the next boot {now} becomes {}, unless what set it does so again", winner.value)
        }
    }
}

fn grounds(snapshot: &Snapshot, winner: &Setting, wrong: &Wrong) -> Vec<Evidence> {
    let line = |s: &Setting| evidence(&s.key, format!("{} in line {}", s.value, s.line), s.file.clone());
    let now = snapshot.configured.data().and_then(|seen| seen.in_force.get(&winner.key));
    let in_force = now.map(|now| {
        evidence(
            &format!("{} in force", winner.key),
            now.clone(),
            format!("/proc/sys/{}", winner.key.replacen('.', "/", 1)),
        )
    });
    let loser = match wrong {
        Wrong::Loses { loser } | Wrong::Twice { loser } => Some(line(loser)),
        Wrong::NotInForce { .. } => None,
    };
    loser.into_iter().chain([line(winner)]).chain(in_force).collect()
}

/// Which value is right is the reader's to say: shown is how to have the files' one now.
fn change(winner: &Setting, wrong: &Wrong) -> Option<Change> {
    let Wrong::NotInForce { now } = wrong else { return None };
    let set = |value: &str| format!("sysctl -w {}", word(&format!("{}={value}", winner.key)));
    Some(Change::by(
        "puts the value of the files in force now; if the present one is right, change the file instead",
        [set(&winner.value)],
        [set(now)],
    ))
}
