//! sock_diag(7) of unix sockets: the inode of each one's peer.

#![expect(unsafe_code, reason = "a netlink socket")]

use std::collections::BTreeMap;
use std::io;

use crate::prelude::*;
use crate::sys::new_fd;

/// From linux/netlink.h, linux/sock_diag.h and linux/unix_diag.h.
const SOCK_DIAG: libc::c_int = 4;
const BY_FAMILY: u16 = 20;
const DUMP_REQUEST: u16 = 0x301;
const DONE: u16 = 3;
const ERROR: u16 = 2;
const SHOW_PEER: u32 = 4;
const ATTRIBUTE_PEER: u16 = 2;
/// Bytes of `struct nlmsghdr`, of `struct unix_diag_req` and of `struct unix_diag_msg`.
const HEADER: usize = 16;
const REQUEST: usize = 24;
const MESSAGE: usize = 16;

/// Inode of each connected unix socket of this network namespace, and its peer's.
///
/// # Errors
/// As socket(2) and netlink(7) say: a kernel without unix_diag, or a filter of system calls.
pub fn peers() -> io::Result<BTreeMap<u64, u64>> {
    let kind = libc::SOCK_RAW | libc::SOCK_CLOEXEC;
    // SAFETY: socket(2) takes integers and gives a descriptor of our own.
    let socket = unsafe { new_fd(libc::socket(libc::AF_NETLINK, kind, SOCK_DIAG).into()) }?;
    let mut request = Vec::with_capacity(HEADER + REQUEST);
    request.extend(u32::try_from(HEADER + REQUEST).unwrap_or_default().to_ne_bytes());
    request.extend(BY_FAMILY.to_ne_bytes());
    request.extend(DUMP_REQUEST.to_ne_bytes());
    // Sequence and port: one request, answered by the kernel.
    request.extend([0; 8]);
    request.extend([u8::try_from(libc::AF_UNIX).unwrap_or(1), 0, 0, 0]);
    // All states, any inode.
    request.extend(u32::MAX.to_ne_bytes());
    request.extend(0u32.to_ne_bytes());
    request.extend(SHOW_PEER.to_ne_bytes());
    request.extend([0xff; 8]);
    let fd = socket.as_raw_fd();
    // SAFETY: the buffer is valid for its length.
    check_size(unsafe { libc::send(fd, request.as_ptr().cast(), request.len(), 0) })?;
    let (mut found, mut buffer) = (BTreeMap::new(), vec![0u8; 64 << 10]);
    loop {
        // SAFETY: the buffer is valid for its length, and written by the kernel only.
        let got = check_size(unsafe { libc::recv(fd, buffer.as_mut_ptr().cast(), buffer.len(), 0) })?;
        if got == 0 || !take_in(buffer.get(..got).unwrap_or_default(), &mut found)? {
            return Ok(found);
        }
    }
}

fn check_size(result: libc::ssize_t) -> io::Result<usize> {
    usize::try_from(result).map_err(|_| io::Error::last_os_error())
}

/// Takes in what one recv(2) gave; false when there is no more.
fn take_in(mut bytes: &[u8], found: &mut BTreeMap<u64, u64>) -> io::Result<bool> {
    while let (Some(length), Some(kind)) = (word(bytes, 0), half(bytes, 4)) {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        match kind {
            DONE => return Ok(false),
            ERROR => {
                let code = word(bytes, HEADER).map_or(libc::EIO, |code| code.cast_signed().saturating_neg());
                return Err(io::Error::from_raw_os_error(code));
            }
            _ => {}
        }
        let Some(message) = bytes.get(HEADER..length.min(bytes.len())) else { break };
        // Family, type, state, a byte to fill up; then the inode.
        if let (Some(inode), Some(peer)) = (word(message, 4), peer(message)) {
            found.insert(inode.into(), peer.into());
        }
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Ok(true)
}

/// The attribute with the peer's inode; 0 is none.
fn peer(message: &[u8]) -> Option<u32> {
    let mut attributes = message.get(MESSAGE..)?;
    loop {
        let length = usize::from(half(attributes, 0)?);
        if half(attributes, 2)? == ATTRIBUTE_PEER {
            return word(attributes, 4).filter(|inode| *inode != 0);
        }
        attributes = attributes.get(length.max(4).next_multiple_of(4)..)?;
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

fn half(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_ne_bytes(bytes.get(at..at.checked_add(2)?)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(kind: u16, body: &[u8]) -> Vec<u8> {
        let mut out = u32::try_from(HEADER + body.len()).unwrap().to_ne_bytes().to_vec();
        out.extend(kind.to_ne_bytes());
        out.extend([0; 10]);
        out.extend(body);
        out.resize(out.len().next_multiple_of(4), 0);
        out
    }

    #[test]
    fn a_socket_without_a_peer_is_passed_over_and_an_error_is_one() {
        let socket = |inode: u32, attributes: &[u8]| {
            let mut body = vec![1, 1, 1, 0];
            body.extend(inode.to_ne_bytes());
            body.extend([0; 8]);
            body.extend(attributes);
            message(BY_FAMILY, &body)
        };
        // A name of 3 bytes, padded, comes before the peer.
        let named = [
            7u16.to_ne_bytes().as_slice(),
            &[0, 0],
            b"abc\0",
            &8u16.to_ne_bytes(),
            &2u16.to_ne_bytes(),
            &9u32.to_ne_bytes(),
        ]
        .concat();
        let bytes = [socket(5, &named), socket(6, &[]), message(DONE, &[0; 4])].concat();
        let mut found = BTreeMap::new();
        assert!(!take_in(&bytes, &mut found).unwrap());
        assert_eq!(found, [(5, 9)].into());
        let refused = message(ERROR, &(-libc::ENOENT).to_ne_bytes());
        assert_eq!(take_in(&refused, &mut found).unwrap_err().raw_os_error(), Some(libc::ENOENT));
        assert!(take_in(&[1, 2, 3], &mut found).unwrap(), "cut short: no more is known");
    }
}
