//! Recording what a program touches: the accessed bits of its page tables, read and cleared epoch by epoch, as a file of touches.
//!
//! The target is not changed, stopped or traced. Its page tables are read by a small program in the kernel (kernel/bpf), its bits are cleared
//! through /proc/PID/clear_refs. Seen is which page was touched in an epoch, not how often, in which order, or whether it was written.
//!
//! - `mappings`: the lines of /proc/PID/maps; `regions`: which region of the file an address belongs to.
//! - `frames`: which pages are shared since fork(2).
//! - `watched`: one process and one look at it; `pace`: how long epochs are.
//! - `proof`: what is tried on pages of our own before anything else.
//! - `target`: whose touches; `reads`: what is read and written with read(2) and write(2).
//! - `recorder`: the loop, `recorded`: how it went; `cold`: no recording, but how much was not touched in some seconds.

pub mod cold;
mod frames;
pub mod mappings;
pub mod pace;
pub mod proof;
mod reads;
pub mod recorded;
pub mod recorder;
pub mod regions;
mod runs;
mod target;
mod watched;

pub use cold::{Cold, ColdWatch};
pub use proof::{Proof, prove};
pub use recorded::{CaptureError, EndReason, FilesSeen, Recorded};
pub use recorder::{Recorder, Settings};
pub use target::Target;
