//! A hot set that `cache restore` is given: the first byte says whether the rest is the file, the frame in it, or the lines in that.

use std::io::Write;
use std::os::fd::AsRawFd;
use std::path::PathBuf;

use ramline_pagecache::hotset;
use rustix::fs::{MemfdFlags, memfd_create};

const FIRST: &[u8] = b"ramline hot set 1\n";

fn file(data: &[u8]) -> Option<std::fs::File> {
    let (choice, rest) = data.split_first()?;
    let bytes = match choice % 3 {
        0 => rest.to_vec(),
        1 => [FIRST, rest].concat(),
        _ => [FIRST, &zstd::encode_all(rest, 1).ok()?].concat(),
    };
    let mut file = std::fs::File::from(memfd_create("hot-set", MemfdFlags::CLOEXEC).ok()?);
    file.write_all(&bytes).ok()?;
    Some(file)
}

/// One input.
pub fn once(data: &[u8]) {
    let Some(file) = file(data) else { return };
    let path = PathBuf::from(format!("/proc/self/fd/{}", file.as_raw_fd()));
    let Ok(reading) = hotset::read(&path) else { return };
    if reading.check().is_err() {
        return;
    }
    let (mut files, mut hot) = (0, 0);
    let pieces = reading.pieces().expect("checked, so it can be read");
    for piece in pieces {
        for entry in piece.expect("checked, so each piece can be read") {
            assert!(entry.path.is_absolute());
            files += 1;
            hot += entry.hot(reading.header.page);
        }
    }
    assert_eq!((files, hot), (reading.header.files, reading.header.hot));
}
