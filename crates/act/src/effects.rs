//! The steps of the lab by name: each records what it needs, refuses what is not ours to touch, and returns the object.
//! Those with groups and processes are in [`crate::groups`].

use std::fs::{File, OpenOptions};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use ramline_kernel::loopdev::LoopDevice;
use ramline_kernel::mount::Journalled;
use ramline_kernel::write::{Change, is_knob, read_knob, write_knob};
use ramline_kernel::{FileKey, KernelError, loopdev, mount, process, scratch, swap, tracing, zram};
use ramline_units::Bytes;

use crate::undo::has_our_name;
use crate::{Result, Run, Step};

impl Run {
    /// Makes a directory, 0700. Its name, or that of the directory it is in, begins with `ramline`. Returns the real path.
    ///
    /// # Errors
    /// `Refused` for a name that is not ours or is taken.
    pub fn make_dir(&mut self, path: &Path) -> Result<PathBuf> {
        let path = new_path("make the directory", path)?;
        let step = |id| Step::MakeDir { path: path.clone(), id };
        self.perform_learning(step(None), || {
            let failed = |error| KernelError::io("make the directory", &path, error);
            std::fs::DirBuilder::new().mode(0o700).create(&path).map_err(failed)?;
            let id = FileKey::at(&path).map_err(failed)?;
            Ok((path.clone(), step(Some(id))))
        })
    }

    /// Makes a directory, 0700, that is removed with everything in it. Named as one of [`Run::make_dir`].
    ///
    /// # Errors
    /// As [`Run::make_dir`].
    pub fn make_tree(&mut self, path: &Path) -> Result<PathBuf> {
        let path = new_path("make the directory", path)?;
        let step = |id| Step::MakeTree { path: path.clone(), id };
        self.perform_learning(step(None), || {
            let failed = |error| KernelError::io("make the directory", &path, error);
            std::fs::DirBuilder::new().mode(0o700).create(&path).map_err(failed)?;
            let id = FileKey::at(&path).map_err(failed)?;
            Ok((path.clone(), step(Some(id))))
        })
    }

