//! What a run of code-plus-data was asked to do, with the article's proportions as defaults.
//!
//! What it is not: checked against the machine; that is [`super::plan`].
//!
//! ```
//! use ramline_lab::experiments::code_plus_data::settings::Settings;
//! let settings = Settings::default();
//! assert_eq!(settings.demand().to_string(), "544.0 MiB"); // 14 units of data and 3 of code
//! assert_eq!(settings.limit().to_string(), "480.0 MiB"); // 15 units
//! ```

use ramline_evidence::Workload;

use super::report::WorkTask;
use crate::limited::options;
use crate::limited::plan::SwapSizes;
use crate::prelude::*;

/// Name of the experiment on the command line and in records.
pub const NAME: &str = "code-plus-data";
/// Units of data; all of it would just fit.
pub const DATA_UNITS: u32 = 14;
/// Units of code.
pub const CODE_UNITS: u32 = 3;
/// Units the group may have: RAM of the article's machine is 16, of which programs and the kernel took about one.
pub const LIMIT_UNITS: u32 = 15;
/// Data units less code units: round k reads from data unit k on, so the last round ends inside the data.
pub const ROUNDS: u32 = DATA_UNITS - CODE_UNITS;
/// Generator seed of the article.
pub const SEED: u64 = 256;

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// One unit; the article's RAM / 16.
    pub unit: Bytes,
    /// Limit of the group; `None`: 15 units.
    pub limit: Option<Bytes>,
    /// Units of other programs, 0 to 3.
    pub ballast_units: u32,
    /// Rounds, 1 to 11.
    pub rounds: u32,
    /// Data in shared anonymous memory.
    pub shared: bool,
    /// Contents of the data.
    pub fills: Vec<Fill>,
    /// What is varied, without fills.
    pub arms: Vec<Arm>,
    /// Runs of each arm.
    pub runs: u32,
    /// When the clock ends the rounds of a run.
    pub timeout: Duration,
    /// Read-ahead of the scratch device: one for all arms, or several, each with all arms.
    pub read_aheads: Vec<Bytes>,
    /// Scratch place; `None`: chosen.
    pub dir: Option<PathBuf>,
    /// Seed of the access pattern.
    pub seed: u64,
    /// Run although the machine is busy; the records say so.
    pub allow_busy: bool,
    /// Bring the group's statistics up to date with every sample. A memory cgroup reclaims on numbers up to 2 s old, a whole
    /// machine on exact ones; with this the sandbox is nearer to the machine, without it nearer to a container.
    pub fresh_statistics: bool,
    /// How long each run waits for a quiet moment before it begins all the same.
    pub settle: Duration,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            unit: Bytes::from_mib(32),
            limit: None,
            ballast_units: 0,
            rounds: ROUNDS,
            shared: false,
            fills: vec![Fill::Text],
            arms: arm::DEFAULT_ARMS.iter().filter_map(|text| arm::parse(text).ok()).collect(),
            runs: 7,
            timeout: Duration::from_secs(20),
            read_aheads: vec![Bytes::from_kib(128)],
            dir: None,
            seed: SEED,
            allow_busy: false,
            fresh_statistics: true,
            settle: Duration::from_secs(3),
        }
    }
}

impl Settings {
    /// From the parameters of a series.
    ///
    /// # Errors
    /// An arm or a fill that is none.
    pub fn from_params(params: &Params) -> Result<Settings> {
        let base = Settings::default();
        let count = |name: &str| params.count(name).and_then(|n| u32::try_from(n).ok());
        Ok(Settings {
            unit: params.size("unit").unwrap_or(base.unit),
            limit: params.size("limit"),
            ballast_units: count("ballast").unwrap_or(base.ballast_units),
            rounds: count("rounds").unwrap_or(base.rounds),
            shared: params.switch("shared"),
            fills: params.list("fill").iter().map(|text| text.parse()).collect::<Result<_>>()?,
            arms: params.list("arms").iter().map(|text| arm::parse(text)).collect::<Result<_>>()?,
            runs: count("runs").unwrap_or(base.runs),
            timeout: params.time("timeout").unwrap_or(base.timeout),
            read_aheads: options::read_aheads(params, NAME)?,
            dir: params.path("dir"),
            seed: params.count("seed").unwrap_or(base.seed),
            allow_busy: params.switch("allow-busy"),
            fresh_statistics: !params.switch("stale-statistics"),
            settle: base.settle,
        })
    }

