//! Two series of one experiment side by side: before and after a change, here and on another machine, this kernel and that.
//!
//! For each arm that both have, each figure with the rule of [`study::compare`]; what differs between the machines is named beside
//! the result.
//!
//! ```
//! use ramline_evidence::{Arm, Better, Figure, RunRecord, SeriesTable, SeriesVersus};
//! let run = |wall| RunRecord {
//!     arm: Arm::named("cold", &[]),
//!     figures: vec![Figure::new("wall", wall, "s", Better::Lower)],
//!     ..RunRecord::default()
//! };
//! let series = |wall: f64| SeriesTable::from_records(&(0..7).map(|i| run(wall + 0.01 * f64::from(i))).collect::<Vec<_>>()).unwrap();
//! let versus = SeriesVersus::between(&series(1.0), &series(2.0));
//! assert!(versus.arms[0].figures[0].claimed);
//! ```

use crate::prelude::*;
use crate::series::{ArmResult, SeriesTable, in_order};

/// Two series.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SeriesVersus {
    /// Experiments of the first and of the second.
    pub experiments: (String, String),
    /// Arms that both have, in the order of the first.
    pub arms: Vec<ArmVersus>,
    /// Arms of the first alone.
    pub only_first: Vec<String>,
    /// Arms of the second alone.
    pub only_second: Vec<String>,
    /// What differs between the two beside the results: kernel, CPUs, memory, sandbox, emulation.
    pub unlike: Vec<String>,
}

/// One arm in both.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ArmVersus {
    /// Its name.
    pub name: String,
    /// How its runs ended in the first: word and count.
    pub first_ended: Vec<(String, u64)>,
    /// And in the second.
    pub second_ended: Vec<(String, u64)>,
    /// The figures that both have.
    pub figures: Vec<FigureVersus>,
}

/// One figure in both.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FigureVersus {
    /// Its name.
    pub name: String,
    /// In the first.
    pub first: Measurement,
    /// In the second.
    pub second: Measurement,
    /// The second against the first; `None` where they cannot be compared: seconds of an emulated processor with real ones.
    pub versus: Option<Comparison>,
    /// A difference may be claimed.
    pub claimed: bool,
}

impl SeriesVersus {
    /// The comparison of two series.
    #[must_use]
    pub fn between(first: &SeriesTable, second: &SeriesTable) -> SeriesVersus {
        let named = |table: &SeriesTable, name: &str| table.arms.iter().any(|arm| arm.name == name);
        let only = |one: &SeriesTable, other: &SeriesTable| -> Vec<String> {
            one.arms.iter().map(|arm| arm.name.clone()).filter(|name| !named(other, name)).collect()
        };
        let both = first.arms.iter().filter_map(|a| Some((a, second.arms.iter().find(|b| b.name == a.name)?)));
        SeriesVersus {
            experiments: (first.experiment.clone(), second.experiment.clone()),
            arms: both.map(|(a, b)| arm(a, b)).collect(),
            only_first: only(first, second),
            only_second: only(second, first),
            unlike: unlike(first, second),
        }
    }
}

/// What follows the name of an arm of the first series where both stand in one table.
pub const FIRST: &str = " (first)";
/// And of the second.
pub const SECOND: &str = " (second)";

/// The runs of both series as one, each arm of the first followed by that of the second, and compared with it: for charts of both.
#[must_use]
pub fn together(first: &[RunRecord], second: &[RunRecord]) -> Option<(SeriesTable, Vec<RunRecord>)> {
    let versus = SeriesVersus::between(&SeriesTable::from_records(first)?, &SeriesTable::from_records(second)?);
    let mut records = Vec::new();
    for name in in_order(first.iter().chain(second).map(|record| record.arm.name.as_str())) {
        for (side, which) in [(first, FIRST), (second, SECOND)] {
            for record in side.iter().filter(|record| record.arm.name == name) {
                let mut record = record.clone();
                record.arm.name.push_str(which);
                records.push(record);
            }
        }
    }
    let mut table = SeriesTable::from_records(&records)?;
    for arm in &mut table.arms {
        let own = arm.name.split_once(SECOND).map(|(own, emulated)| format!("{own}{emulated}"));
        let both = versus.arms.iter().find(|both| own.as_ref().is_some_and(|own| *own == both.name));
        for figure in &mut arm.figures {
            let compared = both.and_then(|both| both.figures.iter().find(|other| other.name == figure.name));
            figure.claimed = compared.is_some_and(|compared| compared.claimed);
            figure.versus_first = compared.and_then(|compared| compared.versus.clone());
        }
    }
    Some((table, records))
}

