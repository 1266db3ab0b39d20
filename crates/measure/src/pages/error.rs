//! Why pages could not be measured.

use ramline_act::ActError;
use ramline_kernel::KernelError;

/// Why there is no profile.
#[derive(Debug, thiserror::Error)]
pub enum PagesError {
    /// SIGINT or SIGTERM; the pages are zeroed.
    #[error(
        "the measurement was interrupted; the pages are zeroed and nothing was left behind\n  try: ramline measure pages"
    )]
    Interrupted,
    /// A process, a group or memory that is needed.
    #[error(transparent)]
    Kernel(#[from] KernelError),
    /// A scratch device could not be removed; the journal names it.
    #[error(transparent)]
    Act(#[from] ActError),
    /// Asked to measure a captured tree.
    #[error(
        "cannot measure the pages of {0}: it is a captured tree, and holds no contents\n  try: ramline measure pages"
    )]
    NotLive(String),
    /// An algorithm that is none.
    #[error("cannot measure {name}: {rule}\n  try: ramline measure pages --algorithms lz4,zstd:3")]
    Algorithm {
        /// As given.
        name: String,
        /// What is wrong with it.
        rule: String,
    },
    /// No page could be read.
    #[error("cannot sample pages of {scope}: {why}\n  try: {hint}")]
    Nothing {
        /// Whose.
        scope: String,
        /// Why.
        why: String,
        /// A command.
        hint: String,
    },
}
