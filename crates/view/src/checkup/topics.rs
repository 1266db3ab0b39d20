//! The topics of a checkup's report, each as one sheet: what `show` says of the same thing, and what was measured beside it.
//!
//! Nothing here knows whether a terminal or a page is written.
//!
//! Worked example: a report with a ledger has the topic `ledger`, "Where the memory is".

use ramline_advice::Change;
use ramline_evidence::TierMeasurement;

use super::findings::{confidence, weight};

use super::report::CheckupReport;
use super::who::{GroupUse, WhoUses};
use crate::measure::tiers::{batches, implied, rate};
use crate::prelude::*;
use crate::show;
use ramline_sheet::Timed;

/// One topic.
#[derive(Debug, Clone, PartialEq)]
pub struct ReportTopic {
    /// Its stable name.
    pub id: &'static str,
    /// Its name among the contents.
    pub name: &'static str,
    /// Its heading.
    pub heading: &'static str,
    /// What it says.
    pub sheet: Sheet,
}

/// The topics the report has something for.
#[must_use]
pub fn topics(report: &CheckupReport) -> Vec<ReportTopic> {
    let all = [
        ("todo", "What to do", "What to do", findings(&report.findings)),
        ("ledger", "Memory", "Where the memory is", ledger(report)),
        ("who", "Who uses it", "Who uses it", report.who.as_ref().map(who).unwrap_or_default()),
        ("pressure", "Pressure", "Whether anything waits", pressure(report)),
        ("tiers", "Tiers", "The tiers and what they cost", tiers(report)),
        ("swap", "Swap", "Swap and zram", swap(report)),
        ("tmpfs", "Files in RAM", "Files in RAM", tmpfs(report)),
    ];
    let topics = all.into_iter().map(|(id, name, heading, sheet)| ReportTopic { id, name, heading, sheet });
    topics.filter(|topic| !topic.sheet.is_empty()).collect()
}

fn ledger(report: &CheckupReport) -> Sheet {
    report.ledger.as_ref().map(|ledger| show::where_it_is(ledger, report.drift.as_ref())).unwrap_or_default()
}

fn pressure(report: &CheckupReport) -> Sheet {
    show::pressure(report.pressure.as_ref(), report.watermarks.as_ref())
}

/// Largest first, with a bar as long as its share of the largest.
fn who(who: &WhoUses) -> Sheet {
    let mut sheet = Sheet::new();
    let processes = || number::things(who.processes, "process");
    let answer =
        who.whole.as_ref().map(|whole| format!("{} are used by {}, each page counted once.", whole.value, processes()));
    sheet.answer(Paint::Plain, answer.unwrap_or_else(|| "The processes were not seen.".to_owned()));
    let programs = Table::from_rows(who.programs.iter().zip(who.shares()))
        .wrapped("program", |(program, _)| &program.name)
        .right("processes", |(program, _)| program.processes)
        .right("in RAM", |(program, _)| program.holds.value)
        .bar(|(_, share)| share)
        .right("in swap", |(program, _)| Some(program.swap).filter(|swap| swap.0 > 0));
    sheet.table(programs);
    let limit = |group: &GroupUse| match group.limit {
        Some(Limit::At(limit)) => limit.to_string(),
        Some(Limit::Max) => "none".to_owned(),
        None => "not seen".to_owned(),
    };
    let largest = who.groups.iter().map(|group| group.own).max().unwrap_or_default();
    let groups = Table::from_rows(&who.groups)
        .wrapped("control group", |group| &group.path)
        .right("charged to itself", |group| group.own)
        .bar(|group| group.own.share_of(largest))
        .right("its limit", limit);
    sheet.more("Control groups", |more| more.table(groups));
    sheet.next("ramline show processes, ramline show cgroups");
    sheet
}

fn tiers(report: &CheckupReport) -> Sheet {
    let mut sheet = Sheet::new();
    let times_ram = |(tier, multiple): (&TierMeasurement, f64)| {
        format!("One random access to {} takes {} times as long as one to RAM.", tier.label, number::figure(multiple))
    };
    if let Some(measured) = &report.measured {
        let answer = measured.slowest_tier().map(times_ram);
        sheet.answer(Paint::Plain, answer.unwrap_or_else(|| "The time of one random access to one page.".to_owned()));
        sheet.push(Block::Times(times(measured)));
        let title = "What each uses, and the order in which they are reclaimed";
        sheet.more(title, |more| show::order(more, &report.tiers));
        sheet.more("How it was measured", |more| how_measured(more, measured));
    } else {
        show::order(&mut sheet, &report.tiers);
    }
    if let Some(ratio) = &report.cost_ratio {
        sheet.more("What these costs alone imply for swappiness", |more| implied(more, ratio));
    }
    sheet
}

