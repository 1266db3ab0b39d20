//! One walk over trees of files, by several threads, with every file opened once.
//!
//! Per file: openat, fstat, whatever the visitor does, close. Each thread has a stack of directories of its own, and a table of
//! descriptors of its own: in a shared one every open and close of a file waits for those of the other threads. So nothing that is open goes
//! from one thread to another. A thread that has nothing to do is given names, of directories or of files of a large one, and
//! opens the directory they are in once more, by its path, which must still lead to the same directory, and below what was named not
//! through a link unless links are followed. Directories and files
//! with several names are remembered, other files are not. It opens regular files (and a block device that was named) and
//! never a FIFO, a socket, or a device unasked; it never enters a mount that a server or a program answers for unasked, and never
//! follows a link unasked.
//!
//! A file with several names is visited once, under the name that was met first. A directory that is met twice (named twice,
//! reached by a link, bind-mounted) is walked once.

mod named;
mod one;
mod share;

use std::ffi::CStr;
use std::fs;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use ramline_kernel::limits;
use rustix::fs::{FileType, Stat};

use crate::ground::{Closed, FileSystem, Ground};
use crate::prelude::*;
use crate::queue::Queue;
use crate::shared::owned;
use crate::{Glob, RunningCount};
use share::Share;

/// What is walked, and how.
#[derive(Debug, Clone, Default)]
pub struct WalkOptions {
    /// Names that are passed over.
    pub exclude: Vec<Glob>,
    /// Follow symbolic links. Then every file is remembered, not only those with several names.
    pub follow: bool,
    /// Stay on the file system of what was named.
    pub one_file_system: bool,
    /// Stay on the mount of what was named: file systems inside it (subvolumes) are entered, what is mounted below is not.
    pub stay_on_mount: bool,
    /// End then, with what was seen.
    pub until: Option<std::time::Instant>,
    /// Enter mounts that a server or a program answers for.
    pub remote: bool,
    /// How many threads; 0 is the number of processors, at least two, at most eight.
    pub threads: usize,
    /// Where files that were asked are counted while the walk goes on.
    pub so_far: Option<Arc<RunningCount>>,
}

/// What is done with each file.
pub trait Visit: Sync {
    /// What a thread keeps to itself; it begins with the default, and [`walk`] returns those of all threads.
    type Worker: Default + Send;

    /// A directory, or something that was named, is begun. Its parent was begun before.
    fn enter(&self, _place: &Place, _parent: Option<u32>) {}

    /// An open file.
    fn file(&self, worker: &mut Self::Worker, found: &FoundFile<'_>);

    /// A file that cannot be opened, the failure was told already; or that was not opened, for a reason. True when it is counted here.
    fn closed(&self, _: &mut Self::Worker, _: &Place, _path: &Path, _length: u64, _why: Option<&str>) -> bool {
        false
    }

    /// It changes the page cache as it was asked to: then files are opened also where that alone may empty what is cached of them.
    fn changes_anyway(&self) -> bool {
        false
    }

    /// The thread goes elsewhere: what it counted belongs to this place. May come several times for one place.
    fn leave(&self, _worker: &mut Self::Worker, _place: &Place) {}
}

/// A directory, or a file that was named.
#[derive(Debug)]
pub struct Place {
    /// Number in the order of discovery; a parent's is smaller.
    pub index: u32,
    /// Directories between it and what was named.
    pub depth: u32,
    /// As it was named.
    pub path: PathBuf,
    // As the kernel knows it, for the mount table.
    real: PathBuf,
    key: FileKey,
    fs: Arc<FileSystem>,
}

impl Place {
    /// What is peculiar about its file system.
    #[must_use]
    pub fn peculiarity(&self) -> Option<&'static str> {
        self.fs.peculiarity()
    }
}

/// An open file that was found.
pub struct FoundFile<'a> {
    /// Where.
    pub place: &'a Place,
    /// Its name there; `None` for the place itself.
    pub name: Option<&'a CStr>,
    /// Open for reading.
    pub file: BorrowedFd<'a>,
    /// What fstat says.
    pub stat: &'a Stat,
    /// What it is on.
    pub(crate) fs: &'a FileSystem,
    /// Where it is counted once it was asked.
    pub(crate) so_far: Option<&'a RunningCount>,
}

impl FoundFile<'_> {
    /// Its length; of a block device, which fstat calls empty, its size.
    #[must_use]
    pub fn length(&self) -> u64 {
        match u64::try_from(self.stat.st_size) {
            Ok(length) if length > 0 || self.name.is_some() => length,
            _ => residency::size(&self.file).unwrap_or(0),
        }
    }

    /// Which file it is.
    #[must_use]
    pub fn key(&self) -> FileKey {
        FileKey::from(self.stat)
    }

    /// A regular file, and no block device that was named.
    #[must_use]
    pub fn is_regular(&self) -> bool {
        FileType::from_raw_mode(self.stat.st_mode) == FileType::RegularFile
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        path_of(self.place, self.name)
    }
}

fn path_of(place: &Place, name: Option<&CStr>) -> PathBuf {
    name.map_or_else(|| place.path.clone(), |name| place.path.join(std::ffi::OsStr::from_bytes(name.to_bytes())))
}

/// How a walk went.
#[derive(Debug, Default)]
pub struct Walked {
    /// What was passed over, and why.
    pub skipped: Vec<Remark>,
    /// Directories that were read.
    pub directories: u64,
    /// What failed.
    pub failed: u64,
    /// Of it, for want of permission.
    pub denied: u64,
    /// What was gone before it could be opened.
    pub vanished: u64,
    /// Everything that was named was walked to its end.
    pub complete: bool,
}

