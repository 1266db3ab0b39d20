//! `checkup`: the summary on one screen, at most 40 lines at 100 columns.
//!
//! What does not fit here is there.

use super::findings::{confidence, weight};

use super::report::{CheckupCost, CheckupReport, Mode, Skipped};
use crate::lab::proof::{arms, head};
use crate::prelude::*;
use crate::show::{fit_sentence, verdict_paint};
use ramline_model::pressure::{PressureModel, PsiGap};
use ramline_model::tiers::Tier;
use ramline_model::watermarks::{Distance, Watermarks};
use ramline_sheet::{Depth, Style};

/// The verdict where there is none.
pub(crate) const NO_VERDICT: &str = "Nothing can be said: no MemTotal of /proc/meminfo was seen.";

/// Lines of the summary.
const LINES: usize = 40;

/// The summary; `files` are the reports that were written, in words: `report.html`.
#[must_use]
pub fn checkup(report: &CheckupReport, files: &[String], style: &Style) -> String {
    summary(report, files).text_within(style, Depth::Brief, LINES)
}

/// The same as a sheet.
#[must_use]
pub fn summary(report: &CheckupReport, files: &[String]) -> Sheet {
    let mut sheet = Sheet::new();
    let sentence = if report.sentence.is_empty() { NO_VERDICT } else { &report.sentence };
    sheet.answer(report.verdict.as_ref().map_or(Paint::Bold, |v| verdict_paint(v.status)), sentence);
    report.verdict.iter().flat_map(|verdict| &verdict.details).for_each(|detail| sheet.line(detail));
    if let Some(ledger) = &report.ledger {
        sheet.push(Block::Stack(crate::show::picture(ledger)));
    }
    pressure_line(&mut sheet, report.pressure.as_ref(), report.watermarks.as_ref());
    if let Some(words) = report.who.as_ref().map(|who| who.words(4)).filter(|words| !words.is_empty()) {
        sheet.line(format!("Who uses it: {words}."));
    }
    tiers(&mut sheet, &report.tiers);
    if let Some(measured) = &report.measured {
        trust(&mut sheet, measured);
    }
    for fit in report.would_fit.iter().filter(|fit| fit.path == "/tmp" || !fit.fits).take(2) {
        sheet.line(format!("{}.", fit_sentence(fit)));
    }
    proof(&mut sheet, report);
    findings(&mut sheet, &report.findings);
    bottom(&mut sheet, report, files);
    sheet
}

fn pressure_line(sheet: &mut Sheet, pressure: Option<&PressureModel>, marks: Option<&Watermarks>) {
    let mut parts = Vec::new();
    if let Some(pressure) = pressure {
        let over = number::over(pressure.span);
        parts.push(match pressure.memory.and_then(|m| m.some_now().zip(m.full_now())) {
            Some((some, full)) if pressure.span.is_some() => {
                format!("waiting for memory: some task {some:.1} %, all tasks {full:.1} % of the time {over}")
            }
            Some((some, full)) => {
                format!("waiting for memory: some task {some:.1} %, all tasks {full:.1} % of the last 10 s")
            }
            None => {
                let gap = pressure.memory_gap.as_ref();
                gap.map_or_else(|| "waiting for memory was not measured".to_owned(), PsiGap::words)
            }
        });
        if let Some(rates) = pressure.rates {
            let rate = |n: Option<f64>| n.map_or_else(|| "not known".to_owned(), number::figure);
            parts.push(format!(
                "refaults {} file, {} process pages/s",
                rate(rates.refault_file),
                rate(rates.refault_anon)
            ));
        }
    }
    let nearest = marks.and_then(|m| m.nodes.iter().min_by_key(|n| n.to_low.bytes));
    if let Some(node) = nearest {
        let away = |d: &Distance| {
            let like = pressure.and_then(|p| p.span).map(|span| format!(" if it went on like the last {span}"));
            let minutes = d.minutes.map(|m| format!(", {}{}", number::minutes(m), like.unwrap_or_default()));
            let minutes = minutes.unwrap_or_default();
            let side = if d.bytes.is_negative() { "behind" } else { "away" };
            format!("{} {side}{minutes}", d.bytes.magnitude())
        };
        parts.push(format!("kswapd {}, stalls {}", away(&node.to_low), away(&node.to_min)));
    }
    if !parts.is_empty() {
        sheet.line(format!("Pressure: {}.", parts.join("; ")));
    }
}

fn tiers(sheet: &mut Sheet, tiers: &[Tier]) {
    // A machine with a dozen swap areas has them in the report.
    let table = Table::from_rows(tiers.iter().take(7))
        .wrapped("tier", |tier| &tier.name)
        .right("uses", |tier| tier.used)
        .right("of", |tier| tier.capacity)
        .right("4 KiB: median", |tier| tier.cost.map(|c| c.ns_p50))
        .column(Column::right("99 % within").spare(), |tier| tier.cost.map(|c| c.ns_p99))
        .right("reclaimed", |tier| tier.gives_way.map(crate::show::nth));
    sheet.table(table);
}

