//! `ramline trace record`.

use std::io::Write;
use std::process::{Child, Command, ExitStatus, Stdio};

use ramline_capture::{CaptureError, EndReason, FilesSeen, Recorded, Recorder, Settings, Target};
use ramline_kernel::cgroup::Hierarchy;
use ramline_kernel::process::{self, Usage};
use ramline_trace::touches::{Header, Maker, Origin, Sample, TouchesError, Writer};

use super::contents::{Contents, shares};
use super::files::{TOUCHES, into_io};
use crate::prelude::*;
use crate::{output, place, whom};

/// Pauses longer than this are announced before the recording starts.
const FELT: Duration = Duration::from_millis(20);
/// The longest that clearing takes, as a multiple of what is expected: 75 to 300 ns a page were measured.
const LONGEST: u32 = 3;
/// A whole command that would work.
const HINT: &str = "ramline trace record --pid 1234 --out load.trace";

/// Record which pages a process, a control group or a command touches (root)
///
/// Page tables are read and their accessed bits cleared, about ten times a second, less often for much memory; nothing is stopped or traced. It sees which pages
/// were touched in an epoch: not in which order, how often, or whether they were written. Of read(2) and write(2) it sees each page, in order (Linux 6.12). Up to 512 of the program's pages are read and compressed, and their compressed lengths written. It is refused where memory is being reclaimed.
/// Needs Linux 5.14 on x86-64, and root or CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE and CAP_DAC_OVERRIDE.
#[derive(Debug, Args)]
#[command(override_usage = "ramline trace record --out <FILE> [OPTIONS] -- <COMMAND>...\n       \
    ramline trace record --out <FILE> --pid <PID|NAME> [--for <TIME>]\n       \
    ramline trace record --out <FILE> --cgroup <GROUP> [--for <TIME>]")]
pub struct Record {
    /// This process, by id or name
    #[arg(long, value_name = "PID|NAME", conflicts_with_all = ["cgroup", "command"])]
    pid: Option<String>,
    /// The processes of this control group and of those below it, and those that come
    #[arg(long, value_name = "GROUP", conflicts_with = "command")]
    cgroup: Option<PathBuf>,
    /// The file, - for stdout
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// How long [default: until it ends, or Ctrl-C]
    #[arg(long = "for", value_name = "TIME", value_parser = duration::parse)]
    time: Option<Duration>,
    /// The share of time that reading and clearing may take: it makes epochs longer
    #[arg(long, value_name = "PERCENT", default_value = "2%", value_parser = share)]
    overhead: f64,
    /// This command and all it starts, until they end
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

pub fn share(text: &str) -> std::result::Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim().parse::<f64>().ok();
    let share = number.filter(|number| (0.1..=50.0).contains(number)).map(|number| number / 100.0);
    share.ok_or_else(|| format!("'{text}' is not a share of 0.1% to 50%; write for example 2%"))
}

impl Record {
    pub fn run(&self) -> Result<u8> {
        let whose = TargetOptions {
            pid: self.pid.as_deref(),
            cgroup: self.cgroup.as_deref(),
            command: &self.command,
            hint: HINT,
        };
        let target = whose.target(&Root::live())?;
        signals::install();
        let dir = self.out.parent().map(Path::to_owned).filter(|_| self.out != Path::new("-"));
        let out = place::open(&self.out, TOUCHES, HINT)?;
        let is_file = out.is_file();
        let mut session = PreparedRecording::open(&whose, target, (self.time, self.overhead), dir)?;
        let mut child = session.start(&whose, Stdio::inherit())?;
        let (mut done, mut refused) = (None, None);
        let written = out.write_with(|out| match session.write(out) {
            Ok(recorded) => {
                done = Some(recorded);
                Ok(())
            }
            Err(CaptureError::Write(TouchesError::Io(error))) => Err(error),
            Err(CaptureError::Write(error)) => Err(into_io(error)),
            Err(CaptureError::Kernel(error)) => Err(std::io::Error::other(refused.insert(error).to_string())),
        });
        let ended = done.as_ref().map(|(done, _)| done.ended);
        let usage = child.as_mut().map(|child| finish(child, ended)).transpose()?.map(|(_, usage)| usage);
        if let Some(error) = refused {
            return Err(error.into());
        }
        let bytes = written?;
        if let Some((recorded, sample)) = done {
            let path = if is_file { self.out.to_string_lossy() } else { "the recording".into() };
            report(&ramline_view::escape(&path), Bytes(bytes), &recorded, &sample)
                .iter()
                .for_each(|line| output::tell(line));
            if let Some((largest, seen)) = usage.and_then(|usage| unseen(&recorded, &usage)) {
                output::tell(&format!(
                    "Lost: memory that was touched at the end. A process had up to {largest} in RAM, of which {seen} were seen."
                ));
            }
        }
        Ok(exit::DONE)
    }
}

/// Options that name the target whose touches are recorded.
pub struct TargetOptions<'a> {
    /// A process by its id or name.
    pub pid: Option<&'a str>,
    /// A control group.
    pub cgroup: Option<&'a Path>,
    /// A command; empty for none.
    pub command: &'a [OsString],
    /// A whole command of ramline that would work.
    pub hint: &'static str,
}

