//! `/sys/block`: block devices, their partitions and the queue settings that change what reads cost.

use crate::prelude::*;

/// A partition of a device.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Partition {
    /// `sda1`.
    pub name: String,
    /// `major:minor`.
    pub dev: String,
}

/// What was read from a device since it is there.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reads {
    /// Requests.
    pub count: u64,
    /// Milliseconds from the asking to the answer, of all of them together.
    pub took_ms: u64,
}

impl Reads {
    /// `stat` of a device (Documentation/block/stat.rst): requests come first, their milliseconds fourth.
    #[must_use]
    pub fn parse(text: &str) -> Option<Reads> {
        let mut words = text.split_ascii_whitespace();
        let count = words.next()?.parse().ok()?;
        Some(Reads { count, took_ms: words.nth(2)?.parse().ok()? })
    }

    /// Nanoseconds of one.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "milliseconds since a boot")]
    pub fn mean_ns(self) -> Option<f64> {
        (self.count > 0).then(|| self.took_ms as f64 * 1e6 / self.count as f64)
    }
}

/// One whole block device.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BlockDevice {
    /// `vda`.
    pub name: String,
    /// `major:minor`.
    pub dev: String,
    /// Capacity.
    pub size: Bytes,
    /// What the device claims; virtual disks often claim wrongly.
    pub rotational: Option<bool>,
    /// `queue/read_ahead_kb`.
    pub read_ahead: Option<Bytes>,
    /// Chosen scheduler.
    pub scheduler: Option<String>,
    /// Smallest addressable block.
    pub logical_block: Option<Bytes>,
    /// Devices below (dm, md).
    pub slaves: Vec<String>,
    /// The file behind a loop device.
    pub backing_file: Option<String>,
    /// Partitions.
    pub partitions: Vec<Partition>,
    /// What was read from it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reads: Option<Reads>,
}

/// The whole device behind `major:minor`, be it the device itself or one of its partitions.
#[must_use]
pub fn behind<'a>(blocks: &'a [BlockDevice], dev: &str) -> Option<&'a BlockDevice> {
    blocks.iter().find(|b| b.dev == dev || b.partitions.iter().any(|p| p.dev == dev))
}

/// The whole device behind a node name such as `/dev/sda2`.
#[must_use]
pub fn behind_node<'a>(blocks: &'a [BlockDevice], node: &str) -> Option<&'a BlockDevice> {
    let name = node.strip_prefix("/dev/")?;
    blocks.iter().find(|b| b.name == name || b.partitions.iter().any(|p| p.name == name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_reads_of_a_device_have_a_mean() {
        let reads = Reads::parse("    8000      10   640000     5072     100     0  800  90   0  400  500\n").unwrap();
        assert_eq!((reads, reads.mean_ns()), (Reads { count: 8000, took_ms: 5072 }, Some(634e3)));
        assert_eq!(Reads::parse("0 0 0 0").unwrap().mean_ns(), None);
        assert_eq!((Reads::parse(""), Reads::parse("8 0 1"), Reads::parse("x 0 0 0")), (None, None, None));
    }

    #[test]
    fn a_partition_answers_with_the_queue_of_its_disk() {
        let disk = BlockDevice {
            name: "sda".into(),
            dev: "8:0".into(),
            partitions: vec![Partition { name: "sda2".into(), dev: "8:2".into() }],
            ..BlockDevice::default()
        };
        let blocks = [disk];
        assert_eq!(behind(&blocks, "8:2").map(|b| b.name.as_str()), Some("sda"));
        assert_eq!(behind_node(&blocks, "/dev/sda2").map(|b| b.name.as_str()), Some("sda"));
        assert_eq!(behind(&blocks, "0:42"), None);
    }
}
