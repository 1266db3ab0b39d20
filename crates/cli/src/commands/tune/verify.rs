//! `ramline tune verify`: looks at every standing change and writes down, for this boot, whether it is in force and who overruled it where not.

use ramline_act::boots::{self, BootRecord};
use ramline_evidence::{BootFound, ChangeList, ChangeReport, StepStands};
use ramline_gather::gather;
use ramline_snapshot::configured::Configured;

use super::changes::list;
use crate::prelude::*;

/// Record for this boot whether each change is in force; systemd runs it at each boot
#[derive(Debug, Args)]
pub struct Verify {
    /// Say nothing but errors
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    format: Format,
}

impl Verify {
    /// Runs the command.
    ///
    /// # Errors
    /// The state directory cannot be used, or the record not written.
    pub fn run(&self) -> Result<u8> {
        let root = Root::live();
        let Some(state) = StateDir::open_existing(&state::path()?)? else {
            return self.say(&ChangeList::default());
        };
        let found = list(&root)?;
        let configured = gather(&root, Wanted { configured: true, ..Wanted::NOTHING }).configured.data().cloned();
        let standing = found.changes.iter().filter(|change| change.stands());
        let changes: Vec<(u64, serde_json::Value)> = standing
            .map(|change| Ok((change.number, ramline_units::json::tree(&look(change, configured.as_ref()))?)))
            .collect::<Result<_>>()?;
        if !changes.is_empty() {
            let record = BootRecord { boot: process::boot_id(&root)?, time_ms: now_ms(), changes };
            boots::append(&state, &record)?;
        }
        self.say(&list(&root)?)
    }

    fn say(&self, list: &ChangeList) -> Result<u8> {
        if !self.quiet {
            self.format.print(&Versioned::new(list), |style| list.sheet().text(style, Depth::Brief))?;
        }
        Ok(exit::DONE)
    }
}

fn now_ms() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or_default()
}

/// What is found of a change now; the number of the boot is counted when it is read.
fn look(change: &ChangeReport, configured: Option<&Configured>) -> BootFound {
    let astray = change.astray().map(|step| {
        // "write /proc/sys/vm/swappiness: 60 -> 133"
        let knob = step.step.strip_prefix("write /proc/sys/").and_then(|rest| rest.split_once(": "));
        let Some((path, values)) = knob else {
            let how = step.now.clone().unwrap_or_else(|| "as before".to_owned());
            return format!("{}: it was {how}", step.step);
        };
        let key = path.replace('/', ".");
        let before = values.split(" -> ").next().unwrap_or_default();
        let now = step.now.clone().unwrap_or_else(|| before.to_owned());
        let by = configured.and_then(|all| all.for_key(&key).filter(|setting| setting.value == now).last());
        let by = by.map(|setting| format!(", set by {}:{}", setting.file, setting.line)).unwrap_or_default();
        let own = if step.stands == StepStands::Before && by.is_empty() { ", as before the change" } else { "" };
        format!("{key} was {now}{by}{own}")
    });
    BootFound { boot: 0, time_ms: 0, state: change.state, astray: astray.collect() }
}

/// What was found of a change at the boots since it was applied.
pub fn found(records: &[BootRecord], number: u64, applied_in: &str) -> Vec<BootFound> {
    let since = records.iter().filter(|record| record.boot != applied_in);
    let of = |record: &BootRecord| {
        let (_, value) = record.changes.iter().find(|(change, _)| *change == number)?;
        let found: BootFound = ramline_units::json::read(value.clone()).ok()?;
        Some(BootFound { time_ms: record.time_ms, ..found })
    };
    (2..).zip(since.filter_map(of)).map(|(boot, found)| BootFound { boot, ..found }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_evidence::{ChangeState, StepReport};
    use ramline_snapshot::configured::Setting;

    fn change(stands: StepStands, now: Option<&str>) -> ChangeReport {
        let step = "write /proc/sys/vm/swappiness: 60 -> 133".to_owned();
        let step = StepReport { step, stands, now: now.map(str::to_owned), lasts: false };
        ChangeReport { number: 1, state: ChangeState::Drifted, steps: vec![step], ..ChangeReport::default() }
    }

    #[test]
    fn who_overruled_a_knob_is_the_last_file_that_sets_what_it_is() {
        let of = |value: &str, file: &str| Setting {
            key: "vm.swappiness".into(),
            value: value.into(),
            file: file.into(),
            line: 1,
        };
        let settings = vec![of("133", "/etc/sysctl.d/99-zz-ramline.conf"), of("10", "/etc/sysctl.d/zz.conf")];
        let all = Configured { settings, ..Configured::default() };
        assert_eq!(
            look(&change(StepStands::Changed, Some("10")), Some(&all)).astray,
            ["vm.swappiness was 10, set by /etc/sysctl.d/zz.conf:1"]
        );
        assert_eq!(look(&change(StepStands::Changed, Some("11")), Some(&all)).astray, ["vm.swappiness was 11"]);
        assert_eq!(
            look(&change(StepStands::Before, None), None).astray,
            ["vm.swappiness was 60, as before the change"]
        );
    }

    #[test]
    fn boots_are_counted_from_the_one_in_which_the_change_was_applied() {
        let record = |boot: &str| BootRecord {
            boot: boot.into(),
            time_ms: 7,
            changes: vec![(1, serde_json::to_value(look(&change(StepStands::Before, None), None)).unwrap())],
        };
        let all = [record("first"), record("second"), record("third")];
        let numbers: Vec<u64> = found(&all, 1, "first").iter().map(|found| found.boot).collect();
        assert_eq!(numbers, [2, 3]);
        assert_eq!(found(&all, 2, "first"), []);
    }
}
