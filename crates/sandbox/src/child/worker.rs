//! A worker process: executes requests one at a time, inside a group or beside it.
//!
//! The same for every experiment that asks what happens when something reads, maps or writes a file. End of input ends it.
//! Residency and counters are read from outside.

use super::end::End;
use super::lines::{self, LONGEST};
use super::request::{Executor, Request, Response};
use super::supervisor::{Event, Supervisor};
use crate::prelude::*;

/// Its kind of child.
pub const KIND: &str = "worker";
/// Time between looks at signals while a request is executed.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How waiting for a response ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Polled {
    /// With it.
    Response(Response),
    /// It is not there yet.
    Pending,
    /// The worker is dead.
    Ended(End),
}

/// A worker, seen from outside. Dropping it ends it.
#[derive(Debug)]
pub struct Worker {
    child: Supervisor<std::result::Result<Response, String>>,
}

impl Worker {
    /// Starts one, inside `group` where one is given; through the journal.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(run: &mut Run, group: Option<&Group>) -> Result<Worker> {
        Ok(Worker { child: Supervisor::start(&mut super::command(KIND, &())?, group, run)? })
    }

    /// Its pid.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.child.pid()
    }

    /// Sends a request and does not wait.
    pub fn send(&mut self, request: &Request) {
        self.child.send(request);
    }

    /// Waits so long for the response.
    ///
    /// # Errors
    /// A signal came, or the request could not be executed.
    pub fn poll(&mut self, wait: Duration) -> Result<Polled> {
        match self.child.next_event_by(Instant::now() + wait)? {
            Event::Report(done) | Event::Waiting(done) => done.map(Polled::Response).map_err(LabError::Workload),
            Event::Tick => Ok(Polled::Pending),
            Event::Ended(end) => Ok(Polled::Ended(end)),
        }
    }

    /// Sends a request and waits for the response.
    ///
    /// # Errors
    /// As [`Worker::poll`]; also when the worker is dead or `limit` has passed.
    pub fn execute(&mut self, request: &Request, limit: Duration) -> Result<Response> {
        self.send(request);
        let late = Instant::now() + limit;
        loop {
            match self.poll(LOOK_EVERY)? {
                Polled::Response(response) => return Ok(response),
                Polled::Ended(end) => {
                    return Err(LabError::Workload(format!("it ended in the middle of a request: {}", end.status)));
                }
                Polled::Pending if Instant::now() > late => {
                    return Err(LabError::Workload(format!("a request was not executed in {} s", limit.as_secs())));
                }
                Polled::Pending => {}
            }
        }
    }
}

/// The worker itself: executes requests until its input ends.
///
/// # Errors
/// The supervisor is gone.
pub fn main(_task: Value) -> Result<()> {
    let mut executor = Executor::default();
    while let Some(line) = lines::next(&mut std::io::stdin().lock(), LONGEST) {
        let request = ramline_units::json::parse(&line)
            .map_err(|error| LabError::Workload(format!("the request is not readable: {error}")));
        let response = request.and_then(|request| executor.execute(&request));
        super::report(&response.map_err(|error| lines::short(&error)))?;
    }
    Ok(())
}
