//! zram: what the kernel offers, and every device with its statistics.

use std::os::unix::fs::FileExt;

use ramline_snapshot::zram::{Zram, ZramDevice, ZramSupport};

use super::reader::Reader;
use crate::prelude::*;

/// Files of a device that are read; write-only triggers and `max_comp_streams` (gone) are not.
const FILES: &[&str] =
    &["disksize", "initstate", "comp_algorithm", "recomp_algorithm", "backing_dev", "mm_stat", "bd_stat", "io_stat"];

pub fn zram(reader: &Reader<'_>) -> Zram {
    let mut out = Zram { support: support(reader), ..Zram::default() };
    let mut names: Vec<_> = reader.names("/sys/block").into_iter().filter(|n| n.starts_with("zram")).collect();
    ramline_units::sort_by_key(&mut names, |n| n.trim_start_matches("zram").parse::<u64>().unwrap_or(u64::MAX));
    for name in names {
        let mut files = BTreeMap::new();
        for file in FILES {
            let text = reader.text_or(format!("/sys/block/{name}/{file}"), &mut out.unseen);
            files.extend(text.map(|text| ((*file).to_owned(), text)));
        }
        if let Some(device) = ZramDevice::from_files(&name, &files, &mut out.unseen) {
            out.devices.push(ZramDevice { formatted: formatted(reader, &name), ..device });
        }
    }
    out
}

fn support(reader: &Reader<'_>) -> ZramSupport {
    if let Some(meta) = reader.meta() {
        return meta.zram_support.clone();
    }
    let control = reader.exists("/sys/class/zram-control");
    let modules = format!("/lib/modules/{}", rustix::system::uname().release().to_string_lossy());
    let listed = |file: &str| {
        let text = std::fs::read_to_string(reader.root.path(format!("{modules}/{file}"))).ok()?;
        Some(text.lines().any(|line| line.split(':').next().is_some_and(|m| m.contains("/zram.ko"))))
    };
    let loaded = control && reader.exists("/sys/module/zram/initstate");
    ZramSupport {
        control,
        builtin: listed("modules.builtin").or(control.then_some(!loaded)),
        module_installed: listed("modules.dep"),
    }
}

/// Whether the device carries a swap header: the magic stands at the end of its first page.
fn formatted(reader: &Reader<'_>, name: &str) -> Option<bool> {
    if let Some(meta) = reader.meta() {
        return meta.formatted.get(name).copied();
    }
    // One without a size holds nothing, and to open it would keep its owner from removing it.
    if reader.number(&format!("/sys/block/{name}/initstate")) == Some(0) {
        return Some(false);
    }
    let page = ramline_kernel::process::page_size();
    let mut magic = [0; 10];
    let device = std::fs::File::open(reader.root.path(format!("/dev/{name}"))).ok()?;
    match device.read_exact_at(&mut magic, page - 10) {
        Ok(()) => Some(&magic == b"SWAPSPACE2"),
        Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => Some(false),
        Err(_) => None,
    }
}
