//! What can be wrong with a file of touches.

/// Why a file of touches is not read, or not written.
#[derive(Debug, thiserror::Error)]
pub enum TouchesError {
    /// Reading or writing failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// It begins otherwise.
    #[error("it is no file of touches: it does not begin with 'ramline touches'")]
    NotTouches,
    /// Of another version.
    #[error("it is of version {found} of the format, and this ramline reads up to version {known}")]
    Version {
        /// Its version.
        found: u32,
        /// The version this reader knows.
        known: u32,
    },
    /// Made with another page size.
    #[error("its pages are of {found} bytes, and pages of {wanted} bytes are wanted")]
    PageSize {
        /// Its page size.
        found: u32,
        /// That of who reads it.
        wanted: u32,
    },
    /// It ends before its header does.
    #[error("it is cut off in its header")]
    NoHeader,
    /// What a checksum or a rule of the format refuses.
    #[error("it is damaged at byte {at}: {what}")]
    Damaged {
        /// Where the part begins.
        at: u64,
        /// What is wrong.
        what: &'static str,
    },
    /// It has no index.
    #[error("it has no index: it is cut off, or was never finished")]
    NoIndex,
    /// It ends before its index.
    #[error("it is cut off: its last touches are not there")]
    CutOff,
    /// It holds no touch.
    #[error("it holds no single touches")]
    NoTouches,
    /// What is not simulated, with what it is.
    #[error("it holds {0}, which is not simulated yet")]
    NotSimulated(&'static str),
    /// What the format cannot hold.
    #[error("it cannot be written: {0}")]
    Beyond(&'static str),
}
