//! Spelling of values in labels and samples.

/// The word that the JSON documents have for a value.
pub fn word(value: &impl serde::Serialize) -> String {
    ramline_units::json::tree(value).ok().and_then(|v| v.as_str().map(str::to_owned)).unwrap_or_default()
}

/// Of microseconds, the base unit.
#[expect(clippy::cast_precision_loss, reason = "exact to a microsecond for 285 years")]
pub fn seconds(us: u64) -> f64 {
    us as f64 / 1e6
}
