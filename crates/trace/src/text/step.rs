//! What the steps of all forms have in common.

use ramline_evidence::path::{CallPath, Layer, Step};
use ramline_units::Nanos;

/// Steps kept of one call.
pub const KEPT: usize = 600;

pub fn kept(mut path: CallPath) -> CallPath {
    path.cut = u64::try_from(path.steps.len().saturating_sub(KEPT)).unwrap_or(0);
    path.steps.truncate(KEPT);
    path
}

pub fn named(at: Nanos, depth: usize, name: &str) -> Step {
    // Parts of a function the compiler has split off are called by its name and a suffix.
    let name = name.split('.').next().unwrap_or(name);
    let depth = u32::try_from(depth).unwrap_or(u32::MAX);
    Step { at, depth, name: name.to_owned(), layer: Layer::of(name), ..Step::default() }
}

pub fn is_any_call(name: &str) -> bool {
    name.starts_with("__x64_sys_") || name.starts_with("__arm64_sys_")
}

pub fn is_call(name: &str, call: &str) -> bool {
    name.strip_prefix("__x64_sys_").or_else(|| name.strip_prefix("__arm64_sys_")).is_some_and(|rest| rest == call)
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a time in nanoseconds, not negative")]
pub fn whole(value: f64) -> u64 {
    value.max(0.0) as u64
}
