//! Progress on stderr: drawn on a terminal; elsewhere a line every 10 s, the first after 3 s, and one for each run that has ended.
//! A look that as a rule is over at once is not drawn before 3 s either ([`Terminal::look`]).

use std::io;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread::JoinHandle;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use ramline_evidence::{RunRecord, Sample};
use ramline_kernel::worker;
use ramline_sandbox::progress::{Pace, Progress};
use ramline_view::screen::{self, Live};
use ramline_view::text::plain;

use crate::prelude::*;
use crate::terminal::{can_draw_progress, is_plain};

/// The room the spinner and the clock take.
const MARGIN: u16 = 9;

/// In a pipe: what is over by then needs no line. On a terminal: a look that is over by then needs no word.
const FIRST: Duration = Duration::from_secs(3);
/// And then a line so often.
const NEXT_LINE: Duration = Duration::from_secs(10);
/// What is drawn moves so often.
const MOVES: Duration = Duration::from_millis(120);

/// What is going on, for how long, and what it looks like.
#[derive(Debug)]
pub struct Terminal {
    bar: ProgressBar,
    /// Where nothing can be drawn: say what has ended.
    lines: bool,
    now: Arc<Mutex<Now>>,
    /// What happens when it is time.
    clock: Option<Clock>,
}

/// A thread that does something after [`FIRST`], and then every [`NEXT_LINE`] while that says so; until it is dropped.
#[derive(Debug)]
struct Clock {
    over: mpsc::Sender<()>,
    thread: Option<JoinHandle<()>>,
}

impl Clock {
    fn begin(strike: impl Fn() -> bool + Send + 'static) -> Clock {
        let (over, ended) = mpsc::channel();
        let thread = worker::spawn("clock", move || {
            let mut wait = FIRST;
            // A message, or the end of the sender, is the end of the work.
            while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) && strike() {
                wait = NEXT_LINE;
            }
        });
        Clock { over, thread: Some(thread) }
    }

    /// Where nothing can be drawn: says where the work is.
    fn lines(now: Arc<Mutex<Now>>) -> Clock {
        let begun = Instant::now();
        Clock::begin(move || {
            let text = now.lock().unwrap_or_else(PoisonError::into_inner).text();
            // What the sandbox's memory looks like is drawn, not told.
            if let Some(text) = text.lines().next() {
                output::tell(&format!("{} s: {text}", begun.elapsed().as_secs()));
            }
            true
        })
    }

    /// Begins to draw.
    fn curtain(bar: ProgressBar) -> Clock {
        Clock::begin(move || {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            bar.enable_steady_tick(MOVES);
            false
        })
    }
}

impl Drop for Clock {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.over.send(());
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// What is drawn, several times a second, so that its clocks go on.
#[derive(Debug, Default)]
struct Now {
    /// What is being set up; of a run, what it is doing.
    doing: String,
    /// Of a look: what was asked by now.
    so_far: Option<Arc<RunningCount>>,
    rounds: u32,
    run: Option<Run>,
    sample: Option<Sample>,
    pace: Pace,
}

#[derive(Debug)]
struct Run {
    arm: String,
    order: u32,
    total: u32,
    began: Instant,
}

impl Terminal {
    /// Starts drawing; on anything but a terminal it says a line from time to time.
    pub fn new() -> Self {
        Terminal::beginning(Now::default(), true)
    }

    /// For a series whose runs have so many rounds; on anything but a terminal it says a line for each run.
    pub fn series(rounds: u32) -> Self {
        let mut terminal = Terminal::new();
        terminal.lines = !can_draw_progress();
        terminal.change(|now| now.rounds = rounds);
        terminal
    }

    /// For a look at files, whose answer comes at once as a rule: how many were asked by now, from [`FIRST`] on.
    pub fn look(so_far: &Arc<RunningCount>) -> Self {
        Terminal::beginning(Now { so_far: Some(Arc::clone(so_far)), ..Now::default() }, false)
    }

