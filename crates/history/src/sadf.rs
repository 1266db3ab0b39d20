//! What `sadf -j FILE -- -A` prints of sysstat's files, as the snapshots that a recorder would have taken then: memory, paging, swapping, stalls, processors.
//!
//! sar keeps rates and not counters: each counter here begins with 0 and grows by its rate. How much RAM there is it does not say either: it is the sum of what
//! sar splits it into whose percentage is the one beside it, since sysstat has changed what it calls used. What sar does not have is absent.
//!
//! Worked example: 500 KiB free, 300 used, 50 of buffers, 100 cached, 50 of slab, and "30.00 % used": RAM is 1,000 KiB.

use std::collections::BTreeMap;
use std::fmt::Write;

use ramline_snapshot::machine::Machine;
use ramline_snapshot::meminfo::Meminfo;
use ramline_snapshot::pressure::Pressure;
use ramline_snapshot::vmstat::Vmstat;
use ramline_snapshot::{Seen, Snapshot};
use ramline_units::{Nanos, PageSize};
use serde::Deserialize;

use crate::day::Day;
use crate::frame::Moment;

/// Why a document is not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {why}")]
pub struct NotTaken {
    /// The name of its file.
    pub path: String,
    /// Why.
    pub why: String,
}

/// One host of a document.
#[derive(Debug, Clone, Default)]
pub struct SadfHost {
    /// Its name.
    pub name: String,
    /// From one moment to the next, in milliseconds.
    pub interval_ms: u64,
    /// In order of time.
    pub moments: Vec<SadfMoment>,
}

/// What was known at a moment.
#[derive(Debug, Clone)]
pub struct SadfMoment {
    /// When.
    pub at: Moment,
    /// What it saw.
    pub snapshot: Snapshot,
    /// Ticks of the processors: user, nice, system, idle, iowait, irq, softirq, steal.
    pub processors: Vec<u64>,
}

#[derive(Deserialize)]
struct Document {
    sysstat: Sysstat,
}

#[derive(Deserialize)]
struct Sysstat {
    hosts: Vec<Host>,
}

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Host {
    nodename: String,
    #[serde(default)]
    release: String,
    #[serde(default)]
    machine: String,
    #[serde(default = "one")]
    number_of_cpus: u64,
    #[serde(default)]
    statistics: Vec<Statistics>,
    #[serde(default)]
    restarts: Vec<Restart>,
}

const fn one() -> u64 {
    1
}

/// Numbers by name; what is no number is left out.
type Numbers = BTreeMap<String, serde_json::Value>;

#[derive(Deserialize)]
#[serde(rename_all = "kebab-case")]
struct Statistics {
    timestamp: Timestamp,
    #[serde(default)]
    memory: Option<Numbers>,
    #[serde(default)]
    paging: Option<Numbers>,
    #[serde(default)]
    swap_pages: Option<Numbers>,
    #[serde(default)]
    cpu_load: Vec<Numbers>,
    #[serde(default)]
    psi: BTreeMap<String, Numbers>,
}

#[derive(Deserialize)]
struct Restart {
    boot: Timestamp,
}

#[derive(Deserialize)]
struct Timestamp {
    date: String,
    time: String,
    #[serde(default)]
    utc: u8,
    #[serde(default)]
    interval: u64,
}

impl Timestamp {
    fn ms(&self) -> Option<u64> {
        let day: Day = self.date.parse().ok()?;
        let mut parts = self.time.split(':').map(|part| part.parse::<u64>().ok());
        let [hours, minutes, seconds] = [parts.next()??, parts.next()??, parts.next()??];
        day.begins_ms()?.checked_add((hours * 3600 + minutes * 60 + seconds) * 1000)
    }
}

/// Names of sar's sizes, and the kernel's.
const SIZES: [(&str, &str); 14] = [
    ("memfree", "MemFree"),
    ("avail", "MemAvailable"),
    ("buffers", "Buffers"),
    ("cached", "Cached"),
    ("swpcad", "SwapCached"),
    ("active", "Active"),
    ("inactive", "Inactive"),
    ("dirty", "Dirty"),
    ("anonpg", "AnonPages"),
    ("slab", "Slab"),
    ("kstack", "KernelStack"),
    ("pgtbl", "PageTables"),
    ("commit", "Committed_AS"),
    ("swpfree", "SwapFree"),
];
/// What was reclaimed is one number there.
const RECLAIMED: &str = "pgsteal_kswapd";
/// Names of sar's rates, and the kernel's counters.
const RATES: [(&str, &str); 9] = [
    ("pgpgin", "pgpgin"),
    ("pgpgout", "pgpgout"),
    ("fault", "pgfault"),
    ("majflt", "pgmajfault"),
    ("pgfree", "pgfree"),
    ("pgscank", "pgscan_kswapd"),
    ("pgscand", "pgscan_direct"),
    ("pgsteal", RECLAIMED),
    ("pswpin", "pswpin"),
];
const SWAPPED_OUT: (&str, &str) = ("pswpout", "pswpout");
/// Shares of the processors' time, by their names with and without `ALL`, in the order of `/proc/stat`.
const PROCESSORS: [&[&str]; 8] = [
    &["usr", "user", "guest"],
    &["nice", "gnice"],
    &["sys", "system"],
    &["idle"],
    &["iowait"],
    &["irq"],
    &["soft"],
    &["steal"],
];

