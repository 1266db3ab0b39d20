//! What the kernel leaves open, drawn for each run.

/// One draw.
#[derive(Debug, Clone, Copy, Default)]
pub struct Chance {
    /// When the kernel first looks at the statistics, in nanoseconds.
    pub phase: u64,
    /// Where a file's pages begin in the page tables' blocks of 16.
    pub around: u32,
}
