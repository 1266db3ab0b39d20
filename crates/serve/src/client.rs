//! One connection: its request as it comes, its answer as it goes.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Instant;

use rustix::event::PollFlags;

use crate::Answer;
use crate::request::Request;

/// A scraper's request has some hundred bytes.
const LARGEST: usize = 8 << 10;

/// A client.
pub struct Client {
    socket: TcpStream,
    until: Instant,
    asked: Vec<u8>,
    /// What is still to be sent: the head, and the body that others get as well.
    answer: Option<Sending>,
}

struct Sending {
    head: Vec<u8>,
    body: Arc<[u8]>,
    sent: usize,
}

/// How it goes on.
pub enum Next {
    /// More has to come, or to go.
    Waits,
    /// The answer is sent, or the client has gone.
    Done,
    /// A request, or what to answer to something that is none.
    Asks(Result<Request, Answer>),
}

impl Client {
    /// `None` where its socket cannot be used.
    pub fn new(socket: TcpStream, until: Instant) -> Option<Client> {
        socket.set_nonblocking(true).ok()?;
        Some(Client { socket, until, asked: Vec::new(), answer: None })
    }

    pub const fn socket(&self) -> &TcpStream {
        &self.socket
    }

    pub const fn waits_for(&self) -> PollFlags {
        if self.answer.is_some() { PollFlags::OUT } else { PollFlags::IN }
    }

    pub fn is_late(&self) -> bool {
        Instant::now() > self.until
    }

    /// Takes what has come, or sends what goes.
    pub fn next(&mut self) -> Next {
        if self.answer.is_some() {
            return if self.send() { Next::Waits } else { Next::Done };
        }
        let mut piece = [0; 4096];
        match self.socket.read(&mut piece) {
            Ok(0) => return Next::Done,
            Ok(n) => self.asked.extend_from_slice(&piece[..n]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => return Next::Waits,
            Err(_) => return Next::Done,
        }
        match Request::parse(&self.asked) {
            Some(parsed) => Next::Asks(parsed),
            None if self.asked.len() > LARGEST => Next::Asks(Err(Answer::line(431, "the request is too long"))),
            None => Next::Waits,
        }
    }

    /// Begins an answer; false when all of it is sent already.
    pub fn answer(&mut self, answer: &Answer, with_body: bool) -> bool {
        let head = format!(
            "HTTP/1.1 {} {}\r\nContent-Type: {}\r\nContent-Length: {}\r\nCache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n",
            answer.status,
            reason(answer.status),
            answer.content_type,
            answer.body.len()
        );
        let body = if with_body { answer.body.clone() } else { Arc::from([]) };
        self.answer = Some(Sending { head: head.into_bytes(), body, sent: 0 });
        self.send()
    }

    /// Sends as much as goes; false when there is no more.
    fn send(&mut self) -> bool {
        let Some(Sending { head, body, sent }) = &mut self.answer else { return false };
        loop {
            let left = if *sent < head.len() { &head[*sent..] } else { body.get(*sent - head.len()..).unwrap_or(&[]) };
            if left.is_empty() {
                // What was sent reaches a client that has asked for more than it was given.
                drop(self.socket.shutdown(Shutdown::Write));
                return false;
            }
            match self.socket.write(left) {
                Ok(n) => *sent += n,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return error.kind() == ErrorKind::WouldBlock,
            }
        }
    }
}

const fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        431 => "Request Header Fields Too Large",
        _ => "Error",
    }
}
