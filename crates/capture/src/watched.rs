//! One process of a recording: what was touched of its memory since the last time, and what it has given back.

use std::cell::Cell;
use std::ops::Range;

use ramline_kernel::bpf::{AddressSpace, PageTables, Walked};
use ramline_kernel::process::{self, Followed, KeptMemory, MemoryKeeper};
use ramline_kernel::{KernelError, Root};
use ramline_trace::touches::Change;
use ramline_units::Nanos;

use crate::mappings::{self, Mapping};
use crate::regions::{Addresses, FilePlace, News, PAGE, Regions};
use crate::runs::RunsByRegion;

/// A process.
#[derive(Debug)]
pub struct Watched {
    handle: Followed,
    /// When it began: of what it shares with another, the older one has it.
    began: u64,
    space: Option<AddressSpace>,
    /// That memory, kept beyond its end.
    kept: Option<KeptMemory>,
    /// Its mappings, when it was looked at.
    mappings: Vec<Mapping>,
    addresses: Addresses,
    /// Anonymous pages it has, in memory or in swap.
    held: RunsByRegion,
    before: Baseline,
    cpu: Nanos,
    /// The most CPU time that was seen of it.
    used: Cell<Nanos>,
}

/// Baseline that shows whether pages were taken from a process which did not free them.
#[derive(Debug, Default)]
struct Baseline {
    /// Its mappings, as a hash.
    mappings: u64,
    /// Pages of files that were present.
    files: RunsByRegion,
    /// Pages that were in swap.
    swapped: u64,
}

/// One reading of a process.
#[derive(Debug, Default)]
pub struct Reading {
    /// Pages touched.
    pub touched: RunsByRegion,
    /// Pages of memory of its own that are present.
    pub resident: u64,
    /// Pages of files and shared memory that are present: others may have them too.
    pub files: RunsByRegion,
    /// Of them, those in huge pages.
    pub huge: u64,
    /// Pages were taken from it: of a file, with the same mappings as before, or to swap.
    pub reclaimed: bool,
    /// CPU time since the look before.
    pub cpu: Nanos,
    /// Something could not be read.
    pub incomplete: bool,
    /// It has ended.
    pub ended: bool,
    /// It has ended, and what it touched last was not seen.
    pub lost: bool,
    /// What is given back at the end of the epoch, since it was touched in it.
    pub late: Vec<News>,
}

/// Addresses that are read: of a mapping, or of none that is known.
#[derive(Debug, Clone)]
enum Place {
    Memory,
    File(FilePlace),
    /// Mapped since the process was looked at the last time, and what it was can be asked no more: memory, if it was written.
    Unknown,
}

/// Result of a walk of page tables.
#[derive(Debug, Default)]
struct WalkResult {
    held: RunsByRegion,
    files: RunsByRegion,
    swapped: u64,
    walked: Walked,
}

impl Watched {
    /// Begins with a process.
    ///
    /// # Errors
    /// `Absent` when there is none.
    pub fn open(root: &Root, pid: u32, new: bool) -> Result<Watched, KernelError> {
        let handle = Followed::open(root, pid)?;
        // All that a process which began meanwhile has used is of this recording.
        let cpu = if new { Nanos(0) } else { handle.cpu().unwrap_or(Nanos(0)) };
        Ok(Watched {
            handle,
            began: process::start_time(root, pid).unwrap_or(u64::MAX),
            space: None,
            kept: None,
            mappings: Vec::new(),
            addresses: Addresses::default(),
            held: RunsByRegion::default(),
            before: Baseline::default(),
            cpu,
            used: Cell::new(cpu),
        })
    }

    /// When it began, in ticks since boot, and its number.
    pub const fn age(&self) -> (u64, u32) {
        (self.began, self.handle.pid())
    }

    /// The process.
    pub const fn handle(&self) -> &Followed {
        &self.handle
    }

    /// CPU time it has used so far.
    pub fn cpu(&self) -> Nanos {
        let seen = self.handle.cpu().unwrap_or_default().max(self.used.get());
        self.used.set(seen);
        seen
    }

