//! A good hot set is not overwritten by that of a machine that has just begun to warm up.
//!
//! A save is refused when it finds less than [`FAR_LESS`] of the bytes that FILE holds, and either a restore of FILE has not come to
//! its end (it is at work, or it was killed), or the machine started less than [`SOON`] ago. Both are said with their numbers.
//! A restore notes that it is at work in `.NAME.restoring` beside FILE, and removes that when it is done.

use std::io::Write;

use crate::hotset::Header;
use crate::prelude::*;

/// Half.
const FAR_LESS: u64 = 2;
/// After a start, in seconds: ten minutes.
const SOON: u64 = 600;

/// The hot set that would be overwritten. A damaged one is none.
///
/// # Errors
/// `Refused` for a file that is no hot set, or one of another version: it is never overwritten.
pub fn old(file: &Path) -> Result<Option<Header>, KernelError> {
    let tried = "save the hot set to";
    match hotset::read(file) {
        Ok(reading) => Ok(Some(reading.header)),
        Err(error) if error.is_absent() => Ok(None),
        Err(error) if hotset::is_damaged(&error) => Ok(None),
        Err(error) => Err(KernelError::new(tried, file, error.cause)
            .hint(format!("rm {}, if it is not needed", ramline_units::quoted_path(file)))),
    }
}

/// Refuses what would be a loss.
///
/// # Errors
/// `Refused` with the numbers.
pub fn refuse(file: &Path, old: Option<&Header>, new: &Header, unknown: u64) -> Result<(), KernelError> {
    if new.files == 0 && old.is_some_and(|old| old.files > 0) {
        let (rule, numbers) = if unknown > 0 {
            (
                "no file was found in the page cache, and the kernel does not answer this user for all",
                format!("{unknown} files unknown"),
            )
        } else {
            ("nothing of what was named is in the page cache, and an empty hot set restores nothing", String::new())
        };
        return Err(KernelError::refused("replace the hot set", file, format!("{rule}; it stays"), numbers)
            .hint(format!("ramline cache save --force {}", ramline_units::quoted_path(file))));
    }
    let Some(old) = old.filter(|old| new.hot < old.hot / FAR_LESS) else { return Ok(()) };
    let why = if Restoring::is_noted(file) {
        "a restore of it has not come to its end".to_owned()
    } else if new.up_s < SOON {
        format!("the machine started {} s ago, less than {SOON} s", new.up_s)
    } else {
        return Ok(());
    };
    let rule = format!("{why}, and far less is in the page cache than this hot set holds");
    let numbers = format!("{} now, {} in it; half of it would do", Bytes(new.hot), Bytes(old.hot));
    Err(KernelError::refused("save the hot set to", file, rule, numbers)
        .hint(format!("ramline cache save --force {}", ramline_units::quoted_path(file))))
}

/// The note that a restore is at work. Left behind when it is killed.
#[derive(Debug)]
pub struct Restoring;

impl Restoring {
    pub fn place(file: &Path) -> PathBuf {
        let mut name = std::ffi::OsString::from(".");
        name.push(file.file_name().unwrap_or_default());
        name.push(".restoring");
        file.with_file_name(name)
    }

    fn is_noted(file: &Path) -> bool {
        Restoring::place(file).symlink_metadata().is_ok()
    }

    /// Notes it; not synced, since a power cut takes the page cache too, and the next boot restores again.
    ///
    /// # Errors
    /// When nothing can be written there: then no save can write there either.
    pub fn note(file: &Path) -> Result<(), KernelError> {
        let path = Restoring::place(file);
        let made = std::fs::OpenOptions::new().write(true).create_new(true).open(&path);
        match made.and_then(|mut note| writeln!(note, "{}", std::process::id())) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                Err(KernelError::io("note the restore in", path, error))
            }
            _ => Ok(()),
        }
    }

    /// A restore has come to its end, or a save has replaced what was being restored.
    pub fn forget(file: &Path) {
        drop(std::fs::remove_file(Restoring::place(file)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(hot: u64, up_s: u64) -> Header {
        Header { files: hot.min(1), hot, up_s, ..Header::default() }
    }

    #[test]
    fn a_much_smaller_set_is_refused_soon_after_the_start_and_while_a_restore_is_not_done() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("hot");
        let old = header(1000, 99_999);
        let refused = |new: &Header| refuse(&file, Some(&old), new, 0).err().map(|error| error.to_string());
        assert!(refused(&header(400, 60)).unwrap().contains("started 60 s ago"));
        assert_eq!((refused(&header(500, 60)), refused(&header(400, 600))), (None, None));
        Restoring::note(&file).unwrap();
        assert!(refused(&header(400, 9000)).unwrap().contains("a restore of it has not come to its end"));
        assert_eq!(refused(&header(600, 9000)), None);
        Restoring::forget(&file);
        assert_eq!(refused(&header(400, 9000)), None);
        assert!(refuse(&file, None, &header(0, 1), 0).is_ok());
    }

    #[test]
    fn a_hot_set_is_not_replaced_by_an_empty_one() {
        let (file, old) = (Path::new("hot"), Header { files: 3, ..header(1000, 99_999) });
        let refused = |unknown| refuse(file, Some(&old), &header(0, 99_999), unknown).unwrap_err();
        assert!(refused(0).to_string().contains("an empty hot set restores nothing; it stays"), "{}", refused(0));
        assert!(refused(7).to_string().contains("does not answer this user for all; it stays (7 files unknown)"));
        assert!(refuse(file, Some(&header(0, 1)), &header(0, 99_999), 0).is_ok());
    }

    #[test]
    fn what_is_no_hot_set_is_never_overwritten() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("letter");
        assert_eq!(old(&file).unwrap(), None);
        std::fs::write(&file, "dear").unwrap();
        assert!(old(&file).unwrap_err().is_refused());
        std::fs::write(&file, "ramline hot set 1\nxx").unwrap();
        assert_eq!(old(&file).unwrap(), None);
    }
}
