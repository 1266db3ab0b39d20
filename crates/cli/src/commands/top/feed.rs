//! What the live screen is fed with: readings of this machine, each view's as often as its cost allows.
//!
//! What is cheap is read at every refresh. What costs more than its share (below) is read again only when so much time has passed that it stays within it;
//! its age is said. Nothing walks page tables.

use std::rc::Rc;

use ramline_advice::Inputs;
use ramline_gather::Session;
use ramline_kernel::own_memory;
use ramline_live::{Feed, Page, Time, View, ViewRequest};
use ramline_model::moments::{Moment, Moments};
use ramline_view::figure;
use ramline_view::sheet::Sheet;
use ramline_view::text::number;
use ramline_view::top::{Overview, first_line};
use ramline_view::{ShowMemory, screen};

use super::files::Files;
use super::recorded::RecordedMoment;
use super::views::{self, FILES, OVERVIEW, Topic, VIEWS};
use crate::prelude::*;
use crate::watch;

/// A costly reading has one part in so many of a processor's time: half of the one per cent that a screen may cost beside what it watches.
const SHARE: u32 = 200;
/// Rates of the first line are of so long at least, as those of `ramline show --for 2`: PSI is noisy over less.
const STEADY: Duration = Duration::from_secs(2);
/// Memory that is not needed any more is given back after every so many readings, and of them first after these.
const TIDY: u32 = 30;
const TIDY_FIRST: u32 = 3;

/// A cached snapshot of a view, and its sheet.
struct CachedSheet {
    view: usize,
    seen: Rc<Snapshot>,
    before: Option<Rc<Snapshot>>,
    at: Instant,
    due: Instant,
}

/// This machine, watched.
pub struct Live<'a> {
    root: &'a Root,
    /// What is read of it stays open.
    session: Session,
    readings: u32,
    every: Duration,
    /// The last readings of the first line, the latest last.
    last: Vec<(Instant, Rc<Snapshot>)>,
    moments: Moments,
    kept: Option<CachedSheet>,
    files: Files,
    /// Where the history is.
    history: Option<PathBuf>,
    /// The recorded moment that is shown.
    then: Option<RecordedMoment>,
}

