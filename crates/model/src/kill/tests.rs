//! Rules on small logs, each with the figure that decides on one side and then on the other.

use ramline_snapshot::kernel_log::{LogEvent, LogReader};

use super::*;
use crate::prelude::*;

fn judged(log: &str) -> Kill {
    let mut reader = LogReader::default();
    reader.feed(log.as_bytes());
    explain(&reader.finish(), None).unwrap()
}

fn decided(log: &str) -> (KillCause, Certainty) {
    let kill = judged(log);
    (kill.cause, kill.confidence)
}

/// A machine of 1 GiB whose only zone for the kernel is DMA, with CMA in it; HighMem is free.
fn arm(free: u64, cma: u64) -> String {
    format!(
        "mkfs invoked oom-killer: gfp_mask=0x101cc0(GFP_USER|__GFP_WRITE), order=0, oom_score_adj=0\n\
         Mem-Info:\n\
         active_anon:5000 inactive_anon:4000 isolated_anon:0\n\
         active_file:6000 inactive_file:60000 isolated_file:0\n\
         slab_reclaimable:5000 slab_unreclaimable:4000\n\
         free:100000 free_pcp:0 free_cma:40000\n\
         DMA free:{free}kB min:22528kB low:28160kB high:33792kB managed:668264kB free_cma:{cma}kB\n\
         lowmem_reserve[]: 0 0 1216 0\n\
         HighMem free:300000kB min:512kB low:600kB high:700kB managed:400000kB free_cma:0kB\n\
         lowmem_reserve[]: 0 0 0 0\n\
         Free swap  = 0kB\n\
         Total swap = 0kB\n\
         262144 pages RAM\n\
         8192 pages reserved\n\
         Out of memory: Killed process 7 (mkfs) total-vm:9000kB, anon-rss:100kB, file-rss:0kB, shmem-rss:0kB\n"
    )
}

#[test]
fn cma_that_a_request_may_not_use_decides_by_a_few_pages() {
    assert_eq!(decided(&arm(186_320, 163_840)), (KillCause::CmaOnlyFree, Certainty::Sure));
    // 48 kB more, and one page to be above it: the zone could have served the request.
    assert_ne!(decided(&arm(186_372, 163_840)).0, KillCause::CmaOnlyFree);
    let none = judged(&arm(22_000, 0));
    assert_eq!(
        (none.cause, none.innocent_victim),
        (KillCause::ZoneOrPolicy, Some(true)),
        "lowmem is full, HighMem is free"
    );
}

#[test]
fn a_constraint_that_is_printed_is_believed_and_a_policy_on_all_nodes_is_none() {
    let log = |constraint: &str, nodes: &str| {
        format!(
            "a invoked oom-killer: gfp_mask=0x140dca(GFP_HIGHUSER_MOVABLE), order=0, oom_score_adj=0\n\
             oom-kill:constraint={constraint},nodemask={nodes},cpuset=/,mems_allowed=0-1,global_oom,task_memcg=/,task=a,pid=5,uid=0\n\
             Out of memory: Killed process 5 (a) total-vm:9kB, anon-rss:1kB, file-rss:0kB, shmem-rss:0kB\n"
        )
    };
    assert_eq!(decided(&log("CONSTRAINT_MEMORY_POLICY", "1")), (KillCause::ZoneOrPolicy, Certainty::Likely));
    assert_eq!(decided(&log("CONSTRAINT_NONE", "0-1")), (KillCause::Unknown, Certainty::Unknown));
}

#[test]
fn what_the_kernel_holds_has_no_owner_so_a_small_victim_is_not_called_innocent() {
    let log = |anon: u64, slab: u64| {
        format!(
            "a invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0\n\
             Mem-Info:\n\
             active_anon:{anon} inactive_anon:0 isolated_anon:0\n\
             active_file:10 inactive_file:10 isolated_file:0\n\
             slab_reclaimable:100 slab_unreclaimable:{slab}\n\
             free:2000 free_pcp:0 free_cma:0\n\
             Free swap  = 0kB\n\
             Total swap = 0kB\n\
             100000 pages RAM\n\
             0 pages reserved\n\
             [  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name\n\
             [      5]     0     5    20000      100    36864        0             0 small\n\
             [      6]     0     6   200000    {anon}    36864        0         -1000 large\n\
             Out of memory: Killed process 5 (small) total-vm:80000kB, anon-rss:400kB, file-rss:0kB, shmem-rss:0kB\n"
        )
    };
    let slab = judged(&log(1000, 90_000));
    assert_eq!((slab.cause, slab.innocent_victim), (KillCause::SlabGrowth, None));
    let anon = judged(&log(90_000, 1000));
    assert_eq!((anon.cause, anon.innocent_victim), (KillCause::UserAnon, Some(true)));
    let none = judged(&log(1000, 1000));
    assert_eq!((none.cause, none.innocent_victim), (KillCause::KernelUnaccounted, None));
}

