//! That each page is in one place, and the sums are right.

use super::{Memory, lru_gen};
use crate::folio;
use crate::page::bit;

impl Memory {
    /// Each page is in one place, and the sums are right: RAM charged, slots, lists.
    ///
    /// # Errors
    /// What is not.
    pub fn check(&self) -> Result<(), String> {
        let has = |bits: u32| self.pages.flags.iter().filter(|flags| **flags & bits == bits).count() as u64;
        let resident = has(bit::RESIDENT);
        let listed: u64 = self.lists.iter().flatten().map(|list| list.len).sum();
        let waiting = self.batches.waiting();
        if resident != listed + waiting || has(bit::LISTED) != listed {
            return Err(format!("{resident} pages are in RAM, {listed} on lists and {waiting} on their way"));
        }
        if self.charged != resident + self.setting.base + self.stock {
            return Err(format!("{} charged, {resident} in RAM, {} in stock", self.charged, self.stock));
        }
        if has(bit::MAPPED) != has(bit::MAPPED | bit::RESIDENT) {
            return Err("a page is mapped and not in RAM".to_owned());
        }
        let held = self.pages.flags.iter().filter(|flags| **flags & (bit::HELD | bit::FILE) == bit::HELD).count();
        let rotating = self.rotating.len();
        if held != rotating {
            return Err(format!("{held} pages are held, {rotating} in the batch of those that were written"));
        }
        let (to, from) = (has(bit::WRITEBACK), has(bit::LOCKED));
        if to != self.area.on_their_way() || from != self.in_flight.pages.len() as u64 || self.plug.is_open() {
            let known = self.area.on_their_way();
            return Err(format!("{to} pages are written, {known} known to the area, {from} read, in the end"));
        }
        if self.setting.kernel.mglru().is_some() {
            lru_gen::check(self)?;
        }
        folio::check(&self.pages)?;
        self.area.check(&self.pages)
    }
}
