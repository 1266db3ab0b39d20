//! The algorithm of a new zram by the pages of this machine: a profile of `measure pages`, judged among what this kernel has.
//!
//! Where the leader cannot be told apart from the kernel's own choice, that is kept.
//!
//! Worked example: for capacity zstd leads with 3.38:1; on a kernel that has lzo, lzo-rle and lz4 only, these are judged among themselves.

use ramline_evidence::pages::{AlgorithmPages, By, PageProfile};
use ramline_model::pages::{Contest, PageVerdict, Ranged};
use ramline_plan::{Goal, Reason};

use super::super::by_load::KNOWN_ALGORITHMS;
use super::super::line::reason;
use crate::prelude::*;

/// What was chosen.
pub(super) struct Chosen {
    /// As the kernel names it; `None` leaves it to the kernel.
    pub algorithm: Option<String>,
    /// What a page in it takes of RAM, with its interval.
    pub ratio: Option<Ranged>,
    /// Why, in numbers.
    pub why: Vec<Reason>,
}

const SOURCE: &str = "measure pages";
/// The level of zstd that zram takes where none is asked for (ZSTD_CLEVEL_DEFAULT).
const ZSTD: &str = "zstd:3";

/// Chooses; `tried` is one that a load was run with, which is taken if it is among them. `None` where the profile has nothing that this kernel has.
pub(super) fn choose(profile: &PageProfile, snapshot: &Snapshot, goal: Goal, tried: Option<&str>) -> Option<Chosen> {
    let devices = snapshot.zram.data().map(|zram| zram.devices.as_slice()).unwrap_or_default();
    let kernel_has: Vec<&str> = devices.iter().flat_map(|device| &device.algorithms).map(String::as_str).collect();
    let kernels = devices.iter().find_map(|device| device.algorithm.clone());
    // Where no device says, only what the kernel itself compressed is known to be there.
    let is_here = |one: &AlgorithmPages| match kernel_has.as_slice() {
        [] => one.by == By::Kernel && KNOWN_ALGORITHMS.contains(&name_of(one)),
        all => all.contains(&name_of(one)),
    };
    let mut usable = profile.clone();
    // A file from outside may say anything of its pages; those of another size say nothing here.
    let page = snapshot.machine.page_size.0;
    usable.algorithms.retain(|one| is_here(one) && !name_of(one).contains(':') && one.lengths.page == page);
    usable.host.page = page;
    let by = if usable.algorithms.iter().any(|one| one.by == By::Kernel) { By::Kernel } else { By::Library };
    usable.algorithms.retain(|one| one.by == by);
    let judged = PageVerdict::from_profile(&usable);
    let contest = match goal {
        Goal::Balanced => Contest::Overall,
        Goal::Capacity | Goal::FlashWear => Contest::Ratio,
        Goal::Latency => Contest::Latency,
    };
    // Times of a build without optimisation say nothing.
    let contest = Some(contest).filter(|contest| *contest == Contest::Ratio || !usable.host.unoptimised);
    let leads = contest.filter(|_| tried.is_none()).and_then(|contest| judged.winner(contest, by));
    let own = kernels.as_deref();
    let level = leads.filter(|won| own.is_some_and(|own| won.level_with.iter().any(|name| plain(name) == own)));
    let named = match (level, leads) {
        (Some(_), _) => own,
        (None, Some(won)) => Some(plain(&won.algorithm)),
        (None, None) => tried.or(own),
    };
    let (one, row) = usable.algorithms.iter().zip(&judged.rows).find(|(one, _)| Some(name_of(one)) == named)?;
    let name = name_of(one);
    let what = match goal {
        Goal::Balanced => "the best mean of reading back, compressing and RAM saved",
        Goal::Capacity | Goal::FlashWear => "the most pages in the same RAM",
        Goal::Latency => "the shortest time to read a page back",
    };
    let of = format!("on {} pages of {}", profile.sampling.taken, scope(profile));
    let chosen = match (level, leads) {
        (Some(won), _) => {
            format!("{name} is this kernel's choice, and {} cannot be told apart from it {of}", won.algorithm)
        }
        (None, Some(_)) => format!("{name} has {what} {of}"),
        (None, None) if tried.is_some() => format!("{name} is what it was run with"),
        (None, None) => format!("{name} is this kernel's choice; the profile is of a build whose times mean nothing"),
    };
    let mut why = vec![reason(chosen, SOURCE)];
    let read = one.single().map(|read| read.latency).filter(|_| !usable.host.unoptimised);
    let read = read.map(|read| format!(", and one is read back in {} (99 %: {})", nanos_of(read.mean_ns), read.p99_ns));
    if let Some(ratio) = &row.in_ram {
        why.push(reason(format!("in RAM they take {}{}", ranged(ratio), read.unwrap_or_default()), SOURCE));
    }
    Some(Chosen { algorithm: Some(name.to_owned()), ratio: row.in_ram, why })
}

/// `1/2.58 (2.55 to 2.60) of their size`.
fn ranged(ratio: &Ranged) -> String {
    let between = ratio.interval.map(|interval| format!(" ({:.2} to {:.2})", interval.low, interval.high));
    format!("1/{:.2}{} of their size", ratio.value, between.unwrap_or_default())
}

fn scope(profile: &PageProfile) -> &str {
    if profile.sampling.scope.is_empty() { "this machine" } else { &profile.sampling.scope }
}

fn name_of(one: &AlgorithmPages) -> &str {
    plain(&one.algorithm)
}

fn plain(name: &str) -> &str {
    if name == ZSTD { "zstd" } else { name }
}
