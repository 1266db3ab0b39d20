//! The file of a hot set, as it is written, and as somebody may have changed it.

use std::ffi::OsStr;
use std::io::Write;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ramline_kernel::KernelError;
use ramline_kernel::output::Output;

use super::*;

fn set() -> (Header, Vec<Entry>) {
    let entry = |name: &[u8], parts| Entry {
        path: PathBuf::from(OsStr::from_bytes(name)),
        length: 6 * 4096,
        mtime_ns: -7,
        inode: 3,
        device: 9,
        parts,
    };
    let entries = vec![entry(b"/a b\n", None), entry(b"/c\xff", Some(numbers("[1,2,2,1]")))];
    (Header { page: 4096, files: 2, hot: 9 * 4096, boot: "b".to_owned(), ..Header::default() }, entries)
}

fn numbers(json: &str) -> Parts {
    serde_json::from_str(json).unwrap()
}

fn save(path: &Path, header: &Header, entries: &[Entry]) {
    write(Output::open(path, FORMAT, "").unwrap(), header, entries).unwrap();
}

fn all(path: &Path) -> Result<Vec<Entry>, KernelError> {
    let reading = read(path)?;
    reading.check()?;
    let mut entries = Vec::new();
    for piece in reading.pieces()? {
        entries.extend(piece?);
    }
    Ok(entries)
}

#[test]
fn what_is_written_is_read_again_and_nothing_stays_beside_it() {
    let dir = tempfile::tempdir().unwrap();
    let (path, (header, entries)) = (dir.path().join("hot"), set());
    save(&path, &header, &entries);
    assert_eq!(read(&path).unwrap().header, header);
    assert_eq!(all(&path).unwrap(), entries);
    assert_eq!(entries[1].ranges(4096), [(4096, 8192), (5 * 4096, 4096)]);
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_file_cut_anywhere_or_with_any_byte_changed_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let (path, (header, entries)) = (dir.path().join("hot"), set());
    save(&path, &header, &entries);
    let whole = std::fs::read(&path).unwrap();
    for cut in 0..whole.len() {
        std::fs::write(&path, &whole[..cut]).unwrap();
        let error = all(&path).unwrap_err();
        assert!(error.is_refused(), "{cut}: {error}");
    }
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x20;
        std::fs::write(&path, &bytes).unwrap();
        // A bit of the frame's own header may mean nothing; then all that is read must be as it was.
        if let Ok(read) = all(&path) {
            assert_eq!(read, entries, "byte {at}");
        }
    }
}

#[test]
fn another_version_and_what_is_no_hot_set_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("hot");
    for (text, want) in [
        ("ramline hot set 2\n", "version 2"),
        ("ramline hot set +1\n", "no hot set"),
        ("ramline hot set 01\n", "no hot set"),
        ("hello\n", "no hot set"),
        ("", "no hot set"),
    ] {
        std::fs::write(&path, text).unwrap();
        let error = read(&path).err().unwrap().to_string();
        assert!(error.contains(want), "{error}");
    }
    assert!(read(dir.path()).err().unwrap().is_refused());
}

#[test]
fn what_cannot_be_true_is_refused_before_anything_is_done() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("hot");
    let refused = |header: &Header, entries: &[Entry]| {
        save(&path, header, entries);
        all(&path).unwrap_err().to_string()
    };
    let (header, entries) = set();
    for bad in [
        Header { page: 2, ..header.clone() },
        Header { page: 1 << 40, ..header.clone() },
        Header { files: 15_000_000, ..header.clone() },
        Header { hot: u64::MAX, ..header.clone() },
    ] {
        let error = refused(&bad, &entries);
        assert!(error.contains("its header cannot be true"), "{error}");
    }
    let error = refused(&Header { files: 1, ..header.clone() }, &entries);
    assert!(error.contains("its counts are wrong"), "{error}");
    let long = PathBuf::from(format!("/{}", "x".repeat(4096)));
    for entry in [
        Entry { length: u64::MAX, ..entries[0].clone() },
        Entry { length: 100, ..entries[1].clone() },
        Entry { path: long, ..entries[0].clone() },
        Entry { path: "relative".into(), ..entries[0].clone() },
    ] {
        let hot = entry.pages(4096).saturating_mul(4096).min(1 << 52);
        let error = refused(&Header { files: 1, hot, ..header.clone() }, &[entry]);
        assert!(error.contains("makes no sense"), "{error}");
    }
}

#[test]
fn a_line_that_never_ends_is_refused_within_its_bound() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("hot");
    let mut bytes = format!("{MAGIC}{VERSION}\n").into_bytes();
    let header = serde_json::to_string(&Line::HotSet(set().0)).unwrap();
    let mut frame = zstd::Encoder::new(&mut bytes, 0).unwrap();
    writeln!(frame, "{header}").unwrap();
    for _ in 0..64 {
        frame.write_all(&[b' '; 1 << 20]).unwrap();
    }
    frame.finish().unwrap();
    std::fs::write(&path, bytes).unwrap();
    let error = all(&path).unwrap_err().to_string();
    assert!(error.contains("longer than any"), "{error}");
}

#[test]
fn parts_of_small_pages_are_counted_in_the_larger_ones_they_lie_in() {
    let ranges = vec![(4096, 4096), (12288, 4096), (131_072, 8192)];
    assert_eq!(in_pages(ranges.clone(), 4096, 65536, 135_000), [(0, 65536), (131_072, 3928)]);
    assert_eq!(in_pages(ranges.clone(), 65536, 4096, 1 << 20), ranges);
}
