//! Under what conditions a measurement was made, and whether to trust it.
//!
//! A disturbed machine is named with its number; the reader decides whether to measure again.

use ramline_gather::quiet::{self, Quiet};
use ramline_units::JsonSchema;
use serde::{Deserialize, Serialize};

use super::run::TierOptions;
use super::timing::Clock;
use crate::prelude::*;

/// Whether the machine was quiet enough.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Nothing disturbed was seen before or after, and the batches agree.
    Ok,
    /// Every reason, with its number.
    Noisy(Vec<String>),
}

impl std::fmt::Display for Trust {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Trust::Ok => f.pad("ok"),
            Trust::Noisy(reasons) => f.pad(&format!("noisy ({})", reasons.join("; "))),
        }
    }
}

/// How long each of the two looks lasts.
const LOOK: Duration = Duration::from_millis(200);
/// Share of CPU time others may use: one of two CPUs busy would already be too much.
const BUSY: f64 = 0.2;
/// The largest ratio of two batch medians.
const SPREAD: f64 = 1.5;

/// A look at load and pressure; `None` where /proc cannot say.
pub fn look(root: &Root) -> Option<Quiet> {
    quiet::look(root, LOOK).ok()
}

/// Judges by both looks and by the batches.
pub fn trust(before: &Option<Quiet>, after: &Option<Quiet>, tiers: &[TierMeasurement]) -> Trust {
    let mut reasons = Vec::new();
    for (when, look) in [("before", *before), ("after", *after)] {
        match look {
            Some(look) => reasons.extend(look.disturbance(BUSY).map(|why| format!("{when}: {why}"))),
            None => reasons.push(format!("{when}: load and pressure could not be read")),
        }
    }
    if cfg!(debug_assertions) {
        reasons.push("this is an unoptimised build: whatever the CPU does is too slow".to_owned());
    }
    for (tier, medians) in tiers.iter().filter_map(|tier| Some((tier, tier.batches.as_ref()?))) {
        if medians.min > 0.0 && medians.max / medians.min > SPREAD {
            reasons.push(format!("{}: batch medians from {:.0} to {:.0} ns", tier.tier, medians.min, medians.max));
        }
    }
    if reasons.is_empty() { Trust::Ok } else { Trust::Noisy(reasons) }
}

/// One line each.
pub fn describe(options: &TierOptions, clock: &Clock, trust: &Trust) -> Vec<String> {
    let machine = hardware::read(&options.root);
    let mut lines = vec![
        format!("trust: {trust}"),
        format!("kernel {}, pages of {}", machine.kernel, Bytes(process::page_size())),
        format!("{} CPUs, {}", machine.cpus, machine.cpu_model),
    ];
    lines.extend(machine.last_level_cache.map(|cache| format!("last-level cache {cache}")));
    if let Some(hypervisor) = &machine.hypervisor {
        let nested = if machine.nested_capable { "; it can run guests of its own" } else { "" };
        let hypervisor = known(hypervisor);
        lines.push(format!("a virtual machine (hypervisor: {hypervisor}{nested}): page walks, timers and disks go through it; whether it is itself nested cannot be seen from inside"));
    }
    if let Some(thp) = &machine.thp_anon {
        lines.push(format!("transparent huge pages are '{thp}'; the buffers here use small pages"));
    }
    lines.push(format!("reading the clock takes {}, subtracted from every duration", clock.overhead));
    lines.push(
        "one thread, one request at a time; median and 99 % over all operations; batches: the least and the largest median of 5".to_owned(),
    );
    lines
}

/// The name of a hypervisor by the twelve letters it gives in CPUID.
fn known(signature: &str) -> &str {
    match signature.trim_end_matches('\0') {
        "KVMKVMKVM" => "KVM",
        "Microsoft Hv" => "Hyper-V",
        "VMwareVMware" => "VMware",
        "XenVMMXenVMM" => "Xen",
        "TCGTCGTCGTCG" => "QEMU without KVM",
        "bhyve bhyve " => "bhyve",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ramline_evidence::Measurement;

    const QUIET: Quiet = Quiet {
        load1: 0.1,
        cpus: 2,
        cpu_busy: 0.01,
        cpu_stolen: Some(0.0),
        psi_memory: Some(0.0),
        psi_io: Some(0.0),
        lasted: LOOK,
    };

    fn spread(medians: &[f64]) -> Vec<TierMeasurement> {
        vec![TierMeasurement {
            tier: "ram".to_owned(),
            label: "RAM".to_owned(),
            latency: None,
            batches: Measurement::from_values(medians, "ns", "", &[]),
            throughput: None,
            method: String::new(),
            notes: vec![],
        }]
    }

    fn reasons(trust: Trust) -> Vec<String> {
        let unoptimised = |reason: &String| !reason.contains("unoptimised");
        match trust {
            Trust::Ok => Vec::new(),
            Trust::Noisy(reasons) => reasons.into_iter().filter(unoptimised).collect(),
        }
    }

    #[test]
    fn a_quiet_machine_with_batches_that_agree_is_trusted() {
        assert!(reasons(trust(&Some(QUIET), &Some(QUIET), &spread(&[100.0, 110.0, 149.0]))).is_empty());
    }

    #[test]
    fn each_disturbance_is_named_with_its_number() {
        let busy = Quiet { cpu_busy: 0.5, ..QUIET };
        assert_eq!(reasons(trust(&Some(busy), &Some(QUIET), &[])), ["before: the CPUs are 50 % busy"]);
        let stolen = Quiet { cpu_stolen: Some(0.1), ..QUIET };
        assert_eq!(
            reasons(trust(&Some(QUIET), &Some(stolen), &[])),
            ["after: the hypervisor takes 10 % of the CPU time"]
        );
        assert_eq!(
            reasons(trust(&Some(QUIET), &Some(QUIET), &spread(&[100.0, 151.0]))),
            ["ram: batch medians from 100 to 151 ns"]
        );
        assert_eq!(reasons(trust(&None, &Some(QUIET), &[])), ["before: load and pressure could not be read"]);
    }
}
