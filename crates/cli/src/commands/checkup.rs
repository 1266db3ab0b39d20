//! `ramline checkup`: look, measure, prove, advise; a summary, and a report as HTML and JSON.

mod stages;

use ramline_advice::Weight;
use ramline_kernel::output::Output;
use ramline_model::verdict::Status;
use ramline_view::screen::Compared;
use ramline_view::{CheckupComparison, CheckupReport, SCHEMA_VERSION};

use crate::past::Past;
use crate::prelude::*;
use stages::Stages;

/// Look, measure, prove in a sandbox, and say what to do
#[derive(Debug, Args)]
pub struct Checkup {
    /// At most 15 s, reads only
    #[arg(long, conflicts_with_all = ["full", "prove"])]
    quick: bool,
    /// At most 5 min: more runs, larger sandbox
    #[arg(long)]
    full: bool,
    /// Also prove it with a swap file and zram, without asking; they are removed again
    #[arg(long)]
    prove: bool,
    /// Write the report as one HTML file (- for stdout, instead of the summary)
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Write the report as JSON (- for stdout, instead of the summary)
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Say what changed since an earlier report
    #[arg(long, value_name = "OLD.json")]
    compare: Option<PathBuf>,
    /// Scratch place: a directory on a disk
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// For cron and monitoring: exit with 10 when the first line or a finding is a warning or critical; notes do not
    /// count, and the last line says what counted
    #[arg(long)]
    exit_code: bool,
    #[command(flatten)]
    past: Past,
}

impl Checkup {
    /// Runs the command.
    ///
    /// # Errors
    /// The source, the old report or a target file cannot be used; a signal came.
    pub fn run(&self, source: &Source) -> Result<u8> {
        let mode = match (self.quick, self.full) {
            (true, _) => Mode::Quick,
            (_, true) => Mode::Full,
            _ => Mode::Default,
        };
        // Before anything is started: an old report that cannot be read, a target that cannot be written.
        let old = self.compare.as_deref().map(read).transpose()?;
        let html =
            self.html.as_deref().map(|path| place::open(path, place::HTML, "ramline checkup --html report.html"));
        let html = html.transpose()?;
        // `ramline --json checkup`, as for any command.
        let everywhere = output::Format { json: false }.is_json().then_some(Path::new("-"));
        let json = self
            .json
            .as_deref()
            .or(everywhere)
            .map(|path| place::open(path, place::JSON, "ramline checkup --json report.json"));
        let json = json.transpose()?;
        let to_stdout = [&html, &json].into_iter().flatten().filter(|output| output.is_stdout()).count();
        anyhow::ensure!(
            to_stdout < 2,
            Failure::usage("--html - and --json - would mix on standard output\n  try: --html report.html --json -")
        );
        let to_stdout = to_stdout > 0;
        let source = &self.past.source(source, None, Format { json: to_stdout })?;
        let (report, code) = Stages { source, mode, prove: self.prove, dir: self.dir.as_deref() }.report()?;
        let named = |output: &Output| (!output.is_stdout()).then(|| output.path().display().to_string());
        let files: Vec<String> = [&html, &json].into_iter().flatten().filter_map(named).collect();
        if let Some(output) = html {
            output.write(ramline_view::html::page(&report).as_bytes())?;
        }
        if let Some(output) = json {
            output.write(output::document(&report)?.as_bytes())?;
        }
        if !to_stdout {
            output::text(&ramline_view::screen::checkup(&report, &files, &output::style()))?;
        }
        if let Some(old) = &old {
            let style = if to_stdout { Style::default() } else { output::style() };
            let text = CheckupComparison::between(old, &(&report).into()).text(&style);
            // Beside a document on stdout it is for whoever looks on.
            if to_stdout { ramline_kernel::stdio::tell(text.trim_end()) } else { output::text(&text)? }
        }
        if !self.exit_code {
            return Ok(code);
        }
        // What was found matters more than that a part could not be looked at.
        let code = if counted(&report).is_alarm() && [exit::DONE, exit::PARTLY].contains(&code) {
            exit::FINDINGS
        } else {
            code
        };
        if !to_stdout {
            output::text(&format!("{}\n", counted(&report).words(code)))?;
        }
        Ok(code)
    }
}

/// What decides the exit code.
struct Counted {
    first_line: Option<&'static str>,
    critical: usize,
    warnings: usize,
    notes: usize,
}

fn counted(report: &CheckupReport) -> Counted {
    let of = |weight| report.findings.iter().filter(|finding| finding.weight == weight).count();
    let first_line = report.verdict.as_ref().and_then(|verdict| match verdict.status {
        Status::Critical => Some("critical"),
        Status::Warning => Some("a warning"),
        _ => None,
    });
    Counted { first_line, critical: of(Weight::Critical), warnings: of(Weight::Warning), notes: of(Weight::Note) }
}

impl Counted {
    fn is_alarm(&self) -> bool {
        self.first_line.is_some() || self.critical + self.warnings > 0
    }

    /// `Exit code 10: the first line is a warning; 2 warnings, 1 note (notes do not count).`
    fn words(&self, code: u8) -> String {
        let of = |n: usize, one: &str, more: &str| match n {
            0 => None,
            1 => Some(format!("1 {one}")),
            n => Some(format!("{n} {more}")),
        };
        let all = [
            of(self.critical, "critical finding", "critical findings"),
            of(self.warnings, "warning", "warnings"),
            of(self.notes, "note, which does not count", "notes, which do not count"),
        ];
        let found: Vec<String> = all.into_iter().flatten().collect();
        let found = if found.is_empty() { "no finding".to_owned() } else { found.join(", ") };
        let first = self.first_line.map(|what| format!("the first line is {what}; ")).unwrap_or_default();
        format!("Exit code {code}: {first}{found}.")
    }
}

fn read(path: &Path) -> Result<Compared> {
    let read = input::read_named_text("read the old report", path, input::DOCUMENT);
    let text = read.map_err(|error| error.or_hint("ramline checkup --json old-report.json"))?;
    let parsed = ramline_units::json::parse(&text).map_err(|e| e.to_string());
    let known = |report: Compared| match report.schema_version {
        // Every field has a default, so another document would be a report in which nothing was found.
        _ if report.ramline.is_empty() => Err("it is another document".to_owned()),
        version if version > SCHEMA_VERSION => Err(format!("version {version}, and {SCHEMA_VERSION} is known")),
        _ => Ok(report),
    };
    Ok(parsed.and_then(known).map_err(|e| {
        // The hint names a file of its own: following it must not overwrite what was given by mistake.
        let text = format!(
            "{} is not a report of a checkup: {e}\n  try: ramline checkup --json old-report.json",
            path.display()
        );
        Failure::usage(text)
    })?)
}
