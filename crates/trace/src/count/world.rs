//! What counting asks of the machine, so that its tests can be a machine.

use crate::FileId;

/// What it means that a task takes pages out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Role {
    /// To make room when it says so, else on request.
    #[default]
    Program,
    /// Room for others (kswapd).
    MakesRoom,
    /// They were idle (kdamond): for nobody.
    ByAge,
}

/// A process as it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its id.
    pub pid: u32,
    /// Its name.
    pub name: String,
    /// What it means that it takes pages out.
    pub role: Role,
}

/// What can be found out of files and tasks, while they are there.
pub trait World {
    /// Length of a file in pages; `task` has it open. The name is kept for later.
    fn length(&mut self, file: FileId, task: u32) -> Option<u64>;
    /// Whose task it is.
    fn process(&mut self, task: u32) -> Process;
    /// What a process is called that has a new name.
    fn renamed(&mut self, _task: u32, name: String) -> String {
        name
    }
    /// A fault maps all of a folio of which it maps a page.
    fn maps_folios(&self) -> bool;
}
