//! One group in full: the waterfall of its charge, what bounds it, what reclaim could take, and what other tools show.

use ramline_model::groups::{GroupMemory, Part, PartId, Reclaim, Rest};
use ramline_snapshot::cgroup::Version;
use ramline_snapshot::containers::Container;

use super::{OneGroup, ShowCgroups};
use crate::prelude::*;
use ramline_sheet::name;

/// The screen's part for one group.
pub(super) fn group(sheet: &mut Sheet, show: &ShowCgroups, one: &OneGroup) {
    let group = &one.group;
    headline(sheet, group);
    waterfall(sheet, group, show.version);
    bounds(sheet, group);
    reclaim(sheet, group, show);
    happened(sheet, group, show);
    let readings = Table::from_rows(&one.readings)
        .column(Column::wrapped("").at_most(36), |reading| &reading.tool)
        .right("", |reading| reading.bytes)
        .wrapped("", |reading| &reading.formula);
    sheet.headed_table("What other tools show for it (now)", readings.indented(2));
    if group.depth == 0 {
        show.node(sheet);
    }
}

fn headline(sheet: &mut Sheet, group: &GroupMemory) {
    let words =
        group.container.as_ref().and_then(Container::words).map(|words| format!(" {words}")).unwrap_or_default();
    let owner = group.owner.as_ref().map(|owner| format!(" ({}{words} {})", owner.kind, owner.name));
    let owner = owner.unwrap_or_default();
    let charged = match (group.current, group.summed) {
        (Some(bytes), false) => format!("{bytes} charged (now)"),
        (Some(bytes), true) => format!("{bytes} (now; the sum of its parts)"),
        (None, _) => "what is charged was not seen".to_owned(),
    };
    let removed = group.removed.filter(|b| b.0 > 0);
    let below = match (group.below, group.own, removed) {
        (0, Some(own), Some(removed)) => {
            format!("; {own} of it to itself, {removed} to groups below it that were removed")
        }
        (0, ..) | (_, None, _) => String::new(),
        (n, Some(own), _) => {
            let removed = removed.map(|bytes| format!("{bytes} to groups that were removed, ")).unwrap_or_default();
            let perhaps = group.removed.is_none() && group.dying.is_some_and(|n| n > 0);
            let or = if perhaps { " or to removed groups" } else { "" };
            format!("; {own} of it to itself{or}, {removed}the rest to {} below", number::things(n, "group"))
        }
    };
    sheet.answer(Paint::Bold, format!("{}{owner}: {charged}{below}.", group.path));
    if group.events.stands_out_of_memory {
        let file = "memory.oom_control";
        sheet.painted(
            Paint::Bad,
            format!(
                "It is out of memory and kills are off ({file}): its tasks stand still until memory of it is freed, its limit is raised, or 0 is \
                 written to {file}."
            ),
        );
    }
}

fn waterfall(sheet: &mut Sheet, group: &GroupMemory, version: Option<Version>) {
    let Some(current) = group.current else { return };
    sheet.heading(format!("Where its {current} are (now; the parts and the rest add up)"));
    let with_own = group.below > 0;
    let share = |part: &Part| part.bytes.share_of(current);
    let mut table = Table::from_rows(group.parts.iter().filter(|p| p.counted && (p.bytes.0 > 0 || p.own.0 != 0)))
        .column(Column::wrapped("part").at_most(26).at_least(26), |part| part.id.label())
        .right("bytes", |part| part.bytes)
        .right("share", |part| share(part).map(number::percent))
        .bar(share)
        .right("itself", |part| with_own.then_some(part.own))
        .column(Column::wrapped("of it").at_least(24), |part| shares_of_part(part.id, group))
        .indented(2);
    if let Some(Rest { bytes, bound, .. }) = group.rest {
        let paint = if bytes.magnitude() > bound { Paint::Warn } else { Paint::Plain };
        let share = bytes.share_of(current).map(number::percent);
        let why = format!(
            "in no part; up to {bound} either way is normal: each CPU charges 64 pages ahead, and counters lag"
        );
        let none = Cell::default;
        table.row(["rest".into(), Cell::painted(paint, bytes), share.into(), none(), none(), why.into()]);
    }
    sheet.table(table);
    let none: Vec<&str> = group.parts.iter().filter(|p| p.counted && p.bytes.0 == 0).map(|p| p.id.label()).collect();
    sheet.dim((!none.is_empty()).then(|| format!("Nothing in: {}.", none.join("; "))));
    if version == Some(Version::V1) {
        let kernel = group.part(PartId::KernelOther).unwrap_or_default();
        sheet.dim(if group.depth == 0 {
            format!("Version 1 counts page cache and anonymous memory at the top; kernel memory of the groups, {kernel}, is added here.")
        } else {
            "Version 1 counts kernel memory (slab, stacks, page tables, per-CPU) as one figure.".to_owned()
        });
        if let Some(tcp) = group.within.tcp_beside.filter(|tcp| tcp.0 > 0) {
            sheet.line(format!("TCP buffers: {tcp} (now), which version 1 counts beside what is charged."));
        }
    }
}

