//! Why a file could not be locked, with the numbers.

use std::path::PathBuf;

use ramline_kernel::limits::Limited;
use ramline_kernel::{KernelError, Root, write};
use ramline_snapshot::cache::Pinned;
use ramline_units::Bytes;

/// ENOMEM and EAGAIN: a limit.
const LIMITS: [i32; 2] = [12, 11];

/// Up to what may be had without asking anybody.
pub fn raise_limit() {
    Limited::LockedMemory.raise();
}

/// In words; `locked` bytes in `files` mappings are locked already.
pub fn explain(root: &Root, error: &KernelError, length: u64, locked: u64, files: usize) -> String {
    if !error.is_denied() && !error.errno().is_some_and(|errno| LIMITS.contains(&errno)) {
        return format!("{}: {}", error.operation, error.cause);
    }
    if error.operation == "map" {
        let most =
            write::read_knob(&write::vm_setting(root, "max_map_count")).unwrap_or_else(|| "not known".to_owned());
        return format!(
            "no more mappings: {files} files are mapped, one mapping each, and vm.max_map_count is {most} (try: sysctl vm.max_map_count)"
        );
    }
    let limit = Limited::LockedMemory.now();
    let limit = limit.map_or_else(|| "unlimited".to_owned(), |limit| Bytes(limit).to_string());
    format!(
        "RLIMIT_MEMLOCK is {limit}, {} are locked already and this file needs {} (try: as root, ulimit -l, or LimitMEMLOCK= in a service)",
        Bytes(locked),
        Bytes(length)
    )
}

/// Nothing is locked.
pub fn nothing(names: &[PathBuf], state: &Pinned) -> KernelError {
    let object = names.first().map(|path| path.display().to_string()).unwrap_or_default();
    let rule = if state.left_out > 0 { "none of the files could be locked" } else { "there is no file with contents" };
    KernelError::refused("pin", object, rule, format!("{} left out", state.left_out))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Error;

    #[test]
    fn limits_are_told_with_their_numbers() {
        let root = Root::live();
        let of = |operation: &str, errno| {
            let error = KernelError::io(operation, "/x", Error::from_raw_os_error(errno));
            explain(&root, &error, 4096, 8192, 2)
        };
        assert!(of("lock", 12).contains("8.0 KiB are locked already and this file needs 4.0 KiB"));
        assert!(of("map", 12).contains("2 files are mapped"));
        assert!(of("lock", 5).starts_with("lock: "));
    }
}
