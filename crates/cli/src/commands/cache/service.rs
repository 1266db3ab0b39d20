//! Units of systemd for the verbs that have some: install, print, remove.

use ramline_act::Run;
use ramline_act::clean_up;
use ramline_kernel::place;
use ramline_pagecache::install::{self, Unit};

use crate::prelude::*;

/// The units of a verb.
#[derive(Debug)]
pub struct Service {
    /// What is to be installed.
    pub units: Vec<Unit>,
    /// Where, if not at the usual place.
    pub dir: Option<PathBuf>,
    /// Only print.
    pub dry: bool,
}

/// The program that units run: this one.
///
/// # Errors
/// It cannot be found out.
pub fn program() -> Result<PathBuf> {
    Ok(process::own_exe()?)
}

/// Units are given no options of a walk: rather refuse than drop them.
///
/// # Errors
/// Some were given.
pub fn refuse_options(usual: bool) -> Result<()> {
    anyhow::ensure!(
        usual,
        "a unit cannot be given options of a walk (--exclude and the like)\n  try: systemctl edit UNIT, with an ExecStart of your own"
    );
    Ok(())
}

impl Service {
    /// Puts them in place and switches them on.
    ///
    /// # Errors
    /// Systemd does not run, they are there already, or cannot be written.
    pub fn install(&self, root: &Root) -> Result<u8> {
        if self.dry {
            let text = |unit: &Unit| format!("# {}/{}\n{}\n", self.place(), unit.name, unit.text);
            output::text(&self.units.iter().map(text).collect::<String>())?;
            return Ok(exit::DONE);
        }
        if self.dir.is_none() {
            install::refuse_without_systemd("install")?;
        }
        // Root will run it every hour: nobody else may be able to put another one there.
        place::refuse_unless_private("let systemd run", &program()?).map_err(|error| {
            error.hint("sudo install -m 755 ramline /usr/local/bin, and the same command with that one")
        })?;
        let lock = recovered(root)?;
        let run = Run::begin(&lock, root, state::crash_after())?;
        install::install(run, &self.units, self.dir.as_deref())?;
        let names: Vec<&str> = self.units.iter().map(|unit| unit.name.as_str()).collect();
        let on = if self.dir.is_some() { "; systemctl enable switches them on" } else { " and switched on" };
        output::text(&format!("Installed in {}{on}: {}\n", self.place(), names.join(", ")))?;
        Ok(exit::DONE)
    }

    /// Removes them.
    ///
    /// # Errors
    /// One cannot be removed.
    pub fn uninstall(&self, root: &Root) -> Result<u8> {
        if self.dry {
            let path = |unit: &Unit| format!("{}/{}\n", self.place(), unit.name);
            output::text(&self.units.iter().map(path).collect::<String>())?;
            return Ok(exit::DONE);
        }
        // What a killed installation left goes first, so that nobody takes later files of these names for it.
        let _lock = recovered(root)?;
        let removed = install::uninstall(&self.units, self.dir.as_deref())?;
        output::text(&format!("Removed {removed} of {} units from {}.\n", self.units.len(), self.place()))?;
        Ok(exit::DONE)
    }

    fn place(&self) -> String {
        ramline_view::escape(&self.dir.as_ref().map_or(install::UNITS.into(), |dir| dir.to_string_lossy())).into_owned()
    }
}

/// The run lock, once what dead runs left behind is undone.
fn recovered(root: &Root) -> Result<RunLock> {
    let lock = state::lock(root)?;
    clean_up(&lock, root)?;
    Ok(lock)
}
