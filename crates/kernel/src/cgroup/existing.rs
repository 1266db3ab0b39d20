//! A group that is not ours and is in use: its limit lowered for a while, never in a way that kills, and put back.
//!
//! Version 1: the kernel refuses a limit that it cannot reclaim down to (EBUSY), and while it is in force killing is switched off
//! (memory.oom_control), so that a task that needs more waits until the limit is raised. Version 2: memory.high, which slows and
//! reclaims and never kills; memory.max is only raised. What it is not: for groups of ours, which are [`super::Group`].

use ramline_snapshot::cgroup::Version;
use serde::{Deserialize, Serialize};

use super::hierarchy::Hierarchy;
use super::oom::OomNotices;
use super::path::{PREFIX, groups_in};
use super::stat::{self, GroupStat};
use super::v1;
use crate::error::Cause;
use crate::prelude::*;
use crate::write::{is_knob, read_knob};

const LIMIT: &str = "memory.limit_in_bytes";
const MEMSW: &str = "memory.memsw.limit_in_bytes";
const OOM: &str = "memory.oom_control";
const HIGH: &str = "memory.high";
const MAX: &str = "memory.max";
const RECLAIM: &str = "memory.reclaim";
/// A limit is lowered by this part of the usage at a time, and reclaim is given so long for a part in which it finds nothing.
const PART: u64 = 16;
const PATIENCE: Duration = Duration::from_secs(2);
/// Version 2 keeps a group near memory.high, not below it: by what each processor may charge ahead.
const NEAR: Bytes = Bytes::from_mib(1);

/// One file of the group and what was in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Setting {
    /// Its name.
    pub file: String,
    /// Its value.
    pub value: String,
}

/// How lowering ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lowered {
    /// The limit is in force.
    Done,
    /// Reclaim found nothing more at this usage; the limit is not below it.
    Stuck(Bytes),
}

/// Such a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Existing {
    version: Version,
    dir: PathBuf,
}

impl Existing {
    /// By its directory.
    ///
    /// # Errors
    /// `Absent` when it is gone or has no memory controller.
    pub fn open(dir: &Path) -> Result<Existing> {
        let has = |file: &str| dir.join(file).exists();
        let version = match (has(LIMIT), has(HIGH) && has(MAX)) {
            (true, _) => Version::V1,
            (false, true) => Version::V2,
            _ => return Err(KernelError::new("find a memory limit in", dir, Cause::Absent)),
        };
        Ok(Existing { version, dir: dir.to_owned() })
    }

    /// Its directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Its counters.
    ///
    /// # Errors
    /// When it is gone.
    pub fn stat(&self) -> Result<GroupStat> {
        stat::read(&self.dir, self.version)
    }

