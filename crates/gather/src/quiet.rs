//! Is the machine quiet enough for a timing? Load, idle CPU and pressure over a short look.
//!
//! The caller sets the threshold, [`Quiet::disturbance`] names what exceeds one.
//!
//! ```no_run
//! let root = ramline_kernel::Root::live();
//! let quiet = ramline_gather::quiet::look(&root, std::time::Duration::from_millis(200))?;
//! if let Some(why) = quiet.disturbance(0.25) {
//!     eprintln!("timings will be noisy: {why}");
//! }
//! # Ok::<(), ramline_kernel::KernelError>(())
//! ```

use ramline_kernel::{KernelError, Result};
use ramline_snapshot::Wanted;
use ramline_units::growth;

use crate::prelude::*;
use crate::sections::gather;

/// What was seen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Quiet {
    /// Load average over 1 minute, from /proc/loadavg.
    pub load1: f64,
    /// CPUs online.
    pub cpus: u32,
    /// Share of CPU time that was neither idle nor waiting for I/O, 0 to 1.
    pub cpu_busy: f64,
    /// Share taken by the hypervisor, 0 to 1; `None` where its counter went back.
    pub cpu_stolen: Option<f64>,
    /// Share of the look in which a task waited for memory (PSI some), in percent; `None` where PSI is off. The kernel's own average
    /// over 10 s would still include a run of ours that is over.
    pub psi_memory: Option<f64>,
    /// The same for I/O.
    pub psi_io: Option<f64>,
    /// How long it was looked.
    pub lasted: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Ticks {
    total: u64,
    idle: u64,
    stolen: u64,
    cpus: u32,
}

/// Looks for the given time.
///
/// # Errors
/// When /proc/stat or /proc/loadavg cannot be read.
pub fn look(root: &Root, time: Duration) -> Result<Quiet> {
    let (before, so_far, begin) = (ticks(root)?, waited(root), Instant::now());
    std::thread::sleep(time);
    let (after, then, span) = (ticks(root)?, waited(root), begin.elapsed());
    let pressure = |before: Option<u64>, after: Option<u64>| {
        let waited = Duration::from_micros(growth(before?, after?)?);
        Some(waited.as_secs_f64() / span.as_secs_f64().max(1e-6) * 100.0)
    };
    let path = root.path("/proc/loadavg");
    let text = read_text(&path)?;
    let load1 = text.split_whitespace().next().and_then(|word| word.parse().ok());
    let load1 = load1.ok_or_else(|| KernelError::malformed("read", &path, &text))?;
    let stolen = growth(before.stolen, after.stolen);
    // The time of waiting for I/O is an estimate that may fall (proc_stat(5)): then no time was idle, or none passed.
    let (total, idle) = (after.total.saturating_sub(before.total), after.idle.saturating_sub(before.idle));
    Ok(Quiet {
        load1,
        cpus: after.cpus,
        cpu_busy: share(total.saturating_sub(idle.saturating_add(stolen.unwrap_or(0))), total),
        cpu_stolen: stolen.map(|stolen| share(stolen, total)),
        psi_memory: pressure(so_far[0], then[0]),
        psi_io: pressure(so_far[1], then[1]),
        lasted: span,
    })
}

#[expect(clippy::cast_precision_loss, reason = "a few hundred ticks")]
fn share(part: u64, total: u64) -> f64 {
    if total == 0 { 0.0 } else { part as f64 / total as f64 }
}

fn ticks(root: &Root) -> Result<Ticks> {
    let path = root.path("/proc/stat");
    let text = read_text(&path)?;
    parse_ticks(&text).ok_or_else(|| KernelError::malformed("read", &path, text.lines().next().unwrap_or_default()))
}

fn parse_ticks(text: &str) -> Option<Ticks> {
    let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
    // user nice system idle iowait irq softirq steal; guest time is inside user.
    let fields: Vec<u64> = line.split_whitespace().take(8).map_while(|word| word.parse().ok()).collect();
    let cpus = text.lines().filter(|line| line.starts_with("cpu") && !line.starts_with("cpu ")).count();
    Some(Ticks {
        total: fields.iter().sum(),
        idle: fields.get(3)? + fields.get(4).unwrap_or(&0),
        stolen: fields.get(7).copied().unwrap_or_default(),
        cpus: u32::try_from(cpus).ok()?,
    })
}

