//! What swapped pages cost: a few of each owner's slots, read from the zram device past the page cache and compressed again.
//!
//! What it is not: swapping in. The pages stay where they are, and their contents in locked memory that is zeroed; lengths alone leave. The kernel
//! counts the reads as accesses: a page that was marked idle and is read here is idle no longer.
//!
//! Worked example: half of 1024 pages do not compress, the others take 1000 bytes each in their classes: a page of the owner takes 2548 bytes,
//! give or take 97 (two standard errors).

use ramline_evidence::pages::{Chain, Lengths};
use ramline_evidence::rng::SplitMix64;
use ramline_gather::swapped::SwappedSlots;
use ramline_kernel::arena::{self, Arena};
use ramline_kernel::direct::Direct;
use ramline_kernel::zram::Device;
use ramline_kernel::{Root, process};
use ramline_model::zsmalloc::Zsmalloc;
use ramline_snapshot::swapped::Sampled;
use ramline_snapshot::swaps::SwapArea;
use ramline_units::Bytes;

use super::choose::evenly;
use super::error::PagesError;
use super::sample::{repeated, stop_if_interrupted, wide};
use crate::codec::{Codec, named};

/// Pages read of one owner in one area: the mean within 4 % where half of them are incompressible.
pub const OF_AN_OWNER: u64 = 2048;
/// What a page that does not compress may grow to.
const GROWN: usize = 2;

/// Reads a sample of each owner's pages in zram, the largest owners first, until `over`.
///
/// # Errors
/// Interrupted; memory that may not be locked. A device that cannot be read is no error: its area says why.
pub fn sample_swapped(
    root: &Root,
    found: &mut SwappedSlots,
    over: &dyn Fn() -> bool,
    tell: &mut dyn FnMut(&str),
) -> Result<(), PagesError> {
    arena::seclude(root)?;
    // What libraries give back of pages is overwritten, also where a signal or an error ends this early.
    arena::overwrite_freed();
    let page = usize::try_from(process::page_size()).unwrap_or(4096);
    let mut reading = Reading {
        page,
        from: Arena::new(Bytes(wide(page)))?,
        to: Arena::new(Bytes(wide(GROWN * page)))?,
        zsmalloc: Zsmalloc::new(wide(page), Chain::default().pages),
        random: SplitMix64::new(256),
    };
    let SwappedSlots { seen, slots } = found;
    for area in &mut seen.areas {
        let Some(device) = area.path.as_deref().and_then(number).map(|number| Device::open(root, number)) else {
            continue;
        };
        let (mut codec, file) = match open(&device) {
            Ok(open) => open,
            Err(why) => {
                area.without_sample = Some(why);
                continue;
            }
        };
        for (owner, slots) in seen.owners.iter_mut().zip(slots.iter()) {
            for (place, slots) in owner.places.iter_mut().zip(slots).filter(|(place, _)| place.number == area.number) {
                stop_if_interrupted()?;
                if over() {
                    area.without_sample = Some("the time was over before every owner had its sample".to_owned());
                    continue;
                }
                tell(&format!("reading swapped pages of process {} from zram{}", owner.pid, device.id()));
                place.sample = Some(reading.sample(slots, &file, codec.as_mut())?);
            }
        }
    }
    Ok(())
}

fn number(path: &str) -> Option<u32> {
    let area =
        SwapArea { path: path.to_owned(), kind: String::new(), size: Bytes::ZERO, used: Bytes::ZERO, priority: 0 };
    area.zram_number()
}

/// The algorithm and the device; why not, in words.
fn open(device: &Device) -> Result<(Box<dyn Codec>, Direct), String> {
    let algorithms = device.algorithms().map_err(|error| error.to_string())?;
    let codec = named(algorithms.first().map_or("", String::as_str))?;
    let file = Direct::open(device.node()).map_err(|error| error.to_string())?;
    Ok((codec, file))
}

struct Reading {
    page: usize,
    from: Arena,
    to: Arena,
    zsmalloc: Zsmalloc,
    random: SplitMix64,
}

