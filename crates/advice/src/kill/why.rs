//! Why, with the arithmetic; then how sure, and what the log cannot tell.

use ramline_model::kill::{Certainty, Kill, KillCause, KillSum, Killer, PartKind, Reason, ZoneState};
use ramline_units::{Bytes, escape};

/// What a log alone cannot say.
pub(super) const NOT_IN_ONE_REPORT: &str = " Which process grew before is in no single report.";

/// The sentences, the deciding one first.
pub(super) fn why(kill: &Kill) -> Vec<String> {
    let mut out = Vec::new();
    out.extend(cause(kill));
    out.extend(kill.reasons.iter().filter_map(|reason| reason_text(reason, kill)));
    out.extend(victim(kill));
    out.extend(
        kill.group.as_deref().filter(|path| path.len() > 1).map(|path| format!("Control group: {}", escape(path))),
    );
    out.extend(certainty(kill));
    out
}

fn cause(kill: &Kill) -> Option<String> {
    let sum = kill.sum.as_ref();
    match kill.cause {
        KillCause::UserAnon => sum.map(|sum| user(kill, sum)),
        KillCause::ShmemTmpfs if kill.killer == Killer::KernelMemcg => in_group(kill, "shmem", "shared memory (tmpfs, memfd, System V)"),
        KillCause::ShmemTmpfs => sum.map(|sum| part(sum, PartKind::Shmem, "is in shared memory (tmpfs, memfd, System V, graphics), which only swap or deletion frees")),
        KillCause::SlabGrowth => sum.map(|sum| {
            let caches: Vec<String> = kill.slabs.iter().take(3).map(|(name, bytes)| format!("{} {bytes}", escape(name))).collect();
            let named = if caches.is_empty() { String::new() } else { format!(" Largest that cannot be reclaimed: {}.", caches.join(", ")) };
            let of = share_of_usable(sum);
            format!(
                "Kernel objects (slab) fill {}{of}: {} cannot be reclaimed, {} could be once nothing holds it.{named}",
                sum.slab(), sum.part(PartKind::SlabUnreclaimable), sum.part(PartKind::SlabReclaimable)
            )
        }),
        KillCause::KernelUnaccounted => sum.map(|sum| {
            format!("{} is in no counter: usable RAM less all parts below. Who holds it (driver, balloon, ZFS, zram, network) is not in the log.", amount(sum, sum.unaccounted.unwrap_or_default()))
        }),
        KillCause::HugepagesReserved if kill.killer == Killer::Hugetlb => Some("A fault in a mapping of huge pages found no free one: free pages may be promised to others.".to_owned()),
        KillCause::HugepagesReserved => sum.map(|sum| part(sum, PartKind::HugePages, "is set aside as huge pages, used or not")),
        KillCause::MemcgAnon => in_group(kill, "anon", "memory of its processes"),
        KillCause::MemcgSwap => Some(group_swap(kill)),
        KillCause::MemcgDirtyFile => Some(group_files(kill)),
        KillCause::MemcgKmem => in_group(kill, "kernel", "kernel memory"),
        KillCause::Fragmentation => Some(fragmentation(kill)),
        KillCause::CmaOnlyFree => kill.zones.iter().find(|zone| zone.allowed && zone.is_below() && zone.free_cma > Bytes::ZERO).map(|zone| {
            format!(
                "Zone {} has {} free, but {} of that is CMA, which this request may not use: {} is left, and its mark is {} (short by {}).",
                zone.name, zone.free, zone.free_cma, kib(zone.usable), kib(zone.mark()), kib(zone.short_by())
            )
        }),
        KillCause::ZoneOrPolicy => Some(zones(kill)),
        KillCause::WatermarkSetting => kill.zones.iter().find(|zone| zone.allowed && zone.is_below()).map(|zone| {
            format!("Zone {} keeps {} free (min), of {} it has: vm.min_free_kbytes is raised, and {} was free.", zone.name, zone.min, zone.managed, zone.free)
        }),
        KillCause::AtomicBurst => Some("The request came faster than memory could be reclaimed; such a request is allowed to fail, and its caller mostly tries again.".to_owned()),
        KillCause::ThrashFreeze => Some("Memory was used up and the machine was busy reclaiming and reading again; nothing that kills was due.".to_owned()),
        KillCause::ReclaimDeadlock => Some("The request is part of swapping out: memory was needed to free memory.".to_owned()),
        KillCause::TooSmallSystem => Some("The request came while the kernel was starting: this system does not fit the memory that was given to it.".to_owned()),
        KillCause::PressurePolicy => Some("Its rule is a share of time in which tasks waited for memory (PSI): that is no measure of how full memory was.".to_owned()),
        KillCause::ThresholdPolicy => Some("Its rule is a threshold on what is left.".to_owned()),
        KillCause::NotMemory => None,
        KillCause::Unknown => None,
    }
}

fn amount(sum: &KillSum, bytes: Bytes) -> String {
    format!("{bytes}{}", share_of_usable(sum))
}

