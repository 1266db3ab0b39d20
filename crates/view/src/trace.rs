//! `trace info` and `trace curve`: what a file of touches holds, and how much of it misses in a memory of each size.

use ramline_sheet::format;
use ramline_trace::curve::{CurvePoint, MissCurve};
use ramline_trace::summary::{CompressedSummary, RegionSummary, TouchesSummary};

use crate::prelude::*;

/// What stands where nothing is known.
const NONE: &str = "-";

impl Screen for TouchesSummary {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new();
        let holds = match (self.touches, self.epochs) {
            (0, 0) => "no touches".to_owned(),
            (0, _) => number::things(self.epochs, "epoch"),
            _ => {
                let (touches, size) = (number::things(self.touches, "touch"), format::size(self.distinct_size));
                format!("{touches} of {} ({size})", number::things(self.distinct_pages, "page"))
            }
        };
        match (self.whole, &self.damage) {
            (true, _) => sheet.answer(Paint::Good, format!("Whole: {holds}.")),
            (false, None) => sheet.answer(Paint::Warn, format!("Cut off: {holds} up to there.")),
            (false, Some(_)) => sheet.answer(Paint::Bad, format!("Damaged: {holds} before that.")),
        }
        sheet.painted(Paint::Bad, self.damage.as_ref().map(|damage| format!("The file: {damage}.")));
        let seed = self.seed.map(|seed| format!(", seed {seed}")).unwrap_or_default();
        let name = ramline_units::escape(&self.made_of);
        sheet.line(format!("Made by {}: {name}{seed}.", self.maker));
        if let Some(bytes) = self.bytes_per_touch {
            let size = format::size(self.file_size);
            sheet.line(format!(
                "{size}, {} bytes a touch; pages of {}.",
                format::digits(bytes),
                format::size(self.page_size)
            ));
        }
        sheet.blank();
        let share = self.write_share.map_or_else(|| NONE.to_owned(), format::percent);
        let mut rows = vec![
            ("loads", format::count(self.loads)),
            ("stores", format::count(self.stores)),
            ("read(2)", format::count(self.reads)),
            ("write(2)", format::count(self.writes)),
            ("touches that write", share),
            ("threads", format::count(self.threads)),
            ("rounds", format::count(self.rounds)),
            ("epochs", format::count(self.epochs)),
            ("changes of mappings", format::count(self.changes)),
        ];
        if self.epochs > 0 {
            rows.push(("epochs with reclaim", format::count(self.epochs_reclaimed)));
            rows.push(("epochs not complete", format::count(self.epochs_incomplete)));
        }
        rows.extend(self.resident_peak.map(|peak| ("resident at most", format::size(peak))));
        let of = if self.touches == 0 && self.epochs > 0 { "CPU time in epochs" } else { "CPU time between touches" };
        rows.push((of, format::latency(self.cpu)));
        sheet.table(Table::from_rows(&rows).left("", |row| row.0).right("", |row| row.1.clone()));
        let share = |one: &CompressedSummary| one.share.map_or_else(|| NONE.to_owned(), format::percent);
        if let Some(first) = self.compresses.first() {
            let table = Table::from_rows(&self.compresses)
                .left("algorithm", |one| one.algorithm.clone())
                .right("compressed to", share);
            sheet.headed_table(format!("A sample of {}", number::things(first.pages, "page")), table);
        }
        let table = Table::from_rows(&self.regions)
            .right("region", |region| u64::from(region.region))
            .left("memory", memory)
            .right("length", |region| format::size(region.length))
            .right("touches", |region| format::count(region.touches))
            .right("that write", |region| format::count(region.writes))
            .right("distinct pages", |region| format::count(region.distinct_pages))
            .right("in epochs", |region| format::count(region.epoch_pages));
        sheet.headed_table("Regions", table);
        sheet
    }
}

fn memory(region: &RegionSummary) -> String {
    let name = region.name.as_ref().map(|name| format!(" {}", ramline_units::escape(name))).unwrap_or_default();
    format!("{}{name}{}", region.memory, if region.executable { ", executable" } else { "" })
}

