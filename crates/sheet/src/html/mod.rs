//! Sheets as HTML: no script, nothing loaded, charts as SVG, readable in print and on a telephone.
//!
//! Markup is escaped by maud; control and direction-changing characters are written out in the whole page at the end.

mod charts;
pub mod draw;
pub mod parts;
pub mod render;
pub mod shell;
