//! Tests of the findings and of the explanations, on captured machines.

mod cases;
mod explain;
mod findings;
mod measured;
mod planning;
mod state;
mod users;
mod who;
