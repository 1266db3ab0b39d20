//! What the page of a series promises, as far as it can be told without a browser; tests/report looks at it in one.

use super::*;
use crate::html::tests::{HOSTILE, WRITTEN_OUT};
use ramline_evidence::{Arm, Better, Figure, Phase, RoundTime, Sample, Verdict};
use ramline_units::{Bytes, Nanos};

fn sample(index: u64, pool: Option<Bytes>) -> Sample {
    let mib = Bytes::from_mib;
    Sample {
        at: Nanos(index * 100_000_000),
        phase: Phase::Rounds,
        rounds: u32::try_from(index).unwrap() / 4,
        usage: mib(90),
        limit: mib(100),
        anon: mib(60),
        file: mib(30),
        swap: mib(index),
        pool,
        refault_file: Some(index * 50),
        psi_full_us: Some(index * 50_000),
        ..Sample::default()
    }
}

fn run(arm: &str, order: u32, seconds: f64) -> RunRecord {
    let pool = (arm == "zram").then(|| Bytes::from_mib(5));
    let round = RoundTime { took: Nanos(1_000_000_000 + u64::from(order)), checksum: 0 };
    RunRecord {
        experiment: "code-plus-data".into(),
        order,
        started_unix_ms: 1_795_000_000_000 + u64::from(order),
        arm: Arm::named(arm, &[("read-ahead", "128KiB")]),
        sandbox: "cgroup-v1".into(),
        verdict: if arm == "zram" { Verdict::Thrashing("20 s passed".into()) } else { Verdict::Completed },
        figures: vec![
            Figure::new("time per round", seconds + 0.001 * f64::from(order), "s", Better::Lower),
            Figure::new("read from disks", 4096.0, "bytes", Better::Lower),
            Figure::new("nothing", 0.0, "pages", Better::Lower),
        ],
        verified: [("swappiness".to_owned(), "60".to_owned()), ("limit".to_owned(), order.to_string())].into(),
        parameters: [("unit".to_owned(), vec!["8MiB".to_owned()])].into(),
        rounds: vec![round; 3],
        samples: (0..20).map(|index| sample(index, pool)).collect(),
        notes: vec!["the machine was not quiet".into()],
        ..RunRecord::default()
    }
}

fn records(n: u32) -> Vec<RunRecord> {
    (0..n).flat_map(|i| [run("swap:60", 2 * i, 1.0), run("zram", 2 * i + 1, 3.0)]).collect()
}

fn made(records: &[RunRecord], lead: &[&str], text: &str) -> String {
    let reading = [Reading { shown: format!("`{text}`"), sentence: format!("**{text}** means it.") }];
    let table = SeriesTable::from_records(records).unwrap();
    series(&SeriesPage {
        table: &table,
        records,
        question: text,
        how: text,
        docs: text,
        lead,
        reading: &reading,
        doubts: &[text.to_owned()],
        two: false,
        sheet: &crate::screen::series_sheet(&table, lead),
        ramline: "0.1.0",
    })
}

/// The figure with this title.
fn figure<'a>(page: &'a str, title: &str) -> &'a str {
    let named = format!(">{title}</title>");
    let figures = page.split("<figure").skip(1).filter_map(|part| part.split("</figure>").next());
    figures.into_iter().find(|part| part.contains(&named)).unwrap_or_else(|| panic!("{title}"))
}

#[test]
fn names_are_text_wherever_they_stand() {
    let mut all = records(2);
    for run in &mut all {
        let text = || HOSTILE.to_owned();
        run.experiment = text();
        run.arm.name.push_str(HOSTILE);
        run.arm.fill = text();
        run.arm.settings.insert(text(), text());
        run.sandbox = text();
        run.verdict = Verdict::Killed(text());
        run.verified.insert(text(), text());
        run.parameters.insert(text(), vec![text()]);
        run.notes.push(text());
        run.machine.kernel = text();
        run.machine.scratch_fs = text();
        run.figures.push(Figure::new(HOSTILE, 1.0, HOSTILE, Better::Neither));
    }
    let page = made(&all, &[HOSTILE], HOSTILE);
    assert!(!page.contains("<script") && !page.contains("<img") && !page.contains("\" onload"));
    assert_eq!(page.matches("</style>").count(), 1);
    assert_eq!(page.matches("</title>").count(), 1 + page.matches("<svg role").count());
    assert!(page.contains(WRITTEN_OUT));
    let style = page.find("</style>").unwrap();
    assert_eq!(page[style..].chars().find(|c| crate::is_hostile(*c)), None);
}

#[test]
fn the_page_loads_nothing_and_every_drawing_is_named_and_told() {
    let page = made(&records(7), &["time per round"], "x");
    assert!(page.contains("content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\""));
    for loads in [" src=", "http:", "https:", "@import", "url(http", "<link"] {
        assert!(!page.contains(loads), "{loads}");
    }
    let drawings = page.matches("<svg role=\"img\"").count();
    assert!(drawings >= 6, "{drawings}");
    for part in ["<figure", "<figcaption>", "<desc "] {
        assert_eq!(page.matches(part).count(), drawings, "{part}");
    }
}