fn share_of_usable(sum: &KillSum) -> String {
    sum.usable.map(|usable| format!(" of {usable} usable")).unwrap_or_default()
}

fn part(sum: &KillSum, kind: PartKind, what: &str) -> String {
    format!("{} {what}.", amount(sum, sum.part(kind)))
}

fn user(kill: &Kill, sum: &KillSum) -> String {
    let anon = sum.part(PartKind::Anonymous) + sum.part(PartKind::Unevictable);
    let swap = match (sum.swap_total, sum.swap_free) {
        (Some(Bytes::ZERO), _) => "; there is no swap".to_owned(),
        (Some(total), Some(free)) if sum.is_swap_used_up() == Some(true) => {
            format!("; {total} of swap is full ({free} left)")
        }
        (Some(total), Some(free)) => format!("; of {total} swap {free} is free"),
        _ => String::new(),
    };
    let hog = kill.programs.first().filter(|first| first.rss.0 > anon.0 / 2);
    let who = match hog {
        Some(hog) => format!(
            " {} has {} of it{}.",
            escape(&hog.name),
            hog.rss,
            if hog.tasks > 1 { format!(" in {} processes", hog.tasks) } else { String::new() }
        ),
        None if kill.programs.is_empty() => String::new(),
        None => " No single program has half of it.".to_owned(),
    };
    format!("Processes fill {}{swap}.{who}", amount(sum, anon))
}

fn in_group(kill: &Kill, statistic: &str, what: &str) -> Option<String> {
    let figures = kill.group_figures.as_ref()?;
    let named = |name: &str| figures.statistic_named(name);
    let amount = match statistic {
        "anon" => named("anon").or_else(|| named("total_rss")).or_else(|| named("rss")),
        "kernel" => named("kernel").or_else(|| named("slab")).or_else(|| figures.kmem.map(|kmem| kmem.usage)),
        _ => named("shmem").or_else(|| named("total_shmem")),
    };
    let usage = figures.memory.map(|memory| memory.usage);
    let swap = match figures.swap {
        Some(swap) if swap.limit == Some(Bytes::ZERO) => " It may not use swap.",
        _ if figures.memory_and_swap.is_some_and(|both| {
            both.limit.is_some() && both.limit == figures.memory.and_then(|memory| memory.limit)
        }) =>
        {
            " It may not use swap."
        }
        _ => "",
    };
    match (amount, usage) {
        (Some(amount), Some(usage)) => Some(format!("Of the {usage} charged to the group {amount} is {what}.{swap}")),
        (Some(amount), None) => Some(format!("{amount} of the group is {what}.")),
        (None, Some(usage)) => kill
            .programs
            .first()
            .map(|first| format!("{usage} is charged to the group; {} has {} in RAM.", escape(&first.name), first.rss)),
        (None, None) => None,
    }
}

fn group_swap(kill: &Kill) -> String {
    let figures = kill.group_figures.clone().unwrap_or_default();
    let limited = figures
        .memory_and_swap
        .filter(|both| both.limit.is_some())
        .or(figures.swap.filter(|swap| swap.limit.is_some()));
    match limited.and_then(|used| used.limit.map(|limit| (used.usage, limit))) {
        Some((usage, limit)) => format!("The group's limit with swap is reached as well: {usage} of {limit}."),
        None => "The group is full of memory of its processes, with swap in use: the swap it may use was no way out."
            .to_owned(),
    }
}

fn group_files(kill: &Kill) -> String {
    let figures = kill.group_figures.clone().unwrap_or_default();
    let named = |new: &str, old: &str| {
        figures.statistic_named(new).or_else(|| figures.statistic_named(old)).unwrap_or_default()
    };
    let (file, dirty) = (named("file", "cache"), named("file_dirty", "dirty"));
    let anon = named("anon", "rss");
    format!(
        "The group holds {file} of files, of which {dirty} is not written yet, and {anon} of its processes: it wrote faster than the kernel cleaned."
    )
}

fn block(kill: &Kill) -> String {
    let order = kill.request.as_ref().and_then(|request| request.order).unwrap_or_default().clamp(0, 20);
    let page = kill.page_size.map_or(Bytes::from_kib(4), |page| page.size);
    Bytes(page.0 << order).to_string()
}

fn fragmentation(kill: &Kill) -> String {
    let zone = kill.zones.iter().filter(|zone| zone.allowed && zone.block == Some(false)).max_by_key(|zone| zone.free);
    let size = block(kill);
    match zone {
        Some(zone) => format!(
            "The request wants a block of {size}: zone {} has {} free, {} above its mark, but no free block of that size it may use. Memory as a whole was not short.",
            zone.name,
            zone.free,
            kib(zone.usable.saturating_sub(zone.mark()))
        ),
        None => format!(
            "The request wants a block of {size}, for which the kernel does not try hard; the lines of free blocks are missing."
        ),
    }
}

