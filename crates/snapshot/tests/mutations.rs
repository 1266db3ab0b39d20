//! No text makes a parser panic: real files of captured machines, damaged in seeded ways.

#![expect(clippy::disallowed_methods, reason = "what is damaged are files")]

use std::fs;
use std::path::PathBuf;

use ramline_snapshot::parsers::PARSERS;
use ramline_testkit::{names, tree};

/// xorshift64*: enough to choose where to damage, and the same every time.
struct Damage(u64);

impl Damage {
    fn next(&mut self, below: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        usize::try_from(self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33).unwrap_or(0) % below.max(1)
    }

    fn apply(&mut self, bytes: &mut Vec<u8>) {
        const WORDS: &[&[u8]] = &[
            b"18446744073709551616",
            b"-1",
            b"\x00",
            b"\xff\xfe",
            b"kB",
            b":",
            b"\n",
            b"Node 0, zone",
            b"max",
            b" - ",
            b"\\777",
        ];
        for _ in 0..=self.next(4) {
            let at = self.next(bytes.len() + 1);
            match self.next(4) {
                0 => bytes.truncate(at),
                1 => drop(bytes.splice(at..at, WORDS[self.next(WORDS.len())].iter().copied())),
                2 if at < bytes.len() => bytes[at] = u8::try_from(self.next(256)).unwrap_or(0),
                _ => {
                    let end = (at + self.next(40)).min(bytes.len());
                    drop(bytes.drain(at..end));
                }
            }
        }
    }
}

fn fixtures() -> Vec<PathBuf> {
    names("healthy").iter().map(|name| tree(name)).collect()
}

#[test]
fn damaged_files_are_errors_and_never_panics() {
    let mut damage = Damage(256);
    let mut tried = 0;
    for (name, parse) in PARSERS {
        let mut seeds: Vec<Vec<u8>> = fixtures().iter().filter_map(|f| fs::read(f.join(name)).ok()).collect();
        seeds.push(b"4096 1 2 3 4 5 6 7 8\n".to_vec());
        for seed in &seeds {
            for _ in 0..300 {
                let mut bytes = seed.clone();
                damage.apply(&mut bytes);
                parse(&String::from_utf8_lossy(&bytes));
                tried += 1;
            }
        }
    }
    assert!(tried > 10_000, "{tried}");
}
