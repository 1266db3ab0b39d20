//! A file of history, cut off anywhere, damaged anywhere, of a later version or another time: what is lost is counted and nothing is made up.

use ramline_history::{
    Begins, Decoder, Encoder, FileItem, Head, Kind, Moment, NotHistory, Note, Texts, frames, from_snapshot, note,
    to_snapshot,
};
use ramline_snapshot::Snapshot;

/// A generator of numbers (MMIX's), so that a failure is the same every time.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

fn head() -> Head {
    Head { machine_id: Some("m".to_owned()), boot_id: Some("b".to_owned()), ..Head::default() }
}

/// Texts that change as those of a machine do: mostly in numbers, now and then a process more or less.
fn moments(count: u64) -> Vec<(Moment, Texts)> {
    let mut numbers = Numbers(1);
    let mut texts = Texts::new();
    let mut out = Vec::new();
    for second in 0..count {
        let text = format!("{{\"free\":{},\"avg\":0.{:02}}}", numbers.next(1 << 40), numbers.next(100));
        texts.insert("meminfo".to_owned(), text);
        let pid = numbers.next(6);
        if numbers.next(3) == 0 {
            texts.remove(&format!("process {pid}"));
        } else {
            texts.insert(format!("process {pid}"), format!("{{\"pid\":{pid},\"rss\":{}}}", numbers.next(1000)));
        }
        let at = Moment { wall_ms: 1_796_000_000_000 + second * 5000, boot_ms: second * 5000 };
        out.push((at, texts.clone()));
    }
    out
}

fn file(moments: &[(Moment, Texts)], whole_every: usize) -> Vec<u8> {
    let mut bytes = head().bytes();
    let mut encoder = Encoder::default();
    for (index, (at, texts)) in moments.iter().enumerate() {
        if index % whole_every == 0 {
            encoder.start_anew();
        }
        bytes.extend(encoder.frame(*at, texts));
    }
    bytes
}

/// What can be read: moments, frames that stand alone, damaged bytes.
fn read(bytes: &[u8]) -> (Vec<(Moment, Texts)>, usize, usize) {
    let Ok(begins) = Begins::read(bytes) else { return (Vec::new(), 0, bytes.len()) };
    let (mut decoder, mut out, mut alone, mut damaged) = (Decoder::default(), Vec::new(), 0, 0);
    for found in frames(bytes, begins.frames_at) {
        match found {
            FileItem::Frame(_, frame) if frame.kind == Kind::Texts => match decoder.take(&frame) {
                Ok(texts) => out.push((frame.at, texts.clone())),
                Err(_) => alone += 1,
            },
            FileItem::Frame(..) => {}
            FileItem::Damage(damage) => damaged += damage.bytes,
        }
    }
    (out, alone, damaged)
}

#[test]
fn what_was_written_is_read() {
    let moments = moments(100);
    for whole_every in [1, 7, 1000] {
        assert_eq!(read(&file(&moments, whole_every)), (moments.clone(), 0, 0));
    }
}

#[test]
fn a_file_cut_off_anywhere_has_all_frames_that_are_whole() {
    let moments = moments(30);
    let bytes = file(&moments, 10);
    let mut most = 0;
    for cut in 0..bytes.len() {
        let (found, alone, damaged) = read(&bytes[..cut]);
        assert!(found.len() >= most, "a frame that was there is there with more bytes");
        most = found.len();
        assert_eq!(found, moments[..found.len()], "cut at {cut}");
        assert!(alone == 0 && (damaged > 0) == (cut != 0 && cut_inside(&bytes, cut)), "cut at {cut}");
    }
    assert_eq!(most, moments.len() - 1);
}

/// True where a cut is inside a frame or the head.
fn cut_inside(bytes: &[u8], cut: usize) -> bool {
    let Ok(Begins { frames_at: begins, .. }) = Begins::read(bytes) else { return true };
    let mut ends = vec![begins];
    ends.extend(frames(bytes, begins).filter_map(|found| match found {
        FileItem::Frame(at, _) => Some(at),
        FileItem::Damage(_) => None,
    }));
    !ends.contains(&cut)
}

#[test]
fn a_flipped_bit_loses_frames_and_never_changes_one() {
    let moments = moments(24);
    let bytes = file(&moments, 8);
    for place in 0..bytes.len() {
        let mut bytes = bytes.clone();
        bytes[place] ^= 1 << (place % 8);
        let (found, ..) = read(&bytes);
        assert!(found.iter().all(|one| moments.contains(one)), "bit {place} made a moment that never was");
        let is_head = place < Begins::read(&file(&moments, 8)).unwrap().frames_at;
        assert!(is_head || found.len() >= moments.len() - 8, "bit {place} lost more than its series: {}", found.len());
        assert!(is_head || found.len() < moments.len(), "bit {place} was not noticed");
    }
}

#[test]
fn a_frame_that_is_missing_takes_those_that_rest_on_it_and_no_more() {
    let moments = moments(30);
    let whole = file(&moments, 10);
    let places: Vec<usize> = frames(&whole, Begins::read(&whole).unwrap().frames_at)
        .filter_map(|found| if let FileItem::Frame(at, _) = found { Some(at) } else { None })
        .collect();
    let bytes = [&whole[..places[13]], &whole[places[14]..]].concat();
    let (found, alone, damaged) = read(&bytes);
    assert_eq!((found.len(), alone, damaged), (23, 6, 0));
    assert_eq!(found[13], moments[20], "the next whole frame is read");
}

