//! What was not done, what was not seen, under what conditions all this holds, and what the checkup itself cost.

use maud::{Markup, html};

use crate::html::format::{date, latency, long, size};
use crate::html::parts::{commands, or_unknown, pairs, table, text};
use crate::report::CheckupReport;

/// One section, folded: who reads on wants to know what the rest stands on.
pub fn record(report: &CheckupReport) -> Markup {
    html! {
        section id="record" {
            h2 { "This report" }
            p.lead { (lead(report)) }
            div.folds {
            @if !report.removed.is_empty() || !report.leftovers.is_empty() { details { summary { "Left behind by an earlier run" } (left(report)) } }
            @if !report.skipped.is_empty() || !report.unseen.is_empty() {
                details { summary { "Not done, not seen" } (gaps(report)) }
            }
            details { summary { "Conditions and cost" } (conditions(report)) }
            }
        }
    }
}

/// How much is missing, in a sentence.
fn lead(report: &CheckupReport) -> String {
    match (report.skipped.len(), report.unseen.len()) {
        (0, 0) => "Everything that was asked for was done and seen.".to_owned(),
        (done, 0) => format!("Not done: {}.", steps(done)),
        (0, seen) => format!("Not seen: {}.", sources(seen)),
        (done, seen) => format!("Not done: {}. Not seen: {}.", steps(done), sources(seen)),
    }
}

fn steps(n: usize) -> String {
    if n == 1 { "1 step".to_owned() } else { format!("{n} steps") }
}

fn sources(n: usize) -> String {
    if n == 1 { "1 source".to_owned() } else { format!("{n} sources") }
}

fn left(report: &CheckupReport) -> Markup {
    html! {
        @if !report.removed.is_empty() {
            h3 { "Removed before this one" }
            ul { @for line in &report.removed { li { (line) } } }
        }
        @if !report.leftovers.is_empty() {
            h3 { "Still there" }
            ul { @for line in &report.leftovers { li { (line) } } }
        }
    }
}

fn gaps(report: &CheckupReport) -> Markup {
    html! {
        @if !report.skipped.is_empty() {
            (table(&[text("Not done"), text("Why"), text("What would do it")], &report.skipped.iter().map(|skipped| vec![
                html! { (skipped.what) },
                html! { (skipped.why) },
                html! { @match &skipped.fix { Some(fix) => { (commands(std::slice::from_ref(fix))) }, None => { "nothing helps here" } } },
            ]).collect::<Vec<_>>()))
        }
        @if !report.unseen.is_empty() {
            (table(&[text("Not seen"), text("File"), text("Why")], &report.unseen.iter().map(|unseen| vec![
                html! { (unseen.section) },
                html! { code { (unseen.why.path) } },
                html! { (unseen.why.reason) },
            ]).collect::<Vec<_>>()))
        }
    }
}

fn conditions(report: &CheckupReport) -> Markup {
    let machine = &report.machine;
    let cost = &report.cost;
    let kernel = format!("{} on {}", machine.kernel, machine.arch);
    let who = if machine.root { "root" } else { "an ordinary user" };
    let rows: Vec<(&str, Markup)> = vec![
        ("Kernel", html! { (kernel) }),
        (
            "CPUs, pages",
            html! { (machine.cpus) " online, pages of " (size(ramline_units::Bytes(machine.page_size.0))) },
        ),
        ("Hypervisor", html! { (machine.hypervisor.as_deref().unwrap_or("none seen")) }),
        ("Container", html! { (machine.container.as_deref().unwrap_or("none seen")) }),
        ("Up for", or_unknown(machine.uptime.map(long))),
        ("Taken", or_unknown(report.taken_unix_ns.map(date))),
        ("By", html! { (who) ", ramline " (report.ramline) ", " (report.mode.word()) " checkup" }),
        (
            "Rates over",
            html! { @match report.window { Some(span) => { (long(span)) }, None => { "no window: counters since boot only" } } },
        ),
        ("What it took", html! { (latency(cost.wall)) " from start to report, " (latency(cost.cpu)) " of CPU time" }),
        (
            "What it used",
            html! { (size(cost.peak_memory)) " of memory at its peak, " (size(cost.written)) " written to disks" },
        ),
    ];
    pairs(&rows)
}
