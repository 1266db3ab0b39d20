//! The child of eat-memory: allocates inside the group, and stands still at each look.
//!
//! It reports only how much it has allocated, and how long that took without the standing still.

use std::io::Read;

use crate::prelude::*;
use ramline_evidence::EatStage;

/// What it is to do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AllocateTask {
    /// Written first and never looked at again.
    pub idle: Bytes,
    /// Read then, and again at the end.
    pub files: Vec<PathBuf>,
    /// How often.
    pub reads: u32,
    /// One step.
    pub step: Bytes,
    /// Where it ends; `None`: never.
    pub most: Option<Bytes>,
    /// It stands still after each so many bytes.
    pub look_every: Bytes,
    /// What is written.
    pub fill: Fill,
    /// Seed of it.
    pub seed: u64,
}

/// What it reports.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AllocateReport {
    /// What it is doing.
    pub stage: EatStage,
    /// Allocated so far.
    pub eaten: Bytes,
    /// Read, or written idle, so far in this stage.
    pub done: Bytes,
    /// How long allocating took, without standing still.
    pub busy: Nanos,
    /// All is done.
    pub end: bool,
    /// The kernel would not even promise more; why.
    pub refused: Option<String>,
}

/// Does the task.
///
/// # Errors
/// A file cannot be read, or the supervisor is gone.
pub fn allocate(task: Value) -> Result<()> {
    let task = child::task(task)?;
    Allocator { report: AllocateReport::default(), since: Bytes::ZERO, task: &task }.work()
}

struct Allocator<'a> {
    task: &'a AllocateTask,
    report: AllocateReport,
    /// Bytes since the last look.
    since: Bytes,
}

impl Allocator<'_> {
    fn work(mut self) -> Result<()> {
        self.look()?;
        let mut filler = Filler::new(self.task.fill, self.task.seed);
        let idle = self.idle(&mut filler)?;
        for _ in 0..self.task.reads {
            self.read(EatStage::Cache)?;
        }
        let eaten = self.eat(&mut filler)?;
        if !self.task.files.is_empty() {
            self.read(EatStage::Refill)?;
        }
        self.report.end = true;
        self.look()?;
        // Held until the last look is over.
        drop((idle, eaten));
        Ok(())
    }

    /// Stands still until it was looked at.
    fn look(&mut self) -> Result<()> {
        self.since = Bytes::ZERO;
        child::report_and_wait(&self.report)
    }

    fn step(&mut self, taken: Bytes) -> Result<()> {
        self.since += taken;
        if self.since >= self.task.look_every { self.look() } else { Ok(()) }
    }

    fn idle(&mut self, filler: &mut Filler) -> Result<Option<Map>> {
        if self.task.idle == Bytes::ZERO {
            return Ok(None);
        }
        self.report.stage = EatStage::Idle;
        let mut map = small_pages(self.task.idle, Sharing::Private)?;
        filler.fill_map(&mut map, 0, || {
            self.report.done += Bytes(4096);
            self.step(Bytes(4096))
        })?;
        self.look()?;
        Ok(Some(map))
    }

    fn read(&mut self, stage: EatStage) -> Result<()> {
        if self.task.files.is_empty() {
            return Ok(());
        }
        (self.report.stage, self.report.done) = (stage, Bytes::ZERO);
        let mut buffer = vec![0u8; 64 * 1024];
        for path in &self.task.files {
            let failed = |error| LabError::file("read", path, error);
            let mut file = File::open(path).map_err(failed)?;
            loop {
                let read = file.read(&mut buffer).map_err(failed)?;
                if read == 0 {
                    break;
                }
                let read = Bytes(u64::try_from(read).unwrap_or_default());
                self.report.done += read;
                self.step(read)?;
            }
        }
        self.look()
    }

    fn eat(&mut self, filler: &mut Filler) -> Result<Vec<Map>> {
        (self.report.stage, self.report.done) = (EatStage::Eat, Bytes::ZERO);
        let mut eaten = Vec::new();
        let step = self.task.step;
        while self.task.most.is_none_or(|most| self.report.eaten + step <= most) {
            let begin = process::monotonic();
            let mut map = match small_pages(step, Sharing::Private) {
                Ok(map) => map,
                Err(error) => {
                    self.report.refused =
                        Some(error.to_string().chars().filter(|c| !c.is_control()).take(200).collect());
                    break;
                }
            };
            filler.fill_map(&mut map, self.report.eaten.0 / 4096, || Ok(()))?;
            eaten.push(map);
            self.report.busy.0 += process::monotonic().0.saturating_sub(begin.0);
            self.report.eaten += step;
            if self.since + step < self.task.look_every {
                // The last report of one that is killed tells how far it came.
                child::report(&self.report)?;
            }
            self.step(step)?;
        }
        self.look()?;
        Ok(eaten)
    }
}
