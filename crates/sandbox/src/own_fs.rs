//! A file system of our own: a private directory with an ext4 image on a loop device, mounted.
//!
//! Nobody else has ever touched its files, so that who pays for their pages is decided in the run. The loop device goes past the
//! page cache of its backing file: a page is in memory once, and its queue is not one of the host's. What it is not: a place for
//! results.

use ramline_kernel::loopdev;
use ramline_kernel::write::read_knob;

use crate::prelude::*;

/// What has been made.
#[derive(Debug)]
pub struct OwnFs {
    /// The private directory, on the file system that was chosen.
    pub dir: PathBuf,
    /// Where the files are.
    pub at: PathBuf,
    /// The loop device below it.
    pub device: loopdev::LoopDevice,
}

impl OwnFs {
    /// Makes directory, image, loop device and mount below `place`; every step goes through the journal of `run`.
    ///
    /// # Errors
    /// The first step that fails; what was made before is undone by `run`.
    pub fn create(place: &Path, size: Bytes, read_ahead: Bytes, run: &mut Run) -> Result<OwnFs> {
        let dir = scratch::own_dir(place, run)?;
        let image = run.make_image_file(&dir.join("files.img"), size)?;
        run.mkfs_ext4(&image)?;
        let device = run.attach_loop(&image)?;
        // Before the mount: a file takes the read-ahead of its device when it is opened.
        run.set_knob(&device.read_ahead_knob(), &(read_ahead.0 / 1024).to_string())?;
        let at = run.make_dir(&dir.join("mnt"))?;
        run.mount_ext4(device.node(), &at, false)?;
        Ok(OwnFs { dir, at, device })
    }

    /// Makes a file of random bytes in it.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn file(&self, name: &str, size: Bytes) -> Result<PathBuf> {
        let path = self.at.join(name);
        scratch::new_file(&path, size)?;
        Ok(path)
    }

    /// Sets the read-ahead of the device, where it is another; a file takes it when it is opened.
    ///
    /// # Errors
    /// The knob cannot be written.
    pub fn set_read_ahead(&self, size: Bytes, run: &mut Run) -> Result<()> {
        let (knob, kib) = (self.device.read_ahead_knob(), (size.0 / 1024).to_string());
        if read_knob(&knob).as_deref() != Some(kib.as_str()) {
            run.set_knob(&knob, &kib)?;
        }
        Ok(())
    }

    /// What the device does, by name, for the record.
    #[must_use]
    pub fn verified(&self) -> Vec<(String, String)> {
        let unknown = || "unknown".to_owned();
        let knob = read_knob(&self.device.read_ahead_knob()).unwrap_or_else(unknown);
        let direct = self.device.direct_io().map_or_else(unknown, |direct| direct.to_string());
        vec![("scratch read-ahead KiB".to_owned(), knob), ("scratch direct I/O".to_owned(), direct)]
    }
}

/// The image for so many bytes of files, with what ext4 needs beside them: below 512 MiB an inode of 256 bytes for every 4 KiB,
/// which is a sixteenth, 2 % that it keeps for itself, and its own tables.
#[must_use]
pub fn image_size(files: Bytes) -> Bytes {
    files + Bytes(files.0 / 8) + Bytes::from_mib(16)
}
