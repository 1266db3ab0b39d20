//! Which of the tools of `show translate` are installed here: found along PATH, and asked for their version where that is quick.
//!
//! What it is not: a run of those tools. Each is only asked for its version, all at once, and one that takes long is not waited for.
//! No program is started that another user could have put there.

use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Stdio};
use std::sync::OnceLock;

use ramline_model::translate::{Installed, PROGRAMS, Program, version_in};

use crate::prelude::*;

/// All of them together may take so long.
const PATIENCE: Duration = Duration::from_millis(300);
/// No version is longer.
const LONGEST: u64 = 4096;

/// What is installed, looked for once.
pub fn programs() -> &'static [Installed] {
    static FOUND: OnceLock<Vec<Installed>> = OnceLock::new();
    FOUND.get_or_init(|| look_in(&ramline_kernel::program::on_path("")))
}

fn look_in(dirs: &[PathBuf]) -> Vec<Installed> {
    let found = PROGRAMS.iter().filter_map(|program| {
        let path = dirs.iter().map(|dir| dir.join(program.name)).find(|path| is_program(path))?;
        Some((program, ask(program, &path)))
    });
    // All are begun before the first is waited for.
    let asked: Vec<(&Program, Option<Child>)> = found.collect();
    let until = Instant::now() + PATIENCE;
    asked
        .into_iter()
        .map(|(program, child)| {
            let printed = child.and_then(|child| answer(child, until)).unwrap_or_default();
            Installed { program: program.name.to_owned(), version: version_in(&printed) }
        })
        .collect()
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

fn ask(program: &Program, path: &Path) -> Option<Child> {
    let mut command = ramline_kernel::program::Program::first(program.name, [path.to_owned()]).ok()?.command();
    command.arg(program.asked?).env("LC_ALL", "C").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    command.spawn().ok()
}

fn answer(mut child: Child, until: Instant) -> Option<String> {
    while child.try_wait().ok()?.is_none() {
        if Instant::now() >= until {
            // It may have ended just now; then there is nothing to end.
            drop(child.kill());
            child.wait().ok()?;
            return None;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    let mut printed = Vec::new();
    child.stdout.take()?.take(LONGEST).read_to_end(&mut printed).ok()?;
    Some(String::from_utf8_lossy(&printed).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_asked_and_a_slow_one_is_only_there() {
        let dir = tempfile::Builder::new()
            .prefix("ramline-path-")
            .tempdir_in("/root")
            .or_else(|_| tempfile::tempdir())
            .unwrap();
        for (name, does) in
            [("htop", "echo htop 3.2.2"), ("free", "exec sleep 60"), ("kubectl", "touch \"$0.started\"")]
        {
            let path = dir.path().join(name);
            std::fs::write(&path, format!("#!/bin/sh\n{does}\n")).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        }
        std::fs::write(dir.path().join("btop"), "not executable").unwrap();
        let begun = Instant::now();
        let found = look_in(&[dir.path().to_owned()]);
        let is = |name: &str| found.iter().find(|found| found.program == name).map(|found| found.version.clone());
        assert_eq!((is("htop"), is("free"), is("btop")), (Some(vec![3, 2, 2]), Some(Vec::new()), None));
        assert_eq!((is("kubectl"), dir.path().join("kubectl.started").exists()), (Some(Vec::new()), false));
        assert!(begun.elapsed() < Duration::from_secs(10));
    }
}
