//! Much of RAM belongs to no process, and reclaim cannot take it: a slab leak, driver pages, a balloon, graphics memory.
//!
//! One look is enough: from a tenth of RAM on it is named, whether it grows or not (`ramline_model::unowned` says why a tenth). It is a warning where it
//! is more than what is available: then it is what programs lack. Less is a note.
//!
//! What it is not: a proof of a leak. Graphics memory of a game is in use, a balloon is what the host's administrator wants. Whether it grows
//! is `kernel-memory-growing`.

use ramline_model::ledger::Ledger;
use ramline_model::unowned::{self, Form, Unowned};
use ramline_snapshot::Seen;

use super::removed_groups_kept;
use crate::caches;
use crate::prelude::*;

pub(super) const RULE: Rule = Rule {
    id: "memory-without-owner",
    looks_for: "a tenth of RAM or more that no process owns and reclaim cannot take",
    explain: "kernel-memory",
    check,
    cost_if_wrong: "memory that is in use is looked for: a driver, a guest or a program may need it",
    tune: Tune::No("it belongs to the kernel, a driver or the hypervisor, and no setting frees it"),
};

fn check(inputs: &Inputs<'_>) -> Option<Draft> {
    let ledger = Ledger::from_snapshot(inputs.snapshot)?;
    let all = unowned::large(inputs.snapshot, &ledger);
    let most = all.first()?;
    let available = available::bytes(inputs.snapshot)?;
    let cache = caches_of(inputs, most);
    let mut grounds: Vec<Evidence> = all
        .iter()
        .map(|one| {
            evidence(one.form.words(), format!("{}, {} of RAM", one.bytes, percent(one.share)), source(one.form))
        })
        .collect();
    grounds.put("available now", available, "/proc/meminfo MemAvailable");
    let low = low_memory(inputs, most);
    if let Some(low) = &low {
        let text = format!("{} in all, {} free or reclaimable", low.managed, low.left);
        grounds.put("low memory, where kernel objects must lie", text, "/proc/zoneinfo");
    }
    slab_evidence(inputs, most, &mut grounds);
    Some(Draft {
        title: title(inputs, most, low.as_ref(), cache),
        weight: if most.bytes > low.map_or(available, |low| low.left.min(available)) {
            Weight::Warning
        } else {
            Weight::Note
        },
        effect: effect(inputs, most, cache),
        evidence: grounds,
        confidence: if most.form == Form::Uncounted { Confidence::Medium } else { Confidence::High },
        ..Draft::default()
    })
}

/// The zones that kernel objects must lie in, where a machine has others too (32 bits): what is available elsewhere is of no use to them.
struct LowMemory {
    managed: Bytes,
    left: Bytes,
}

fn low_memory(inputs: &Inputs<'_>, most: &Unowned) -> Option<LowMemory> {
    let nodes = watermarks::from_snapshot(inputs.snapshot, None).filter(|_| most.form == Form::Slab)?.nodes;
    let mut low = LowMemory { managed: Bytes::ZERO, left: Bytes::ZERO };
    for node in &nodes {
        let zones = node.kernel_zones.as_ref()?;
        low.managed += zones.managed;
        low.left += zones.free + zones.reclaimable?;
    }
    (low.managed > Bytes::ZERO).then_some(low)
}

fn source(form: Form) -> &'static str {
    match form {
        Form::Slab => "/proc/meminfo SUnreclaim, less what of it is ZFS cache",
        Form::Uncounted => "MemTotal less every line (ramline show --all)",
        Form::Graphics => "/proc/meminfo GPUActive",
        Form::Balloon => "/proc/meminfo Balloon, or /proc/vmstat balloon_inflate - balloon_deflate",
        Form::Vmalloc => "/proc/meminfo VmallocUsed",
        Form::GuestTables => "/proc/meminfo SecPageTables",
        Form::Percpu => "/proc/meminfo Percpu",
        Form::Stacks => "/proc/meminfo KernelStack",
    }
}

/// The cache that most of the slab is in.
fn caches_of<'a>(inputs: &Inputs<'a>, most: &Unowned) -> Option<&'a ramline_snapshot::slab::Cache> {
    caches::largest(inputs.snapshot.slab.data()?, most.bytes).filter(|_| most.form == Form::Slab)
}

/// `VMware` of `VMware, Inc.`; nothing where it is not known.
fn vendor(inputs: &Inputs<'_>) -> String {
    let name = inputs.snapshot.machine.hypervisor.as_deref().unwrap_or_default();
    let name = name.split(',').next().unwrap_or_default().trim();
    if name.is_empty() || name == "unknown" { String::new() } else { format!(" ({name})") }
}