    /// Reads its page tables, then clears the accessed bits. With a keeper its memory stays from here on until it was read for the last time.
    ///
    /// # Errors
    /// It may not be read: not what happens when it ends.
    pub fn look(
        &mut self,
        tables: &mut PageTables,
        all: &mut Regions,
        keeper: Option<&MemoryKeeper>,
    ) -> Result<Reading, KernelError> {
        let mut look = Reading::default();
        let text = match self.handle.maps() {
            Ok(text) if !text.is_empty() => text,
            Err(error) if !error.is_absent() => return Err(error),
            _ if !self.handle.has_ended() => {
                // Between two programs, or a kernel thread.
                look.incomplete = true;
                return Ok(look);
            }
            _ => return self.last(tables, all),
        };
        let pid = self.handle.pid();
        let known = match &self.space {
            Some(space) => tables.again(space)?,
            None => None,
        };
        let Some(space) = (match known {
            Some(space) => Some(space),
            None => tables.space(pid)?,
        }) else {
            return self.last(tables, all);
        };
        if self.space.is_some_and(|before| before.id() != space.id()) {
            // Another program: what the one before had is gone.
            let before = self.last(tables, all)?;
            look = Reading { ended: false, lost: false, incomplete: before.lost, ..before };
        }
        if self.space.is_none() {
            self.hold(tables, space, (keeper, &text))?;
        }
        self.space = Some(space);
        let mappings = mappings::parse(&text);
        let (mut at_all, resident) = (Reading::default(), look.resident);
        let found = self.walk(tables, space, &mappings, false, (&mut at_all, all))?;
        if !found.walked.is_sound {
            if self.handle.has_ended() {
                return self.last(tables, all);
            }
            // Other memory by now: nothing that was read can be believed.
            return Ok(Reading { incomplete: true, ..look });
        }
        look.touched.merge(at_all.touched);
        look.files.merge(found.files.clone());
        (look.resident, look.huge) = (resident.max(at_all.resident), at_all.huge);
        look.incomplete |= found.walked.missed > 0;
        self.mappings = mappings;
        match self.handle.clear_accessed() {
            Ok(()) => {}
            // What it has touched until now was seen, and what is left is seen at its end.
            Err(error) if error.is_absent() => {}
            Err(error) => return Err(error),
        }
        let held = found.held.ordered();
        if found.walked.missed == 0 {
            let freed = self.held.without(&held);
            all.news.extend(freed.into_iter().map(|(region, run)| News::Change(region, Change::Unmap(run))));
            self.held = held;
            let mappings = ramline_kernel::fnv1a(ramline_kernel::FNV1A, &text);
            let now = Baseline { mappings, files: found.files.ordered(), swapped: found.swapped };
            let (same, before) = (self.before.mappings == now.mappings, &self.before);
            look.reclaimed = same && (now.swapped > before.swapped || !before.files.without(&now.files).is_empty());
            self.before = now;
        }
        look.cpu = Nanos(look.cpu.0.saturating_add(self.passed().0));
        Ok(look)
    }

    /// Keeps the memory that it has now until it was looked at for the last time, where that can be.
    ///
    /// # Errors
    /// The kernel's memory cannot be read.
    pub fn keep(&mut self, tables: &mut PageTables, keeper: Option<&MemoryKeeper>) -> Result<(), KernelError> {
        // One that is another's is noticed when it is looked at.
        let text = self.handle.maps().unwrap_or_default();
        match tables.space(self.handle.pid())? {
            Some(space) if !text.is_empty() => self.hold(tables, space, (keeper, &text)),
            _ => Ok(()),
        }
    }

    fn hold(
        &mut self,
        tables: &mut PageTables,
        space: AddressSpace,
        (keeper, text): (Option<&MemoryKeeper>, &[u8]),
    ) -> Result<(), KernelError> {
        let kept = keeper.and_then(|keeper| keeper.keep(&self.handle, mappings::any_address(text)?));
        // Another program may have begun since: then it is the memory of that one.
        let is_same = tables.again(&space)?.map(|now| now.id()) == Some(space.id());
        self.kept = kept.filter(|_| is_same);
        if self.kept.is_some() {
            self.space = Some(space);
            self.mappings = mappings::parse(text);
        }
        Ok(())
    }

    /// CPU time since this was asked the last time.
    fn passed(&mut self) -> Nanos {
        let cpu = self.cpu();
        let passed = Nanos(ramline_units::growth(self.cpu.0, cpu.0).unwrap_or(0));
        self.cpu = cpu;
        passed
    }

    /// It has ended, or has begun another program: reads what it touched last, where its memory was kept, and lets go of that.
    ///
    /// # Errors
    /// The kernel's memory cannot be read.
    pub fn last(&mut self, tables: &mut PageTables, all: &mut Regions) -> Result<Reading, KernelError> {
        let mut look = Reading { ended: true, lost: true, ..Reading::default() };
        if let (Some(kept), Some(space)) = (self.kept.take(), self.space.take()) {
            let (mappings, gaps) = match kept.maps() {
                Some(text) => (mappings::parse(&text), false),
                None => (std::mem::take(&mut self.mappings), true),
            };
            let mut found = self.walk(tables, space, &mappings, gaps, (&mut look, all))?;
            drop(kept);
            look.lost = !found.walked.is_sound;
            look.incomplete = look.lost || found.walked.missed > 0;
            look.files = found.files;
            self.held.merge(std::mem::take(&mut found.held));
            self.held = std::mem::take(&mut self.held).ordered();
        }
        look.incomplete |= look.lost;
        if let Some(ns) = self.handle.cpu_at_its_end() {
            self.used.set(self.used.get().max(ns));
        }
        look.cpu = self.passed();
        look.late = self.given_back();
        all.frames.remove(self.handle.pid());
        (self.space, self.addresses, self.before) = (None, Addresses::default(), Baseline::default());
        Ok(look)
    }

