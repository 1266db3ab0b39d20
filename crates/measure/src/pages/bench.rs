//! What the measurements on scratch devices share.

use std::fs::File;
use std::os::unix::fs::OpenOptionsExt;
use std::time::{Duration, Instant};

use ramline_kernel::zram::Device;
use ramline_kernel::{KernelError, Root};

use super::error::PagesError;
use super::sample::Sample;
use crate::tiers::timing::Clock;

/// What all devices share.
pub struct Bench<'a> {
    pub sample: &'a Sample,
    pub root: &'a Root,
    pub clock: Clock,
    pub slice: Duration,
    pub kernel: String,
    pub ends: Instant,
}

/// Past the page cache.
pub fn open(device: &Device) -> Result<File, PagesError> {
    let open = File::options().read(true).write(true).custom_flags(libc::O_DIRECT).open(device.node());
    Ok(open.map_err(|error| KernelError::io("open past the page cache", device.node(), error))?)
}
