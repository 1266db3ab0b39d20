//! Whether the machine does something else: then a timing says little, and no swap area is made while programs outside the lab wait for memory.

use ramline_gather::quiet::{self, Quiet};
use ramline_snapshot::{Snapshot, Window};

use super::check::Check;
use super::reason::Lack;
use crate::prelude::*;

/// A machine busier than this gives no timing worth having.
pub const BUSY_LIMIT: f64 = 0.5;
/// How long the machine is looked at.
pub const LOOK: Duration = Duration::from_millis(300);
/// The same before each run.
const SHORT_LOOK: Duration = Duration::from_millis(200);
/// PSI memory some, in per cent, above which reclaim counts as active.
const PRESSURE: f64 = 1.0;
/// So many seconds are watched for one without reclaim.
const CALM: u32 = 5;

impl Check<'_> {
    /// Refuses a busy machine unless that is allowed; returns what makes a timing doubtful.
    ///
    /// # Errors
    /// /proc cannot be read.
    pub fn busy(&mut self, allowed: bool) -> Result<Vec<String>> {
        let seen = quiet::look(self.root, LOOK)?;
        Ok(self.judge(&seen, allowed))
    }

    /// The same, and a machine that reclaims is refused: a swap area of ours would take part in what it does for real.
    ///
    /// # Errors
    /// /proc cannot be read.
    pub fn busy_or_reclaiming(&mut self, allowed: bool) -> Result<Vec<String>> {
        let before = reclaim(self.root);
        let seen = quiet::look(self.root, LOOK)?;
        let lasts = sign(recent(&before), &before, &reclaim(self.root)).and_then(|_| lasting(self.root));
        if let Some(what) = lasts {
            let text =
                format!("something outside the lab is short of memory ({what}), and would use a swap area made now");
            self.lacks(Lack::Swap, text);
        }
        Ok(self.judge(&seen, allowed))
    }

    fn judge(&mut self, seen: &Quiet, allowed: bool) -> Vec<String> {
        if seen.cpu_busy > BUSY_LIMIT && !allowed {
            let (busy, most) = (seen.cpu_busy * 100.0, BUSY_LIMIT * 100.0);
            let text = format!("the machine is busy: {busy:.0} % of the CPU time, at most {most:.0} % allowed");
            self.lacks(Lack::Quiet, text);
        }
        seen.disturbance(BUSY_LIMIT / 2.0).into_iter().collect()
    }
}

/// What the kernel has counted: the time in which a task waited for memory, and pages swapped out.
fn reclaim(root: &Root) -> Snapshot {
    gather(root, Wanted { vmstat: true, pressure_memory: true, ..Wanted::NOTHING })
}

/// PSI memory some of the last 10 s, in per cent.
fn recent(seen: &Snapshot) -> Option<f64> {
    Some(seen.pressure_memory.data()?.some.as_ref()?.avg10)
}

/// An average of 10 s still tells of what is over, a sandbox of ours included. So where there is a sign, the counters are
/// watched for a calm second; a machine without one is short of memory for good.
fn lasting(root: &Root) -> Option<String> {
    let mut found = None;
    for _ in 0..CALM {
        let before = reclaim(root);
        std::thread::sleep(Duration::from_secs(1));
        let after = reclaim(root);
        found = Some(sign(stalled(&before, &after), &before, &after)?);
    }
    found
}

/// The share of the time between two looks in which a task waited for memory, in per cent; `None` without PSI.
fn stalled(before: &Snapshot, after: &Snapshot) -> Option<f64> {
    let window = Window::new(before, after).ok()?;
    // Microseconds a second, of which 10,000 are one in a hundred.
    Some(window.per_second(|seen| Some(seen.pressure_memory.data()?.some.as_ref()?.total_us))? / 1e4)
}

/// What says that the machine reclaims: tasks that wait so many per cent of the time, or pages swapped out between two looks.
fn sign(waiting: Option<f64>, before: &Snapshot, after: &Snapshot) -> Option<String> {
    if let Some(percent) = waiting.filter(|percent| *percent > PRESSURE) {
        return Some(format!("tasks wait for memory {percent:.1} % of the time"));
    }
    let pages =
        Window::new(before, after).ok()?.delta(|seen| seen.vmstat.data()?.pswpout).filter(|pages| *pages > 0)?;
    Some(format!("{pages} pages are swapped out per second"))
}

/// Waits for a quiet moment, but no longer than `longest`; what disturbs after that is a note for the record.
///
/// # Errors
/// SIGINT or SIGTERM came, or /proc cannot be read.
pub fn settle(root: &Root, longest: Duration, run: &Run) -> Result<Option<String>> {
    let begin = Instant::now();
    loop {
        run.check_interrupted()?;
        let disturbed = quiet::look(root, SHORT_LOOK)?.disturbance(BUSY_LIMIT / 2.0);
        if disturbed.is_none() || begin.elapsed() > longest {
            return Ok(disturbed.map(|why| format!("the machine was not quiet before the run: {why}")));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_snapshot::Seen;
    use ramline_snapshot::machine::Machine;
    use ramline_snapshot::pressure::Pressure;
    use ramline_snapshot::vmstat::Vmstat;
    use ramline_units::Nanos;

    fn counted(stalled_us: Option<u64>, pswpout: u64, at_s: u64) -> Snapshot {
        let uptime = Some(Nanos(at_s * 1_000_000_000));
        let mut seen = Snapshot::new(Machine { boot_id: Some("x".into()), uptime, ..Machine::default() });
        seen.vmstat = Seen::new(Vmstat { pswpout: Some(pswpout), ..Vmstat::default() });
        if let Some(total) = stalled_us {
            let text = format!("some avg10=0.00 avg60=0.00 avg300=0.00 total={total}\n");
            seen.pressure_memory = Seen::new(Pressure::parse("memory", &text).unwrap());
        }
        seen
    }

    #[test]
    fn a_machine_that_reclaims_or_swaps_gets_no_swap_area_from_us() {
        let (calm, later, swapping) = (counted(None, 5, 1), counted(None, 5, 2), counted(None, 17, 2));
        assert_eq!((sign(None, &calm, &later), sign(Some(1.0), &calm, &later)), (None, None));
        assert!(sign(Some(1.5), &calm, &later).unwrap().contains("1.5 % of the time"));
        assert!(sign(Some(0.0), &calm, &swapping).unwrap().contains("12 pages are swapped out"));
        assert_eq!(sign(None, &swapping, &counted(None, 5, 3)), None, "a counter that went backwards says nothing");
    }

    #[test]
    fn pressure_is_what_was_waited_between_the_looks_and_not_before() {
        let before = counted(Some(9_000_000), 0, 10);
        assert_eq!(stalled(&before, &counted(Some(9_000_000), 0, 11)), Some(0.0));
        assert_eq!(stalled(&before, &counted(Some(9_500_000), 0, 12)), Some(25.0));
        assert_eq!(stalled(&before, &counted(None, 0, 12)), None);
    }
}
