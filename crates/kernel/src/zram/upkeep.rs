//! What the kernel does with the pages of a zram device when it is asked to: mark them idle, write them to a backing device, compress them
//! again, compact the pool.
//!
//! These files are triggers: none can be read, so what a write did is seen in `mm_stat`, `bd_stat` and `writeback_limit`. Which pages are worth
//! it, and how many, is decided above.

use ramline_snapshot::zram::BdStat;

use super::Device;
use crate::prelude::*;

/// The kernel counts writeback in units of 4 KiB, whatever its page size.
pub const WRITEBACK_UNIT: Bytes = Bytes::from_kib(4);

/// Which pages are written to the backing device.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteBack {
    /// Idle pages that did not compress (Linux 5.19).
    IdleIncompressible,
    /// All idle pages.
    Idle,
}

/// How a writeback ended; how much was written stands in `bd_stat`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WroteBack {
    /// No such page is left.
    All,
    /// `writeback_limit` is used up.
    Limit,
    /// The backing device has no free block.
    Full,
    /// This kernel has no such choice.
    Unknown,
}

impl Device {
    fn file(&self, name: &str) -> PathBuf {
        self.dir.join(name)
    }

    /// The backing device: `None` where the kernel has no writeback, `none` where none is set.
    #[must_use]
    pub fn backing(&self) -> Option<String> {
        read_text(&self.file("backing_dev")).ok().map(|text| text.trim().to_owned())
    }

    /// The algorithms set for recompression; `None` where the kernel has none.
    #[must_use]
    pub fn second_algorithms(&self) -> Option<Vec<String>> {
        let text = read_text(&self.file("recomp_algorithm")).ok()?;
        // "#1: lzo lz4 [zstd]"
        Some(
            text.lines()
                .filter(|line| line.contains('['))
                .map(|line| crate::write::selected(line).to_owned())
                .collect(),
        )
    }

    /// The counters of the backing device.
    ///
    /// # Errors
    /// When the file cannot be read or has fewer than 3 fields.
    pub fn bd_stat(&self) -> Result<BdStat> {
        self.parsed("bd_stat", BdStat::parse)
    }

    /// Marks pages idle: those not used for `age`, or all. A page that is read or written is idle no more. False where the kernel keeps no ages.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn mark_idle(&self, age: Option<Duration>) -> Result<bool> {
        let value = age.map_or("all".to_owned(), |age| age.as_secs().to_string());
        match write_knob(&self.file("idle"), &value) {
            Ok(_) => Ok(true),
            Err(error) if age.is_some() && error.errno() == Some(libc::EINVAL) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// `writeback_limit_enable`, for the journal.
    #[must_use]
    pub fn limit_switch(&self) -> PathBuf {
        self.file("writeback_limit_enable")
    }

    /// What may still be written back; `None` while there is no limit.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn writeback_limit(&self) -> Result<Option<Bytes>> {
        if read_u64(&self.limit_switch())? == 0 {
            return Ok(None);
        }
        let units = read_u64(&self.file("writeback_limit"))?;
        Ok(Some(Bytes(units.saturating_mul(WRITEBACK_UNIT.0))))
    }

    /// Limits what may be written back, in whole units; it counts while the limit is switched on.
    ///
    /// # Errors
    /// When it cannot be written, or reads as another number afterwards.
    pub fn set_writeback_limit(&self, limit: Bytes) -> Result<()> {
        let (path, value) = (self.file("writeback_limit"), (limit.0 / WRITEBACK_UNIT.0).to_string());
        let change = write_knob(&path, &value)?;
        match change.after {
            Some(after) if after != value => {
                let kept = format!("wrote {value}, the kernel kept {after}");
                Err(KernelError::refused(
                    "limit writeback at",
                    path,
                    "the limit must be in force before pages are written",
                    kept,
                ))
            }
            _ => Ok(()),
        }
    }

    /// Writes pages to the backing device, up to the limit. It returns when they are written.
    ///
    /// # Errors
    /// When the kernel refuses for another reason than those of [`WroteBack`], as an error of the disk.
    pub fn write_back(&self, which: WriteBack) -> Result<WroteBack> {
        let word = match which {
            WriteBack::IdleIncompressible => "huge_idle",
            WriteBack::Idle => "idle",
        };
        match write_knob(&self.file("writeback"), word) {
            Ok(_) => Ok(WroteBack::All),
            Err(error) => match error.errno() {
                Some(libc::EINVAL) => Ok(WroteBack::Unknown),
                Some(libc::ENOSPC) => Ok(WroteBack::Full),
                // The kernel says EIO for the limit and for a disk that fails.
                Some(libc::EIO) if self.writeback_limit()? == Some(Bytes(0)) => Ok(WroteBack::Limit),
                _ => Err(error),
            },
        }
    }

    /// Compresses idle pages again with the algorithms set for it; those that do not get a size class smaller stay. All of them lose their mark.
    ///
    /// # Errors
    /// When the kernel refuses.
    pub fn recompress_idle(&self) -> Result<()> {
        write_knob(&self.file("recompress"), "type=idle").map(drop)
    }

    /// Moves pages of the pool together, so that it needs fewer.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn compact(&self) -> Result<()> {
        write_knob(&self.file("compact"), "1").map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn device(files: &[(&str, &str)]) -> (tempfile::TempDir, Device) {
        let tree = tempfile::tempdir().unwrap();
        let dir = tree.path().join("sys/block/zram4");
        std::fs::create_dir_all(&dir).unwrap();
        for (name, text) in files {
            std::fs::write(dir.join(name), text).unwrap();
        }
        let device = Device::open(&Root::new(tree.path()), 4);
        (tree, device)
    }

    #[test]
    fn what_a_kernel_has_is_known_by_its_files() {
        let (_bare, bare) = device(&[]);
        assert_eq!((bare.backing(), bare.second_algorithms()), (None, None));
        let (_unset, unset) = device(&[("backing_dev", "none\n"), ("recomp_algorithm", "")]);
        assert_eq!((unset.backing().as_deref(), unset.second_algorithms()), (Some("none"), Some(vec![])));
        let (_set, set) =
            device(&[("backing_dev", "/dev/vdb\n"), ("recomp_algorithm", "#1: lzo lz4 [zstd] \n#2: [deflate] lz4\n")]);
        assert_eq!(set.backing().as_deref(), Some("/dev/vdb"));
        assert_eq!(set.second_algorithms(), Some(vec!["zstd".to_owned(), "deflate".to_owned()]));
    }

    #[test]
    fn a_limit_is_in_units_of_4_kib_and_none_while_it_is_off() {
        let (_off, off) = device(&[("writeback_limit_enable", "0\n"), ("writeback_limit", "0\n")]);
        assert_eq!(off.writeback_limit().unwrap(), None);
        off.set_writeback_limit(Bytes::from_mib(1)).unwrap();
        let (_on, on) = device(&[("writeback_limit_enable", "1\n"), ("writeback_limit", "256\n")]);
        assert_eq!(on.writeback_limit().unwrap(), Some(Bytes::from_mib(1)));
    }
}
