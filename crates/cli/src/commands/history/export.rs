//! `ramline history export`: a line a moment, for DuckDB, pandas, `ramline fleet` or a spreadsheet.

use ramline_evidence::history::HistoryRow;
use ramline_history::Moment;
use ramline_kernel::output::{Format as Kind, Output};
use ramline_model::recorded::row;
use ramline_recorder::Part;

use super::time::{Span, archive};
use crate::prelude::*;

/// A line a moment as JSON or CSV, for DuckDB, pandas or a spreadsheet
#[derive(Debug, Args)]
pub struct Export {
    /// Comma-separated values, with a line of names
    #[arg(long, conflicts_with = "json")]
    csv: bool,
    /// A JSON object a line
    #[arg(long)]
    json: bool,
    /// Where to [default: standard output]
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: PathBuf,
    #[command(flatten)]
    span: Span,
}

/// Sections that a line is made of.
const SECTIONS: [&str; 6] = ["schema_version", "machine", "meminfo", "vmstat", "pressure_memory", "zram"];

impl Export {
    /// Runs the command.
    ///
    /// # Errors
    /// The files cannot be read, the output not be written, or a time is none.
    pub fn run(&self, dir: &Path) -> Result<u8> {
        ensure!(
            self.csv || self.json,
            Failure::usage("export: --csv or --json\n  try: ramline history export --csv -o history.csv")
        );
        let (from, to) = self.span.ends()?;
        let kind = Kind { begins: if self.csv { b"unix_ms" } else { b"{" }, mode: 0o644 };
        let output = Output::open(&self.output, kind, "ramline history export --csv -o history.csv")?;
        let archive = archive(dir)?;
        let mut rows = 0_u64;
        output.write_with(|out| {
            if self.csv {
                writeln!(out, "{}", HistoryRow::NAMES.join(","))?;
            }
            for file in archive.iter().flat_map(ramline_recorder::Archive::days) {
                let Ok(part) = Part::skim(file) else { continue };
                let (first, end) = part.within(from, to);
                let mut written = Ok(());
                let wanted = |at: Moment| (from..=to).contains(&at.wall_ms);
                part.each(first, end, Some(&SECTIONS), &wanted, &mut |at, seen, _| {
                    if written.is_ok() {
                        rows += 1;
                        let row = row(at.wall_ms, &seen);
                        written = if self.csv { writeln!(out, "{}", row.csv()) } else { json(out, &row) };
                    }
                });
                written?;
            }
            Ok(())
        })?;
        Ok(if rows == 0 { exit::PARTLY } else { exit::DONE })
    }
}

fn json(out: &mut dyn std::io::Write, row: &HistoryRow) -> std::io::Result<()> {
    let text = serde_json::to_string(row).map_err(std::io::Error::other)?;
    writeln!(out, "{text}")
}
