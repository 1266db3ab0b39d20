//! What `cache trace` and `cache watch` share: the journal around what they make in the kernel.

use ramline_act::Run;

use crate::prelude::*;

/// Runs `work` with a journal; what it makes is removed again, whatever happens.
///
/// # Errors
/// Not root; another ramline is running; those of `work`; something could not be removed.
pub fn journalled<T>(root: &Root, verb: &str, work: impl FnOnce(&mut Run) -> ramline_act::Result<T>) -> Result<T> {
    if process::uid() != 0 {
        let error = KernelError::new("record", "the page cache", Cause::Denied);
        return Err(error.hint(format!("sudo ramline cache {verb}")).into());
    }
    let lock = state::lock(root)?;
    for removed in ramline_act::clean_up(&lock, root)? {
        ramline_kernel::stdio::tell(&removed);
    }
    let mut run = Run::begin(&lock, root, state::crash_after())?;
    let done = work(&mut run);
    let removed = run.finish();
    let done = done?;
    removed?;
    Ok(done)
}
