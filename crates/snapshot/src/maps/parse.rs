//! The lines of `/proc/PID/maps` and `/proc/PID/smaps`, one at a time: the latter is 46 MB for a process with 65,530 ranges.

use super::{Mapping, MappingKind, Totals, Usage};
use crate::prelude::*;

/// A range with what names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    /// The range; its file is not yet looked up.
    pub mapping: Mapping,
    /// Device of the file system.
    pub device: (u32, u32),
    /// Inode, 0 where there is no file.
    pub inode: u64,
    /// Path or `[name]`, without "(deleted)".
    pub name: String,
    /// The kernel says the file has no name any more. A file can be called so: whoever can look, looks.
    pub deleted: bool,
}

/// Reads lines of `maps` or `smaps`; they differ in that the latter has lines of values after each range.
#[derive(Debug)]
pub struct Parser<'a> {
    path: &'a str,
    line: usize,
    ranges: Vec<Range>,
    unknown: u64,
}

impl<'a> Parser<'a> {
    /// Nothing read yet; `path` is for errors.
    #[must_use]
    pub const fn new(path: &'a str) -> Self {
        Parser { path, line: 0, ranges: Vec::new(), unknown: 0 }
    }

    /// One line without its line break.
    ///
    /// # Errors
    /// A line of another form, with path, line and text.
    pub fn line(&mut self, line: &[u8]) -> Result<(), Malformed> {
        let index = self.line;
        self.line += 1;
        let bad = || Malformed::new(self.path, index, &String::from_utf8_lossy(line));
        let first = line.split(|b| *b == b' ').next().unwrap_or_default();
        if let Some(key) = first.strip_suffix(b":") {
            let Some(range) = self.ranges.last_mut() else { return Err(bad()) };
            let usage = range.mapping.usage.get_or_insert_default();
            let known = value(usage, key, &line[first.len()..]).map_err(|()| bad())?;
            self.unknown += u64::from(!known);
        } else if !line.is_empty() {
            self.ranges.push(range(line).ok_or_else(bad)?);
        }
        Ok(())
    }

    /// The ranges, and how many lines had a key this version does not know.
    #[must_use]
    pub fn finish(self) -> (Vec<Range>, u64) {
        (self.ranges, self.unknown)
    }

    /// All lines of a text.
    ///
    /// # Errors
    /// As [`Parser::line`].
    pub fn all(path: &'a str, text: &[u8]) -> Result<Vec<Range>, Malformed> {
        let mut parser = Parser::new(path);
        for line in text.split(|b| *b == b'\n') {
            parser.line(line)?;
        }
        Ok(parser.finish().0)
    }
}

/// `start-end perms offset major:minor inode   name`, fs/proc/task_mmu.c.
fn range(line: &[u8]) -> Option<Range> {
    let mut rest = line;
    let mut next = || {
        let end = rest.iter().position(|b| *b == b' ').unwrap_or(rest.len());
        let (word, tail) = rest.split_at(end);
        rest = tail.strip_prefix(b" ").unwrap_or(tail);
        std::str::from_utf8(word).ok()
    };
    let (start, end) = next()?.split_once('-')?;
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let (start, end) = (hex(start)?, hex(end)?);
    let flags: [u8; 4] = next()?.as_bytes().try_into().ok()?;
    let offset = hex(next()?)?;
    let (major, minor) = next()?.split_once(':')?;
    let device = (u32::from_str_radix(major, 16).ok()?, u32::from_str_radix(minor, 16).ok()?);
    let inode = next()?.parse().ok()?;
    // The name starts at a fixed column; no name starts with a blank.
    let name = &rest[rest.iter().position(|b| *b != b' ').unwrap_or(rest.len())..];
    let gone = name.strip_suffix(b" (deleted)").filter(|_| inode != 0);
    let kind = kind(gone.unwrap_or(name), device, inode);
    let mapping = Mapping {
        start,
        end,
        read: flags[0] == b'r',
        write: flags[1] == b'w',
        execute: flags[2] == b'x',
        shared: flags[3] == b's',
        offset,
        kind,
        file: None,
        usage: None,
    };
    (end >= start).then(|| Range {
        mapping,
        device,
        inode,
        name: unescape(gone.unwrap_or(name)),
        deleted: gone.is_some(),
    })
}

