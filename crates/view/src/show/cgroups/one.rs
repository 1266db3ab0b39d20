//! One group in full: the waterfall of its charge, what bounds it, what reclaim could take, and what other tools show.

use ramline_model::groups::{GroupMemory, PartId, Reclaim};
use ramline_snapshot::cgroup::Version;
use ramline_units::{Bytes, Limit};

use super::{OneGroup, ShowCgroups};
use ramline_sheet::Sheet;
use ramline_sheet::text::{Cell, Column, Paint, Table, name, number};

/// The screen's part for one group.
pub(super) fn group(sheet: &mut Sheet, show: &ShowCgroups, one: &OneGroup) {
    let group = &one.group;
    headline(sheet, group);
    waterfall(sheet, group, show.version);
    bounds(sheet, group);
    reclaim(sheet, group, show);
    happened(sheet, group, show);
    if !one.readings.is_empty() {
        sheet.heading("What other tools show for it (now)");
        let mut table =
            Table::new(vec![Column::wrapped("").at_most(36), Column::right(""), Column::wrapped("")]).indented(2);
        for reading in &one.readings {
            table.row([
                reading.tool.as_str().into(),
                reading.bytes.to_string().into(),
                reading.formula.as_str().into(),
            ]);
        }
        sheet.table(&table);
    }
    if group.depth == 0 {
        show.node(sheet);
    }
}

fn headline(sheet: &mut Sheet, group: &GroupMemory) {
    let owner = group.owner.as_ref().map(|owner| format!(" ({} {})", owner.kind, owner.name)).unwrap_or_default();
    let charged = match (group.current, group.summed) {
        (Some(bytes), false) => format!("{bytes} charged (now)"),
        (Some(bytes), true) => format!("{bytes} (now; the sum of its parts)"),
        (None, _) => "what is charged was not seen".to_owned(),
    };
    let below = match (group.below, group.own) {
        (0, Some(own)) if group.removed.is_some_and(|b| b.0 > 0) => format!(
            "; {own} of it to itself, {} to groups below it that were removed",
            group.removed.unwrap_or_default()
        ),
        (0, _) | (_, None) => String::new(),
        (n, Some(own)) => {
            let removed = group.removed.filter(|b| b.0 > 0);
            let removed = removed.map(|bytes| format!("{bytes} to groups that were removed, ")).unwrap_or_default();
            let or = if group.removed.is_none() && group.dying.is_some_and(|n| n > 0) {
                " or to removed groups"
            } else {
                ""
            };
            format!("; {own} of it to itself{or}, {removed}the rest to {} below", number::things(n, "group"))
        }
    };
    sheet.answer(Paint::Bold, &format!("{}{owner}: {charged}{below}.", group.path));
}

