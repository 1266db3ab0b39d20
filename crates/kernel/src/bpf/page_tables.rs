//! Page tables of x86-64, of any process, read through [`KernelMemory`]: which pages are present, and which were used since the accessed bits were cleared.
//!
//! The kernel's structures are found by its types: the list of tasks, the task's memory, the root of its tables. Where physical memory is mapped is not
//! looked up but found: the only address at which the kernel's own tables have physical page 0. Nothing is believed before a page of our own,
//! found through our own tables, was read back ([`PageTables::open`]).
//!
//! Tables may be freed and used anew while they are read. The level above is therefore read again afterwards, and what has changed there is left out and counted;
//! and the process must have the same memory after a walk as before it.
//!
//! ```no_run
//! use ramline_kernel::{Root, bpf::PageTables};
//! let mut tables = PageTables::open(&Root::live())?;
//! let space = tables.space(std::process::id())?.expect("our own");
//! let mut accessed = 0;
//! tables.walk(&space, &[0x40_0000..0x50_0000], |leaf| accessed += u64::from(leaf.entry.is_accessed()))?;
//! # Ok::<(), ramline_kernel::KernelError>(())
//! ```

mod entry;

use std::ops::Range;

use super::btf::Btf;
use super::kernel_memory::{KernelMemory, MOST, WORDS, table};
use crate::map::{Advice, Map, Sharing};
use crate::prelude::*;

pub use entry::Entry;
use entry::{HUGE, PHYSICAL, PRESENT};

/// The kernel counts no more tasks (`PID_MAX_LIMIT`, linux/threads.h).
const MOST_TASKS: u32 = 4 << 20;
/// Where physical memory may be mapped: so many GiB below the root of our tables, which is the most that 46 bits of addresses have.
const CANDIDATES: u64 = 1 << 16;
const GIB: u64 = 1 << 30;

/// An entry that is not empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaf {
    /// The address it is of.
    pub address: u64,
    /// Pages of 4 KiB: 1, 512 or 262,144.
    pub pages: u64,
    /// The entry.
    pub entry: Entry,
}

/// The memory of a process, as the kernel knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AddressSpace {
    pid: u32,
    task: u64,
    memory: u64,
    root: u64,
}

impl AddressSpace {
    /// Identifies this memory as long as it exists: exec(2) gives a process another.
    #[must_use]
    pub const fn id(&self) -> u64 {
        self.memory
    }
}

/// How a walk went.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Walked {
    /// Tables of the last level that were read.
    pub tables: u64,
    /// Tables that went away or could not be read: their pages are unknown.
    pub missed: u64,
    /// The process had the same memory at the end. If not, nothing of the walk is to be believed.
    pub is_sound: bool,
}

#[derive(Debug, Clone, Copy)]
struct Fields {
    pid: u64,
    tasks: u64,
    memory: u64,
    leader: u64,
    signal: u64,
    threads: u64,
    thread: u64,
    root: u64,
}

/// The reader of page tables.
#[derive(Debug)]
pub struct PageTables {
    memory: KernelMemory,
    fields: Fields,
    /// Where physical address 0 is mapped.
    base: u64,
    levels: u32,
}

