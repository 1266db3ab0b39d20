//! What is added to the page cache, what is taken out of it and why, and what of it is the recorder's own.

use ramline_snapshot::cache::{Level, Taken, Touched};

use super::{Counter, Role, World};
use crate::{EventKind, FileId};

impl<W: World> Counter<W> {
    pub(super) fn added(&mut self, task: u32, id: FileId, index: u64, end: u64) {
        let slot = self.slot(task, id);
        let pair = self.slots[slot].pair;
        let (process, file) = (self.pairs[pair].process, self.pairs[pair].file);
        if let Some(task) = self.tasks.get_mut(&task) {
            self.pushing.is_for(process, &mut task.pending, Some(file));
        }
        self.pushing.added(process, file, end - index);
        let folios = self.world.maps_folios();
        let one = &mut self.files[file];
        if let Some(gone) = &mut one.gone {
            one.touched.refaulted = one.touched.refaulted.saturating_add(gone.remove(index, end));
        }
        if folios {
            one.folios.add(index, end);
        }
        // Without marks nothing tells what was asked for in advance.
        if self.slots[slot].asked || self.level == Level::NoMarks {
            self.slots[slot].fresh.push((index, end));
        } else {
            let brought = &mut self.pairs[pair].touched.brought;
            *brought = brought.saturating_add(end - index);
        }
    }

    pub(super) fn deleted(&mut self, task: u32, id: FileId, index: u64, end: u64) {
        let file = self.file(id, task);
        let pages = end - index;
        let who = self.task(task);
        let (process, why) = match (who.role, who.reclaims) {
            (Role::ByAge, _) => (who.process, Taken::Age),
            (Role::Program, false) => (who.process, Taken::Request),
            _ => (who.process, Taken::Room),
        };
        let kernel = who.role == Role::MakesRoom;
        let one = &mut self.files[file];
        one.folios.remove(index, end);
        for pair in &one.mappers {
            self.pairs[*pair].mapped.remove(index, end);
        }
        let taken = match why {
            Taken::Request => Touched { dropped: pages, ..Touched::default() },
            Taken::Age => Touched { evicted: pages, by_age: pages, ..Touched::default() },
            Taken::Room => Touched { evicted: pages, ..Touched::default() },
        };
        one.touched.add(&taken);
        self.processes[process].taken.add(&taken);
        match &mut one.gone {
            Some(gone) if why != Taken::Request => drop(gone.insert(index, end)),
            None if self.watches => return,
            _ => {}
        }
        if why != Taken::Room {
            self.pushing.for_nothing(process, file, why, pages);
        } else if kernel {
            self.pushing.by_kernel(process, file, pages);
        } else if let Some(task) = self.tasks.get_mut(&task) {
            task.pending.push((file, pages));
        }
    }

    /// Whatever the task took out before this was for its own memory.
    pub(super) fn not_for_a_file(&mut self, task: u32) {
        if let Some(task) = self.tasks.get_mut(&task).filter(|task| !task.pending.is_empty()) {
            self.pushing.is_for(task.process, &mut task.pending, None);
        }
    }

    /// Before its own program runs, a command reads that program's head; what it faults in is the recorder's code.
    pub(super) fn is_of_the_copy(&mut self, of: u32, what: &EventKind) -> bool {
        let Some((task, files)) = &mut self.starting else { return false };
        match *what {
            EventKind::Rename { task: renamed, .. } if renamed == *task => {
                self.starting = None;
                false
            }
            EventKind::Fault { file, .. } | EventKind::Map { file, .. } if of == *task => {
                if !files.contains(&file) {
                    files.push(file);
                }
                true
            }
            EventKind::Add { file, .. } | EventKind::ReadAhead { file } => of == *task && files.contains(&file),
            _ => false,
        }
    }
}