fn title(
    inputs: &Inputs<'_>,
    most: &Unowned,
    low: Option<&LowMemory>,
    cache: Option<&ramline_snapshot::slab::Cache>,
) -> String {
    let bytes = most.bytes;
    let (share, whole) = match low.and_then(|low| bytes.share_of(low.managed)) {
        Some(share) => (percent(share), "low memory"),
        None => (percent(most.share), "RAM"),
    };
    match (most.form, cache) {
        (Form::Slab, Some(cache)) => {
            format!("Kernel objects take {bytes}, {share} of {whole}, and no process owns them: mostly {}", cache.name)
        }
        (Form::Slab, None) => format!("Kernel objects take {bytes}, {share} of {whole}, and no process owns them"),
        (Form::Uncounted, _) => format!("{bytes} of RAM, {share}, are in no counter: pages of a driver, of no process"),
        (Form::Balloon, _) => {
            format!("The hypervisor{} has taken {bytes} of RAM, {share}, by its balloon", vendor(inputs))
        }
        (form, _) => format!("{} takes {bytes}, {share} of RAM", form.words()),
    }
}

fn effect(inputs: &Inputs<'_>, most: &Unowned, cache: Option<&ramline_snapshot::slab::Cache>) -> String {
    let leak = "if it does not stop growing it is a leak: more RAM or swap only delays the end, a reboot frees it";
    match (most.form, cache) {
        (Form::Slab, Some(cache)) => {
            let what = caches::held(&cache.name).map_or_else(String::new, |what| format!("cache {} holds {what}; ", cache.name));
            format!(
                "{what}{leak}. What allocates it: boot with slab_debug=U,{0} and read /sys/kernel/debug/slab/{0}/alloc_traces, or /proc/allocinfo where the kernel has it",
                cache.name
            )
        }
        (Form::Slab, None) if inputs.snapshot.machine.root => format!("{leak}; no single cache of /proc/slabinfo holds most of it"),
        (Form::Slab, None) => format!("{leak}; which cache it is only root may see: sudo ramline checkup --quick"),
        (Form::Uncounted, _) => format!(
            "which driver is not known here. {}Where it grows it is a leak: more RAM only delays the end; a reboot frees it, and so may unloading the module (lsmod). /proc/allocinfo, where the kernel has it, names who allocated it",
            uncounted_hint(inputs)
        ),
        (Form::Graphics, _) => "the programs that draw hold it; the lines drm-total-* of /proc/PID/fdinfo say how much each has, where the driver writes them".to_owned(),
        (Form::Balloon, _) => {
            "no setting of this machine gets it back: the host is short of memory, or a limit of this guest below its size makes it (VMware: limit and reservation; libvirt: virsh setmem)".to_owned()
        }
        (Form::Vmalloc, _) => format!("as root /proc/vmallocinfo names the callers; {leak}"),
        (Form::GuestTables, _) => "virtual machines and devices that map much memory hold it, until they end".to_owned(),
        (Form::Percpu, _) => {
            let removed = removed_groups_kept::dying(inputs.snapshot).filter(|n| *n > 0);
            let removed = removed.map(|n| format!("; {n} removed groups still have theirs")).unwrap_or_default();
            format!("each group, mount and device has a part for every processor, removed groups too while they are charged{removed}; {leak}")
        }
        (Form::Stacks, _) => "each thread has one, 16 KiB on most machines: look for the program with the most threads".to_owned(),
    }
}

/// What may hold pages in no counter on this machine.
fn uncounted_hint(inputs: &Inputs<'_>) -> String {
    let meminfo = inputs.snapshot.meminfo.data();
    let cma = meminfo.and_then(|m| m.cma_total?.checked_sub(m.cma_free?));
    let cma = cma
        .filter(|bytes| bytes.0 > 0)
        .map(|bytes| format!("Up to {bytes} may be contiguous memory (CMA) of devices. "));
    let vmware = inputs.snapshot.machine.hypervisor.as_deref().is_some_and(|name| name.contains("VMware"));
    let balloon = vmware.then(|| "On VMware it may be the balloon: vmware-toolbox-cmd stat balloon. ".to_owned());
    [cma, balloon].into_iter().flatten().collect()
}

/// The largest caches, or why they are not known.
fn slab_evidence(inputs: &Inputs<'_>, most: &Unowned, grounds: &mut Vec<Evidence>) {
    if most.form != Form::Slab {
        return;
    }
    match &inputs.snapshot.slab {
        Seen::Seen { data, .. } => data.caches.iter().take(3).for_each(|cache| {
            let value = format!("{}, {} in use", cache.held, cache.in_use);
            grounds.put(&format!("cache {}", cache.name), value, "/proc/slabinfo");
        }),
        Seen::Denied { .. } => grounds.put("which cache", "only root may see it", "/proc/slabinfo"),
        _ => grounds.put("which cache", "not seen", "/proc/slabinfo"),
    }
}
