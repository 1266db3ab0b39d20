//! The texts of `/proc/PID`: `stat`, `status`, `statm`, `cgroup`, `smaps_rollup` and `smaps`.
//!
//! Parsers on bytes, because a process may call itself anything. Not a reader of files.
//!
//! ```
//! use ramline_snapshot::processes::Process;
//! let mut process = Process::default();
//! process.stat(b"7 (a) b) S 1 7 7 0 -1 4194560 90 0 3 0 0 0 0 0 20 0 1 0 55 1000 1")?;
//! assert_eq!((process.pid, process.name.as_str(), process.major_faults), (7, "a) b", Some(3)));
//! # Ok::<(), ramline_snapshot::processes::NotAProcess>(())
//! ```

use super::{Process, Walked};
use crate::prelude::*;

/// The text is not what the kernel writes there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not what the kernel writes about a process")]
pub struct NotAProcess;

/// Flag of `stat` for a thread of the kernel (PF_KTHREAD of linux/sched.h).
const KERNEL_THREAD: u64 = 0x0020_0000;

impl Process {
    /// Takes `stat`: identity, state, parent, start and major faults.
    ///
    /// # Errors
    /// The text has not the documented form.
    pub fn stat(&mut self, text: &[u8]) -> Result<(), NotAProcess> {
        // The name may hold blanks and parentheses: it ends at the last one.
        let open = text.iter().position(|b| *b == b'(').ok_or(NotAProcess)?;
        let close = text.iter().rposition(|b| *b == b')').filter(|close| *close > open).ok_or(NotAProcess)?;
        self.pid = number(text[..open].trim_ascii()).and_then(|n| u32::try_from(n).ok()).ok_or(NotAProcess)?;
        self.name = String::from_utf8_lossy(&text[open + 1..close]).into_owned();
        let mut fields = text[close + 1..].split(|b| b.is_ascii_whitespace()).filter(|f| !f.is_empty());
        self.state = fields.next().and_then(|f| f.first()).map(|b| char::from(*b)).ok_or(NotAProcess)?;
        // Counted from the state, field 3 of proc(5): parent 4, flags 9, majflt 12, utime 14, stime 15, starttime 22.
        let mut at = 0;
        let mut field = |index: usize| {
            let found = fields.nth(index - at - 1).and_then(number).ok_or(NotAProcess);
            at = index;
            found
        };
        self.parent = u32::try_from(field(1)?).map_err(|_| NotAProcess)?;
        self.kernel_thread = field(6)? & KERNEL_THREAD != 0;
        self.major_faults = Some(field(9)?);
        self.cpu_ticks = Some(field(11)?.saturating_add(field(12)?));
        self.started_ticks = field(19)?;
        Ok(())
    }

    /// Takes `status`: user and memory. A zombie and a thread of the kernel have no memory lines; they stay `None`.
    pub fn status(&mut self, text: &[u8]) {
        for line in text.split(|b| *b == b'\n') {
            let Some(colon) = line.iter().position(|b| *b == b':') else { continue };
            let (key, value) = (&line[..colon], &line[colon + 1..]);
            let place = match key {
                b"Uid" => {
                    // Real, effective, saved, file system.
                    let uid = words(value).nth(1).and_then(number);
                    self.uid = uid.and_then(|n| u32::try_from(n).ok()).unwrap_or(self.uid);
                    continue;
                }
                b"VmSize" => &mut self.vm_size,
                b"VmLck" => &mut self.locked,
                b"RssAnon" => &mut self.rss_anon,
                b"RssFile" => &mut self.rss_file,
                b"RssShmem" => &mut self.rss_shmem,
                b"VmPTE" => &mut self.page_tables,
                b"VmSwap" => &mut self.swap,
                b"HugetlbPages" => &mut self.hugetlb,
                _ => continue,
            };
            *place = kib(value);
        }
    }

    /// Takes `statm` where `status` has no RssAnon (before 4.5): resident and, of these, shared; shared memory is then
    /// among the files.
    pub fn statm(&mut self, text: &[u8], page: PageSize) {
        let mut fields = words(text).skip(1).map(number);
        if let (Some(Some(resident)), Some(Some(shared))) = (fields.next(), fields.next()) {
            self.rss_anon = Some(Pages(resident.saturating_sub(shared)).bytes(page));
            self.rss_file = Some(Pages(shared).bytes(page));
        }
    }

