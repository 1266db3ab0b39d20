//! Our own program's pages: given back between two stages of a command that is to stay small.
//!
//! The kernel maps 16 pages around each fault in a program, so a command that touches a little of everything maps most of it. What
//! reading the kernel's files needed is not needed to judge and to print. The pages stay in the page cache; one that is needed again
//! comes back with a minor fault.

#![expect(unsafe_code, reason = "dl_iterate_phdr and madvise on our own code")]

use std::ffi::{c_int, c_void};

/// Unmaps the program's code and constants. Never fails: what could not be unmapped stays.
pub fn forget() {
    // SAFETY: the callback keeps nothing; the list of segments is the program's own.
    unsafe { libc::dl_iterate_phdr(Some(segments), std::ptr::null_mut()) };
}

/// Called for the program first; what else is loaded is left alone.
unsafe extern "C" fn segments(info: *mut libc::dl_phdr_info, _size: libc::size_t, _data: *mut c_void) -> c_int {
    // SAFETY: libc passes a valid description that outlives the call, with so many headers.
    let (base, headers) = unsafe {
        let info = &*info;
        (info.dlpi_addr, std::slice::from_raw_parts(info.dlpi_phdr, usize::from(info.dlpi_phnum)))
    };
    let page = crate::sys::page_size();
    for header in headers.iter().filter(|h| h.p_type == libc::PT_LOAD && h.p_flags & libc::PF_W == 0) {
        let from = base.saturating_add(header.p_vaddr).next_multiple_of(page);
        let to = base.saturating_add(header.p_vaddr).saturating_add(header.p_filesz) / page * page;
        let (Ok(address), Ok(length)) = (usize::try_from(from), usize::try_from(to.saturating_sub(from))) else {
            continue;
        };
        if length > 0 {
            // SAFETY: whole pages of a segment that is mapped from the program's file and never written, relocations
            // included: they come back from the file unchanged, and nothing else lies between its ends.
            unsafe { libc::madvise(std::ptr::without_provenance_mut(address), length, libc::MADV_DONTNEED) };
        }
    }
    1
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_program_goes_on_without_its_pages_and_with_fewer_of_them() {
        let files = || {
            let status = std::fs::read_to_string("/proc/self/status").unwrap();
            let line = status.lines().find(|line| line.starts_with("RssFile")).unwrap().to_owned();
            line.split_ascii_whitespace().nth(1).unwrap().parse::<u64>().unwrap()
        };
        let before = files();
        super::forget();
        let after = files();
        assert!(after < before, "{after} KiB after {before} KiB");
        assert_eq!(format!("{:?}", "still here"), "\"still here\"");
    }
}
