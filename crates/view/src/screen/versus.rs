//! Two series side by side as a screen.

use ramline_evidence::{FigureVersus, Versus};

use super::series::{spread_of, value};
use crate::text::{Column, Page, Paint, Style, Table, number};

/// The screen: what may be claimed first, then every figure of both.
#[must_use]
pub fn versus(versus: &Versus, style: &Style) -> String {
    let mut page = Page::new(style);
    let (first, second) = &versus.experiments;
    page.bold(&if first == second { format!("{first}: first and second") } else { format!("{first} and {second}") });
    for fact in &versus.unlike {
        page.painted(Paint::Warn, &format!("They differ in {fact}."));
    }
    if versus.arms.is_empty() {
        page.line("No setting is in both.");
    }
    for (arm, figure) in versus.arms.iter().flat_map(|arm| arm.figures.iter().map(move |figure| (arm, figure))) {
        if let Some(comparison) = figure.versus.as_ref().filter(|_| figure.claimed) {
            page.point(&format!("  {}: ", arm.name), &format!("{}: {}.", figure.name, comparison.sentence()));
        }
    }
    for arm in &versus.arms {
        let [first, second] = [&arm.first_ended, &arm.second_ended].map(|ended| words(ended));
        if first != second {
            page.point(&format!("  {}: ", arm.name), &format!("its runs ended {first}, and {second}."));
        }
    }
    let claimed = versus.arms.iter().flat_map(|arm| &arm.figures).any(|figure| figure.claimed);
    if !claimed && !versus.arms.is_empty() {
        page.line(&none(versus));
    }
    table(&mut page, versus);
    for (which, names) in [("first", &versus.only_first), ("second", &versus.only_second)] {
        if !names.is_empty() {
            page.dim(&format!("Only in the {which}: {}.", names.join(", ")));
        }
    }
    page.finish()
}

/// Why nothing is claimed.
fn none(versus: &Versus) -> String {
    let ground = |figure: &FigureVersus| figure.versus.as_ref().map(|compared| compared.n.0.min(compared.n.1));
    let fewest = versus.arms.iter().flat_map(|arm| &arm.figures).filter_map(ground).min();
    match fewest {
        Some(n) if n < 6 => format!("No significant difference ({}; 6 are needed).", number::things(n, "run")),
        Some(n) => format!("No significant difference ({} each).", number::things(n, "run")),
        None => "Nothing in them can be compared.".to_owned(),
    }
}

fn table(page: &mut Page<'_>, versus: &Versus) {
    page.heading("All figures (median, and the interval over runs)");
    let mut drawn = Table::new(vec![
        Column::wrapped("setting"),
        Column::wrapped("figure"),
        Column::right("first"),
        Column::left("from, to"),
        Column::right("second"),
        Column::left("from, to"),
        Column::right("times"),
    ]);
    for arm in &versus.arms {
        for (index, figure) in arm.figures.iter().enumerate() {
            drawn.row(row(if index == 0 { &arm.name } else { "" }, figure));
        }
    }
    page.table(&drawn);
}

/// `completed 6, thrashing 1`.
fn words(ended: &[(String, u64)]) -> String {
    ended.iter().map(|(word, count)| format!("{word} {count}")).collect::<Vec<_>>().join(", ")
}

fn row(arm: &str, figure: &FigureVersus) -> [crate::text::Cell; 7] {
    let times = match &figure.versus {
        None => "not compared".to_owned(),
        Some(comparison) => comparison.ratio_of_medians.map(|ratio| format!("{ratio:.2}")).unwrap_or_default(),
    };
    let show = |m: &ramline_evidence::Measurement| value(m.median, &m.unit, false);
    [
        arm.into(),
        figure.name.as_str().into(),
        show(&figure.first).into(),
        spread_of(&figure.first).into(),
        show(&figure.second).into(),
        spread_of(&figure.second).into(),
        times.into(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_evidence::{Arm, Better, Figure, RunRecord, SeriesTable};

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
            SeriesTable::of(&runs).unwrap()
        };
        let text = versus(&Versus::of(&series(1.0, false), &series(3.0, true)), &Style::default());
        assert!(text.contains("They differ in processor: real and emulated."), "{text}");
        assert!(text.contains("cold: faults: 3.0 times as much (7 runs each, 95 % intervals apart"), "{text}");
        assert!(text.contains("not compared"), "{text}");
        let same = versus(&Versus::of(&series(1.0, false), &series(1.0, false)), &Style::default());
        assert!(same.contains("No significant difference (7 runs each)."), "{same}");
    }
}
