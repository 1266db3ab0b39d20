//! The steps with control groups and processes.

use std::process::{Child, Command};

use ramline_kernel::cgroup::{Existing, Group, Hierarchy, Setting, move_process};
use ramline_kernel::write::Change;
use ramline_kernel::{KernelError, process};
use ramline_units::{Bytes, Limit};

use crate::effects::refuse_if_taken;
use crate::{Result, Run, Step};

impl Run {
    /// Makes the n-th memory cgroup of this process, after [`Run::prepare_cgroups`].
    ///
    /// # Errors
    /// Those of [`Group::create`].
    pub fn make_cgroup(&mut self, hierarchy: &Hierarchy, n: u32) -> Result<Group> {
        let name = Hierarchy::group_name(n);
        let path = hierarchy.planned(&name)?;
        refuse_if_taken("make the cgroup", &path)?;
        self.prepare_cgroups(hierarchy)?;
        self.perform(Step::MakeCgroup { path }, || Group::create(hierarchy, &name))
    }

    /// What has to be before the first group is made, in steps of their own that are undone too: where we are in the way
    /// ourselves, we go to a leaf, and where no group gives the memory controller to its children, one is made to. Once is
    /// enough, and more does nothing.
    ///
    /// # Errors
    /// Those of [`Hierarchy::leaf_to_enter`] and of the kernel.
    pub fn prepare_cgroups(&mut self, hierarchy: &Hierarchy) -> Result<()> {
        if let Some(path) = hierarchy.leaf_to_enter()? {
            refuse_if_taken("make the cgroup", &path)?;
            let leaf = self.perform(Step::MakeCgroup { path: path.clone() }, || Group::create_leaf(&path))?;
            self.move_into(&leaf, hierarchy.own(), std::process::id())?;
        }
        if let Some(knob) = hierarchy.memory_to_enable()? {
            self.perform(Step::EnableMemory { path: knob.clone() }, || Hierarchy::enable_memory(&knob).map(drop))?;
        }
        Ok(())
    }

    /// Moves a process, ourselves or one of ours, to a group of ours; it is in `from`, where it comes back to.
    ///
    /// # Errors
    /// Those of [`move_process`].
    pub fn move_into(&mut self, group: &Group, from: &std::path::Path, pid: u32) -> Result<()> {
        let start = process::start_time(self.root(), pid)?;
        let step = Step::MoveProcess { pid, start, from: from.to_owned(), to: group.dir().to_owned() };
        self.perform(step, || move_process(pid, group.dir()))
    }

    /// Notes the limit of a group that is not ours, to be put back when the run ends, and switches off killing at a limit of ours. From here
    /// on its limit may be changed up to `most`.
    ///
    /// # Errors
    /// It cannot be read, or killing cannot be switched off.
    pub fn hold_limit(&mut self, group: &Existing, most: Bytes) -> Result<Vec<Setting>> {
        let before = group.settings()?;
        let step = Step::LimitGroup { path: group.dir().to_owned(), before: before.clone(), most };
        self.perform(step, || group.spare())?;
        Ok(before)
    }

    /// Writes the memory limit of a group that this run has made: it goes with the group, so no step of its own undoes it.
    ///
    /// # Errors
    /// `Refused` for any other group; those of [`Group::set_memory_limit`].
    pub fn limit_own(&self, group: &Group, limit: Limit) -> Result<Vec<Change>> {
        self.refuse_others("limit the cgroup", group)?;
        Ok(group.set_memory_limit(limit)?)
    }

    /// Kills all that is in a group that this run has made.
    ///
    /// # Errors
    /// As [`Run::limit_own`].
    pub fn kill_all_in_own(&self, group: &Group) -> Result<()> {
        self.refuse_others("kill what is in the cgroup", group)?;
        Ok(group.kill_all()?)
    }

    /// Gives back the page cache of a group that this run has made.
    ///
    /// # Errors
    /// As [`Run::limit_own`].
    pub fn give_up_cache_of_own(&self, group: &Group) -> Result<()> {
        self.refuse_others("give up the page cache of the cgroup", group)?;
        Ok(group.give_up_cache()?)
    }

    fn refuse_others(&self, tried: &str, group: &Group) -> Result<()> {
        let is_ours = self.has(|step| matches!(step, Step::MakeCgroup { path } if path == group.dir()));
        let rule = "only a group that this run has made is changed without a step that puts it back";
        let refused = || KernelError::refused(tried, group.dir(), rule, "another made it").hint("ramline lab clean");
        if is_ours { Ok(()) } else { Err(refused().into()) }
    }

    /// Makes a memory cgroup below one of ours; `name` begins with `ramline-`.
    ///
    /// # Errors
    /// Those of [`Group::create_below`].
    pub fn make_cgroup_below(&mut self, parent: &Group, name: &str) -> Result<Group> {
        let path = parent.dir().join(name);
        refuse_if_taken("make the cgroup", &path)?;
        self.perform(Step::MakeCgroup { path }, || Group::create_below(parent, name))
    }

    /// Starts a child tied to this thread, inside `group` from its first instruction. The caller waits for it.
    ///
    /// # Errors
    /// Those of [`process::spawn_tied`].
    pub fn spawn_into(&mut self, group: Option<&Group>, command: &mut Command) -> Result<Child> {
        let root = self.root().clone();
        let step = |pid, start| Step::SpawnInto { group: group.map(|group| group.dir().to_owned()), pid, start };
        self.perform_learning(step(None, None), || {
            let child = process::spawn_tied(command, group.map(Group::procs_file).as_deref())?;
            // Not waited for, so it can be looked at even when it has ended.
            let start = process::start_time(&root, child.id())?;
            let done = step(Some(child.id()), Some(start));
            Ok((child, done))
        })
    }
}
