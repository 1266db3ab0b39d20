//! `sysctl.d`: one `key = value` a line.

use super::{LeftAlone, OWN, joined, line_end, lines};

/// The text with `key` set: its last line is changed, or one is added at the end.
///
/// # Errors
/// A value that would end the line.
pub fn set(text: Option<&str>, key: &str, value: &str) -> Result<String, LeftAlone> {
    if value.contains(['\n', '\r', '\0']) {
        return Err(LeftAlone { line: 1, rule: format!("'{}' is no value", value.escape_debug()) });
    }
    let text = text.unwrap_or(OWN);
    let (own, end) = (format!("{key} = {value}"), line_end(text));
    let mut all: Vec<(&str, &str)> = lines(text).collect();
    match all.iter().rposition(|(line, _)| sets(line, key)) {
        Some(number) => all[number].0 = &own,
        None => all.push((&own, end)),
    }
    Ok(joined(all, end))
}

/// `vm.swappiness=1`, `-vm/swappiness = 1` and their like set `vm.swappiness`.
fn sets(line: &str, key: &str) -> bool {
    let line = line.trim_start();
    let name = line.strip_prefix('-').unwrap_or(line).split_once('=').map(|(name, _)| name.trim().replace('/', "."));
    name.as_deref() == Some(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_of_a_key_is_changed_and_all_others_stay() {
        let text = "# mine\nvm.swappiness=1\n\nvm/swappiness = 10\nvm.dirty_ratio = 5\n";
        assert_eq!(
            set(Some(text), "vm.swappiness", "133").unwrap(),
            "# mine\nvm.swappiness=1\n\nvm.swappiness = 133\nvm.dirty_ratio = 5\n"
        );
    }

    #[test]
    fn a_key_that_is_not_there_is_added_and_a_new_file_says_whose_it_is() {
        assert_eq!(set(Some("a = 1"), "vm.x", "2").unwrap(), "a = 1\nvm.x = 2\n");
        assert_eq!(set(None, "vm.x", "2").unwrap(), format!("{OWN}vm.x = 2\n"));
    }

    #[test]
    fn lines_keep_their_ends_and_a_new_one_ends_as_they_do() {
        let text = "# mine\r\nvm.swappiness=1\r\nvm.dirty_ratio = 5\r\n";
        assert_eq!(
            set(Some(text), "vm.swappiness", "133").unwrap(),
            "# mine\r\nvm.swappiness = 133\r\nvm.dirty_ratio = 5\r\n"
        );
        assert_eq!(set(Some(text), "vm.x", "2").unwrap(), format!("{text}vm.x = 2\r\n"));
        assert_eq!(set(Some("a = 1\r\nb = 2\n\r\n"), "b", "3").unwrap(), "a = 1\r\nb = 3\n\r\n");
        assert_eq!(set(Some(""), "b", "3").unwrap(), "b = 3\n");
    }

    #[test]
    fn a_value_of_two_lines_is_refused() {
        assert!(set(None, "vm.x", "1\nkernel.core_pattern = |/bin/sh").is_err());
    }
}
