//! Shared memory by kind and owner: which tmpfs, segment or forgotten file it is, and how much of it is already in swap.
