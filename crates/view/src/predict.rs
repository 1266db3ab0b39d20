//! `predict`: what each setting would do, and what the lab measured beside it.

use ramline_sim::forecast::{Figures, Forecast, Foretold, Range, Verdict};

use crate::prelude::*;
use ramline_sheet::{Bar, Bars, Column, format};

/// A forecast, as it is shown.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
#[serde(default)]
pub struct Prediction {
    /// Version of this document.
    pub schema_version: u64,
    /// What is foretold, setting by setting.
    pub forecast: Forecast,
    /// The setting with the shortest round, where one is sure to be.
    pub fastest: Option<String>,
    /// Of the figures that were measured too, how many lie in the interval foretold, and how many there are.
    pub held: Option<(u32, u32)>,
}

impl Prediction {
    /// Of a forecast.
    #[must_use]
    pub fn new(forecast: Forecast) -> Prediction {
        let (fastest, held) = (forecast.fastest().map(|setting| setting.name.clone()), forecast.held());
        Prediction { schema_version: SCHEMA_VERSION, forecast, fastest, held }
    }

    fn answer(&self) -> String {
        let settings = &self.forecast.settings;
        if !settings.is_empty() && settings.iter().all(|setting| setting.foretold.is_none()) {
            return "Nothing is predicted: the reason is below.".to_owned();
        }
        let best = self.forecast.fastest().and_then(|setting| Some((setting, setting.round()?)));
        let Some((best, took)) = best else {
            return "No setting is predicted to be faster than all others.".to_owned();
        };
        let slow = self
            .forecast
            .slowest(best)
            .map(|(setting, times)| format!("; with {} it takes {} as long", setting.name, format::times(times)));
        format!("Fastest: {}, {} a round{}.", best.name, seconds(took), slow.unwrap_or_default())
    }

    /// What would be faster, were it not killed now and then.
    fn risk(&self) -> Option<String> {
        let risky: Vec<&str> =
            self.forecast.risky(self.forecast.fastest()).map(|setting| setting.name.as_str()).collect();
        (!risky.is_empty()).then(|| format!("Not chosen, since some of its runs are killed: {}.", risky.join(", ")))
    }

    /// What is worth choosing from, where there is a choice and not everything is.
    fn choice(&self) -> Option<String> {
        let Forecast { settings, front, .. } = &self.forecast;
        let limits = settings.windows(2).any(|pair| pair[0].limit != pair[1].limit);
        let what = if limits { "in RAM, time and writes to a disk" } else { "in time and writes to a disk" };
        let is_a_choice = (CHOICE..settings.len()).contains(&front.len());
        is_a_choice.then(|| format!("Better than all others {what}, each in its way: {}.", front.join(", ")))
    }
}

/// Nothing to choose from is one setting.
const CHOICE: usize = 2;

/// A figure of a setting.
type Pick = fn(&Figures) -> Option<Range>;

/// How a figure is written.
type Text = fn(Range) -> String;

/// What stands beside what was measured, each in a table of its own.
const FIGURES: [(&str, Pick, Text); 4] = [
    ("Time of a round", |figures| figures.round, seconds),
    ("Major faults of a round", |figures| figures.major, counts),
    ("Swap-ins of a round", |figures| figures.swap_in, counts),
    ("File pages that come back in a round", |figures| figures.refault_file, counts),
];

impl Prediction {
    /// Nothing is measured: all figures of a setting stand in its line.
    fn foretold(&self, sheet: &mut Sheet) {
        let of = |setting: &Foretold, pick: Pick, text: Text| {
            setting.foretold.as_ref().and_then(pick).map_or_else(|| "-".to_owned(), text)
        };
        let middle = |range: Range| whole(range.median);
        let bytes = |range: Range| format::measured_size(range.median);
        let fastest = self.forecast.fastest();
        let times = |setting: &Foretold| setting.times(fastest?).map(format::times);
        let table = Table::of(&self.forecast.settings)
            .left("setting", |setting| &setting.name)
            .left("ends", |setting| ends(setting.foretold.as_ref()))
            .right("time of a round", |setting| of(setting, |figures| figures.round, seconds))
            .right("major faults", |setting| of(setting, |figures| figures.major, middle))
            .right("swap-ins", |setting| of(setting, |figures| figures.swap_in, middle))
            .right("file pages back", |setting| of(setting, |figures| figures.refault_file, middle))
            .column(Column::right("as long as the fastest").spare(), |setting| {
                times(setting).unwrap_or_else(|| "-".to_owned())
            })
            .column(Column::right("waits for disks").spare(), |setting| {
                of(setting, |figures| figures.waiting, |range| format::percent(range.median))
            })
            .column(Column::right("read").spare(), |setting| of(setting, |figures| figures.disk_read, bytes))
            .column(Column::right("written").spare(), |setting| of(setting, |figures| figures.disk_written, bytes))
            .column(Column::right("RAM of zram").spare(), |setting| of(setting, |figures| figures.zram, bytes));
        sheet.table(table);
    }

