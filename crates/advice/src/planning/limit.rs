//! The memory limit of a service that was watched: a file beside its unit sets it, so that it stays.
//!
//! Only upwards: what a service could do without is not known from watching, and a limit below its use can kill it. Of groups that are no units of systemd
//! nothing stays; their command is named.

use ramline_model::need::{Need, NeedAnswer};
use ramline_plan::edit::OWN;
use ramline_plan::{PlanLine, Step};

use super::desk::Desk;
use super::line::{Draft, reason};
use crate::prelude::*;

/// Where an administrator's files beside units are.
const UNITS: &str = "/etc/systemd/system";
/// Read behind `50-MemoryMax.conf`, which `systemctl set-property` writes.
const FILE: &str = "zz-ramline-memory.conf";
/// Limits are written in whole MiB.
const WHOLE: u64 = 1 << 20;

/// A service whose limit is to be what it needs.
#[derive(Debug, Clone, PartialEq)]
pub struct WatchedService {
    /// What watching it found.
    pub need: Need,
    /// The directory beside its unit is there.
    pub has_directory: bool,
    /// The text of our file there.
    pub file: Option<String>,
    /// The file of its limit and the value in it, as the kernel writes it.
    pub limit: (String, String),
}

/// The directory beside the unit of a group, and our file in it; `None` where the group is no service or slice.
#[must_use]
pub fn beside_unit(group: &str) -> Option<[String; 2]> {
    let unit = group.rsplit('/').next()?;
    section(unit)?;
    let directory = format!("{UNITS}/{unit}.d");
    let file = format!("{directory}/{FILE}");
    Some([directory, file])
}

/// Scopes end with what made them.
fn section(unit: &str) -> Option<&'static str> {
    [(".service", "[Service]"), (".slice", "[Slice]")]
        .into_iter()
        .find(|(end, _)| unit.ends_with(end))
        .map(|(_, name)| name)
}

pub(super) fn plan(desk: &mut Desk<'_>) {
    let ask = desk.ask;
    for service in &ask.services {
        let line = line(desk, service);
        desk.lines.push(line);
    }
}

fn line(desk: &Desk<'_>, service: &WatchedService) -> PlanLine {
    let need = &service.need;
    let name = word(&need.group);
    let target = format!("memory limit of {}", need.group);
    let old = need.limit.map(|limit| limit.to_string());
    let source = format!("ramline need {name}");
    let watched = format!("watched for {:.0} s", need.curve.watched.as_secs_f64());
    let draft = |why: String| Draft::new(&target, old.clone(), reason(format!("{why} ({watched})"), source.clone()));
    let size = match need.answer {
        NeedAnswer::Size(size) => Bytes(need.new_limit().unwrap_or(size).0.div_ceil(WHOLE) * WHOLE),
        NeedAnswer::Enough => return draft("hardly anything of it is evicted and read again".to_owned()).keep(),
        NeedAnswer::AtMost(size) => return draft(format!("it needs no more than {size}")).keep(),
        NeedAnswer::MoreThan(size, _) => {
            let tell = format!("sudo ramline need {name} --try");
            return draft(format!("it needs more than {size}; how much was not seen")).not_known(tell);
        }
        NeedAnswer::Fills => {
            return draft("it still grows: ask again when it is warm".to_owned()).not_known(source);
        }
        NeedAnswer::FirstReads => {
            return draft("what it reads it reads for the first time: ask again when it is warm".to_owned())
                .not_known(source);
        }
    };
    let misses = need.curve.misses_per_second().unwrap_or(0.0);
    let effect = format!("{misses:.0} page cache misses a second fall to a hundredth");
    let risk = "memory that it takes is not there for others".to_owned();
    draft(format!("it needs about {size}")).change(size.to_string(), effect, risk, steps(desk, service, size))
}

fn steps(desk: &Desk<'_>, service: &WatchedService, size: Bytes) -> Result<Vec<Step>, String> {
    let need = &service.need;
    if let Some(above) = need.limit_at.as_ref().filter(|above| **above != need.group) {
        return Err(format!("the limit in force is that of {above}: ramline tune plan need:{}", word(above)));
    }
    let more = size.saturating_sub(need.current);
    if let Some(left) = available::bytes(desk.inputs.snapshot).filter(|left| *left < more) {
        return Err(format!("that is {more} more than it has, and {left} is available"));
    }
    let by_hand = || match &need.set {
        Some(set) => format!("its own command sets it: {}", set.command),
        None => format!("try: sudo ramline need {} --try --verify --keep", word(&need.group)),
    };
    if desk.ask.runtime_only {
        return Err(format!("a file beside a unit stays after a reboot; {}", by_hand()));
    }
    let unit = need.group.rsplit('/').next().unwrap_or_default();
    let (Some([directory, file]), Some(section), true) = (beside_unit(&need.group), section(unit), desk.set_up.systemd)
    else {
        return Err(format!("it is no service or slice of systemd, so nothing of it stays; {}", by_hand()));
    };
    let after = format!("{OWN}{section}\nMemoryMax={}M\n", size.0 / WHOLE);
    let made = (!service.has_directory).then_some(Step::MakeDirectory { path: directory });
    let edit = Step::EditFile { path: file, before: service.file.clone(), after: Some(after) };
    // Units that are read again leave the limit of a service that runs as it is.
    let (path, before) = service.limit.clone();
    let now = Step::SetKnob { path, before, after: size.0.to_string() };
    Ok(std::iter::once(Step::ReloadUnits).chain(made).chain([edit, Step::ReloadUnits, now]).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn services_and_slices_have_a_place_beside_their_units_and_others_have_none() {
        let [directory, file] = beside_unit("/system.slice/db.service").unwrap();
        assert_eq!(directory, "/etc/systemd/system/db.service.d");
        assert_eq!(file, "/etc/systemd/system/db.service.d/zz-ramline-memory.conf");
        assert!(beside_unit("/a.slice").is_some());
        assert_eq!([beside_unit("/docker/4f0c"), beside_unit("/user.slice/run-1.scope")], [None, None]);
    }
}