    /// What must be put back.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub fn settings(&self) -> Result<Vec<Setting>> {
        let files: &[&str] = if self.version == Version::V1 { &[LIMIT, MEMSW, OOM] } else { &[HIGH, MAX] };
        let read = |file: &&str| Some(Setting { file: (*file).to_owned(), value: self.value(file)? });
        let found: Vec<Setting> = files.iter().filter_map(read).collect();
        let known = found.iter().any(|setting| setting.file == LIMIT || setting.file == HIGH);
        known.then_some(found).ok_or_else(|| KernelError::new("read the limit of", &self.dir, Cause::Absent))
    }

    fn value(&self, file: &str) -> Option<String> {
        let text = read_knob(&self.dir.join(file))?;
        if file != OOM {
            return Some(text);
        }
        let switch = text.lines().find_map(|line| line.strip_prefix("oom_kill_disable "))?;
        Some(switch.trim().to_owned())
    }

    fn write(&self, file: &str, value: &str) -> Result<()> {
        write_knob(&self.dir.join(file), value).map(drop)
    }

    /// The limit that lowering changes, as it is now.
    #[must_use]
    pub fn limit(&self) -> Limit {
        let file = if self.version == Version::V1 { LIMIT } else { HIGH };
        let value = self.value(file).and_then(|text| text.parse::<u64>().ok());
        value.filter(|bytes| *bytes < v1::UNLIMITED_FROM).map_or(Limit::Max, |bytes| Limit::At(Bytes(bytes)))
    }

    /// From here on nothing in it is killed for want of memory because of a limit of ours.
    ///
    /// # Errors
    /// The kernel has no way to.
    pub fn spare(&self) -> Result<()> {
        // Version 2 has memory.high for that.
        if self.version == Version::V1 { self.write(OOM, "1") } else { Ok(()) }
    }

    /// Killing is as it was before [`Existing::spare`].
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn unspare(&self, before: &[Setting]) -> Result<()> {
        let own = before.iter().find(|setting| setting.file == OOM);
        own.map_or(Ok(()), |setting| self.write(OOM, &setting.value))
    }

    /// A task waits because the limit is reached and nothing can be reclaimed.
    #[must_use]
    pub fn is_stuck(&self) -> bool {
        let text = read_knob(&self.dir.join(OOM)).unwrap_or_default();
        text.lines().any(|line| line.trim() == "under_oom 1")
    }

    /// Notices of it running out of memory, also for a moment; version 1 only.
    #[must_use]
    pub fn oom_notices(&self) -> Option<OomNotices> {
        if self.version == Version::V1 { OomNotices::start(&self.dir) } else { None }
    }

    /// Takes the limit away; where the group has one of its own (`before`), that becomes `most`, if it is less.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn lift(&self, before: &[Setting], most: Bytes) -> Result<()> {
        let own = |file: &str| {
            let value = before.iter().find(|setting| setting.file == file)?.value.parse::<u64>().ok()?;
            Some(value).filter(|bytes| *bytes < v1::UNLIMITED_FROM)
        };
        let lifted = |bytes: u64| Limit::At(Bytes(bytes.max(most.0)));
        match self.version {
            Version::V1 => v1::set_memory_limit(&self.dir, own(LIMIT).map_or(Limit::Max, lifted)).map(drop),
            Version::V2 => {
                self.write(HIGH, "max")?;
                own(MAX).filter(|max| *max < most.0).map_or(Ok(()), |_| self.write(MAX, &most.0.to_string()))
            }
        }
    }

    /// Brings it below a limit in small steps, each only as far as reclaim comes. `go_on` is asked between them.
    ///
    /// # Errors
    /// The group is gone, or the kernel refuses for another reason than that nothing can be reclaimed.
    pub fn lower(&self, limit: Bytes, mut go_on: impl FnMut() -> bool) -> Result<Lowered> {
        let page = process::page_size();
        let mut since = (self.usage()?, Instant::now());
        while go_on() {
            let usage = self.usage()?;
            if usage < since.0 {
                since = (usage, Instant::now());
            }
            let part = Bytes((usage.0 / PART).max(page) / page * page);
            let next = limit.max(usage.saturating_sub(part));
            let taken = self.set(next)?;
            if taken && next == limit && self.usage()? <= limit + self.slack() {
                return Ok(Lowered::Done);
            }
            if since.1.elapsed() > PATIENCE {
                return Ok(Lowered::Stuck(self.usage()?));
            }
            if !taken || usage <= next {
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        Ok(Lowered::Stuck(self.usage()?))
    }

    /// So much above the limit it may be.
    #[must_use]
    pub fn slack(&self) -> Bytes {
        if self.version == Version::V1 { Bytes::ZERO } else { NEAR }
    }

    /// What is charged to it.
    ///
    /// # Errors
    /// When it is gone.
    pub fn usage(&self) -> Result<Bytes> {
        let file = if self.version == Version::V1 { "memory.usage_in_bytes" } else { "memory.current" };
        read_u64(&self.dir.join(file)).map(Bytes)
    }

    /// One write of the limit, which reclaims what is above it. False where the kernel cannot reclaim so far, or keeps another value: then
    /// it is as it was.
    ///
    /// # Errors
    /// The group is gone, or the kernel refuses for another reason.
    pub fn set(&self, limit: Bytes) -> Result<bool> {
        let done = match self.version {
            Version::V1 => v1::set_memory_limit(&self.dir, Limit::At(limit)).map(drop),
            Version::V2 => self.write(HIGH, &limit.0.to_string()),
        };
        match done {
            Err(error) if error.is_busy() => Ok(false),
            // The kernel rounds down to pages.
            other => other.map(|()| matches!(self.limit(), Limit::At(now) if now <= limit)),
        }
    }

    /// It can be reclaimed from without a limit: version 2, from Linux 5.19.
    #[must_use]
    pub fn can_reclaim(&self) -> bool {
        self.version == Version::V2 && self.dir.join(RECLAIM).exists()
    }

    /// Has so much reclaimed; no limit is changed. False where the kernel found less.
    ///
    /// # Errors
    /// The group is gone, or the kernel has no such file.
    pub fn reclaim(&self, amount: Bytes) -> Result<bool> {
        match self.write(RECLAIM, &amount.0.to_string()) {
            Err(error) if error.is_again() => Ok(false),
            other => other.map(|()| true),
        }
    }

    /// Version 2: below the limit that is put back before it is, by reclaim. At a lower memory.max the kernel kills what it cannot reclaim.
    fn approach(&self, before: &[Setting], begun: Instant) {
        let max = before.iter().find(|setting| setting.file == MAX).and_then(|setting| setting.value.parse().ok());
        let Some(max) = max.filter(|_| self.version == Version::V2).map(Bytes) else { return };
        while self.usage().is_ok_and(|usage| usage > max) && begun.elapsed() < PATIENCE / 2 {
            self.write(HIGH, &max.0.to_string()).ok();
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Puts back what was there; true where anything was not. Idempotent, and safe beside another that does the same.
    ///
    /// # Errors
    /// When a value is not what it was afterwards.
    pub fn restore(&self, root: &Root, before: &[Setting]) -> Result<bool> {
        let differs = || before.iter().find(|setting| self.value(&setting.file).as_ref() != Some(&setting.value));
        let changed = differs().is_some();
        let begun = Instant::now();
        if changed {
            self.approach(before, begun);
        }
        while let Some(wrong) = differs() {
            // Limit and limit with swap go up in one order and down in the other; a limit that goes down waits for reclaim.
            for setting in before.iter().chain(before.iter().rev()) {
                let path = self.dir.join(&setting.file);
                if self.value(&setting.file).as_ref() != Some(&setting.value) && is_knob(root, &path) {
                    write_knob(&path, &setting.value).ok();
                }
            }
            if begun.elapsed() > PATIENCE {
                let path = self.dir.join(&wrong.file);
                let numbers = format!("it was {}", wrong.value);
                return Err(KernelError::refused("put back", &path, "the kernel must take its old value", numbers)
                    .hint(format!("echo {} > {}", wrong.value, ramline_units::quoted_path(&path))));
            }
        }
        Ok(changed)
    }
}

impl Hierarchy {
    /// The groups that have this name: with its path, its directory, or its last part, where the kind of a unit may be left out
    /// (`postgresql` for `postgresql.service`). The others are those whose names contain it.
    #[must_use]
    pub fn groups_named(&self, name: &str) -> (Vec<PathBuf>, Vec<PathBuf>) {
        let dir = Path::new(name);
        let inside = self.mount.join(name.trim_start_matches('/'));
        if dir.is_absolute() {
            let found = if dir.starts_with(&self.mount) { dir.to_owned() } else { inside };
            return (Some(found).filter(|found| found.is_dir()).into_iter().collect(), Vec::new());
        }
        let (mut exact, mut near, mut left) = (Vec::new(), Vec::new(), vec![self.mount.clone()]);
        while let Some(dir) = left.pop() {
            for group in groups_in(&dir) {
                let last = group.file_name().and_then(OsStr::to_str).unwrap_or_default();
                let kinds = [".service", ".scope", ".slice"];
                if last == name || kinds.iter().any(|kind| last.strip_suffix(kind) == Some(name)) {
                    exact.push(group.clone());
                } else if last.contains(name) && !last.starts_with(PREFIX) {
                    near.push(group.clone());
                }
                left.push(group);
            }
        }
        (exact, near)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(dir: &Path, files: &[(&str, &str)]) -> Existing {
        std::fs::create_dir_all(dir).unwrap();
        for (name, text) in files {
            std::fs::write(dir.join(name), text).unwrap();
        }
        Existing::open(dir).unwrap()
    }

    #[test]
    fn what_must_be_put_back_is_the_limit_and_the_switch_and_not_the_state() {
        let tree = tempfile::tempdir().unwrap();
        let oom = "oom_kill_disable 0\nunder_oom 1\noom_kill 3\n";
        let group = put(tree.path(), &[(LIMIT, "9223372036854771712\n"), (OOM, oom)]);
        let named = |file: &str, value: &str| Setting { file: file.to_owned(), value: value.to_owned() };
        assert_eq!(group.settings().unwrap(), [named(LIMIT, "9223372036854771712"), named(OOM, "0")]);
        assert_eq!((group.limit(), group.is_stuck()), (Limit::Max, true));
    }

    #[test]
    fn a_group_of_version_two_is_limited_by_what_slows_it_and_its_own_limit_is_only_raised() {
        let tree = tempfile::tempdir().unwrap();
        let group = put(tree.path(), &[(HIGH, "max\n"), (MAX, "104857600\n"), ("memory.current", "52428800\n")]);
        let before = group.settings().unwrap();
        group.spare().unwrap();
        assert_eq!(group.lower(Bytes::from_mib(60), || true).unwrap(), Lowered::Done);
        let read = |file: &str| read_knob(&tree.path().join(file)).unwrap();
        assert_eq!((read(HIGH).as_str(), read(MAX).as_str()), ("62914560", "104857600"));
        group.lift(&before, Bytes::from_mib(200)).unwrap();
        assert_eq!((read(HIGH).as_str(), read(MAX).as_str()), ("max", "209715200"));
        group.lift(&before, Bytes::from_mib(50)).unwrap();
        assert_eq!(read(MAX), "209715200", "never lowered");
    }

    #[test]
    fn version_two_is_reclaimed_from_without_a_limit_where_the_kernel_can() {
        let tree = tempfile::tempdir().unwrap();
        let group = put(tree.path(), &[(HIGH, "max\n"), (MAX, "max\n")]);
        assert!(!group.can_reclaim() && group.reclaim(Bytes(4096)).is_err(), "before Linux 5.19");
        let group = put(tree.path(), &[(HIGH, "max\n"), (MAX, "max\n"), (RECLAIM, "")]);
        assert!(group.can_reclaim() && group.reclaim(Bytes(8192)).unwrap());
        assert_eq!(read_knob(&tree.path().join(RECLAIM)).unwrap(), "8192");
        assert_eq!(group.limit(), Limit::Max, "no limit is changed");
    }

    #[test]
    fn where_reclaim_finds_nothing_it_stops_and_does_not_press_on() {
        let tree = tempfile::tempdir().unwrap();
        let group = put(tree.path(), &[(HIGH, "max\n"), (MAX, "max\n"), ("memory.current", "104857600\n")]);
        let least = Bytes::from_mib(100 - 100 / PART - 1);
        assert_eq!(group.lower(Bytes::from_mib(20), || true).unwrap(), Lowered::Stuck(Bytes::from_mib(100)));
        assert!(
            matches!(group.limit(), Limit::At(limit) if limit >= least),
            "one step below what is in use, and no further"
        );
    }

    #[test]
    fn a_group_is_found_by_its_path_its_directory_and_the_name_of_its_unit() {
        let tree = tempfile::tempdir().unwrap();
        let unit = tree.path().join("system.slice/postgresql.service");
        let instance = tree.path().join("system.slice/postgresql@15-main.service");
        std::fs::create_dir_all(&unit).unwrap();
        std::fs::create_dir_all(&instance).unwrap();
        let hierarchy = Hierarchy::at(Version::V1, tree.path());
        for name in ["postgresql", "postgresql.service", "/system.slice/postgresql.service", unit.to_str().unwrap()] {
            assert_eq!(hierarchy.groups_named(name).0, std::slice::from_ref(&unit), "{name}");
        }
        assert_eq!(hierarchy.groups_named("postgresql").1, [instance]);
        assert_eq!(hierarchy.groups_named("nginx"), (vec![], vec![]));
    }
}
