//! Loop devices: a scratch file as a block device with a queue of its own, so that read-ahead can be set for it
//! without touching the queues of the host.
//!
//! Only whole files are attached, and only devices whose backing file we name are detached.
//!
//! ```no_run
//! use ramline_kernel::{Root, loopdev};
//! let root = Root::live();
//! let device = loopdev::attach(&root, "/var/tmp/ramline-1/code.img".as_ref())?;
//! ramline_kernel::write::write_knob(&device.read_ahead_knob(), "128")?;
//! device.detach()?;
//! # Ok::<(), ramline_kernel::KernelError>(())
//! ```

#![expect(unsafe_code, reason = "LOOP_CONFIGURE takes a struct")]

use crate::prelude::*;
use crate::sys::{ioctl_int, ioctl_with, retry_busy};
use ramline_snapshot::swaps::unescape_octal;

// linux/loop.h
const LOOP_SET_FD: libc::Ioctl = 0x4C00;
const LOOP_CLR_FD: libc::Ioctl = 0x4C01;
const LOOP_SET_STATUS64: libc::Ioctl = 0x4C04;
const LOOP_SET_DIRECT_IO: libc::Ioctl = 0x4C08;
const LOOP_SET_BLOCK_SIZE: libc::Ioctl = 0x4C09;
const LOOP_CONFIGURE: libc::Ioctl = 0x4C0A;
const LOOP_CTL_REMOVE: libc::Ioctl = 0x4C81;
const LOOP_CTL_GET_FREE: libc::Ioctl = 0x4C82;
const LO_FLAGS_DIRECT_IO: u32 = 16;

#[repr(C)]
#[derive(Default)]
struct LoopInfo64 {
    /// lo_device, lo_inode, lo_rdevice, lo_offset and lo_sizelimit.
    place: [u64; 5],
    /// lo_number, lo_encrypt_type and lo_encrypt_key_size.
    numbers: [u32; 3],
    lo_flags: u32,
    lo_file_name: [[u8; 32]; 2],
    /// lo_crypt_name, lo_encrypt_key and lo_init.
    keys: [u64; 14],
}

#[repr(C)]
struct LoopConfig {
    fd: u32,
    block_size: u32,
    info: LoopInfo64,
    reserved: [u64; 8],
}

/// Logical block size in bytes; when the kernel refuses it, 512 is used.
const BLOCK_SIZE: u32 = 4096;

/// An attached loop device.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoopDevice {
    /// N of `/dev/loopN`.
    pub number: u32,
    node: PathBuf,
    sysfs: PathBuf,
    control: PathBuf,
}

/// Attaches `file` to a free loop device that goes past the page cache of `file`; where the file system cannot, the kernel falls back and
/// [`LoopDevice::direct_io`] says so. When none is free the kernel makes one, which stays: compare [`list`] before, and
/// [`LoopDevice::remove`] it in the end.
///
/// # Errors
/// `Absent` without the loop driver, `Denied` when not root, EBUSY when others take every device we are offered.
pub fn attach(root: &Root, file: &Path) -> Result<LoopDevice> {
    const TRIES: u32 = 16;
    let tried = "attach a loop device to";
    let backing = open_options().custom_flags(libc::O_NOFOLLOW).open(file).tried(tried, file)?;
    let path = root.path("/dev/loop-control");
    let control = open_options().open(&path).tried("open", &path).map_err(|error| error.hint("modprobe loop"))?;
    let mut last = None;
    for _ in 0..TRIES {
        let find = "find a free loop device at";
        let free = ioctl_int(&control, LOOP_CTL_GET_FREE, 0).tried(find, &path)?;
        let number = u32::try_from(free).map_err(|_| KernelError::malformed(find, &path, &free.to_string()))?;
        let device = LoopDevice::open(root, number);
        let node = open_options().open(&device.node).tried("open", &device.node)?;
        match configure(&node, &backing, file) {
            Ok(()) => return Ok(device),
            // Between the question and the answer another process took it: ask again.
            Err(error) if error.raw_os_error() == Some(libc::EBUSY) => last = Some(error),
            Err(error) => return Err(KernelError::io(tried, file, error)),
        }
    }
    let error = last.unwrap_or_else(|| std::io::Error::from_raw_os_error(libc::EBUSY));
    Err(KernelError::io(tried, file, error))
}

fn open_options() -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    options
}

