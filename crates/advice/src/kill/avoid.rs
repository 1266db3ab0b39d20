//! What would have avoided a kill, as commands. Nothing is changed here.

use ramline_model::kill::{Kill, KillCause, Killer, PartKind, Reason};
use ramline_units::{Bytes, quoted};

use super::Remedy;

/// What would have avoided it, the first best first.
pub(super) fn avoid(kill: &Kill) -> Vec<Remedy> {
    if kill.nothing_found {
        return Vec::new();
    }
    let mut out = match kill.cause {
        KillCause::UserAnon => user(kill),
        KillCause::ShmemTmpfs if kill.killer == Killer::KernelMemcg => larger_group(kill),
        KillCause::ShmemTmpfs => vec![remedy(
            "See which tmpfs or segment holds it, and bound it",
            &["ramline show tmpfs --files", "mount -o remount,size=SIZE MOUNTPOINT"],
        )],
        KillCause::MemcgAnon => larger_group(kill),
        KillCause::MemcgSwap => {
            let mut out = larger_group(kill);
            out.extend(service(kill).map(|unit| {
                one("Allow the service more swap", format!("systemctl set-property {unit} MemorySwapMax=infinity"))
            }));
            out
        }
        KillCause::MemcgDirtyFile => {
            let mut out = vec![remedy(
                "Have files written earlier, so that the group's cache stays clean",
                &["sysctl vm.dirty_background_bytes=67108864 vm.dirty_bytes=268435456"],
            )];
            out.extend(larger_group(kill));
            out
        }
        KillCause::MemcgKmem if kill.reasons.contains(&Reason::FaultInGroup) => vec![remedy(
            "Linux 5.16 and later do not take a group's refusal for a shortage of the machine",
            &["uname -r"],
        )],
        KillCause::MemcgKmem => larger_group(kill),
        KillCause::Fragmentation => vec![
            remedy(
                "Compact memory now, and see free blocks",
                &["echo 1 > /proc/sys/vm/compact_memory", "cat /proc/buddyinfo"],
            ),
            remedy("Have more free memory kept, so that large blocks form", &["sysctl vm.watermark_scale_factor=100"]),
        ],
        KillCause::ZoneOrPolicy if kill.reasons.iter().any(|reason| matches!(reason, Reason::OnlyNodes(_))) => {
            vec![remedy(
                "Allow the task more nodes, or only prefer one",
                &["numactl --preferred=NODE COMMAND", "systemctl set-property UNIT AllowedMemoryNodes=0-N"],
            )]
        }
        KillCause::ZoneOrPolicy => vec![remedy(
            "More RAM does not help: this zone is bounded by the processor's kind or the kernel's split; a 64-bit kernel has no such bound",
            &["uname -m"],
        )],
        KillCause::CmaOnlyFree => vec![remedy(
            "Reserve less for CMA on the kernel's command line, or none where no device needs it",
            &["cma=SIZE"],
        )],
        KillCause::SlabGrowth => vec![remedy(
            "See which kernel cache grows, and what holds its objects (open files, inodes)",
            &["ramline explain kernel-memory", "cat /proc/slabinfo"],
        )],
        KillCause::KernelUnaccounted => vec![remedy(
            "See what is in no counter while it grows",
            &["ramline explain kernel-memory --more", "cat /proc/vmallocinfo"],
        )],
        KillCause::HugepagesReserved if kill.killer == Killer::Hugetlb => vec![remedy(
            "Set aside more huge pages, or let the program reserve them (without MAP_NORESERVE)",
            &["sysctl vm.nr_hugepages=NUMBER"],
        )],
        KillCause::HugepagesReserved => {
            vec![remedy("Set aside fewer huge pages", &["sysctl vm.nr_hugepages=NUMBER", "ramline explain hugepages"])]
        }
        KillCause::WatermarkSetting => {
            vec![remedy("Lower what is kept free", &["sysctl vm.min_free_kbytes=NUMBER", "ramline explain watermarks"])]
        }
        KillCause::AtomicBurst => vec![remedy(
            "Only if it happens often: keep more free for such requests",
            &["sysctl vm.watermark_scale_factor=50"],
        )],
        KillCause::PressurePolicy | KillCause::ThresholdPolicy => daemon(kill),
        KillCause::ThrashFreeze => vec![remedy(
            "Have something kill before the machine freezes",
            &["systemctl enable --now systemd-oomd", "ramline explain available-but-frozen"],
        )],
        KillCause::ReclaimDeadlock => vec![remedy(
            "Put swap on a plain partition or zram: not on NFS, a zvol or a loop device",
            &["swapon --show"],
        )],
        KillCause::TooSmallSystem => {
            vec![remedy("Give it more memory: for a crash kernel on the kernel's command line", &["crashkernel=SIZE"])]
        }
        KillCause::NotMemory => Vec::new(),
        KillCause::Unknown => vec![remedy(
            "Keep the whole report next time: all lines from \"invoked\" to \"Killed process\"",
            &["journalctl -k -b --no-pager > kill.log", "ramline explain kill kill.log"],
        )],
    };
    if kill.reasons.contains(&Reason::KillsWhoAsks) {
        out.push(remedy("Let the kernel choose the largest", &["sysctl vm.oom_kill_allocating_task=0"]));
    }
    if kill.panicked {
        out.push(remedy("Kill instead of a panic", &["sysctl vm.panic_on_oom=0"]));
    }
    if kill.innocent_victim == Some(true) && matches!(kill.killer, Killer::KernelGlobal | Killer::KernelMemcg) {
        out.extend(service_of_victim(kill));
    }
    out
}

