//! One trace instance, set up to record what one process does: with the best tracer this kernel has.

use crate::prelude::*;
use ramline_evidence::path::CallPath;
use ramline_kernel::tracing::{self, Instance};
use ramline_trace::device_number;
use ramline_trace::text::{self, Clock};

/// Groups of tracepoints of a process, beside those of its file system.
const GROUPS: [&str; 5] = ["filemap", "readahead", "pagemap", "writeback", "vmscan"];
/// Tracepoints of the disk, whoever causes them: its requests are finished by interrupts, and queued by other threads too.
const BLOCK: [&str; 6] =
    ["block_bio_queue", "block_rq_insert", "block_rq_issue", "block_rq_complete", "block_bio_complete", "block_getrq"];
/// The system calls that are recorded.
const CALLS: [&str; 3] = ["pread64", "pwrite64", "fsync"];
/// Functions that say nothing of the way, and are everywhere.
const NOISE: [&str; 8] =
    ["_raw_*", "__rcu_read*", "rcu_*", "preempt_*", "__cond_resched", "migrate_*", "ktime_get*", "__raw_*"];
/// KiB per processor.
const BUFFER: &str = "8192";
/// Between the two marks by which the clock is set.
const APART: Duration = Duration::from_millis(20);

/// How the kernel is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tracer {
    /// Functions with their times.
    Graph,
    /// Functions with their callers.
    Function,
    /// Tracepoints.
    Events,
}

impl Tracer {
    /// Those to try, in order: the one that is wanted, or all there are, the best first.
    pub fn candidates(wanted: &str, there: &[String]) -> Vec<Tracer> {
        let all = [Tracer::Graph, Tracer::Function, Tracer::Events];
        let listed = |tracer: &Tracer| *tracer == Tracer::Events || there.iter().any(|name| name == tracer.name());
        let asked = |tracer: &Tracer| matches!(wanted, "auto") || wanted == tracer.word();
        all.into_iter().filter(|tracer| asked(tracer) && listed(tracer)).collect()
    }

    /// The first of the candidates that really works: a kernel may list a tracer and not let anybody use it.
    ///
    /// # Errors
    /// None does; the kernel's answer to the last.
    pub fn choose(wanted: &str, tracefs: &Path, run: &mut Run) -> Result<Tracer> {
        let there = tracing::tracers(tracefs)?;
        let mut why = format!("it has {}", there.join(", "));
        for tracer in Tracer::candidates(wanted, &there) {
            let mark = run.mark();
            // A number no run of a series has.
            let instance = run.make_trace(tracefs, u32::MAX)?;
            let tried = tracer.switch_on(&instance, std::process::id());
            run.undo_to(mark)?;
            match tried {
                Ok(()) => return Ok(tracer),
                Err(error) => why = ramline_sandbox::error::first_line(&error.to_string()),
            }
        }
        let text = format!("this kernel cannot record with {wanted}: {why}");
        Err(LabError::usage(text, format!("ramline lab run {} --tracer auto", super::arms::NAME)))
    }

    fn switch_on(self, instance: &Instance, pid: u32) -> Result<()> {
        if self != Tracer::Events {
            instance.set("set_ftrace_pid", &pid.to_string())?;
            instance.set("current_tracer", self.name())?;
        }
        Ok(())
    }

    /// As on the command line.
    const fn word(self) -> &'static str {
        match self {
            Tracer::Events => "tracepoints",
            _ => self.name(),
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Tracer::Graph => "function_graph",
            Tracer::Function => "function",
            Tracer::Events => "nop",
        }
    }
}

/// What to record.
#[derive(Debug, Clone, Copy)]
pub struct RecorderOptions<'a> {
    pub pid: u32,
    /// Of the file: `ext4`, `tmpfs`.
    pub fs_type: &'a str,
    /// As stat(2) says of the file.
    pub file: (u32, u32),
    /// The whole disk.
    pub disk: Option<(u32, u32)>,
    pub tracer: Tracer,
}

/// An instance that is ready.
pub struct Recorder {
    instance: Instance,
    tracer: Tracer,
    ticks: bool,
    pid: u32,
}

/// Each tracepoint with the functions it stands in: what a kernel without a function tracer can tell of them. Not every one can.
fn with_stacks(instance: &Instance) {
    drop(instance.set("options/stacktrace", "1"));
}

/// A tracepoint this kernel does not have is not missed; one that knows no such field goes by the process.
fn enable(instance: &Instance, event: &str, filter: &str, of_pid: &str) {
    if instance.has(&format!("events/{event}/enable")) {
        let filtered = instance.set(&format!("events/{event}/filter"), filter);
        drop(filtered.or_else(|_| instance.set(&format!("events/{event}/filter"), of_pid)));
        drop(instance.set(&format!("events/{event}/enable"), "1"));
    }
}

