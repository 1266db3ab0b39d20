//! Where scratch files may go: a directory on a disk that nobody else can write to, with twice the space free.

use ramline_kernel::place::{self, Place};

use super::check::Check;
use super::reason::{Caller, Lack, Reason, is_unprivileged};
use crate::prelude::*;

/// In this order, where none is named. An ordinary user has only the first: the others are root's.
const PLACES: [&str; 4] = ["/var/tmp", "/var/lib", "/home", "/root"];

impl Check<'_> {
    /// The place that is named, or the first that will do; `scratch` is written there at once, with `swap_file` also a swap file.
    pub fn place(&mut self, scratch: Bytes, dir: Option<&Path>, swap_file: bool) -> Option<Place> {
        let usual = if is_unprivileged() { &PLACES[..1] } else { &PLACES[..] };
        let dirs = dir.map_or_else(|| usual.iter().map(Path::new).collect(), |dir| vec![dir]);
        let mut why = Vec::new();
        for dir in dirs {
            match judge(self.caller, dir, scratch, swap_file) {
                Ok(place) => return Some(place),
                Err(more) => why.extend(more),
            }
        }
        self.extend(why);
        None
    }
}

fn judge(caller: Caller<'_>, dir: &Path, scratch: Bytes, swap_file: bool) -> Result<Place, Vec<Reason>> {
    const TRIED: &str = "place scratch files in";
    let elsewhere = |error: KernelError| Reason::because(&error, caller.hint(Lack::Place));
    let place = place::describe(dir).map_err(|error| vec![elsewhere(error)])?;
    // Root writes file systems and swap areas there: nobody else may put other files in their place.
    let refused = [place.refuse_unless_disk(TRIED), place::refuse_unless_private(TRIED, dir)];
    let mut reasons: Vec<Reason> = refused.into_iter().filter_map(|found| found.err().map(elsewhere)).collect();
    if let Err(error) = place.refuse_unless_writable(TRIED) {
        reasons.push(Reason::because(&error, caller.with("--dir \"$HOME\"")));
    }
    if swap_file && place.fs_type == "btrfs" {
        let text = format!("swap: {} is btrfs, where a swap file would be copied on write", dir.display());
        reasons.push(Reason::new(text, caller.hint(Lack::Swap)));
    }
    // Twice, so that the disk is never left full by us.
    let needed = Bytes(scratch.0.saturating_mul(2));
    if place.available < needed {
        let text = format!("disk: {needed} free needed in {}, {} available", dir.display(), place.available);
        reasons.push(Reason::new(text, caller.hint(Lack::Disk)));
    }
    if reasons.is_empty() { Ok(place) } else { Err(reasons) }
}

/// The line of a plan that says what is written where.
#[must_use]
pub fn scratch_line(what: &str, place: &Place) -> String {
    format!(
        "scratch{what} below {} ({} on {}), removed afterwards",
        place.dir.display(),
        place.fs_type,
        place.device.as_deref().unwrap_or("no disk named")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALLER: Caller<'_> =
        Caller { command: "ramline lab run eat-memory", smaller: "--limit 64MiB", without_swap: "--arms no-swap" };

    #[test]
    fn a_memory_file_system_is_refused_with_its_name_and_another_place() {
        let reasons = judge(CALLER, Path::new("/proc"), Bytes::from_mib(1), false).unwrap_err();
        assert!(reasons[0].text.contains("/proc is proc"), "{reasons:?}");
        assert_eq!(reasons[0].hint, "ramline lab run eat-memory --dir /var/tmp");
    }

    #[test]
    fn too_little_disk_is_refused_with_the_numbers_and_something_smaller() {
        let reasons = judge(CALLER, Path::new("."), Bytes(u64::MAX / 4), false).unwrap_err();
        let told = |why: &Reason| why.text.starts_with("disk: ") && why.text.contains("available");
        let disk = reasons.iter().find(|why| told(why)).unwrap();
        assert_eq!(disk.hint, "ramline lab run eat-memory --limit 64MiB");
    }
}
