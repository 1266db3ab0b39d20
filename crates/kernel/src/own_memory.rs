//! What a command that runs for long takes of the memory it watches: kept small by giving back what only its start needed.
//!
//! ```
//! ramline_kernel::own_memory::one_heap();
//! // ... the first readings ...
//! ramline_kernel::own_memory::give_back();
//! ```

#![expect(unsafe_code, reason = "mallopt, malloc_trim and madvise of our own code")]

use std::ops::Range;

/// All threads allocate from one heap. glibc gives each thread one of its own, of which each keeps what it once needed. To be called before threads begin.
pub fn one_heap() {
    #[cfg(target_env = "gnu")]
    // SAFETY: takes two integers.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, 1);
    }
}

/// Gives the kernel back free pages of the heap, and those of the program's file that are mapped: what runs on is mapped again from the page cache,
/// a few dozen faults that read nothing; what only the start needed is not.
pub fn give_back() {
    #[cfg(target_env = "gnu")]
    // SAFETY: takes an integer; only memory that nothing uses is given back.
    unsafe {
        libc::malloc_trim(0);
    }
    for file in own_file() {
        // SAFETY: a private mapping that was never written has the bytes of its file, before and after its pages were dropped: what would change the file in
        // place (the kernel refuses that with ETXTBSY, but from 6.11 to 6.12) shows in a mapped page in either case.
        unsafe {
            libc::madvise(std::ptr::without_provenance_mut(file.start), file.len(), libc::MADV_DONTNEED);
        }
    }
}

/// A constant of the program, which lies in the part of its file that is mapped to be read.
static CONSTANT: [u8; 64] = [7; 64];

/// Where code and constants of the program's file are mapped. Not what the loader has written to before it was made readable only.
fn own_file() -> Vec<Range<usize>> {
    let Ok(maps) = crate::kernel_file::read_text("/proc/self/maps".as_ref()) else { return Vec::new() };
    let code = own_file as fn() -> Vec<Range<usize>> as usize;
    own_parts(&maps, code, CONSTANT.as_ptr().addr())
}

fn own_parts(maps: &str, code: usize, constant: usize) -> Vec<Range<usize>> {
    let part = |line: &str| {
        let mut words = line.split_ascii_whitespace();
        let (start, end) = words.next()?.split_once('-')?;
        let range = usize::from_str_radix(start, 16).ok()?..usize::from_str_radix(end, 16).ok()?;
        let (mode, offset) = (words.next()?, words.next()?);
        let is_code = mode == "r-xp" && range.contains(&code);
        // What is relocated comes behind the code in the file.
        let is_constant = mode == "r--p" && range.contains(&constant) && offset.bytes().all(|digit| digit == b'0');
        (is_code || is_constant).then_some(range)
    };
    maps.lines().filter_map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_and_constants_are_given_back_and_what_the_loader_wrote_is_not() {
        let maps = "1000-3000 r--p 00000000 fe:00 9 /bin/x\n3000-8000 r-xp 00002000 fe:00 9 /bin/x\n8000-9000 r--p 00007000 fe:00 9 /bin/x\n\
                    9000-a000 rw-p 00008000 fe:00 9 /bin/x\nb000-c000 r-xp 00000000 fe:00 7 /lib/y\n";
        let starts = |constant| own_parts(maps, 0x4000, constant).iter().map(|part| part.start).collect::<Vec<_>>();
        assert_eq!(starts(0x1010), [0x1000, 0x3000]);
        assert_eq!(starts(0x8010), [0x3000], "relocated");
        assert_eq!(own_parts("garbage\n", 1, 1), []);
    }

    #[test]
    fn what_is_given_back_is_there_when_it_is_used() {
        one_heap();
        let kept: Vec<String> = (0..100_000).map(|n: u32| n.to_string()).collect();
        give_back();
        assert!(kept.iter().enumerate().all(|(at, text)| text.parse() == Ok(at)) && CONSTANT == [7; 64]);
        assert!(!own_file().is_empty());
    }
}
