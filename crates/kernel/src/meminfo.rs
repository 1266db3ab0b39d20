//! Single lines of /proc/meminfo, for those who look often. The whole of it is a section of the snapshot.

use ramline_units::Bytes;

use crate::Root;
use crate::error::{KernelError, Result};
use crate::kernel_file::read_text;

/// MemAvailable.
///
/// # Errors
/// When the file cannot be read or lacks the line.
pub fn available(root: &Root) -> Result<Bytes> {
    line(root, "MemAvailable")
}

/// One line by its name, without the colon.
///
/// # Errors
/// When the file cannot be read or lacks the line.
pub fn line(root: &Root, name: &str) -> Result<Bytes> {
    let path = root.path("/proc/meminfo");
    let text = read_text(&path)?;
    text.lines()
        .find_map(|line| line.strip_prefix(name)?.strip_prefix(':')?.split_whitespace().next()?.parse().ok())
        .map(Bytes::from_kib)
        .ok_or_else(|| {
            KernelError::malformed(format!("read {name} from"), &path, text.lines().next().unwrap_or_default())
        })
}
