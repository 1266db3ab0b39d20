//! What of the kernel's log outlived a panic or a reset: pstore, and where systemd-pstore moves it at boot.
//!
//! A record is a file `dmesg-BACKEND-ID`: a line `Panic#2 Part1`, then lines of the log. A backend with small records (EFI variables) has many parts of one
//! panic, of which the first is the newest (`pstore_dump`, fs/pstore/platform.c). systemd-pstore moves them into a folder named by the time or number of the
//! record, and may write `dmesg.txt` beside them, which has all of them once more.

use std::time::SystemTime;

use crate::prelude::*;
use crate::{input, kernel_file};

/// Where they are, and how many folders below.
const PLACES: [(&str, usize); 2] = [("/sys/fs/pstore", 0), ("/var/lib/systemd/pstore", 2)];
/// The parts of one dump are written within so long; each backend gives the time of the dump or of its writing.
const ONE_DUMP: Duration = Duration::from_secs(60);
/// Folders named by such numbers are named by seconds since 1970: the year 2001 to that of 2100.
const TIMES: std::ops::Range<u64> = 1_000_000_000..4_102_444_800;
/// No backend keeps more of a log.
const LARGEST: u64 = 32 << 20;

struct Record {
    written: SystemTime,
    /// Of the boot's dumps the how manyth: an oops and the panic after it are two.
    dump: u32,
    part: u32,
    text: Vec<u8>,
}

/// Gives the newest log that was kept, in order, and says when it was written; `None` where there is none. Records that were compressed in a way that the
/// kernel could not undo (`.enc.z`) are passed over.
///
/// # Errors
/// There are records, and none can be read: pstore is for root alone.
pub fn kept(root: &Root, mut each: impl FnMut(&[u8])) -> Result<Option<SystemTime>> {
    let (mut records, mut refused) = (Vec::new(), None);
    for (place, depth) in PLACES {
        for path in files(&root.path(place), depth) {
            match record(&path) {
                Ok(record) => records.push(record),
                Err(error) => refused = Some(error),
            }
        }
    }
    let Some(newest) = records.iter().map(|record| record.written).max() else {
        return refused.map_or(Ok(None), Err);
    };
    records.retain(|record| newest.duration_since(record.written).is_ok_and(|before| before <= ONE_DUMP));
    // A later dump has the end of the log in it too.
    let last = records.iter().map(|record| record.dump).max().unwrap_or_default();
    records.retain(|record| record.dump == last);
    records.sort_unstable_by_key(|record| std::cmp::Reverse(record.part));
    records.iter().for_each(|record| each(&record.text));
    Ok(Some(newest))
}

fn files(dir: &Path, depth: usize) -> Vec<PathBuf> {
    let (mut out, mut joined) = (Vec::new(), None);
    for path in std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path()) {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        if depth > 0 && input::Looked::at(&path, false).is_ok_and(|looked| looked.is_dir()) {
            out.extend(files(&path, depth - 1));
        } else if name == "dmesg.txt" {
            joined = Some(path);
        } else if name.starts_with("dmesg-") && !name.ends_with(".enc.z") {
            out.push(path);
        }
    }
    // What has them all once more counts where they are gone.
    let has_parts = out.iter().any(|path| path.parent() == Some(dir));
    out.extend(joined.filter(|_| !has_parts));
    out
}

/// The time that the folder of a moved record is named by.
fn named_time(path: &Path) -> Option<SystemTime> {
    let names = path.ancestors().skip(1).filter_map(|folder| folder.file_name()?.to_str());
    let seconds = names.filter_map(|name| name.parse().ok()).find(|seconds| TIMES.contains(seconds))?;
    Some(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
}

fn record(path: &Path) -> Result<Record> {
    let tried = "read what was kept of the kernel's log";
    let file = kernel_file::open(path).tried(tried, path)?;
    let written = file.metadata().and_then(|about| about.modified()).tried(tried, path)?;
    let written = named_time(path).unwrap_or(written);
    let mut text = Vec::new();
    std::io::Read::read_to_end(&mut std::io::Read::take(file, LARGEST), &mut text).tried(tried, path)?;
    // `Panic#2 Part1`: of a joined text the part is of no use, and its parts are in order.
    let head = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let head = std::str::from_utf8(head).ok().and_then(|head| head.rsplit_once(" Part"));
    let dump = head.and_then(|(dump, _)| dump.rsplit_once('#')?.1.parse().ok());
    let part = head.and_then(|(_, part)| part.trim().parse().ok());
    if !text.ends_with(b"\n") {
        text.push(b'\n');
    }
    Ok(Record { written, dump: dump.unwrap_or(0), part: part.unwrap_or(0), text })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept_in(dir: &Path) -> Option<String> {
        let mut text = Vec::new();
        kept(&Root::new(dir), |piece| text.extend_from_slice(piece)).unwrap()?;
        Some(String::from_utf8(text).unwrap())
    }

    #[test]
    fn the_parts_of_a_panic_are_read_from_the_oldest_line_to_the_newest() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(kept_in(dir.path()), None);
        let place = dir.path().join("sys/fs/pstore");
        std::fs::create_dir_all(&place).unwrap();
        std::fs::write(place.join("dmesg-efi-170101"), "Panic#1 Part1\n<0>[ 9.0] last\n").unwrap();
        std::fs::write(place.join("dmesg-efi-170102"), "Panic#1 Part2\n<4>[ 8.0] first").unwrap();
        std::fs::write(place.join("dmesg-efi-170103.enc.z"), "x").unwrap();
        assert_eq!(
            kept_in(dir.path()).as_deref(),
            Some("Panic#1 Part2\n<4>[ 8.0] first\nPanic#1 Part1\n<0>[ 9.0] last\n")
        );
    }

    #[test]
    fn what_systemd_has_moved_is_found() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("var/lib/systemd/pstore/1764463560/001");
        std::fs::create_dir_all(&place).unwrap();
        std::fs::write(place.join("dmesg.txt"), "Oops#1 Part1\n<4>[ 1.0] x\n").unwrap();
        assert!(kept_in(dir.path()).unwrap().contains("[ 1.0] x"));
        assert_eq!(
            named_time(&place.join("dmesg.txt")).unwrap(),
            SystemTime::UNIX_EPOCH + Duration::from_secs(1_764_463_560)
        );
        // The parts are there too: once is enough.
        std::fs::write(place.join("dmesg-efi-1764463560011001"), "Oops#1 Part1\n<4>[ 1.0] x\n").unwrap();
        assert_eq!(kept_in(dir.path()).unwrap().matches("[ 1.0] x").count(), 1);
    }

    #[test]
    fn of_an_oops_and_the_panic_after_it_the_panic_is_read() {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("sys/fs/pstore");
        std::fs::create_dir_all(&place).unwrap();
        for (number, dump) in [(1, "Oops#1"), (2, "Panic#2")] {
            for part in [1, 2] {
                let text = format!("{dump} Part{part}\n<4>[ {number}.{part}] line\n");
                std::fs::write(place.join(format!("dmesg-efi-17000{number}{part}")), text).unwrap();
            }
        }
        assert_eq!(
            kept_in(dir.path()).as_deref(),
            Some("Panic#2 Part2\n<4>[ 2.2] line\nPanic#2 Part1\n<4>[ 2.1] line\n")
        );
    }
}
