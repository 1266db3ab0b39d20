//! The state directory: ours, private, no link on the way in.

use std::ffi::OsStr;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use ramline_kernel::{KernelError, place, process};

use crate::Result;

/// A checked state directory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateDir {
    dir: PathBuf,
}

impl StateDir {
    /// Where it belongs: `/var/lib/ramline` for root, else `$XDG_STATE_HOME/ramline` or `~/.local/state/ramline`; `None`
    /// for a user without a home. The environment is read by the caller.
    #[must_use]
    pub fn default_path(uid: u32, xdg_state_home: Option<&OsStr>, home: Option<&OsStr>) -> Option<PathBuf> {
        if uid == 0 {
            return Some(PathBuf::from("/var/lib/ramline"));
        }
        // The specification: a relative path in the variable is to be ignored.
        let xdg = xdg_state_home.map(PathBuf::from).filter(|path| path.is_absolute());
        let base =
            xdg.or_else(|| home.map(|home| Path::new(home).join(".local/state")).filter(|path| path.is_absolute()));
        base.map(|base| base.join("ramline"))
    }

    /// Opens it, making it (0700) and what is missing above it.
    ///
    /// # Errors
    /// `Refused` when it is a link, not a directory, or not ours; `Denied` when it cannot be made.
    pub fn open(dir: &Path) -> Result<StateDir> {
        let failed = |error| KernelError::io("make the state directory", dir, error);
        if let Some(parent) = dir.parent() {
            std::fs::create_dir_all(parent).map_err(failed)?;
        }
        match std::fs::DirBuilder::new().mode(0o700).create(dir) {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => return Err(failed(error).into()),
            _ => {}
        }
        let state = StateDir::check(dir)?;
        // A mode left too wide by somebody's umask or chmod; the directory is ours, so this may be mended.
        std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o700)).map_err(failed)?;
        std::fs::DirBuilder::new().mode(0o700).recursive(true).create(state.journals()).map_err(failed)?;
        Ok(state)
    }

    /// Opens it without changing anything; `None` when it is not there.
    ///
    /// # Errors
    /// As [`StateDir::open`].
    pub fn open_existing(dir: &Path) -> Result<Option<StateDir>> {
        match StateDir::check(dir) {
            Err(error) if error.is_absent() => Ok(None),
            other => Ok(Some(other?)),
        }
    }

    fn check(dir: &Path) -> std::result::Result<StateDir, KernelError> {
        let tried = "use the state directory";
        place::refuse_unless_ours(tried, dir)?;
        if let Some((above, why)) = foreign_above(dir) {
            let rule = "no other user may be able to replace it";
            return Err(KernelError::refused(tried, dir, rule, format!("{} {why}", above.display())));
        }
        let state = StateDir { dir: dir.to_owned() };
        match std::fs::symlink_metadata(state.journals()) {
            Ok(journals) if !journals.is_dir() || journals.uid() != process::uid() || journals.mode() & 0o022 != 0 => {
                let rule = "its journal must be a directory of ours, and no link";
                Err(KernelError::refused(tried, dir, rule, String::new()))
            }
            _ => Ok(state),
        }
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.dir
    }

    pub(crate) fn lock_file(&self) -> PathBuf {
        self.dir.join("lock")
    }

    /// Records of standing changes, which are never pruned.
    pub(crate) fn standing(&self) -> PathBuf {
        self.dir.join("standing")
    }

    /// What was found of standing changes at each boot.
    pub(crate) fn boots(&self) -> PathBuf {
        self.dir.join("boots.jsonl")
    }

    /// The budget of writeback, and marks.
    pub(crate) fn upkeep(&self) -> PathBuf {
        self.dir.join("upkeep.json")
    }

    pub(crate) fn journals(&self) -> PathBuf {
        self.dir.join("journal")
    }
}

/// A directory on the way in which somebody else could replace what is below, and why. Where everybody may write and names belong to their
/// makers (/tmp) nobody can.
fn foreign_above(dir: &Path) -> Option<(PathBuf, String)> {
    let (full, own) = (std::fs::canonicalize(dir).ok()?, process::uid());
    full.ancestors().skip(1).find_map(|above| {
        let meta = std::fs::symlink_metadata(above).ok()?;
        // Root of the machine itself looks unknown from inside a user namespace, and can do what it likes anyway.
        let machines = meta.uid() == process::UNKNOWN_USER && !process::knows_all_users();
        let owner = meta.uid() != 0 && meta.uid() != own && !machines;
        // A user's own group may well write to the home directory; to what root stands on it must not.
        let others = if own == 0 && meta.gid() != 0 { 0o022 } else { 0o002 };
        let open = meta.mode() & others != 0 && meta.mode() & 0o1000 == 0;
        let why = match (owner, open) {
            (true, _) => format!("is of user {}", meta.uid()),
            (_, true) => format!("has mode {:03o}", meta.mode() & 0o7777),
            _ => return None,
        };
        Some((above.to_owned(), why))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_and_users_have_their_own_place() {
        let of = |uid, xdg: Option<&str>, home: Option<&str>| {
            StateDir::default_path(uid, xdg.map(OsStr::new), home.map(OsStr::new))
                .map(|path| path.display().to_string())
        };
        assert_eq!(of(0, Some("/x"), Some("/root")).as_deref(), Some("/var/lib/ramline"));
        assert_eq!(of(7, Some("/x"), Some("/home/a")).as_deref(), Some("/x/ramline"));
        assert_eq!(of(7, Some("relative"), Some("/home/a")).as_deref(), Some("/home/a/.local/state/ramline"));
        assert_eq!(of(7, None, None), None);
    }

    #[test]
    fn a_link_or_a_directory_others_can_write_to_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let real = dir.path().join("real");
        assert!(StateDir::open_existing(&real).unwrap().is_none());
        StateDir::open(&real).unwrap();
        assert_eq!(std::fs::metadata(&real).unwrap().mode() & 0o777, 0o700);
        let link = dir.path().join("link");
        std::os::unix::fs::symlink(&real, &link).unwrap();
        assert!(StateDir::open(&link).unwrap_err().to_string().contains("no link"));
        std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert!(StateDir::open(&real).unwrap_err().to_string().contains("mode 777"));
        std::fs::set_permissions(&real, std::fs::Permissions::from_mode(0o700)).unwrap();
        std::fs::remove_dir(real.join("journal")).unwrap();
        std::os::unix::fs::symlink(dir.path(), real.join("journal")).unwrap();
        assert!(StateDir::open_existing(&real).unwrap_err().to_string().contains("no link"));
    }

    #[test]
    fn a_directory_in_which_others_could_replace_it_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let (above, state) = (dir.path().join("above"), dir.path().join("above/state"));
        StateDir::open(&state).unwrap();
        std::fs::set_permissions(&above, std::fs::Permissions::from_mode(0o777)).unwrap();
        assert!(StateDir::open_existing(&state).unwrap_err().to_string().contains("above has mode 777"));
        std::fs::set_permissions(&above, std::fs::Permissions::from_mode(0o1777)).unwrap();
        StateDir::open_existing(&state).unwrap();
    }
}
