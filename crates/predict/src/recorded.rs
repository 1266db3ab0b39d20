//! A recording as a question: what it leaves open as several loads, how much memory it needs, and what its forecast says first.
//!
//! What it is not: sure of what no recorder sees. Which touches were stores, and their order within an epoch, are drawn from all that may be; how much of a program's memory is not in its page
//! tables is assumed. What could not be known at all is said: counts where pages leave RAM in the epoch in which they were touched.

use ramline_sim::chance::Chance;
use ramline_sim::memory::{Setting, SwapTo};
use ramline_sim::run::{self, Outcome};
use ramline_trace::recording::Recording;
use ramline_units::{Bytes, JsonSchema};
use serde::Serialize;

use crate::forecast::{Figures, Forecast, Range, SettingForecast};
use crate::need::{ENOUGH, Needs, PAGE};

/// Slower by less than this is as fast: no one has to change a setting for it.
const NOTICED: f64 = 1.1;
/// And by less than this it is the same.
pub(crate) const JUST_AS_LONG: f64 = 1.01;
/// What is known of a recording beside its touches.
#[derive(Debug, Clone, PartialEq, Default, Serialize, JsonSchema)]
#[serde(default)]
pub struct Recorded {
    /// What was recorded.
    pub name: String,
    /// CPU time of its processes, in seconds.
    pub cpu_s: f64,
    /// How long it was, in seconds.
    pub seconds: f64,
    /// Epochs.
    pub epochs: u64,
    /// Of them, those in which memory was reclaimed.
    pub reclaimed: u64,
    /// The most that was in its page tables at once.
    pub resident: Bytes,
    /// The most that one epoch touched through mappings.
    pub of_an_epoch: Bytes,
    /// What the epoch touches that a touch is in, in the mean: with less memory than three times this counts are not known.
    pub typical_epoch: Bytes,
    /// With so much memory next to nothing that it maps is read again: page tables, and an assumed part for the kernel, among it.
    pub need: Bytes,
    /// With so much, next to nothing of files is read again with read(2) either.
    pub cached: Bytes,
    /// Its file is complete.
    pub whole: bool,
    /// Files that are read and written with read(2) and write(2) are in it.
    pub reads: bool,
    /// Epochs of which something is missing.
    pub incomplete: u64,
}

impl Recorded {
    /// Of a recording that needs so much.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "times")]
    pub fn new(recording: &Recording, needs: &Needs) -> Recorded {
        let extent = recording.extent();
        Recorded {
            name: recording.header().origin.name.clone(),
            cpu_s: extent.cpu_ns as f64 / 1e9,
            seconds: extent.time_ns as f64 / 1e9,
            epochs: extent.epochs,
            reclaimed: extent.reclaimed,
            resident: Bytes(extent.resident_pages * PAGE),
            of_an_epoch: Bytes(extent.most_of_an_epoch * PAGE),
            typical_epoch: Bytes(extent.typical_of_an_epoch * PAGE),
            need: needs.mapped,
            cached: needs.cached,
            whole: recording.is_whole(),
            reads: recording.pages_read() > 0,
            incomplete: extent.incomplete,
        }
    }
}

impl Recorded {
    /// Its epochs are too long to count what happens in a group of this limit. Where an epoch touched up to a third of what fits, counts of exact traces that were made into epochs
    /// were up to 9 % off, and with half of it and more up to 72 % (29 November 2026, five loads of the lab, 16 draws each).
    #[must_use]
    pub fn is_coarse(&self, limit: Bytes) -> bool {
        self.epochs < FEW || self.typical_epoch.0.saturating_mul(PARTS_OF_A_LIMIT) > limit.0
    }
}

/// Fewer epochs than these give no counts: the last of each process is lost, and the first is of its start.
const FEW: u64 = 10;
/// See [`Recorded::is_coarse`].
const PARTS_OF_A_LIMIT: u64 = 3;

/// The same run with enough memory, to be held against: what it does in any case.
#[must_use]
pub fn alone(load: &ramline_sim::load::Compact, pages: run::Pages, setting: &Setting, chance: Chance) -> Outcome {
    let setting = Setting { limit: ENOUGH, swap: SwapTo::Nowhere, ..setting.clone() };
    run::compact(load, pages, setting, u64::MAX, chance)
}