fn arm(a: &ArmResult, b: &ArmResult) -> ArmVersus {
    let figures = a.figures.iter().filter_map(|left| {
        let right = b.figure(&left.name)?;
        let (first, second) = (&left.measurement, &right.measurement);
        let of_time = first.unit == "s" || first.unit.ends_with("/s");
        let alike = first.unit == second.unit && (!of_time || a.emulated == b.emulated);
        let versus = alike.then(|| study::compare_runs((first, &left.values), (second, &right.values)));
        let claimed = versus.as_ref().is_some_and(Comparison::is_claimed);
        Some(FigureVersus { name: left.name.clone(), first: first.clone(), second: second.clone(), versus, claimed })
    });
    ArmVersus {
        name: a.name.clone(),
        first_ended: a.verdicts.clone(),
        second_ended: b.verdicts.clone(),
        figures: figures.collect(),
    }
}

fn unlike(a: &SeriesTable, b: &SeriesTable) -> Vec<String> {
    let (left, right) = (a.machine.as_ref(), b.machine.as_ref());
    // Records before that field do not tell.
    let lists = left.and_then(|m| m.lru).zip(right.and_then(|m| m.lru));
    let emulated = |table: &SeriesTable| if table.emulated { "emulated" } else { "real" }.to_owned();
    let facts = [
        ("kernel", left.map(|m| m.kernel.clone()), right.map(|m| m.kernel.clone())),
        ("page lists", lists.map(|of| of.0.word().to_owned()), lists.map(|of| of.1.word().to_owned())),
        ("CPUs", left.map(|m| m.cpus.to_string()), right.map(|m| m.cpus.to_string())),
        ("memory", left.map(|m| m.mem_total.to_string()), right.map(|m| m.mem_total.to_string())),
        ("sandbox", Some(a.sandbox.clone()), Some(b.sandbox.clone())),
        ("processor", Some(emulated(a)), Some(emulated(b))),
    ];
    let same = |name: &str| {
        let of = |table: &SeriesTable| {
            table.parameters.get(name).map(|all| all.iter().map(|text| canonical(text)).collect::<Vec<_>>())
        };
        of(a) == of(b)
    };
    let asked = |table: &SeriesTable, name: &str| {
        let given = table.parameters.get(name).map_or_else(|| "default".to_owned(), |values| values.join(" "));
        format!("--{name} {given}")
    };
    // Arms are matched by name, and more or fewer runs of the same are no other experiment.
    let mut names: Vec<&String> = a.parameters.keys().chain(b.parameters.keys()).collect();
    names.retain(|name| !matches!(name.as_str(), "arms" | "runs" | "dir" | "kernel" | "sandbox"));
    names.sort_unstable();
    names.dedup();
    names.retain(|name| !same(name));
    let options = names.into_iter().map(|name| ("option", Some(asked(a, name)), Some(asked(b, name))));
    let word = |text: Option<String>| text.filter(|t| !t.is_empty()).unwrap_or_else(|| "not known".to_owned());
    facts
        .into_iter()
        .chain(options)
        .filter(|(_, a, b)| a != b)
        .map(|(what, a, b)| format!("{what}: {} and {}", word(a), word(b)))
        .collect()
}

