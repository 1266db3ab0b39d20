//! Memory that no process owns and that reclaim cannot take: how much of it there is, and in which form.
//!
//! Kernel objects, vmalloc, graphics memory, a balloon, and what no counter has. Not page tables, which belong to processes, nor the pool of huge pages: each
//! has a rule of its own. Not the ZFS cache, which shrinks.
//!
//! **Large** is a tenth of RAM and [`FIXED`] beside it. A tenth is what decides elsewhere whether available memory is low: so much in one place is
//! the difference between a machine that is fine and one that is not. Fourteen captured machines without a leak have at most 4.3 % in one form. What a
//! kernel takes whatever the RAM is does not count: on a router of 64 MiB that alone is a tenth.
//!
//! Worked example: 42.9 GiB of slab in use on 60.5 GiB are 71 %; 26 MiB in no counter of 116 are 22 %, and not large: 12 and 32 MiB are 44.

use crate::ledger::{Ledger, Term};
use crate::prelude::*;

/// From this share of RAM on, beyond [`FIXED`], one form of it is large.
pub const LARGE: f64 = 0.10;
/// What the kernel and its drivers take on the smallest machines: counters, rings, tables of a fixed size.
pub const FIXED: Bytes = Bytes::from_mib(32);

worded! {
    /// In which form.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum Form {
        /// Kernel objects in use.
        Slab = "Unreclaimable slab",
        /// Pages of drivers, pipes, sockets.
        Uncounted = "Memory in no counter",
        /// In use by graphics drivers.
        Graphics = "Graphics memory",
        /// Taken by the hypervisor.
        Balloon = "The hypervisor's balloon",
        /// Modules and large buffers.
        Vmalloc = "vmalloc",
        /// Of virtual machines and devices.
        GuestTables = "Page tables of guests and IOMMUs",
        /// Statistics of groups, mounts, devices.
        Percpu = "Per-CPU data",
        /// Of threads, where they are a line of their own.
        Stacks = "Kernel stacks",
    }
    /// Its name, as a sentence begins.
    words
}

/// One form of it, and how much.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unowned {
    /// Which.
    pub form: Form,
    /// How much. Gauge.
    pub bytes: Bytes,
    /// Of MemTotal, 0 to 1.
    pub share: f64,
}

const LINES: [(Form, Term); 7] = [
    (Form::Slab, Term::SlabUnreclaimable),
    (Form::Graphics, Term::GpuActive),
    (Form::Balloon, Term::Balloon),
    (Form::Vmalloc, Term::Vmalloc),
    (Form::GuestTables, Term::SecPageTables),
    (Form::Percpu, Term::Percpu),
    (Form::Stacks, Term::KernelStacks),
];

/// Terms without which the leftover still says something: newer than most kernels, or small.
const SMALL_TERMS: [&str; 6] = [
    "GPUActive",
    "GPUReclaim",
    "SecPageTables",
    "Percpu",
    "KReclaimable - SReclaimable",
    "nr_isolated_anon + nr_isolated_file",
];

/// The forms of which there is much, the largest first.
#[must_use]
pub fn large(snapshot: &Snapshot, ledger: &Ledger) -> Vec<Unowned> {
    let mut out: Vec<Unowned> = LINES
        .iter()
        .map(|(form, term)| (*form, ledger.bytes(*term)))
        .chain(uncounted(snapshot, ledger).map(|bytes| (Form::Uncounted, bytes)))
        .filter_map(|(form, bytes)| Some(Unowned { form, bytes, share: bytes.share_of(ledger.total)? }))
        .filter(|one| one.bytes.saturating_sub(FIXED).share_of(ledger.total).is_some_and(|share| share >= LARGE))
        .collect();
    ramline_units::sort_by_key(&mut out, |one| std::cmp::Reverse(one.bytes));
    out
}

