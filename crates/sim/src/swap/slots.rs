//! Which slot of a swap area comes next: the holes of clusters of 512 slots, cluster after cluster.
//!
//! Stands for `cluster_alloc_swap_entry`, `alloc_swap_scan_cluster` and the lists of `struct swap_cluster_info` (mm/swapfile.c); read in 6.18, where clusters
//! with holes come before empty ones. Left out: a cluster of its own for each processor, large folios, bad blocks, discard, slots of
//! pages in RAM in clusters that are full.

use std::collections::VecDeque;

/// Slots of a cluster (`SWAPFILE_CLUSTER`).
const CLUSTER: u32 = 512;
/// The area's header takes the first place of the first cluster.
const HEADER: u32 = 1;

/// Where a cluster stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    Empty,
    Holes,
    Full,
}

/// The clusters of an area.
#[derive(Debug)]
pub struct Slots {
    /// Places in use of each, and where it stands.
    clusters: Vec<(u32, Standing)>,
    empty: VecDeque<usize>,
    holes: VecDeque<usize>,
    /// The place to look at next, in the cluster of the last slot.
    next: Option<u32>,
    /// Behind the last place.
    end: u32,
}

/// State of a slot.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// No page.
    Free,
    /// A page in RAM, which does not need it.
    Spare,
    /// A page that needs it.
    Taken,
}

impl Slots {
    /// For an area of this number of pages, its header among them, no slot in use.
    #[must_use]
    pub fn new(pages: u32) -> Slots {
        let n = pages.div_ceil(CLUSTER) as usize;
        let clusters = vec![(0, Standing::Empty); n];
        let mut this = Slots { clusters, empty: (0..n).collect(), holes: VecDeque::new(), next: None, end: pages };
        // What the header, or the end of the area, takes of a cluster is in use for good.
        this.used(0, HEADER);
        this.used(n - 1, (CLUSTER - pages % CLUSTER) % CLUSTER);
        this
    }

    fn used(&mut self, at: usize, places: u32) {
        if places > 0 {
            self.clusters[at].0 += places;
            self.stand(at);
        }
    }

    /// Takes the next slot that is free or spare, as `state` says of each; a spare one changes its page and stays in use.
    pub fn take(&mut self, mut state: impl FnMut(u32) -> State) -> Option<u32> {
        if let Some(place) = self.next.take().filter(|place| self.clusters[cluster_of(*place)].0 < CLUSTER) {
            let is_empty = self.clusters[cluster_of(place)].0 == 0;
            let from = if is_empty { place - place % CLUSTER } else { place };
            let found = self.scan(from, &mut state);
            self.stand(cluster_of(place));
            if found.is_some() {
                return found;
            }
        }
        let at = self.holes.pop_front().or_else(|| self.empty.pop_front())?;
        let found = self.scan(u32::try_from(at).unwrap_or_default() * CLUSTER, &mut state);
        // It was off its list, and goes behind the others.
        self.stand_anew(at);
        found
    }

    fn scan(&mut self, from: u32, state: &mut impl FnMut(u32) -> State) -> Option<u32> {
        let at = cluster_of(from);
        let end = (from - from % CLUSTER + CLUSTER).min(self.end);
        let mut places = (from.max(HEADER)..end).map(|place| (place, state(place - HEADER)));
        let found = places.find(|(_, state)| *state != State::Taken);
        if let Some((place, state)) = found {
            self.clusters[at].0 += u32::from(state == State::Free);
            self.next = Some(place + 1).filter(|next| *next < end && self.clusters[at].0 < CLUSTER);
        }
        found.map(|(place, _)| place - HEADER)
    }

    /// A slot is free again.
    pub fn free(&mut self, slot: u32) {
        let at = cluster_of(slot + HEADER);
        self.clusters[at].0 -= 1;
        self.stand(at);
    }

    /// To the list where it belongs, if that is another.
    fn stand(&mut self, at: usize) {
        if standing(self.clusters[at].0) != self.clusters[at].1 {
            self.off(at);
            self.stand_anew(at);
        }
    }

