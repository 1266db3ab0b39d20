//! Size of a file's read-ahead window for read(2), in pages; `most` is the largest, that of `ra_pages`.
//!
//! Stands for `get_init_ra_size` and `get_next_ra_size` (mm/readahead.c), and for the end of `ondemand_readahead`, which 6.1 has; read in 6.1 and 6.12.

/// The first window: `get_init_ra_size`.
#[must_use]
pub const fn first_window(n: u32, most: u32) -> u32 {
    let size = n.next_power_of_two();
    if size <= most / 32 {
        size * 4
    } else if size <= most / 4 {
        size * 2
    } else {
        most
    }
}

/// The next window: `get_next_ra_size`.
#[must_use]
pub const fn next_window(size: u32, most: u32) -> u32 {
    if size < most / 16 {
        size * 4
    } else if size <= most / 2 {
        size * 2
    } else {
        most
    }
}

/// The size of a window, and how far before its end its PG_readahead page is, where that would be the window's own first page: it is as long as both.
#[must_use]
pub const fn joined(size: u32, most: u32) -> (u32, u32) {
    let next = next_window(size, most);
    if size + next <= most { (size + next, next) } else { (most, most / 2) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn windows_begin_small_and_double() {
        // With 128 KiB: the first window has four pages, the next ones 8, 16 and 32.
        assert_eq!([1, 2, 8, 9].map(|n| first_window(n, 32)), [4, 4, 16, 32]);
        assert_eq!([1, 4, 8, 16, 32].map(|n| next_window(n, 32)), [4, 8, 16, 32, 32]);
    }
}
