//! Whether zram would help a group, in two sentences.

use ramline_model::need::{ZramVerdict, ZramWorth};

use crate::prelude::*;

pub(super) fn worth(sheet: &mut Sheet, worth: &ZramWorth) {
    let left = worth.left.map(number::percent).unwrap_or_default();
    let (cold, present, time) = (worth.cold, worth.present, worth.time);
    sheet.line(match worth.verdict {
        ZramVerdict::Helps => format!("zram would help: with {cold} more page cache at most {left} of its misses are left."),
        ZramVerdict::NothingMissed => "zram would not help: hardly anything is read again.".to_owned(),
        ZramVerdict::TooLittleCold => {
            format!("zram would not help: with {cold} more page cache {left} of its misses are left.")
        }
        ZramVerdict::Unknown => {
            "Whether zram would help is not known: how much more page cache saves was not seen. A longer --for may tell.".to_owned()
        }
    });
    let costs = worth.costs.zip(worth.algorithm.as_ref());
    let costs = costs
        .map(|(costs, algorithm)| format!("; compressed with {algorithm} that takes {costs} of RAM"))
        .unwrap_or_default();
    sheet.line(format!("{cold} of its {present} of anonymous and shared memory were not touched for {time}{costs}."));
    if worth.verdict == ZramVerdict::Helps {
        sheet.command(4, "ramline tune plan zram");
    }
}
