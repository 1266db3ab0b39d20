//! From events to counts: which pages of a request were there, which were waited for, which were read ahead, who pushed out what.
//!
//! The kernel tells a request only after its pages are there, and tells what is left of it again when it is served in parts. So:
//!
//! - a request that ends where the one before it ended (same task, same file) and begins further on is its rest, and asks for nothing new;
//! - pages that the same task added since its last request, after read-ahead began for it, are misses as far as they are in the
//!   request, and read ahead otherwise; pages it added without that were written, or asked for in advance;
//! - of a fault the page is a miss when the task added it before anything else happened to the file;
//! - where the kernel maps whole folios, those are the pages that were added in one record;
//! - pages a task takes out while it makes room are for the file it adds pages of next, or for its own memory when it adds none;
//!   what kswapd takes out falls to those who added most meanwhile; what kdamond takes out is nobody's need but idle;
//! - a fault maps what is there of a window, which is not told page by page, and nobody asked for the pages beside its own: of mappings
//!   faults are counted as found or missed, and the pages of the windows only as what is mapped at most;
//! - what a command faults in before it becomes itself is the recorder that starts it, and left out.
//!
//! Files and tasks are looked up through [`World`].

mod finish;
mod moves;
mod pushing;
mod ranges;
mod world;

use std::collections::HashMap;

use ramline_snapshot::cache::{Level, Touched};

use crate::{Event, EventKind, FileId, TaskName};
use pushing::EvictionCounts;
use ranges::{Folios, Ranges};

pub use finish::CacheCounts;
pub use world::{Process, Role, World};

#[derive(Debug, Clone)]
struct OneProcess {
    pid: u32,
    name: String,
    // What it took out, of whichever file.
    taken: Touched,
}

#[derive(Debug, Clone, Default)]
struct Task {
    // Tells a task from a later one with the same id.
    serial: u32,
    process: usize,
    role: Role,
    reclaims: bool,
    // Taken out, and it is not yet known for what.
    pending: Vec<(usize, u64)>,
}

#[derive(Debug)]
struct OneFile {
    id: FileId,
    // In pages.
    length: Option<u64>,
    // The round in which it was last asked.
    asked: u64,
    touched: Touched,
    // Only where faults map them whole.
    folios: Folios,
    // What was taken out of a watched file, and is not back.
    gone: Option<Ranges>,
    // Pairs that have pages of it mapped.
    mappers: Vec<usize>,
}

/// A process and a file.
#[derive(Debug)]
struct Pair {
    process: usize,
    file: usize,
    touched: Touched,
    mapped: Ranges,
}

impl Pair {
    fn map(&mut self, first: u64, end: u64) {
        self.touched.mapped = self.touched.mapped.saturating_add(self.mapped.insert(first, end));
    }
}

/// A task and a file.
#[derive(Debug)]
struct Slot {
    pair: usize,
    // As it was told, not cut at the end of the file.
    request: Option<(u64, u64)>,
    fault: Option<u64>,
    // Of the fault before, unless something else happened since.
    window: Option<(u64, u64)>,
    // Read-ahead began, or a fault.
    asked: bool,
    fresh: Vec<(u64, u64)>,
}

/// Counts, event by event.
#[derive(Debug)]
pub struct Counter<W> {
    world: W,
    level: Level,
    files: Vec<OneFile>,
    processes: Vec<OneProcess>,
    pairs: Vec<Pair>,
    slots: Vec<Slot>,
    tasks: HashMap<u32, Task>,
    file_of: HashMap<FileId, usize>,
    process_of: HashMap<u32, usize>,
    pair_of: HashMap<(usize, usize), usize>,
    slot_of: HashMap<(u32, usize), usize>,
    // The same task mostly goes on with the same file.
    last: Option<(u32, FileId, usize)>,
    pushing: EvictionCounts,
    // Only what was taken out of watched files is of interest.
    watches: bool,
    // A task that is not yet the command it will be, and the files that were faulted in for it so far.
    starting: Option<(u32, Vec<FileId>)>,
    round: u64,
    serial: u32,
}

impl<W: World> Counter<W> {
    /// Nothing is counted yet; `level` is how much the kernel records.
    pub fn new(world: W, level: Level) -> Counter<W> {
        Counter {
            world,
            level,
            files: Vec::new(),
            processes: Vec::new(),
            pairs: Vec::new(),
            slots: Vec::new(),
            tasks: HashMap::new(),
            file_of: HashMap::new(),
            process_of: HashMap::new(),
            pair_of: HashMap::new(),
            slot_of: HashMap::new(),
            last: None,
            pushing: EvictionCounts::default(),
            watches: false,
            starting: None,
            round: 1,
            serial: 0,
        }
    }

