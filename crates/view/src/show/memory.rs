//! `show` and `show memory`: the verdict in one sentence, the pieces of MemTotal, and on request every byte on a line.

use ramline_advice::{Inputs, headline};
use ramline_model::ledger::{Drift, Freeable, Ledger, LedgerLine, LeftoverKind, PieceKind, Term};
use ramline_model::verdict::{Status, Verdict, VerdictState, View};

use crate::prelude::*;
use ramline_sheet::{Stack, StackPiece, Tint};

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
    /// The ledger in a handful of pieces.
    pub pieces: Vec<ramline_model::ledger::Piece>,
    /// How far the ledger moved over the window.
    pub drift: Option<Drift>,
    /// Swap in use; `None` where it was not seen.
    pub swap_used: Option<Bytes>,
    /// All swap; `None` where it was not seen.
    pub swap_total: Option<Bytes>,
    /// /proc/meminfo was seen and has no MemTotal.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_total: bool,
    /// Of a capture: there is no second moment of it.
    #[serde(skip)]
    pub captured: bool,
    /// Not every control group was looked at: the time for it was up.
    pub groups_cut: bool,
    /// What could not be seen, and why.
    pub unseen: Vec<UnseenSection>,
}

/// What this screen is made of; a snapshot may hold, and lack, much else.
const SECTIONS: &[&str] = &["meminfo", "zoneinfo", "vmstat", "zram", "pressure_memory", "cgroups", "zfs"];

impl ShowMemory {
    /// What it looks at.
    pub const WANTED: Wanted = ramline_advice::FIRST_LINE;

    /// From a snapshot; the window supplies rates and the drift.
    #[must_use]
    pub fn new(snapshot: &Snapshot, window: Option<&Window<'_>>) -> Self {
        let ledger = Ledger::from_snapshot(snapshot);
        let before = window.and_then(|w| Some((Ledger::from_snapshot(w.before)?, w.span)));
        let meminfo = snapshot.meminfo.data();
        ShowMemory {
            schema_version: SCHEMA_VERSION,
            verdict: headline(&Inputs { snapshot, window: window.copied(), tiers: None, runs: &[] }),
            drift: before.zip(ledger.as_ref()).map(|((before, span), after)| Drift::between(&before, after, span)),
            pieces: ledger.as_ref().map(Ledger::pieces).unwrap_or_default(),
            ledger,
            swap_used: meminfo.and_then(ramline_snapshot::meminfo::Meminfo::swap_used),
            swap_total: meminfo.and_then(|m| m.swap_total),
            no_total: meminfo.is_some_and(|m| m.mem_total.is_none()),
            captured: snapshot.machine.captured,
            groups_cut: snapshot.is_cut_in_groups(),
            unseen: super::unseen_of(snapshot, SECTIONS),
        }
    }
}

impl Screen for ShowMemory {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new();
        let unseen = self.unseen.iter().any(|section| section.section == "meminfo") && !self.no_total;
        verdict(&mut sheet, self.verdict.as_ref(), unseen);
        if let Some(ledger) = &self.ledger {
            sheet.append(where_it_is(ledger, self.drift.as_ref()));
        }
        sheet.line(swap_words(self.swap_used, self.swap_total));
        sheet.line(super::groups_cut(self.groups_cut));
        super::unseen(&mut sheet, &self.unseen);
        if self.ledger.is_some() {
            sheet.next(next(self.verdict.as_ref(), self.captured));
        }
        sheet
    }
}