/// How far the costs can be trusted: what the columns are, how many accesses, and what disturbed them.
fn trust(sheet: &mut Sheet, measured: &TierReport) {
    let counts = || measured.tiers.iter().filter_map(|t| t.latency.as_ref()).map(|l| l.n);
    let (Some(least), Some(most)) = (counts().min(), counts().max()) else { return };
    let n = if least == most {
        number::count(least)
    } else {
        format!("{} to {}", number::count(least), number::count(most))
    };
    let trust = measured.conditions.iter().find_map(|line| line.strip_prefix("trust: "));
    let trust = trust.unwrap_or("of unknown trust");
    let what = "one access to 4 KiB at random, median and what 99 % stay within";
    sheet.aside(2, &format!("Costs: {what}, n {n} each; measurements {trust}."));
}

fn proof(sheet: &mut Sheet, report: &CheckupReport) {
    let Some(proof) = &report.proof else { return };
    sheet.line(format!("Proof in a sandbox: {}.", head(proof)));
    let mut short = proof.clone();
    short.arms.truncate(4);
    sheet.table(arms(&short).indented(2));
}

/// As many findings in full as there is room for; the others by their titles, or counted.
fn findings(sheet: &mut Sheet, all: &[Finding]) {
    for (n, finding) in (1..).zip(all) {
        let (paint, word) = weight(finding.weight);
        let title = format!("{n}. {} [{word}, {}]", finding.title, confidence(finding.confidence));
        sheet.push(Block::Card { paint, title, sheet: detail(finding) });
    }
    sheet.push(Block::LeftOut("more, in the report.".to_owned()));
}

fn detail(finding: &Finding) -> Sheet {
    let mut sheet = Sheet::new();
    sheet.point("   worth:  ", Some(&finding.effect).filter(|effect| !effect.is_empty()));
    let joined = |commands: &[String]| commands.join(" && ");
    match &finding.change {
        Some(change) => {
            sheet.point(
                "   change: ",
                finding.tune.as_ref().map_or_else(|| joined(&change.commands), |_| change.what.clone()),
            );
            // What is planned and not possible now says why; of a plan the command stands at the end.
            match &finding.tune {
                None if change.undo.is_empty() => sheet.point("   why:    ", &change.what),
                None => sheet.point("   undo:   ", joined(&change.undo)),
                Some(_) => {}
            }
        }
        None if !finding.explain.is_empty() => {
            sheet.point("   more:   ", format!("ramline explain {}", finding.explain))
        }
        None => {}
    }
    sheet
}

fn bottom(sheet: &mut Sheet, report: &CheckupReport, files: &[String]) {
    if !report.leftovers.is_empty() {
        sheet.warn(format!("Left behind earlier: {}; try: ramline lab clean", report.leftovers.join(", ")));
    }
    if !report.removed.is_empty() {
        let removed = report.removed.join("; ");
        sheet.aside(2, &format!("Left behind by an earlier run, removed before this one: {removed}."));
    }
    let skipped: Vec<String> = report.skipped.iter().map(not_done).collect();
    if !skipped.is_empty() {
        sheet.aside(3, &format!("Not done: {}.", skipped.join("; ")));
    }
    let unseen: Vec<&str> = report.unseen.iter().map(|u| u.section.as_str()).collect();
    if !unseen.is_empty() {
        sheet.aside(2, &format!("Not seen: {} (reasons in the report).", unseen.join(", ")));
    }
    let CheckupCost { wall, cpu, peak_memory, written } = report.cost;
    let mode = if report.mode == Mode::Default { String::new() } else { format!(" ({})", report.mode.word()) };
    sheet.dim(format!(
        "This checkup{mode} took {wall} wall, {cpu} CPU, {peak_memory} memory at its peak, and wrote {written} to disk."
    ));
    if !files.is_empty() {
        sheet.painted(Paint::Bold, format!("Report: {}", files.join(", ")));
    }
    let planned: Vec<&str> = report.findings.iter().filter_map(|finding| finding.tune.as_deref()).collect();
    if let Some(command) = tune_command(&planned) {
        sheet.painted(Paint::Bold, format!("try: {command}"));
    }
}

/// The one command that does what the findings advise; of those that can stay and those for this boot alone, the first kind.
fn tune_command(commands: &[&str]) -> Option<String> {
    let first = commands.first()?;
    let (start, end) = match first.strip_suffix(ONLY_NOW) {
        Some(start) => (start, ONLY_NOW),
        None => (*first, ""),
    };
    let same = commands.iter().skip(1).filter(|command| command.ends_with(ONLY_NOW) == (end == ONLY_NOW));
    let more = same.filter_map(|command| command.strip_suffix(end)?.strip_prefix("sudo ramline tune apply "));
    let words: Vec<&str> = std::iter::once(start).chain(more).collect();
    Some(format!("{}{end}", words.join(" ")))
}

const ONLY_NOW: &str = " --runtime-only";

