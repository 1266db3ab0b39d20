//! Charts as data: values beside each other, and values over time. The values are in their own unit; where they lie on a drawing is the
//! renderer's to work out.
//!
//! Medians, rates and shares come from the study.
//!
//! Worked example: two [`Bar`]s of 1.0 and 2.0 are half as long and as long as the chart, as letters or as SVG.

use super::Tint;

/// On the first axis seconds or the number of a round, on the second a value.
pub type Points = Vec<(f64, f64)>;

/// A value beside others.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bar {
    /// What it is.
    pub name: String,
    /// The value in words, with the unit.
    pub value: String,
    /// The value; `None` where there is none to draw.
    pub at: Option<f64>,
    /// Its interval.
    pub interval: Option<(f64, f64)>,
    /// What it is the median of, where that is known: one value a run.
    pub runs: Vec<f64>,
    /// The true value is larger: the clock ran out first.
    pub open: bool,
}

/// Values beside each other, on one scale from zero.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Bars {
    /// What they are: `wall`.
    pub title: String,
    /// Their unit: `s`, `bytes`, `bytes/s`, or a word that stands behind the number.
    pub unit: String,
    /// They are seconds of an emulated processor.
    pub emulated: bool,
    /// One below the other; the first is what the others are compared with.
    pub rows: Vec<Bar>,
    /// How to read them, below a drawing that does not say it itself.
    pub note: String,
    /// A terminal has them in the table beside and draws nothing.
    pub in_table: bool,
}

impl Bars {
    /// True where there is nothing to draw: no value, or all of them 0.
    #[must_use]
    pub fn is_flat(&self) -> bool {
        let values = self.rows.iter().flat_map(|row| row.at.iter().chain(&row.runs));
        values.copied().all(|value| value == 0.0 || !value.is_finite())
    }
}

/// What lies along the first axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Along {
    /// Seconds from 0.
    #[default]
    Seconds,
    /// Rounds from 1.
    Rounds,
    /// Bytes of RAM, from the least that is drawn.
    Ram,
}

/// What a curve is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Curve {
    /// What the panel is about.
    First,
    /// What it is compared with.
    Second,
    /// One run of several.
    Run,
    /// A bound.
    Bound,
}

/// What a sample in a legend shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LegendKey {
    /// An area.
    Area(Tint),
    /// A curve.
    Curve(Curve),
}

/// A value over the last moments.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Trend {
    /// What it is.
    pub name: String,
    /// What it is called where it is explained.
    pub key: String,
    /// What it is now, in words, with the unit.
    pub value: String,
    /// What else is to be known of it; may be empty.
    pub note: String,
    /// How it is meant.
    pub paint: super::Paint,
    /// One a moment, the latest last; `None` where it is not known.
    pub points: Vec<Option<f64>>,
    /// A curve is as high as this at least, so that next to nothing does not look like much.
    pub least_top: f64,
}

/// One of several small charts.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Panel {
    /// What it is of.
    pub name: String,
    /// What it comes to, in words.
    pub value: String,
    /// What else is to be known of it; may be empty.
    pub note: String,
    /// Areas from zero up to these points, the highest first: those below cover it.
    pub areas: Vec<(Tint, Points)>,
    /// Curves on top of them.
    pub curves: Vec<(Curve, Points)>,
}

/// Small charts of the same thing, one a setting, all on the same two axes.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Panels {
    /// What it is of: `Rounds done`.
    pub title: String,
    /// The first axis.
    pub along: Along,
    /// The unit of the second: `bytes`, `s`, `share`, or a word that stands behind the number.
    pub unit: String,
    /// Its seconds are those of an emulated processor.
    pub emulated: bool,
    /// The second axis goes up to this at least.
    pub least: f64,
    /// What the areas and curves are, where there are several.
    pub legend: Vec<(LegendKey, String)>,
    /// One below the other.
    pub panels: Vec<Panel>,
    /// How to read it.
    pub note: String,
}

impl Panels {
    /// All points that are drawn.
    pub fn points(&self) -> impl Iterator<Item = &(f64, f64)> {
        self.panels.iter().flat_map(|panel| {
            let areas = panel.areas.iter().map(|(_, points)| points);
            areas.chain(panel.curves.iter().map(|(_, points)| points)).flatten()
        })
    }

    /// True where there is nothing to draw: no point above zero.
    #[must_use]
    pub fn is_flat(&self) -> bool {
        !self.points().any(|(_, value)| *value > 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zeros_and_what_is_no_number_draw_nothing() {
        let of = |at: Option<f64>, runs: &[f64]| {
            let row = Bar { at, runs: runs.to_vec(), ..Bar::default() };
            Bars { rows: vec![row], ..Bars::default() }.is_flat()
        };
        assert!(of(None, &[]) && of(Some(0.0), &[0.0]) && of(Some(f64::NAN), &[]));
        assert!(!of(Some(0.0), &[0.0, 1.0]) && !of(Some(-1.0), &[]));
    }
}
