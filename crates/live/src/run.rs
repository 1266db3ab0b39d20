//! The loop: a page every so often, keys between them, signals seen within a quarter of a second.
//!
//! A terminal that is slow makes the loop wait while it writes, so that fewer pages are asked for; none is queued.

use std::io;
use std::time::{Duration, Instant};

use crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::app::{App, Effect};
use crate::keys::Key;
use crate::page::{Feed, Looks};
use crate::terminal::Screen;

/// A signal is seen after so long at the latest.
const SLICE: Duration = Duration::from_millis(250);

/// How a live screen is run.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// Time between two pages.
    pub every: Duration,
    /// What the terminal can show.
    pub looks: Looks,
    /// True once a signal has asked to end.
    pub interrupted: fn() -> bool,
}

/// Shows pages until a key or a signal ends it.
///
/// # Errors
/// The terminal cannot be switched, or is gone.
pub fn run(feed: &mut dyn Feed, options: Options) -> io::Result<()> {
    let mut screen = Screen::take(options.looks)?;
    let mut app = App::new(feed.views(), options.looks);
    let mut next = Instant::now();
    let mut todo = Effect::Draw;
    while !(options.interrupted)() {
        if screen.signals()? {
            todo = Effect::Draw;
        }
        if let Effect::Ask { again } = todo {
            app.show(feed.page(&app.ask(again)));
            todo = Effect::Draw;
        }
        let now = Instant::now();
        if !app.is_still() && now >= next {
            app.show(feed.page(&app.ask(false)));
            // A page that took longer than its turn is not made up for.
            next = (next + options.every).max(Instant::now());
            todo = Effect::Draw;
        }
        if todo != Effect::Nothing {
            screen.draw(&mut app)?;
            todo = Effect::Nothing;
        }
        wait(Duration::ZERO)?;
        if !event::poll(Duration::ZERO)? {
            let left = if app.is_still() { SLICE } else { next.saturating_duration_since(Instant::now()) };
            wait(left.min(SLICE))?;
            continue;
        }
        todo = match event::read()? {
            Event::Key(pressed) if pressed.kind != KeyEventKind::Release => {
                key(pressed).map_or(Effect::Nothing, |key| app.key(key))
            }
            Event::Resize(..) => Effect::Draw,
            _ => Effect::Nothing,
        };
        match &todo {
            Effect::Quit => return Ok(()),
            Effect::Stop => screen.stop()?,
            Effect::Redraw => screen.forget()?,
            Effect::Explain(names) => app.explained(feed.explain(app.ask(false).view, names)),
            Effect::GoTo(time) => {
                app.went_to(feed.go_to(time));
                todo = Effect::Ask { again: false };
            }
            _ => {}
        }
    }
    Ok(())
}

/// Waits until the terminal is gone; false where that cannot be waited for. For a thread beside [`run`], which then ends the program should the loop not have ended it: crossterm, which reads the
/// keys, repeats a read for ever that fails or is empty, and a terminal may go between the loop's own look and that read.
#[must_use]
pub fn wait_for_hangup() -> bool {
    let stdin = io::stdin();
    loop {
        // Only what needs not be asked for: HUP, ERR, NVAL.
        match poll(&mut [PollFd::new(&stdin, PollFlags::empty())], None) {
            Ok(0) | Err(Errno::INTR) => {}
            done => return done.is_ok(),
        }
    }
}

/// Waits for input, at most so long; where the terminal is gone, keys are not asked for.
///
/// # Errors
/// The terminal is gone.
fn wait(time: Duration) -> io::Result<()> {
    let stdin = io::stdin();
    let mut keys = [PollFd::new(&stdin, PollFlags::IN)];
    match poll(&mut keys, Timespec::try_from(time).ok().as_ref()) {
        Err(Errno::INTR) => return Ok(()),
        done => done?,
    };
    if keys[0].revents().intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
        return Err(io::Error::new(io::ErrorKind::BrokenPipe, "it is gone"));
    }
    Ok(())
}

/// A key that is of use here.
const fn key(pressed: KeyEvent) -> Option<Key> {
    let control = pressed.modifiers.contains(KeyModifiers::CONTROL);
    Some(match pressed.code {
        KeyCode::Char(c) if control => Key::Control(c),
        KeyCode::Char(c) => Key::Char(c),
        KeyCode::Up => Key::Up,
        KeyCode::Down => Key::Down,
        KeyCode::Left => Key::Left,
        KeyCode::Right => Key::Right,
        KeyCode::PageUp => Key::PageUp,
        KeyCode::PageDown => Key::PageDown,
        KeyCode::Home => Key::Home,
        KeyCode::End => Key::End,
        KeyCode::Enter => Key::Enter,
        KeyCode::Esc => Key::Escape,
        KeyCode::Backspace => Key::Backspace,
        KeyCode::Tab => Key::Tab,
        KeyCode::BackTab => Key::BackTab,
        _ => return None,
    })
}