/// The same value in one spelling: `6000ms` and `6s`, `32768KiB` and `32MiB`, `0.1` and `10%`.
fn canonical(text: &str) -> String {
    if let Ok(Bytes(bytes)) = text.parse::<Bytes>() {
        return format!("{bytes} bytes");
    }
    let cut = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = text.split_at(cut);
    let scale = match unit {
        "" => 1.0,
        "ms" => 1e-3,
        "s" => 1.0,
        "min" => 60.0,
        "%" => 0.01,
        _ => return text.to_owned(),
    };
    let kind = if matches!(unit, "" | "%") { "" } else { " s" };
    number.parse::<f64>().map_or_else(|_| text.to_owned(), |number| format!("{:.9}{kind}", number * scale))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Arm, Better, Figure, Lru, RunRecord};

    fn series(arms: &[(&str, f64)], runs: u32, emulated: bool) -> SeriesTable {
        let run = |name: &str, wall: f64, index: u32| {
            let wall = wall + 0.001 * f64::from(index);
            let figures = vec![
                Figure::new("wall", wall, "s", Better::Lower),
                Figure::new("faults", wall * 10.0, "faults", Better::Lower),
            ];
            RunRecord { arm: Arm::named(name, &[]), figures, emulated, ..RunRecord::default() }
        };
        let all: Vec<RunRecord> =
            (0..runs).flat_map(|index| arms.iter().map(move |(name, wall)| run(name, *wall, index))).collect();
        SeriesTable::from_records(&all).unwrap()
    }

    #[test]
    fn arms_of_both_are_compared_and_the_others_named() {
        let versus = SeriesVersus::between(
            &series(&[("a", 1.0), ("b", 1.0)], 7, false),
            &series(&[("b", 2.0), ("c", 1.0)], 7, false),
        );
        assert_eq!((versus.only_first, versus.only_second), (vec!["a".to_owned()], vec!["c".to_owned()]));
        let wall = &versus.arms[0].figures[0];
        assert_eq!((versus.arms[0].name.as_str(), wall.claimed), ("b", true));
        assert_eq!(versus.unlike, Vec::<String>::new());
    }

    #[test]
    fn one_value_in_two_spellings_is_no_difference() {
        for (one, other) in
            [("6000ms", "6s"), ("32MiB", "32768KiB"), ("10%", "0.1"), ("2min", "120s"), ("text", "text")]
        {
            assert_eq!(canonical(one), canonical(other), "{one} {other}");
        }
        for (one, other) in [("6s", "6"), ("6s", "7s"), ("text", "zeros"), ("1MiB", "1")] {
            assert_ne!(canonical(one), canonical(other), "{one} {other}");
        }
        let with = |text: &str| {
            let mut table = series(&[("a", 1.0)], 1, false);
            table.parameters.insert("timeout".to_owned(), vec![text.to_owned()]);
            table
        };
        assert_eq!(SeriesVersus::between(&with("6000ms"), &with("6s")).unlike, Vec::<String>::new());
        assert_eq!(SeriesVersus::between(&with("6s"), &with("7s")).unlike, ["option: --timeout 6s and --timeout 7s"]);
    }

    #[test]
    fn few_runs_and_alike_runs_claim_nothing() {
        let few = SeriesVersus::between(&series(&[("a", 1.0)], 5, false), &series(&[("a", 9.0)], 5, false));
        assert!(!few.arms[0].figures[0].claimed);
        let alike = SeriesVersus::between(&series(&[("a", 1.0)], 7, false), &series(&[("a", 1.0)], 7, false));
        assert!(!alike.arms[0].figures[0].claimed);
    }

    #[test]
    fn other_page_lists_are_named_unless_an_old_record_does_not_tell() {
        let with = |lru| {
            let mut table = series(&[("a", 1.0)], 7, false);
            table.machine.get_or_insert_default().lru = lru;
            table
        };
        let unlike = |a, b| SeriesVersus::between(&with(a), &with(b)).unlike;
        assert_eq!(unlike(Some(Lru::Classic), Some(Lru::Mglru)), ["page lists: classic and mglru"]);
        assert!(unlike(None, Some(Lru::Mglru)).is_empty());
    }

    #[test]
    fn emulated_seconds_are_not_compared_with_real_ones_but_counts_are() {
        let versus = SeriesVersus::between(&series(&[("a", 1.0)], 7, false), &series(&[("a", 9.0)], 7, true));
        let [wall, faults] = versus.arms[0].figures.as_slice() else { panic!("two figures") };
        assert_eq!((wall.versus.as_ref(), wall.claimed, faults.claimed), (None, false, true));
        assert_eq!(versus.unlike, ["processor: real and emulated"]);
    }
}
