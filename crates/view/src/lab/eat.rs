//! What only eat-memory knows: memory over time, one run of each setting, and the columns of `free` with their formulas.
//!
//! Of the first run of each setting; the table over all runs stands before it.

use ramline_evidence::{ArmDetail, EatPoint, EatRun, FreeColumn, FreeGauges, SwapStart, Verdict, swap_starts};

use crate::prelude::*;

/// Rows of the table over time.
const ROWS: usize = 8;

/// All settings, one after the other; the columns of `free` for the first.
pub fn eaten(sheet: &mut Sheet, details: &[ArmDetail]) {
    let runs: Vec<(&ArmDetail, EatRun)> =
        details.iter().filter_map(|detail| Some((detail, EatRun::from_detail(&detail.detail)?))).collect();
    for (detail, run) in &runs {
        let whose = match run.limit {
            Some(_) => "the group as a machine",
            None => "free and avail of the machine, the rest of the group",
        };
        sheet.heading(format!("{}: memory over time (MiB, {whose})", detail.arm));
        over_time(sheet, run);
        sentences(detail, run).iter().for_each(|sentence| sheet.line(sentence));
    }
    began(sheet, &runs);
    if let Some((detail, run)) = runs.iter().find(|(_, run)| run.tree > Bytes::ZERO).or(runs.first()) {
        columns(sheet, &detail.arm, run);
    }
}

/// What `free` said against what was obtained, of the setting where they differ most; `None` where none obtained more.
pub fn headline(details: &[ArmDetail]) -> Option<String> {
    let runs = details.iter().filter_map(|detail| Some((detail, EatRun::from_detail(&detail.detail)?)));
    let times = |(_, run): &(&ArmDetail, EatRun)| run.times_free().unwrap_or_default();
    let (detail, run) = runs.max_by(|a, b| times(a).total_cmp(&times(b))).filter(|found| times(found) >= 1.1)?;
    let free = run.before()?.sandbox.free;
    Some(format!("`free` said {free}, and a program obtained {}: file cache made room ({}).", run.eaten, detail.arm))
}

fn mib(bytes: Bytes) -> String {
    format!("{:.1}", bytes.as_mib())
}

fn over_time(sheet: &mut Sheet, run: &EatRun) {
    let points = run.thinned(ROWS);
    let table = Table::from_rows(&points)
        .left("stage", |point| point.stage.word())
        .right("eaten", |point| mib(point.eaten))
        .right("free", |point| mib(point.sandbox.free))
        .right("cached", |point| mib(point.sandbox.cached))
        .right("avail", |point| point.sandbox.available.map(mib))
        .column(Column::right("anon").spare(), |point| mib(point.anon))
        .right("swap", |point| mib(point.sandbox.swap_used));
    sheet.table(table);
}

fn sentences(detail: &ArmDetail, run: &EatRun) -> Vec<String> {
    let mut out = Vec::new();
    let (Some(before), Some(last)) = (run.before(), run.last()) else { return out };
    // Less than was free was asked for: that says nothing.
    let times = run.times_free().filter(|times| *times >= 0.9).map(|times| match times {
        t if t < 10.0 => format!(", {t:.1} times as much"),
        t if t < 1000.0 => format!(", {t:.0} times as much"),
        _ => ", more than a thousand times as much".to_owned(),
    });
    let times = times.unwrap_or_default();
    let end = match &detail.verdict {
        Verdict::Killed(_) => "was obtained before the kill",
        _ => "was obtained",
    };
    out.push(format!("free said {}; {} {end}{times}.", before.sandbox.free, run.eaten));
    let (from, to) = (before.sandbox.cached, last.sandbox.cached);
    out.extend(run.taken().map(|taken| {
        let (fell, rose) = (taken.cached, taken.swapped);
        format!("Meanwhile cached fell by {fell}, from {from} to {to}, and swap rose by {rose}.")
    }));
    if let Some(again) = run.refilled() {
        let of = |point: &EatPoint| (point.sandbox.cached, point.sandbox.swap_used);
        let ((from, swap_from), (to, swap_to)) = (of(last), of(again));
        out.push(format!(
            "Reading the files again took cached from {from} to {to} and swap from {swap_from} to {swap_to}."
        ));
    }
    out
}

/// Where swapping began, setting by setting: what was still cached then is what the kernel preferred to keep.
fn began(sheet: &mut Sheet, runs: &[(&ArmDetail, EatRun)]) {
    let runs: Vec<(&str, &EatRun)> =
        runs.iter().filter(|(_, run)| run.has_swap()).map(|(detail, run)| (detail.arm.as_str(), run)).collect();
    if runs.is_empty() {
        return;
    }
    let began = |point: fn(&EatPoint) -> String| move |run: &EatRun| run.swapping_began().map(point);
    let (eaten, free) = (began(|at| at.eaten.to_string()), began(|at| at.sandbox.free.to_string()));
    let (stage, cached) = (began(|at| at.stage.word().to_owned()), began(|at| at.sandbox.cached.to_string()));
    let table = Table::from_rows(&runs)
        .wrapped("setting", |(setting, _)| *setting)
        .left("while", |(_, run)| stage(run).unwrap_or_else(|| "never".to_owned()))
        .right("eaten", |(_, run)| eaten(run))
        .right("free", |(_, run)| free(run))
        .right("still cached", |(_, run)| cached(run));
    sheet.headed_table("Where swapping began (the first look with 1 MiB swapped)", table);
    swap_starts(&runs).iter().for_each(|start| sheet.line(start_words(start)));
}

