//! The two system calls for residency, and when their answers may be believed. The module above chooses between them.

#![expect(unsafe_code, reason = "cachestat and mincore")]

use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};
use std::sync::OnceLock;

use super::{Method, Residency};
use crate::map::{long, map_file};
use crate::sys::{check, page_size, size_of_fd};

/// The same number on every architecture we are built for (Linux 6.5).
const SYS_CACHESTAT: libc::c_long = 451;

/// Of offset and length, both in bytes: pages cached, dirty, being written back, evicted, and evicted recently.
fn call(fd: libc::c_int, range: [u64; 2]) -> io::Result<[u64; 5]> {
    let mut stat = [0; 5];
    // SAFETY: cachestat(fd, range, stat, flags) reads two numbers and writes five (linux/mman.h).
    let result = unsafe { libc::syscall(SYS_CACHESTAT, fd, range.as_ptr(), stat.as_mut_ptr(), 0) };
    check(libc::c_int::try_from(result).unwrap_or(-1)).map(|_| stat)
}

/// Whether the kernel has cachestat and no filter forbids it. Asked once, about a file that is none: the kernel then says
/// EBADF before it looks at anything else, a filter says EPERM or ENOSYS.
#[must_use]
pub fn cachestat_works() -> bool {
    static WORKS: OnceLock<bool> = OnceLock::new();
    *WORKS.get_or_init(|| call(-1, [0, 0]).is_err_and(|error| error.raw_os_error() == Some(libc::EBADF)))
}

/// Asks cachestat; `length` 0 means up to the end of the file.
///
/// # Errors
/// EPERM for a file we do not own and may not write (from Linux 6.12.12 on), EOPNOTSUPP on hugetlbfs.
pub fn cachestat(file: BorrowedFd<'_>, offset: u64, length: u64) -> io::Result<Residency> {
    let [cached, others @ ..] = call(file.as_raw_fd(), [offset, length])?;
    let [dirty, writeback, evicted, recently_evicted] = others.map(Some);
    Ok(Residency { cached, dirty, writeback, evicted, recently_evicted, method: Method::Cachestat })
}

/// Asks mincore about every page. Only to be believed where [`mincore_tells_truth`].
///
/// # Errors
/// When the file cannot be mapped.
pub fn mincore(file: BorrowedFd<'_>, offset: u64, length: u64) -> io::Result<Residency> {
    let mut cached = 0;
    each_page(file, offset, length, |_, present| cached += u64::from(present))?;
    let method = Method::Mincore;
    Ok(Residency { cached, dirty: None, writeback: None, evicted: None, recently_evicted: None, method })
}

/// Of a file that is not ours mincore says that every page is there (since Linux 5.2). It tells the truth to the owner and to
/// those who may write the file; root of a user namespace, or without its capabilities, has no privilege.
#[must_use]
pub fn mincore_tells_truth(file: BorrowedFd<'_>) -> bool {
    let me = crate::process::uid();
    let own = rustix::fs::fstat(file).is_ok_and(|stat| stat.st_uid == me);
    if own && (me != 65534 || crate::process::knows_all_users()) {
        return true;
    }
    let flags = libc::AT_EACCESS | libc::AT_EMPTY_PATH;
    // SAFETY: an empty C string and integers.
    match check(unsafe { libc::faccessat(file.as_raw_fd(), c"".as_ptr(), libc::W_OK, flags) }) {
        Ok(_) => true,
        // Before Linux 5.8 the question cannot be put so; root of the whole machine may write anything.
        Err(error) => {
            let unasked = matches!(error.raw_os_error(), Some(libc::EINVAL | libc::ENOSYS));
            unasked && me == 0 && crate::process::knows_all_users()
        }
    }
}

/// Tells of each page of a range, by number, whether it is in the page cache.
pub fn each_page(file: BorrowedFd<'_>, offset: u64, length: u64, mut tell: impl FnMut(u64, bool)) -> io::Result<()> {
    // One byte a page of answer: 128 MiB of file at a time.
    const AT_ONCE: u64 = 32768;
    let page = page_size();
    let end = size_of_fd(file)?.min(offset.saturating_add(length)).div_ceil(page);
    let mut first = offset / page;
    let mut present = Vec::new();
    while first < end {
        let pages = (end - first).min(AT_ONCE);
        let bytes = long(pages * page)?;
        present.clear();
        present.resize(usize::try_from(pages).unwrap_or(0), 0u8);
        let start = map_file(file, first * page, bytes, false)?;
        // SAFETY: a fresh mapping of the file, known here alone; mincore does not read through it and writes one byte
        // per page into `present`, which has that length; it is unmapped before anyone could use it.
        let asked = unsafe {
            let asked = check(libc::mincore(start, bytes, present.as_mut_ptr()));
            libc::munmap(start, bytes);
            asked
        };
        asked?;
        (first..).zip(&present).for_each(|(number, byte)| tell(number, byte & 1 == 1));
        first += pages;
    }
    Ok(())
}
