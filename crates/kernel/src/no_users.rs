//! The C library's search for a user, left out of a static program. Only `std::env::home_dir` would call it, and only without HOME (completion of `~`).
//! It would bring 140 KB of name services, which load libraries of the machine into a program of root's.

#![expect(unsafe_code, reason = "a function of the C library is defined")]

use std::ffi::{c_char, c_int, c_void};

/// getpwuid_r(3) that finds nobody.
///
/// # Safety
/// `found` is to be written to, as getpwuid_r(3) says.
#[unsafe(no_mangle)]
unsafe extern "C" fn getpwuid_r(_: u32, _: *mut c_void, _: *mut c_char, _: usize, found: *mut *mut c_void) -> c_int {
    // SAFETY: the caller's contract.
    unsafe { found.write(std::ptr::null_mut()) };
    0
}
