//! Standard input, output and error as they were when the program began.
//!
//! Rust opens `/dev/null` for those that are closed, so that no other file gets their numbers. That is right, and it hides that what is
//! printed goes nowhere.

#![expect(unsafe_code, reason = "fcntl before main, dup")]

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::prelude::*;
use crate::sys::new_fd;

static STDOUT_WAS_CLOSED: AtomicBool = AtomicBool::new(false);

extern "C" fn look() {
    // SAFETY: F_GETFD touches no memory of ours.
    if unsafe { libc::fcntl(libc::STDOUT_FILENO, libc::F_GETFD) } == -1 {
        STDOUT_WAS_CLOSED.store(true, Ordering::Relaxed);
    }
}

/// Called by the C library before `main`, and so before Rust's own start.
// SAFETY: the section holds pointers to functions without arguments that matter; `look` only makes a system call and sets a flag.
#[used]
#[unsafe(link_section = ".init_array")]
static LOOK: extern "C" fn() = look;

/// Refuses to print where nothing can be read from.
///
/// # Errors
/// Standard output was closed when the program began.
pub fn refuse_closed_stdout() -> Result<()> {
    if STDOUT_WAS_CLOSED.load(Ordering::Relaxed) {
        let rule = "it is closed, so the answer would be lost";
        return Err(KernelError::refused("write to", "standard output", rule, "").hint("the command without >&-"));
    }
    Ok(())
}

/// A message on standard error, with what a terminal would act on written out. Where it cannot be written there is nowhere to say so.
pub fn tell(message: &str) {
    let mut line = ramline_units::printable(message, false).into_owned();
    line.push('\n');
    drop(io::Write::write_all(&mut io::stderr().lock(), line.as_bytes()));
}

/// A panic says on one line what it was and where, instead of in the words of a compiler: it is an error of ours.
pub fn tell_panics() {
    static TOLD: AtomicBool = AtomicBool::new(false);
    std::panic::set_hook(Box::new(|panic| {
        // Others that fail with the first say nothing new.
        if TOLD.swap(true, Ordering::SeqCst) {
            return;
        }
        let payload = panic.payload();
        let text =
            payload.downcast_ref::<&str>().copied().or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let place = panic.location().map(|place| format!(" at {}:{}", place.file(), place.line())).unwrap_or_default();
        let text = ramline_units::escape(text.unwrap_or("no reason given")).into_owned();
        tell(&format!(
            "ramline: internal error: panicked{place}: {text}\n  try: report it, with the output of: ramline snapshot --redact"
        ));
    }));
}

/// Another descriptor of the same open file: what is written goes on where it has come to.
///
/// # Errors
/// It is not open.
pub fn duplicate(number: i32) -> io::Result<OwnedFd> {
    if number == libc::STDOUT_FILENO && STDOUT_WAS_CLOSED.load(Ordering::Relaxed) {
        return Err(io::Error::from_raw_os_error(libc::EBADF));
    }
    // SAFETY: F_DUPFD_CLOEXEC touches no memory of ours, and gives a descriptor of our own.
    unsafe { new_fd(libc::fcntl(number, libc::F_DUPFD_CLOEXEC, 3).into()) }
}

/// A write beyond the file-size limit (`ulimit -f`) fails with an error that names it, and does not kill. A handler, since what is ignored
/// would be ignored by the programs that are started as well.
pub fn survive_file_size_limit() {
    extern "C" fn nothing(_: libc::c_int) {}
    let handler: extern "C" fn(libc::c_int) = nothing;
    // SAFETY: a zeroed sigaction is valid, and the handler does nothing.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = handler as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART;
        libc::sigaction(libc::SIGXFSZ, &raw const action, std::ptr::null_mut());
    }
}
