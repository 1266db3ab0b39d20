//! bpf(2): maps, programs, and where they are attached. Each is a descriptor, closed on exec and at the end of this process.

#![expect(unsafe_code, reason = "a system call without a safe wrapper")]

use std::ffi::CStr;
use std::io;

use super::program::Instruction;
use crate::prelude::*;
use crate::sys::new_fd;

// Commands of `enum bpf_cmd`, linux/bpf.h.
const MAP_CREATE: libc::c_int = 0;
const MAP_LOOKUP: libc::c_int = 1;
const MAP_UPDATE: libc::c_int = 2;
const PROG_LOAD: libc::c_int = 5;
const PROG_TEST_RUN: libc::c_int = 10;
const RAW_TRACEPOINT_OPEN: libc::c_int = 17;

/// BPF_F_MMAPABLE: the values of the array can be mapped (Linux 5.5).
const MAPPABLE: u32 = 1 << 10;
/// BPF_F_SLEEPABLE, which programs that a system call runs must have.
const SLEEPABLE: u32 = 1 << 4;
/// Helpers that read kernel memory are for programs whose licence is compatible with the kernel's.
const LICENSE: &CStr = c"Dual MIT/GPL";
/// What the verifier writes about a program of ours is a few KiB.
const LOG: usize = 64 << 10;

/// Kinds of maps (`enum bpf_map_type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum MapKind {
    /// Values by key.
    Hash = 1,
    /// Values by number.
    Array = 2,
    /// Values by number, each processor its own.
    PercpuArray = 6,
    /// Values by key; where there is no room, the one that was used longest ago goes.
    LruHash = 9,
    /// Records, in order, for one reader.
    Ringbuf = 27,
}

/// When a program runs (`enum bpf_prog_type`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum ProgramKind {
    /// At a tracepoint.
    RawTracepoint = 17,
    /// When this process asks for it (Linux 5.14).
    Syscall = 31,
}

#[repr(C)]
#[derive(Default)]
struct MakeMap {
    kind: u32,
    key: u32,
    value: u32,
    entries: u32,
    flags: u32,
}

#[repr(C)]
#[derive(Default)]
struct Element {
    map: u32,
    unused: u32,
    key: u64,
    value: u64,
    flags: u64,
}

#[repr(C)]
#[derive(Default)]
struct Load {
    kind: u32,
    count: u32,
    instructions: u64,
    license: u64,
    log_level: u32,
    log_size: u32,
    log: u64,
    kernel_version: u32,
    flags: u32,
}

#[repr(C)]
#[derive(Default)]
struct Run {
    program: u32,
    result: u32,
    /// Sizes and addresses of data and context, repetitions, flags: none.
    others: [u64; 8],
}

#[repr(C)]
struct Attach {
    name: u64,
    program: u32,
    unused: u32,
}

/// # Safety
/// `T` must be what linux/bpf.h says of `command`, and the addresses in it valid for it.
unsafe fn bpf<T>(command: libc::c_int, attributes: &mut T) -> libc::c_long {
    // SAFETY: the caller vouches for the attributes; the reference is valid for the whole call.
    unsafe { libc::syscall(libc::SYS_bpf, command, std::ptr::from_mut(attributes), size_of::<T>()) }
}

fn address<T>(of: *const T) -> u64 {
    of.addr() as u64
}

fn raw(fd: &OwnedFd) -> u32 {
    u32::try_from(fd.as_raw_fd()).unwrap_or(u32::MAX)
}

/// A map. `key` and `value` are bytes; a ring buffer has neither, and its `entries` are bytes.
pub fn make_map(kind: MapKind, key: u32, value: u32, entries: u32) -> Result<OwnedFd> {
    make(MakeMap { kind: kind as u32, key, value, entries, flags: 0 })
}

/// An array of one value of so many bytes, which can be mapped.
pub fn make_mappable(bytes: u32) -> Result<OwnedFd> {
    make(MakeMap { kind: MapKind::Array as u32, key: 4, value: bytes, entries: 1, flags: MAPPABLE })
}

fn make(mut wanted: MakeMap) -> Result<OwnedFd> {
    // SAFETY: MakeMap is the begin of the attributes of BPF_MAP_CREATE; the descriptor is new.
    let made = unsafe { new_fd(bpf(MAP_CREATE, &mut wanted)) };
    made.map_err(|error| refused("make a map for a program in the kernel with", error, ""))
}

/// Gives `key` a value.
pub fn set_value(map: &OwnedFd, key: u64, value: u64) -> Result<()> {
    let (key, value) = (key, value);
    let mut wanted =
        Element { map: raw(map), key: address(&raw const key), value: address(&raw const value), ..Element::default() };
    // SAFETY: both addresses are of 8 bytes, which is what our hash maps have.
    match unsafe { bpf(MAP_UPDATE, &mut wanted) } {
        -1 => Err(refused("fill a map with", io::Error::last_os_error(), "")),
        _ => Ok(()),
    }
}

/// Gives an array of one its value.
pub fn set_only_value(map: &OwnedFd, value: u64) -> Result<()> {
    let (key, value) = (0u32, value);
    let mut wanted =
        Element { map: raw(map), key: address(&raw const key), value: address(&raw const value), ..Element::default() };
    // SAFETY: the key has 4 bytes and the value 8, as the array was made.
    match unsafe { bpf(MAP_UPDATE, &mut wanted) } {
        -1 => Err(refused("fill a map with", io::Error::last_os_error(), "")),
        _ => Ok(()),
    }
}

