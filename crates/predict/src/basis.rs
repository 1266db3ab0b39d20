//! What the times of a forecast rest on: costs as they are assumed or as `measure tiers` found them, and what a series says about its machine.

use ramline_evidence::{Arm, RunRecord, TierReport};
use ramline_sim::cost::{Costs, Disk, MEASURED_SPREAD, Pace};

use crate::calibration;
use crate::lengths::Lengths;
use crate::question::Question;

/// The lab looks at the group as the program begins and each 100 ms after that; a load begins 1 to 20 ms later, when its tables are made.
/// Nanoseconds from there to the next look.
pub const FIRST_READ: [u64; 2] = [80_000_000, 99_000_000];

/// An emulated processor is so many times slower than one, while its guest's disk takes as long as ever: by the guest's clock a write takes so much less. That it is much less is all that
/// counts say: heaps of 24 settings in guests (bench/runs/accuracy-found-4.json) are 0.49 to 0.52 % off in the mean with 5, 10, 20 and 40, and 0.74 % with 1.
const EMULATED: f64 = 20.0;

/// The uncertainty factor of a virtual disk: how many times slower or faster it may be than measured or assumed: from hour to hour that of one machine differed by more than ten times
/// (docs/predict.md), and `measure tiers` reads what it has just written, which the host still has in its own memory.
const VIRTUAL_DISK: f64 = 10.0;

/// Basis of the forecast times.
#[derive(Clone, Copy)]
pub struct Basis<'a> {
    /// Of this machine.
    pub tiers: Option<&'a TierReport>,
    /// What pages compress to.
    pub lengths: &'a Lengths<'a>,
    /// How many times slower the processor of a series was.
    pub processor: Option<Pace>,
    /// Which its own time in a round said, not a fill.
    pub by_work: bool,
    /// And its disks.
    pub disk: Option<Disk>,
    /// Where no series says it, the uncertainty factor of a disk's speed ([`VIRTUAL_DISK`]).
    pub is_virtual: bool,
    /// The program's nanoseconds between touches.
    pub between: f64,
    /// What lies between files and their disk adds to each read, in nanoseconds.
    pub layer: f64,
    /// With zram, the limit follows the pool as in the lab.
    pub follows: bool,
    /// When the lab looked at the group for the first time, in nanoseconds from the beginning of the load.
    pub first_read: [u64; 2],
    /// What was measured; of a setting it says what compression took, how often nothing was read from swap since boot, and how its rounds began.
    pub records: &'a [RunRecord],
}