impl Recorder {
    /// Makes the instance, through the journal, and sets it up.
    ///
    /// # Errors
    /// The kernel refuses what it must have; what a kernel may lack is left out.
    pub fn make(tracefs: &Path, n: u32, wanted: RecorderOptions<'_>, run: &mut Run) -> Result<Recorder> {
        let instance = run.make_trace(tracefs, n)?;
        instance.set("buffer_size_kb", BUFFER)?;
        let ticks = instance.words("trace_clock")?.iter().any(|clock| clock == "x86-tsc");
        instance.set("trace_clock", if ticks { "x86-tsc" } else { "mono" })?;
        let pid = wanted.pid;
        let of_pid = format!("common_pid == {pid}");
        let enable = |event: &str, filter: &str| enable(&instance, event, filter, &of_pid);
        for call in CALLS {
            enable(&format!("syscalls/sys_enter_{call}"), &of_pid);
            enable(&format!("syscalls/sys_exit_{call}"), &of_pid);
        }
        enable("sched/sched_switch", &format!("prev_pid == {pid} || next_pid == {pid}"));
        if let Some(disk) = wanted.disk {
            let of_disk = format!("dev == {}", device_number(disk.0, disk.1));
            BLOCK.iter().for_each(|event| enable(&format!("block/{event}"), &of_disk));
        }
        let of_file = format!("dev == {}", device_number(wanted.file.0, wanted.file.1));
        for event in ["jbd2_start_commit", "jbd2_commit_logging", "jbd2_end_commit"] {
            enable(&format!("jbd2/{event}"), &of_file);
        }
        if wanted.tracer == Tracer::Events {
            GROUPS.iter().for_each(|group| enable(group, &of_pid));
            enable(wanted.fs_type, &of_pid);
            enable("kmem/mm_page_alloc", &of_pid);
            enable("jbd2/jbd2_handle_start", &of_pid);
            with_stacks(&instance);
        } else {
            for noise in NOISE {
                // Some of them no kernel has.
                drop(instance.set("set_ftrace_notrace", noise));
            }
            for option in ["options/funcgraph-irqs", "options/function-fork"] {
                drop(instance.set(option, "0"));
            }
            wanted.tracer.switch_on(&instance, pid)?;
        }
        Ok(Recorder { instance, tracer: wanted.tracer, ticks, pid })
    }

    /// A recorder of only what shows where a writer sleeps: for long recordings.
    ///
    /// # Errors
    /// As [`Recorder::make`].
    pub fn for_stalls(tracefs: &Path, n: u32, pid: u32, run: &mut Run) -> Result<Recorder> {
        let instance = run.make_trace(tracefs, n)?;
        instance.set("buffer_size_kb", BUFFER)?;
        instance.set("trace_clock", "mono")?;
        let of_pid = format!("common_pid == {pid}");
        let events = ["syscalls/sys_enter_pwrite64", "syscalls/sys_exit_pwrite64", "block", "jbd2", "vmscan"];
        let dirty = ["writeback/balance_dirty_pages", "writeback/folio_wait_writeback", "writeback/writeback_wait"];
        for event in events.iter().chain(&dirty) {
            enable(&instance, event, &of_pid, &of_pid);
        }
        instance.set("events/sched/sched_switch/filter", &format!("prev_pid == {pid} || next_pid == {pid}"))?;
        instance.set("events/sched/sched_switch/enable", "1")?;
        with_stacks(&instance);
        Ok(Recorder { instance, tracer: Tracer::Events, ticks: false, pid })
    }

    /// Records while `work` goes on and returns the text.
    ///
    /// # Errors
    /// Those of `work`, and of the kernel.
    pub fn during(&self, work: impl FnOnce() -> Result<()>) -> Result<(String, Clock)> {
        self.instance.start()?;
        let begin = self.mark()?;
        let worked = work();
        std::thread::sleep(APART);
        let end = self.mark()?;
        let text = self.instance.stop()?;
        worked?;
        let clock = if self.ticks { Clock::by_marks(&text, Nanos(end.saturating_sub(begin))) } else { Clock::NANOS };
        Ok((text, clock))
    }

    fn mark(&self) -> Result<u64> {
        self.instance.mark(text::MARK)?;
        Ok(process::monotonic().0)
    }

    /// Records one call.
    ///
    /// # Errors
    /// As [`Recorder::during`]; also when the call is not in what was recorded.
    pub fn one(&self, call: &str, work: impl FnOnce() -> Result<()>) -> Result<CallPath> {
        let (trace, clock) = self.during(work)?;
        let path = match self.tracer {
            Tracer::Graph => text::graph(&trace, call),
            Tracer::Function | Tracer::Events => text::call(&trace, self.pid, call, clock),
        };
        path.ok_or_else(|| LabError::Workload(format!("the kernel recorded no {call} of process {}", self.pid)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_tracer_is_tried_first_and_a_wanted_one_only_where_it_is() {
        let there = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
        let of = |wanted, text| Tracer::candidates(wanted, &there(text));
        assert_eq!(of("auto", "blk function nop"), [Tracer::Function, Tracer::Events]);
        assert_eq!(of("auto", "function_graph function nop"), [Tracer::Graph, Tracer::Function, Tracer::Events]);
        assert_eq!(of("function_graph", "function nop"), []);
        assert_eq!(of("tracepoints", "function nop"), [Tracer::Events]);
    }
}
