//! Files of touches: what a workload touched, page by page, so that it can be simulated later and elsewhere.
//!
//! Not a recording of addresses or contents: a page of a region, how it was touched, by which thread, after how much CPU time. A recorder
//! that sees no single touch writes epochs instead: the pages touched since the last one.
//!
//! ```
//! use ramline_trace::touches::{Access, Header, Origin, PageTouch, Reader, Record, Region, Writer};
//! let header = Header { page: 4096, origin: Origin::generated("example", Some(256)) };
//! let mut writer = Writer::new(Vec::new(), &header)?;
//! let region = writer.region(&Region::anonymous(1 << 20))?;
//! let touch = PageTouch { region, page: 7, access: Access::Store, thread: 0, cpu_ns: 100 };
//! writer.record(&Record::Touch(touch))?;
//! let file = writer.finish()?;
//! let mut reader = Reader::new(&file[..])?;
//! assert_eq!(reader.next_record()?, Some(Record::Touch(touch)));
//! assert_eq!(reader.next_record()?, None);
//! assert!(reader.is_whole());
//! # Ok::<(), ramline_trace::touches::TouchesError>(())
//! ```
//!
//! # The format, version 4
//!
//! Numbers are little-endian; a *number* without a width is LEB128 of at most 64 bits.
//!
//! | part | bytes |
//! |---|---|
//! | beginning | `ramline touches\n`, version (u32), length of the header (u32), its CRC32C (u32), the header |
//! | header | page size, who made it (1 byte) and its name, whether there is a seed, the seed |
//! | frames | each: kind (4 letters), length of what follows the head, records in it (u32 each), time (u64), CRC32C of all that (u32), the contents |
//! | `RGNS` | regions, numbered in the order of the file |
//! | `BLCK` | up to 65,536 records, decoded without any other block; its time is the clock before its first record |
//! | `SMPL` | of a recording: what sampled pages compress to, by algorithm; in no index |
//! | `INDX` | where every `RGNS` and `BLCK` stands, how many records it has and its time; the last frame |
//! | end | offset of `INDX` (u64), `touchend` |
//!
//! A touch is a byte that says how, then only what is new: the region where it is not the one that followed the last time, the thread, the CPU
//! time and the extent of a read where they are not those of the touch before, and the distance in pages from the last touch of the region
//! in as many bytes as it needs; none where that is 0 or 1 (`block.rs`).

mod block;
mod code;
mod crc;
mod file;
mod frame;
mod header;
mod index;
mod load;
mod reader;
mod record;
mod region;
mod sample;
mod writer;

pub use crate::error::TouchesError;
pub use file::TouchFile;
pub use frame::framed;
pub use header::{Header, Maker, Origin};
pub use index::Index;
pub use load::write_load;
pub use reader::{Reader, each_touch};
pub use record::{Access, Change, Epoch, EpochAccess, EpochState, PageTouch, Record, Run};
pub use region::{Backing, Region};
pub use sample::Sample;
pub use writer::Writer;

/// The bytes every file of touches begins with.
pub const MAGIC: &[u8; 16] = b"ramline touches\n";
/// The version of what is recorded. Version 3 has no sample of what pages compress to and no single calls of read(2), version 2 also no pages of read(2) and write(2); the first one no states of epochs.
pub const VERSION: u32 = 4;
/// The first version, which is still read, and written for everything that is not recorded.
pub const VERSION_OF_LOADS: u32 = 1;
/// Pages of a region are numbered below this: 4 PiB of small pages. Region and page fit into one 64-bit number.
pub const MOST_PAGES: u64 = 1 << 40;
/// Regions of a file: with 40 bits of the page, a number of 60 bits.
pub const MOST_REGIONS: u32 = 1 << 20;
/// Bytes of one read or write; a recorder splits what is larger. It bounds what one record may ask of a reader.
pub const MOST_BYTES: u32 = 16 << 20;
/// Records of a block.
pub const BLOCK_RECORDS: u32 = 1 << 16;
/// Runs of one epoch record; an epoch of more goes into several records of the same time.
pub const MOST_RUNS: usize = 1 << 16;
