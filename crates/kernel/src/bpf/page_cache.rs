//! What groups lose from the page cache and what they take in: a program at two raw tracepoints of the kernel.
//!
//! Only folios charged to the chosen groups make a record; others cost one read of kernel memory and one look-up of their group. An eviction by reclaim is told from a truncation by
//! the folio's PG_lru: reclaim isolates a folio from its list before it takes it out of the cache.
//!
//! ```no_run
//! use ramline_kernel::{Root, bpf::PageCacheWatch};
//! use std::os::unix::fs::MetadataExt;
//! let group = std::fs::metadata("/sys/fs/cgroup/system.slice")?.ino();
//! let mut watch = PageCacheWatch::start(&Root::live(), &[group])?;
//! std::thread::sleep(std::time::Duration::from_secs(1));
//! watch.drain(|event| println!("{event:?}"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::ffi::CStr;

use super::btf::Btf;
use super::call::{MapKind, ProgramKind, attach, load, make_map, only_value, set_value};
use super::program::{Assembler, Block, FRAME, Helper, Instruction, R0, R1, R2, R3, R4, R6, R7, R8};
use super::ring::Ring;
use ramline_units::Nanos;

use crate::prelude::*;

/// Room for 58,254 records: half a second of the fastest load that was seen, and it is read twenty times a second.
const RING: Bytes = Bytes::from_mib(4);

/// Groups of which the program remembers whether they were chosen. Of those beyond, it finds that out each time.
const REMEMBERED: u32 = 8192;

/// A folio that went out of the cache, or came into it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageCacheEvent {
    /// CLOCK_MONOTONIC.
    pub at: Nanos,
    /// The thread that did it, by its id.
    pub task: u32,
    /// What happened.
    pub what: PageCacheChange,
    /// The file's device, as the kernel counts it.
    pub device: u32,
    /// The file's inode.
    pub inode: u64,
    /// The first page of the file.
    pub index: u64,
    /// How many pages the folio has.
    pub pages: u64,
}

/// What happened to a folio.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageCacheChange {
    /// Read, or about to be, or written for the first time.
    Added,
    /// Evicted by reclaim.
    Evicted,
    /// Truncated, deleted or dropped.
    Dropped,
}

/// A watch on some groups; it ends when this is dropped, or with the process.
#[derive(Debug)]
pub struct PageCacheWatch {
    ring: Ring,
    lost: OwnedFd,
    head: u64,
    lru: u64,
    /// Programs and links: closed, they end.
    _held: Vec<OwnedFd>,
}

/// Where fields are in the running kernel.
struct Fields {
    memcg_data: i32,
    /// Where folios name an object cgroup, which names the group.
    of_object: Option<i32>,
    cgroup: i32,
    kn: i32,
    id: i32,
    mapping: i32,
    host: i32,
    inode: i32,
    super_block: i32,
    device: i32,
    index: i32,
    flags: i32,
    order: i32,
    /// PG_head: only then a folio has an order.
    head: i32,
}

/// What the two programs share.
struct Maps {
    /// Inodes of the chosen groups' directories.
    chosen: OwnedFd,
    /// Whether a group, by the address of its `mem_cgroup`, is one of them.
    remembered: OwnedFd,
    lost: OwnedFd,
}

// A record: eight words.
const TIME: i16 = 0;
const TASK: i16 = 8;
const KIND: i16 = 16;
const INODE: i16 = 24;
const DEVICE: i16 = 32;
const INDEX: i16 = 40;
const FLAGS: i16 = 48;
const ORDER: i16 = 56;
const RECORD: i32 = 64;