    /// Charts of what is foretold, with what was measured below it.
    #[must_use]
    pub fn charts(&self) -> Sheet {
        let mut sheet = Sheet::new();
        let beside: [(&str, Pick, Text); 4] = [
            ("Read from disks in a round", |figures| figures.disk_read, bytes),
            ("Written to a swap area on a disk in a round", |figures| figures.disk_written, bytes),
            ("Part of the time that is spent waiting for disks", |figures| figures.waiting, share),
            ("RAM that zram takes", |figures| figures.zram, bytes),
        ];
        for (title, pick, text) in FIGURES.into_iter().chain(beside) {
            let bar = |name: String, figures: Option<&Figures>| {
                let range = figures.and_then(pick)?;
                let interval = (range.low < range.high).then_some((range.low, range.high));
                Some(Bar { name, value: text(range), at: Some(range.median), interval, ..Bar::default() })
            };
            let rows = self.forecast.settings.iter().flat_map(|setting| {
                let name = |what: &str| {
                    if setting.measured.is_some() { format!("{} {what}", setting.name) } else { setting.name.clone() }
                };
                [bar(name("predicted"), setting.foretold.as_ref()), bar(name("measured"), setting.measured.as_ref())]
            });
            let rows: Vec<Bar> = rows.flatten().collect();
            let bars = Bars { title: title.to_owned(), rows, in_table: true, ..Bars::default() };
            if !bars.is_flat() {
                sheet.bars(bars);
            }
        }
        sheet
    }

    /// Each figure in a table: the interval foretold, and the middle that was measured.
    fn beside(&self, sheet: &mut Sheet) {
        let settings = &self.forecast.settings;
        sheet.heading("Ends");
        let table = Table::of(settings)
            .left("setting", |setting| &setting.name)
            .left("predicted", |setting| ends(setting.foretold.as_ref()))
            .left("measured", |setting| ends(setting.measured.as_ref()))
            .right("runs", |setting| u64::from(setting.runs));
        sheet.table(table);
        for (name, pick, text) in FIGURES {
            sheet.heading(name);
            let of = |figures: Option<&Figures>| figures.and_then(pick);
            let show = |range: Option<Range>| range.map_or_else(|| "-".to_owned(), text);
            let table = Table::of(settings)
                .left("setting", |setting| &setting.name)
                .right("predicted", |setting| show(of(setting.foretold.as_ref())))
                .right("measured", |setting| show(of(setting.measured.as_ref())))
                .left("", |setting| {
                    let both = of(setting.foretold.as_ref()).zip(of(setting.measured.as_ref()));
                    both.map_or("", |(foretold, measured)| if foretold.holds(measured.median) { "" } else { "outside" })
                });
            sheet.table(table);
        }
    }
}

impl Screen for Prediction {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new();
        sheet.answer(Paint::Bold, self.answer());
        sheet.line(self.risk());
        sheet.line(self.choice());
        let held = |(held, all)| format!("Measured: {held} of {all} figures lie in the interval predicted.");
        self.held.map(held).iter().for_each(|text| sheet.line(text));
        if self.forecast.settings.iter().any(|setting| setting.measured.is_some()) {
            self.beside(&mut sheet);
        } else {
            self.foretold(&mut sheet);
        }
        sheet.blank();
        self.forecast.notes.iter().for_each(|note| sheet.dim(Some(note)));
        sheet
    }
}

/// `fine`, or `fine, 30 % killed`.
fn ends(figures: Option<&Figures>) -> String {
    let Some(figures) = figures else { return "not simulated".to_owned() };
    let some =
        if figures.killed > 0.0 { format!(", {} killed", format::percent(figures.killed)) } else { String::new() };
    match figures.verdict {
        Verdict::Fine => format!("fine{some}"),
        Verdict::Thrashing => format!("thrashing{some}"),
        Verdict::Killed if figures.killed < 1.0 => format!("killed, {} of the runs", format::percent(figures.killed)),
        Verdict::Killed => "killed".to_owned(),
    }
}

