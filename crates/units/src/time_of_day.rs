//! Whether a word is a time of day, as people type one.

/// `00:46` or `00:46:30`.
#[must_use]
pub fn is_time_of_day(word: &str) -> bool {
    let parts: Vec<&str> = word.split(':').collect();
    let is_below = |part: &str, most: u32| part.len() <= 2 && part.parse::<u32>().is_ok_and(|number| number < most);
    matches!(parts.as_slice(), [hour, rest @ ..] if (1..=2).contains(&rest.len()) && is_below(hour, 24) && rest.iter().all(|part| is_below(part, 60)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_and_minutes_with_or_without_seconds_are_a_time() {
        assert!(["00:46", "9:05", "23:59:59"].iter().all(|word| is_time_of_day(word)));
        assert!(!["24:00", "00:61", "00", "vm:swappiness", "00:46:30:1", ":"].iter().any(|word| is_time_of_day(word)));
    }
}
