//! The columns of sar(1) of two moments: what its reader knows by these names, computed as sysstat 12 does, with both meanings of "used".
//!
//! ```
//! use ramline_model::sar::percent;
//! assert_eq!(percent(Some(1), Some(4)), Some(25.0));
//! assert_eq!(percent(Some(1), Some(0)), None);
//! ```

use ramline_snapshot::Window;
use ramline_snapshot::vmstat::Vmstat;
use ramline_units::{Bytes, growth};

use crate::prelude::*;

/// One line of `sar -r`, in bytes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SarMemory {
    /// `kbmemfree`: MemFree.
    pub free: Option<Bytes>,
    /// `kbavail`: MemAvailable.
    pub available: Option<Bytes>,
    /// `kbmemused`: MemTotal less MemFree, Buffers, Cached and Slab (sysstat 12).
    pub used: Option<Bytes>,
    /// `%memused` of that.
    pub used_percent: Option<f64>,
    /// The older meaning of `kbmemused`: MemTotal less MemFree.
    pub not_free: Option<Bytes>,
    /// `%memused` of the older meaning.
    pub not_free_percent: Option<f64>,
    /// `kbbuffers`.
    pub buffers: Option<Bytes>,
    /// `kbcached`.
    pub cached: Option<Bytes>,
    /// `kbcommit`: Committed_AS.
    pub commit: Option<Bytes>,
    /// `%commit`: of RAM and swap together.
    pub commit_percent: Option<f64>,
    /// `kbactive`.
    pub active: Option<Bytes>,
    /// `kbinact`.
    pub inactive: Option<Bytes>,
    /// `kbdirty`.
    pub dirty: Option<Bytes>,
}

/// One line of `sar -S`, in bytes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SarSwap {
    /// `kbswpfree`.
    pub free: Option<Bytes>,
    /// `kbswpused`.
    pub used: Option<Bytes>,
    /// `%swpused`.
    pub used_percent: Option<f64>,
    /// `kbswpcad`: in swap and in RAM.
    pub cached: Option<Bytes>,
    /// `%swpcad`: of what is used.
    pub cached_percent: Option<f64>,
}

/// One line of `sar -B`, a second. `None` where a counter is not there or was reset.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SarPaging {
    /// `pgpgin/s`: KiB read from disks.
    pub read_kib: Option<f64>,
    /// `pgpgout/s`: KiB written to disks.
    pub written_kib: Option<f64>,
    /// `fault/s`.
    pub faults: Option<f64>,
    /// `majflt/s`.
    pub major_faults: Option<f64>,
    /// `pgfree/s`.
    pub freed: Option<f64>,
    /// `pgscank/s`: pages that kswapd looked at.
    pub scanned_kswapd: Option<f64>,
    /// `pgscand/s`: pages that allocations looked at themselves.
    pub scanned_direct: Option<f64>,
    /// `pgsteal/s`: pages reclaimed.
    pub reclaimed: Option<f64>,
    /// `%vmeff`: reclaimed of scanned; 0 where nothing was scanned.
    pub efficiency_percent: Option<f64>,
    /// Pages of files refaulted a second; sar has none.
    pub refaults_file: Option<f64>,
    /// Anonymous pages refaulted a second; sar has none.
    pub refaults_anon: Option<f64>,
}

/// One line of `sar -W`, pages a second.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SarSwapping {
    /// `pswpin/s`.
    pub read: Option<f64>,
    /// `pswpout/s`.
    pub written: Option<f64>,
}

/// One line of `sar -u`, percent of all processors.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct SarProcessors {
    /// `%user`, with that of guests.
    pub user: Option<f64>,
    /// `%nice`.
    pub nice: Option<f64>,
    /// `%system`, with interrupts.
    pub system: Option<f64>,
    /// `%iowait`.
    pub iowait: Option<f64>,
    /// `%steal`.
    pub steal: Option<f64>,
    /// `%idle`.
    pub idle: Option<f64>,
}

