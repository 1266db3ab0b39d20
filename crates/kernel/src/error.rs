//! The one error of this crate: what was tried, on which object, the cause, and one command to try.
//!
//! Callers decide by [`Cause`], not by its text.
//!
//! ```
//! use ramline_kernel::KernelError;
//! let error = KernelError::io("open", "/dev/zram1", std::io::Error::from_raw_os_error(13)).hint("sudo ramline lab run");
//! assert!(error.is_denied());
//! // To root, `sudo` is not proposed.
//! assert!(error.to_string().starts_with("cannot open /dev/zram1: permission denied"));
//! ```

use std::{fmt, io};

use ramline_units::escape;

use crate::prelude::*;

/// What every function of this crate returns.
pub type Result<T, E = KernelError> = std::result::Result<T, E>;

/// Why the kernel (or we ourselves) did not do it.
#[derive(Debug)]
pub enum Cause {
    /// EACCES or EPERM: more privilege would help.
    Denied,
    /// The object does not exist (ENOENT, ENODEV, ENXIO).
    Absent,
    /// We refused before touching anything: the rule and the numbers it was judged by.
    Refused {
        /// What must be so.
        rule: String,
        /// What was found; may be empty.
        numbers: String,
    },
    /// Any other error of a system call.
    Io(io::Error),
    /// This kernel, file system or program lacks the feature.
    Unsupported {
        /// What is missing.
        feature: String,
    },
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Cause::Denied => f.write_str("permission denied"),
            Cause::Absent => f.write_str("it does not exist"),
            Cause::Refused { rule, numbers } if numbers.is_empty() => write!(f, "refused: {}", shortened(rule)),
            Cause::Refused { rule, numbers } => write!(f, "refused: {} ({})", shortened(rule), shortened(numbers)),
            Cause::Io(error) => error.fmt(f),
            Cause::Unsupported { feature } => write!(f, "not supported here: {}", escape(feature)),
        }
    }
}

/// An operation on an object that did not succeed.
#[derive(Debug, thiserror::Error)]
#[error("cannot {} {}: {cause}{}", escape(.operation), shortened(.object), hint_line(.try_hint.as_deref()))]
pub struct KernelError {
    /// A verb: `open`, `attach a loop device to`.
    pub operation: String,
    /// What it was done to, usually a path.
    pub object: String,
    /// Why not.
    pub cause: Cause,
    /// One command that helps, if we know one.
    pub try_hint: Option<String>,
}

/// A command that helps, for this user: to root `sudo` is not proposed, and the same command again with more privilege is no advice.
#[must_use]
pub fn for_this_user(hint: &str) -> Option<String> {
    if rustix::process::geteuid().is_root() { for_root(hint) } else { Some(hint.to_owned()) }
}

fn for_root(hint: &str) -> Option<String> {
    (!hint.starts_with("sudo ramline")).then(|| hint.strip_prefix("sudo ").unwrap_or(hint).replace("| sudo ", "| "))
}

fn hint_line(hint: Option<&str>) -> String {
    hint.and_then(for_this_user).map(|hint| format!("\n  try: {}", shortened(&hint))).unwrap_or_default()
}

/// What shows why a place takes no more; `None` where the error is another one.
fn hint_for(errno: Option<i32>, object: &Path) -> Option<String> {
    let dir = object.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    match errno? {
        libc::ENOSPC => Some(format!("df -h {0}; df -i {0}", dir.display())),
        libc::EDQUOT => Some("quota -s".to_owned()),
        libc::EROFS => Some(format!("findmnt -T {}; name a place that can be written", dir.display())),
        libc::EFBIG => Some("ulimit -f unlimited, and the command again".to_owned()),
        _ => None,
    }
}

/// On one line, as names are printed. No name of a file is longer; what is, comes from a forged list and would bury the rest of the message.
fn shortened(object: &str) -> std::borrow::Cow<'_, str> {
    // linux/limits.h: PATH_MAX
    const MOST: usize = 4096;
    const SHOWN: usize = 200;
    if object.len() <= MOST {
        return escape(object);
    }
    let begin: String = object.chars().take(SHOWN).collect();
    format!("{}... ({} bytes)", escape(&begin), object.len()).into()
}

/// Turns an error of the system into one that says what was tried.
pub trait Tried<T> {
    /// `operation` on `object` did not succeed.
    ///
    /// # Errors
    /// As [`KernelError::io`] classifies it.
    fn tried(self, operation: impl Into<String>, object: impl AsRef<Path>) -> Result<T>;
}

impl<T, E: Into<io::Error>> Tried<T> for std::result::Result<T, E> {
    fn tried(self, operation: impl Into<String>, object: impl AsRef<Path>) -> Result<T> {
        self.map_err(|error| KernelError::io(operation, object, error.into()))
    }
}

