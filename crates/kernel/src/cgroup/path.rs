//! What the two versions and all of this folder have in common: names and the way up.

use std::path::Path;

/// The names of our groups begin with this; nothing else is ever killed or removed.
pub const PREFIX: &str = "ramline-";

/// The two interfaces.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// One mount per controller.
    V1,
    /// One tree for all.
    V2,
}

/// `own` and its ancestors up to and including `mount`, nearest first.
pub fn ancestors<'a>(mount: &'a Path, own: &'a Path) -> impl Iterator<Item = &'a Path> {
    own.ancestors().take_while(move |dir| dir.starts_with(mount))
}