#[test]
fn every_run_is_a_dot_and_the_largest_claimed_difference_is_the_headline() {
    let page = made(&records(7), &["time per round"], "x");
    let chart = figure(&page, "time per round");
    assert_eq!(chart.matches("<circle class=\"run\"").count(), 14);
    assert!(
        page.contains("<h1>swap:60 1.01 s, zram 3.01 s: swap:60 is 3 times faster; zram got stuck (7 runs each).</h1>"),
        "{page}"
    );
    for id in ["result", "over-time", "arms", "reading", "settings", "conditions", "runs"] {
        assert!(page.contains(&format!("<section id=\"{id}\"")), "{id}");
    }
    assert!(page.contains("<summary>All figures (median, and the interval over runs)</summary>"), "{page}");
    for title in ["Time of each round", "Rounds done", "Where the memory was", "Refaults", "Stalls"] {
        assert!(figure(&page, title).contains("<polyline") || figure(&page, title).contains("<path"), "{title}");
    }
    assert!(!page.contains("<pre"), "nothing is pasted from a terminal");
}

#[test]
fn below_six_runs_nothing_is_claimed_and_the_page_says_why() {
    let mut all = records(3);
    all.iter_mut().for_each(|run| run.verdict = Verdict::Completed);
    let page = made(&all, &["time per round"], "x");
    assert!(page.contains("swap:60 is 3 times faster (3 runs each, 6 needed for proof)"), "{page}");
    assert!(page.contains("No significant difference (3 runs; 6 are needed)."), "{page}");
    assert!(!page.contains("rank test") && !page.contains("intervals apart"), "{page}");
}

#[test]
fn emulated_seconds_are_never_shown_as_seconds() {
    let mut all = records(7);
    all.iter_mut().for_each(|run| run.emulated = true);
    let page = made(&all, &["time per round"], "x");
    assert!(page.contains("The processor was emulated"));
    assert!(page.contains("swap:60 is 3 times faster, emulated"), "{page}");
    let chart = figure(&page, "time per round");
    assert!(chart.contains(">1.01 s emulated<") && chart.contains(">3.01\u{a0}s\u{a0}emulated<"), "{chart}");
    let rest = chart.replace(">0\u{a0}s<", "");
    assert!(!rest.contains(" s<") && !rest.contains("\u{a0}s<"), "only zero is the same on any processor: {rest}");
}

#[test]
fn runs_that_were_not_looked_at_have_no_charts_over_time() {
    let mut all = records(2);
    for run in &mut all {
        (run.samples, run.rounds) = (Vec::new(), Vec::new());
    }
    let page = made(&all, &[], "x");
    assert!(!page.contains("id=\"over-time\"") && figure(&page, "time per round").contains("<circle"));
    assert!(page.contains("nothing</b>: 0 in every run"), "{page}");
}

#[test]
fn settings_that_never_differ_stand_once_and_the_others_by_arm() {
    let page = made(&records(2), &[], "x");
    let settings = page.split("<section id=\"settings\"").nth(1).unwrap().split("</section>").next().unwrap();
    let same = settings.split("By setting").next().unwrap();
    assert!(same.contains(">swappiness</th>") && same.contains("<div>60</div>"), "{settings}");
    assert_eq!(settings.matches(">swappiness</th>").count(), 1);
    assert!(settings.contains("0; 2") && settings.contains("1; 3"), "{settings}");
}

#[test]
fn free_below_the_limit_is_what_is_left_of_it_and_a_guests_pool_counts_once() {
    let page = made(&records(1), &[], "x");
    for part in ["free below the limit", "compressed pool", "in swap (not in memory)"] {
        assert!(page.contains(part), "{part}");
    }
}

#[test]
fn two_series_stand_side_by_side_and_each_arm_is_compared_with_its_own() {
    let faster: Vec<RunRecord> = records(7)
        .into_iter()
        .map(|mut run| {
            run.figures.iter_mut().filter(|figure| figure.unit == "s").for_each(|figure| figure.value *= 0.5);
            run
        })
        .collect();
    let (table, both) = ramline_evidence::together(&records(7), &faster).unwrap();
    let page = series(&SeriesPage {
        table: &table,
        records: &both,
        question: "",
        how: "",
        docs: "",
        lead: &["time per round"],
        reading: &[],
        doubts: &[],
        two: true,
        sheet: &Sheet::new(),
        ramline: "",
    });
    assert!(page.contains("<h1>zram (second) is 2 times faster than zram (first)"), "{page}");
    let rows = ["swap:60 (first)", "swap:60 (second)", "zram (first)", "zram (second)"];
    assert_eq!(table.arms.iter().map(|arm| arm.name.as_str()).collect::<Vec<_>>(), rows);
    assert!(page.contains("Compared with the first series; a difference is called significant from 6 runs on."));
}
