//! Processes that began while the others were read: they are in the machine's sums and in no list.
//!
//! The kernel numbers tasks upwards and says which number was the last (`/proc/loadavg`, fifth field), so two readings give the range that
//! was begun in between, threads among them. Each is looked at just before and just after the sums are read, and counts with the
//! larger of the two: one that lives at the time of the sums was there at one of the looks, or lived for less than the time between.
//!
//! Worked example: 4,711 before the pass, 4,714 after it: 4,712 is a thread, 4,713 has ended, 4,714 maps 9 MiB. Begun: 9 MiB.

use crate::prelude::*;
use crate::proc_dir::NotRead;

/// Of more it is not known what they map: to ask each would take as long as the pass.
const MOST: u32 = 4096;

/// Tasks of a range of numbers.
#[derive(Debug)]
pub(crate) struct StartedTasks<'a> {
    root: &'a Root,
    from: u32,
    /// Anonymous memory, and files with shared memory, of each at most; `None` where they are not known.
    mapped: Option<BTreeMap<u32, (Bytes, Bytes)>>,
}

impl<'a> StartedTasks<'a> {
    /// The number of the task that began last; `None` in a captured tree, whose list is not taken at this moment.
    pub fn newest(root: &Root) -> Option<u32> {
        let live = root.is_live().then(|| std::fs::read_to_string(root.path("/proc/loadavg")).ok())??;
        live.split_ascii_whitespace().nth(4)?.parse().ok()
    }

    /// All that began after this one; none was looked at yet.
    pub fn after(root: &'a Root, newest: u32) -> StartedTasks<'a> {
        StartedTasks { root, from: newest, mapped: Some(BTreeMap::new()) }
    }

    /// Looks at each that is there now.
    pub fn look(&mut self) {
        // Past the largest number the kernel begins again with small ones.
        let range = StartedTasks::newest(self.root).filter(|to| *to >= self.from && to - self.from <= MOST);
        let (Some(to), Some(mapped), Ok(proc)) = (range, self.mapped.as_mut(), ProcDir::open(self.root)) else {
            self.mapped = None;
            return;
        };
        let mut buffer = Vec::new();
        for pid in self.from + 1..=to {
            let status = proc.process(pid).and_then(|dir| dir.read("status", &mut buffer));
            match status {
                Ok(text) if is_thread(text, pid) => {}
                Ok(text) => {
                    let mut process = Process::default();
                    process.status(text);
                    let (anon, shared) = mapped.entry(pid).or_default();
                    *anon = process.rss_anon.unwrap_or_default().max(*anon);
                    *shared = process.rss_shared().max(*shared);
                }
                Err(NotRead::Vanished | NotRead::Absent) => {}
                Err(_) => {
                    self.mapped = None;
                    return;
                }
            }
        }
    }

    /// How many were there at a look.
    pub fn count(&self) -> u64 {
        self.mapped.as_ref().map_or(0, |mapped| mapped.len() as u64)
    }

    /// What they mapped together, at most: anonymous memory, and files with shared memory.
    pub fn most(self) -> Option<(Bytes, Bytes)> {
        let each = self.mapped?.into_values();
        Some(each.fold(Default::default(), |(a, s), (anon, shared)| (a + anon, s + shared)))
    }
}

/// A number may be that of a thread: its memory is that of its process.
fn is_thread(status: &[u8], pid: u32) -> bool {
    let line = status.split(|b| *b == b'\n').find_map(|line| line.strip_prefix(b"Tgid:"));
    let group = line.and_then(|value| std::str::from_utf8(value).ok()?.trim().parse::<u32>().ok());
    group != Some(pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_begins_is_counted_with_what_it_maps_and_a_thread_is_not() {
        let root = Root::live();
        let newest = StartedTasks::newest(&root).unwrap();
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let mut begun = StartedTasks::after(&root, newest);
        // The program is there once exec is done.
        let found = (0..500).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            begun.look();
            begun.mapped.as_ref().unwrap().get(&child.id()).is_some_and(|(anon, shared)| anon.0 > 0 && shared.0 > 0)
        });
        child.kill().unwrap();
        child.wait().unwrap();
        begun.look();
        assert!(found && begun.mapped.as_ref().unwrap().contains_key(&child.id()), "the larger of two looks counts");
        assert!(is_thread(b"Name:\tx\nTgid:\t7\nPid:\t8\n", 8) && !is_thread(b"Tgid:\t8\n", 8));
    }

    #[test]
    fn numbers_that_began_again_or_are_too_many_are_not_known() {
        let root = Root::live();
        for newest in [u32::MAX, 0] {
            let mut begun = StartedTasks::after(&root, newest);
            let there = StartedTasks::newest(&root).unwrap();
            begun.look();
            assert_eq!(begun.most().is_none(), newest > there || there > MOST, "{newest} {there}");
        }
        assert_eq!(StartedTasks::newest(&Root::new("/nonexistent")), None);
    }
}
