//! What qualifies the runs of an arm, each kind of note once.

use std::collections::{BTreeMap, BTreeSet};

use crate::record::RunRecord;

/// What qualifies the runs: of notes that differ only in their numbers the one with the largest, and how many runs it is of.
pub fn of(runs: &[&RunRecord]) -> Vec<String> {
    let mut kinds: BTreeMap<String, BTreeSet<(u64, &str, usize)>> = BTreeMap::new();
    for (number, run) in runs.iter().enumerate() {
        for note in &run.notes {
            let kind = note.chars().filter(|c| !c.is_ascii_digit()).collect();
            let digits = note.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit);
            let first = digits.collect::<String>().parse().unwrap_or(0);
            kinds.entry(kind).or_default().insert((first, note, number));
        }
    }
    let told = |all: &BTreeSet<(u64, &str, usize)>| {
        let (_, note, _) = all.last()?;
        let (differ, numbers) = (all.iter().any(|(_, other, _)| other != note), all.iter().map(|one| one.2));
        let some = numbers.collect::<BTreeSet<usize>>().len();
        Some(match (some < runs.len(), differ) {
            (true, true) => format!("{note} ({some} of {} runs; this the most)", runs.len()),
            (true, false) => format!("{note} ({some} of {} runs)", runs.len()),
            (false, true) => format!("{note} (every run; this the most)"),
            (false, false) => (*note).to_owned(),
        })
    };
    kinds.values().filter_map(told).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notes_that_differ_in_numbers_are_one_with_the_largest() {
        let with = |notes: &[&str]| RunRecord {
            notes: notes.iter().map(|note| (*note).to_owned()).collect(),
            ..RunRecord::default()
        };
        let runs = [with(&["12 % of it left", "killed"]), with(&["killed"]), with(&["97 % of it left", "killed"])];
        let told = of(&runs.iter().collect::<Vec<_>>());
        assert_eq!(told, ["97 % of it left (2 of 3 runs; this the most)", "killed"]);
    }
}
