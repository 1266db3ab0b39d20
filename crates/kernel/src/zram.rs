//! zram devices: make one, set it up, read its counters, take it away again.
//!
//! Who may make one, and how large, is decided above; `zram0` and every other device that
//! was there before is never touched from here unless the caller names it.
//!
//! ```no_run
//! use ramline_kernel::{Root, zram};
//! use ramline_units::Bytes;
//! let root = Root::live();
//! let device = zram::hot_add(&root)?;
//! device.set_algorithm("lz4")?;
//! device.set_disksize(Bytes::from_mib(64))?;
//! println!("{:?}", device.mm_stat()?);
//! device.reset()?;
//! device.hot_remove()?;
//! # Ok::<(), ramline_kernel::KernelError>(())
//! ```

mod upkeep;

use ramline_snapshot::Malformed;
use ramline_snapshot::zram::{IoStat, MmStat};
use serde::{Deserialize, Serialize};

use crate::prelude::*;
use crate::sys::retry_busy;

pub use upkeep::{WRITEBACK_UNIT, WriteBack, WroteBack};

const CONTROL: &str = "/sys/class/zram-control";
/// How long a device may stay busy after its last user has gone (udev looks at new contents).
const BUSY_LIMIT: Duration = Duration::from_secs(2);

/// Whether devices can be added here: the driver is loaded and has zram-control (Linux 4.2).
#[must_use]
pub fn has_control(root: &Root) -> bool {
    root.path(CONTROL).join("hot_add").exists()
}

/// The numbers of the zram devices that exist, ascending.
#[must_use]
pub fn list(root: &Root) -> Vec<u32> {
    crate::loopdev::numbered(root, "zram")
}

/// Adds a device and returns it. Reading `hot_add` is what makes the device.
///
/// # Errors
/// `Unsupported` when the driver is not there, `Denied` when not root.
pub fn hot_add(root: &Root) -> Result<Device> {
    let tried = "add a zram device through";
    if !has_control(root) {
        let feature = "the zram driver is not loaded";
        return Err(KernelError::unsupported(tried, CONTROL, feature).hint("modprobe zram"));
    }
    let path = root.path(CONTROL).join("hot_add");
    let text = read_text(&path).map_err(|error| KernelError { operation: tried.to_owned(), ..error })?;
    let id = text.trim().parse().map_err(|_| KernelError::malformed(tried, &path, &text))?;
    Ok(Device::open(root, id))
}

/// Distinguishes a device from another that got its number later in the same boot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// The inode of its directory in sysfs: numbers go round only after 2^31 of them.
    pub inode: u64,
    /// Counts all disks of a boot (Linux 5.15).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diskseq: Option<u64>,
}

/// One zram device, by number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    id: u32,
    dir: PathBuf,
    node: PathBuf,
    control: PathBuf,
}

impl Device {
    /// The device with number `id`, whether or not it exists.
    #[must_use]
    pub fn open(root: &Root, id: u32) -> Device {
        Device {
            id,
            dir: root.path(format!("/sys/block/zram{id}")),
            node: root.path(format!("/dev/zram{id}")),
            control: root.path(CONTROL),
        }
    }

    /// Its number.
    #[must_use]
    pub fn id(&self) -> u32 {
        self.id
    }

    /// Its node, `/dev/zramN`.
    #[must_use]
    pub fn node(&self) -> &std::path::Path {
        &self.node
    }

    /// True while the device exists.
    #[must_use]
    pub fn exists(&self) -> bool {
        self.dir.exists()
    }

    /// Which device it is; a number is given out again as soon as its device is gone.
    ///
    /// # Errors
    /// `Absent` when there is no such device.
    pub fn identity(&self) -> Result<Identity> {
        let meta = std::fs::metadata(&self.dir).tried("look at", &self.dir)?;
        Ok(Identity { inode: meta.ino(), diskseq: read_u64(&self.dir.join("diskseq")).ok() })
    }

