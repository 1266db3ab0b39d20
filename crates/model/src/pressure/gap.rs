//! Why there are no stall times of memory: switched off, older than PSI, not copied, or not to be read.

use ramline_snapshot::Seen;

use crate::prelude::*;

/// Why there are no stall times of memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PsiGap {
    /// The file is not there although others of /proc were seen: PSI is off or not built.
    Off,
    /// This capture, which another program made, lacks the file; whether PSI is on is not known.
    NotCopied,
    /// The kernel is older than PSI: nothing switches it on.
    NotYet,
    /// It was not seen, for this reason; whether PSI is on is not known.
    NotSeen(String),
}

impl PsiGap {
    /// In words: `PSI is off or not built here`.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            PsiGap::Off => "PSI is off or not built here".to_owned(),
            PsiGap::NotCopied => "this capture has no /proc/pressure/memory, so stall times are not known".to_owned(),
            PsiGap::NotYet => "the kernel has no PSI (since 4.20), so stall times are not measured".to_owned(),
            PsiGap::NotSeen(why) => format!("stall times (PSI) were not seen ({why})"),
        }
    }

    pub(super) fn from_snapshot(snapshot: &Snapshot) -> Option<PsiGap> {
        let others = snapshot.meminfo.data().is_some() || snapshot.vmstat.data().is_some();
        match &snapshot.pressure_memory {
            Seen::Seen { .. } => None,
            // KReclaimable came with PSI, in 4.20 (61f94e18de94), and went into older kernels of distributions with it.
            Seen::Absent { .. }
                if snapshot.meminfo.data().is_some_and(|m| m.slab.is_some() && m.k_reclaimable.is_none()) =>
            {
                Some(PsiGap::NotYet)
            }
            Seen::Absent { .. } if others && snapshot.machine.copied => Some(PsiGap::NotCopied),
            Seen::Absent { .. } if others => Some(PsiGap::Off),
            Seen::Unread => Some(PsiGap::NotSeen("not read".to_owned())),
            gone => gone.unseen().map(|why| PsiGap::NotSeen(format!("{}: {}", why.path, why.reason))),
        }
    }
}