fn configure(node: &File, backing: &File, path: &Path) -> std::io::Result<()> {
    for block_size in [BLOCK_SIZE, 0] {
        let mut config = LoopConfig {
            fd: u32::try_from(backing.as_raw_fd()).unwrap_or_default(),
            block_size,
            info: info(path),
            reserved: [0; 8],
        };
        // SAFETY: LOOP_CONFIGURE (Linux 5.8) takes a struct loop_config; LoopConfig mirrors linux/loop.h.
        match unsafe { ioctl_with(node, LOOP_CONFIGURE, &mut config) } {
            Ok(_) => return Ok(()),
            Err(error) => match error.raw_os_error() {
                Some(libc::EINVAL) if block_size != 0 => {}
                Some(libc::EINVAL | libc::ENOTTY) => return configure_before_5_8(node, backing, path),
                _ => return Err(error),
            },
        }
    }
    Ok(())
}

/// The three calls that LOOP_CONFIGURE replaced.
fn configure_before_5_8(node: &File, backing: &File, path: &Path) -> std::io::Result<()> {
    let fd = libc::c_ulong::try_from(backing.as_raw_fd()).unwrap_or_default();
    ioctl_int(node, LOOP_SET_FD, fd)?;
    let mut status = info(path);
    // Not changed through LOOP_SET_STATUS64.
    status.lo_flags = 0;
    // SAFETY: LOOP_SET_STATUS64 takes a struct loop_info64; LoopInfo64 mirrors linux/loop.h.
    if let Err(error) = unsafe { ioctl_with(node, LOOP_SET_STATUS64, &mut status) } {
        // Half attached is worse than not at all; the first error is the one to report.
        drop(ioctl_int(node, LOOP_CLR_FD, 0));
        return Err(error);
    }
    // Both are wishes: the device works without, and the caller reads back what it got.
    drop(ioctl_int(node, LOOP_SET_BLOCK_SIZE, libc::c_ulong::from(BLOCK_SIZE)));
    drop(ioctl_int(node, LOOP_SET_DIRECT_IO, 1));
    Ok(())
}

fn info(path: &Path) -> LoopInfo64 {
    use std::os::unix::ffi::OsStrExt;
    let mut info = LoopInfo64 { lo_flags: LO_FLAGS_DIRECT_IO, ..LoopInfo64::default() };
    // The last byte stays NUL.
    for (to, from) in info.lo_file_name.as_flattened_mut().iter_mut().take(63).zip(path.as_os_str().as_bytes()) {
        *to = *from;
    }
    info
}

/// The numbers of the loop devices that exist, attached or not, ascending.
#[must_use]
pub fn list(root: &Root) -> Vec<u32> {
    numbered(root, "loop")
}

/// The numbers of the block devices whose names are `kind` and a number, ascending.
pub(crate) fn numbered(root: &Root, kind: &str) -> Vec<u32> {
    let entries = std::fs::read_dir(root.path("/sys/block")).into_iter().flatten().flatten();
    let number = |entry: std::fs::DirEntry| entry.file_name().to_str()?.strip_prefix(kind)?.parse().ok();
    let mut numbers: Vec<u32> = entries.filter_map(number).collect();
    numbers.sort_unstable();
    numbers
}

/// The loop devices whose backing file is `file`, also when it has been unlinked.
#[must_use]
pub fn attached_to(root: &Root, file: &Path) -> Vec<LoopDevice> {
    let devices = list(root).into_iter().map(|number| LoopDevice::open(root, number));
    devices.filter(|device| device.backing_file().as_deref() == Some(file)).collect()
}

impl LoopDevice {
    /// `/dev/loopN`, whether or not it is attached.
    #[must_use]
    pub fn open(root: &Root, number: u32) -> LoopDevice {
        let sysfs = root.path(format!("/sys/block/loop{number}"));
        LoopDevice {
            number,
            node: root.path(format!("/dev/loop{number}")),
            sysfs,
            control: root.path("/dev/loop-control"),
        }
    }

    /// The device node.
    #[must_use]
    pub fn node(&self) -> &Path {
        &self.node
    }

    /// The backing file, without the "(deleted)" the kernel adds; `None` when nothing is attached.
    #[must_use]
    pub fn backing_file(&self) -> Option<PathBuf> {
        let text = read_text(&self.sysfs.join("loop/backing_file")).ok()?;
        let name = text.strip_suffix('\n').unwrap_or(&text);
        Some(PathBuf::from(unescape_octal(name.strip_suffix(" (deleted)").unwrap_or(name))))
    }

