//! A servant: this binary again, inside a group or beside it, doing one job with a file after the other as it is told.
//!
//! What it is: the same for every experiment that asks "what happens when somebody reads, maps or writes this". Jobs go in and
//! answers come out as JSON, a line each; end of file ends it, and it dies with its observer. What it is not: trusted with
//! anything beyond the files it is told, and no judge: residency and counters are read from outside.

mod jobs;

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ExitCode};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use ramline_act::Run;
use ramline_kernel::cgroup::Group;
use ramline_kernel::{process, signals};
use ramline_units::{Bytes, Nanos};
use serde::{Deserialize, Serialize};

pub use jobs::{How, Job};

use crate::error::{LabError, Result};
use crate::workload;

/// How often we look whether a signal has come while a job goes on.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Its kind of workload; the task is the pid of the observer, without which it ends.
pub const KIND: &str = "servant";

/// The answer to one job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Done {
    /// Wall time.
    pub took: Nanos,
    /// User time.
    pub user: Nanos,
    /// System time.
    pub system: Nanos,
    /// Faults that needed I/O.
    pub major_faults: u64,
    /// Faults that did not.
    pub minor_faults: u64,
    /// Bytes read, written or touched.
    pub bytes: Bytes,
    /// Single calls or touches made.
    pub calls: u64,
}

#[derive(Debug, Serialize, Deserialize)]
enum Answer {
    Done(Done),
    Failed(String),
}

/// How waiting for an answer ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Heard {
    /// The job is done.
    Done(Done),
    /// Not yet.
    Nothing,
    /// It is dead; by what.
    Gone(String),
}

/// A servant, seen from outside. Dropping it ends it.
#[derive(Debug)]
pub struct Servant {
    child: Child,
    input: Option<ChildStdin>,
    answers: Receiver<Answer>,
}

impl Servant {
    /// Starts one, inside `group` where one is given; through the journal.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(run: &mut Run, group: Option<&Group>) -> Result<Servant> {
        let mut child = run.spawn_into(group, &mut workload::command(KIND, &std::process::id())?)?;
        let input = child.stdin.take();
        let output = child.stdout.take().ok_or_else(|| LabError::Workload("it has no standard output".to_owned()))?;
        let (sender, answers) = channel();
        ramline_kernel::worker::spawn("answers", move || {
            for line in BufReader::new(output).lines().map_while(std::result::Result::ok) {
                let Ok(answer) = serde_json::from_str(&line) else { continue };
                if sender.send(answer).is_err() {
                    break;
                }
            }
        });
        Ok(Servant { child, input, answers })
    }

    /// Its pid.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Gives it a job and does not wait.
    ///
    /// # Errors
    /// It is gone.
    pub fn tell(&mut self, job: &Job) -> Result<()> {
        let text = serde_json::to_string(job).map_err(|error| LabError::Workload(error.to_string()))?;
        let input = self.input.as_mut().ok_or_else(|| LabError::Workload("it has no standard input".to_owned()))?;
        writeln!(input, "{text}").map_err(|error| LabError::Workload(error.to_string()))
    }

    /// Waits so long for the answer.
    ///
    /// # Errors
    /// A signal came, or the job could not be done.
    pub fn hear(&mut self, wait: Duration) -> Result<Heard> {
        if signals::interrupted() {
            return Err(LabError::Interrupted);
        }
        match self.answers.recv_timeout(wait) {
            Ok(Answer::Done(done)) => Ok(Heard::Done(done)),
            Ok(Answer::Failed(why)) => Err(LabError::Workload(why)),
            Err(RecvTimeoutError::Timeout) => Ok(Heard::Nothing),
            Err(RecvTimeoutError::Disconnected) => {
                let status = self.child.wait().map_err(|error| LabError::Workload(error.to_string()))?;
                // A signal of the terminal reaches the servant too: its end is no result then.
                if signals::interrupted() {
                    return Err(LabError::Interrupted);
                }
                Ok(Heard::Gone(status.to_string()))
            }
        }
    }

    /// Gives it a job and waits for the answer.
    ///
    /// # Errors
    /// As [`Servant::hear`]; also when it is gone or `limit` has passed.
    pub fn ask(&mut self, job: &Job, limit: Duration) -> Result<Done> {
        self.tell(job)?;
        let end = Instant::now() + limit;
        loop {
            match self.hear(LOOK_EVERY)? {
                Heard::Done(done) => return Ok(done),
                Heard::Gone(how) => return Err(LabError::Workload(format!("it ended in the middle of a job: {how}"))),
                Heard::Nothing if Instant::now() > end => {
                    return Err(LabError::Workload(format!("a job was not done after {} s", limit.as_secs())));
                }
                Heard::Nothing => {}
            }
        }
    }
}

impl Drop for Servant {
    fn drop(&mut self) {
        self.input = None;
        // Ended already is what we want; one that is stuck is looked after by the journal.
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

/// Serves the process with this pid.
#[must_use]
pub fn main(observer: &str) -> ExitCode {
    let observer =
        observer.parse().map_err(|_| LabError::Workload("a servant needs the pid of its observer".to_owned()));
    let tied = observer.and_then(|observer| process::die_with_parent(observer).map_err(LabError::from));
    if tied.and_then(|()| serve()).is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn serve() -> Result<()> {
    let mut hands = jobs::Hands::default();
    for line in std::io::stdin().lock().lines().map_while(std::result::Result::ok) {
        let answer = serde_json::from_str::<Job>(&line)
            .map_err(|error| LabError::Workload(format!("the job is not readable: {error}")))
            .and_then(|job| hands.timed(&job));
        let answer = match answer {
            Ok(done) => Answer::Done(done),
            Err(error) => Answer::Failed(error.to_string().lines().next().unwrap_or_default().to_owned()),
        };
        let text = serde_json::to_string(&answer).map_err(|error| LabError::Workload(error.to_string()))?;
        let mut out = std::io::stdout().lock();
        writeln!(out, "{text}")
            .and_then(|()| out.flush())
            .map_err(|_| LabError::Workload("the observer does not listen any more".to_owned()))?;
    }
    Ok(())
}
