//! The sections of the page that are no sheet yet: the proof, and the record of what was done.

pub mod proof;
pub mod record;
