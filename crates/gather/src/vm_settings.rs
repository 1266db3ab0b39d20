//! Settings below `/proc/sys/vm` beyond those of a snapshot: which there are, and what one holds.

use ramline_kernel::{Root, input};

const DIR: &str = "/proc/sys/vm";
/// No setting has more than a page.
const LONGEST: u64 = 4 << 10;

/// The names of all settings, in order; none where they cannot be listed.
#[must_use]
pub fn vm_settings(root: &Root) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(root.path(DIR)) else { return Vec::new() };
    let mut names: Vec<String> = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}

/// The text of one; `None` where it cannot be read, as one that is an action and no setting.
#[must_use]
pub fn vm_setting(root: &Root, name: &str) -> Option<String> {
    input::read_text("read", &root.path(DIR).join(name), LONGEST).ok()
}
