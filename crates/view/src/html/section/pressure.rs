//! Whether anything waits for memory, and how far each zone is from the moment reclaim begins.

use maud::{Markup, html};
use ramline_model::pressure::{PressureModel, PressureState, Psi, PsiGap, Rates};
use ramline_model::watermarks::{Distance, Watermarks, ZoneMarks};
use ramline_snapshot::pressure::Stall;

use crate::html::draw::{Marks, watermarks};
use crate::html::format::{digits, long, minutes, percent, size};
use crate::html::parts::{figure, number, or_unknown, section, table, tag, text};

/// The section; nothing where neither was seen.
pub fn pressure(model: Option<&PressureModel>, marks: Option<&Watermarks>) -> Markup {
    if model.is_none() && marks.is_none() {
        return html! {};
    }
    let lead = html! {
        @if let Some(model) = model { @let (kind, _, words) = judged(model.state); (words) " " (tag(kind, state(model.state))) }
        @else { "How far each zone is from the moment reclaim begins." }
    };
    section(
        "pressure",
        "Whether anything waits",
        &lead,
        &html! {
            @if let Some(model) = model { (stalls(model)) (rates(model)) }
            @if let Some(marks) = marks { (zones(marks)) }
        },
    )
}

/// One word for the state.
pub fn state(state: PressureState) -> &'static str {
    judged(state).1
}

/// The class of its tag, and one word; the sentence is the model's own.
const fn judged(state: PressureState) -> (&'static str, &'static str, &'static str) {
    let (class, word) = match state {
        PressureState::Unknown => ("plain", "unknown"),
        PressureState::Calm => ("good", "calm"),
        PressureState::Reclaiming => ("good", "reclaiming"),
        PressureState::ReadAgain => ("good", "reading again"),
        PressureState::Elsewhere => ("plain", "not the machine"),
        PressureState::GroupAtLimit => ("warn", "a group at its limit"),
        PressureState::Stalling => ("warn", "waiting"),
        PressureState::Refaulting => ("bad", "does not fit"),
        PressureState::Thrashing => ("bad", "thrashing"),
    };
    (class, word, state.words())
}

fn stalls(model: &PressureModel) -> Markup {
    let resources = [("memory", model.memory), ("block I/O", model.io), ("CPU", model.cpu)];
    let mut rows: Vec<Vec<Markup>> = Vec::new();
    for (name, psi) in resources {
        let Some(psi) = psi else { continue };
        rows.push(stall(&format!("{name}, some"), psi.some, psi.some_percent));
        if name == "CPU" && psi.full.is_some() {
            // Defined for groups only: whenever all tasks of the system wait for the CPU, it runs something.
            let dash = || html! { "-" };
            rows.push(vec![html! { "CPU, full" }, dash(), dash(), dash(), dash(), dash()]);
        } else if psi.full.is_some() {
            rows.push(stall(&format!("{name}, full"), psi.full, psi.full_percent));
        }
    }
    html! {
        h3 { "Time lost to waiting (PSI)" }
        @if rows.is_empty() { p { (model.memory_gap.as_ref().map_or_else(|| "Stall times (PSI) were not seen".to_owned(), PsiGap::words)) "." } }
        @else {
            (table(&[text("Stalled on"), number("This window"), number("10 s"), number("60 s"), number("300 s"), number("Since boot")], &rows))
            p.note { "Share of time in which at least one task (some), or all at once (full), stood still for the resource. The averages are the kernel's." }
        }
    }
}

fn stall(name: &str, stall: Option<Stall>, over_window: Option<f64>) -> Vec<Markup> {
    let share = |value: Option<f64>| or_unknown(value.map(|percents| percent(percents / 100.0)));
    vec![
        html! { (name) },
        share(over_window),
        share(stall.map(|s| s.avg10)),
        share(stall.map(|s| s.avg60)),
        share(stall.map(|s| s.avg300)),
        or_unknown(stall.map(|s| long(ramline_units::Nanos(s.total_us.saturating_mul(1000))))),
    ]
}

fn rates(model: &PressureModel) -> Markup {
    let Some((rates, span)) = model.rates.zip(model.span) else {
        return html! { p.note { "Counters since boot only: no rate is told from them." } };
    };
    html! {
        h3 { "What reclaim did" }
        (table(&[text("Rate"), number("Value"), text("What it means")], &listed(&rates)))
        p.note { "Rates over a window of " (long(span)) "; pages a second unless a unit is given." }
    }
}