impl Reading {
    fn sample(&mut self, slots: &[u32], device: &Direct, codec: &mut dyn Codec) -> Result<Sampled, PagesError> {
        let mut sampled = Sampled::default();
        let (mut sum, mut squares) = (0.0, 0.0);
        for rank in evenly(wide(slots.len()), OF_AN_OWNER, &mut self.random) {
            let Some(slot) = usize::try_from(rank).ok().and_then(|rank| slots.get(rank)) else { continue };
            stop_if_interrupted()?;
            let from = self.from.bytes_mut().get_mut(..self.page).unwrap_or_default();
            if device.read_into(from, u64::from(*slot) * wide(self.page)).is_err() {
                continue;
            }
            let taken = self.one(codec, &mut sampled);
            sampled.pages += 1;
            sum += taken;
            squares += taken * taken;
        }
        let n = Bytes(sampled.pages.max(1)).as_f64();
        sampled.deviation = (squares / n - (sum / n) * (sum / n)).max(0.0).sqrt();
        Ok(sampled)
    }

    /// What the page that was read takes of the pool.
    fn one(&mut self, codec: &mut dyn Codec, sampled: &mut Sampled) -> f64 {
        let page = self.from.bytes().get(..self.page).unwrap_or_default();
        if repeated(page).is_some() {
            sampled.same += 1;
            return 0.0;
        }
        let length = codec.compress(page, self.to.bytes_mut()).map_or(wide(self.page), wide);
        let class = || {
            let mut lengths = Lengths::new(wide(self.page));
            lengths.add(length);
            self.zsmalloc.class(lengths.buckets.first()?.object)
        };
        match class().filter(|_| length < self.zsmalloc.huge_from()) {
            Some(class) => {
                let taken = Bytes(class.pages * wide(self.page)).as_f64() / Bytes(class.objects).as_f64();
                sampled.stored += Bytes(length).as_f64();
                sampled.taken += taken;
                taken
            }
            None => {
                sampled.huge += 1;
                Bytes(wide(self.page)).as_f64()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_evidence::rng::SplitMix64;
    use ramline_testkit::{able, skip_if};

    #[test]
    fn slots_that_are_read_are_told_apart_by_what_they_compress_to() {
        let dir = tempfile::tempdir_in(".").unwrap();
        let path = dir.path().join("ramline-slots");
        let mut random = SplitMix64::new(1);
        let noise: Vec<u8> = (0..4096).map(|_| random.next_u64().to_le_bytes()[0]).collect();
        let text: Vec<u8> = b"page of memory ".iter().copied().cycle().take(4096).collect();
        std::fs::write(&path, [vec![7; 4096], noise, text.clone(), text].concat()).unwrap();
        if skip_if(!able::opens_directly(&path), "reading slots", "no direct I/O on this file system") {
            return;
        }
        let page = 4096;
        let arena = |pages: usize| Arena::new(Bytes(wide(pages * page))).unwrap();
        let zsmalloc = Zsmalloc::new(4096, 8);
        let mut reading = Reading { page, from: arena(1), to: arena(2), zsmalloc, random };
        let device = Direct::open(&path).unwrap();
        let mut codec = named("lz4").unwrap();
        let seen = reading.sample(&[0, 1, 2, 3], &device, codec.as_mut()).unwrap();
        assert_eq!((seen.pages, seen.same, seen.huge), (4, 1, 1));
        assert!(seen.stored > 20.0 && seen.taken >= seen.stored && seen.taken < 512.0, "{seen:?}");
        let beyond = reading.sample(&[9], &device, codec.as_mut()).unwrap();
        assert_eq!(beyond.pages, 0, "a slot that cannot be read is left out");
    }

    #[test]
    fn only_a_zram_device_has_slots_to_read() {
        assert_eq!([number("/dev/zram12"), number("/swap/zram1"), number("/dev/sda2")], [Some(12), None, None]);
    }
}
