//! `predict`: what each setting would do, and what the lab measured beside it.

use ramline_predict::forecast::{Figures, Forecast, Range, SettingForecast};
use ramline_predict::recorded::{AtLimit, LeastMemory};

mod by_limit;
pub mod page;
mod recorded;
mod words;

use self::words::{bytes, counts, ends, seconds, share, whole};
use crate::prelude::*;
use ramline_sheet::{Bar, Bars, Column, format};

/// A forecast, as it is shown.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
#[serde(default)]
pub struct Prediction {
    /// Version of this document.
    pub schema_version: u64,
    /// Forecasts, setting by setting.
    pub forecast: Forecast,
    /// The setting with the shortest round in nine of ten simulations or more; absent where none is.
    pub fastest: Option<String>,
    /// Of the figures that were measured too, how many lie in the range predicted, and how many there are.
    pub held: Option<(u32, u32)>,
    /// Of a recording: what is said first of each limit, from the largest on.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub by_limit: Vec<AtLimit>,
    /// Of a recording: the least memory with which each setting is as fast as with enough.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub least: Vec<LeastMemory>,
}

impl Prediction {
    /// Of a forecast.
    #[must_use]
    pub fn new(forecast: Forecast) -> Prediction {
        let (fastest, held) = (forecast.fastest().map(|setting| setting.name.clone()), forecast.held());
        let of_recording = forecast.recorded.is_some();
        let by_limit = if of_recording { forecast.by_limit() } else { Vec::new() };
        let least = if of_recording { forecast.least() } else { Vec::new() };
        Prediction { schema_version: SCHEMA_VERSION, forecast, fastest, held, by_limit, least }
    }

    fn answer(&self) -> String {
        let Forecast { settings, .. } = &self.forecast;
        if !settings.is_empty() && settings.iter().all(|setting| setting.forecast.is_none()) {
            return "Nothing is predicted: the reason is below.".to_owned();
        }
        if let Some(recorded) = &self.forecast.recorded {
            return recorded::answer(self, recorded);
        }
        if let Some(text) = by_limit::answer(&self.forecast) {
            return text;
        }
        let all: Vec<&SettingForecast> = settings.iter().collect();
        let (wins, draws) = self.forecast.wins(&all);
        let took = |setting: &SettingForecast| {
            setting.round().map_or_else(String::new, |round| format!(", {} a round", seconds(round)))
        };
        let slow = |best: &SettingForecast| {
            let slowest = self.forecast.slowest(best);
            let words = |(setting, times): (&SettingForecast, f64)| {
                format!("; {} takes {} as long", setting.name, format::times(times))
            };
            slowest.map(words).unwrap_or_default()
        };
        match (self.forecast.fastest(), wins.as_slice()) {
            (Some(best), _) => format!("Fastest: {}{}{}.", best.name, took(best), slow(best)),
            (None, []) => "No setting is predicted to end well in all simulations.".to_owned(),
            (None, [(only, _)]) => {
                format!("Only {} is predicted to end well in all simulations{}{}.", only.name, took(only), slow(only))
            }
            (None, [(first, most), (second, next), ..]) if draws > 1 => {
                format!(
                    "No clear winner: {} is the fastest in {most} of {draws} simulations, {} in {next}.",
                    first.name, second.name
                )
            }
            (None, _) => match self.forecast.shortest() {
                Some(best) => {
                    format!("In one simulation {} is the fastest{}: too few to name a winner.", best.name, took(best))
                }
                None => "No setting is predicted to be faster than all others.".to_owned(),
            },
        }
    }

    /// In how many simulations the fastest was it.
    fn how_often(&self) -> Option<String> {
        let best = self.forecast.fastest().filter(|_| by_limit::limits(&self.forecast).len() < 2)?;
        let (wins, draws) = self.forecast.wins(&self.forecast.settings.iter().collect::<Vec<_>>());
        let (_, wins) = wins.iter().find(|(setting, _)| setting.name == best.name)?;
        Some(format!("It is the fastest in {wins} of {draws} simulations of all settings with the same chance."))
    }

