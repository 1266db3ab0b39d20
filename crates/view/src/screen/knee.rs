//! The knee of a command: the answer as an interval, then every limit that was tried.
//!
//! What it is not: the search; that is [`Knee`] itself, a function of records.

use ramline_evidence::SeriesTable;
use ramline_evidence::knee::{Judged, Knee, Probe};

use super::series::head;
use crate::text::{Cell, Column, Page, Paint, Style, Table, bar, number};

/// The screen.
#[must_use]
pub fn knee(knee: &Knee, table: &SeriesTable, style: &Style) -> String {
    let mut page = Page::new(style);
    page.painted(if knee.enough.is_some() { Paint::Good } else { Paint::Warn }, &format!("{}.", knee.sentence()));
    page.dim(&head(table));
    if let Some(free) = &knee.unlimited {
        let peak =
            knee.unlimited_peak.map(|peak| format!(", using up to {peak}, page cache included")).unwrap_or_default();
        page.line(&format!(
            "Without a limit: {} (median of {}, {}){peak}.",
            number::seconds(free.median),
            number::things(free.n, "run"),
            number::interval(free.min, free.max, "s")
        ));
    }
    page.heading("Limits that were tried");
    // The range is left out first where there is no room.
    let roomy = style.width >= 90;
    let mut columns = vec![Column::right("limit"), Column::right("runs"), Column::left("judged")];
    columns.push(Column::right(if roomy { "times the unlimited time" } else { "ratio" }));
    columns.extend(roomy.then(|| Column::left("range")));
    columns.push(Column::left("ended"));
    let mut limits = Table::new(columns);
    for probe in &knee.probes {
        let (word, paint) = word(probe.judged);
        let mut cells: Vec<Cell> = vec![
            probe.limit.to_string().into(),
            probe.n.to_string().into(),
            Cell::painted(paint, word),
            probe.ratio.map(number::figure).unwrap_or_default().into(),
        ];
        if roomy {
            let range = probe.range.map(|(low, high)| format!("{} to {}", number::figure(low), number::figure(high)));
            cells.push(range.unwrap_or_default().into());
        }
        cells.push(ended(probe).into());
        limits.cells(cells);
    }
    page.table(&limits);
    bars(&mut page, knee);
    let mut doubts = knee.doubts.clone();
    for note in table.arms.iter().flat_map(|arm| &arm.notes) {
        if !doubts.contains(note) {
            doubts.push(note.clone());
        }
    }
    if !doubts.is_empty() {
        page.blank();
    }
    doubts.iter().for_each(|doubt| page.point("  - ", doubt));
    page.finish()
}

const fn word(judged: Judged) -> (&'static str, Paint) {
    match judged {
        Judged::Enough => ("enough", Paint::Good),
        Judged::TooSmall => ("too small", Paint::Bad),
        Judged::Between => ("undecided", Paint::Warn),
        Judged::Open => ("not finished", Paint::Dim),
    }
}

fn ended(probe: &Probe) -> String {
    let mut parts = Vec::new();
    let mut add = |n: usize, what: &str| {
        if n > 0 {
            parts.push(format!("{what} {n}"));
        }
    };
    add(probe.n.saturating_sub(probe.killed).saturating_sub(probe.late), "completed");
    add(probe.killed, "killed");
    add(probe.late, "given up");
    parts.join(", ")
}

/// Time over limit: the bend is the answer.
fn bars(page: &mut Page<'_>, knee: &Knee) {
    let most = knee.probes.iter().filter_map(|probe| probe.ratio).fold(0.0, f64::max);
    if most <= 0.0 {
        return;
    }
    page.heading("Time, in unlimited times");
    let width = knee.probes.iter().map(|probe| probe.limit.to_string().chars().count()).max().unwrap_or(0);
    let lines = knee.probes.iter().map(|probe| {
        let label = format!("  {:>width$}  ", probe.limit.to_string());
        match probe.ratio {
            Some(ratio) => format!("{label}{} {}", bar(ratio / most, 40), number::figure(ratio)),
            None => format!("{label}did not end"),
        }
    });
    page.raw(&lines.collect::<Vec<_>>());
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_evidence::Measurement;
    use ramline_evidence::knee::Asked;
    use ramline_units::Bytes;

    #[test]
    fn the_answer_comes_first_and_every_limit_after_it() {
        let probe = |mib, judged, ratio: Option<f64>, killed| Probe {
            limit: Bytes::from_mib(mib),
            n: 3,
            killed,
            late: 0,
            ratio,
            range: ratio.map(|r| (r, r)),
            judged,
        };
        let found = Knee {
            asked: Asked { within: 0.1, ..Asked::default() },
            unlimited: Measurement::of(&[1.0, 1.1, 0.9], "s", "", &[]),
            probes: vec![probe(40, Judged::TooSmall, None, 3), probe(42, Judged::Enough, Some(1.02), 0)],
            too_small: Some(Bytes::from_mib(40)),
            enough: Some(Bytes::from_mib(42)),
            monotonic: true,
            ..Knee::default()
        };
        let text = knee(&found, &SeriesTable::default(), &Style::default());
        let at = |what: &str| text.find(what).unwrap_or_else(|| panic!("{what} is not in\n{text}"));
        assert!(
            at("42.0 MiB is surely enough to stay within 10 % of the unlimited time, 40.0 MiB surely is not.")
                < at("too small")
        );
        assert!(text.contains("killed 3") && text.contains("did not end") && text.contains("1.02"), "{text}");
    }
}
