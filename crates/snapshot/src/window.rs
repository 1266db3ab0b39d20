//! Two snapshots of one boot: the only place that subtracts counters.

use ramline_units::{Nanos, growth};

use crate::Snapshot;

/// Two snapshots of one boot, in order.
#[derive(Debug, Clone, Copy)]
pub struct Window<'a> {
    /// The earlier one.
    pub before: &'a Snapshot,
    /// The later one.
    pub after: &'a Snapshot,
    /// Time between them.
    pub span: Nanos,
}

/// Why two snapshots make no window.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NotAWindow {
    /// The boot id differs or is unknown.
    #[error("the two snapshots are not of one boot, so no rate can be told; try: ramline show --for 2s")]
    OtherBoot,
    /// No time passed, or the clock is missing.
    #[error("no time passed between the two snapshots, so no rate can be told; try: ramline show --for 2s")]
    NoTime,
}

impl<'a> Window<'a> {
    /// Pairs two snapshots.
    ///
    /// # Errors
    /// They are not of one boot, or no time lies between them.
    pub fn new(before: &'a Snapshot, after: &'a Snapshot) -> Result<Self, NotAWindow> {
        let same = before.machine.boot_id.is_some() && before.machine.boot_id == after.machine.boot_id;
        if !same {
            return Err(NotAWindow::OtherBoot);
        }
        let times = before.machine.uptime.zip(after.machine.uptime);
        let span = times.and_then(|(a, b)| growth(a, b)).filter(|span| span.0 > 0).ok_or(NotAWindow::NoTime)?;
        Ok(Window { before, after, span })
    }

    /// How much a counter grew; `None` when it is missing on either side or went backwards (a reset).
    pub fn delta(&self, counter: impl Fn(&Snapshot) -> Option<u64>) -> Option<u64> {
        growth(counter(self.before)?, counter(self.after)?)
    }

    /// Growth of a counter per second.
    #[expect(clippy::cast_precision_loss, reason = "a rate does not need the last bits")]
    pub fn per_second(&self, counter: impl Fn(&Snapshot) -> Option<u64>) -> Option<f64> {
        Some(self.delta(counter)? as f64 / self.span.as_secs_f64())
    }

    /// Change of a gauge per second; negative when it shrinks.
    #[expect(clippy::cast_precision_loss, reason = "a rate does not need the last bits")]
    pub fn slope(&self, gauge: impl Fn(&Snapshot) -> Option<u64>) -> Option<f64> {
        Some((gauge(self.after)? as f64 - gauge(self.before)? as f64) / self.span.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::Machine;
    use crate::{Seen, vmstat::Vmstat};

    fn at(boot: &str, seconds: u64, swapped_in: u64) -> Snapshot {
        let machine =
            Machine { boot_id: Some(boot.into()), uptime: Some(Nanos(seconds * 1_000_000_000)), ..Machine::default() };
        let mut snapshot = Snapshot::new(machine);
        snapshot.vmstat = Seen::new(Vmstat { pswpin: Some(swapped_in), ..Vmstat::default() });
        snapshot
    }

    fn pswpin(s: &Snapshot) -> Option<u64> {
        s.vmstat.data()?.pswpin
    }

    #[test]
    fn a_rate_is_growth_over_time_and_a_reset_is_none() {
        let (a, b) = (at("x", 10, 100), at("x", 14, 300));
        assert_eq!(Window::new(&a, &b).unwrap().per_second(pswpin), Some(50.0));
        let reset = at("x", 14, 7);
        let window = Window::new(&a, &reset).unwrap();
        assert_eq!(window.delta(pswpin), None);
        assert_eq!(window.slope(pswpin), Some(-23.25));
    }

    #[test]
    fn another_boot_or_no_time_makes_no_window() {
        let a = at("x", 10, 1);
        assert_eq!(Window::new(&a, &at("y", 12, 1)).unwrap_err(), NotAWindow::OtherBoot);
        assert_eq!(Window::new(&a, &a).unwrap_err(), NotAWindow::NoTime);
    }
}
