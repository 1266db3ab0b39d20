//! `show` and `show memory`: the verdict in one sentence, then every byte of MemTotal on a line.
//!
//! What it is not: a list of processes.

use ramline_advice::{Inputs, headline};
use ramline_model::ledger::{Freeable, Ledger, Line, Term};
use ramline_model::verdict::{Status, Verdict, VerdictState};
use ramline_snapshot::{Snapshot, Window};
use ramline_units::Bytes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::report::{Drift, SCHEMA_VERSION, UnseenSection};
use crate::text::{Cell, Column, Page, Paint, Segment, Style, Table, number, segments};

/// A part of a line smaller than this share of RAM is in the JSON only.
const WORTH_A_LINE: f64 = 0.001;

/// The machine's memory on one screen.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShowMemory {
    /// Version of this document.
    pub schema_version: u64,
    /// The verdict; `None` without MemTotal.
    pub verdict: Option<Verdict>,
    /// Every byte of MemTotal; `None` without it.
    pub ledger: Option<Ledger>,
    /// How far the ledger moved over the window.
    pub drift: Option<Drift>,
    /// What could not be seen, and why.
    pub unseen: Vec<UnseenSection>,
}

/// What this screen is made of; a snapshot may hold, and lack, much else.
const SECTIONS: &[&str] = &["meminfo", "zoneinfo", "vmstat", "zram", "pressure_memory", "cgroups"];

impl ShowMemory {
    /// From a snapshot; the window supplies rates and the drift.
    #[must_use]
    pub fn new(snapshot: &Snapshot, window: Option<&Window<'_>>) -> Self {
        let ledger = Ledger::of(snapshot);
        let before = window.and_then(|w| Some((Ledger::of(w.before)?, w.span)));
        ShowMemory {
            schema_version: SCHEMA_VERSION,
            verdict: headline(&Inputs { snapshot, window: window.copied(), tiers: None, runs: &[] }),
            drift: before.zip(ledger.as_ref()).map(|((before, span), after)| Drift::between(&before, after, span)),
            ledger,
            unseen: super::unseen_of(snapshot, SECTIONS),
        }
    }

    /// The screen.
    #[must_use]
    pub fn text(&self, style: &Style) -> String {
        let mut page = Page::new(style);
        match &self.verdict {
            Some(verdict) => {
                page.painted(paint(verdict.status), &verdict.text);
                verdict.details.iter().for_each(|detail| page.line(detail));
            }
            None => page.bold("Nothing can be said: /proc/meminfo was not seen."),
        }
        if let Some(ledger) = &self.ledger {
            lines(&mut page, ledger, self.drift.as_ref());
        }
        super::unseen(&mut page, &self.unseen);
        if self.ledger.is_some() {
            page.blank();
            page.dim(next(self.verdict.as_ref()));
        }
        page.finish()
    }
}

/// The colour of a status.
pub(crate) fn paint(status: Status) -> Paint {
    match status {
        Status::Ok => Paint::Good,
        Status::Unknown => Paint::Bold,
        Status::Note | Status::Warning => Paint::Warn,
        Status::Critical => Paint::Bad,
    }
}

fn next(verdict: Option<&Verdict>) -> &'static str {
    match verdict.map(|v| v.state) {
        Some(VerdictState::Comfortable) => "Next: ramline show tiers",
        Some(VerdictState::Unknown) => "Next: ramline show --for 2s",
        _ => "Next: ramline show pressure --for 2s",
    }
}

/// The letter of a line in the bar; small shares of the kernel have one letter together.
const fn letter(id: Term) -> char {
    match id {
        Term::Free | Term::CpuLists => '.',
        Term::Anon => 'P',
        Term::Shmem => 'T',
        Term::FileClean => 'c',
        Term::FileDirty => 'd',
        Term::Unevictable => 'L',
        Term::CompressedPool | Term::ZswapPool => 'Z',
        Term::Hugetlb => 'H',
        _ => 'k',
    }
}

/// The parts of the bar, free memory left out (it is dotted).
pub(crate) fn segments_of(ledger: &Ledger) -> Vec<Segment> {
    let order = ['P', 'T', 'L', 'H', 'Z', 'k', 'd', 'c'];
    let sum = |c: char| ledger.lines.iter().filter(|l| letter(l.id) == c).map(|l| l.bytes).sum::<Bytes>();
    order
        .into_iter()
        .map(|letter| Segment { letter, share: sum(letter).share_of(ledger.total).unwrap_or(0.0) })
        .collect()
}

