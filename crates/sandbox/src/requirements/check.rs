//! The single looks: each says what is missing, with the numbers; one after the other they make a check.

use ramline_gather::headroom::{memory_headroom, memory_total};
use ramline_gather::vm_setting;
use ramline_kernel::mount::Journalled;
use ramline_kernel::zram;

use super::reason::{Caller, Lack, Reason, is_unprivileged, refused};
use crate::child::command;
use crate::prelude::*;

/// Priority of the areas we make: the highest there is, so that nothing outranks them.
pub const PRIORITY: i32 = 32767;

/// A program or a driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tool {
    /// What makes such a file system.
    Mkfs(Journalled),
    /// The loop driver.
    Loop,
    /// The zram driver.
    Zram,
}

impl Tool {
    /// What an ext4 image on a loop device takes.
    pub const OWN_FS: &[Tool] = &[Tool::Mkfs(Journalled::Ext4), Tool::Loop];

    fn missing(self, root: &Root) -> Option<Reason> {
        match self {
            Tool::Mkfs(kind) => (!kind.has_program()).then(|| {
                let (program, package) = kind.program();
                Reason::new(format!("the program {program} is not installed"), format!("sudo apt install {package}"))
            }),
            Tool::Loop => (!root.path("/dev/loop-control").exists())
                .then(|| Reason::new("there are no loop devices: /dev/loop-control is missing", "sudo modprobe loop")),
            Tool::Zram => {
                (!zram::has_control(root)).then(|| Reason::new("zram: the driver is not loaded", "sudo modprobe zram"))
            }
        }
    }
}

/// Looks at one thing after the other, and keeps what stands against a beginning.
#[derive(Debug)]
pub struct Check<'a> {
    pub(super) root: &'a Root,
    pub(super) caller: Caller<'a>,
    reasons: Vec<Reason>,
}

impl<'a> Check<'a> {
    /// Nothing looked at yet.
    #[must_use]
    pub const fn new(root: &'a Root, caller: Caller<'a>) -> Check<'a> {
        Check { root, caller, reasons: Vec::new() }
    }

    /// Keeps a reason against which the caller's command helps.
    pub fn lacks(&mut self, lack: Lack, text: impl Into<String>) {
        self.reasons.push(Reason {
            text: text.into(),
            hint: self.caller.hint(lack),
            privilege: lack == Lack::Privilege,
        });
    }

    /// Keeps others.
    pub fn extend(&mut self, reasons: impl IntoIterator<Item = Reason>) {
        self.reasons.extend(reasons);
    }

    /// A program, and root where running it needs that, `root_for` in words.
    pub fn program(&mut self, argv: &[String], root_for: Option<&str>) {
        let program = argv.first().map(String::as_str).unwrap_or_default();
        self.extend(command::find(program).is_none().then(|| Reason::no_program(program)));
        let sudo = format!("sudo {} -- {}", self.caller.command, command_line(argv));
        self.extend(root_for.filter(|_| is_unprivileged()).map(|text| Reason::privilege(text, sudo)));
    }

    /// The sandbox lives on the kernel killing inside a group that is out of memory. At 2 it would panic instead, and at 1 if the
    /// machine ran short while we take memory.
    pub fn panics(&mut self) {
        let value: Option<i64> = vm_setting(self.root, "panic_on_oom").and_then(|text| text.trim().parse().ok());
        let Some(value) = value.filter(|value| *value > 0) else { return };
        let when = if value > 1 { "a full sandbox" } else { "a machine that runs short of memory" };
        self.reasons.push(Reason::new(
            format!("vm.panic_on_oom is {value}: the kernel would panic on {when} instead of killing a process"),
            "sudo sysctl vm.panic_on_oom=0",
        ));
    }

    /// Where groups are made, on a machine that survives a full one.
    pub fn group(&mut self) -> Option<Hierarchy> {
        self.panics();
        self.hierarchy()
    }

    /// Where groups are made.
    pub fn hierarchy(&mut self) -> Option<Hierarchy> {
        let because = |error: KernelError| {
            Reason::because(&error, error.try_hint.clone().unwrap_or_else(|| "ramline show memory".to_owned()))
        };
        let found = Hierarchy::detect(self.root).map_err(because);
        let parent = found.as_ref().ok().and_then(|found| found.parent().err()).map(because);
        self.reasons.extend(parent);
        found.map_err(|reason| self.reasons.push(reason)).ok()
    }

    /// Memory for what is taken, `what` in words, and for the margin; returns both together.
    ///
    /// # Errors
    /// /proc cannot be read.
    pub fn memory(&mut self, taken: Bytes, what: &str) -> Result<Bytes> {
        let (room, margin) = (memory_headroom(self.root)?, margin(self.root)?);
        let needed = taken + margin;
        if room < needed {
            let text = format!(
                "memory: {needed} needed ({what} and a margin of {margin} for everybody else), {room} can be taken"
            );
            self.lacks(Lack::Memory, text);
        }
        Ok(needed)
    }

    /// Programs and drivers.
    pub fn tools(&mut self, tools: &[Tool]) {
        let root = self.root;
        self.extend(tools.iter().filter_map(|tool| tool.missing(root)));
    }

    /// Areas that would be used before ours: then a setting would measure another swap area.
    ///
    /// # Errors
    /// /proc/swaps cannot be read.
    pub fn outranked(&mut self, ours: i32) -> Result<()> {
        for area in swap::areas(self.root)?.into_iter().filter(|area| area.priority >= ours) {
            let (path, priority) = (area.path, area.priority);
            let text =
                format!("swap: {path} has priority {priority}, which is used beside or before the area of a setting");
            self.lacks(Lack::Swap, text);
        }
        Ok(())
    }

    /// What was looked for, when it was found and nothing stands against it.
    ///
    /// # Errors
    /// `Refused` with every reason, and the hint of the first.
    pub fn conclude<T>(self, found: Option<T>) -> Result<T> {
        match found {
            Some(found) if self.reasons.is_empty() => Ok(found),
            _ => Err(refused(self.reasons, self.caller.command)),
        }
    }
}