/// One part of another in percent.
#[expect(clippy::cast_precision_loss, reason = "two digits behind the point are shown")]
#[must_use]
pub fn percent(part: Option<u64>, whole: Option<u64>) -> Option<f64> {
    let (part, whole) = (part?, whole.filter(|whole| *whole > 0)?);
    Some(part as f64 * 100.0 / whole as f64)
}

/// A size in KiB, as sar has them.
#[must_use]
pub const fn kib(bytes: Bytes) -> u64 {
    bytes.0 / 1024
}

fn percent_of_bytes(part: Option<Bytes>, whole: Option<Bytes>) -> Option<f64> {
    percent(part.map(|part| part.0), whole.map(|whole| whole.0))
}

impl SarMemory {
    /// Of one moment.
    #[must_use]
    pub fn new(seen: &Snapshot) -> Option<SarMemory> {
        let m = seen.meminfo.data()?;
        let not_free = m.mem_total.zip(m.mem_free).and_then(|(total, free)| total.checked_sub(free));
        let less = |from: Option<Bytes>, what: Option<Bytes>| from?.checked_sub(what?);
        let used = less(less(less(not_free, m.buffers), m.cached), m.slab);
        let both = m.mem_total.zip(m.swap_total).and_then(|(ram, swap)| Some(Bytes(ram.0.checked_add(swap.0)?)));
        Some(SarMemory {
            free: m.mem_free,
            available: m.mem_available,
            used,
            used_percent: percent_of_bytes(used, m.mem_total),
            not_free,
            not_free_percent: percent_of_bytes(not_free, m.mem_total),
            buffers: m.buffers,
            cached: m.cached,
            commit: m.committed_as,
            commit_percent: percent_of_bytes(m.committed_as, both),
            active: m.active,
            inactive: m.inactive,
            dirty: m.dirty,
        })
    }
}

impl SarSwap {
    /// Of one moment.
    #[must_use]
    pub fn new(seen: &Snapshot) -> Option<SarSwap> {
        let m = seen.meminfo.data()?;
        let used = m.swap_used();
        Some(SarSwap {
            free: m.swap_free,
            used,
            used_percent: percent_of_bytes(used, m.swap_total),
            cached: m.swap_cached,
            cached_percent: percent_of_bytes(m.swap_cached, used),
        })
    }
}

impl SarPaging {
    /// Of the time between two moments.
    #[must_use]
    pub fn new(window: &Window<'_>) -> SarPaging {
        let rate = |counter: fn(&Vmstat) -> Option<u64>| window.per_second(|seen| counter(seen.vmstat.data()?));
        let (kswapd, direct) = (rate(|v| v.pgscan_kswapd), rate(|v| v.pgscan_direct));
        let reclaimed = rate(|v| Some(v.pgsteal_kswapd?.saturating_add(v.pgsteal_direct?)));
        let scanned = kswapd.zip(direct).map(|(kswapd, direct)| kswapd + direct);
        SarPaging {
            // The kernel counts sectors in KiB here (fs/proc, since 2.6).
            read_kib: rate(|v| v.pgpgin),
            written_kib: rate(|v| v.pgpgout),
            faults: rate(|v| v.pgfault),
            major_faults: rate(|v| v.pgmajfault),
            freed: rate(|v| v.pgfree),
            scanned_kswapd: kswapd,
            scanned_direct: direct,
            reclaimed,
            efficiency_percent: scanned
                .zip(reclaimed)
                .map(|(all, got)| if all > 0.0 { got * 100.0 / all } else { 0.0 }),
            refaults_file: rate(Vmstat::refault_file),
            refaults_anon: rate(|v| v.workingset_refault_anon),
        }
    }
}

impl SarSwapping {
    /// Of the time between two moments.
    #[must_use]
    pub fn new(window: &Window<'_>) -> SarSwapping {
        let rate = |counter: fn(&Vmstat) -> Option<u64>| window.per_second(|seen| counter(seen.vmstat.data()?));
        SarSwapping { read: rate(|v| v.pswpin), written: rate(|v| v.pswpout) }
    }
}

