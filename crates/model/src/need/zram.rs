//! Whether zram or swap would help a group that misses its page cache: the cold part of its anonymous memory could go there, and the page cache would
//! have that much more.
//!
//! Worked example: a group misses its cache 8,000 times a second. 150 MiB of its heap were not touched for ten seconds; with 150 MiB more 15 % of the
//! misses are left. Its pages compress to 41 %: zram takes 62 MiB for them, and 85 % of the misses go.

use ramline_evidence::FEWEST_RETURNS;

use super::{Need, NeedAnswer};
use crate::prelude::*;

/// A saving of a smaller share of the misses is within the error of the curve (at most 13 % in 19 measured cells, docs/need.md).
const CURVE_ERROR: f64 = 0.13;

/// What was seen of memory that could be swapped out.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ColdSeen {
    /// Anonymous and shared memory in RAM.
    pub present: Bytes,
    /// Of it, what was not touched.
    pub cold: Bytes,
    /// For how long.
    pub time: Nanos,
    /// A sample of its pages.
    pub sample: Option<CompressedSample>,
}

/// What pages compress to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompressedSample {
    /// With which algorithm.
    pub algorithm: String,
    /// The pages.
    pub original: Bytes,
    /// What they compress to.
    pub compressed: Bytes,
}

/// Whether it would help.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ZramVerdict {
    /// It would save a part of the misses.
    Helps,
    /// Next to nothing is missed: there is nothing to save.
    NothingMissed,
    /// What is cold is too little: what it would save is within the curve's error.
    TooLittleCold,
    /// How much would be saved is not known: the curve does not answer.
    Unknown,
}

/// What zram would be worth to the group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ZramWorth {
    /// Whether it would help.
    pub verdict: ZramVerdict,
    /// Its anonymous and shared memory in RAM.
    pub present: Bytes,
    /// Of it, what was not touched: so much more page cache fits.
    pub cold: Bytes,
    /// For how long.
    pub time: Nanos,
    /// What of the cold memory stays as compressed pages, in the machine's RAM and not in the group's size.
    pub costs: Option<Bytes>,
    /// The algorithm that this is of.
    pub algorithm: Option<String>,
    /// The share of the misses that is left with that much more page cache; at most, where the curve does not reach so far.
    pub left: Option<f64>,
}

impl Need {
    /// With the worth of zram.
    #[must_use]
    pub fn with_zram(mut self, seen: &ColdSeen) -> Need {
        let reach = self.curve.reach();
        let left = self.curve.left(seen.cold).or_else(|| self.curve.left(seen.cold.min(reach)));
        let verdict = match (self.answer, left) {
            _ if self.curve.misses < FEWEST_RETURNS => ZramVerdict::NothingMissed,
            (NeedAnswer::Fills | NeedAnswer::FirstReads, _) | (_, None) => ZramVerdict::Unknown,
            (_, Some(left)) if 1.0 - left > CURVE_ERROR => ZramVerdict::Helps,
            _ if seen.cold > reach => ZramVerdict::Unknown,
            _ => ZramVerdict::TooLittleCold,
        };
        let sample = seen.sample.as_ref();
        self.zram = Some(ZramWorth {
            verdict,
            present: seen.present,
            cold: seen.cold,
            time: seen.time,
            costs: sample.and_then(|sample| seen.cold.scale(sample.compressed.0, sample.original.0)),
            algorithm: sample.map(|sample| sample.algorithm.clone()),
            left,
        });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{curve, group};
    use super::*;

    fn worth(cold: u64, misses: u64, returns: u64) -> ZramWorth {
        let seen = ColdSeen {
            present: Bytes::from_mib(400),
            cold: Bytes::from_mib(cold),
            time: Nanos(10_000_000_000),
            sample: Some(CompressedSample {
                algorithm: "lz4".to_owned(),
                original: Bytes::from_mib(2),
                compressed: Bytes::from_mib(1),
            }),
        };
        super::super::need(&group(200, 200, 200, 0), curve(misses, returns, 1), 2).with_zram(&seen).zram.unwrap()
    }

    #[test]
    fn cold_memory_that_makes_room_for_what_is_missed_helps() {
        let seen = worth(350, 10_000, 10_000);
        assert_eq!((seen.verdict, seen.left), (ZramVerdict::Helps, Some(0.0)));
        assert_eq!((seen.costs, seen.algorithm.as_deref()), (Some(Bytes::from_mib(175)), Some("lz4")));
    }

    #[test]
    fn too_little_cold_memory_no_misses_and_no_curve_are_told_apart() {
        // All returns are at 345 MiB.
        assert_eq!(worth(100, 10_000, 10_000).verdict, ZramVerdict::TooLittleCold);
        assert_eq!(worth(350, 40, 40).verdict, ZramVerdict::NothingMissed);
        assert_eq!(worth(350, 10_000, 50).verdict, ZramVerdict::Unknown);
    }
}
