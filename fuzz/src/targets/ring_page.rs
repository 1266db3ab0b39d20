//! Pages of the kernel's ring buffer, their records, and what is counted of them. The first byte says how many bytes are formats.

use ramline_snapshot::cache::{Level, Name};
use ramline_trace::count::{Counter, Process, Role, World};
use ramline_trace::{Decoder, FileId, Format, InOrder, PageLayout};

const HEADER: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
    \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";
const COMMON: &str = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n";
const FIELDS: &str = "\tfield:unsigned long i_ino;\toffset:8;\tsize:8;\tsigned:0;\n\tfield:dev_t s_dev;\toffset:16;\tsize:4;\tsigned:0;\n\
    \tfield:unsigned long index;\toffset:24;\tsize:8;\tsigned:0;\n\tfield:unsigned long last_index;\toffset:32;\tsize:8;\tsigned:0;\n\
    \tfield:unsigned char order;\toffset:20;\tsize:1;\tsigned:0;\n\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n\
    \tfield:unsigned long clone_flags;\toffset:16;\tsize:8;\tsigned:0;\n\tfield:char comm[16];\toffset:12;\tsize:16;\tsigned:0;\n";

/// Files of 1000 pages; a task is its own process.
struct Small;

impl World for Small {
    fn length(&mut self, _: FileId, _: u32) -> Option<u64> {
        Some(1000)
    }

    fn process(&mut self, task: u32) -> Process {
        let role = match task % 4 {
            1 => Role::MakesRoom,
            2 => Role::ByAge,
            _ => Role::Program,
        };
        Process { pid: task, name: format!("p{task}"), role }
    }

    fn maps_folios(&self) -> bool {
        true
    }
}

/// One input.
pub fn once(data: &[u8]) {
    let Some((&given, rest)) = data.split_first() else { return };
    let (formats, page) = rest.split_at(rest.len().min(usize::from(given) * 8));
    let formats = String::from_utf8_lossy(formats);
    let layout = PageLayout::parse(if formats.starts_with('h') { &formats } else { HEADER });
    let Some(layout) = layout else { return };
    // The events get the numbers 1, 2, 3, ... in the order in which they are asked for.
    let ids = std::cell::Cell::new(0u16);
    let decoder = Decoder::new(|_| {
        ids.set(ids.get() + 1);
        let own = if formats.starts_with('e') { &formats } else { FIELDS };
        Some(format!("ID: {}\nformat:\n{COMMON}\n{own}", ids.get()))
    });
    let _ = Format::parse(&formats);
    let (mut events, mut ordered) = (Vec::new(), InOrder::default());
    layout.records(page, |time, record| {
        if let Some(event) = decoder.event(record) {
            ordered.push(time, event);
        }
    });
    ordered.round(true, |_, event| events.push(event));
    for level in [Level::Full, Level::NoMarks, Level::ChangesOnly] {
        let mut counter = Counter::new(Small, level);
        events.iter().for_each(|event| counter.take(event.clone()));
        counter.end_round();
        let counted = counter.finish(|_, file| (Name::new(format!("f{}", file.inode).as_bytes()), None));
        assert!(counted.processes.len() <= events.len());
    }
}
