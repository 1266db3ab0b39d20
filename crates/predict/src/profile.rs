//! Which kernel a forecast is for: this machine's, one that was asked for, or that of records.
//!
//! What it is not: a list of kernels; what they can do stands in the simulator (`ramline_sim::kernel`). What can be seen of a kernel is taken from it,
//! the rest from the nearest preset.

use ramline_evidence::{Lru, RunRecord};
use ramline_sim::kernel::{Group, Kernel, Lists, PRESETS};
use ramline_snapshot::cgroup::Version;
use ramline_snapshot::switches::LruGen;
use ramline_snapshot::{Snapshot, Wanted};

use crate::error::{PredictError, Result};

/// The words of `--lru`.
const LISTS: [(&str, Lists); 2] = [("classic", Lists::Classic), ("mglru", Lists::Generations)];
/// The setting of a series, and of an arm, that holds one of them.
const LRU: &str = "lru";

/// The sections of a snapshot that say it.
pub const WANTED: Wanted = Wanted { lru_gen: true, vmstat: true, cgroups: true, ..Wanted::NOTHING };

/// The kernel of a machine.
#[must_use]
pub fn from_machine(seen: &Snapshot) -> Kernel {
    let near = Kernel::nearest(&seen.machine.kernel).unwrap_or(PRESETS[2]);
    let is_on = seen.lru_gen.data().is_some_and(LruGen::is_on);
    let is_second = seen.cgroups.data().is_some_and(|groups| groups.version == Version::V2);
    let zero_map = seen.vmstat.data().map(|counters| counters.swpin_zero.is_some());
    Kernel {
        lists: lists_of(is_on),
        group: if is_second { Group::V2 } else { Group::V1 },
        several_cpus: seen.machine.cpus > 1,
        zero_map: zero_map.unwrap_or(near.zero_map),
        ..near
    }
}

fn lists_of(is_on: bool) -> Lists {
    if is_on { Lists::Generations } else { Lists::Classic }
}

/// The kernels asked for, each with each of the lists: this machine's where none is. A preset has the group and the processors of this machine.
///
/// # Errors
/// One is not simulated.
pub fn asked(here: Kernel, kernels: &[String], lists: &[String]) -> Result<Vec<Kernel>> {
    let kernel = |text: &String| {
        let preset = Kernel::preset(text).map_err(|why| PredictError::usage(why.to_string(), EXAMPLE))?;
        Ok(Kernel { group: here.group, lists: here.lists, several_cpus: here.several_cpus, ..preset })
    };
    let list = |text: &String| {
        let known = LISTS.iter().find(|(word, _)| word == text).map(|(_, lists)| *lists);
        let why = || format!("'{}' is neither classic nor mglru", text.escape_debug());
        known.ok_or_else(|| PredictError::usage(why(), EXAMPLE))
    };
    let kernels = if kernels.is_empty() { vec![here] } else { kernels.iter().map(kernel).collect::<Result<_>>()? };
    let lists: Vec<Lists> = lists.iter().map(list).collect::<Result<_>>()?;
    let with = |kernel: Kernel| {
        let each: Vec<Kernel> = lists.iter().map(|lists| Kernel { lists: *lists, ..kernel }).collect();
        if each.is_empty() { vec![kernel] } else { each }
    };
    Ok(kernels.into_iter().flat_map(with).collect())
}

/// Kernel and page lists of a run, as far as its record says; the rest is this machine's.
#[must_use]
pub fn from_record(record: &RunRecord, here: Kernel) -> Kernel {
    let near = Kernel::nearest(&record.machine.kernel);
    // Of the kernel that runs here more is known than its release says.
    let base = near.filter(|near| near.release != here.release).unwrap_or(here);
    let seen = record.machine.lru.map(|lru| lists_of(lru == Lru::Mglru));
    // Records before that field: what the setting asked for, and what a guest read back.
    let asked = record.arm.settings.get(LRU).and_then(|word| LISTS.iter().find(|(known, _)| known == word));
    let read_back = record.verified.get("MGLRU").map(|text| LruGen::from_texts(text, None).is_on());
    let lists = seen.or(asked.map(|(_, lists)| *lists)).or(read_back.map(lists_of));
    Kernel {
        traced: near.map_or(here.traced, |near| near.traced),
        lists: lists.unwrap_or(here.lists),
        group: match record.machine.cgroup_version {
            1 => Group::V1,
            2 => Group::V2,
            _ => here.group,
        },
        several_cpus: match record.machine.cpus {
            0 => here.several_cpus,
            cpus => cpus > 1,
        },
        ..base
    }
}

/// `6.12 mglru`, as a setting's name says it.
#[must_use]
pub fn word(kernel: &Kernel) -> String {
    let lists = LISTS.iter().find(|(_, lists)| *lists == kernel.lists).map_or("", |(word, _)| word);
    format!("{} {lists}", kernel.release)
}

const EXAMPLE: &str = "ramline predict --kernel 6.12 --lru mglru";

#[cfg(test)]
mod tests {
    use ramline_evidence::Arm;

    use super::*;

    const HERE: Kernel = PRESETS[2];

    #[test]
    fn each_kernel_asked_for_is_crossed_with_each_of_the_lists() {
        let texts = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
        let all = asked(HERE, &texts(&["6.1", "7.3"]), &texts(&["classic", "mglru"])).unwrap();
        let words: Vec<String> = all.iter().map(word).collect();
        assert_eq!(words, ["6.1 classic", "6.1 mglru", "7.3 classic", "7.3 mglru"]);
        assert_eq!(asked(HERE, &[], &[]).unwrap(), [HERE]);
        let alone = Kernel { several_cpus: false, ..HERE };
        assert!(asked(alone, &texts(&["6.1"]), &[]).unwrap().iter().all(|kernel| !kernel.several_cpus));
        let wrong = asked(HERE, &texts(&["5.4"]), &[]).unwrap_err().to_string();
        assert!(wrong.contains("kernel '5.4' is not simulated, only 6.1"), "{wrong}");
    }

    #[test]
    fn a_record_says_its_kernel_its_lists_and_its_group_and_may_say_none() {
        let mut record = RunRecord::default();
        assert_eq!(from_record(&record, HERE), HERE);
        record.machine.kernel = "6.12.48+deb13-amd64".to_owned();
        record.machine.cgroup_version = 2;
        record.arm = Arm::named("swap:60", &[("lru", "mglru")]);
        let kernel = from_record(&record, HERE);
        assert_eq!((word(&kernel).as_str(), kernel.group), ("6.12 mglru", Group::V2));
        assert!(kernel.several_cpus);
        record.machine.cpus = 1;
        assert!(!from_record(&record, HERE).several_cpus);
        record.arm = Arm::default();
        assert_eq!(word(&from_record(&record, HERE)), "6.12 classic");
        record.verified.insert("MGLRU".to_owned(), "0x0007".to_owned());
        assert_eq!(word(&from_record(&record, HERE)), "6.12 mglru");
        record.machine.lru = Some(Lru::Classic);
        assert_eq!(
            word(&from_record(&record, HERE)),
            "6.12 classic",
            "what was in force says more than what was asked"
        );
    }

    #[test]
    fn what_can_be_seen_of_a_machine_is_taken_from_it() {
        let mut seen = Snapshot::default();
        seen.machine.kernel = "6.6.9".to_owned();
        assert_eq!(word(&from_machine(&seen)), "6.1 classic");
    }
}
