//! Why a file of the kernel gave no text.

/// Why a file gave no text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotRead {
    Denied,
    Absent,
    /// There, but not a regular file, too large, or an I/O error.
    Unusable(String),
}
