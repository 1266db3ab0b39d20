//! `no-swap`: what a machine without swap can and cannot do, and what taking swap away would cost this one.

use super::opinion;
use crate::prelude::*;

pub(super) const TOPIC: Topic = Topic {
    id: "no-swap",
    area: Area::Swap,
    question: "What does it cost to have no swap here?",
    wants: opinion::WANTS,
    answer,
    mechanism: &[
        "Without swap the kernel has one way to make room: drop file pages, program code included. When too few remain it kills.",
        "The cache is spare only up to the working set. Beyond that every page dropped is read again at once, which shows as refaults; programs then wait for their own code.",
        "Swap turns that round: pages unused for hours leave instead, and the files in use stay. Virtual and resident sizes describe the present, not what a program will need.",
        "Near the limit the answer is more RAM or compressed swap (zram, zswap), never swapoff.",
        "vm.swappiness=0 does not turn swap off for the machine: with the two lists it still swaps when file pages run out. It does for a group at its limit (memory.swappiness of version 1, vm.swappiness on version 2) and under MGLRU: only file pages are reclaimed there, and the kill comes with swap free. swapoff and a swap limit of zero turn it off everywhere.",
    ],
    myth: "No swap means no waiting: the waiting moves to re-reading program code, where no counter named swap shows it.",
    to_do: "Keep swap on.",
    next: "ramline lab run code-plus-data",
};

fn answer(inputs: &Inputs<'_>, out: &mut Explanation) -> String {
    let areas = look::areas(inputs.snapshot);
    let swapped = areas.as_deref().map(look::swap_used);
    out.add("in swap (now)", swapped.filter(|_| areas.as_ref().is_some_and(|a| !a.is_empty())), "/proc/swaps Used");
    out.meminfo(
        inputs,
        "process memory and tmpfs: without swap it stays until freed (now)",
        "Active(anon) + Inactive(anon)",
    );
    out.meminfo(inputs, "of it not used lately (now)", "Inactive(anon)");
    let cache = out.meminfo(inputs, "file pages: all that can be dropped (now)", "Active(file) + Inactive(file)");
    let mapped = out.meminfo(inputs, "mapped by programs: code, files, shared memory (now)", "Mapped");
    let left = available::from_snapshot(inputs.snapshot);
    out.add("available (now)", left.map(|left| left.bytes), left.map_or("", available::Available::source));
    out.refaults(inputs, "file pages read again");
    let reread = mapped.and_then(|mapped| reread(inputs, mapped));
    let source = "Mapped in pages times the measured random read of the disk";
    out.add("to read the mapped pages again, one by one", reread, source);
    out.first(&["in swap", "available", "process memory", "of it not used", "file pages: all"]);
    if matches!(areas.as_deref(), Some([])) {
        out.to_do = opinion::for_targets(inputs, &["zram", "swap"])
            .unwrap_or_else(|| "Nothing: memory is not known to be short.".into());
    }
    match areas.as_deref() {
        None => unseen(inputs, "swaps"),
        Some([]) => without(inputs, cache, mapped),
        Some(areas) => taking_away(inputs, areas, look::swap_used(areas), cache),
    }
}

fn without(inputs: &Inputs<'_>, cache: Option<Bytes>, mapped: Option<Bytes>) -> String {
    let free = inputs.snapshot.meminfo.data().and_then(|m| m.mem_free);
    let free = free.map(|free| format!(" It begins when the {free} free now is used.")).unwrap_or_default();
    match cache.zip(mapped) {
        Some((cache, mapped)) => format!(
            "There is no swap here: to make room the kernel can only drop from {cache} of file pages.{free} At most {} of these is code and files that programs map; when too little is left, it kills.",
            mapped.min(cache)
        ),
        None => format!(
            "There is no swap here: to make room the kernel can only drop file pages.{free} After that it kills."
        ),
    }
}

/// What would come back into RAM, and whether there is room.
fn taking_away(
    inputs: &Inputs<'_>,
    areas: &[&ramline_snapshot::swaps::SwapArea],
    swapped: Bytes,
    cache: Option<Bytes>,
) -> String {
    let freed: Bytes =
        areas.iter().filter_map(|area| Some(look::zram_of(inputs.snapshot, area)?.mm.as_ref()?.mem_used_total)).sum();
    let back = swapped.saturating_sub(freed);
    let Some(available) = available::bytes(inputs.snapshot) else {
        return format!(
            "Taking swap away would bring {swapped} back into RAM. After that the kernel could only drop file pages, and then kill."
        );
    };
    let pool = if freed.0 > 0 { format!(", less {freed} of compressed pool") } else { String::new() };
    if back > available {
        return format!(
            "Taking swap away would bring {swapped} back into RAM{pool}. Only {available} is available: it would end in the out-of-memory killer."
        );
    }
    format!(
        "Taking swap away would bring {swapped} back into RAM{pool}. It would leave {} of {available} available; to make room after that the kernel could only drop from {} of file pages, and then kill.",
        available.saturating_sub(back),
        cache.map_or_else(|| "an unknown amount".to_owned(), |cache| cache.to_string())
    )
}

/// Time to read so many bytes page by page at the measured mean.
fn reread(inputs: &Inputs<'_>, bytes: Bytes) -> Option<Nanos> {
    let page = Bytes(inputs.snapshot.machine.page_size.0);
    let pages = bytes.share_of(page)?;
    Some(nanos_of(pages * look::reload_cost(inputs)?.mean()))
}
