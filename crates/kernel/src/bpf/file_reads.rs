//! Which pages of files some processes read with read(2), and which they write: programs at raw tracepoints of the kernel.
//!
//! Page tables know nothing of them. A read is seen after its pages are in the cache, with the extent that was asked for; a write, where a clean page becomes
//! dirty. What a followed process starts is followed from its first instruction on.
//!
//! A read of a page that is cached costs a program less than this does, so most of it is left out in the kernel: the same page once more right away,
//! and what was reported twice since [`FileReads::next_epoch`].
//!
//! ```no_run
//! use ramline_kernel::{Root, bpf::FileReads};
//! let mut reads = FileReads::start(&Root::live(), &[1234], &[])?;
//! std::thread::sleep(std::time::Duration::from_secs(1));
//! reads.drain(|read| println!("{read:?}"));
//! # Ok::<(), ramline_kernel::KernelError>(())
//! ```

use super::btf::Btf;
use super::call::{MapKind, ProgramKind, attach, load, make_map, only_value, set_only_value, set_value};
use super::program::{Assembler, Block, FRAME, Helper, Instruction, R0, R1, R2, R3, R4, R6, R7, R8, Reg};
use super::repeats::Repeats;
use super::ring::Ring;
use crate::prelude::*;

/// Room for 58,254 records, and it is read twenty times a second.
const RING: Bytes = Bytes::from_mib(4);
/// Processes that are followed at least; where more begin, the one that read longest ago is forgotten.
const LEAST: usize = 1 << 14;

/// Pages of a file that were read or written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileRead {
    /// The file's device, as the kernel counts it.
    pub device: u32,
    /// The file's inode.
    pub inode: u64,
    /// The first page.
    pub first: u64,
    /// How many.
    pub count: u64,
    /// They were written: a clean page became dirty.
    pub written: bool,
    /// The thread, and the last page that it asked for: a read of many pages is reported again and again, each time from where it is.
    pub by: (u32, u64),
}

/// What reads files; it ends when this is dropped, or with the process.
#[derive(Debug)]
pub struct FileReads {
    ring: Ring,
    lost: OwnedFd,
    followed: OwnedFd,
    parents: OwnedFd,
    /// Twice the number of the epoch.
    epoch: OwnedFd,
    epochs: u64,
    head: u64,
    /// Writes are seen too.
    writes: bool,
    /// Programs and links: closed, they end.
    _held: Vec<OwnedFd>,
}

/// Where fields are in the running kernel.
struct Fields {
    host: i32,
    inode: i32,
    mode: i32,
    size: i32,
    super_block: i32,
    device: i32,
    index: i32,
    flags: i32,
    order: i32,
    tgid: i32,
}

// A record: nine words.
const KIND: i16 = 0;
const INODE: i16 = 8;
const DEVICE: i16 = 16;
const FIRST: i16 = 24;
/// Of a read the last page; of a write the flags of the folio.
const LAST: i16 = 32;
const ORDER: i16 = 40;
const MODE: i16 = 48;
const SIZE: i16 = 56;
const TASK: i16 = 64;
const RECORD: i32 = 72;
/// Bytes of what the page cache counts in.
const PAGE: u64 = 4096;
// Of the mode of an inode: its type, and that of a file (S_IFMT, S_IFREG).
const TYPE: u16 = 0o170_000;
const REGULAR: u16 = 0o100_000;
const READ: i32 = 0;
const WRITTEN: i32 = 1;

impl FileReads {
    /// Follows these processes, and what the `parents` start from now on.
    ///
    /// # Errors
    /// `Denied` without root or the capabilities, `Refused` where the kernel is locked down, `Unsupported` where it has no BTF, or no tracepoint
    /// at reads of files (before Linux 6.12).
    pub fn start(root: &Root, followed: &[u32], parents: &[u32]) -> Result<FileReads> {
        let btf = Btf::from_kernel(root)?;
        let fields = Fields::from_btf(&btf)?;
        let head = 1 << btf.enumerator("pageflags", "PG_head")?;
        if !btf.has_tracepoint("mm_filemap_get_pages") {
            let object = "the kernel's tracepoint of reads (Linux 6.12)";
            return Err(KernelError::unsupported("record", "read(2)", object));
        }
        let room = u32::try_from((4 * followed.len()).max(LEAST)).unwrap_or(u32::MAX);
        let map = || make_map(MapKind::LruHash, 8, 8, room);
        let (ids, starters) = (map()?, map()?);
        let lost = make_map(MapKind::Array, 4, 8, 1)?;
        let repeats = Repeats::new()?;
        let ring = Ring::make(RING)?;
        let mut held = Vec::new();
        let mut run = |program: Vec<Instruction>, point| -> Result<()> {
            let program = load(ProgramKind::RawTracepoint, &program)?;
            held.push(attach(&program, point)?);
            held.push(program);
            Ok(())
        };
        run(fields.starts(&ids, &starters), c"sched_process_fork")?;
        run(fields.reads(&ids, &lost, ring.map(), &repeats), c"mm_filemap_get_pages")?;
        let writes = run(fields.writes(&ids, &lost, ring.map()), c"writeback_dirty_folio").is_ok();
        held.extend([repeats.remembered, repeats.before]);
        let mut out = FileReads {
            ring,
            lost,
            followed: ids,
            parents: starters,
            epoch: repeats.epoch,
            epochs: 0,
            head,
            writes,
            _held: held,
        };
        // The places are empty: as if of epoch 0.
        out.next_epoch()?;
        followed.iter().try_for_each(|pid| set_value(&out.followed, u64::from(*pid), 1))?;
        parents.iter().try_for_each(|pid| set_value(&out.parents, u64::from(*pid), 1))?;
        Ok(out)
    }