#[test]
fn a_signal_is_no_death_where_the_kernel_killed_the_same_process() {
    let signal =
        "Nov 30 00:46:00 h earlyoom[9]: sending SIGTERM to process 77 uid 5 \"tab\": badness 8, VmRSS 900 MiB\n";
    let exited = "Nov 30 00:46:01 h earlyoom[9]: process exited after 0.1 seconds\n";
    let kernel = "Nov 30 00:46:05 h kernel: Out of memory: Killed process 77 (tab) total-vm:9kB, anon-rss:9kB, file-rss:0kB, shmem-rss:0kB\n";
    assert_eq!(judged(&[signal, exited].concat()).killer, Killer::Earlyoom);
    assert_eq!(judged(&[signal, kernel].concat()).killer, Killer::KernelGlobal);
    assert_eq!(judged(&[signal, exited, kernel].concat()).killer, Killer::KernelGlobal);
    assert_eq!(judged(&[signal, exited, &kernel.replace("77", "78")].concat()).killer, Killer::Earlyoom);
}

#[test]
fn statistics_of_version_1_are_those_of_the_whole_tree() {
    let kill = judged(
        "Task in /a/b killed as a result of limit of /a\n\
         memory: usage 1024kB, limit 1024kB, failcnt 5\n\
         memory+swap: usage 1024kB, limit 9007199254740988kB, failcnt 0\n\
         Memory cgroup stats for /a: cache:0KB rss:0KB swap:0KB\n\
         Memory cgroup stats for /a/b: cache:4KB rss:1000KB swap:0KB\n\
         Killed process 9 (b) total-vm:9kB, anon-rss:1000kB, file-rss:0kB\n",
    );
    assert_eq!(
        (kill.cause, kill.limit_bytes, kill.group.as_deref()),
        (KillCause::MemcgAnon, Some(Bytes::from_mib(1)), Some("/a"))
    );
}

#[test]
fn the_first_kill_of_the_last_incident_is_explained() {
    let kill = |time: &str, pid: u32| {
        format!(
            "Nov 30 {time} h kernel: Out of memory: Killed process {pid} (p{pid}) total-vm:9kB, anon-rss:9kB, file-rss:0kB\n"
        )
    };
    let log = [kill("01:00:00", 1), kill("05:20:00", 2), kill("05:20:03", 3)].concat();
    let last = judged(&log);
    assert_eq!((last.victim.unwrap().pid, last.other_kills), (Some(2), 2));
    // Of a report that the log's end cuts off behind its first line nothing is known but that it began.
    let cut = "Nov 30 05:21:00 h kernel: sort invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP), order=0, oom_score_adj=0\n";
    let cut_off = judged(&[log.as_str(), cut].concat());
    assert_eq!((cut_off.victim.unwrap().pid, cut_off.other_kills), (Some(2), 3));
    assert!(judged(cut).victim.is_none());
    let mut reader = LogReader::default();
    reader.feed(log.as_bytes());
    let log = reader.finish();
    let LogEvent::Report(report) = &log.events[2] else { panic!() };
    assert_eq!(explain(&log, report.at.as_ref()).unwrap().victim.unwrap().pid, Some(3));
}

#[test]
fn figures_that_sysrq_prints_are_no_kill() {
    let figures = "Mem-Info:\n\
         active_anon:356000 inactive_anon:3000 isolated_anon:0\n\
         active_file:50 inactive_file:100 isolated_file:0\n\
         slab_reclaimable:3000 slab_unreclaimable:29000\n\
         free:12000 free_pcp:0 free_cma:0\n\
         524000 pages RAM\n\
         90000 pages reserved\n";
    // Cut off at its head, a report is one of a kill; behind SysRq-m nothing died.
    assert_eq!(judged(figures).killer, Killer::KernelGlobal);
    let by_hand = judged(&format!("sysrq: Show Memory\n{figures}"));
    assert!(by_hand.nothing_found);
    // Nor do they belong to the kill before them.
    let kill = "Out of memory: Killed process 5 (a) total-vm:9kB, anon-rss:1kB, file-rss:0kB, shmem-rss:0kB\n";
    let before = judged(&format!("{kill}sysrq: SysRq : Show Memory\n{figures}"));
    assert_eq!((before.victim.unwrap().pid, before.cause), (Some(5), KillCause::Unknown));
}

