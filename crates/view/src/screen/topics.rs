//! The topics of a checkup's report, each as one sheet: what `show` says of the same thing, and what was measured beside it.
//!
//! What it is not: a renderer. Nothing here knows whether a terminal or a page is written.
//!
//! Worked example: a report with a ledger has the topic `ledger`, "Where the memory is".

use ramline_advice::{Change, Finding};
use ramline_evidence::TierReport;
use ramline_units::Limit;

use super::findings::{confidence, weight};
use super::{batches, implied};
use crate::report::CheckupReport;
use crate::sheet::{Block, Sheet, Timed};
use crate::show;
use crate::text::{Cell, Column, Paint, Table, number};
use crate::who::WhoUses;

/// One topic.
#[derive(Debug, Clone, PartialEq)]
pub struct Topic {
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
pub fn topics(report: &CheckupReport) -> Vec<Topic> {
    let all = [
        ("todo", "What to do", "What to do", findings(&report.findings)),
        ("ledger", "Memory", "Where the memory is", ledger(report)),
        ("who", "Who uses it", "Who uses it", report.who.as_ref().map(who).unwrap_or_default()),
        ("pressure", "Pressure", "Whether anything waits", pressure(report)),
        ("tiers", "Tiers", "The tiers and what they cost", tiers(report)),
        ("swap", "Swap", "Swap and zram", swap(report)),
        ("tmpfs", "Files in RAM", "Files in RAM", tmpfs(report)),
    ];
    let topics = all.into_iter().map(|(id, name, heading, sheet)| Topic { id, name, heading, sheet });
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
    sheet.answer(
        Paint::Plain,
        &match &who.whole {
            Some(whole) => {
                let processes = number::things(who.processes, "process");
                format!("{} are used by {processes}, each page counted once.", whole.value)
            }
            None => "The processes were not seen.".to_owned(),
        },
    );
    let mut programs = Table::new(vec![
        Column::wrapped("program"),
        Column::right("processes"),
        Column::right("in RAM"),
        Column::left(""),
        Column::right("in swap"),
    ]);
    for (program, share) in who.programs.iter().zip(who.shares()) {
        let swap = if program.swap.0 > 0 { program.swap.to_string() } else { String::new() };
        programs.row([
            program.name.as_str().into(),
            number::count(program.processes).into(),
            program.holds.value.to_string().into(),
            Cell::bar(Paint::Plain, share),
            swap.into(),
        ]);
    }
    sheet.table(&programs);
    sheet.more("Control groups", |more| {
        let mut groups = Table::new(vec![
            Column::wrapped("control group"),
            Column::right("charged to itself"),
            Column::left(""),
            Column::right("its limit"),
        ]);
        let largest = who.groups.iter().map(|group| group.own).max().unwrap_or_default();
        for group in &who.groups {
            let limit = match group.limit {
                Some(Limit::At(limit)) => limit.to_string(),
                Some(Limit::Max) => "none".to_owned(),
                None => "not seen".to_owned(),
            };
            let bar = Cell::bar(Paint::Plain, group.own.share_of(largest));
            groups.row([group.path.as_str().into(), group.own.to_string().into(), bar, limit.into()]);
        }
        more.table(&groups);
    });
    sheet.next("ramline show processes, ramline show cgroups");
    sheet
}

fn tiers(report: &CheckupReport) -> Sheet {
    let mut sheet = Sheet::new();
    if let Some(measured) = &report.measured {
        let slowest = measured.slowest();
        sheet.answer(
            Paint::Plain,
            &match slowest {
                Some((name, multiple)) => {
                    format!(
                        "One random access to {name} takes {} times as long as one to RAM.",
                        number::figure(multiple)
                    )
                }
                None => "The time of one random access to one page.".to_owned(),
            },
        );
        sheet.push(Block::Times(times(measured)));
    }
    if report.measured.is_some() {
        sheet
            .more("What each uses, and the order in which they are reclaimed", |more| show::order(more, &report.tiers));
    } else {
        show::order(&mut sheet, &report.tiers);
    }
    if let Some(measured) = &report.measured {
        sheet.more("How it was measured", |more| how_measured(more, measured));
    }
    if let Some(ratio) = &report.cost_ratio {
        sheet.more("What these costs alone imply for swappiness", |more| implied(more, ratio));
    }
    sheet
}

fn times(report: &TierReport) -> Vec<Timed> {
    let timed = report.tiers.iter().filter_map(|tier| Some((tier, tier.latency?)));
    timed
        .map(|(tier, latency)| {
            let multiple = report.multiple_of_ram(&tier.tier).map(|m| format!(" · {} × RAM", number::figure(m)));
            Timed {
                name: tier.label.clone(),
                value: format!("{}{}", latency.p50_ns, multiple.unwrap_or_default()),
                p50: latency.p50_ns,
                p99: latency.p99_ns,
            }
        })
        .collect()
}

fn how_measured(sheet: &mut Sheet, report: &TierReport) {
    let mut table = Table::new(vec![
        Column::wrapped("tier"),
        Column::right("median"),
        Column::left("of batches"),
        Column::right("99 % within"),
        Column::right("n"),
        Column::right("in sequence"),
        Column::wrapped("how"),
    ]);
    for tier in &report.tiers {
        let notes = if tier.notes.is_empty() { String::new() } else { format!("; {}", tier.notes.join("; ")) };
        table.row([
            tier.label.as_str().into(),
            tier.latency.map(|l| l.p50_ns.to_string()).unwrap_or_default().into(),
            tier.batches.as_ref().map(batches).unwrap_or_default().into(),
            tier.latency.map(|l| l.p99_ns.to_string()).unwrap_or_default().into(),
            tier.latency.map(|l| number::count(l.n)).unwrap_or_default().into(),
            tier.throughput.as_ref().map(|t| number::per_second(number::bytes(t.median))).unwrap_or_default().into(),
            format!("{}{notes}", tier.method).into(),
        ]);
    }
    sheet.table(&table);
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
            let mut zram = Sheet::new();
            show::zram(&mut zram, state, ram);
            sheet.append(zram);
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
        if !finding.effect.is_empty() {
            card.point("   worth: ", &finding.effect);
        }
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
    let mut table = Table::new(vec![Column::wrapped(""), Column::wrapped(""), Column::wrapped("")]).indented(3);
    for evidence in &finding.evidence {
        table.row([evidence.what.as_str().into(), evidence.value.as_str().into(), evidence.source.as_str().into()]);
    }
    sheet.table(&table);
    if !finding.already.is_empty() {
        sheet.point("   already in place: ", &finding.already.join("; "));
    }
    if finding.change.is_some() {
        sheet.point("   if it is wrong: ", &finding.cost_if_wrong);
    }
    let explain = Some(format!("ramline explain {}", finding.explain)).filter(|_| !finding.explain.is_empty());
    let more: Vec<String> =
        explain.into_iter().chain(Some(finding.docs.clone()).filter(|docs| !docs.is_empty())).collect();
    if !more.is_empty() {
        sheet.point("   more: ", &more.join("; "));
    }
    sheet.point("   name: ", &finding.id);
}
