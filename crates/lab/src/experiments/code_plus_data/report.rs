//! What the workload of code-plus-data is to do.

use ramline_evidence::Workload;

use crate::prelude::*;

/// What the workload is to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorkTask {
    /// Its sizes.
    #[serde(flatten)]
    pub workload: Workload,
    /// Contents of data and ballast.
    pub fill: Fill,
    /// The code file.
    pub code: PathBuf,
    /// A file whose first byte holds the workload while it is not 0; only where a pool must be followed.
    pub hold: Option<PathBuf>,
}