/// The first line of every screen about the whole machine, and what belongs to it.
fn verdict(sheet: &mut Sheet, verdict: Option<&Verdict>, unseen: bool) {
    match verdict {
        Some(verdict) => {
            sheet.answer(paint(verdict.status), &verdict.text);
            verdict.details.iter().for_each(|detail| sheet.line(detail));
        }
        None if unseen => sheet.answer(Paint::Bold, "Nothing can be said: /proc/meminfo was not seen."),
        None => sheet.answer(Paint::Bold, "Nothing can be said: /proc/meminfo has no MemTotal."),
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

fn next(verdict: Option<&Verdict>, captured: bool) -> &'static str {
    match verdict.map(|v| v.state) {
        Some(VerdictState::Comfortable) => "ramline show --all, ramline show processes",
        Some(VerdictState::Unknown) if verdict.is_some_and(|v| v.view == Some(View::Lxcfs)) => "ramline show --all",
        Some(VerdictState::Unknown) if captured => "ramline show --all",
        _ if captured => "ramline show pressure, ramline show processes, ramline show --all",
        Some(VerdictState::Unknown) => "ramline show --for 2s, ramline show --all",
        _ => "ramline show pressure --for 2s, ramline show processes, ramline show --all",
    }
}

fn swap_words(used: Option<Bytes>, total: Option<Bytes>) -> Option<String> {
    let total = total?;
    if total == Bytes::ZERO {
        return Some("Swap: none.".to_owned());
    }
    Some(match used {
        Some(used) => format!("Swap: {} used.", ramline_model::verdict::amount_of(used, total)),
        None => format!("Swap: {total}; how much of it is used is not known."),
    })
}

/// Letter, colour and name of a piece.
const fn named(kind: PieceKind) -> (char, Tint, &'static str) {
    match kind {
        PieceKind::Processes => ('P', Tint::Processes, "processes"),
        PieceKind::Shared => ('T', Tint::Shared, "tmpfs and shared memory"),
        PieceKind::Locked => ('L', Tint::Locked, "locked"),
        PieceKind::HugePages => ('H', Tint::Locked, "huge pages"),
        PieceKind::Compressed => ('Z', Tint::Compressed, "compressed (zram, zswap)"),
        PieceKind::Balloon => ('B', Tint::Locked, "balloon of the hypervisor"),
        PieceKind::Graphics => ('G', Tint::Kernel, "graphics memory"),
        PieceKind::Device => ('D', Tint::Kernel, "device buffers (ION, dma-buf)"),
        PieceKind::Slab => ('S', Tint::Kernel, "kernel objects in use (slab)"),
        PieceKind::Uncounted => ('?', Tint::Kernel, "in no counter (drivers)"),
        PieceKind::Kernel => ('k', Tint::Kernel, "kernel"),
        PieceKind::NotKnown => ('n', Tint::Kernel, "not known"),
        PieceKind::Dirty => ('d', Tint::Dirty, "page cache, to be written"),
        PieceKind::Arc => ('A', Tint::Cache, "ZFS cache (ARC)"),
        PieceKind::Cache => ('c', Tint::Cache, "page cache"),
        PieceKind::Free => ('.', Tint::Free, "free"),
    }
}

/// What it takes to free a piece.
const fn freed(kind: PieceKind, how: Freeable) -> &'static str {
    match (kind, how) {
        (PieceKind::Processes, Freeable::No) => "cannot be freed (no free swap)",
        (PieceKind::Processes, Freeable::Partly) => "freed in part by swapping",
        (PieceKind::Shared, Freeable::No) => "freed when deleted",
        (PieceKind::Shared, Freeable::Partly) => "freed in part by swapping",
        (PieceKind::Processes | PieceKind::Shared, Freeable::Unknown) => "freed by swapping, if there is swap",
        (PieceKind::Processes | PieceKind::Shared, _) => "freed by swapping",
        (PieceKind::Locked, _) => "freed when unlocked",
        (PieceKind::HugePages, Freeable::No) => "until their programs end",
        (PieceKind::HugePages, _) => "unused ones by nr_hugepages",
        (PieceKind::Compressed, _) => "freed when read back",
        (PieceKind::Balloon, _) => "freed by the hypervisor only",
        (PieceKind::Graphics, Freeable::No) => "until its programs end",
        (PieceKind::Graphics, _) => "freed in part by its driver",
        (PieceKind::Device, _) => "until their users end",
        (PieceKind::Slab | PieceKind::Uncounted, _) => "freed by their owners only",
        (PieceKind::Kernel, _) => "freed in part",
        (PieceKind::NotKnown, _) => "no line tells",
        (PieceKind::Dirty, _) => "freed after a write",
        (PieceKind::Arc, Freeable::No) => "kept by ZFS (zfs_arc_min)",
        (PieceKind::Arc, _) => "freed in part, down to c_min",
        (PieceKind::Cache, _) => "freed at once",
        (PieceKind::Free, _) => "",
    }
}

/// The picture of MemTotal.
pub(crate) fn picture(ledger: &Ledger) -> Stack {
    let piece = |piece: &ramline_model::ledger::Piece| {
        let (letter, tint, name) = named(piece.kind);
        let (name, note) = (name.to_owned(), freed(piece.kind, piece.freeable).to_owned());
        StackPiece { letter, tint, name, size: piece.bytes.to_string(), share: piece.share, note }
    };
    let title = match ledger.leftover_kind {
        LeftoverKind::Overlap => {
            format!("{} of memory (MemTotal), of which {} is counted twice", ledger.total, ledger.overlap())
        }
        _ => format!("{} of memory (MemTotal)", ledger.total),
    };
    Stack { title, pieces: ledger.pieces().iter().map(piece).collect() }
}

/// Where MemTotal is: the picture, and every line of it on request.
pub(crate) fn where_it_is(ledger: &Ledger, drift: Option<&Drift>) -> Sheet {
    let mut sheet = Sheet::new();
    sheet.push(Block::Stack(picture(ledger)));
    let overlap = ledger.overlap_cause().map(|cause| {
        format!("The lines are {} more than MemTotal: {cause}. Shares are of their sum.", ledger.overlap())
    });
    let may_be = ledger.unknown_lines.join(", ");
    sheet.line((!may_be.is_empty()).then(|| {
        format!("Of what is in no counter, lines of /proc/meminfo that are not known here may be a part: {may_be}.")
    }));
    let add_up = if overlap.is_some() { "now; they are more than it" } else { "now; they add up" };
    sheet.line(overlap);
    let title = format!("Every line of MemTotal: {} ({add_up})", ledger.total);
    sheet.more(&title, |more| lines(more, ledger, drift));
    sheet.more("Outside MemTotal", |more| {
        for outside in &ledger.outside {
            more.point("  ", format!("{} {}: {}", outside.bytes, outside.label, outside.why));
        }
    });
    sheet
}

