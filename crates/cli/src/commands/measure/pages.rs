//! `ramline measure pages`.

use ramline_evidence::SeriesTable;
use ramline_evidence::pages::{PROFILE_FORMAT, PageProfile};
use ramline_kernel::output::Format as Place;
use ramline_kernel::zram;
use ramline_measure::pages::{self, ALGORITHMS, PAGES, PagesOptions, SWAPPED, Whose};
use ramline_model::pages::PageVerdict;
use ramline_view::{MeasuredPages, pages::csv};

use crate::commands::judge::{Ahead, Judging};
use crate::commands::lab::report;
use crate::prelude::*;

/// What the pages of running processes compress to with each algorithm, and how fast, within 30 s
///
/// A sample of anonymous pages is copied into locked memory, compressed there page by page, and zeroed. Contents are never written or shown.
/// Pages in swap are brought back by being read, so only few of them are taken (--swapped).
#[derive(Debug, Args)]
pub struct Pages {
    /// Only these processes
    #[arg(long, value_name = "PID", num_args = 1.., conflicts_with_all = ["cgroup", "all", "from"])]
    pid: Vec<u32>,
    /// Only the processes of this control group and those below it
    #[arg(long, value_name = "GROUP", conflicts_with_all = ["all", "from"])]
    cgroup: Option<PathBuf>,
    /// All processes that may be read (the default)
    #[arg(long, conflicts_with = "from")]
    all: bool,
    /// Algorithms, some with a level: lz4, lz4hc:9, zstd:3, deflate:6
    #[arg(long, value_name = "NAME[:LEVEL]", value_delimiter = ',', default_values_t = ALGORITHMS.iter().map(|name| (*name).to_owned()), conflicts_with = "from")]
    algorithms: Vec<String>,
    /// At most so long
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "30s", conflicts_with = "from")]
    budget: Duration,
    /// Pages to sample
    #[arg(long, value_name = "COUNT", default_value_t = PAGES, value_parser = count, conflicts_with = "from")]
    pages: usize,
    /// At most this many of them from swap: reading swaps them in
    #[arg(long, value_name = "COUNT", default_value_t = SWAPPED, conflicts_with = "from")]
    swapped: usize,
    /// Seed of the choice of pages
    #[arg(long, value_name = "SEED", default_value_t = 256, conflicts_with = "from")]
    seed: u64,
    /// Make scratch zram devices without asking (as root; they are removed again)
    #[arg(long, conflicts_with = "from")]
    prove: bool,
    /// Keep the profile, which holds no contents, for this or another host
    #[arg(long, value_name = "FILE", conflicts_with = "from")]
    profile: Option<PathBuf>,
    /// Show a profile of this or another host instead of measuring
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    /// Also write a table for spreadsheets
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Also run a command of yours within a memory limit, as the machine is and with a scratch zram device of each algorithm that wins
    /// something (as root; the command after --)
    #[arg(long, requires = "command", conflicts_with = "from")]
    judge: bool,
    #[command(flatten)]
    judging: Judging,
    /// Also show every cluster size, processes and groups, and how it was measured
    #[arg(long)]
    verbose: bool,
    #[command(flatten)]
    format: Format,
}

const VERSION: &str = env!("CARGO_PKG_VERSION");
/// How the table of `--csv` begins.
const CSV: Place = Place { begins: b"by,", mode: 0o644 };
const HINT: &str = "ramline measure pages --profile pages.json";

fn count(text: &str) -> Result<usize, String> {
    let rule = || format!("'{text}' is not a number of pages from 8 to 1000000");
    text.parse().ok().filter(|count| (8..=1_000_000).contains(count)).ok_or_else(rule)
}

impl Pages {
    /// Runs the command.
    ///
    /// # Errors
    /// The source is not this machine, no page could be read, or a profile that is none.
    pub fn run(&self, source: &Source) -> Result<u8> {
        // Places are checked before any work.
        let open = |path: &PathBuf, format, hint| place::open(path, format, hint);
        let profile_to = self.profile.as_ref().map(|path| open(path, place::JSON, HINT)).transpose()?;
        let csv_to =
            self.csv.as_ref().map(|path| open(path, CSV, "ramline measure pages --csv pages.csv")).transpose()?;
        let measured = match &self.from {
            Some(file) => (carried(file, source)?, None),
            None => self.measure(source)?,
        };
        let (measured, of_command) = measured;
        if let Some(to) = profile_to {
            to.write(output::document(&measured.profile)?.as_bytes())?;
        }
        if let Some(to) = csv_to {
            to.write(csv(&measured).as_bytes())?;
        }
        self.format.print(&measured, |style| measured.screen(self.verbose, style))?;
        // What was measured before the command could not be judged is not lost.
        of_command.map_or(Ok(exit::DONE), Err)
    }

