//! How much memory a running service needs, by changing its size for a while and putting it back.
//!
//! Upwards ([`up`]): its limit is raised while its cache fills; what it misses at each size on the way is the curve. Downwards ([`down`]): it is made
//! smaller by 1.5 % a second until it loses time, and larger again until a size is harmless. The limit that was there stands in the journal and with a process that outlives us, and is put back
//! whatever the end is. What it is not: an experiment of the lab, which has groups of its own.

mod climb;
mod down;
mod held;
mod meter;
mod subject;
mod swap_cost;
mod up;
mod verify;

pub use down::{GUARD, down};
pub use subject::Subject;
pub use up::up;
pub use verify::verify;

use ramline_act::RunLock;
use ramline_evidence::TrialSample;

use crate::prelude::*;

/// Where a trial happens.
#[derive(Debug)]
pub struct Trial<'a> {
    /// The live machine.
    pub root: &'a Root,
    /// One ramline at a time.
    pub lock: &'a RunLock,
    /// Not longer than this.
    pub most: Duration,
    /// Fault injection for tests: die after so many journal records.
    pub crash_after: Option<u64>,
}

/// Before a trial this long nothing is changed: what it misses anyway.
const BASELINE: Duration = Duration::from_secs(3);
/// Events are taken in so often, and looked at whether the group stands still.
const OFTEN: Duration = Duration::from_millis(50);

/// Lets time pass, with the meter's events taken in.
fn pass(meter: &mut meter::Meter<'_>, time: Duration) {
    let end = Instant::now() + time;
    while Instant::now() < end && !ramline_kernel::signals::interrupted() {
        std::thread::sleep(OFTEN.min(end.saturating_duration_since(Instant::now())));
        meter.drain();
    }
}

fn check_interrupted() -> Result<()> {
    if ramline_kernel::signals::interrupted() { Err(LabError::Interrupted) } else { Ok(()) }
}

/// Callback for each sample, with the limit or ceiling.
pub type OnSample<'a> = dyn FnMut(&TrialSample, Bytes) + 'a;
