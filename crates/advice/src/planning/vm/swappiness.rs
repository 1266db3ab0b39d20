//! vm.swappiness from what a swap-in and a re-read cost: s = 200 r/(1+r), r = cost of a file page read again / cost of a swap-in.
//!
//! What a re-read costs is what reads of the root disk took here on the mean, in all that this machine did; where there are too few it is what
//! `measure tiers` found, which on a virtual disk may be ten times less, for it reads what it has just written. Swap-ins are as measured, but for pages
//! of one repeated word, which cost a fault and nothing else. Where none were measured the kinds of the devices give an interval, and its end
//! nearer to today's value is taken. While zram has room the value is the one for zram, at most 180; a disk area behind it caps it at 100 once zram is
//! full, since that is what it stands for then.
//! It is a weight on scanning, not a price: values that stand for less than [`FAR`] times another ratio are kept.

use ramline_evidence::pages::PageProfile;
use ramline_model::balance;
use ramline_plan::{PlanLine, Reason};
use ramline_snapshot::swaps::SwapArea;
use ramline_units::Nanos;

use super::super::by_load::ByLoad;
use super::super::desk::{Desk, Setting};
use super::super::line::{Draft, reason};
use crate::Inputs;
use crate::look::{self, Cost};
use crate::text::nanos_of;

const TARGET: &str = "vm.swappiness";
/// Costs vary by about half from run to run, and the kernel corrects for the rest by the costs it counts itself.
const FAR: f64 = 4.0;

/// Pages below which a sample says nothing about the others.
const ENOUGH_PAGES: u64 = 100;

/// What is swapped to first.
struct Tier<'a> {
    /// In words.
    name: String,
    /// Of a zram.
    algorithm: Option<String>,
    /// A swap-in, and the compression before it.
    measured: (Option<Cost<'a>>, Option<Cost<'a>>),
}