impl KernelError {
    /// Classifies an error of a system call. Where a place is full or limited, a command that shows it comes along.
    pub fn io(operation: impl Into<String>, object: impl AsRef<Path>, error: io::Error) -> KernelError {
        let try_hint = hint_for(error.raw_os_error(), object.as_ref());
        let cause = match error.raw_os_error() {
            Some(libc::EACCES | libc::EPERM) => Cause::Denied,
            Some(libc::ENOENT | libc::ENODEV | libc::ENXIO) => Cause::Absent,
            Some(libc::ENOSYS | libc::EOPNOTSUPP) => Cause::Unsupported { feature: error.to_string() },
            _ => Cause::Io(error),
        };
        KernelError { try_hint, ..KernelError::new(operation, object, cause) }
    }

    /// Refused by a rule of ours, before anything was touched.
    pub fn refused(
        operation: impl Into<String>,
        object: impl AsRef<Path>,
        rule: impl Into<String>,
        numbers: impl Into<String>,
    ) -> KernelError {
        KernelError::new(operation, object, Cause::Refused { rule: rule.into(), numbers: numbers.into() })
    }

    /// A feature is missing; `feature` names it.
    pub fn unsupported(
        operation: impl Into<String>,
        object: impl AsRef<Path>,
        feature: impl Into<String>,
    ) -> KernelError {
        KernelError::new(operation, object, Cause::Unsupported { feature: feature.into() })
    }

    /// The object holds text we cannot read.
    pub fn malformed(operation: impl Into<String>, object: impl AsRef<Path>, text: &str) -> KernelError {
        let error = io::Error::new(io::ErrorKind::InvalidData, format!("unexpected text '{}'", text.escape_debug()));
        KernelError::new(operation, object, Cause::Io(error))
    }

    /// From its parts.
    pub fn new(operation: impl Into<String>, object: impl AsRef<Path>, cause: Cause) -> KernelError {
        let object = object.as_ref().to_string_lossy().into_owned();
        KernelError { operation: operation.into(), object, cause, try_hint: None }
    }

    /// Adds one command that helps.
    #[must_use]
    pub fn hint(mut self, command: impl Into<String>) -> KernelError {
        self.try_hint = Some(command.into());
        self
    }

    /// Adds one command that helps, unless one is known already.
    #[must_use]
    pub fn or_hint(mut self, command: &str) -> KernelError {
        self.try_hint.get_or_insert_with(|| command.to_owned());
        self
    }

    /// More privilege would help.
    #[must_use]
    pub fn is_denied(&self) -> bool {
        matches!(self.cause, Cause::Denied)
    }

    /// The object does not exist.
    #[must_use]
    pub fn is_absent(&self) -> bool {
        matches!(self.cause, Cause::Absent)
    }

    /// The kernel lacks a feature.
    #[must_use]
    pub fn is_unsupported(&self) -> bool {
        matches!(self.cause, Cause::Unsupported { .. })
    }

    /// A rule of ours said no.
    #[must_use]
    pub fn is_refused(&self) -> bool {
        matches!(self.cause, Cause::Refused { .. })
    }

    /// The number of the system's error, where the cause is one that keeps it.
    #[must_use]
    pub fn errno(&self) -> Option<i32> {
        if let Cause::Io(error) = &self.cause { error.raw_os_error() } else { None }
    }

    /// Somebody still uses the object: worth trying again shortly.
    #[must_use]
    pub fn is_busy(&self) -> bool {
        self.errno() == Some(libc::EBUSY)
    }

    /// The kernel did only a part: EAGAIN.
    #[must_use]
    pub fn is_again(&self) -> bool {
        self.errno() == Some(libc::EAGAIN)
    }

    /// A signal came while the kernel was at it: EINTR.
    #[must_use]
    pub fn is_interrupted(&self) -> bool {
        self.errno() == Some(libc::EINTR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_says_operation_object_cause_and_one_command() {
        let error =
            KernelError::refused("swap on", "/scratch/swap", "memory is short", "120 MiB available, 512 MiB needed")
                .hint("ramline lab run --unit 16MiB");
        assert_eq!(
            error.to_string(),
            "cannot swap on /scratch/swap: refused: memory is short (120 MiB available, 512 MiB needed)\n  try: ramline lab run --unit 16MiB"
        );
    }

    #[test]
    fn sudo_is_not_proposed_to_root() {
        let root = |hint| for_root(hint).unwrap_or_default();
        assert_eq!(root("sudo modprobe zram"), "modprobe zram");
        assert_eq!(root("echo +memory | sudo tee /x"), "echo +memory | tee /x");
        assert_eq!((root("sudo ramline show maps 1"), root("df -h /tmp")), (String::new(), "df -h /tmp".to_owned()));
    }

    #[test]
    fn denied_absent_and_unsupported_are_told_apart() {
        let of = |errno| KernelError::io("open", "x", io::Error::from_raw_os_error(errno));
        assert!(of(libc::EPERM).is_denied() && of(libc::EACCES).is_denied());
        assert!(of(libc::ENOENT).is_absent() && of(libc::ENODEV).is_absent());
        assert!(of(libc::ENOSYS).is_unsupported());
        assert!(of(libc::EBUSY).is_busy() && !of(libc::EBUSY).is_denied());
    }
}