    /// Follows one more process and what it starts.
    ///
    /// # Errors
    /// The kernel does not take it in.
    pub fn follow(&self, pid: u32) -> Result<()> {
        set_value(&self.followed, u64::from(pid), 1)?;
        set_value(&self.parents, u64::from(pid), 1)
    }

    /// From now on a read is reported that was reported before, twice at most.
    ///
    /// # Errors
    /// The kernel does not take it in.
    pub fn next_epoch(&mut self) -> Result<()> {
        self.epochs += 1;
        set_only_value(&self.epoch, 2 * self.epochs)
    }

    /// Writes are seen too; else they are unknown.
    #[must_use]
    pub const fn sees_writes(&self) -> bool {
        self.writes
    }

    /// Hands over what was read and written since the last call, in order.
    pub fn drain(&mut self, mut each: impl FnMut(FileRead)) {
        let head = self.head;
        self.ring.drain(|record| each_of(record, head).into_iter().for_each(&mut each));
    }

    /// Records for which there was no room.
    ///
    /// # Errors
    /// When the counter cannot be read.
    pub fn lost(&self) -> Result<u64> {
        only_value(&self.lost)
    }
}

fn each_of(record: &[u8], head: u64) -> Option<FileRead> {
    let word = |at: i16| {
        let at = usize::try_from(at).ok()?;
        record.get(at..at + 8)?.try_into().ok().map(u64::from_ne_bytes)
    };
    // What a file system writes of itself belongs to its disk, and to no process.
    let mode = u16::from_ne_bytes(record.get(48..50)?.try_into().ok()?);
    if mode & TYPE != REGULAR {
        return None;
    }
    // The device was read as four bytes.
    let device = u32::from_ne_bytes(record.get(16..20)?.try_into().ok()?);
    let (inode, first, last) = (word(INODE)?, word(FIRST)?, word(LAST)?);
    let written = word(KIND)? == u64::try_from(WRITTEN).ok()?;
    let thread = u32::try_from(word(TASK)? & 0xffff_ffff).ok()?;
    // What was asked for may end far behind the file.
    let end_of_file = word(SIZE)?.div_ceil(PAGE);
    let count = if written {
        // Beyond 512 GiB no folio goes: what says so is no order.
        1 << if last & head == 0 { 0 } else { (word(ORDER)? & 0xff).min(27) }
    } else {
        last.saturating_add(1).min(end_of_file).checked_sub(first).filter(|count| *count > 0)?
    };
    Some(FileRead { device, inode, first, count, written, by: (thread, last) })
}

impl Fields {
    fn from_btf(btf: &Btf) -> Result<Fields> {
        let at = |structure: &str, member: &str| {
            btf.offset(structure, member).map(|offset| i32::try_from(offset).unwrap_or(i32::MAX))
        };
        // Before 6.6 the order had a field of its own.
        let order = match btf.offset_if_any("folio", "_folio_order") {
            Some(offset) => i32::try_from(offset).unwrap_or(i32::MAX),
            None => at("folio", "_flags_1")?,
        };
        Ok(Fields {
            host: at("address_space", "host")?,
            inode: at("inode", "i_ino")?,
            mode: at("inode", "i_mode")?,
            size: at("inode", "i_size")?,
            super_block: at("inode", "i_sb")?,
            device: at("super_block", "s_dev")?,
            index: at("folio", "index")?,
            flags: at("folio", "flags")?,
            order,
            tgid: at("task_struct", "tgid")?,
        })
    }

    /// At a fork: the child of a parent that is known becomes known.
    fn starts(&self, ids: &OwnedFd, parents: &OwnedFd) -> Vec<Instruction> {
        let mut p = Assembler::default();
        p.load(R6, R1, 0);
        p.load(R7, R1, 8);
        self.process_of(&mut p, R6);
        p.map(R1, parents);
        p.copy(R2, FRAME);
        p.add(R2, -8);
        p.call(Helper::MapLookup);
        p.end_if_zero(R0);
        self.process_of(&mut p, R7);
        p.store_value(FRAME, -16, 1);
        for map in [ids, parents] {
            p.map(R1, map);
            p.copy(R2, FRAME);
            p.add(R2, -8);
            p.copy(R3, FRAME);
            p.add(R3, -16);
            p.set(R4, 0);
            p.call(Helper::MapUpdate);
        }
        p.finish()
    }

