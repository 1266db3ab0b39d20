//! What only the first process of a virtual machine does: mounting the kernel's file systems, loading modules, finding disks
//! and ports by the names they were given, and switching the machine off.
//!
//! Every function that changes something refuses unless this process has pid 1.
//!
//! ```
//! assert!(!ramline_kernel::guest::is_init());
//! assert!(ramline_kernel::guest::mount_basics().is_err(), "this is no guest");
//! ```

use rustix::mm::{MlockAllFlags, mlockall};

use crate::prelude::*;
use crate::write::read_knob;

/// True when this is the first process of the machine (or of a pid namespace).
#[must_use]
pub fn is_init() -> bool {
    std::process::id() == 1
}

fn refuse_unless_init(operation: &str, object: &Path) -> Result<()> {
    let refused = || KernelError::refused(operation, object, "only the first process of a guest does that", "");
    is_init().then_some(()).ok_or_else(refused)
}

/// Mounts /dev, /proc, /sys and /tmp in an initramfs that has these folders.
///
/// # Errors
/// `Refused` when this process is not pid 1; what mount(2) says.
pub fn mount_basics() -> Result<()> {
    refuse_unless_init("mount", Path::new("/dev"))?;
    let all = [("devtmpfs", "/dev"), ("proc", "/proc"), ("sysfs", "/sys"), ("tmpfs", "/tmp")];
    all.iter().try_for_each(|(fs_type, at)| mount::bare(fs_type, Path::new(at)))
}

/// Mounts a disk with ext4, read-only.
///
/// # Errors
/// `Refused` when this process is not pid 1; what mount(2) says.
pub fn mount_disk(device: &Path, at: &Path) -> Result<()> {
    refuse_unless_init("mount", at)?;
    mount::ext4(device, at, true)
}

/// Loads one uncompressed kernel module; one that is there already is fine.
///
/// # Errors
/// `Refused` when this process is not pid 1; what finit_module(2) says.
pub fn load_module(path: &Path) -> Result<()> {
    let tried = "load the module";
    refuse_unless_init(tried, path)?;
    let file = File::open(path).tried(tried, path)?;
    match rustix::system::finit_module(&file, c"", 0) {
        Err(rustix::io::Errno::EXIST) => Ok(()),
        done => done.tried(tried, path),
    }
}

/// Keeps this process in memory: one that watches a machine thrash must not thrash with it. What is mapped later is kept from its
/// first touch on (MCL_ONFAULT); otherwise mapping a file would read it whole.
///
/// # Errors
/// What mlockall(2) says.
pub fn stay_resident() -> Result<()> {
    mlockall(MlockAllFlags::CURRENT | MlockAllFlags::FUTURE | MlockAllFlags::ONFAULT)
        .tried("lock into memory", "this process")
}

/// The name (`vda`) of the disk with this serial number.
#[must_use]
pub fn disk(root: &Root, serial: &str) -> Option<String> {
    let entries = std::fs::read_dir(root.path("/sys/block")).ok()?;
    let names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    names.into_iter().find(|name| read_knob(&block(root, name).join("serial")).as_deref() == Some(serial))
}

fn block(root: &Root, disk: &str) -> PathBuf {
    root.path("/sys/block").join(disk)
}

/// Where the read-ahead of a disk is set, in KiB.
#[must_use]
pub fn read_ahead_knob(root: &Root, disk: &str) -> PathBuf {
    block(root, disk).join("queue/read_ahead_kb")
}

/// Sectors of 512 bytes read from and written to a disk so far (Documentation/block/stat.rst: fields 3 and 7).
#[must_use]
pub fn sectors(root: &Root, disk: &str) -> Option<(u64, u64)> {
    let text = read_text(&block(root, disk).join("stat")).ok()?;
    let fields: Vec<u64> = text.split_whitespace().map_while(|word| word.parse().ok()).collect();
    Some((*fields.get(2)?, *fields.get(6)?))
}

/// Opens the virtio serial port of this name for reading and writing.
///
/// # Errors
/// `Absent` when there is no such port.
pub fn port(root: &Root, name: &str) -> Result<File> {
    let tried = "open the port";
    let ports = root.path("/sys/class/virtio-ports");
    let entries = std::fs::read_dir(&ports).tried(tried, &ports)?;
    let found = entries.flatten().find(|entry| read_knob(&entry.path().join("name")).as_deref() == Some(name));
    let node = found.map(|entry| root.path("/dev").join(entry.file_name()));
    let node = node.ok_or_else(|| KernelError::new(tried, name, crate::Cause::Absent))?;
    OpenOptions::new().read(true).write(true).open(&node).tried(tried, &node)
}

/// A setting by its name as sysctl writes it: `vm.page-cluster`.
///
/// # Errors
/// `Absent` when this kernel has no such setting; `Io` when it refuses the value.
pub fn set_sysctl(root: &Root, name: &str, value: &str) -> Result<Change> {
    write_knob(&root.path("/proc/sys").join(name.replace('.', "/")), value)
}

/// Switches the multi-generational LRU fully on or off and returns what the kernel then says (`0x0007`, `0x0000`).
///
/// # Errors
/// `Absent` when this kernel was built without it.
pub fn set_mglru(root: &Root, on: bool) -> Result<Change> {
    write_knob(&root.path("/sys/kernel/mm/lru_gen/enabled"), if on { "y" } else { "n" })
}

/// What the kernel says about the multi-generational LRU; `None` for one built without it.
#[must_use]
pub fn mglru(root: &Root) -> Option<String> {
    read_knob(&root.path("/sys/kernel/mm/lru_gen/enabled"))
}

/// Writes everything out and switches the machine off.
///
/// # Errors
/// `Refused` when this process is not pid 1; what reboot(2) says. It does not return otherwise.
pub fn power_off() -> Result<()> {
    refuse_unless_init("switch off", Path::new("this machine"))?;
    rustix::fs::sync();
    rustix::system::reboot(rustix::system::RebootCommand::PowerOff).tried("switch off", "this machine")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_is_found_by_its_serial_number_and_its_sectors_are_fields_3_and_7() {
        let tree = tempfile::tempdir().unwrap();
        for (name, serial) in [("vda", "other"), ("vdb", "ramline-swap")] {
            let dir = tree.path().join("sys/block").join(name);
            std::fs::create_dir_all(&dir).unwrap();
            std::fs::write(dir.join("serial"), serial).unwrap();
            std::fs::write(dir.join("stat"), "  1 2 30 4 5 6 70 8 9 10 11 12\n").unwrap();
        }
        let root = Root::new(tree.path());
        assert_eq!(disk(&root, "ramline-swap").as_deref(), Some("vdb"));
        assert_eq!(disk(&root, "ramline-code"), None);
        assert_eq!(sectors(&root, "vdb"), Some((30, 70)));
    }

    #[test]
    fn nothing_of_a_guest_is_done_on_a_host() {
        assert!(mount_basics().unwrap_err().is_refused());
        assert!(mount_disk("/dev/null".as_ref(), "/".as_ref()).unwrap_err().is_refused());
        assert!(load_module("/nowhere".as_ref()).unwrap_err().is_refused());
        assert!(power_off().unwrap_err().is_refused());
    }
}
