//! Swap areas in the order of use, stock against flow, and what zram gains.

use maud::{Markup, html};
use ramline_model::swap::{Area, AreaKind, Flow, Slots, SwapState, SwapVerdict};
use ramline_model::zram::{Device, Field, FieldValue, Gain, Rung, Scope, Unit, ZramState};
use ramline_units::{Bytes, Limit};

use crate::html::draw::{Bar, Fill, bars};
use crate::html::format::{count, percent, size};
use crate::html::parts::{commands, figure, number, or_unknown, section, table, tag, text};

/// The section; nothing where neither was seen.
pub fn swap(swap: Option<&SwapState>, zram: Option<&ZramState>) -> Markup {
    if swap.is_none() && zram.is_none() {
        return html! {};
    }
    let lead =
        html! { @match swap { Some(state) => (verdict(&state.verdict)), None => "The swap areas were not seen." } };
    section(
        "swap",
        "Swap and zram",
        &lead,
        &html! {
            @if let Some(state) = swap { (areas(state)) (flow(state.flow)) }
            @if let Some(state) = zram { (ladder(state)) @for device in &state.devices { (device_part(device)) } }
        },
    )
}

fn verdict(verdict: &SwapVerdict) -> String {
    match verdict {
        SwapVerdict::NoSwap => "There is no swap area: memory of processes stays in RAM until they end.".to_owned(),
        SwapVerdict::Unused => "The areas are empty and nothing moves.".to_owned(),
        SwapVerdict::Harmless { stock } => format!("{} lie there and next to nothing moves: harmless.", size(*stock)),
        SwapVerdict::MovingOut { out_per_s } => {
            format!("{}/s are written and none come back: nobody waits for swap.", size(*out_per_s))
        }
        SwapVerdict::Active { in_per_s, out_per_s } => {
            format!("Pages come back: {}/s read and {}/s written.", size(*in_per_s), size(*out_per_s))
        }
        SwapVerdict::Unknown { stock } => format!("{} lie there; without a window no rate can be told.", size(*stock)),
    }
}

fn areas(state: &SwapState) -> Markup {
    if state.areas.is_empty() {
        return html! {};
    }
    let drawn: Vec<Bar> = state
        .areas
        .iter()
        .map(|area| Bar {
            name: format!("{}. {}", area.turn, area.path),
            value: format!("{} of {}", size(area.used), size(area.size)),
            share: area.share.unwrap_or(0.0),
            fill: if area.kind == AreaKind::Zram { Fill::Now } else { Fill::AtCost },
            interval: None,
            open: false,
        })
        .collect();
    let told: Vec<String> = state
        .areas
        .iter()
        .map(|area| format!("{} holds {} of {}", area.path, size(area.used), size(area.size)))
        .collect();
    html! {
        (figure("swap-chart", "Use of each swap area", &format!("A bar for each area, as long as the share in use: {}.", told.join(", ")),
            &bars(&drawn), &html! { "Share of each area in use, in the order in which the kernel fills them: " (told.join("; ")) "." }))
        (table(&[text("Area"), text("Turn"), text("Kind"), number("Priority"), number("Size"), number("Used"), text("Remarks")],
            &state.areas.iter().map(area_row).collect::<Vec<_>>()))
    }
}

fn area_row(area: &Area) -> Vec<Markup> {
    let kind = match area.kind {
        AreaKind::Zram => "compressed RAM",
        AreaKind::Flash => "flash, or says so",
        AreaKind::Rotating => "rotating, or says so",
        AreaKind::Unknown => "not known",
    };
    vec![
        html! { code { (area.path) } },
        html! { (area.turn) @if !area.striped_with.is_empty() { ", in turn with " (area.striped_with.join(", ")) } },
        html! { (kind) @if area.is_file { ", a file" } },
        html! { (area.priority) },
        html! { (size(area.size)) },
        html! { (size(area.used)) },
        html! { @if let Some(before) = &area.outranked_by { "comes after the slower " code { (before) } } @else { "none" } },
    ]
}

fn flow(flow: Option<Flow>) -> Markup {
    let Some(flow) = flow else { return html! {} };
    let rate = |bytes: Option<Bytes>| or_unknown(bytes.map(|bytes| format!("{}/s", size(bytes))));
    html! {
        h3 { "What moves" }
        (table(&[text("Between RAM and"), number("In"), number("Out")], &[
            vec![html! { "swap areas" }, rate(flow.in_per_s), rate(flow.out_per_s)],
            vec![html! { "zswap" }, rate(flow.zswap_in_per_s), rate(flow.zswap_out_per_s)],
            vec![html! { "nowhere: pages of zeros" }, rate(flow.zero_in_per_s), rate(flow.zero_out_per_s)],
        ]))
        p.note { "Rates over the window. Not known where this kernel does not count it." }
    }
}

fn ladder(state: &ZramState) -> Markup {
    html! {
        h3 { "zram " (tag(if state.rung == Rung::Active { "good" } else { "plain" }, rung(state.rung))) }
        @if let Some(container) = &state.container { p { "Inside a container (" (container) "): zram belongs to the host." } }
        @if let Some(next) = state.next.as_ref().filter(|_| state.rung.is_begun()) {
            p { "The next step: " (next.words) "." }
            @if let Some(command) = &next.command { (commands(std::slice::from_ref(command))) }
        }
        @if state.zswap_in_front { p { "zswap is on as well: it stands in front and compresses first." } }
        @if state.pool_starved { p { "Every zone is at min or below: the pool itself may fail to get memory." } }
    }
}