impl<'a> Live<'a> {
    /// Nothing was read yet.
    pub fn new(root: &'a Root, every: Duration, history: Option<PathBuf>) -> Live<'a> {
        let (last, moments, files) = (Vec::new(), Moments::default(), Files::new());
        let session = Session::new(root);
        Live { root, session, readings: 0, every, last, moments, kept: None, files, history, then: None }
    }

    /// For tests: files were looked at, and for a minute next to nothing moved.
    #[cfg(test)]
    pub fn pretend(&mut self, cached: &ramline_snapshot::cache::Top) {
        self.files = Files::seen(cached);
        for second in 0..60 {
            let moved = Bytes::from_mib(if second == 30 { 4 } else { 0 });
            let share = Some(if second == 31 { 0.002 } else { 0.0 });
            self.moments.push(Moment {
                available: Some(0.75),
                stalled: share,
                refaults: Some(moved),
                swapped_in: Some(moved),
                swapped_out: Some(Bytes::ZERO),
                scanned: Some(Bytes::ZERO),
            });
        }
    }

    fn read(&mut self, wanted: Wanted) -> Snapshot {
        self.session.snapshot(wanted)
    }

    /// Reads what the first line rests on, and notes the moment.
    fn look(&mut self) -> (Rc<Snapshot>, Option<Rc<Snapshot>>) {
        let (now, seen) = (Instant::now(), Rc::new(self.read(Overview::WANTED)));
        self.readings = self.readings.wrapping_add(1);
        if self.readings % TIDY == TIDY_FIRST {
            own_memory::give_back();
        }
        if let Some((_, before)) = self.last.last()
            && let Ok(window) = Window::new(before, &seen)
        {
            self.moments.push(Moment::new(&window));
        }
        self.last.push((now, Rc::clone(&seen)));
        // The youngest that is old enough, and those after it.
        let is_old = |(at, _): &(Instant, Rc<Snapshot>)| now.saturating_duration_since(*at) >= STEADY;
        let first = self.last.iter().rposition(is_old).unwrap_or(0);
        self.last.drain(..first);
        let before = self.last.first().filter(|(at, _)| *at < now).map(|(_, before)| Rc::clone(before));
        (seen, before)
    }

    /// The sheet of a view, read again where it is due.
    fn topic(&mut self, topic: Topic, ask: &ViewRequest<'_>) -> (Sheet, Instant) {
        let now = Instant::now();
        let known = self.kept.take_if(|kept| kept.view == ask.view);
        let kept = match known {
            Some(kept) if now < kept.due && !ask.again => kept,
            known => self.again(topic, ask, known.map(|kept| kept.seen)),
        };
        let window = kept.before.as_deref().and_then(|before| Window::new(before, &kept.seen).ok());
        let sheet = (topic.sheet)(&kept.seen, window.as_ref(), ask.sort, ask.entered);
        let at = kept.at;
        self.kept = Some(kept);
        (sheet, at)
    }

    fn again(&mut self, topic: Topic, ask: &ViewRequest<'_>, before: Option<Rc<Snapshot>>) -> CachedSheet {
        let begun = cpu();
        let seen = Rc::new(self.read(topic.wanted));
        let cost = cpu().saturating_sub(begun);
        let at = Instant::now();
        let wait = if topic.is_costly { (cost * SHARE).max(self.every) } else { Duration::ZERO };
        CachedSheet { view: ask.view, seen, before, at, due: at + wait }
    }
}

/// Processor time of this process so far.
fn cpu() -> Duration {
    process::own_usage().map(|usage| Duration::from_nanos(usage.cpu().0)).unwrap_or_default()
}

impl Feed for Live<'_> {
    fn views(&self) -> &'static [View] {
        VIEWS
    }

    fn page(&mut self, ask: &ViewRequest<'_>) -> Page {
        if let Some(then) = &self.then {
            return then.page(ask);
        }
        let (seen, before) = self.look();
        let window = before.as_deref().and_then(|before| Window::new(before, &seen).ok());
        let clock = watch::clock();
        if ask.view == OVERVIEW {
            let overview = Overview::new(&seen, window.as_ref(), &self.moments);
            return Page { first: overview.verdict(), parts: overview.parts(), depth: Depth::Brief, note: clock };
        }
        let first = first_line(&ShowMemory::new(&seen, window.as_ref()));
        let (sheet, at, depth) = match views::topic(ask.view) {
            Some(topic) => {
                let (sheet, at) = self.topic(topic, ask);
                (sheet, Some(at), topic.depth)
            }
            None if ask.view == FILES => {
                let (sheet, at) = self.files.sheet(self.root, ask.again);
                (sheet, at, Depth::Brief)
            }
            None => (Sheet::new(), None, Depth::Brief),
        };
        let age = at.map(|at| at.elapsed().as_secs()).filter(|seconds| *seconds > 0);
        let age = age.map(|seconds| format!("read {} ago  ", number::things(seconds, "second"))).unwrap_or_default();
        Page { first, parts: vec![sheet], depth, note: format!("{age}{clock}") }
    }

    fn go_to(&mut self, time: &Time) -> Result<Option<String>, String> {
        // The last line has one line.
        let first_line = |error: anyhow::Error| error.to_string().lines().next().unwrap_or_default().to_owned();
        self.then = RecordedMoment::go_to(self.then.as_ref(), self.history.as_deref(), time).map_err(first_line)?;
        Ok(self.then.as_ref().map(RecordedMoment::name))
    }

    fn explain(&mut self, view: usize, names: &[String]) -> Result<(String, Sheet), String> {
        let numbers = names.iter().filter_map(|name| Some((name.as_str(), views::number(view, name)?)));
        // What the row is about where its own name is of no help.
        let about = views::about(view);
        let tries = numbers.chain(names.iter().map(|name| (name.as_str(), name.as_str()))).chain([(about, about)]);
        let found = tries.into_iter().find_map(|(title, name)| Some((title.to_owned(), self.explanation(name)?)));
        found.ok_or_else(|| {
            format!("nothing explains '{}'; ramline explain --list has what can be", names.join("' or '"))
        })
    }
}

impl Live<'_> {
    /// As `ramline explain NAME`: a topic, or a number.
    fn explanation(&mut self, name: &str) -> Option<Sheet> {
        let topic = ramline_advice::topic_named(name);
        let number = figure::find(name).ok();
        let wanted = topic.map(|topic| topic.wants).or_else(|| Some(number.as_ref()?.wants()))?;
        let read = if self.then.is_none() { Some(self.read(wanted)) } else { None };
        let live = self.last.first().map(|(_, before)| Rc::clone(before));
        let (seen, before) = match (&self.then, &read) {
            (Some(then), _) => then.both(),
            (None, Some(seen)) => (seen, live.as_deref()),
            (None, None) => return None,
        };
        let window = before.and_then(|before| Window::new(before, seen).ok());
        if topic.is_some() {
            let inputs = Inputs { snapshot: seen, window, tiers: None, runs: &[] };
            return ramline_advice::explain(name, &inputs).ok().map(|explained| screen::explanation(&explained));
        }
        Some(number?.figure(seen, window.as_ref()).sheet())
    }
}
