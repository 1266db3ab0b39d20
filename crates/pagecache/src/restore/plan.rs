//! What of a hot set is as it was, and what of that is missing. The order of the hot set stays.
//!
//! Several files are looked at at a time: after a boot their inodes must be read from the disk too.

use std::ffi::CString;
use std::fs::File;
use std::os::unix::ffi::OsStrExt;

use ramline_kernel::opened::FileKey;
use ramline_kernel::{KernelError, process, residency};
use ramline_snapshot::cache::WarmedFile;
use ramline_units::Bytes;
use rustix::fs::{CWD, FileType, Mode, OFlags, fstat, openat};
use rustix::io::Errno;

use crate::Context;
use crate::hotset::{self, Entry};
use crate::remarks::name;
use crate::warm::plan::Planned;

/// So many are looked at at a time.
const AT_ONCE: usize = 8;

/// A number of files, the first few of them by name.
#[derive(Debug, Default)]
pub struct Named {
    pub count: u64,
    pub named: Vec<WarmedFile>,
}

impl Named {
    fn add(&mut self, entry: &Entry, text: &str) {
        self.count += 1;
        if self.named.len() < super::NAMED {
            self.named.push(WarmedFile { name: name(&entry.path), text: text.to_owned(), ..WarmedFile::default() });
        }
    }

    fn join(&mut self, other: Named) {
        self.count += other.count;
        let room = super::NAMED.saturating_sub(self.named.len());
        self.named.extend(other.named.into_iter().take(room));
    }
}

#[derive(Debug, Default)]
pub struct Plan {
    /// Of which something is missing, in the order of the hot set.
    pub files: Vec<Planned>,
    pub changed: Named,
    pub gone: Named,
    /// Bytes of files that are as they were, in whole pages; and of them in the page cache already.
    pub wanted: u64,
    pub before: u64,
    pub failed: u64,
}

/// Looks at all files.
pub fn plan(context: Context<'_>, entries: &[Entry], page: u64, inodes: bool) -> Plan {
    let mut all = Plan::default();
    let piece = entries.len().div_ceil(AT_ONCE).max(1);
    let plans: Vec<Plan> = std::thread::scope(|scope| {
        let look = |piece| scope.spawn(move || Looking { context, page, inodes, plan: Plan::default() }.all(piece));
        let threads: Vec<_> = entries.chunks(piece).map(look).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    });
    for plan in plans {
        all.files.extend(plan.files);
        all.changed.join(plan.changed);
        all.gone.join(plan.gone);
        all.wanted += plan.wanted;
        all.before += plan.before;
        all.failed += plan.failed;
    }
    all
}

struct Looking<'a> {
    context: Context<'a>,
    page: u64,
    inodes: bool,
    plan: Plan,
}

impl Looking<'_> {
    fn all(mut self, entries: &[Entry]) -> Plan {
        for entry in entries {
            if ramline_kernel::signals::interrupted() {
                break;
            }
            self.one(entry);
        }
        self.plan
    }

    fn one(&mut self, entry: &Entry) {
        let tried = "look at";
        // Never through a link, never waiting: another file may have the name by now.
        let how = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC;
        let opened = CString::new(entry.path.as_os_str().as_bytes()).map_err(|_| Errno::INVAL);
        let opened = opened.and_then(|name| openat(CWD, name.as_c_str(), how, Mode::empty()));
        let file = match opened {
            Ok(fd) => File::from(fd),
            Err(Errno::NOENT | Errno::NOTDIR) => return self.plan.gone.add(entry, "it is gone"),
            Err(Errno::LOOP | Errno::NXIO) => return self.plan.changed.add(entry, OTHER),
            Err(error) => return self.failed(&KernelError::io("open", &entry.path, error.into())),
        };
        let stat = match fstat(&file) {
            Ok(stat) => stat,
            Err(error) => return self.failed(&KernelError::io(tried, &entry.path, error.into())),
        };
        if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || (self.inodes && stat.st_ino != entry.inode)
        {
            return self.plan.changed.add(entry, OTHER);
        }
        let length = u64::try_from(stat.st_size).unwrap_or(0);
        if length != entry.length {
            let text = format!("its length is {}, it was {}", Bytes(length), Bytes(entry.length));
            return self.plan.changed.add(entry, &text);
        }
        if hotset::mtime_ns(&stat) != entry.mtime_ns {
            return self.plan.changed.add(entry, "it was written since");
        }
        let key = FileKey { device: stat.st_dev, inode: stat.st_ino };
        self.missing(entry, &file, key);
    }

    fn missing(&mut self, entry: &Entry, file: &File, key: FileKey) {
        let (own, ranges) = (process::page_size(), entry.ranges(self.page));
        let wanted: u64 = ranges.iter().map(|(at, length)| (at + length).div_ceil(own) - at / own).sum();
        let (before, untold) = match residency::of_ranges(file, &entry.path, &ranges) {
            Ok(seen) => (seen.cached.min(wanted), false),
            // Not ours: then it is not told what is missing, and all of it is read.
            Err(error) if error.is_denied() => (0, true),
            Err(error) => return self.failed(&error),
        };
        self.plan.wanted += wanted * own;
        self.plan.before += before * own;
        if before == wanted {
            return;
        }
        let missing = (wanted - before) * own;
        self.plan.files.push(Planned {
            path: entry.path.clone(),
            key,
            length: entry.length,
            before,
            missing,
            untold,
            empty: before == 0,
            sparse: false,
            parts: entry.parts.as_ref().map(|_| ranges.into_boxed_slice()),
        });
    }

    fn failed(&mut self, error: &KernelError) {
        self.plan.failed += 1;
        (self.context.tell)(error);
    }
}

const OTHER: &str = "another file has its name";
