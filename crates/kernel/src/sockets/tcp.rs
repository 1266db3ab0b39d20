//! /proc/PID/net/tcp and tcp6: the connections of a network namespace, each line one end.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use crate::prelude::*;

/// TCP_LISTEN (net/tcp_states.h).
const LISTEN: u8 = 10;

/// One end of a connection, or a socket that listens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends {
    local: SocketAddr,
    remote: SocketAddr,
    state: u8,
    /// 0: nothing holds it, as it was not accepted yet, or is closed.
    pub inode: u64,
}

impl Ends {
    /// It has another end.
    pub const fn is_connected(&self) -> bool {
        self.state != LISTEN && self.remote.port() != 0
    }

    /// The address of the other end.
    pub fn remote_text(&self) -> String {
        self.remote.to_string()
    }
}

/// All ends of one namespace.
#[derive(Debug, Default)]
pub struct Connections {
    pub list: Vec<Ends>,
}

impl Connections {
    /// The connections that a process sees; nothing where it has ended.
    pub fn for_process(root: &Root, pid: u32) -> Connections {
        let text = |name: &str| read_text(&root.path(format!("/proc/{pid}/net/{name}"))).unwrap_or_default();
        Connections::parse(&[text("tcp"), text("tcp6")])
    }

    fn parse(texts: &[String]) -> Connections {
        Connections { list: texts.iter().flat_map(|text| text.lines().skip(1)).filter_map(line).collect() }
    }

    /// The socket that answers to `end`: the one it is connected to, or as long as that is not accepted, the one that listens there.
    pub fn answering(&self, end: &Ends) -> Option<u64> {
        let exchanged = |other: &&Ends| other.local == end.remote && other.remote == end.local;
        let accepted = self.list.iter().filter(exchanged).find(|other| other.inode != 0);
        let (address, port) = (end.remote.ip(), end.remote.port());
        let listens = |other: &&Ends| {
            let there =
                other.local.port() == port && (other.local.ip() == address || other.local.ip().is_unspecified());
            other.state == LISTEN && other.inode != 0 && there
        };
        // Only where the other end is in this namespace too: a port alone does not say whose it is.
        let here = || self.list.iter().any(|other| exchanged(&other));
        let waiting = || self.list.iter().find(listens).filter(|_| here());
        accepted.or_else(waiting).map(|other| other.inode)
    }
}

/// `  0: 0100007F:1538 00000000:0000 0A 00000000:00000000 00:00000000 00000000 0 0 12345 ...`
fn line(text: &str) -> Option<Ends> {
    let mut words = text.split_whitespace().skip(1);
    let (local, remote) = (address(words.next()?)?, address(words.next()?)?);
    let state = u8::from_str_radix(words.next()?, 16).ok()?;
    // Queues, timer, retransmits, user, timeout.
    let inode = words.nth(5)?.parse().ok()?;
    Some(Ends { local, remote, state, inode })
}

/// Words of 32 bits in the byte order of the machine, then the port. An IPv4 address inside IPv6 is the IPv4 address.
fn address(text: &str) -> Option<SocketAddr> {
    let (address, port) = text.split_once(':')?;
    let port = u16::from_str_radix(port, 16).ok()?;
    let mut bytes = Vec::with_capacity(16);
    for at in (0..address.len()).step_by(8) {
        bytes.extend(u32::from_str_radix(address.get(at..at + 8)?, 16).ok()?.to_ne_bytes());
    }
    let ip = match <[u8; 4]>::try_from(bytes.as_slice()) {
        Ok(four) => IpAddr::V4(Ipv4Addr::from(four)),
        Err(_) => IpAddr::V6(Ipv6Addr::from(<[u8; 16]>::try_from(bytes.as_slice()).ok()?)).to_canonical(),
    };
    Some(SocketAddr::new(ip, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";

    fn row(local: &str, remote: &str, state: &str, inode: u64) -> String {
        format!(
            "   0: {local} {remote} {state} 00000000:00000000 00:00000000 00000000   101        0 {inode} 1 0 20 4 30 10 -1\n"
        )
    }

    #[test]
    #[cfg(target_endian = "little")]
    fn a_client_over_ipv4_meets_the_server_that_listens_on_ipv6() {
        let client = row("0100007F:C350", "0100007F:1538", "01", 7);
        let mapped = "0000000000000000FFFF00000100007F";
        let server = row(&format!("{mapped}:1538"), &format!("{mapped}:C350"), "01", 8);
        let listener = row("00000000000000000000000000000000:1538", "00000000000000000000000000000000:0000", "0A", 9);
        let all = |server: &str| Connections::parse(&[format!("{HEAD}{client}"), format!("{HEAD}{listener}{server}")]);
        let (known, client) = (all(&server), all("").list[0]);
        assert_eq!((client.remote_text().as_str(), client.is_connected()), ("127.0.0.1:5432", true));
        assert_eq!(known.answering(&client), Some(8));
        // Not accepted yet: the line is there, and nothing holds it.
        let early = row(&format!("{mapped}:1538"), &format!("{mapped}:C350"), "01", 0);
        assert_eq!(all(&early).answering(&client), Some(9));
        assert_eq!(
            all("").answering(&client),
            None,
            "its other end is elsewhere: whatever listens on that port here is another"
        );
    }
}