    /// How far all of this can be trusted.
    fn how_sure(&self) -> &'static str {
        if self.forecast.calibrated { CALIBRATED } else { PLAIN }
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
        is_a_choice
            .then(|| format!("Best choices, none of them worse than another {what} alike: {}.", front.join(", ")))
    }
}

/// What is known of a forecast whose machine and program are assumed (docs/accuracy.md, "Plain forecasts").
const PLAIN: &str = "How sure: machine and program are assumed, so a range is what simulations differ by, and no promise. On settings in no ledger, on a busy virtual machine, major faults were 4.9 % off in the median and 75 % at most, ranges (narrower then) held 18 of 37 counts, and times were 1.7 to 17 times too short. \
                     A program of your own may differ by half. Calibrated by runs here it is far better: --verify, or --against SERIES.";
/// And of one that is calibrated.
const CALIBRATED: &str = "How sure: calibrated by the runs of this series. In the ledger such forecasts have major faults 0.4 % off in the median, and \
                          ranges that hold 262 of 278 counts (docs/accuracy.md).";

/// Nothing to choose from is one setting.
const CHOICE: usize = 2;

/// A figure of a setting.
type Pick = fn(&Figures) -> Option<Range>;

/// How a figure is written.
type Text = fn(Range) -> String;

/// Of a recording, which has no time to be held against.
const COUNTS: [(&str, Pick, Text); 3] = [
    ("Major faults", |figures| figures.major, counts),
    ("Swap-ins", |figures| figures.swap_in, counts),
    ("File pages read again", |figures| figures.refault_file, counts),
];

/// What stands beside what was measured, each in a table of its own.
const FIGURES: [(&str, Pick, Text); 4] = [
    ("Time of a round", |figures| figures.round, seconds),
    ("Major faults of a round", |figures| figures.major, counts),
    ("Swap-ins of a round", |figures| figures.swap_in, counts),
    ("File pages read again in a round", |figures| figures.refault_file, counts),
];

