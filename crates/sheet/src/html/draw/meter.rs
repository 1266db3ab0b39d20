//! A small bar in a table, as long as a share; the number stands beside it.

use maud::{Markup, html};

use super::at;

/// The bar.
pub fn meter(share: f64) -> Markup {
    html! {
        svg.meter width="96" height="10" aria-hidden="true" focusable="false" {
            rect.track x="0" y="0" width="100%" height="10" {}
            rect.f-now x="0" y="0" width=(at(share)) height="10" {}
        }
    }
}
