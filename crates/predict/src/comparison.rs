//! Settings side by side: which is the fastest, which are on the Pareto front, and how many measured figures lie in their ranges.

use ramline_sim::rivals::Simpler;
use ramline_units::JsonSchema;
use serde::Serialize;

use crate::figures::{Figures, Verdict};
use crate::range::Range;
use crate::recorded::{self, Recorded};

/// Forecasts beside what was measured, setting by setting.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
#[serde(default)]
pub struct Forecast {
    /// The experiment.
    pub experiment: String,
    /// What the group may have.
    pub limit: ramline_units::Bytes,
    /// The settings, in the order asked for.
    pub settings: Vec<SettingForecast>,
    /// Machine and program are those of a series that was measured (`--against`, `--verify`), so that it can be trusted far more than where they are assumed.
    pub calibrated: bool,
    /// Of settings of the same load on the same kernel, those that no other is better than: [`Forecast::front`].
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub front: Vec<String>,
    /// What is known of the recording that it is of, if it is of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Recorded>,
    /// What the costs rest on, and what is not simulated.
    pub notes: Vec<String>,
}

impl Forecast {
    /// The setting with the shortest round of those that end well in all runs, by its median, where it is shorter than every other.
    #[must_use]
    pub fn shortest(&self) -> Option<&SettingForecast> {
        let all = self
            .settings
            .iter()
            .filter(|setting| setting.ends_well())
            .filter_map(|setting| Some((setting, setting.round()?.median)));
        let (first, took) = all.clone().min_by(|a, b| a.1.total_cmp(&b.1))?;
        (all.filter(|(_, other)| *other <= took).count() == 1).then_some(first)
    }

    /// The settings that end well in all runs and that no other is better than (Pareto): in the limit, in the time of a round and in what it writes to a disk none is
    /// worse and one is better.
    #[must_use]
    pub fn front(&self) -> Vec<&str> {
        let cost = |setting: &SettingForecast| {
            let figures = setting.forecast.filter(|_| setting.ends_well())?;
            let written = figures.disk_written.map_or(0.0, |range| range.median);
            Some((setting.limit, figures.round?.median, written))
        };
        let all: Vec<_> =
            self.settings.iter().filter_map(|setting| Some((setting.name.as_str(), cost(setting)?))).collect();
        let is_better = |a: &(_, f64, f64), b: &(_, f64, f64)| a != b && a.0 <= b.0 && a.1 <= b.1 && a.2 <= b.2;
        let is_beaten = |one: &_| all.iter().any(|(_, other)| is_better(other, one));
        all.iter().filter(|(_, cost)| !is_beaten(cost)).map(|(name, _)| *name).collect()
    }

    /// Settings of which most runs end well and some are killed, where they are faster than this one.
    pub fn risky<'a>(&'a self, than: Option<&'a SettingForecast>) -> impl Iterator<Item = &'a SettingForecast> {
        let most_end_well =
            |setting: &SettingForecast| setting.forecast.is_some_and(|figures| figures.verdict == Verdict::Fine);
        let is_faster = move |setting: &SettingForecast| {
            than.is_none_or(|than| setting.times(than).is_some_and(|times| times < 1.0))
        };
        self.settings.iter().filter(move |setting| most_end_well(setting) && !setting.ends_well() && is_faster(setting))
    }

    /// The names, as the lab has them, of what a measurement says most about: the setting without swap, and those with the shortest and the longest round.
    #[must_use]
    pub fn to_verify(&self) -> Vec<String> {
        let settings = self.settings.iter();
        let all = settings.filter_map(|setting| Some((setting.name.split(' ').next()?, setting.round()?.median)));
        let (least, most) = (all.clone().min_by(|a, b| a.1.total_cmp(&b.1)), all.max_by(|a, b| a.1.total_cmp(&b.1)));
        let mut chosen: Vec<String> = Vec::new();
        for name in [Some("no-swap"), least.map(|one| one.0), most.map(|one| one.0)].into_iter().flatten() {
            if !chosen.iter().any(|known| known == name) {
                chosen.push(name.to_owned());
            }
        }
        chosen
    }

