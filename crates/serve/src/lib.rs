//! A page or two over HTTP, for a scraper on this machine: one thread, so many clients at most, and a time for each.
//!
//! What it is not: a web server. It knows GET and HEAD, answers once and closes; what it is asked beyond that is an error of one line.
//! Requests are parsed by `httparse`; no server in use has a bound for clients and times without a runtime of threads and tasks behind it.
//!
//! A client that sends nothing, or reads nothing, is given [`PATIENCE`] and then dropped, the oldest at once when all places are taken: whoever
//! scrapes in earnest is served whatever others do. Where the address is a loopback one, only requests for a name of this
//! machine are answered, so that no web page can read them through a name of its own that leads here (DNS rebinding).

mod client;
mod request;

use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::time::{Duration, Instant};

use ramline_kernel::signals;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use client::{Client, Next};
pub use request::Request;

/// Clients at one time.
pub const MOST_CLIENTS: usize = 128;
/// From the first byte of a client to the last of its answer.
pub const PATIENCE: Duration = Duration::from_secs(5);
/// Signals and times are looked at this often.
const TURN: Timespec = Timespec { tv_sec: 0, tv_nsec: 250_000_000 };

/// What is answered.
#[derive(Debug, Clone)]
pub struct Answer {
    /// The number: 200, 404.
    pub status: u16,
    /// What the body is.
    pub content_type: &'static str,
    /// The body, shared by all who get it.
    pub body: Arc<[u8]>,
}

impl Answer {
    /// An answer of one line.
    #[must_use]
    pub fn line(status: u16, text: &str) -> Answer {
        let body = format!("{text}\n").into_bytes().into();
        Answer { status, content_type: "text/plain; charset=utf-8", body }
    }
}

/// A socket that listens.
#[derive(Debug)]
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
}

impl Server {
    /// Listens at an address; with port 0 at any free one.
    ///
    /// # Errors
    /// It is in use, or not of this machine, or not allowed.
    pub fn bind(address: SocketAddr) -> io::Result<Server> {
        let listener = TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Server { address: listener.local_addr()?, listener })
    }

    /// Where it listens.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Answers until a signal comes.
    ///
    /// # Errors
    /// The socket fails.
    pub fn run(&self, answer: &mut dyn FnMut(&Request) -> Answer) -> io::Result<()> {
        let mut clients: Vec<Client> = Vec::new();
        while !signals::interrupted() {
            let (new, ready) = self.wait(&clients)?;
            let mut at = 0;
            clients.retain_mut(|client| {
                let is_ready = ready.get(at).copied().unwrap_or(false);
                at += 1;
                !client.is_late() && (!is_ready || self.turn(client, answer))
            });
            if new {
                self.accept(&mut clients)?;
            }
        }
        Ok(())
    }

    /// Whether somebody is new, and which clients can go on.
    fn wait(&self, clients: &[Client]) -> io::Result<(bool, Vec<bool>)> {
        let mut all = vec![PollFd::new(&self.listener, PollFlags::IN)];
        all.extend(clients.iter().map(|client| PollFd::new(client.socket(), client.waits_for())));
        match poll(&mut all, Some(&TURN)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let mut ready = all.iter().map(|fd| !fd.revents().is_empty());
        Ok((ready.next().unwrap_or(false), ready.collect()))
    }

    /// Goes on with a client; false when it is done with.
    fn turn(&self, client: &mut Client, answer: &mut dyn FnMut(&Request) -> Answer) -> bool {
        match client.next() {
            Next::Waits => true,
            Next::Done => false,
            Next::Asks(Err(refused)) => client.answer(&refused, true),
            Next::Asks(Ok(request)) => {
                let refused = self.address.ip().is_loopback() && !request.is_for_loopback();
                let answer = if refused {
                    Answer::line(
                        403,
                        "ramline: asked for under a name that is not of this machine; use 127.0.0.1 or localhost",
                    )
                } else {
                    answer(&request)
                };
                client.answer(&answer, !request.head_only)
            }
        }
    }

    fn accept(&self, clients: &mut Vec<Client>) -> io::Result<()> {
        // As many as wait, and not for ever.
        for _ in 0..MOST_CLIENTS {
            match self.listener.accept() {
                Ok((socket, _)) => {
                    if clients.len() >= MOST_CLIENTS {
                        // The first is the oldest.
                        drop(clients.remove(0));
                    }
                    clients.extend(Client::new(socket, Instant::now() + PATIENCE));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                // No descriptors left, or the client has gone: the others go on.
                Err(error) if clients.is_empty() && !is_of_client(&error) => return Err(error),
                Err(_) => break,
            }
        }
        Ok(())
    }
}

fn is_of_client(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::Interrupted
    )
}
