//! Options that ask for a moment of the past, and the source that answers then.

use ramline_model::changed::changed;
use ramline_recorder::{Archive, NotFound, Recorded};
use ramline_view::escape;

use crate::prelude::*;
use crate::when;

/// A moment of what 'ramline record' has written.
#[derive(Debug, Clone, Default, Args)]
pub struct Past {
    /// As it was then, from what 'ramline record' has written: 00:46, '2026-11-29 00:46', or 2h for two hours ago
    #[arg(long, value_name = "TIME", global = true, help_heading = PAST)]
    pub at: Option<String>,
    /// As it was yesterday, at this time or at that of --at
    #[arg(long, global = true, help_heading = PAST)]
    pub yesterday: bool,
    /// Rates from this moment to that of --to
    #[arg(long, value_name = "TIME", global = true, conflicts_with = "at", help_heading = PAST)]
    pub from: Option<String>,
    /// With --from: the later moment [default: the last recorded one]
    #[arg(long, value_name = "TIME", global = true, requires = "from", help_heading = PAST)]
    pub to: Option<String>,
    /// Where it was recorded [default: where 'ramline record' writes]
    #[arg(id = "recorded-in", long = "history", value_name = "DIR", global = true, help_heading = PAST)]
    pub dir: Option<PathBuf>,
}

/// Changes between two moments that are named; more are counted.
const NAMED: usize = 12;
const PAST: &str = "A moment of the past";

impl Past {
    /// No moment.
    pub const NONE: Past = Past { at: None, yesterday: false, from: None, to: None, dir: None };

    /// A moment is asked for.
    pub const fn is_asked(&self) -> bool {
        self.at.is_some() || self.yesterday || self.from.is_some() || self.dir.is_some()
    }

    /// Where the history is.
    ///
    /// # Errors
    /// There is no such place.
    pub fn dir(&self) -> Result<PathBuf> {
        self.dir.clone().map_or_else(state::history_to_read, Ok)
    }

    /// The source that answers: the given one, or that of the moment. What is read is said before, unless it is JSON.
    ///
    /// # Errors
    /// There is no such moment.
    pub fn source(&self, source: &Source, span: Option<Duration>, format: Format) -> Result<Source> {
        if !self.is_asked() {
            return Ok(source.clone());
        }
        let both = "a moment of the past and a capture: one of them\n  try: ramline show --at TIME";
        ensure!(source.is_live(), Failure::usage(both));
        let (recorded, line) = self.recorded(span)?;
        if !format.is_json() {
            output::text(&format!("{line}\n"))?;
        }
        Ok(Source { past: Some(Arc::new(recorded)), ..source.clone() })
    }

    /// The moment, and the sentence that says which it is.
    fn recorded(&self, span: Option<Duration>) -> Result<(Recorded, String)> {
        let now = when::now();
        let dir = self.dir()?;
        let archive = Archive::open(&dir).map_err(|error| anyhow::anyhow!("{error}\n  try: {RECORD}"))?;
        let found = |at: i64, span: Option<u64>| {
            // The frames of the second that was asked for belong to it.
            let wall_ms = u64::try_from(at).unwrap_or_default().saturating_mul(1000).saturating_add(999);
            archive.at(wall_ms, span).map_err(|error| not_found(error, at))
        };
        if let Some(from) = &self.from {
            let from = when::parse(from, self.yesterday, now)?;
            let to = self.to.as_deref().map(|to| when::parse(to, self.yesterday, now)).transpose()?;
            ensure!(
                to.is_none_or(|to| to > from),
                Failure::usage("--to is not after --from\n  try: --from 00:30 --to 01:00")
            );
            let before = found(from, None)?;
            let after = match to {
                Some(to) => found(to, None)?,
                None => found(newest(&archive)?, None)?,
            };
            let line = format!("From {} to {}, as recorded.", words(&before), words(&after));
            let same = before.snapshot.machine.boot_id == after.snapshot.machine.boot_id;
            let reboot = if same { "" } else { " The machine was started anew in between, so there are no rates." };
            let changes = changed(&before.snapshot, &after.snapshot);
            let named: Vec<String> = changes.iter().take(NAMED).map(|change| escape(&change.words()).into()).collect();
            let more = changes.len().checked_sub(NAMED).filter(|more| *more > 0);
            let more = more.map(|more| format!("; and {more} more")).unwrap_or_default();
            let changes = if named.is_empty() {
                String::new()
            } else {
                format!("\nSeen to have changed: {}{more}.", named.join("; "))
            };
            let recorded = Recorded { before: Some(before.snapshot), ..after };
            return Ok((recorded, format!("{line}{reboot}{changes}")));
        }
        let at = match (&self.at, self.yesterday) {
            (Some(at), yesterday) => when::parse(at, yesterday, now)?,
            (None, true) => when::parse(&when::words(now)[11..], true, now)?,
            (None, false) => newest(&archive)?,
        };
        let span_ms = span.map(|span| u64::try_from(span.as_millis()).unwrap_or(u64::MAX));
        let recorded = found(at, span_ms)?;
        let seconds = i64::try_from(recorded.at.wall_ms / 1000).unwrap_or_default();
        let line = format!("As recorded at {}, {} ago.", words(&recorded), when::ago(now - seconds));
        Ok((recorded, line))
    }
}

/// The moment of a history that a person names.
pub fn moment(dir: &Path, text: &str) -> Result<Recorded> {
    let asked = Past { at: Some(text.to_owned()), dir: Some(dir.to_owned()), ..Past::NONE };
    Ok(asked.recorded(None)?.0)
}

const RECORD: &str = "sudo ramline record, or its service: systemctl enable --now ramline-record";

/// When it was, in local time.
pub fn words(recorded: &Recorded) -> String {
    when::words(i64::try_from(recorded.at.wall_ms / 1000).unwrap_or_default())
}

/// The last moment there is.
fn newest(archive: &Archive) -> Result<i64> {
    let last = archive.last().ok_or_else(|| Failure::usage(format!("nothing was recorded yet\n  try: {RECORD}")))?;
    Ok(i64::try_from(last.wall_ms / 1000).unwrap_or_default())
}

fn not_found(error: NotFound, at: i64) -> anyhow::Error {
    let seconds = |ms: u64| when::words(i64::try_from(ms / 1000).unwrap_or_default());
    let at = when::words(at);
    let text = match error {
        NotFound::Nothing(dir) => {
            format!("nothing was recorded in {}\n  try: {RECORD}", escape(&dir.display().to_string()))
        }
        NotFound::Before(first) => {
            format!("nothing was recorded at {at}: history begins at {}\n  try: ramline history", seconds(first))
        }
        NotFound::After(last) => {
            format!("nothing was recorded at {at}: the last frame is of {}\n  try: {RECORD}", seconds(last))
        }
        NotFound::Gap(gap) => format!(
            "nothing was recorded from {} to {}: {}\n  try: --at '{}'",
            seconds(gap.from_ms),
            seconds(gap.to_ms),
            escape(&gap.why.words()),
            seconds(gap.from_ms)
        ),
        NotFound::Error(error) => return error.into(),
    };
    Failure::usage(text).into()
}
