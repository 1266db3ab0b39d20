//! The terminal: taken for a live screen, and given back as it was, whatever ends the program but SIGKILL.
//!
//! What is switched: raw mode, the other screen, the cursor. It is switched back on the way out, by the hook of a panic before that says what it
//! was, and before the program stops (Ctrl-Z, SIGTSTP); it is switched again when it goes on.

use std::io::{self, BufWriter, Stdout, Write};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use crossterm::cursor::{Hide, Show};
use crossterm::terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode};
use crossterm::{ExecutableCommand, style};
use ratatui_core::layout::{Position, Rect};
use ratatui_core::terminal::Terminal;
use ratatui_crossterm::CrosstermBackend;
use signal_hook::consts::{SIGCONT, SIGTSTP};

use crate::app::App;
use crate::draw::draw;
use crate::page::Looks;

/// It is switched: for the hook of a panic, which knows nothing else.
static SWITCHED: AtomicBool = AtomicBool::new(false);
/// Held while a frame is written, so that the hook of a panic in another thread does not give the terminal back in the middle of one.
static DRAWING: Mutex<()> = Mutex::new(());
/// The hook waits so often for a frame to end, and so long each time; should the panic be in the drawing itself, it never does.
const PATIENCE: (u32, Duration) = (40, Duration::from_millis(5));
/// A frame is written in one piece, where it is no larger: 250 columns of 70 lines with their colours are less than this.
const FRAME: usize = 64 << 10;

type Backend = CrosstermBackend<BufWriter<Stdout>>;

/// A terminal that is switched.
pub struct Screen {
    terminal: Terminal<Backend>,
    stop: Arc<AtomicBool>,
    resumed: Arc<AtomicBool>,
}

impl Screen {
    /// Takes the terminal.
    ///
    /// # Errors
    /// It cannot be switched, or is gone.
    pub fn take(looks: Looks) -> io::Result<Screen> {
        style::force_color_output(looks.colour);
        let (stop, resumed) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicBool::new(false)));
        signal_hook::flag::register(SIGTSTP, Arc::clone(&stop))?;
        signal_hook::flag::register(SIGCONT, Arc::clone(&resumed))?;
        let tell = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            for _ in 0..PATIENCE.0 {
                if DRAWING.try_lock().is_ok() {
                    break;
                }
                std::thread::sleep(PATIENCE.1);
            }
            drop(give_back());
            tell(panic);
        }));
        // Before anything can fail: what is switched is switched back by `drop`.
        let backend = CrosstermBackend::new(BufWriter::with_capacity(FRAME, io::stdout()));
        let screen = Screen { terminal: Terminal::new(backend)?, stop, resumed };
        switch()?;
        Ok(screen)
    }

    /// Draws what has changed since the frame before.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn draw(&mut self, app: &mut App) -> io::Result<()> {
        let _held = DRAWING.lock().unwrap_or_else(PoisonError::into_inner);
        // After a panic in another thread it is the shell's again.
        if SWITCHED.load(Ordering::SeqCst) {
            self.terminal.draw(|frame| draw(app, frame.buffer_mut()))?;
        }
        Ok(())
    }

    /// Forgets what was drawn: the next frame is drawn whole.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn forget(&mut self) -> io::Result<()> {
        // Not `clear`, which asks the terminal where its cursor is and fails where nothing answers.
        let size = self.terminal.size()?;
        self.terminal.resize(Rect::from((Position::ORIGIN, size)))
    }

    /// Stops the program, with the terminal given back meanwhile, and takes it again when it goes on.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn stop(&mut self) -> io::Result<()> {
        give_back()?;
        self.stop.store(false, Ordering::SeqCst);
        signal_hook::low_level::emulate_default_handler(SIGTSTP)?;
        self.take_again()
    }

    fn take_again(&mut self) -> io::Result<()> {
        self.resumed.store(false, Ordering::SeqCst);
        switch()?;
        self.forget()
    }

    /// Does what signals have asked for; true where the next frame is drawn whole.
    ///
    /// # Errors
    /// The terminal is gone.
    pub fn signals(&mut self) -> io::Result<bool> {
        if self.stop.load(Ordering::SeqCst) {
            self.stop()?;
            return Ok(true);
        }
        // It was stopped by a signal that cannot be caught, and something else may have used the terminal.
        if self.resumed.swap(false, Ordering::SeqCst) {
            SWITCHED.store(false, Ordering::SeqCst);
            self.take_again()?;
            return Ok(true);
        }
        Ok(false)
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        drop(give_back());
    }
}

fn switch() -> io::Result<()> {
    if !SWITCHED.swap(true, Ordering::SeqCst) {
        enable_raw_mode()?;
        io::stdout().execute(EnterAlternateScreen)?.execute(Hide)?;
    }
    Ok(())
}

fn give_back() -> io::Result<()> {
    if SWITCHED.swap(false, Ordering::SeqCst) {
        let shown = io::stdout().execute(LeaveAlternateScreen).and_then(|out| out.execute(Show)).and_then(Write::flush);
        disable_raw_mode()?;
        shown?;
    }
    Ok(())
}
