//! A forecast is made of nothing but what it is asked.

use ramline_predict::forecast;
use ramline_sim::cost::Costs;
use ramline_sim::kernel::PRESETS;
use ramline_sim::load::Compact;
use ramline_sim::memory::{Setting, Sums, SwapTo};
use ramline_trace::generate::{CodePlusData, Load};

const TIMEOUT: u64 = 4_000_000_000;

#[test]
fn a_forecast_is_a_function_of_its_seed() {
    let load = CodePlusData { unit: 1 << 20, code: 3, data: 14, rounds: 3, seed: 256, shared: false };
    let load = Compact::of(&Load::CodePlusData(load)).unwrap();
    let setting = Setting {
        limit: 15 << 8,
        beside: None,
        swappiness: 60,
        swap: SwapTo::Disk,
        slots: 16 << 8,
        read_ahead: 32,
        cluster: 8,
        fresh: 0.5,
        base: 60,
        sums: Sums::Watched { every: 20_000_000, first: [0, 20_000_000] },
        first_looks: Vec::new(),
        costs: Costs::default(),
        kernel: PRESETS[2],
    };
    let of =
        |seed| forecast::compact(std::slice::from_ref(&load), &setting, TIMEOUT, (seed, forecast::RUNS), |_, _| 1000);
    assert_eq!(of(1), of(1));
    assert_ne!(of(1), of(2));
}
