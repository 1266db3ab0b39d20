//! Upkeep of zram: which pages of a swap device are marked, written back and compressed again in one pass, and what keeps a pass from it.
//!
//! Pure: from what was seen of the machine and of a device follow the acts in order, or the reasons why there are none. A pass is a thing that is
//! done, not a setting: nothing of it is undone but the switch of the limit, and what it did is reported ([`UpkeepPass`]).
//!
//! ```
//! use ramline_plan::{UpkeepAsk, UpkeepGates, UpkeepWork, ZramLook};
//! let look = ZramLook { device: "zram0".into(), backing: Some("none".into()), second: None };
//! let (work, skipped) = UpkeepWork::plan(&look, &UpkeepGates::default(), &UpkeepAsk::default());
//! assert!(!work.writeback && !work.recompression && skipped[0].contains("no backing device"));
//! ```

mod pass;

use ramline_units::{Bytes, JsonSchema};
use serde::{Deserialize, Serialize};

pub use pass::{Marked, UpkeepBudget, UpkeepDevice, UpkeepPass};

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct UpkeepAsk {
    /// Pages that were not used for so many seconds are idle.
    pub idle_s: u64,
    /// So much is written back in 24 hours, over all devices.
    pub per_day: Bytes,
    /// A pass waits while tasks wait for memory or for io for more than this share of ten seconds, in percent.
    pub most_waiting: f64,
}

impl Default for UpkeepAsk {
    fn default() -> UpkeepAsk {
        // A consumer SSD of 256 GB is warranted for some 40 GB a day; a fortieth of that cannot wear it out.
        UpkeepAsk { idle_s: 3600, per_day: Bytes::from_gib(1), most_waiting: 10.0 }
    }
}

/// What the machine was doing when the pass began.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct UpkeepGates {
    /// Share of the last ten seconds in which a task waited for memory, in percent; `None` without PSI.
    pub waiting_memory_percent: Option<f64>,
    /// The same for io.
    pub waiting_io_percent: Option<f64>,
    /// It runs on its battery.
    pub on_battery: bool,
}

impl UpkeepGates {
    /// Why nothing at all is done now.
    #[must_use]
    pub fn closed(&self, most: f64) -> Option<String> {
        let waits = [("memory", self.waiting_memory_percent), ("io", self.waiting_io_percent)];
        waits.into_iter().find_map(|(what, share)| {
            let share = share.filter(|share| *share > most)?;
            Some(format!("tasks waited for {what} {share:.0} % of the last 10 s, more than {most:.0} %"))
        })
    }
}

/// A zram device that is used as swap.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ZramLook {
    /// `zram0`.
    pub device: String,
    /// `backing_dev`: `None` where the kernel has no writeback, `none` where none is set.
    pub backing: Option<String>,
    /// Algorithms for recompression; `None` where the kernel has none.
    pub second: Option<Vec<String>>,
}

impl ZramLook {
    /// The kernel has neither of both.
    #[must_use]
    pub const fn is_bare(&self) -> bool {
        self.backing.is_none() && self.second.is_none()
    }

    /// There are pages to write somewhere, or an algorithm to compress them with.
    #[must_use]
    pub fn has_work(&self) -> bool {
        self.backing.as_deref().is_some_and(|backing| backing != "none")
            || self.second.as_ref().is_some_and(|all| !all.is_empty())
    }
}

/// What is done with a device besides compaction, which always is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UpkeepWork {
    /// Idle pages go to the backing device, incompressible ones first, then others.
    pub writeback: bool,
    /// Idle pages that are still there are compressed again.
    pub recompression: bool,
}

impl UpkeepWork {
    /// What is done, and why the rest is not.
    #[must_use]
    pub fn plan(look: &ZramLook, gates: &UpkeepGates, ask: &UpkeepAsk) -> (UpkeepWork, Vec<String>) {
        let mut skipped = Vec::new();
        let mut skip = |why: &str| {
            skipped.push(why.to_owned());
            false
        };
        if look.is_bare() {
            skip("this kernel's zram has neither writeback nor recompression");
            return (UpkeepWork::default(), skipped);
        }
        let writeback = match look.backing.as_deref() {
            None => skip("no writeback: this kernel's zram has none"),
            Some("none") => {
                skip("no writeback: no backing device is set, which has to be done before the device gets its size")
            }
            Some(_) if gates.on_battery => skip("no writeback: the machine runs on its battery"),
            Some(_) if ask.per_day.0 == 0 => skip("no writeback: its budget is 0"),
            Some(_) => true,
        };
        let recompression = match &look.second {
            None => skip("no recompression: this kernel's zram has none"),
            Some(all) if all.is_empty() => skip(
                "no recompression: no second algorithm is set, which has to be done before the device gets its size",
            ),
            Some(_) => true,
        };
        (UpkeepWork { writeback, recompression }, skipped)
    }