    fn off(&mut self, at: usize) {
        let list = match self.clusters[at].1 {
            Standing::Empty => &mut self.empty,
            Standing::Holes => &mut self.holes,
            Standing::Full => return,
        };
        if let Some(place) = list.iter().rposition(|one| *one == at) {
            list.remove(place);
        }
    }

    fn stand_anew(&mut self, at: usize) {
        self.clusters[at].1 = standing(self.clusters[at].0);
        match self.clusters[at].1 {
            Standing::Empty => self.empty.push_back(at),
            Standing::Holes => self.holes.push_back(at),
            Standing::Full => {}
        }
    }

    /// Each cluster has as many places in use as slots of it have an owner, and stands where it belongs.
    ///
    /// # Errors
    /// Which has not.
    pub fn check(&self, has_owner: impl Fn(u32) -> bool) -> Result<(), String> {
        let whole = u32::try_from(self.clusters.len()).unwrap_or_default() * CLUSTER;
        for (at, (used, is)) in (0_u32..).zip(&self.clusters) {
            let places = at * CLUSTER..(at + 1) * CLUSTER;
            let owned =
                places.filter(|place| *place < HEADER || *place >= self.end || has_owner(place - HEADER)).count();
            if owned != *used as usize || *is != standing(*used) {
                return Err(format!("cluster {at}: {used} places in use, {owned} have an owner, {is:?}"));
            }
        }
        let full = self.clusters.iter().filter(|(_, is)| *is == Standing::Full).count();
        let listed = self.empty.len() + self.holes.len() + full;
        (listed == self.clusters.len()).then_some(()).ok_or_else(|| format!("{listed} clusters of {whole} places"))
    }
}

const fn cluster_of(place: u32) -> usize {
    (place / CLUSTER) as usize
}

const fn standing(used: u32) -> Standing {
    match used {
        0 => Standing::Empty,
        CLUSTER.. => Standing::Full,
        _ => Standing::Holes,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An area of so many pages, and who has its slots.
    fn area(pages: u32) -> (Slots, Vec<State>) {
        (Slots::new(pages), vec![State::Free; pages as usize])
    }

    fn take(slots: &mut Slots, states: &mut [State]) -> Option<u32> {
        let slot = slots.take(|slot| states[slot as usize])?;
        states[slot as usize] = State::Taken;
        slots.check(|slot| states[slot as usize] != State::Free).unwrap();
        Some(slot)
    }

    #[test]
    fn slots_are_taken_in_order_and_the_area_ends_with_its_pages() {
        let (mut slots, mut states) = area(1100);
        let taken: Vec<u32> = std::iter::from_fn(|| take(&mut slots, &mut states)).collect();
        // The first cluster has the header in it, and the last is not whole: both have holes, and holes go first.
        let order: Vec<u32> = (0..511).chain(1023..1099).chain(511..1023).collect();
        assert_eq!(taken, order);
    }

    #[test]
    fn holes_are_filled_cluster_by_cluster_in_the_order_they_came() {
        let (mut slots, mut states) = area(3 * 512);
        while take(&mut slots, &mut states).is_some() {}
        for slot in [1300, 20, 10, 1200] {
            slots.free(slot);
            states[slot as usize] = State::Free;
        }
        let taken: Vec<u32> = std::iter::from_fn(|| take(&mut slots, &mut states)).collect();
        assert_eq!(taken, [1200, 1300, 10, 20]);
    }

    #[test]
    fn a_slot_that_is_spare_is_taken_on_the_way() {
        let (mut slots, mut states) = area(1024);
        for _ in 0..100 {
            take(&mut slots, &mut states);
        }
        for slot in [5, 9] {
            slots.free(slot);
            states[slot as usize] = State::Free;
        }
        states[7] = State::Spare;
        for _ in 100..511 {
            take(&mut slots, &mut states);
        }
        assert_eq!([(); 3].map(|()| take(&mut slots, &mut states)), [5, 7, 9].map(Some));
    }
}