/// The margin of a machine with so much memory: with less to take than this no run begins and none goes on.
fn margin_of(mem_total: Bytes) -> Bytes {
    Bytes(mem_total.0 / 50).max(Bytes::from_mib(256))
}

/// The margin of this machine.
///
/// # Errors
/// Its memory is not known, so how much must be left is unknown.
pub fn margin(root: &Root) -> Result<Bytes> {
    Ok(margin_of(memory_total(root)?))
}

/// What can be taken now and still leaves the margin: what a group without a limit of its own is limited to all the same.
///
/// # Errors
/// /proc cannot be read.
pub fn headroom(root: &Root) -> Result<Bytes> {
    Ok(memory_headroom(root)?.saturating_sub(margin(root)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALLER: Caller<'_> =
        Caller { command: "ramline lab run x", smaller: "--limit 64MiB", without_swap: "--arms no-swap" };

    fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Root) {
        let tree = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = tree.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let root = Root::new(tree.path());
        (tree, root)
    }

    #[test]
    fn a_kernel_that_panics_when_memory_is_out_is_left_in_peace() {
        let told = |value: &str| {
            let (_tree, root) = tree(&[("proc/sys/vm/panic_on_oom", value)]);
            let mut check = Check::new(&root, CALLER);
            check.panics();
            check.reasons.pop().map(|reason| reason.text).unwrap_or_default()
        };
        assert_eq!((told("0\n"), told("")), (String::new(), String::new()));
        assert!(told("1\n").contains("machine that runs short"));
        assert!(told("2\n").contains("vm.panic_on_oom is 2: the kernel would panic on a full sandbox"));
    }

    #[test]
    fn too_little_memory_is_told_with_the_numbers_and_something_smaller() {
        let (_tree, root) = tree(&[("proc/meminfo", "MemTotal: 1048576 kB\nMemAvailable: 819200 kB\n")]);
        let mut check = Check::new(&root, CALLER);
        assert_eq!(check.memory(Bytes::from_mib(544), "limit 544.0 MiB").unwrap(), Bytes::from_mib(800));
        assert_eq!(check.reasons, []);
        check.memory(Bytes::from_mib(545), "limit 545.0 MiB").unwrap();
        let reason = &check.reasons[0];
        assert!(reason.text.contains("801.0 MiB needed (limit 545.0 MiB and a margin of 256.0 MiB"), "{reason:?}");
        assert!(reason.text.ends_with("800.0 MiB can be taken"), "{reason:?}");
        assert_eq!(reason.hint, "ramline lab run x --limit 64MiB");
    }

    #[test]
    fn a_machine_whose_memory_cannot_be_read_has_no_margin_and_nothing_begins() {
        let (_tree, root) = tree(&[("proc/meminfo", "MemAvailable: 819200 kB\n")]);
        let error = Check::new(&root, CALLER).memory(Bytes::ZERO, "").unwrap_err().to_string();
        assert!(error.contains("MemTotal"), "{error}");
    }

    #[test]
    fn only_an_area_that_comes_before_ours_or_beside_it_is_in_the_way() {
        let line = |priority: i32| format!("Filename Type Size Used Priority\n/swapfile file 1024 0 {priority}\n");
        let reasons = |priority: i32| {
            let (_tree, root) = tree(&[("proc/swaps", &line(priority))]);
            let mut check = Check::new(&root, CALLER);
            check.outranked(PRIORITY - 1).unwrap();
            check.reasons
        };
        assert_eq!(reasons(-2), []);
        let reason = &reasons(32766)[0];
        assert!(
            reason.text.starts_with("swap: /swapfile has priority 32766") && reason.hint.ends_with("--arms no-swap")
        );
    }

    #[test]
    fn the_margin_grows_with_the_machine() {
        assert_eq!(margin_of(Bytes::from_gib(2)), Bytes::from_mib(256));
        assert_eq!(margin_of(Bytes::from_gib(100)), Bytes::from_gib(2));
    }
}
