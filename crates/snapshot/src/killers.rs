//! Programs that end processes before the kernel does: earlyoom, systemd-oomd, and the thresholds they are given.
//!
//! Worked example: `earlyoom -m 5 -s 100` acts when less than 5 % of memory is available, whatever swap says.

use crate::prelude::*;

/// User-space out-of-memory killers.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Killers {
    /// earlyoom, when it runs.
    pub earlyoom: Option<Earlyoom>,
    /// systemd-oomd, when it runs.
    pub oomd: Option<Oomd>,
}

/// earlyoom's thresholds: it acts when both memory and swap are at or below theirs. `None`: not given, so its own.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Earlyoom {
    /// Per cent of memory available (`-m`).
    pub memory_percent: Option<f64>,
    /// The same as bytes (`-M`).
    pub memory: Option<Bytes>,
    /// Per cent of swap free (`-s`).
    pub swap_percent: Option<f64>,
    /// The same as bytes (`-S`).
    pub swap: Option<Bytes>,
    /// Where this was read.
    pub source: String,
}

/// What earlyoom takes for `-m` and `-s` when they are not given (its manual page).
pub const EARLYOOM_PERCENT: f64 = 10.0;

/// systemd-oomd's thresholds. `None`: not configured, so its own (`oomd.conf(5)`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Oomd {
    /// Per cent of memory and of swap used (`SwapUsedLimit=`).
    pub swap_used_percent: Option<f64>,
    /// Per cent of time a group waits for memory (`DefaultMemoryPressureLimit=`).
    pub pressure_percent: Option<f64>,
    /// For how long (`DefaultMemoryPressureDurationSec=`).
    pub pressure_for: Option<Nanos>,
    /// Units that files ask it to watch; `None` where the unit files could not be read.
    pub watched: Option<Vec<Watched>>,
    /// Where this was read.
    pub source: String,
    /// Files and lines that could not be used.
    pub unseen: Vec<Unseen>,
}

/// What systemd-oomd takes for `SwapUsedLimit=` (`oomd.conf(5)`).
pub const OOMD_SWAP_PERCENT: f64 = 90.0;

/// A unit that a file asks systemd-oomd to watch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Watched {
    /// `user@.service`, `-.slice`.
    pub unit: String,
    /// `ManagedOOMSwap=kill`.
    pub swap: bool,
    /// `ManagedOOMMemoryPressure=kill`.
    pub pressure: bool,
}

impl Earlyoom {
    /// From its arguments, separated by zero bytes as in `/proc/PID/cmdline`. Of a pair (`-m 10,5`) the first counts: from there
    /// on it asks politely.
    #[must_use]
    pub fn from_cmdline(source: &str, text: &str) -> Self {
        let mut out = Earlyoom { source: source.to_owned(), ..Earlyoom::default() };
        let mut words = text.split('\0').skip(1);
        while let Some(word) = words.next() {
            let Some(letter) = ["-m", "-s", "-M", "-S"].into_iter().find(|flag| word.starts_with(flag)) else {
                continue;
            };
            let value = match &word[2..] {
                "" => words.next().unwrap_or_default(),
                glued => glued,
            };
            let first = value.split(',').next().unwrap_or_default();
            let percent = first.parse::<f64>().ok().filter(|p| (0.0..=100.0).contains(p));
            let kib = first.parse().ok().map(Bytes::from_kib);
            match letter {
                "-m" => out.memory_percent = percent,
                "-s" => out.swap_percent = percent,
                "-M" => out.memory = kib,
                _ => out.swap = kib,
            }
        }
        out
    }
}

impl Oomd {
    /// Takes in one configuration file; files come in order of effect.
    pub fn read(&mut self, file: &str, text: &str) {
        for (key, value, index) in assignments(text) {
            let understood = match key {
                "SwapUsedLimit" => percent(value).map(|p| self.swap_used_percent = Some(p)),
                "DefaultMemoryPressureLimit" => percent(value).map(|p| self.pressure_percent = Some(p)),
                "DefaultMemoryPressureDurationSec" => seconds(value).map(|s| self.pressure_for = Some(s)),
                _ => Some(()),
            };
            if understood.is_none() && !value.is_empty() {
                self.unseen.push(Unseen::line(file, index, value));
            }
        }
    }
}

