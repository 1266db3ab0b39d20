//! What only drop knows: five kinds of pages at four looks, and the machine before and after, of one run of each level.
//!
//! What it is: of the first run of each level. What it is not: the table over all runs, which stands before it.

use ramline_evidence::{ArmDetail, Balance, DropKind, DropLook, DropRun, DropStage};
use ramline_units::Bytes;

use crate::text::{Cell, Column, Page, Table, number};

/// All levels, one after the other.
pub fn dropped(page: &mut Page<'_>, details: &[ArmDetail]) {
    for detail in details {
        let Some(run) = DropRun::of(&detail.detail) else { continue };
        page.heading(&format!("{}: pages of our own in memory, {} in each file", detail.arm, number::count(run.pages)));
        pages(page, &run);
        for kind in DropKind::ALL {
            if let Some(fate) = run.fate(kind) {
                page.point(&format!("  {}: ", kind.word()), &format!("{fate}."));
            }
        }
        machine(page, &detail.arm, &run);
    }
}

fn pages(page: &mut Page<'_>, run: &DropRun) {
    let mut drawn = Table::new(vec![
        Column::left("kind"),
        Column::right("before"),
        Column::right("dropped"),
        Column::right("written+dropped"),
        Column::right("pressed"),
    ]);
    for kind in DropKind::ALL {
        let cell = |stage| -> Cell { run.cached(kind, stage).map_or_else(String::new, number::count).into() };
        drawn.row([
            kind.word().into(),
            cell(DropStage::Before),
            cell(DropStage::Dropped),
            cell(DropStage::Written),
            cell(DropStage::Pressed),
        ]);
    }
    page.table(&drawn);
}

fn machine(page: &mut Page<'_>, arm: &str, run: &DropRun) {
    let (Some(before), Some(after)) = (run.look(DropStage::Before), run.look(DropStage::Dropped)) else { return };
    page.heading(&format!("{arm}: the whole machine"));
    let mut drawn = Table::new(vec![
        Column::left("column"),
        Column::right("before"),
        Column::right("after"),
        Column::right("change"),
    ]);
    let mut row = |name: &str, what: &dyn Fn(&DropLook) -> Bytes| {
        let (then, now) = (what(before), what(after));
        let change = if now >= then { format!("+{}", now - then) } else { format!("-{}", then - now) };
        drawn.row([name.into(), then.to_string().into(), now.to_string().into(), change.into()]);
    };
    row("free", &|look| look.host.free);
    row("buffers", &|look| look.host.buffers);
    row("cached", &|look| look.host.cached);
    row("free + buffers + cached", &|look| look.host.free_with_cache());
    row("slab", &|look| look.slab);
    row("free, in lists of CPUs", &|look| look.cpu_lists);
    row("shmem (inside cached)", &|look| look.host.shmem);
    if before.inodes.is_some() {
        row("ext4 inodes in use", &|look| look.inodes.unwrap_or_default());
    }
    if before.entries.is_some() {
        row("directory entries in use", &|look| look.entries.unwrap_or_default());
    }
    page.table(&drawn);
    if let Some(balance) = run.balance() {
        page.line(&sentence(balance));
    }
}

fn sentence(balance: Balance) -> String {
    let Balance { gone, more, less } = balance;
    let moved = if more >= less { format!("grew by {more}") } else { format!("shrank by {less}") };
    let sum = "the sum of free, lists of CPUs, buffers, cached and slab";
    match balance.share() {
        Some(share) if balance.tells() => format!(
            "{gone} left the caches, and {sum} {moved}, {} of that: what was dropped had been available all along.",
            number::percent(share.abs())
        ),
        _ => format!(
            "Only {gone} left the caches, and {sum} {moved}: other programs went on meanwhile, so this run tells little."
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Style;
    use ramline_evidence::{FreeGauges, KindCount};

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
        let style = Style::default();
        let mut page = Page::new(&style);
        dropped(&mut page, &[detail]);
        let text = page.finish();
        assert!(text.contains("clean: all 4096 pages went."), "{text}");
        assert!(text.contains("mapped: all 4096 pages stayed."), "{text}");
        assert!(text.contains("+667.0 MiB") && text.contains("-667.0 MiB"), "{text}");
        assert!(text.contains("had been available all along"), "{text}");
        let little = Balance { gone: Bytes::from_mib(10), more: Bytes::ZERO, less: Bytes::from_mib(80) };
        assert!(sentence(little).contains("shrank by 80.0 MiB: other programs went on"), "{}", sentence(little));
    }
}
