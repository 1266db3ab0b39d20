//! Files that stay: units of systemd and the like, put in place whole or not at all.
//!
//! Each is staged beside its place, synced and renamed, as steps of a run like any other; [`Run::keep`] then ends the run without
//! undoing them. A run that fails or is killed before that leaves nothing of them.

use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use ramline_kernel::{FileKey, KernelError, process};

use crate::effects::new_path;
use crate::{Result, Run, Step};

impl Run {
    /// Puts a file in place, readable by all. Named as one of [`Run::make_file`].
    ///
    /// # Errors
    /// `Refused` for a name that is not ours or is taken; when it cannot be written.
    pub fn install_file(&mut self, path: &Path, text: &[u8]) -> Result<()> {
        let path = new_path("install", path)?;
        let mut staged = path.clone().into_os_string();
        staged.push(".new");
        let staged = self.make_file(Path::new(&staged), |file| {
            file.write_all(text)?;
            file.set_permissions(std::fs::Permissions::from_mode(0o644))?;
            file.sync_all()
        })?;
        let failed = |error| KernelError::io("install", &path, error);
        let id = Some(FileKey::at(&staged).map_err(failed)?);
        self.perform(Step::MakeFile { path: path.clone(), id }, || {
            // A link fails where the name is taken by now; a rename would replace what has it.
            std::fs::hard_link(&staged, &path).and_then(|()| std::fs::remove_file(&staged)).map_err(failed)?;
            path.parent().map_or(Ok(()), process::sync_dir)
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::{Run, RunLock, StateDir, recover};
    use ramline_kernel::Root;

    #[test]
    fn what_is_installed_and_kept_stays_and_what_is_not_kept_goes() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::open(&dir.path().join("state")).unwrap();
        let root = Root::live();
        let names = || {
            let all = std::fs::read_dir(dir.path()).unwrap().flatten().map(|entry| entry.file_name());
            all.filter(|name| name != "state").collect::<Vec<_>>()
        };
        let lock = RunLock::take(&state, &root).unwrap();
        let mut run = Run::begin(&lock, &root, None).unwrap();
        run.install_file(&dir.path().join("ramline-a.service"), b"[Unit]\n").unwrap();
        assert_eq!(names(), ["ramline-a.service"]);
        assert!(run.install_file(&dir.path().join("ramline-a.service"), b"other").is_err());
        assert!(run.install_file(&dir.path().join("other.service"), b"other").is_err());
        drop(run);
        assert!(names().is_empty());
        let mut run = Run::begin(&lock, &root, None).unwrap();
        run.install_file(&dir.path().join("ramline-a.service"), b"[Unit]\n").unwrap();
        run.keep().unwrap();
        assert_eq!(std::fs::read_to_string(dir.path().join("ramline-a.service")).unwrap(), "[Unit]\n");
        assert!(recover(&state, &root).unwrap().is_empty());
        assert_eq!(names(), ["ramline-a.service"]);
    }
}
