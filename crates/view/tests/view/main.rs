//! What the screens and documents say of captured and made machines: one program, so that what they stand on is linked once.

mod audit;
mod extremes;
mod figures;
mod machines;
mod quotas;
mod schemas;
mod show;
mod trees;