    /// Files and shared memory it maps and that are in RAM.
    #[must_use]
    pub fn rss_shared(&self) -> Bytes {
        self.rss_file.unwrap_or_default() + self.rss_shmem.unwrap_or_default()
    }

    /// All that it maps and that is in RAM.
    #[must_use]
    pub fn rss(&self) -> Bytes {
        self.rss_anon.unwrap_or_default() + self.rss_shared()
    }
}

impl Walked {
    /// From `smaps_rollup`, or from the sum over all mappings of `smaps` (before 4.14). Its cost is the caller's to fill in.
    ///
    /// # Errors
    /// There is no `Pss` in it.
    pub fn parse(text: &[u8]) -> Result<Walked, NotAProcess> {
        let mut out = Walked::default();
        let mut seen = false;
        for line in text.split(|b| *b == b'\n') {
            let Some(colon) = line.iter().position(|b| *b == b':') else { continue };
            let value = &line[colon + 1..];
            let add = |place: &mut Option<Bytes>| {
                if let Some(more) = kib(value) {
                    *place = Some(place.unwrap_or_default() + more);
                }
            };
            match &line[..colon] {
                b"Rss" => out.rss += kib(value).unwrap_or_default(),
                b"Pss" => {
                    seen = true;
                    out.pss += kib(value).ok_or(NotAProcess)?;
                }
                b"Pss_Anon" => add(&mut out.pss_anon),
                b"Pss_File" => add(&mut out.pss_file),
                b"Pss_Shmem" => add(&mut out.pss_shmem),
                b"Private_Clean" | b"Private_Dirty" => out.uss += kib(value).unwrap_or_default(),
                b"Swap" => out.swap += kib(value).unwrap_or_default(),
                b"SwapPss" => out.swap_pss += kib(value).unwrap_or_default(),
                _ => {}
            }
        }
        // A process that has just ended has an empty file.
        if seen { Ok(out) } else { Err(NotAProcess) }
    }
}

/// The memory control group in `cgroup`: the line of the memory controller (version 1), else that of version 2.
#[must_use]
pub fn cgroup_path(text: &[u8]) -> Option<&[u8]> {
    let mut unified = None;
    for line in text.split(|b| *b == b'\n') {
        let mut parts = line.splitn(3, |b| *b == b':');
        let (Some(_), Some(controllers), Some(path)) = (parts.next(), parts.next(), parts.next()) else { continue };
        if controllers.split(|b| *b == b',').any(|c| c == b"memory") {
            return Some(path);
        }
        if controllers.is_empty() {
            unified = Some(path);
        }
    }
    unified
}

fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split(|b| b.is_ascii_whitespace()).filter(|w| !w.is_empty())
}

fn number(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |sum, b| {
        let digit = b.is_ascii_digit().then(|| u64::from(b - b'0'))?;
        sum.checked_mul(10)?.checked_add(digit)
    })
}

