//! `ramline trace make`.

use ramline_gather::headroom::own_headroom;
use ramline_trace::generate::{CodePlusData, Load};
use ramline_trace::touches::{Header, Origin, write_load};

use super::files::{TOUCHES, into_io};
use crate::place;
use crate::prelude::*;

/// Bytes of a page of what is made: loads count in 4 KiB on every machine.
const PAGE: u32 = 4096;
/// Units of code and data, as the lab has them.
const UNITS: (u32, u32) = (3, 14);

/// Make a file of a load whose touches are known: the same seed gives the same touches
#[derive(Debug, Args)]
pub struct Make {
    /// The load: one of those of 'lab run known-load', or code-plus-data
    #[arg(value_name = "LOAD")]
    load: String,
    /// The file, - for stdout
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// One unit of code-plus-data, which has 14 of data and 3 of code
    #[arg(long, value_name = "SIZE", default_value = "32MiB")]
    unit: Bytes,
    /// Size of any other load
    #[arg(long, value_name = "SIZE", default_value = "96MiB")]
    size: Bytes,
    /// Rounds, 1 to 1000; of code-plus-data at most 11
    #[arg(long, value_name = "N", default_value_t = 11, value_parser = clap::value_parser!(u32).range(1..=1000))]
    rounds: u32,
    /// What chance begins with
    #[arg(long, value_name = "N", default_value_t = 256)]
    seed: u64,
    /// Data in shared instead of private anonymous memory
    #[arg(long)]
    shared: bool,
}

impl Make {
    pub fn run(&self) -> Result<u8> {
        let (load, name) = self.load()?;
        // Others take memory meanwhile, and what is left is an estimate: an eighth stays.
        let part = |bytes: Bytes| Bytes(bytes.0 / 8 * 7);
        let (room, tables) = (part(own_headroom(&Root::live())?), load.table_bytes());
        if tables > room.0 {
            // They grow with the size.
            let most = (u128::from(load.size()) * u128::from(part(room).0) / u128::from(tables.max(1))) >> 20;
            let text = format!(
                "memory: {} needed for the tables of {name}, {room} can be taken; --size {most}MiB fits\n  try: ramline trace make {} --size {most}MiB --out {}",
                Bytes(tables),
                self.load,
                ramline_units::quoted_path(&self.out)
            );
            return Err(Failure::new(exit::REFUSED, text).into());
        }
        let out = place::open(&self.out, TOUCHES, "ramline trace make code-plus-data --out load.trace")?;
        let header = Header { page: PAGE, origin: Origin::generated(name, Some(self.seed)) };
        let beside = out.is_file();
        let mut out_bytes = 0;
        out.write_with(|out| write_load(&load, &header, out).map(drop).map_err(into_io))
            .map(|bytes| out_bytes = bytes)?;
        if beside {
            let path = ramline_view::escape(&self.out.to_string_lossy()).into_owned();
            output::tell(&format!("{path}: {} written", Bytes(out_bytes)));
        }
        Ok(exit::DONE)
    }

    /// The load of a name, and what it is called in the file.
    fn load(&self) -> Result<(Load, String)> {
        match self.load.as_str() {
            "code-plus-data" => {
                const MIB: u64 = 1 << 20;
                let most = Load::MOST_ROUNDS_OF_CODE_PLUS_DATA;
                ensure!(
                    self.rounds <= most,
                    Failure::usage(format!("code-plus-data has at most {most} rounds\n  try: --rounds {most}"))
                );
                ensure!(
                    self.unit.0 >= MIB && self.unit.0.is_multiple_of(MIB) && self.unit <= Bytes::from_gib(64),
                    Failure::usage("a unit is a whole number of MiB, 1 MiB to 64 GiB\n  try: --unit 32MiB")
                );
                let (unit, (code, data)) = (self.unit.0, UNITS);
                let Make { rounds, seed, shared, .. } = *self;
                let name = format!(
                    "code-plus-data, unit {}, {rounds} rounds, {} data",
                    self.unit,
                    if shared { "shared" } else { "private" }
                );
                Ok((Load::CodePlusData(CodePlusData { unit, code, data, rounds, seed, shared }), name))
            }
            other => {
                let Make { size, rounds, seed, .. } = *self;
                let hint = "ramline trace make server --size 96MiB --out load.trace";
                let named = Load::named(other, size.0, rounds, seed).ok_or_else(|| {
                    let (other, all) = (ramline_view::escape(other), Load::NAMES.join(", "));
                    Failure::usage(format!(
                        "there is no load '{other}' of {size}; there are {all}, 1 MiB to 8 TiB\n  try: {hint}"
                    ))
                })?;
                Ok((named, format!("{other}, {size}, {rounds} rounds")))
            }
        }
    }
}
