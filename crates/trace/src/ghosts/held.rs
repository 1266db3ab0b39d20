//! How many pages a group holds beside its mean.

use ramline_units::Nanos;

/// Over so long a group's mean size is taken: many reclaims of a group that misses often, and too short for its other memory to change much.
const MEAN_OVER: Nanos = Nanos(1_000_000_000);
/// Pages that the group holds more than when the watch began, and the mean of that from its first eviction on: before, it fills.
#[derive(Debug, Default)]
pub(super) struct Held {
    pages: i64,
    has_evicted: bool,
    /// After the last addition, which is what it was until the next one made room for itself.
    until: i64,
    mean: f64,
    first: Option<Nanos>,
    last: Nanos,
}

impl Held {
    pub(super) fn change(&mut self, pages: i64) {
        self.pages = self.pages.saturating_add(pages);
        self.has_evicted |= pages < 0;
    }

    /// So many pages come in; how far above its mean it was before them.
    #[expect(clippy::cast_possible_truncation, reason = "a difference of counts of pages")]
    pub(super) fn add(&mut self, at: Nanos, pages: i64) -> i64 {
        if self.first.is_none() && self.has_evicted {
            (self.first, self.mean) = (Some(at), self.pages as f64);
        }
        let first = self.first.unwrap_or(at);
        let (step, whole) = (at.saturating_sub(self.last.max(first)), at.saturating_sub(first).min(MEAN_OVER));
        if step > Nanos(0) {
            self.mean += (self.until as f64 - self.mean) * (step.0 as f64 / whole.max(step).0 as f64);
        }
        let above = if self.first.is_some() { self.pages as f64 - self.mean } else { 0.0 };
        self.last = at;
        self.change(pages);
        self.until = self.pages;
        above.round() as i64
    }
}