#[test]
fn garbage_between_frames_is_counted() {
    let moments = moments(3);
    let whole = file(&moments, 1);
    let second = frames(&whole, Begins::read(&whole).unwrap().frames_at).nth(1).unwrap();
    let FileItem::Frame(at, _) = second else { panic!("{second:?}") };
    let garbage = [0xb5, 0x52, 0x01, 0x05, 0xb5, 0x52].repeat(50);
    let bytes = [&whole[..at], &garbage, &whole[at..]].concat();
    assert_eq!(read(&bytes), (moments, 0, garbage.len()));
}

#[test]
fn another_version_is_refused_by_its_number_and_other_files_by_their_kind() {
    let mut bytes = head().bytes();
    assert_eq!(bytes[16], 3);
    bytes[16] = 9;
    assert_eq!(Begins::read(&bytes), Err(NotHistory::TooNew(9)));
    bytes[16] = 2;
    assert_eq!(Begins::read(&bytes), Err(NotHistory::TooOld(2)));
    assert_eq!(Begins::read(b"{\"schema_version\":1}"), Err(NotHistory::Other));
    assert_eq!(Begins::read(b""), Err(NotHistory::Other));
    let mut bytes = head().bytes();
    *bytes.last_mut().unwrap() ^= 1;
    assert_eq!(Begins::read(&bytes), Err(NotHistory::Head));
}

#[test]
fn notes_are_read_as_they_were_written_and_break_no_series() {
    let moments = moments(2);
    let what = Note::NotWritten { since_ms: 5, frames: 3, why: "no space left on device".to_owned() };
    let mut encoder = Encoder::default();
    let mut bytes = head().bytes();
    bytes.extend(encoder.frame(moments[0].0, &moments[0].1));
    bytes.extend(note(moments[1].0, &what));
    bytes.extend(encoder.frame(moments[1].0, &moments[1].1));
    let notes: Vec<Note> = frames(&bytes, Begins::read(&bytes).unwrap().frames_at)
        .filter_map(|found| if let FileItem::Frame(_, frame) = found { frame.note() } else { None })
        .collect();
    assert_eq!(notes, [what]);
    assert_eq!(read(&bytes).0, moments);
}

#[test]
fn a_snapshot_is_the_same_from_its_texts() {
    use ramline_snapshot::cgroup::Group;
    use ramline_snapshot::groups::Groups;
    use ramline_snapshot::processes::{Process, Processes};
    use ramline_snapshot::{Seen, machine::Machine, meminfo::Meminfo};
    let mut snapshot = Snapshot::new(Machine { kernel: "6.18".to_owned(), ..Machine::default() });
    snapshot.meminfo = Seen::new(Meminfo::parse("m", "MemTotal: 8 kB\nNew: 3 kB\n").unwrap());
    let process = |pid| Process { pid, name: format!("p{pid} \u{1b}\"{{"), ..Process::default() };
    let processes = Processes { list: [2, 10, 9].map(process).into_iter().collect(), ..Processes::default() };
    snapshot.processes = Seen::new(processes);
    let group = |path: &str| Group { path: path.to_owned(), ..Group::default() };
    let list = ["/", "/a", "/a/b", "/a-c"].map(group).into_iter().collect();
    snapshot.groups = Seen::new(Groups { list, ..Groups::default() });
    snapshot.vmstat = Seen::Denied { path: "/proc/vmstat".into() };
    let mut texts = Texts::new();
    let before = snapshot.clone();
    from_snapshot(&mut snapshot, &mut texts).unwrap();
    assert_eq!(snapshot, before, "it is as it was");
    let mut back = to_snapshot("f", &texts).unwrap();
    back.lacking.clear();
    let mut sorted = before;
    sorted.processes.data_mut().unwrap().list.sort_by_key(|process| process.pid);
    assert_eq!(back, sorted);
    // A section that was not read stays as it was; a process that is gone is gone.
    let mut later = Snapshot::new(Machine::default());
    later.processes = Seen::new(Processes { list: vec![process(9)], ..Processes::default() });
    from_snapshot(&mut later, &mut texts).unwrap();
    let back = to_snapshot("f", &texts).unwrap();
    assert_eq!(back.processes.data().unwrap().list.len(), 1);
    assert!(back.meminfo.data().is_some() && back.groups.data().unwrap().list.len() == 4);
}

#[test]
fn a_text_like_those_of_the_whole_frame_and_counts_of_pages_take_few_bytes() {
    let one = |pid: u64, rss: u64| {
        let text = format!(
            "{{\"pid\":{pid},\"name\":\"worker\",\"state\":\"S\",\"started\":{},\"rss\":{rss},\"exe\":\"/usr/sbin/worker\"}}",
            pid * 7919
        );
        (format!("process {pid}"), text)
    };
    let mut texts: Texts = (100..140).map(|pid| one(pid, 4096 * pid)).collect();
    let at = |ms| Moment { wall_ms: 1_796_017_289_068 + ms, boot_ms: ms };
    let mut encoder = Encoder::default();
    let mut bytes = head().bytes();
    bytes.extend(encoder.frame(at(0), &texts));
    texts.extend([one(9_001, 4096)]);
    let begun = encoder.frame(at(5_000), &texts);
    assert!(begun.len() < 100, "a program of a known kind begins: {} bytes", begun.len());
    texts.extend((100..110).map(|pid| one(pid, 4096 * (pid + 3))));
    let grown = encoder.frame(at(10_000), &texts);
    assert!(grown.len() < 100, "ten programs grow by three pages: {} bytes", grown.len());
    bytes.extend([begun, grown].concat());
    assert_eq!(read(&bytes).0.last().unwrap().1, texts);
}
