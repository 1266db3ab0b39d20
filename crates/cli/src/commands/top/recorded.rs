//! A moment that 'ramline record' has written, in the views of the live screen.

use ramline_live::{Page, Time, ViewRequest};
use ramline_model::moments::{KEPT, Moment, Moments};
use ramline_recorder::{Archive, Recorded, Step};
use ramline_view::ShowMemory;
use ramline_view::sheet::Sheet;
use ramline_view::top::{Overview, first_line};

use super::views::{self, FILES, OVERVIEW};
use crate::prelude::*;
use crate::{past, when};

/// What the curves of the overview are made of.
const SECTIONS: [&str; 8] =
    ["schema_version", "machine", "meminfo", "vmstat", "swaps", "pressure_memory", "pressure_io", "pressure_cpu"];

/// A recorded moment, and those before it.
pub struct RecordedMoment {
    recorded: Recorded,
    moments: Moments,
}

impl RecordedMoment {
    /// Another time; `None` is now.
    ///
    /// # Errors
    /// There is no such moment.
    pub fn go_to(from: Option<&RecordedMoment>, history: Option<&Path>, time: &Time) -> Result<Option<RecordedMoment>> {
        let step = match time {
            Time::Now => return Ok(None),
            Time::At(text) => {
                let dir = dir(history)?;
                return Ok(Some(RecordedMoment::new(past::moment(&dir, text)?, &dir)));
            }
            Time::Before => Step::Back,
            Time::After => Step::Forward,
        };
        let dir = dir(history)?;
        Ok(Some(RecordedMoment::new(next_to(&dir, from, step)?, &dir)))
    }

    fn new(recorded: Recorded, dir: &Path) -> RecordedMoment {
        let seen = Archive::open(dir).map(|archive| archive.last_before(recorded.at.wall_ms, KEPT, &SECTIONS));
        let mut moments = Moments::default();
        for pair in seen.unwrap_or_default().windows(2) {
            if let Ok(window) = Window::new(&pair[0], &pair[1]) {
                moments.push(Moment::new(&window));
            }
        }
        RecordedMoment { recorded, moments }
    }

    /// When it was.
    pub fn name(&self) -> String {
        past::words(&self.recorded)
    }

    /// What was seen then, and before it for rates.
    pub const fn both(&self) -> (&Snapshot, Option<&Snapshot>) {
        (&self.recorded.snapshot, self.recorded.before.as_ref())
    }

    /// A view of it.
    pub fn page(&self, ask: &ViewRequest<'_>) -> Page {
        let (seen, before) = self.both();
        let window = before.and_then(|before| Window::new(before, seen).ok());
        let note = self.name();
        if ask.view == OVERVIEW {
            let overview = Overview::new(seen, window.as_ref(), &self.moments);
            return Page { first: overview.verdict(), parts: overview.parts(), depth: Depth::Brief, note };
        }
        let first = first_line(&ShowMemory::new(seen, window.as_ref()));
        let (sheet, depth) = match views::topic(ask.view) {
            Some(topic) => ((topic.sheet)(seen, window.as_ref(), ask.sort, ask.entered), topic.depth),
            None => {
                let mut sheet = Sheet::new();
                if ask.view == FILES {
                    sheet.line("Which files fill the page cache is not recorded.");
                }
                (sheet, Depth::Brief)
            }
        };
        Page { first, parts: vec![sheet], depth, note }
    }
}

fn dir(history: Option<&Path>) -> Result<PathBuf> {
    history.map_or_else(state::history_to_read, |dir| Ok(dir.to_owned()))
}

/// The moment before or after; from now, the one before is the last there is, and none is after.
fn next_to(dir: &Path, from: Option<&RecordedMoment>, step: Step) -> Result<Recorded> {
    let now = || u64::try_from(when::now()).unwrap_or_default().saturating_mul(1000).saturating_add(999);
    let at = match (from, step) {
        (Some(then), _) => then.recorded.at.wall_ms,
        (None, Step::Back) => now(),
        (None, Step::Forward) => anyhow::bail!("this is now; t goes to a time of the past"),
    };
    match (Archive::open(dir)?.next_to(at, step)?, step) {
        (Some(recorded), _) => Ok(recorded),
        (None, Step::Back) => anyhow::bail!("nothing was recorded before"),
        (None, Step::Forward) => anyhow::bail!("nothing was recorded after; Esc shows now"),
    }
}