/// The kernel writes a line break in a name as `\012` and nothing else so.
fn unescape(name: &[u8]) -> String {
    String::from_utf8_lossy(name).replace("\\012", "\n")
}

fn kind(name: &[u8], (major, _): (u32, u32), inode: u64) -> MappingKind {
    let starts = |prefix: &[u8]| name.starts_with(prefix);
    match name {
        b"[heap]" => MappingKind::Heap,
        b"[vdso]" | b"[vvar]" | b"[vvar_vclock]" | b"[vsyscall]" | b"[vectors]" | b"[sigpage]" | b"[uprobes]" => {
            MappingKind::Kernel
        }
        _ if starts(b"[stack") => MappingKind::Stack,
        // Shared anonymous memory is called /dev/zero, after the way it was made once. None of these is on a mount.
        _ if major == 0
            && (starts(b"/memfd:") || starts(b"/SYSV") || name == b"/dev/zero" || starts(b"[anon_shmem:")) =>
        {
            MappingKind::SharedMemory
        }
        _ if inode == 0 => MappingKind::Anonymous,
        _ if !starts(b"/") || starts(b"/dev/dri/") || starts(b"/dev/nvidia") => MappingKind::Device,
        _ => MappingKind::File,
    }
}

/// Stores one value of `smaps`; `Ok(false)` for a key this version does not know.
fn value(usage: &mut Usage, key: &[u8], text: &[u8]) -> Result<bool, ()> {
    let place = match key {
        b"Rss" => &mut usage.rss,
        b"Pss" => &mut usage.pss,
        b"Shared_Clean" => &mut usage.shared_clean,
        b"Shared_Dirty" => &mut usage.shared_dirty,
        b"Private_Clean" => &mut usage.private_clean,
        b"Private_Dirty" => &mut usage.private_dirty,
        b"Anonymous" => &mut usage.anonymous,
        b"Locked" => &mut usage.locked,
        b"Swap" => &mut usage.swap,
        b"Shared_Hugetlb" | b"Private_Hugetlb" => {
            usage.huge += kib(text).ok_or(())?;
            return Ok(true);
        }
        b"Size" | b"KernelPageSize" | b"MMUPageSize" | b"Pss_Dirty" | b"Referenced" | b"KSM" | b"LazyFree"
        | b"AnonHugePages" | b"ShmemHugePages" | b"ShmemPmdMapped" | b"FilePmdMapped" | b"SwapPss" | b"THPeligible"
        | b"ProtectionKey" | b"VmFlags" => return Ok(true),
        _ => return Ok(false),
    };
    *place = kib(text).ok_or(())?;
    Ok(true)
}

/// `   12 kB`.
fn kib(text: &[u8]) -> Option<Bytes> {
    std::str::from_utf8(text).ok()?.trim().strip_suffix("kB")?.trim_end().parse().ok().map(Bytes::from_kib)
}