/// `0.52 s (0.41 to 0.66)`.
fn seconds(range: Range) -> String {
    let text = |value: f64| if value < 0.1 { format!("{value:.3}") } else { format!("{value:.2}") };
    format!("{} s ({} to {})", text(range.median), text(range.low), text(range.high))
}

fn counts(range: Range) -> String {
    with_interval(range, whole)
}

/// `12 MiB (10 MiB to 13 MiB)`.
fn bytes(range: Range) -> String {
    with_interval(range, format::measured_size)
}

/// `40 % (35 % to 52 %)`.
fn share(range: Range) -> String {
    with_interval(range, format::percent)
}

fn with_interval(range: Range, text: fn(f64) -> String) -> String {
    let (median, low, high) = (text(range.median), text(range.low), text(range.high));
    if low == high { median } else { format!("{median} ({low} to {high})") }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts of pages")]
fn whole(value: f64) -> String {
    format::count(value.max(0.0).round() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_sheet::text::Style;

    fn setting(name: &str, verdict: Verdict, round: f64, measured: Option<f64>) -> Foretold {
        let figures = |middle: f64| {
            let range = |middle: f64| Some(Range { median: middle, low: middle * 0.9, high: middle * 1.1 });
            Figures {
                verdict,
                round: range(middle),
                major: range(1000.0),
                swap_in: range(0.0),
                refault_file: range(20.0),
                ..Figures::default()
            }
        };
        let measured = measured.map(figures);
        Foretold {
            name: name.into(),
            limit: Bytes::from_mib(480),
            foretold: Some(figures(round)),
            runs: 3 * u32::from(measured.is_some()),
            measured,
            simpler: None,
        }
    }

    fn said(settings: Vec<Foretold>) -> String {
        Prediction::new(Forecast { settings, ..Forecast::default() }).text(&Style::default())
    }

    #[test]
    fn the_fastest_that_ends_well_is_said_first() {
        let text =
            said(vec![setting("no-swap", Verdict::Thrashing, 5.0, None), setting("swap:60", Verdict::Fine, 0.5, None)]);
        assert!(
            text.starts_with("Fastest: swap:60, 0.50 s (0.45 to 0.55) a round; with no-swap it takes 10"),
            "{text}"
        );
        let none = said(vec![setting("no-swap", Verdict::Killed, 1.0, None)]);
        assert!(none.starts_with("No setting is predicted to be faster"), "{none}");
    }

    #[test]
    fn a_setting_that_is_killed_in_a_part_of_its_runs_is_not_chosen_and_says_so() {
        let mut risky = setting("zram:lz4:60", Verdict::Fine, 0.5, None);
        risky.foretold.as_mut().unwrap().killed = 0.25;
        let text = said(vec![risky, setting("swap:60", Verdict::Fine, 2.0, None)]);
        let text = text.replace('\u{a0}', " ");
        assert!(text.starts_with("Fastest: swap:60, 2.00 s"), "{text}");
        assert!(text.contains("Not chosen, since some of its runs are killed: zram:lz4:60."), "{text}");
        assert!(text.contains("fine, 25.0 % killed"), "{text}");
    }

    #[test]
    fn what_was_measured_is_shown_where_nothing_is_predicted() {
        let measured = Foretold { foretold: None, ..setting("swap:60", Verdict::Fine, 0.5, Some(0.9)) };
        let text = said(vec![measured]);
        assert!(text.starts_with("Nothing is predicted: the reason is below."), "{text}");
        assert!(text.contains("not simulated") && text.contains("0.90 s"), "{text}");
    }

    #[test]
    fn what_was_measured_stands_beside_and_what_lies_outside_says_so() {
        let text = said(vec![
            setting("swap:60", Verdict::Fine, 0.5, Some(0.9)),
            setting("swap:1", Verdict::Fine, 2.0, Some(2.1)),
        ]);
        assert!(text.contains("Measured: 7 of 8 figures lie in the interval predicted."), "{text}");
        let line = text.lines().find(|line| line.contains("0.90 s")).unwrap();
        assert!(line.ends_with("outside"), "{text}");
    }
}