impl PageCacheWatch {
    /// Watches the groups with these inodes (of their directories in the hierarchy of the memory controller).
    ///
    /// # Errors
    /// `Denied` without root or the capabilities, `Refused` where the kernel is locked down, `Unsupported` where it has no BTF, no ring buffers
    /// (before Linux 5.8) or no such tracepoints.
    pub fn start(root: &Root, groups: &[u64]) -> Result<PageCacheWatch> {
        let btf = Btf::from_kernel(root)?;
        let fields = Fields::from_btf(&btf)?;
        let head = 1 << btf.enumerator("pageflags", "PG_head")?;
        let lru = 1 << btf.enumerator("pageflags", "PG_lru")?;
        let entries = u32::try_from(groups.len().max(1)).unwrap_or(u32::MAX);
        let chosen = make_map(MapKind::Hash, 8, 8, entries)?;
        for group in groups {
            set_value(&chosen, *group, 1)?;
        }
        let remembered = make_map(MapKind::Hash, 8, 8, REMEMBERED)?;
        let maps = Maps { chosen, remembered, lost: make_map(MapKind::Array, 4, 8, 1)? };
        let ring = Ring::make(RING)?;
        let points: [(&CStr, i32); 2] =
            [(c"mm_filemap_delete_from_page_cache", 0), (c"mm_filemap_add_to_page_cache", 1)];
        let mut held = Vec::new();
        for (point, kind) in points {
            let program = load(ProgramKind::RawTracepoint, &fields.program(&maps, ring.map(), kind))?;
            held.push(attach(&program, point)?);
            held.push(program);
        }
        held.extend([maps.chosen, maps.remembered]);
        Ok(PageCacheWatch { ring, lost: maps.lost, head, lru, _held: held })
    }

    /// Hands over what happened since the last call, in order; how much that was.
    pub fn drain(&mut self, mut each: impl FnMut(PageCacheEvent)) -> u64 {
        let (head, lru) = (self.head, self.lru);
        self.ring.drain(|record| {
            if let Some(event) = event(record, head, lru) {
                each(event);
            }
        })
    }

    /// Records for which there was no room.
    ///
    /// # Errors
    /// When the counter cannot be read.
    pub fn lost(&self) -> Result<u64> {
        only_value(&self.lost)
    }
}