impl Watched {
    /// What a unit's files ask for, in order of effect; the last word counts.
    #[must_use]
    pub fn from_texts<'a>(unit: &str, texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut out = Watched { unit: unit.to_owned(), ..Watched::default() };
        for (key, value, _) in texts.into_iter().flat_map(assignments) {
            match key {
                "ManagedOOMSwap" => out.swap = value == "kill",
                "ManagedOOMMemoryPressure" => out.pressure = value == "kill",
                _ => {}
            }
        }
        out
    }
}

/// `Key=value` lines with their number; comments and sections are left out.
fn assignments(text: &str) -> impl Iterator<Item = (&str, &str, usize)> {
    text.lines().enumerate().filter_map(|(index, line)| {
        let line = line.trim();
        let (key, value) = line.split_once('=').filter(|_| !line.starts_with(['#', ';', '[']))?;
        Some((key.trim(), value.trim(), index))
    })
}

/// `90%`, `60.5%`, `50‰`, `9000‱`.
fn percent(text: &str) -> Option<f64> {
    let per = [("%", 1.0), ("\u{2030}", 10.0), ("\u{2031}", 100.0)];
    let (number, divisor) = per.into_iter().find_map(|(sign, divisor)| Some((text.strip_suffix(sign)?, divisor)))?;
    let value = number.trim().parse::<f64>().ok()? / divisor;
    (0.0..=100.0).contains(&value).then_some(value)
}

/// `30`, `30s`, `2min`, `1min 30s`.
fn seconds(text: &str) -> Option<Nanos> {
    let mut total = 0_u64;
    for word in text.split_ascii_whitespace() {
        let digits = word.find(|c: char| !c.is_ascii_digit()).unwrap_or(word.len());
        let (number, unit) = word.split_at(digits);
        let unit_ns: u64 = match unit {
            "" | "s" | "sec" => 1_000_000_000,
            "ms" => 1_000_000,
            "m" | "min" => 60_000_000_000,
            "h" => 3_600_000_000_000,
            _ => return None,
        };
        total = total.checked_add(number.parse::<u64>().ok()?.checked_mul(unit_ns)?)?;
    }
    (!text.is_empty()).then_some(Nanos(total))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn earlyoom_is_read_from_its_arguments_glued_or_apart() {
        let seen = Earlyoom::from_cmdline("c", "/usr/bin/earlyoom\0-r\x003600\0-m\x005,2\0-s100\0-M\x00512000\0-S\0");
        assert_eq!((seen.memory_percent, seen.swap_percent), (Some(5.0), Some(100.0)));
        assert_eq!((seen.memory, seen.swap), (Some(Bytes::from_kib(512_000)), None));
        let none = Earlyoom::from_cmdline("c", "earlyoom");
        assert_eq!((none.memory_percent, none.swap_percent), (None, None));
        assert_eq!(Earlyoom::from_cmdline("c", "e\0-m\0nan\0-s\x001e9\0").memory_percent, None);
    }

    #[test]
    fn oomd_is_read_from_its_files_and_the_last_word_counts() {
        let mut oomd = Oomd::default();
        oomd.read("a", "[OOM]\n#SwapUsedLimit=1%\nSwapUsedLimit=80%\nDefaultMemoryPressureDurationSec=1min 30s\n");
        oomd.read("b", "SwapUsedLimit = 9000\u{2031}\nDefaultMemoryPressureLimit=x\u{1b}\n");
        assert_eq!((oomd.swap_used_percent, oomd.pressure_for), (Some(90.0), Some(Nanos(90_000_000_000))));
        assert_eq!(oomd.pressure_percent, None);
        assert!(oomd.unseen[0].reason.contains("line 2") && oomd.unseen[0].reason.contains("\\u{1b}"));
        let watched = Watched::from_texts(
            "-.slice",
            ["ManagedOOMSwap=kill\n", "ManagedOOMSwap=auto\nManagedOOMMemoryPressure=kill"],
        );
        assert_eq!((watched.swap, watched.pressure), (false, true));
    }
}