    /// What was measured, and what kept the command from being judged.
    fn measure(&self, source: &Source) -> Result<(MeasuredPages, Option<anyhow::Error>)> {
        source.must_be_live("measure pages")?;
        let root = Root::live();
        state::alone(&root)?;
        let ahead = self.judge.then(|| self.judging.ahead(&root, None)).transpose()?;
        let whose = match (&self.cgroup, self.pid.as_slice()) {
            (Some(group), _) => Whose::Group(group.clone()),
            (None, []) => Whose::All,
            (None, ids) => Whose::Processes(ids.to_vec()),
        };
        let mut options = PagesOptions {
            whose,
            algorithms: self.algorithms.clone(),
            pages: self.pages,
            swapped: self.swapped,
            budget: self.budget,
            seed: self.seed,
            version: VERSION.to_owned(),
            ..PagesOptions::all()
        };
        let able = process::uid() == 0 && zram::has_control(&root);
        if able {
            let mut what = vec!["a scratch zram device, which holds the sampled pages (removed again)".to_owned()];
            what.extend(ahead.iter().flat_map(|ahead| ahead.global.clone()));
            let agreed = consent::given(self.prove, &what)?;
            if let Some(ahead) = &ahead {
                ahead.must_be_agreed(agreed, "measure pages --prove --judge")?;
            }
            options.scratch_zram = agreed.then(|| state::lock(&root)).transpose()?;
        }
        // Only now: at the question a Ctrl-C just ends us.
        signals::install();
        let profile = pages::measure(&options, &mut Terminal::new())?;
        if self.pid.is_empty() && self.cgroup.is_none() {
            remembered::keep_pages(&profile);
        }
        let mut measured = MeasuredPages::new(profile, remembered::tiers(source), vec![]);
        if let (Some(ahead), Some(lock)) = (ahead, &options.scratch_zram) {
            match judged(ahead, &root, lock, &measured.judged) {
                Ok(command) => measured.command = Some(command),
                Err(error) => return Ok((measured, Some(error))),
            }
        }
        Ok((measured, None))
    }
}

/// The command under the machine's own setting and each algorithm that wins something.
fn judged(ahead: Ahead, root: &Root, lock: &RunLock, judged: &PageVerdict) -> Result<SeriesTable> {
    let finalists = judged.finalists();
    if finalists.is_empty() {
        let why = "the kernel's own algorithms were not measured, so nothing stands in the final";
        let hint = "sudo ramline measure pages --prove --budget 60s";
        return Err(Failure::new(exit::FAILED, format!("cannot judge by a command: {why}\n  try: {hint}")).into());
    }
    let arms = finalists.iter().map(|name| format!("zram:{name}"));
    let folder = ahead.run(root, lock, Some(std::iter::once("as-configured".to_owned()).chain(arms).collect()))?;
    let (table, records) = report::series_of(&folder)?;
    for doubt in ramline_lab::report::doubts(&records) {
        stdio::tell(&format!("doubt: {doubt}"));
    }
    stdio::tell(&format!("Raw records: {}", folder.dir().display()));
    Ok(table)
}

/// A profile from a file.
///
/// # Errors
/// It cannot be read, or is none.
pub fn profile(file: &Path) -> Result<PageProfile> {
    let text = input::read_named_text("read the profile", file, input::DOCUMENT)?;
    let refused = |why: String| {
        Failure::new(exit::USAGE, format!("cannot read the profile {}: {why}\n  try: {HINT}", file.display()))
    };
    // A document of `--json` holds the profile; a file of `--profile` is one.
    let mut value: serde_json::Value = serde_json::from_str(&text).map_err(|error| refused(error.to_string()))?;
    let inner = value.get_mut("profile").map(serde_json::Value::take).unwrap_or(value);
    let profile: PageProfile = ramline_units::json::read(inner).map_err(|error| refused(error.to_string()))?;
    if profile.format == 0 || profile.format > PROFILE_FORMAT {
        return Err(refused(format!("format {} is not one of 1 to {PROFILE_FORMAT}", profile.format)).into());
    }
    Ok(profile)
}

/// What of this host is otherwise than of the profile's.
#[must_use]
pub fn differs(profile: &PageProfile) -> Vec<String> {
    profile.differs_from(&pages::this_host(VERSION))
}

/// A profile from a file, with a warning for each thing that differs here.
fn carried(file: &Path, source: &Source) -> Result<MeasuredPages> {
    let profile = profile(file)?;
    let mut warnings = differs(&profile);
    if !warnings.is_empty() {
        warnings = vec![format!(
            "this profile is of another machine or another time ({}): ratios hold where the load is the same, times do not",
            warnings.join("; ")
        )];
    }
    Ok(MeasuredPages::new(profile, remembered::tiers(source), warnings))
}
