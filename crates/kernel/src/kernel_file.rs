//! The kernel's own files (/proc, sysfs, control groups), on this machine or in a captured tree: opened as what they are, read to a bound.
//!
//! ```
//! let text = ramline_kernel::kernel_file::read_text("/proc/loadavg".as_ref())?;
//! assert_eq!(text.split_whitespace().count(), 5);
//! # Ok::<(), ramline_kernel::KernelError>(())
//! ```

use std::io::{self, Read};

use rustix::fs::{CWD, Mode};

use crate::prelude::*;

/// No file of the kernel that is read whole is larger.
const LARGEST: u64 = 32 << 20;

/// A file of the kernel's, live or captured: regular there too, and never waited for.
///
/// # Errors
/// As open(2) says; `InvalidInput` for what is no regular file.
pub fn open(path: &Path) -> io::Result<File> {
    if !std::fs::metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    let how = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    Ok(File::from(openat(CWD, path, how, Mode::empty())?))
}

/// Its whole text; what is no UTF-8 is replaced.
///
/// # Errors
/// As [`open`].
pub fn read_text(path: &Path) -> Result<String> {
    Ok(String::from_utf8_lossy(&read_bytes(path)?).into_owned())
}

/// The same of what is no text.
///
/// # Errors
/// As [`open`].
pub fn read_bytes(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path).tried("read", path)?.take(LARGEST).read_to_end(&mut bytes).tried("read", path)?;
    Ok(bytes)
}

/// The one number in a small file.
///
/// # Errors
/// As [`read_text`]; when it is no number.
pub fn read_u64(path: &Path) -> Result<u64> {
    let text = read_text(path)?;
    text.trim().parse().map_err(|_| KernelError::malformed("read", path, &text))
}
