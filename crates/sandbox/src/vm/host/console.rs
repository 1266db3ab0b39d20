//! What a guest's console tells of how it fares.

use std::collections::VecDeque;

use super::super::message::{FIRST_LINE, TROUBLE};

/// Lines of the console that are kept.
const TAIL: usize = 30;

/// What is told by a guest's console.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Console {
    /// Its last lines.
    pub tail: VecDeque<String>,
    /// Its first line has come.
    pub is_up: bool,
    trouble: Option<String>,
    panic: Option<String>,
}

impl Console {
    /// Takes in one line.
    pub fn hear(&mut self, line: &str) {
        let text = without_stamp(line);
        self.is_up |= text.contains(FIRST_LINE);
        if let Some((_, why)) = text.split_once("Kernel panic - not syncing: ") {
            self.panic.get_or_insert_with(|| why.to_owned());
        } else if let Some((_, why)) = text.split_once(TROUBLE) {
            self.trouble.get_or_insert_with(|| why.to_owned());
        } else if ["BUG: ", "Oops: ", "general protection fault", "kernel BUG at "]
            .iter()
            .any(|mark| text.contains(mark))
        {
            self.trouble.get_or_insert_with(|| text.to_owned());
        }
        if self.tail.len() == TAIL {
            self.tail.pop_front();
        }
        self.tail.push_back(line.to_owned());
    }

    /// Why the guest ended without a result, as far as its console tells.
    #[must_use]
    pub fn why(&self) -> Option<String> {
        let before = self.trouble.as_ref().map_or_else(String::new, |first| format!("; before that: {first}"));
        match (&self.panic, &self.trouble) {
            (Some(panic), _) => Some(format!("the guest's kernel panicked: {panic}{before}")),
            (None, Some(trouble)) => Some(format!("the guest could not go on: {trouble}")),
            (None, None) => None,
        }
    }
}

/// `[    1.234567] text` is `text`.
fn without_stamp(line: &str) -> &str {
    line.strip_prefix('[').and_then(|rest| rest.split_once("] ")).map_or(line, |(_, text)| text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_the_result_with_the_oops_that_led_to_it() {
        let mut console = Console::default();
        console.hear("[    0.5] Linux version 6.12");
        assert_eq!(console.why(), None);
        console.hear("[   12.345678] BUG: kernel NULL pointer dereference, address: 0000000000000000");
        console.hear("[   12.400000] Kernel panic - not syncing: Fatal exception");
        assert_eq!(
            console.why().unwrap(),
            "the guest's kernel panicked: Fatal exception; before that: BUG: kernel NULL pointer dereference, address: 0000000000000000"
        );
    }

    #[test]
    fn what_the_guest_says_of_itself_is_the_reason_and_its_last_lines_are_kept() {
        let mut console = Console::default();
        (0..100).for_each(|n| console.hear(&format!("line {n}")));
        console.hear(&format!("{TROUBLE}cannot load the module /x.ko"));
        assert_eq!(console.why().unwrap(), "the guest could not go on: cannot load the module /x.ko");
        assert_eq!((console.tail.len(), console.tail[0].as_str()), (TAIL, "line 71"));
    }
}
