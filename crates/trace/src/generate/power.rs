//! Powers of whole numbers, to the last bit the same on every machine.
//!
//! A library's `powf` may differ in the last bit from one C library to the next, and then a table built on it draws other pages. Here are only
//! the four operations whose result IEEE 754 fixes.

use std::f64::consts::LN_2;

/// `base` to the power of minus `exponent`; for a base from 1 and an exponent that is not negative.
pub(super) fn inverse_power(base: u32, exponent: f64) -> f64 {
    exp_of_minus(exponent * ln(base))
}

/// The natural logarithm: 2^e m has e ln 2 + ln m, and ln m = 2 artanh((m - 1) / (m + 1)).
fn ln(number: u32) -> f64 {
    let number = number.max(1);
    let mut exponent = number.ilog2();
    let mut mantissa = f64::from(number);
    for _ in 0..exponent {
        mantissa *= 0.5;
    }
    if mantissa > 1.5 {
        (mantissa, exponent) = (mantissa * 0.5, exponent + 1);
    }
    // |z| is at most 1/5, so 13 terms go below the last bit.
    let z = (mantissa - 1.0) / (mantissa + 1.0);
    let square = z * z;
    let series = (0..13_u32).rev().fold(0.0, |sum, term| sum * square + 1.0 / f64::from(2 * term + 1));
    f64::from(exponent) * LN_2 + 2.0 * z * series
}

/// e to the power of minus `y`: halved for each ln 2 in it, and a series for the rest.
fn exp_of_minus(y: f64) -> f64 {
    let (mut rest, mut power) = (y, 1.0);
    while rest >= LN_2 {
        (rest, power) = (rest - LN_2, power * 0.5);
    }
    power * (1..=20_u32).rev().fold(1.0, |sum, term| 1.0 - sum * rest / f64::from(term))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_agree_with_those_of_the_library() {
        for base in [1, 2, 3, 7, 1000, 24_576, 1 << 20, u32::MAX] {
            for exponent in [0.0, 0.5, 0.9, 1.0, 1.2, 2.0, 4.0] {
                let (ours, theirs) = (inverse_power(base, exponent), f64::from(base).powf(-exponent));
                assert!((ours / theirs - 1.0).abs() < 1e-12, "{base}^-{exponent}: {ours} {theirs}");
            }
        }
    }
}
