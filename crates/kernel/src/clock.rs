//! Local time, as the time zone of this machine says (localtime_r(3), mktime(3)).
//!
//! ```
//! use ramline_kernel::clock::{Local, local, to_unix};
//! let now = local(1_800_000_000).unwrap_or_default();
//! assert_eq!(to_unix(now), Some(1_800_000_000));
//! ```

#![expect(unsafe_code, reason = "localtime_r and mktime")]

/// A moment on the clock of the wall.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Local {
    /// As people write it.
    pub year: i32,
    /// From 1.
    pub month: i32,
    /// From 1.
    pub day: i32,
    /// From 0.
    pub hour: i32,
    /// From 0.
    pub minute: i32,
    /// From 0.
    pub second: i32,
    /// Summer time holds; `None` where that is not known, and then the zone's rules decide.
    pub summer: Option<bool>,
}

/// The local time of a moment in seconds since 1970; `None` beyond the years of the C library.
#[must_use]
pub fn local(unix: i64) -> Option<Local> {
    // SAFETY: a zeroed tm is valid; both pointers live through the call.
    let (tm, is_there) = unsafe {
        let mut tm: libc::tm = std::mem::zeroed();
        let is_there = !libc::localtime_r(&raw const unix, &raw mut tm).is_null();
        (tm, is_there)
    };
    is_there.then_some(Local {
        year: tm.tm_year + 1900,
        month: tm.tm_mon + 1,
        day: tm.tm_mday,
        hour: tm.tm_hour,
        minute: tm.tm_min,
        second: tm.tm_sec,
        summer: Some(tm.tm_isdst > 0).filter(|_| tm.tm_isdst >= 0),
    })
}

/// The moment of a local time, in seconds since 1970. Days beyond the end of a month are those of the next one.
#[must_use]
pub fn to_unix(at: Local) -> Option<i64> {
    // SAFETY: a zeroed tm is valid, and lives through the call.
    let unix = unsafe {
        let mut tm: libc::tm = std::mem::zeroed();
        (tm.tm_year, tm.tm_mon, tm.tm_mday) = (at.year.checked_sub(1900)?, at.month.checked_sub(1)?, at.day);
        (tm.tm_hour, tm.tm_min, tm.tm_sec) = (at.hour, at.minute, at.second);
        tm.tm_isdst = at.summer.map_or(-1, libc::c_int::from);
        libc::mktime(&raw mut tm)
    };
    (unix >= 0).then_some(unix)
}
