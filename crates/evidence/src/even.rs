//! Figures of runs made comparable: work that is unequal per round, and CPU time that is too short to be split as one number.
//!
//! A run that the clock ended has done fewer rounds than the others, so its faults, refaults, bytes and seconds are divided by the
//! rounds it did (with the begun one's share). The kernel splits CPU time into user and system by what it meets at its ticks, 1 to
//! 10 ms apart: of a command of 4 ms that is chance, so below [`LEAST_FOR_SPLIT_S`] in any run of a series only the sum is shown.
//! Records keep what was counted.
//!
//! ```
//! use ramline_evidence::{Better, Figure, RunRecord, even};
//! let figures = vec![Figure::new("rounds", 2.5, "rounds", Better::Higher), Figure::new("major faults", 100.0, "faults", Better::Lower)];
//! let shown = even::figures(&[RunRecord { figures, ..RunRecord::default() }]);
//! assert_eq!((shown[0][1].name.as_str(), shown[0][1].value), ("major faults per round", 40.0));
//! ```

use crate::record::{Better, Figure, RunRecord};
use crate::work::{ROUNDS, TIME};

/// The least user and system time together (seconds) that may be split: five ticks of 10 ms.
pub const LEAST_FOR_SPLIT_S: f64 = 0.05;
/// What stands there instead.
pub const CPU_TIME: &str = "CPU time";

/// The figures of each record, in the order of the records.
#[must_use]
pub fn figures(records: &[RunRecord]) -> Vec<Vec<Figure>> {
    comparable(records.iter().map(|record| record.figures.clone()).collect())
}

/// The same of figures that stand for themselves, one list a run.
#[must_use]
pub fn comparable(mut all: Vec<Vec<Figure>>) -> Vec<Vec<Figure>> {
    let split_names = short_splits(&all);
    for figures in &mut all {
        for (user, system, together) in &split_names {
            join(figures, user, system, together);
        }
        each_round(figures);
    }
    all
}

/// User time, system time and the name of their sum, where a run of the series has less of both than may be split.
fn short_splits(all: &[Vec<Figure>]) -> Vec<(String, String, String)> {
    let mut found: Vec<(String, String, String)> = Vec::new();
    for figures in all {
        for user in figures {
            let Some((system, together)) = counterpart(&user.name) else { continue };
            let short =
                figures.iter().find(|f| f.name == system).is_some_and(|f| f.value + user.value < LEAST_FOR_SPLIT_S);
            if short && found.iter().all(|(known, ..)| *known != user.name) {
                found.push((user.name.clone(), system, together));
            }
        }
    }
    found
}

fn counterpart(user: &str) -> Option<(String, String)> {
    match user {
        "user" => Some(("system".to_owned(), CPU_TIME.to_owned())),
        "user time" => Some(("system time".to_owned(), CPU_TIME.to_owned())),
        _ => user.strip_suffix(": user").map(|of| (format!("{of}: system"), format!("{of}: {CPU_TIME}"))),
    }
}

fn join(figures: &mut Vec<Figure>, user: &str, system: &str, together: &str) {
    let Some(at) = figures.iter().position(|figure| figure.name == system) else { return };
    let rest = figures.remove(at).value;
    if let Some(figure) = figures.iter_mut().find(|figure| figure.name == user) {
        *figure = Figure::new(together, figure.value + rest, "s", Better::Lower);
    }
}

fn each_round(figures: &mut Vec<Figure>) {
    let Some(rounds) = figures.iter().find(|figure| figure.name == ROUNDS).map(|figure| figure.value) else { return };
    let stays = |figure: &Figure| figure.name == ROUNDS || figure.name == TIME;
    // Without a round there is none to divide by.
    figures.retain(|figure| rounds > 0.001 || stays(figure));
    for figure in figures.iter_mut().filter(|figure| !stays(figure)) {
        figure.value /= rounds;
        figure.name = each(&figure.name);
    }
}

/// The name of a figure when it stands for one round.
#[must_use]
pub fn each(name: &str) -> String {
    format!("{name} per round")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(figures: &[(&str, f64, &str)]) -> RunRecord {
        let figures =
            figures.iter().map(|(name, value, unit)| Figure::new(name, *value, unit, Better::Lower)).collect();
        RunRecord { figures, ..RunRecord::default() }
    }

    #[test]
    fn a_run_that_was_cut_short_is_compared_by_what_a_round_took() {
        let faults = |rounds, faults| record(&[("rounds", rounds, "rounds"), ("major faults", faults, "faults")]);
        let shown = figures(&[faults(2.48, 10_688.0), faults(4.0, 12_932.0), faults(0.0, 99.0)]);
        let value = |run: usize| shown[run].get(1).map(|figure| figure.value.round());
        assert_eq!([value(0), value(1), value(2)], [Some(4310.0), Some(3233.0), None]);
    }

    #[test]
    fn a_command_of_milliseconds_has_no_split_of_its_cpu_time_and_a_longer_one_has() {
        let short = record(&[("user", 0.000_029, "s"), ("system", 0.004_02, "s")]);
        let long = record(&[("user", 0.5, "s"), ("system", 0.25, "s")]);
        let names = |records: &[RunRecord]| {
            figures(records)
                .iter()
                .map(|run| run.iter().map(|f| f.name.clone()).collect())
                .collect::<Vec<Vec<String>>>()
        };
        assert_eq!(names(std::slice::from_ref(&long)), [["user", "system"]]);
        assert_eq!(names(&[short.clone(), long.clone()]), [["CPU time"], ["CPU time"]]);
        assert_eq!(figures(&[short, long])[1][0].value, 0.75);
    }
}