impl Totals {
    /// From `/proc/PID/status`. A kernel thread or a zombie has none of the lines: `None`.
    ///
    /// # Errors
    /// A value that is no size.
    pub fn parse(path: &str, text: &str) -> Result<Option<Totals>, Malformed> {
        let mut out = Totals::default();
        let () = parse_lines(
            path,
            text,
            |_| true,
            |line| {
                let Some((key, value)) = line.split_once(':') else { return Some(()) };
                let place = match key {
                    "VmSize" => &mut out.size,
                    "VmRSS" => &mut out.rss,
                    "RssAnon" => &mut out.anon,
                    "RssFile" => &mut out.file,
                    "RssShmem" => &mut out.shmem,
                    "VmSwap" => &mut out.swap,
                    "VmLck" => &mut out.locked,
                    "HugetlbPages" => &mut out.huge,
                    _ => return Some(()),
                };
                *place = Some(kib(value.as_bytes())?);
                Some(())
            },
        )?;
        Ok((out != Totals::default()).then_some(out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMAPS: &[u8] = b"7f0000000000-7f0000003000 rw-p 00001000 fe:00 42    /opt/a\\012b (deleted)
Size:                 12 kB
Rss:                   8 kB
Anonymous:             4 kB
Private_Dirty:         4 kB
Shared_Hugetlb:     2048 kB
Private_Hugetlb:    2048 kB
Future:                7 kB
VmFlags: rd wr mr mw me ac sd
ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0                  [vsyscall]
";

    #[test]
    fn a_range_has_its_values_and_a_line_break_in_a_name_is_restored() {
        let ranges = Parser::all("smaps", SMAPS).unwrap();
        assert_eq!(ranges.len(), 2);
        let first = &ranges[0];
        assert_eq!((first.name.as_str(), first.deleted, first.inode), ("/opt/a\nb", true, 42));
        assert_eq!(first.mapping.permissions(), "rw-p");
        assert_eq!((first.mapping.size(), first.mapping.offset), (Bytes(0x3000), 0x1000));
        let usage = first.mapping.usage.unwrap();
        assert_eq!((usage.rss, usage.anonymous, usage.huge), (Bytes(8192), Bytes(4096), Bytes::from_mib(4)));
        assert_eq!(ranges[1].mapping.kind, MappingKind::Kernel);
        assert_eq!(ranges[1].mapping.usage, None);
    }

    #[test]
    fn every_name_the_kernel_gives_has_its_kind() {
        for (tail, kind) in [
            ("00:00 0", MappingKind::Anonymous),
            ("00:00 0      [anon:glibc: malloc]", MappingKind::Anonymous),
            ("00:00 0      [heap]", MappingKind::Heap),
            ("00:00 0      [stack]", MappingKind::Stack),
            ("00:00 0      [vvar_vclock]", MappingKind::Kernel),
            ("00:01 2097   /memfd:a b (deleted)", MappingKind::SharedMemory),
            ("00:01 7      /SYSV00000000 (deleted)", MappingKind::SharedMemory),
            ("00:01 8      /dev/zero (deleted)", MappingKind::SharedMemory),
            ("00:0f 9      anon_inode:[perf_event]", MappingKind::Device),
            ("fe:00 9      /srv/[heap]", MappingKind::File),
            ("fe:00 9      /memfd:really a file", MappingKind::File),
        ] {
            let line = format!("1000-2000 r--s 00000000 {tail}");
            assert_eq!(Parser::all("maps", line.as_bytes()).unwrap()[0].mapping.kind, kind, "{tail}");
        }
    }

    #[test]
    fn a_line_that_makes_no_sense_is_an_error_with_its_number() {
        for bad in [
            "x",
            "1000-2000",
            "1000-2000 r--p 0 fe:00",
            "1000-2000 r--p zz fe:00 1 /a",
            "2000-1000 r--p 0 fe:00 1 /a",
            "1000-2000 r--pp 0 fe:00 1 /a",
            "Rss: 4 kB",
            "1000-2000 r--p 0 fe:00 99999999999999999999 /a",
        ] {
            let text = format!("\n{bad}");
            assert_eq!(Parser::all("maps", text.as_bytes()).unwrap_err().line, 2, "{bad}");
        }
        assert!(Parser::all("smaps", b"1000-2000 r--p 0 fe:00 1 /a\nRss: many kB").is_err());
        assert!(Parser::all("smaps", b"1000-2000 r--p 0 fe:00 1 /\xff\xfe\nFuture: x").is_ok());
    }

    #[test]
    fn a_thread_of_the_kernel_has_no_totals() {
        assert_eq!(Totals::parse("status", "Name:\tkthreadd\nState:\tS (sleeping)\n").unwrap(), None);
        let text = "Name:\tVmRSS: 4 kB\nVmRSS:\t   12 kB\nRssFile:\t 8 kB\n";
        let totals = Totals::parse("status", text).unwrap().unwrap();
        assert_eq!((totals.rss, totals.file, totals.anon), (Some(Bytes::from_kib(12)), Some(Bytes::from_kib(8)), None));
        assert!(Totals::parse("status", "VmRSS:\t12\n").is_err());
    }
}