impl Prediction {
    /// Nothing is measured: all figures of a setting stand in its line.
    fn forecast_table(&self, sheet: &mut Sheet) {
        let of = |setting: &SettingForecast, pick: Pick, text: Text| {
            setting.forecast.as_ref().and_then(pick).map_or_else(|| "-".to_owned(), text)
        };
        let middle = |range: Range| whole(range.median);
        let bytes = |range: Range| format::measured_size(range.median);
        let fastest = self.forecast.shortest();
        let times = |setting: &SettingForecast| setting.times(fastest?).map(format::times);
        let table = Table::from_rows(&self.forecast.settings)
            .left("setting", |setting| &setting.name)
            .left("ends", |setting| ends(setting.forecast.as_ref()))
            .right("time of a round", |setting| of(setting, |figures| figures.round, seconds))
            .right("major faults", |setting| of(setting, |figures| figures.major, middle))
            .right("swap-ins", |setting| of(setting, |figures| figures.swap_in, middle))
            .right("file pages re-read", |setting| of(setting, |figures| figures.refault_file, middle))
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

    /// Charts of the forecast, with what was measured below it.
    #[must_use]
    pub fn charts(&self) -> Sheet {
        let mut sheet = Sheet::new();
        let along_ram = by_limit::limits(&self.forecast).len() > 1;
        let beside: [(&str, Pick, Text); 4] = [
            ("Read from disks in a round", |figures| figures.disk_read, bytes),
            ("Written to a swap area on a disk in a round", |figures| figures.disk_written, bytes),
            ("Part of the time that is spent waiting for disks", |figures| figures.waiting, share),
            ("RAM that zram takes", |figures| figures.zram, bytes),
        ];
        for (title, pick, text) in FIGURES.into_iter().chain(beside) {
            if along_ram {
                by_limit::chart(&mut sheet, &self.forecast, title, pick, text);
                continue;
            }
            let bar = |name: String, figures: Option<&Figures>| {
                let range = figures.and_then(pick)?;
                let interval = (range.low < range.high).then_some((range.low, range.high));
                Some(Bar { name, value: text(range), at: Some(range.median), interval, ..Bar::default() })
            };
            let rows = self.forecast.settings.iter().flat_map(|setting| {
                let name = |what: &str| {
                    if setting.measured.is_some() { format!("{} {what}", setting.name) } else { setting.name.clone() }
                };
                [bar(name("predicted"), setting.forecast.as_ref()), bar(name("measured"), setting.measured.as_ref())]
            });
            let rows: Vec<Bar> = rows.flatten().collect();
            let bars = Bars { title: title.to_owned(), rows, in_table: true, ..Bars::default() };
            if !bars.is_flat() {
                sheet.bars(bars);
            }
        }
        sheet
    }

    /// Each figure in a table: the forecast interval, and the measured median.
    fn beside(&self, sheet: &mut Sheet) {
        let settings = &self.forecast.settings;
        sheet.heading("Ends");
        let table = Table::from_rows(settings)
            .left("setting", |setting| &setting.name)
            .left("predicted", |setting| ends(setting.forecast.as_ref()))
            .left("measured", |setting| ends(setting.measured.as_ref()))
            .right("runs", |setting| u64::from(setting.runs));
        sheet.table(table);
        for (name, pick, text) in FIGURES {
            sheet.heading(name);
            let of = |figures: Option<&Figures>| figures.and_then(pick);
            let show = |range: Option<Range>| range.map_or_else(|| "-".to_owned(), text);
            let table = Table::from_rows(settings)
                .left("setting", |setting| &setting.name)
                .right("predicted", |setting| show(of(setting.forecast.as_ref())))
                .right("measured", |setting| show(of(setting.measured.as_ref())))
                .left("", |setting| {
                    let both = of(setting.forecast.as_ref()).zip(of(setting.measured.as_ref()));
                    both.map_or("", |(forecast, measured)| if forecast.holds(measured.median) { "" } else { "outside" })
                });
            sheet.table(table);
        }
    }
}

impl Screen for Prediction {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new();
        sheet.answer(Paint::Bold, self.answer());
        if let Some(recorded) = &self.forecast.recorded {
            recorded::sheet(&mut sheet, self, recorded);
            recorded::beside(&mut sheet, &self.forecast, &COUNTS);
            sheet.blank();
            recorded::sure(&mut sheet, recorded);
            self.forecast.notes.iter().for_each(|note| sheet.dim(Some(note)));
            return sheet;
        }
        sheet.line(self.how_often());
        sheet.line(self.risk());
        sheet.line(self.choice());
        let held = |(held, all)| format!("Measured: {held} of {all} figures lie in the range predicted.");
        self.held.map(held).iter().for_each(|text| sheet.line(text));
        if self.forecast.settings.iter().any(|setting| setting.measured.is_some()) {
            self.beside(&mut sheet);
        } else if by_limit::limits(&self.forecast).len() > 1 {
            by_limit::tables(&mut sheet, &self.forecast, &FIGURES);
        } else {
            self.forecast_table(&mut sheet);
        }
        sheet.blank();
        sheet.line(self.how_sure());
        self.forecast.notes.iter().for_each(|note| sheet.dim(Some(note)));
        sheet
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_predict::forecast::Verdict;
    use ramline_sheet::text::Style;

    fn setting(name: &str, verdict: Verdict, round: f64, measured: Option<f64>) -> SettingForecast {
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
        SettingForecast {
            name: name.into(),
            limit: Bytes::from_mib(480),
            forecast: Some(figures(round)),
            runs: 3 * u32::from(measured.is_some()),
            measured,
            rounds: vec![round; 32],
            simpler: None,
        }
    }

    fn said(settings: Vec<SettingForecast>) -> String {
        Prediction::new(Forecast { settings, ..Forecast::default() }).text(&Style::default())
    }

