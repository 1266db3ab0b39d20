//! What was skipped, what was not seen, under what conditions all this holds, and what the checkup itself cost.

use maud::{Markup, html};

use crate::html::format::{date, latency, long, size};
use crate::html::parts::{commands, or_unknown, pairs, section, table, text};
use crate::report::CheckupReport;

/// What was not done and not seen; says so too when there is nothing.
pub fn gaps(report: &CheckupReport) -> Markup {
    let lead = html! {
        @if report.skipped.is_empty() && report.unseen.is_empty() { "Everything that was asked for was done and seen." }
        @else { "What this report does not rest on." }
    };
    section(
        "gaps",
        "Not done, not seen",
        &lead,
        &html! {
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
            @if !report.removed.is_empty() {
                h3 { "Left by an earlier run, and removed before this one" }
                ul { @for line in &report.removed { li { (line) } } }
            }
            @if !report.leftovers.is_empty() {
                h3 { "Left behind by an earlier run" }
                ul { @for line in &report.leftovers { li { (line) } } }
            }
        },
    )
}

/// Conditions and cost.
pub fn conditions(report: &CheckupReport) -> Markup {
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
            "Window",
            html! { @match report.window { Some(span) => { (long(span)) ", rates come from it" }, None => { "none: counters since boot only, no rates" } } },
        ),
        ("What it took", html! { (latency(cost.wall)) " from start to report, " (latency(cost.cpu)) " of CPU time" }),
        (
            "What it used",
            html! { (size(cost.peak_memory)) " of memory at its peak, " (size(cost.written)) " written to disks" },
        ),
    ];
    let lead = html! { "What held while this was measured, and what looking cost the machine." };
    section("conditions", "Conditions and cost", &lead, &pairs(&rows))
}