impl TargetOptions<'_> {
    /// What is recorded, and its name.
    ///
    /// # Errors
    /// There is no such process, group or program; nothing was named.
    pub fn target(&self, root: &Root) -> Result<(Target, String)> {
        match (self.pid, self.cgroup, self.command.first()) {
            (Some(text), _, _) => {
                let option = self.hint.split(" --pid").next().unwrap_or(self.hint);
                let pid = whom::one(root, text, &format!("{option} --pid"))?;
                ensure!(
                    pid != std::process::id(),
                    Failure::usage(format!("process {pid} is this ramline\n  try: {}", self.hint))
                );
                let stat =
                    process::stat(root, pid).map_err(|error| error.or_hint("ramline show processes --by process"))?;
                Ok((Target::Process(pid), format!("process {pid} ({})", stat.name)))
            }
            (_, Some(group), _) => {
                let hierarchy = Hierarchy::detect(root)?;
                let name = group.to_string_lossy();
                let found = hierarchy.groups_named(&name).0;
                let [dir] = found.as_slice() else {
                    let which = if found.is_empty() { "no group goes" } else { "several groups go" };
                    let name = ramline_view::escape(&name);
                    return Err(
                        Failure::usage(format!("{which} by the name {name}\n  try: ramline show cgroups")).into()
                    );
                };
                Ok((Target::Group(dir.clone()), format!("group {}", dir.display())))
            }
            (None, None, Some(program)) => Ok((Target::Descendants, program.to_string_lossy().into_owned())),
            (None, None, None) => {
                let text = "nothing to record was named: --pid, --cgroup or a command behind --";
                Err(Failure::usage(format!("{text}\n  try: {}", self.hint)).into())
            }
        }
    }

    /// What to do instead, where it is not to be.
    fn refused(&self, error: KernelError) -> KernelError {
        match (self.pid, self.cgroup) {
            (Some(whom), _) if error.is_refused() => {
                error.or_hint(&format!("ramline need {}", ramline_units::quoted(whom)))
            }
            (_, Some(group)) if error.is_refused() => {
                error.or_hint(&format!("ramline need {}", ramline_units::quoted_path(group)))
            }
            _ => error,
        }
    }
}

/// A recording that is ready to begin.
pub struct PreparedRecording {
    recorder: Recorder,
    contents: Contents,
    header: Header,
}

impl PreparedRecording {
    /// Gets ready: no longer than a time, with so large a share of it for the recorder; the directory is that of the file.
    ///
    /// # Errors
    /// As [`Recorder::open`].
    pub fn open(
        whose: &TargetOptions<'_>,
        (target, name): (Target, String),
        (time, overhead): (Option<Duration>, f64),
        dir: Option<PathBuf>,
    ) -> Result<PreparedRecording> {
        let contents = Contents::new(&target, overhead);
        let settings = Settings { target, time, overhead, dir };
        let page = u32::try_from(process::page_size()).unwrap_or(4096);
        let header = Header { page, origin: Origin { maker: Maker::Recorder, name, seed: None } };
        let recorder = Recorder::open(&Root::live(), settings).map_err(|error| whose.refused(error))?;
        announce(&recorder);
        Ok(PreparedRecording { recorder, contents, header })
    }

    /// Starts the command, if there is one; its standard output goes there.
    ///
    /// # Errors
    /// It cannot be started.
    pub fn start(&mut self, whose: &TargetOptions<'_>, stdout: Stdio) -> Result<Option<Child>> {
        let Some((program, arguments)) = whose.command.split_first() else { return Ok(None) };
        process::adopt_orphans()?;
        let started = Command::new(program).args(arguments).stdout(stdout).spawn();
        let child = started.map_err(|error| KernelError::io("start", Path::new(program), error))?;
        Ok(Some(child))
    }

    /// Records, and samples what is recorded; what the sample compresses to, or why there is none, stands beside how it went.
    ///
    /// # Errors
    /// As [`Recorder::record`].
    pub fn write(self, out: &mut dyn Write) -> Result<(Recorded, Result<Sample, String>), CaptureError> {
        let PreparedRecording { recorder, mut contents, header } = self;
        let terminal = Terminal::new();
        let mut writer = Writer::new(out, &header)?;
        let recorded = recorder.record(&mut writer, |so_far| {
            terminal.now(format!("recording: {} s, {} epochs", so_far.passed.as_secs(), so_far.epochs));
            contents.look(so_far);
        })?;
        let sample = contents.finish();
        if let Ok(sample) = &sample {
            writer.sample(sample)?;
        }
        writer.finish()?;
        Ok((recorded, sample))
    }
}

fn announce(recorder: &Recorder) {
    let (pause, epoch) = recorder.expected();
    if pause * LONGEST >= FELT {
        let ms = |time: Duration| time.as_millis();
        output::tell(&format!(
            "Each {:.1} s the process will be held up for {} to {} ms, while its accessed bits are cleared; --overhead 0.5% makes that rarer.",
            epoch.as_secs_f64(),
            ms(pause),
            ms(pause * LONGEST)
        ));
    }
}

