//! Programs that ramline itself starts (systemctl, mkfs, QEMU, ramline-fleet): found on PATH, and looked at before they run.
//!
//! The rule: a program, the interpreter its first line names, and every folder on the way to them belong to root or to the user who runs
//! ramline, and no other user can write to them. Of those found the first that keeps the rule is run. Parts of PATH that are no full path
//! are passed over. Not for commands that a user has named (`cache run -- CMD`): those run as the caller wants them.
//!
//! ```
//! let done = ramline_kernel::program::command("sh")?.args(["-c", "exit 3"]).status()?;
//! assert_eq!(done.code(), Some(3));
//! assert!(ramline_kernel::program::command("no-such-program").unwrap_err().is_absent());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;

use crate::input::Looked;
use crate::prelude::*;

/// Where the system has its programs, also for a user whose PATH leaves them out.
const SYSTEM: [&str; 4] = ["/usr/sbin", "/sbin", "/usr/bin", "/bin"];
/// The kernel reads no longer first line (BINPRM_BUF_SIZE).
const FIRST_LINE: u64 = 256;

/// A program that keeps the rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// As it was found.
    pub path: PathBuf,
    /// Where links lead: what is run, whatever becomes of them.
    real: PathBuf,
}

impl Program {
    /// The first of these files that is a program and keeps the rule.
    ///
    /// # Errors
    /// `Absent` where none is a program; `Refused` with the object and the rule where none of them keeps it.
    pub fn first(name: &str, paths: impl IntoIterator<Item = PathBuf>) -> Result<Program> {
        let mut refused = None;
        for path in paths.into_iter().filter(|path| path.is_absolute() && is_program(path)) {
            match refuse_unless_trusted(&path) {
                Ok(real) => return Ok(Program { path, real }),
                Err(error) => refused = refused.or(Some(error)),
            }
        }
        Err(refused.unwrap_or_else(|| KernelError::new("run", name, crate::Cause::Absent)))
    }

    /// The one of that name on PATH, or where the system has its programs.
    ///
    /// # Errors
    /// As [`Program::first`].
    pub fn find(name: &str) -> Result<Program> {
        let system = SYSTEM.iter().map(|dir| Path::new(dir).join(name));
        Program::first(name, on_path(name).into_iter().chain(system))
    }

    /// Starts it under the name it was found by: some programs are several (kmod, busybox).
    #[must_use]
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.real);
        command.arg0(&self.path);
        command
    }
}

/// The program of that name, as [`Program::find`] finds it.
///
/// # Errors
/// As [`Program::first`].
pub fn command(name: &str) -> Result<Command> {
    Ok(Program::find(name)?.command())
}

/// Where PATH would have it.
#[must_use]
pub fn on_path(name: &str) -> Vec<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).filter(|dir| dir.is_absolute()).map(|dir| dir.join(name)).collect()
}

fn is_program(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

/// Where its links lead, if it keeps the rule.
fn refuse_unless_trusted(path: &Path) -> Result<PathBuf> {
    let real = trusted(path, path)?;
    if let Some(interpreter) = interpreter(&real) {
        trusted(&interpreter, path)?;
    }
    Ok(real)
}

fn trusted(file: &Path, program: &Path) -> Result<PathBuf> {
    // Without links: the components are the directories that are really passed.
    let real = std::fs::canonicalize(file).tried("look at", file)?;
    for part in real.ancestors() {
        let meta = std::fs::symlink_metadata(part).tried("look at", part)?;
        if let Some(why) = not_trusted(meta.uid(), meta.mode(), process::uid(), process::knows_all_users()) {
            let rule = format!("{} {why}", part.display());
            return Err(KernelError::refused("run", program, rule, whose(process::uid()))
                .hint(format!("namei -l {}", ramline_units::quoted_path(&real))));
        }
    }
    Ok(real)
}

fn whose(own: u32) -> &'static str {
    if own == 0 { "root runs only what is root's alone" } else { "only what is root's or yours alone is run" }
}

/// Why another user could have put something else there.
fn not_trusted(owner: u32, mode: u32, own: u32, knows_all: bool) -> Option<String> {
    const STICKY: u32 = 0o1000;
    // In a user namespace of its own root is any user, to whom the real root looks like an unknown one.
    if owner != 0 && owner != own && (knows_all || owner != process::UNKNOWN_USER) {
        return Some(format!("belongs to user {owner}, who could put another file in its place"));
    }
    // A user's own group is often the user's alone; root's is not.
    let others = if own == 0 && knows_all { 0o022 } else { 0o002 };
    let why = "is writable by others, who could put another file in its place";
    (mode & others != 0 && mode & STICKY == 0).then(|| why.to_owned())
}

