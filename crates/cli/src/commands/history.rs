//! `ramline history`: what was recorded.

mod export;
mod import;
mod list;
mod sar;
mod time;

use ramline_evidence::history::{CheckedFile, HistoryCheck};
use ramline_recorder::{Limits, Part, Store};
use ramline_view::SCHEMA_VERSION;

use crate::past::Past;
use crate::prelude::*;
use crate::when;
use time::{archive, name};

/// What 'ramline record' has written: files, gaps, a check, sar's tables, export
#[derive(Debug, Args)]
#[command(disable_help_subcommand = true)]
pub struct History {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// The directory of the record [default: where 'ramline record' writes]
    #[arg(long = "history", alias = "dir", value_name = "DIR", global = true)]
    dir: Option<PathBuf>,
    #[command(flatten)]
    format: Format,
}

#[derive(Debug, Subcommand)]
enum Verb {
    /// Read every frame and count what is lost
    Check {
        #[command(flatten)]
        format: Format,
    },
    Prune(Prune),
    Sar(sar::Sar),
    Export(export::Export),
    Import(import::Import),
}

/// Remove the oldest files until the rest is small or young enough
#[derive(Debug, Args)]
struct Prune {
    /// Keep no more than this
    #[arg(long, value_name = "SIZE", required_unless_present = "max_age")]
    max_size: Option<Bytes>,
    /// Keep no day that is older (30d, 12h)
    #[arg(long, value_name = "AGE", value_parser = duration::parse_days)]
    max_age: Option<Duration>,
}

impl History {
    /// Runs the command.
    ///
    /// # Errors
    /// The files cannot be read, or a time is none.
    pub fn run(&self) -> Result<u8> {
        let dir = Past { dir: self.dir.clone(), ..Past::NONE }.dir()?;
        match &self.verb {
            None => list::run(&dir, self.format),
            Some(Verb::Check { format }) => check(&dir, *format),
            Some(Verb::Prune(prune)) => prune.run(&dir),
            Some(Verb::Sar(sar)) => sar.run(&dir),
            Some(Verb::Export(export)) => export.run(&dir),
            Some(Verb::Import(import)) => import.run(self.dir.as_deref()),
        }
    }
}

fn check(dir: &Path, format: Format) -> Result<u8> {
    let archive = archive(dir)?;
    let all = archive.iter().flat_map(|archive| archive.seconds().chain(archive.days()));
    let one = |file| {
        let checked = Part::check(file);
        CheckedFile {
            name: name(&file.path),
            bytes: Bytes(checked.bytes),
            frames: checked.frames,
            lost_frames: checked.lost_frames,
            lost_bytes: Bytes(checked.lost_bytes),
            torn_end: checked.torn_end,
            unreadable: checked.unreadable,
        }
    };
    let files = all.map(one).collect();
    let check = HistoryCheck { schema_version: SCHEMA_VERSION, dir: dir.display().to_string(), files };
    format.screen(&check)?;
    Ok(if check.is_damaged() { exit::PARTLY } else { exit::DONE })
}

impl Prune {
    fn run(&self, dir: &Path) -> Result<u8> {
        let none = || format!("nothing is recorded in {}\n  try: ramline history", dir.display());
        ensure!(dir.is_dir(), Failure::usage(none()));
        let limits = Limits {
            size: self.max_size.unwrap_or(Bytes(u64::MAX)),
            age: self.max_age.unwrap_or(Duration::from_secs(u64::MAX / 2000)),
        };
        // A recorder that writes there keeps its own cap.
        let mut store = Store::open(dir, limits, ramline_history::Head::default())?;
        let now = u64::try_from(when::now()).unwrap_or_default().saturating_mul(1000);
        let removed = store.prune(now, 0)?;
        stdio::tell(&format!("removed {} of history", Bytes(removed)));
        Ok(exit::DONE)
    }
}
