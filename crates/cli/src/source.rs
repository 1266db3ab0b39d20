//! Where the data comes from: this machine, a captured tree (`--root`), a file of `ramline snapshot`, or a moment that was recorded.

use ramline_gather::{LateSections, gather_until, gather_walking};
use ramline_recorder::Recorded;
use ramline_snapshot::setup::SetUp;

use crate::prelude::*;

/// Options that are the same for all commands stand last in their help.
pub const ANYWHERE: &str = "For every command";

/// The options that choose the source.
#[derive(Debug, Clone, Default, Args)]
pub struct Source {
    /// Read a captured tree instead of this machine
    #[arg(long, value_name = "DIR", global = true, help_heading = ANYWHERE, conflicts_with = "captured-file")]
    pub root: Option<PathBuf>,
    /// Read a file of `ramline snapshot` instead of this machine
    // Known to all subcommands by its id, and an experiment has a `--file` of its own.
    #[arg(id = "captured-file", long = "snapshot", value_name = "FILE", global = true, help_heading = ANYWHERE)]
    pub file: Option<PathBuf>,
    /// A moment of the past, found before by [`crate::past::Past`].
    #[arg(skip)]
    pub past: Option<Arc<Recorded>>,
}

/// What the options name, one at a time.
#[derive(Debug, Clone, Copy)]
pub enum SourceKind<'a> {
    /// The machine this runs on.
    Live,
    /// A captured tree.
    Tree(&'a Path),
    /// A file of `ramline snapshot`.
    File(&'a Path),
    /// A moment of a recording.
    Recorded(&'a Recorded),
}

impl Source {
    /// What the options name.
    pub fn kind(&self) -> SourceKind<'_> {
        match (&self.past, &self.file, &self.root) {
            (Some(recorded), ..) => SourceKind::Recorded(recorded),
            (None, Some(file), _) => SourceKind::File(file),
            (None, None, Some(dir)) => SourceKind::Tree(dir),
            (None, None, None) => SourceKind::Live,
        }
    }

    /// True when the answer is about the machine this runs on.
    pub fn is_live(&self) -> bool {
        matches!(self.kind(), SourceKind::Live)
    }

    /// Refuses commands that do something when the source is a capture.
    ///
    /// # Errors
    /// The source is not this machine.
    pub fn must_be_live(&self, command: &str) -> Result<()> {
        let text = || format!("'{command}' works on a running machine, not on a capture\n  try: ramline {command}");
        anyhow::ensure!(self.is_live(), Failure::usage(text()));
        Ok(())
    }

    /// The root for the kernel's files.
    ///
    /// # Errors
    /// `--root` names no directory.
    pub fn kernel_root(&self) -> Result<Root> {
        let dir = match self.kind() {
            SourceKind::Live | SourceKind::File(_) => return Ok(Root::live()),
            SourceKind::Tree(dir) => dir,
            SourceKind::Recorded(_) => {
                let past =
                    "this needs the machine itself, and a moment of the past is none\n  try: the same without --at";
                return Err(Failure::usage(past).into());
            }
        };
        anyhow::ensure!(
            dir.is_dir(),
            Failure::usage(format!("--root {}: not a directory\n  try: ramline snapshot --tree DIR", dir.display()),)
        );
        Ok(Root::new(dir))
    }

    /// The snapshot, with the sections a command wants.
    ///
    /// # Errors
    /// The file cannot be read or is no snapshot; `--root` names no directory.
    pub fn snapshot(&self, want: Wanted) -> Result<Snapshot> {
        self.snapshot_walking(want, Walking::Never)
    }

    /// The same, with walks of page tables.
    ///
    /// # Errors
    /// As [`Source::snapshot`].
    pub fn snapshot_walking(&self, want: Wanted, walking: Walking) -> Result<Snapshot> {
        match self.kind() {
            SourceKind::Recorded(recorded) => Ok(captured(recorded.snapshot.clone())),
            SourceKind::File(path) => {
                let read = input::read_named_text("read the snapshot", path, input::DOCUMENT);
                let text = read.map_err(|error| error.or_hint("ramline snapshot > FILE"))?;
                Ok(captured(Snapshot::from_json(&path.display().to_string(), &text)?))
            }
            SourceKind::Live | SourceKind::Tree(_) => Ok(gather_walking(&self.kernel_root()?, want, walking)),
        }
    }

    /// The same of this machine until a moment, without what is late by then. A capture is read whole: it neither hangs nor grows.
    ///
    /// # Errors
    /// As [`Source::snapshot`].
    pub fn snapshot_until(
        &self,
        want: Wanted,
        walking: Walking,
        end: Instant,
    ) -> Result<(Snapshot, Vec<LateSections>)> {
        if self.is_live() {
            return Ok(gather_until(&self.kernel_root()?, want, walking, end));
        }
        Ok((self.snapshot_walking(want, walking)?, Vec::new()))
    }

    /// How the system is configured; a file of a snapshot does not hold it.
    ///
    /// # Errors
    /// `--root` names no directory.
    pub fn set_up(&self) -> Result<SetUp> {
        match self.kind() {
            SourceKind::Recorded(_) | SourceKind::File(_) => Ok(SetUp::default()),
            SourceKind::Live | SourceKind::Tree(_) => Ok(ramline_gather::set_up(&self.kernel_root()?)),
        }
    }

    /// Two snapshots `span` apart, for rates; only this machine has a second moment.
    ///
    /// # Errors
    /// As [`Source::snapshot`].
    pub fn window(&self, want: Wanted, span: Option<Duration>) -> Result<(Option<Snapshot>, Snapshot)> {
        self.window_walking(want, span, Walking::Never)
    }

    /// The same, with walks of page tables for the second one.
    ///
    /// # Errors
    /// As [`Source::snapshot`].
    pub fn window_walking(
        &self,
        want: Wanted,
        span: Option<Duration>,
        walking: Walking,
    ) -> Result<(Option<Snapshot>, Snapshot)> {
        if let SourceKind::Recorded(recorded) = self.kind() {
            return Ok((recorded.before.clone().map(captured), captured(recorded.snapshot.clone())));
        }
        anyhow::ensure!(
            span.is_none() || self.is_live(),
            Failure::usage(
                "--for looks twice, and a capture is one moment: its counters are those since boot\n  try: the same without --for"
            )
        );
        match span {
            Some(span) => {
                let before = self.snapshot(want)?;
                std::thread::sleep(span);
                Ok((Some(before), self.snapshot_walking(want, walking)?))
            }
            None => Ok((None, self.snapshot_walking(want, walking)?)),
        }
    }
}

/// Of a capture there is no second moment.
fn captured(mut snapshot: Snapshot) -> Snapshot {
    snapshot.machine.captured = true;
    snapshot
}
