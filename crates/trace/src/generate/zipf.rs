//! Places drawn by Zipf's law: the place of rank r has a probability in proportion to r to the power of minus the skew.
//!
//! Ranks are scattered over the places by chance, so hot ones are not neighbours. A draw takes one random number and one look into a table
//! (Walker's alias method): an entry has a rank of its own and one other, and says how often it gives its own.
//!
//! ```
//! use ramline_trace::generate::Skew;
//! assert_eq!("0.9".parse::<Skew>(), Ok(Skew { thousandths: 900 }));
//! assert_eq!(Skew { thousandths: 1250 }.to_string(), "1.25");
//! ```

use std::fmt;
use std::str::FromStr;

use ramline_evidence::rng::SplitMix64;

use super::power::inverse_power;

/// How unequal ranks are: 0 is all alike, 1 is the classic law.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Skew {
    /// The exponent times 1000, up to [`Skew::MOST`].
    pub thousandths: u32,
}

impl Skew {
    /// With 4, nine of ten draws are the first rank.
    pub const MOST: Skew = Skew { thousandths: 4000 };

    fn exponent(self) -> f64 {
        f64::from(self.thousandths) / 1000.0
    }
}

impl fmt::Display for Skew {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.exponent(), f)
    }
}

impl FromStr for Skew {
    type Err = String;

    fn from_str(text: &str) -> Result<Skew, String> {
        let wrong =
            || format!("'{}' is not a skew from 0 to 4 with up to three decimals, such as 0.9", text.escape_debug());
        let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
        let digits =
            |text: &str, most: usize| (1..=most).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole, 1) || !digits(part, 3) {
            return Err(wrong());
        }
        let thousandths = format!("{whole}{part:0<3}").parse().map_err(|_| wrong())?;
        let skew = Skew { thousandths };
        if skew <= Skew::MOST { Ok(skew) } else { Err(wrong()) }
    }
}

/// The table of a law over so many places.
#[derive(Debug, Clone)]
pub(super) struct Zipf {
    /// Of 2^32 draws of an entry, how many give its own rank.
    own: Vec<u32>,
    /// The rank the others give.
    other: Vec<u32>,
    /// The place of each rank.
    places: Vec<u32>,
}

/// While a law is made, of each place: its weight and its share, 8 bytes each; what else it gives; its entry in one of two stacks, which grow by doubling and
/// are copied meanwhile. What stays is 12 bytes.
pub(super) const BYTES_OF_A_PLACE: u64 = 8 + 8 + 4 + 12;

impl Zipf {
    /// A law over `places` places, whose ranks are scattered by `random`.
    pub(super) fn new(places: u32, skew: Skew, random: &mut SplitMix64) -> Zipf {
        let weights: Vec<f64> = (1..=places).map(|rank| inverse_power(rank, skew.exponent())).collect();
        let (own, other) = aliases(&weights);
        Zipf { own, other, places: scattered(places, random) }
    }

    /// A rank, from 0.
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the upper half is below the number of places; 32 bits of the lower are a coin"
    )]
    fn rank(&self, random: &mut SplitMix64) -> usize {
        let product = u128::from(random.next_u64()) * self.own.len() as u128;
        let (entry, coin) = ((product >> 64) as usize, (product >> 32) as u32);
        if coin < self.own[entry] { entry } else { self.other[entry] as usize }
    }

    /// A place.
    #[inline]
    pub(super) fn place(&self, random: &mut SplitMix64) -> u64 {
        u64::from(self.places[self.rank(random)])
    }

    /// A place when every rank has moved on by `shift`, which is below the number of places.
    #[inline]
    pub(super) fn moved(&self, shift: usize, random: &mut SplitMix64) -> u64 {
        let rank = self.rank(random) + shift;
        u64::from(self.places[if rank < self.places.len() { rank } else { rank - self.places.len() }])
    }

    /// How many places there are.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }
}

