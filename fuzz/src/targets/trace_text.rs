//! The text of the kernel's trace, as `lab run read-path` reads it.

use ramline_trace::text::{Clock, call, graph, sleeps};
use ramline_units::Nanos;

/// One input.
pub fn once(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let clock = Clock::by_marks(&text, Nanos(1_000_000));
    for name in ["read", "write"] {
        let _ = (call(&text, 100, name, clock), graph(&text, name));
    }
    let _ = sleeps(&text, 100, clock);
}