/// The host of some documents, each with the name of its file: those of several days are one series.
///
/// # Errors
/// One is none of `sadf -j`, has local times, or is of another host.
pub fn host<'a>(documents: impl Iterator<Item = (&'a str, &'a str)>) -> Result<Option<SadfHost>, NotTaken> {
    let mut all: Option<Host> = None;
    for (path, json) in documents {
        let none = |why: String| NotTaken { path: path.to_owned(), why };
        let document: Document =
            serde_json::from_str(json).map_err(|error| none(format!("not of sadf -j: {error}")))?;
        for host in document.sysstat.hosts {
            if host.statistics.iter().any(|one| one.timestamp.utc != 1) {
                return Err(none("its times are not UTC: sadf -j without -T and -t".to_owned()));
            }
            match &mut all {
                None => all = Some(host),
                Some(first) if first.nodename == host.nodename => {
                    first.statistics.extend(host.statistics);
                    first.restarts.extend(host.restarts);
                }
                Some(first) => return Err(none(format!("of {}, not of {}", host.nodename, first.nodename))),
            }
        }
    }
    Ok(all.map(Host::moments).filter(|host| !host.moments.is_empty()))
}

impl Host {
    fn moments(mut self) -> SadfHost {
        // What has no time is no moment.
        self.statistics.retain(|one| one.timestamp.ms().is_some());
        ramline_units::sort_by_key(&mut self.statistics, |one| one.timestamp.ms());
        self.statistics.dedup_by_key(|one| one.timestamp.ms());
        let boots: Vec<u64> = self.restarts.iter().filter_map(|restart| restart.boot.ms()).collect();
        let mut out = SadfHost { name: self.nodename.clone(), ..SadfHost::default() };
        let (mut counters, mut ticks) = (Counters::default(), [0.0_f64; 8]);
        let (mut boot, mut since) = (0, None);
        for (index, statistics) in self.statistics.iter().enumerate() {
            let stamp = &statistics.timestamp;
            let wall_ms = stamp.ms().unwrap_or_default();
            let begun = boots.iter().filter(|at| **at <= wall_ms).count();
            if begun != boot {
                (counters, ticks, boot, since) = (Counters::default(), [0.0; 8], begun, None);
                counters.begin(statistics);
            }
            let interval = stamp.interval;
            let since = *since.get_or_insert(wall_ms.saturating_sub(interval * 1000));
            let at = |wall_ms: u64| Moment { wall_ms, boot_ms: wall_ms.saturating_sub(since) };
            if index == 0 {
                // Where its first rates begin.
                counters.begin(statistics);
                out.interval_ms = interval * 1000;
                out.moments.push(self.moment(at(since), boot, &counters, &ticks, None));
            }
            counters.add(statistics, interval);
            let all = statistics.cpu_load.iter().find(|one| one.get("cpu").is_some_and(|cpu| cpu == "all"));
            for (ticks, names) in ticks.iter_mut().zip(PROCESSORS) {
                let share: f64 = all.iter().flat_map(|all| names.iter().filter_map(|name| number(all, name))).sum();
                *ticks += share * to_f64(interval * self.number_of_cpus);
            }
            out.moments.push(self.moment(at(wall_ms), boot, &counters, &ticks, statistics.memory.as_ref()));
        }
        out
    }

    fn moment(
        &self,
        at: Moment,
        boot: usize,
        counters: &Counters,
        ticks: &[f64; 8],
        memory: Option<&Numbers>,
    ) -> SadfMoment {
        let machine = Machine {
            kernel: self.release.clone(),
            host: Some(self.nodename.clone()),
            arch: self.machine.clone(),
            page_size: PageSize(4096),
            ticks_per_s: 100,
            cpus: self.number_of_cpus,
            boot_id: Some(format!("sadf-{}-{boot}", self.nodename)),
            uptime: Some(Nanos(at.boot_ms.saturating_mul(1_000_000))),
            taken_unix_ns: Some(at.wall_ms.saturating_mul(1_000_000)),
            ..Machine::default()
        };
        let mut snapshot = Snapshot::new(machine);
        if let Some(Ok(meminfo)) = memory.map(|memory| Meminfo::parse("sadf", &meminfo(memory))) {
            snapshot.meminfo = Seen::new(meminfo);
        }
        if let Ok(vmstat) = Vmstat::parse("sadf", &counters.vmstat()) {
            snapshot.vmstat = Seen::new(vmstat);
        }
        for (name, section) in [
            ("mem", &mut snapshot.pressure_memory),
            ("io", &mut snapshot.pressure_io),
            ("cpu", &mut snapshot.pressure_cpu),
        ] {
            if let Some(Ok(pressure)) = counters.pressure(name).map(|text| Pressure::parse("sadf", &text)) {
                *section = Seen::new(pressure);
            }
        }
        SadfMoment { at, snapshot, processors: ticks.iter().map(|ticks| whole(*ticks)).collect() }
    }
}

