//! `/proc/swaps`: the swap areas in use.

use crate::prelude::*;

/// One swap area.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SwapArea {
    /// Device or file, unescaped.
    pub path: String,
    /// `partition` or `file`.
    pub kind: String,
    /// Capacity, in original (uncompressed) bytes.
    pub size: Bytes,
    /// In use.
    pub used: Bytes,
    /// The higher the sooner.
    pub priority: i32,
}

impl SwapArea {
    /// One line of `/proc/swaps`; `None` for one of another form.
    #[must_use]
    pub fn parse(line: &str) -> Option<SwapArea> {
        // The name may hold "\040(deleted)" but never a raw space: there are five words.
        let words: Vec<&str> = line.split_ascii_whitespace().collect();
        let [name, kind, size, used, priority] = words.as_slice() else { return None };
        Some(SwapArea {
            path: unescape_octal(name),
            kind: (*kind).to_owned(),
            size: size.parse().map(Bytes::from_kib).ok()?,
            used: used.parse().map(Bytes::from_kib).ok()?,
            priority: priority.parse().ok()?,
        })
    }

    /// Not in use.
    #[must_use]
    pub const fn free(&self) -> Bytes {
        self.size.saturating_sub(self.used)
    }

    /// The zram device's name (`zram0`) when the area is one.
    #[must_use]
    pub fn zram(&self) -> Option<&str> {
        self.path.rsplit('/').next().filter(|n| n.starts_with("zram"))
    }

    /// N where the area is `/dev/zramN`.
    #[must_use]
    pub fn zram_number(&self) -> Option<u32> {
        self.path.strip_prefix("/dev/zram")?.parse().ok()
    }
}

/// The kernel has at most 32 areas (MAX_SWAPFILES_SHIFT), and each is compared with each.
const MOST: usize = 256;

/// Parses `/proc/swaps`.
///
/// # Errors
/// No line but the first has the five columns, or there is one more than any kernel has, with path, line and text.
pub fn parse(from: &(impl Origin + ?Sized), text: &str) -> Result<Vec<SwapArea>, Malformed> {
    if let Some((index, line)) = text.lines().enumerate().nth(MOST + 1) {
        return Err(Malformed::new(from.path(), index, line));
    }
    let head = text.lines().next().unwrap_or_default();
    let area = |line: &str| if line == head { Some(None) } else { SwapArea::parse(line).map(Some) };
    let areas: Vec<Option<SwapArea>> = parse_lines(from, text, |_| true, area)?;
    let areas: Vec<SwapArea> = areas.into_iter().flatten().collect();
    // None that can be read is not the same as none.
    match text.lines().nth(1) {
        Some(line) if areas.is_empty() => Err(Malformed::new(from.path(), 1, line)),
        _ => Ok(areas),
    }
}

/// Undoes the kernel's `\040` escapes (space, tab, newline, backslash).
#[must_use]
pub fn unescape_octal(text: &str) -> String {
    ramline_units::unescape(text, "\\", (3, 8), |_| true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unescaped_and_negative_priorities_kept() {
        let text = "Filename\tType\tSize\tUsed\tPriority\n/swap\\040file\\040(deleted) file 1048572 8 -2\n/dev/zram0 partition 4 0 100\n";
        let areas = parse("s", text).unwrap();
        assert_eq!(areas[0].path, "/swap file (deleted)");
        assert_eq!((areas[0].priority, areas[0].used), (-2, Bytes(8192)));
        assert_eq!((areas[0].zram(), areas[1].zram()), (None, Some("zram0")));
        assert_eq!(parse("s", "head\n/dev/sda1 partition x 0 1\n").unwrap_err().line, 2);
        let from = crate::Noted::new("s");
        assert_eq!(parse(&from, "head\n/dev/sda1 partition x 0 1\n/dev/sda2 partition 8 0 1\n").unwrap().len(), 1);
        assert!(from.note().unwrap().garbage, "an area is lost");
        assert_eq!(unescape_octal("/plain\\"), "/plain\\");
    }
}
