//! The experiment swap-command: a command under a memory limit, as the machine swaps now, with scratch zram devices and with a swap file.
//!
//! Ratios and microseconds of single pages do not say what an application gains; this does, for one command on one machine. A pool is
//! part of the limit, as it is part of RAM on a machine, and so are the command's files: each run begins with none of them in the page cache,
//! where pages that another run read would not count in its limit. What it is not: a search for the limit, which is [`super::knee`].

use ramline_evidence::{PoolBalance, TIMES_AS_LONG};

use ramline_kernel::opened::Opened;

use crate::fileset::FileSet;
use crate::limited::plan::unknown_algorithm;
use crate::limited::{Sandbox, Sizes, swaps_to_disk};
use crate::prelude::*;
use ramline_sandbox::child::command::{self, CommandRun, Ran};

/// Its name on the command line and in records.
pub const NAME: &str = "swap-command";
/// A run within the limit is given up after this multiple of the time without one, and not before [`LEAST_TIME`].
const PATIENCE: u32 = 10;
const LEAST_TIME: Duration = Duration::from_secs(10);
/// Without a limit that was asked for: this share of what the command used.
const SHARE: (u64, u64) = (2, 3);
/// The smallest limit: ramline's own launcher has to live in it.
const LEAST: Bytes = Bytes::from_mib(8);
/// An area holds this multiple of what the command used, so that it is never full.
const ROOM: u64 = 2;
/// From this on the sum of limit and pool is said to be off.
const OFF: f64 = 0.02;

/// The row of the table.
pub const EXPERIMENT: Experiment = Experiment {
    name: NAME,
    question: "With which swap setting does a command run fastest within a memory limit?",
    how: "The command runs twice without a limit, which says which files it opens and how much memory it uses. Then it runs in a memory cgroup with \
          less, once under each setting in turn: as the machine is configured, without swap, or with a scratch zram device or swap file of its own. \
          The pool of compressed pages is part of the limit, and so are its files, which are evicted from the page cache before each run.",
    needs: "root, a memory cgroup (version 1 or 2), memory for the command; for settings with zram its driver, for those with a swap file a disk",
    reading: include_str!(concat!(env!("OUT_DIR"), "/reading/swap-command.md")),
    parameters: &[
        COMMAND,
        params::size(
            "memory",
            "What the command may have, pools included (two thirds of what it uses without a limit)",
        ),
        row(
            "arms",
            Kind::List,
            Some("as-configured,zram"),
            "Settings, comma-separated: as-configured, no-swap, swap:S (a swap file), zram, zram:ALG, zram:ALG:S (S is the swappiness; left out, it stays as it is)",
        ),
        row(
            "timeout",
            Kind::Time,
            Some("5min"),
            "The most time a run gets; within the limit at most ten times the time without one",
        ),
    ],
    figures: &["wall"],
    child: None,
    study: Study::Series,
    forecast: None,
    open,
};

/// A series of swap-command.
struct SwapCommand {
    argv: Vec<String>,
    hierarchy: Hierarchy,
    asked: Option<Bytes>,
    timeout: Duration,
    /// Where swap files go; for settings that have one.
    place: Option<Place>,
    // From here on: of the set-up.
    dir: Option<PathBuf>,
    /// What is evicted before each run; without it, why.
    files: std::result::Result<FileSet, String>,
    limit: Bytes,
    used: Bytes,
    /// What it takes without a limit.
    alone: Nanos,
    patience: Duration,
}

fn arm_of(text: &str) -> Result<Arm> {
    // A device alone says nothing of swappiness, which the grammar of the other experiments asks for.
    let plain = text == "zram"
        || text.strip_prefix("zram:").is_some_and(|rest| !rest.contains(':') && rest.parse::<u32>().is_err());
    let parsed = if plain { arm::parse(&format!("{text}:60")) } else { arm::parse(text) };
    let fits = |arm: &Arm| {
        matches!(arm.swap, SwapKind::AsConfigured | SwapKind::None | SwapKind::File | SwapKind::Zram { .. })
    };
    let arm = parsed.ok().filter(fits).ok_or_else(|| {
        let message = format!("'{}' is not a setting of {NAME}", text.escape_debug());
        LabError::usage(message, format!("ramline lab run {NAME} --arms as-configured,zram:lz4 -- rustc --version"))
    })?;
    Ok(if plain { Arm { name: text.to_owned(), swappiness: None, ..arm } } else { arm })
}

