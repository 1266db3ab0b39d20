//! Reading what a trace instance records, while it records, from each processor's buffer.
//!
//! New records are dropped, and counted, when a buffer is full; none is overwritten. What it is not: a wait; whoever drains sleeps in between.
//!
//! Between processors records are put in order by their times. What was read in one round may lack what another processor wrote
//! meanwhile: only what is not later than the latest of the round *before* is handed out.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use super::{Instance, Layout};
use crate::error::{KernelError, Result};
use crate::kernel_file::read_text;

/// The buffers of one instance, open.
#[derive(Debug)]
pub struct Records {
    cpus: Vec<(PathBuf, File)>,
    layout: Layout,
    page: Vec<u8>,
    // Closing it frees the buffers, and with the option `disable_on_free` also stops the recording: so does the end of this process, however it ends.
    _free: Option<File>,
}

impl Records {
    /// Opens them. The instance is told to drop what is new, not what is old, when a buffer is full, and to stop when we are gone.
    ///
    /// # Errors
    /// When a buffer cannot be opened, or the kernel does not tell how its pages are laid out.
    pub fn open(instance: &Instance) -> Result<Records> {
        drop(instance.set("options/overwrite", "0"));
        let stops = instance.set("options/disable_on_free", "1").is_ok();
        let free = stops.then(|| File::open(instance.dir().join("free_buffer")).ok()).flatten();
        let header = instance.dir().join("../../events/header_page");
        let text = at_once(&header).map_err(|error| KernelError::io("read", &header, error))?;
        let layout = Layout::parse(&text).ok_or_else(|| KernelError::malformed("read", &header, &text))?;
        let mut cpus = Vec::new();
        let dir = instance.dir().join("per_cpu");
        for entry in std::fs::read_dir(&dir).map_err(|error| KernelError::io("read", &dir, error))?.flatten() {
            let path = entry.path();
            let mut options = OpenOptions::new();
            let open = options.read(true).custom_flags(libc::O_NONBLOCK).open(path.join("trace_pipe_raw"));
            cpus.push((
                path.clone(),
                open.map_err(|error| KernelError::io("open", path.join("trace_pipe_raw"), error))?,
            ));
        }
        Ok(Records { cpus, page: vec![0; layout.size()], layout, _free: free })
    }

    /// Takes in all there is: `each` gets time and record. Returns how many bytes were read.
    ///
    /// # Errors
    /// When a buffer cannot be read.
    pub fn drain(&mut self, mut each: impl FnMut(u64, &[u8])) -> Result<u64> {
        let mut taken = 0;
        for (path, file) in &mut self.cpus {
            loop {
                match file.read(&mut self.page) {
                    Ok(0) => break,
                    Ok(got) => {
                        taken += u64::try_from(got).unwrap_or(0);
                        self.layout.records(self.page.get(..got).unwrap_or_default(), &mut each);
                    }
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(KernelError::io("read the trace buffer of", path.as_path(), error)),
                }
            }
        }
        Ok(taken)
    }

    /// How many records were lost so far, for want of room.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.cpus.iter().map(|(path, _)| lost_in(path)).sum()
    }
}

/// The kernel gives this file to the first read alone, however short that is.
fn at_once(path: &Path) -> std::io::Result<String> {
    let mut buffer = [0; 4096];
    let got = File::open(path)?.read(&mut buffer)?;
    Ok(String::from_utf8_lossy(&buffer[..got]).into_owned())
}

fn lost_in(cpu: &Path) -> u64 {
    let text = read_text(&cpu.join("stats")).unwrap_or_default();
    let of = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.trim().parse::<u64>().ok()).unwrap_or(0);
    of("overrun:") + of("commit overrun:") + of("dropped events:")
}

/// Puts what several processors recorded in order.
#[derive(Debug)]
pub struct InOrder<T> {
    waiting: Vec<(u64, T)>,
    // The latest of the round before, and of this one.
    complete: u64,
    latest: u64,
}

impl<T> Default for InOrder<T> {
    fn default() -> Self {
        InOrder { waiting: Vec::new(), complete: 0, latest: 0 }
    }
}

impl<T> InOrder<T> {
    /// Takes in one that was read in this round.
    pub fn push(&mut self, time: u64, what: T) {
        self.latest = self.latest.max(time);
        self.waiting.push((time, what));
    }

    /// Ends a round: hands out, in order, what is sure to be complete; with `all`, everything.
    pub fn round(&mut self, all: bool, mut each: impl FnMut(u64, T)) {
        let until = if all { u64::MAX } else { self.complete };
        self.complete = self.latest;
        // Stable, and quick on what is in order already.
        self.waiting.sort_by_key(|(time, _)| *time);
        let ready = self.waiting.partition_point(|(time, _)| *time <= until);
        for (time, what) in self.waiting.drain(..ready) {
            each(time, what);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_processor_wrote_earlier_is_still_handed_out_first() {
        let mut order = InOrder::default();
        let mut out = Vec::new();
        order.push(5, 'b');
        order.round(false, |_, what| out.push(what));
        assert!(out.is_empty(), "another processor may have written before 5");
        order.push(4, 'a');
        order.push(9, 'd');
        order.round(false, |_, what| out.push(what));
        assert_eq!(out, ['a', 'b']);
        order.push(8, 'c');
        order.round(true, |_, what| out.push(what));
        assert_eq!(out, ['a', 'b', 'c', 'd']);
    }
}