/// An open directory; of the thread that opened it alone.
struct Open {
    fd: OwnedFd,
    place: Arc<Place>,
}

struct Walk<'a, V: Visit> {
    context: Context<'a>,
    options: &'a WalkOptions,
    visit: &'a V,
    ground: Ground,
    queue: Queue<Share>,
    next: AtomicU32,
    directories: Mutex<HashSet<FileKey>>,
    // Files with several names, or all when links are followed.
    linked: Mutex<HashSet<FileKey>>,
    // Files that were named: nobody else counts them.
    named: HashSet<FileKey>,
    skipped: Remarks,
    counts: Mutex<Walked>,
    // Of threads that have ended.
    workers: Mutex<Vec<V::Worker>>,
    // A signal came, or the time was up.
    cut: AtomicBool,
}

/// How many threads a walk uses.
#[must_use]
pub fn threads(options: &WalkOptions) -> usize {
    if options.threads > 0 {
        return options.threads;
    }
    limits::threads_within(std::thread::available_parallelism().map_or(2, usize::from).clamp(2, 8))
}

/// How a walk went, and what each thread kept to itself.
type WalkedBy<V> = (Walked, Vec<<V as Visit>::Worker>);

/// Walks everything that was named. Ends early when a signal came, if those are caught.
pub fn walk<V: Visit>(context: Context<'_>, names: &[PathBuf], options: &WalkOptions, visit: &V) -> WalkedBy<V> {
    // A deep tree keeps one directory open on each level, a thread.
    Limited::OpenFiles.raise();
    let threads = threads(options);
    let mut walk = Walk::new(context, options, visit, threads);
    let waits = walk.begin(names);
    let walk = walk;
    std::thread::scope(|scope| {
        // Files that were named were visited by now.
        let wanted = if waits { threads } else { 0 };
        let begun = (0..wanted).filter(|_| worker::with_own_descriptors(scope, "walk", || walk.work())).count();
        if begun < wanted {
            // Without any of them this one does it.
            walk.queue.without(wanted - begun.max(1));
            if begun == 0 {
                walk.work();
            }
        }
    });
    let (complete, skipped) = (!walk.cut.load(Ordering::Relaxed), walk.skipped.take());
    (Walked { complete, skipped, ..owned(walk.counts) }, owned(walk.workers))
}

impl<'a, V: Visit> Walk<'a, V> {
    fn new(context: Context<'a>, options: &'a WalkOptions, visit: &'a V, threads: usize) -> Walk<'a, V> {
        Walk {
            context,
            options,
            visit,
            ground: Ground::new(context.root),
            queue: Queue::new(Vec::new(), threads),
            next: AtomicU32::new(0),
            directories: Mutex::default(),
            linked: Mutex::default(),
            named: HashSet::new(),
            skipped: Remarks::default(),
            counts: Mutex::default(),
            workers: Mutex::default(),
            cut: AtomicBool::new(false),
        }
    }

    fn is_cut(&self) -> bool {
        let cut = signals::interrupted() || self.options.until.is_some_and(|until| std::time::Instant::now() >= until);
        if cut {
            self.cut.store(true, Ordering::Relaxed);
        }
        cut
    }

    fn place(&self, depth: u32, path: PathBuf, real: PathBuf, stat: &Stat, fs: Arc<FileSystem>) -> Place {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        Place { index, depth, path, real, key: FileKey::from(stat), fs }
    }

    fn failed(&self, tried: &str, path: &Path, error: impl Into<std::io::Error>) {
        self.tell(&KernelError::io(tried, path, error.into()));
    }

    fn tell(&self, error: &KernelError) {
        let mut counts = lock(&self.counts);
        counts.failed += 1;
        counts.denied += u64::from(error.is_denied());
        drop(counts);
        (self.context.tell)(error);
    }

    /// True the first time a directory is met.
    fn is_new(&self, stat: &Stat, path: &Path) -> bool {
        let new = lock(&self.directories).insert(FileKey::from(stat));
        if !new {
            let text = "directories met a second time (named twice, mounted twice, or reached by a link): counted once";
            self.skipped.add(text, 1, Some(path));
        }
        new
    }

    /// Below what was named: may this directory be entered? Decided by the mount table, before it is touched.
    fn may_enter(&self, real: &Path, path: &Path) -> bool {
        if self.options.stay_on_mount && self.ground.is_mount(real) {
            return false;
        }
        match self.ground.closed(real) {
            Some((Closed::MayHang, kind)) if !self.options.remote => {
                let text = format!("{kind}: a server or a program answers for it and may never do so (try: --remote)");
                self.skipped.add(&text, 1, Some(path));
                false
            }
            Some((Closed::NoFiles, kind)) => {
                self.skipped.add(&format!("{kind}: holds no files of a disk"), 1, Some(path));
                false
            }
            _ => true,
        }
    }

    fn is_excluded(&self, place: &Place, name: &CStr) -> bool {
        let bytes = name.to_bytes();
        self.options.exclude.iter().any(|glob| {
            if glob.wants_path() {
                glob.is_match(path_of(place, Some(name)).as_os_str().as_bytes())
            } else {
                glob.is_match(bytes)
            }
        })
    }

    /// Where links are followed a path says little; the mount table knows real ones.
    fn real(&self, parent: &Place, path: &Path, name: &CStr) -> PathBuf {
        if self.options.follow
            && let Ok(real) = fs::canonicalize(path)
        {
            return real;
        }
        parent.real.join(std::ffi::OsStr::from_bytes(name.to_bytes()))
    }
}

impl AsFd for Open {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

#[cfg(test)]
mod tests;
