//! The build id of a file that a process maps: root reads it of anybody's files.
#![no_main]

use std::io::Write;

use libfuzzer_sys::fuzz_target;
use rustix::fs::{MemfdFlags, memfd_create};

fuzz_target!(|data: &[u8]| {
    let Ok(fd) = memfd_create("elf", MemfdFlags::CLOEXEC) else { return };
    let mut file = std::fs::File::from(fd);
    if file.write_all(data).is_ok() {
        let _ = ramline_gather::maps::build_id(&file);
    }
});
