//! `show swap`: the areas in the order the kernel uses them, and what lies there apart from what moves.
//!
//! "Swap used" decides nothing: pages parked long ago and never touched again cost nothing.

use ramline_model::balance::{self, Balance};
use ramline_model::swap::{self, Area, AreaKind, Flow, Slots, SwapState, SwapVerdict};
use ramline_model::swapped::{Spill, SwapOwners, spill};
use ramline_snapshot::switches::LruGen;
use ramline_snapshot::zswap::Zswap;

use super::tiers::balance_words;
use crate::prelude::*;

/// Swap on this machine.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ShowSwap {
    /// Version of this document.
    pub schema_version: u64,
    /// Areas, stock and flow; `None` where `/proc/swaps` was not seen.
    pub swap: Option<SwapState>,
    /// What the flow was measured over.
    pub span: Option<Nanos>,
    /// The scan balance; `None` where swappiness was not seen.
    pub balance: Option<Balance>,
    /// Pages read ahead on a swap-in: `2^page_cluster`; `None` where the setting was not seen.
    pub read_ahead_pages: Option<u64>,
    /// zswap's parameters.
    pub zswap: Option<Zswap>,
    /// What has gone from zram to an area below it; `None` where nothing has.
    pub spill: Option<Spill>,
    /// Who owns what is in swap, and what that costs in RAM; `None` in a capture, and where nothing lies there.
    pub owners: Option<SwapOwners>,
    /// Rows of the tables of owners; `None` is all.
    #[serde(skip)]
    top: Option<usize>,
    /// What could not be seen, and why.
    pub unseen: Vec<UnseenSection>,
}

impl ShowSwap {
    /// What it looks at.
    pub const WANTED: Wanted =
        Wanted { swaps: true, blocks: true, mounts: true, zswap: true, settings: true, lru_gen: true, ..super::MEMORY };

    /// From a snapshot; the window supplies the flow.
    #[must_use]
    pub fn new(snapshot: &Snapshot, window: Option<&Window<'_>>) -> Self {
        let settings = snapshot.settings.data();
        let swappiness = settings.and_then(|s| u64::try_from(s.swappiness?).ok());
        let cluster = settings.and_then(|s| u32::try_from(s.page_cluster?).ok());
        ShowSwap {
            schema_version: SCHEMA_VERSION,
            swap: swap::from_snapshot(snapshot, window.copied()),
            span: window.map(|w| w.span),
            balance: swappiness.map(|s| balance::for_swappiness(s, snapshot.lru_gen.data().is_some_and(LruGen::is_on))),
            read_ahead_pages: cluster.and_then(swap::read_ahead_pages),
            zswap: snapshot.zswap.data().cloned(),
            spill: spill(snapshot),
            owners: None,
            top: None,
            unseen: super::unseen_of(snapshot, &["swaps", "vmstat", "settings", "zswap", "blocks"]),
        }
    }

    /// With who owns what lies there, so many of them in text.
    #[must_use]
    pub fn with_owners(self, owners: Option<SwapOwners>, top: Option<usize>) -> Self {
        ShowSwap { owners, top, ..self }
    }
}

impl Screen for ShowSwap {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new();
        match &self.swap {
            Some(state) => areas_and_flow(&mut sheet, state, self.span),
            None => sheet.answer(Paint::Bold, "Nothing is known about swap here."),
        }
        sheet.line(self.spill.as_ref().map(spill_words));
        if let Some(owners) = &self.owners {
            super::owners::owners(&mut sheet, owners, self.top);
        }
        if let Some(zswap) = self.zswap.as_ref().filter(|z| z.enabled) {
            let compressor = zswap.compressor.as_deref().unwrap_or("a compressor not known");
            let pool =
                zswap.max_pool_percent.map(|p| format!(", pool at most {p} % of RAM (setting)")).unwrap_or_default();
            sheet.line(format!(
                "zswap is on ({compressor}{pool}): it keeps compressed pages in RAM before they reach an area."
            ));
        }
        if let Some(balance) = &self.balance {
            sheet.blank();
            sheet.line(balance_words(balance, self.swap.as_ref().map(|s| s.areas.len())));
        }
        let none = self.swap.as_ref().is_some_and(|s| s.areas.is_empty());
        if let Some(pages) = self.read_ahead_pages.filter(|_| !none) {
            sheet.line(format!(
                "A swap-in from a disk reads {pages} pages at once (2^vm.page-cluster, setting), one from zram a single page \
                 (before Linux 7.0 except pages that processes share)."
            ));
        }
        super::unseen(&mut sheet, &self.unseen);
        sheet
    }
}

/// What has spilled, and why.
fn spill_words(spill: &Spill) -> String {
    let Spill { from, to, bytes, full } = spill;
    let (are, were) = if from.len() > 1 { ("are", "were") } else { ("is", "was") };
    let (from, to) = (from.join(", "), to.join(", "));
    if *full {
        format!("Spilled: {bytes} went to {to}, because {from} {are} full.")
    } else {
        format!("{bytes} lie in {to}, from when {from} {were} full or not there; {from} {are} not full now.")
    }
}