/// Microseconds in which a task waited for memory and for I/O, since boot.
fn waited(root: &Root) -> [Option<u64>; 2] {
    let seen = gather(root, Wanted { pressure_memory: true, pressure_io: true, ..Wanted::NOTHING });
    [seen.pressure_memory, seen.pressure_io].map(|psi| Some(psi.data()?.some?.total_us))
}

/// The longest single wait allowed in a short look.
const ONE_WRITE: Duration = Duration::from_millis(20);

impl Quiet {
    /// What disturbs a timing, as one sentence with the number: CPU busier than `busy_limit` (0 to 1), more than 2 % stolen
    /// by the hypervisor, or waiting for more than 1 % of the look and more than one write of a journal takes. `None` when quiet.
    #[must_use]
    pub fn disturbance(&self, busy_limit: f64) -> Option<String> {
        if self.cpu_busy > busy_limit {
            return Some(format!("the CPUs are {:.0} % busy", self.cpu_busy * 100.0));
        }
        let Some(stolen) = self.cpu_stolen else {
            return Some("what the hypervisor takes of the CPU time is not known: its counter went back".into());
        };
        if stolen > 0.02 {
            return Some(format!("the hypervisor takes {:.0} % of the CPU time", stolen * 100.0));
        }
        let long = |share: &f64| *share > 1.0 && self.lasted.as_secs_f64() * share / 100.0 > ONE_WRITE.as_secs_f64();
        let pressure = |name: &str, value: Option<f64>| {
            value.filter(long).map(|value| format!("tasks wait for {name} {value:.0} % of the time"))
        };
        pressure("memory", self.psi_memory).or_else(|| pressure("I/O", self.psi_io))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn guest_time_is_not_counted_twice() {
        let ticks = parse_ticks("cpu  10 0 5 80 5 0 0 2 10 0\ncpu0 1 1 1 1\ncpu1 1 1 1 1\nintr 5\n").unwrap();
        assert_eq!(ticks, Ticks { total: 102, idle: 85, stolen: 2, cpus: 2 });
    }

    #[test]
    fn what_waited_before_the_look_is_not_held_against_the_machine() {
        let tree = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| {
            let path = tree.path().join("proc").join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        put("stat", "cpu  10 0 5 80 5 0 0 2 10 0\ncpu0 1 1 1 1\n");
        put("loadavg", "0.1 0 0 1/2 3\n");
        put("pressure/memory", "some avg10=30.00 avg60=9.00 avg300=2.00 total=7000000\n");
        let quiet = look(&Root::new(tree.path()), Duration::from_millis(1)).unwrap();
        assert_eq!((quiet.psi_memory, quiet.psi_io, quiet.disturbance(0.25)), (Some(0.0), None, None));
    }

    #[test]
    fn a_busy_machine_is_named_with_its_number() {
        let quiet = Quiet {
            load1: 0.1,
            cpus: 2,
            cpu_busy: 0.5,
            cpu_stolen: Some(0.0),
            psi_memory: None,
            psi_io: None,
            lasted: Duration::from_millis(200),
        };
        assert_eq!(quiet.disturbance(0.25).as_deref(), Some("the CPUs are 50 % busy"));
        assert_eq!(Quiet { cpu_busy: 0.1, ..quiet }.disturbance(0.25), None);
        let reset = Quiet { cpu_busy: 0.1, cpu_stolen: None, ..quiet }.disturbance(0.25);
        assert!(reset.is_some_and(|why| why.contains("went back")), "not known is not none");
        let waits = |percent| Quiet { cpu_busy: 0.1, psi_io: Some(percent), ..quiet }.disturbance(0.25);
        assert_eq!((waits(3.0), waits(30.0).as_deref()), (None, Some("tasks wait for I/O 30 % of the time")));
    }
}
