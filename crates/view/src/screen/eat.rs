//! What only eat-memory knows: memory over time, one run of each arm, and the columns of `free` with their formulas.
//!
//! What it is: of the first run of each arm. What it is not: the table over all runs, which stands before it.

use ramline_evidence::{ArmDetail, EatPoint, EatRun, FreeColumn, FreeGauges, Verdict};
use ramline_units::Bytes;

use crate::text::{Cell, Column, Page, Table};

/// Rows of the table over time.
const ROWS: usize = 8;

/// All arms, one after the other; the columns of `free` for the first.
pub fn eaten(page: &mut Page<'_>, details: &[ArmDetail]) {
    let runs: Vec<(&ArmDetail, EatRun)> =
        details.iter().filter_map(|detail| Some((detail, EatRun::of(&detail.detail)?))).collect();
    for (detail, run) in &runs {
        let whose = match run.limit {
            Some(_) => "the group as a machine",
            None => "free and avail of the machine, the rest of the group",
        };
        page.heading(&format!("{}: memory over time (MiB, {whose})", detail.arm));
        over_time(page, run);
        for sentence in sentences(detail, run) {
            page.line(&sentence);
        }
    }
    began(page, &runs);
    if let Some((detail, run)) = runs.iter().find(|(_, run)| run.tree > Bytes::ZERO).or(runs.first()) {
        columns(page, &detail.arm, run);
    }
}

fn mib(bytes: Bytes) -> String {
    format!("{:.1}", bytes.as_mib())
}

fn over_time(page: &mut Page<'_>, run: &EatRun) {
    let mut drawn = Table::new(vec![
        Column::left("stage"),
        Column::right("eaten"),
        Column::right("free"),
        Column::right("cached"),
        Column::right("avail"),
        Column::right("anon"),
        Column::right("swap"),
    ]);
    for point in run.thinned(ROWS) {
        let seen = &point.sandbox;
        drawn.row([
            point.stage.word().into(),
            mib(point.eaten).into(),
            mib(seen.free).into(),
            mib(seen.cached).into(),
            seen.available.map(mib).unwrap_or_default().into(),
            mib(point.anon).into(),
            mib(seen.swap_used).into(),
        ]);
    }
    page.table(&drawn);
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
    if before.sandbox.cached > last.sandbox.cached {
        let gone = before.sandbox.cached - last.sandbox.cached;
        let swapped = last.sandbox.swap_used.saturating_sub(before.sandbox.swap_used);
        out.push(format!(
            "Meanwhile cached fell by {gone}, from {} to {}, and swap rose by {swapped}.",
            before.sandbox.cached, last.sandbox.cached
        ));
    }
    if let Some(again) = run.refilled() {
        let of = |point: &EatPoint| (point.sandbox.cached, point.sandbox.swap_used);
        let ((from, swap_from), (to, swap_to)) = (of(last), of(again));
        out.push(format!(
            "Reading the files again took cached from {from} to {to} and swap from {swap_from} to {swap_to}."
        ));
    }
    out
}

/// Where swapping began, arm by arm: what was still cached then is what the kernel preferred to keep.
fn began(page: &mut Page<'_>, runs: &[(&ArmDetail, EatRun)]) {
    let swaps = |run: &EatRun| run.points.iter().any(|point| point.sandbox.swap_total > Bytes::ZERO);
    let runs: Vec<_> = runs.iter().filter(|(_, run)| swaps(run)).collect();
    if runs.is_empty() {
        return;
    }
    page.heading("Where swapping began (the first look with 1 MiB swapped)");
    let mut drawn = Table::new(vec![
        Column::wrapped("setting"),
        Column::left("while"),
        Column::right("eaten"),
        Column::right("free"),
        Column::right("still cached"),
    ]);
    for (detail, run) in &runs {
        let mut cells: Vec<Cell> = vec![detail.arm.as_str().into()];
        match run.swapping_began() {
            None => cells.push("never".into()),
            Some(point) => cells.extend([
                point.stage.word().into(),
                point.eaten.to_string().into(),
                point.sandbox.free.to_string().into(),
                point.sandbox.cached.to_string().into(),
            ]),
        }
        drawn.cells(cells);
    }
    page.table(&drawn);
    for sentence in between(&runs) {
        page.line(&sentence);
    }
}

