//! The figures of a series: those it leads with as charts, every run a dot; then all others.

use maud::{Markup, html};
use ramline_evidence::{ArmResult, FigureResult};

use super::{SeriesPage, shown};
use crate::html::draw::{Axis, Dots, dots};
use crate::html::parts::{figure, number, section, table, text};
use crate::screen;

/// Charts that lead.
const LEAD: usize = 4;
/// Dots in the other charts: more would make the page too large to mail.
const MOST_DOTS: usize = 900;

/// The names of all figures, those that lead first.
pub fn names<'a>(page: &SeriesPage<'a>) -> Vec<&'a str> {
    let of_arms = page.table.arms.iter().flat_map(|arm| &arm.figures).map(|figure| figure.name.as_str());
    let has = |name: &str| page.table.arms.iter().any(|arm| arm.figure(name).is_some());
    let mut names: Vec<&str> = Vec::new();
    for name in page.lead.iter().copied().filter(|name| has(name)).chain(of_arms) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// How many of these lead.
fn leading(page: &SeriesPage<'_>, names: &[&str]) -> usize {
    let named = names.iter().filter(|name| page.lead.contains(name)).count();
    if named == 0 { names.len().min(LEAD) } else { named.min(LEAD) }
}

/// What came out, in one sentence: that of the terminal.
pub fn headline(page: &SeriesPage<'_>) -> String {
    let names = names(page);
    let lead: Vec<&str> = names.iter().copied().take(leading(page, &names)).collect();
    screen::headline(page.table, &lead)
}

/// The leading figures, and what may be claimed of them.
pub fn result(page: &SeriesPage<'_>) -> Markup {
    let names = names(page);
    if names.is_empty() {
        return html! {};
    }
    let names: Vec<&str> = names.iter().copied().take(leading(page, &names)).collect();
    let claims: Vec<String> = page
        .table
        .arms
        .iter()
        .flat_map(|arm| arm.figures.iter().map(move |figure| (arm, figure)))
        .filter(|(_, figure)| figure.claimed && names.contains(&figure.name.as_str()))
        .filter_map(|(arm, figure)| {
            let kind = if arm.emulated && figure.measurement.unit == "s" { " (emulated seconds)" } else { "" };
            Some(format!("{}: {}{kind}: {}.", arm.name, figure.name, figure.versus_first.as_ref()?.sentence()))
        })
        .collect();
    let lead = html! { "Every run is a dot, the line their median, the band its interval. Compared with " (page.against()) "; a difference is claimed from 6 runs on." };
    section(
        "result",
        "Result",
        &lead,
        &html! {
            @for (at, name) in names.iter().enumerate() { (chart(page, name, &format!("result-{at}"))) }
            @if claims.is_empty() { p.note { "No significant difference in these figures" @if few(page) { " (6 runs of each setting are needed)" } "." } }
            @else {
                h3 { "What may be claimed" }
                ul.remarks { @for claim in &claims { li { (claim) } } }
            }
        },
    )
}

/// The other figures as charts while there is room, and all of them as a table.
pub fn all(page: &SeriesPage<'_>) -> Markup {
    let names = names(page);
    if names.is_empty() {
        return html! {};
    }
    let mut room = MOST_DOTS;
    let drawn: Vec<&str> = names
        .iter()
        .copied()
        .skip(leading(page, &names))
        .take_while(|name| {
            let dots: usize =
                page.table.arms.iter().filter_map(|arm| arm.figure(name)).map(|f| f.values.len() + 4).sum();
            let fits = dots <= room;
            room = room.saturating_sub(dots);
            fits
        })
        .collect();
    let mut columns = vec![text("Figure")];
    columns.extend(page.table.arms.iter().map(|arm| number(&arm.name)));
    let cell = |arm: &ArmResult, name: &str| match arm.figure(name) {
        None => html! { "-" },
        Some(figure) => html! {
            (shown(figure.measurement.median, &figure.measurement.unit, arm.emulated))
            @if figure.claimed { " " b { "≠" } }
            @if figure.measurement.n > 1 { " " span.spread { (spread(figure)) } }
        },
    };
    let rows: Vec<Vec<Markup>> = names
        .iter()
        .map(|name| {
            let mut row = vec![html! { (name) }];
            row.extend(page.table.arms.iter().map(|arm| cell(arm, name)));
            row
        })
        .collect();
    let lead = html! { "Medians, with the interval over the runs: 95 % from 6 runs on, below that the range. " b { "≠" } " marks what is claimed to differ from " (page.against()) "." };
    section(
        "figures",
        "All figures",
        &lead,
        &html! {
            (table(&columns, &rows))
            @for (at, name) in drawn.iter().enumerate() { (chart(page, name, &format!("figure-{at}"))) }
        },
    )
}

fn few(page: &SeriesPage<'_>) -> bool {
    page.table.arms.iter().any(|arm| arm.n < 6)
}

fn spread(figure: &FigureResult) -> String {
    screen::spread_of(&figure.measurement).replace(' ', "\u{a0}").replace("\u{a0}to\u{a0}", " to ")
}

fn chart(page: &SeriesPage<'_>, name: &str, id: &str) -> Markup {
    let has: Vec<(&ArmResult, &FigureResult)> =
        page.table.arms.iter().filter_map(|arm| Some((arm, arm.figure(name)?))).collect();
    let Some(axis) = Axis::of(has.iter().flat_map(|(_, figure)| figure.values.iter().copied())) else {
        return html! { p.note { b { (name) } ": 0 in every run of every setting." } };
    };
    let unit = has.first().map(|(_, figure)| figure.measurement.unit.clone()).unwrap_or_default();
    // On the axis one word for all, and of a mixed series each arm says for itself.
    let emulated = has.iter().all(|(arm, _)| arm.emulated);
    let rows: Vec<Dots> = has
        .iter()
        .map(|(arm, figure)| {
            let interval = figure.measurement.interval().0;
            Dots {
                name: arm.name.clone(),
                value: shown(figure.measurement.median, &unit, arm.emulated),
                runs: figure.values.clone(),
                median: figure.measurement.median,
                interval: (interval.low, interval.high),
            }
        })
        .collect();
    let told: Vec<String> = has
        .iter()
        .map(|(arm, figure)| {
            let median = shown(figure.measurement.median, &unit, arm.emulated);
            let exact = if figure.measurement.ci95.is_some() { "95 % interval" } else { "range" };
            match figure.measurement.n {
                0 | 1 => format!("{}: {median} (n 1)", arm.name),
                n => format!("{}: {median} (n {n}, {exact} {})", arm.name, spread(figure)),
            }
        })
        .collect();
    let scale = match axis {
        Axis::Log(..) => "The axis is logarithmic.",
        Axis::Linear(..) => "The axis begins at zero.",
    };
    let better = match has.first().map(|(_, figure)| figure.better) {
        Some(ramline_evidence::Better::Lower) => " Less is better.",
        Some(ramline_evidence::Better::Higher) => " More is better.",
        _ => "",
    };
    html! {
        h3 { (crate::html::format::sentence(name)) }
        (figure(
            id,
            name,
            &format!("A row for each setting, a dot for each run: {}.", told.join(", ")),
            &dots(&rows, axis, |value| shown(value, &unit, emulated)),
            &html! { (scale) (better) " Medians: " (told.join("; ")) "." },
        ))
    }
}