/// Waits for the command, which goes on when the time is over; a signal is passed on.
///
/// # Errors
/// It cannot be waited for.
pub fn finish(child: &mut Child, ended: Option<EndReason>) -> Result<(ExitStatus, Usage)> {
    if matches!(ended, Some(EndReason::Signal) | None) {
        process::ask_to_end(child);
    }
    Ok(process::wait_with_usage(child)?)
}

/// The most that a process of the command had in RAM, and what of it was seen, where that is less by more than a part in twenty: its memory grew after it
/// was last looked at. Of a command that was ended by us nothing is missing, nor where the end of each process was seen.
pub fn unseen(done: &Recorded, usage: &Usage) -> Option<(Bytes, Bytes)> {
    let seen = Bytes(done.resident_peak.saturating_mul(process::page_size()));
    (done.ended == EndReason::Processes && done.last_lost > 0 && seen.0 < usage.max_rss.0 / 20 * 19)
        .then_some((usage.max_rss, seen))
}

/// What was recorded, by which method, what it cost and what was lost.
fn report(path: &str, size: Bytes, done: &Recorded, sample: &Result<Sample, String>) -> Vec<String> {
    let page = process::page_size();
    let bytes = |pages: u64| Bytes(pages.saturating_mul(page));
    let share = |part: u64, whole: u64| {
        Bytes(part).share_of(Bytes(whole)).map_or_else(|| "-".to_owned(), |share| format!("{:.1} %", share * 100.0))
    };
    let mut out = vec![format!(
        "{path}: {size} written: {} epochs in {:.1} s, {} page touches of {} process{}, at most {} resident{}.",
        done.epochs,
        done.passed.as_secs_f64(),
        done.touched,
        done.processes,
        if done.processes == 1 { "" } else { "es" },
        bytes(done.resident_peak),
        match done.ended {
            EndReason::Processes | EndReason::Time => "",
            EndReason::Signal => "; ended by a signal",
            EndReason::Disk => "; ended early, since less than 64 MiB of the disk are free",
        }
    )];
    let proof = &done.proof;
    out.push(format!(
        "Method: accessed bits of page tables, read through bpf(2). Of {} own pages touched before, {} were seen; of {} not touched, {}.",
        proof.touched, proof.seen, proof.untouched, proof.false_ones
    ));
    out.push(format!(
        "Cost: {:.2} s of CPU time, {} of the {:.2} s that was recorded; the longest pause was at most {} ms; epochs of {} ms at the end.",
        done.own_cpu.as_secs_f64(),
        share(done.own_cpu.0, done.cpu.0),
        done.cpu.as_secs_f64(),
        done.longest.as_millis(),
        done.epoch.as_millis()
    ));
    out.push(match &done.files {
        FilesSeen::All => "Not recorded: which pages of memory were written, and in which order they were touched within an epoch. The order of read(2) and write(2) is recorded.".to_owned(),
        FilesSeen::Reads => "Not recorded: which pages were written, and in which order they were touched within an epoch. The order of read(2) is recorded.".to_owned(),
        FilesSeen::Unseen(why) => {
            let why = ramline_view::escape(why);
            format!("Not recorded: which pages were written, read(2) and write(2) ({why}), the order within an epoch.")
        }
    });
    out.push(match sample {
        Ok(sample) => format!("Contents: a sample of its pages compresses with {}.", shares(sample)),
        Err(why) => format!("Not recorded: what its pages compress to ({}).", ramline_view::escape(why)),
    });
    if done.last_lost > 0 {
        out.push(format!("Lost: what {} touched last before the end.", things(done.last_lost, "process", "processes")));
    }
    if done.unreadable > 0 {
        out.push(format!(
            "Lost: all of {} that may not be read by this user.",
            things(done.unreadable, "process", "processes")
        ));
    }
    if done.incomplete > done.last_lost {
        out.push(format!(
            "Lost: part of the touches in up to {}, in which page tables changed while they were read, or files were read faster than could be recorded.",
            things(done.incomplete, "epoch", "epochs")
        ));
    }
    if done.reclaimed > 0 {
        out.push(format!(
            "Reclaim: memory was reclaimed in {} of {} epochs; their touches are not complete, and the file marks them.",
            done.reclaimed, done.epochs
        ));
    }
    if !done.damon.is_empty() {
        out.push(format!(
            "DAMON runs: {}. It clears the same bits, and may evict pages, so that touches can be missing.",
            ramline_view::escape(&done.damon.join(", "))
        ));
    }
    if done.huge_at_peak > 0 {
        out.push(format!(
            "Huge pages: {} of its memory was seen in pieces of 2 MiB.",
            share(done.huge_at_peak, done.resident_peak)
        ));
    }
    out
}

fn things(count: u64, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overhead_is_a_share_with_or_without_its_sign() {
        assert_eq!((share("2%"), share("0.5")), (Ok(0.02), Ok(0.005)));
        for bad in ["0%", "51%", "-1%", "nan", "2 MiB", ""] {
            assert!(share(bad).unwrap_err().contains("for example 2%"), "{bad}");
        }
    }
}
