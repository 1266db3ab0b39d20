//! `/proc/sys/vm/drop_caches`: throws away clean caches of the whole machine, at once.
//!
//! It knows no group and no namespace and cannot be undone: what was dropped is read again when it is needed. Nothing is lost: dirty pages, pages of tmpfs, and pages a program maps or locks stay.
//!
//! ```
//! use ramline_kernel::drop_caches::Level;
//! assert_eq!(Level::from_number(3), Some(Level::Both));
//! assert_eq!(Level::from_number(4), None); // 4 would only keep the kernel from logging it
//! ```

use crate::prelude::*;
use crate::write::vm_setting;

/// What is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// 1: pages of files.
    Pages = 1,
    /// 2: objects that can be reclaimed, entries of directories and inodes above all.
    Objects,
    /// 3: both.
    Both,
}

impl Level {
    /// The level with this number.
    #[must_use]
    pub fn from_number(number: u64) -> Option<Level> {
        [Level::Pages, Level::Objects, Level::Both].into_iter().find(|level| u64::from(level.number()) == number)
    }

    /// Its number.
    #[must_use]
    pub const fn number(self) -> u8 {
        self as u8
    }
}

/// The knob; absent in a container that hides it.
#[must_use]
pub fn knob(root: &Root) -> PathBuf {
    vm_setting(root, "drop_caches")
}

/// Drops now; returns when it is done.
///
/// # Errors
/// `Denied` without the privilege, `Absent` where there is no such knob.
pub fn drop_now(root: &Root, level: Level) -> Result<()> {
    write_knob(&knob(root), &level.number().to_string()).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_the_level_is_written_and_an_absent_knob_is_not_made() {
        let tree = tempfile::tempdir().unwrap();
        let root = Root::new(tree.path());
        assert!(drop_now(&root, Level::Both).unwrap_err().is_absent());
        std::fs::create_dir_all(tree.path().join("proc/sys/vm")).unwrap();
        std::fs::write(knob(&root), "").unwrap();
        drop_now(&root, Level::Objects).unwrap();
        assert_eq!(std::fs::read_to_string(knob(&root)).unwrap(), "2");
    }
}
