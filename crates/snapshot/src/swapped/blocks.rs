//! zram's `block_state`: a line for each slot in use, with the time of its last access and flags.
//!
//! Documentation/admin-guide/blockdev/zram.rst: index, seconds after boot, and one letter a flag: s same-filled, w written back, h huge
//! (incompressible), i idle, r recompressed, n further algorithms did not help. Later kernels may add letters; unknown ones are passed over.

use crate::prelude::*;

/// Upper ends of the classes of age, in seconds; the last class is what is older.
pub const AGES: [u64; 5] = [60, 600, 3600, 6 * 3600, 24 * 3600];

/// Slots by what the device says of them. Gauges, in pages.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct BlockState {
    /// Slots with contents.
    pub slots: Pages,
    /// Pages of one repeated word: no memory.
    pub same: Pages,
    /// On the backing device: no memory.
    pub written_back: Pages,
    /// Incompressible and in RAM: a whole page each.
    pub huge: Pages,
    /// Marked idle and not touched since.
    pub idle: Pages,
    /// By time since the last access: up to 1 minute, 10 minutes, 1 hour, 6 hours, 1 day, longer; all 0 where the device keeps no time.
    pub ages: [u64; 6],
}

/// What one line says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Slot {
    /// Place on the device.
    pub index: u64,
    /// Same-filled.
    pub same: bool,
    /// Written back.
    pub written_back: bool,
    /// Incompressible.
    pub huge: bool,
    /// Idle.
    pub idle: bool,
    /// Time of the last access, seconds after boot; `None` where it is 0: not kept.
    pub accessed_s: Option<u64>,
}

/// Parses one line; `None` for one of another form.
#[must_use]
pub fn block_state_line(line: &[u8]) -> Option<Slot> {
    let mut words = line.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    let number = |word: &[u8]| std::str::from_utf8(word).ok()?.parse::<u64>().ok();
    let index = number(words.next()?)?;
    let time = words.next()?;
    let seconds = number(time.split(|byte| *byte == b'.').next()?)?;
    let flags = words.next()?;
    let has = |flag: u8| flags.contains(&flag);
    Some(Slot {
        index,
        same: has(b's'),
        written_back: has(b'w'),
        huge: has(b'h'),
        idle: has(b'i'),
        accessed_s: Some(seconds).filter(|seconds| *seconds > 0),
    })
}

impl BlockState {
    /// One slot more; `now_s` is the time after boot.
    pub fn add(&mut self, slot: &Slot, now_s: u64) {
        let one = |of: &mut Pages, is: bool| of.0 += u64::from(is);
        one(&mut self.slots, true);
        one(&mut self.same, slot.same);
        one(&mut self.written_back, slot.written_back);
        one(&mut self.huge, slot.huge && !slot.written_back);
        one(&mut self.idle, slot.idle);
        if let Some(at) = slot.accessed_s {
            let age = now_s.saturating_sub(at);
            let class = AGES.iter().position(|end| age < *end).unwrap_or(AGES.len());
            if let Some(count) = self.ages.get_mut(class) {
                *count += 1;
            }
        }
    }

    /// In RAM, compressed: neither same-filled, written back nor incompressible.
    #[must_use]
    pub const fn compressed(&self) -> Pages {
        Pages(self.slots.0.saturating_sub(self.same.0).saturating_sub(self.written_back.0).saturating_sub(self.huge.0))
    }

    /// The time of the last access is kept.
    #[must_use]
    pub fn has_ages(&self) -> bool {
        self.ages.iter().any(|count| *count > 0)
    }

    /// Not touched for at least an hour.
    #[must_use]
    pub fn cold(&self) -> Pages {
        Pages(self.ages.iter().skip(3).sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_a_place_a_time_and_flags_of_any_kernel() {
        let slot = block_state_line(b"         300    75.033841 .wh...").unwrap();
        assert_eq!((slot.index, slot.written_back, slot.huge, slot.same, slot.idle), (300, true, true, false, false));
        assert_eq!(slot.accessed_s, Some(75));
        let older = block_state_line(b"301 0.000000 s..i").unwrap();
        assert_eq!((older.same, older.idle, older.accessed_s), (true, true, None));
        assert_eq!(block_state_line(b"301 x s..i"), None);
        assert_eq!(block_state_line(b""), None);
    }

    #[test]
    fn slots_are_counted_by_flag_and_by_age() {
        let mut state = BlockState::default();
        for (flags, at) in [("......", 9_990), ("..h...", 6_000), (".wh...", 100), ("s..i..", 9_000)] {
            state.add(&block_state_line(format!("1 {at}.5 {flags}").as_bytes()).unwrap(), 10_000);
        }
        assert_eq!((state.slots, state.huge, state.written_back, state.same), (Pages(4), Pages(1), Pages(1), Pages(1)));
        assert_eq!((state.compressed(), state.idle), (Pages(1), Pages(1)));
        assert_eq!((state.ages, state.cold()), ([1, 0, 1, 2, 0, 0], Pages(2)));
    }
}
