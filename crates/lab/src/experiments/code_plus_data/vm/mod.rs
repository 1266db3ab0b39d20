//! The virtual machine as a sandbox: a small guest with a kernel of one's choice, one boot per run.
//!
//! The kernel is any vmlinuz with its modules; the rest of the guest is this binary, as the first process of an initramfs
//! that is written here. In a guest the workload has a whole machine: kswapd, watermarks, one zone's lists, settings of its
//! own. What it is not: a clock. Without hardware help the processor is emulated, and then counts and verdicts are results,
//! seconds are not.
//!
//! ```text
//! ramline lab run code-plus-data --sandbox vm --kernel 6.12 --memory 256MiB --arms swap:60,no-swap --lru classic,mglru
//! ```

pub mod options;
pub mod plan;
pub mod series;

use crate::prelude::*;

/// Checks the values against the machine; nothing is touched.
///
/// # Errors
/// Every reason why it cannot begin, with the numbers and what would make it possible.
pub fn open(root: &Root, params: &Params) -> Result<PlannedSeries> {
    Ok(series::planned(plan::VmPlan::checked(root, params)?))
}