fn waterfall(sheet: &mut Sheet, group: &GroupMemory, version: Option<Version>) {
    let Some(current) = group.current else { return };
    sheet.heading(&format!("Where its {current} are (now; the parts and the rest add up)"));
    let with_own = group.below > 0;
    let mut table = Table::new(vec![
        Column::wrapped("part").at_most(26).at_least(26),
        Column::right("bytes"),
        Column::right("share"),
        Column::left(""),
        Column::right("itself"),
        Column::wrapped("of it").at_least(24),
    ])
    .indented(2);
    for part in group.parts.iter().filter(|p| p.counted && (p.bytes.0 > 0 || p.own.0 != 0)) {
        table.row([
            part.id.label().into(),
            part.bytes.to_string().into(),
            part.bytes.share_of(current).map(number::percent).unwrap_or_default().into(),
            Cell::bar(Paint::Plain, part.bytes.share_of(current)),
            if with_own { Cell::from(part.own.to_string()) } else { Cell::default() },
            of_it(part.id, group).into(),
        ]);
    }
    if let Some(rest) = group.rest {
        let far = rest.bytes.magnitude() > rest.bound;
        let why = format!(
            "in no part; up to {} either way is normal: each CPU charges 64 pages ahead, and counters lag",
            rest.bound
        );
        table.row([
            "rest".into(),
            Cell::painted(if far { Paint::Warn } else { Paint::Plain }, &rest.bytes.to_string()),
            rest.bytes.share_of(current).map(number::percent).unwrap_or_default().into(),
            Cell::default(),
            Cell::default(),
            why.into(),
        ]);
    }
    sheet.table(&table);
    let none: Vec<&str> = group.parts.iter().filter(|p| p.counted && p.bytes.0 == 0).map(|p| p.id.label()).collect();
    if !none.is_empty() {
        sheet.dim(&format!("Nothing in: {}.", none.join("; ")));
    }
    if version == Some(Version::V1) {
        let kernel = group.part(PartId::KernelOther).unwrap_or_default();
        sheet.dim(&if group.depth == 0 {
            format!("Version 1 counts page cache and anonymous memory at the top; kernel memory of the groups, {kernel}, is added here.")
        } else {
            "Version 1 counts kernel memory (slab, stacks, page tables, per-CPU) as one figure.".to_owned()
        });
        if let Some(tcp) = group.within.tcp_beside.filter(|tcp| tcp.0 > 0) {
            sheet.line(&format!("TCP buffers: {tcp} (now), which version 1 counts beside what is charged."));
        }
    }
}

/// Shares of a part worth knowing.
fn of_it(id: PartId, group: &GroupMemory) -> String {
    let within = &group.within;
    let mut out = Vec::new();
    let mut say = |bytes: Option<Bytes>, what: &str| {
        if let Some(bytes) = bytes.filter(|b| b.0 > 0) {
            out.push(format!("{bytes} {what}"));
        }
    };
    match id {
        PartId::Anon => {
            say(within.anon_huge, "in huge pages");
            say(within.swap_cached, "also in swap");
        }
        // All three lines of the page cache share these; the first that has pages carries them.
        PartId::FileActive | PartId::FileInactive | PartId::FileOther if group.first_of_cache() == Some(id) => {
            say(within.dirty, "of all page cache to be written");
            say(within.writeback, "being written");
            say(within.mapped, "of cache and shared memory mapped");
        }
        PartId::Zswap => say(group.zswapped, "before compression"),
        _ => {}
    }
    out.join(", ")
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
    if let Some(room) = bound.room {
        points.push(format!("{room} left below it before pages are taken"));
    }
    if let Some(Limit::At(high)) = bound.high {
        points.push(format!("above {high} its processes are slowed down (memory.high)"));
    }
    for (set, force, name) in
        [(protection.min, protection.effective_min, "min"), (protection.low, protection.effective_low, "low")]
    {
        if set.is_some_and(|b| b.0 > 0) || force.0 > 0 {
            let set = set.filter(|b| b.0 < u64::MAX).map_or_else(|| "everything".to_owned(), |b| b.to_string());
            points
                .push(format!("protected (memory.{name}): {set} set, {force} in force by what the groups above leave"));
        }
    }
    match bound.swap_room {
        Some(Limit::At(room)) => points.push(format!("may take {room} more of swap, by the limits up to the top")),
        _ => {
            if let Some(Limit::At(swap)) = bound.swap_max {
                points.push(format!("swap limit {swap} beyond memory"));
            }
        }
    }
    if let Some(Limit::At(zswap)) = bound.zswap_max {
        points.push(format!("zswap limit {zswap}"));
    }
    if let Some(swappiness) = bound.swappiness {
        points.push(format!("swappiness {swappiness}"));
    }
    if let Some(peak) = group.peak {
        points.push(format!("peak {peak} since it was made"));
    }
    if !points.is_empty() {
        sheet.heading("What bounds it");
        for point in points {
            sheet.point("  ", &format!("{point}."));
        }
    }
}