impl Screen for MissCurve {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new();
        let (touches, size) = (number::things(self.touches, "page touch"), format::size(self.distinct_size));
        let paint = if self.whole { Paint::Bold } else { Paint::Warn };
        let of = if self.whole { "" } else { "Cut off: " };
        sheet.answer(paint, format!("{of}{touches} of {} ({size}).", number::things(self.distinct_pages, "page")));
        sheet.blank();
        points(&mut sheet, &self.points);
        for (title, curve) in [("Memory alone", &self.memory), ("Files alone", &self.files)] {
            let Some(curve) = curve else { continue };
            sheet.heading(format!("{title}: {}", format::size(curve.distinct_size)));
            points(&mut sheet, &curve.points);
        }
        sheet.blank();
        let recorded = self.of_an_epoch.map(|size| {
            let size = format::size(size);
            format!("A recording: a touch is a page in an epoch, of which the longest has {size}. In a memory that is not several times as large, misses are uncertain.")
        });
        recorded.iter().for_each(|text| sheet.line(text));
        let too_many = self.points.iter().any(|point| point.belady_misses.is_none());
        sheet.dim(too_many.then_some("There are too many touches to find the least misses."));
        sheet.dim("LRU: plain LRU, exact. Least misses: Belady's choice, which knows the future. The first touch of each page misses too.");
        sheet
    }
}

fn points(sheet: &mut Sheet, points: &[CurvePoint]) {
    let ratio = |share: Option<f64>| share.map_or_else(|| NONE.to_owned(), format::percent);
    let table = Table::from_rows(points)
        .right("memory", |point| format::size(point.size))
        .right("of all pages", |point| ratio(point.share))
        .right("LRU misses", |point| format::count(point.lru_misses))
        .right("of touches", |point| ratio(point.lru_ratio))
        .right("least misses", least)
        .right("of touches", |point| ratio(point.belady_ratio));
    sheet.table(table);
}

fn least(point: &CurvePoint) -> String {
    point.belady_misses.map_or_else(|| NONE.to_owned(), format::count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_sheet::text::Style;

    fn summary() -> TouchesSummary {
        let region = RegionSummary { memory: "file".into(), name: Some("/a\x1bb".into()), ..RegionSummary::default() };
        TouchesSummary {
            whole: true,
            touches: 1_234_567,
            distinct_pages: 345,
            distinct_size: Bytes(345 * 4096),
            bytes_per_touch: Some(2.126),
            regions: vec![region],
            ..TouchesSummary::default()
        }
    }

    #[test]
    fn the_first_line_says_what_is_in_the_file_and_whether_it_is_whole() {
        let text = summary().text(&Style::default());
        assert!(text.starts_with("Whole: 1,234,567 touches of 345 pages (1.3\u{a0}MiB)."), "{text}");
        assert!(text.contains("2.13 bytes a touch") && !text.contains('\x1b'), "{text}");
        let cut = TouchesSummary { whole: false, ..summary() };
        assert!(cut.text(&Style::default()).starts_with("Cut off: 1,234,567 touches"));
        let damaged = TouchesSummary { damage: Some("it is damaged at byte 7: x".into()), ..cut };
        let text = damaged.text(&Style::default());
        assert!(text.starts_with("Damaged: 1,234,567") && text.contains("at byte 7"), "{text}");
    }

    #[test]
    fn a_curve_shows_lru_beside_the_least_there_can_be() {
        let point = CurvePoint {
            size: Bytes(4096 * 100),
            share: Some(0.5),
            lru_misses: 600,
            lru_ratio: Some(0.6),
            belady_misses: Some(400),
            belady_ratio: Some(0.4),
        };
        let curve =
            MissCurve { whole: true, touches: 1000, distinct_pages: 200, points: vec![point], ..MissCurve::default() };
        let text = curve.text(&Style::default());
        assert!(text.starts_with("1,000 page touches of 200 pages"), "{text}");
        let row = text.lines().find(|line| line.contains("400.0")).unwrap().replace('\u{a0}', " ");
        assert_eq!(row.split_whitespace().collect::<Vec<_>>().join(" "), "400.0 KiB 50.0 % 600 60.0 % 400 40.0 %");
    }
}