fn lines(sheet: &mut Sheet, ledger: &Ledger, drift: Option<&Drift>) {
    let share = |line: &LedgerLine| line.bytes.share_of(ledger.whole());
    let worth = |part: &&LedgerLine| share(part).is_some_and(|share| share >= WORTH_A_LINE);
    let shown = ledger.lines.iter().filter(|line| line.bytes.0 > 0);
    let rows = shown.flat_map(|line| {
        std::iter::once((line, false)).chain(line.children.iter().filter(worth).map(|part| (part, true)))
    });
    let cell = |is_part: bool, text: String| Cell::painted(if is_part { Paint::Dim } else { Paint::Plain }, text);
    let label =
        |line: &LedgerLine, is_part: bool| if is_part { format!("- {}", line.label) } else { line.label.clone() };
    let mut table = Table::from_rows(rows)
        .column(Column::wrapped("line").at_most(28), |(line, part)| cell(part, label(line, part)))
        .right("bytes", |(line, part)| cell(part, line.bytes.to_string()))
        .right("share", |(line, part)| cell(part, share(line).map(number::percent).unwrap_or_default()))
        .wrapped("whose; freed by what, at what cost", |(line, part)| {
            cell(part, if part { at_least(line) } else { freed_how(line) })
        });
    let share = ledger.leftover_share.map(number::percent);
    table.row(["leftover".into(), ledger.leftover.into(), share.into(), bound(ledger).into()]);
    sheet.table(table);
    let empty: Vec<&str> = ledger.lines.iter().filter(|l| l.bytes.0 == 0).map(|l| l.label.as_str()).collect();
    sheet.dim((!empty.is_empty()).then(|| format!("Nothing in: {}.", empty.join(", "))));
    let missing = ledger.missing_terms.join(", ");
    let missing = || match ledger.leftover_kind {
        LeftoverKind::Container => format!("Not known here, for lxcfs shows the host's or nothing: {missing}."),
        _ => format!("Not shown here, so in the leftover if there is any: {missing}."),
    };
    sheet.line((!ledger.missing_terms.is_empty()).then(missing));
    sheet.line(drift.map(|drift| moved(ledger, drift)));
}

/// What the leftover is, and how exact it is.
fn bound(ledger: &Ledger) -> String {
    let what = match ledger.leftover_kind {
        LeftoverKind::NotShown => "of programs and the kernel: this file has no line for it".to_owned(),
        LeftoverKind::Container => {
            "page tables, stacks, sockets of this container: lxcfs has no line for them".to_owned()
        }
        LeftoverKind::Overlap => ledger.overlap_cause().unwrap_or_default(),
        LeftoverKind::Uncounted => {
            let more: String = ledger.uncounted.iter().map(|what| format!(", {what}")).collect();
            let which = if more.is_empty() { "in no counter" } else { "this kernel counts none of them" };
            format!("drivers, pipes, sockets{more}: {which}; freed by their owners only")
        }
    };
    let counters = match ledger.bound.0 {
        0 => format!("{what}; counters off by an unknown amount"),
        _ => format!("{what}; {} counters may be off by {} in all", ledger.counters, ledger.bound),
    };
    match ledger.in_report.0 {
        0 => counters,
        _ => format!("{counters}; for moments up to {} on the way to the hypervisor", ledger.in_report),
    }
}

fn freed_how(line: &LedgerLine) -> String {
    let LedgerLine { owner, by_what, at_cost, .. } = line;
    match line.freeable {
        Freeable::Now if at_cost == "nothing" => format!("{owner}; yes, by {by_what}"),
        Freeable::Now => format!("{owner}; yes, by {by_what}; costs {at_cost}"),
        Freeable::Partly => format!("{owner}; partly, by {by_what}; costs {at_cost}"),
        Freeable::AtCost | Freeable::Unknown => format!("{owner}; by {by_what}; costs {at_cost}"),
        // What cannot be freed otherwise costs its owner: no need to say so in a word more.
        Freeable::No => format!("{owner}; only by {by_what}"),
    }
}

/// Of a part of a line, which has said whose it is and how it is freed: whether it is an estimate.
fn at_least(part: &LedgerLine) -> String {
    match part.at_least {
        Some(Bytes::ZERO) => "at most".to_owned(),
        Some(least) => format!("at most; at least {least}"),
        None => String::new(),
    }
}

/// What moved while looking: the three largest movements.
fn moved(ledger: &Ledger, drift: &Drift) -> String {
    let label = |id: Term| ledger.line(id).map_or("a line that is gone", |l| l.label.as_str());
    let largest: Vec<String> =
        drift.lines.iter().take(3).map(|m| format!("{} {}", label(m.id), number::moved(m.bytes))).collect();
    let lines = if largest.is_empty() { "no line".to_owned() } else { largest.join("; ") };
    format!("Drift over {}: {lines}; leftover {}.", drift.span, number::moved(drift.leftover))
}