/// What a setting is for a program with so much memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outlook {
    /// No setting makes a difference that one notices.
    Fits,
    /// Swap or zram makes it as fast as with enough memory.
    Helped,
    /// It is faster with swap or zram than without, and slower than with enough memory.
    Eased,
    /// It ends, and slower than with enough memory, whatever is set.
    Slow,
    /// No setting ends well.
    TooSmall,
}

/// What is said of one limit.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct AtLimit {
    /// What the group may have.
    pub limit: Bytes,
    /// In one word.
    pub outlook: Outlook,
    /// The best setting, by its median; absent where none ends well.
    pub best: Option<String>,
    /// How many times as long it takes under it as with enough memory.
    pub slower: Option<f64>,
}

/// The least memory with which a setting is as fast as with enough.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(rename = "Least")]
pub struct LeastMemory {
    /// The setting.
    pub setting: String,
    /// The smallest limit from which on it is as fast and never killed; absent where there is none among those that were simulated.
    pub limit: Option<Bytes>,
    /// The next smaller limit that was simulated, with which it is slower.
    pub above: Option<Bytes>,
}

impl Forecast {
    /// The least memory of each setting, of the limits that were simulated.
    #[must_use]
    pub fn least(&self) -> Vec<LeastMemory> {
        let mut names: Vec<&str> = Vec::new();
        for setting in &self.settings {
            if !names.contains(&setting.short_name()) {
                names.push(setting.short_name());
            }
        }
        names.into_iter().map(|name| self.least_of(name)).collect()
    }

    fn least_of(&self, name: &str) -> LeastMemory {
        let mut own: Vec<&SettingForecast> =
            self.settings.iter().filter(|setting| setting.short_name() == name).collect();
        ramline_units::sort_by_key(&mut own, |setting| std::cmp::Reverse(setting.limit));
        let is_as_fast = |setting: &&&SettingForecast| {
            let slower = setting.forecast.and_then(|figures| figures.slower).map(|range| range.median);
            setting.ends_well() && slower.is_some_and(|times| times < NOTICED)
        };
        let fast = own.iter().take_while(is_as_fast).count();
        let limit_at = |at: Option<usize>| at.and_then(|at| own.get(at)).map(|setting| setting.limit);
        LeastMemory { setting: name.to_owned(), limit: limit_at(fast.checked_sub(1)), above: limit_at(Some(fast)) }
    }

    /// What is said first of each limit of a recording, from the largest on.
    #[must_use]
    pub fn by_limit(&self) -> Vec<AtLimit> {
        let mut limits: Vec<Bytes> = self.settings.iter().map(|setting| setting.limit).collect();
        limits.sort_unstable();
        limits.dedup();
        limits.into_iter().rev().map(|limit| self.at(limit)).collect()
    }

    /// What the lab should measure: the largest limit at which something is slower, or else the smallest, and there the setting without swap, the best and the worst.
    #[must_use]
    pub fn to_verify_recording(&self) -> Option<(Bytes, Vec<String>)> {
        let all = self.by_limit();
        let limit = all.iter().find(|at| at.outlook != Outlook::Fits).or(all.last())?.limit;
        let settings = self.settings.iter().filter(|setting| setting.limit == limit).cloned().collect();
        Some((limit, Forecast { settings, ..Forecast::default() }.to_verify()))
    }

    fn at(&self, limit: Bytes) -> AtLimit {
        let here = || self.settings.iter().filter(|setting| setting.limit == limit);
        let slower = |setting: &SettingForecast| setting.forecast?.slower.map(|range: Range| range.median);
        let well = here().filter(|setting| setting.ends_well()).filter_map(|setting| Some((setting, slower(setting)?)));
        let is_without = |setting: &SettingForecast| setting.has_no_swap();
        let without = well.clone().find(|(setting, _)| is_without(setting)).map(|(_, times)| times);
        let shortest = well.min_by(|a, b| a.1.total_cmp(&b.1));
        // Where the difference is none that one notices, what needs no swap is the best.
        let best = match (shortest, without) {
            (Some((_, times)), Some(plain)) if plain < times * NOTICED => {
                here().find(|setting| is_without(setting)).map(|setting| (setting, plain))
            }
            (shortest, _) => shortest,
        };
        let asked_without = here().any(is_without);
        let outlook = match best {
            None => Outlook::TooSmall,
            Some((setting, times)) if is_without(setting) => {
                if times < NOTICED {
                    Outlook::Fits
                } else {
                    Outlook::Slow
                }
            }
            Some((_, times)) if !asked_without => {
                if times < NOTICED {
                    Outlook::Fits
                } else {
                    Outlook::Slow
                }
            }
            Some((_, times)) => {
                if times < NOTICED {
                    Outlook::Helped
                } else {
                    Outlook::Eased
                }
            }
        };
        let (best, slower) = best.map(|(setting, times)| (setting.short_name().to_owned(), times)).unzip();
        AtLimit { limit, outlook, best, slower }
    }
}

