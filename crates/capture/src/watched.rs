//! One process of a recording: what was touched of its memory since the last time, and what it has given back.

use ramline_kernel::bpf::{AddressSpace, PageTables};
use ramline_kernel::process::Followed;
use ramline_kernel::{KernelError, Root};
use ramline_trace::touches::Change;
use ramline_units::Nanos;

use crate::mappings;
use crate::regions::{Addresses, News, PAGE, Regions};
use crate::runs::RunsByRegion;

/// A process.
#[derive(Debug)]
pub struct Watched {
    handle: Followed,
    space: Option<AddressSpace>,
    addresses: Addresses,
    /// Anonymous pages it has, in memory or in swap.
    held: RunsByRegion,
    before: Before,
    cpu: Nanos,
}

/// What tells that pages were taken from a process which did not give them back.
#[derive(Debug, Default)]
struct Before {
    /// Its mappings, as a hash.
    mappings: u64,
    /// Pages of files that were present.
    files: RunsByRegion,
    /// Pages that were in swap.
    swapped: u64,
}

/// What one look at it gave.
#[derive(Debug, Default)]
pub struct Look {
    /// Pages touched.
    pub touched: RunsByRegion,
    /// Pages present.
    pub resident: u64,
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
            space: None,
            addresses: Addresses::default(),
            held: RunsByRegion::default(),
            before: Before::default(),
            cpu,
        })
    }

    /// The process.
    pub const fn handle(&self) -> &Followed {
        &self.handle
    }

    /// CPU time it has used so far.
    pub fn cpu(&self) -> Nanos {
        self.handle.cpu().unwrap_or(self.cpu)
    }

    /// Reads its page tables, then clears the accessed bits.
    ///
    /// # Errors
    /// It may not be read: not what happens when it ends.
    pub fn look(&mut self, tables: &mut PageTables, all: &mut Regions) -> Result<Look, KernelError> {
        let mut look = Look::default();
        let ended = |mut look: Look| {
            (look.ended, look.incomplete) = (true, true);
            Ok(look)
        };
        let text = match self.handle.maps() {
            Ok(text) if !text.is_empty() => text,
            Err(error) if !error.is_absent() => return Err(error),
            _ if self.handle.is_alive() => {
                // Between two programs, or a kernel thread.
                look.incomplete = true;
                return Ok(look);
            }
            _ => return ended(look),
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
            return ended(look);
        };
        if self.space.is_some_and(|before| before.id() != space.id()) {
            // Another program: what the one before had is gone.
            self.give_back_all(all);
            self.addresses = Addresses::default();
        }
        self.space = Some(space);
        let mappings = mappings::parse(&text);
        let places: Vec<_> = mappings.iter().map(|mapping| self.addresses.place(mapping, all)).collect();
        let ranges: Vec<_> = mappings.iter().map(|mapping| mapping.range.clone()).collect();
        let (mut at, mut held, mut written) = (0, RunsByRegion::default(), Vec::new());
        let addresses = &self.addresses;
        let hash = ramline_kernel::fnv1a(ramline_kernel::FNV1A, &text);
        let mut now = Before { mappings: hash, ..Before::default() };
        let walked = tables.walk(&space, &ranges, |leaf| {
            while ranges.get(at).is_some_and(|range| range.end <= leaf.address) {
                at += 1;
            }
            let (Some(range), Some(place)) = (ranges.get(at), places.get(at)) else { return };
            // A huge page may begin before its mapping and end behind it.
            let address = leaf.address.max(range.start);
            let pages = (leaf.address + leaf.pages * PAGE).min(range.end).saturating_sub(address) / PAGE;
            let (is_present, is_accessed) = (leaf.entry.is_present(), leaf.entry.is_accessed());
            look.resident += u64::from(is_present) * pages;
            now.swapped += u64::from(!is_present) * pages;
            look.huge += u64::from(is_present && leaf.pages > 1) * pages;
            match place {
                Some(place) if !(place.private && leaf.entry.is_dirty() && is_present) => {
                    let page = place.first + (address - range.start) / PAGE;
                    if is_present {
                        now.files.add(place.region, page, pages);
                    }
                    if is_accessed {
                        look.touched.add(place.region, page, pages);
                    }
                }
                // A page of a file that the process has written for itself: by its address, as all that is anonymous.
                Some(_) => written.push((address, pages, is_accessed)),
                None => {
                    if let Some((region, page)) = addresses.page(address) {
                        held.add(region, page, pages);
                        if is_accessed {
                            look.touched.add(region, page, pages);
                        }
                    }
                }
            }
        })?;
        for (address, pages, is_accessed) in written {
            self.addresses.cover(address..address + pages * PAGE, all);
            if let Some((region, page)) = self.addresses.page(address) {
                held.add(region, page, pages);
                if is_accessed {
                    look.touched.add(region, page, pages);
                }
            }
        }
        if !walked.is_sound {
            // Other memory by now, or none: nothing that was read can be believed.
            let ended = !self.handle.is_alive();
            return Ok(Look { incomplete: true, ended, ..Look::default() });
        }
        look.incomplete |= walked.missed > 0;
        match self.handle.clear_accessed() {
            Ok(()) => {}
            Err(error) if error.is_absent() => look.ended = true,
            Err(error) => return Err(error),
        }
        let held = held.ordered();
        if walked.missed == 0 {
            let freed = self.held.without(&held);
            all.news.extend(freed.into_iter().map(|(region, run)| News::Change(region, Change::Unmap(run))));
            self.held = held;
            now.files = now.files.ordered();
            let (same, before) = (self.before.mappings == now.mappings, &self.before);
            look.reclaimed = same && (now.swapped > before.swapped || !before.files.without(&now.files).is_empty());
            self.before = now;
        }
        let cpu = self.cpu();
        look.cpu = Nanos(ramline_units::growth(self.cpu.0, cpu.0).unwrap_or(0));
        self.cpu = cpu;
        Ok(look)
    }

    /// What it holds when the recording begins.
    pub fn announce(&self, all: &mut Regions) {
        all.news.extend(self.held.all().map(|(region, run)| News::Change(region, Change::Map(run))));
    }

    /// It has ended: all its anonymous pages are gone.
    pub fn give_back_all(&mut self, all: &mut Regions) {
        let held = std::mem::take(&mut self.held);
        all.news.extend(held.all().map(|(region, run)| News::Change(region, Change::Unmap(run))));
    }
}
