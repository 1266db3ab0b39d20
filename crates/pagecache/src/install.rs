//! Units of systemd: the hot set saved and restored by themselves, files pinned as a service.
//!
//! All names begin with `ramline-`, so that what is ours is known by name; removing removes those files and nothing else. What it is
//! not: a way round systemd; where it does not run nothing is installed, unless a directory is named (for an image of a machine).

mod units;

use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use ramline_act::{ActError, Run};
use ramline_kernel::{KernelError, process};

use crate::save::Restoring;

pub use units::{Unit, hot_set, pin};

/// Where administrators' units lie.
pub const UNITS: &str = "/etc/systemd/system";
/// Where the hot set is kept when nothing else is said.
pub const HOT_SET: &str = "/var/lib/ramline/hotset";

/// Puts units in place and switches them on; all or none.
///
/// # Errors
/// `Refused` where systemd does not run, or where they are installed already; when systemctl fails.
pub fn install(mut run: Run, units: &[Unit], dir: Option<&Path>) -> Result<(), ActError> {
    if dir.is_none() {
        refuse_without_systemd("install")?;
    }
    let at = dir.unwrap_or(Path::new(UNITS));
    for unit in units {
        let path = at.join(&unit.name);
        if path.symlink_metadata().is_ok() {
            return Err(KernelError::refused("install", path, "it is installed already", "")
                .hint("the same command with --uninstall first")
                .into());
        }
        run.install_file(&path, unit.text.as_bytes())?;
    }
    // From here on they are installed, and a failure takes them away as --uninstall does.
    run.keep()?;
    if dir.is_none()
        && let Err(error) = systemctl(&["daemon-reload"]).and_then(|()| switch_on(units))
    {
        uninstall(units, None).ok();
        return Err(error.into());
    }
    Ok(())
}

fn switch_on(units: &[Unit]) -> Result<(), KernelError> {
    units.iter().filter(|unit| unit.enabled).try_for_each(|unit| {
        let now: &[&str] = if unit.now { &["--now"] } else { &[] };
        systemctl(&[&["enable"], now, &[&unit.name]].concat())
    })
}

/// Each by itself: one that is broken, or gone, must not keep the others. What starts another one goes before it.
fn switch_off(units: &[Unit]) {
    for unit in units.iter().rev() {
        let how: &[&str] = if unit.enabled { &["disable", "--now"] } else { &["stop"] };
        systemctl(&[how, &[&unit.name]].concat()).ok();
    }
}

/// Switches units off and removes them; those that are not there are passed over. How many were.
///
/// # Errors
/// When one cannot be removed.
pub fn uninstall(units: &[Unit], dir: Option<&Path>) -> Result<u64, KernelError> {
    let at = dir.unwrap_or(Path::new(UNITS));
    let there: Vec<PathBuf> =
        units.iter().map(|unit| at.join(&unit.name)).filter(|path| path.symlink_metadata().is_ok()).collect();
    if dir.is_none() && is_systemd() {
        switch_off(units);
    }
    for path in &there {
        std::fs::remove_file(path).map_err(|error| KernelError::io("remove", path, error))?;
    }
    if !there.is_empty() {
        process::sync_dir(at)?;
        if dir.is_none() && is_systemd() {
            systemctl(&["daemon-reload"])?;
        }
    }
    Ok(u64::try_from(there.len()).unwrap_or(0))
}

/// Makes the directory of a hot set, for root alone.
///
/// # Errors
/// When it cannot be made.
pub fn make_home(file: &Path) -> Result<(), KernelError> {
    refuse_without_systemd("install")?;
    let Some(dir) = file.parent().filter(|dir| !dir.as_os_str().is_empty()) else { return Ok(()) };
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(dir);
    made.map_err(|error| KernelError::io("make the directory", dir, error))
}

/// Removes the hot set at its usual place, and its directory when nothing else is in it.
///
/// # Errors
/// When it cannot be removed.
pub fn remove_home() -> Result<(), KernelError> {
    let file = Path::new(HOT_SET);
    for path in [file.to_owned(), Restoring::place(file)] {
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(KernelError::io("remove", path, error));
            }
            _ => {}
        }
    }
    // Others may keep something there: then it stays.
    drop(file.parent().map(std::fs::remove_dir));
    Ok(())
}

/// sd_booted(3).
fn is_systemd() -> bool {
    Path::new("/run/systemd/system").is_dir()
}

/// Refuses to go on where nothing would read the units.
///
/// # Errors
/// `Unsupported` with the reason.
pub fn refuse_without_systemd(tried: &str) -> Result<(), KernelError> {
    if is_systemd() {
        return Ok(());
    }
    let feature = "systemd is not running here (there is no /run/systemd/system)";
    Err(KernelError::unsupported(tried, UNITS, feature).hint("the same command with --dry-run prints the units"))
}

fn systemctl(words: &[&str]) -> Result<(), KernelError> {
    let object = format!("systemctl {}", words.join(" "));
    let failed = |error| KernelError::io("run", &object, error);
    let done = Command::new("systemctl").args(words).stdin(Stdio::null()).output().map_err(failed)?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    let said = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it failed and said nothing");
    Err(failed(std::io::Error::other(said.to_owned())))
}
