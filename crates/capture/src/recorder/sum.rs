//! The readings of all processes in one epoch, added up.

use ramline_trace::touches::EpochState;

use crate::regions::News;
use crate::runs::RunsByRegion;
use crate::watched::Reading;

/// What the readings of one epoch gave.
#[derive(Debug, Default)]
pub(super) struct Sum {
    pub(super) touched: RunsByRegion,
    /// Pages of memory of one process each.
    pub(super) resident: u64,
    /// Pages of files and shared memory, which several may have.
    pub(super) files: RunsByRegion,
    pub(super) huge: u64,
    pub(super) state: EpochState,
    /// What is given back when the epoch is over.
    pub(super) late: Vec<News>,
    pub(super) lost: u64,
}

impl Sum {
    pub(super) fn add(&mut self, look: Reading) {
        self.touched.merge(look.touched);
        self.files.merge(look.files);
        self.resident += look.resident;
        self.huge += look.huge;
        self.state.cpu_ns += look.cpu.0;
        self.state.incomplete |= look.incomplete;
        self.state.reclaimed |= look.reclaimed;
        self.late.extend(look.late);
        self.lost += u64::from(look.lost);
    }
}