    /// The setting with the longest round, and how many times as long it is as this one.
    #[must_use]
    pub fn slowest(&self, than: &SettingForecast) -> Option<(&SettingForecast, f64)> {
        let all = self.settings.iter().filter_map(|setting| Some((setting, setting.times(than)?)));
        all.filter(|(setting, _)| setting.name != than.name).max_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// How many measured figures lie in the forecast interval, and how many there are.
    #[must_use]
    pub fn held(&self) -> Option<(u32, u32)> {
        let each = self.settings.iter().filter_map(SettingForecast::held);
        each.reduce(|(held, all), (more, of)| (held + more, all + of))
    }
}

/// One setting.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
#[serde(default)]
#[schemars(rename = "Foretold")]
pub struct SettingForecast {
    /// Its name in the lab.
    pub name: String,
    /// What the group may have.
    pub limit: ramline_units::Bytes,
    /// The forecast; `None` where it is not simulated.
    #[serde(rename = "foretold")]
    pub forecast: Option<Figures>,
    /// What the lab measured.
    pub measured: Option<Figures>,
    /// Of each simulation the seconds of a round, by draw ([`Simulated`]).
    #[serde(skip)]
    pub rounds: Vec<f64>,
    /// Runs of the lab.
    pub runs: u32,
    /// What models of one list and of two say instead; only beside what was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub simpler: Option<Simpler>,
}

impl SettingForecast {
    /// Most runs are done in time, and none is killed.
    #[must_use]
    pub fn ends_well(&self) -> bool {
        self.forecast.is_some_and(|figures| figures.verdict == Verdict::Fine && figures.killed <= 0.0)
    }

    /// The forecast time of a round.
    #[must_use]
    pub fn round(&self) -> Option<Range> {
        self.forecast?.round
    }

    /// Forecast time of a round as a multiple of that of another setting.
    #[must_use]
    pub fn times(&self, than: &SettingForecast) -> Option<f64> {
        Some(self.round()?.median / than.round()?.median)
    }

    /// Whether the intervals hold what was measured, figure by figure: how many of how many.
    #[must_use]
    pub fn held(&self) -> Option<(u32, u32)> {
        let (forecast, measured) = (self.forecast?, self.measured?);
        // A recording has no time of its own to be held against: it was made under a recorder.
        let round = forecast.round.filter(|_| forecast.slower.is_none());
        if forecast.unknown_counts {
            return None;
        }
        let pairs = [
            (round, measured.round),
            (forecast.major, measured.major),
            (forecast.swap_in, measured.swap_in),
            (forecast.refault_file, measured.refault_file),
        ];
        let both = pairs.into_iter().filter_map(|(a, b)| Some((a?, b?.median)));
        Some(both.fold((0, 0), |(held, all), (range, value)| (held + u32::from(range.holds(value)), all + 1)))
    }
}

impl Figures {
    /// A recording takes longer than with enough memory.
    #[must_use]
    pub fn is_slower(&self) -> bool {
        self.slower.is_some_and(|range| range.high >= recorded::JUST_AS_LONG)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_front_has_what_no_other_is_better_than() {
        let setting = |name: &str, limit: u64, round: f64, written: f64, verdict: Verdict| {
            let of = |value: f64| Some(Range { median: value, low: value, high: value });
            let figures = Figures { verdict, round: of(round), disk_written: of(written), ..Figures::default() };
            let limit = ramline_units::Bytes(limit);
            SettingForecast { name: name.to_owned(), limit, forecast: Some(figures), ..SettingForecast::default() }
        };
        let mut settings = vec![
            setting("small and slow", 100, 3.0, 0.0, Verdict::Fine),
            setting("large and fast", 200, 1.0, 0.0, Verdict::Fine),
            setting("small, fast, and writes", 100, 1.0, 9.0, Verdict::Fine),
            setting("as large and slower", 200, 2.0, 0.0, Verdict::Fine),
            setting("the same as another", 200, 1.0, 0.0, Verdict::Fine),
            setting("smallest, and never done", 50, 0.5, 0.0, Verdict::Thrashing),
            setting("fastest, and killed now and then", 50, 0.25, 0.0, Verdict::Fine),
        ];
        if let Some(figures) = settings.last_mut().and_then(|setting| setting.forecast.as_mut()) {
            figures.killed = 0.25;
        }
        let forecast = Forecast { settings, ..Forecast::default() };
        assert_eq!(
            forecast.front(),
            ["small and slow", "large and fast", "small, fast, and writes", "the same as another"]
        );
        let risky: Vec<&str> = forecast.risky(forecast.settings.first()).map(|setting| setting.name.as_str()).collect();
        assert_eq!(risky, ["fastest, and killed now and then"]);
    }
}
