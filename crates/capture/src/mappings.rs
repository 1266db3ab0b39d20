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

/// An address that is mapped, of the text of mappings: the top of its stack, which every program has, or else the first there is.
#[must_use]
pub fn any_address(text: &[u8]) -> Option<u64> {
    let lines = || text.split(|byte| *byte == b'\n');
    let stack = lines().find(|line| line.ends_with(b"[stack]"));
    let (start, end) =
        std::str::from_utf8(stack.or_else(|| lines().next())?).ok()?.split(' ').next()?.split_once('-')?;
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    if stack.is_some() { hex(end)?.checked_sub(1) } else { hex(start) }
}

/// Addresses between mappings, in the pieces of 1 GiB in which there are some: what is mapped next is near what is mapped.
#[must_use]
pub fn gaps(mappings: &[Mapping]) -> Vec<Range<u64>> {
    const PIECE: u64 = 1 << 30;
    let (mut out, mut next) = (Vec::new(), 0_u64);
    let mut add = |from: u64, to: u64| out.extend((from < to).then_some(from..to));
    for mapping in mappings {
        let Range { start, end } = mapping.range;
        let piece_of_last = next.next_multiple_of(PIECE);
        let piece = start / PIECE * PIECE;
        if piece > piece_of_last {
            add(next, piece_of_last);
            add(piece, start);
        } else {
            add(next, start);
        }
        next = next.max(end);
    }
    add(next, next.next_multiple_of(PIECE));
    out
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
    fn an_address_is_the_top_of_the_stack_and_gaps_are_between_and_around_mappings() {
        let text = b"400000-401000 r--p 0 00:00 0\n7ffc00000000-7ffc00021000 rw-p 0 00:00 0   [stack]\n";
        assert_eq!(any_address(text), Some(0x7ffc_0002_0fff));
        assert_eq!((any_address(b"400000-401000 r--p 0 00:00 0\n"), any_address(b"")), (Some(0x40_0000), None));
        let at = |start: u64, end: u64| Mapping { range: start..end, executable: false, what: Mapped::Anonymous };
        let gib = 1 << 30;
        assert_eq!(
            gaps(&[at(4096, 8192), at(12288, 16384), at(9 * gib + 4096, 9 * gib + 8192)]),
            [0..4096, 8192..12288, 16384..gib, 9 * gib..9 * gib + 4096, 9 * gib + 8192..10 * gib]
        );
        assert!(gaps(&[]).is_empty());
    }

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
