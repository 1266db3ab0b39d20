//! The ZFS cache (`/proc/spl/kstat/zfs/arcstats`): page cache in all but name, which no counter of the kernel shows as such.
//!
//! It is allocated by the kernel, so it is in nobody's `Cached`; it shrinks under pressure down to `c_min`. The file
//! belongs to OpenZFS: a line of numbers, a line of heads, then `name type data` with sizes in bytes.

use crate::prelude::*;

/// The ZFS cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Arc {
    /// Held. Gauge.
    pub size: Bytes,
    /// It does not shrink below this.
    pub min: Bytes,
    /// It does not grow beyond this.
    pub max: Bytes,
}

impl Arc {
    /// Parses `arcstats`; lines about anything else are passed over, a missing limit is 0.
    ///
    /// # Errors
    /// One of the three sizes is no number, or there is no `size` at all.
    pub fn parse(path: &str, text: &str) -> Result<Self, Malformed> {
        let mut arc = Arc::default();
        let mut seen = false;
        for (index, line) in text.lines().enumerate() {
            let mut words = line.split_ascii_whitespace();
            let field = match words.next() {
                Some("size") => {
                    seen = true;
                    &mut arc.size
                }
                Some("c_min") => &mut arc.min,
                Some("c_max") => &mut arc.max,
                _ => continue,
            };
            let number = words.nth(1).and_then(|word| word.parse().ok());
            *field = Bytes(number.ok_or_else(|| Malformed::new(path, index, line))?);
        }
        if seen { Ok(arc) } else { Err(Malformed::whole(path, "no line `size`")) }
    }

    /// What it gives back under pressure: all above its lower limit.
    #[must_use]
    pub const fn shrinkable(self) -> Bytes {
        self.size.saturating_sub(self.min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SAMPLE: &str = "13 1 0x01 123 33456 8043298210 1215342342342\nname                            type data\n\
        hits                            4    123456789\nc                               4    4294967296\n\
        c_min                           4    536870912\nc_max                           4    8589934592\n\
        size                            4    4026531840\ncompressed_size                 4    1\nmfu_size 4 2\n";

    #[test]
    fn three_sizes_are_read_and_everything_else_is_passed_over() {
        let arc = Arc::parse("arcstats", SAMPLE).unwrap();
        assert_eq!((arc.size, arc.min, arc.max), (Bytes(4_026_531_840), Bytes::from_mib(512), Bytes::from_gib(8)));
        assert_eq!(arc.shrinkable(), Bytes(4_026_531_840 - (512 << 20)));
        assert_eq!(Arc { size: Bytes(1), min: Bytes(2), max: Bytes(3) }.shrinkable(), Bytes::ZERO);
    }

    #[test]
    fn a_size_that_is_no_number_and_a_file_without_one_are_named() {
        let error = Arc::parse("arcstats", "size 4 many\u{1b}\n").unwrap_err();
        assert_eq!((error.line, error.path.as_str()), (1, "arcstats"));
        for bad in ["", "size\n", "size 4\n", "size 4 -1\n", "c_min 4 1\n", "size 4 99999999999999999999999\n"] {
            assert!(Arc::parse("a", bad).is_err(), "{bad:?}");
        }
    }
}