    /// Whether the device really goes past the page cache of its backing file; `None` when the kernel does not say.
    #[must_use]
    pub fn direct_io(&self) -> Option<bool> {
        read_u64(&self.sysfs.join("loop/dio")).ok().map(|value| value != 0)
    }

    /// The logical block size in bytes.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn block_size(&self) -> Result<u64> {
        read_u64(&self.sysfs.join("queue/logical_block_size"))
    }

    /// The knob of the queue's read-ahead, in KiB. The setting outlives the attachment: put it back.
    #[must_use]
    pub fn read_ahead_knob(&self) -> PathBuf {
        self.sysfs.join("queue/read_ahead_kb")
    }

    /// A knob of what may wait to be written to this device (`max_ratio`, `strict_limit`): of its bdi. Its own, as the device is.
    #[must_use]
    pub fn dirty_knob(&self, name: &str) -> PathBuf {
        self.sysfs.join("bdi").join(name)
    }

    /// Detaches; nothing happens when nothing is attached. Waits up to 2 s until the device is really free: with a
    /// user left, the kernel only marks it to be cleared later.
    ///
    /// # Errors
    /// EBUSY when it is still open after that.
    pub fn detach(&self) -> Result<()> {
        let tried = "detach";
        let node = File::open(&self.node).tried(tried, &self.node)?;
        match ioctl_int(&node, LOOP_CLR_FD, 0) {
            Err(error) if error.raw_os_error() == Some(libc::ENXIO) => return Ok(()),
            done => done.tried(tried, &self.node)?,
        };
        drop(node);
        retry_busy(Duration::from_secs(2), || match self.backing_file() {
            None => Ok(()),
            Some(_) => Err(KernelError::io(tried, &self.node, std::io::Error::from_raw_os_error(libc::EBUSY))),
        })
    }

    /// Takes the detached device itself away. False when it stays, because it is open or was attached since:
    /// then it is theirs.
    ///
    /// # Errors
    /// `Denied` when not root.
    pub fn remove(&self) -> Result<bool> {
        // udev may look at a device that has just changed.
        const BUSY_LIMIT: Duration = Duration::from_millis(500);
        let tried = "remove the loop device";
        let control = open_options().open(&self.control).tried(tried, &self.node)?;
        let number = libc::c_ulong::from(self.number);
        match retry_busy(BUSY_LIMIT, || ioctl_int(&control, LOOP_CTL_REMOVE, number).tried(tried, &self.node)) {
            Ok(_) => Ok(true),
            Err(error) if error.is_busy() || error.is_absent() => Ok(false),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_before_5_8_attach_in_three_calls_with_the_same_result() {
        let root = Root::live();
        let not_root = crate::process::uid() != 0 || !root.path("/dev/loop-control").exists();
        if ramline_testkit::skip_if(not_root, "LOOP_SET_FD", "needs root and the loop driver") {
            return;
        }
        let dir = tempfile::tempdir_in(".").unwrap();
        let path = std::fs::canonicalize(dir.path()).unwrap().join("image");
        std::fs::write(&path, vec![0; 1 << 20]).unwrap();
        let backing = OpenOptions::new().read(true).write(true).open(&path).unwrap();
        let control = File::open("/dev/loop-control").unwrap();
        let before = list(&root);
        let device = loop {
            let free = ioctl_int(&control, LOOP_CTL_GET_FREE, 0).unwrap();
            let device = LoopDevice::open(&root, u32::try_from(free).unwrap());
            let node = OpenOptions::new().read(true).write(true).open(device.node()).unwrap();
            match configure_before_5_8(&node, &backing, &path) {
                Err(error) if error.raw_os_error() == Some(libc::EBUSY) => {
                    ramline_testkit::repeated("LOOP_SET_FD", "the free device was taken by another");
                }
                other => {
                    other.unwrap();
                    break device;
                }
            }
        };
        let seen = (device.block_size(), device.direct_io(), attached_to(&root, &path));
        device.detach().unwrap();
        if !before.contains(&device.number) {
            assert!(device.remove().unwrap() || device.backing_file().is_some(), "a device we had made stays");
        }
        assert_eq!(seen.0.unwrap(), 4096);
        assert_eq!(seen.2, [device]);
        if crate::place::describe(dir.path()).unwrap().fs_type == "ext4" {
            assert_eq!(seen.1, Some(true));
        }
    }
}
