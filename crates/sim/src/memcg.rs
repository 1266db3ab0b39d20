//! The group's limit: pages are charged to it, and it may be written (mm/memcontrol.c).

pub mod charge;
pub mod limit;