impl<'a> Basis<'a> {
    /// The basis without a series.
    #[must_use]
    pub fn assumed(question: &Question, tiers: Option<&'a TierReport>, lengths: &'a Lengths<'a>) -> Basis<'a> {
        let (between, first_read) = (question.between, FIRST_READ);
        Basis {
            tiers,
            lengths,
            processor: None,
            by_work: false,
            disk: None,
            is_virtual: question.is_virtual,
            between,
            layer: 0.0,
            // A machine with so much RAM has the pool in it, and so does the lab where it runs a command.
            follows: question.recorded.is_some(),
            first_read,
            records: &[],
        }
    }

    /// Cost of the steps in a setting whose zram has this algorithm.
    pub fn costs(&self, algorithm: &str, arm: &Arm) -> Costs {
        let fill = arm.fill.as_str();
        let costs = match self.tiers {
            None => Costs::assumed(algorithm, fill),
            // A series' pace multiplies assumed costs. `ram-load` reads from anywhere in RAM, which takes 2.5 times as long as a touch of the lab's loads.
            Some(tiers) if !self.records.is_empty() => Costs::measured(tiers, algorithm, fill),
            Some(tiers) => Costs::measured(tiers, algorithm, fill).with_tiers_in_ram(tiers),
        };
        let costs = Costs { layer: self.layer, between: self.between, ..costs };
        let costs = calibration::compression_cost(arm, self.records)
            .map_or(costs, |(took, spread)| costs.with_codec(took, spread));
        let mut costs = self.disk.map_or(costs, |disk| costs.with_disk(disk));
        if self.disk.is_none() && self.is_virtual {
            costs.spread.device = costs.spread.device.max(VIRTUAL_DISK);
        }
        if self.disk.is_some() {
            costs.spread.processor = self.spread_beside_a_disk(costs.spread.processor);
        }
        if calibration::is_emulated(self.records) {
            costs.swap_written = costs.swap_written.map(|ns| ns / EMULATED);
        }
        self.processor.map_or(costs, |pace| costs.with_processor(pace))
    }

    /// Uncertainty factor of a processor's speed where rounds that it has its part in gave the pace of a disk: that is known better then.
    pub const fn spread_beside_a_disk(&self, assumed: f64) -> f64 {
        if self.processor.is_none() { assumed.min(MEASURED_SPREAD) } else { assumed }
    }

    /// A note in words. `setting` gave the paces, `long` that of each page of a request, where it has one of its own.
    #[must_use]
    pub fn note(&self, setting: &str, long: Option<&str>) -> String {
        const GIVEN: &str = "whose own time is so no prediction";
        let found = self.tiers.map(|report| report.conditions.first().map_or("", String::as_str));
        let base = match (found, self.disk) {
            (Some(conditions), None) => {
                Some(format!("by the disk and memory speeds that measure tiers found ({conditions})"))
            }
            (None, None) => Some("by assumed costs of a disk".to_owned()),
            (_, Some(_)) => None,
        };
        let disk = self.disk.map(|Disk { request, page, .. }| {
            let of = if found.is_some() { "measure tiers found" } else { "is assumed" };
            let (request, page) = (times(request), times(page));
            let Some(long) = long else {
                return format!("reads took {request} as long as {of}, by a round of {setting}, {GIVEN}");
            };
            format!(
                "requests to a disk took {request} as long as {of} and each page of them {page}, by rounds of {setting} and {long}, whose own times \
                 are so no predictions"
            )
        });
        let processor = self.processor.map(|pace| {
            let by = match (self.by_work, self.disk) {
                (false, _) => "how long memory took to fill".to_owned(),
                (true, Some(_)) if long.is_none() => "its part of that round".to_owned(),
                (true, Some(_)) => format!("its part of a round of {setting}"),
                (true, None) => format!("its part of a round of {setting}, {GIVEN}"),
            };
            format!("a processor took {} as long as is assumed, by {by}", times(pace.times))
        });
        let has_codec = self.records.iter().any(|record| record.codec.is_some());
        let codec = has_codec.then(|| "compression with zram as before each run".to_owned());
        let writes = calibration::is_emulated(self.records).then(|| {
            format!("writes were taken as {EMULATED:.0} times faster than that disk's, since the disk of an emulated machine goes on while its processor works")
        });
        if self.tiers.is_none() && disk.is_none() && processor.is_none() && codec.is_none() && writes.is_none() {
            return "times: by assumed costs of disk and compression; measured here by: sudo ramline measure tiers"
                .to_owned();
        }
        let parts: Vec<String> = base.into_iter().chain(disk).chain(writes).chain(processor).chain(codec).collect();
        format!("times: {}", parts.join("; "))
    }
}

fn times(times: f64) -> String {
    if times < 0.1 { "less than a tenth".to_owned() } else { format!("{times:.1} times") }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use ramline_evidence::{LatencyStats, TierMeasurement};
    use ramline_sim::load::{Compact, Overhead};
    use ramline_trace::generate::Load;
    use ramline_units::{Bytes, Nanos};

    use super::*;

    fn with_basis(what: impl FnOnce(Basis<'_>)) {
        let load = Load::named("heap", 1 << 20, 1, 7).unwrap();
        let lengths = Lengths::for_load(&Compact::decode(&load).unwrap(), &|_, _, _, _| Ok(vec![4096]));
        let question = Question {
            name: "known-load".to_owned(),
            load: Arc::new(load),
            others: Vec::new(),
            recorded: None,
            sized_by: None,
            arms: Vec::new(),
            swap: Bytes(0),
            samples_every: Duration::from_millis(100),
            overhead: Overhead::default(),
            between: 0.0,
            notes: Vec::new(),
            runs: 1,
            is_virtual: false,
        };
        what(Basis::assumed(&question, None, &lengths));
    }

    #[test]
    fn the_disk_of_an_emulated_machine_writes_while_its_processor_works() {
        let record = |emulated: bool| RunRecord { emulated, ..RunRecord::default() };
        with_basis(|basis| {
            let costs = |records: &[RunRecord]| Basis { records, ..basis }.costs("lz4", &Arm::default());
            let [real, emulated] = [false, true].map(|emulated| costs(&[record(emulated)]));
            assert_eq!(emulated.swap_written, real.swap_written.map(|ns| ns / EMULATED));
            assert_eq!(emulated.swap_read, real.swap_read);
        });
    }

    #[test]
    fn beside_a_series_tiers_give_the_disk_and_not_what_a_touch_of_its_load_takes() {
        let ram = TierMeasurement {
            tier: "ram-load".to_owned(),
            label: String::new(),
            latency: LatencyStats::from_durations(&[Nanos(171)]),
            batches: None,
            throughput: None,
            method: String::new(),
            notes: Vec::new(),
        };
        let disk = TierMeasurement {
            tier: "disk:/".to_owned(),
            latency: LatencyStats::from_durations(&[Nanos(50_000)]),
            ..ram.clone()
        };
        let tiers = TierReport { tiers: vec![ram, disk], ..TierReport::default() };
        with_basis(|basis| {
            let costs = |basis: Basis<'_>| Basis { tiers: Some(&tiers), ..basis }.costs("lz4", &Arm::default());
            let [alone, beside] = [costs(basis), costs(Basis { records: &[RunRecord::default()], ..basis })];
            assert_eq!([alone.hit, beside.hit], [171.0, Costs::default().hit]);
            let [measured, assumed] = [alone, beside].map(|costs| costs.spread.processor);
            assert_eq!((measured, assumed), (MEASURED_SPREAD, Costs::default().spread.processor));
            assert_eq!([alone.read[0], beside.read[0]], [50_000.0 - Costs::default().fetch[0]; 2]);
        });
    }

    #[test]
    fn what_a_virtual_disk_takes_is_not_known_unless_a_series_says_it() {
        with_basis(|basis| {
            let device = |basis: Basis<'_>| basis.costs("lz4", &Arm::default()).spread.device;
            let own = Basis { is_virtual: true, ..basis };
            assert_eq!([device(basis), device(own)], [Costs::default().spread.device, VIRTUAL_DISK]);
            let tiers = TierReport::default();
            assert_eq!(device(Basis { tiers: Some(&tiers), ..own }), VIRTUAL_DISK);
            let disk = Some(Disk::same_pace(Pace { times: 2.0, spread: 1.2 }));
            assert_eq!(device(Basis { disk, ..own }), 1.2);
        });
    }

    #[test]
    fn a_processor_is_known_better_beside_the_pace_of_a_disk_and_best_by_its_own() {
        let pace = |spread| Pace { times: 2.0, spread };
        let disk = Some(Disk::same_pace(pace(1.2)));
        with_basis(|basis| {
            let spread = |basis: Basis<'_>| basis.costs("lz4", &Arm::default()).spread.processor;
            let assumed = Costs::default().spread.processor;
            assert_eq!([spread(basis), spread(Basis { disk, ..basis })], [assumed, MEASURED_SPREAD]);
            assert_eq!(spread(Basis { disk, processor: Some(pace(3.0)), ..basis }), 3.0);
        });
    }

    #[test]
    fn times_say_what_they_rest_on_and_which_setting_is_no_prediction() {
        with_basis(said_of);
    }

    fn said_of(basis: Basis<'_>) {
        let pace = Some(Pace { times: 2.0, spread: 1.2 });
        let note = |basis: Basis<'_>| basis.note("swap:60", None);
        let disk = pace.map(Disk::same_pace);
        assert!(note(basis).ends_with("measured here by: sudo ramline measure tiers"));
        assert_eq!(
            note(Basis { processor: pace, disk, by_work: true, ..basis }),
            "times: reads took 2.0 times as long as is assumed, by a round of swap:60, whose own time is so no prediction; a processor took 2.0 \
             times as long as is assumed, by its part of that round"
        );
        assert_eq!(
            note(Basis { processor: pace, by_work: true, ..basis }),
            "times: by assumed costs of a disk; a processor took 2.0 times as long as is assumed, by its part of a round of swap:60, whose own \
             time is so no prediction"
        );
        let disk = disk.map(|disk| Disk { page: 0.5, ..disk });
        assert_eq!(
            Basis { processor: pace, disk, by_work: true, ..basis }.note("swap:60", Some("no-swap")),
            "times: requests to a disk took 2.0 times as long as is assumed and each page of them 0.5 times, by rounds of swap:60 and no-swap, whose own \
             times are so no predictions; a processor took 2.0 times as long as is assumed, by its part of a round of swap:60"
        );
        let emulated = [RunRecord { emulated: true, ..RunRecord::default() }];
        assert_eq!(
            note(Basis { records: &emulated, ..basis }),
            "times: by assumed costs of a disk; writes were taken as 20 times faster than that disk's, since the disk of an emulated \
             machine goes on while its processor works"
        );
        let codec = [RunRecord { codec: Some(ramline_evidence::CodecTimes::default()), ..RunRecord::default() }];
        let tiers = TierReport { conditions: vec!["quiet".to_owned()], ..TierReport::default() };
        assert_eq!(
            note(Basis { records: &codec, tiers: Some(&tiers), ..basis }),
            "times: by the disk and memory speeds that measure tiers found (quiet); compression with zram as before each run"
        );
    }
}
