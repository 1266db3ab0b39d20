//! `measure pages`: what this machine's own pages compress to, at what cost, and which algorithm wins what.
//!
//! What it is not: a recommendation to change anything.

mod csv;
mod tables;

use ramline_evidence::pages::{By, PageProfile};
use ramline_evidence::{SeriesTable, TierReport};
use ramline_model::pages::{Contest, PageVerdict, Winner};
use ramline_sheet::text::{Paint, Style, number};
use ramline_sheet::{Depth, Sheet};
use ramline_units::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::SCHEMA_VERSION;
use crate::screen::series_sheet;
use crate::shown::Screen;
pub use csv::csv;

/// What a command is judged by.
const COMMAND_LEAD: &str = "wall";

/// The document of `measure pages`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MeasuredPages {
    /// Version of this document.
    pub schema_version: u64,
    /// What was measured: this is what a profile file holds.
    pub profile: PageProfile,
    /// What follows from it.
    pub judged: PageVerdict,
    /// What RAM and this disk cost, where that was measured on this boot.
    pub tiers: Option<TierReport>,
    /// What a command of the user's took as the machine is configured and with each finalist, where that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<SeriesTable>,
    /// Why the numbers may not hold here: of another host, another kernel, an unoptimised build.
    pub warnings: Vec<String>,
}

impl MeasuredPages {
    /// A profile with what follows from it.
    #[must_use]
    pub fn new(profile: PageProfile, tiers: Option<TierReport>, mut warnings: Vec<String>) -> Self {
        if profile.host.unoptimised {
            warnings.push("this is an unoptimised build: whatever the CPU does is too slow".to_owned());
        }
        let judged = PageVerdict::from_profile(&profile);
        MeasuredPages { schema_version: SCHEMA_VERSION, judged, profile, tiers, command: None, warnings }
    }
}

impl Screen for MeasuredPages {
    fn sheet(&self) -> Sheet {
        self.sheet_with(true)
    }
}

impl MeasuredPages {
    /// The screen; `verbose` adds cluster sizes, owners, and how it was measured.
    #[must_use]
    pub fn screen(&self, verbose: bool, style: &Style) -> String {
        self.sheet_with(verbose).text(style, Depth::All)
    }

    fn sheet_with(&self, verbose: bool) -> Sheet {
        let mut sheet = Sheet::new();
        sheet.answer(Paint::Bold, self.first_line());
        for warning in &self.warnings {
            sheet.painted(Paint::Warn, format!("{warning}."));
        }
        sheet.line(self.sample());
        sheet.blank();
        sheet.table(tables::algorithms(&self.profile, &self.judged));
        sheet.dim(self.legend());
        if let Some(pools) = tables::pools(&self.profile, &self.judged) {
            sheet.heading("The same pages on scratch zram devices");
            sheet.table(pools);
            sheet.dim("predicted: from the lengths alone. swap-in: a real fault on a page of the scratch area, one at a time.");
        }
        self.winners(&mut sheet);
        if !self.judged.dictionaries.is_empty() {
            sheet.heading("A dictionary trained on one half of the sample, tried on the other");
            sheet.table(tables::dictionaries(&self.judged));
        }
        if let Some(tiers) = &self.tiers {
            sheet.heading("Beside it, on this machine");
            sheet.table(tables::beside(tiers));
        }
        if let Some(table) = &self.command {
            sheet.heading("Your command, as the machine is configured and with each finalist");
            sheet.append(series_sheet(table, &[COMMAND_LEAD]));
        }
        if !self.profile.skipped.is_empty() {
            sheet.heading("Not measured");
            self.profile.skipped.iter().for_each(|skipped| sheet.point("  ", skipped));
        }
        if verbose {
            self.details(&mut sheet);
        } else {
            sheet.dim(
                "Every cluster size, processes and groups, and how it was measured: ramline measure pages --verbose",
            );
        }
        sheet
    }

    fn details(&self, sheet: &mut Sheet) {
        sheet.heading("Reading clusters of pages");
        sheet.table(tables::clusters(&self.profile));
        sheet.dim("One reader; each page is compressed alone, so a cluster is as many pages one after the other. 99 %: of single clusters.");
        sheet.heading("By process and by control group");
        sheet.table(tables::owners(&self.judged.owners));
        if !self.judged.groups.is_empty() {
            sheet.blank();
            sheet.table(tables::owners(&self.judged.groups));
        }
        sheet.heading("How it was measured");
        self.how(sheet);
    }