/// The program that runs a script.
fn interpreter(script: &Path) -> Option<PathBuf> {
    let looked = Looked::at(script, false).ok().filter(Looked::is_file)?;
    let mut line = Vec::new();
    looked.open().ok()?.take(FIRST_LINE).read_to_end(&mut line).ok()?;
    let line = line.strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let name = line.trim_ascii().split(|byte| byte.is_ascii_whitespace()).next()?;
    Some(PathBuf::from(OsStr::from_bytes(name))).filter(|path| path.is_absolute())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{chown, symlink};

    fn script(path: &Path, first: &str) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("{first}\necho ran\n")).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn what_another_user_could_change_is_not_trusted() {
        let root = |owner, mode| not_trusted(owner, mode, 0, true);
        assert_eq!((root(0, 0o040_755), root(0, 0o041_777)), (None, None), "as /usr and /tmp");
        assert!(root(1000, 0o100_755).is_some_and(|why| why.contains("user 1000")));
        assert!(root(0, 0o040_775).is_some() && root(0, 0o100_777).is_some() && root(65534, 0o755).is_some());
        let user = |owner, mode| not_trusted(owner, mode, 1000, true);
        assert_eq!((user(0, 0o755), user(1000, 0o775)), (None, None));
        assert!(user(1001, 0o755).is_some() && user(1000, 0o777).is_some());
        assert_eq!(not_trusted(65534, 0o755, 0, false), None, "root of a user namespace");
    }

    #[test]
    fn the_first_that_keeps_the_rule_is_run_and_if_none_does_the_folder_is_named() {
        if process::uid() != 0 {
            return;
        }
        let dir = tempfile::tempdir_in("/tmp").unwrap();
        let at = |name: &str| dir.path().join(name);
        for name in ["theirs/x", "open/x", "own/x", "by/x"] {
            script(&at(name), "#!/bin/sh");
        }
        script(&at("theirs/sh"), "#!/bin/sh");
        script(&at("by/x"), &format!("#!{}", at("theirs/sh").display()));
        chown(at("theirs"), Some(65534), Some(65534)).unwrap();
        std::fs::set_permissions(at("open"), std::fs::Permissions::from_mode(0o777)).unwrap();
        symlink(at("theirs/x"), at("linked")).unwrap();
        symlink(at("own/x"), at("named")).unwrap();
        for (name, why) in [("theirs/x", "theirs belongs to user 65534"), ("open/x", "open is writable by others")]
            .into_iter()
            .chain([("linked", "theirs belongs to"), ("by/x", "theirs belongs to")])
        {
            let error = Program::first("x", [at(name)]).unwrap_err();
            let text = error.to_string();
            assert!(error.is_refused() && text.contains(why) && text.contains("try: namei -l "), "{name}: {text}");
        }
        let found = Program::first("x", ["x".into(), at("none"), at("theirs/x"), at("named")]).unwrap();
        assert_eq!(found.path, at("named"));
        assert_eq!(found.command().output().unwrap().stdout, b"ran\n");
        assert!(Program::first("x", [PathBuf::from("./x"), at("none")]).unwrap_err().is_absent());
    }

    #[test]
    fn a_shell_reads_back_the_words_that_were_quoted() {
        let words = [
            "",
            " ",
            "a b",
            "$HOME",
            "`id`",
            "it's",
            "*",
            "~",
            "#x",
            "a\\b",
            "\"",
            "!x",
            "a;b",
            "(",
            "é",
            "a=b",
            "-x",
            "\u{1b}[2J",
            "a\nb\\'c",
            "\u{202e}x",
            "1\u{1}2",
        ];
        let script = format!("for word in {}; do printf '%s\\0' \"$word\"; done", ramline_units::command_line(words));
        let done = Command::new("bash").args(["-c", &script]).output().unwrap();
        let read: Vec<&str> = std::str::from_utf8(&done.stdout).unwrap().split_terminator('\0').collect();
        assert_eq!(read, words);
        assert!(!ramline_units::command_line(words).chars().any(ramline_units::is_hostile));
    }
}
