//! Where the memory of a run was while it went on: areas stacked on one another, with the limit as a line.
//!
//! Worked example: of a group of 100 MiB that uses 90, of which 60 are anonymous, 30 are files and 10 are free.

use maud::{Markup, html};
use ramline_evidence::{RunRecord, Sample};
use ramline_units::Bytes;

use super::{Shown, drawn, most};
use crate::html::draw::{Fill, Panel, Stroke, swatch};
use crate::html::format::size;
use crate::html::parts::figure;

/// The parts of the picture, from the bottom up.
struct Parts {
    anon: f64,
    shmem: f64,
    file: f64,
    pool: f64,
    free: f64,
    swap: f64,
}

fn bytes(size: Bytes) -> f64 {
    size.as_f64()
}

impl Parts {
    fn of(sample: &Sample, run: &RunRecord) -> Parts {
        let pool = sample.pool.map_or(0.0, bytes);
        // The pool of a guest is inside what the guest uses; of a group it is beside.
        let inside = if run.sandbox == "vm" { pool } else { 0.0 };
        let file = (bytes(sample.file) - inside).max(0.0);
        let shmem = bytes(sample.shmem).min(file);
        let free = if sample.limit.0 == 0 { 0.0 } else { bytes(sample.limit.saturating_sub(sample.usage)) };
        Parts { anon: bytes(sample.anon), shmem, file: file - shmem, pool, free, swap: bytes(sample.swap) }
    }
}

/// What is drawn, from the bottom up: fill, name, part.
type Layer = (Fill, &'static str, fn(&Parts) -> f64);
const LAYERS: [Layer; 6] = [
    (Fill::Now, "anonymous", |parts| parts.anon),
    (Fill::Partly, "shared memory, and code that is mapped", |parts| parts.shmem),
    (Fill::AtCost, "files, and the kernel's own", |parts| parts.file),
    (Fill::Leftover, "compressed pool", |parts| parts.pool),
    (Fill::Free, "free below the limit", |parts| parts.free),
    (Fill::No, "in swap (not in memory)", |parts| parts.swap),
];

/// The chart; nothing where nobody looked.
pub fn memory(all_shown: &[Shown<'_>]) -> Markup {
    let used = |one: &Shown<'_>, layer: &Layer| {
        one.run.samples.iter().any(|sample| (layer.2)(&Parts::of(sample, one.run)) > 0.0)
    };
    let shown: Vec<&Layer> = LAYERS.iter().filter(|layer| all_shown.iter().any(|one| used(one, layer))).collect();
    if shown.is_empty() {
        return html! {};
    }
    let mut told = Vec::new();
    let all: Vec<Panel> = all_shown
        .iter()
        .map(|one| {
            let up_to = |highest: usize| {
                one.points(|sample| {
                    let parts = Parts::of(sample, one.run);
                    shown.iter().take(highest + 1).map(|layer| (layer.2)(&parts)).sum()
                })
            };
            let areas = shown.iter().enumerate().rev().map(|(at, layer)| (layer.0, up_to(at))).collect();
            let last = one.run.samples.last().map(|sample| Parts::of(sample, one.run));
            let value = last.map_or_else(String::new, |parts| {
                format!("at the end {} anonymous, {} in swap", mib(parts.anon), mib(parts.swap))
            });
            told.push(format!("{}: {value}", one.arm.name));
            let limit = one.points(|sample| bytes(sample.limit));
            let limited = limit.iter().any(|point| point.1 > 0.0);
            let curves = if limited { vec![(Stroke::Edge, limit)] } else { Vec::new() };
            Panel { name: one.arm.name.clone(), value: largest(one), areas, curves }
        })
        .collect();
    let height = most(&all);
    let limited = all.iter().any(|panel| !panel.curves.is_empty());
    html! {
        h3 { "Where the memory was" }
        (figure(
            "memory",
            "Memory over time",
            &format!("Stacked areas, one chart for each setting on the same axes; {}.", told.join(", ")),
            &drawn(&all, all_shown, height, 130),
            &html! {
                ul.legend {
                    @for layer in &shown { li { (swatch(layer.0)) (layer.1) } }
                    @if limited { li { (Stroke::Edge.swatch()) "limit" } }
                }
                "Since the workload was let go, the fill included. Each chart is " (mib(height)) " high; " (told.join("; ")) "."
            },
        ))
    }
}

/// What the sandbox used at most.
fn largest(one: &Shown<'_>) -> String {
    let used = one.run.samples.iter().map(|sample| sample.usage).max();
    used.map_or_else(String::new, |bytes| format!("at most {}", size(bytes)))
}

fn mib(value: f64) -> String {
    crate::html::format::measured_size(value)
}