fn event(record: &[u8], head: u64, lru: u64) -> Option<PageCacheEvent> {
    let word = |at: i16| {
        let at = usize::try_from(at).ok()?;
        record.get(at..at + 8)?.try_into().ok().map(u64::from_ne_bytes)
    };
    let low = |word: u64| u32::try_from(word & 0xffff_ffff).unwrap_or(0);
    let flags = word(FLAGS)?;
    // Beyond 512 GiB no folio goes: what says so is no order.
    let order = if flags & head == 0 { 0 } else { (word(ORDER)? & 0xff).min(27) };
    let what = match (word(KIND)?, flags & lru) {
        (0, 0) => PageCacheChange::Evicted,
        (0, _) => PageCacheChange::Dropped,
        _ => PageCacheChange::Added,
    };
    // The device was read as four bytes.
    let device = u32::from_ne_bytes(record.get(32..36)?.try_into().ok()?);
    Some(PageCacheEvent {
        at: Nanos(word(TIME)?),
        task: low(word(TASK)?),
        what,
        device,
        inode: word(INODE)?,
        index: word(INDEX)?,
        pages: 1 << order,
    })
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
        // In newer kernels (seen in 7.3) folios belong to an object cgroup that each group has per node, which passes to the parent when the group is removed.
        let by_object = btf.offset_if_any("mem_cgroup_per_node", "objcg").is_some();
        Ok(Fields {
            memcg_data: at("folio", "memcg_data")?,
            of_object: by_object.then(|| at("obj_cgroup", "memcg")).transpose()?,
            cgroup: at("mem_cgroup", "css")? + at("cgroup_subsys_state", "cgroup")?,
            kn: at("cgroup", "kn")?,
            id: at("kernfs_node", "id")?,
            mapping: at("folio", "mapping")?,
            host: at("address_space", "host")?,
            inode: at("inode", "i_ino")?,
            super_block: at("inode", "i_sb")?,
            device: at("super_block", "s_dev")?,
            index: at("folio", "index")?,
            flags: at("folio", "flags")?,
            order,
            head: 1 << btf.enumerator("pageflags", "PG_head")?,
        })
    }

    /// Follows the folio to its group; if that is one of the chosen, writes a record.
    fn program(&self, maps: &Maps, ring: &OwnedFd, kind: i32) -> Vec<Instruction> {
        let folio = Block::new(-160, &[self.memcg_data, self.mapping, self.index, self.flags]);
        let inode = Block::new(-320, &[self.inode, self.super_block]);
        let mut p = Assembler::default();
        // Both tracepoints have the folio as their first argument.
        p.load(R7, R1, 0);
        folio.read(&mut p, R7);
        folio.word(&mut p, R6, self.memcg_data);
        // The lower bits say what kind of pointer it is (enum page_memcg_data_flags).
        p.and(R6, -8);
        p.end_if_zero(R6);
        if let Some(group) = self.of_object {
            p.read_kernel(FRAME, -8, 8, R6, group);
            p.load(R6, FRAME, -8);
        }
        self.end_unless_chosen(&mut p, maps);
        p.reserve(R8, ring, RECORD, &maps.lost);
        p.call(Helper::KtimeGetNs);
        p.store(R8, TIME, R0);
        p.call(Helper::CurrentPidTgid);
        p.store(R8, TASK, R0);
        p.store_value(R8, KIND, kind);
        folio.word(&mut p, R6, self.index);
        p.store(R8, INDEX, R6);
        folio.word(&mut p, R6, self.mapping);
        p.read_kernel(FRAME, -8, 8, R6, self.host);
        p.load(R6, FRAME, -8);
        inode.read(&mut p, R6);
        inode.word(&mut p, R6, self.inode);
        p.store(R8, INODE, R6);
        inode.word(&mut p, R6, self.super_block);
        p.store_value(R8, DEVICE, 0);
        p.read_kernel(R8, DEVICE.into(), 4, R6, self.device);
        folio.word(&mut p, R6, self.flags);
        p.store(R8, FLAGS, R6);
        p.store_value(R8, ORDER, 0);
        p.and(R6, self.head);
        let has_none = p.jump_if_zero(R6);
        p.read_kernel(R8, ORDER.into(), 8, R7, self.order);
        p.land(has_none);
        p.submit(R8);
        p.finish()
    }

    /// Ends the program unless the group whose `mem_cgroup` is at register 6 was chosen.
    ///
    /// What was found out once is remembered by that address. The chosen groups were there before the watch, so that no group made later is one of them. Once a
    /// chosen group is gone its address may become another's; then the watch has nothing to say any more.
    fn end_unless_chosen(&self, p: &mut Assembler, maps: &Maps) {
        let key = |p: &mut Assembler, at: i32| {
            p.copy(R2, FRAME);
            p.add(R2, at);
        };
        p.store(FRAME, -8, R6);
        p.map(R1, &maps.remembered);
        key(p, -8);
        p.call(Helper::MapLookup);
        let is_new = p.jump_if_zero(R0);
        p.load(R6, R0, 0);
        let is_known = p.jump();
        p.land(is_new);
        for by in [self.cgroup, self.kn, self.id] {
            p.read_kernel(FRAME, -16, 8, R6, by);
            p.load(R6, FRAME, -16);
        }
        p.map(R1, &maps.chosen);
        key(p, -16);
        p.call(Helper::MapLookup);
        p.set(R6, 0);
        let is_other = p.jump_if_zero(R0);
        p.set(R6, 1);
        p.land(is_other);
        p.store(FRAME, -24, R6);
        p.map(R1, &maps.remembered);
        key(p, -8);
        p.copy(R3, FRAME);
        p.add(R3, -24);
        p.set(R4, 0);
        p.call(Helper::MapUpdate);
        p.land(is_known);
        p.end_if_zero(R6);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_an_eviction_unless_the_folio_is_on_a_list_still() {
        let record = |kind: u64, flags: u64| {
            let words = [5u64, 7 << 32 | 9, kind, 1311, 8 << 20 | 1, 44, flags, 3];
            words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>()
        };
        let (head, lru) = (1 << 6, 1 << 5);
        let seen = event(&record(0, head), head, lru).unwrap();
        assert_eq!((seen.what, seen.pages, seen.task, seen.inode), (PageCacheChange::Evicted, 8, 9, 1311));
        assert_eq!((seen.index, seen.at), (44, Nanos(5)));
        if cfg!(target_endian = "little") {
            assert_eq!(seen.device, 8 << 20 | 1);
        }
        assert_eq!(event(&record(0, lru), head, lru).unwrap().what, PageCacheChange::Dropped);
        let added = event(&record(1, lru), head, lru).unwrap();
        assert_eq!((added.what, added.pages), (PageCacheChange::Added, 1));
        assert_eq!(event(&record(1, 0)[..40], head, lru), None);
    }
}
