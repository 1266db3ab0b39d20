//! zram's `block_state` in debugfs, where the kernel has it (CONFIG_ZRAM_MEMORY_TRACKING) and debugfs is mounted.

use std::io::{BufRead, BufReader, ErrorKind};

use ramline_kernel::kernel_file;
use ramline_kernel::process::boottime;
use ramline_snapshot::swapped::{BlockState, Slot, block_state_line};

use crate::prelude::*;

/// Lines between two looks at the clock.
const LINES: usize = 4096;
/// Bytes of one read: the kernel prints as many lines as fit.
const AT_ONCE: usize = 256 << 10;

/// Flags and time of every slot.
pub struct States {
    flags: Vec<u8>,
    accessed_s: Vec<u32>,
    now_s: u64,
}

const PRESENT: u8 = 1;
const SAME: u8 = 2;
const WRITTEN_BACK: u8 = 4;
const HUGE: u8 = 8;
const IDLE: u8 = 16;

/// Reads the list of a device of so many slots; why not, in words.
pub fn read(root: &Root, device: u32, slots: u64, over: &dyn Fn() -> bool) -> Result<States, String> {
    let path = root.path(format!("/sys/kernel/debug/zram/zram{device}/block_state"));
    let file = kernel_file::open(&path).map_err(|error| match error.kind() {
        ErrorKind::NotFound
            if !root.path("/sys/kernel/debug/zram").exists() && !root.path("/sys/kernel/debug/bdi").exists() =>
        {
            "debugfs is not mounted, or this kernel has none".to_owned()
        }
        ErrorKind::NotFound => "this kernel keeps no list of zram's slots (CONFIG_ZRAM_MEMORY_TRACKING)".to_owned(),
        ErrorKind::PermissionDenied => "only root may read zram's list of slots".to_owned(),
        _ => format!("zram's list of slots could not be read: {error}"),
    })?;
    // Slot 0 is the header of the area.
    let count = usize::try_from(slots.saturating_add(1)).unwrap_or(0);
    let mut states = States { flags: vec![0; count], accessed_s: vec![0; count], now_s: boottime().0 / 1_000_000_000 };
    let mut reader = BufReader::with_capacity(AT_ONCE, file);
    let mut line = Vec::new();
    for number in 0usize.. {
        if number % LINES == 0 && over() {
            return Err("zram's list of slots was not read to its end in time".to_owned());
        }
        line.clear();
        match reader.read_until(b'\n', &mut line) {
            Ok(0) => break,
            Ok(_) => states.put(block_state_line(&line)),
            Err(error) => return Err(format!("zram's list of slots could not be read: {error}")),
        }
    }
    Ok(states)
}

impl States {
    fn put(&mut self, slot: Option<Slot>) {
        let Some((slot, at)) = slot.and_then(|slot| Some((slot, usize::try_from(slot.index).ok()?))) else { return };
        let flag = |is: bool, flag: u8| if is { flag } else { 0 };
        if let (Some(flags), Some(accessed)) = (self.flags.get_mut(at), self.accessed_s.get_mut(at)) {
            *flags = PRESENT
                | flag(slot.same, SAME)
                | flag(slot.written_back, WRITTEN_BACK)
                | flag(slot.huge, HUGE)
                | flag(slot.idle, IDLE);
            *accessed = slot.accessed_s.map_or(0, |at| u32::try_from(at).unwrap_or(u32::MAX));
        }
    }

    fn slot(&self, at: usize) -> Option<Slot> {
        let flags = self.flags.get(at).copied().filter(|flags| flags & PRESENT != 0)?;
        let has = |flag: u8| flags & flag != 0;
        Some(Slot {
            index: at as u64,
            same: has(SAME),
            written_back: has(WRITTEN_BACK),
            huge: has(HUGE),
            idle: has(IDLE),
            accessed_s: self.accessed_s.get(at).copied().filter(|at| *at > 0).map(u64::from),
        })
    }

    /// The state of all slots but the header.
    pub fn all(&self) -> BlockState {
        self.sum(1..self.flags.len())
    }

    /// The state of these slots.
    pub fn for_slots(&self, slots: &[u32]) -> BlockState {
        self.sum(slots.iter().map(|slot| *slot as usize))
    }

    fn sum(&self, slots: impl Iterator<Item = usize>) -> BlockState {
        let mut state = BlockState::default();
        slots.filter_map(|at| self.slot(at)).for_each(|slot| state.add(&slot, self.now_s));
        state
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_units::Pages;

    #[test]
    fn the_list_is_read_by_slot_and_one_that_is_not_there_says_why() {
        let tree = tempfile::tempdir().unwrap();
        let root = Root::new(tree.path());
        assert!(read(&root, 3, 10, &|| false).is_err_and(|why| why.contains("debugfs is not mounted")));
        let dir = tree.path().join("sys/kernel/debug/zram/zram3");
        std::fs::create_dir_all(&dir).unwrap();
        assert!(read(&root, 3, 10, &|| false).is_err_and(|why| why.contains("CONFIG_ZRAM_MEMORY_TRACKING")));
        let text = "0 1.5 ......\n 1 1.5 ..h...\n 2 1.500000 s.....\n garbage\n 7 1.0 ...i..\n 99 1.0 ......\n";
        std::fs::write(dir.join("block_state"), text).unwrap();
        let states = read(&root, 3, 10, &|| false).unwrap();
        let all = states.all();
        assert_eq!((all.slots, all.huge, all.same, all.idle), (Pages(3), Pages(1), Pages(1), Pages(1)));
        assert_eq!(states.for_slots(&[1, 5, 7]).slots, Pages(2));
        assert!(read(&root, 3, 10, &|| true).is_err_and(|why| why.contains("in time")));
    }
}
