//! Small programs of ours in the kernel, through bpf(2): raw instructions, loaded without a compiler or a library.
//!
//! A program only reads kernel memory and writes it to a ring buffer or an array of ours; the kernel's verifier proves that before it
//! runs. Offsets of fields come from the running kernel's BTF ([`btf`]), never from its version. Maps, programs and their links are
//! descriptors: when this process ends, also by SIGKILL, the kernel removes them.
//!
//! It needs root, or CAP_BPF and CAP_PERFMON; a kernel with BTF (`/sys/kernel/btf/vmlinux`), and no lockdown in the mode `confidentiality`.

pub mod btf;
mod call;
pub mod file_reads;
pub mod kernel_memory;
pub mod page_cache;
pub mod page_tables;
mod program;
mod repeats;
mod ring;

pub use file_reads::{FileRead, FileReads};
pub use kernel_memory::KernelMemory;
pub use page_cache::{PageCacheChange, PageCacheEvent, PageCacheWatch};
pub use page_tables::{AddressSpace, Entry, Leaf, PageTables, Walked};
