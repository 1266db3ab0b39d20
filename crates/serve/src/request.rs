//! What a client asks for.

use std::net::IpAddr;

use crate::Answer;

/// Of headers a scraper sends a dozen.
const MOST_HEADERS: usize = 64;

/// A request that is understood.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// Without what follows a `?`.
    pub path: String,
    /// The formats it takes, as it says; empty when it does not.
    pub accept: String,
    /// Only the head of the answer is wanted.
    pub head_only: bool,
    host: Option<String>,
}

impl Request {
    /// The request in these bytes; `None` while it is not complete.
    pub(crate) fn parse(bytes: &[u8]) -> Option<Result<Request, Answer>> {
        let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
        let mut parsed = httparse::Request::new(&mut headers);
        match parsed.parse(bytes) {
            Ok(httparse::Status::Partial) => return None,
            Ok(httparse::Status::Complete(_)) => {}
            Err(httparse::Error::TooManyHeaders) => return Some(Err(Answer::line(431, "too many headers"))),
            Err(error) => return Some(Err(Answer::line(400, &format!("no HTTP request: {error}")))),
        }
        let head_only = match parsed.method {
            Some("GET") => false,
            Some("HEAD") => true,
            _ => return Some(Err(Answer::line(405, "only GET and HEAD are answered"))),
        };
        let value = |name: &str| {
            let found = parsed.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name));
            found.map(|header| String::from_utf8_lossy(header.value).into_owned())
        };
        let path = parsed.path.unwrap_or_default();
        let path = path.split(['?', '#']).next().unwrap_or_default().to_owned();
        Some(Ok(Request { path, accept: value("accept").unwrap_or_default(), head_only, host: value("host") }))
    }

    /// The name it asks for is one of this machine's own, or none.
    pub(crate) fn is_for_loopback(&self) -> bool {
        let Some(host) = &self.host else { return true };
        let host = host.trim();
        let name = match host.strip_prefix('[') {
            Some(inner) => inner.split(']').next().unwrap_or_default(),
            None => host.split(':').next().unwrap_or_default(),
        };
        name.eq_ignore_ascii_case("localhost") || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Option<Result<Request, u16>> {
        Request::parse(text.as_bytes()).map(|parsed| parsed.map_err(|answer| answer.status))
    }

    #[test]
    fn a_request_is_a_path_and_what_formats_it_takes() {
        let text = "GET /metrics?x=1 HTTP/1.1\r\nHost: localhost:9821\r\nACCEPT: text/plain\r\n\r\n";
        let request = parsed(text).unwrap().unwrap();
        assert_eq!(
            (request.path.as_str(), request.accept.as_str(), request.head_only),
            ("/metrics", "text/plain", false)
        );
        assert_eq!(parsed(&text[..40]), None, "not complete");
        assert_eq!(parsed("POST / HTTP/1.1\r\n\r\n"), Some(Err(405)));
        assert_eq!(parsed("\u{1}\u{2}\r\n\r\n"), Some(Err(400)));
        let many = format!("GET / HTTP/1.1\r\n{}\r\n", "a: b\r\n".repeat(65));
        assert_eq!(parsed(&many), Some(Err(431)));
    }

    #[test]
    fn a_name_that_is_not_of_this_machine_is_told_from_one_that_is() {
        let is = |host: &str| {
            let text = format!("GET / HTTP/1.1\r\nHost: {host}\r\n\r\n");
            parsed(&text).unwrap().unwrap().is_for_loopback()
        };
        for own in ["localhost", "LOCALHOST:9821", "127.0.0.1:9821", "127.0.0.2", "[::1]:9821"] {
            assert!(is(own), "{own}");
        }
        for other in ["evil.example", "localhost.evil.example:9821", "10.0.0.1", "[2001:db8::1]", ""] {
            assert!(!is(other), "{other}");
        }
        assert!(parsed("GET / HTTP/1.0\r\n\r\n").unwrap().unwrap().is_for_loopback(), "says none");
    }
}