    /// True once `disksize` has been set.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn is_initialised(&self) -> Result<bool> {
        Ok(read_u64(&self.dir.join("initstate"))? != 0)
    }

    /// The disksize; 0 before it is set.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn disksize(&self) -> Result<Bytes> {
        read_u64(&self.dir.join("disksize")).map(Bytes)
    }

    /// The algorithms this kernel offers, the selected one first.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn algorithms(&self) -> Result<Vec<String>> {
        let text = read_text(&self.dir.join("comp_algorithm"))?;
        let mut words: Vec<&str> = text.split_whitespace().collect();
        ramline_units::sort_by_key(&mut words, |word| !word.starts_with('['));
        Ok(words.iter().map(|word| word.trim_matches(['[', ']']).to_owned()).collect())
    }

    /// Chooses the algorithm; only before `disksize` is set.
    ///
    /// # Errors
    /// `Io` (EINVAL) for one the kernel does not offer, EBUSY once set up.
    pub fn set_algorithm(&self, name: &str) -> Result<Change> {
        let path = self.dir.join("comp_algorithm");
        let change = write_knob(&path, name)?;
        match change.after.as_deref() {
            Some(after) if after != name => {
                let kept = format!("the kernel kept {after}");
                Err(KernelError::unsupported(format!("select the algorithm {name} at"), &path, kept))
            }
            _ => Ok(change),
        }
    }

    /// Sets the size of the device, which makes it usable.
    ///
    /// # Errors
    /// EBUSY when it is set already.
    pub fn set_disksize(&self, size: Bytes) -> Result<Change> {
        write_knob(&self.dir.join("disksize"), &size.0.to_string())
    }

    /// Limits the memory of the pool. The kernel rounds up to pages; the file cannot be read back on all kernels.
    ///
    /// # Errors
    /// When the write fails.
    pub fn set_mem_limit(&self, limit: Limit) -> Result<Change> {
        let value = limit.bytes().map_or(0, |bytes| bytes.0);
        write_knob(&self.dir.join("mem_limit"), &value.to_string())
    }

    /// The memory counters.
    ///
    /// # Errors
    /// When the file cannot be read or has fewer than 7 fields.
    pub fn mm_stat(&self) -> Result<MmStat> {
        self.parsed("mm_stat", MmStat::parse)
    }

    /// The counters of requests.
    ///
    /// # Errors
    /// When the file cannot be read or has fewer than 4 fields.
    pub fn io_stat(&self) -> Result<IoStat> {
        self.parsed("io_stat", IoStat::parse)
    }

    fn parsed<T>(&self, name: &str, parse: fn(&str, &str) -> std::result::Result<T, Malformed>) -> Result<T> {
        let path = self.dir.join(name);
        let text = read_text(&path)?;
        parse(name, &text).map_err(|_| KernelError::malformed("read", &path, &text))
    }

    /// Drops all contents and the settings; waits up to 2 s for others to close the device.
    ///
    /// # Errors
    /// EBUSY when it is still in use after that.
    pub fn reset(&self) -> Result<()> {
        retry_busy(BUSY_LIMIT, || write_knob(&self.dir.join("reset"), "1")).map(drop)
    }

    /// Removes the device; waits up to 2 s for others to close it.
    ///
    /// # Errors
    /// EBUSY when it is still in use after that.
    pub fn hot_remove(&self) -> Result<()> {
        retry_busy(BUSY_LIMIT, || write_knob(&self.control.join("hot_remove"), &self.id.to_string())).map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mm_stat_has_seven_eight_or_nine_fields_by_kernel() {
        let tree = tempfile::tempdir().unwrap();
        let (root, dir) = (Root::new(tree.path()), tree.path().join("sys/block/zram3"));
        std::fs::create_dir_all(&dir).unwrap();
        let parse = |text: &str| {
            std::fs::write(dir.join("mm_stat"), text).unwrap();
            Device::open(&root, 3).mm_stat()
        };
        let seven = parse("4096 74 12288 0 12288 1 0\n").unwrap();
        assert_eq!((seven.huge_pages, seven.huge_pages_since, seven.mem_limit), (None, None, Some(Limit::Max)));
        let nine = parse(" 4096 74 12288 8192 12288 1 0 5 6").unwrap();
        assert_eq!((nine.huge_pages.unwrap().0, nine.huge_pages_since.unwrap().0), (5, 6));
        assert_eq!(nine.mem_limit, Some(Limit::At(Bytes(8192))));
        assert!(parse("1 2 3").unwrap_err().to_string().contains("unexpected text '1 2 3'"));
    }
}
