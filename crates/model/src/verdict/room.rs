//! What is left on the machine, and whether that is little.

use super::{LITTLE, LITTLE_SHARE, LOW_SHARE, Verdict, amount_of, low_mark};
use crate::available::{Available, AvailableFrom};
use crate::prelude::*;

/// What is left on the machine.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// Without swapping.
    pub available: Bytes,
    /// Of it, what the ZFS cache gives back.
    pub arc: Bytes,
    /// Where that number is from.
    pub from: AvailableFrom,
    /// Free in swap areas; `None` where it was not seen.
    pub swap: Option<Bytes>,
    /// All swap; `None` where it was not seen.
    pub all_swap: Option<Bytes>,
}

impl Room {
    /// The headroom, from what is available and what swap has free.
    #[must_use]
    pub fn from_available(available: Available, meminfo: Option<&Meminfo>) -> Room {
        let (swap, all_swap) = (meminfo.and_then(|m| m.swap_free), meminfo.and_then(|m| m.swap_total));
        Room { available: available.bytes, arc: available.arc, from: available.from, swap, all_swap }
    }

    /// Next to nothing is left.
    pub(super) fn is_nearly_used_up(self, ram: Bytes) -> bool {
        self.is_below(LITTLE_SHARE, LITTLE, ram)
    }

    /// Not much more fits.
    pub(super) fn is_low(self, ram: Bytes) -> bool {
        self.is_below(LOW_SHARE, low_mark(ram), ram) || self.is_nearly_full(ram)
    }

    /// RAM alone is as low, and swap has taken up as much again as it has left: what is free there is no reserve that programs are fast with.
    fn is_nearly_full(self, ram: Bytes) -> bool {
        let half = self.swap.zip(self.all_swap).is_some_and(|(free, all)| all.0 > 0 && free.0 <= all.0 / 2);
        let bare = Room { swap: Some(Bytes::ZERO), ..self };
        half && bare.is_below(LITTLE_SHARE, low_mark(ram), ram)
    }

    /// Less than this share of RAM, and less than so much.
    fn is_below(self, share: f64, bytes: Bytes, ram: Bytes) -> bool {
        if self.from == AvailableFrom::Nothing {
            return false;
        }
        let Some(left) = self.swap.map(|swap| self.available + swap) else { return false };
        left < bytes && left.share_of(ram).is_some_and(|left| left < share)
    }
}

/// What is available, in many words and in few: without the whole, which stands in the ledger or the details. An estimate is said to be one, and what is not
/// known has no number.
pub(super) fn words(verdict: &Verdict) -> [String; 2] {
    let (here, from) = (verdict.available, verdict.available_from);
    match &verdict.group {
        Some(group) => {
            [format!("{} available to this group", amount_of(here, group.limit)), format!("{here} left in the group")]
        }
        None if from == AvailableFrom::Nothing => [
            format!("how much of {} is available is not known", verdict.total),
            "how much is available is not known".to_owned(),
        ],
        None => {
            let about = if from.is_estimate() { "about " } else { "" };
            [format!("{about}{} available", amount_of(here, verdict.total)), format!("{about}{here} available")]
        }
    }
}