impl SarProcessors {
    /// Of two first lines of `/proc/stat`: user, nice, system, idle, iowait, irq, softirq, steal, in ticks.
    #[must_use]
    pub fn new(before: &[u64], after: &[u64]) -> Option<SarProcessors> {
        let more = |index: usize| growth(*before.get(index)?, *after.get(index)?);
        let all: Option<Vec<u64>> = (0..8).map(more).collect();
        let all = all?;
        let whole = Some(all.iter().sum());
        let share = |parts: &[usize]| percent(Some(parts.iter().filter_map(|part| all.get(*part)).sum()), whole);
        Some(SarProcessors {
            user: share(&[0]),
            nice: share(&[1]),
            system: share(&[2, 5, 6]),
            iowait: share(&[4]),
            steal: share(&[7]),
            idle: share(&[3]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_snapshot::Seen;
    use ramline_snapshot::machine::Machine;
    use ramline_snapshot::meminfo::Meminfo;
    use ramline_units::Nanos;

    fn seen(meminfo: &str, vmstat: &str, seconds: u64) -> Snapshot {
        let machine = Machine {
            boot_id: Some("b".to_owned()),
            uptime: Some(Nanos(seconds * 1_000_000_000)),
            ..Machine::default()
        };
        let mut seen = Snapshot::new(machine);
        seen.meminfo = Seen::new(Meminfo::parse("m", meminfo).unwrap());
        seen.vmstat = Seen::new(Vmstat::parse("v", vmstat).unwrap());
        seen
    }

    #[test]
    fn used_has_both_meanings_of_sar() {
        let text = "MemTotal: 1000 kB\nMemFree: 100 kB\nBuffers: 50 kB\nCached: 400 kB\nSlab: 150 kB\nSwapTotal: 1000 kB\nSwapFree: 750 kB\nSwapCached: 25 kB\nCommitted_AS: 500 kB\n";
        let seen = seen(text, "pgfault 1\n", 1);
        let memory = SarMemory::new(&seen).unwrap();
        assert_eq!((memory.used, memory.used_percent), (Some(Bytes::from_kib(300)), Some(30.0)));
        assert_eq!((memory.not_free, memory.not_free_percent), (Some(Bytes::from_kib(900)), Some(90.0)));
        assert_eq!(memory.commit_percent, Some(25.0));
        let swap = SarSwap::new(&seen).unwrap();
        assert_eq!((swap.used_percent, swap.cached_percent), (Some(25.0), Some(10.0)));
    }

    #[test]
    fn rates_are_those_of_the_window_and_what_no_counter_says_is_none() {
        let text = |scan: u64, steal: u64| {
            format!(
                "pgscan_kswapd {scan}\npgscan_direct 0\npgsteal_kswapd {steal}\npgsteal_direct 0\npgmajfault {scan}\n"
            )
        };
        let (before, after) = (seen("MemTotal: 1 kB\n", &text(0, 0), 10), seen("MemTotal: 1 kB\n", &text(100, 50), 20));
        let window = Window::new(&before, &after).unwrap();
        let paging = SarPaging::new(&window);
        assert_eq!((paging.scanned_kswapd, paging.reclaimed), (Some(10.0), Some(5.0)));
        assert_eq!((paging.efficiency_percent, paging.major_faults, paging.faults), (Some(50.0), Some(10.0), None));
    }

    #[test]
    fn processors_are_shares_of_all_their_time() {
        let share = SarProcessors::new(&[0; 8], &[10, 0, 15, 50, 20, 2, 3, 0]).unwrap();
        assert_eq!(
            (share.user, share.system, share.iowait, share.idle),
            (Some(10.0), Some(20.0), Some(20.0), Some(50.0))
        );
        assert_eq!(SarProcessors::new(&[9; 8], &[1; 8]), None, "a reset");
    }
}
