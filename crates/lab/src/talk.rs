//! A child of ours that works inside a sandbox, and the talk with it: its task as an argument, words to it, lines from it.
//!
//! The child is this binary, started again with the hidden argument; its task names its kind ([`crate::workload`]). It dies with
//! the thread that started it. What it is not: a watch; who looks at what, and when the child is to be ended, is the caller's.

use std::io::{BufRead, BufReader, Read, Write};
use std::marker::PhantomData;
use std::process::{Child, ChildStdin, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use ramline_act::Run;
use ramline_kernel::cgroup::Group;
use ramline_kernel::process::{self, Usage};
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::error::{LabError, Result};
use crate::protocol::LONGEST;
use crate::workload;

/// What came of waiting for a line.
#[derive(Debug)]
pub enum Heard<L> {
    /// A line.
    Line(L),
    /// Nothing yet.
    Silence,
    /// It has ended, and all it said was heard.
    Ended(ExitStatus, Usage),
}

/// A child and its lines of type `L`.
#[derive(Debug)]
pub struct Talk<L> {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<String>,
    ended: Option<(ExitStatus, Usage)>,
    kind: PhantomData<L>,
}

impl<L: DeserializeOwned> Talk<L> {
    /// Starts the child inside `group`.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(kind: &str, task: &impl Serialize, group: Option<&Group>, run: &mut Run) -> Result<Talk<L>> {
        let mut child = run.spawn_into(group, &mut workload::command(kind, task)?)?;
        let output = child.stdout.take().ok_or_else(|| LabError::Workload("it has no standard output".to_owned()))?;
        let (sender, lines) = channel();
        ramline_kernel::worker::spawn("lines", move || {
            let mut reader = BufReader::new(output);
            let most = u64::try_from(LONGEST).unwrap_or(u64::MAX) + 1;
            loop {
                let mut bytes = Vec::new();
                match reader.by_ref().take(most).read_until(b'\n', &mut bytes) {
                    Ok(read) if read > 0 => {}
                    _ => break,
                }
                if sender.send(String::from_utf8_lossy(&bytes).into_owned()).is_err() {
                    break;
                }
            }
        });
        Ok(Talk { input: child.stdin.take(), child, lines, ended: None, kind: PhantomData })
    }

    /// Its pid.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The next line, waited for no longer than `patience`. What is not a line of ours is passed over.
    ///
    /// # Errors
    /// The child cannot be waited for.
    pub fn hear(&mut self, patience: Duration) -> Result<Heard<L>> {
        let understood = |text: &str| serde_json::from_str::<L>(text).ok().map(Heard::Line);
        if let Some((status, usage)) = self.ended {
            let left = std::iter::from_fn(|| self.lines.recv_timeout(Duration::from_millis(200)).ok());
            let next = left.filter_map(|text| understood(&text)).next();
            return Ok(next.unwrap_or(Heard::Ended(status, usage)));
        }
        match self.lines.recv_timeout(patience) {
            Ok(text) => return Ok(understood(&text).unwrap_or(Heard::Silence)),
            Err(RecvTimeoutError::Timeout) => {}
            // All is said; the process is ending.
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(Duration::from_millis(2)),
        }
        self.ended = process::poll_with_usage(&self.child)?;
        Ok(Heard::Silence)
    }

    /// Says a word. One who has ended hears nothing, which is no error: that it ended is heard from [`Talk::hear`].
    pub fn say(&mut self, word: &str) {
        if let Some(input) = &mut self.input {
            drop(input.write_all(format!("{word}\n").as_bytes()).and_then(|()| input.flush()));
        }
    }

    /// Waits until it has ended, for one who was killed.
    ///
    /// # Errors
    /// It cannot be waited for.
    pub fn wait(&mut self) -> Result<()> {
        if self.ended.is_none() {
            self.ended = Some(process::wait_with_usage(&self.child)?);
        }
        Ok(())
    }
}

/// The child's side: one word from the observer; empty when it is gone.
///
/// # Errors
/// Standard input cannot be read.
pub fn listen() -> Result<String> {
    let mut word = String::new();
    std::io::stdin().lock().read_line(&mut word).map_err(|error| LabError::Workload(error.to_string()))?;
    Ok(word.trim().to_owned())
}

/// The child's side: one line.
///
/// # Errors
/// Nobody listens any more.
pub fn tell(line: &impl Serialize) -> Result<()> {
    let text = serde_json::to_string(line).map_err(|error| LabError::Workload(error.to_string()))?;
    let mut out = std::io::stdout().lock();
    out.write_all(format!("{text}\n").as_bytes())
        .and_then(|()| out.flush())
        .map_err(|_| LabError::Workload("the observer does not listen any more".to_owned()))
}
