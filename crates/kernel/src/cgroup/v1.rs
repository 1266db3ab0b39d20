//! Version 1: memory.limit_in_bytes, and memory.memsw.limit_in_bytes which limits memory and swap together.

use super::path::ancestors;
use crate::prelude::*;

const LIMIT: &str = "memory.limit_in_bytes";
const MEMSW: &str = "memory.memsw.limit_in_bytes";
/// PAGE_COUNTER_MAX times the page size is just below 2^63; no real limit is an exbibyte.
pub(super) const UNLIMITED_FROM: u64 = 1 << 60;

/// The top, when nothing on the way up is limited (then nothing is evaded); else our own group, so that the limit on us
/// holds for our sandbox too.
pub fn parent(mount: &Path, own: &Path) -> PathBuf {
    let limited =
        ancestors(mount, own).any(|dir| [LIMIT, MEMSW].iter().any(|file| limit(&dir.join(file)) != Limit::Max));
    if limited { own.to_owned() } else { mount.to_owned() }
}

/// An absent file limits nothing.
fn limit(path: &Path) -> Limit {
    match read_u64(path) {
        Ok(value) if value < UNLIMITED_FROM => Limit::At(Bytes(value)),
        _ => Limit::Max,
    }
}

fn text(limit: Limit) -> String {
    limit.bytes().map_or_else(|| "-1".to_owned(), |bytes| bytes.0.to_string())
}

/// The kernel keeps limit <= memsw at every moment: when raising, memsw goes first.
pub fn set_memory_limit(dir: &Path, new: Limit) -> Result<Vec<Change>> {
    let (limit_file, memsw_file) = (dir.join(LIMIT), dir.join(MEMSW));
    let (old, old_memsw) = (limit(&limit_file), limit(&memsw_file));
    let new_memsw = match (old, old_memsw, new) {
        // No memsw limit, or no file for one: it stays out of the way.
        (_, Limit::Max, _) => return Ok(vec![write_knob(&limit_file, &text(new))?]),
        (Limit::At(old), Limit::At(memsw), Limit::At(new)) => Limit::At(new + memsw.saturating_sub(old)),
        (Limit::Max, Limit::At(memsw), Limit::At(new)) => Limit::At(memsw.max(new)),
        (_, Limit::At(_), Limit::Max) => Limit::Max,
    };
    let value = |limit: Limit| limit.bytes().unwrap_or(Bytes(u64::MAX));
    let write = || write_knob(&limit_file, &text(new));
    let write_memsw = || write_knob(&memsw_file, &text(new_memsw));
    if value(new_memsw) > value(old_memsw) {
        Ok(vec![write_memsw()?, write()?])
    } else {
        Ok(vec![write()?, write_memsw()?])
    }
}

/// memsw = limit + swap.
pub fn set_swap_limit(dir: &Path, swap: Limit) -> Result<Vec<Change>> {
    let (limit_file, memsw_file) = (dir.join(LIMIT), dir.join(MEMSW));
    if !memsw_file.exists() {
        let feature = "this kernel does not account swap (swapaccount=0)";
        return Err(KernelError::unsupported("limit swap at", &memsw_file, feature));
    }
    let new_memsw = match (limit(&limit_file), swap) {
        (_, Limit::Max) => Limit::Max,
        (Limit::At(memory), Limit::At(swap)) => Limit::At(memory + swap),
        (Limit::Max, Limit::At(_)) => {
            let rule = "cgroup v1 limits memory and swap together: set the memory limit first";
            return Err(KernelError::refused("limit swap at", &memsw_file, rule, ""));
        }
    };
    Ok(vec![write_knob(&memsw_file, &text(new_memsw))?])
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: &str = "9223372036854771712\n";

    fn group(limit: &str, memsw: Option<&str>) -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(LIMIT), limit).unwrap();
        if let Some(memsw) = memsw {
            std::fs::write(dir.path().join(MEMSW), memsw).unwrap();
        }
        dir
    }

    fn writes(changes: Vec<Change>) -> Vec<(String, String)> {
        let name = |change: &Change| change.path.file_name().unwrap().to_str().unwrap().to_owned();
        changes.iter().map(|change| (name(change), change.after.clone().unwrap())).collect()
    }

    fn pair(file: &str, value: u64) -> (String, String) {
        (file.to_owned(), value.to_string())
    }

    #[test]
    fn lowering_writes_the_limit_before_memsw_and_raising_the_other_way_round() {
        let dir = group("100000\n", Some("150000\n"));
        let lower = set_memory_limit(dir.path(), Limit::At(Bytes(40000))).unwrap();
        assert_eq!(writes(lower), [pair(LIMIT, 40000), pair(MEMSW, 90000)]);
        let higher = set_memory_limit(dir.path(), Limit::At(Bytes(200_000))).unwrap();
        assert_eq!(writes(higher), [pair(MEMSW, 250_000), pair(LIMIT, 200_000)]);
    }

    #[test]
    fn a_swap_limit_of_zero_makes_memsw_equal_to_the_limit() {
        let dir = group("100000\n", Some(MAX));
        assert_eq!(writes(set_swap_limit(dir.path(), Limit::At(Bytes::ZERO)).unwrap()), [pair(MEMSW, 100_000)]);
    }

    #[test]
    fn without_swap_accounting_a_swap_limit_is_not_supported() {
        let dir = group("100000\n", None);
        assert!(set_swap_limit(dir.path(), Limit::At(Bytes::ZERO)).unwrap_err().is_unsupported());
        assert_eq!(writes(set_memory_limit(dir.path(), Limit::At(Bytes(5))).unwrap()), [pair(LIMIT, 5)]);
    }

    #[test]
    fn a_new_group_does_not_escape_a_limit_on_us() {
        let top = group(MAX, None);
        let own = top.path().join("own");
        std::fs::create_dir(&own).unwrap();
        std::fs::write(own.join(LIMIT), MAX).unwrap();
        assert_eq!(parent(top.path(), &own), top.path());
        std::fs::write(own.join(LIMIT), "1073741824\n").unwrap();
        assert_eq!(parent(top.path(), &own), own);
    }
}
