//! `ramline fleet`: many hosts, asked by a program of its own that is found and run; what it answers is shown as everything else is.
//!
//! What it is not: part of this binary. Asking Parquet files takes an engine that is larger than all of ramline.

use std::os::unix::process::CommandExt;
use std::process::Stdio;

use ramline_evidence::FleetReport;
use ramline_kernel::output::Output;
use ramline_kernel::program::{Program, on_path};

use crate::prelude::*;

/// Its name.
const PROGRAM: &str = "ramline-fleet";
/// Where `make fleet` puts it, below the folder of the build, and what that is called.
const BUILT: (&str, &str) = ("target", "fleet/bin/ramline-fleet");

/// Many hosts: would /tmp fit into their memory, and how sure is that? (installed by make fleet)
#[derive(Debug, Args)]
#[command(arg_required_else_help = true)]
pub struct Fleet {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// On how many hosts /tmp would fit into memory, which would break, and what they have
    Report(Report),
    /// Ask many hosts, or take what they sent: STORE with --ssh HOSTS, --prometheus URL, --metrics, --snapshots or --reports FILE...
    Collect(Words),
    /// A script that tells node_exporter's textfile collector how much lies in /tmp
    Textfile(Words),
    /// Take a file into a store, lines of the study or a table (CSV, Parquet): STORE FILE [--layout old|new] [--day DAY]
    Ingest(Words),
    /// Rows of one of the queries, comma-separated: NAME STORE [--engine ENGINE]
    Query(Words),
    /// Make anew what a store keeps of each host, as an ingest of many rows does by itself: STORE
    Summarize(Words),
    /// RAM that each host needs, what it wastes and what it lacks: STORE [--roles FILE]
    Size(Words),
    /// Hosts that use memory unlike the others of their role: STORE [--roles FILE]
    Outliers(Words),
    /// What zram is worth over all hosts: STORE [--roles FILE]
    Zram(Words),
    /// Processes killed for want of memory, by host and role: STORE [--roles FILE]
    Kills(Words),
    /// Waits for memory, refaults and swap traffic by role: STORE [--roles FILE]
    Pressure(Words),
    /// Hosts whose memory runs out, and when: STORE [--what memory|tmp]
    Trend(Words),
    /// Before and after a change of some hosts, against the others: STORE --changed FILE --on DAY
    Compare(Words),
    /// All that is known of one host, day by day: NAME STORE
    Host(Words),
    /// Many small files of a store become few; with --keep days that are too old are removed: STORE
    Compact(Words),
    /// In which order /tmp moves into memory: waves of hosts of every kind: STORE [--bounds 1%,0.1%] [--roles FILE]
    Rollout(Words),
    /// Memory settings that differ inside a role: STORE [--roles FILE]
    Settings(Words),
    /// Findings of checkup, counted over hosts: STORE
    Findings(Words),
    /// Make up a file of 502 hosts with the figures that the study published: FILE
    Synth(Words),
}

/// What that program reads itself, its `--help` too.
#[derive(Debug, Args)]
#[command(disable_help_flag = true)]
struct Words {
    /// --help shows them
    #[arg(value_name = "WORDS", trailing_var_arg = true, allow_hyphen_values = true)]
    words: Vec<OsString>,
}

#[derive(Debug, Args)]
struct Report {
    /// A store made by `ramline fleet ingest`, or a file of the study
    #[arg(value_name = "STORE|FILE")]
    store: PathBuf,
    /// Of free, when it is a file: new has a column 'available', old has 'buffers' and 'cached'
    #[arg(long, value_name = "old|new")]
    layout: Option<String>,
    /// What answers: duckdb, in this machine; local-cluster or spark://HOST:PORT, with Spark
    #[arg(long, value_name = "ENGINE")]
    engine: Option<String>,
    /// The first day that counts (default: 31 days up to the newest day of the store)
    #[arg(long, value_name = "DAY")]
    since: Option<String>,
    /// The last day that counts
    #[arg(long, value_name = "DAY")]
    until: Option<String>,
    /// As many days up to the newest, as 90d or 12w; `all` for every day there is
    #[arg(long, value_name = "30d")]
    last: Option<String>,
    /// HOST<tab>ROLE in each line: counts for each role too
    #[arg(long, value_name = "FILE")]
    roles: Option<PathBuf>,
    /// Also write the lines of a file that were refused, with their reasons
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,
    /// Also write it as one HTML file, with charts
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    #[command(flatten)]
    format: Format,
}

