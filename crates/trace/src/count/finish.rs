//! The lists at the end.

use std::cmp::Reverse;
use std::collections::HashMap;

use ramline_snapshot::cache::{Name, Pushed, Touched, TracedFile, TracedProcess};
use ramline_units::Bytes;

use super::pushing::Push;
use super::{Counter, World};
use crate::FileId;

/// Who is named of those who touched a file or took pages of it out.
const NAMED: usize = 16;

/// Counts of all page cache events.
#[derive(Debug, Default)]
pub struct CacheCounts {
    /// Of all files.
    pub total: Touched,
    /// The most touched first.
    pub files: Vec<TracedFile>,
    /// The one that touched most first.
    pub processes: Vec<TracedProcess>,
    /// Who took pages out, the most first.
    pub pushed: Vec<Pushed>,
}

impl<W: World> Counter<W> {
    /// Ends: what is still open is judged. `name` gives the name and the length of a file.
    pub fn finish(mut self, name: impl Fn(&W, FileId) -> (Name, Option<Bytes>)) -> CacheCounts {
        (0..self.slots.len()).for_each(|slot| self.settle(slot, None));
        let ids: Vec<u32> = self.tasks.keys().copied().collect();
        ids.into_iter().for_each(|task| self.not_for_a_file(task));
        self.pushing.share_out();
        let mut out = CacheCounts { pushed: self.pushes(|_| true, &name), ..CacheCounts::default() };
        let mut by_file: HashMap<usize, Vec<TracedProcess>> = HashMap::new();
        let mut of_process = vec![Touched::default(); self.processes.len()];
        let mut of_file: Vec<Touched> = self.files.iter().map(|file| file.touched).collect();
        for pair in &self.pairs {
            out.total.add(&pair.touched);
            of_process[pair.process].add(&pair.touched);
            of_file[pair.file].add(&pair.touched);
            let process = &self.processes[pair.process];
            let row = TracedProcess { pid: process.pid, name: process.name.clone(), touched: pair.touched };
            by_file.entry(pair.file).or_default().push(row);
        }
        for (index, file) in self.files.iter().enumerate() {
            out.total.add(&file.touched);
            if of_file[index] == Touched::default() {
                continue;
            }
            let mut by = by_file.remove(&index).unwrap_or_default();
            by.retain(|row| row.touched != Touched::default());
            order(&mut by);
            by.truncate(NAMED);
            let ((major, minor), (path, length)) = (file.id.numbers(), name(&self.world, file.id));
            let (device, touched) = (format!("{major}:{minor}"), of_file[index]);
            let pushed =
                if touched.taken_out() > 0 { self.pushes(|push| push.lost == index, &name) } else { Vec::new() };
            out.files.push(TracedFile { name: path, device, inode: file.id.inode, length, touched, by, pushed });
        }
        ramline_units::sort_by_key(&mut out.files, |file| {
            (Reverse(weight(&file.touched)), file.device.clone(), file.inode)
        });
        for (process, mut touched) in self.processes.iter().zip(of_process) {
            touched.add(&process.taken);
            if touched != Touched::default() {
                out.processes.push(TracedProcess { pid: process.pid, name: process.name.clone(), touched });
            }
        }
        order(&mut out.processes);
        out
    }

    /// Of the pushes that are wanted, one for each who pushed and what for.
    fn pushes(
        &self,
        wanted: impl Fn(&Push) -> bool,
        name: &impl Fn(&W, FileId) -> (Name, Option<Bytes>),
    ) -> Vec<Pushed> {
        let mut sums: HashMap<Push, u64> = HashMap::new();
        for (push, pages) in self.pushing.pushed.iter().filter(|(push, pages)| wanted(push) && **pages > 0) {
            *sums.entry(Push { lost: 0, ..*push }).or_default() += pages;
        }
        let mut all: Vec<(Push, u64)> = sums.into_iter().collect();
        ramline_units::sort_by_key(&mut all, |(push, pages)| (Reverse(*pages), push.process, push.of, push.why));
        all.truncate(NAMED);
        let row = |(push, pages): (Push, u64)| {
            let process = &self.processes[push.process];
            Pushed {
                why: push.why,
                pid: process.pid,
                process: process.name.clone(),
                file: push.of.map(|file| name(&self.world, self.files[file].id).0),
                through: push.through.map(|thread| self.processes[thread].name.clone()),
                pages,
            }
        };
        all.into_iter().map(row).collect()
    }
}

const fn weight(touched: &Touched) -> u64 {
    let added = touched.read_ahead.saturating_add(touched.brought);
    touched.asked().saturating_add(added).saturating_add(touched.taken_out())
}

fn order(rows: &mut [TracedProcess]) {
    ramline_units::sort_by_key(rows, |row| (Reverse(weight(&row.touched)), row.pid));
}
