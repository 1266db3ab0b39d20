//! Charts of a sheet on a terminal: bars of `#`, and curves of letters in one frame.
//!
//! The numbers stand beside the bars, and in the tables.
//!
//! Worked example: the values 1 and 2 on 80 columns are bars of 30 and 60 characters.

use super::{Style, bar, chart, cut, width};
use crate::escape;
use crate::sheet::{Along, Bars, Panels, Points};

/// Columns of the longest bar, at least and at most.
const BAR: (usize, usize) = (10, 60);
/// A longer name is cut.
const NAME: usize = 30;
/// Blanks before the name, after it, and after the bar.
const GAPS: usize = 5;
/// Columns of a frame at most, and its lines.
const FRAME: (usize, usize) = (78, 12);

/// A line for each bar; nothing where there is nothing to draw, or a table beside has the numbers.
#[must_use]
pub fn bars(bars: &Bars, style: &Style) -> Vec<String> {
    let values = || bars.rows.iter().filter_map(|row| row.at).filter(|at| at.is_finite());
    let longest = values().fold(0.0, f64::max);
    if longest <= 0.0 || bars.in_table {
        return Vec::new();
    }
    let names: Vec<String> = bars.rows.iter().map(|row| name(&row.name)).collect();
    let of_names = names.iter().map(|name| width(name)).max().unwrap_or(0);
    let of_values = bars.rows.iter().filter(|row| row.at.is_some()).map(|row| width(&row.value)).max().unwrap_or(0);
    let room = style.width.saturating_sub(of_names + of_values + GAPS).clamp(BAR.0, BAR.1);
    let line = |(row, name): (&crate::sheet::Bar, &String)| {
        let padding = " ".repeat(of_names - width(name));
        match row.at {
            Some(at) => format!("  {name}{padding}  {} {}", bar(at / longest, room).trim_end_matches('.'), row.value),
            None => format!("  {name}{padding}  {}", row.value),
        }
    };
    bars.rows.iter().zip(&names).map(line).collect()
}

fn name(name: &str) -> String {
    let name = escape(name);
    name[..cut(&name, NAME)].to_owned()
}

/// All panels in one frame, a letter each, and what the letters stand for; nothing where there is nothing to draw.
#[must_use]
pub fn panels(panels: &Panels, style: &Style) -> Option<(Vec<String>, String)> {
    let shown = panels.panels.iter().filter_map(|panel| {
        let curve = panel.curves.first().map(|(_, points)| points);
        let edge = panel.areas.first().map(|(_, points)| points);
        curve.or(edge).filter(|points| points.len() > 1).map(|points| (panel.name.as_str(), points))
    });
    let lettered: Vec<(char, (&str, &Points))> = ('a'..='z').zip(shown).collect();
    let curves: Vec<(char, Points)> =
        lettered.iter().map(|(letter, (_, points))| (*letter, (*points).clone())).collect();
    let along = match panels.along {
        Along::Seconds => "s",
        Along::Rounds => "rounds",
        Along::Ram => "bytes of RAM",
    };
    let lines = chart(&curves, along, &panels.title, style.width.saturating_sub(2).min(FRAME.0), FRAME.1);
    let names: Vec<String> = lettered.iter().map(|(letter, (name, _))| format!("{letter} {name}")).collect();
    (!lines.is_empty()).then(|| (lines, names.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sheet::{Bar, Curve, Panel};

    fn two(style: Style, in_table: bool) -> Vec<String> {
        let row = |name: &str, value: &str, at| Bar { name: name.into(), value: value.into(), at, ..Bar::default() };
        let rows = vec![
            row("cold", "2.00 s", Some(2.0)),
            row("warm\u{1b}", "1.00 s", Some(1.0)),
            row("stuck", "no round", None),
        ];
        bars(&Bars { rows, in_table, ..Bars::default() }, &style)
    }

    #[test]
    fn the_longest_bar_takes_what_the_terminal_leaves_and_names_are_escaped() {
        let narrow = Style { colour: false, width: 35 };
        assert_eq!(
            two(narrow, false),
            ["  cold        ############## 2.00 s", "  warm\\u{1b}  ####### 1.00 s", "  stuck       no round"]
        );
        assert!(two(Style { colour: false, width: 20 }, false)[0].contains(&"#".repeat(10)), "never shorter");
        assert_eq!(two(narrow, true), Vec::<String>::new());
    }

    #[test]
    fn each_setting_is_a_curve_with_its_letter() {
        let panel = |name: &str, end| Panel {
            name: name.into(),
            curves: vec![(Curve::First, vec![(0.0, 0.0), (end, 4.0)])],
            ..Panel::default()
        };
        let both = Panels {
            title: "Rounds done".into(),
            along: Along::Seconds,
            unit: "rounds".into(),
            emulated: false,
            least: 0.0,
            legend: Vec::new(),
            panels: vec![panel("swap", 5.0), Panel::default(), panel("none", 10.0)],
            note: String::new(),
        };
        let (lines, names) = panels(&both, &Style { colour: false, width: 40 }).unwrap();
        assert_eq!((lines[0].as_str(), names.as_str()), ("Rounds done (up to 4.0)", "a swap, b none"));
        assert!(lines.iter().all(|line| width(line) <= 40) && lines[1].contains('b'), "{lines:#?}");
        assert_eq!(panels(&Panels { panels: vec![], ..both }, &Style::default()), None);
    }
}
