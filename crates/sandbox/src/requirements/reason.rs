//! Why something cannot begin, and the one command that helps against it.

use crate::error::first_line;
use crate::prelude::*;

/// We are not root.
#[must_use]
pub fn is_unprivileged() -> bool {
    process::uid() != 0
}

/// Whose commands are proposed, and its options that ask for less.
#[derive(Debug, Clone, Copy, Default)]
pub struct Caller<'a> {
    /// The command: `ramline lab run eat-memory`.
    pub command: &'a str,
    /// Options that need less memory and disk.
    pub smaller: &'a str,
    /// Options that make no swap area.
    pub without_swap: &'a str,
}

impl Caller<'_> {
    /// The command with options.
    #[must_use]
    pub fn with(&self, options: &str) -> String {
        format!("{} {options}", self.command).trim_end().to_owned()
    }

    /// What helps against a lack.
    #[must_use]
    pub fn hint(&self, lack: Lack) -> String {
        match lack {
            Lack::Privilege => format!("sudo {}", self.command),
            Lack::Memory | Lack::Disk => self.with(self.smaller),
            Lack::Place => self.with("--dir /var/tmp"),
            Lack::Swap => self.with(self.without_swap),
            Lack::Quiet => self.with("--allow-busy"),
        }
    }
}

/// What is missing, where the caller's own command helps.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lack {
    /// Root.
    Privilege,
    /// Memory that can be taken.
    Memory,
    /// Space on the disk.
    Disk,
    /// A directory that will do.
    Place,
    /// A swap area of our own that is used, and used alone.
    Swap,
    /// A machine that does nothing else.
    Quiet,
}

/// A reason not to begin, and the one command that helps against it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reason {
    /// What is missing, with the numbers.
    pub text: String,
    /// A complete command.
    pub hint: String,
    /// What is missing is privilege.
    pub privilege: bool,
}

impl Reason {
    /// Anything but privilege.
    pub fn new(text: impl Into<String>, hint: impl Into<String>) -> Reason {
        Reason { text: text.into(), hint: hint.into(), privilege: false }
    }

    /// Privilege.
    pub fn privilege(text: impl Into<String>, hint: impl Into<String>) -> Reason {
        Reason { privilege: true, ..Reason::new(text, hint) }
    }

    /// A program that is not where programs are looked for.
    #[must_use]
    pub fn no_program(program: &str) -> Reason {
        Reason::new(
            format!("there is no program '{}'", program.escape_debug()),
            format!("command -v {}", ramline_units::quoted(program)),
        )
    }

    /// An error of the kernel.
    pub fn because(error: &KernelError, hint: impl Into<String>) -> Reason {
        Reason { privilege: error.is_denied(), ..Reason::new(first_line(&error.to_string()), hint) }
    }
}

/// All of them, with the hint of the first; `otherwise` when there is none.
#[must_use]
pub fn refused(reasons: Vec<Reason>, otherwise: &str) -> LabError {
    LabError::Refused {
        hint: reasons.first().map_or_else(|| otherwise.to_owned(), |reason| reason.hint.clone()),
        privilege: reasons.iter().any(|reason| reason.privilege),
        reasons: reasons.into_iter().map(|reason| reason.text).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_gives_the_hint_of_its_first_reason_and_all_reasons() {
        let error = refused(vec![Reason::privilege("not root", "sudo x"), Reason::new("busy", "wait")], "y");
        assert!(matches!(&error, LabError::Refused { privilege: true, hint, .. } if hint == "sudo x"), "{error}");
        // To root it is the same without sudo.
        let hint = ramline_kernel::error::for_this_user("sudo x").unwrap();
        let end = format!("- not root\n  - busy\n  try: {hint}");
        assert!(error.to_string().ends_with(&end), "{error}");
    }

    #[test]
    fn the_caller_is_proposed_and_nobody_else() {
        let caller = Caller { command: "ramline lab run x", smaller: "--size 1MiB", without_swap: "" };
        assert_eq!(caller.hint(Lack::Privilege), "sudo ramline lab run x");
        assert_eq!(caller.hint(Lack::Disk), "ramline lab run x --size 1MiB");
        assert_eq!(caller.hint(Lack::Swap), "ramline lab run x");
    }
}
