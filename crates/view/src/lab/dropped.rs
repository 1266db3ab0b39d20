//! What only drop knows: five kinds of pages at four looks, and the machine before and after, of one run of each level.
//!
//! Of the first run of each level; the table over all runs stands before it.

use ramline_evidence::{ArmDetail, DropBalance, DropKind, DropRun, DropStage};

use crate::prelude::*;

/// All levels, one after the other.
pub fn dropped(sheet: &mut Sheet, details: &[ArmDetail]) {
    for detail in details {
        let Some(run) = DropRun::from_detail(&detail.detail) else { continue };
        sheet.heading(format!("{}: pages of our own in memory, {} in each file", detail.arm, number::count(run.pages)));
        pages(sheet, &run);
        for kind in DropKind::ALL {
            sheet.point(&format!("  {}: ", kind.word()), run.fate(kind).map(|fate| format!("{fate}.")));
        }
        machine(sheet, &detail.arm, &run);
    }
}

fn pages(sheet: &mut Sheet, run: &DropRun) {
    let cached = |stage| move |kind| run.cached(kind, stage);
    let table = Table::from_rows(DropKind::ALL)
        .left("kind", |kind| kind.word())
        .right("before", cached(DropStage::Before))
        .right("dropped", cached(DropStage::Dropped))
        .right("written+dropped", cached(DropStage::Written))
        .right("pressed", cached(DropStage::Pressed));
    sheet.table(table);
}

fn machine(sheet: &mut Sheet, arm: &str, run: &DropRun) {
    let moved = run.machine();
    if moved.is_empty() {
        return;
    }
    let table = Table::from_rows(&moved)
        .wrapped("column", |row| row.name)
        .right("before", |row| row.before)
        .right("after", |row| row.after)
        .right("change", |row| number::moved(row.change));
    sheet.headed_table(format!("{arm}: the whole machine"), table);
    sheet.line(run.balance().map(sentence));
}

fn sentence(balance: DropBalance) -> String {
    let DropBalance { gone, more, less } = balance;
    let moved = if more >= less { format!("grew by {more}") } else { format!("shrank by {less}") };
    let sum = "the sum of free, lists of CPUs, buffers, cached and slab";
    match balance.part() {
        Some(part) if balance.tells() => format!(
            "{gone} left the caches, and {sum} {moved}, {} of that: what was dropped had been available all along.",
            number::percent(part)
        ),
        _ => format!(
            "Only {gone} left the caches, and {sum} {moved}: other programs went on meanwhile, so this run tells little."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_evidence::{DropLook, FreeGauges, KindCount};
    use ramline_sheet::Depth;
    use ramline_sheet::text::{Style, width};
    use ramline_units::Bytes;

    fn look(stage: DropStage, counts: [u64; 5], free: u64, cached: u64) -> DropLook {
        let kinds = DropKind::ALL
            .into_iter()
            .zip(counts)
            .map(|(kind, cached)| KindCount { kind, cached, by_mincore: cached, ..KindCount::default() })
            .collect();
        let mib = Bytes::from_mib;
        let host = FreeGauges { free: mib(free), cached: mib(cached), ..FreeGauges::default() };
        DropLook { stage, kinds, host, ..DropLook::default() }
    }

    #[test]
    fn the_screen_says_what_stayed_and_that_the_sum_is_level() {
        let run = DropRun {
            level: 1,
            pages: 4096,
            looks: vec![
                look(DropStage::Before, [4096; 5], 33, 801),
                look(DropStage::Dropped, [0, 4096, 4096, 4096, 4096], 700, 134),
            ],
        };
        let detail =
            ArmDetail { arm: "level 1".to_owned(), detail: serde_json::to_value(run).unwrap(), ..ArmDetail::default() };
        let mut sheet = Sheet::new();
        dropped(&mut sheet, &[detail]);
        let text = sheet.text(&Style::default(), Depth::All);
        assert!(text.contains("clean: all 4096 pages went."), "{text}");
        assert!(text.contains("mapped: all 4096 pages stayed."), "{text}");
        assert!(text.contains("+667.0 MiB") && text.contains("-667.0 MiB"), "{text}");
        assert!(text.contains("had been available all along"), "{text}");
        let narrow = sheet.text(&Style { colour: false, width: 60 }, Depth::All);
        assert!(narrow.lines().all(|line| width(line) <= 60) && narrow.contains("column  "), "{narrow}");
        let little = DropBalance { gone: Bytes::from_mib(10), more: Bytes::ZERO, less: Bytes::from_mib(80) };
        assert!(sentence(little).contains("shrank by 80.0 MiB: other programs went on"), "{}", sentence(little));
    }
}