    /// Reads its page tables; with `gaps` also addresses near its mappings that were none when these were read.
    fn walk(
        &mut self,
        tables: &mut PageTables,
        space: AddressSpace,
        mappings: &[Mapping],
        gaps: bool,
        (look, all): (&mut Reading, &mut Regions),
    ) -> Result<WalkResult, KernelError> {
        let known = |addresses: &mut Addresses, mapping: &Mapping, all: &mut Regions| {
            addresses.place(mapping, all).map_or(Place::Memory, Place::File)
        };
        let mut parts: Vec<(Range<u64>, Place)> = Vec::with_capacity(mappings.len());
        for mapping in mappings {
            parts.push((mapping.range.clone(), known(&mut self.addresses, mapping, all)));
        }
        if gaps {
            parts.extend(mappings::gaps(mappings).into_iter().map(|range| (range, Place::Unknown)));
            parts.sort_unstable_by_key(|(range, _)| range.start);
        }
        let ranges: Vec<_> = parts.iter().map(|(range, _)| range.clone()).collect();
        let (mut at, mut found, mut written) = (0, WalkResult::default(), Vec::new());
        let (pid, mut own) = (self.handle.pid(), Vec::new());
        let (addresses, frames) = (&self.addresses, &all.frames);
        let each = |leaf: ramline_kernel::bpf::Leaf| {
            while parts.get(at).is_some_and(|(range, _)| range.end <= leaf.address) {
                at += 1;
            }
            let Some((range, place)) = parts.get(at) else { return };
            let is_unknown = matches!(place, Place::Unknown);
            if is_unknown && !(leaf.entry.is_dirty() && leaf.entry.is_present()) {
                return;
            }
            // A huge page may begin before its mapping and end behind it.
            let address = leaf.address.max(range.start);
            let pages = (leaf.address + leaf.pages * PAGE).min(range.end).saturating_sub(address) / PAGE;
            let (is_present, is_accessed) = (leaf.entry.is_present(), leaf.entry.is_accessed());
            let is_anonymous = match place {
                Place::Memory | Place::Unknown => true,
                Place::File(place) => place.private && leaf.entry.is_dirty(),
            };
            if is_anonymous && is_present && leaf.pages == 1 {
                let frame = leaf.entry.frame();
                if let Some((region, page)) = frames.in_another_process(pid, frame, address) {
                    if is_accessed {
                        look.touched.add(region, page, 1);
                    }
                    return;
                }
                own.push((frame, address));
            }
            look.resident += u64::from(is_present && is_anonymous) * pages;
            found.swapped += u64::from(!is_present) * pages;
            look.huge += u64::from(is_present && leaf.pages > 1) * pages;
            match place {
                Place::File(place) if !(place.private && leaf.entry.is_dirty() && is_present) => {
                    let page = place.first + (address - range.start) / PAGE;
                    if is_present {
                        found.files.add(place.region, page, pages);
                    }
                    if is_accessed {
                        look.touched.add(place.region, page, pages);
                    }
                }
                // A page of a file that the process has written for itself: by its address, as all that is anonymous.
                Place::File(_) | Place::Unknown => written.push((address, pages, is_accessed)),
                Place::Memory => {
                    if let Some((region, page)) = addresses.page(address) {
                        found.held.add(region, page, pages);
                        if is_accessed {
                            look.touched.add(region, page, pages);
                        }
                    }
                }
            }
        };
        found.walked = if self.kept.is_some() || gaps || look.ended {
            tables.walk_kept(&space, &ranges, each)?
        } else {
            tables.walk(&space, &ranges, each)?
        };
        for (address, pages, is_accessed) in written {
            self.addresses.cover(address..address + pages * PAGE, all);
            if let Some((region, page)) = self.addresses.page(address) {
                found.held.add(region, page, pages);
                if is_accessed {
                    look.touched.add(region, page, pages);
                }
            }
        }
        let addresses = &self.addresses;
        let own = own.into_iter().filter_map(|(frame, address)| Some((frame, address, addresses.page(address)?)));
        all.frames.add(pid, own);
        Ok(found)
    }

    /// What it holds when the recording begins.
    pub fn announce(&self, all: &mut Regions) {
        all.news.extend(self.held.all().map(|(region, run)| News::Change(region, Change::Map(run))));
    }

    /// Whether it has ended, and what it touched last can still be read.
    pub fn is_left(&self) -> bool {
        self.kept.is_some() && self.handle.has_ended()
    }

    /// All its anonymous pages are gone.
    pub fn given_back(&mut self) -> Vec<News> {
        let held = std::mem::take(&mut self.held);
        held.all().map(|(region, run)| News::Change(region, Change::Unmap(run))).collect()
    }
}
