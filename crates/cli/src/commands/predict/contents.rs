//! What a recorded program's pages hold, as far as it matters: what a sample of them compresses to.
//!
//! It is taken while the program runs, again each time it has grown by a quarter, so that the last is of nearly all it has.

use ramline_capture::{Recorded, Target};
use ramline_kernel::cgroup;
use ramline_lab::forecast::{PredictError, compressed};
use ramline_measure::pages::lengths;

use crate::prelude::*;

/// Pages of a sample: 2 MiB, and the share of those that do not compress within a twentieth.
const PAGES: usize = 512;
/// The time it may take.
const TIME: Duration = Duration::from_secs(1);
/// Contents of a load where none are asked for.
const USUAL: &str = "text";

/// What pages compress to, by algorithm.
pub struct Contents {
    algorithms: Vec<String>,
    target: Target,
    sampled: Vec<(String, Vec<u16>)>,
    resident: u64,
    /// Why there is no sample, where one was tried.
    why: Option<String>,
}

impl Contents {
    /// For these settings.
    pub fn new(settings: &[String], target: &Target) -> Contents {
        let of = |setting: &String| {
            let name = setting.strip_prefix("zram:")?.split(':').next()?;
            name.parse::<u32>().is_err().then(|| name.to_owned())
        };
        let mut algorithms: Vec<String> = settings.iter().filter_map(of).collect();
        // A device without a name has this one.
        algorithms.push("lzo-rle".to_owned());
        algorithms.sort_unstable();
        algorithms.dedup();
        Contents { algorithms, target: target.clone(), sampled: Vec::new(), resident: 0, why: None }
    }

    /// Samples where the program has grown. What cannot be read is left as it is: then contents are assumed.
    pub fn look(&mut self, so_far: &Recorded) {
        if so_far.resident_peak < self.resident + self.resident / 4 + 1 {
            return;
        }
        let root = Root::live();
        let Some(ids) = ids(&root, &self.target).filter(|ids| !ids.is_empty()) else { return };
        match lengths(&root, &ids, &self.algorithms, PAGES, TIME) {
            Ok(found) if found.iter().all(|(_, lengths)| lengths.is_empty()) => {
                self.why = Some("none of its pages could be read in time".to_owned());
            }
            Ok(found) => (self.sampled, self.resident) = (found, so_far.resident_peak),
            Err(error) => self.why = Some(error.to_string().lines().next().unwrap_or_default().to_owned()),
        }
    }

    /// What a page of such contents compresses to: sampled where no others were asked for.
    pub fn lengths(
        &self,
        fill: &str,
        algorithm: Option<&str>,
        seed: u64,
        pages: u32,
    ) -> Result<Vec<u16>, PredictError> {
        let of = |name: &str| self.sampled.iter().find(|(known, _)| known == name).map(|(_, lengths)| lengths);
        let known = algorithm.map_or_else(|| self.sampled.first().map(|(_, lengths)| lengths), of);
        match known.filter(|lengths| fill == USUAL && !lengths.is_empty()) {
            Some(lengths) => Ok(lengths.iter().copied().cycle().take(pages as usize).collect()),
            None => compressed(fill, algorithm, seed, pages),
        }
    }

    /// What was found, in a sentence; that it is assumed where nothing was.
    pub fn said(&self) -> String {
        let share = |(name, lengths): &(String, Vec<u16>)| {
            let sum: u64 = lengths.iter().map(|length| u64::from(*length)).sum();
            let whole = Bytes(lengths.len() as u64 * 4096);
            let share = Bytes(sum).share_of(whole)?;
            Some(format!("{name} to {:.0} %", share * 100.0))
        };
        let all: Vec<String> = self.sampled.iter().filter_map(share).collect();
        match all.is_empty() {
            true => {
                let why = self.why.as_ref().map(|why| format!(" ({why})")).unwrap_or_default();
                format!("contents: assumed to be text{why}; --fill random or zeros for others")
            }
            false => format!("contents: a sample of its pages compresses with {}", all.join(", ")),
        }
    }
}

/// The processes there are now.
fn ids(root: &Root, target: &Target) -> Option<Vec<u32>> {
    match target {
        Target::Process(pid) => Some(vec![*pid]),
        Target::Group(dir) => cgroup::processes_below(root, dir).ok(),
        Target::Descendants => {
            let (mut out, mut left) = (Vec::new(), vec![std::process::id()]);
            while let Some(pid) = left.pop() {
                let children = process::process_children(root, pid).unwrap_or_default();
                left.extend(&children);
                out.extend(children);
            }
            Some(out)
        }
    }
}
