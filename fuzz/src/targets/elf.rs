//! The build id of a file that a process maps: root reads it of anybody's files.

use std::io::Write;

use rustix::fs::{MemfdFlags, memfd_create};

/// One input.
pub fn once(data: &[u8]) {
    let Ok(fd) = memfd_create("elf", MemfdFlags::CLOEXEC) else { return };
    let mut file = std::fs::File::from(fd);
    if file.write_all(data).is_ok() {
        let _ = ramline_gather::maps::build_id(&file);
    }
}