impl<'a> Tier<'a> {
    /// The tier of an area that is on.
    fn from_area(inputs: &Inputs<'a>, area: &SwapArea) -> Tier<'a> {
        Tier {
            name: area.path.clone(),
            algorithm: look::zram_of(inputs.snapshot, area).and_then(|zram| zram.algorithm.clone()),
            measured: (look::swap_in_cost(inputs, area), look::compression_cost(inputs, area)),
        }
    }

    /// The zram that this plan sets up.
    fn planned(inputs: &Inputs<'a>, algorithm: &str) -> Tier<'a> {
        let measured = look::zram_costs(inputs, algorithm);
        Tier { name: "the zram of this plan".to_owned(), algorithm: Some(algorithm.to_owned()), measured }
    }
}

/// r, as an interval, and what it rests on.
struct Costs {
    low: f64,
    high: f64,
    why: Vec<Reason>,
}

pub(super) fn line(desk: &mut Desk<'_>) -> Option<PlanLine> {
    let inputs = *desk.inputs;
    let snapshot = inputs.snapshot;
    let now = u64::try_from(snapshot.settings.data()?.swappiness?).ok()?;
    let draft = |why: Reason| Draft::new(TARGET, Some(now.to_string()), why).set_by(desk.set_by(TARGET));
    if let Some(by_load) = &desk.ask.by_load {
        return Some(by_load_line(desk, by_load, now));
    }
    let Some(areas) = look::areas(snapshot) else {
        return Some(draft(reason("which swap areas are on was not seen", "/proc/swaps")).not_known("cat /proc/swaps"));
    };
    let tier = match (&desk.zram, areas.first().copied()) {
        (Some(algorithm), _) => Tier::planned(&inputs, algorithm),
        (None, None) => return Some(draft(reason("no swap area is on, so it weighs nothing", "/proc/swaps")).keep()),
        (None, Some(_)) if look::swap_used(&areas).0 == 0 => {
            return Some(draft(reason("nothing is in swap now, so it has nothing to weigh yet", "/proc/swaps")).keep());
        }
        (None, Some(first)) if look::on_root_disk(snapshot, first) => {
            let why = format!(
                "{} is on the disk that files are read from: the costs are alike, and measured ones differ by noise",
                first.path
            );
            return Some(draft(reason(why, "/proc/swaps, /sys/block")).keep());
        }
        (None, Some(first)) => Tier::from_area(&inputs, first),
    };
    let zswap = snapshot.zswap.data().is_some_and(|zswap| zswap.enabled);
    let pages = desk.ask.pages.as_ref();
    let Some(costs) =
        measured(&inputs, &tier, pages).or_else(|| if zswap { None } else { usual_costs(&inputs, &tier) })
    else {
        let why = format!("what a swap-in from {} and a re-read cost here was not measured", tier.name);
        return Some(draft(reason(why, "tiers")).not_known("sudo ramline measure tiers"));
    };
    let (spills, mglru) = (desk.zram.is_none() && look::is_spilling(&areas), look::is_mglru(snapshot));
    let ceiling = if spills { balance::TWO_TIER_CEILING } else { balance::MOST_SUGGESTED };
    let advised = advised(&costs, now, ceiling, mglru)?;
    let (implied, mut also) = (balance::swappiness_for_ratio(costs.low)?, costs.why);
    let decided = also.remove(0);
    also.extend(areas.first().zip(look::slow_behind(&areas)).map(|(first, area)| {
        let when = if spills { "is" } else { "will be" };
        let why = format!(
            "when {} is full ({:.0} % now), pages go to {}, which is read like a disk: {} {when} the most that suits both",
            first.path,
            first.used.share_of(first.size).unwrap_or_default() * 100.0,
            area.path,
            balance::TWO_TIER_CEILING
        );
        reason(why, "/proc/swaps")
    }));
    also.extend((!spills && implied > ceiling).then(|| {
        let why = format!(
            "more than {ceiling} is not suggested: memory in use goes then as well, and no load was measurably faster"
        );
        reason(why, "docs/tune.md")
    }));
    also.extend(desk.zram.is_some().then(|| reason(format!("it is for {}", tier.name), "")));
    if mglru {
        also.push(reason("MGLRU is on: only the direction of the formula holds", "/sys/kernel/mm/lru_gen/enabled"));
    }
    let draft = draft(decided).also(also);
    let Some(then) = advised else { return Some(draft.keep()) };
    Some(changed(desk, draft, now, then))
}

/// The value that the load was run with, where the swap it was run with is on or part of this plan.
fn by_load_line(desk: &mut Desk<'_>, by_load: &ByLoad, now: u64) -> PlanLine {
    let areas = look::areas(desk.inputs.snapshot).unwrap_or_default();
    let most = if desk.zram.is_none() && look::is_spilling(&areas) { balance::TWO_TIER_CEILING } else { u64::MAX };
    let then = by_load.swappiness.map_or(now, u64::from).min(most);
    let draft = by_load.draft(TARGET, Some(now.to_string()), then != now).set_by(desk.set_by(TARGET));
    if then == now {
        return draft.keep();
    }
    let on_zram = desk.zram.is_some() || areas.iter().any(|area| area.zram().is_some());
    let on_disk = desk.changes(super::super::swap::TARGET) || areas.iter().any(|area| area.zram().is_none());
    if (by_load.zram().is_some() && !on_zram) || (by_load.is_on_disk() && !on_disk) {
        let why = "the swap it was run with is not on, and not set up by this plan: ramline tune plan zram swap vm";
        return draft.change(then.to_string(), String::new(), String::new(), Err(why.to_owned()));
    }
    changed(desk, draft, now, then)
}

fn changed(desk: &mut Desk<'_>, draft: Draft, now: u64, then: u64) -> PlanLine {
    let effect = match then > now {
        true => "idle memory of programs goes to swap before files that are read again",
        false => "programs keep their memory while files that can be read again leave",
    };
    let risk = match then > now {
        true => "more swap-ins of memory that is in use: watch pswpin (`ramline show swap --for 10`)",
        false => {
            "more re-reads of files, program code included: watch workingset_refault_file (`ramline show pressure --for 10`)"
        }
    };
    let number = |value: u64| i64::try_from(value).unwrap_or(i64::MAX);
    let setting = Setting { name: "swappiness", now: number(now), then: number(then), instead: None };
    let steps = desk.set(&[setting]);
    draft.change(then.to_string(), effect.to_owned(), risk.to_owned(), steps)
}

/// The value advised where it is far from today's; `None` inside where today's is near enough.
fn advised(costs: &Costs, now: u64, ceiling: u64, mglru: bool) -> Option<Option<u64>> {
    let fit = |value: u64| {
        let value = value.min(ceiling);
        // Under MGLRU 1 would mean "files first".
        if mglru { value.max(2) } else { value }
    };
    let (low, high) = (fit(balance::swappiness_for_ratio(costs.low)?), fit(balance::swappiness_for_ratio(costs.high)?));
    // The end that is nearer to today's value.
    let then = now.clamp(low, high);
    let far = stands_for(now).max(stands_for(then)) / stands_for(now).min(stands_for(then));
    Some((far >= FAR).then_some(then))
}

/// The cost ratio a value stands for, kept off the ends, where it would be nothing or without bound.
#[expect(clippy::cast_precision_loss, reason = "1 to 180")]
fn stands_for(swappiness: u64) -> f64 {
    let s = swappiness.clamp(1, balance::MOST_SUGGESTED) as f64;
    s / (200.0 - s)
}

fn measured(inputs: &Inputs<'_>, tier: &Tier<'_>, pages: Option<&PageProfile>) -> Option<Costs> {
    let (swap_in, packing) = tier.measured;
    let swap_in = swap_in?;
    let (reload, of, source) = reload(inputs)?;
    if look::noise(inputs.tiers?, swap_in.tier).is_some() {
        return None;
    }
    // A page is compressed on its way out; a clean file page leaves for nothing.
    let cost = swap_in.mean() + packing.map_or(0.0, |cost| cost.mean());
    let plain = packing.and_then(|_| one_word(pages?));
    let cost = plain.map_or(cost, |share| (1.0 - share) * cost + share * look::fault_cost(inputs).unwrap_or_default());
    let r = reload / cost;
    let implied = balance::swappiness_for_ratio(r.is_finite().then_some(r)?)?;
    let with = if packing.is_some() { "a swap-in with its compression" } else { "a swap-in" };
    let share = plain.map(|share| format!(" ({:.0} % of the pages are of one word and cost a fault)", share * 100.0));
    let why = format!(
        "a file page read again costs {} ({of}), {with} {}{}: r = {r:.2}, 200 r/(1+r) = {implied}",
        nanos_of(reload),
        nanos_of(cost),
        share.unwrap_or_default()
    );
    let source = format!("{source}; measure tiers: {} (n {})", swap_in.tier, swap_in.latency.n);
    Some(Costs { low: r, high: r, why: vec![reason(why, source)] })
}

/// What a page of a file costs that is read again, of what it is known, and from where.
fn reload(inputs: &Inputs<'_>) -> Option<(f64, String, String)> {
    if let Some((disk, mean)) = look::usual_read(inputs.snapshot) {
        let of = format!("the mean of all reads of {} so far", disk.name);
        return Some((mean, of, format!("/sys/block/{}/stat", disk.name)));
    }
    let tiers = inputs.tiers?;
    let measured = look::reload_cost(inputs).filter(|cost| look::noise(tiers, cost.tier).is_none())?;
    Some((
        measured.mean(),
        "as measured".to_owned(),
        format!("measure tiers: {} (n {})", measured.tier, measured.latency.n),
    ))
}

/// The share of pages that are one repeated word, which zram only notes.
#[expect(clippy::cast_precision_loss, reason = "pages of a sample")]
fn one_word(pages: &PageProfile) -> Option<f64> {
    let sampling = &pages.sampling;
    (sampling.taken >= ENOUGH_PAGES)
        .then(|| sampling.same_filled as f64 / sampling.taken as f64)
        .filter(|share| *share >= 0.01)
}

/// What one page costs from devices of a kind, from the fastest to the slowest that is usual.
type Usual = (u64, u64);

const US: u64 = 1000;
const MS: u64 = 1_000_000;

fn usual_costs(inputs: &Inputs<'_>, tier: &Tier<'_>) -> Option<Costs> {
    let snapshot = inputs.snapshot;
    let algorithm = tier.algorithm.as_deref()?;
    let zram = packed(algorithm);
    let (file, of) = match look::usual_read(snapshot) {
        Some((disk, mean)) => {
            let mean = nanos_of(mean);
            ((mean.0, mean.0), format!("reads of {} took {mean} on the mean", disk.name))
        }
        None => {
            // What a virtual disk is, only a measurement can say.
            let disk = look::disk_under(snapshot, "/").filter(|_| snapshot.machine.hypervisor.is_none())?;
            let file = disk_read(&disk.name, disk.rotational)?;
            (file, format!("usual for {}: {} to {} a page read again", disk.name, Nanos(file.0), Nanos(file.1)))
        }
    };
    #[expect(clippy::cast_precision_loss, reason = "nanoseconds below a second")]
    let (low, high) = (file.0 as f64 / zram.1 as f64, file.1 as f64 / zram.0 as f64);
    let why = format!(
        "swap-ins not measured; {of}, usual for {algorithm}: {} to {} a page swapped out and in: r = {low:.0} to {high:.0}",
        Nanos(zram.0),
        Nanos(zram.1)
    );
    Some(Costs { low, high, why: vec![reason(why, "kinds of devices in /sys/block")] })
}

/// A 4 KiB page compressed and later decompressed, fault included.
fn packed(algorithm: &str) -> Usual {
    match algorithm {
        "lz4" | "lzo" | "lzo-rle" => (4 * US, 20 * US),
        "zstd" => (8 * US, 40 * US),
        _ => (5 * US, 100 * US),
    }
}

/// A random read of a page.
fn disk_read(name: &str, rotational: Option<bool>) -> Option<Usual> {
    match rotational? {
        _ if name.starts_with("nvme") => Some((60 * US, 120 * US)),
        _ if name.starts_with("mmcblk") => Some((150 * US, 2 * MS)),
        true if name.starts_with("sd") => Some((4 * MS, 15 * MS)),
        false if name.starts_with("sd") => Some((80 * US, 300 * US)),
        _ => None,
    }
}
