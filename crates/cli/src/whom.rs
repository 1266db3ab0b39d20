//! A process by its id or its name, where a command takes one.
//!
//! What it is not: a filter. Of several processes with one name none is guessed: they are listed.

use ramline_gather::processes::{self, Named};

use crate::prelude::*;

/// So many are listed.
const LISTED: usize = 20;
/// Columns of a command line in the list.
const COLUMNS: usize = 70;

/// The id of the process; `command` is what takes one, for the hint.
///
/// # Errors
/// No process has the name, or several have.
pub fn one(root: &Root, text: &str, command: &str) -> Result<u32> {
    if let Ok(pid) = text.parse() {
        return Ok(pid);
    }
    let found = processes::named(root, text);
    match found.as_slice() {
        [one] => Ok(one.pid),
        _ => Err(Failure::usage(refusal(text, &found, command)).into()),
    }
}

fn refusal(name: &str, found: &[Named], command: &str) -> String {
    let name = ramline_view::escape(name);
    let Some(first) = found.first() else {
        return format!("no process has the id or the name '{name}'\n  try: ramline show processes --by process");
    };
    let mut out = format!("{} processes have the name '{name}', and one is needed:\n", found.len());
    for Named { pid, command } in found.iter().take(LISTED) {
        let command: String = command.chars().take(COLUMNS).collect();
        out.push_str(&format!("  {pid:>7}  {}\n", ramline_view::escape(&command)));
    }
    if found.len() > LISTED {
        out.push_str(&format!("  and {} more\n", found.len() - LISTED));
    }
    format!("{out}  try: {command} {}", first.pid)
}

/// Who asked for what is done: the user before sudo or doas, else the one of this process.
pub fn asked() -> String {
    let named = |name: &str| std::env::var(name).ok().filter(|user| !user.is_empty());
    named("SUDO_USER").or_else(|| named("DOAS_USER")).or_else(|| named("LOGNAME")).unwrap_or_else(|| {
        match ramline_kernel::process::uid() {
            0 => "root".to_owned(),
            uid => format!("user {uid}"),
        }
    })
}

/// Refuses a command that only root can do, before anything is looked at; the hint is the same command.
///
/// # Errors
/// This user is not root.
pub fn must_be_root(command: &str, why: &str) -> Result<()> {
    if process::uid() == 0 {
        return Ok(());
    }
    let words: Vec<String> = std::env::args().skip(1).map(|word| ramline_units::quoted(&word).into_owned()).collect();
    let text = format!("'{command}' needs root: {why}\n  try: sudo ramline {}", words.join(" "));
    Err(Failure::new(exit::PRIVILEGE, text).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_are_listed_and_none_is_guessed() {
        let list: Vec<Named> = (1..=22).map(|pid| Named { pid, command: format!("sh -c {pid}") }).collect();
        let text = refusal("sh", &list, "ramline show maps");
        assert!(
            text.starts_with("22 processes have the name 'sh', and one is needed:\n        1  sh -c 1\n"),
            "{text}"
        );
        assert!(text.ends_with("  and 2 more\n  try: ramline show maps 1"), "{text}");
        assert!(refusal("nix", &[], "x").starts_with("no process has the id or the name 'nix'\n"));
    }
}
