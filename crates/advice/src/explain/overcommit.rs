//! `overcommit`: how much memory programs may ask for, apart from what they use.

use ramline_snapshot::sysctl::VmSettings;

use crate::prelude::*;

pub(super) const TOPIC: Topic = Topic {
    id: "overcommit",
    area: Area::Pressure,
    question: "How much memory may programs ask for?",
    wants: LIGHT,
    answer,
    mechanism: &[
        "A program asks for memory and touches it later, often only a part. The kernel counts what it promised (Committed_AS): private writable memory and tmpfs, used or not. Mappings made with MAP_NORESERVE are left out outside mode 2, so more can be in RAM than was promised.",
        "Mode 0 refuses only a single request that exceeds RAM and swap together. Mode 1 refuses nothing.",
        "Mode 2 refuses what would bring the promises above CommitLimit = (RAM - huge pages) x vm.overcommit_ratio / 100 + swap, or vm.overcommit_kbytes + swap. Ratio 50 without swap stops programs at half of the RAM.",
        "A promise costs nothing until it is touched. When more is touched than there is, reclaim, swap and in the end a kill decide, in every mode.",
    ],
    myth: "Committed_AS above the RAM means trouble: it counts promises; large unused mappings and forks make it big. Nor does mode 2 rule out kills: the page cache, the kernel and limits of groups are not in its sum.",
    to_do: "Nothing.",
    next: "ramline explain oom",
};

fn answer(inputs: &Inputs<'_>, out: &mut Explanation) -> String {
    let meminfo = inputs.snapshot.meminfo.data();
    let settings = inputs.snapshot.settings.data();
    let mode = settings.and_then(|s| s.overcommit_memory);
    let promised = meminfo.and_then(|m| m.committed_as);
    let limit = meminfo.and_then(|m| m.commit_limit);
    let share = promised.zip(limit).and_then(|(promised, limit)| promised.share_of(limit));
    let value = mode.map(|mode| format!("{mode} (setting): {}", words(mode)));
    out.add("vm.overcommit_memory", value, "/proc/sys/vm/overcommit_memory");
    out.add("promised to programs (now)", promised, "/proc/meminfo Committed_AS");
    let applies = if mode == Some(2) { "applies" } else { "not applied in this mode" };
    out.add("the limit of mode 2", limit.map(|limit| format!("{limit}, {applies}")), "/proc/meminfo CommitLimit");
    out.add("made of", settings.and_then(parts), "/proc/sys/vm/overcommit_ratio, overcommit_kbytes");
    out.add("promised, of that limit", share.map(percent), "Committed_AS / CommitLimit");
    out.meminfo(inputs, "in RAM, for comparison (now)", "AnonPages + Shmem");
    if mode == Some(2) {
        out.to_do = "If programs fail with \"cannot allocate memory\", raise vm.overcommit_ratio or add swap.".into();
    }
    match (mode, promised, limit) {
        (None, ..) if settings.is_none() => unseen(inputs, "settings"),
        (_, None, _) | (_, _, None) => unseen(inputs, "meminfo"),
        (Some(2), Some(promised), Some(limit)) if promised.0 >= limit.0 => format!(
            "Nothing more: {promised} is promised and the limit is {limit} (strict mode). Programs are refused memory, however much is free."
        ),
        (Some(2), Some(promised), Some(limit)) => format!(
            "{} more: {promised} of {limit} is promised (strict mode). Beyond that programs are refused memory, however much is free.",
            limit.saturating_sub(promised)
        ),
        (Some(1), Some(promised), _) => {
            format!("Any amount: nothing is refused (vm.overcommit_memory is 1). {promised} is promised now.")
        }
        (Some(0), Some(promised), _) => format!(
            "Nearly any amount: only one request larger than RAM and swap is refused (mode 0). {promised} is promised now."
        ),
        (_, Some(promised), _) => {
            format!("Cannot tell: vm.overcommit_memory was not seen. {promised} is promised now.")
        }
    }
}

const fn words(mode: i64) -> &'static str {
    match mode {
        0 => "refuse only what is obviously too much",
        1 => "refuse nothing",
        2 => "strict: refuse beyond the limit",
        _ => "not a mode this version knows",
    }
}

fn parts(settings: &VmSettings) -> Option<String> {
    match settings.overcommit_kbytes {
        Some(kib) if kib > 0 => Some(format!("{} and swap", ramline_units::Bytes::from_kib(u64::try_from(kib).ok()?))),
        _ => settings.overcommit_ratio.map(|ratio| format!("{ratio} % of RAM less huge pages, and swap")),
    }
}