fn open(root: &Root, params: &Params) -> Result<PlannedSeries> {
    let argv = params.list("command").to_vec();
    refuse_if(argv.is_empty(), NAME, "-- rustc --version", "no command was given")?;
    let arms: Vec<Arm> = params.list("arms").iter().map(|text| arm_of(text)).collect::<Result<_>>()?;
    let asked = params.size("memory");
    let least = asked.filter(|size| *size < LEAST).map(|size| format!("--memory {size} is below {LEAST}"));
    refuse_if(least.is_some(), NAME, "--memory 200MiB -- rustc --version", least.unwrap_or_default())?;
    let any = |wanted: fn(&SwapKind) -> bool| arms.iter().any(|arm| wanted(&arm.swap));
    let (any_zram, any_file) = (any(arm::on_zram), any(arm::on_disk));
    let command = format!("ramline lab run {NAME}");
    let caller = Caller { command: &command, smaller: "--memory 64MiB", without_swap: "--arms as-configured,no-swap" };
    let mut check = Check::new(root, caller);
    check.program(&argv, Some("a memory cgroup and a zram device need root"));
    let hierarchy = check.group();
    let most = requirements::headroom(root)?;
    let wanted = asked.unwrap_or(Bytes::from_mib(64));
    if most < wanted {
        check.extend([Reason::new(format!("memory: {wanted} needed, {most} can be taken"), "ramline show memory")]);
    }
    if any_zram {
        check.tools(&[Tool::Zram]);
    }
    if any_zram || any_file {
        check.outranked(PRIORITY - 1)?;
    }
    // How large one has to be is known when the command has run; a disk without room for it is refused then.
    let place = if any_file {
        check.place(Bytes(wanted.0.saturating_mul(ROOM)), params.path("dir").as_deref(), true)
    } else {
        None
    };
    check.extend(arms.iter().find_map(|arm| unknown_algorithm(root, arm, NAME)));
    let doubts = if any_zram || any_file {
        check.busy_or_reclaiming(params.switch("allow-busy"))?
    } else {
        check.busy(params.switch("allow-busy"))?
    };
    let hierarchy = check.conclude(hierarchy)?;
    let (runs, timeout) = (params.runs(), params.time("timeout").unwrap_or_default());
    let limit = asked.map_or_else(|| "two thirds of what it uses without a limit".to_owned(), |size| size.to_string());
    let sentences = vec![
        counted(arms.len(), "settings", runs),
        format!("the command runs as user {}, twice more without a limit: {}", process::uid(), command_line(&argv)),
        "the files that it opens are evicted from the page cache before each run".to_owned(),
        format!("in a memory cgroup limited to {limit}; the pool of a setting with zram is part of it"),
    ];
    let size = "twice as large as what the command uses";
    let area = |what: &str, priority: i32| format!("{what} with swap priority {priority} per run, {size}");
    let zram = any_zram.then(|| area("a zram device", PRIORITY));
    let file = place.as_ref().map(|place| area(&format!("a swap file in {}", place.dir.display()), PRIORITY - 1));
    let mut global = consent::swap_areas(root, zram.into_iter().chain(file).collect());
    if arms.iter().any(|arm| arm.swappiness.is_some()) {
        global.extend(consent::swappiness(Some(hierarchy.version())));
    }
    let (limit, used, alone, patience) = (Bytes::ZERO, Bytes::ZERO, Nanos(0), LEAST_TIME);
    let files = Ok(FileSet::default());
    let work = SwapCommand { argv, hierarchy, asked, timeout, place, dir: None, files, limit, used, alone, patience };
    let work = Box::new(work);
    Ok(PlannedSeries { arms, runs, sentences, global, doubts, longest_run: timeout, work })
}

