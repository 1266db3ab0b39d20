//! Where small reads meet the kernel's read-ahead: how much more is left than said, and what switches it off.

use ramline_snapshot::blocks::BlockDevice;

use super::Need;
use crate::prelude::*;

/// How much more is left with the kernel's read-ahead than without it, at most (measured on PostgreSQL and SQLite, docs/need.md).
pub const READ_AHEAD_WORST: f64 = 2.5;

/// The read-ahead of the disk that the group reads from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DiskReadAhead {
    /// `sda`.
    pub disk: String,
    /// Now.
    pub now: Bytes,
    /// Switches it off for all files on it.
    pub command: String,
    /// Takes that back.
    pub undo: String,
}

impl Need {
    /// With what can be done about read-ahead, where it matters. `disk` is the one that most was read from.
    #[must_use]
    pub fn with_disk(mut self, disk: Option<&BlockDevice>) -> Need {
        if self.reads_ahead.is_none() {
            return self;
        }
        for step in &mut self.steps {
            step.at_most = step.left.map(|left| (left * READ_AHEAD_WORST).min(1.0));
        }
        self.disk = disk.and_then(|disk| {
            let now = disk.read_ahead.filter(|now| *now > Bytes::ZERO)?;
            let knob = ramline_units::quoted(&format!("/sys/block/{}/queue/read_ahead_kb", disk.name)).into_owned();
            let set = |kib: u64| format!("echo {kib} | sudo tee {knob}");
            Some(DiskReadAhead { disk: disk.name.clone(), now, command: set(0), undo: set(now.0 / 1024) })
        });
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::empty;
    use super::super::{NeedAnswer, NeedStep};
    use super::*;

    #[test]
    fn both_bounds_are_given_where_the_kernel_reads_ahead() {
        let step = |left| NeedStep { left: Some(left), ..NeedStep::default() };
        let need = Need {
            answer: NeedAnswer::Size(Bytes::from_mib(550)),
            reads_ahead: Some(2.2),
            steps: vec![step(0.6), step(0.2)],
            ..empty()
        };
        let disk = BlockDevice { name: "vda".into(), read_ahead: Some(Bytes::from_kib(128)), ..BlockDevice::default() };
        let with = need.clone().with_disk(Some(&disk));
        assert_eq!(with.steps.iter().map(|step| step.at_most).collect::<Vec<_>>(), [Some(1.0), Some(0.5)]);
        let advice = with.disk.unwrap();
        assert_eq!(advice.command, "echo 0 | sudo tee /sys/block/vda/queue/read_ahead_kb");
        assert_eq!(advice.undo, "echo 128 | sudo tee /sys/block/vda/queue/read_ahead_kb");
        assert_eq!(Need { reads_ahead: None, ..need }.with_disk(Some(&disk)).steps[0].at_most, None);
    }
}