impl SettingForecast {
    /// Its name in the lab, without the limit.
    #[must_use]
    pub fn short_name(&self) -> &str {
        self.name.split(' ').next().unwrap_or_default()
    }

    /// Of a recording: nothing of it is reclaimed.
    #[must_use]
    pub fn is_unaffected(&self) -> bool {
        let none = |range: Option<Range>| range.is_none_or(|range| range.high <= 0.0);
        let nothing = |figures: Figures| {
            none(figures.swap_in) && none(figures.refault_file) && figures.slower.is_some() && !figures.is_slower()
        };
        self.ends_well() && self.forecast.is_some_and(nothing)
    }

    fn has_no_swap(&self) -> bool {
        self.short_name() == "no-swap"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forecast::Verdict;

    fn setting(name: &str, slower: f64, verdict: Verdict) -> SettingForecast {
        let range = Range { median: slower, low: slower, high: slower };
        let forecast = Some(Figures { verdict, slower: Some(range), ..Figures::default() });
        SettingForecast { name: format!("{name} at 9.0 MiB"), forecast, limit: Bytes(9), ..SettingForecast::default() }
    }

    fn outlook(settings: Vec<SettingForecast>) -> (Outlook, Option<String>) {
        let [only] = Forecast { settings, ..Forecast::default() }.by_limit().try_into().unwrap();
        (only.outlook, only.best)
    }

    #[test]
    fn epochs_of_more_than_a_third_of_the_limit_are_too_long_to_count_by() {
        let recorded = Recorded { typical_epoch: Bytes::from_mib(10), epochs: 10, ..Recorded::default() };
        assert!(Recorded { epochs: 9, ..recorded.clone() }.is_coarse(Bytes::from_mib(30)));
        assert!(recorded.is_coarse(Bytes::from_mib(29)) && !recorded.is_coarse(Bytes::from_mib(30)));
    }

    #[test]
    fn the_least_memory_is_the_smallest_limit_above_all_that_are_slower() {
        let at = |limit: u64, slower: f64| SettingForecast {
            limit: Bytes(limit),
            ..setting("no-swap", slower, Verdict::Fine)
        };
        // Below a limit that is slower none counts, as fast as it may be.
        let settings = vec![at(100, 1.0), at(60, 1.0), at(80, 1.0), at(70, 1.2)];
        let forecast = Forecast { settings, ..Forecast::default() };
        let least = LeastMemory { setting: "no-swap".to_owned(), limit: Some(Bytes(80)), above: Some(Bytes(70)) };
        assert_eq!(forecast.least(), [least]);
    }

    #[test]
    fn what_is_said_first_is_whether_swap_helps_and_whether_anything_does() {
        let (fine, slow) = (Verdict::Fine, Verdict::Thrashing);
        let of = |plain: (f64, Verdict), zram: (f64, Verdict)| {
            outlook(vec![setting("no-swap", plain.0, plain.1), setting("zram:lz4:60", zram.0, zram.1)])
        };
        let (plain, zram) = (Some("no-swap".to_owned()), Some("zram:lz4:60".to_owned()));
        assert_eq!(of((1.05, fine), (1.0, fine)), (Outlook::Fits, plain.clone()));
        assert_eq!(of((3.0, fine), (1.05, fine)), (Outlook::Helped, zram.clone()));
        assert_eq!(of((9.0, slow), (2.0, fine)), (Outlook::Eased, zram));
        assert_eq!(of((2.0, fine), (2.0, fine)), (Outlook::Slow, plain));
        assert_eq!(of((9.0, slow), (9.0, slow)), (Outlook::TooSmall, None));
    }
}
