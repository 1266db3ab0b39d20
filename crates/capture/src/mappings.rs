//! The lines of /proc/PID/maps: which memory stands at which addresses.

use std::ops::Range;

use ramline_trace::FileId;

/// What is mapped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Mapped {
    /// Private memory without a file.
    Anonymous,
    /// A file, from this byte on.
    File {
        /// Which.
        id: FileId,
        /// Its name.
        name: String,
        /// The first byte that is mapped.
        offset: u64,
        /// Pages that are written become anonymous.
        private: bool,
        /// Memory that has the form of a file: shared anonymous memory, memfd, System V, /dev/shm.
        shmem: bool,
    },
}

/// A mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mapping {
    /// Its addresses.
    pub range: Range<u64>,
    /// Executable.
    pub executable: bool,
    /// What is there.
    pub what: Mapped,
}

/// Mappings in ascending order. What is no memory that could be reclaimed is left out: the kernel's own pages in every process, devices, huge pages set aside.
pub fn parse(text: &[u8]) -> Vec<Mapping> {
    text.split(|byte| *byte == b'\n').filter_map(line).collect()
}

fn line(line: &[u8]) -> Option<Mapping> {
    let mut words = line.splitn(6, |byte| *byte == b' ');
    let mut word = || std::str::from_utf8(words.next()?).ok();
    let (range, mode, offset, device, inode) = (word()?, word()?, word()?, word()?, word()?);
    let name = String::from_utf8_lossy(words.next().unwrap_or_default().trim_ascii_start()).into_owned();
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let (start, end) = range.split_once('-')?;
    let (start, end, offset, inode) = (hex(start)?, hex(end)?, hex(offset)?, inode.parse::<u64>().ok()?);
    let (major, minor) = device.split_once(':')?;
    let part = |text: &str| u32::from_str_radix(text, 16).ok();
    let (major, minor) = (part(major)?, part(minor)?);
    let executable = mode.as_bytes().get(2) == Some(&b'x');
    let private = mode.as_bytes().get(3) != Some(&b's');
    let of_kernel = ["[vdso]", "[vvar", "[vsyscall]", "[uprobes]"].iter().any(|begin| name.starts_with(begin));
    let is_device = name.starts_with("/dev/") && !name.starts_with("/dev/shm/") && !name.starts_with("/dev/zero");
    if start >= end || of_kernel || is_device || name.starts_with("/anon_hugepage") || name.starts_with("anon_inode:") {
        return None;
    }
    let what = if inode == 0 && !name.starts_with('/') {
        Mapped::Anonymous
    } else {
        // The kernel's own file system for shared memory has no name that a user gave, and major number 0.
        let unnamed = ["/dev/zero", "/SYSV", "/memfd:"].iter().any(|begin| name.starts_with(begin));
        let shmem = (unnamed && major == 0) || name.starts_with("/dev/shm/");
        Mapped::File {
            id: FileId { device: ramline_trace::device_number(major, minor), inode },
            name,
            offset,
            private,
            shmem,
        }
    };
    Some(Mapping { range: start..end, executable, what })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_heap_is_anonymous_a_library_is_a_file_and_the_kernels_pages_are_left_out() {
        let text = b"55a0-55b0 rw-p 00000000 00:00 0    [heap]\n\
            7f00-7f80 r-xp 00002000 08:01 42    /usr/lib/a b.so (deleted)\n\
            7f80-7f90 rw-s 00000000 00:01 7    /memfd:x (deleted)\n\
            8000-9000 r--p 00000000 00:00 0    [vvar]\nnonsense\n";
        let found = parse(text);
        assert_eq!(found.len(), 3);
        assert_eq!((found[0].range.clone(), &found[0].what), (0x55a0..0x55b0, &Mapped::Anonymous));
        let Mapped::File { id, name, offset, private, shmem } = &found[1].what else { panic!() };
        assert_eq!(
            (id.inode, name.as_str(), *offset, *private, *shmem),
            (42, "/usr/lib/a b.so (deleted)", 0x2000, true, false)
        );
        assert!(found[1].executable && matches!(found[2].what, Mapped::File { shmem: true, private: false, .. }));
    }
}
