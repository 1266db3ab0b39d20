//! `/sys/block/zram*` with its units: bytes, 4 KiB pages and native pages apart.

use ramline_units::Limit;

use crate::cgroup::Texts;
use crate::prelude::*;

/// `mm_stat`. Seven fields before 4.18, eight before 5.11, nine since; later ones are kept.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct MmStat {
    /// Uncompressed bytes stored, same-filled and written-back pages included. Gauge.
    pub orig_data_size: Bytes,
    /// Compressed payload. Gauge.
    pub compr_data_size: Bytes,
    /// RAM the allocator uses for it, slot table excluded. Gauge.
    pub mem_used_total: Bytes,
    /// Limit on `mem_used_total`.
    pub mem_limit: Option<Limit>,
    /// Highest `mem_used_total` so far. Peak.
    pub mem_used_max: Bytes,
    /// Pages of one repeated word; cost no memory. Gauge.
    pub same_pages: Pages,
    /// Pages moved by compaction. Counter.
    pub pages_compacted: Pages,
    /// Incompressible pages, kept whole. Gauge.
    pub huge_pages: Option<Pages>,
    /// Incompressible pages since the device was made. Counter.
    pub huge_pages_since: Option<Pages>,
    /// Further fields of later kernels.
    pub unknown: Vec<u64>,
}

/// `bd_stat`: the backing device, in units of 4 KiB whatever the page size.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BdStat {
    /// On the backing device now. Gauge.
    pub count: Bytes,
    /// Read from it. Counter.
    pub reads: Bytes,
    /// Written to it. Counter.
    pub writes: Bytes,
}

/// `io_stat`. Counters of events.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct IoStat {
    /// Reads that failed.
    pub failed_reads: u64,
    /// Writes that failed: the limit was hit or no memory was found.
    pub failed_writes: u64,
    /// Requests not aligned to a page; constant 0 on newer kernels.
    pub invalid_io: u64,
    /// Slots freed by swap.
    pub notify_free: u64,
}

/// One zram device.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ZramDevice {
    /// `zram0`.
    pub name: String,
    /// `disksize`: uncompressed capacity; 0 before it is set.
    pub disksize: Bytes,
    /// `initstate`: sized and ready.
    pub initialised: bool,
    /// Chosen algorithm.
    pub algorithm: Option<String>,
    /// Algorithms this kernel offers here.
    pub algorithms: Vec<String>,
    /// Secondary algorithms by priority, as the kernel prints them; `None` without recompression.
    pub recompression: Option<String>,
    /// `backing_dev`; `None` when the kernel has no writeback, "none" when it is unset.
    pub backing_dev: Option<String>,
    /// Compressed pool.
    pub mm: Option<MmStat>,
    /// Backing device.
    pub bd: Option<BdStat>,
    /// I/O errors.
    pub io: Option<IoStat>,
    /// A swap header was found on it; `None` without root.
    pub formatted: Option<bool>,
}

/// How far zram support goes on this kernel.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ZramSupport {
    /// `/sys/class/zram-control` is there: built in or loaded.
    pub control: bool,
    /// The module is built into the kernel.
    pub builtin: Option<bool>,
    /// A module file is installed for the running kernel.
    pub module_installed: Option<bool>,
}

/// Everything about zram.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Zram {
    /// Kernel support.
    pub support: ZramSupport,
    /// Devices by number.
    pub devices: Vec<ZramDevice>,
    /// Files of a device that could not be used.
    pub unseen: Vec<Unseen>,
}

/// The first numbers, and those after them.
fn numbers<const N: usize>(path: &str, text: &str) -> Result<([u64; N], Vec<u64>), Malformed> {
    let all: Option<Vec<u64>> = text.split_ascii_whitespace().map(|w| w.parse().ok()).collect();
    let split = all.as_ref().and_then(|all| all.split_first_chunk());
    split.map(|(first, more)| (*first, more.to_vec())).ok_or_else(|| Malformed::new(path, 0, text.trim()))
}

impl MmStat {
    /// Parses `mm_stat`.
    ///
    /// # Errors
    /// Fewer than seven numbers.
    pub fn parse(path: &str, text: &str) -> Result<Self, Malformed> {
        let ([orig, compr, used, limit, max, same, compacted], more) = numbers(path, text)?;
        Ok(MmStat {
            orig_data_size: Bytes(orig),
            compr_data_size: Bytes(compr),
            mem_used_total: Bytes(used),
            mem_limit: Some(if limit == 0 { Limit::Max } else { Limit::At(Bytes(limit)) }),
            mem_used_max: Bytes(max),
            same_pages: Pages(same),
            pages_compacted: Pages(compacted),
            huge_pages: more.first().copied().map(Pages),
            huge_pages_since: more.get(1).copied().map(Pages),
            unknown: more.get(2..).unwrap_or_default().to_vec(),
        })
    }
}