/// The only value of an array of one.
pub fn only_value(map: &OwnedFd) -> Result<u64> {
    let (key, mut value) = (0u32, 0u64);
    let mut wanted =
        Element { map: raw(map), key: address(&raw const key), value: address(&raw mut value), ..Element::default() };
    // SAFETY: the key has 4 bytes and the value 8, as the array was made.
    match unsafe { bpf(MAP_LOOKUP, &mut wanted) } {
        -1 => Err(refused("read a map with", io::Error::last_os_error(), "")),
        _ => Ok(value),
    }
}

/// Has a program verified and compiled.
pub fn load(kind: ProgramKind, program: &[Instruction]) -> Result<OwnedFd> {
    let count = u32::try_from(program.len()).unwrap_or(u32::MAX);
    let mut wanted = Load {
        kind: kind as u32,
        flags: if kind == ProgramKind::Syscall { SLEEPABLE } else { 0 },
        count,
        instructions: address(program.as_ptr()),
        license: address(LICENSE.as_ptr()),
        ..Load::default()
    };
    // SAFETY: Load is the begin of the attributes of BPF_PROG_LOAD, its addresses are of what is borrowed; the descriptor is new.
    let first = unsafe { new_fd(bpf(PROG_LOAD, &mut wanted)) };
    let Err(error) = first else { return first.tried("load", "a program") };
    // Only a program that is refused is worth the verifier's words.
    let mut log = vec![0u8; LOG];
    (wanted.log_level, wanted.log_size, wanted.log) = (1, u32::try_from(LOG).unwrap_or(0), address(log.as_mut_ptr()));
    // SAFETY: as above; the log has the length that is given.
    let again = unsafe { new_fd(bpf(PROG_LOAD, &mut wanted)) };
    again.map_err(|_| refused("load a program that reads kernel memory with", error, &reason(&log)))
}

/// Runs a program of the kind [`ProgramKind::Syscall`] once.
pub fn run(program: &OwnedFd) -> Result<()> {
    let mut wanted = Run { program: raw(program), ..Run::default() };
    // SAFETY: Run is the begin of the attributes of BPF_PROG_TEST_RUN, without data or context.
    match unsafe { bpf(PROG_TEST_RUN, &mut wanted) } {
        -1 => Err(refused("run a program that reads kernel memory with", io::Error::last_os_error(), "")),
        _ => Ok(()),
    }
}

/// The verifier's last line that says something.
fn reason(log: &[u8]) -> String {
    let end = log.iter().position(|byte| *byte == 0).unwrap_or(log.len());
    let text = String::from_utf8_lossy(&log[..end]);
    let said = text.lines().rev().find(|line| !line.is_empty() && !line.starts_with("processed "));
    said.unwrap_or_default().trim().to_owned()
}

/// Has the program run at each pass of a tracepoint, until the descriptor is closed.
pub fn attach(program: &OwnedFd, tracepoint: &CStr) -> Result<OwnedFd> {
    let mut wanted = Attach { name: address(tracepoint.as_ptr()), program: raw(program), unused: 0 };
    // SAFETY: Attach is the begin of the attributes of BPF_RAW_TRACEPOINT_OPEN; the descriptor is new.
    let made = unsafe { new_fd(bpf(RAW_TRACEPOINT_OPEN, &mut wanted)) };
    made.map_err(|error| refused(&format!("attach a program to {} with", tracepoint.to_string_lossy()), error, ""))
}

/// What a refusal by the kernel means: which privilege is missing, or which mode forbids it.
fn refused(tried: &str, error: io::Error, log: &str) -> KernelError {
    let is_locked_down = log.contains("unknown func") || log.contains("cannot use helper");
    let numbers = if log.is_empty() { error.to_string() } else { format!("{error}; the verifier: {log}") };
    let rule = match error.raw_os_error() {
        _ if is_locked_down => {
            "the kernel is locked down (confidentiality) and lets no program read its memory, not even root's"
        }
        Some(libc::EPERM | libc::EACCES) => "programs in the kernel need root, or CAP_BPF and CAP_PERFMON",
        Some(libc::ENOSYS) => "this kernel was built without bpf(2)",
        _ => return KernelError::unsupported(tried, "bpf(2)", numbers),
    };
    let is_denied = !is_locked_down && matches!(error.raw_os_error(), Some(libc::EPERM | libc::EACCES));
    if is_denied && !rustix::process::geteuid().is_root() {
        return KernelError::new(tried, "bpf(2)", crate::Cause::Denied);
    }
    KernelError::refused(tried, "bpf(2)", rule, numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_says_which_privilege_or_mode_it_is() {
        let error = || io::Error::from_raw_os_error(libc::EINVAL);
        let locked = refused("load", error(), "unknown func bpf_probe_read_kernel#113").to_string();
        assert!(locked.contains("locked down (confidentiality)") && locked.contains("#113"), "{locked}");
        assert!(refused("load", error(), "R1 invalid mem access").to_string().contains("R1 invalid mem access"));
        let log = b"0: (79) r1 = *(u64 *)(r6 +0)\nR6 !read_ok\nprocessed 1 insns\n\0\0";
        assert_eq!(reason(log), "R6 !read_ok");
    }
}
