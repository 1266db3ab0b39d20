//! `ramline history sar`: sar's columns.

use ramline_history::Moment;
use ramline_model::sar::{SarMemory, SarPaging, SarProcessors, SarSwap, SarSwapping};
use ramline_recorder::{PROCESSORS, Part};
use ramline_view::SCHEMA_VERSION;
use ramline_view::history::{SarRow, SarTable};

use super::time::{Span, archive};
use crate::prelude::*;
use crate::when;

/// Tables with sar's columns: -r memory, -S swap, -B paging, -W swapping, -u processors
#[derive(Debug, Args)]
pub struct Sar {
    /// Memory, with both meanings of used
    #[arg(short = 'r')]
    memory: bool,
    /// Swap areas
    #[arg(short = 'S')]
    swap: bool,
    /// Paging, reclaim, refaults
    #[arg(short = 'B')]
    paging: bool,
    /// Pages swapped in and out
    #[arg(short = 'W')]
    swapping: bool,
    /// Processors
    #[arg(short = 'u')]
    processors: bool,
    /// A line so often
    #[arg(long, value_name = "TIME", value_parser = duration::parse_wait, default_value = "10min")]
    every: Duration,
    #[command(flatten)]
    span: Span,
    #[command(flatten)]
    format: Format,
}

/// Wider than any of its tables.
const WIDE: usize = 200;

/// Sections that its columns are made of.
const SECTIONS: [&str; 4] = ["schema_version", "machine", "meminfo", "vmstat"];

impl Sar {
    /// Runs the command.
    ///
    /// # Errors
    /// The files cannot be read, or a time is none.
    pub fn run(&self, dir: &Path) -> Result<u8> {
        let (from, to) = self.span.ends()?;
        let every = u64::try_from(self.every.as_millis()).unwrap_or(u64::MAX).max(1);
        let mut table = SarTable { schema_version: SCHEMA_VERSION, rows: Vec::new() };
        let mut last: Option<(Snapshot, Option<Vec<u64>>)> = None;
        let step = std::cell::Cell::new(None);
        for file in archive(dir)?.iter().flat_map(ramline_recorder::Archive::days) {
            let Ok(part) = Part::skim(file) else { continue };
            let (first, end) = part.within(from, to);
            // A line begins where a step of the clock is passed, as sar's do.
            let wanted = |at: Moment| (from..=to).contains(&at.wall_ms) && step.get() != Some(at.wall_ms / every);
            part.each(first, end, Some(&SECTIONS), &wanted, &mut |at, seen, texts| {
                step.set(Some(at.wall_ms / every));
                let ticks = texts.get(PROCESSORS).and_then(|text| ramline_units::json::parse(text).ok());
                if let Some((before, before_ticks)) = &last {
                    table.rows.extend(self.row(at.wall_ms, before, &seen, before_ticks.as_deref(), ticks.as_deref()));
                }
                last = Some((seen, ticks));
            });
        }
        // As wide as its columns are, as sar's own: a line is for tools that cut columns, too.
        self.format.print(&table, |style| table.text(&Style { width: WIDE, ..*style }))?;
        Ok(if table.rows.is_empty() { exit::PARTLY } else { exit::DONE })
    }

    fn row(
        &self,
        wall_ms: u64,
        before: &Snapshot,
        seen: &Snapshot,
        before_ticks: Option<&[u64]>,
        ticks: Option<&[u64]>,
    ) -> Option<SarRow> {
        let none = !(self.memory || self.swap || self.paging || self.swapping || self.processors);
        // Another boot, or no time: no rate, and sar prints no line either.
        let window = Window::new(before, seen).ok()?;
        let time = when::words(i64::try_from(wall_ms / 1000).unwrap_or_default());
        Some(SarRow {
            unix_ms: wall_ms,
            time: time.split_once(' ').map(|(_, time)| time.to_owned()).unwrap_or_default(),
            memory: SarMemory::new(seen).filter(|_| self.memory || none),
            swap: SarSwap::new(seen).filter(|_| self.swap),
            paging: self.paging.then(|| SarPaging::new(&window)),
            swapping: self.swapping.then(|| SarSwapping::new(&window)),
            processors: before_ticks.zip(ticks).and_then(|(a, b)| SarProcessors::new(a, b)).filter(|_| self.processors),
        })
    }
}
