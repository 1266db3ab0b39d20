//! A directory of history: what stands in it after crashes, set clocks and full caps, and which moment answers a time.

use std::path::Path;
use std::time::Duration;

use ramline_history::{Encoder, Head, Moment, Note, Texts, note};
use ramline_recorder::{Archive, GapReason, Limits, NotFound, Part, Store, files};
use ramline_units::Bytes;

const START: u64 = 1_796_040_000_000;
const DAY: u64 = 24 * 3600 * 1000;

fn head(machine: &str) -> Head {
    Head { machine_id: Some(machine.to_owned()), boot_id: Some("a".to_owned()), ..Head::default() }
}

fn limits(size: u64) -> Limits {
    Limits { size: Bytes(size), age: Duration::from_secs(30 * 24 * 3600) }
}

/// A recorder without a machine.
struct Writer {
    store: Store,
    encoder: Encoder,
}

impl Writer {
    fn new(dir: &Path, size: u64, machine: &str) -> Writer {
        #[expect(clippy::unwrap_used, reason = "a test without a directory is none")]
        let store = Store::open(dir, limits(size), head(machine)).unwrap();
        Writer { store, encoder: Encoder::default() }
    }

    fn began(&mut self, at: Moment, boot: &str) {
        let began = Note::Began { version: String::new(), boot_id: Some(boot.to_owned()), interval_ms: 5000 };
        self.put(at, &note(at, &began));
    }

    fn ended(&mut self, at: Moment) {
        self.put(at, &note(at, &Note::Ended {}));
    }

    fn put(&mut self, at: Moment, bytes: &[u8]) {
        assert!(self.store.ready(at.wall_ms).is_ok() && self.store.append(at.wall_ms, bytes).is_ok());
    }

    fn frame(&mut self, at: Moment, text: &str) {
        if matches!(self.store.ready(at.wall_ms), Ok(true)) {
            self.encoder.start_anew();
        }
        let machine = format!("{{\"boot_id\":\"a\",\"host\":\"{text}\"}}");
        let texts = [("schema_version", "1".to_owned()), ("machine", machine)];
        let texts: Texts = texts.map(|(name, text)| (name.to_owned(), text)).into();
        let bytes = self.encoder.frame(at, &texts);
        self.put(at, &bytes);
    }
}

fn at(wall_ms: u64, boot_ms: u64) -> Moment {
    Moment { wall_ms: START + wall_ms, boot_ms }
}

/// The host that a moment names, or why there is none.
fn asked(dir: &Path, wall_ms: u64) -> Result<String, NotFound> {
    let recorded = Archive::open(dir)?.at(START + wall_ms, None)?;
    Ok(recorded.snapshot.machine.host.unwrap_or_default())
}

#[test]
fn a_moment_is_the_last_frame_before_and_a_stop_is_a_gap() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(dir.path(), 1 << 30, "m");
    writer.began(at(0, 1000), "a");
    for step in 0..5 {
        writer.frame(at(step * 5000, 1000 + step * 5000), &format!("h{step}"));
    }
    writer.ended(at(20_100, 21_100));
    drop(writer);
    let mut writer = Writer::new(dir.path(), 1 << 30, "m");
    writer.began(at(100_000, 101_000), "a");
    writer.frame(at(100_100, 101_100), "later");
    assert_eq!(asked(dir.path(), 7000).unwrap(), "h1");
    assert_eq!(asked(dir.path(), 24_000).unwrap(), "h4");
    assert_eq!(asked(dir.path(), 101_000).unwrap(), "later");
    assert!(matches!(asked(dir.path(), 60_000), Err(NotFound::Gap(gap)) if gap.why == GapReason::Ended));
    assert!(
        matches!(Archive::open(dir.path()).unwrap().at(START - 1, None), Err(NotFound::Before(first)) if first == START)
    );
    assert!(matches!(asked(dir.path(), 10_000_000), Err(NotFound::After(_))));
    let before = Archive::open(dir.path()).unwrap().at(START + 7000, None).unwrap().before.unwrap();
    assert_eq!(before.machine.host.as_deref(), Some("h0"));
}

#[test]
fn a_day_is_a_file_and_a_moment_after_midnight_is_found_in_the_one_before() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(dir.path(), 1 << 30, "m");
    let midnight = (START / DAY + 1) * DAY - START;
    writer.began(at(midnight - 5000, 1000), "a");
    writer.frame(at(midnight - 5000, 1000), "before");
    writer.frame(at(midnight + 1000, 7000), "after");
    assert_eq!(files(dir.path()).unwrap().len(), 2);
    assert_eq!(asked(dir.path(), midnight).unwrap(), "before");
    assert_eq!(asked(dir.path(), midnight + 2000).unwrap(), "after");
}