const fn rung(rung: Rung) -> &'static str {
    match rung {
        Rung::NotKnown => "not known",
        Rung::NotBuilt => "not built for this kernel",
        Rung::ModulePresent => "module there, not loaded",
        Rung::Loaded => "loaded, no device",
        Rung::DeviceExists => "a device without size",
        Rung::Sized => "sized, no swap header",
        Rung::Formatted => "formatted, not in use",
        Rung::Active => "in use",
        Rung::Outranked => "in use, outranked by an area that is not zram",
    }
}

fn device_part(device: &Device) -> Markup {
    let algorithm = device.algorithm.as_deref().unwrap_or("not known");
    html! {
        h4 { (device.name) " " (tag("plain", rung(device.rung))) }
        p { "Capacity " (size(device.disksize)) " uncompressed, algorithm " (algorithm)
            @if let Some(priority) = device.priority { ", priority " (priority) } "."
            @if let Some(over) = &device.outranked_by { " But " (over.words()) "." }
            @if device.beyond_twice_ram { " It is larger than twice the RAM: at 2:1 it cannot fill." } }
        @if let Some(gain) = &device.gain { (gained(&device.name, gain, device.slots)) }
        @if !device.fields.is_empty() {
            (table(&[text("Field"), text("Column of zramctl"), number("Value"), text("Scope"), text("What it means")],
                &device.fields.iter().map(field).collect::<Vec<_>>()))
        }
    }
}

fn gained(name: &str, gain: &Gain, slots: Option<Slots>) -> Markup {
    let cost = gain.mem_used + gain.slot_table;
    let longest = gain.stored.max(cost).as_f64().max(1.0);
    let bar = |name: &str, bytes: Bytes, fill| Bar {
        name: name.to_owned(),
        value: size(bytes),
        share: bytes.as_f64() / longest,
        fill,
        interval: None,
        open: false,
    };
    let told_ratio = gain.tells();
    let ratio = match gain.effective_ratio {
        Some(ratio) if told_ratio => ratio.to_string(),
        Some(_) => "too little stored to tell".to_owned(),
        None => "none yet, it is empty".to_owned(),
    };
    let if_told = |value: Option<String>| match value {
        Some(_) if !told_ratio => html! { "too little stored to tell" },
        value => or_unknown(value),
    };
    let told = format!(
        "{} are stored in {} of RAM ({} pool, {} slot table): {} saved",
        size(gain.stored),
        size(cost),
        size(gain.mem_used),
        size(gain.slot_table),
        gain.net_saved
    );
    let id: String = name.chars().filter(char::is_ascii_alphanumeric).collect();
    html! {
        @if gain.stored.0 > 0 {
            (figure(&format!("zram-chart-{id}"), &format!("What {name} stores and what it costs"), &format!("Two bars: {told}."),
                &bars(&[bar("stored, uncompressed", gain.stored, Fill::Partly), bar("RAM it takes", cost, Fill::Now)]),
                &html! { (told) ". Effective ratio " (ratio) "." }))
        }
        @if let Some(slots) = slots.filter(Slots::is_more_than_stored) { p { "As swap: " (slots.words()) "." } }
        (table(&[text("What it gains"), number("Value"), text("What it means")], &[
            vec![html! { "net saved" }, html! { (gain.net_saved.to_string()) }, html! { "stored less pool and slot table; negative when the overhead is larger" }],
            vec![html! { "effective ratio" }, html! { (ratio) }, html! { "compressed in RAM, over RAM the pool takes" }],
            vec![html! { "compression alone" }, if_told(gain.true_ratio.map(|r| r.to_string())), html! { "before the allocator's overhead" }],
            vec![html! { "incompressible" }, or_unknown(gain.incompressible.map(percent)), html! { "pages kept whole: they gain nothing" }],
            vec![html! { "headroom" }, html! { (size(gain.headroom)) }, html! { "capacity not yet used, uncompressed" }],
            vec![html! { "until its limit" }, html! { (gain.limit_headroom.map_or_else(|| "none seen".to_owned(), size)) }, html! { "RAM; writes fail at the limit" }],
            vec![html! { "cost when full" }, if_told(gain.full_cost.map(size)), html! { "RAM, at the effective ratio" }],
            vec![html! { "RAM and device together" }, if_told(gain.capacity.map(size)), html! { "what they hold at this ratio" }],
        ]))
    }
}

fn field(field: &Field) -> Vec<Markup> {
    let value = match field.value {
        FieldValue::Bytes(bytes) | FieldValue::Limit(Limit::At(bytes)) => size(bytes),
        FieldValue::Limit(Limit::Max) => "no limit".to_owned(),
        FieldValue::Count(n) => format!("{} {}", count(n), if field.unit == Unit::Pages { "pages" } else { "events" }),
    };
    let scope = match field.scope {
        Scope::Gauge => "now",
        Scope::Counter => "counter",
        Scope::Peak => "peak",
        Scope::Setting => "setting",
    };
    vec![
        html! { code.whole { (field.name) } },
        html! { @match &field.zramctl { Some(column) => { (column) }, None => { "none" } } },
        html! { (value) },
        html! { (scope) },
        html! { (field.meaning) },
    ]
}
