//! Single lines of /proc/meminfo, for those who look often. The whole of it is a section of the snapshot.

use crate::prelude::*;

/// MemAvailable.
///
/// # Errors
/// When the file cannot be read or lacks the line.
pub fn available(root: &Root) -> Result<Bytes> {
    line(root, "MemAvailable")
}

/// The whole text.
///
/// # Errors
/// When the file cannot be read.
pub fn text(root: &Root) -> Result<String> {
    read_text(&root.path("/proc/meminfo"))
}

/// One line by its name, without the colon.
///
/// # Errors
/// When the file cannot be read or lacks the line.
pub fn line(root: &Root, name: &str) -> Result<Bytes> {
    let path = root.path("/proc/meminfo");
    let text = read_text(&path)?;
    let malformed =
        || KernelError::malformed(format!("read {name} from"), &path, text.lines().next().unwrap_or_default());
    in_text(&text, name).ok_or_else(malformed)
}

/// One line of its text.
#[must_use]
pub fn in_text(text: &str, name: &str) -> Option<Bytes> {
    let value = |line: &str| line.strip_prefix(name)?.strip_prefix(':')?.split_whitespace().next()?.parse().ok();
    text.lines().find_map(value).map(Bytes::from_kib)
}
