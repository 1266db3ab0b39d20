//! Reports as one HTML page each: no script, nothing loaded, charts as SVG, readable in print and on a telephone.
//!
//! [`page`], a function of [`CheckupReport`] as its text and JSON are, and [`series()`], one of the records
//! of a series in the lab.
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

use maud::{Markup, html};
use ramline_model::verdict::Status;

use crate::checkup;
use crate::checkup::report::CheckupReport;
pub use crate::fleet::page as fleet;
pub use crate::lab::page::{Reading, SeriesPage, series};
use crate::lab::{proof_answer, proof_sheet};
pub use crate::predict::page::prediction;
use ramline_sheet::format::{date, digits, percent, size, times};
use ramline_sheet::html::shell::{self, Section, Shell};
use ramline_sheet::html::{draw, parts, render};

/// The page of a checkup.
#[must_use]
pub fn page(report: &CheckupReport) -> String {
    let title = match report.machine.host.as_deref() {
        Some(host) => format!("Memory of {host} · ramline checkup"),
        None => format!("Memory of a machine with Linux {} · ramline checkup", report.machine.kernel),
    };
    shell::whole(&Shell {
        title,
        header: html! { (head(report)) (facts(report)) },
        before: html! {},
        sections: sections(report),
        ramline: &report.ramline,
    })
}

/// The sections the report has something for: its topics, the proof, and what it all rests on. Each is a sheet.
fn sections(report: &CheckupReport) -> Vec<Section> {
    let section = |id, name, heading, sheet| Section { id, name, body: render::topic(id, heading, &sheet) };
    let topics = checkup::topics(report).into_iter().map(|t| section(t.id, t.name, t.heading, t.sheet));
    let proof = report
        .proof
        .as_ref()
        .map(|table| section("proof", "Proof", "The proof", proof_sheet(table, &proof_answer(table))));
    let record = section("record", "This report", "This report", checkup::record(report));
    topics.chain(proof).chain([record]).collect()
}

fn head(report: &CheckupReport) -> Markup {
    let machine = &report.machine;
    html! {
        p.eyebrow {
            b { "ramline checkup" }
            @if let Some(host) = &machine.host { b { (host) } }
            span { "Linux " (machine.kernel) }
            span { (machine.cpus) @if machine.cpus == 1 { " CPU" } @else { " CPUs" } }
            @if let Some(hypervisor) = &machine.hypervisor { span { @if hypervisor == "unknown" { "a virtual machine" } @else { "guest of " (hypervisor) } } }
            @if let Some(container) = &machine.container { span { "in " (container) } }
            @if let Some(taken) = report.taken_unix_ns { span { (date(taken)) } }
        }
        h1 class=(verdict_class(report)) { @if report.sentence.is_empty() { "Nothing can be said: no MemTotal of /proc/meminfo was seen." } @else { (ramline_sheet::format::sentence(&report.sentence)) } }
        @for detail in report.verdict.iter().flat_map(|verdict| &verdict.details) { p.detail { (ramline_sheet::format::sentence(detail)) } }
    }
}

/// The colour of the status stands beside the sentence, which says the same.
fn verdict_class(report: &CheckupReport) -> &'static str {
    match report.verdict.as_ref().map(|verdict| verdict.status) {
        Some(Status::Ok) => "verdict good",
        Some(Status::Note | Status::Warning) => "verdict warn",
        Some(Status::Critical) => "verdict bad",
        Some(Status::Unknown) | None => "verdict",
    }
}

/// The few numbers to remember.
fn facts(report: &CheckupReport) -> Markup {
    let mut facts: Vec<(&str, String, String)> = Vec::new();
    if let Some(ledger) = &report.ledger {
        facts.push(("Memory", size(ledger.total), "MemTotal".to_owned()));
    }
    if let Some(verdict) = &report.verdict {
        let share = verdict.available.share_of(verdict.total).map(|share| format!("{} of memory", percent(share)));
        facts.push(("Available", size(verdict.available), share.unwrap_or_default()));
    }
    if let Some(some) = report.pressure.as_ref().and_then(|p| p.memory).and_then(|m| m.some_now()) {
        facts.push(("Waiting for memory", format!("{}\u{a0}%", digits(some)), "of the time, some task".to_owned()));
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
    parts::facts(&facts)
}

fn areas(n: usize) -> String {
    if n == 1 { "1 area".to_owned() } else { format!("{n} areas") }
}

#[cfg(test)]
pub(crate) mod tests;
