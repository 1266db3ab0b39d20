//! `page-cluster`: how many pages one swap-in reads, and where the setting does nothing.

use crate::prelude::*;

pub(super) const TOPIC: Topic = Topic {
    id: "page-cluster",
    area: Area::Swap,
    question: "How much does one swap-in read?",
    wants: Wanted { blocks: true, mounts: true, ..LIGHT },
    answer,
    mechanism: &[
        "2^vm.page-cluster pages is the most a swap-in reads, not what it always reads: the kernel reads more while what it read ahead is used, and only one page while nothing is.",
        "A page on zram is read alone, whatever the setting is: there is no seek to save. Before 7.0 this holds for pages of one process; pages shared after a fork, and those of tmpfs on older kernels, still go by the setting there.",
        "Where no swap area rotates, the neighbours are those in the program's address space (kernels since 4.14), which are wanted together more often. One rotating area anywhere makes all areas read neighbours on the device.",
        "Two figures decide: the share of pages read ahead that are used, and the size of the window. Well above 80 % a larger window may pay on a disk, below 30 % it wastes reads.",
    ],
    myth: "With zram set vm.page-cluster to 0: for zram it changes next to nothing, and a disk area behind it then pays one request a page.",
    to_do: "Leave it. Below 30 % of read-ahead pages used, over a window under load, lower it by one.",
    next: "ramline show swap --for 2s",
};

fn answer(inputs: &Inputs<'_>, out: &mut Explanation) -> String {
    let snapshot = inputs.snapshot;
    let areas = look::areas(snapshot);
    let cluster = snapshot.settings.data().and_then(|s| u32::try_from(s.page_cluster?).ok());
    let pages = cluster.and_then(|n| 1_u64.checked_shl(n));
    let size = pages.map(|n| Bytes(n.saturating_mul(snapshot.machine.page_size.0)));
    let words =
        cluster.zip(pages).zip(size).map(|((n, pages), size)| format!("{n} (setting): at most {pages} pages, {size}"));
    out.add("vm.page-cluster", words, "/proc/sys/vm/page-cluster");
    for area in areas.iter().flatten() {
        let how = match (area.zram(), look::disk_of(snapshot, area).and_then(|disk| disk.rotational)) {
            (Some(_), _) => "zram: pages are read one by one",
            (None, Some(true)) => "reported as a hard disk: neighbours on the device are read, on every area",
            (None, Some(false)) => "does not rotate: neighbours in the program's addresses are read",
            (None, None) => "its kind was not seen",
        };
        out.put(&area.path, how, "/proc/swaps, /sys/block/*/queue/rotational");
    }
    let vmstat = snapshot.vmstat.data();
    let since_boot = vmstat.and_then(|v| share(v.swap_ra_hit?, v.swap_ra?).map(|s| (v.swap_ra, s)));
    let value = since_boot.map(|(read, share)| format!("{}, {} of them used", read.unwrap_or(0), percent(share)));
    out.add("pages read ahead since boot", value, "/proc/vmstat swap_ra, swap_ra_hit (counters)");
    let window = inputs.window.and_then(|w| {
        let read = w.delta(|s| s.vmstat.data()?.swap_ra)?;
        Some((read, w.delta(|s| s.vmstat.data()?.swap_ra_hit)?, w.span))
    });
    out.add(
        "read ahead over the window",
        window.map(|(read, hits, span)| match share(hits, read) {
            Some(share) => format!("{read} pages over {span}, {} of them used", percent(share)),
            None => format!("none over {span}"),
        }),
        "/proc/vmstat swap_ra, swap_ra_hit",
    );
    short(inputs, areas.as_deref(), size, pages)
}

#[expect(clippy::cast_precision_loss, reason = "a share does not need the last bits")]
fn share(hits: u64, of: u64) -> Option<f64> {
    // A page may be used long after it was read, so hits can run ahead over a window.
    (of > 0).then(|| (hits as f64 / of as f64).min(1.0))
}

fn short(
    inputs: &Inputs<'_>,
    areas: Option<&[&ramline_snapshot::swaps::SwapArea]>,
    size: Option<Bytes>,
    pages: Option<u64>,
) -> String {
    let (Some(size), Some(pages)) = (size, pages) else { return unseen(inputs, "settings") };
    let many = if pages == 1 { "one page".to_owned() } else { format!("up to {pages} pages ({size})") };
    match areas {
        None => unseen(inputs, "swaps"),
        Some([]) => format!("There is no swap area here: a swap-in reads nothing. From a disk it would read {many}."),
        Some(areas) if areas.iter().all(|area| area.zram().is_some()) => {
            format!(
                "A swap-in reads one page: every swap area here is zram. The setting ({many}) has no effect from kernel 7.0 on, before it only on pages shared after a fork."
            )
        }
        Some(areas) if areas.iter().any(|area| area.zram().is_some()) => {
            format!("A swap-in reads one page from zram, {many} from the area on disk.")
        }
        Some(_) => format!("A swap-in reads {many} at once."),
    }
}
