//! Progress on stderr: drawn on a terminal; elsewhere a line every 10 s, the first after 3 s, and one for each run that has ended.

use std::io;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use ramline_evidence::{RunRecord, Sample};
use ramline_kernel::worker;
use ramline_lab::progress::{Pace, Progress};
use ramline_view::screen::{self, Live};
use ramline_view::text::{Style, plain};

use crate::output;
use crate::terminal::{can_draw_progress, is_plain};

/// The room the spinner and the clock take.
const MARGIN: u16 = 9;

/// In a pipe: what is over by then needs no line.
const FIRST_LINE: Duration = Duration::from_secs(3);
/// And then so often.
const NEXT_LINE: Duration = Duration::from_secs(10);

/// What is going on, for how long, and what it looks like.
#[derive(Debug)]
pub struct Terminal {
    bar: ProgressBar,
    /// Where nothing can be drawn: say what has ended.
    lines: bool,
    now: Arc<Mutex<Now>>,
    /// Where nothing can be drawn: lines from time to time.
    told: Option<Told>,
}

/// A thread that says where the work is, until it is dropped.
#[derive(Debug)]
struct Told {
    over: mpsc::Sender<()>,
    thread: Option<JoinHandle<()>>,
}

impl Told {
    fn begin(now: Arc<Mutex<Now>>) -> Told {
        let (over, ended) = mpsc::channel();
        let begun = Instant::now();
        let thread = worker::spawn("clock", move || {
            let mut wait = FIRST_LINE;
            // A message, or the end of the sender, is the end of the work.
            while ended.recv_timeout(wait) == Err(RecvTimeoutError::Timeout) {
                let text = now.lock().unwrap_or_else(PoisonError::into_inner).text();
                // What the sandbox's memory looks like is drawn, not told.
                if let Some(text) = text.lines().next() {
                    output::tell(&format!("{} s: {text}", begun.elapsed().as_secs()));
                }
                wait = NEXT_LINE;
            }
        });
        Told { over, thread: Some(thread) }
    }
}

impl Drop for Told {
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
        let draws = can_draw_progress();
        let may_run = worker::are_allowed();
        let now = Arc::new(Mutex::new(Now::default()));
        let bar = if draws { ProgressBar::new_spinner() } else { ProgressBar::hidden() };
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
        // Its clock runs in a thread.
        if draws && may_run {
            bar.enable_steady_tick(Duration::from_millis(120));
        }
        let told = (!draws && may_run).then(|| Told::begin(Arc::clone(&now)));
        Terminal { bar, lines: false, now, told }
    }

    /// For a series whose runs have so many rounds; on anything but a terminal it says a line for each run.
    pub fn series(rounds: u32) -> Self {
        let mut terminal = Terminal::new();
        terminal.lines = !can_draw_progress();
        terminal.change(|now| now.rounds = rounds);
        terminal
    }

    /// For one long step that prints its answer itself: lines in a pipe, nothing on a terminal.
    pub fn in_a_pipe(what: &str) -> Option<Self> {
        (!can_draw_progress()).then(|| {
            let mut terminal = Terminal::new();
            terminal.step(what);
            terminal
        })
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
        let Some(run) = &self.run else { return self.doing.clone() };
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
        drop(self.told.take());
        self.bar.finish_and_clear();
    }
}
