//! The virtual machine as a sandbox: a small guest with a kernel of one's choice, one boot for each run.
//!
//! The kernel is any vmlinuz with its modules; the rest of the guest is this binary, as the first process of an initramfs
//! that is written here. Without hardware help the processor is emulated, and then counts and verdicts are results, seconds are not.

pub mod cpio;
pub mod guest;
pub mod host;
pub mod image;
pub mod message;
pub mod modules;
pub mod qemu;
