//! What stays open from one reading of a machine to the next: files by their paths, and control groups.

mod dir;
mod files;
mod groups;

pub use dir::GroupDir;
pub use files::{AGAIN, OpenFiles};
pub use groups::{OpenGroup, OpenGroups};

/// All of it.
#[derive(Debug)]
pub struct Open {
    pub files: OpenFiles,
    pub groups: OpenGroups,
}
