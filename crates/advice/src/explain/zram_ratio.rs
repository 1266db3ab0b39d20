//! `zram-ratio`: what zram gains here.

use ramline_model::zram::{self, Gain};

use crate::prelude::*;

pub(super) const TOPIC: Topic = Topic {
    id: "zram-ratio",
    area: Area::Compressed,
    question: "What does zram gain here?",
    wants: LIGHT,
    answer,
    mechanism: &[
        "A page that compresses to half takes half a page of RAM; one that does not compress is kept whole and costs more than it did before, by its bookkeeping.",
        "Pages of one repeated word cost nothing. Kernels since 6.12 keep zero-filled pages out of swap altogether, so a demonstration with zeros flatters zram.",
        "The table of slots costs 16 bytes a page of disksize from the moment the size is set: about 0.4 %, used or not.",
    ],
    myth: "zramctl's ratio is the compression ratio: it counts same-filled and written-back pages as compressed.",
    to_do: "Nothing above a ratio of 2; below 1.5 try zstd, or a disk area for what does not compress.",
    next: "ramline show zram",
};

fn answer(inputs: &Inputs<'_>, out: &mut Explanation) -> String {
    let state = zram::from_snapshot(inputs.snapshot);
    let devices = state.as_ref().map(|s| s.devices.as_slice()).unwrap_or_default();
    out.add("zram devices", state.as_ref().map(|_| devices.len()), "/sys/block/zram*");
    let mut short = None;
    for device in devices {
        let Some(gain) = &device.gain else { continue };
        let dir = format!("/sys/block/{}", device.name);
        let known = |value: String| if gain.tells() { value } else { "not known: too little is stored".to_owned() };
        let mut line = |what: &str, value: Option<String>, source: &str| {
            if let Some(value) = value {
                out.put(&format!("{}: {what}", device.name), value, source);
            }
        };
        line("stored, uncompressed", Some(gain.stored.to_string()), &format!("{dir}/mm_stat, field 1"));
        line(
            "RAM used",
            Some(format!("{} and {} of slot table", gain.mem_used, gain.slot_table)),
            &format!("{dir}/mm_stat, field 3; 16 B a page of disksize"),
        );
        line(
            "ratio of compression alone",
            gain.true_ratio.map(|r| known(r.to_string())),
            "resident pages over field 2",
        );
        line(
            "ratio with the allocator's overhead",
            gain.effective_ratio.map(|r| known(r.to_string())),
            "resident pages over field 3",
        );
        line("incompressible, kept whole", gain.incompressible.map(percent), &format!("{dir}/mm_stat, field 8"));
        line("RAM gained", Some(gain.net_saved.to_string()), "stored less RAM used less slot table");
        line(
            "room in RAM and this device together",
            gain.capacity.map(|c| known(c.to_string())),
            "RAM - zram/ratio + zram at the effective ratio",
        );
        if gain.stored.0 > 0 && short.is_none() {
            short =
                Some(format!("{} stores {} in {} of RAM{}.", device.name, gain.stored, gain.mem_used, gained(gain)));
        }
    }
    short.unwrap_or_else(|| match (state.is_some(), devices) {
        (false, _) => unseen(inputs, "zram"),
        (true, []) => "zram gains nothing: there is no zram device here.".into(),
        (true, _) => "zram gains nothing yet: nothing is stored.".into(),
    })
}

/// What that saves; a device that is nearly empty costs its table.
fn gained(gain: &Gain) -> String {
    if gain.net_saved.is_negative() && !gain.tells() {
        return format!(": nearly empty, it costs {} for its table and saves nothing yet", gain.net_saved.magnitude());
    }
    if gain.net_saved.is_negative() {
        return format!(": with its table it costs {} more than it saves", gain.net_saved.magnitude());
    }
    format!(": {} saved", gain.net_saved)
}