/// Of arms that differ in swappiness only: the largest without swapping, and the smallest with.
fn between(runs: &[&(&ArmDetail, EatRun)]) -> Vec<String> {
    let mut series: Vec<(String, Vec<(u32, bool)>)> = Vec::new();
    for (detail, run) in runs {
        let value = detail.arm.split('+').find_map(|part| part.strip_prefix("swap:")?.parse().ok());
        let Some(value) = value else { continue };
        let rest: Vec<&str> = detail.arm.split('+').filter(|part| !part.starts_with("swap:")).collect();
        let rest = rest.join("+");
        let began = (value, run.swapping_began().is_some());
        match series.iter_mut().find(|(name, _)| *name == rest) {
            Some((_, all)) => all.push(began),
            None => series.push((rest, vec![began])),
        }
    }
    let sentence = |(rest, all): &(String, Vec<(u32, bool)>)| {
        let first = all.iter().filter(|(_, began)| *began).map(|(value, _)| *value).min()?;
        let below = all.iter().filter(|(value, began)| !began && *value < first).map(|(value, _)| *value).max()?;
        let odd = all.iter().any(|(value, began)| !began && *value > first);
        let what = if rest.is_empty() { String::new() } else { format!("With {rest}, ") };
        let runs = if odd { ", though not at every one above" } else { "" };
        Some(format!("{what}swapping began between swappiness {below} and {first}{runs} (one run of each)."))
    };
    series.iter().filter_map(sentence).collect()
}

/// Every column of `free` in the old and the new layout, before eating and at the last look.
fn columns(page: &mut Page<'_>, arm: &str, run: &EatRun) {
    let (Some(before), Some(last)) = (run.before(), run.last()) else { return };
    for (title, layout) in [
        ("old layout, procps up to 3.3.9", FreeGauges::old_layout as fn(&FreeGauges) -> Vec<FreeColumn>),
        ("new layout, procps from 3.3.10", FreeGauges::new_layout),
    ] {
        page.heading(&format!("{arm}: the columns of free ({title}; MiB)"));
        let mut drawn = Table::new(vec![
            Column::left("column"),
            Column::wrapped("formula"),
            Column::right("before"),
            Column::right("at the end"),
        ]);
        for (then, now) in layout(&before.sandbox).iter().zip(layout(&last.sandbox)) {
            drawn.row([then.name.into(), then.formula.into(), mib(then.bytes).into(), mib(now.bytes).into()]);
        }
        page.table(&drawn);
    }
    page.dim(
        "Of a group: MemTotal is its limit, MemFree the limit less its usage, Cached all its page cache (block devices' included, so \
         Buffers is 0), MemAvailable free and both lists of file pages, as a group has no watermarks.",
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Style;
    use ramline_evidence::EatStage;

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

    fn screen() -> String {
        let detail = ArmDetail {
            arm: "cache+swap:60".to_owned(),
            verdict: Verdict::Completed,
            detail: serde_json::to_value(run()).unwrap(),
            ..ArmDetail::default()
        };
        let style = Style::default();
        let mut page = Page::new(&style);
        eaten(&mut page, &[detail]);
        page.finish()
    }

    #[test]
    fn the_screen_says_what_was_obtained_against_what_free_said() {
        let text = screen();
        assert!(text.contains("free said 20.0 MiB; 200.0 MiB was obtained, 10 times as much."), "{text}");
        assert!(
            text.contains("cached fell by 179.0 MiB, from 224.0 MiB to 45.0 MiB, and swap rose by 6.0 MiB"),
            "{text}"
        );
        assert!(text.contains("swap from 6.0 MiB to 6.0 MiB"), "{text}");
    }

    #[test]
    fn where_swapping_begins_lies_between_two_arms_that_differ_in_swappiness_only() {
        let of = |arm: &str| ArmDetail { arm: arm.to_owned(), ..ArmDetail::default() };
        let never = || EatRun { points: vec![point(EatStage::Eat, 9, gauges(1, 45, 0))], ..EatRun::default() };
        let arms = [of("cache+swap:0"), of("cache+swap:20"), of("cache+swap:60"), of("idle+swap:60")];
        let mut runs = vec![(&arms[0], never()), (&arms[1], never()), (&arms[2], run()), (&arms[3], run())];
        let told = |runs: &[(&ArmDetail, EatRun)]| between(&runs.iter().collect::<Vec<_>>());
        assert_eq!(told(&runs), ["With cache, swapping began between swappiness 20 and 60 (one run of each)."]);
        runs.remove(2);
        assert_eq!(told(&runs), Vec::<String>::new());
    }

    #[test]
    fn every_column_of_both_layouts_has_its_formula() {
        let text = screen();
        for formula in ["free + buffers + cached", "MemTotal - MemAvailable", "Buffers + Cached + SReclaimable"] {
            assert!(text.contains(formula), "{formula}: {text}");
        }
    }
}
