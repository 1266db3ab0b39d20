//! What counting asks of the machine, so that its tests can be a machine.

use super::super::event::FileId;

/// A process as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    pub pid: u32,
    pub name: String,
    /// A thread of the kernel that makes room for others.
    pub kernel: bool,
}

/// What can be found out of files and tasks, while they are there.
pub trait World {
    /// Length of a file in pages; `task` has it open. The name is kept for later.
    fn length(&mut self, file: FileId, task: u32) -> Option<u64>;
    /// Whose task it is.
    fn process(&mut self, task: u32) -> Process;
    /// A fault maps all of a folio of which it maps a page.
    fn maps_folios(&self) -> bool;
}