fn zones(kill: &Kill) -> String {
    let short: Vec<String> = kill
        .zones
        .iter()
        .filter(|zone| zone.allowed)
        .map(|zone| {
            format!("{} has {} it may use, and its mark is {}", name(zone, kill), kib(zone.usable), kib(zone.mark()))
        })
        .collect();
    let free: Bytes = kill.zones.iter().filter(|zone| !zone.allowed).map(|zone| zone.free).sum();
    let free = free.max(kill.sum.as_ref().map(|sum| sum.part(PartKind::Free)).unwrap_or_default());
    let elsewhere = if free > Bytes::ZERO { format!(" {free} is free in all.") } else { String::new() };
    if short.is_empty() {
        return format!("The request may use only some of the nodes, and those were full.{elsewhere}");
    }
    let more = if short.len() > 3 { format!(", and {} more", short.len() - 3) } else { String::new() };
    format!(
        "Only some zones will do for this request: {}{more}.{elsewhere}",
        short.iter().take(3).cloned().collect::<Vec<_>>().join("; ")
    )
}

fn name(zone: &ZoneState, kill: &Kill) -> String {
    let several = kill.zones.iter().any(|other| other.node != zone.node);
    if several { format!("{} of node {}", zone.name, zone.node) } else { zone.name.clone() }
}

/// Marks decide by a few pages: in kB, as the log has them.
fn kib(bytes: Bytes) -> String {
    format!("{} kB", bytes.0 / 1024)
}

fn reason_text(reason: &Reason, kill: &Kill) -> Option<String> {
    Some(match reason {
        Reason::Said(text) => format!("It says: {}", escape(text)),
        Reason::Contradicts(text) => format!("It says \"{}\", which its own figures contradict.", escape(text)),
        Reason::FaultInGroup => "A group had refused a page to a fault, and the kernel (before 5.16) took that for a shortage of the machine.".to_owned(),
        Reason::OnlyNodes(Some(nodes)) => format!("Its cpuset or memory policy allows node {} only.", escape(nodes)),
        Reason::OnlyNodes(None) => "Its cpuset or memory policy allows only some nodes.".to_owned(),
        Reason::ZoneAboveMark => "The figures are printed after the failure: by then a zone could have served the request.".to_owned(),
        Reason::MayNotWait => "The request may not wait for memory.".to_owned(),
        Reason::FromReclaim(function) => format!("It comes from inside of reclaim ({}).", escape(function)),
        Reason::BeforeUserSpace => return None,
        Reason::Stalled(ms) => format!("It had waited for {} s.", ms / 1000),
        Reason::Stuck(tasks, longest) => {
            let longest = longest.map(|seconds| format!(", the longest for more than {seconds} s")).unwrap_or_default();
            if *tasks == 1 { format!("One task was stuck{}.", longest.replace(", the longest", "")) } else { format!("{tasks} tasks were stuck{longest}.") }
        }
        Reason::SwapFree(free) if kill.cause == KillCause::UserAnon => format!("Swap was not full ({free} free): why it was not used is not in the log."),
        Reason::SwapFree(_) => return None,
        Reason::KillsWhoAsks => "vm.oom_kill_allocating_task is set: who asks is killed, whatever its size.".to_owned(),
        Reason::AllProtected(adj) => format!("All tasks have oom_score_adj {adj}: size decided nothing."),
        Reason::ByHand => "The kill was asked for by hand (SysRq f).".to_owned(),
        Reason::LimitAbove => "Its usage is below its limits: a limit above it may be the one that was hit.".to_owned(),
        Reason::LowWithoutKill(available, swap) => {
            let swap = swap.map(|swap| format!(", but {swap:.0} % of swap was free, and earlyoom kills only when both are low")).unwrap_or_default();
            format!("{available:.2} % of memory was available{swap}.")
        }
    })
}

fn victim(kill: &Kill) -> Option<String> {
    let victim = kill.victim.as_ref()?;
    let name = victim.name.as_deref().map(escape)?;
    let held = victim.held?;
    let swapped = victim
        .swapped
        .filter(|swapped| *swapped > Bytes::ZERO)
        .map(|swapped| format!(" and {swapped} in swap"))
        .unwrap_or_default();
    Some(match kill.innocent_victim {
        Some(true) => {
            let protected =
                victim.adj.filter(|adj| *adj != 0).map(|adj| format!(" (oom_score_adj {adj})")).unwrap_or_default();
            format!("{name} did not fill memory: it held {held}{swapped}{protected}.")
        }
        _ => format!("{name} held {held}{swapped}."),
    })
}

fn certainty(kill: &Kill) -> Option<String> {
    if kill.nothing_found {
        return None;
    }
    let missing = kill.missing.join("; ");
    Some(match kill.confidence {
        Certainty::Unknown if missing.is_empty() => "What the cause was cannot be told from these lines.".to_owned(),
        Certainty::Unknown => format!("What the cause was cannot be told from these lines. Missing: {missing}."),
        Certainty::Likely if missing.is_empty() => "Likely, not sure.".to_owned(),
        Certainty::Likely => format!("Likely, not sure. Missing: {missing}."),
        Certainty::Sure => format!("Sure: the figures above decide.{NOT_IN_ONE_REPORT}"),
    })
}
