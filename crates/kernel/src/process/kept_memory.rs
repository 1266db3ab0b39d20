//! Memory of a process that stays after its end, until it was read.
//!
//! The kernel frees the memory of a process when its last user is gone. A read of /proc/PID/mem is such a user, and it lasts as long as its buffer is missing: so a thread of ours reads
//! one byte into a page of ours that userfaultfd(2) withholds. The process is not stopped and does not notice; it ends, and its parent learns of it, as ever. Page tables then still
//! have what was touched last. The caller releases the memory once that is read; until then it is charged to its group. The kernel's out-of-memory killer frees it all the same.
//!
//! ```no_run
//! use ramline_kernel::{Root, process::{Followed, MemoryKeeper}};
//! let keeper = MemoryKeeper::open().expect("userfaultfd");
//! let process = Followed::open(&Root::live(), 1234)?;
//! let kept = keeper.keep(&process, 0x7ffc_0000_0000);
//! # Ok::<(), ramline_kernel::KernelError>(())
//! ```

#![expect(unsafe_code, reason = "userfaultfd, and a read into a page that is withheld")]

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::mm::{Advice, MapFlags, ProtFlags, UserfaultfdFlags, madvise, mmap_anonymous, munmap, userfaultfd};

use super::Followed;
use crate::prelude::*;
use crate::sys::ioctl_with;
use crate::worker;

/// Processes whose memory is kept at a time: each takes a thread, two descriptors and a page.
const MOST: usize = 256;
const PAGE: usize = 4096;
/// How long the read may take to come to the page that is withheld: it waits for the lock of the mappings.
const PATIENCE: Duration = Duration::from_millis(500);

// linux/userfaultfd.h: UFFD_API; UFFDIO_API, UFFDIO_REGISTER, UFFDIO_ZEROPAGE; UFFDIO_REGISTER_MODE_MISSING; UFFD_EVENT_PAGEFAULT.
const API: u64 = 0xaa;
const SET_API: libc::Ioctl = 0xc018_aa3f_u32 as libc::Ioctl;
const REGISTER: libc::Ioctl = 0xc020_aa00_u32 as libc::Ioctl;
const ZERO_PAGE: libc::Ioctl = 0xc020_aa04_u32 as libc::Ioctl;
const MISSING: u64 = 1;
const PAGE_FAULT: u8 = 0x12;
/// Bytes of struct uffd_msg, and where the address of a fault is in it.
const MESSAGE: usize = 32;
const ADDRESS: usize = 16;

/// struct uffdio_api.
#[repr(C)]
struct ApiCall {
    api: u64,
    features: u64,
    ioctls: u64,
}

/// struct uffdio_register and struct uffdio_zeropage: a range, a mode, and what the kernel answers.
#[repr(C)]
struct RangeCall {
    start: u64,
    length: u64,
    mode: u64,
    answer: u64,
}

/// Pages that are withheld, and who reads into which.
#[derive(Debug)]
struct Withheld {
    faults: OwnedFd,
    start: *mut u8,
    free: Mutex<Vec<usize>>,
}

// SAFETY: the mapping belongs to this value; only the kernel writes to it, a page for each thread.
unsafe impl Send for Withheld {}
// SAFETY: as above; who has which page is behind a lock.
unsafe impl Sync for Withheld {}

impl Drop for Withheld {
    fn drop(&mut self) {
        // SAFETY: exactly our mapping; every reader holds this value, so none is left.
        let _done = unsafe { munmap(self.start.cast(), MOST * PAGE) };
    }
}

impl Withheld {
    fn page(&self, number: usize) -> *mut u8 {
        // SAFETY: numbers are below MOST, so it is inside the mapping.
        unsafe { self.start.add(number * PAGE) }
    }

    /// What is missing is there: who waits for it goes on.
    fn give(&self, number: usize) {
        let start = self.page(number).addr() as u64;
        let mut call = RangeCall { start, length: PAGE as u64, mode: 0, answer: 0 };
        // SAFETY: the type is that of UFFDIO_ZEROPAGE, and the page is one of ours.
        drop(unsafe { ioctl_with(&self.faults, ZERO_PAGE, &mut call) });
    }

    /// It is missing again, and free for another.
    fn take_back(&self, number: usize) {
        // SAFETY: a page of our mapping that no one reads into any more.
        let gone = unsafe { madvise(self.page(number).cast(), PAGE, Advice::LinuxDontNeed) };
        if gone.is_ok() {
            self.free.lock().unwrap_or_else(PoisonError::into_inner).push(number);
        }
    }

    /// Waits until someone reads into this page.
    fn is_awaited(&self, number: usize, reader: &JoinHandle<()>) -> bool {
        let late = Instant::now() + PATIENCE;
        let page = self.page(number).addr() as u64;
        while Instant::now() < late && !reader.is_finished() {
            let ten_ms = Timespec { tv_sec: 0, tv_nsec: 10_000_000 };
            // A reader that has failed meanwhile says nothing here.
            let _polled = poll(&mut [PollFd::new(&self.faults, PollFlags::IN)], Some(&ten_ms));
            let mut message = [0_u8; MESSAGE];
            if !matches!(rustix::io::read(&self.faults, &mut message), Ok(MESSAGE)) {
                continue;
            }
            let address =
                message.get(ADDRESS..).and_then(|from| from.first_chunk::<8>()).map(|one| u64::from_ne_bytes(*one));
            if message.first() == Some(&PAGE_FAULT) && address.is_some_and(|at| at & !(PAGE as u64 - 1) == page) {
                return true;
            }
        }
        false
    }
}

