//! Which setting is the fastest, and how sure that is: settings are compared draw by draw, under the same chance.
//!
//! What it is not: a test of significance, since simulations can be as many as one likes. Worked example: a setting that is a tenth faster in each draw wins all of them, though
//! draws differ by ten times and the ranges of both overlap.

use crate::forecast::{Forecast, SettingForecast};

/// The part of all draws that the fastest setting wins.
const MOST: f64 = 0.9;
/// Fewer draws do not say it even where all are won: a setting that wins nine of ten wins all of 22 with a chance of a tenth (0.9^22).
const LEAST_DRAWS: usize = 22;

impl Forecast {
    /// How the settings that end well in all runs compare with each other by the time of a round, draw by draw: runs of the same place meet with the same chance, so
    /// that what differs is the setting's. Settings of one limit; empty where fewer than two end well.
    ///
    /// Worked example: 32 draws, of which one setting has the shortest round in 30 and another in 2; of equal times none is the shortest.
    #[must_use]
    pub fn wins<'a>(&'a self, of: &[&'a SettingForecast]) -> (Vec<(&'a SettingForecast, usize)>, usize) {
        let well: Vec<&SettingForecast> = of.iter().copied().filter(|setting| setting.ends_well()).collect();
        let draws = well.iter().map(|setting| setting.rounds.len()).min().unwrap_or_default();
        let shortest = |draw: usize| {
            let at = |setting: &&SettingForecast| setting.rounds.get(draw).copied().unwrap_or(f64::INFINITY);
            let least = well.iter().map(at).fold(f64::INFINITY, f64::min);
            let mut all = well.iter().filter(|setting| at(setting) <= least);
            all.next().filter(|_| all.next().is_none()).copied()
        };
        let winners: Vec<&SettingForecast> = (0..draws).filter_map(shortest).collect();
        let count = |setting: &SettingForecast| winners.iter().filter(|winner| std::ptr::eq(**winner, setting)).count();
        let mut all: Vec<(&SettingForecast, usize)> = well.iter().map(|setting| (*setting, count(setting))).collect();
        ramline_units::sort_by_key(&mut all, |(_, wins)| std::cmp::Reverse(*wins));
        (all, draws)
    }

    /// The setting that is the fastest in nine of ten draws or more, as sure as an interval is meant to be; `None` where none is, or where there are too few draws to say so
    /// ([`LEAST_DRAWS`]).
    #[must_use]
    pub fn fastest(&self) -> Option<&SettingForecast> {
        self.fastest_of(&self.settings.iter().collect::<Vec<_>>())
    }

    /// The fastest of some settings: those of one limit.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "numbers of draws")]
    pub fn fastest_of<'a>(&'a self, of: &[&'a SettingForecast]) -> Option<&'a SettingForecast> {
        let (all, draws) = self.wins(of);
        let (first, wins) = *all.first()?;
        let is_sure = draws >= LEAST_DRAWS && wins as f64 >= draws as f64 * MOST;
        (all.len() > 1 && is_sure).then_some(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forecast::{Figures, Range};

    #[test]
    fn the_fastest_wins_nine_of_ten_common_draws_and_no_median_alone_makes_one() {
        let figures = Figures { round: Range::from_values(vec![1.0]), ..Figures::default() };
        let setting = |name: &str, rounds: Vec<f64>| SettingForecast {
            name: name.to_owned(),
            forecast: Some(figures),
            rounds,
            ..SettingForecast::default()
        };
        // Draws differ by ten times, settings in each of them by a tenth: their ranges overlap, and one of them always wins.
        let draws: Vec<f64> = (0..30).map(|draw| 1.0 + f64::from(draw)).collect();
        let by =
            |times: &dyn Fn(usize) -> f64| draws.iter().enumerate().map(|(at, d)| d * times(at)).collect::<Vec<_>>();
        let forecast = |other: Vec<f64>| {
            let settings = vec![setting("plain", draws.clone()), setting("other", other)];
            Forecast { settings, ..Forecast::default() }
        };
        let name = |forecast: &Forecast| forecast.fastest().map(|setting| setting.name.clone());
        assert_eq!(name(&forecast(by(&|_| 0.9))).as_deref(), Some("other"));
        // 27 of 30 are enough, 26 are not.
        let but = |lost: usize| move |at: usize| if at < lost { 1.1 } else { 0.5 };
        assert_eq!(name(&forecast(by(&but(3)))).as_deref(), Some("other"));
        assert_eq!(name(&forecast(by(&but(4)))), None);
        let open = forecast(by(&but(4)));
        let (wins, all) = open.wins(&open.settings.iter().collect::<Vec<_>>());
        let wins: Vec<(&str, usize)> = wins.iter().map(|(setting, wins)| (setting.name.as_str(), *wins)).collect();
        assert_eq!((wins, all), (vec![("other", 26), ("plain", 4)], 30));
        // One simulation says nothing, nor do equal times.
        assert_eq!(name(&forecast(vec![0.1])), None);
        assert_eq!(name(&forecast(draws.clone())), None);
    }
}