    fn beginning(now: Now, at_once: bool) -> Self {
        let (draws, may_run) = (can_draw_progress(), worker::are_allowed());
        let now = Arc::new(Mutex::new(now));
        let bar = if draws && at_once { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
        let drawn = Arc::clone(&now);
        let draw = move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
            let now = drawn.lock().unwrap_or_else(PoisonError::into_inner);
            let text = now.text();
            // A line that cannot be drawn is drawn the next time.
            let _ = out.write_str(&if is_plain() { plain(&text) } else { text.into() });
        };
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed:>4} {now}") {
            let style = if is_plain() { style.tick_chars("|/-\\ ") } else { style };
            bar.set_style(style.with_key("now", draw));
        }
        let clock = match (draws, at_once) {
            // All of these run in a thread.
            _ if !may_run => None,
            (true, true) => {
                bar.enable_steady_tick(MOVES);
                None
            }
            (true, false) => Some(Clock::curtain(bar.clone())),
            (false, _) => Some(Clock::lines(Arc::clone(&now))),
        };
        Terminal { bar, lines: false, now, clock }
    }

    /// What is going on now.
    pub fn now(&self, what: String) {
        self.change(|now| now.doing = what);
    }

    /// Prints something else, which what is drawn does not disturb.
    pub fn aside(&self, print: impl FnOnce()) {
        self.bar.suspend(print);
    }

    fn change(&self, how: impl FnOnce(&mut Now)) {
        how(&mut self.now.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn say(&self, line: &str) {
        if self.lines {
            output::tell(line);
        }
    }
}

impl Now {
    fn text(&self) -> String {
        let Some(run) = &self.run else {
            let asked = self.so_far.as_ref().filter(|_| self.doing.is_empty());
            return asked.map_or_else(|| self.doing.clone(), |at| cache::looking(at.files(), at.resident()));
        };
        let so_far = run.began.elapsed();
        let columns = terminal_size::terminal_size_of(io::stderr()).map_or(80, |(width, _)| width.0);
        let live = Live {
            arm: &run.arm,
            order: run.order,
            total: run.total,
            rounds: self.rounds,
            phase: &self.doing,
            run_s: so_far.as_secs_f64(),
            left_s: self.left(run, so_far),
            sample: self.sample.as_ref(),
        };
        let width = usize::from(columns.saturating_sub(MARGIN)).clamp(30, 120);
        screen::live(&live, &Style { colour: false, width })
    }

    fn left(&self, run: &Run, so_far: Duration) -> Option<f64> {
        self.pace.left(&run.arm, run.order, run.total, so_far).map(|left| left.as_secs_f64())
    }
}

impl Progress for Terminal {
    fn step(&mut self, what: &str) {
        let what = ramline_view::escape(what);
        self.say(&what);
        self.change(|now| (now.doing, now.run) = (what.into_owned(), None));
    }

    fn phase(&mut self, what: &str) {
        self.change(|now| what.clone_into(&mut now.doing));
    }

    fn begin(&mut self, order: u32, total: u32, arm: &str) {
        let run = Run { arm: arm.to_owned(), order, total, began: Instant::now() };
        self.change(|now| (now.doing, now.run, now.sample) = (String::new(), Some(run), None));
    }

    fn sample(&mut self, sample: &Sample) {
        self.change(|now| now.sample = Some(sample.clone()));
    }

    fn end(&mut self, record: &RunRecord) {
        let mut line = None;
        self.change(|now| {
            let Some(run) = now.run.take() else { return };
            let took = run.began.elapsed();
            now.pace.ended(&run.arm, took);
            let left = now.left(&run, took);
            line = Some(screen::run_ended(record, run.order, run.total, took.as_secs_f64(), left));
            "putting back what the run made".clone_into(&mut now.doing);
            (now.sample, now.run) = (None, Some(run));
        });
        self.say(line.as_deref().unwrap_or_default());
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        drop(self.clock.take());
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_look_it_is_told_what_was_asked_until_there_is_something_else_to_say() {
        let mut now = Now { so_far: Some(Arc::new(RunningCount::default())), ..Now::default() };
        assert_eq!(now.text(), "0 files asked, 0 B of them in the page cache");
        now.doing = "writing".to_owned();
        assert_eq!(now.text(), "writing");
        assert_eq!(Now::default().text(), "", "and without either nothing");
    }
}