impl PageTables {
    /// Finds the kernel's structures, and proves on a page of our own that they are understood.
    ///
    /// # Errors
    /// `Unsupported` on other processors than x86-64, without the kernel's types, or where the proof fails; `Denied` and `Refused` as of [`KernelMemory::open`].
    pub fn open(root: &Root) -> Result<PageTables> {
        let tried = "read page tables through";
        if !cfg!(target_arch = "x86_64") {
            return Err(KernelError::unsupported(
                tried,
                "bpf(2)",
                "page tables of this processor; only x86-64 is known",
            ));
        }
        let fields = Fields::from_btf(&Btf::from_kernel(root)?)?;
        let mut memory = KernelMemory::open()?;
        let task = memory.own_task()?;
        // A thread of a process is on no list of tasks: its leader is.
        let [leader] = memory.words([task + fields.leader])?;
        let mut tables = PageTables { memory, fields, base: 0, levels: 4 };
        let pid = std::process::id();
        let found = leader.map(|leader| tables.space_of(leader, pid)).transpose()?.flatten();
        let Some(own) = found else {
            let rule = "this process has another number to the kernel: it runs in a PID namespace, where others cannot be told apart";
            return Err(KernelError::refused(tried, "bpf(2)", rule, ""));
        };
        // With four levels the kernel's half begins at bit 47, so that all above it are set.
        tables.levels = if own.root >> 48 == 0xffff { 4 } else { 5 };
        if tables.find_base(&own)? {
            return Ok(tables);
        }
        let feature = "the layout of this kernel's page tables: a page of our own was not found through them";
        Err(KernelError::unsupported(tried, "bpf(2)", feature))
    }

