//! The ZFS cache (`/proc/spl/kstat/zfs/arcstats`): page cache in all but name, which no counter of the kernel shows as such.
//!
//! ZFS allocates it itself, so it is not in `Cached`; it shrinks under pressure down to `c_min`, as far as its buffers are evictable. The file
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
    /// Clean buffers that no one holds: `mru_evictable_*` and `mfu_evictable_*` together; `None` where a release does not list them. Gauge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evictable: Option<Bytes>,
}

/// What [`Arc::evictable`] is the sum of; all four, or it is not known.
const EVICTABLE: [&str; 4] =
    ["mru_evictable_data", "mru_evictable_metadata", "mfu_evictable_data", "mfu_evictable_metadata"];

impl Arc {
    /// Parses `arcstats`; lines about anything else are passed over, a missing limit is 0.
    ///
    /// # Errors
    /// One of the three sizes is no number, or there is no `size` at all.
    pub fn parse(path: &str, text: &str) -> Result<Self, Malformed> {
        let mut arc = Arc::default();
        let mut seen = false;
        let mut evictable = [None; EVICTABLE.len()];
        for (index, line) in text.lines().enumerate() {
            let mut words = line.split_ascii_whitespace();
            let name = words.next();
            let mut number = || words.nth(1).and_then(|word| word.parse().ok()).map(Bytes);
            if let Some(at) = EVICTABLE.iter().position(|known| Some(*known) == name) {
                evictable[at] = number();
                continue;
            }
            let field = match name {
                Some("size") => {
                    seen = true;
                    &mut arc.size
                }
                Some("c_min") => &mut arc.min,
                Some("c_max") => &mut arc.max,
                _ => continue,
            };
            *field = number().ok_or_else(|| Malformed::new(path, index, line))?;
        }
        arc.evictable = evictable.into_iter().sum();
        if seen { Ok(arc) } else { Err(Malformed::whole(path, "no line `size`")) }
    }

    /// All above its lower limit: what htop, btop, glances and Netdata take for what it can give back.
    #[must_use]
    pub const fn above_min(self) -> Bytes {
        self.size.saturating_sub(self.min)
    }

    /// What it gives back under pressure, as ZFS itself tells the kernel (`arc_evictable_memory`): all above its lower limit, and no more than is
    /// clean and unused. Where more is dirty or held than the limit, that is the clean part, which is less.
    #[must_use]
    pub fn shrinkable(self) -> Bytes {
        self.evictable.map_or(self.above_min(), |clean| clean.min(self.above_min()))
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
        assert_eq!(Arc { size: Bytes(1), min: Bytes(2), max: Bytes(3), evictable: None }.shrinkable(), Bytes::ZERO);
    }

    #[test]
    fn it_gives_back_what_is_above_its_minimum_and_no_more_than_is_clean() {
        let with = |clean: u64| {
            let parts = EVICTABLE.map(|name| format!("{name} 4 {}\n", clean << 18));
            Arc::parse("arcstats", &format!("c_min 4 {}\nsize 4 {}\n{}", 1 << 30, 5u64 << 30, parts.concat())).unwrap()
        };
        assert_eq!((with(4608).evictable, with(4608).shrinkable()), (Some(Bytes::from_mib(4608)), Bytes::from_gib(4)));
        assert_eq!(with(1024).shrinkable(), Bytes::from_gib(1), "the rest is dirty or held");
        assert_eq!(with(1024).above_min(), Bytes::from_gib(4));
        let one = Arc::parse("arcstats", "c_min 4 1\nsize 4 9\nmru_evictable_data 4 3\n").unwrap();
        assert_eq!((one.evictable, one.shrinkable()), (None, Bytes(8)), "a part of the parts is not known to be all");
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