impl Fleet {
    /// Runs the command.
    ///
    /// # Errors
    /// That program is not installed, or cannot do what is asked.
    pub fn run(&self) -> Result<u8> {
        match &self.verb {
            Verb::Report(report) => report.run(),
            Verb::Collect(words) => words.run("collect"),
            Verb::Textfile(words) => words.run("textfile"),
            Verb::Ingest(words) => words.run("ingest"),
            Verb::Query(words) => words.run("query"),
            Verb::Summarize(words) => words.run("summarize"),
            Verb::Rollout(words) => words.run("rollout"),
            Verb::Size(words) => words.run("size"),
            Verb::Outliers(words) => words.run("outliers"),
            Verb::Zram(words) => words.run("zram"),
            Verb::Kills(words) => words.run("kills"),
            Verb::Pressure(words) => words.run("pressure"),
            Verb::Trend(words) => words.run("trend"),
            Verb::Compare(words) => words.run("compare"),
            Verb::Host(words) => words.run("host"),
            Verb::Compact(words) => words.run("compact"),
            Verb::Settings(words) => words.run("settings"),
            Verb::Findings(words) => words.run("findings"),
            Verb::Synth(words) => words.run("synth"),
        }
    }
}

impl Words {
    /// Becomes that program.
    fn run(&self, verb: &str) -> Result<u8> {
        let program = found()?;
        Err(cannot_run(&program, &program.command().arg(verb).args(&self.words).exec()).into())
    }
}

impl Report {
    fn run(&self) -> Result<u8> {
        let html = self.html.as_deref();
        let html = html.map(|path| place::open(path, place::HTML, "ramline fleet report STORE --html fleet.html"));
        let html = html.transpose()?;
        let program = found()?;
        let mut command = program.command();
        // What it says of progress and of lines it refuses stands on our standard error.
        command.arg("report").arg(&self.store).stdin(Stdio::null()).stderr(Stdio::inherit());
        let texts = [
            ("--layout", &self.layout),
            ("--engine", &self.engine),
            ("--since", &self.since),
            ("--until", &self.until),
            ("--last", &self.last),
        ];
        for (option, value) in
            texts.into_iter().filter_map(|(option, value)| value.as_ref().map(|value| (option, value)))
        {
            command.args([option, value]);
        }
        self.rejects.iter().for_each(|file| _ = command.arg("--rejects").arg(file));
        self.roles.iter().for_each(|file| _ = command.arg("--roles").arg(file));
        let done = command.output().map_err(|error| cannot_run(&program, &error))?;
        if !done.status.success() {
            let code = done.status.code().and_then(|code| u8::try_from(code).ok());
            return Ok(code.filter(|code| *code != exit::DONE).unwrap_or(exit::FAILED));
        }
        let report: FleetReport = ramline_units::json::parse_bytes(&done.stdout).map_err(|error| {
            let text =
                format!("{} answers what this ramline cannot read: {error}\n  try: make fleet", program.path.display());
            Failure::new(exit::FAILED, text)
        })?;
        if !html.as_ref().is_some_and(Output::is_stdout) {
            self.format.screen(&report)?;
        }
        if let Some(output) = html {
            output.write(ramline_view::html::fleet(&report, env!("CARGO_PKG_VERSION")).as_bytes())?;
        }
        Ok(exit::DONE)
    }
}

fn cannot_run(program: &Program, error: &std::io::Error) -> Failure {
    Failure::new(exit::FAILED, format!("cannot run {}: {error}\n  try: make fleet", program.path.display()))
}

/// On the path, or below the folder of the build that this program is from; one that another user could have put there is not run.
fn found() -> Result<Program> {
    let exe = process::own_exe().unwrap_or_default();
    let (folder, built) = BUILT;
    let builds = exe.ancestors().skip(1).filter(|above| above.file_name().is_some_and(|name| name == folder));
    Program::first(PROGRAM, on_path(PROGRAM).into_iter().chain(builds.map(|above| above.join(built)))).map_err(
        |error| {
            if !error.is_absent() {
                return error.into();
            }
            let hint = "make fleet, in a checkout; or: python3 -m pip install ./fleet";
            Failure::new(exit::FAILED, format!("{PROGRAM} is not installed\n  try: {hint}")).into()
        },
    )
}
