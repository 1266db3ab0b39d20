//! What the binary prints and refuses, on captured machines and on this one: one program, so that its parts are linked once and wait beside each other.

mod asked;
mod audit;
mod bad_input;
mod book;
mod captures;
mod command_line;
mod explain;
mod fixtures;
mod generated;
mod kernels;
mod kills;
mod maps;
mod traces;
mod trees;
mod tune;
mod words;
