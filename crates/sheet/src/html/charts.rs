//! Charts of a sheet as figures of the page: a heading, the drawing, and below it how to read it.
//!
//! Worked example: bars whose runs are known are rows of dots, one a run; others are bars from zero with their interval.

use maud::{Markup, html};

use super::draw::{self, Axes, Axis, Drawing};
use super::parts::figure;
use crate::format::{digits, keep, measured_size, percent, sentence};
use crate::sheet::{Along, Bars, LegendKey, Panel, Panels};
use crate::text::number;

/// Values beside each other.
pub fn bars(id: &str, bars: &Bars) -> Markup {
    if bars.is_flat() {
        return html! { p.note { b { (bars.title) } ": 0 in every run." } };
    }
    let words: Vec<String> = bars.rows.iter().map(|row| format!("{}: {}", row.name, row.value)).collect();
    let words = words.join(", ");
    let (drawing, kind, read): (Drawing, &str, Vec<&str>) = match Axis::for_rows(&bars.rows) {
        Some(axis) => {
            let tick = |value| shown(value, &bars.unit, bars.emulated);
            let scale = match axis {
                Axis::Log(..) => "The axis is logarithmic.",
                Axis::Linear(..) => "The axis begins at zero.",
            };
            let dots = "A dot for each run, a line at their median, a band for its interval.";
            (draw::dots(&bars.rows, axis, tick), "A row for each setting, a dot for each run", vec![dots, scale])
        }
        None => {
            let lines = bars.rows.iter().any(|row| row.interval.is_some());
            let lines = lines.then_some("The thin line is the interval.");
            let bounds = bars.rows.iter().any(|row| row.open);
            let bounds = bounds.then_some("A bar with an arrow is a lower bound: the clock ran out first.");
            let read = ["From zero."].into_iter().chain(lines).chain(bounds).collect();
            (draw::bars(&bars.rows), "A bar for each setting from zero", read)
        }
    };
    let read = [read.join(" ").as_str(), &bars.note].join(" ");
    html! {
        h3 { (sentence(&bars.title)) }
        (figure(id, &bars.title, &format!("{kind}: {words}."), &drawing, &html! { (read.trim_end()) }))
    }
}

/// Values over time.
pub fn panels(id: &str, all: &Panels) -> Markup {
    let axes = Axes::for_panels(all);
    let end = match all.along {
        Along::Seconds => shown(axes.width, "s", all.emulated),
        Along::Rounds => format!("round {}", digits(axes.width)),
        Along::Ram => measured_size(axes.width),
    };
    let begin = match all.along {
        Along::Seconds => "0\u{a0}s".to_owned(),
        Along::Rounds => "round 1".to_owned(),
        Along::Ram => measured_size(axes.from),
    };
    let told = |panel: &Panel| {
        let parts = [panel.value.as_str(), &panel.note].into_iter().filter(|part| !part.is_empty());
        format!("{}: {}", panel.name, parts.collect::<Vec<_>>().join(", "))
    };
    let words: Vec<String> = all.panels.iter().map(told).collect();
    let notes: Vec<String> = all
        .panels
        .iter()
        .filter(|panel| !panel.note.is_empty())
        .map(|panel| format!("{}: {}", panel.name, panel.note))
        .collect();
    let caption = html! {
        @if !all.legend.is_empty() {
            ul.legend { @for (key, name) in &all.legend { li { (sample(*key)) (name) } } }
        }
        (keep(&all.note)) @if !all.note.is_empty() { " " } "Each chart is " (high(axes.height, all)) " high"
        @for note in &notes { "; " (keep(note)) } "."
    };
    html! {
        h3 { (all.title) }
        (figure(
            id,
            &all.title,
            &format!("One small chart for each setting on the same axes: {}.", words.join(", ")),
            &draw::panels(&all.panels, &axes, (&begin, &end)),
            &caption,
        ))
    }
}

fn sample(key: LegendKey) -> Markup {
    match key {
        LegendKey::Area(tint) => draw::swatch(draw::fill(tint)),
        LegendKey::Curve(line) => draw::sample(line),
    }
}

/// A value on an axis; seconds of an emulated processor say so.
fn shown(value: f64, unit: &str, emulated: bool) -> String {
    if value == 0.0 && unit == "s" {
        return "0\u{a0}s".to_owned();
    }
    number::value(value, unit, emulated).replace(' ', "\u{a0}")
}

/// The height of a chart.
fn high(value: f64, all: &Panels) -> String {
    match all.unit.as_str() {
        "bytes" => measured_size(value),
        "s" => shown(value, "s", all.emulated),
        "share" => percent(value),
        unit => format!("{}\u{a0}{unit}", digits(value)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::{Bar, Curve};

    #[test]
    fn runs_are_dots_and_a_value_alone_is_a_bar_with_its_interval_or_its_arrow() {
        let row = |at, interval, open, runs: &[f64]| Bar {
            name: "swap".into(),
            value: "1.00 s".into(),
            at: Some(at),
            interval,
            runs: runs.to_vec(),
            open,
        };
        let of = |rows| bars("x-1", &Bars { title: "wall".into(), unit: "s".into(), rows, ..Bars::default() }).0;
        let dots = of(vec![row(1.0, Some((0.9, 1.1)), false, &[0.9, 1.0, 1.1])]);
        assert_eq!((dots.matches("<circle").count(), dots.matches("class=\"band\"").count()), (3, 1));
        assert!(dots.starts_with("<h3>Wall</h3><figure id=\"x-1\">") && dots.contains("begins at zero"), "{dots}");
        let plain = of(vec![row(1.0, Some((0.5, 2.0)), false, &[]), row(2.0, None, true, &[])]);
        assert_eq!(
            (plain.matches("class=\"interval\"").count(), plain.matches("<svg class=\"arrow\"").count()),
            (3, 1)
        );
        assert!(plain.contains("lower bound") && plain.contains("width=\"50.000%\""), "{plain}");
        assert!(of(vec![row(0.0, None, false, &[0.0])]).contains("<b>wall</b>: 0 in every run."));
    }

    #[test]
    fn a_chart_over_time_says_how_high_it_is_and_what_its_curves_are() {
        let panel = Panel {
            name: "zram".into(),
            curves: vec![(Curve::First, vec![(0.0, 0.0), (2.0, 0.5)])],
            ..Panel::default()
        };
        let all = Panels {
            title: "Stalls".into(),
            along: Along::Seconds,
            unit: "share".into(),
            emulated: true,
            least: 1.0,
            legend: vec![(LegendKey::Curve(Curve::First), "of the time".into())],
            panels: vec![panel],
            note: String::new(),
        };
        let drawn = panels("x", &all).0.replace('\u{a0}', " ");
        assert!(drawn.contains("Each chart is 100 % high.") && drawn.contains(">2.00 s emulated<"), "{drawn}");
        assert!(drawn.contains("</svg>of the time</li>") && drawn.contains("class=\"area\""), "{drawn}");
        assert!(drawn.contains("points=\"0,70.0 1000,35.0\""), "half of 70 px: {drawn}");
    }
}