/// What has come together since the boot.
#[derive(Debug, Clone, Default)]
struct Counters {
    /// By the kernel's name.
    counts: BTreeMap<&'static str, f64>,
    /// By resource and `some` or `full`: averages of 10, 60 and 300 s, and microseconds.
    stalls: BTreeMap<(String, &'static str), [f64; 4]>,
}

impl Counters {
    /// Those that are counted begin with 0.
    fn begin(&mut self, statistics: &Statistics) {
        let tables = [statistics.paging.as_ref(), statistics.swap_pages.as_ref()];
        let counted = |name: &str| tables.iter().flatten().any(|table| number(table, name).is_some());
        let names = RATES.into_iter().chain([SWAPPED_OUT]).filter(|(theirs, _)| counted(theirs));
        self.counts.extend(names.map(|(_, ours)| (ours, 0.0)));
        if self.counts.contains_key(RECLAIMED) {
            self.counts.insert("pgsteal_direct", 0.0);
        }
    }

    fn add(&mut self, statistics: &Statistics, interval: u64) {
        let seconds = to_f64(interval);
        let tables = [statistics.paging.as_ref(), statistics.swap_pages.as_ref()];
        for table in tables.into_iter().flatten() {
            for (theirs, ours) in RATES.into_iter().chain([SWAPPED_OUT]) {
                if let Some(rate) = number(table, theirs) {
                    *self.counts.entry(ours).or_default() += rate * seconds;
                }
            }
        }
        for (name, table) in &statistics.psi {
            let Some(resource) = name.strip_prefix("psi-") else { continue };
            for kind in ["some", "full"] {
                let of = |what: &str| number(table, &format!("{kind}_{what}"));
                let Some(percent) = of("avg") else { continue };
                let held = self.stalls.entry((resource.to_owned(), kind)).or_default();
                let total = held[3] + percent / 100.0 * seconds * 1e6;
                *held = [of("avg10").unwrap_or(0.0), of("avg60").unwrap_or(0.0), of("avg300").unwrap_or(0.0), total];
            }
        }
    }

    fn vmstat(&self) -> String {
        self.counts.iter().fold(String::new(), |mut out, (name, count)| {
            writeln!(out, "{name} {}", whole(*count)).ok();
            out
        })
    }

    fn pressure(&self, resource: &str) -> Option<String> {
        let mut out = String::new();
        for ((of, kind), [ten, sixty, more, total]) in &self.stalls {
            if of == resource {
                writeln!(out, "{kind} avg10={ten:.2} avg60={sixty:.2} avg300={more:.2} total={}", whole(*total)).ok();
            }
        }
        (!out.is_empty()).then_some(out)
    }
}

/// As `/proc/meminfo` has it.
fn meminfo(memory: &Numbers) -> String {
    let size = |name: &str| number(memory, name).map(whole);
    let mut out = String::new();
    let mut line = |name: &str, kib: u64| writeln!(out, "{name}: {kib} kB").ok();
    if let Some(total) = total(memory) {
        line("MemTotal", total);
    }
    for (theirs, ours) in SIZES {
        if let Some(kib) = size(theirs) {
            line(ours, kib);
        }
    }
    if let (Some(free), Some(used)) = (size("swpfree"), size("swpused")) {
        line("SwapTotal", free + used);
    }
    out
}

/// RAM in KiB: of the sums that a version of sysstat could mean, the only one of which the part in use is what it says.
fn total(memory: &Numbers) -> Option<u64> {
    let size = |name: &str| number(memory, name);
    let (used, free, percent) = (size("memused")?, size("memfree")?, size("memused-percent")?);
    let others: Option<f64> = ["buffers", "cached", "slab"].iter().map(|name| size(name)).sum();
    let sums = [Some(used + free), others.map(|others| used + free + others)];
    let fits = |sum: &f64| *sum > 0.0 && (100.0 * used / sum - percent).abs() <= 0.005_1;
    let mut fitting = sums.into_iter().flatten().filter(fits);
    let first = fitting.next()?;
    fitting.next().is_none().then(|| whole(first))
}

fn number(table: &Numbers, name: &str) -> Option<f64> {
    table.get(name)?.as_f64().filter(|number| number.is_finite() && *number >= 0.0)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "never negative; saturates")]
fn whole(number: f64) -> u64 {
    number.round() as u64
}

#[expect(clippy::cast_precision_loss, reason = "seconds and processors")]
fn to_f64(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests;
