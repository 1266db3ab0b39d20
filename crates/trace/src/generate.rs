//! Loads whose touches are known exactly: the same seed gives the same touches to the kernel and to a simulator.

mod code_plus_data;

pub use code_plus_data::CodePlusData;

/// What a region of memory is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Memory {
    /// A file, mapped.
    File,
    /// Private anonymous memory.
    Anonymous,
}

/// One touch of a load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Touch {
    /// Which of its regions.
    pub region: usize,
    /// The byte.
    pub offset: u64,
    /// A write, not a read.
    pub write: bool,
}
