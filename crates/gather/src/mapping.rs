//! A line of /proc/PID/maps, as far as it is about a file.

use ramline_kernel::FileKey;

/// One line of /proc/PID/maps.
pub struct Mapping<'a> {
    pub start: u64,
    pub end: u64,
    pub dev: u64,
    pub ino: u64,
    pub path: &'a [u8],
}

impl<'a> Mapping<'a> {
    /// `None` for a mapping of no file, and for a line of another form.
    pub fn parse(line: &'a [u8]) -> Option<Mapping<'a>> {
        let mut words = line.splitn(6, |b| *b == b' ');
        let mut word = || std::str::from_utf8(words.next()?).ok();
        let (range, _, _, dev, ino) = (word()?, word()?, word()?, word()?, word()?);
        let ino = ino.parse().ok()?;
        let path = words.next().unwrap_or_default().trim_ascii_start();
        if ino == 0 && path.first() != Some(&b'/') {
            return None;
        }
        let hex = |text: &str| u64::from_str_radix(text, 16).ok();
        let (start, end) = range.split_once('-')?;
        let (major, minor) = dev.split_once(':')?;
        let part = |text: &str| u32::from_str_radix(text, 16).ok();
        let (start, end) = (hex(start)?, hex(end)?);
        (start < end).then_some(Mapping { start, end, dev: rustix::fs::makedev(part(major)?, part(minor)?), ino, path })
    }

    /// The file; `None` where it has no number.
    pub fn key(&self) -> Option<FileKey> {
        (self.ino != 0).then_some(FileKey { device: self.dev, inode: self.ino })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mapping_is_known_by_device_and_inode_and_its_name_may_hold_anything() {
        let map =
            Mapping::parse(b"7f00-8f00 rw-s 00000000 00:1b 68720                      /dev/shm/a b (deleted)").unwrap();
        assert_eq!((map.start, map.end, map.dev, map.ino), (0x7f00, 0x8f00, rustix::fs::makedev(0, 27), 68720));
        assert_eq!(map.path, b"/dev/shm/a b (deleted)");
        let bytes = Mapping::parse(b"1-2 rw-s 0 00:01 7 /memfd:\xff\x1b (deleted)").unwrap();
        assert_eq!(bytes.path, b"/memfd:\xff\x1b (deleted)");
        // Id 0 is a segment like any other.
        assert_eq!(Mapping::parse(b"1-2 rw-s 0 00:01 0 /SYSV00000000 (deleted)").map(|m| m.ino), Some(0));
    }

    #[test]
    fn lines_of_another_form_are_passed_over() {
        for line in [
            "",
            "x",
            "1-2 rw-p 0 00:00 0 ",
            "1-2 rw-p 0 00:00 0 [heap]",
            "2-1 r 0 00:01 5 /x",
            "1-2 r 0 zz:1 5 /x",
            "1-2 r 0 00:01 -5 /x",
            "12 r 0 00:01 5 /x",
            "1-2 r 0 0001 5 /x",
            "1-2 r 0 00:01",
        ] {
            assert!(Mapping::parse(line.as_bytes()).is_none(), "{line}");
        }
    }
}