/// Keeps memory of processes.
#[derive(Debug)]
pub struct MemoryKeeper(Arc<Withheld>);

impl MemoryKeeper {
    /// None where userfaultfd(2) is not to be had: without CAP_SYS_PTRACE, in a filter of system calls, in a kernel without it.
    #[must_use]
    pub fn open() -> Option<MemoryKeeper> {
        MemoryKeeper::make().ok()
    }

    fn make() -> io::Result<MemoryKeeper> {
        // SAFETY: the descriptor has no other owner; nothing is registered yet.
        let faults = unsafe { userfaultfd(UserfaultfdFlags::CLOEXEC | UserfaultfdFlags::NONBLOCK) }?;
        let mut call = ApiCall { api: API, features: 0, ioctls: 0 };
        // SAFETY: the type is that of UFFDIO_API.
        unsafe { ioctl_with(&faults, SET_API, &mut call) }?;
        let (how, length) = (ProtFlags::READ | ProtFlags::WRITE, MOST * PAGE);
        // SAFETY: no address is asked for, so no mapping of ours is replaced.
        let start = unsafe { mmap_anonymous(std::ptr::null_mut(), length, how, MapFlags::PRIVATE) }?;
        let withheld = Withheld { faults, start: start.cast(), free: Mutex::new((0..MOST).rev().collect()) };
        let mut call = RangeCall { start: start.addr() as u64, length: length as u64, mode: MISSING, answer: 0 };
        // SAFETY: the type is that of UFFDIO_REGISTER, and the range is our mapping, which lives as long as the descriptor.
        unsafe { ioctl_with(&withheld.faults, REGISTER, &mut call) }?;
        Ok(MemoryKeeper(Arc::new(withheld)))
    }

    /// Keeps the memory that the process has now, of which `address` is mapped. `None` where it has ended or has another by now, where too many are kept already, or where the kernel
    /// does not let us.
    #[must_use]
    pub fn keep(&self, process: &Followed, address: u64) -> Option<KeptMemory> {
        let (maps, memory) = (process.open_file("maps").ok()?, process.open_file("mem").ok()?);
        let (withheld, at) = (Arc::clone(&self.0), libc::off64_t::try_from(address).ok()?);
        let number = self.0.free.lock().unwrap_or_else(PoisonError::into_inner).pop()?;
        let reader = worker::small("kept memory", move || {
            // SAFETY: one byte into a page of ours that nothing else uses, and that lives as long as `withheld`. It may fail: then nothing is kept.
            unsafe { libc::pread64(memory.as_raw_fd(), withheld.page(number).cast(), 1, at) };
        });
        let Some(reader) = reader else {
            self.0.take_back(number);
            return None;
        };
        let is_kept = self.0.is_awaited(number, &reader);
        let kept = KeptMemory { withheld: Arc::clone(&self.0), number, reader: Some(reader), maps };
        is_kept.then_some(kept)
    }
}

/// Memory that is there as long as this value, whatever becomes of its process.
#[derive(Debug)]
pub struct KeptMemory {
    withheld: Arc<Withheld>,
    number: usize,
    reader: Option<JoinHandle<()>>,
    maps: File,
}

impl KeptMemory {
    /// Its mappings, as /proc/PID/maps has them; `None` once the process has ended and its parent has taken notice.
    #[must_use]
    pub fn maps(&self) -> Option<Vec<u8>> {
        use std::os::unix::fs::FileExt;
        let (mut out, mut piece) = (Vec::new(), vec![0_u8; 64 << 10]);
        while let Ok(got) = self.maps.read_at(&mut piece, out.len() as u64) {
            if got == 0 {
                return Some(out).filter(|text| !text.is_empty());
            }
            (&piece[..got]).read_to_end(&mut out).ok()?;
        }
        None
    }
}

impl Drop for KeptMemory {
    fn drop(&mut self) {
        self.withheld.give(self.number);
        // It has nothing left to wait for.
        drop(self.reader.take().map(JoinHandle::join));
        self.withheld.take_back(self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Stdio;

    #[test]
    fn memory_outlives_its_process_until_it_is_let_go() {
        let Some(keeper) = MemoryKeeper::open() else { return };
        let mut child = Command::new("sleep").arg("60").stdout(Stdio::null()).spawn().unwrap();
        let process = Followed::open(&Root::live(), child.id()).unwrap();
        std::thread::sleep(Duration::from_millis(100));
        let text = String::from_utf8(process.maps().unwrap()).unwrap();
        let stack = text.lines().find(|line| line.ends_with("[stack]")).unwrap();
        let address = u64::from_str_radix(stack.split_once('-').unwrap().0, 16).unwrap();
        // Nothing is mapped at the first page: nothing is kept, and the place is free again.
        assert!(keeper.keep(&process, 0).is_none());
        let kept = keeper.keep(&process, address).unwrap();
        assert_eq!(keeper.0.free.lock().unwrap().len(), MOST - 1);
        child.kill().unwrap();
        while !process.has_ended() {
            std::thread::sleep(Duration::from_millis(5));
        }
        // A zombie has no memory of its own any more; ours still has mappings.
        assert!(process.maps().map_or(true, |text| text.is_empty()));
        assert!(kept.maps().is_some_and(|text| text.ends_with(b"\n")));
        child.wait().unwrap();
        assert!(kept.maps().is_none());
        drop(kept);
        assert_eq!(keeper.0.free.lock().unwrap().len(), MOST);
        assert!(keeper.keep(&process, address).is_none());
    }
}
