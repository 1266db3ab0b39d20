//! One process after the other: the work of one thread.

use ramline_snapshot::processes::{Missed, Walked, Walks, cgroup_path, is_by_its_file, run_as};
use ramline_units::PageSize;

use crate::prelude::*;
use crate::proc_dir::{NotRead, PidDir};

/// How deep to look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// The cheap files only.
    Cheap,
    /// Also the page tables of every process, in parallel and without bound. Each walk holds the process's mmap lock.
    Walk,
}

/// What a captured tree knows that its files do not say.
#[derive(Debug, Clone, Default)]
pub struct Captured {
    /// Program of each process.
    pub programs: BTreeMap<u32, String>,
    /// Files the kernel refused.
    pub denied: Vec<String>,
    /// Page size of the captured machine.
    pub page: Option<PageSize>,
}

/// Names by number, each once.
#[derive(Debug, Default)]
pub struct Names {
    pub list: Vec<String>,
    index: HashMap<String, u32>,
}

impl Names {
    pub fn index(&mut self, name: &str) -> u32 {
        if let Some(index) = self.index.get(name) {
            return *index;
        }
        let index = u32::try_from(self.list.len()).unwrap_or(u32::MAX);
        self.list.push(name.to_owned());
        self.index.insert(name.to_owned(), index);
        index
    }
}

/// Processes a thread takes at a time.
pub const PORTION: usize = 16;

/// What one thread has found.
pub struct Worker<'a> {
    proc: &'a ProcDir,
    captured: Option<&'a Captured>,
    depth: Depth,
    record: bool,
    page: PageSize,
    buffer: Vec<u8>,
    link: Vec<u8>,
    pub list: Vec<Process>,
    pub groups: Names,
    pub programs: Names,
    pub missed: Missed,
    pub walks: Walks,
    pub texts: Vec<(String, Option<String>)>,
}

impl<'a> Worker<'a> {
    pub fn new(proc: &'a ProcDir, captured: Option<&'a Captured>, depth: Depth, record: bool) -> Worker<'a> {
        Worker {
            proc,
            captured,
            depth,
            record,
            page: captured.and_then(|c| c.page).unwrap_or(PageSize(ramline_kernel::process::page_size())),
            buffer: vec![0; 16 << 10],
            link: Vec::with_capacity(4096),
            list: Vec::new(),
            groups: Names::default(),
            programs: Names::default(),
            missed: Missed::default(),
            walks: Walks::default(),
            texts: Vec::new(),
        }
    }

    /// Reads one process and keeps it, or counts why not.
    pub fn process(&mut self, pid: u32) {
        let mut buffer = std::mem::take(&mut self.buffer);
        match self.read(pid, &mut buffer) {
            Ok(Some(process)) => self.list.push(process),
            Ok(None) => self.missed.malformed += 1,
            Err(NotRead::Denied) => self.missed.denied += 1,
            Err(NotRead::Unusable) => self.missed.malformed += 1,
            // A captured process without its first file is one that ended while it was captured.
            Err(NotRead::Vanished | NotRead::Absent) => self.missed.vanished += 1,
        }
        self.buffer = buffer;
    }

    /// `None` when its `stat` makes no sense.
    fn read(&mut self, pid: u32, buffer: &mut Vec<u8>) -> Result<Option<Process>, NotRead> {
        let dir = self.proc.process(pid)?;
        let mut process = Process::default();
        if process.stat(self.file(&dir, pid, "stat", buffer)?).is_err() || process.pid != pid {
            return Ok(None);
        }
        let gone = |error| if error == NotRead::Vanished { Err(error) } else { Ok(()) };
        match self.file(&dir, pid, "status", buffer) {
            Ok(text) => process.status(text),
            Err(error) => gone(error)?,
        }
        if process.rss_anon.is_none() && process.vm_size.is_some() {
            let page = self.page;
            match self.file(&dir, pid, "statm", buffer) {
                Ok(text) => process.statm(text, page),
                Err(error) => gone(error)?,
            }
        }
        match self.file(&dir, pid, "cgroup", buffer) {
            Ok(text) => {
                let path = cgroup_path(text).map(String::from_utf8_lossy);
                process.group = path.map(|path| self.groups.index(&path));
            }
            Err(error) => gone(error)?,
        }
        if !process.kernel_thread {
            process.exe = self.exe(&dir, pid);
            process.run_as = self.run_as(&dir, &process, buffer);
        }
        // A tree's walks are made already: reading them costs nothing.
        if process.rss_anon.is_some() && (self.depth == Depth::Walk || self.captured.is_some()) {
            let start = Instant::now();
            match walk(&dir, buffer) {
                Ok(walked) => process.walked = walked,
                Err(NotRead::Denied) => self.walks.denied += 1,
                Err(error) => gone(error)?,
            }
            if let Some(walked) = &mut process.walked {
                walked.cost = if self.captured.is_some() { Nanos(0) } else { start.elapsed().into() };
                self.walks.done += 1;
                self.walks.cost.0 += walked.cost.0;
            }
        }
        Ok(Some(process))
    }

    fn exe(&mut self, dir: &PidDir, pid: u32) -> Option<u32> {
        if let Some(captured) = self.captured {
            return captured.programs.get(&pid).map(|name| self.programs.index(name));
        }
        self.link = dir.link("exe", std::mem::take(&mut self.link)).ok()?;
        Some(self.programs.index(&String::from_utf8_lossy(&self.link)))
    }

    /// Few have another name than their file: only of these the first argument is read. What stands behind it may be a secret and is not
    /// looked at; nor is it put on record.
    fn run_as(&self, dir: &PidDir, process: &Process, buffer: &mut Vec<u8>) -> Option<String> {
        let path = self.programs.list.get(usize::try_from(process.exe?).ok()?)?;
        if is_by_its_file(path, &process.name) {
            return None;
        }
        let text = dir.read("cmdline", buffer).ok()?;
        let first = text.split(|b| *b == 0).next()?;
        run_as(path, &process.name, &String::from_utf8_lossy(first))
    }

    fn file<'b>(&mut self, dir: &PidDir, pid: u32, name: &str, buffer: &'b mut Vec<u8>) -> Result<&'b [u8], NotRead> {
        let path = || format!("/proc/{pid}/{name}");
        if self.captured.is_some_and(|c| c.denied.contains(&path())) {
            return Err(NotRead::Denied);
        }
        let read = dir.read(name, buffer);
        if self.record {
            match &read {
                Ok(text) => self.texts.push((path(), Some(String::from_utf8_lossy(text).into_owned()))),
                Err(NotRead::Denied) => self.texts.push((path(), None)),
                Err(_) => {}
            }
        }
        read
    }
}

/// Walks the page tables of a process: the kernel adds up all mappings (since 4.14), or we do.
pub fn walk(dir: &PidDir, buffer: &mut Vec<u8>) -> Result<Option<Walked>, NotRead> {
    match dir.read("smaps_rollup", buffer) {
        Ok(text) => Ok(Walked::parse(text).ok()),
        Err(NotRead::Absent) if dir.is_there() => Ok(Walked::parse(dir.read("smaps", buffer)?).ok()),
        Err(error) => Err(error),
    }
}
