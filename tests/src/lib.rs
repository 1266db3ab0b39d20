//! Black-box tests of the `ramline` binary live in tests/.
