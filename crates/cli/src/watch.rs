//! `--watch`: the same screen again and again, until Ctrl-C.
//!
//! On a terminal each look is drawn over the one before, and what does not fit below is counted; nothing of the terminal is switched, so
//! there is nothing to put back. In a pipe they follow each other, a line with the time between them; as JSON, one document a line.
//! What it is not: a live screen with keys.
//!
//! Worked example: of a screen of 30 lines on a terminal of 24, the first 21 are drawn, below a line with the time and above one that
//! says that there are more. The last line stays empty, for the cursor.

use std::time::{SystemTime, UNIX_EPOCH};

use crate::prelude::*;
use crate::terminal;

/// A signal is seen after so long.
const SLICE: Duration = Duration::from_millis(100);

/// Looks every so often until a signal comes or nobody reads any more; the exit code is that of the last look.
///
/// # Errors
/// Those of a look; stdout cannot be written.
pub fn repeat(every: Duration, mut look: impl FnMut() -> Result<Shown>) -> Result<u8> {
    signals::install();
    let mut code = exit::DONE;
    let mut begun = Instant::now();
    let mut first = true;
    while !signals::interrupted() {
        let shown = look()?;
        code = shown.code;
        match terminal::height_to_redraw().filter(|_| !shown.json) {
            Some(height) => output::redraw(&frame(&heading(every), &shown.text, height))?,
            None => {
                if !first && !shown.json {
                    output::text(&format!("\n-- {}, {every:?} later --\n", clock()))?;
                }
                shown.print()?;
            }
        }
        if output::reader_is_gone() {
            break;
        }
        first = false;
        begun = wait(begun + every);
    }
    Ok(code)
}

/// `--watch` alone is every 2 s. Its time is optional, so that the word behind it would be taken for one: `show --watch tiers`.
pub fn with_its_time(words: Vec<OsString>) -> Vec<OsString> {
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let is_time =
        |at: usize| words.get(at).and_then(|word| word.to_str()).is_some_and(|word| duration::parse(word).is_ok());
    let alone: Vec<bool> = (0..words.len()).map(|at| at < end && words[at] == "--watch" && !is_time(at + 1)).collect();
    words.into_iter().zip(alone).map(|(word, alone)| if alone { "--watch=2".into() } else { word }).collect()
}

/// Waits for this moment, or a signal; a look that took longer than its turn is not made up for.
pub fn wait(until: Instant) -> Instant {
    while !signals::interrupted() {
        let left = until.saturating_duration_since(Instant::now());
        if left.is_zero() {
            break;
        }
        std::thread::sleep(left.min(SLICE));
    }
    until.max(Instant::now())
}

fn heading(every: Duration) -> String {
    format!("{}, every {every:?}; Ctrl-C ends it", clock())
}

/// The time of day in UTC: a local one would need the time zone's file.
pub fn clock() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()) % 86_400;
    format!("{:02}:{:02}:{:02} UTC", seconds / 3600, seconds / 60 % 60, seconds % 60)
}

/// What fits.
fn frame<'a>(heading: &'a str, text: &'a str, height: usize) -> Vec<&'a str> {
    let mut lines = vec![heading];
    let room = height.saturating_sub(2);
    let all = text.lines().count();
    let fits = all <= room;
    lines.extend(text.lines().take(if fits { all } else { room.saturating_sub(1) }));
    if !fits {
        lines.push("... more lines than fit: a higher window shows them, and so does a pipe");
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screen_that_is_too_high_says_so_and_leaves_the_last_line_free() {
        let text = "1\n2\n3\n4\n5\n";
        assert_eq!(frame("now", text, 7), ["now", "1", "2", "3", "4", "5"]);
        let cut = frame("now", text, 6);
        assert_eq!((cut.len(), &cut[..4]), (5, &["now", "1", "2", "3"][..]));
        assert!(cut[4].contains("more lines"));
        assert_eq!(frame("now", text, 2).len(), 2);
    }

    #[test]
    fn a_word_that_is_no_time_is_not_taken_for_one() {
        let given = |text: &str| {
            let words = with_its_time(text.split(' ').map(OsString::from).collect());
            words.iter().map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(given("show --watch tiers"), "show --watch=2 tiers");
        assert_eq!(given("show tiers --watch"), "show tiers --watch=2");
        assert_eq!(given("show --watch 500ms tiers"), "show --watch 500ms tiers");
        assert_eq!(given("cache run -- x --watch y"), "cache run -- x --watch y");
    }

    #[test]
    fn the_time_of_day_has_its_zone() {
        let clock = clock();
        assert!(clock.len() == 12 && clock.ends_with(" UTC"), "{clock}");
    }
}
