//! The reader's side of a ring buffer of programs (`BPF_MAP_TYPE_RINGBUF`, kernel/bpf/ringbuf.c): records in the order in which they were reserved.

#![expect(unsafe_code, reason = "memory that the kernel writes")]

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};

use super::call::{MapKind, make_map};
use crate::prelude::*;
use crate::sys::page_size;

/// Not handed over yet.
const BUSY: u32 = 1 << 31;
/// Given up by the program.
const DISCARDED: u32 = 1 << 30;
/// In front of each record: its length and where its page is.
const HEADER: u64 = 8;

/// The map, its memory, and how far it was read.
#[derive(Debug)]
pub struct Ring {
    map: OwnedFd,
    /// One page, written by us: how far we have read.
    consumer: *mut u8,
    /// One page with how far was written, then the data, twice, so that no record is cut at the end.
    producer: *mut u8,
    page: usize,
    size: u64,
}

// SAFETY: the mappings belong to this value alone.
unsafe impl Send for Ring {}

impl Ring {
    /// A ring buffer of `size` bytes, a power of two of at least a page.
    pub fn make(size: Bytes) -> Result<Ring> {
        let entries = u32::try_from(size.0).unwrap_or(1 << 31);
        let map = make_map(MapKind::Ringbuf, 0, 0, entries)?;
        let page = usize::try_from(page_size()).unwrap_or(4096);
        let data = usize::try_from(size.0).unwrap_or(usize::MAX / 4);
        let tried = "map the ring buffer of";
        let both = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: no address is asked for, so no mapping of ours is replaced.
        let consumer = unsafe { mmap(std::ptr::null_mut(), page, both, MapFlags::SHARED, &map, 0) };
        let consumer = consumer.tried(tried, "bpf(2)")?.cast::<u8>();
        let length = page + 2 * data;
        // SAFETY: as above.
        let producer =
            unsafe { mmap(std::ptr::null_mut(), length, ProtFlags::READ, MapFlags::SHARED, &map, page_size()) };
        match producer.tried(tried, "bpf(2)") {
            Ok(producer) => Ok(Ring { map, consumer, producer: producer.cast(), page, size: size.0 }),
            Err(error) => {
                // SAFETY: it was mapped above and nothing refers to it.
                unsafe { munmap(consumer.cast(), page) }.ok();
                Err(error)
            }
        }
    }

    /// The map, for a program that writes.
    pub fn map(&self) -> &OwnedFd {
        &self.map
    }

    /// Hands all complete records to `each`; how many there were.
    pub fn drain(&mut self, mut each: impl FnMut(&[u8])) -> u64 {
        // SAFETY: both pages begin with a u64 position that the kernel reads or writes atomically, and live as long as `self`.
        let (read, written) =
            unsafe { (AtomicU64::from_ptr(self.consumer.cast()), AtomicU64::from_ptr(self.producer.cast())) };
        let (mut at, mut count) = (read.load(Ordering::Relaxed), 0);
        // What comes meanwhile is for the next time: it may come as fast as it is read.
        let end = written.load(Ordering::Acquire);
        while at < end {
            let offset = usize::try_from(at & (self.size - 1)).unwrap_or(0);
            // SAFETY: the offset is within the data, which begins a page behind the position and is mapped twice.
            let record = unsafe { self.producer.add(self.page + offset) };
            // SAFETY: records are aligned to 8 bytes; the kernel writes the length atomically.
            let length = unsafe { AtomicU32::from_ptr(record.cast()) }.load(Ordering::Acquire);
            if length & BUSY != 0 {
                break;
            }
            let bytes = u64::from(length & !(BUSY | DISCARDED)).min(self.size);
            if length & DISCARDED == 0 {
                let bytes = usize::try_from(bytes).unwrap_or(0);
                // SAFETY: a record that is not busy is not written any more until our position is behind it.
                each(unsafe { std::slice::from_raw_parts(record.add(8), bytes) });
                count += 1;
            }
            at += (HEADER + bytes).next_multiple_of(8);
            read.store(at, Ordering::Release);
        }
        count
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        let data = usize::try_from(self.size).unwrap_or(0);
        // SAFETY: both were mapped by `make`, and no slice of them outlives `drain`.
        unsafe {
            munmap(self.consumer.cast(), self.page).ok();
            munmap(self.producer.cast(), self.page + 2 * data).ok();
        }
    }
}