impl Series for SwapCommand {
    fn prepare(&mut self, bench: &mut Bench<'_>) -> Result<()> {
        bench.run.prepare_cgroups(&self.hierarchy)?;
        bench.progress.step("running the command without a limit, to see which files it opens");
        self.files = self.find_files(bench)?;
        bench.progress.step("running the command without a limit, to see how much memory it uses");
        self.begin_cold();
        let (ran, peak) = self.alone(None, bench)?;
        // A kernel without a peak (cgroup v2 before 5.19) still knows the largest process.
        self.used = peak.unwrap_or(ran.usage.max_rss);
        self.limit = self.asked.unwrap_or(Bytes(self.used.0 / SHARE.1 * SHARE.0).max(LEAST));
        if self.limit >= self.used {
            let (limit, used) = (self.limit, self.used);
            let text = format!("the command used {used} without a limit: within {limit} it has no reason to swap");
            let less = Bytes(used.0 / SHARE.1 * SHARE.0);
            let hint = format!("ramline lab run {NAME} --memory {} -- {}", arm::kib(less), command_line(&self.argv));
            return Err(LabError::refused(vec![text], hint));
        }
        if let Some(place) = &self.place {
            self.dir = Some(scratch::own_dir(&place.dir, bench.run)?);
        }
        self.alone = ran.wall;
        self.patience = (Duration::from_nanos(ran.wall.0) * PATIENCE).clamp(LEAST_TIME, self.timeout.max(LEAST_TIME));
        Ok(())
    }

    fn once(&mut self, arm: &Arm, record: &mut RunRecord, bench: &mut Bench<'_>) -> Result<()> {
        requirements::describe(record, Some(self.hierarchy.version()), self.place.as_ref());
        let (stays, refused) = self.begin_cold();
        let room = Bytes(self.used.0.saturating_mul(ROOM));
        let sizes = Sizes {
            hierarchy: &self.hierarchy,
            limit: self.limit,
            zram: room,
            swap_file: self.dir.as_ref().map(|dir| (dir.join("swap"), room)),
            hold: None,
        };
        let mut sandbox = Sandbox::create(&sizes, arm, record.order, bench.run)?;
        record.verified = sandbox.verified.clone();
        record.verified.insert("used without a limit".to_owned(), self.used.to_string());
        match &self.files {
            Ok(files) => {
                let cold = format!("{} evicted before the run, {stays} of them could not be", files.len());
                record.verified.insert("its files".to_owned(), cold);
                if refused > 0 {
                    record.notes.push(format!("{refused} of its files could not be evicted from the page cache"));
                }
            }
            Err(why) => {
                record.notes.push(format!("its files were in the page cache as the run before left them: {why}"))
            }
        }
        record.workload.limit = self.limit;
        record.before = observe::counters(bench.root, &sandbox.base);
        let order = CommandRun { argv: &self.argv, group: Some(&sandbox.group), timeout: self.patience, look: None };
        bench.progress.phase("the command runs");
        let ran = command::run(bench.root, order, None, bench.run)?;
        record.pool = sandbox.keeper.take().and_then(|keeper| keeper.finish());
        record.after = observe::counters(bench.root, &sandbox.group.stat()?);
        record.verdict = ran.verdict();
        record.reclaim = observe::reclaim(record, ran.usage.majflt);
        ran.note(record);
        let swap_on_disk = swaps_to_disk(bench.root, &arm.swap)?;
        let layers = observe::Layers { loop_device: false, swap_on_disk, page_size: record.machine.page_size };
        record.reclaim.read_bytes = layers.read(record);
        observe::note_killed_bystanders(record);
        record.notes.extend(record.pool.as_ref().and_then(off));
        conclude(&ran, self.alone, record);
        Ok(())
    }
}

impl SwapCommand {
    /// One run without a limit, in a group of its own; with the group's peak.
    fn alone(&self, watch: Option<&mut Opened>, bench: &mut Bench<'_>) -> Result<(Ran, Option<Bytes>)> {
        let mark = bench.run.mark();
        // A number no run of the series has.
        let (group, _) = group::limited(&self.hierarchy, None, u32::MAX, bench.run)?;
        let order = CommandRun { argv: &self.argv, group: Some(&group), timeout: self.timeout, look: None };
        let ran = command::run(bench.root, order, watch, bench.run)?;
        ran.must_succeed(&self.argv)?;
        let peak = group.stat()?.peak.filter(|peak| peak.0 > 0);
        bench.run.undo_to(mark)?;
        Ok((ran, peak))
    }

    /// The files that the command opens, or why they are not known.
    fn find_files(&self, bench: &mut Bench<'_>) -> Result<std::result::Result<FileSet, String>> {
        let mut opened = match Opened::new(bench.root) {
            Ok(opened) => opened,
            Err(error) => return Ok(Err(error.to_string())),
        };
        self.alone(Some(&mut opened), bench)?;
        Ok(FileSet::opened_by(&opened).map_err(|error| error.to_string()))
    }