/// What no counter has; `None` where a counter that may hold much was not seen, for then nothing is known of it.
fn uncounted(snapshot: &Snapshot, ledger: &Ledger) -> Option<Bytes> {
    let blind = |name: &String| match name.as_str() {
        // Up to an eighth of each zone: unseen, they are a part of the leftover that is free.
        "per-CPU free lists" => true,
        // Before 5.3 the line is there and no figure of RAM: what vmalloc holds is in no counter then, and no process has it either.
        "VmallocUsed" => snapshot.meminfo.data().is_none_or(|meminfo| meminfo.vmalloc_used.is_none()),
        "nr_zspages" => snapshot.zram.data().is_none_or(|zram| !zram.devices.is_empty()),
        name => !SMALL_TERMS.contains(&name),
    };
    (!ledger.missing_terms.iter().any(blind)).then(|| ledger.leftover.or_zero().saturating_sub(ledger.bound))
}

#[cfg(test)]
mod tests {
    use ramline_snapshot::Seen;
    use ramline_snapshot::machine::Machine;
    use ramline_snapshot::vmstat::Vmstat;
    use ramline_snapshot::zoneinfo::Zoneinfo;

    use super::*;

    /// 1000 MiB of process memory but for what is said of it, in a kernel that shows all that matters.
    fn forms(total_mib: u64, anon_mib: u64, more: &str, without: &str) -> Vec<(Form, u64)> {
        let text = format!(
            "MemTotal: {} kB\nMemFree: 0 kB\nActive(anon): {} kB\nInactive(anon): 0 kB\nActive(file): 0 kB\nInactive(file): 0 kB\nDirty: 0 kB\n\
             Writeback: 0 kB\nUnevictable: 0 kB\nShmem: 0 kB\nSReclaimable: 0 kB\nKernelStack: 0 kB\nPageTables: 0 kB\nHugetlb: 0 kB\n{more}",
            total_mib << 10,
            anon_mib << 10
        );
        let defaults =
            ["SUnreclaim: 0 kB\n", "VmallocUsed: 0 kB\n"].into_iter().filter(|line| !more.contains(&line[..6]));
        let text: String = format!("{text}{}", defaults.collect::<String>())
            .lines()
            .filter(|line| without.is_empty() || !line.starts_with(without))
            .fold(String::new(), |all, line| all + line + "\n");
        let mut seen = Snapshot::new(Machine::default());
        seen.meminfo = Seen::new(Meminfo::parse("m", &text).unwrap());
        seen.vmstat = Seen::new(Vmstat::parse("v", "nr_zspages 0\nnr_isolated_anon 0\nnr_isolated_file 0\n").unwrap());
        seen.zoneinfo = Seen::new(
            Zoneinfo::parse("z", "Node 0, zone Normal\n pages free 9\n managed 9\n cpu: 0\n count: 0\n").unwrap(),
        );
        let ledger = Ledger::from_snapshot(&seen).unwrap();
        large(&seen, &ledger).into_iter().map(|one| (one.form, one.bytes.0 >> 20)).collect()
    }

    #[test]
    fn a_tenth_of_ram_beyond_what_every_kernel_takes_is_large() {
        let slab = |mib: u64| forms(1000, 1000 - mib, &format!("SUnreclaim: {} kB\n", mib << 10), "");
        assert_eq!(slab(131), []);
        assert_eq!(slab(132), [(Form::Slab, 132)]);
        assert_eq!(forms(116, 116 - 26, "", ""), [], "22 % of a router");
        assert_eq!(forms(116, 116 - 77, "", ""), [(Form::Uncounted, 77)]);
        let two = format!("SUnreclaim: {} kB\nGPUActive: {} kB\n", 200 << 10, 300 << 10);
        assert_eq!(forms(1000, 500, &two, ""), [(Form::Graphics, 300), (Form::Slab, 200)]);
    }

    #[test]
    fn a_leftover_is_no_finding_where_a_counter_was_not_seen() {
        assert_eq!(forms(1000, 500, "", ""), [(Form::Uncounted, 500)]);
        for counter in ["Active(file)", "Hugetlb", "SReclaimable", "VmallocUsed"] {
            assert_eq!(forms(1000, 500, "", counter), [], "{counter}");
        }
        assert_eq!(forms(1000, 500, "", "Percpu"), [(Form::Uncounted, 500)]);
    }
}