/// `   52 kB`: the kernel's "kB" is KiB.
fn kib(value: &[u8]) -> Option<Bytes> {
    let mut words = words(value);
    let number = number(words.next()?)?;
    (words.next() == Some(b"kB")).then(|| Bytes::from_kib(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TAIL: &str = " S 41 7 7 0 -1 4194560 90 0 3 0 0 0 0 0 20 0 1 0 5512 1000 1 18446744073709551615";

    #[test]
    fn a_name_may_hold_parentheses_blanks_line_breaks_and_bytes_that_are_no_text() {
        let mut process = Process::default();
        for (name, shown) in
            [(&b"a) S 9 (b"[..], "a) S 9 (b"), (b"", ""), (b"\xff\n\x1b[2J", "\u{fffd}\n\u{1b}[2J"), (b")", ")")]
        {
            let text = [b"7 (", name, b")", TAIL.as_bytes()].concat();
            process.stat(&text).unwrap();
            assert_eq!((process.pid, process.name.as_str(), process.state), (7, shown, 'S'));
            assert_eq!((process.parent, process.major_faults, process.started_ticks), (41, Some(3), 5512));
        }
        assert!(!process.kernel_thread);
        process.stat(b"2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 3 0 0").unwrap();
        assert!(process.kernel_thread);
    }

    #[test]
    fn a_stat_that_is_cut_off_or_garbage_is_an_error_at_every_length() {
        let text = format!("7 (x){TAIL}");
        let enough = text.find(" 1000").unwrap();
        for end in 0..enough - 4 {
            assert_eq!(Process::default().stat(&text.as_bytes()[..end]), Err(NotAProcess), "{end}");
        }
        for bad in ["", "7", "(x)", "x (y) S 1", ")7(", "7 (x) S -1 0 0 0 0 0 0 0 0 0 0", "99999999999 (x) S 1"] {
            assert_eq!(Process::default().stat(bad.as_bytes()), Err(NotAProcess), "{bad}");
        }
    }

    #[test]
    fn the_kernels_kb_is_kib_and_what_is_missing_stays_none() {
        let mut process = Process::default();
        process.status(
            b"Name:\tx\nUid:\t10\t11\t12\t13\nVmSize:\t 100 kB\nRssAnon:\t  8 kB\nRssFile:\t4 kB\nVmSwap:\t0 kB\n",
        );
        assert_eq!((process.uid, process.vm_size, process.rss_anon), (11, Some(Bytes(102_400)), Some(Bytes(8192))));
        assert_eq!((process.rss_shmem, process.swap, process.page_tables), (None, Some(Bytes(0)), None));
        assert_eq!(process.rss(), Bytes(12_288));
        // A name cannot pose as a field: the kernel writes its line breaks as \n. Numbers that overflow are none.
        let mut process = Process::default();
        process.status(b"Name:\tx\\nRssAnon: 9 kB\nRssAnon:\t99999999999999999999 kB\nRssFile:\t7 MB\nVmPTE\n\xff\n");
        assert_eq!((process.rss_anon, process.rss_file, process.page_tables), (None, None, None));
    }

    #[test]
    fn before_4_5_resident_minus_shared_is_anonymous() {
        let mut process = Process::default();
        process.statm(b"900 30 10 1 0 20 0\n", PageSize(4096));
        assert_eq!((process.rss_anon, process.rss_file), (Some(Bytes(81_920)), Some(Bytes(40_960))));
        let mut process = Process::default();
        process.statm(b"900 30", PageSize(4096));
        assert_eq!(process.rss_anon, None);
    }

    #[test]
    fn a_rollup_and_the_sum_of_all_mappings_say_the_same() {
        let rollup = "55-7f ---p 00000000 00:00 0 [rollup]\nRss: 30 kB\nPss: 9 kB\nPss_Anon: 5 kB\nPss_File: 4 kB\n\
                      Pss_Shmem: 0 kB\nPrivate_Clean: 1 kB\nPrivate_Dirty: 5 kB\nSwap: 2 kB\nSwapPss: 1 kB\n";
        let sum = Walked::parse(rollup.as_bytes()).unwrap();
        assert_eq!((sum.rss, sum.pss, sum.uss), (Bytes::from_kib(30), Bytes::from_kib(9), Bytes::from_kib(6)));
        assert_eq!((sum.pss_anon, sum.swap_pss), (Some(Bytes::from_kib(5)), Bytes::from_kib(1)));
        let smaps = "1-2 r-xp 0 08:01 9 /a: Pss\nRss: 20 kB\nPss: 4 kB\nPrivate_Clean: 1 kB\nVmFlags: rd ex\n\
                     3-4 rw-p 0 00:00 0\nRss: 10 kB\nPss: 5 kB\nPrivate_Dirty: 5 kB\nSwap: 2 kB\nSwapPss: 1 kB\n";
        let old = Walked::parse(smaps.as_bytes()).unwrap();
        assert_eq!((old.rss, old.pss, old.uss, old.pss_anon), (sum.rss, sum.pss, sum.uss, None));
        assert_eq!(Walked::parse(b""), Err(NotAProcess));
        assert_eq!(Walked::parse(b"Pss: 1 MB\n"), Err(NotAProcess));
    }

    #[test]
    fn the_memory_controllers_group_comes_before_version_2() {
        assert_eq!(cgroup_path(b"9:name=systemd:/s\n4:cpu,memory:/a:b\n0::/u\n"), Some(&b"/a:b"[..]));
        assert_eq!(cgroup_path(b"9:name=systemd:/s\n0::/u\n"), Some(&b"/u"[..]));
        assert_eq!(cgroup_path(b"garbage"), None);
    }
}
