//! A forecast is made of nothing but what it is asked.

use ramline_predict::apparatus::reader::Reads;
use ramline_predict::forecast;
use ramline_sim::kernel::PRESETS;
use ramline_sim::load::Compact;
use ramline_sim::memory::{Flushes, Setting, SwapTo};
use ramline_trace::generate::{CodePlusData, Load};

const TIMEOUT: u64 = 4_000_000_000;

#[test]
fn a_forecast_is_a_function_of_its_seed() {
    let load = CodePlusData { unit: 1 << 20, code: 3, data: 14, rounds: 3, seed: 256, shared: false };
    let load = Compact::decode(&Load::CodePlusData(load)).unwrap();
    let flushes = Flushes::By(Reads::shared(20_000_000, [0, 20_000_000], Vec::new()));
    let (swap, slots) = (SwapTo::Disk, 16 << 8);
    let setting = Setting { swap, slots, fresh: 0.5, base: 60, flushes, ..Setting::without_limit(15 << 8, PRESETS[2]) };
    let of =
        |seed| forecast::compact(std::slice::from_ref(&load), &setting, TIMEOUT, (seed, forecast::RUNS), |_, _| 1000);
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}