/// For each entry how often it gives itself, and what else it gives: entries below the mean are filled up from those above it.
#[expect(clippy::cast_precision_loss, reason = "a number of places has 32 bits")]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a share of 2^32, and a full one is u32::MAX"
)]
fn aliases(weights: &[f64]) -> (Vec<u32>, Vec<u32>) {
    let scale = weights.len() as f64 / weights.iter().sum::<f64>();
    let mut share: Vec<f64> = weights.iter().map(|weight| weight * scale).collect();
    let mut other: Vec<u32> = (0..).take(share.len()).collect();
    let (mut low, mut high): (Vec<u32>, Vec<u32>) = other.iter().partition(|entry| share[**entry as usize] < 1.0);
    while let (Some(under), Some(over)) = (low.pop(), high.last().copied()) {
        other[under as usize] = over;
        share[over as usize] -= 1.0 - share[under as usize];
        if share[over as usize] < 1.0 {
            high.pop();
            low.push(over);
        }
    }
    let own = share.iter().map(|share| (share * 4_294_967_296.0) as u32).collect();
    (own, other)
}

/// The numbers below `count` in an order by chance.
pub(super) fn scattered(count: u32, random: &mut SplitMix64) -> Vec<u32> {
    let mut all: Vec<u32> = (0..count).collect();
    for at in (1..all.len()).rev() {
        all.swap(at, below(at + 1, random));
    }
    all
}

/// For each number below `count` the next, in one circle through all of them (Sattolo's shuffle).
pub(super) fn circle(count: u32, random: &mut SplitMix64) -> Vec<u32> {
    let mut next: Vec<u32> = (0..count).collect();
    for at in (1..next.len()).rev() {
        next.swap(at, below(at, random));
    }
    next
}

#[expect(clippy::cast_possible_truncation, reason = "it is below a length")]
fn below(length: usize, random: &mut SplitMix64) -> usize {
    random.below(length as u64) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_drawn_as_often_as_the_law_says() {
        for thousandths in [0, 500, 900, 1200] {
            let skew = Skew { thousandths };
            let law = Zipf::new(1000, skew, &mut SplitMix64::new(1));
            let (mut random, mut seen, draws) = (SplitMix64::new(2), vec![0_u32; 1000], 4_000_000_u32);
            (0..draws).for_each(|_| seen[law.rank(&mut random)] += 1);
            let sum: f64 = (1..=1000).map(|rank| f64::from(rank).powf(-skew.exponent())).sum();
            for rank in [1_u32, 2, 3, 10, 100, 500, 1000] {
                let wanted = f64::from(draws) * f64::from(rank).powf(-skew.exponent()) / sum;
                let off = (f64::from(seen[rank as usize - 1]) - wanted).abs();
                assert!(off < 5.0 * wanted.sqrt(), "rank {rank}, skew {skew}: {off} off {wanted}");
            }
        }
    }

    #[test]
    fn every_place_has_one_rank_and_hot_ones_are_not_neighbours() {
        let law = Zipf::new(1000, Skew { thousandths: 900 }, &mut SplitMix64::new(3));
        let mut places = law.places.clone();
        let near = law.places.windows(2).take(100).filter(|pair| pair[0].abs_diff(pair[1]) < 16).count();
        places.sort_unstable();
        assert!(places.into_iter().eq(0..1000) && near < 10, "{near}");
    }

    #[test]
    fn a_shift_gives_the_place_of_a_later_rank_and_wraps() {
        let law = Zipf::new(10, Skew { thousandths: 0 }, &mut SplitMix64::new(3));
        let (mut one, mut two) = (SplitMix64::new(4), SplitMix64::new(4));
        for _ in 0..100 {
            let rank = law.rank(&mut one);
            assert_eq!(law.moved(7, &mut two), u64::from(law.places[(rank + 7) % 10]));
        }
    }

    #[test]
    fn what_is_no_skew_is_refused() {
        for (text, thousandths) in [("0", 0), ("1", 1000), ("0.99", 990), ("1.125", 1125), ("4", 4000)] {
            assert_eq!(text.parse(), Ok(Skew { thousandths }));
        }
        for text in ["", ".9", "-1", "4.001", "0.1234", "1e3", "nan", "12", "1."] {
            assert!(text.parse::<Skew>().is_err(), "{text}");
        }
    }
}
