//! What was recorded says what the machine said: each captured machine, written as frames of a history and read back, has the same first line and findings.

use ramline_advice::{Inputs, findings};
use ramline_gather::{Sampler, gather};
use ramline_history::{Decoder, Encoder, Frame, Moment, Texts, from_snapshot, to_snapshot};
use ramline_kernel::Root;
use ramline_model::verdict;
use ramline_snapshot::Snapshot;

fn said(seen: &Snapshot) -> (String, Vec<String>) {
    let inputs = Inputs { snapshot: seen, window: None, tiers: None, runs: &[] };
    let found = findings(&inputs).into_iter().map(|finding| format!("{}: {}", finding.id, finding.title)).collect();
    (format!("{:?}", verdict::from_snapshot(seen, None)), found)
}

#[test]
fn a_recorded_machine_has_the_first_line_and_the_findings_it_had() {
    let (mut encoder, mut decoder, mut texts) = (Encoder::default(), Decoder::default(), Texts::new());
    let names = ramline_testkit::names("");
    for name in &names {
        let mut seen = gather(&Root::new(ramline_testkit::tree(name)), Sampler::READS);
        // Each machine is another moment, so that frames differ as much as they ever can.
        texts.clear();
        from_snapshot(&mut seen, &mut texts).unwrap();
        let bytes = encoder.frame(Moment::default(), &texts);
        let (frame, length) = Frame::first(&bytes).unwrap();
        assert_eq!(length, bytes.len());
        let back = to_snapshot(name, decoder.take(&frame).unwrap()).unwrap();
        assert_eq!(said(&back), said(&seen), "{name}");
    }
    assert!(names.len() > 20, "only {} machines", names.len());
}
