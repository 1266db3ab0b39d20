//! The one command that an error proposes, as whole as the one that was given: with all its options, and what follows `--`.
//!
//! The lab knows which option would help, and not what else was on the command line; here both come together.
//!
//! Worked example: `ramline lab run knee --within 30% -- gcc x.c` is refused on a busy machine with `ramline lab run knee --allow-busy`;
//! what is proposed is `ramline lab run knee --within 30% --allow-busy -- gcc x.c`.

use ramline_evidence::{RunRecord, Verdict};
use ramline_lab::LabError;
use ramline_units::{Bytes, command_line};

/// This command line, as it was given.
#[must_use]
pub fn given() -> Vec<String> {
    std::iter::once("ramline".to_owned()).chain(std::env::args().skip(1)).collect()
}

/// Makes what an error proposes whole, where that is `base` with more options: they are put into `words`.
#[must_use]
pub fn whole(error: LabError, base: &str, words: &[String]) -> LabError {
    error.completed(|hint| {
        let (sudo, plain) = hint.strip_prefix("sudo ").map_or(("", hint), |plain| ("sudo ", plain));
        match plain.strip_prefix(base) {
            Some(more) if more.is_empty() || more.starts_with(' ') => {
                // A command that is repeated there stands in the words already; where none was given, one is proposed.
                let (more, command) =
                    more.split_once(" -- ").map_or((more, None), |(more, command)| (more, Some(command)));
                let has_none = words.iter().position(|word| word == "--").is_none_or(|end| end + 1 == words.len());
                let bare: Vec<String> = words.iter().filter(|word| *word != "--").cloned().collect();
                let (words, command) = match command.filter(|_| has_none) {
                    Some(command) => (bare.as_slice(), format!(" -- {command}")),
                    None => (words, String::new()),
                };
                format!("{sudo}{}{command}", with(words, &more.split_whitespace().collect::<Vec<_>>()))
            }
            _ => hint.to_owned(),
        }
    })
}

/// The words with these options, which take the place of the same ones.
#[must_use]
pub fn with(words: &[String], more: &[&str]) -> String {
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    let (before, after) = words.split_at(end);
    let named = |word: &str| {
        let name = word.split('=').next().unwrap_or(word);
        // The option has two names.
        if name == "--settings" { "--arms".to_owned() } else { name.to_owned() }
    };
    let is_set = |word: &str| {
        word.starts_with("--") && more.iter().any(|new| new.starts_with("--") && named(new) == named(word))
    };
    let mut kept: Vec<String> = Vec::new();
    let mut at = before.iter().peekable();
    while let Some(word) = at.next() {
        if !is_set(word) {
            kept.push(word.clone());
        } else if !word.contains('=') {
            // Its value.
            at.next_if(|next| !next.starts_with('-'));
        }
    }
    // The lab alone knows what is compared by its old name too.
    let old = words.get(1).is_some_and(|word| word == "lab");
    let here = |word: &&str| if *word == "--arms" && !old { "--settings".to_owned() } else { (*word).to_owned() };
    kept.extend(more.iter().map(here));
    kept.extend(after.iter().cloned());
    command_line(&kept)
}

/// A size as it is shown, `85.5 MiB`.
#[must_use]
pub fn shown(text: &str) -> Option<Bytes> {
    let (number, unit) = text.split_once(' ')?;
    let one: Bytes = format!("1{unit}").parse().ok()?;
    let (whole, part) = number.split_once('.').unwrap_or((number, "0"));
    // It is shown with one place after the point.
    let tenths = whole.parse::<u64>().ok()?.checked_mul(10)?.checked_add(part.get(..1)?.parse().ok()?)?;
    Some(Bytes(one.0.checked_mul(tenths)? / 10))
}

/// Why runs under a limit decide nothing, and the command that may: where none came to its end, with a limit halfway to what it uses.
#[must_use]
pub fn after(records: &[RunRecord], why: String, words: &[String]) -> (String, String) {
    let ended = records.iter().any(|run| run.verdict == Verdict::Completed);
    let used = records.iter().find_map(|run| shown(run.verified.get("used without a limit")?));
    let (Some(first), Some(used), false) = (records.first(), used, ended) else { return (why, with(words, &[])) };
    let killed = records.iter().filter(|run| matches!(run.verdict, Verdict::Killed(_))).count();
    let limit = first.workload.limit;
    let how = if killed == records.len() { "was killed" } else { "did not come to its end" };
    let more = format!("{}MiB", ((limit + used).0 / 2).div_ceil(1 << 20));
    let why = format!("at {limit} it {how} under every setting; without a limit it uses {used}");
    (why, with(words, &["--memory", &more]))
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_command_outside_the_lab_gets_the_name_of_the_option_that_it_has() {
        let given = words("ramline tune plan zram --judge --settings swap:60 -- x");
        let line = with(&given, &["--arms", "no-swap"]);
        assert_eq!(line, "ramline tune plan zram --judge --settings no-swap -- x");
    }

    #[test]
    fn a_size_is_read_as_it_is_shown() {
        assert_eq!(
            [shown("85.5 MiB"), shown("512 B"), shown("1.5 GiB")],
            [Some(Bytes(89_653_248)), Some(Bytes(512)), Some(Bytes::from_mib(1536))]
        );
        assert_eq!([shown("85.5MiB"), shown("x MiB"), shown("")], [None; 3]);
    }

    #[test]
    fn where_no_run_came_to_its_end_a_limit_halfway_to_the_use_is_proposed() {
        let mut run = RunRecord { verdict: Verdict::Killed("oom".into()), ..RunRecord::default() };
        run.workload.limit = Bytes::from_mib(57);
        run.verified.insert("used without a limit".to_owned(), "85.5 MiB".to_owned());
        let (why, hint) =
            after(&[run.clone(), run], String::new(), &words("ramline tune plan --judge --memory 57MiB -- java Heap"));
        assert_eq!(why, "at 57.0 MiB it was killed under every setting; without a limit it uses 85.5 MiB");
        assert_eq!(hint, "ramline tune plan --judge --memory 72MiB -- java Heap");
    }

    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn proposed(hint: &str, given: &[String]) -> String {
        let error = whole(LabError::refused(vec!["no".to_owned()], hint), "ramline lab run knee", given);
        error.to_string().lines().last().unwrap_or_default().trim().trim_start_matches("try: ").to_owned()
    }

    #[test]
    fn the_option_that_helps_is_put_before_the_command_and_the_rest_stays() {
        let given =
            [words("ramline lab run knee --within 30% --prove --"), vec!["sh".into(), "-c".into(), "a b".into()]]
                .concat();
        assert_eq!(
            proposed("ramline lab run knee --allow-busy", &given),
            "ramline lab run knee --within 30% --prove --allow-busy -- sh -c 'a b'"
        );
        assert_eq!(proposed("ramline show memory", &given), "ramline show memory");
        assert_eq!(proposed("ramline lab run knees", &given), "ramline lab run knees");
    }

    #[test]
    fn an_option_takes_the_place_of_the_same_one() {
        let given = words("ramline lab run knee --within=10% --settings a,b --runs 3 -- x");
        let new = "ramline lab run knee --within 20% --arms c -- x";
        assert_eq!(proposed(new, &given), "ramline lab run knee --runs 3 --within 20% --arms c -- x");
    }
}
