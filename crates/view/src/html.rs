//! The report as one HTML page: no script, nothing loaded, charts as SVG, readable in print and on a telephone.
//!
//! What it is: a function of [`CheckupReport`], as text and JSON are. What it is not: a place for numbers of its own;
//! it draws and words what the report holds, and names what it does not hold.
//!
//! Names from the machine are data: maud escapes markup, and control and direction-changing characters are written out
//! in the whole page at the end, so that no section can forget to.
//!
//! ```
//! let report = ramline_view::CheckupReport { sentence: "</title><script>".into(), ..Default::default() };
//! let page = ramline_view::html::page(&report);
//! assert!(page.starts_with("<!DOCTYPE html>"));
//! assert!(page.contains("&lt;/title&gt;&lt;script&gt;") && !page.contains("<script"));
//! ```

mod draw;
mod format;
mod parts;
mod section;

use maud::{DOCTYPE, Markup, html};

use crate::escape;
use crate::report::CheckupReport;
use format::{date, percent, size, times};

const STYLE: &str = include_str!("../assets/report.css");

/// Nothing may be loaded or run; style stands in the page.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:";

/// The page.
#[must_use]
pub fn page(report: &CheckupReport) -> String {
    // Sections write no line breaks: those there are stand in names, and are written out like all that steers a
    // terminal or turns text round. The first style element is ours: in a name it would be escaped.
    let page = document(report).into_string();
    escape(&page).replacen("<style></style>", &format!("<style>{STYLE}</style>"), 1)
}

fn document(report: &CheckupReport) -> Markup {
    let sections = sections(report);
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                title { "Memory of a machine with Linux " (report.machine.kernel) " · ramline checkup" }
                style {}
            }
            body {
                (draw::patterns())
                header { (head(report)) (facts(report)) }
                nav aria-label="Contents" { ul { @for (id, name, _) in &sections { li { a href=(format!("#{id}")) { (name) } } } } }
                main {
                    (section::findings::summary(&report.findings))
                    @for (_, _, body) in &sections { (body) }
                }
                footer { p { "Made by ramline " (report.ramline) ". This file is complete: it loads nothing, runs nothing and sends nothing." } }
            }
        }
    }
}

/// Anchor, name and body of the sections the report has something for.
fn sections(report: &CheckupReport) -> Vec<(&'static str, &'static str, Markup)> {
    use section::{findings, ledger, pressure, proof, record, swap, tiers, tmpfs, who};
    let part = |body: Option<Markup>| body.unwrap_or_else(|| html! {});
    let all = vec![
        ("ledger", "Memory", part(report.ledger.as_ref().map(|l| ledger::ledger(l, report.drift.as_ref())))),
        ("who", "Who uses it", part(report.who.as_ref().map(who::who))),
        ("tiers", "Tiers", tiers::tiers(&report.tiers, report.measured.as_ref(), report.cost_ratio.as_ref())),
        ("pressure", "Pressure", pressure::pressure(report.pressure.as_ref(), report.watermarks.as_ref())),
        ("swap", "Swap", swap::swap(report.swap.as_ref(), report.zram.as_ref())),
        ("tmpfs", "Files in RAM", tmpfs::tmpfs(report.tmpfs.as_ref(), &report.would_fit)),
        ("proof", "Proof", part(report.proof.as_ref().map(proof::proof))),
        ("findings", "Findings", findings::findings(&report.findings)),
        ("gaps", "Gaps", record::gaps(report)),
        ("conditions", "Conditions", record::conditions(report)),
    ];
    all.into_iter().filter(|(.., body)| !body.0.is_empty()).collect()
}

fn head(report: &CheckupReport) -> Markup {
    let machine = &report.machine;
    html! {
        p.eyebrow {
            b { "ramline checkup" }
            span { "Linux " (machine.kernel) }
            span { (machine.cpus) @if machine.cpus == 1 { " CPU" } @else { " CPUs" } }
            @if let Some(hypervisor) = &machine.hypervisor { span { @if hypervisor == "unknown" { "a virtual machine" } @else { "guest of " (hypervisor) } } }
            @if let Some(container) = &machine.container { span { "in " (container) } }
            @if let Some(taken) = report.taken_unix_ns { span { (date(taken)) } }
        }
        h1 { @if report.sentence.is_empty() { "Nothing can be said: /proc/meminfo was not seen." } @else { (format::sentence(&report.sentence)) } }
    }
}

/// The few numbers to remember.
fn facts(report: &CheckupReport) -> Markup {
    let mut facts: Vec<(&str, String, String)> = Vec::new();
    if let Some(ledger) = &report.ledger {
        facts.push(("Memory", size(ledger.total), "MemTotal".to_owned()));
    }
    if let Some(verdict) = &report.verdict {
        let share = verdict
            .without_cost
            .share_of(verdict.total)
            .map_or_else(|| "can be had".to_owned(), |share| format!("can be had, {} of it", percent(share)));
        facts.push(("Without waiting", size(verdict.without_cost), share));
    }
    if let Some(model) = &report.pressure {
        let waiting = section::pressure::waiting(model.memory.as_ref());
        let note =
            waiting.map_or_else(|| "no stall times".to_owned(), |share| format!("some task waits {share} of the time"));
        facts.push(("Pressure", section::pressure::state(model.state).to_owned(), note));
    }
    if let Some(swap) = &report.swap {
        facts.push(("Swap used", size(swap.used), format!("of {} in {}", size(swap.total), areas(swap.areas.len()))));
    }
    let slowest =
        report.proof.iter().flat_map(|proof| &proof.arms).filter_map(|arm| Some((arm, arm.versus_first.as_ref()?)));
    if let Some((arm, versus)) = slowest.filter(|(_, v)| v.separated).max_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio)) {
        let more = if versus.at_least { "> " } else { "" };
        facts.push((
            "Proved",
            format!("{more}{}", times(versus.ratio)),
            format!("time of “{}”", draw::clip(&arm.name, 30)),
        ));
    }
    html! {
        @if !facts.is_empty() {
            dl.facts { @for (name, value, note) in &facts { div { dt { (name) } dd { b { (value) } span { (note) } } } } }
        }
    }
}

fn areas(n: usize) -> String {
    if n == 1 { "1 area".to_owned() } else { format!("{n} areas") }
}

#[cfg(test)]
mod tests;
