//! What the kernel counts when memory or its place is too short: time in which all tasks waited, processes it killed, pages that come back,
//! writes that zram refused.

use std::path::Path;

use ramline_units::Bytes;

use crate::kernel_file::read_text;
use crate::{Root, zram};

/// `full ... total=N` of PSI: time in which all tasks waited for memory, in microseconds since boot; `None` without PSI.
#[must_use]
pub fn full_us(root: &Root) -> Option<u64> {
    memory_us(root, "full ")
}

/// `some ... total=N` of PSI: time in which a task waited for memory, in microseconds since boot; `None` without PSI.
#[must_use]
pub fn some_us(root: &Root) -> Option<u64> {
    memory_us(root, "some ")
}

fn memory_us(root: &Root, line: &str) -> Option<u64> {
    let text = read_text(&root.path("/proc/pressure/memory")).ok()?;
    text.lines().find(|found| found.starts_with(line))?.split("total=").nth(1)?.trim().parse().ok()
}

/// `some avg10` of PSI for `memory` or `io`: the share of the last ten seconds, in percent, in which a task waited; `None` without PSI.
#[must_use]
pub fn waiting_percent(root: &Root, resource: &str) -> Option<f64> {
    let text = read_text(&root.path("/proc/pressure").join(resource)).ok()?;
    let line = text.lines().find(|line| line.starts_with("some "))?;
    line.split_once("avg10=")?.1.split_whitespace().next()?.parse().ok()
}

/// `oom_kill` of vmstat: processes killed for memory since boot.
#[must_use]
pub fn kills(root: &Root) -> Option<u64> {
    let text = read_text(&root.path("/proc/vmstat")).ok()?;
    text.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok())
}

/// Pages of programs that were swapped out and are needed again (`workingset_refault_anon`), and of files (`workingset_refault_file`), since boot.
#[must_use]
pub fn refaults(root: &Root) -> Option<u64> {
    let text = read_text(&root.path("/proc/vmstat")).ok()?;
    let of = |name: &str| {
        text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' ')?.trim().parse::<u64>().ok())
    };
    of("workingset_refault_anon")?.checked_add(of("workingset_refault_file")?)
}

/// Pages that zram devices refused since they were made: a limit was reached, or no memory was found.
#[must_use]
pub fn refused_writes(root: &Root) -> u64 {
    let refused = |id| zram::Device::open(root, id).io_stat().ok().map(|io| io.failed_writes);
    zram::list(root).into_iter().filter_map(refused).sum()
}

/// The share of a mounted file system that is in use, or of its inodes where that is more; `None` where it tells neither.
#[must_use]
pub fn used_share(at: &Path) -> Option<f64> {
    let seen = rustix::fs::statvfs(at).ok()?;
    let share = |free: u64, of: u64| Bytes(of.saturating_sub(free)).share_of(Bytes(of));
    share(seen.f_bavail, seen.f_blocks).into_iter().chain(share(seen.f_ffree, seen.f_files)).reduce(f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waiting_is_the_average_of_ten_seconds_and_none_without_psi() {
        let dir = tempfile::tempdir().unwrap();
        let root = Root::new(dir.path());
        assert_eq!(waiting_percent(&root, "io"), None);
        std::fs::create_dir_all(dir.path().join("proc/pressure")).unwrap();
        std::fs::write(
            dir.path().join("proc/pressure/io"),
            "some avg10=12.50 avg60=1.00 avg300=0.00 total=5\nfull avg10=1.00 avg60=0.00 avg300=0.00 total=5\n",
        )
        .unwrap();
        assert_eq!(waiting_percent(&root, "io"), Some(12.5));
    }
}
