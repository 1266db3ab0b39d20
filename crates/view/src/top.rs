//! `top`: what the screens of `show` do not have, for a machine that is watched: the overview, and what evicts.
//!
//! The other screens of `top` are those of `show` and of `cache top`, unchanged. What it is not: a document; a watched screen has no JSON.

use ramline_advice::Explanation;
use ramline_model::groups::{self, Trouble};
use ramline_model::moments::{Moment, Moments, NOT_MUCH, STALLED};
use ramline_model::swap::{self, SwapState};
use ramline_model::tiers::{self, Tier};
use ramline_model::verdict;
use ramline_model::watermarks::{self, Watermarks};
use ramline_model::zram::{self, Device, Gain, ZramState};
use ramline_sheet::Trend;

use crate::explain::explanation;
use crate::prelude::*;
use crate::show::{self, ShowMemory};

/// The first screen of `top`, in parts that stand below or beside each other.
#[derive(Debug)]
pub struct Overview<'a> {
    memory: ShowMemory,
    moments: &'a Moments,
    marks: Option<Watermarks>,
    span: Option<Nanos>,
    swap: Option<SwapState>,
    zram: Option<ZramState>,
    tiers: Vec<Tier>,
}

impl<'a> Overview<'a> {
    /// What it looks at.
    pub const WANTED: Wanted = Wanted { settings: true, ..ShowMemory::WANTED };

    /// From a snapshot, the window and the moments before it.
    #[must_use]
    pub fn new(snapshot: &Snapshot, window: Option<&Window<'_>>, moments: &'a Moments) -> Self {
        Overview {
            memory: ShowMemory::new(snapshot, window),
            moments,
            marks: watermarks::from_snapshot(snapshot, window.copied()),
            span: window.map(|window| window.span),
            swap: swap::from_snapshot(snapshot, window.copied()),
            zram: zram::from_snapshot(snapshot),
            tiers: tiers::from_snapshot(snapshot),
        }
    }

    /// The first line and what belongs to it: the words of `ramline show`.
    #[must_use]
    pub fn verdict(&self) -> Sheet {
        first_line(&self.memory)
    }

    /// The parts.
    #[must_use]
    pub fn parts(&self) -> Vec<Sheet> {
        let mut parts = vec![self.memory.sheet().split_answer().1, self.now()];
        parts.push(self.swapped());
        let mut order = Sheet::new();
        show::order(&mut order, &self.tiers);
        parts.push(order);
        parts.retain(|part| !part.is_empty());
        parts
    }

    /// What waits and moves, and how far reclaim is.
    fn now(&self) -> Sheet {
        let mut sheet = Sheet::new();
        sheet.blank();
        sheet.push(Block::Trends(trends(self.moments)));
        if let Some(marks) = &self.marks {
            show::distances(&mut sheet, marks, self.span);
        }
        sheet
    }

    /// Each area of swap, and of each zram what it holds over what that takes.
    fn swapped(&self) -> Sheet {
        let mut sheet = Sheet::new();
        if let Some(state) = self.swap.as_ref().filter(|state| !state.areas.is_empty()) {
            sheet.blank();
            sheet.table(show::areas(&state.areas));
        }
        let devices = self.zram.iter().flat_map(|state| &state.devices);
        let used: Vec<(&Device, &Gain)> = devices
            .filter_map(|device| Some((device, device.gain.as_ref()?)))
            .filter(|(_, gain)| gain.stored.0 > 0)
            .collect();
        if !used.is_empty() {
            sheet.blank();
            sheet.table(compressed(&used));
        }
        sheet
    }
}

/// The first line of every screen, and what belongs to it.
#[must_use]
pub fn first_line(memory: &ShowMemory) -> Sheet {
    let mut sheet = Sheet::new();
    for block in memory.sheet().blocks().iter().filter(|block| matches!(block, Block::Answer(..))) {
        sheet.push(block.clone());
    }
    sheet
}

/// What takes pages out of memory here: what reclaim did, the group that is worst off at its limit, and what else evicts.
#[must_use]
pub fn evictors(snapshot: &Snapshot, window: Option<&Window<'_>>, explained: &Explanation) -> Sheet {
    let mut sheet = explanation(explained);
    let pressure = verdict::pressure_with_groups(snapshot, window.copied());
    show::reclaim(&mut sheet, &pressure);
    if let Some(trouble) = groups::worst(snapshot, window).filter(Trouble::is_telling) {
        sheet.blank();
        sheet.painted(Paint::Warn, verdict::trouble_sentence(&trouble, &pressure));
    }
    sheet
}

/// A zram device is full of pages that take less RAM than they would: the bar is what is left of them.
fn compressed<'a>(used: &[(&'a Device, &'a Gain)]) -> Table<(&'a Device, &'a Gain)> {
    Table::from_rows(used.iter().copied())
        .left("zram", |(device, _)| &device.name)
        .right("stored", |(_, gain)| gain.stored)
        .right("RAM it takes", |(_, gain)| gain.mem_used)
        .bar(|(_, gain)| gain.mem_used.share_of(gain.stored))
        .right("effective ratio", |(_, gain)| gain.effective_ratio.filter(|_| gain.tells()).map(|r| r.to_string()))
        .column(Column::right("net gain").spare(), |(_, gain)| gain.net_saved.to_string())
}

/// What is watched, in the order in which it is read: what is left, what waits, what comes back, what moves.
fn trends(moments: &Moments) -> Vec<Trend> {
    let now = moments.last().unwrap_or_default();
    let share = |share: Option<f64>| number::known(share.map(number::percent));
    let moved = |name: &str, key: &str, paint: Paint, of: fn(&Moment) -> Option<Bytes>| Trend {
        name: name.to_owned(),
        key: key.to_owned(),
        value: number::known(of(&now).map(number::per_second)),
        note: moments.largest(of).map(|most| format!("most {}", number::per_second(most))).unwrap_or_default(),
        paint: if of(&now).is_some_and(|bytes| bytes.0 > 0) { paint } else { Paint::Plain },
        points: moments.sizes(of),
        least_top: NOT_MUCH,
    };
    let most = |value: fn(&Moment) -> Option<f64>| {
        moments.largest_share(value).map(|most| format!("most {}", number::percent(most))).unwrap_or_default()
    };
    vec![
        Trend {
            name: "available".to_owned(),
            key: "available".to_owned(),
            value: share(now.available),
            note: String::new(),
            paint: Paint::Plain,
            points: moments.shares(|moment| moment.available),
            least_top: 1.0,
        },
        Trend {
            name: "tasks stalled (PSI)".to_owned(),
            key: "psi".to_owned(),
            value: share(now.stalled),
            note: most(|moment| moment.stalled),
            paint: if now.waits() { Paint::Warn } else { Paint::Plain },
            points: moments.shares(|moment| moment.stalled),
            least_top: STALLED,
        },
        moved("refaults", "refaults", Paint::Warn, |moment| moment.refaults),
        moved("swapped in", "pswpin", Paint::Warn, |moment| moment.swapped_in),
        moved("swapped out", "pswpout", Paint::Bold, |moment| moment.swapped_out),
        moved("looked at by reclaim", "scanned", Paint::Bold, |moment| moment.scanned),
    ]
}
