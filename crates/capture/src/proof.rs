//! The proof before a recording: pages of our own, of which it is known which were touched, read as those of others will be.
//!
//! Accessed bits have other users: DAMON, reclaim, another recorder. Where they take a bit before it was read, a touch is lost. So it is found out here, for the length of an epoch.

use std::time::Duration;

use ramline_kernel::bpf::PageTables;
use ramline_kernel::map::{Advice, Map, Sharing};
use ramline_kernel::process::{self, Followed};
use ramline_kernel::{KernelError, Root, input};
use ramline_units::Bytes;

use crate::regions::PAGE;

/// Pages of each kind: with 1,024, of which a third is touched, one that is lost is 0.3 %.
const PAGES: usize = 1024;
/// Each third page is touched, so that neighbours that are marked beside it show.
const EACH: usize = 3;

/// What the proof found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Proof {
    /// Pages that were touched.
    pub touched: u64,
    /// Of them, those that were seen.
    pub seen: u64,
    /// Pages that were not touched.
    pub untouched: u64,
    /// Of them, those that were seen all the same.
    pub false_ones: u64,
}

impl Proof {
    /// At least 99.5 % seen, at most 0.5 % of what was not touched seen: what a recording promises.
    #[must_use]
    pub const fn is_good(&self) -> bool {
        self.is_within(200)
    }

    /// Not more than one page of so many is lost, or seen and was not touched.
    #[must_use]
    pub const fn is_within(&self, parts: u64) -> bool {
        (self.touched - self.seen) * parts <= self.touched && self.false_ones * parts <= self.untouched
    }
}

/// A proof that fails is made again: reclaim that came by once will not have lost much.
const PROOFS: usize = 3;

/// A good proof.
///
/// # Errors
/// As [`prove`]; something else clears the bits.
pub fn prove_or_refuse(root: &Root, tables: &mut PageTables, wait: Duration) -> Result<Proof, KernelError> {
    let mut proof = Proof::default();
    for _ in 0..PROOFS {
        proof = prove(root, tables, wait)?;
        if proof.is_good() {
            return Ok(proof);
        }
    }
    let rule = "something else clears accessed bits (DAMON, reclaim, another recorder), so that touches would be lost";
    let users = ramline_kernel::damon::running(root);
    let also = if users.is_empty() { String::new() } else { format!("; running: {}", users.join(", ")) };
    let numbers = format!(
        "of {} own pages touched {} were seen, and {} of {} that were not{also}",
        proof.touched, proof.seen, proof.false_ones, proof.untouched
    );
    Err(KernelError::refused("record touches through", "accessed bits", rule, numbers))
}

/// Touches pages of our own and reads them after `wait`.
///
/// # Errors
/// Own pages cannot be mapped, read or cleared.
pub fn prove(root: &Root, tables: &mut PageTables, wait: Duration) -> Result<Proof, KernelError> {
    let mut anonymous = Map::anonymous(Bytes(PAGES as u64 * PAGE), Sharing::Private)?;
    anonymous.advise(Advice::NoHugePages)?;
    // A file that is there, cached and ours: the program itself.
    let path = process::own_exe()?;
    let file = Map::file(&input::open("map", &path)?, &path)?;
    let page = usize::try_from(PAGE).unwrap_or(4096);
    let file_pages = PAGES.min(file.len() / page);
    for n in 0..PAGES {
        anonymous.write_at(n * page, &[1])?;
    }
    for n in 0..file_pages {
        file.touch_read(n * page)?;
    }
    let own = Followed::open(root, std::process::id())?;
    own.clear_accessed()?;
    for n in (0..PAGES).step_by(EACH) {
        anonymous.touch_read(n * page)?;
    }
    for n in (0..file_pages).step_by(EACH) {
        file.touch_read(n * page)?;
    }
    std::thread::sleep(wait);
    let mut proof = Proof::default();
    for (map, pages) in [(&anonymous, PAGES), (&file, file_pages)] {
        let begin = map.as_slice().as_ptr().addr() as u64;
        let mut accessed = vec![false; pages];
        let range = begin..begin + pages as u64 * PAGE;
        let space = tables.space(std::process::id())?;
        let space =
            space.ok_or_else(|| KernelError::unsupported("find", "this process", "its memory in the kernel"))?;
        tables.walk(&space, std::slice::from_ref(&range), |leaf| {
            for address in (0..leaf.pages).map(|n| leaf.address + n * PAGE).filter(|address| range.contains(address)) {
                let n = usize::try_from((address - begin) / PAGE).unwrap_or(usize::MAX);
                if let Some(place) = accessed.get_mut(n) {
                    *place = leaf.entry.is_accessed();
                }
            }
        })?;
        for (n, was_seen) in accessed.into_iter().enumerate() {
            let (all, seen) = if n % EACH == 0 {
                (&mut proof.touched, &mut proof.seen)
            } else {
                (&mut proof.untouched, &mut proof.false_ones)
            };
            *all += 1;
            *seen += u64::from(was_seen);
        }
    }
    Ok(proof)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_good_from_99_and_a_half_percent_on() {
        let proof = |seen, false_ones| Proof { touched: 1000, seen, untouched: 2000, false_ones };
        assert!(proof(1000, 0).is_good() && proof(995, 10).is_good());
        assert!(!proof(994, 0).is_good() && !proof(1000, 11).is_good());
    }
}
