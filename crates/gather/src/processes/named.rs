//! Processes by the name people call them, and their command lines.
//!
//! A command line may hold secrets: it is no part of a snapshot and read only on request.

use crate::prelude::*;

/// A process that goes by a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    /// Its id.
    pub pid: u32,
    /// Its command line, or its name where it has none; any bytes of the machine's.
    pub command: String,
}

/// The kernel keeps so much of a name (TASK_COMM_LEN less the end).
const KEPT: usize = 15;
/// So much of a command line is read.
const LONGEST: u64 = 4096;

/// The processes whose name or program's file is this one, by id; this process is not among them.
#[must_use]
pub fn named(root: &Root, name: &str) -> Vec<Named> {
    let own = root.is_live().then(std::process::id);
    let is_short = |comm: &str| comm == name || (comm.len() == KEPT && name.starts_with(comm));
    let one = |pid: u32| {
        let comm = text(root, pid, "comm")?;
        let comm = comm.trim_end_matches('\n');
        let program = std::fs::read_link(root.path(format!("/proc/{pid}/exe"))).ok();
        let file = program.as_deref().and_then(|path| path.file_name()?.to_str());
        let is = file.is_some_and(|file| file.trim_end_matches(" (deleted)") == name) || is_short(comm);
        is.then(|| Named { pid, command: command_line(root, pid).unwrap_or_else(|| comm.to_owned()) })
    };
    pids(root).into_iter().filter(|pid| Some(*pid) != own).filter_map(one).collect()
}

/// The command line, its arguments apart by blanks; `None` for a thread of the kernel and where it may not be read.
#[must_use]
pub fn command_line(root: &Root, pid: u32) -> Option<String> {
    let text = text(root, pid, "cmdline")?.replace('\0', " ");
    Some(text.trim_end()).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn text(root: &Root, pid: u32, file: &str) -> Option<String> {
    use std::io::Read;
    let mut bytes = Vec::new();
    let open = ramline_kernel::kernel_file::open(&root.path(format!("/proc/{pid}/{file}"))).ok()?;
    open.take(LONGEST).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_goes_by_its_name_and_by_its_programs_file() {
        let dir = tempfile::tempdir().unwrap();
        for (pid, comm, command) in
            [(7, "bash\n", "-bash\0"), (8, "a-name-of-fiftee\n", "x\0-y\0z\0"), (9, "kthread\n", "")]
        {
            let proc = dir.path().join(format!("proc/{pid}"));
            std::fs::create_dir_all(&proc).unwrap();
            std::fs::write(proc.join("comm"), comm.replace("fiftee", "fifte")).unwrap();
            std::fs::write(proc.join("cmdline"), command).unwrap();
        }
        let root = Root::new(dir.path());
        assert_eq!(named(&root, "bash"), [Named { pid: 7, command: "-bash".into() }]);
        assert_eq!(named(&root, "a-name-of-fifteen"), [Named { pid: 8, command: "x -y z".into() }]);
        assert_eq!((named(&root, "ba"), command_line(&root, 9)), (Vec::new(), None));
    }
}