/// Shares of a part worth knowing.
fn shares_of_part(id: PartId, group: &GroupMemory) -> String {
    let within = &group.within;
    let shares = match id {
        PartId::Anon => vec![(within.anon_huge, "in huge pages"), (within.swap_cached, "also in swap")],
        // All three lines of the page cache share these; the first that has pages carries them.
        PartId::FileActive | PartId::FileInactive | PartId::FileOther if group.first_of_cache() == Some(id) => vec![
            (within.dirty, "of all page cache to be written"),
            (within.writeback, "being written"),
            (within.mapped, "of cache and shared memory mapped"),
        ],
        PartId::Zswap => vec![(group.zswapped, "before compression")],
        _ => Vec::new(),
    };
    nonzero(shares.into_iter().map(|(bytes, what)| (bytes.unwrap_or_default(), what))).join(", ")
}

/// `1.0 MiB locked` for each that is not zero.
fn nonzero<'a>(parts: impl IntoIterator<Item = (Bytes, &'a str)>) -> Vec<String> {
    parts.into_iter().filter(|(bytes, _)| bytes.0 > 0).map(|(bytes, what)| format!("{bytes} {what}")).collect()
}

fn bounds(sheet: &mut Sheet, group: &GroupMemory) {
    let (bound, protection) = (&group.bound, &group.protection);
    let mut points = Vec::new();
    match (bound.max, bound.effective_max, &bound.effective_at) {
        (_, Some(limit), Some(at)) if *at == group.path => points.push(format!("limit {limit}, its own")),
        (own, Some(limit), Some(at)) => {
            let own = own.and_then(Limit::bytes).map(|own| format!(", its own is {own}")).unwrap_or_default();
            points.push(format!("limit {limit}, of {} above it{own}", name::short_ids(at)));
        }
        (Some(_), ..) => points.push("no limit, up to the top".to_owned()),
        _ => {}
    }
    let at = |limit: Option<Limit>| limit.and_then(Limit::bytes);
    points.extend(bound.room.map(|room| format!("{room} left below it before pages are taken")));
    points.extend(at(bound.high).map(|high| format!("above {high} its processes are slowed down (memory.high)")));
    for (set, force, name) in
        [(protection.min, protection.effective_min, "min"), (protection.low, protection.effective_low, "low")]
    {
        if set.is_some_and(|b| b.0 > 0) || force.0 > 0 {
            let set = set.filter(|b| b.0 < u64::MAX).map_or_else(|| "everything".to_owned(), |b| b.to_string());
            points
                .push(format!("protected (memory.{name}): {set} set, {force} in force by what the groups above leave"));
        }
    }
    points.extend(match at(bound.swap_room) {
        Some(room) => Some(format!("may take {room} more of swap, by the limits up to the top")),
        None => at(bound.swap_max).map(|swap| format!("swap limit {swap} beyond memory")),
    });
    points.extend(at(bound.zswap_max).map(|zswap| format!("zswap limit {zswap}")));
    points.extend(bound.swappiness.map(|swappiness| format!("swappiness {swappiness}")));
    points.extend(group.peak.map(|peak| format!("peak {peak} since it was made")));
    sheet.headed_points("What bounds it", points.iter().map(|point| format!("{point}.")));
}

