//! The ranges of processes that hold anonymous pages, and how many (`/proc/PID/smaps`).

use ramline_kernel::{Root, process};
use ramline_snapshot::processes::{Process, cgroup_path};

use crate::proc_dir::{NotRead, ProcDir};

/// What was found, and what was not.
#[derive(Debug, Clone, Default)]
pub struct Ranges {
    /// Processes with anonymous pages.
    pub processes: Vec<OfProcess>,
    /// Processes that ended before they were read.
    pub ended: u64,
    /// Processes of other users, which this user may not see.
    pub denied: u64,
    /// Processes that could not be read for another reason, or not in time.
    pub left_out: u64,
    /// Pages of locked ranges, which the kernel does not swap.
    pub locked: u64,
}

/// One process with its ranges.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfProcess {
    /// Its id.
    pub pid: u32,
    /// When it started, which tells it from a later one with the same id.
    pub started_ticks: u64,
    /// Its name.
    pub name: String,
    /// Its memory control group.
    pub group: Option<String>,
    /// Ranges with pages, in the order of addresses.
    pub spans: Vec<Span>,
}

/// A range of addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Span {
    /// First byte.
    pub start: u64,
    /// Behind the last.
    pub end: u64,
    /// Anonymous pages in RAM.
    pub present: u64,
    /// Pages in swap.
    pub swapped: u64,
}

impl OfProcess {
    /// Anonymous pages in RAM.
    #[must_use]
    pub fn present(&self) -> u64 {
        self.spans.iter().map(|span| span.present).sum()
    }

    /// Pages in swap.
    #[must_use]
    pub fn swapped(&self) -> u64 {
        self.spans.iter().map(|span| span.swapped).sum()
    }
}

/// Reads the processes with these ids but this one; `over` ends it.
#[must_use]
pub fn read_ranges(root: &Root, pids: &[u32], over: &dyn Fn() -> bool) -> Ranges {
    let mut out = Ranges::default();
    let Ok(proc) = ProcDir::open(root) else { return out };
    let page = process::page_size();
    let mut text = Vec::new();
    for pid in pids.iter().copied().filter(|pid| *pid != std::process::id()) {
        if over() {
            out.left_out += 1;
            continue;
        }
        match one(&proc, pid, page, &mut text) {
            Ok((process, locked)) => {
                out.locked += locked;
                out.processes.extend(Some(process).filter(|process| !process.spans.is_empty()));
            }
            Err(NotRead::Vanished) => out.ended += 1,
            Err(NotRead::Denied) => out.denied += 1,
            Err(NotRead::Absent | NotRead::Unusable) => out.left_out += 1,
        }
    }
    out
}

fn one(proc: &ProcDir, pid: u32, page: u64, text: &mut Vec<u8>) -> Result<(OfProcess, u64), NotRead> {
    let dir = proc.process(pid)?;
    let mut now = Process::default();
    now.stat(dir.read("stat", text)?).map_err(|_| NotRead::Unusable)?;
    let group =
        dir.read("cgroup", text).ok().and_then(cgroup_path).map(|path| String::from_utf8_lossy(path).into_owned());
    let (spans, locked) = spans(dir.read("smaps", text)?, page);
    Ok((OfProcess { pid, started_ticks: now.started_ticks, name: now.name, group, spans }, locked))
}

/// Ranges the kernel would not swap, by their flags: locked, of a device, without struct pages, hugetlb, shared (fs/proc/task_mmu.c).
const NOT_SWAPPED: [&str; 6] = ["lo", "io", "pf", "ht", "mm", "sh"];

/// The ranges with pages, and how many pages are locked.
fn spans(smaps: &[u8], page: u64) -> (Vec<Span>, u64) {
    let (mut out, mut locked) = (Vec::new(), 0);
    let mut span = Span::default();
    for line in smaps.split(|b| *b == b'\n') {
        let Ok(line) = std::str::from_utf8(line.get(..256).unwrap_or(line)) else { continue };
        let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
        let pages =
            || rest.split_whitespace().next().and_then(|kib| kib.parse::<u64>().ok()).map(|kib| kib * 1024 / page);
        match first.strip_suffix(':') {
            Some("Anonymous") => span.present = pages().unwrap_or(0),
            Some("Swap") => span.swapped = pages().unwrap_or(0),
            // The last line of each range.
            Some("VmFlags") => {
                if rest.split_whitespace().any(|flag| NOT_SWAPPED.contains(&flag)) {
                    let is_locked = rest.split_whitespace().any(|flag| flag == "lo");
                    locked += if is_locked { span.present } else { 0 };
                } else if span.present + span.swapped > 0 && span.start < span.end {
                    out.push(span);
                }
                span = Span::default();
            }
            Some(_) => {}
            None => {
                let hex = |digits| u64::from_str_radix(digits, 16).ok();
                if let Some((start, end)) = first.split_once('-').and_then(|(a, b)| Some((hex(a)?, hex(b)?))) {
                    span = Span { start, end, ..Span::default() };
                }
            }
        }
    }
    (out, locked)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ranges_the_kernel_would_swap_are_candidates_and_locked_pages_are_counted() {
        let smaps = b"1000-9000 rw-p 00000000 00:00 0 [heap]\nRss: 12 kB\nAnonymous:  8 kB\nSwap:   4 kB\nVmFlags: rd wr mr ac \n\
            9000-a000 r--p 0 08:01 7 /lib/x y: z\nAnonymous: 0 kB\nSwap: 0 kB\nVmFlags: rd mr \n\
            b000-d000 rw-p 0 00:00 0 \nAnonymous: 8 kB\nSwap: 0 kB\nVmFlags: rd wr lo \n\
            d000-e000 rw-s 0 00:01 9 /dev/zero\nAnonymous: 4 kB\nSwap: 4 kB\nVmFlags: rd wr sh \n\xff\n\
            e000-f000 rw-p 0 08:01 7 /lib/x\nAnonymous: 4 kB\nSwap: 0 kB\nVmFlags: rd wr \n";
        let (spans, locked) = spans(smaps, 4096);
        let span = |start, end, present, swapped| Span { start, end, present, swapped };
        assert_eq!(spans, [span(0x1000, 0x9000, 2, 1), span(0xe000, 0xf000, 1, 0)]);
        assert_eq!(locked, 2);
    }

    #[test]
    fn a_process_that_does_not_exist_has_ended_and_this_one_is_left_out() {
        let found = read_ranges(&Root::live(), &[u32::MAX / 2, std::process::id()], &|| false);
        assert_eq!((found.processes.len(), found.ended, found.left_out), (0, 1, 0));
    }
}
