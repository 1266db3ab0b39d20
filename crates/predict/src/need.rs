//! How much memory a recorded program needs: the smallest sizes from which on next to nothing of it is read again.
//!
//! Simulated without swap, on the kernel of [`KERNEL`]. With all it wants a program holds more than it needs where files are read ahead: what is read ahead and never
//! used may go. So the size is searched for between nothing and that peak; memory that is no file's must stay, or the program is killed.

use std::sync::Arc;

use ramline_sim::chance::{self, Chance};
use ramline_sim::load::{Compact, Overhead};
use ramline_sim::memory::Setting;
use ramline_sim::run::{self, Outcome};
use ramline_trace::recording::Recording;
use ramline_trace::touch::{Memory, Touches};
use ramline_units::Bytes;

use crate::error::{PredictError, Result};
use crate::ways;

/// A group that has all it wants: pages beyond any load.
pub(crate) const ENOUGH: u64 = 1 << 40;
pub(crate) const PAGE: u64 = 4096;
/// Of the presets, that of Linux 6.18 with classic lists.
const KERNEL: usize = 2;
/// What the kernel keeps for a program, in pages: the least and the most. Assumed: two programs of the lab had 194 and 206, and a processor charges up to
/// 64 more ahead.
const KEPT: [u64; 2] = [138, 266];
/// Pages that a processor charges ahead (`MEMCG_CHARGE_BATCH`).
const CHARGED_AHEAD: u64 = 64;
/// Of so many pages one may be read again, as where a running service is asked.
const AGAIN: u64 = 100;
/// The size is found to such a part of it.
const NEAR: u64 = 50;

/// How much a recording needs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Needs {
    /// With so much, next to nothing that it maps is read again.
    pub mapped: Bytes,
    /// With so much, next to nothing of files is read again with read(2) either.
    pub cached: Bytes,
    /// What its group holds beside its pages.
    pub overhead: Overhead,
}

/// How much a recording needs, and the overhead of its group. Pages that were present in its page tables, and of which no touch was seen, are memory that it does not
/// need again; page tables of scattered pages are more than those of pages in a row.
///
/// # Errors
/// Its touches fail; it is too large.
pub fn need(recording: &Arc<Recording>) -> Result<Needs> {
    let overhead = Overhead { idle: 0, pages: KEPT.map(|pages| pages + recording.scattered_tables()) };
    let resident = recording.extent().resident_pages;
    let read = recording.pages_read();
    if read == 0 {
        let (mapped, overhead) = need_of_mapped(ways::first(recording).as_ref(), resident, overhead)?;
        return Ok(Needs { mapped, cached: mapped, overhead });
    }
    let unread = Arc::new(recording.without_reads());
    let (mapped, overhead) = need_of_mapped(ways::first(&unread).as_ref(), resident, overhead)?;
    let way = ways::first(recording);
    let load = Compact::from_touches(way.as_ref())?.ok_or_else(large)?.with_overhead(overhead);
    let least = mapped.0 / PAGE;
    let most = simulated(&load, ENOUGH).most.max(least);
    let cached = if most == least { least } else { smallest(&load, read / AGAIN, least, most) };
    Ok(Needs { mapped, cached: Bytes(cached * PAGE), overhead })
}

/// The need of what is touched through mappings; with the overhead, to which idle pages are added.
fn need_of_mapped(way: &dyn Touches, resident_pages: u64, overhead: Overhead) -> Result<(Bytes, Overhead)> {
    let load = Compact::from_touches(way)?.ok_or_else(large)?.with_overhead(overhead);
    let peak = simulated(&load, ENOUGH).most;
    let unseen = ramline_units::growth(peak - chance::least_base(&load), resident_pages).unwrap_or(0);
    let pages = overhead.pages.map(|pages| pages + unseen);
    let overhead = Overhead { idle: u32::try_from(unseen).unwrap_or(u32::MAX), pages };
    let of_files: u64 =
        load.regions.iter().filter(|region| region.memory == Memory::File).map(|region| u64::from(region.pages)).sum();
    let needed = if of_files > peak / NEAR {
        let load = load.with_overhead(overhead);
        smallest(&load, u64::from(load.pages()) / AGAIN, 0, peak + unseen)
    } else {
        peak + unseen
    };
    // What is drawn beside it may be as much more, and a processor charges some pages ahead.
    let [least, most] = overhead.pages;
    Ok((Bytes((needed + (most - least) + CHARGED_AHEAD) * PAGE), overhead))
}

/// The smallest limit in pages, from `least` on, with which it ends and no more than so many pages are read again; `most` is enough.
fn smallest(load: &Compact, again: u64, least: u64, most: u64) -> u64 {
    let is_enough = |limit: u64| {
        let outcome = simulated(load, limit);
        outcome.end == run::End::Fine && outcome.counts.refault.iter().sum::<u64>() <= again
    };
    let (mut low, mut high) = (least, most);
    if least > 0 && is_enough(least) {
        return least;
    }
    while high - low > high / NEAR {
        let middle = low + (high - low) / 2;
        if is_enough(middle) { high = middle } else { low = middle }
    }
    high
}

fn simulated(load: &Compact, limit: u64) -> Outcome {
    let setting = Setting::without_limit(limit, ramline_sim::kernel::PRESETS[KERNEL]);
    let setting = Setting { base: chance::least_base(load), ..setting };
    run::compact(load, run::pages(load, |_, _| 0), setting, u64::MAX, Chance::default())
}

fn large() -> PredictError {
    PredictError::usage("a load of more than 2 TiB is not simulated yet", "ramline predict")
}
