//! What measurements are written with.

pub(crate) use std::fs::File;
pub(crate) use std::os::unix::fs::FileExt;
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::time::{Duration, Instant};

pub(crate) use ramline_evidence::rng::SplitMix64;
pub(crate) use ramline_evidence::{Measurement, TierMeasurement};
pub(crate) use ramline_gather::{hardware, requests};
pub(crate) use ramline_kernel::direct::Buffer;
pub(crate) use ramline_kernel::{KernelError, Root, process};
pub(crate) use ramline_units::Bytes;
