//! zswap: its parameters and, with debugfs, its counters. The pool's size is in `/proc/meminfo`.

use crate::prelude::*;
/// `/sys/module/zswap/parameters`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Zswap {
    /// On or off.
    pub enabled: bool,
    /// Compressor.
    pub compressor: Option<String>,
    /// Largest pool, in percent of RAM.
    pub max_pool_percent: Option<u64>,
    /// After the pool was full, it accepts pages again below this share of the limit, in percent.
    pub accept_threshold_percent: Option<u64>,
    /// Cold pages are written back under pressure; `None` before 6.8.
    pub shrinker: Option<bool>,
    /// Other parameters, as text.
    pub other: BTreeMap<String, String>,
}

impl Zswap {
    /// Builds it from the texts of the parameter files.
    #[must_use]
    pub fn from_files(files: &BTreeMap<String, String>) -> Self {
        let mut out = Self::default();
        for (name, text) in files {
            let text = text.trim();
            let yes = matches!(text, "Y" | "y" | "1");
            match name.as_str() {
                "enabled" => out.enabled = yes,
                "compressor" => out.compressor = Some(text.to_owned()),
                "max_pool_percent" => out.max_pool_percent = text.parse().ok(),
                "accept_threshold_percent" => out.accept_threshold_percent = text.parse().ok(),
                "shrinker_enabled" => out.shrinker = Some(yes),
                _ => {
                    out.other.insert(name.clone(), text.to_owned());
                }
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_older_kernels_are_kept_as_text() {
        let files = [("enabled", "Y\n"), ("max_pool_percent", "20\n"), ("zpool", "z3fold\n")];
        let seen = Zswap::from_files(&files.map(|(k, v)| (k.to_owned(), v.to_owned())).into());
        assert!(seen.enabled);
        assert_eq!((seen.max_pool_percent, seen.shrinker), (Some(20), None));
        assert_eq!(seen.other["zpool"], "z3fold");
    }
}