fn times(report: &TierReport) -> Vec<Timed> {
    let timed = report.tiers.iter().filter_map(|tier| {
        let latency = tier.latency?;
        let multiple = report.multiple_of_ram(&tier.tier).map(|m| format!(" · {} × RAM", number::figure(m)));
        let value = format!("{}{}", latency.p50_ns, multiple.unwrap_or_default());
        Some(Timed { name: tier.label.clone(), value, p50: latency.p50_ns, p99: latency.p99_ns })
    });
    timed.collect()
}

fn how_measured(sheet: &mut Sheet, report: &TierReport) {
    let how = |tier: &TierMeasurement| {
        let notes = if tier.notes.is_empty() { String::new() } else { format!("; {}", tier.notes.join("; ")) };
        format!("{}{notes}", tier.method)
    };
    let table = Table::from_rows(&report.tiers)
        .wrapped("tier", |tier| &tier.label)
        .right("median", |tier| tier.latency.map(|l| l.p50_ns))
        .left("of batches", |tier| tier.batches.as_ref().map(batches))
        .right("99 % within", |tier| tier.latency.map(|l| l.p99_ns))
        .right("n", |tier| tier.latency.map(|l| l.n))
        .right("in sequence", |tier| tier.throughput.as_ref().map(rate))
        .wrapped("how", how);
    sheet.table(table);
    report.conditions.iter().for_each(|condition| sheet.point("  - ", condition));
    if !report.skipped.is_empty() {
        sheet.heading("Not measured");
        report.skipped.iter().for_each(|skipped| sheet.point("  - ", skipped));
    }
}

fn swap(report: &CheckupReport) -> Sheet {
    let mut sheet = Sheet::new();
    if let Some(state) = &report.swap {
        show::areas_and_flow(&mut sheet, state, report.window);
    }
    if let Some(state) = &report.zram {
        let ram = report.ledger.as_ref().map(|ledger| ledger.total);
        if state.devices.is_empty() {
            sheet.more("zram", |more| show::zram(more, state, ram));
        } else {
            show::zram(&mut sheet, state, ram);
        }
    }
    sheet
}

fn tmpfs(report: &CheckupReport) -> Sheet {
    let mut sheet = Sheet::new();
    if let Some(state) = &report.tmpfs {
        show::mounts(&mut sheet, state, false);
    }
    show::fits(&mut sheet, &report.would_fit);
    sheet
}

/// What to do: each finding with its command and the way back; what it rests on, on request.
pub(crate) fn findings(findings: &[Finding]) -> Sheet {
    let mut sheet = Sheet::new();
    if findings.is_empty() {
        sheet.answer(Paint::Good, "Nothing was found that should change.");
    }
    for (number, finding) in (1..).zip(findings) {
        let (paint, word) = weight(finding.weight);
        let mut card = Sheet::new();
        card.point("   worth: ", Some(&finding.effect).filter(|effect| !effect.is_empty()));
        if let Some(change) = &finding.change {
            changed(&mut card, change);
        }
        card.more("", |more| rests_on(more, finding));
        let title = format!("{number}. {} [{word}, {}]", finding.title, confidence(finding.confidence));
        sheet.push(Block::Card { paint, title, sheet: card });
    }
    sheet
}

fn changed(sheet: &mut Sheet, change: &Change) {
    sheet.point("   change: ", &change.what);
    change.commands.iter().for_each(|command| sheet.command(6, command));
    if !change.undo.is_empty() {
        sheet.point("   undo:", "");
        change.undo.iter().for_each(|command| sheet.command(6, command));
    }
}

fn rests_on(sheet: &mut Sheet, finding: &Finding) {
    let table = Table::from_rows(&finding.evidence).wrapped("", |it| &it.what).wrapped("", |it| &it.value);
    sheet.table(table.wrapped("", |it| &it.source).indented(3));
    if !finding.already.is_empty() {
        sheet.point("   already in place: ", finding.already.join("; "));
    }
    if finding.change.is_some() {
        sheet.point("   if it is wrong: ", &finding.cost_if_wrong);
    }
    let explain = Some(format!("ramline explain {}", finding.explain)).filter(|_| !finding.explain.is_empty());
    let docs = Some(finding.docs.clone()).filter(|docs| !docs.is_empty());
    let more: Vec<String> = explain.into_iter().chain(docs).collect();
    sheet.point("   more: ", (!more.is_empty()).then(|| more.join("; ")));
    sheet.point("   name: ", &finding.id);
}
