//! `/proc/buddyinfo`: free blocks of 2^order pages per zone.

use crate::prelude::*;

/// One zone's free blocks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ZoneBlocks {
    /// NUMA node.
    pub node: u32,
    /// Zone name.
    pub zone: String,
    /// Free blocks of 2^i pages at index i; usually orders 0 to 10.
    pub free: Vec<u64>,
}

/// `/proc/buddyinfo`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Buddyinfo {
    /// Zones in the order of the file.
    pub zones: Vec<ZoneBlocks>,
}

impl Buddyinfo {
    /// Parses lines of `Node 0, zone Normal n0 n1 …`.
    ///
    /// # Errors
    /// No line is of this form.
    pub fn parse(from: &(impl Origin + ?Sized), text: &str) -> Result<Self, Malformed> {
        let zones = parse_lines(
            from,
            text,
            |_| true,
            |line| {
                let (node, rest) = line.strip_prefix("Node ")?.split_once(", zone")?;
                let mut words = rest.split_ascii_whitespace();
                let zone = words.next()?.to_owned();
                let free = words.map(|w| w.parse().ok()).collect::<Option<_>>()?;
                Some(ZoneBlocks { node: node.trim().parse().ok()?, zone, free })
            },
        )?;
        Ok(Buddyinfo { zones })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn free_blocks_are_listed_per_order() {
        let seen = Buddyinfo::parse("b", "Node 0, zone      DMA      0      1      3 \n").unwrap();
        assert_eq!(seen.zones[0].zone, "DMA");
        assert_eq!(seen.zones[0].free, [0, 1, 3]);
        assert_eq!(Buddyinfo::parse("b", "Node 0, zone DMA x\n").unwrap_err().line, 1);
    }
}
