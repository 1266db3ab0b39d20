//! A seeded generator: the same seed gives the same numbers everywhere, for ever.
//!
//! It draws bootstrap samples and access patterns, never secrets.
//!
//! ```
//! use ramline_evidence::rng::SplitMix64;
//! let mut a = SplitMix64::new(256);
//! let mut b = SplitMix64::new(256);
//! assert_eq!(a.next_u64(), b.next_u64());
//! ```

/// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): one add and three shifts per number, period 2^64.
#[derive(Debug, Clone)]
pub struct SplitMix64 {
    state: u64,
}

impl SplitMix64 {
    /// A generator that starts at `seed`.
    #[must_use]
    pub const fn new(seed: u64) -> SplitMix64 {
        SplitMix64 { state: seed }
    }

    /// The next 64 bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `bound`, by multiplication (Lemire 2019) without the rejection step: the bias is `bound / 2^64`,
    /// which is below 10^-9 for anything counted here. 0 for a bound of 0.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        let wide = u128::from(self.next_u64()) * u128::from(bound);
        u64::try_from(wide >> 64).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::SplitMix64;

    #[test]
    fn the_sequence_is_the_published_one() {
        // First outputs for seed 1234567 of the reference implementation (Vigna, splitmix64.c).
        let mut rng = SplitMix64::new(1_234_567);
        assert_eq!(
            [rng.next_u64(), rng.next_u64(), rng.next_u64()],
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }

    #[test]
    fn numbers_below_a_bound_are_below_it_and_reach_it() {
        let mut rng = SplitMix64::new(1);
        let drawn: Vec<u64> = (0..1000).map(|_| rng.below(10)).collect();
        assert!(drawn.iter().all(|n| *n < 10));
        assert!((0..10).all(|n| drawn.contains(&n)));
        assert_eq!(rng.below(0), 0);
    }
}
