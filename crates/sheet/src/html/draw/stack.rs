//! One bar for a whole, cut into pieces; a piece wide enough carries its name.

use maud::html;

use super::{Drawing, at, fill, filled};
use crate::sheet::{StackPiece, Tint};

/// Narrower pieces go without a name: it would touch the next one. The legend names all.
const LEAST_FOR_NAME: f64 = 0.12;
/// The same on a screen 400 px wide.
const LEAST_WHEN_NARROW: f64 = 0.3;

/// The bar.
pub fn stack(pieces: &[StackPiece]) -> Drawing {
    let mut from = 0.0;
    let placed: Vec<(f64, f64, &StackPiece)> = pieces
        .iter()
        .map(|piece| {
            let start = from;
            from += piece.share.max(0.0);
            (start, from, piece)
        })
        .collect();
    let marks = html! {
        rect.track x="0" y="20" width="100%" height="40" {}
        @for (from, to, piece) in &placed {
            @if piece.share >= LEAST_FOR_NAME {
                text.tick.wide[piece.share < LEAST_WHEN_NARROW] x=(at(*from)) y="12" { (piece.name) }
            }
            @if piece.tint != Tint::Free { (filled(fill(piece.tint), *from, *to, 20, 40)) }
        }
        // The cuts, in the colour of the page.
        @for (_, to, _) in &placed { line.cut x1=(at(*to)) x2=(at(*to)) y1="20" y2="60" {} }
    };
    Drawing { marks, height: 62 }
}
