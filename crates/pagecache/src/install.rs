//! Units of systemd: the hot set saved and restored by themselves, files pinned as a service.
//!
//! All names begin with `ramline-`, so that what is ours is known by name; removing removes those files and nothing else. What it is
//! not: a way round systemd; where it does not run nothing is installed, unless a directory is named (for an image of a machine).

use std::os::unix::fs::DirBuilderExt;
use std::process::Stdio;

use ramline_act::{ActError, Run};
use ramline_kernel::program;

use crate::prelude::*;
use crate::save::Restoring;

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
    let object = format!("systemctl {}", ramline_units::command_line(words));
    let failed = |error| KernelError::io("run", &object, error);
    let done = program::command("systemctl")?.args(words).stdin(Stdio::null()).output().map_err(failed)?;
    if done.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    let said = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it failed and said nothing");
    Err(failed(std::io::Error::other(said.to_owned())))
}

/// A unit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// Its file.
    pub name: String,
    /// What stands in it.
    pub text: String,
    /// It has an `[Install]` section.
    pub enabled: bool,
    /// It is started at once.
    pub now: bool,
}

/// A word as systemd reads it in a command line: quoted, with nothing in it expanded (systemd.service(5)).
fn quoted(path: &Path) -> Result<String, KernelError> {
    let text = std::str::from_utf8(path.as_os_str().as_bytes()).ok().filter(|text| !text.contains(char::is_control));
    let Some(text) = text else {
        let rule = "a name in a unit is text without control characters";
        return Err(KernelError::refused("name in a unit", path, rule, ""));
    };
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('%', "%%").replace('$', "$$");
    Ok(format!("\"{escaped}\""))
}

/// Restore at boot, save every hour and at shutdown.
///
/// # Errors
/// `Refused` for a name a unit cannot hold.
pub fn hot_set(program: &Path, file: &Path) -> Result<Vec<Unit>, KernelError> {
    // A condition takes the rest of its line as it is, but for specifiers.
    let bare = file.to_string_lossy().replace('%', "%%");
    let (program, file) = (quoted(program)?, quoted(file)?);
    let unit = |name: &str, now, rest: &str| {
        let text = format!("# Written by ramline cache save --install.\n[Unit]\nDescription={rest}");
        Unit { name: format!("ramline-hotset-{name}"), enabled: text.contains("\n[Install]\n"), now, text }
    };
    let save = format!("{program} cache save --if-warm {file}");
    // 7: some file could not be asked, which is as it should be on a machine in use.
    let fine = if bare == HOT_SET {
        "SuccessExitStatus=7\nStateDirectory=ramline\nStateDirectoryMode=0700"
    } else {
        "SuccessExitStatus=7"
    };
    let at_boot = format!(
        "Read the saved hot set into the page cache\nDocumentation=man:ramline-cache-restore(1)\n\
         RequiresMountsFor={file}\nConditionPathExists={bare}\n\n\
         [Service]\nType=exec\nExecStart={program} cache restore {file}\n{fine}\nIOSchedulingPriority=7\n\n\
         [Install]\nWantedBy=multi-user.target\n"
    );
    let now = format!(
        "Save the hot set of the page cache\nDocumentation=man:ramline-cache-save(1)\nRequiresMountsFor={file}\n\n\
         [Service]\nType=oneshot\nExecStart={save}\n{fine}\nNice=10\n"
    );
    let hourly = "Save the hot set of the page cache every hour\n\n\
         [Timer]\nOnBootSec=30min\nOnUnitInactiveSec=1h\n\n[Install]\nWantedBy=timers.target\n";
    // Stopped when all services are, since a database writes its last records then, but before what is mounted goes.
    let at_shutdown = format!(
        "Save the hot set of the page cache at shutdown\nDocumentation=man:ramline-cache-save(1)\n\
         RequiresMountsFor={file}\nDefaultDependencies=no\nAfter=local-fs.target\n\
         Before=basic.target shutdown.target\nConflicts=shutdown.target\n\n\
         [Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\nExecStop={save}\n{fine}\nTimeoutStopSec=120\n\n\
         [Install]\nWantedBy=multi-user.target\n"
    );
    Ok(vec![
        unit("restore.service", false, &at_boot),
        unit("save.service", false, &now),
        unit("save.timer", true, hourly),
        unit("shutdown.service", true, &at_shutdown),
    ])
}

/// Files pinned from boot on.
///
/// # Errors
/// `Refused` for a name a unit cannot hold.
pub fn pin(program: &Path, name: &str, paths: &[PathBuf], budget: Option<Bytes>) -> Result<Unit, KernelError> {
    if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_')) {
        return Err(KernelError::refused("name the service", name, "a name is letters, digits, - and _", ""));
    }
    let budget = budget.map(|budget| format!(" --budget {}B", budget.0)).unwrap_or_default();
    let words: Vec<String> = paths.iter().map(|path| quoted(path)).collect::<Result<_, _>>()?;
    let mounts = words.iter().map(|word| format!("RequiresMountsFor={word}\n")).collect::<String>();
    let text = format!(
        "# Written by ramline cache pin --service.\n[Unit]\nDescription=Files kept in memory ({name})\n\
         Documentation=man:ramline-cache-pin(1)\n{mounts}\n[Service]\nType=exec\nExecStart={} cache pin{budget} -- {}\n\
         SuccessExitStatus=7\nLimitMEMLOCK=infinity\nRestart=on-failure\nRestartSec=30\n\n[Install]\nWantedBy=multi-user.target\n",
        quoted(program)?,
        words.join(" ")
    );
    Ok(Unit { name: format!("ramline-pin-{name}.service"), text, enabled: true, now: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_and_nothing_in_them_is_expanded() {
        assert_eq!(quoted("/a b/%i$X\"\\".as_ref()).unwrap(), "\"/a b/%%i$$X\\\"\\\\\"");
        assert!(quoted("/a\nExecStart=/bin/sh".as_ref()).unwrap_err().is_refused());
    }

    #[test]
    fn the_units_of_a_hot_set_have_our_names_and_run_our_program() {
        let units = hot_set("/usr/bin/ramline".as_ref(), "/var/lib/ramline/hotset".as_ref()).unwrap();
        assert!(units.iter().all(|unit| unit.name.starts_with("ramline-hotset-")));
        assert!(units.iter().all(|unit| unit.enabled == unit.text.contains("[Install]")));
        assert!(units[0].text.contains("ConditionPathExists=/var/lib/ramline/hotset\n"));
        assert!(units[3].text.contains("Before=basic.target") && units[3].text.contains("After=local-fs.target"));
        assert!(units[0].text.contains("ExecStart=\"/usr/bin/ramline\" cache restore \"/var/lib/ramline/hotset\"\n"));
    }

    #[test]
    fn a_pin_service_has_a_plain_name_and_no_limit_on_locked_memory() {
        let unit = pin("/r".as_ref(), "db", &["/srv/db".into()], Some(Bytes(4096))).unwrap();
        assert_eq!(unit.name, "ramline-pin-db.service");
        assert!(unit.text.contains("ExecStart=\"/r\" cache pin --budget 4096B -- \"/srv/db\"\n"), "{}", unit.text);
        assert!(unit.text.contains("LimitMEMLOCK=infinity"));
        assert!(pin("/r".as_ref(), "../x", &[], None).is_err());
    }
}
