//! What the tiers cost on this machine: latency on one scale, as multiples of RAM, and throughput.

use maud::{Markup, html};
use ramline_evidence::{LatencyStats, TierMeasurement, TierReport};
use ramline_model::costs::CostRatio;
use ramline_model::tiers::Tier;

use crate::html::draw::{Span, latencies};
use crate::html::format::{count, digits, latency, measured, measured_ns, percent, seconds, size, times};
use crate::html::parts::{figure, number, or_unknown, remarks, section, table, tag, text};
use crate::screen::batches;

/// The section; nothing where neither the tiers nor their costs were seen.
pub fn tiers(tiers: &[Tier], measured: Option<&TierReport>, ratio: Option<&CostRatio>) -> Markup {
    if tiers.is_empty() && measured.is_none() {
        return html! {};
    }
    let lead = html! {
        @match measured {
            Some(report) => {
                "The time of one random access to one page, measured here in " (seconds(report.took_s)) "."
                @if let Some((name, multiple)) = slowest(report) { " The slowest, " (name) ", takes " b { (times(multiple)) } " as long as RAM." }
            }
            None => "Where memory is, and the order in which it gives way. Costs were not measured.",
        }
    };
    section(
        "tiers",
        "The tiers and what they cost",
        &lead,
        &html! {
            @if let Some(report) = measured { (costs(report)) }
            @if let Some(ratio) = ratio { (implied(ratio, measured)) }
            @if !tiers.is_empty() { (order(tiers)) }
        },
    )
}

fn costs(report: &TierReport) -> Markup {
    let rows: Vec<Vec<Markup>> = report.tiers.iter().map(|tier| row(report, tier)).collect();
    html! {
        (chart(report))
        @if !rows.is_empty() {
            (table(&[text("Tier"), number("p50 (of batches)"), number("p99"), number("Of RAM"), number("n"), text("Throughput"), text("How")], &rows))
        }
        (remarks("Conditions", &report.conditions))
        (remarks("Not measured", &report.skipped))
    }
}

fn implied(ratio: &CostRatio, report: Option<&TierReport>) -> Markup {
    // The ratio names tiers by their stable names; the reader knows them by their labels.
    let label = |id: &str| report.and_then(|r| r.tier(id)).map_or_else(|| id.to_owned(), |tier| tier.label.clone());
    html! {
        h3 { "What these costs alone imply" }
        p {
            "Reading a page again from " (label(&ratio.file_tier)) " takes " (measured_ns(ratio.file_ns))
            ", bringing one back from " (label(&ratio.swap_tier)) " " (measured_ns(ratio.swap_ns))
            @if ratio.hypothetical { " (no swap area was measured: this is what would be)" }
            ": r = " b { (digits(ratio.r)) } ", which implies " b { "swappiness " (ratio.swappiness) } ". "
            (tag("plain", &format!("{} confidence", ratio.confidence)))
        }
        @if let Some((with, compress)) = ratio.with_compression.as_ref().zip(ratio.compress_ns) {
            p { "With the write before it charged as well (" (measured_ns(compress)) "): r = " (digits(with.r)) ", swappiness " (with.swappiness) "." }
        }
        @if let Some(zram) = &ratio.if_zram {
            p { "With the fastest zram alone it would be r = " (digits(zram.r)) ", swappiness " (zram.swappiness) "." }
        }
        @if !ratio.blended.is_empty() {
            (table(&[text("In front"), text("Behind it"), number("Served from the front"), number("r"), number("Swappiness")],
                &ratio.blended.iter().map(|blend| vec![
                    html! { (label(&blend.fast_tier)) },
                    html! { (label(&blend.slow_tier)) },
                    html! { (percent(blend.fast_share)) },
                    html! { (digits(blend.r)) },
                    html! { (blend.swappiness) },
                ]).collect::<Vec<_>>()))
        }
        p.note { (ratio.formula) ". It says nothing about how often either happens: only an experiment proves a setting." }
    }
}

fn order(tiers: &[Tier]) -> Markup {
    let rows: Vec<Vec<Markup>> = tiers
        .iter()
        .map(|tier| {
            vec![
                html! { (tier.name) },
                html! { @match tier.gives_way { Some(place) => { (place) }, None => { "does not" } } },
                html! { @match tier.used { Some(used) => { (size(used)) }, None => { (or_unknown(None)) } } },
                html! { @match tier.capacity { Some(most) => { (size(most)) }, None => { "shares RAM" } } },
                or_unknown(tier.ram.map(size)),
                html! { (tier.how) },
            ]
        })
        .collect();
    html! {
        h3 { "The order in which they give way" }
        (table(&[text("Tier"), number("Gives way"), number("Holds"), number("Can hold"), number("RAM it takes"), text("How")], &rows))
        p.note { "Holds and can hold are uncompressed sizes, now. Equal places are balanced by swappiness and age." }
    }
}

fn slowest(report: &TierReport) -> Option<(&str, f64)> {
    let multiples =
        report.tiers.iter().filter_map(|tier| Some((tier.label.as_str(), report.multiple_of_ram(&tier.tier)?)));
    multiples.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, multiple)| *multiple > 1.0)
}

fn chart(report: &TierReport) -> Markup {
    let timed: Vec<(&TierMeasurement, LatencyStats)> =
        report.tiers.iter().filter_map(|tier| Some((tier, tier.latency?))).collect();
    let spans: Vec<Span> = timed
        .iter()
        .map(|(tier, stats)| {
            let p50 = latency(stats.p50_ns);
            let multiple = report.multiple_of_ram(&tier.tier).map(times);
            let value = multiple.map_or_else(|| p50.clone(), |multiple| format!("{p50} · {multiple}"));
            Span { name: tier.label.clone(), value, p50: stats.p50_ns, p99: stats.p99_ns }
        })
        .collect();
    let told: Vec<String> =
        spans.iter().map(|span| format!("{} {} (p99 {})", span.name, latency(span.p50), latency(span.p99))).collect();
    let Some(drawing) = latencies(&spans) else { return html! {} };
    figure(
        "tiers-chart",
        "Latency of each tier",
        &format!("A dot at the median and a line to the 99th percentile, on a logarithmic scale: {}.", told.join(", ")),
        &drawing,
        &html! { "Median (dot) to 99th percentile (line) of one access, on a logarithmic scale; multiples are of RAM: " (told.join("; ")) "." },
    )
}

fn row(report: &TierReport, tier: &TierMeasurement) -> Vec<Markup> {
    vec![
        html! { (tier.label) },
        or_unknown(tier.latency.map(|stats| match &tier.batches {
            Some(medians) => format!("{} ({})", latency(stats.p50_ns), batches(medians)),
            None => latency(stats.p50_ns),
        })),
        or_unknown(tier.latency.map(|stats| latency(stats.p99_ns))),
        or_unknown(report.multiple_of_ram(&tier.tier).map(times)),
        or_unknown(tier.latency.map(|stats| count(stats.n))),
        or_unknown(tier.throughput.as_ref().map(measured)),
        html! { (tier.method) @if !tier.notes.is_empty() { "; " (tier.notes.join("; ")) } },
    ]
}
