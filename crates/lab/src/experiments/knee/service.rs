//! The service that a limit is set on with `--with`: found, judged fit, held, lowered and lifted, and always put back.

use std::collections::BTreeSet;

use ramline_kernel::cgroup::{Existing, Lowered, Setting, processes_below};
use ramline_kernel::sockets;
use ramline_sandbox::child::command::Look;
use ramline_sandbox::child::keeper::Keeper;

use super::client::Beside;
use crate::prelude::*;

/// Processes that are named.
const NAMED: usize = 3;
/// A service is asked so often at a limit before it is timed, as long as each time less is read again.
const WARM_UPS: u32 = 4;

/// A group that will do.
#[derive(Debug)]
pub struct Service {
    /// As it is called in sentences.
    pub name: String,
    group: Existing,
    /// Its processes when the series began.
    pub processes: usize,
    held: Option<Held>,
}

#[derive(Debug)]
struct Held {
    before: Vec<Setting>,
    most: Bytes,
    // Ends when it is dropped.
    _keeper: Keeper,
}

/// Finds the group that was named, and refuses one that may not be limited.
///
/// # Errors
/// Why not, and what would do.
pub fn find(root: &Root, hierarchy: &Hierarchy, text: &str) -> Result<Service, Reason> {
    let pid = text.parse::<u32>().ok();
    let dir = match pid {
        Some(pid) => group_of_pid(root, hierarchy, pid)?,
        None => named(hierarchy, text)?,
    };
    let path = dir.strip_prefix(&hierarchy.mount).unwrap_or(&dir);
    let path = Path::new("/").join(path).display().to_string();
    if hierarchy.own().starts_with(&dir) {
        let which = if dir == hierarchy.mount {
            "the root group, with everything there is".to_owned()
        } else {
            format!("{path}, in which ramline runs too")
        };
        let text = format!("--with {text}: it is in {which}: start the service in a group of its own");
        return Err(Reason::new(text, own_group(root)));
    }
    if dir.file_name().is_some_and(|name| name.to_string_lossy().starts_with("ramline-")) {
        return Err(Reason::new(format!("--with {text}: {path} is a group of a running ramline"), "ramline lab list"));
    }
    let group = Existing::open(&dir).map_err(|error| {
        let hint = format!(
            "systemctl set-property --runtime {} MemoryAccounting=yes",
            path.rsplit('/').next().unwrap_or_default()
        );
        Reason::because(&error, hint)
    })?;
    let pids = processes_below(root, &dir).unwrap_or_default();
    if pids.is_empty() {
        return Err(Reason::new(
            format!("--with {text}: {path} has no process: is the service running?"),
            "ramline show cgroups",
        ));
    }
    if let Some(others) = pid.map(|pid| others(root, pid, &pids)).filter(|others| !others.is_empty()) {
        let shown = others.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
        let more = others.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let text = format!(
            "--with {text}: its group {path} also holds {shown}{more}, which the limit would be on too; name the group to limit them all"
        );
        return Err(Reason::new(text, format!("ramline lab run {} --with {path}", super::NAME)));
    }
    let name = match pid {
        Some(pid) => process::work(root, pid).map_or_else(|_| path.clone(), |work| format!("{} ({path})", work.name)),
        None => path.rsplit('/').next().unwrap_or(&path).to_owned(),
    };
    Ok(Service { name, group, processes: pids.len(), held: None })
}

fn group_of_pid(root: &Root, hierarchy: &Hierarchy, pid: u32) -> Result<PathBuf, Reason> {
    let path = hierarchy
        .group_of(root, pid)
        .map_err(|_| Reason::new(format!("--with {pid}: there is no process {pid}"), "ramline show processes"))?;
    Ok(hierarchy.mount.join(path.trim_start_matches('/')))
}

