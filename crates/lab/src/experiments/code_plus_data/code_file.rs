//! The scratch place of an experiment: a private directory with an ext4 image on a loop device, and the code file in it.
//!
//! The loop device has a queue of its own, so its read-ahead is set without touching the queues of the host, and it goes
//! past the page cache of its backing file (direct I/O), so a page of code is in memory once. Without root the code file lies
//! in the directory itself, also once in memory, and is read with the read-ahead of the disk. What it is not: temporary
//! in the sense of /tmp: memory and network file systems are refused, they would measure something else.

use std::io::Write;

use super::plan::{CodePlusDataPlan, Ground};
use super::settings::CODE_UNITS;
use crate::limited::hold_file;
use crate::prelude::*;
use ramline_predict::calibration::PLAIN;

/// What has been set up.
pub struct Scratch {
    /// None of our own without root.
    fs: Option<OwnFs>,
    /// The private directory, on the file system that was chosen.
    pub dir: PathBuf,
    /// The code file.
    pub code: PathBuf,
    /// The file by which the workload is held.
    pub hold: PathBuf,
    verified: Vec<(String, String)>,
}

impl Scratch {
    /// Makes the file system, where there is one, and the code file; every step goes through the journal of `run`.
    ///
    /// # Errors
    /// The first step that fails; what was made before is undone by `run`.
    pub fn create(plan: &CodePlusDataPlan, run: &mut Run) -> Result<Scratch> {
        match plan.ground {
            Ground::OwnFs => Scratch::on_own_fs(plan, run),
            Ground::Plain { read_ahead } => Scratch::plain(plan, read_ahead, run),
        }
    }

    fn plain(plan: &CodePlusDataPlan, read_ahead: Bytes, run: &mut Run) -> Result<Scratch> {
        let dir = scratch::own_dir(&plan.place.dir, run)?;
        let size = plan.settings.units(CODE_UNITS);
        let code = run.make_file(&dir.join("code"), |file| scratch::fill(file, size))?;
        let hold = run.make_file(&dir.join("hold"), |file| file.write_all(&[0]))?;
        let place =
            format!("{}, read-ahead of {}", plan.place.fs_type, plan.place.device.as_deref().unwrap_or("its disk"));
        let kib = (read_ahead.0 / 1024).to_string();
        let verified = vec![("scratch read-ahead KiB".to_owned(), kib), (PLAIN.to_owned(), place)];
        Ok(Scratch { fs: None, dir, code, hold, verified })
    }

    fn on_own_fs(plan: &CodePlusDataPlan, run: &mut Run) -> Result<Scratch> {
        let settings = &plan.settings;
        let read_ahead = settings.read_aheads.first().copied().unwrap_or_default();
        let size = settings.units(CODE_UNITS);
        let fs = OwnFs::create(&plan.place.dir, image_size(size), read_ahead, run)?;
        let code = fs.file("code", size)?;
        let hold = hold_file(&fs.at)?;
        Ok(Scratch { dir: fs.dir.clone(), fs: Some(fs), code, hold, verified: Vec::new() })
    }

    /// Sets the read-ahead of the device, where it is another; a file takes it when it is opened. That of a disk stays.
    ///
    /// # Errors
    /// The knob cannot be written.
    pub fn set_read_ahead(&self, size: Bytes, run: &mut Run) -> Result<()> {
        self.fs.as_ref().map_or(Ok(()), |fs| fs.set_read_ahead(size, run))
    }

    /// What was asked of the device and what it does, by name.
    #[must_use]
    pub fn verified(&self) -> Vec<(String, String)> {
        self.fs.as_ref().map_or_else(|| self.verified.clone(), OwnFs::verified)
    }
}
