//! A server: each request runs code, works on a heap and reads files, always as much of each.
//!
//! A request is four loads of code at random places, six touches of the heap and two reads of 16 KiB from a file, both by Zipf's law.

use ramline_evidence::rng::SplitMix64;

use super::heap::load_or_store;
use super::zipf::Zipf;
use super::{Access, BLOCK, Memory, READ, Region, STEP, Skew, Touch, places};

/// Touches of a request: of code, of the heap, of the file.
const REQUEST: (usize, usize, usize) = (4, 6, 2);
/// All of them.
const TOUCHES: usize = REQUEST.0 + REQUEST.1 + REQUEST.2;

/// Its sizes, and where chance begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Server {
    /// Bytes of the heap, a multiple of 16 KiB as are the others.
    pub heap: u64,
    /// Bytes of the file that is read.
    pub file: u64,
    /// Bytes of code, mapped.
    pub code: u64,
    /// Of 1000 touches of the heap, how many are stores.
    pub stores: u32,
    /// How unequal the places of heap and file are.
    pub skew: Skew,
    /// Rounds.
    pub rounds: u32,
    /// Seed.
    pub seed: u64,
}

impl Server {
    const HEAP: u32 = 0;
    const FILE: u32 = 1;
    const CODE: u32 = 2;

    /// What its regions are.
    #[must_use]
    pub fn regions(&self) -> [Region; 3] {
        [(Memory::Anonymous, self.heap), (Memory::File, self.file), (Memory::File, self.code)]
            .map(|(memory, bytes)| Region { memory, bytes })
    }

    /// A request for every four pages.
    fn requests(&self) -> u64 {
        (self.heap + self.file + self.code) / BLOCK
    }

    /// Three times as many as there are pages.
    #[must_use]
    pub fn touches_of_a_round(&self) -> u64 {
        self.requests() * TOUCHES as u64
    }

    /// The touches of all rounds.
    pub fn rounds(&self) -> impl Iterator<Item = Touch> + use<> {
        let this = *self;
        let mut random = SplitMix64::new(this.seed);
        let heap = Zipf::new(places(this.heap, STEP), this.skew, &mut random);
        let file = Zipf::new(places(this.file, BLOCK), this.skew, &mut random);
        let (instructions, stores) = (this.code / 8, u64::from(this.stores));
        (0..u64::from(this.rounds) * this.requests()).flat_map(move |_| {
            let mut request = [Touch { region: Self::CODE, access: Access::Load, offset: 0 }; TOUCHES];
            for (n, touch) in request.iter_mut().enumerate() {
                // A heap touch between any two others.
                *touch = if n % 2 == 1 {
                    let offset = heap.place(&mut random) * STEP;
                    Touch { region: Self::HEAP, access: load_or_store(stores, &mut random), offset }
                } else if n % 6 == 2 {
                    Touch { region: Self::FILE, access: Access::Read(READ), offset: file.place(&mut random) * BLOCK }
                } else {
                    Touch { offset: random.below(instructions) * 8, ..*touch }
                };
            }
            request
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_so_much_of_each() {
        let skew = Skew { thousandths: 900 };
        let load = Server { heap: 1 << 20, file: 1 << 19, code: 1 << 18, stores: 300, skew, rounds: 1, seed: 256 };
        let all: Vec<Touch> = load.rounds().collect();
        for request in all.chunks(TOUCHES) {
            let of = |region| request.iter().filter(|touch| touch.region == region).count();
            assert_eq!((of(Server::CODE), of(Server::HEAP), of(Server::FILE)), REQUEST);
        }
    }
}