    /// The process of a task, as a key on the stack.
    fn process_of(&self, p: &mut Assembler, task: Reg) {
        p.store_value(FRAME, -8, 0);
        p.read_kernel(FRAME, -8, 4, task, self.tgid);
    }

    /// Ends the program unless the current process is followed.
    fn end_unless_followed(p: &mut Assembler, ids: &OwnedFd) {
        p.call(Helper::CurrentPidTgid);
        p.shift_right(R0, 32);
        p.store(FRAME, -8, R0);
        p.map(R1, ids);
        p.copy(R2, FRAME);
        p.add(R2, -8);
        p.call(Helper::MapLookup);
        p.end_if_zero(R0);
    }

    /// Asks for room for a record, at register 8.
    fn begin(p: &mut Assembler, lost: &OwnedFd, ring: &OwnedFd) {
        p.reserve(R8, ring, RECORD, lost);
        p.call(Helper::CurrentPidTgid);
        p.store(R8, TASK, R0);
    }

    /// The file of the mapping whose address stands at -24 of the stack.
    fn file(&self, p: &mut Assembler) {
        let inode = Block::new(-256, &[self.inode, self.mode, self.size, self.super_block]);
        p.load(R6, FRAME, -24);
        p.read_kernel(FRAME, -8, 8, R6, self.host);
        p.load(R6, FRAME, -8);
        inode.read(p, R6);
        for (field, at) in [(self.inode, INODE), (self.mode, MODE), (self.size, SIZE)] {
            inode.word(p, R6, field);
            p.store(R8, at, R6);
        }
        inode.word(p, R6, self.super_block);
        p.store_value(R8, DEVICE, 0);
        p.read_kernel(R8, DEVICE.into(), 4, R6, self.device);
    }

    /// At a read: mapping, first and last page are its arguments.
    fn reads(&self, ids: &OwnedFd, lost: &OwnedFd, ring: &OwnedFd, repeats: &Repeats) -> Vec<Instruction> {
        let mut p = Assembler::default();
        for (argument, at) in [(0, -24), (8, -32), (16, -40)] {
            p.load(R6, R1, argument);
            p.store(FRAME, at, R6);
        }
        Fields::end_unless_followed(&mut p, ids);
        repeats.end_if_known(&mut p);
        Fields::begin(&mut p, lost, ring);
        p.store_value(R8, KIND, READ);
        for (at, from) in [(FIRST, -32), (LAST, -40)] {
            p.load(R6, FRAME, from);
            p.store(R8, at, R6);
        }
        p.store_value(R8, ORDER, 0);
        self.file(&mut p);
        p.submit(R8);
        p.finish()
    }

    /// Where a page becomes dirty: folio and mapping are the arguments.
    fn writes(&self, ids: &OwnedFd, lost: &OwnedFd, ring: &OwnedFd) -> Vec<Instruction> {
        let mut p = Assembler::default();
        p.load(R7, R1, 0);
        p.load(R6, R1, 8);
        p.store(FRAME, -24, R6);
        Fields::end_unless_followed(&mut p, ids);
        Fields::begin(&mut p, lost, ring);
        p.store_value(R8, KIND, WRITTEN);
        p.read_kernel(R8, FIRST.into(), 8, R7, self.index);
        p.read_kernel(R8, LAST.into(), 8, R7, self.flags);
        p.read_kernel(R8, ORDER.into(), 8, R7, self.order);
        self.file(&mut p);
        p.submit(R8);
        p.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_read_has_its_last_page_in_it_and_a_write_is_of_a_whole_folio() {
        let of = |words: [u64; 6], mode: u16, size: u64| {
            let mode = [&mode.to_ne_bytes()[..], &[0; 6]].concat();
            let words = words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
            [words, mode, size.to_ne_bytes().to_vec(), 77_u64.to_ne_bytes().to_vec()].concat()
        };
        let record = |words| of(words, 0o100_644, 100 << 12);
        let head = 1 << 6;
        let read = each_of(&record([0, 1311, 0, 7, 9, 0]), head).unwrap();
        assert_eq!((read.inode, read.first, read.count, read.written, read.by), (1311, 7, 3, false, (77, 9)));
        let written = |flags| each_of(&record([1, 1311, 0, 8, flags, 2]), head).unwrap();
        assert_eq!(
            [written(0), written(head)].map(|one| (one.first, one.count, one.written)),
            [(8, 1, true), (8, 4, true)]
        );
        assert_eq!(each_of(&record([0, 1, 0, 9, 7, 0]), head), None);
        assert_eq!(each_of(&record([0; 6])[..68], head), None);
        assert_eq!(each_of(&of([1, 0, 0, 60_000_000, 0, 0], 0o060_600, 1 << 50), head), None);
        // A buffer of 128 KiB for a file of 5,000 bytes; and one behind the end.
        let short = |first| each_of(&of([0, 1, 0, first, 31, 0], 0o100_644, 5000), head).map(|one| one.count);
        assert_eq!([short(0), short(1), short(2)], [Some(2), Some(1), None]);
    }
}