    /// The writes in order, as `--dry-run` prints them.
    #[must_use]
    pub fn lines(&self, device: &str, ask: &UpkeepAsk, left: Bytes) -> Vec<String> {
        let at = format!("/sys/block/{device}");
        let mut lines = Vec::new();
        if self.writeback || self.recompression {
            lines.push(format!("write {at}/idle: {}", ask.idle_s));
        }
        if self.writeback {
            lines.push(format!("write {at}/writeback_limit: at most {left}, part by part"));
            lines.push(format!("write {at}/writeback_limit_enable: 1, put back afterwards"));
            lines.push(format!("write {at}/writeback: huge_idle"));
            lines.push(format!("write {at}/writeback: idle"));
        }
        if self.recompression {
            lines.push(format!("write {at}/recompress: type=idle"));
        }
        lines.push(format!("write {at}/compact: 1"));
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn look(backing: Option<&str>, second: Option<&[&str]>) -> ZramLook {
        let second = second.map(|all| all.iter().map(|name| (*name).to_owned()).collect());
        ZramLook { device: "zram0".into(), backing: backing.map(str::to_owned), second }
    }

    #[test]
    fn what_a_kernel_or_a_device_lacks_is_said_in_plain_words() {
        let why = |look: &ZramLook| UpkeepWork::plan(look, &UpkeepGates::default(), &UpkeepAsk::default()).1.join("; ");
        assert_eq!(why(&look(None, None)), "this kernel's zram has neither writeback nor recompression");
        assert!(why(&look(Some("none"), None)).contains("no backing device is set"));
        assert!(why(&look(None, Some(&[]))).contains("no second algorithm is set"));
        assert_eq!(why(&look(Some("/dev/vdb"), Some(&["zstd"]))), "");
    }

    #[test]
    fn on_battery_nothing_is_written_and_pages_are_compressed_again_all_the_same() {
        let gates = UpkeepGates { on_battery: true, ..UpkeepGates::default() };
        let (work, skipped) = UpkeepWork::plan(&look(Some("/dev/vdb"), Some(&["zstd"])), &gates, &UpkeepAsk::default());
        assert_eq!(work, UpkeepWork { writeback: false, recompression: true });
        assert_eq!(skipped, ["no writeback: the machine runs on its battery"]);
    }

    #[test]
    fn a_machine_that_waits_is_left_alone_and_one_without_psi_is_not_judged() {
        let waiting =
            |memory, io| UpkeepGates { waiting_memory_percent: memory, waiting_io_percent: io, on_battery: false };
        assert_eq!(waiting(None, None).closed(10.0), None);
        assert_eq!(waiting(Some(10.0), Some(0.0)).closed(10.0), None);
        assert!(waiting(Some(0.0), Some(23.4)).closed(10.0).unwrap().contains("for io 23 %"));
    }

    #[test]
    fn the_limit_is_in_force_before_the_first_page_is_written_and_idle_pages_that_stay_are_compressed_last() {
        let work = UpkeepWork { writeback: true, recompression: true };
        let ask = UpkeepAsk { idle_s: 600, ..UpkeepAsk::default() };
        assert_eq!(
            work.lines("zram1", &ask, Bytes::from_mib(8)),
            [
                "write /sys/block/zram1/idle: 600",
                "write /sys/block/zram1/writeback_limit: at most 8.0 MiB, part by part",
                "write /sys/block/zram1/writeback_limit_enable: 1, put back afterwards",
                "write /sys/block/zram1/writeback: huge_idle",
                "write /sys/block/zram1/writeback: idle",
                "write /sys/block/zram1/recompress: type=idle",
                "write /sys/block/zram1/compact: 1",
            ]
        );
        assert_eq!(UpkeepWork::default().lines("zram1", &ask, Bytes(0)), ["write /sys/block/zram1/compact: 1"]);
    }
}
