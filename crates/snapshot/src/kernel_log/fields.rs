//! Words of a line: `key:value` pairs with their unit, and numbers.

/// The unit behind a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    /// Nothing: pages or a count.
    Bare,
    /// `kB` or `KB`, which is KiB.
    Kib,
}

/// A key, its number and its unit.
pub(super) type Pair<'a> = (&'a str, u64, Unit);

/// The pairs of a line, in order. A number that is cut (`12704k`, `4B`) is no pair; `key: 0kB` is one.
pub(super) fn pairs(text: &str) -> Vec<Pair<'_>> {
    let mut out = Vec::new();
    let mut words = text.split_whitespace().map(|word| word.trim_end_matches(','));
    while let Some(word) = words.next() {
        let pair = match word.strip_suffix(':') {
            Some(key) if is_key(key) => words.clone().next().and_then(quantity).map(|(value, unit)| (key, value, unit)),
            Some(_) => None,
            None => word.rsplit_once(':').filter(|(key, _)| is_key(key)).and_then(|(key, value)| {
                let (value, unit) = quantity(value)?;
                Some((key, value, unit))
            }),
        };
        out.extend(pair);
    }
    out
}

fn is_key(key: &str) -> bool {
    let mut letters = key.chars();
    letters.next().is_some_and(|first| first.is_ascii_alphabetic())
        && letters.all(|c| c.is_ascii_alphanumeric() || "_()-+".contains(c))
}

/// A number with its unit; `None` where the unit is cut or another.
pub(super) fn quantity(text: &str) -> Option<(u64, Unit)> {
    let (digits, unit) = split_number(text)?;
    match unit {
        "" => Some((digits, Unit::Bare)),
        "kB" | "KB" => Some((digits, Unit::Kib)),
        _ => None,
    }
}

/// The number a text begins with, and the rest.
pub(super) fn split_number(text: &str) -> Option<(u64, &str)> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text.get(..end)?.parse().ok()?, text.get(end..)?))
}

/// The first number behind a mark.
pub(super) fn number_after(text: &str, mark: &str) -> Option<u64> {
    let (_, rest) = text.split_once(mark)?;
    Some(split_number(rest.trim_start_matches([' ', '=', '"']))?.0)
}

/// The text between two marks.
pub(super) fn between<'a>(text: &'a str, from: &str, to: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(from)?;
    Some(rest.split_once(to)?.0)
}

/// A name or path from a log, as long as is kept.
pub(super) fn clip(text: &str, most: usize) -> String {
    text.chars().take(most).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_that_is_cut_is_no_pair_and_a_blank_before_it_is_none() {
        let got = pairs(
            "active_anon:12kB isolated(anon):0kB shmem_thp: 4kB all_unreclaimable? no free_cma:7 local_pcp:12k cut:4B",
        );
        let want = [
            ("active_anon", 12, Unit::Kib),
            ("isolated(anon)", 0, Unit::Kib),
            ("shmem_thp", 4, Unit::Kib),
            ("free_cma", 7, Unit::Bare),
        ];
        assert_eq!(got, want);
    }
}