fn named(hierarchy: &Hierarchy, text: &str) -> Result<PathBuf, Reason> {
    let (exact, near) = hierarchy.groups_named(text);
    let shown = |dirs: &[PathBuf]| {
        let last = |dir: &PathBuf| dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        dirs.iter().take(NAMED).map(last).collect::<Vec<_>>().join(", ")
    };
    let with_processes = |dir: &&PathBuf| processes_below(&Root::live(), dir).is_ok_and(|pids| !pids.is_empty());
    let used: Vec<&PathBuf> = exact.iter().filter(with_processes).collect();
    match (used.as_slice(), exact.as_slice()) {
        ([one], _) => Ok((*one).clone()),
        ([_, _, ..], _) => Err(Reason::new(
            format!("--with {text}: there are {} groups of that name: give the path of one", used.len()),
            "ramline show cgroups",
        )),
        // Its units may be instances: postgresql.service itself has no process on Debian.
        ([], _) if !near.is_empty() => {
            let what =
                if exact.is_empty() { "there is no such group with a memory controller" } else { "it has no process" };
            Err(Reason::new(format!("--with {text}: {what}; there are {}", shown(&near)), "ramline show cgroups"))
        }
        ([], [only, ..]) => Ok(only.clone()),
        ([], []) => Err(Reason::new(
            format!("--with {text}: there is no unit, group or process of that name with a memory controller"),
            "ramline show cgroups",
        )),
    }
}

/// What starts a service in a group of its own.
fn own_group(root: &Root) -> String {
    if ramline_kernel::service::has_systemd(root) {
        "systemd-run --unit=mine COMMAND".to_owned()
    } else {
        "mkdir /sys/fs/cgroup/memory/mine && sh -c 'echo $$ > /sys/fs/cgroup/memory/mine/cgroup.procs; exec COMMAND'"
            .to_owned()
    }
}

/// The processes of a group that are neither this one, nor its forebears or descendants there: `cron (pid 12)`.
pub fn others(root: &Root, pid: u32, pids: &[u32]) -> Vec<String> {
    let works: BTreeMap<u32, process::Work> =
        pids.iter().filter_map(|pid| Some((*pid, process::work(root, *pid).ok()?))).collect();
    let above = |pid: u32| {
        let mut chain = vec![pid];
        while let Some(work) = chain.last().and_then(|at| works.get(at)).filter(|work| !chain.contains(&work.parent)) {
            chain.push(work.parent);
        }
        chain
    };
    let own: BTreeSet<u32> = above(pid).into_iter().collect();
    // The highest of its forebears in the group leads the service.
    let top = above(pid).into_iter().rfind(|at| works.contains_key(at)).unwrap_or(pid);
    let apart = works.values().filter(|work| !own.contains(&work.pid) && !above(work.pid).contains(&top));
    apart.map(|work| format!("{} (pid {})", work.name.escape_debug(), work.pid)).collect()
}

impl Service {
    /// What is asked consent for.
    pub fn sentence(&self) -> String {
        let n = self.processes;
        let processes = if n == 1 { "1 process".to_owned() } else { format!("{n} processes") };
        format!(
            "the memory limit of the group {} ({processes}) is lowered step by step, and put back",
            self.group.dir().display()
        )
    }

    /// Notes what must be put back, in the journal and in a process of its own, and switches off killing.
    pub fn hold(&mut self, bench: &mut Bench<'_>) -> Result<()> {
        let stat = self.group.stat()?;
        let most = stat.current.unwrap_or_default() + requirements::headroom(bench.root)?;
        let before = bench.run.hold_limit(&self.group, most)?;
        let _keeper = Keeper::start(&self.group, &before)?;
        self.held = Some(Held { before, most, _keeper });
        self.lift()
    }

    /// Without a limit of ours.
    pub fn lift(&self) -> Result<()> {
        let held = prepared(&self.held)?;
        Ok(self.group.lift(&held.before, held.most)?)
    }