/// The verdict on swap, the areas, and what moves.
pub(crate) fn areas_and_flow(sheet: &mut Sheet, state: &SwapState, span: Option<Nanos>) {
    let (paint, words) = verdict_words(&state.verdict, span);
    sheet.answer(paint, &words);
    if state.areas.is_empty() {
        return;
    }
    sheet.heading("Areas in the order of use (now, uncompressed bytes)");
    sheet.table(areas(&state.areas));
    for Area { path, outranked_by, .. } in &state.areas {
        let slower = |first| format!("{path} is used after {first}, which is a slower kind of device.");
        sheet.warn(outranked_by.as_ref().map(slower));
    }
    sheet.more("What is in swap, and what moves", |more| {
        more.point("  in swap  ", format!("{} of {} (now)", state.used, state.total));
        for area in &state.areas {
            let slots = area.slots.filter(Slots::is_more_than_stored);
            more.point("           ", slots.map(|slots| format!("{}: {}", area.path, slots.words())));
        }
        match &state.flow {
            Some(flow) => flow_text(more, flow, span),
            None => more.point("  moving   ", "counted since boot only, no rate; try: ramline show swap --for 2s"),
        }
    });
}

/// The verdict on swap in a sentence.
fn verdict_words(verdict: &SwapVerdict, span: Option<Nanos>) -> (Paint, String) {
    let (over, rate) = (number::over(span), |bytes: &Bytes| number::per_second(*bytes));
    match verdict {
        SwapVerdict::NoSwap => {
            let text = "There is no swap: to make room the kernel can only drop page cache; process memory stays.";
            (Paint::Bold, text.to_owned())
        }
        SwapVerdict::Unused => (Paint::Good, format!("Swap is empty and nothing moves ({over}).")),
        SwapVerdict::Harmless { stock } => {
            (Paint::Good, format!("{stock} is in swap and next to nothing moves ({over}): parked pages, harmless."))
        }
        SwapVerdict::MovingOut { out_per_s } => {
            let out = rate(out_per_s);
            let memory = "memory is being freed, no task waits for swap";
            (Paint::Bold, format!("{out} are swapped out and none swapped in ({over}): {memory}."))
        }
        SwapVerdict::Active { in_per_s, out_per_s } => {
            let (back, out) = (rate(in_per_s), rate(out_per_s));
            (Paint::Warn, format!("Swapped in at {back}, out at {out} ({over}): tasks wait for what is swapped in."))
        }
        SwapVerdict::Unknown { stock } => {
            let unknown =
                "whether pages move in and out: ramline show swap --for 2s; whose it is: ramline explain swap-in-use";
            (Paint::Bold, format!("{stock} is in swap; {unknown}."))
        }
    }
}

fn kind_words(kind: AreaKind) -> &'static str {
    match kind {
        AreaKind::Zram => "zram: compressed RAM",
        AreaKind::Flash => "flash or virtual disk",
        AreaKind::Rotating => "reported as a hard disk",
        AreaKind::Unknown => "device not known",
    }
}

/// The areas in the order of use.
pub(crate) fn areas(areas: &[Area]) -> Table<&Area> {
    let device = |area: &Area| format!("{}{}", if area.is_file { "file; " } else { "" }, kind_words(area.kind));
    let striped = |area: &Area| if area.striped_with.is_empty() { "" } else { "in turn with its equals" };
    Table::from_rows(areas)
        .keyed(|area| area.path.clone())
        .right("turn", |area| area.turn.to_string())
        .wrapped("area", |area| &area.path)
        .column(Column::left("device").spare(), device)
        .right("priority", |area| area.priority.to_string())
        .right("size", |area| area.size)
        .right("uses", |area| area.used)
        .right("share", |area| area.share.map(number::percent))
        .bar(|area| area.share)
        .left("", striped)
}

fn flow_text(sheet: &mut Sheet, flow: &Flow, span: Option<Nanos>) {
    let over = number::over(span);
    let pair = |read: Option<Bytes>, written: Option<Bytes>| {
        let [read, written] = [read, written].map(|bytes| number::known(bytes.map(number::per_second)));
        format!("{read} in, {written} out, {over}")
    };
    sheet.point("  moving   ", format!("areas: {}", pair(flow.in_per_s, flow.out_per_s)));
    for (read, written, what) in [
        (flow.zswap_in_per_s, flow.zswap_out_per_s, "zswap"),
        (flow.zero_in_per_s, flow.zero_out_per_s, "zero-filled pages, kept by a note instead of a device"),
    ] {
        let any = read.or(written).is_some_and(|bytes| bytes.0 > 0);
        sheet.point("           ", any.then(|| format!("{what}: {}", pair(read, written))));
    }
    let refaults = flow.refaults_per_s.map(number::figure);
    let refaults = refaults.map(|n| format!("refaults: {n} process pages/s needed again after they left, {over}"));
    sheet.point("           ", refaults);
}
