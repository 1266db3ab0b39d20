//! What a group would stop missing with more memory, from what it lost and took back while it was watched.
//!
//! A page that is evicted and read again is a *return*. Its distance is the number of distinct pages that were evicted after it and are still out, itself
//! included: with so much more memory it would have stayed. A page that comes in without having been seen to go was out longer than all pages that are
//! known to be out: its distance is *at least* that. The share of misses that is left with so much more memory is therefore estimated as survival
//! times are, with observations that are cut off (Kaplan and Meier 1958).
//!
//! Worked example: of four misses three have the distances 10, 20 and 20 and one is cut off at 15. With room for 10 more pages 3/4 are left; at 20 two
//! are left of which both return: none.

use crate::prelude::*;

/// More memory than the pages known to be out, divided by this, is not spoken of: beyond it the estimate rests on pages that were seen to go
/// only while the watch had just begun (measured: at 1.3 times and more within 13 %, closer up to 3 times too many).
pub const REACH: f64 = 1.3;
/// Fewer returns say nothing: the estimate of a share then moves by a tenth through chance alone (1/sqrt(100)).
pub const FEWEST_RETURNS: u64 = 100;
/// What is left of the misses where nothing is gained any more: a hundredth, the chance error of 10,000 returns.
pub const NOTHING_LEFT: f64 = 0.01;

/// How often a distance was seen, by buckets. Of followed pages, each counted as often as one in so many was followed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct GhostBucket {
    /// Misses of this bucket are gone with so many pages more.
    pub pages: u64,
    /// Misses whose page returned at this distance.
    pub returned: u64,
    /// Misses whose page was out longer than that, how long is unknown.
    pub beyond: u64,
}

/// The share of misses that is left.
struct Survival {
    left: f64,
    /// The pages with which it is next to nothing.
    at: Option<u64>,
}

/// What was seen of a group's page cache.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct GhostCurve {
    /// How long it was watched.
    pub watched: Nanos,
    /// The mean of the group's size meanwhile, to which distances are added; `None` where it has no size (the root).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mean_size: Option<Bytes>,
    /// Bytes of a page.
    pub page_size: Bytes,
    /// Misses: reads from disk, each of the pages that one task reads at once.
    pub misses: u64,
    /// Pages that came into the cache.
    pub pages_added: u64,
    /// Misses that were followed and whose page was seen to go before.
    pub returns: u64,
    /// Pages that reclaim evicted.
    pub pages_evicted: u64,
    /// Pages of deleted or truncated files.
    pub pages_dropped: u64,
    /// Evicted pages that are still out.
    pub pages_out: u64,
    /// One page of so many was followed in the end.
    pub sampled: u64,
    /// Events that were lost, because they came faster than they were read.
    pub lost: u64,
    /// The device that most of them came from, as `major:minor`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// Distances, ascending.
    pub buckets: Vec<GhostBucket>,
}

