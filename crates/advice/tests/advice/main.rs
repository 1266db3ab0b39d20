//! Tests of the findings and of the explanations, on captured machines.

#![expect(clippy::disallowed_methods, reason = "what the tests hold the crate against are files")]

mod cases;
mod explain;
mod findings;
mod measured;
mod planning;
mod recorded;
mod state;
mod unowned;
mod users;
mod who;