    /// Of a place that is not the right one whatever stands there is taken for tables, which may lead to page 0 as well: only a page of our own tells.
    fn find_base(&mut self, own: &AddressSpace) -> Result<bool> {
        let root = own.root;
        for n in 0..CANDIDATES {
            let Some(base) = (root & !(GIB - 1)).checked_sub(n * GIB).filter(|base| base >> 63 == 1) else { break };
            self.base = base;
            if self.physical(root, base)? == Some(0) && self.proves_itself(own)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What a virtual address is mapped to.
    fn physical(&mut self, root: u64, address: u64) -> Result<Option<u64>> {
        let mut at = root;
        for level in (1..=self.levels).rev() {
            let shift = 12 + 9 * (level - 1);
            let [entry] = self.memory.words([at + 8 * index(address, shift)])?;
            let Some(entry) = entry.filter(|entry| entry & PRESENT != 0) else { return Ok(None) };
            let within = (1u64 << shift) - 1;
            if level == 1 || entry & HUGE != 0 && level <= 3 {
                return Ok(Some((entry & PHYSICAL & !within) + (address & within)));
            }
            at = self.base.wrapping_add(entry & PHYSICAL);
        }
        Ok(None)
    }

    /// Reads a page of ours through our tables: right only if offsets, levels and the place of physical memory are.
    fn proves_itself(&mut self, own: &AddressSpace) -> Result<bool> {
        let mut page = Map::anonymous(Bytes(4096), Sharing::Private)?;
        page.advise(Advice::NoHugePages)?;
        let mut secret = [0u8; 4096];
        for part in secret.chunks_mut(256) {
            rustix::rand::getrandom(part, rustix::rand::GetRandomFlags::empty())
                .tried("get random bytes for", "a proof")?;
        }
        page.write_at(0, &secret)?;
        let address = page.as_slice().as_ptr().addr() as u64;
        let Some(physical) = self.physical(own.root, address)? else { return Ok(false) };
        let (mut same, base) = (false, self.base);
        self.memory.pages(&[base.wrapping_add(physical)], |_, found| same = found == Some(&secret[..]))?;
        Ok(same)
    }

    /// The memory of a process; `None` when there is none of that number, or it has no memory (any more).
    ///
    /// # Errors
    /// The kernel's memory cannot be read.
    pub fn space(&mut self, pid: u32) -> Result<Option<AddressSpace>> {
        // The list changes while it is followed; a task that leaves it still points on, so that a second try is enough, and five are cheap.
        for _ in 0..5 {
            if let Some(task) = self.task(pid)? {
                return self.space_of(task, pid);
            }
        }
        Ok(None)
    }

    /// The memory that a process has now, of which it was known before; `None` when it has ended.
    ///
    /// # Errors
    /// The kernel's memory cannot be read.
    pub fn again(&mut self, space: &AddressSpace) -> Result<Option<AddressSpace>> {
        self.space_of(space.task, space.pid)
    }

    fn task(&mut self, wanted: u32) -> Result<Option<u64>> {
        let Fields { pid, tasks, leader, .. } = self.fields;
        let own = self.memory.own_task()?;
        let [first] = self.memory.words([own + leader])?;
        let Some(first) = first else { return Ok(None) };
        let mut at = first;
        for _ in 0..MOST_TASKS {
            let [number, next] = self.memory.words([at + pid, at + tasks])?;
            let (Some(number), Some(next)) = (number, next) else { return Ok(None) };
            if low(number) == wanted {
                return Ok(Some(at));
            }
            at = next.wrapping_sub(tasks);
            if at == first {
                break;
            }
        }
        Ok(None)
    }

    /// The memory of the process that this task leads.
    fn space_of(&mut self, task: u64, pid: u32) -> Result<Option<AddressSpace>> {
        let f = self.fields;
        let [number, memory, signal] = self.memory.words([task + f.pid, task + f.memory, task + f.signal])?;
        if number.map(low) != Some(pid) {
            return Ok(None);
        }
        let mut memory = memory.filter(|memory| *memory != 0);
        // A leader that has ended has no memory, while its threads live on with it.
        if let (None, Some(signal)) = (memory, signal) {
            let head = signal + f.threads;
            let mut at = self.memory.words([head])?[0].unwrap_or(head);
            for _ in 0..MOST_TASKS {
                if at == head || memory.is_some() {
                    break;
                }
                let [found, next] = self.memory.words([at.wrapping_sub(f.thread) + f.memory, at])?;
                memory = found.filter(|memory| *memory != 0);
                at = next.unwrap_or(head);
            }
        }
        let Some(memory) = memory else { return Ok(None) };
        let [root] = self.memory.words([memory + f.root])?;
        Ok(root.map(|root| AddressSpace { pid, task, memory, root }))
    }

    /// Hands over every entry that is not empty for the addresses in `ranges`, which ascend and are apart; in order.
    ///
    /// # Errors
    /// The kernel's memory cannot be read.
    pub fn walk(&mut self, space: &AddressSpace, ranges: &[Range<u64>], each: impl FnMut(Leaf)) -> Result<Walked> {
        let mut walked = self.walk_kept(space, ranges, each)?;
        walked.is_sound = self.space_of(space.task, space.pid)?.as_ref() == Some(space);
        Ok(walked)
    }

    /// The same of memory that cannot go away meanwhile ([`crate::process::KeptMemory`]): its process may have ended.
    ///
    /// # Errors
    /// The kernel's memory cannot be read.
    pub fn walk_kept(
        &mut self,
        space: &AddressSpace,
        ranges: &[Range<u64>],
        mut each: impl FnMut(Leaf),
    ) -> Result<Walked> {
        let mut walked = Walked::default();
        let mut at = 0;
        // One table of the third level at a time, which covers 1 GiB: its tables of the last level are one read.
        let mut next = 0u64;
        while let Some(range) = ranges.get(at) {
            let begin = range.start.max(next) & !(GIB - 1);
            if range.end <= next {
                at += 1;
                continue;
            }
            next = begin.saturating_add(GIB);
            self.gibibyte(space, begin, ranges.get(at..).unwrap_or_default(), &mut walked, &mut each)?;
        }
        walked.is_sound = self.memory.words([space.memory + self.fields.root])? == [Some(space.root)];
        Ok(walked)
    }

    /// The entry that the third level's table hangs on, or a page of 1 GiB.
    fn above(&mut self, root: u64, address: u64) -> Result<Option<u64>> {
        let mut at = root;
        for level in (3..=self.levels).rev() {
            let [entry] = self.memory.words([at + 8 * index(address, 12 + 9 * (level - 1))])?;
            let Some(entry) = entry.filter(|entry| entry & PRESENT != 0) else { return Ok(None) };
            if level == 3 {
                return Ok(Some(entry));
            }
            at = self.base.wrapping_add(entry & PHYSICAL);
        }
        Ok(None)
    }

    fn gibibyte(
        &mut self,
        space: &AddressSpace,
        begin: u64,
        ranges: &[Range<u64>],
        walked: &mut Walked,
        each: &mut impl FnMut(Leaf),
    ) -> Result<()> {
        const TABLE: u64 = 2 << 20;
        let Some(above) = self.above(space.root, begin)? else { return Ok(()) };
        if above & HUGE != 0 {
            each(Leaf { address: begin, pages: GIB / 4096, entry: Entry(above) });
            return Ok(());
        }
        let middle = self.base.wrapping_add(above & PHYSICAL);
        let Some(entries) = self.memory.table(middle)? else {
            walked.missed += 1;
            return Ok(());
        };
        let mut wanted = Vec::with_capacity(MOST);
        let mut at = 0;
        for (address, entry) in (0..).map(|n| begin + n * TABLE).zip(&entries) {
            while ranges.get(at).is_some_and(|range| range.end <= address) {
                at += 1;
            }
            if ranges.get(at).is_some_and(|range| range.start < address + TABLE) && *entry != 0 {
                wanted.push((address, *entry));
            }
        }
        let is_huge = |entry: u64| entry & HUGE != 0;
        let addresses: Vec<u64> = wanted
            .iter()
            .filter(|(_, entry)| !is_huge(*entry) && entry & PRESENT != 0)
            .map(|(_, entry)| self.base.wrapping_add(entry & PHYSICAL))
            .collect();
        let mut read: Vec<Option<Vec<u64>>> = Vec::with_capacity(addresses.len());
        if !addresses.is_empty() {
            self.memory.pages(&addresses, |_, page| read.push(page.map(|page| table(page).collect())))?;
        }
        let again = self.memory.table(middle)?.unwrap_or_default();
        let same = self.above(space.root, begin)? == Some(above);
        let (mut read, mut at) = (read.into_iter(), 0);
        for (address, entry) in wanted {
            if is_huge(entry) {
                each(Leaf { address, pages: TABLE / 4096, entry: Entry(entry) });
                continue;
            }
            if entry & PRESENT == 0 {
                continue;
            }
            walked.tables += 1;
            let n = usize::try_from(index(address, 21)).unwrap_or(WORDS);
            let kept = same && again.get(n).is_some_and(|now| (now ^ entry) & (PHYSICAL | PRESENT | HUGE) == 0);
            let Some(words) = read.next().flatten().filter(|_| kept) else {
                walked.missed += 1;
                continue;
            };
            for (address, word) in (0..).map(|n| address + n * 4096).zip(words) {
                if word == 0 {
                    continue;
                }
                while ranges.get(at).is_some_and(|range| range.end <= address) {
                    at += 1;
                }
                if ranges.get(at).is_some_and(|range| range.start <= address) {
                    each(Leaf { address, pages: 1, entry: Entry(word) });
                }
            }
        }
        Ok(())
    }
}

impl Fields {
    fn from_btf(btf: &Btf) -> Result<Fields> {
        let at = |structure: &str, member: &str| btf.offset(structure, member).map(u64::from);
        Ok(Fields {
            pid: at("task_struct", "pid")?,
            tasks: at("task_struct", "tasks")?,
            memory: at("task_struct", "mm")?,
            leader: at("task_struct", "group_leader")?,
            signal: at("task_struct", "signal")?,
            threads: at("signal_struct", "thread_head")?,
            thread: at("task_struct", "thread_node")?,
            root: at("mm_struct", "pgd")?,
        })
    }
}

const fn index(address: u64, shift: u32) -> u64 {
    address >> shift & 511
}

/// The lower half: numbers of tasks have 32 bits.
fn low(word: u64) -> u32 {
    u32::try_from(word & 0xffff_ffff).unwrap_or(0)
}
