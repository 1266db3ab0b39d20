//! Recording only what some processes do: by their ids, with what they start from then on.

#![expect(unsafe_code, reason = "a write in the child, between fork and exec")]

use std::io::Write;
use std::os::unix::process::CommandExt;

use super::Instance;
use crate::prelude::*;

/// Digits of a process id, and a blank.
const DIGITS: usize = 12;

fn pids_of(instance: &Instance) -> Result<(std::path::PathBuf, File)> {
    let path = instance.dir().join("set_event_pid");
    let open = OpenOptions::new().append(true).open(&path);
    open.map(|file| (path.clone(), file)).tried("open", &path)
}

/// Records only these threads, and what they start.
///
/// # Errors
/// When the kernel refuses.
pub fn only(instance: &Instance, threads: &[u32]) -> Result<()> {
    instance.set("options/event-fork", "1")?;
    let (path, mut file) = pids_of(instance)?;
    for chunk in threads.chunks(256) {
        let text: String = chunk.iter().map(|pid| format!("{pid} ")).collect();
        file.write_all(text.as_bytes()).tried("write process ids to", &path)?;
    }
    Ok(())
}

/// Records only what `command` will start, from its first instruction on: the child puts itself on the list.
///
/// # Errors
/// When the instance has no such list.
pub fn command(instance: &Instance, command: &mut Command) -> Result<()> {
    instance.set("options/event-fork", "1")?;
    let (_, file) = pids_of(instance)?;
    // SAFETY: between fork and exec only getpid and write are called; nothing allocates. The file is kept open by the closure.
    unsafe {
        command.pre_exec(move || {
            let mut text = [b' '; DIGITS];
            let mut left = libc::getpid().unsigned_abs();
            for place in text[..DIGITS - 1].iter_mut().rev() {
                *place = b'0' + u8::try_from(left % 10).unwrap_or(0);
                left /= 10;
                if left == 0 {
                    break;
                }
            }
            let written = libc::write(file.as_raw_fd(), text.as_ptr().cast(), DIGITS);
            check(libc::c_int::try_from(written).unwrap_or(libc::c_int::MAX)).map(drop)
        });
    }
    Ok(())
}