#[test]
fn a_clock_set_back_is_no_gap_and_the_later_frame_answers() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(dir.path(), 1 << 30, "m");
    writer.began(at(0, 1000), "a");
    writer.frame(at(3_600_000, 6000), "before");
    writer.frame(at(1_000_000, 11_000), "set back");
    writer.frame(at(3_600_000, 2_611_000), "again");
    assert_eq!(asked(dir.path(), 3_600_100).unwrap(), "again");
    let part = Part::read(&files(dir.path()).unwrap()[0]).unwrap();
    // 2,600 s without a frame by either clock.
    assert_eq!(part.gaps().iter().map(|gap| gap.why.clone()).collect::<Vec<_>>(), [GapReason::Late]);
}

#[test]
fn a_file_of_another_machine_is_left_as_it_is_and_a_torn_end_is_cut_off() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(dir.path(), 1 << 30, "other");
    writer.frame(at(0, 1000), "other");
    drop(writer);
    let path = files(dir.path()).unwrap()[0].path.clone();
    let theirs = std::fs::read(&path).unwrap();
    let mut writer = Writer::new(dir.path(), 1 << 30, "m");
    writer.frame(at(5000, 6000), "ours");
    drop(writer);
    assert_eq!(std::fs::read(&path).unwrap(), theirs);
    let ours = files(dir.path()).unwrap()[1].path.clone();
    let whole = std::fs::read(&ours).unwrap();
    std::fs::write(&ours, [&whole[..], &whole[whole.len() - 40..whole.len() - 20]].concat()).unwrap();
    let mut writer = Writer::new(dir.path(), 1 << 30, "m");
    writer.frame(at(10_000, 11_000), "on");
    let now = std::fs::read(&ours).unwrap();
    assert!(now.starts_with(&whole));
    assert_eq!(Part::read(&files(dir.path()).unwrap()[1]).unwrap().instants.len(), 2);
}

#[test]
fn the_cap_holds_with_every_frame_and_the_newest_stay() {
    let dir = tempfile::tempdir().unwrap();
    let cap = 64 << 10;
    let mut writer = Writer::new(dir.path(), cap, "m");
    let mut state = 1_u64;
    for step in 0..3000 {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        writer.frame(at(step * 5000, step * 5000), &format!("{state:x}"));
        let all: u64 = files(dir.path()).unwrap().iter().map(|file| file.bytes).sum();
        assert!(all <= cap, "{all} bytes after frame {step}");
    }
    let last = Archive::open(dir.path()).unwrap().last().unwrap();
    assert_eq!(last.wall_ms, START + 2999 * 5000);
    assert!(asked(dir.path(), 2990 * 5000).is_ok());
}

#[test]
fn a_second_recorder_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let _first = Writer::new(dir.path(), 1 << 30, "m");
    let error = Store::open(dir.path(), limits(1 << 30), head("m")).unwrap_err().to_string();
    assert!(error.contains(&format!("process {}", std::process::id())) && error.contains("try:"), "{error}");
}

#[test]
fn a_flipped_bit_never_makes_another_moment_the_answer() {
    let dir = tempfile::tempdir().unwrap();
    let mut writer = Writer::new(dir.path(), 1 << 30, "m");
    writer.began(at(0, 1000), "a");
    for step in 0..40 {
        if step % 8 == 0 {
            writer.encoder.start_anew();
        }
        writer.frame(at(step * 5000, 1000 + step * 5000), &format!("h{step}"));
    }
    drop(writer);
    let path = files(dir.path()).unwrap()[0].path.clone();
    let whole = std::fs::read(&path).unwrap();
    for bit in (0..whole.len() * 8).step_by(13) {
        let mut bytes = whole.clone();
        bytes[bit / 8] ^= 1 << (bit % 8);
        std::fs::write(&path, &bytes).unwrap();
        for step in [0, 7, 8, 21, 39] {
            // The frame that was asked for, or one before it where that is damaged; never another under its name.
            if let Ok(recorded) = Archive::open(dir.path()).unwrap().at(START + step * 5000 + 100, None) {
                let found = (recorded.at.wall_ms - START) / 5000;
                assert!(found <= step, "bit {bit}");
                assert_eq!(recorded.snapshot.machine.host, Some(format!("h{found}")), "bit {bit}");
            }
        }
    }
}
