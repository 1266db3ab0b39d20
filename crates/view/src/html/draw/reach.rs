//! Bars of shares in use: a label line, then a track filled as far as the share goes.
//!
//! What it is not: drawn for a share of nothing; an empty track says no more than its number.

use maud::{Markup, html};

use super::{Drawing, at, fill, filled, label};
use crate::sheet::Reach;

const ROW: u32 = 44;

/// The bars, one below the other.
pub fn reaches(rows: &[Reach]) -> Drawing {
    let tops = (0u32..).map(|row| row * ROW);
    let marks = html! {
        @for (row, top) in rows.iter().zip(tops) {
            (label(&row.name, &row.value, top + 14))
            rect.track x="0" y=(top + 22) width="100%" height="12" {}
            (filled(fill(row.tint), 0.0, row.share, top + 22, 12))
        }
    };
    Drawing {
        marks,
        height: ROW * u32::try_from(rows.len()).unwrap_or(u32::MAX / ROW) - 6 * u32::from(!rows.is_empty()),
    }
}

/// A small bar in a table; the number stands beside it.
pub fn meter(share: f64) -> Markup {
    html! {
        svg.meter width="96" height="10" aria-hidden="true" focusable="false" {
            rect.track x="0" y="0" width="100%" height="10" {}
            rect.f-now x="0" y="0" width=(at(share)) height="10" {}
        }
    }
}
