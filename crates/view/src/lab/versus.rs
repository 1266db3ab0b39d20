//! Two series side by side as a sheet: what may be claimed first, then every figure of both.

use ramline_evidence::{FigureVersus, Measurement, SeriesVersus};

use super::series::{endings, spread_of};
use crate::prelude::*;

/// The sheet. It has no answer: the difference that matters most is the headline of both series in one table.
#[must_use]
pub fn versus_sheet(versus: &SeriesVersus) -> Sheet {
    let mut sheet = Sheet::new();
    let (first, second) = &versus.experiments;
    sheet.painted(
        Paint::Bold,
        if first == second { format!("{first}: first and second") } else { format!("{first} and {second}") },
    );
    versus.unlike.iter().for_each(|fact| sheet.warn(format!("They differ in {fact}.")));
    sheet.line(versus.arms.is_empty().then_some("No setting is in both."));
    for (arm, figure) in versus.arms.iter().flat_map(|arm| arm.figures.iter().map(move |figure| (arm, figure))) {
        if let Some(comparison) = figure.versus.as_ref().filter(|_| figure.claimed) {
            sheet.point(&format!("  {}: ", arm.name), format!("{}: {}.", figure.name, comparison.sentence()));
        }
    }
    for arm in &versus.arms {
        let [first, second] = [&arm.first_ended, &arm.second_ended].map(|ended| endings(ended));
        if first != second {
            sheet.point(&format!("  {}: ", arm.name), format!("its runs ended {first}, and {second}."));
        }
    }
    let claimed = versus.arms.iter().flat_map(|arm| &arm.figures).any(|figure| figure.claimed);
    if !claimed && !versus.arms.is_empty() {
        sheet.line(none(versus));
    }
    table(&mut sheet, versus);
    for (which, names) in [("first", &versus.only_first), ("second", &versus.only_second)] {
        if !names.is_empty() {
            sheet.dim(format!("Only in the {which}: {}.", names.join(", ")));
        }
    }
    sheet
}

/// Why nothing is claimed.
fn none(versus: &SeriesVersus) -> String {
    let ground = |figure: &FigureVersus| figure.versus.as_ref().map(|compared| compared.n.0.min(compared.n.1));
    let fewest = versus.arms.iter().flat_map(|arm| &arm.figures).filter_map(ground).min();
    match fewest {
        Some(n) if n < 6 => format!("No significant difference ({}; 6 are needed).", number::things(n, "run")),
        Some(n) => format!("No significant difference ({} each).", number::things(n, "run")),
        None => "Nothing in them can be compared.".to_owned(),
    }
}

fn table(sheet: &mut Sheet, versus: &SeriesVersus) {
    let show = |m: &Measurement| value(m.median, &m.unit, false);
    let times = |figure: &FigureVersus| match &figure.versus {
        None => Some("not compared".to_owned()),
        Some(comparison) => comparison.ratio_of_medians.map(|ratio| format!("{ratio:.2}")),
    };
    let named = |(index, figure), arm| (if index == 0 { arm } else { "" }, figure);
    let rows = versus.arms.iter().flat_map(|arm| arm.figures.iter().enumerate().map(move |it| named(it, &arm.name)));
    let drawn = Table::from_rows(rows)
        .wrapped("setting", |(arm, _)| arm)
        .wrapped("figure", |(_, figure)| &figure.name)
        .right("first", |(_, figure)| show(&figure.first))
        .column(Column::left("from, to").spare(), |(_, figure)| spread_of(&figure.first))
        .right("second", |(_, figure)| show(&figure.second))
        .column(Column::left("from, to").spare(), |(_, figure)| spread_of(&figure.second))
        .right("times", |(_, figure)| times(figure));
    sheet.heading("All figures (median, and the interval over runs)");
    sheet.table(drawn);
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_evidence::{Arm, Better, Figure, RunRecord, SeriesTable};
    use ramline_sheet::Depth;
    use ramline_sheet::text::Style;

    #[test]
    fn claims_come_first_and_what_cannot_be_compared_says_so() {
        let series = |wall: f64, emulated: bool| {
            let runs: Vec<RunRecord> = (0..7)
                .map(|i| RunRecord {
                    experiment: "cold-warm".to_owned(),
                    arm: Arm::named("cold", &[]),
                    figures: vec![
                        Figure::new("wall", wall + 0.01 * f64::from(i), "s", Better::Lower),
                        Figure::new("faults", wall * 100.0, "faults", Better::Lower),
                    ],
                    emulated,
                    ..RunRecord::default()
                })
                .collect();
            SeriesTable::from_records(&runs).unwrap()
        };
        let text = |first: &SeriesTable, second: &SeriesTable| {
            versus_sheet(&SeriesVersus::between(first, second)).text(&Style::default(), Depth::All)
        };
        let both = text(&series(1.0, false), &series(3.0, true));
        assert!(both.contains("They differ in processor: real and emulated."), "{both}");
        assert!(both.contains("cold: faults: 3.0 times as much (7 runs each, 95 % intervals apart"), "{both}");
        assert!(both.contains("not compared"), "{both}");
        let same = text(&series(1.0, false), &series(1.0, false));
        assert!(same.contains("No significant difference (7 runs each)."), "{same}");
    }
}