impl GhostCurve {
    /// The largest amount of more memory it answers for.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a count of pages, smaller than it was"
    )]
    pub fn reach(&self) -> Bytes {
        self.bytes((self.pages_out as f64 / REACH) as u64)
    }

    fn bytes(&self, pages: u64) -> Bytes {
        Bytes(pages.saturating_mul(self.page_size.0))
    }

    /// The share of the misses that is left with so much more memory; `None` beyond its reach, and with too few returns.
    ///
    /// Where the knee was seen, nothing is beyond its reach: of each distance below the knee, more misses were seen than of the knee itself.
    #[must_use]
    pub fn left(&self, more: Bytes) -> Option<f64> {
        if self.returns < FEWEST_RETURNS {
            return None;
        }
        let is_known = more <= self.reach() || self.knee().is_some();
        is_known.then(|| self.survival(more.0 / self.page_size.0.max(1)).left)
    }

    /// The least more memory with which nothing more is gained, a hundredth of the misses left; `None` where that was not seen.
    #[must_use]
    pub fn knee(&self) -> Option<Bytes> {
        (self.returns >= FEWEST_RETURNS).then(|| self.survival(u64::MAX).at).flatten().map(|pages| self.bytes(pages))
    }

    /// With so many pages more. Where it falls to [`NOTHING_LEFT`] counts only while enough misses are at risk.
    fn survival(&self, pages: u64) -> Survival {
        let mut at_risk: u64 = self.buckets.iter().map(|b| b.returned + b.beyond).sum();
        let mut left = 1.0;
        for bucket in self.buckets.iter().take_while(|bucket| bucket.pages <= pages) {
            let is_sure = at_risk >= FEWEST_RETURNS.saturating_mul(self.sampled.max(1));
            if at_risk > 0 {
                left *= 1.0 - bucket.returned as f64 / at_risk as f64;
            }
            if left <= NOTHING_LEFT && is_sure {
                return Survival { left, at: Some(bucket.pages) };
            }
            at_risk = at_risk.saturating_sub(bucket.returned + bucket.beyond);
        }
        Survival { left, at: None }
    }

    /// Misses a second.
    #[must_use]
    pub fn misses_per_second(&self) -> Option<f64> {
        (self.watched.0 > 0).then(|| self.misses as f64 / self.watched.as_secs_f64())
    }

    /// Pages read with a miss: more than one where the kernel reads ahead.
    #[must_use]
    pub fn pages_per_miss(&self) -> Option<f64> {
        (self.misses > 0).then(|| self.pages_added as f64 / self.misses as f64)
    }

    /// Of the misses, the share whose page was not seen to go: first reads, and pages evicted before the watch began.
    #[must_use]
    pub fn unknown_share(&self) -> Option<f64> {
        let sum = |of: fn(&GhostBucket) -> u64| self.buckets.iter().map(of).sum::<u64>();
        let (returned, beyond) = (sum(|bucket| bucket.returned), sum(|bucket| bucket.beyond));
        (returned + beyond > 0).then(|| beyond as f64 / (returned + beyond) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(buckets: &[(u64, u64, u64)]) -> GhostCurve {
        let buckets: Vec<_> =
            buckets.iter().map(|&(pages, returned, beyond)| GhostBucket { pages, returned, beyond }).collect();
        let sum = |of: fn(&GhostBucket) -> u64| buckets.iter().map(of).sum::<u64>();
        GhostCurve {
            page_size: Bytes(4096),
            watched: Nanos(10_000_000_000),
            misses: sum(|b| b.returned + b.beyond),
            returns: sum(|b| b.returned),
            pages_out: 1_300,
            buckets,
            ..GhostCurve::default()
        }
    }

    const fn pages(n: u64) -> Bytes {
        Bytes(4096 * n)
    }

    #[test]
    fn misses_that_are_cut_off_count_as_long_as_they_are_at_risk() {
        let curve = curve(&[(10, 100, 0), (15, 0, 100), (20, 200, 0)]);
        assert_eq!([9, 10, 19, 20].map(|n| curve.left(pages(n)).unwrap()), [1.0, 0.75, 0.75, 0.0]);
        assert_eq!(curve.knee(), Some(pages(20)));
    }

    #[test]
    fn beyond_the_pages_that_are_out_and_with_few_returns_nothing_is_said() {
        let far = curve(&[(10, 500, 0), (1_200, 500, 0)]);
        assert_eq!(far.knee(), Some(pages(1_200)), "all misses returned by then: nothing is left to be seen");
        assert_eq!((far.reach(), far.left(pages(1_100))), (pages(1_000), Some(0.5)), "below a knee that was seen");
        let open = curve(&[(10, 500, 0), (1_100, 200, 300)]);
        assert_eq!((open.left(pages(1_000)), open.left(pages(1_001)), open.knee()), (Some(0.5), None, None));
        assert_eq!(curve(&[(10, 500, 0), (20, 0, 450), (1_200, 50, 0)]).knee(), None, "50 at risk are too few");
        assert_eq!(curve(&[(10, 99, 0)]).left(pages(10)), None);
    }

    #[test]
    fn a_load_that_reads_ever_new_pages_has_no_knee() {
        let curve = curve(&[(10, 200, 0), (1_000, 0, 800)]);
        assert_eq!((curve.left(pages(900)), curve.knee()), (Some(0.8), None));
        assert_eq!(curve.unknown_share(), Some(0.8));
    }
}
