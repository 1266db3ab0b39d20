//! Files in the page cache: faults through a mapping, and read(2) (mm/filemap.c). What is read of them beside what was asked for: `readahead`.

pub mod fault;
pub mod map;
pub mod read;
