//! Which modules of a kernel a guest needs, in the order they must be loaded, and their contents as the kernel takes them.
//!
//! What it is not: modprobe: `modules.dep` lists all that a module needs, directly or not, the last needed first, and that is
//! all that is used. Compressed modules (`.xz`, `.zst`) are unpacked here, so the guest needs no decompressor.
//!
//! ```
//! use ramline_sandbox::vm::modules::Dependencies;
//! let found = Dependencies::parse("kernel/fs/ext4/ext4.ko.xz: kernel/fs/jbd2/jbd2.ko.xz kernel/fs/mbcache.ko.xz\n\
//!                                  kernel/fs/jbd2/jbd2.ko.xz:\nkernel/fs/mbcache.ko.xz:\n", "kernel/mm/zsmalloc.ko\n");
//! assert_eq!(found.order(&["ext4"]), ["kernel/fs/mbcache.ko.xz", "kernel/fs/jbd2/jbd2.ko.xz", "kernel/fs/ext4/ext4.ko.xz"]);
//! assert!(found.has("zsmalloc") && !found.has("zram"));
//! ```

use std::collections::BTreeSet;

use ramline_kernel::input;

use crate::prelude::*;

/// Without these a guest has no disk, no file system on it and no way to answer.
pub const ESSENTIAL: &[&str] = &["virtio_pci", "virtio_blk", "virtio_console", "ext4"];
/// Loaded where they are: a checksum ext4 asks for by name, which needs a program the guest does not have.
pub const HELPFUL: &[&str] = &["crc32c_generic", "crc32c_intel", "crc32c_cryptoapi", "virtio_rng"];
/// For arms with zram: older kernels look compressors up by name at use.
pub const ZRAM: &[&str] = &["lzo", "lzo_rle", "lz4", "lz4hc", "zstd", "deflate", "842", "zsmalloc", "zram"];
/// For arms with zswap.
pub const ZSWAP: &[&str] = &["lzo", "lz4", "zstd", "zbud", "z3fold", "zsmalloc"];

/// What `modules.dep` and `modules.builtin` say.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Dependencies {
    paths: BTreeMap<String, String>,
    needs: BTreeMap<String, Vec<String>>,
    builtin: BTreeSet<String>,
}

/// `kernel/drivers/char/hw_random/virtio-rng.ko.xz` is `virtio_rng`.
fn name_of(path: &str) -> String {
    let file = path.rsplit('/').next().unwrap_or(path);
    file.split('.').next().unwrap_or(file).replace('-', "_")
}

impl Dependencies {
    /// Reads the two tables; lines of another form are passed over.
    #[must_use]
    pub fn parse(dep: &str, builtin: &str) -> Dependencies {
        let mut found = Dependencies::default();
        for (path, needs) in dep.lines().filter_map(|line| line.split_once(':')) {
            found.paths.insert(name_of(path), path.to_owned());
            found.needs.insert(path.to_owned(), needs.split_whitespace().map(str::to_owned).collect());
        }
        found.builtin = builtin.lines().map(|line| name_of(line.trim())).collect();
        found
    }

    /// The tables of the folder `dir`, which holds `modules.dep`.
    ///
    /// # Errors
    /// There is no `modules.dep`.
    pub fn read(dir: &Path) -> Result<Dependencies> {
        let path = dir.join("modules.dep");
        let read = |path: &Path| input::read_text("read", path, input::DOCUMENT);
        Ok(Dependencies::parse(&read(&path)?, &read(&dir.join("modules.builtin")).unwrap_or_default()))
    }

    /// True when the kernel has it, as a module or built in.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.paths.contains_key(name) || self.builtin.contains(name)
    }

    /// Paths of these modules and of all they need, in the order of loading. Those that are built in or missing are left out.
    #[must_use]
    pub fn order(&self, names: &[&str]) -> Vec<String> {
        let mut out: Vec<String> = Vec::new();
        for path in names.iter().filter_map(|name| self.paths.get(*name)) {
            // The last one named there has to be loaded first.
            let needs = self.needs.get(path).into_iter().flatten().rev();
            for one in needs.chain([path]) {
                if !out.contains(one) {
                    out.push(one.clone());
                }
            }
        }
        out
    }
}

/// Reads a module and unpacks it by its ending.
///
/// # Errors
/// It cannot be read, or is no module or archive.
pub fn contents(dir: &Path, path: &str) -> Result<Vec<u8>> {
    let full: PathBuf = dir.join(path);
    let failed = |error| LabError::file("read the module", &full, error);
    let raw = input::read("read the module", &full, super::image::LARGEST)?;
    let unpacked = unpack(path, raw).map_err(failed)?;
    if unpacked.starts_with(b"\x7fELF") {
        return Ok(unpacked);
    }
    Err(failed(std::io::Error::new(std::io::ErrorKind::InvalidData, "it is no kernel module")))
}

fn unpack(path: &str, raw: Vec<u8>) -> std::io::Result<Vec<u8>> {
    let invalid = |what: String| std::io::Error::new(std::io::ErrorKind::InvalidData, what);
    match path.rsplit('.').next() {
        Some("xz") => {
            let mut out = Vec::new();
            lzma_rs::xz_decompress(&mut raw.as_slice(), &mut out).map_err(|error| invalid(format!("{error:?}")))?;
            Ok(out)
        }
        Some("zst") => zstd::stream::decode_all(raw.as_slice()),
        Some("ko") => Ok(raw),
        _ => Err(invalid("its compression is not known; .ko, .ko.xz and .ko.zst are".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_by_two_is_loaded_once_and_before_both() {
        let dep = "k/virtio.ko: k/virtio_ring.ko\nk/virtio_ring.ko:\n\
                   k/virtio_blk.ko: k/virtio.ko k/virtio_ring.ko\nk/virtio-rng.ko: k/virtio.ko k/virtio_ring.ko\n";
        let found = Dependencies::parse(dep, "");
        let order = found.order(&["virtio_blk", "not_there", "virtio_rng"]);
        assert_eq!(order, ["k/virtio_ring.ko", "k/virtio.ko", "k/virtio_blk.ko", "k/virtio-rng.ko"]);
    }

    #[test]
    fn lines_of_another_form_do_no_harm() {
        assert_eq!(Dependencies::parse("\u{0}garbage\n\n", "").order(&["garbage"]), Vec::<String>::new());
    }

    #[test]
    fn modules_are_unpacked_by_their_ending_and_others_are_refused() {
        let dir = tempfile::tempdir().unwrap();
        let module = [b"\x7fELF".as_slice(), &[7; 5000]].concat();
        let mut xz = Vec::new();
        lzma_rs::xz_compress(&mut module.as_slice(), &mut xz).unwrap();
        let zst = zstd::stream::encode_all(module.as_slice(), 3).unwrap();
        for (name, bytes) in [("a.ko", &module), ("b.ko.xz", &xz), ("c.ko.zst", &zst)] {
            std::fs::write(dir.path().join(name), bytes).unwrap();
            assert_eq!(contents(dir.path(), name).unwrap(), module, "{name}");
        }
        std::fs::write(dir.path().join("d.ko.lz4"), &module).unwrap();
        std::fs::write(dir.path().join("e.ko.xz"), b"\xfd7zXZ\0 and then nonsense").unwrap();
        std::fs::write(dir.path().join("f.ko"), b"#!/bin/sh").unwrap();
        for name in ["d.ko.lz4", "e.ko.xz", "f.ko", "missing.ko"] {
            assert!(contents(dir.path(), name).is_err(), "{name}");
        }
    }
}