fn reclaim(sheet: &mut Sheet, group: &GroupMemory, show: &ShowCgroups) {
    let Some(current) = group.current.filter(|c| c.0 > 0) else { return };
    let taken = group.reclaim;
    sheet.heading("What reclaim could take, at most (the four lines add up)");
    let mut table = Table::new(vec![
        Column::left(""),
        Column::right(""),
        Column::right(""),
        Column::left(""),
        Column::wrapped("").at_least(30),
    ])
    .indented(2);
    let mut row = |what: &str, bytes: Bytes, why: String| {
        table.row([
            what.into(),
            bytes.to_string().into(),
            bytes.share_of(current).map(number::percent).unwrap_or_default().into(),
            Cell::bar(Paint::Plain, bytes.share_of(current)),
            why.into(),
        ]);
    };
    let slab = taken.slab.map_or_else(
        || "; reclaimable slab is not counted by group here".to_owned(),
        |slab| format!(", {slab} reclaimable slab (objects in use stay)"),
    );
    row("at once", taken.now, format!("{} clean page cache{slab}", taken.clean_file));
    row("after writing", taken.after_writing, "page cache waiting to be written".to_owned());
    row("with swap", taken.with_swap, swap_words(&taken, show.swap_is_zram));
    row("stays", taken.stays, stays_words(group));
    sheet.table(&table);
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
    let why = [
        (stays.protected, "protected"),
        (stays.kept_from_swap, "kept out of swap by swappiness 0"),
        (stays.without_swap, "without swap to go to"),
        (stays.locked, "locked"),
        (stays.kernel, "kernel memory"),
    ];
    let mut out: Vec<String> =
        why.into_iter().filter(|(bytes, _)| bytes.0 > 0).map(|(bytes, what)| format!("{bytes} {what}")).collect();
    if stays.overlap {
        out.push("which overlap".to_owned());
    }
    out.join(", ")
}

fn happened(sheet: &mut Sheet, group: &GroupMemory, show: &ShowCgroups) {
    let mut points = Vec::new();
    if let Some(pressure) = &group.pressure {
        let avg = |stall: Option<ramline_snapshot::pressure::Stall>| stall.map_or(0.0, |s| s.avg10);
        points.push(format!(
            "some process waited for memory {:.1} %, all at once {:.1} % of the last 10 s",
            avg(pressure.some),
            avg(pressure.full)
        ));
    }
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
    if !counts.is_empty() {
        points.push(format!("{}, {scope}", counts.join(", ")));
    }
    if let Some(file) = events.refaults_file {
        let anon = events.refaults_anon.map(|n| format!(" and {} anonymous", number::count(n))).unwrap_or_default();
        points.push(format!(
            "{} file{anon} pages came back after eviction, with all below it (counters)",
            number::count(file)
        ));
    }
    if let Some(swap) = group.swap.filter(|b| b.0 > 0) {
        points.push(format!("{swap} in swap (now)"));
    }
    if let Some(n) = group.dying.filter(|n| *n > 0) {
        points.push(format!("{} below it were removed and still hold memory (now)", number::things(n, "group")));
    }
    if let (Some(span), Some(rates)) = (show.span, group.rates) {
        let grown = rates.growth.map_or_else(
            || "growth not known, the group was made anew".to_owned(),
            |g| format!("growth {}", number::growth(g)),
        );
        let back = |rate: Option<f64>| rate.map_or_else(|| "not known".to_owned(), number::figure);
        points.push(format!(
            "over {span}: {grown}; {} file and {} anonymous pages/s came back; {} killed",
            back(rates.refaults_file),
            back(rates.refaults_anon),
            rates.oom_kills.map_or_else(|| "not known how many".to_owned(), number::count)
        ));
    }
    if !points.is_empty() {
        sheet.heading("What happened to it");
        for point in points {
            sheet.point("  ", &format!("{point}."));
        }
    }
}