#[test]
fn a_first_line_that_a_mail_has_broken_is_read_whole() {
    let failure = |broken: &str| {
        format!(
            "> x: page allocation failure: order:0,{broken}mode:0xa20(GFP_ATOMIC), nodemask=(null),cpuset=/,mems_allowed=0\n\
             > Mem-Info:\n\
             > active_anon:10000 inactive_anon:12000 isolated_anon:0\n\
             >  active_file:14000 inactive_file:3900000 isolated_file:0\n\
             >  slab_reclaimable:68000 slab_unreclaimable:36000\n\
             >  free:25000 free_pcp:3000 free_cma:0\n\
             > 4194304 pages RAM\n\
             > 94000 pages reserved\n"
        )
    };
    let whole = judged(&failure(" "));
    assert_eq!((whole.killer, whole.cause), (Killer::None, KillCause::AtomicBurst));
    assert_eq!(judged(&failure("\n> ")), whole);
}

#[test]
fn counters_of_linux_2_6_31_and_older_are_read() {
    let kill = judged(
        "a invoked oom-killer: gfp_mask=0x201da, order=0, oom_adj=0\n\
         Active_anon:290000 active_file:30 inactive_anon:97000\n \
         inactive_file:60 unevictable:11000 dirty:0 writeback:0 unstable:0\n \
         free:3300 slab:13000 mapped:5000 pagetables:6000 bounce:0\n\
         DMA32 free:5588kB min:5608kB low:7008kB high:8412kB present:1982128kB\n\
         lowmem_reserve[]: 0 0 0 0\n\
         Free swap  = 0kB\n\
         Total swap = 979956kB\n\
         507000 pages RAM\n\
         23000 pages reserved\n",
    );
    // Shared memory is not printed, and may be most of it.
    assert_eq!((kill.cause, kill.confidence), (KillCause::UserAnon, Certainty::Likely));
    assert_eq!(kill.also, [KillCause::ShmemTmpfs]);
}

#[test]
fn a_mask_of_the_request_without_node_0_is_a_policy() {
    let log = |mask: &str, places: &str| {
        format!(
            "a:12 invoked oom-killer: gfp_mask=0x16080c0(GFP_KERNEL|__GFP_ZERO), nodemask={mask},  order=0, oom_score_adj=0\n{places}\
             Out of memory: Kill process 5 (a) score 952 or sacrifice child\n\
             Killed process 5 (a) total-vm:9kB, anon-rss:1kB, file-rss:0kB, shmem-rss:0kB\n"
        )
    };
    assert_eq!(decided(&log("1", "")), (KillCause::ZoneOrPolicy, Certainty::Likely));
    assert_eq!(decided(&log("0", "")).0, KillCause::Unknown);
    assert_eq!(decided(&log("(null)", "")).0, KillCause::Unknown);
    assert_eq!(decided(&log("0", "a cpuset=/ mems_allowed=0-1\n")).0, KillCause::ZoneOrPolicy);
    // Linux 4.9 prints the cpuset's nodes where the request has no mask.
    assert_eq!(decided(&log("0-1", "a cpuset=/ mems_allowed=0-1\n")).0, KillCause::Unknown);
}

#[test]
fn programs_that_run_in_a_terminal_are_known_by_their_words() {
    let said = |lines: &str| {
        judged(&format!("mem avail:   19 of   950 MiB ( 2.10%), swap free:    0 of    0 MiB ( 0.00%)\n{lines}\n"))
    };
    for line in [
        "sending SIGTERM to process 696 uid 1001 \"node\": badness 757, VmRSS 637 MiB",
        "Jun 12 06:39:16: sending SIGTERM to process 696 uid 1001 \"node\": badness 757, VmRSS 637 MiB",
        "Killing process 'node' with signal 15, pid: 696, badness: 538, VmRSS: 637 MiB",
        "killing process 696 \"node\" with signal 15: badness 550, VmRSS 637 MiB",
    ] {
        let kill = said(line);
        let victim = kill.victim.unwrap();
        assert_eq!(
            (kill.killer, victim.name.as_deref(), victim.pid),
            (Killer::Earlyoom, Some("node"), Some(696)),
            "{line}"
        );
        assert_eq!(victim.held, Some(Bytes::from_mib(637)), "{line}");
    }
    let oomd =
        judged("Killed /user.slice/a.scope due to memory pressure for /user.slice being 82.36% > 80.00% for > 20s\n");
    assert_eq!((oomd.killer, oomd.cause), (Killer::SystemdOomd, KillCause::PressurePolicy));
}

#[test]
fn a_limit_of_the_host_is_none_of_a_group() {
    let log = |limit: &str| format!("Task in /user.slice killed as a result of limit of {limit}\n");
    assert_eq!(judged(&log("host")).killer, Killer::KernelGlobal);
    assert_eq!(judged(&log("/user.slice")).killer, Killer::KernelMemcg);
}