    /// Makes a file, 0600, and lets `fill` write it. Named as a directory is. Returns the real path.
    ///
    /// # Errors
    /// `Refused` for a name that is not ours or is taken; those of `fill`.
    pub fn make_file(&mut self, path: &Path, fill: impl FnOnce(&mut File) -> std::io::Result<()>) -> Result<PathBuf> {
        self.make_file_with(path, |path| {
            let failed = |error| KernelError::io("make the file", path, error);
            // create_new follows no link: the last part of the name must not exist at all.
            let mut file =
                OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path).map_err(failed)?;
            fill(&mut file).map_err(failed)
        })
    }

    /// Makes a swap file without holes.
    ///
    /// # Errors
    /// Those of [`swap::create_file`].
    pub fn make_swap_file(&mut self, path: &Path, size: Bytes) -> Result<PathBuf> {
        self.make_file_with(path, |path| swap::create_file(path, size))
    }

    /// Makes the file of an image without holes; unlike a swap file it may lie on btrfs.
    ///
    /// # Errors
    /// Those of [`scratch::image_file`].
    pub fn make_image_file(&mut self, path: &Path, size: Bytes) -> Result<PathBuf> {
        self.make_file_with(path, |path| scratch::image_file(path, size))
    }

    fn make_file_with(
        &mut self,
        path: &Path,
        make: impl FnOnce(&Path) -> ramline_kernel::Result<()>,
    ) -> Result<PathBuf> {
        let path = new_path("make the file", path)?;
        let step = |id| Step::MakeFile { path: path.clone(), id };
        self.perform_learning(step(None), || {
            make(&path)?;
            let id = FileKey::at(&path).map_err(|error| KernelError::io("look at", &path, error))?;
            Ok((path.clone(), step(Some(id))))
        })
    }

    /// Makes an ext4 file system in a file this run made: in that very file, whatever has its name by now.
    ///
    /// # Errors
    /// `Refused` for another file, also one that has taken its name; those of [`mount::mkfs_ext4_holding`].
    pub fn mkfs_ext4(&self, path: &Path) -> Result<()> {
        self.mkfs_ext4_holding(path, None)
    }

    /// The same, and what is in the folder `content` is copied into it.
    ///
    /// # Errors
    /// As [`Run::mkfs_ext4`].
    pub fn mkfs_ext4_holding(&self, path: &Path, content: Option<&Path>) -> Result<()> {
        let tried = "make an ext4 file system in";
        let path = real(tried, path)?;
        self.refuse_unless_made(tried, &path)?;
        let failed = |error| KernelError::io(tried, &path, error);
        let file = OpenOptions::new().read(true).write(true).open(&path).map_err(failed)?;
        let meta = file.metadata().map_err(failed)?;
        let now = FileKey::from(&meta);
        if !self.has(|step| matches!(step, Step::MakeFile { path: made, id } if *made == path && *id == Some(now))) {
            return Err(KernelError::refused(tried, &path, "another file has its name now", "").into());
        }
        Ok(mount::mkfs_ext4_holding(&file, &path, content)?)
    }

    /// Makes a file system with a journal on a loop or zram device this run made.
    ///
    /// # Errors
    /// `Refused` for another device; those of [`mount::mkfs_journalled`].
    pub fn mkfs_on_device(&self, device: &Path, kind: Journalled) -> Result<()> {
        let tried = "make a file system on";
        let device = real(tried, device)?;
        self.refuse_unless_made(tried, &device)?;
        let open = OpenOptions::new().read(true).write(true).open(&device);
        let open = open.map_err(|error| KernelError::io(tried, &device, error))?;
        Ok(mount::mkfs_journalled(&open, &device, kind)?)
    }

    /// Mounts what [`Run::mkfs_on_device`] has made at a directory this run made.
    ///
    /// # Errors
    /// `Refused` for another device or directory; those of mount(2).
    pub fn mount_device(&mut self, device: &Path, at: &Path, kind: Journalled) -> Result<()> {
        self.refuse_unless_made("mount", device)?;
        let at = self.mount_point(at)?;
        let step = Step::Mount { what: device.to_owned(), at: at.clone(), fs: kind.name().to_owned() };
        self.perform(step, || mount::journalled(device, &at, kind))
    }

    /// Attaches a loop device to a file this run made.
    ///
    /// # Errors
    /// `Refused` for another file; those of [`loopdev::attach`].
    pub fn attach_loop(&mut self, file: &Path) -> Result<LoopDevice> {
        let file = real("attach a loop device to", file)?;
        self.refuse_unless_made("attach a loop device to", &file)?;
        let root = self.root().clone();
        let existing = Some(loopdev::list(&root));
        let step = |number| Step::AttachLoop { file: file.clone(), number, existing: existing.clone() };
        self.perform_learning(step(None), || {
            let device = loopdev::attach(&root, &file)?;
            let done = step(Some(device.number));
            Ok((device, done))
        })
    }

    /// Mounts an ext4 device at a directory this run made.
    ///
    /// # Errors
    /// `Refused` for another directory; those of mount(2).
    pub fn mount_ext4(&mut self, device: &Path, at: &Path, read_only: bool) -> Result<()> {
        let at = self.mount_point(at)?;
        let step = Step::Mount { what: device.to_owned(), at: at.clone(), fs: "ext4".to_owned() };
        self.perform(step, || mount::ext4(device, &at, read_only))
    }

    /// Mounts a tmpfs at a directory this run made.
    ///
    /// # Errors
    /// `Refused` for another directory; those of mount(2).
    pub fn mount_tmpfs(&mut self, at: &Path, size: Bytes) -> Result<()> {
        let at = self.mount_point(at)?;
        let step = Step::Mount { what: "ramline".into(), at: at.clone(), fs: "tmpfs".to_owned() };
        self.perform(step, || mount::tmpfs(&at, size))
    }

    /// Mounts a tmpfs of which the treatment of pages is said, at a directory this run made.
    ///
    /// # Errors
    /// `Refused` for another directory; those of mount(2).
    pub fn mount_tmpfs_with(&mut self, at: &Path, options: mount::Tmpfs) -> Result<()> {
        let at = self.mount_point(at)?;
        let step = Step::Mount { what: "ramline".into(), at: at.clone(), fs: "tmpfs".to_owned() };
        self.perform(step, || mount::tmpfs_with(&at, options))
    }

    /// Mounts a ramfs at a directory this run made; see [`mount::ramfs`] for who may write to it.
    ///
    /// # Errors
    /// `Refused` for another directory; those of mount(2).
    pub fn mount_ramfs(&mut self, at: &Path) -> Result<()> {
        let at = self.mount_point(at)?;
        let step = Step::Mount { what: "ramline".into(), at: at.clone(), fs: "ramfs".to_owned() };
        self.perform(step, || mount::ramfs(&at))
    }

    /// Mounts tracefs at a directory this run made.
    ///
    /// # Errors
    /// `Refused` for another directory; those of mount(2).
    pub fn mount_tracefs(&mut self, at: &Path) -> Result<()> {
        let at = self.mount_point(at)?;
        let step = Step::Mount { what: "ramline".into(), at: at.clone(), fs: "tracefs".to_owned() };
        self.perform(step, || mount::tracefs(&at))
    }

    /// Where tracefs is mounted; where it is not, it is mounted in the state directory.
    ///
    /// # Errors
    /// `Unsupported` on a kernel without it; those of [`Run::mount_tracefs`].
    pub fn tracefs(&mut self) -> Result<PathBuf> {
        if let Some(mounted) = tracing::mounted(self.root()) {
            return Ok(mounted);
        }
        let at = self.state().path().join(format!("ramline-tracing-{}", self.id()));
        if !tracing::supported(self.root()) {
            return Err(
                KernelError::unsupported("mount tracefs at", at, "this kernel was built without tracing").into()
            );
        }
        let at = self.make_dir(&at)?;
        self.mount_tracefs(&at)?;
        Ok(at)
    }

    /// Makes the n-th trace instance of this process in a mounted tracefs.
    ///
    /// # Errors
    /// Those of [`tracing::Instance::make`].
    pub fn make_trace(&mut self, tracefs: &Path, n: u32) -> Result<tracing::Instance> {
        let path = tracing::Instance::planned(tracefs, n);
        refuse_if_taken("make the trace instance", &path)?;
        self.perform(Step::MakeTrace { path: path.clone() }, || tracing::Instance::make(&path))
    }

    fn mount_point(&self, at: &Path) -> Result<PathBuf> {
        let at = real("mount at", at)?;
        self.refuse_unless_made("mount at", &at)?;
        Ok(at)
    }

    /// Adds a zram device.
    ///
    /// # Errors
    /// Those of [`zram::hot_add`].
    pub fn hot_add_zram(&mut self) -> Result<zram::Device> {
        let root = self.root().clone();
        let existing = zram::list(&root);
        let step = |id, identity| Step::HotAddZram { id, identity, existing: existing.clone() };
        self.perform_learning(step(None, None), || {
            let device = zram::hot_add(&root)?;
            let done = step(Some(device.id()), Some(device.identity()?));
            Ok((device, done))
        })
    }

    /// Writes a swap header to a file or device this run made, and switches it on.
    ///
    /// # Errors
    /// `Refused` for another file or device; those of swapon(2).
    pub fn swap_on(&mut self, path: &Path, priority: Option<i32>) -> Result<()> {
        let path = real("swap on", path)?;
        self.refuse_unless_made("swap on", &path)?;
        let uuid = swap::make(&path, process::page_size())?;
        let step = Step::SwapOn { path: path.clone(), priority, uuid };
        self.perform(step, || swap::swapon(&path, priority))
    }

    /// Sets a knob of the kernel; put back when the run ends if it is still as we set it.
    ///
    /// # Errors
    /// `Refused` for one that cannot be read: it could not be put back.
    pub fn set_knob(&mut self, path: &Path, value: &str) -> Result<Change> {
        if path.exists() && !is_knob(self.root(), path) {
            return Err(KernelError::refused("set", path, "it is no knob that would be put back", "").into());
        }
        let Some(before) = read_knob(path) else {
            let error = if path.exists() {
                KernelError::refused("set", path, "a knob that cannot be read cannot be put back", "")
            } else {
                KernelError::new("set", path, ramline_kernel::Cause::Absent)
            };
            return Err(error.into());
        };
        let step =
            |after: &str| Step::SetKnob { path: path.to_owned(), before: before.clone(), after: after.to_owned() };
        self.perform_learning(step(value), || {
            let change = write_knob(path, value)?;
            let done = step(change.after.as_deref().unwrap_or(value));
            Ok((change, done))
        })
    }

    fn refuse_unless_made(&self, operation: &str, path: &Path) -> Result<()> {
        let root = self.root().clone();
        let made = self.has(|step| match step {
            Step::MakeFile { path: made, id } | Step::MakeDir { path: made, id } => {
                made == path && id.is_some() && FileKey::at(path).ok() == *id
            }
            Step::HotAddZram { id: Some(id), .. } => zram::Device::open(&root, *id).node() == path,
            Step::AttachLoop { number: Some(number), .. } => LoopDevice::open(&root, *number).node() == path,
            _ => false,
        });
        if made {
            return Ok(());
        }
        Err(KernelError::refused(operation, path, "only what this run has made itself is touched", "").into())
    }
}

/// The path without links in it, as the kernel reports it in /proc/swaps and for loop devices.
fn real(operation: &str, path: &Path) -> Result<PathBuf> {
    Ok(std::fs::canonicalize(path).map_err(|error| KernelError::io(operation, path, error))?)
}

/// The real path of something that is not there yet and has a name of ours.
pub(crate) fn new_path(operation: &str, path: &Path) -> Result<PathBuf> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let Some(name) = path.file_name() else {
        return Err(KernelError::refused(operation, path, "it has no name", "").into());
    };
    let path = real(operation, parent)?.join(name);
    if !has_our_name(&path) {
        let rule = "its name, or that of the directory it is in, must begin with 'ramline'";
        return Err(KernelError::refused(operation, &path, rule, "").into());
    }
    refuse_if_taken(operation, &path)?;
    Ok(path)
}

/// Checked before the step is announced: whatever has the name afterwards is ours.
pub fn refuse_if_taken(operation: &str, path: &Path) -> Result<()> {
    match std::fs::symlink_metadata(path) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(KernelError::io(operation, path, error).into()),
        Ok(_) => Err(KernelError::refused(operation, path, "the name is taken", "").into()),
    }
}