fn start_words(start: &SwapStart) -> String {
    let SwapStart { rest, without, first, uneven } = start;
    let what = if rest.is_empty() { String::new() } else { format!("With {rest}, ") };
    let runs = if *uneven { ", though not at every one above" } else { "" };
    format!("{what}swapping began between swappiness {without} and {first}{runs} (one run of each).")
}

/// Every column of `free` in the old and the new layout, before eating and at the last look.
fn columns(sheet: &mut Sheet, arm: &str, run: &EatRun) {
    let (Some(before), Some(last)) = (run.before(), run.last()) else { return };
    for (title, layout) in [
        ("old layout, procps up to 3.3.9", FreeGauges::old_layout as fn(&FreeGauges) -> Vec<FreeColumn>),
        ("new layout, procps from 3.3.10", FreeGauges::new_layout),
    ] {
        let (then, now) = (layout(&before.sandbox), layout(&last.sandbox));
        let table = Table::from_rows(then.iter().zip(&now))
            .left("column", |(then, _)| then.name)
            .wrapped("formula", |(then, _)| then.formula)
            .right("before", |(then, _)| mib(then.bytes))
            .right("at the end", |(_, now)| mib(now.bytes));
        sheet.headed_table(format!("{arm}: the columns of free ({title}; MiB)"), table);
    }
    sheet.dim(
        "Of a group: MemTotal is its limit, MemFree the limit less its usage, Cached all its page cache (block devices' included, so \
         Buffers is 0), MemAvailable free and both lists of file pages, as a group has no watermarks.",
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_evidence::EatStage;
    use ramline_sheet::Depth;
    use ramline_sheet::text::{Style, width};

    fn gauges(free: u64, cached: u64, swap: u64) -> FreeGauges {
        let mib = Bytes::from_mib;
        FreeGauges {
            total: mib(256),
            free: mib(free),
            cached: mib(cached),
            available: Some(mib(free + cached)),
            swap_total: mib(256),
            swap_used: mib(swap),
            ..FreeGauges::default()
        }
    }

    fn point(stage: EatStage, eaten: u64, sandbox: FreeGauges) -> EatPoint {
        EatPoint { stage, eaten: Bytes::from_mib(eaten), sandbox, ..EatPoint::default() }
    }

    fn run() -> EatRun {
        EatRun {
            limit: Some(Bytes::from_mib(256)),
            tree: Bytes::from_mib(224),
            eaten: Bytes::from_mib(200),
            points: vec![
                point(EatStage::Cache, 0, gauges(20, 224, 0)),
                point(EatStage::Eat, 200, gauges(1, 45, 6)),
                point(EatStage::Refill, 200, gauges(1, 46, 6)),
            ],
            ..EatRun::default()
        }
    }

    fn screen(width: usize) -> String {
        let detail = ArmDetail {
            arm: "cache+swap:60".to_owned(),
            verdict: Verdict::Completed,
            detail: serde_json::to_value(run()).unwrap(),
            ..ArmDetail::default()
        };
        let mut sheet = Sheet::new();
        eaten(&mut sheet, &[detail]);
        sheet.text(&Style { colour: false, width }, Depth::All)
    }

    #[test]
    fn the_screen_says_what_was_obtained_against_what_free_said() {
        let text = screen(100);
        assert!(text.contains("free said 20.0 MiB; 200.0 MiB was obtained, 10 times as much."), "{text}");
        assert!(
            text.contains("cached fell by 179.0 MiB, from 224.0 MiB to 45.0 MiB, and swap rose by 6.0 MiB"),
            "{text}"
        );
        assert!(text.contains("swap from 6.0 MiB to 6.0 MiB"), "{text}");
    }

    #[test]
    fn where_swapping_begins_is_told_with_what_else_the_settings_say() {
        let start = SwapStart { rest: "cache".to_owned(), without: 20, first: 60, uneven: false };
        assert_eq!(start_words(&start), "With cache, swapping began between swappiness 20 and 60 (one run of each).");
        let uneven = SwapStart { rest: String::new(), uneven: true, ..start };
        assert!(start_words(&uneven).starts_with("swapping began") && start_words(&uneven).contains("though not"));
    }

    #[test]
    fn every_column_of_both_layouts_has_its_formula() {
        let text = screen(100);
        for formula in ["free + buffers + cached", "MemTotal - MemAvailable", "Buffers + Cached + SReclaimable"] {
            assert!(text.contains(formula), "{formula}: {text}");
        }
    }

    #[test]
    fn a_narrow_terminal_loses_a_column_and_no_line_is_too_wide() {
        for columns in [60, 80] {
            let text = screen(columns);
            assert!(text.lines().all(|line| width(line) <= columns), "{text}");
            assert!(text.contains("stage  "), "rows stay rows: {text}");
        }
    }
}
