//! Sockets of processes and who is at their other ends: for a command that leaves its work to a server.
//!
//! A descriptor says the inode of its socket. Of a unix socket sock_diag(7) says the inode of its peer; a TCP connection within the
//! machine stands in /proc/PID/net/tcp twice, once from each end, so the line with both addresses exchanged is the peer's. Other network
//! namespaces, where containers listen, are read through one process of each. Not seen: UDP, named pipes, shared memory.

mod tcp;
mod unix;

use std::collections::{BTreeMap, BTreeSet};

use crate::prelude::*;
use tcp::{Connections, Ends};

/// Who is at the other end of a socket.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Other {
    /// The socket with this inode, which processes of this machine hold.
    Inode(u64),
    /// An address that no process here holds, as seen from any network namespace.
    Elsewhere(String),
}

/// Inodes of the sockets that a process holds; none where it has ended or may not be looked at.
#[must_use]
pub fn held(root: &Root, pid: u32) -> BTreeSet<u64> {
    let entries = std::fs::read_dir(root.path(format!("/proc/{pid}/fd"))).into_iter().flatten().flatten();
    entries.filter_map(|entry| inode(&std::fs::read_link(entry.path()).ok()?)).collect()
}

/// The files that a process has open, by their names; those without one any more are left out.
#[must_use]
pub fn files(root: &Root, pid: u32) -> BTreeSet<PathBuf> {
    let entries = std::fs::read_dir(root.path(format!("/proc/{pid}/fd"))).into_iter().flatten().flatten();
    let links = entries.filter_map(|entry| std::fs::read_link(entry.path()).ok());
    links.filter(|link| link.is_absolute() && !link.to_string_lossy().ends_with(" (deleted)")).collect()
}

/// `socket:[4711]`.
fn inode(link: &Path) -> Option<u64> {
    link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
}

/// The other ends of these sockets of `pid`, as far as they are connected. A connection that its server has not accepted yet counts as
/// the socket that listens for it.
#[must_use]
pub fn others(root: &Root, pid: u32, inodes: &BTreeSet<u64>) -> BTreeSet<Other> {
    let peers = unix::peers().unwrap_or_default();
    let mut found: BTreeSet<Other> =
        inodes.iter().filter_map(|inode| peers.get(inode).copied()).map(Other::Inode).collect();
    let own = Connections::for_process(root, pid);
    let ends: Vec<Ends> =
        own.list.iter().filter(|end| inodes.contains(&end.inode) && end.is_connected()).copied().collect();
    let mut left: Vec<Ends> = Vec::new();
    for end in ends {
        match own.answering(&end) {
            Some(inode) => drop(found.insert(Other::Inode(inode))),
            None => left.push(end),
        }
    }
    if !left.is_empty() {
        let elsewhere: Vec<Connections> =
            namespaces(root, pid).into_iter().map(|pid| Connections::for_process(root, pid)).collect();
        for end in left {
            let inode = elsewhere.iter().find_map(|other| other.answering(&end));
            found.insert(inode.map_or_else(|| Other::Elsewhere(end.remote_text()), Other::Inode));
        }
    }
    found
}

/// One process of each network namespace other than that of `pid`.
fn namespaces(root: &Root, pid: u32) -> Vec<u32> {
    let of = |pid: u32| std::fs::read_link(root.path(format!("/proc/{pid}/ns/net"))).ok();
    let mut seen: BTreeSet<PathBuf> = of(pid).into_iter().collect();
    pids(root).filter(|pid| of(*pid).is_some_and(|namespace| seen.insert(namespace))).collect()
}

/// The processes that hold these sockets, `but` some.
#[must_use]
pub fn holders(root: &Root, inodes: &BTreeSet<u64>, but: &BTreeSet<u32>) -> BTreeMap<u32, BTreeSet<u64>> {
    let of = |pid: u32| {
        let theirs: BTreeSet<u64> = held(root, pid).intersection(inodes).copied().collect();
        (!theirs.is_empty()).then_some((pid, theirs))
    };
    pids(root).filter(|pid| !but.contains(pid)).filter_map(of).collect()
}

/// All processes there are now.
pub fn pids(root: &Root) -> impl Iterator<Item = u32> {
    let entries = std::fs::read_dir(root.path("/proc")).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    use std::io::{Read, Write};
    use std::net::{TcpListener, TcpStream};
    use std::os::unix::net::{UnixListener, UnixStream};

    fn inode_of(socket: &impl AsRawFd) -> u64 {
        inode(&std::fs::read_link(format!("/proc/self/fd/{}", socket.as_raw_fd())).unwrap()).unwrap()
    }

    /// What is at the other end of a socket of ours.
    fn other(socket: &impl AsRawFd) -> BTreeSet<Other> {
        others(&Root::live(), std::process::id(), &BTreeSet::from([inode_of(socket)]))
    }

    #[test]
    fn the_other_end_of_a_tcp_connection_is_the_socket_that_was_accepted() {
        for address in ["127.0.0.1:0", "[::1]:0", "[::]:0"] {
            let Ok(listener) = TcpListener::bind(address) else { continue };
            let port = listener.local_addr().unwrap().port();
            let host = if address.starts_with("[::1]") { "::1" } else { "127.0.0.1" };
            let mut client = TcpStream::connect((host, port)).unwrap();
            assert_eq!(other(&client), [Other::Inode(inode_of(&listener))].into(), "{address}: not accepted yet");
            let (mut server, _) = listener.accept().unwrap();
            assert_eq!(other(&client), [Other::Inode(inode_of(&server))].into(), "{address}");
            assert_eq!(other(&server), [Other::Inode(inode_of(&client))].into(), "{address}");
            assert_eq!(other(&listener), BTreeSet::new(), "{address}");
            client.write_all(b"x").unwrap();
            server.read_exact(&mut [0]).unwrap();
        }
    }

    #[test]
    fn the_other_end_of_a_unix_socket_is_known_with_and_without_a_name() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("socket");
        let listener = UnixListener::bind(&path).unwrap();
        let client = UnixStream::connect(&path).unwrap();
        let (server, _) = listener.accept().unwrap();
        assert_eq!(other(&client), [Other::Inode(inode_of(&server))].into());
        let (one, two) = UnixStream::pair().unwrap();
        assert_eq!(other(&one), [Other::Inode(inode_of(&two))].into());
    }

    #[test]
    fn who_holds_a_socket_is_found_by_its_inode() {
        let (one, _two) = UnixStream::pair().unwrap();
        let (own, wanted) = (std::process::id(), BTreeSet::from([inode_of(&one)]));
        assert_eq!(holders(&Root::live(), &wanted, &BTreeSet::new()), [(own, wanted.clone())].into());
        assert!(holders(&Root::live(), &wanted, &[own].into()).is_empty());
    }
}