impl BdStat {
    /// Parses `bd_stat`: three numbers in units of 4 KiB.
    ///
    /// # Errors
    /// Fewer than three numbers.
    pub fn parse(path: &str, text: &str) -> Result<Self, Malformed> {
        let ([count, reads, writes], _) = numbers(path, text)?;
        let bytes = |n| Pages(n).bytes(PageSize(4096));
        Ok(BdStat { count: bytes(count), reads: bytes(reads), writes: bytes(writes) })
    }
}

impl IoStat {
    /// Parses `io_stat`: four counters.
    ///
    /// # Errors
    /// Fewer than four numbers.
    pub fn parse(path: &str, text: &str) -> Result<Self, Malformed> {
        let ([failed_reads, failed_writes, invalid_io, notify_free], _) = numbers(path, text)?;
        Ok(IoStat { failed_reads, failed_writes, invalid_io, notify_free })
    }
}

impl ZramDevice {
    /// Builds a device from the texts of its files; what cannot be understood goes to `unseen`.
    /// `None` where its size or whether it is set up makes no sense: 0 would be a statement.
    #[must_use]
    pub fn from_files(name: &str, files: &BTreeMap<String, String>, unseen: &mut Vec<Unseen>) -> Option<Self> {
        let text = |file: &str| files.get(file).map(|t| t.trim());
        let mut texts = Texts { path: &format!("/sys/block/{name}"), files, unseen };
        let mut number = |file: &str| match text(file) {
            Some(text) => texts.get(file, |path, _| text.parse().map_err(|_| Malformed::new(path, 0, text))),
            None => Some(0),
        };
        let (disksize, initialised) = (number("disksize"), number("initstate"));
        let (disksize, initialised) = (Bytes(disksize?), initialised? == 1);
        let (algorithm, algorithms) = text("comp_algorithm").map(crate::switches::bracketed).unwrap_or_default();
        Some(ZramDevice {
            name: name.to_owned(),
            disksize,
            initialised,
            algorithm,
            algorithms,
            recompression: text("recomp_algorithm").map(str::to_owned),
            backing_dev: text("backing_dev").map(str::to_owned),
            mm: texts.get("mm_stat", MmStat::parse),
            bd: texts.get("bd_stat", BdStat::parse),
            io: texts.get("io_stat", IoStat::parse),
            formatted: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mm_stat_is_read_with_seven_eight_nine_and_ten_fields() {
        let seven = MmStat::parse("m", "4096 74 12288 0 12288 1 2\n").unwrap();
        assert_eq!((seven.huge_pages, seven.mem_limit), (None, Some(Limit::Max)));
        let nine = MmStat::parse("m", " 4096 74 12288 1048576 12288 1 2 3 4\n").unwrap();
        assert_eq!(nine.mem_limit, Some(Limit::At(Bytes(1 << 20))));
        assert_eq!((nine.huge_pages, nine.huge_pages_since), (Some(Pages(3)), Some(Pages(4))));
        assert_eq!(MmStat::parse("m", "1 2 3 4 5 6 7 8 9 10\n").unwrap().unknown, [10]);
        assert!(MmStat::parse("m", "1 2 3\n").is_err());
        assert!(MmStat::parse("m", "1 2 3 4 5 6 x\n").is_err());
    }

    #[test]
    fn a_garbage_file_is_named_and_the_rest_of_the_device_works() {
        let files = BTreeMap::from([
            ("disksize".to_owned(), "1073741824\n".to_owned()),
            ("initstate".to_owned(), "1\n".to_owned()),
            ("comp_algorithm".to_owned(), "lzo [zstd] lz4\n".to_owned()),
            ("mm_stat".to_owned(), "garbage\n".to_owned()),
            ("bd_stat".to_owned(), "3 0 9\n".to_owned()),
        ]);
        let mut unseen = Vec::new();
        let device = ZramDevice::from_files("zram1", &files, &mut unseen).unwrap();
        assert_eq!((device.disksize, device.initialised), (Bytes::from_gib(1), true));
        assert_eq!(device.algorithm.as_deref(), Some("zstd"));
        assert_eq!(device.algorithms, ["lzo", "zstd", "lz4"]);
        assert_eq!((device.mm, device.bd.map(|b| b.count)), (None, Some(Bytes(3 * 4096))));
        assert_eq!(unseen.len(), 1);
        assert!(unseen[0].path.ends_with("zram1/mm_stat") && unseen[0].garbage);
    }

    #[test]
    fn a_size_that_is_no_number_is_not_taken_for_none() {
        let files = BTreeMap::from([("disksize".to_owned(), "1073741824x\n".to_owned())]);
        let mut unseen = Vec::new();
        assert_eq!(ZramDevice::from_files("zram1", &files, &mut unseen), None);
        assert_eq!(unseen[0].reason, "line 1: cannot read '1073741824x'");
    }
}