    /// How much the kernel records.
    pub const fn level(&self) -> Level {
        self.level
    }

    /// This task is a copy of the recorder until it runs a program of its own.
    pub fn starts_as_copy(&mut self, task: u32) {
        self.starting = Some((task, Vec::new()));
    }

    /// Of this file it is counted which pages come back, and who took them out.
    pub fn watch(&mut self, id: FileId) {
        let file = self.file(id, 0);
        self.files[file].gone = Some(Ranges::default());
        self.watches = true;
    }

    /// Takes in one event, in the order of time.
    pub fn take(&mut self, Event { task, what }: Event) {
        if self.is_of_the_copy(task, &what) {
            return;
        }
        match what {
            EventKind::Get { file, first, last } => self.request(task, file, first, last),
            EventKind::Map { file, first, last } => self.mapping(task, file, first, last),
            EventKind::Fault { file, index } => self.fault(task, file, index),
            EventKind::Add { file, index, pages } => self.added(task, file, index, index.saturating_add(pages)),
            EventKind::Delete { file, index, pages } => self.deleted(task, file, index, index.saturating_add(pages)),
            EventKind::ReadAhead { file } => {
                self.not_for_a_file(task);
                let slot = self.slot(task, file);
                self.slots[slot].asked = true;
            }
            EventKind::Reclaim { begins } => self.task(task).reclaims = begins,
            EventKind::New { task: child, thread, name } => self.new_task(task, child, thread, name),
            EventKind::Rename { task, name } => {
                let process = self.task(task).process;
                if self.processes[process].pid == task {
                    self.processes[process].name = self.world.renamed(task, name.to_string());
                }
            }
        }
    }

    /// A round of taking in is over.
    pub fn end_round(&mut self) {
        self.round += 1;
        self.pushing.share_out();
    }

    fn request(&mut self, task: u32, id: FileId, first: u64, last: u64) {
        self.not_for_a_file(task);
        let slot = self.slot(task, id);
        let end = self.end(slot, task, first, last);
        let rest = matches!(self.slots[slot].request, Some((before, same)) if same == last && first > before);
        self.slots[slot].request = Some((first, last));
        self.slots[slot].window = None;
        if !rest {
            let touched = self.touched(slot);
            touched.reads += 1;
            touched.read_hits = touched.read_hits.saturating_add(end - first);
        }
        self.settle(slot, Some((first, end)));
    }

    fn mapping(&mut self, task: u32, id: FileId, first: u64, last: u64) {
        self.not_for_a_file(task);
        let slot = self.slot(task, id);
        let end = self.end(slot, task, first, last);
        // A fault that had to wait is begun again, and then finds its page among others.
        let again = self.slots[slot].fault.is_some_and(|index| (first..end).contains(&index));
        self.settle(slot, None);
        self.map(slot, first, end);
        // Taken for the same fault, it counted none; if another comes in it after all, that one counts itself.
        self.slots[slot].window = (!again).then_some((first, end));
        self.touched(slot).faults += u64::from(!again);
    }

    fn fault(&mut self, task: u32, id: FileId, index: u64) {
        self.not_for_a_file(task);
        let slot = self.slot(task, id);
        // A fault that had to wait is begun again.
        if self.slots[slot].fault == Some(index) {
            return;
        }
        self.settle(slot, None);
        self.map(slot, index, index.saturating_add(1));
        // Its window was told first: of it only this page was not there.
        if !self.slots[slot].window.take().is_some_and(|(first, end)| (first..end).contains(&index)) {
            self.touched(slot).faults += 1;
        }
        self.slots[slot].fault = Some(index);
        self.slots[slot].asked = true;
    }

    /// `first..end` are mapped, and with them what else is in the folios at both ends.
    fn map(&mut self, slot: usize, first: u64, end: u64) {
        let pair = self.slots[slot].pair;
        let file = self.pairs[pair].file;
        if !self.files[file].mappers.contains(&pair) {
            self.files[file].mappers.push(pair);
        }
        let file = &self.files[file];
        let (first, end) = file.folios.around(first, end, file.length);
        let pair = &mut self.pairs[pair];
        pair.map(first, end);
    }