fn lines(page: &mut Page<'_>, ledger: &Ledger, drift: Option<&Drift>) {
    page.heading(&format!("Where MemTotal is: {} (now; they add up)", ledger.total));
    let width = page.style().width.min(100);
    page.raw(&[segments(&segments_of(ledger), width.saturating_sub(2))]);
    page.dim("P processes, T tmpfs, L locked, H huge pages, Z compressed, k kernel, d dirty, c clean cache, . free");
    page.blank();
    let mut table = Table::new(vec![
        Column::wrapped("line").at_most(28),
        Column::right("bytes"),
        Column::right("share"),
        Column::wrapped("whose; freed by what, at what cost"),
    ]);
    for line in ledger.lines.iter().filter(|l| l.bytes.0 > 0) {
        row(&mut table, line, ledger.total);
        for child in line.children.iter().filter(|c| c.bytes.share_of(ledger.total).is_some_and(|s| s >= WORTH_A_LINE))
        {
            part(&mut table, child, ledger.total);
        }
    }
    table.row([
        "leftover".into(),
        ledger.leftover.to_string().into(),
        share(ledger.leftover_share),
        bound(ledger).into(),
    ]);
    page.table(&table);
    let empty: Vec<&str> = ledger.lines.iter().filter(|l| l.bytes.0 == 0).map(|l| l.label.as_str()).collect();
    if !empty.is_empty() {
        page.dim(&format!("Nothing in: {}.", empty.join(", ")));
    }
    if !ledger.missing_terms.is_empty() {
        page.line(&format!(
            "Not shown by this kernel, so in the leftover if there is any: {}.",
            ledger.missing_terms.join(", ")
        ));
    }
    if let Some(drift) = drift {
        page.line(&moved(ledger, drift));
    }
    if !ledger.outside.is_empty() {
        page.heading("Outside MemTotal");
        for outside in &ledger.outside {
            page.point("  ", &format!("{} {}: {}", outside.bytes, outside.label, outside.why));
        }
    }
}

/// What the leftover is, and how exact it is.
fn bound(ledger: &Ledger) -> String {
    let what = "drivers, pipes, sockets: in no counter; freed by their owners only";
    let counters = match ledger.bound.0 {
        0 => format!("{what}; counters off by an unknown amount"),
        _ => format!("{what}; {} counters may be off by {} in all", ledger.counters, ledger.bound),
    };
    match ledger.in_report.0 {
        0 => counters,
        _ => format!("{counters}; for moments up to {} on the way to the hypervisor", ledger.in_report),
    }
}

fn row(table: &mut Table, line: &Line, total: Bytes) {
    let Line { owner, by_what, at_cost, .. } = line;
    let how = match line.freeable {
        Freeable::Now if at_cost == "nothing" => format!("{owner}; yes, by {by_what}"),
        Freeable::Now => format!("{owner}; yes, by {by_what}; costs {at_cost}"),
        Freeable::Partly => format!("{owner}; partly, by {by_what}; costs {at_cost}"),
        Freeable::AtCost => format!("{owner}; by {by_what}; costs {at_cost}"),
        // What cannot be freed otherwise costs its owner: no need to say so in a word more.
        Freeable::No => format!("{owner}; only by {by_what}"),
    };
    let label = line.label.as_str();
    table.row([label.into(), line.bytes.to_string().into(), share(line.bytes.share_of(total)), how.into()]);
}

/// A part of a line: its line has said whose it is and how it is freed.
fn part(table: &mut Table, line: &Line, total: Bytes) {
    let dim = |text: &str| Cell::painted(Paint::Dim, text);
    let label = format!("- {}", line.label);
    // An estimate says so.
    let bounds = match line.at_least {
        Some(Bytes::ZERO) => "at most".to_owned(),
        Some(least) => format!("at most; at least {least}"),
        None => String::new(),
    };
    let share = number_of(line.bytes.share_of(total));
    table.row([dim(&label), dim(&line.bytes.to_string()), dim(&share), dim(&bounds)]);
}

fn number_of(share: Option<f64>) -> String {
    share.map(number::percent).unwrap_or_default()
}

fn share(share: Option<f64>) -> Cell {
    number_of(share).into()
}

/// What moved while looking: the three largest movements.
fn moved(ledger: &Ledger, drift: &Drift) -> String {
    let label = |id: Term| ledger.line(id).map_or("a line that is gone", |l| l.label.as_str());
    let largest: Vec<String> =
        drift.lines.iter().take(3).map(|m| format!("{} {}", label(m.id), signed(m.bytes.0))).collect();
    let lines = if largest.is_empty() { "no line".to_owned() } else { largest.join("; ") };
    format!("Drift over {}: {lines}; leftover {}.", drift.span, signed(drift.leftover.0))
}

/// A movement with its sign: `+1.0 MiB`.
pub(crate) fn signed(bytes: i64) -> String {
    let sign = if bytes < 0 { "-" } else { "+" };
    format!("{sign}{}", Bytes(bytes.unsigned_abs()))
}
