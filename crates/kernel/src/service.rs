//! Programs of the system that are asked to act: systemctl, udevadm, modprobe.
//!
//! Each ends by itself or is ended after [`PATIENCE`]; what it says on stderr is the cause of the error.

use std::io::Read;
use std::process::Stdio;

use crate::prelude::*;

/// The longest one may take: a unit that switches swap off moves its pages first.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// systemd runs this machine (sd_booted(3)).
#[must_use]
pub fn has_systemd(root: &Root) -> bool {
    root.path("/run/systemd/system").is_dir()
}

/// A module of the kernel is loaded, or built in and with parameters.
#[must_use]
pub fn has_module(root: &Root, name: &str) -> bool {
    root.path("/sys/module").join(name).is_dir()
}

/// Whether a unit is active.
///
/// # Errors
/// When systemctl cannot be run.
pub fn is_active(unit: &str) -> Result<bool> {
    Ok(run("systemctl", &["is-active", "--quiet", "--", unit])?.0)
}

/// Whether a unit has failed.
///
/// # Errors
/// When systemctl cannot be run.
pub fn is_failed(unit: &str) -> Result<bool> {
    Ok(run("systemctl", &["is-failed", "--quiet", "--", unit])?.0)
}

/// A property of a unit: `FragmentPath`, `BoundBy`; `None` where systemctl does not say.
#[must_use]
pub fn property(unit: &str, name: &str) -> Option<String> {
    let words = ["show", "--property", name, "--value", "--", unit];
    let mut command = crate::program::command("systemctl").ok()?;
    command.args(words).env("LC_ALL", "C").env("SYSTEMD_PAGER", "").stdin(Stdio::null()).stderr(Stdio::null());
    let done = command.output().ok().filter(|done| done.status.success())?;
    Some(String::from_utf8_lossy(&done.stdout).trim().to_owned()).filter(|text| !text.is_empty())
}

/// The unit of a swap area (systemd.unit(5), string escaping): `dev-zram0.swap` for /dev/zram0.
#[must_use]
pub fn swap_unit(path: &Path) -> String {
    let text = path.to_string_lossy();
    let mut out = String::new();
    for (at, c) in text.trim_matches('/').bytes().enumerate() {
        match c {
            b'/' => out.push('-'),
            b'.' if at == 0 => out.push_str("\\x2e"),
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b':' | b'_' | b'.' => out.push(char::from(c)),
            other => out.push_str(&format!("\\x{other:02x}")),
        }
    }
    out + ".swap"
}

/// Runs one of them to its end.
///
/// # Errors
/// `Refused` with what it said when it fails or takes too long; `Absent` when it is not installed.
pub fn call(program: &str, words: &[&str]) -> Result<()> {
    let (ok, said) = run(program, words)?;
    if ok {
        return Ok(());
    }
    let words = ramline_units::command_line(words);
    let cause = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("it gave no reason").trim().to_owned();
    Err(KernelError::refused("run", format!("{program} {words}"), "it must succeed", cause)
        .hint(format!("{program} {words}")))
}

fn run(program: &str, words: &[&str]) -> Result<(bool, String)> {
    let failed = |error| KernelError::io("run", Path::new(program), error);
    let mut child = crate::program::command(program)?
        .args(words)
        .env("LC_ALL", "C")
        .env("SYSTEMD_PAGER", "")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let begun = Instant::now();
    let status = loop {
        match child.try_wait().map_err(failed)? {
            Some(status) => break Some(status),
            None if begun.elapsed() >= PATIENCE => {
                child.kill().map_err(failed)?;
                child.wait().map_err(failed)?;
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    let mut said = String::new();
    if let Some(stderr) = child.stderr.take() {
        // What does not fit into a pipe is no first line.
        stderr.take(16 << 10).read_to_string(&mut said).ok();
    }
    match status {
        Some(status) => Ok((status.success(), said)),
        None => Ok((false, format!("it was ended after {} s", PATIENCE.as_secs()))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_unit_of_an_area_is_its_path_escaped() {
        assert_eq!(swap_unit(Path::new("/dev/zram0")), "dev-zram0.swap");
        assert_eq!(swap_unit(Path::new("/var/my-swap")), r"var-my\x2dswap.swap");
        assert_eq!(swap_unit(Path::new("/.swap")), r"\x2eswap.swap");
    }

    #[test]
    fn what_a_program_says_is_the_cause_and_one_that_is_not_there_is_absent() {
        let error = call("sh", &["-c", "echo no such unit >&2; exit 4"]).unwrap_err();
        assert!(error.is_refused() && error.to_string().contains("no such unit"), "{error}");
        assert!(call("ramline-no-such-program", &[]).unwrap_err().is_absent());
        call("true", &[]).unwrap();
    }
}
