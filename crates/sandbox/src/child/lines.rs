//! Lines of JSON between processes: bounded in length, read until the other side is gone.

use std::io::{BufRead, BufReader, Read, Write};
use std::sync::mpsc::Sender;

use crate::prelude::*;

/// Longest line in bytes; the counters of a machine are the longest.
pub const LONGEST: usize = 64 << 10;
/// The word that lets a waiting child go on.
pub const GO: &str = "go";

/// One line of a child.
#[derive(Debug, Serialize, Deserialize)]
pub enum ChildLine<T> {
    /// It goes on meanwhile.
    Report(T),
    /// It stands still until it is let go on.
    Waiting(T),
    /// It could not go on; why.
    Failed(String),
}

/// The next line without its end; `None` when the other side is gone. A longer one is cut, and each part taken for itself.
pub fn next(reader: &mut impl BufRead, longest: usize) -> Option<String> {
    let most = u64::try_from(longest).unwrap_or(u64::MAX).saturating_add(1);
    let mut bytes = Vec::new();
    reader.take(most).read_until(b'\n', &mut bytes).ok().filter(|read| *read > 0)?;
    Some(String::from_utf8_lossy(&bytes).trim_end().to_owned())
}

/// Begins a thread that passes on what `parse` makes of each line; others are passed over. `kind` names it, as in
/// [`ramline_kernel::worker`].
pub fn pass_on<T: Send + 'static>(
    kind: &'static str,
    from: impl Read + Send + 'static,
    longest: usize,
    to: Sender<T>,
    parse: impl Fn(&str) -> Option<T> + Send + 'static,
) -> JoinHandle<()> {
    ramline_kernel::worker::spawn(kind, move || {
        let mut reader = BufReader::new(from);
        while let Some(text) = next(&mut reader, longest) {
            if parse(&text).is_some_and(|line| to.send(line).is_err()) {
                return;
            }
        }
    })
}

/// A line of JSON; `None` for anything else.
#[must_use]
pub fn parse<T: DeserializeOwned>(text: &str) -> Option<T> {
    (text.len() <= LONGEST).then(|| ramline_units::json::parse(text).ok()).flatten()
}

/// Writes a line of JSON.
///
/// # Errors
/// The other side does not listen any more.
pub fn write(mut to: impl Write, line: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string(line).map_err(|error| LabError::Workload(error.to_string()))? + "\n";
    to.write_all(text.as_bytes())
        .and_then(|()| to.flush())
        .map_err(|error| LabError::Workload(format!("the other end is closed: {error}")))
}

/// The first line of an error, short enough to be sent.
#[must_use]
pub fn short(error: &LabError) -> String {
    error.to_string().lines().next().unwrap_or_default().chars().filter(|c| !c.is_control()).take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::net::UnixStream;
    use std::sync::mpsc::channel;

    #[test]
    fn a_line_without_end_is_cut_and_the_next_one_is_read() {
        let (ours, mut theirs) = UnixStream::pair().unwrap();
        let (sender, lines) = channel();
        let thread = pass_on("lines", ours, 10, sender, |text| Some(text.to_owned()));
        theirs.write_all(format!("{}\nend\n", "x".repeat(15)).as_bytes()).unwrap();
        drop(theirs);
        thread.join().unwrap();
        assert_eq!(lines.iter().collect::<Vec<_>>(), ["x".repeat(11), "x".repeat(4), "end".to_owned()]);
    }

    #[test]
    fn longer_lines_and_what_is_none_of_ours_are_passed_over() {
        let report: ChildLine<u64> = parse("{\"Report\":7}").unwrap();
        assert!(matches!(report, ChildLine::Report(7)));
        for text in ["", "{}", "thrashing", "\u{1b}[2J", &" ".repeat(LONGEST + 1)] {
            assert!(parse::<ChildLine<u64>>(text).is_none(), "{text}");
        }
    }

    #[test]
    fn an_error_is_sent_as_one_short_line() {
        let text = short(&LabError::Workload("\u{7f}é".repeat(500)));
        assert!(text.starts_with("the workload failed: é") && text.chars().count() == 300, "{text}");
    }
}