    /// Evicts the command's files; how much of them stays, and how many cannot be evicted.
    fn begin_cold(&self) -> (Bytes, u64) {
        self.files.as_ref().map_or((Bytes::ZERO, 0), FileSet::evict_present)
    }
}

/// A command that failed, was killed or given up took no time that could be compared.
fn conclude(ran: &Ran, alone: Nanos, record: &mut RunRecord) {
    // What the process itself was charged as read is what came from zram too.
    let own = ran.figures().into_iter().filter(|figure| figure.name != "read from disks");
    let mut all = Figures(if record.verdict == Verdict::Completed { own.collect() } else { Vec::new() });
    if record.verdict == Verdict::Completed && alone.0 > 0 {
        all.add(TIMES_AS_LONG, ran.wall.as_secs_f64() / alone.as_secs_f64(), "times", Better::Lower);
    }
    let reclaim = &record.reclaim;
    // Counters of the whole machine in version 1; on a quiet one that is the command.
    all.pages("swapped out", reclaim.swap_out, Better::Neither);
    all.pages("swapped in", reclaim.swap_in, Better::Neither);
    all.bytes("read from disks", reclaim.read_bytes, Better::Lower);
    all.bytes("largest pool", record.pool.map(|pool| pool.pool_max), Better::Neither);
    record.figures = all.0;
}

/// The command cannot be held while its pool grows faster than the limit is lowered: where that shows, it is said. The smallest sum
/// says nothing: when a command ends its pool goes at once.
fn off(pool: &PoolBalance) -> Option<String> {
    let over = pool.sum_mean.saturating_sub(pool.nominal).share_of(pool.nominal)?;
    (over > OFF).then(|| {
        let (mean, nominal) = (pool.sum_mean, pool.nominal);
        format!("limit and pool were {mean} on average instead of {nominal}: it had more memory than it should")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(set: &[(&str, &[&str])]) -> String {
        let table = EXPERIMENT.table();
        let mut params = EXPERIMENT.defaults();
        for (name, values) in set {
            params.set(&table, name, values.iter().map(|value| (*value).to_owned()).collect()).unwrap();
        }
        match open(&Root::live(), &params) {
            Ok(_) => panic!("opened"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn a_setting_may_leave_swappiness_as_it_is() {
        let zram = |text: &str| {
            let arm = arm_of(text).unwrap();
            (arm.name, arm.swap, arm.swappiness)
        };
        let kind = |name: Option<&str>| SwapKind::Zram { algorithm: name.map(str::to_owned) };
        assert_eq!(zram("zram"), ("zram".to_owned(), kind(None), None));
        assert_eq!(zram("zram:lzo-rle"), ("zram:lzo-rle".to_owned(), kind(Some("lzo-rle")), None));
        assert_eq!(zram("zram:lz4:180"), ("zram:lz4:180".to_owned(), kind(Some("lz4")), Some(180)));
        assert_eq!(zram("zram:100"), ("zram:100".to_owned(), kind(None), Some(100)));
        let file = arm_of("swap:60").unwrap();
        assert_eq!((file.swap, file.swappiness), (SwapKind::File, Some(60)));
        for bad in ["", "swap", "swap:201", "zswap:60", "zram+swap:60", "zram:../x", "zram:lz4:201", "ram"] {
            assert!(arm_of(bad).unwrap_err().to_string().contains("is not a setting of swap-command"), "{bad}");
        }
    }

    #[test]
    fn bad_input_is_refused_before_anything_starts() {
        assert!(refused(&[]).contains("no command was given"));
        let command: (&str, &[&str]) = ("command", &["true"]);
        assert!(refused(&[command, ("memory", &["1MiB"])]).contains("--memory 1.0 MiB is below 8.0 MiB"));
        assert!(refused(&[("command", &["no-such-program"])]).contains("there is no program 'no-such-program'"));
    }

    #[test]
    fn a_pool_that_was_not_paid_for_is_said() {
        let mean = |mib| PoolBalance {
            nominal: Bytes::from_mib(100),
            sum_mean: Bytes::from_mib(mib),
            ..PoolBalance::default()
        };
        assert_eq!((off(&mean(101)), off(&mean(60))), (None, None));
        assert!(off(&mean(110)).unwrap().contains("110.0 MiB on average instead of 100.0 MiB"));
    }
}
