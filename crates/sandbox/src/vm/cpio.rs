//! Writes an initramfs: a cpio archive in the "newc" format (Documentation/driver-api/early-userspace/buffer-format.rst).
//!
//! What it is not: a cpio program. Owners are root and times are 0, so the same contents give the same bytes; device nodes
//! are entries, so no privilege is needed.
//!
//! ```
//! use ramline_sandbox::vm::cpio::Archive;
//! let mut archive = Archive::default();
//! archive.folder("proc");
//! archive.file("init", 0o755, b"x");
//! assert!(archive.finish().starts_with(b"070701"));
//! ```

use std::collections::BTreeSet;

/// Entries collected in order.
#[derive(Debug, Default)]
pub struct Archive {
    bytes: Vec<u8>,
    names: BTreeSet<String>,
}

const FOLDER: u32 = 0o040_755;
const FILE: u32 = 0o100_000;
const CHARACTER_DEVICE: u32 = 0o020_600;

impl Archive {
    /// A folder; those above it come by themselves.
    pub fn folder(&mut self, name: &str) {
        if self.names.contains(name) {
            return;
        }
        self.parents(name);
        self.entry(name, FOLDER, (0, 0), &[]);
    }

    /// A file with these permissions.
    pub fn file(&mut self, name: &str, permissions: u32, data: &[u8]) {
        self.parents(name);
        self.entry(name, FILE | permissions, (0, 0), data);
    }

    /// A character device by major and minor number.
    pub fn device(&mut self, name: &str, major: u32, minor: u32) {
        self.parents(name);
        self.entry(name, CHARACTER_DEVICE, (major, minor), &[]);
    }

    /// The archive.
    #[must_use]
    pub fn finish(mut self) -> Vec<u8> {
        self.entry("TRAILER!!!", 0, (0, 0), &[]);
        self.bytes
    }

    fn parents(&mut self, name: &str) {
        if let Some((parent, _)) = name.rsplit_once('/') {
            self.folder(parent);
        }
    }

    fn entry(&mut self, name: &str, mode: u32, device: (u32, u32), data: &[u8]) {
        self.names.insert(name.to_owned());
        let length = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let inode = length(self.names.len());
        // ino mode uid gid nlink mtime filesize devmajor devminor rdevmajor rdevminor namesize check
        let fields = [inode, mode, 0, 0, 1, 0, length(data.len()), 0, 0, device.0, device.1, length(name.len() + 1), 0];
        self.bytes.extend_from_slice(b"070701");
        for field in fields {
            self.bytes.extend_from_slice(format!("{field:08X}").as_bytes());
        }
        self.bytes.extend_from_slice(name.as_bytes());
        self.bytes.push(0);
        self.pad();
        self.bytes.extend_from_slice(data);
        self.pad();
    }

    fn pad(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As cpio -t would list them: name, mode, size, read by the rules of the format.
    fn list(archive: &[u8]) -> Vec<(String, u32, usize)> {
        let (mut at, mut out) = (0, Vec::new());
        loop {
            let header = std::str::from_utf8(&archive[at..at + 110]).unwrap();
            assert_eq!(&header[..6], "070701");
            let field = |n: usize| u32::from_str_radix(&header[6 + 8 * n..14 + 8 * n], 16).unwrap();
            let (mode, size, named) = (field(1), field(6) as usize, field(11) as usize);
            let name = String::from_utf8(archive[at + 110..at + 110 + named - 1].to_vec()).unwrap();
            if name == "TRAILER!!!" {
                return out;
            }
            at = (at + 110 + named).next_multiple_of(4);
            at = (at + size).next_multiple_of(4);
            out.push((name, mode, size));
        }
    }

    #[test]
    fn folders_come_before_what_is_in_them_and_once() {
        let mut archive = Archive::default();
        archive.file("a/b/one", 0o644, b"12345");
        archive.file("a/b/two", 0o600, b"");
        archive.device("dev/console", 5, 1);
        let listed = list(&archive.finish());
        let names: Vec<&str> = listed.iter().map(|(name, ..)| name.as_str()).collect();
        assert_eq!(names, ["a", "a/b", "a/b/one", "a/b/two", "dev", "dev/console"]);
        assert_eq!((listed[2].1, listed[2].2), (0o100_644, 5));
        assert_eq!(listed[5].1 & 0o170_000, 0o020_000);
    }
}