    /// As parameters of a series, by the experiment's table: for the records, and so that it can be resumed.
    #[must_use]
    pub fn params(&self, table: &[Parameter]) -> Params {
        let mut params = Params::defaults(table);
        let kib = |size: Bytes| vec![arm::kib(size)];
        let one = |text: String| vec![text];
        let mut values = vec![
            ("unit", kib(self.unit)),
            ("ballast", one(self.ballast_units.to_string())),
            ("rounds", one(self.rounds.to_string())),
            ("fill", self.fills.iter().map(ToString::to_string).collect()),
            ("shared", one(self.shared.to_string())),
            ("arms", self.arms.iter().map(|arm| arm.name.clone()).collect()),
            ("runs", one(self.runs.to_string())),
            ("timeout", one(format!("{}ms", self.timeout.as_millis()))),
            ("read-ahead", self.read_aheads.iter().map(|size| arm::kib(*size)).collect()),
            ("stale-statistics", one((!self.fresh_statistics).to_string())),
            ("seed", one(self.seed.to_string())),
            ("allow-busy", one(self.allow_busy.to_string())),
        ];
        values.extend(self.limit.map(|limit| ("limit", kib(limit))));
        values.extend(self.dir.as_ref().map(|dir| ("dir", one(dir.display().to_string()))));
        for (name, value) in values {
            // Everything here is of its kind; what a path cannot say in text is left out of the record.
            drop(params.set(table, name, value));
        }
        params
    }

    /// Refuses what makes no sense on any machine.
    ///
    /// # Errors
    /// With what is wrong and what would work.
    pub fn check(&self) -> Result<()> {
        let Settings { unit, ballast_units, rounds, runs, .. } = *self;
        let text = format!("a unit of {unit} is not a whole number of MiB from 4 on");
        refuse_if(unit < Bytes::from_mib(4) || !unit.0.is_multiple_of(1 << 20), NAME, "--unit 32MiB", text)?;
        let text = format!("{ballast_units} units of ballast are more than 3");
        refuse_if(ballast_units > 3, NAME, "--ballast 1", text)?;
        let text = format!("{rounds} rounds are not 1 to {ROUNDS}");
        refuse_if(!(1..=ROUNDS).contains(&rounds), NAME, "--rounds 11", text)?;
        refuse_if(!(1..=100).contains(&runs), NAME, "--runs 5", format!("{runs} runs are not 1 to 100"))?;
        self.read_aheads.iter().try_for_each(|size| check_read_ahead(*size, NAME))?;
        let fits = (Duration::from_secs(1)..=Duration::from_secs(3600)).contains(&self.timeout);
        refuse_if(!fits, NAME, "--timeout 20s", "the timeout is not 1 s to 1 h")?;
        let (limit, least) = (self.limit(), Bytes::from_mib(16).max(self.units(CODE_UNITS)));
        let more = format!("--limit {}MiB", least.0.div_ceil(1 << 20));
        refuse_if(limit < least, NAME, &more, format!("a limit of {limit} is below {least}"))?;
        self.crossed().map(drop)
    }

    /// All arms of the series, in order.
    ///
    /// # Errors
    /// There is none.
    pub fn crossed(&self) -> Result<Vec<Arm>> {
        arm::cross(&self.arms, &self.fills, &self.read_aheads)
    }

    /// Read-ahead of the scratch device in this arm.
    #[must_use]
    pub fn read_ahead(&self, arm: &Arm) -> Bytes {
        options::read_ahead(arm, &self.read_aheads)
    }

