//! Reading what a trace instance records, while it records, page by page from each processor's buffer.
//!
//! New records are dropped, and counted, when a buffer is full; none is overwritten. Nothing waits: the caller sleeps between two drains.

use std::io::{ErrorKind, Read};

use super::Instance;
use crate::prelude::*;

/// The buffers of one instance, open.
#[derive(Debug)]
pub struct RawPages {
    cpus: Vec<(PathBuf, File)>,
    page: Vec<u8>,
    // Closing it frees the buffers, and with the option `disable_on_free` also stops the recording: so does the end of this process, however it ends.
    _free: Option<File>,
}

impl RawPages {
    /// Opens them, with room for one page of so many bytes. The instance drops what is new, not what is old, when a buffer is full, and
    /// stops when we are gone.
    ///
    /// # Errors
    /// When a buffer cannot be opened.
    pub fn open(instance: &Instance, page: usize) -> Result<RawPages> {
        drop(instance.set("options/overwrite", "0"));
        let stops = instance.set("options/disable_on_free", "1").is_ok();
        let free = stops.then(|| File::open(instance.dir().join("free_buffer")).ok()).flatten();
        let mut cpus = Vec::new();
        let dir = instance.dir().join("per_cpu");
        for entry in std::fs::read_dir(&dir).tried("read", &dir)?.flatten() {
            let path = entry.path().join("trace_pipe_raw");
            let open = OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK).open(&path);
            cpus.push((entry.path(), open.tried("open", &path)?));
        }
        Ok(RawPages { cpus, page: vec![0; page], _free: free })
    }

    /// Takes in all there is, page by page.
    ///
    /// # Errors
    /// When a buffer cannot be read.
    pub fn drain(&mut self, mut each: impl FnMut(&[u8])) -> Result<()> {
        for (path, file) in &mut self.cpus {
            loop {
                match file.read(&mut self.page) {
                    Ok(0) => break,
                    Ok(got) => each(self.page.get(..got).unwrap_or_default()),
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    Err(error) if error.kind() == ErrorKind::Interrupted => {}
                    Err(error) => return Err(KernelError::io("read the trace buffer of", path.as_path(), error)),
                }
            }
        }
        Ok(())
    }

    /// How many records were lost so far, for want of room.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.cpus.iter().map(|(path, _)| lost_in(path)).sum()
    }
}

/// The kernel gives this file to the first read alone, however short that is.
pub(super) fn at_once(path: &Path) -> std::io::Result<String> {
    let mut buffer = [0; 4096];
    let got = File::open(path)?.read(&mut buffer)?;
    Ok(String::from_utf8_lossy(&buffer[..got]).into_owned())
}

fn lost_in(cpu: &Path) -> u64 {
    let text = read_text(&cpu.join("stats")).unwrap_or_default();
    let of = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)?.trim().parse::<u64>().ok()).unwrap_or(0);
    of("overrun:") + of("commit overrun:") + of("dropped events:")
}
