//! The access traces that one recording may have been: which touches were stores, and their order within an epoch.

use std::sync::Arc;

use ramline_trace::recording::{Open, Recording};
use ramline_trace::touch::Touches;

/// Traces that one recording is taken for. Each has another share of stores, from none to all of what is touched again; four orders are among them.
const WAYS: u32 = 8;
/// Pages of an epoch that were touched in a row, where they are neighbours: from one by one to a quarter of a MiB, twice the usual read-ahead. Forecasts of sequential programs are
/// good with long blocks and skewed ones with short ones (five times the major faults, or a fifth less, with the others).
const BLOCKS: [u32; 4] = [64, 1, 16, 4];

/// The traces that a recording may have been. The first is as near to the middle of what is open as there is one.
#[must_use]
pub fn ways(recording: &Arc<Recording>, seed: u64) -> Vec<Arc<dyn Touches>> {
    let way = |number: u32| {
        let open = Open {
            stores: f64::from(number) / f64::from(WAYS - 1),
            block: BLOCKS.get(number as usize % BLOCKS.len()).copied().unwrap_or(1),
            seed: seed.wrapping_add(number.into()),
        };
        Arc::new(recording.drawn(open)) as Arc<dyn Touches>
    };
    (0..WAYS).map(|number| way((number + WAYS / 2) % WAYS)).collect()
}

/// The first of them.
#[must_use]
pub fn first(recording: &Arc<Recording>) -> Arc<dyn Touches> {
    let open = Open { stores: f64::from(WAYS / 2) / f64::from(WAYS - 1), block: BLOCKS[0], seed: 0 };
    Arc::new(recording.drawn(open))
}
