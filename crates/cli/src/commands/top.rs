//! `ramline top`.

mod feed;
mod files;
mod recorded;
#[cfg(test)]
mod tests;
mod views;

use ramline_kernel::worker;
use ramline_live::{Looks, Options};

use self::feed::Live;
use crate::prelude::*;
use crate::terminal;

/// A live screen with keys: what waits and grows, whose memory it is, what evicts
///
/// The same screens as those of show, cache top and explain, refreshed: views are chosen by numbers, rows are sorted, filtered and entered, and any number is
/// explained by e; ? lists all keys. What costs much to read (processes, groups, shared memory) is read so seldom that it takes half
/// a per cent of a processor at most, with its age on the last line; files of the page cache are looked at when their view is opened and with r.
/// Nothing is written, and no page tables are walked. Exit status: 0 when a key or a signal ends it, 1 where the terminal is gone.
#[derive(Debug, Clone, Args)]
pub struct Top {
    /// Time between two refreshes; a bare number is seconds (1s, 500ms)
    #[arg(long, value_name = "TIME", value_parser = duration::parse, default_value = "1s")]
    every: Duration,
    /// Where the moments of the key t were recorded [default: where 'ramline record' writes]
    #[arg(long, value_name = "DIR")]
    history: Option<PathBuf>,
}

/// The shortest refresh interval: a shorter one would load the machine and could not be read.
const LEAST: Duration = Duration::from_millis(100);
/// The screen has so long to end by itself when its terminal is gone.
const GRACE: Duration = Duration::from_secs(1);

impl Top {
    /// Runs the command.
    ///
    /// # Errors
    /// There is no terminal to draw on, or it is gone.
    pub fn run(&self, source: &Source) -> Result<u8> {
        source.must_be_live("top")?;
        if let Some(why) = terminal::why_not_live() {
            let text = format!("'top' draws over a terminal and reads keys, and {why}\n  try: ramline show --for 2");
            return Err(Failure::usage(text).into());
        }
        ensure!(
            self.every >= LEAST,
            Failure::usage(format!(
                "--every {:?}: less than {LEAST:?} between two refreshes\n  try: ramline top --every 1s",
                self.every
            ))
        );
        signals::install();
        ramline_kernel::own_memory::one_heap();
        let looks = Looks { colour: output::style().colour, ascii: terminal::is_plain() };
        let options = Options { every: self.every, looks, interrupted: signals::interrupted };
        let root = source.kernel_root()?;
        let mut feed = Live::new(&root, self.every, self.history.clone());
        // Where no thread may be begun, only the loop's own look is left.
        let _beside = worker::small("terminal", || {
            if ramline_live::wait_for_hangup() {
                std::thread::sleep(GRACE);
                std::process::exit(exit::FAILED.into())
            }
        });
        ramline_live::run(&mut feed, options).map_err(|error| KernelError::io("draw on", "the terminal", error))?;
        Ok(exit::DONE)
    }
}
