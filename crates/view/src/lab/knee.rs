//! The knee of a command: the answer as an interval, then every limit that was tried.

use ramline_evidence::knee::{Knee, LimitVerdict, Probe};

use super::series::head;
use crate::prelude::*;

/// The sheet; `table` is the study of the same records.
#[must_use]
pub fn knee_sheet(knee: &Knee, table: &SeriesTable) -> Sheet {
    let mut sheet = Sheet::new();
    let paint = if knee.enough.is_some() { Paint::Good } else { Paint::Warn };
    sheet.answer(paint, format!("{}.", knee.sentence()));
    sheet.dim(head(table));
    if let Some(free) = &knee.unlimited {
        let peak = knee.unlimited_peak.map(|peak| format!(", using up to {peak}, page cache included"));
        let (median, runs) = (number::seconds(free.median), number::things(free.n, "run"));
        let (range, peak) = (number::interval(free.min, free.max, "s"), peak.unwrap_or_default());
        sheet.line(format!("Without a limit: {median} (median of {runs}, {range}){peak}."));
    }
    sheet.heading("Limits that were tried");
    sheet.table(limits(knee));
    let notes = table.arms.iter().flat_map(|arm| &arm.notes).filter(|note| !knee.doubts.contains(note));
    let doubts: Vec<&String> = knee.doubts.iter().chain(crate::once::once(notes)).collect();
    if !doubts.is_empty() {
        sheet.blank();
    }
    doubts.iter().for_each(|doubt| sheet.point("  - ", *doubt));
    sheet
}

/// Every limit with its time, also as a bar: the bend is the answer.
fn limits(knee: &Knee) -> Table<(&Probe, Option<f64>)> {
    let word = |probe: &Probe| {
        let (word, paint) = word(probe.judged);
        Cell::painted(paint, word)
    };
    let range = |(low, high)| format!("{} to {}", number::figure(low), number::figure(high));
    Table::from_rows(knee.probes.iter().zip(knee.shares()))
        .right("limit", |(probe, _)| probe.limit)
        .right("runs", |(probe, _)| probe.n.to_string())
        .left("judged", |(probe, _)| word(probe))
        .right("x unlimited", |(probe, _)| probe.ratio.map_or_else(|| "did not end".to_owned(), number::figure))
        .bar(|(_, share)| share)
        .column(Column::left("range").spare(), |(probe, _)| probe.range.map(range))
        .column(Column::right("read again").spare(), |(probe, _)| probe.reread)
        .wrapped("ended", |(probe, _)| ended(probe))
}

const fn word(judged: LimitVerdict) -> (&'static str, Paint) {
    match judged {
        LimitVerdict::Enough => ("enough", Paint::Good),
        LimitVerdict::TooSmall => ("too small", Paint::Bad),
        LimitVerdict::Between => ("undecided", Paint::Warn),
        LimitVerdict::Open => ("not finished", Paint::Dim),
    }
}

fn ended(probe: &Probe) -> String {
    let parts = [
        (probe.completed(), "completed"),
        (probe.killed, "killed"),
        (probe.failed, "failed"),
        (probe.late, "given up"),
    ];
    let parts = parts.into_iter().filter(|(n, _)| *n > 0);
    parts.map(|(n, what)| format!("{what} {n}")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_evidence::Measurement;
    use ramline_evidence::knee::KneeAsked;
    use ramline_sheet::Depth;
    use ramline_sheet::text::{Style, width};
    use ramline_units::Bytes;

    #[test]
    fn the_answer_comes_first_and_every_limit_after_it() {
        let probe = |mib, judged, ratio: Option<f64>, killed| Probe {
            limit: Bytes::from_mib(mib),
            n: 3,
            killed,
            failed: 0,
            late: 0,
            ratio,
            reread: Some(Bytes::from_mib(7)),
            range: ratio.map(|r| (r, r)),
            judged,
        };
        let found = Knee {
            asked: KneeAsked { within: 0.1, ..KneeAsked::default() },
            unlimited: Measurement::from_values(&[1.0, 1.1, 0.9], "s", "", &[]),
            probes: vec![probe(40, LimitVerdict::TooSmall, None, 3), probe(42, LimitVerdict::Enough, Some(1.02), 0)],
            too_small: Some(Bytes::from_mib(40)),
            enough: Some(Bytes::from_mib(42)),
            monotonic: true,
            ..Knee::default()
        };
        let text =
            |width| knee_sheet(&found, &SeriesTable::default()).text(&Style { colour: false, width }, Depth::All);
        let wide = text(100);
        let at = |what: &str| wide.find(what).unwrap_or_else(|| panic!("{what} is not in\n{wide}"));
        assert!(
            at("42.0 MiB is surely enough to stay within 10 % of the unlimited time, 40.0 MiB surely is not.")
                < at("too small")
        );
        assert!(wide.contains("killed 3") && wide.contains("did not end") && wide.contains("1.02"), "{wide}");
        assert!(wide.contains("##########"), "the longest time has the longest bar: {wide}");
        let narrow = text(60);
        assert!(narrow.lines().all(|line| width(line) <= 60), "{narrow}");
        assert!(narrow.contains("limit  runs") && !narrow.contains("range"), "rows stay rows: {narrow}");
    }
}
