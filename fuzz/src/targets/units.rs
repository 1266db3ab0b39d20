//! Sizes from the command line.

use ramline_units::Bytes;

/// One input.
pub fn once(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    if let Ok(size) = text.parse::<Bytes>() {
        let _ = size.to_string();
    }
}
