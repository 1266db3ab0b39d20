//! What this machine and this user can do, probed by means of its own: never by the function under test, whose error is a failure.
//!
//! A skip says why and how to force it; with `RAMLINE_FORCE=1` it is a failure. `make test` counts the lines that start with `SKIP:`
//! and prints them at the end.

use std::fs::{self, OpenOptions};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::Path;

/// linux/capability.h.
pub const CAP_DAC_READ_SEARCH: u32 = 2;
/// linux/capability.h.
pub const CAP_IPC_LOCK: u32 = 14;

/// Skips a test: prints why and returns true, or panics when skips are forced to run.
///
/// # Panics
/// When `RAMLINE_FORCE=1`.
#[must_use]
pub fn skip_if(condition: bool, test: &str, why: &str) -> bool {
    if condition {
        assert!(std::env::var("RAMLINE_FORCE").as_deref() != Ok("1"), "{test} must run here: {why}");
        println!("SKIP: {test}: {why} (force: RAMLINE_FORCE=1)");
    }
    condition
}

/// What is tested is asked once more, after an answer that was not as it should be: `make test` counts it and fails above a budget
/// (tests/harness says what is a repeat, and what is waiting).
pub fn repeated(test: &str, why: &str) {
    println!("REPEATED: {test}: {why}");
}

/// Skips a test for root only.
///
/// # Panics
/// When it is skipped and `RAMLINE_FORCE=1`.
#[must_use]
pub fn not_root(test: &str) -> bool {
    let root = fs::metadata("/proc/self").is_ok_and(|meta| meta.uid() == 0);
    skip_if(!root, test, "needs root")
}

/// Whether this process has a capability, by its number.
#[must_use]
pub fn has_capability(number: u32) -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    effective.and_then(|bits| u64::from_str_radix(bits.trim(), 16).ok()).is_some_and(|bits| bits >> number & 1 == 1)
}

/// Whether a file can be opened past the page cache (O_DIRECT) on its file system; an existing one, to read.
#[must_use]
pub fn opens_directly(path: &Path) -> bool {
    OpenOptions::new().read(true).custom_flags(libc::O_DIRECT).open(path).is_ok()
}
