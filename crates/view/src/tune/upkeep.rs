//! `swap maintain`: what one pass did, a sentence a device.

use ramline_plan::{Marked, UpkeepDevice, UpkeepPass};
use ramline_sheet::format::size;
use ramline_sheet::{Paint, Sheet};

use crate::Screen;

impl Screen for UpkeepPass {
    fn sheet(&self) -> Sheet {
        let mut sheet = Sheet::new();
        if let Some(why) = &self.skipped {
            sheet.answer(Paint::Warn, format!("Nothing was done: {why}."));
            return sheet;
        }
        if self.devices.is_empty() {
            let first = self.left_alone.first().map_or(
                "No zram device is used as swap: nothing to maintain.",
                |_| "Nothing to maintain: every zram device is left alone.",
            );
            sheet.answer(Paint::Good, first);
        }
        for device in &self.devices {
            let paint = if device.failed.is_empty() { Paint::Good } else { Paint::Bad };
            let answer = if self.dry_run { would(device) } else { done(device) };
            sheet.answer(paint, answer);
            for line in &device.would_write {
                sheet.command(2, line);
            }
            if !device.bare {
                for why in &device.skipped {
                    sheet.point("  ", format!("{why}."));
                }
            }
            if let Some(how) = device.marked {
                sheet.more(&format!("How idle pages of {} were found", device.device), |more| more.line(marked(how)));
            }
            for error in &device.failed {
                sheet.painted(Paint::Bad, error.as_str());
            }
        }
        for why in &self.left_alone {
            sheet.point("  ", format!("{why}."));
        }
        if self.devices.iter().any(|device| device.backing.is_some()) {
            let (left, day) = (size(self.budget.left), size(self.budget.per_day));
            sheet.dim(format!("Writeback: {left} of {day} in 24 hours are left."));
        }
        sheet
    }
}

const BARE: &str = "this kernel's zram has neither writeback nor recompression: nothing to maintain";

fn done(device: &UpkeepDevice) -> String {
    let name = &device.device;
    if !device.failed.is_empty() {
        return format!("{name}: not everything could be done.");
    }
    let compacted = device.compacted.map(|freed| format!("compaction freed {}", size(freed)));
    if device.bare {
        let freed = device.compacted.map(|freed| format!("; compacted {}", size(freed))).unwrap_or_default();
        return format!("{name}: {BARE}{freed}.");
    }
    let written = device.written_back.map(|bytes| format!("{} of idle pages written back", size(bytes)));
    let recompressed = device.recompressed.map(|bytes| format!("recompression saved {}", size(bytes)));
    let what: Vec<String> = [written, recompressed, compacted].into_iter().flatten().collect();
    let freed = device.freed.map(|freed| format!("; the pool is {} smaller", size(freed))).unwrap_or_default();
    if what.is_empty() { format!("{name}: nothing was done.") } else { format!("{name}: {}{freed}.", what.join(", ")) }
}

fn would(device: &UpkeepDevice) -> String {
    let name = &device.device;
    if device.bare {
        return format!("{name}: {BARE} but compaction.");
    }
    format!("{name}: a pass would do this, in this order:")
}

const fn marked(how: Marked) -> &'static str {
    match how {
        Marked::ByAge => "By the time of their last use, which this kernel keeps.",
        Marked::SinceLastPass => "Marked by an earlier pass, and not used since.",
        Marked::ForNextPass => {
            "This kernel keeps no time of last use: all are marked, and the next pass knows which were not used since."
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_sheet::text::Style;
    use ramline_units::Bytes;

    fn shown(pass: &UpkeepPass) -> String {
        pass.text(&Style::default()).replace('\u{a0}', " ")
    }

    fn device() -> UpkeepDevice {
        UpkeepDevice { device: "zram0".into(), compacted: Some(Bytes(1_258_291)), ..UpkeepDevice::default() }
    }

    #[test]
    fn a_kernel_without_both_says_so_and_what_compaction_freed() {
        let bare = UpkeepDevice { bare: true, skipped: vec!["this kernel's zram has neither".into()], ..device() };
        assert_eq!(
            shown(&UpkeepPass { devices: vec![bare], ..UpkeepPass::default() }),
            "zram0: this kernel's zram has neither writeback nor recompression: nothing to maintain; compacted\n1.2 MiB.\n"
        );
    }

    #[test]
    fn what_was_done_stands_in_one_sentence_and_what_was_not_below_it() {
        let budget = ramline_plan::UpkeepBudget {
            left: Bytes::from_mib(1012),
            per_day: Bytes::from_gib(1),
            written: Bytes::from_mib(12),
        };
        let done = UpkeepDevice {
            backing: Some("/dev/vdb".into()),
            written_back: Some(Bytes::from_mib(12)),
            freed: Some(Bytes::from_mib(11)),
            skipped: vec!["no recompression: this kernel's zram has none".into()],
            ..device()
        };
        assert_eq!(
            shown(&UpkeepPass { devices: vec![done], budget, ..UpkeepPass::default() }),
            "\
zram0: 12.0 MiB of idle pages written back, compaction freed 1.2 MiB; the pool is 11.0 MiB smaller.
  no recompression: this kernel's zram has none.
Writeback: 1012.0 MiB of 1.0 GiB in 24 hours are left.
"
        );
    }

    #[test]
    fn a_pass_that_was_left_out_says_why_and_no_device_is_no_error() {
        let waits = UpkeepPass { skipped: Some("tasks waited for io 23 %".into()), ..UpkeepPass::default() };
        assert_eq!(shown(&waits), "Nothing was done: tasks waited for io 23 %.\n");
        assert_eq!(shown(&UpkeepPass::default()), "No zram device is used as swap: nothing to maintain.\n");
    }
}
