//! What a workload touched: from the bytes and the text the kernel's tracing gives to events, steps and counts.
//!
//! Three ways in, none of which opens a file:
//!
//! - binary: [`Format`] (an event's `format` file), [`PageLayout`] (a page of the ring buffer, as `trace_pipe_raw` gives it),
//!   [`Decoder`] (records to [`Event`]s of the page cache) and [`InOrder`] (events of several processors by their times);
//! - text: [`text`], the steps of one system call from the file `trace`;
//! - counts: [`count`], what the events mean: hits, misses, read-ahead, and who evicted what for whom.
//!
//! Touches are kept in files: [`touches`] is their format, [`generate`] makes touches that are known exactly, [`oracle_general`] is the way from and to
//! libCacheSim, [`summary`] and [`curve`] say what a file holds.
//!
//! Arbitrary bytes, text and formats are decoded without a panic, in time and memory linear in what was given; what makes no sense is
//! left out. Times are nanoseconds or ticks of the clock that was chosen, places in files are pages.
//!
//! ```
//! use ramline_trace::{Decoder, FileId, EventKind};
//! let formats = |event: &str| (event == "filemap/mm_filemap_fault").then(|| {
//!     "ID: 3\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\n\tfield:int common_pid;\toffset:4;\tsize:4;\n\
//!      \tfield:dev_t s_dev;\toffset:8;\tsize:4;\n\tfield:unsigned long i_ino;\toffset:16;\tsize:8;\n\
//!      \tfield:unsigned long index;\toffset:24;\tsize:8;\n".to_owned()
//! });
//! let decoder = Decoder::new(formats);
//! let record: Vec<u8> = [3u64 | 77 << 32, 8 << 20 | 1, 1311, 5].iter().flat_map(|word| word.to_le_bytes()).collect();
//! let file = FileId { device: 8 << 20 | 1, inode: 1311 };
//! # if cfg!(target_endian = "little") {
//! assert_eq!(decoder.event(&record).unwrap().what, EventKind::Fault { file, index: 5 });
//! # }
//! ```

pub mod count;
pub mod curve;
mod error;
mod event;
mod format;
pub mod generate;
pub mod ghosts;
pub mod numbering;
pub mod oracle_general;
mod order;
mod page;
pub mod recording;
pub mod summary;
pub mod text;
pub mod touch;
pub mod touches;

pub use event::{Decoder, Event, EventKind, Events, FileId, TaskName, device_number};
pub use format::{Field, Format};
pub use order::InOrder;
pub use page::PageLayout;
