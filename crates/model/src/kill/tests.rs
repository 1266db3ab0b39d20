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
