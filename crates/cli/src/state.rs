//! Where ramline keeps its journal and its records, and what earlier runs left behind.

use anyhow::Context;
use ramline_act::{leftovers, one_line};

use crate::prelude::*;

/// The state directory: `RAMLINE_STATE_DIR`, or the usual place of this user.
///
/// # Errors
/// There is no such place: no HOME.
pub fn path() -> Result<PathBuf> {
    if let Some(dir) = std::env::var_os("RAMLINE_STATE_DIR") {
        return Ok(PathBuf::from(dir));
    }
    let env = std::env::var_os;
    let (uid, xdg, home) = (process::uid(), env("XDG_STATE_HOME"), env("HOME"));
    // Its `.`, which a home of another user, kept by `sudo -u`, does not show.
    let is_usable = |home: &OsString| Path::new(home).join(".").is_dir();
    if uid != 0 && xdg.is_none() && home.as_ref().is_some_and(|home| !is_usable(home)) {
        return Ok(homeless(uid, env("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|dir| dir.is_dir())));
    }
    StateDir::default_path(uid, xdg.as_deref(), home.as_deref())
        .context("there is no place for ramline's state: HOME is not set\n  try: RAMLINE_STATE_DIR=DIR ramline …")
}

/// The state directory of a user without a usable home, such as `nobody` and many services: below a directory that every user may write to. It is
/// checked like any other: ours, and no other user may write to it.
fn homeless(uid: u32, runtime: Option<PathBuf>) -> PathBuf {
    runtime.map_or_else(|| PathBuf::from(format!("/var/tmp/ramline-{uid}")), |dir| dir.join("ramline"))
}

/// Where `ramline record` writes.
///
/// # Errors
/// As [`path`].
pub fn history() -> Result<PathBuf> {
    Ok(path()?.join("history"))
}

/// Where history is read from: this user's own, or the machine's where this user has none.
///
/// # Errors
/// As [`path`].
pub fn history_to_read() -> Result<PathBuf> {
    let own = history()?;
    let of_the_machine = StateDir::default_path(0, None, None).map(|dir| dir.join("history"));
    let is_given = std::env::var_os("RAMLINE_STATE_DIR").is_some();
    Ok(of_the_machine.filter(|_| !is_given && !own.is_dir()).unwrap_or(own))
}

/// Takes the run lock; a second live run is refused.
///
/// # Errors
/// Another ramline is running, or the state directory cannot be used.
pub fn lock(root: &Root) -> Result<RunLock> {
    Ok(RunLock::take(&StateDir::open(&path()?)?, root)?)
}

/// Refuses beside another live run, which measuring would disturb; takes and makes nothing.
///
/// # Errors
/// Another ramline of this user is running.
pub fn alone(root: &Root) -> Result<()> {
    let state = path().ok().and_then(|path| StateDir::open_existing(&path).ok()).flatten();
    Ok(state.map_or(Ok(()), |state| RunLock::none_held(&state, root))?)
}

/// One line naming what dead runs left behind; `None` when there is nothing, or when the source is not this machine.
pub fn left_behind(source: &Source) -> Option<String> {
    if !source.is_live() {
        return None;
    }
    let state = StateDir::open_existing(&path().ok()?).ok()??;
    one_line(&leftovers(&state, &Root::live()).ok()?)
}

/// For tests: die after so many journal records.
pub fn crash_after() -> Option<u64> {
    std::env::var("RAMLINE_TEST_KILL_AFTER_STEP").ok()?.parse().ok()
}
