//! A swap area: its slots, who has which, and how many one read brings (mm/swapfile.c, mm/swap_state.c). Pages that are read from it: `fault`.

pub mod area;
pub mod cluster;
pub mod slots;
