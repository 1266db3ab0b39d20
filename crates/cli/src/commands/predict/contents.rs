//! What pages of a recorded program compress to in a simulation: as a sample of them did.

use ramline_lab::forecast::{PredictError, compressed};
use ramline_trace::touches::Sample;

/// So many lengths of pages as in a sample; of contents that are generated from a seed where it has none with this algorithm.
///
/// # Errors
/// There are no such contents, or no such algorithm.
pub fn lengths(
    sample: &Sample,
    (fill, algorithm): (&str, Option<&str>),
    seed: u64,
    pages: u32,
) -> Result<Vec<u16>, PredictError> {
    let known = match algorithm {
        Some(wanted) => sample.by_algorithm.iter().find(|(name, _)| name == wanted),
        // Without compression it only matters which pages are of one word.
        None => sample.by_algorithm.first(),
    };
    match known.filter(|(_, lengths)| !lengths.is_empty()) {
        Some((_, lengths)) => Ok(lengths.iter().copied().cycle().take(pages as usize).collect()),
        None => compressed(fill, algorithm, seed, pages),
    }
}