fn listed(rates: &Rates) -> Vec<Vec<Markup>> {
    let plain = |value: Option<f64>| value.map(digits);
    let share = |value: Option<f64>| value.map(percent);
    let rows = [
        ("file refaults", plain(rates.refault_file), "read again soon after they were evicted"),
        ("anonymous refaults", plain(rates.refault_anon), "needed again soon after they were swapped out"),
        ("major faults", plain(rates.major_faults), "faults that had to read, events a second"),
        ("scanned", plain(rates.scanned), "looked at by reclaim"),
        ("freed", plain(rates.stolen), "taken by reclaim"),
        ("efficiency", share(rates.efficiency), "freed of scanned; unknown when nothing was scanned"),
        ("by tasks themselves", share(rates.direct_share), "share of scanning that allocations had to wait for"),
        ("stalled allocations", plain(rates.allocstall), "events a second"),
        (
            "killed for memory",
            rates.oom_kills.map(|n| n.to_string()),
            "processes in this window, in a group at its limit or on the machine",
        ),
    ];
    rows.into_iter().map(|(name, value, words)| vec![html! { (name) }, or_unknown(value), html! { (words) }]).collect()
}

fn zones(marks: &Watermarks) -> Markup {
    let zones: Vec<&ZoneMarks> = marks.nodes.iter().flat_map(|node| &node.zones).collect();
    let drawn: Vec<Marks> = zones
        .iter()
        .map(|zone| Marks {
            name: place(zone),
            value: format!("{} free", size(zone.free)),
            free: zone.free,
            min: zone.min,
            low: zone.low,
            high: zone.high,
        })
        .collect();
    let told: Vec<String> = zones
        .iter()
        .map(|zone| {
            format!(
                "{}: {} free against min {}, low {}, high {}",
                place(zone),
                size(zone.free),
                size(zone.min),
                size(zone.low),
                size(zone.high)
            )
        })
        .collect();
    let columns = [
        text("Zone"),
        number("Managed"),
        number("Free"),
        number("min"),
        number("low"),
        number("high"),
        number("To waking kswapd"),
        number("To stalls"),
        number("Reserve"),
        text("Now"),
    ];
    let rows: Vec<Vec<Markup>> = zones
        .iter()
        .map(|zone| {
            vec![
                html! { (place(zone)) },
                html! { (size(zone.managed)) },
                html! { (size(zone.free)) },
                html! { (size(zone.min)) },
                html! { (size(zone.low)) },
                html! { (size(zone.high)) },
                distance(&zone.to_low),
                distance(&zone.to_min),
                html! { (size(zone.reserve)) },
                html! { (zone.band.meaning()) },
            ]
        })
        .collect();
    html! {
        h3 { "Zones and watermarks" }
        @if drawn.is_empty() { p { "No populated zone was seen." } }
        @else {
            (figure("zones-chart", "Free memory against the watermarks",
                &format!("A bar of free memory for each zone with marks at min, low and high. {}.", told.join(". ")),
                &watermarks(&drawn),
                &html! { "Free memory (bar) against the watermarks, each zone on its own scale, which ends at 1.6 times high; an arrow means more than that: " (told.join("; ")) "." }))
            (table(&columns, &rows))
            (totals(marks))
        }
    }
}

fn place(zone: &ZoneMarks) -> String {
    format!("node {} {}", zone.node, zone.name)
}

fn distance(distance: &Distance) -> Markup {
    html! {
        (distance.bytes.to_string().replace(' ', "\u{a0}"))
        @if let Some(left) = distance.minutes { " (" (minutes(left)) ")" }
    }
}

fn totals(marks: &Watermarks) -> Markup {
    html! {
        @for node in &marks.nodes {
            p.note {
                b { "Node " (node.node) ": " } (size(node.free)) " free of " (size(node.managed)) "; ordinary allocations can take "
                (distance(&node.to_low)) " before kswapd wakes and " (distance(&node.to_min)) " before they stall." @if node.to_low.minutes.is_some() { " Times: if it went on like over the window." }
            }
        }
        @if let Some(scale) = marks.scale {
            p.note {
                b { "vm.watermark_scale_factor = " (scale.value) } @if scale.has_effect { " sets" } @else { " does not set" }
                " the gap between the marks: below " (digits(scale.crossover)) " it has no effect, because min/4 is larger (min_free " (size(scale.min_free)) "). "
                "The gap is " (size(scale.gap)) ", all zones together."
            }
        }
        @if marks.not_handed_out.0 > 0 {
            p.note {
                (size(marks.not_handed_out)) " of RAM is in no zone yet: the kernel hands it out before kswapd wakes"
                @if marks.nodes.len() == 1 { ", and the distances count it." } @else { ", so the true distances are longer." }
            }
        }
    }
}

/// For the facts at the top: `some` over the window, or of the last 10 s.
pub fn waiting(psi: Option<&Psi>) -> Option<String> {
    psi.and_then(Psi::some_now).map(|percents| percent(percents / 100.0))
}
