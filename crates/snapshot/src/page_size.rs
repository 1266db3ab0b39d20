//! The page size of a machine whose capture does not say it, from what it has both in KiB and in pages.
//!
//! Not a guess from the architecture: arm64 has kernels of 4, 16 and 64 KiB. A page is a power of two, so that a ratio decides although the two
//! files are read one after the other: it counts where it is within 2^¼ of one, and the size that more than half of all pairs name is taken.
//!
//! Worked example: MemFree 914,752 kB and nr_free_pages 14,293 are 64 KiB a page.

use crate::meminfo::Meminfo;
use crate::prelude::*;
use crate::vmstat::Vmstat;
use crate::zoneinfo::Zoneinfo;

/// Lines of meminfo, and of vmstat or the nodes of zoneinfo what they are made of.
const PAIRS: [(&str, &str); 9] = [
    ("MemFree", "nr_free_pages"),
    ("Active(anon)", "nr_active_anon"),
    ("Inactive(anon)", "nr_inactive_anon"),
    ("Active(file)", "nr_active_file"),
    ("Inactive(file)", "nr_inactive_file"),
    ("AnonPages", "nr_anon_pages"),
    ("Mapped", "nr_mapped"),
    ("Shmem", "nr_shmem"),
    ("PageTables", "nr_page_table_pages"),
];

/// Fewer pages say too little: their number may have changed by a good part between two reads.
const FEW: u64 = 256;

/// The smallest and the largest page of any port of Linux: 4 KiB and 1 MiB (hexagon).
const SIZES: std::ops::RangeInclusive<u32> = 12..=20;

/// From the texts that a capture has; `more` are other pairs of bytes and pages. `None` where they do not tell.
#[must_use]
pub fn derived(
    meminfo: Option<&Meminfo>,
    vmstat: Option<&Vmstat>,
    zoneinfo: Option<&Zoneinfo>,
    more: &[(Bytes, u64)],
) -> Option<PageSize> {
    let of_vmstat = |key: &str| vmstat.and_then(|v| v.get(key).or_else(|| v.unknown.get(key)?.parse().ok()));
    let of_nodes = |key: &str| {
        let nodes = zoneinfo.map(|z| z.nodes.as_slice()).unwrap_or_default();
        nodes.iter().map(|node| node.stats.get(key).copied()).try_fold(0_u64, |sum, n| sum.checked_add(n?))
    };
    let zones =
        |pages: fn(&crate::zoneinfo::Zone) -> Pages| zoneinfo.map(|z| z.zones.iter().map(pages).sum::<Pages>().0);
    let named = PAIRS.iter().flat_map(|(line, counter)| {
        let bytes = meminfo.and_then(|m| m.get(line));
        [of_vmstat(counter), of_nodes(counter)].map(|pages| bytes.zip(pages)).into_iter().flatten()
    });
    let total = meminfo.and_then(|m| m.mem_total).zip(zones(|zone| zone.managed));
    let free = meminfo.and_then(|m| m.mem_free).zip(zones(|zone| zone.free));
    let all = named.chain(total).chain(free).chain(more.iter().copied());
    let votes: Vec<Option<u32>> =
        all.filter(|(_, pages)| *pages >= FEW).map(|(bytes, pages)| power(bytes, pages)).collect();
    // Files that are not of one machine agree on nothing: more than half of the pairs must name one size.
    let power =
        SIZES.into_iter().find(|size| votes.iter().filter(|vote| **vote == Some(*size)).count() > votes.len() / 2)?;
    Some(PageSize(1 << power))
}

/// The power of two that bytes a page are near to.
fn power(bytes: Bytes, pages: u64) -> Option<u32> {
    let exact = (bytes.as_f64() / Bytes(pages).as_f64()).log2();
    SIZES.into_iter().find(|power| (exact - f64::from(*power)).abs() <= 0.25)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meminfo(text: &str) -> Meminfo {
        Meminfo::parse("m", text).unwrap()
    }

    #[test]
    fn free_memory_in_kib_and_in_pages_tells_the_page() {
        for (pages, page) in [(228_688, 4096), (57_172, 16_384), (14_293, 65_536)] {
            let vmstat = Vmstat::parse("v", &format!("nr_free_pages {pages}\n")).unwrap();
            let seen = derived(Some(&meminfo("MemFree: 914752 kB\n")), Some(&vmstat), None, &[]);
            assert_eq!(seen, Some(PageSize(page)), "{pages}");
        }
    }

    #[test]
    fn files_read_at_different_moments_agree_by_the_most_votes() {
        let text = "MemFree: 500000 kB\nActive(file): 64000 kB\nInactive(file): 128000 kB\n";
        let vmstat = Vmstat::parse("v", "nr_free_pages 31000\nnr_active_file 4100\nnr_inactive_file 7900\n").unwrap();
        // MemFree says 16.1 KiB, the others 15.6 and 16.2.
        assert_eq!(derived(Some(&meminfo(text)), Some(&vmstat), None, &[]), Some(PageSize(16_384)));
        let other = Vmstat::parse("v", "nr_free_pages 31000\nnr_active_file 900\nnr_inactive_file 40000\n").unwrap();
        assert_eq!(derived(Some(&meminfo(text)), Some(&other), None, &[]), None, "of another machine: one of three");
    }

    #[test]
    fn zones_and_processes_tell_it_too_and_little_tells_nothing() {
        let zone = "Node 0, zone Normal\n  pages free 14293\n  min 1\n  low 2\n  high 3\n  managed 65000\n";
        let zoneinfo = crate::zoneinfo::Zoneinfo::parse("z", zone).unwrap();
        let seen = meminfo("MemTotal: 4160000 kB\nMemFree: 914752 kB\n");
        assert_eq!(derived(Some(&seen), None, Some(&zoneinfo), &[]), Some(PageSize(65_536)));
        assert_eq!(derived(None, None, None, &[(Bytes::from_kib(16_384), 1024)]), Some(PageSize(16_384)));
        assert_eq!(derived(None, None, None, &[(Bytes::from_kib(400), 100)]), None, "too few pages");
        assert_eq!(derived(None, None, None, &[(Bytes::from_kib(3000), 500)]), None, "6 KiB is no page");
        assert_eq!(derived(Some(&seen), None, None, &[]), None);
    }
}
