//! Reading the kernel's memory: a program of ours that copies what stands at addresses of the kernel into an array that this process has mapped.
//!
//! Many addresses are read by one call. What cannot be read is `None`; the kernel never faults over it (`bpf_probe_read_kernel`).

use super::call::{ProgramKind, load, make_mappable, run};
use super::program::{Assembler, Helper, Instruction, R0, R1, R2, R3, R6, R7, R8};
use crate::map::Map;
use crate::prelude::*;

/// What one read is of: a page of 4 KiB, the size of every page table of x86-64.
pub const PAGE: usize = 4096;
/// Words of a page.
pub const WORDS: usize = PAGE / 8;
/// Addresses of one call: as many as a page table has entries.
pub const MOST: usize = WORDS;

// The array: a page with the number of addresses and the current task, one with addresses, one with what became of each, then what was read.
const TASK: i16 = 8;
const ADDRESSES: i16 = 4096;
const RESULTS: i16 = 8192;
const CONTENTS: i32 = 12288;
const WHOLE: usize = 12288 + MOST * PAGE;

/// The array and two programs; all end with this value, or with the process.
#[derive(Debug)]
pub struct KernelMemory {
    area: Map,
    pages: OwnedFd,
    words: OwnedFd,
    _map: OwnedFd,
}

impl KernelMemory {
    /// Makes the array and loads the programs.
    ///
    /// # Errors
    /// `Denied` without root or CAP_BPF and CAP_PERFMON, `Refused` where the kernel is locked down, `Unsupported` before Linux 5.14.
    pub fn open() -> Result<KernelMemory> {
        let map = make_mappable(u32::try_from(WHOLE).unwrap_or(u32::MAX))?;
        let pages = load(ProgramKind::Syscall, &program(&map, 4096))?;
        let words = load(ProgramKind::Syscall, &program(&map, 8))?;
        let area = Map::from_descriptor(&map, WHOLE).tried("map the array of", "bpf(2)")?;
        Ok(KernelMemory { area, pages, words, _map: map })
    }

    fn read(&mut self, addresses: &[u64], whole_pages: bool) -> Result<()> {
        let addresses = addresses.get(..MOST.min(addresses.len())).unwrap_or_default();
        self.area.write_at(0, &(addresses.len() as u64).to_ne_bytes())?;
        for (n, address) in addresses.iter().enumerate() {
            self.area.write_at(at(ADDRESSES) + 8 * n, &address.to_ne_bytes())?;
        }
        run(if whole_pages { &self.pages } else { &self.words })
    }

    /// The word at an offset of the array.
    fn word_at(&self, offset: usize) -> u64 {
        let eight = self.area.as_slice().get(offset..).and_then(|from| from.first_chunk::<8>());
        eight.map_or(0, |eight| u64::from_ne_bytes(*eight))
    }

    fn was_read(&self, n: usize) -> bool {
        self.word_at(at(RESULTS) + 8 * n) == 0
    }

    fn contents(n: usize) -> usize {
        usize::try_from(CONTENTS).unwrap_or(0) + n * PAGE
    }

    /// The words at these addresses, at most [`MOST`].
    ///
    /// # Errors
    /// The program cannot be run.
    pub fn words<const N: usize>(&mut self, addresses: [u64; N]) -> Result<[Option<u64>; N]> {
        self.read(&addresses, false)?;
        Ok(std::array::from_fn(|n| self.was_read(n).then(|| self.word_at(Self::contents(n)))))
    }

    /// Reads the pages at these addresses, at most [`MOST`], and hands over each by its place in the list.
    ///
    /// # Errors
    /// The program cannot be run.
    pub fn pages(&mut self, addresses: &[u64], mut each: impl FnMut(usize, Option<&[u8]>)) -> Result<()> {
        self.read(addresses, true)?;
        for n in 0..addresses.len().min(MOST) {
            let begin = Self::contents(n);
            each(n, self.area.as_slice().get(begin..begin + PAGE).filter(|_| self.was_read(n)));
        }
        Ok(())
    }

    /// One page as a table of words; `None` where it cannot be read.
    ///
    /// # Errors
    /// The program cannot be run.
    pub fn table(&mut self, address: u64) -> Result<Option<Vec<u64>>> {
        let mut out = None;
        self.pages(&[address], |_, page| out = page.map(|page| table(page).collect()))?;
        Ok(out)
    }

    /// The address of the task that called this.
    ///
    /// # Errors
    /// The program cannot be run.
    pub fn own_task(&mut self) -> Result<u64> {
        self.read(&[], false)?;
        Ok(self.word_at(at(TASK)))
    }
}

/// The words of a page.
pub fn table(page: &[u8]) -> impl Iterator<Item = u64> + '_ {
    let (words, _) = page.as_chunks::<8>();
    words.iter().map(|word| u64::from_ne_bytes(*word))
}

fn at(offset: i16) -> usize {
    usize::try_from(offset).unwrap_or(0)
}

/// Copies `length` bytes from each address to its place.
fn program(map: &OwnedFd, length: i32) -> Vec<Instruction> {
    let mut p = Assembler::default();
    p.only_value(R6, map);
    p.call(Helper::CurrentTask);
    p.store(R6, TASK, R0);
    p.set(R7, 0);
    let begin = p.here();
    p.load(R1, R6, 0);
    p.end_unless_below(R7, R1);
    p.copy(R2, R7);
    p.shift_left(R2, 3);
    p.copy(R8, R6);
    p.add_register(R8, R2);
    p.load(R3, R8, ADDRESSES);
    p.copy(R2, R7);
    p.shift_left(R2, 12);
    p.copy(R1, R6);
    p.add_register(R1, R2);
    p.add(R1, CONTENTS);
    p.set(R2, length);
    p.call(Helper::ProbeReadKernel);
    p.store(R8, RESULTS, R0);
    p.add(R7, 1);
    p.repeat_while_below(begin, R7, i32::try_from(MOST).unwrap_or(0));
    p.finish()
}