    #[test]
    fn the_fastest_is_named_only_where_it_wins_most_simulations() {
        let of = |name: &str, rounds: Vec<f64>| SettingForecast { rounds, ..setting(name, Verdict::Fine, 0.5, None) };
        let text = said(vec![of("swap:60", vec![0.5; 32]), setting("swap:1", Verdict::Fine, 5.0, None)])
            .replace('\u{a0}', " ");
        assert!(text.starts_with("Fastest: swap:60, 0.50 s (0.45 to 0.55) a round; swap:1 takes 10"), "{text}");
        assert!(
            text.contains("It is the fastest in 32 of 32 simulations of all settings with the same chance."),
            "{text}"
        );
        let other: Vec<f64> = (0..32).map(|draw| if draw < 20 { 0.4 } else { 0.6 }).collect();
        let text = said(vec![of("swap:60", vec![0.5; 32]), of("swap:100", other)]);
        assert!(
            text.starts_with("No clear winner: swap:100 is the fastest in 20 of 32 simulations, swap:60 in 12.\n"),
            "{text}"
        );
        let one = said(vec![
            of("swap:60", vec![0.5]),
            SettingForecast { rounds: vec![0.7], ..setting("swap:1", Verdict::Fine, 0.7, None) },
        ]);
        assert!(one.starts_with("In one simulation swap:60 is the fastest, 0.50 s"), "{one}");
        let only =
            said(vec![setting("no-swap", Verdict::Thrashing, 5.0, None), setting("swap:60", Verdict::Fine, 0.5, None)]);
        let only = only.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(only.starts_with("Only swap:60 is predicted to end well in all simulations, 0.50 s (0.45 to 0.55) a round; no-swap takes 10"), "{only}");
        let none = said(vec![setting("no-swap", Verdict::Killed, 1.0, None)]);
        assert!(none.starts_with("No setting is predicted to end well"), "{none}");
    }

    #[test]
    fn a_plain_forecast_promises_less_than_a_calibrated_one_and_its_numbers_stand_in_the_ledger() {
        let of = |calibrated| {
            let settings = vec![setting("swap:60", Verdict::Fine, 0.5, None)];
            Prediction::new(Forecast { settings, calibrated, ..Forecast::default() }).text(&Style::default())
        };
        let one_line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (plain, calibrated) = (one_line(of(false)), one_line(of(true)));
        assert!(plain.contains("no promise") && plain.contains("--verify") && !plain.contains("262 of 278"), "{plain}");
        assert!(calibrated.contains("262 of 278") && !calibrated.contains("no promise"), "{calibrated}");
        let page = one_line(include_str!("../../../docs/accuracy.md").to_owned());
        let numbers = PLAIN.split(". ").nth(1).unwrap();
        assert!(page.contains(numbers), "bench/accuracy --table has other numbers than: {numbers}");
    }

    #[test]
    fn a_setting_that_is_killed_in_a_part_of_its_runs_is_not_chosen_and_says_so() {
        let mut risky = setting("zram:lz4:60", Verdict::Fine, 0.5, None);
        risky.forecast.as_mut().unwrap().killed = 0.25;
        let text = said(vec![risky, setting("swap:60", Verdict::Fine, 2.0, None)]);
        let text = text.replace('\u{a0}', " ");
        assert!(text.starts_with("Only swap:60 is predicted to end well in all simulations, 2.00 s"), "{text}");
        assert!(text.contains("Not chosen, since some of its runs are killed: zram:lz4:60."), "{text}");
        assert!(text.contains("fine, 25.0 % killed"), "{text}");
    }

    #[test]
    fn what_was_measured_is_shown_where_nothing_is_predicted() {
        let measured = SettingForecast { forecast: None, ..setting("swap:60", Verdict::Fine, 0.5, Some(0.9)) };
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
        assert!(text.contains("Measured: 7 of 8 figures lie in the range predicted."), "{text}");
        let line = text.lines().find(|line| line.contains("0.90 s")).unwrap();
        assert!(line.ends_with("outside"), "{text}");
    }
}
