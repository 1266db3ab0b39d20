//! `ramline measure tiers`.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use ramline_kernel::{Root, signals};
use ramline_measure::tiers::{self, TierOptions};
use ramline_view::Versioned;

use crate::output::Format;
use crate::progress::Terminal;
use crate::source::Source;
use crate::{consent, exit, remembered, state};

/// Latency and throughput of RAM, page cache, tmpfs, zram and the disks, within 15 s
#[derive(Debug, Args)]
pub struct Tiers {
    /// At most 6 s, and nothing is written to a disk
    #[arg(long)]
    quick: bool,
    /// Make a scratch zram device without asking (as root; it is removed again)
    #[arg(long, conflicts_with = "quick")]
    prove: bool,
    /// Also show how each was measured, and under what conditions
    #[arg(long)]
    verbose: bool,
    /// A directory on the disk to measure
    #[arg(long, value_name = "DIR", default_value = "/")]
    dir: PathBuf,
    #[command(flatten)]
    format: Format,
}

impl Tiers {
    /// Runs the command.
    ///
    /// # Errors
    /// The source is not this machine, or a tier that is always there could not be measured.
    pub fn run(&self, source: &Source) -> Result<u8> {
        source.must_be_live("measure tiers")?;
        let root = Root::live();
        state::alone(&root)?;
        let mut options = TierOptions {
            dir: self.dir.clone(),
            root: root.clone(),
            ..if self.quick { TierOptions::quick() } else { TierOptions::full() }
        };
        let wants_zram = !self.quick && ramline_kernel::process::uid() == 0 && ramline_kernel::zram::has_control(&root);
        if wants_zram
            && consent::given(self.prove, &["a scratch zram device (removed again; zram0 is not touched)".to_owned()])?
        {
            options.scratch_zram = Some(state::lock(&root)?);
        }
        // Only now: at the question a Ctrl-C just ends us.
        signals::install();
        if let Some(sentence) = options.announcement() {
            ramline_kernel::stdio::tell(&sentence);
        }
        let measured = tiers::measure(&options, &mut Terminal::new())?;
        if !self.quick {
            remembered::keep(&measured.report);
        }
        self.format.print(&Versioned::new(&measured), |style| {
            ramline_view::screen::tiers(&measured.report, measured.cost.as_ref(), self.verbose, style)
        })?;
        Ok(exit::DONE)
    }
}
