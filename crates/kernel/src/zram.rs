//! zram devices: make one, set it up, read its counters, take it away again.
//!
//! What it is not: a policy. Who may make one, and how large, is decided above; `zram0` and every other device that
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

use std::os::unix::fs::MetadataExt;
use std::path::PathBuf;
use std::time::Duration;

use ramline_units::{Bytes, Limit};
use serde::{Deserialize, Serialize};

use crate::Root;
use crate::error::{KernelError, Result};
use crate::kernel_file::{read_text, read_u64};
use crate::sys::retry_busy;
use crate::write::{Change, write_knob};

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
    let mut ids: Vec<u32> = std::fs::read_dir(root.path("/sys/block"))
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.strip_prefix("zram")?.parse().ok())
        .collect();
    ids.sort_unstable();
    ids
}

/// Adds a device and returns it. Reading `hot_add` is what makes the device.
///
/// # Errors
/// `Unsupported` when the driver is not there, `Denied` when not root.
pub fn hot_add(root: &Root) -> Result<Device> {
    if !has_control(root) {
        return Err(KernelError::unsupported("add a zram device through", CONTROL, "the zram driver is not loaded")
            .hint("modprobe zram"));
    }
    let path = root.path(CONTROL).join("hot_add");
    let text = read_text(&path).map_err(|mut error| {
        error.operation = "add a zram device through".to_owned();
        error
    })?;
    let id = text.trim().parse().map_err(|_| KernelError::malformed("add a zram device through", &path, &text))?;
    Ok(Device::open(root, id))
}

/// What tells a device from another that got its number later in the same boot.
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

/// `mm_stat`: 7 fields in Linux 4.7, 8 from 5.0 (huge pages), 9 from 5.15 (huge pages since start).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MmStat {
    /// What was stored, uncompressed.
    pub orig_data: Bytes,
    /// What it compressed to, without the allocator's overhead.
    pub compr_data: Bytes,
    /// What the pool takes from memory.
    pub mem_used_total: Bytes,
    /// The limit of the pool.
    pub mem_limit: Limit,
    /// The most the pool ever took.
    pub mem_used_max: Bytes,
    /// Pages of one repeated word, which take no memory.
    pub same_pages: u64,
    /// Pages freed by compaction.
    pub pages_compacted: u64,
    /// Pages that did not compress and are stored as they are.
    pub huge_pages: Option<u64>,
    /// The same, since the device was set up.
    pub huge_pages_since: Option<u64>,
}

/// `io_stat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IoStat {
    /// Reads that failed.
    pub failed_reads: u64,
    /// Writes that failed: the pool was at its limit, or memory was short.
    pub failed_writes: u64,
    /// Requests that were not aligned to a page.
    pub invalid_io: u64,
    /// Slots freed because their swap entry went away.
    pub notify_free: u64,
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
        let meta = std::fs::metadata(&self.dir).map_err(|error| KernelError::io("look at", &self.dir, error))?;
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
            Some(after) if after != name => Err(KernelError::unsupported(
                format!("select the algorithm {name} at"),
                &path,
                format!("the kernel kept {after}"),
            )),
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
        let path = self.dir.join("mm_stat");
        let text = read_text(&path)?;
        parse_mm_stat(&text).ok_or_else(|| KernelError::malformed("read", &path, &text))
    }

    /// The counters of requests.
    ///
    /// # Errors
    /// When the file cannot be read or has fewer than 4 fields.
    pub fn io_stat(&self) -> Result<IoStat> {
        let path = self.dir.join("io_stat");
        let text = read_text(&path)?;
        match numbers(&text).as_slice() {
            [failed_reads, failed_writes, invalid_io, notify_free, ..] => Ok(IoStat {
                failed_reads: *failed_reads,
                failed_writes: *failed_writes,
                invalid_io: *invalid_io,
                notify_free: *notify_free,
            }),
            _ => Err(KernelError::malformed("read", &path, &text)),
        }
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

fn numbers(text: &str) -> Vec<u64> {
    text.split_whitespace().map_while(|word| word.parse().ok()).collect()
}

fn parse_mm_stat(text: &str) -> Option<MmStat> {
    let fields = numbers(text);
    let &[orig, compr, used, limit, max, same, compacted, ref rest @ ..] = fields.as_slice() else { return None };
    Some(MmStat {
        orig_data: Bytes(orig),
        compr_data: Bytes(compr),
        mem_used_total: Bytes(used),
        mem_limit: if limit == 0 { Limit::Max } else { Limit::At(Bytes(limit)) },
        mem_used_max: Bytes(max),
        same_pages: same,
        pages_compacted: compacted,
        huge_pages: rest.first().copied(),
        huge_pages_since: rest.get(1).copied(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mm_stat_has_seven_eight_or_nine_fields_by_kernel() {
        let seven = parse_mm_stat("4096 74 12288 0 12288 1 0\n").unwrap();
        assert_eq!((seven.huge_pages, seven.huge_pages_since, seven.mem_limit), (None, None, Limit::Max));
        let nine = parse_mm_stat(" 4096 74 12288 8192 12288 1 0 5 6").unwrap();
        assert_eq!((nine.huge_pages, nine.huge_pages_since), (Some(5), Some(6)));
        assert_eq!(nine.mem_limit, Limit::At(Bytes(8192)));
        assert_eq!(parse_mm_stat("1 2 3"), None);
    }
}
