//! Switches the kernel prints as `a [b] c`: transparent huge pages, MGLRU, and the choice between them.

use crate::prelude::*;

/// Splits `lzo [lz4] zstd` into the chosen word and all words.
#[must_use]
pub fn bracketed(text: &str) -> (Option<String>, Vec<String>) {
    let mut chosen = None;
    let all = text
        .split_ascii_whitespace()
        .map(|word| match word.strip_prefix('[').and_then(|w| w.strip_suffix(']')) {
            Some(inner) => {
                chosen = Some(inner.to_owned());
                inner.to_owned()
            }
            None => word.to_owned(),
        })
        .collect();
    (chosen, all)
}

/// Transparent huge pages.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Thp {
    /// `enabled`: always, madvise, never.
    pub enabled: Option<String>,
    /// `defrag`.
    pub defrag: Option<String>,
    /// `shmem_enabled`.
    pub shmem_enabled: Option<String>,
    /// `hpage_pmd_size`: the size of one.
    pub page: Option<Bytes>,
    /// `khugepaged/max_ptes_none`: pages of one that may be missing when smaller ones are put together.
    pub max_ptes_none: Option<u64>,
    /// `hugepages-*kB/enabled`: the choice for every size, smallest first (kernels since 6.8).
    pub sizes: Vec<ThpSize>,
}

/// One size of transparent huge pages and when it is used.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct ThpSize {
    /// Size of one page.
    pub page: Bytes,
    /// always, inherit, madvise, never.
    pub enabled: String,
}

impl ThpSize {
    /// From a directory's name and the text of its `enabled`: `hugepages-64kB`, `always inherit madvise [never]`.
    #[must_use]
    pub fn from_text(name: &str, enabled: &str) -> Option<Self> {
        let kib = name.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse().ok()?;
        Some(ThpSize { page: Bytes::from_kib(kib), enabled: bracketed(enabled).0? })
    }
}

/// The multi-generational LRU. Absent means the classic LRU.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct LruGen {
    /// Bits of `enabled`; bit 0 is the main switch.
    pub enabled: u64,
    /// Working set protected for this long; an early kill rather than thrashing. 0 is off.
    pub min_ttl_ms: Option<u64>,
}

impl LruGen {
    /// Parses `enabled` (`0x0007` or `y`/`n`).
    #[must_use]
    pub fn from_texts(enabled: &str, min_ttl_ms: Option<&str>) -> Self {
        let text = enabled.trim();
        let bits = match text.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).unwrap_or(0),
            None if text.eq_ignore_ascii_case("y") => 7,
            None => text.parse().unwrap_or(0),
        };
        LruGen { enabled: bits, min_ttl_ms: min_ttl_ms.and_then(|t| t.trim().parse().ok()) }
    }

    /// True when reclaim goes by generations.
    #[must_use]
    pub const fn is_on(&self) -> bool {
        self.enabled & 1 == 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bracketed_word_is_the_choice() {
        assert_eq!(bracketed("always [madvise] never").0.as_deref(), Some("madvise"));
        assert_eq!(bracketed("lzo lz4").0, None);
    }

    #[test]
    fn a_size_of_huge_pages_is_read_from_its_directory_and_its_switch() {
        let size = ThpSize::from_text("hugepages-64kB", "always [inherit] madvise never\n").unwrap();
        assert_eq!((size.page, size.enabled.as_str()), (Bytes::from_kib(64), "inherit"));
        assert_eq!(ThpSize::from_text("hugepages-xkB", "[never]"), None);
        assert_eq!(ThpSize::from_text("khugepaged", "[never]"), None);
        assert_eq!(ThpSize::from_text("hugepages-99999999999999999999kB", "[never]"), None);
    }

    #[test]
    fn mglru_is_on_by_its_lowest_bit() {
        assert!(LruGen::from_texts("0x0007\n", Some("0\n")).is_on());
        assert!(!LruGen::from_texts("0x0000\n", None).is_on());
        assert!(LruGen::from_texts("y", None).is_on());
        assert!(!LruGen::from_texts("garbage", None).is_on());
    }
}
