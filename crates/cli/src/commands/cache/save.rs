//! `ramline cache save`.

use ramline_kernel::output::Output;
use ramline_pagecache::save::SaveOptions;
use ramline_pagecache::{hotset, install, save};

use super::service::{self, Service};
use super::verb::{CacheVerb, Walking, code, tell_beside};
use crate::prelude::*;

/// Save the hot set: which parts of which files are in the page cache now, to be read again after a reboot (cache restore)
///
/// Kept are names and page numbers, never contents. FILE is written beside the old one and then takes its place, whole or not at all.
/// A save is refused when it finds less than half of what FILE holds while a restore of it has not come to its end, or in the first
/// ten minutes after a start: that would be the hot set of a machine that is still warming up; and where it finds nothing at all. What is in memory anyhow (tmpfs) and
/// what a server answers for (NFS, FUSE) is left out. With --install systemd does it: saved every hour and at shutdown, restored at
/// boot. Exit status: 7 when files could not be asked or looked at, 0 otherwise.
#[derive(Debug, Clone, Args)]
#[command(group(clap::ArgGroup::new("units").args(["install", "uninstall"])))]
#[command(override_usage = "ramline cache save [OPTIONS] <FILE> [PATH]...\n       \
    ramline cache save --install [--dir <DIR>] [--dry-run] [FILE]\n       \
    ramline cache save --uninstall [--dir <DIR>] [--dry-run] [FILE]")]
pub struct Save {
    /// The hot set's file, - for stdout [with --install: /var/lib/ramline/hotset]
    #[arg(value_name = "FILE", required_unless_present_any = ["install", "uninstall"])]
    file: Option<PathBuf>,
    /// Files and directories, with everything below [default: every file system of a local disk]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Save also while the page cache is half warm
    #[arg(long)]
    force: bool,
    /// While the page cache is half warm keep the old hot set, say so, and end with 0
    #[arg(long, conflicts_with = "force")]
    if_warm: bool,
    /// Only find out what would be saved; with --install, print the units
    #[arg(long)]
    dry_run: bool,
    /// Install and switch on units of systemd that save every hour and at shutdown, and restore at boot
    #[arg(long, conflicts_with_all = ["uninstall", "paths"])]
    install: bool,
    /// Remove those units, and the hot set if it is at its usual place
    #[arg(long, conflicts_with = "paths")]
    uninstall: bool,
    /// Where the units lie, for the image of another machine: nothing is switched on [default: /etc/systemd/system]
    #[arg(long, value_name = "DIR", requires = "units")]
    dir: Option<PathBuf>,
    #[command(flatten)]
    walking: Walking,
    #[command(flatten)]
    format: Format,
}

impl CacheVerb for Save {
    fn run(&self, root: &Root) -> Result<u8> {
        let file = self.file.clone().unwrap_or_else(|| PathBuf::from(install::HOT_SET));
        if self.install || self.uninstall {
            return self.units(root, &file);
        }
        signals::install();
        let options = SaveOptions { force: self.force, if_warm: self.if_warm };
        let open = || place::open(&file, hotset::FORMAT, "ramline cache save FILE");
        let output = (!self.dry_run).then(open).transpose()?;
        let to_stdout = output.as_ref().is_some_and(Output::is_stdout);
        let so_far = Arc::new(RunningCount::default());
        let terminal = Terminal::look(&so_far);
        let told = |error: &_| tell_beside(Some(&terminal), error);
        let context = Context { root, tell: &told };
        let done = save::save(context, &file, output, &self.paths, &self.walking.counted(&so_far), options);
        drop(terminal);
        let done = done?;
        let partly = done.failed > 0 || !done.unknown.is_empty();
        // What was asked for there is the hot set.
        if !to_stdout {
            self.format.versioned(&done)?;
        }
        Ok(code(partly))
    }
}

impl Save {
    fn units(&self, root: &Root, file: &Path) -> Result<u8> {
        service::refuse_options(self.walking.is_usual())?;
        let units = install::hot_set(&service::program()?, &std::path::absolute(file)?)?;
        let service = Service { units, dir: self.dir.clone(), dry: self.dry_run };
        if self.install {
            if !self.dry_run && self.dir.is_none() {
                install::make_home(file)?;
            }
            return service.install(root);
        }
        let code = service.uninstall(root)?;
        if self.file.is_none() && self.dir.is_none() && !self.dry_run {
            install::remove_home()?;
        }
        Ok(code)
    }
}