    /// The end of a request, cut at the end of the file: the kernel tells what was asked for.
    fn end(&mut self, slot: usize, task: u32, first: u64, last: u64) -> u64 {
        let file = self.pairs[self.slots[slot].pair].file;
        let one = &mut self.files[file];
        if one.length.is_none_or(|length| last >= length) && one.asked != self.round {
            one.asked = self.round;
            one.length = self.world.length(one.id, task).or(one.length);
        }
        let end = last.saturating_add(1).max(first);
        // A file that has been cut since was longer when it was read.
        one.length.filter(|length| *length > first).map_or(end, |length| end.min(length))
    }

    /// What was added since the last request or fault is judged.
    fn settle(&mut self, slot: usize, wanted: Option<(u64, u64)>) {
        let one = &mut self.slots[slot];
        one.asked = false;
        let fault = one.fault.take();
        let pair = &mut self.pairs[one.pair];
        if let Some(index) = fault {
            let file = &self.files[pair.file];
            let (from, to) = file.folios.around(index, index.saturating_add(1), file.length);
            pair.map(from, to);
        }
        if one.fresh.is_empty() {
            return;
        }
        let touched = &mut self.pairs[one.pair].touched;
        for (from, to) in one.fresh.drain(..) {
            let inside = wanted.map_or(0, |(first, end)| to.min(end).saturating_sub(from.max(first)));
            touched.read_misses = touched.read_misses.saturating_add(inside);
            touched.read_hits = touched.read_hits.saturating_sub(inside);
            let outside = |index: &u64| wanted.is_none_or(|(first, end)| !(first..end).contains(index));
            let faulted = u64::from(fault.filter(outside).is_some_and(|index| (from..to).contains(&index)));
            touched.mapped_misses += faulted;
            touched.read_ahead = touched.read_ahead.saturating_add(to - from - inside - faulted);
        }
    }

    fn touched(&mut self, slot: usize) -> &mut Touched {
        &mut self.pairs[self.slots[slot].pair].touched
    }

    fn file(&mut self, id: FileId, task: u32) -> usize {
        if let Some(file) = self.file_of.get(&id) {
            return *file;
        }
        let length = self.world.length(id, task);
        let (asked, touched) = (self.round, Touched::default());
        let folios = Folios::default();
        self.files.push(OneFile { id, length, asked, touched, folios, gone: None, mappers: Vec::new() });
        self.file_of.insert(id, self.files.len() - 1);
        self.files.len() - 1
    }

    fn slot(&mut self, task: u32, id: FileId) -> usize {
        if let Some((_, _, slot)) = self.last.filter(|(same, file, _)| *same == task && *file == id) {
            return slot;
        }
        let file = self.file(id, task);
        let who = self.task(task);
        let (serial, process) = (who.serial, who.process);
        let (pairs, slots) = (&mut self.pairs, &mut self.slots);
        let pair = *self.pair_of.entry((process, file)).or_insert_with(|| {
            pairs.push(Pair { process, file, touched: Touched::default(), mapped: Ranges::default() });
            pairs.len() - 1
        });
        let slot = *self.slot_of.entry((serial, file)).or_insert_with(|| {
            slots.push(Slot { pair, request: None, fault: None, window: None, asked: false, fresh: Vec::new() });
            slots.len() - 1
        });
        self.last = Some((task, id, slot));
        slot
    }

    fn task(&mut self, id: u32) -> &mut Task {
        if !self.tasks.contains_key(&id) {
            let found = self.world.process(id);
            let process = match self.process_of.get(&found.pid) {
                Some(process) => *process,
                None => self.new_process(found.pid, found.name),
            };
            let task = self.task_of(process, found.role);
            self.tasks.insert(id, task);
        }
        self.tasks.entry(id).or_default()
    }

    fn task_of(&mut self, process: usize, role: Role) -> Task {
        self.serial += 1;
        Task { serial: self.serial, process, role, reclaims: false, pending: Vec::new() }
    }

    fn new_process(&mut self, pid: u32, name: String) -> usize {
        self.processes.push(OneProcess { pid, name, taken: Touched::default() });
        self.process_of.insert(pid, self.processes.len() - 1);
        self.processes.len() - 1
    }

    fn new_task(&mut self, parent: u32, child: u32, thread: bool, name: TaskName) {
        let process = if thread { self.task(parent).process } else { self.new_process(child, name.to_string()) };
        let task = self.task_of(process, Role::Program);
        self.tasks.insert(child, task);
        self.last = None;
    }
}

#[cfg(test)]
mod tests;
