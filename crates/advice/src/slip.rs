//! Whether a word that is no name may be a name mistyped.
//!
//! Worked example: `swapiness` is near `swappiness`, `swap` is not near `slab`.

/// The distance of a name from what was typed, where that is near enough to be a slip; short words are near to anything, so of up
/// to five letters one may differ, of more half of them.
#[must_use]
pub fn slip(typed: &str, name: &str) -> Option<usize> {
    let near = match typed.chars().count() {
        0..=5 => 1,
        letters => letters / 2,
    };
    Some(strsim::levenshtein(name, typed)).filter(|far| *far <= near)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slip_of_a_short_word_is_one_letter() {
        assert_eq!((slip("swap", "swup"), slip("swap", "slab")), (Some(1), None));
        assert_eq!((slip("page tabels", "page tables"), slip("page tabels", "watermarks")), (Some(2), None));
    }
}