/// One skipped step. Its reason may be an error of several lines; the command to try stands apart in `fix`.
fn not_done(step: &Skipped) -> String {
    let lines: Vec<&str> = step.why.lines().map(str::trim).filter(|line| !line.starts_with("try:")).collect();
    let fix = step.fix.as_ref().map(|fix| format!("; try: {fix}")).unwrap_or_default();
    format!("{} ({}{fix})", step.what, lines.join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkup::findings::tests::sample;
    use crate::checkup::report::CheckupCost;
    use ramline_units::{Bytes, Nanos};

    #[test]
    fn of_several_findings_one_command_is_made_and_those_for_this_boot_alone_stand_apart() {
        let all =
            ["sudo ramline tune apply a", "sudo ramline tune apply b --runtime-only", "sudo ramline tune apply c"];
        assert_eq!(tune_command(&all).as_deref(), Some("sudo ramline tune apply a c"));
        assert_eq!(tune_command(&all[1..2]).as_deref(), Some("sudo ramline tune apply b --runtime-only"));
        assert_eq!(tune_command(&[]), None);
    }

    fn report(findings: usize) -> CheckupReport {
        let finding = |n: usize| Finding { title: format!("finding number {n}"), ..sample() };
        CheckupReport {
            sentence: "Memory is fine: 20.0 of 23.5 GiB available, no task waits for memory.".into(),
            findings: (1..=findings).map(finding).collect(),
            skipped: vec![Skipped {
                what: "the proof".into(),
                why: "needs root".into(),
                fix: Some("sudo ramline checkup".into()),
            }],
            cost: CheckupCost {
                wall: Nanos(9_100_000_000),
                cpu: Nanos(2_000_000_000),
                peak_memory: Bytes::from_mib(7),
                written: Bytes::ZERO,
            },
            ..CheckupReport::default()
        }
    }

    #[test]
    fn the_summary_names_the_change_the_undo_what_was_not_done_and_what_it_cost() {
        assert_eq!(
            checkup(&report(1), &["report.html".into()], &Style::default()),
            "\
Memory is fine: 20.0 of 23.5 GiB available, no task waits for memory.
1. finding number 1 [warning, high confidence]
   worth:  saves about 80 us a swap-in
   change: swapoff /dev/zram0 && swapon -p 100 /dev/zram0
   undo:   swapoff /dev/zram0 && swapon /dev/zram0
Not done: the proof (needs root; try: sudo ramline checkup).
This checkup took 9.1 s wall, 2.0 s CPU, 7.0 MiB memory at its peak, and wrote 0 B to disk.
Report: report.html
"
        );
    }

    #[test]
    fn without_a_verdict_the_summary_says_so_and_the_costs_say_how_far_they_can_be_trusted() {
        let stats = |n: usize| ramline_evidence::LatencyStats::from_durations(&vec![Nanos(900); n]);
        let tier = |name: &str, n: usize| ramline_evidence::TierMeasurement {
            tier: name.into(),
            label: name.into(),
            latency: stats(n),
            batches: None,
            throughput: None,
            method: String::new(),
            notes: vec![],
        };
        let measured = TierReport {
            tiers: vec![tier("ram", 2000), tier("disk:/", 400)],
            conditions: vec!["trust: noisy (before: 1.7 tasks wait for a CPU)".into(), "kernel 6".into()],
            ..TierReport::default()
        };
        let text = checkup(
            &CheckupReport { sentence: String::new(), measured: Some(measured), ..report(0) },
            &[],
            &Style { colour: false, width: 200 },
        );
        assert!(text.starts_with("Nothing can be said: no MemTotal of /proc/meminfo was seen.\n"), "{text}");
        assert!(
            text.contains(
                "Costs: one access to 4 KiB at random, median and what 99 % stay within, n 400 to 2,000 each; \
                 measurements noisy (before: 1.7 tasks wait for a CPU).\n"
            ),
            "{text}"
        );
    }

    #[test]
    fn a_reason_of_several_lines_is_told_on_one() {
        let why = "refused before anything was started:\n  - the machine is busy\n  try: later".to_owned();
        let step = Skipped { what: "the proof".into(), why, fix: Some("ramline lab run".into()) };
        assert_eq!(
            not_done(&step),
            "the proof (refused before anything was started: - the machine is busy; try: ramline lab run)"
        );
    }

    #[test]
    fn many_findings_lose_their_details_and_then_their_titles_but_the_screen_holds() {
        for n in [0, 5, 9, 20, 60, 200] {
            let text = checkup(&report(n), &[], &Style::default());
            assert!(text.lines().count() <= LINES, "{n}: {}", text.lines().count());
            assert!(text.lines().all(|l| ramline_sheet::text::width(l) <= 100), "{n}");
        }
        assert!(checkup(&report(200), &[], &Style::default()).contains(" more, in the report."));
        let nine = checkup(&report(9), &[], &Style::default());
        assert!(nine.contains("finding number 9") && nine.contains("undo:"), "{nine}");
    }
}
