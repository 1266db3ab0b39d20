//! A page of the kernel's ring buffer: what `trace_pipe_raw` gives, taken apart into records with their times.
//!
//! The layout is the kernel's `include/linux/ring_buffer.h` and `ring_buffer.c`: a time, the length of what follows, and entries of
//! a header of 32 bits (5 of kind or length, 27 of time since the entry before) and data.

use crate::Format;

/// Where things are in a page, from `events/header_page`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageLayout {
    commit: (usize, usize),
    data: (usize, usize),
}

/// Kinds of entries in the 5 bits; smaller ones are lengths in words of four bytes.
const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;
/// The length is in the low bits; above are marks of lost entries.
const LENGTH: u64 = (1 << 20) - 1;
/// Of a page (`RB_WRITE_MASK` of the kernel's ring_buffer.c).
const LARGEST: usize = 1 << 20;
/// An absolute time has only so many bits; those above are the page's.
const STAMP_BITS: u32 = 59;

impl PageLayout {
    /// From `events/header_page`; `None` when a field is missing, or for a page larger than any kernel has (1 MiB).
    #[must_use]
    pub fn parse(text: &str) -> Option<PageLayout> {
        let format = Format::parse(text);
        let layout = PageLayout { commit: format.field("commit")?.place(), data: format.field("data")?.place() };
        let size = layout.data.0.checked_add(layout.data.1)?;
        (size <= LARGEST).then_some(layout)
    }

    /// Bytes of a whole page.
    #[must_use]
    pub const fn size(&self) -> usize {
        self.data.0 + self.data.1
    }

    /// Calls `each` with the time (of the buffer's clock) and the bytes of every record, in the order of the page. Bytes that make no
    /// sense end it; entries without data (padding, times) are no records.
    pub fn records<'a>(&self, page: &'a [u8], mut each: impl FnMut(u64, &'a [u8])) {
        let Some(mut time) = word(page, 0) else { return };
        let commit = match self.commit.1 {
            4 => page.get(self.commit.0..).and_then(half).map(u64::from),
            _ => word(page, self.commit.0),
        };
        let length = commit.map_or(0, |commit| usize::try_from(commit & LENGTH).unwrap_or(0));
        let mut rest = page.get(self.data.0..).unwrap_or_default();
        rest = rest.get(..length).unwrap_or(rest);
        while let Some(header) = half(rest) {
            let (kind, delta) = (header & 31, u64::from(header >> 5));
            let first = rest.get(4..).and_then(half);
            let (data, whole) = match kind {
                PADDING if delta == 0 => return,
                PADDING => (None, first.map(|length| length.saturating_add(4))),
                TIME_EXTEND => {
                    time = time.wrapping_add(u64::from(first.unwrap_or(0)) << 27);
                    (None, Some(8))
                }
                TIME_STAMP => {
                    let stamp = delta | u64::from(first.unwrap_or(0)) << 27;
                    time = stamp | time >> STAMP_BITS << STAMP_BITS;
                    (None, Some(8))
                }
                0 => (Some(8), first.map(|length| length.saturating_add(4))),
                words => (Some(4), Some(words * 4 + 4)),
            };
            if kind != TIME_STAMP {
                time = time.wrapping_add(delta);
            }
            let Some(whole) =
                whole.and_then(|whole| usize::try_from(whole).ok()).filter(|whole| *whole >= data.unwrap_or(4))
            else {
                return;
            };
            if let (Some(from), true) = (data, whole <= rest.len()) {
                each(time, rest.get(from..whole).unwrap_or_default());
            }
            rest = rest.get(whole..).unwrap_or_default();
        }
    }
}

fn half(bytes: &[u8]) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.first_chunk()?))
}

fn word(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
        \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

    fn page(time: u64, entries: &[(u32, u64, &[u32])]) -> Vec<u8> {
        let mut data = Vec::new();
        for (kind, delta, words) in entries {
            data.extend((kind | u32::try_from(*delta).unwrap() << 5).to_ne_bytes());
            data.extend(words.iter().flat_map(|word| word.to_ne_bytes()));
        }
        let mut out = time.to_ne_bytes().to_vec();
        out.extend((u64::try_from(data.len()).unwrap() | 1 << 31).to_ne_bytes());
        out.extend(data);
        out
    }

    fn taken(page: &[u8]) -> Vec<(u64, Vec<u8>)> {
        let mut out = Vec::new();
        PageLayout::parse(HEADER).unwrap().records(page, |time, record| out.push((time, record.to_vec())));
        out
    }

    #[test]
    fn records_come_with_their_times() {
        let page = page(1000, &[(2, 5, &[7, 8]), (TIME_EXTEND, 1, &[2]), (0, 3, &[12, 9, 10]), (1, 0, &[11])]);
        let found = taken(&page);
        let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
        let later = 1000 + 5 + 1 + (2 << 27) + 3;
        assert_eq!(found, [(1005, bytes(&[7, 8])), (later, bytes(&[9, 10])), (later, bytes(&[11]))]);
        assert_eq!(PageLayout::parse(HEADER).unwrap().size(), 4096);
    }

    #[test]
    fn an_absolute_time_replaces_the_time_and_padding_is_passed_over() {
        let found = taken(&page(
            1,
            &[(TIME_STAMP, 6, &[1]), (PADDING, 1, &[8, 0]), (1, 1, &[3]), (PADDING, 0, &[]), (1, 0, &[4])],
        ));
        assert_eq!(found.iter().map(|(time, _)| *time).collect::<Vec<_>>(), [(1 << 27) + 6 + 1 + 1]);
    }

    #[test]
    fn a_layout_no_kernel_has_is_none() {
        for (offset, size) in [("16", "1048576"), ("18446744073709551615", "4080"), ("-1", "8")] {
            let header = HEADER.replace("offset:16", &format!("offset:{offset}")).replace("4080", size);
            assert_eq!(PageLayout::parse(&header), None, "{header}");
        }
        assert_eq!(PageLayout::parse("field: char data;\toffset:16;\tsize:4080;"), None);
    }

    #[test]
    fn hostile_bytes_end_the_page() {
        let whole = page(1, &[(0, 0, &[u32::MAX, 1]), (1, 0, &[1])]);
        assert!(taken(&whole).is_empty());
        for cut in 0..whole.len() {
            taken(&whole[..cut]);
        }
        assert!(taken(&page(1, &[(0, 0, &[0, 0]), (1, 0, &[1])])).is_empty());
        assert!(taken(&[0xff; 4096]).len() < 4096);
    }
}
