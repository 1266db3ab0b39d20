//! How much may be read in before something that is in use would have to go.
//!
//! Headroom is what is free or on the inactive list of files, of the machine and of every memory control group above us, where page
//! cache is charged to whoever reads it in. What we read lands on that inactive list, so room stays level while we go on, and
//! falls when others take memory: it is read again every [`STEP`]. In a group the list is counted with a delay of about two
//! seconds; so nothing is given up before that has passed. Nothing is reserved.

use std::sync::atomic::{AtomicU64, Ordering};

use ramline_gather::headroom::{Headroom, cache_headroom};
use ramline_snapshot::cache::Stop;

use crate::prelude::*;

/// Headroom is read again after so many bytes.
const STEP: u64 = 64 << 20;
/// Statistics of a control group are brought up to date every two seconds (kernel: FLUSH_TIME).
const STALE: Duration = Duration::from_millis(2200);

pub struct Guard<'a> {
    root: &'a Root,
    margin: u64,
    asked: AtomicU64,
    granted: AtomicU64,
    /// The first refusal, which is the answer for everyone; one reader at a time may look for room.
    refused: Mutex<Option<Stop>>,
}

impl<'a> Guard<'a> {
    /// For so much to be read; what is certainly there is granted at once.
    pub fn new(root: &'a Root, room: &Headroom, missing: Bytes) -> Guard<'a> {
        let margin = margin(room.bytes.0);
        let granted = if missing.0 < STEP { missing.0 } else { STEP }.min(room.bytes.0.saturating_sub(margin));
        Guard { root, margin, asked: AtomicU64::new(0), granted: AtomicU64::new(granted), refused: Mutex::default() }
    }

    /// What is kept free, in bytes.
    pub const fn margin(&self) -> u64 {
        self.margin
    }

    /// May so many bytes more be read? The answer is final.
    pub fn allow(&self, bytes: u64) -> Result<(), Stop> {
        let sum = self.asked.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        if sum <= self.granted.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut refused = lock(&self.refused);
        if let Some(stop) = &*refused {
            return Err(stop.clone());
        }
        if sum <= self.granted.load(Ordering::Relaxed) {
            return Ok(());
        }
        let mut room = self.room();
        if !self.grant(sum, &room) {
            std::thread::sleep(STALE);
            room = self.room();
            if !self.grant(sum, &room) {
                let stop = Stop::Room { bound: room.bound, room: room.bytes, margin: Bytes(self.margin) };
                return Err(refused.insert(stop).clone());
            }
        }
        Ok(())
    }

    fn room(&self) -> Headroom {
        cache_headroom(self.root)
            .unwrap_or(Headroom { bytes: Bytes::ZERO, bound: "the machine (it cannot be read)".to_owned() })
    }

    fn grant(&self, sum: u64, room: &Headroom) -> bool {
        let most = room.bytes.0.saturating_sub(self.margin);
        self.granted.store(sum.saturating_add(STEP).min(most), Ordering::Relaxed);
        sum <= most
    }
}

/// An eighth of a small room, 256 MiB of a large one: for what others take in the meantime, and for what is read ahead.
fn margin(room: u64) -> u64 {
    (room / 8).min(256 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(free_kib: u64) -> (tempfile::TempDir, Root) {
        let tree = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(tree.path().join("proc")).unwrap();
        let root = Root::new(tree.path());
        set(&tree, free_kib);
        (tree, root)
    }

    fn set(tree: &tempfile::TempDir, free_kib: u64) {
        let text = format!("MemFree: {free_kib} kB\nMemAvailable: {free_kib} kB\nInactive(file): 0 kB\n");
        std::fs::write(tree.path().join("proc/meminfo"), text).unwrap();
    }

    #[test]
    fn no_more_is_allowed_than_there_is_room_less_the_margin() {
        let (_tree, root) = machine(256 << 10);
        let room = cache_headroom(&root).unwrap();
        let guard = Guard::new(&root, &room, Bytes::from_gib(1));
        assert!((0..224).all(|_| guard.allow(1 << 20).is_ok()), "256 MiB less an eighth");
        let Err(Stop::Room { bound, room, margin }) = guard.allow(1 << 20) else { panic!("it must stop") };
        assert_eq!((bound.as_str(), room, margin), ("the machine", Bytes::from_mib(256), Bytes::from_mib(32)));
    }

    #[test]
    fn who_waits_behind_one_that_is_refused_is_refused_as_well() {
        let (tree, root) = machine(64 << 10);
        let guard = Guard::new(&root, &cache_headroom(&root).unwrap(), Bytes::from_gib(1));
        assert!(guard.allow(60 << 20).is_err());
        // There is room by now, but the answer was final.
        set(&tree, 8 << 20);
        assert!(guard.allow(1 << 20).is_err());
    }

    #[test]
    fn when_others_take_memory_it_stops_earlier() {
        let (tree, root) = machine(1 << 20);
        let guard = Guard::new(&root, &cache_headroom(&root).unwrap(), Bytes::from_gib(1));
        assert!(guard.allow(60 << 20).is_ok());
        set(&tree, 100 << 10);
        assert!(guard.allow(60 << 20).is_err());
    }
}
