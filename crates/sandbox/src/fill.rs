//! What the data of a workload consists of: zeros, text that compresses about 3:1, or random bytes.
//!
//! What it is not: a model of anybody's memory; `measure pages` samples the real thing. Zero-filled pages flatter: since
//! Linux 6.12 they never reach a swap device, compressed or not.
//!
//! ```
//! use ramline_sandbox::fill::{Fill, Filler};
//! let mut page = vec![0u8; 4096];
//! Filler::new("text".parse::<Fill>()?, 1).fill(7, &mut page);
//! assert!(page.starts_with(b"page 0000000000000007 "));
//! # Ok::<(), ramline_sandbox::LabError>(())
//! ```

use std::fmt;
use std::str::FromStr;

use ramline_kernel::map::{Advice, Sharing};
use ramline_units::JsonSchema;

use crate::prelude::*;

const HINT: &str = "ramline lab run code-plus-data --fill zeros,text,random";

/// Kinds of contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Fill {
    /// All bytes 0.
    Zeros,
    /// Log-like text, about 3:1 page by page with LZ4.
    #[default]
    Text,
    /// Not compressible.
    Random,
}

impl Fill {
    /// All kinds, in the order of tables.
    pub const ALL: [Fill; 3] = [Fill::Zeros, Fill::Text, Fill::Random];
}

impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Fill::Zeros => "zeros",
            Fill::Text => "text",
            Fill::Random => "random",
        })
    }
}

impl FromStr for Fill {
    type Err = LabError;

    fn from_str(text: &str) -> Result<Fill> {
        Fill::ALL
            .into_iter()
            .find(|fill| fill.to_string() == text)
            .ok_or_else(|| LabError::usage(format!("'{text}' is not a fill"), HINT))
    }
}

/// Fills pages one after the other. Text comes from a stock of pages, each stamped with its number, so that no two are
/// equal and filling is not what takes the time.
#[derive(Debug)]
pub struct Filler {
    kind: Fill,
    rng: SplitMix64,
    stock: Vec<u8>,
}

const STOCK: usize = 64;
const PAGE: usize = 4096;

impl Filler {
    /// A filler; the same seed gives the same bytes.
    #[must_use]
    pub fn new(kind: Fill, seed: u64) -> Filler {
        let mut rng = SplitMix64::new(seed);
        let stock = if kind == Fill::Text { text(&mut rng, STOCK * PAGE) } else { Vec::new() };
        Filler { kind, rng, stock }
    }

    /// Fills `page` (of any length) as page number `number`.
    pub fn fill(&mut self, number: u64, page: &mut [u8]) {
        match self.kind {
            Fill::Zeros => page.fill(0),
            Fill::Random => {
                for chunk in page.chunks_mut(8) {
                    let bytes = self.rng.next_u64().to_le_bytes();
                    chunk.copy_from_slice(&bytes[..chunk.len()]);
                }
            }
            Fill::Text => {
                for (index, part) in page.chunks_mut(PAGE).enumerate() {
                    let which = usize::try_from(number).unwrap_or_default().wrapping_add(index) % STOCK;
                    part.copy_from_slice(&self.stock[which * PAGE..which * PAGE + part.len()]);
                }
                for (to, from) in page.iter_mut().zip(format!("page {number:016} ").bytes()) {
                    *to = from;
                }
            }
        }
    }

    /// Fills a map page by page, the first as page number `first`; `filled` is called after each.
    ///
    /// # Errors
    /// Those of `filled`, or the map cannot be written.
    pub fn fill_map(&mut self, map: &mut Map, first: u64, mut filled: impl FnMut() -> Result<()>) -> Result<()> {
        let mut page = [0; PAGE];
        for (number, offset) in (first..).zip((0..map.len()).step_by(PAGE)) {
            self.fill(number, &mut page);
            map.write_at(offset, &page[..PAGE.min(map.len() - offset)])?;
            filled()?;
        }
        Ok(())
    }
}

/// Anonymous memory in small pages only.
///
/// # Errors
/// The kernel has none to give.
pub fn small_pages(size: Bytes, sharing: Sharing) -> Result<Map> {
    let mut map = Map::anonymous(size, sharing)?;
    map.advise(Advice::NoHugePages)?;
    Ok(map)
}

/// Lines as a web server logs them: fixed phrases, and numbers that differ.
fn text(rng: &mut SplitMix64, length: usize) -> Vec<u8> {
    const PATHS: [&str; 6] =
        ["/index.html", "/api/v2/items", "/static/site.css", "/login", "/search", "/api/v2/orders"];
    const AGENTS: [&str; 3] =
        ["Mozilla/5.0 (X11; Linux x86_64)", "curl/8.5.0", "Mozilla/5.0 (Macintosh; Intel Mac OS X)"];
    let pick = |rng: &mut SplitMix64, words: &[&'static str]| -> &'static str {
        let index = usize::try_from(rng.below(u64::try_from(words.len()).unwrap_or(1))).unwrap_or_default();
        words.get(index).copied().unwrap_or_default()
    };
    let mut out = Vec::with_capacity(length + 256);
    while out.len() < length {
        let (a, b, id) = (rng.below(256), rng.below(256), rng.below(1 << 32));
        let (path, agent) = (pick(rng, &PATHS), pick(rng, &AGENTS));
        let (minute, second, size) = (rng.below(60), rng.below(60), rng.below(100_000));
        out.extend_from_slice(
            format!("10.0.{a}.{b} - - [02/Mar/2024:09:{minute:02}:{second:02} +0000] \"GET {path}?id={id:08x} HTTP/1.1\" 200 {size} \"-\" \"{agent}\"\n").as_bytes(),
        );
    }
    out.truncate(length);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(kind: Fill) -> f64 {
        let mut filler = Filler::new(kind, 256);
        let (mut whole, mut compressed) = (0usize, 0usize);
        for number in 0..100 {
            let mut page = vec![0; PAGE];
            filler.fill(number, &mut page);
            whole += PAGE;
            compressed += lz4_flex::compress(&page).len().min(PAGE);
        }
        whole as f64 / compressed as f64
    }

    #[test]
    fn text_compresses_about_three_to_one_page_by_page_and_random_not_at_all() {
        assert!((2.7..3.3).contains(&ratio(Fill::Text)), "{}", ratio(Fill::Text));
        assert!((ratio(Fill::Random) - 1.0).abs() < 0.001);
        assert!(ratio(Fill::Zeros) > 50.0);
    }

    #[test]
    fn no_two_pages_of_text_are_equal() {
        let mut filler = Filler::new(Fill::Text, 1);
        let mut pages: Vec<Vec<u8>> = (0..200)
            .map(|number| {
                let mut page = vec![0; PAGE];
                filler.fill(number, &mut page);
                page
            })
            .collect();
        pages.sort();
        pages.dedup();
        assert_eq!(pages.len(), 200);
    }

    #[test]
    fn an_unknown_fill_names_the_known_ones() {
        assert!("noise".parse::<Fill>().unwrap_err().to_string().contains("zeros,text,random"));
    }
}
