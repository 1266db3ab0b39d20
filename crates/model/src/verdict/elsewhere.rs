//! Waiting that is not for memory: for the processor or the disk.
//!
//! A remark and no alarm: a machine that is saturated by work works. What the kernel measures is the share of time in which some runnable task had
//! no processor, and in which no task did anything because all that were not idle waited for I/O. From one half on it is so more often than
//! not: whoever looks at a moment taken at random finds it.

use crate::pressure::{PressureModel, Psi};

/// More often than not, in percent of the time.
pub const OFTEN: f64 = 50.0;

/// `tasks wait for the processor 98 % of the time`, of the two the one with the larger share; `None` while neither is often.
pub(super) fn remark(pressure: &PressureModel) -> Option<String> {
    let processor = pressure.cpu.as_ref().and_then(Psi::some_now).map(|p| (p, "tasks wait for the processor"));
    let disk = pressure.io.as_ref().and_then(Psi::full_now).map(|p| (p, "all tasks wait for the disk"));
    let often = [processor, disk].into_iter().flatten().filter(|(percent, _)| *percent >= OFTEN);
    let (percent, what) = often.max_by(|a, b| a.0.total_cmp(&b.0))?;
    Some(format!("{what} {:.0} % of the time", percent.min(100.0)))
}