    /// At a limit, as far as reclaim goes: the usage at which it ended otherwise.
    pub fn lower(&self, limit: Bytes, bench: &Bench<'_>) -> Result<Option<Bytes>> {
        let lowered = self.group.lower(limit, || bench.run.check_interrupted().is_ok())?;
        bench.run.check_interrupted()?;
        Ok(match lowered {
            Lowered::Done => None,
            Lowered::Stuck(usage) => Some(usage),
        })
    }

    /// The counters of its group.
    pub fn stat(&self) -> Result<GroupStat> {
        Ok(self.group.stat()?)
    }

    /// It is there.
    pub fn is_running(&self, root: &Root) -> bool {
        processes_below(root, self.group.dir()).is_ok_and(|pids| !pids.is_empty())
    }

    /// Asks it until what is read again does not become less any more; the last run counts.
    pub fn warmed<T>(&self, mut ask: impl FnMut() -> Result<(T, bool)>) -> Result<T> {
        let refaults = || self.stat().map(|stat| stat.refault_file.unwrap_or(0) + stat.refault_anon.unwrap_or(0));
        let mut last = None;
        for turn in 0.. {
            let before = refaults()?;
            let (ran, completed) = ask()?;
            let read = ramline_units::growth(before, refaults()?).unwrap_or(0);
            let settled = last.is_some_and(|last: u64| read.saturating_mul(2) > last) || read == 0 && turn > 0;
            if settled || !completed || turn >= WARM_UPS {
                return Ok(ran);
            }
            last = Some(read);
        }
        Err(LabError::Workload("it was not asked".to_owned()))
    }
}

/// Looks at the service while the command runs: what it uses, and whether it stands still for want of memory.
pub struct Guard {
    group: Existing,
    /// The most it used, and the most that could not be reclaimed.
    pub most: Bytes,
    pub least: Bytes,
    without_swap: bool,
    beside: Option<Beside>,
    /// Files that the service has open or mapped.
    pub files: BTreeSet<PathBuf>,
}

impl Guard {
    /// Of a service; with `beside`, it is also looked at what others do for the command.
    pub fn new(service: &Service, without_swap: bool, beside: Option<Beside>) -> Guard {
        let (group, most, least) = (service.group.clone(), Bytes::ZERO, Bytes::ZERO);
        Guard { group, most, least, without_swap, beside, files: BTreeSet::new() }
    }

    fn measure(&mut self) -> Result<()> {
        let stat = self.group.stat()?;
        self.most = self.most.max(stat.current.unwrap_or_default());
        if self.without_swap {
            let tables = stat.page_tables.unwrap_or_default();
            let now = stat.anon.unwrap_or_default() + stat.shmem.unwrap_or_default() + tables;
            self.least = self.least.max(now);
        }
        Ok(())
    }

    /// What others did for the command beside it.
    pub const fn beside(&self) -> Option<&Beside> {
        self.beside.as_ref()
    }
}

impl Look for Guard {
    fn begin(&mut self, root: &Root) {
        if let Some(beside) = &mut self.beside {
            beside.begin(root);
        }
    }

    fn look(&mut self, root: &Root, members: &[u32]) -> Result<Option<Verdict>> {
        if let Some(beside) = &mut self.beside {
            let pids = processes_below(root, self.group.dir()).unwrap_or_default();
            beside.outside.leave_out(&pids);
            beside.look(root, members)?;
            self.files.extend(pids.iter().flat_map(|pid| sockets::files(root, *pid)));
        }
        if self.group.is_stuck() {
            let why = "the service stood still: nothing more could be reclaimed at this limit";
            return Ok(Some(Verdict::Thrashing(why.to_owned())));
        }
        self.measure()?;
        Ok(None)
    }

    fn end(&mut self, root: &Root) {
        // A command may be over before the first look.
        self.measure().ok();
        if let Some(beside) = &mut self.beside {
            beside.end(root);
        }
    }
}