fn reclaim(sheet: &mut Sheet, group: &GroupMemory, show: &ShowCgroups) {
    let Some(current) = group.current.filter(|c| c.0 > 0) else { return };
    let taken = group.reclaim;
    sheet.heading("What reclaim could take, at most (the four lines add up)");
    let slab = taken.slab.map_or_else(
        || "; reclaimable slab is not counted by group here".to_owned(),
        |slab| format!(", {slab} reclaimable slab (objects in use stay)"),
    );
    let rows = [
        ("at once", taken.now, format!("{} clean page cache{slab}", taken.clean_file)),
        ("after writing", taken.after_writing, "page cache waiting to be written".to_owned()),
        ("with swap", taken.with_swap, swap_words(&taken, show.swap_is_zram)),
        ("stays", taken.stays, stays_words(group)),
    ];
    let table = Table::from_rows(&rows)
        .left("", |row| row.0)
        .right("", |row| row.1)
        .right("", |row| row.1.share_of(current).map(number::percent))
        .bar(|row| row.1.share_of(current))
        .column(Column::wrapped("").at_least(30), |row| &row.2);
    sheet.table(table.indented(2));
}

fn swap_words(taken: &Reclaim, zram: bool) -> String {
    let room = match taken.swap_room {
        _ if taken.swap_forbidden => {
            "swappiness 0 keeps it out of swap: at its limit the kernel kills in it instead".to_owned()
        }
        Some(Bytes::ZERO) => "no swap it could go to".to_owned(),
        Some(room) => format!("room for {room} in swap"),
        None => "free swap was not seen".to_owned(),
    };
    let again = if zram && taken.with_swap.0 > 0 { "; swap is zram, so part of it is taken again" } else { "" };
    format!("{} anonymous and shared memory on the lists; {room}{again}", taken.swappable)
}

fn stays_words(group: &GroupMemory) -> String {
    let stays = group.stays();
    let mut out = nonzero([
        (stays.protected, "protected"),
        (stays.kept_from_swap, "kept out of swap by swappiness 0"),
        (stays.without_swap, "without swap to go to"),
        (stays.locked, "locked"),
        (stays.kernel, "kernel memory"),
    ]);
    out.extend(stays.overlap.then(|| "which overlap".to_owned()));
    out.join(", ")
}

fn happened(sheet: &mut Sheet, group: &GroupMemory, show: &ShowCgroups) {
    let mut points = Vec::new();
    points.extend(group.pressure.as_ref().map(|pressure| {
        let [some, full] = [pressure.some, pressure.full].map(|stall| stall.map_or(0.0, |stall| stall.avg10));
        format!("some process waited for memory {some:.1} %, all at once {full:.1} % of the last 10 s")
    }));
    let scope = match show.version {
        Some(Version::V1) => "in this group since it was made (counters)",
        _ => "here and below since it was made (counters)",
    };
    let events = &group.events;
    let counts: Vec<String> = [
        (events.oom_kills, "killed"),
        (events.limit_hits, "hits of the limit"),
        (events.high_hits, "slowed down at memory.high"),
        (events.low_hits, "reclaimed below memory.low"),
    ]
    .into_iter()
    .filter_map(|(n, what)| Some(format!("{} {what}", number::count(n?))))
    .collect();
    points.extend((!counts.is_empty()).then(|| format!("{}, {scope}", counts.join(", "))));
    points.extend(events.refaults_file.map(number::count).map(|file| {
        let anon = events.refaults_anon.map(|n| format!(" and {} anonymous", number::count(n))).unwrap_or_default();
        format!("{file} file{anon} pages refaulted, with all below it (counters)")
    }));
    points.extend(group.swap.filter(|b| b.0 > 0).map(|swap| format!("{swap} in swap (now)")));
    let dying = group.dying.filter(|n| *n > 0).map(|n| number::things(n, "group"));
    points.extend(dying.map(|groups| format!("{groups} below it were removed and still hold memory (now)")));
    points.extend(show.span.zip(group.rates).map(|(span, rates)| {
        let grown = rates.growth.map_or_else(
            || "growth not known, the group was made again".to_owned(),
            |g| format!("growth {}", number::growth(g)),
        );
        let [file, anon] =
            [rates.refaults_file, rates.refaults_anon].map(|rate| number::known(rate.map(number::figure)));
        let killed = rates.oom_kills.map_or_else(|| "not known how many".to_owned(), number::count);
        format!("over {span}: {grown}; {file} file and {anon} anonymous refaults/s; {killed} killed")
    }));
    sheet.headed_points("What happened to it", points.iter().map(|point| format!("{point}.")));
}