    fn first_line(&self) -> String {
        let by = if self.judged.winner(Contest::Overall, By::Kernel).is_some() { By::Kernel } else { By::Library };
        let Some(best) = self.judged.winner(Contest::Overall, by) else {
            let row = self.judged.rows.first().and_then(|row| Some((&row.algorithm, row.in_ram?)));
            return match row {
                Some((algorithm, ratio)) => {
                    format!("{algorithm} keeps these pages in 1/{} of their size.", tables::ratio(ratio.value))
                }
                None => "These pages are of one repeated word each: any algorithm keeps them in nothing.".to_owned(),
            };
        };
        if !best.level_with.is_empty() {
            let by = if by == By::Kernel { ", by the kernel," } else { "" };
            return format!("No clear winner overall: {}{by} cannot be told apart.", listed(best));
        }
        let row = self.judged.rows.iter().find(|row| row.algorithm == best.algorithm && row.by == by);
        let ratio = row.and_then(|row| row.in_ram).map(|ratio| tables::ratio(ratio.value)).unwrap_or_default();
        let read = self.profile.algorithms.iter().find(|one| one.algorithm == best.algorithm && one.by == by);
        let read = read.and_then(|one| one.single()).map(|read| number::nanos(read.mean.median).to_string());
        format!(
            "{} is best overall for these pages: {ratio}:1 in RAM, {} to read one back.",
            best.algorithm,
            read.unwrap_or_default()
        )
    }

    fn sample(&self) -> String {
        let sampling = &self.profile.sampling;
        let mut parts = vec![format!("{} in swap", number::count(sampling.taken_swapped))];
        match self.judged.cold {
            Some(cold) => parts.push(format!(
                "{} inactive ({} of those in RAM are)",
                number::count(sampling.taken_cold),
                number::percent(cold)
            )),
            None => parts.push("which are inactive is not known".to_owned()),
        }
        format!(
            "Sample: {} of {} ({}), {}; {}; {} of one repeated word.",
            number::things(sampling.taken, "page"),
            sampling.scope,
            number::things(sampling.processes, "process"),
            self.judged
                .sampled
                .map(|share| format!("{} of their anonymous pages", number::percent(share)))
                .unwrap_or_default(),
            parts.join(", "),
            self.judged.same_filled.map(number::percent).unwrap_or_default(),
        )
    }

    fn legend(&self) -> String {
        let chain = &self.profile.chain;
        let how = if chain.probed { "found on the scratch device" } else { "assumed: the kernel's default" };
        format!(
            "in RAM: with what zsmalloc takes in a large pool (chains of up to {} pages, {how}), pages of one word as nothing; a pool as small as this \
             sample has more half-filled zspages and takes more (--prove measures it); the table of slots is not in it. \
             (95 %) from the spread between pages. huge: stored as they are.",
            chain.pages
        )
    }

    fn winners(&self, sheet: &mut Sheet) {
        if self.judged.winners.is_empty() {
            return;
        }
        sheet.heading("Who wins");
        sheet.table(tables::winners(&self.judged.winners));
        sheet.dim(
            "overall: the geometric mean of three shares of the best: speed of reading one page back, speed of compressing it, RAM saved \
             (1 - 1/ratio). An algorithm wins where its interval is apart from all others. The fastest here need not be the fastest in your \
             application.",
        );
    }

    fn how(&self, sheet: &mut Sheet) {
        let (host, sampling) = (&self.profile.host, &self.profile.sampling);
        sheet.line(format!(
            "kernel {}, {} x {}, pages of {}",
            host.kernel,
            host.cpus,
            host.cpu,
            ramline_units::Bytes(host.page)
        ));
        sheet.line(format!(
            "seed {}; {} ended, {} of other users, {} left out, {} locked pages left out, {} pages gone before they were read",
            sampling.seed,
            number::things(sampling.ended, "process"),
            number::count(sampling.denied),
            number::count(sampling.left_out),
            number::count(sampling.locked),
            number::count(sampling.lost)
        ));
        for one in &self.profile.algorithms {
            let notes: String = one.notes.iter().map(|note| format!("; {note}")).collect();
            sheet.point(&format!("  {}: ", one.algorithm), format!("{}{notes}", one.code));
        }
        sheet.line(format!(
            "{} of wall-clock time, {} of CPU; the clock's cost is subtracted, durations during which another task had the CPU are left out",
            number::seconds(self.profile.took_s),
            number::seconds(self.profile.cpu_s)
        ));
    }
}

/// Those that are level, as a sentence lists them.
fn listed(of: &Winner) -> String {
    let names: Vec<&str> = std::iter::once(&of.algorithm).chain(&of.level_with).map(String::as_str).collect();
    match names.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.concat(),
    }
}

/// What a contest is called.
fn contest(of: &Winner) -> &'static str {
    match of.contest {
        Contest::Throughput => "throughput",
        Contest::Latency => "latency",
        Contest::Iops => "reads a second",
        Contest::Ratio => "ratio",
        Contest::Overall => "overall",
    }
}

#[cfg(test)]
mod tests;