fn remedy(what: &str, commands: &[&str]) -> Remedy {
    Remedy { what: what.to_owned(), commands: commands.iter().map(|command| (*command).to_owned()).collect() }
}

fn one(what: &str, command: String) -> Remedy {
    Remedy { what: what.to_owned(), commands: vec![command] }
}

/// The unit whose group it is.
fn service(kill: &Kill) -> Option<String> {
    let last = kill.group.as_deref()?.rsplit('/').next()?;
    let is_unit = [".service", ".scope", ".slice"].iter().any(|end| last.ends_with(end));
    is_unit.then(|| quoted(last).into_owned())
}

fn user(kill: &Kill) -> Vec<Remedy> {
    let anon = kill.sum.as_ref().map(|sum| sum.part(PartKind::Anonymous)).unwrap_or_default();
    let hog = kill.programs.first().filter(|first| first.rss.0 > anon.0 / 2);
    let mut out = Vec::new();
    if hog.is_some() {
        out.push(one(
            "Bound the large program, so that it alone is reclaimed or killed",
            "systemctl set-property UNIT MemoryHigh=SIZE MemoryMax=SIZE".to_owned(),
        ));
    }
    if kill.sum.as_ref().and_then(|sum| sum.swap_total) == Some(Bytes::ZERO) {
        out.push(remedy(
            "Have swap: memory that is not in use then makes way",
            &["ramline explain no-swap", "ramline tune plan zram"],
        ));
    }
    out.push(remedy("See who grows while it grows", &["ramline show processes --sort growth --for 10"]));
    out
}

fn larger_group(kill: &Kill) -> Vec<Remedy> {
    let group = kill.group.as_deref().filter(|group| group.starts_with('/') && group.len() > 1);
    let mut out = Vec::new();
    // Version 1 prints memory and swap together, and its hierarchies have a folder each.
    let old = kill.group_figures.as_ref().is_some_and(|figures| figures.memory_and_swap.is_some());
    let at = if old { ("/memory", "memory.limit_in_bytes") } else { ("", "memory.max") };
    // Half as much again is a try, not a need: what it needs is measured. A limit that was lowered below what was in use is no measure of anything.
    let used = kill.group_figures.as_ref().and_then(|figures| figures.memory.as_ref()).map(|memory| memory.usage);
    let larger = kill.limit_bytes.and_then(|limit| limit.max(used.unwrap_or_default()).scale(3, 2));
    let larger = larger.map(|bytes| format!("{}M", bytes.0.div_ceil(1 << 20)));
    match (service(kill), group, larger) {
        (Some(unit), _, Some(size)) => {
            out.push(one("Raise the limit", format!("systemctl set-property {unit} MemoryMax={size}")))
        }
        (None, Some(group), Some(size)) if group.contains("kubepods") => {
            out.push(one("Raise the container's limit in its pod", format!("resources.limits.memory: {size}i")));
        }
        (None, Some(group), Some(size)) => {
            out.push(one(
                "Raise the limit",
                format!("echo {size} > {}", quoted(&format!("/sys/fs/cgroup{}{group}/{}", at.0, at.1))),
            ));
        }
        _ => {}
    }
    out.extend(group.map(|group| one("Measure what it needs", format!("ramline need {}", quoted(group)))));
    out
}

fn daemon(kill: &Kill) -> Vec<Remedy> {
    let unit = kill
        .victim
        .as_ref()
        .and_then(|victim| victim.name.as_deref())
        .filter(|name| name.ends_with(".service") || name.ends_with(".scope"));
    match kill.killer {
        Killer::SystemdOomd => {
            let mut out = vec![remedy(
                "See its rules, and what they look at",
                &["oomctl", "systemctl cat systemd-oomd user@.service"],
            )];
            out.extend(unit.map(|unit| {
                one("Spare this unit", format!("systemctl set-property {} ManagedOOMPreference=avoid", quoted(unit)))
            }));
            out
        }
        Killer::Earlyoom => vec![remedy(
            "See its thresholds; add names to spare",
            &["systemctl cat earlyoom", "earlyoom --avoid '^(NAME)$'"],
        )],
        Killer::Nohang => vec![remedy("See its thresholds", &["nohang --check --config /etc/nohang/nohang.conf"])],
        Killer::Kubelet => vec![remedy(
            "Find pods that use more memory than they request, and what the node has left",
            &["kubectl top pods --all-namespaces --sort-by=memory", "kubectl describe node NODE"],
        )],
        _ => Vec::new(),
    }
}

fn service_of_victim(kill: &Kill) -> Option<Remedy> {
    kill.victim.as_ref()?.name.as_ref()?;
    Some(remedy("Protect what must not die", &["systemctl edit UNIT  # [Service] OOMScoreAdjust=-500"]))
}