    /// So many units.
    #[must_use]
    pub fn units(&self, count: u32) -> Bytes {
        Bytes(self.unit.0.saturating_mul(u64::from(count)))
    }

    /// Limit of the group.
    #[must_use]
    pub fn limit(&self) -> Bytes {
        self.limit.unwrap_or_else(|| self.units(LIMIT_UNITS))
    }

    /// Everything the workload wants to keep: data, code, ballast.
    #[must_use]
    pub fn demand(&self) -> Bytes {
        self.units(DATA_UNITS + CODE_UNITS + self.ballast_units)
    }

    /// Size of a swap area: all of data and ballast, and two units to spare (the article: 16 for 14).
    #[must_use]
    pub fn swap_size(&self) -> Bytes {
        self.units(DATA_UNITS + self.ballast_units + 2)
    }

    /// The time a run is given at least before it is begun against a deadline: waiting for quiet, 5 s for the set-up and
    /// the fill, the rounds, 2 s to take everything down.
    #[must_use]
    pub fn longest_run(&self) -> Duration {
        self.settle.saturating_add(self.timeout).saturating_add(Duration::from_secs(7))
    }

    /// What the workload is to do; `hold` is left to the sandbox that needs it.
    ///
    /// # Errors
    /// The arm's fill is none.
    pub fn task(&self, arm: &Arm, code: PathBuf) -> Result<WorkTask> {
        Ok(WorkTask { workload: self.workload(arm), fill: arm.fill.parse()?, code, hold: None })
    }

    /// Sizes of swap: all of the data, or, above a disk, a part that is sure to overflow.
    #[must_use]
    pub(crate) fn swap_sizes(&self) -> SwapSizes {
        SwapSizes { area: self.swap_size(), above_file: self.units(DATA_UNITS / 7) }
    }

    /// Size of a zram device.
    #[must_use]
    pub fn zram_size(&self, swap: &SwapKind) -> Bytes {
        self.swap_sizes().zram(swap)
    }

    /// As recorded.
    #[must_use]
    pub fn workload(&self, arm: &Arm) -> Workload {
        Workload {
            unit: self.unit,
            data_units: DATA_UNITS,
            code_units: CODE_UNITS,
            ballast_units: self.ballast_units,
            rounds: self.rounds,
            shared: self.shared,
            seed: self.seed,
            limit: self.limit(),
            read_ahead: self.read_ahead(arm),
            timeout: options::nanos(self.timeout),
            fresh_statistics: self.fresh_statistics,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_round_ends_inside_the_data() {
        let settings = Settings::default();
        assert!(settings.units(ROUNDS - 1 + CODE_UNITS) <= settings.units(DATA_UNITS));
        assert_eq!(settings.demand().saturating_sub(settings.limit()), settings.units(2));
        settings.check().unwrap();
    }

    #[test]
    fn settings_survive_the_way_through_parameters() {
        let settings =
            Settings { limit: Some(Bytes::from_mib(300)), shared: true, ballast_units: 2, ..Settings::default() };
        assert_eq!(Settings::from_params(&settings.params(&super::super::table())).unwrap(), settings);
    }

    #[test]
    fn nonsense_is_refused_with_a_command_that_works() {
        let with = |change: fn(&mut Settings)| {
            let mut settings = Settings::default();
            change(&mut settings);
            settings.check().unwrap_err().to_string()
        };
        assert!(with(|s| s.unit = Bytes(1000)).contains("--unit 32MiB"));
        assert!(with(|s| s.runs = 0).contains("--runs 5"));
        assert!(with(|s| s.rounds = 12).contains("1 to 11"));
        assert!(with(|s| s.ballast_units = 4).contains("more than 3"));
        assert!(with(|s| s.limit = Some(Bytes::from_mib(64))).contains("is below 96.0 MiB"));
        assert!(with(|s| s.arms.clear()).contains("at least one setting"));
    }
}
