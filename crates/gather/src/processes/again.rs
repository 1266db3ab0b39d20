//! The processes looked at again and again: only those are read whose sizes have changed since.
//!
//! `statm` takes a tenth of what the other files of a process take, and the kernel's threads, which have no memory, are not read again.
//! What does not change the sizes (processor time) is as old as the last whole pass.

use super::one::{Names, Worker};
use super::{Depth, Pass};
use crate::prelude::*;

/// Cache of the processes of this machine.
#[derive(Debug, Default)]
pub struct ProcessCache {
    known: BTreeMap<u32, CachedProcess>,
    groups: Names,
    programs: Names,
    /// Those that were not read the last time.
    pub unchanged: BTreeSet<u32>,
}

#[derive(Debug)]
struct CachedProcess {
    sizes: Vec<u8>,
    process: Process,
}

impl ProcessCache {
    /// Forgets all: the next look is a whole one.
    pub fn forget(&mut self) {
        *self = ProcessCache::default();
    }

    /// Looks at all processes and reads those that are new or have changed.
    ///
    /// # Errors
    /// There is no /proc below the root.
    pub fn look(&mut self, root: &Root) -> std::io::Result<Pass> {
        let proc = ProcDir::open(root)?;
        let mut worker = Worker::new(&proc, None, Depth::Cheap, false);
        worker.groups = std::mem::take(&mut self.groups);
        worker.programs = std::mem::take(&mut self.programs);
        let mut before = std::mem::take(&mut self.known);
        self.unchanged.clear();
        for pid in proc.pids()? {
            let mut buffer = [0; 128];
            let known = before.remove(&pid);
            // Those of kernel threads too: the number of one that has ended may be a program's by now.
            let sizes = proc.sizes(pid, &mut buffer).unwrap_or_default();
            match known {
                Some(known) if known.sizes == sizes => {
                    self.unchanged.insert(pid);
                    self.known.insert(pid, known);
                }
                _ => {
                    worker.process(pid);
                    if let Some(process) = worker.list.pop() {
                        self.known.insert(pid, CachedProcess { sizes: sizes.to_vec(), process });
                    }
                }
            }
        }
        let mut pass = Pass::default();
        pass.found.list = self.known.values().map(|known| known.process.clone()).collect();
        (self.groups, self.programs) = (worker.groups, worker.programs);
        (pass.found.groups, pass.found.programs) = (self.groups.list.clone(), self.programs.list.clone());
        pass.found.missed = worker.missed;
        pass.found.missed.nested = super::nested(root);
        Ok(pass)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_look_has_the_same_processes_and_the_same_numbers_for_their_names() {
        let mut again = ProcessCache::default();
        let own = |pass: &Pass| pass.found.list.iter().find(|p| p.pid == std::process::id()).unwrap().clone();
        let first = own(&again.look(&Root::live()).unwrap());
        let second = again.look(&Root::live()).unwrap();
        assert_eq!((own(&second).exe, own(&second).group), (first.exe, first.group));
        let program = usize::try_from(first.exe.unwrap()).unwrap();
        assert!(second.found.programs[program].contains("gather"), "{:?}", second.found.programs[program]);
    }
}
