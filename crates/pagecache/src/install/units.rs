//! The text of units. A pure function of what they are to run.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use ramline_kernel::KernelError;
use ramline_units::Bytes;

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
        return Err(KernelError::refused(
            "name in a unit",
            path,
            "a name in a unit is text without control characters",
            "",
        ));
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
    let unit = |name: &str, now, text: String| Unit { name: name.to_owned(), text, enabled: true, now };
    let save = format!("{program} cache save --if-warm {file}");
    // 7: some file could not be asked, which is as it should be on a machine in use.
    let fine = if bare == super::HOT_SET {
        "SuccessExitStatus=7\nStateDirectory=ramline\nStateDirectoryMode=0700"
    } else {
        "SuccessExitStatus=7"
    };
    Ok(vec![
        unit(
            "ramline-hotset-restore.service",
            false,
            format!(
                "# Written by ramline cache save --install.\n[Unit]\nDescription=Read the saved hot set into the page cache\n\
                 Documentation=man:ramline-cache-restore(1)\nRequiresMountsFor={file}\nConditionPathExists={bare}\n\n\
                 [Service]\nType=exec\nExecStart={program} cache restore {file}\n{fine}\nIOSchedulingPriority=7\n\n\
                 [Install]\nWantedBy=multi-user.target\n"
            ),
        ),
        Unit {
            enabled: false,
            ..unit(
                "ramline-hotset-save.service",
                false,
                format!(
                    "# Written by ramline cache save --install.\n[Unit]\nDescription=Save the hot set of the page cache\n\
                     Documentation=man:ramline-cache-save(1)\nRequiresMountsFor={file}\n\n\
                     [Service]\nType=oneshot\nExecStart={save}\n{fine}\nNice=10\n"
                ),
            )
        },
        unit(
            "ramline-hotset-save.timer",
            true,
            "# Written by ramline cache save --install.\n[Unit]\nDescription=Save the hot set of the page cache every hour\n\n\
             [Timer]\nOnBootSec=30min\nOnUnitInactiveSec=1h\n\n[Install]\nWantedBy=timers.target\n"
                .to_owned(),
        ),
        // Stopped when all services are, since a database writes its last records then, but before what is mounted goes.
        unit(
            "ramline-hotset-shutdown.service",
            true,
            format!(
                "# Written by ramline cache save --install.\n[Unit]\nDescription=Save the hot set of the page cache at shutdown\n\
                 Documentation=man:ramline-cache-save(1)\nRequiresMountsFor={file}\nDefaultDependencies=no\nAfter=local-fs.target\n\
                 Before=basic.target shutdown.target\nConflicts=shutdown.target\n\n\
                 [Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\nExecStop={save}\n{fine}\nTimeoutStopSec=120\n\n\
                 [Install]\nWantedBy=multi-user.target\n"
            ),
        ),
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
