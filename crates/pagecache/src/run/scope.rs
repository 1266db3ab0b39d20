//! In a scope of the user's systemd, for whoever may not make groups.

use std::ffi::OsString;
use std::process::{Command, Stdio};
use std::time::Instant;

use ramline_kernel::cgroup::{Hierarchy, Version};
use ramline_kernel::{KernelError, Root, memory_room, process, signals};
use ramline_snapshot::cache::{Apart, Ran};
use ramline_units::Bytes;

use super::{RunOptions, ran, wait};

pub fn run(
    root: &Root,
    argv: &[OsString],
    options: RunOptions,
    allowance: Bytes,
    no_group: &KernelError,
) -> Result<Ran, KernelError> {
    if let Some(no_scope) = unavailable(root) {
        let rule = "its reading cannot be kept apart here";
        let numbers = format!("a control group: {}; a scope of systemd: {no_scope}", no_group.cause);
        return Err(KernelError::refused("run", argv[0].to_string_lossy().as_ref(), rule, numbers)
            .hint("sudo ramline cache run -- CMD"));
    }
    // Nobody follows the command's own memory here: more room for it.
    let limit = match options.limit {
        Some(limit) => limit,
        None => allowance.max(Bytes(memory_room(root)?.0 / 4)),
    };
    signals::install();
    let mut command = Command::new("systemd-run");
    command.args(["--user", "--scope", "--quiet", "--collect", "-p"]).arg(format!("MemoryMax={}", limit.0)).arg("--");
    command.args(argv);
    let begin = Instant::now();
    let child = process::spawn_tied(&mut command, None)?;
    let ended = wait(&child, || {})?;
    Ok(Ran { apart: Apart::Scope, limit, ..ran(argv, begin, ended, RunOptions { keep: true, ..options }) })
}

/// Why there is no scope to be had.
fn unavailable(root: &Root) -> Option<&'static str> {
    if !matches!(Hierarchy::detect(root).map(|hierarchy| hierarchy.version()), Ok(Version::V2)) {
        return Some("systemd gives users no memory limits in version 1 of control groups");
    }
    let bus = std::env::var_os("XDG_RUNTIME_DIR").map(|dir| std::path::Path::new(&dir).join("systemd/private"));
    if !bus.is_some_and(|bus| bus.exists()) {
        return Some("no systemd of this user is running");
    }
    let there = Command::new("systemd-run").arg("--version").stdin(Stdio::null()).stdout(Stdio::null()).status();
    (!there.is_ok_and(|status| status.success())).then_some("systemd-run is not installed")
}
