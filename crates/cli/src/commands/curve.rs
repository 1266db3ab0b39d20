//! `ramline curve`.

use ramline_model::need::RoomCurve;

use super::need::watched::{self, Watching};
use crate::prelude::*;

/// How many of a group's or the machine's page cache misses more memory would save, by watching what is evicted and read again
///
/// Nothing is changed: the kernel reports which pages are evicted from the page cache and which return. Needs root, or CAP_BPF and CAP_PERFMON.
#[derive(Debug, Args)]
pub struct Curve {
    /// A control group, a service, the id of a container, or of a process [default: the machine]
    #[arg(long = "cgroup", value_name = "GROUP", default_value = "/", hide_default_value = true)]
    group: String,
    /// Watch for exactly this long [default: 8s, up to 110s while the answer is not sure]
    #[arg(long = "for", value_name = "TIME", value_parser = duration::parse)]
    span: Option<Duration>,
    #[command(flatten)]
    format: Format,
}

impl Curve {
    /// Runs the command.
    ///
    /// # Errors
    /// As `ramline need`.
    pub fn run(&self, source: &Source) -> Result<u8> {
        source.must_be_live("curve")?;
        let root = source.kernel_root()?;
        let of =
            if self.group == "/" { String::new() } else { format!(" --cgroup {}", ramline_units::quoted(&self.group)) };
        let command = format!("curve{of}");
        let watching =
            Watching { group: &self.group, command: &command, span: self.span, may_be_blind: None, zram: false };
        let seen = watched::watch(source, &root, &watching)?;
        self.format.versioned(&RoomCurve::from(seen.need))?;
        Ok(exit::DONE)
    }
}
