use super::line::marks;
use super::*;
use ramline_evidence::path::Layer;
use ramline_units::Nanos;

const EVENTS: &str = "\
# tracer: nop
 ramline [2]-77    [001] .....   10.000001: sys_pread64(fd: 3, buf: 7f, count: 1000, pos: 0)
 ramline [2]-77    [001] .....   10.000003: mm_filemap_get_pages: dev 254:0 ino 5 ofs=0 max_ofs=0
 ramline [2]-77    [001] .....   10.000010: block_rq_issue: 254,0 R 4096 () 8 + 8 none,0,0 [ramline]
 ramline [2]-77    [001] d..2.   10.000012: sched_switch: prev_comm=ramline prev_pid=77 prev_prio=120 prev_state=D ==> next_comm=swapper next_pid=0 next_prio=120
      <idle>-0     [001] ..s1.   10.000090: block_rq_complete: 254,0 R () 8 + 8 none,0,0 [0]
      <idle>-0     [001] d..2.   10.000092: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=ramline next_pid=77 next_prio=120
 ramline [2]-77    [001] .....   10.000100: sys_pread64 -> 0x1000
";

#[test]
fn a_call_seen_through_tracepoints_has_its_wait_and_what_an_interrupt_did() {
    let path = call(EVENTS, 77, "pread64", Clock::NANOS).unwrap();
    assert_eq!((path.tracer.as_str(), path.took), ("tracepoints", Nanos(99_000)));
    let names: Vec<&str> = path.steps.iter().map(|step| step.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "sys_pread64",
            "mm_filemap_get_pages",
            "block_rq_issue",
            "sched_switch",
            "block_rq_complete",
            "running again",
            "sys_pread64"
        ]
    );
    assert_eq!(path.by_layer()[&Layer::Waiting], Nanos(80_000));
    assert_eq!(path.stalls(), [("block_rq_issue".to_owned(), Nanos(80_000))]);
    assert_eq!(path.steps[4].by.as_deref(), Some("an interrupt"));
    assert_eq!(call(EVENTS, 78, "pread64", Clock::NANOS), None);
}

#[test]
fn stacks_make_a_tree_of_tracepoints_and_tell_where_it_slept() {
    let stack = "\
 ramline-77    [001] .....   10.000010: <stack trace>
 => trace_event_raw_event_block_rq
 => blk_mq_start_request
 => ext4_readahead.isra.0
 => filemap_read
 => ext4_file_read_iter
 => vfs_read
 => __x64_sys_pread64
 => do_syscall_64
";
    let wait = " ramline-77 [001] d..2. 10.000012: <stack trace>\n => __schedule\n => io_schedule\n => filemap_read\n => ext4_file_read_iter\n => vfs_read\n => __x64_sys_pread64\n";
    let text: String = EVENTS
        .lines()
        .flat_map(|line| {
            let after = if line.contains("block_rq_issue") {
                stack
            } else if line.contains("prev_pid=77") {
                wait
            } else {
                ""
            };
            [line, "\n", after]
        })
        .collect();
    let path = call(&text, 77, "pread64", Clock::NANOS).unwrap();
    assert_eq!(path.tracer, "tracepoints and stacks");
    assert_eq!(path.registered(), ["vfs_read -> ext4_file_read_iter", "filemap_read -> ext4_readahead"]);
    assert_eq!(sleeps(&text, 77, Clock::NANOS)[0].place, "filemap_read");
    let times: u64 = path.steps.iter().filter(|step| step.by.is_none()).map(|step| step.own.0).sum();
    assert_eq!(times, path.took.0, "all of the call is in its steps");
}

#[test]
fn sleeps_are_told_by_what_came_before_and_a_lost_turn_is_none() {
    let sleep = Sleep { place: "block_rq_issue".to_owned(), times: 1, time: Nanos(80_000) };
    assert_eq!(sleeps(EVENTS, 77, Clock::NANOS), [sleep]);
    let ready = EVENTS.replace("prev_state=D", "prev_state=R+");
    assert!(sleeps(&ready, 77, Clock::NANOS).is_empty());
    // What it stood in as it lost its turn is what it did last; the scheduler's own functions are not.
    let turn = " ramline-77 [001] d..2. 10.000012: <stack trace>\n => __schedule\n => preempt_schedule_irq\n => filemap_read\n => __x64_sys_pread64\n";
    let lost: Vec<&str> = ready.lines().take(7).collect();
    let slept: Vec<&str> = EVENTS.lines().skip(4).take(3).collect();
    let both = [&lost[..5], &[turn.trim_end()], &lost[5..], &slept].concat().join("\n");
    assert_eq!(sleeps(&both, 77, Clock::NANOS)[0].place, "filemap_read");
}

#[test]
fn a_turn_that_another_had_is_no_wait() {
    let ready = EVENTS.replace("prev_state=D", "prev_state=R+");
    let stack = " ramline-77 [001] d..2. 10.000012: <stack trace>\n => __schedule\n => __cond_resched\n => filemap_read\n => vfs_read\n => __x64_sys_pread64\n";
    let with_stack: String =
        ready.lines().flat_map(|line| [line, "\n", if line.contains("prev_pid=77") { stack } else { "" }]).collect();
    for (text, frames) in [(&ready, 0), (&with_stack, 2)] {
        let path = call(text, 77, "pread64", Clock::NANOS).unwrap();
        let by = path.by_layer();
        assert_eq!((by.get(&Layer::Preempted), by.get(&Layer::Waiting)), (Some(&Nanos(80_000)), None));
        assert!(path.stalls().is_empty(), "{:?}", path.stalls());
        let of_turn = path.steps.iter().filter(|step| step.layer == Layer::Preempted).count();
        assert_eq!(of_turn, frames + 1, "the switch, and __schedule and __cond_resched where they are seen");
    }
}

const FUNCTIONS: &str = "\
 ramline-77    [000] .....   2000: __x64_sys_pread64 <-do_syscall_64
 ramline-77    [000] .....   2100: vfs_read <-__x64_sys_pread64
 ramline-77    [000] .....   2200: rw_verify_area <-vfs_read
 ramline-77    [000] d.h1.   2250: tick_sched_timer <-hrtimer_interrupt
 ramline-77    [000] .....   2300: ext4_file_read_iter <-vfs_read
 ramline-77    [000] .....   2400: filemap_read <-ext4_file_read_iter
 ramline-77    [000] .....   2900: syscall_exit_to_user_mode <-do_syscall_64
";

#[test]
fn functions_stand_below_their_callers_and_ticks_become_time() {
    let path = call(FUNCTIONS, 77, "pread64", Clock { tick_ns: 0.5 }).unwrap();
    let shown: Vec<(u32, &str, u64)> = path
        .steps
        .iter()
        .filter(|step| step.by.is_none())
        .map(|step| (step.depth, step.name.as_str(), step.own.0))
        .collect();
    assert_eq!(
        shown[..5],
        [
            (0, "__x64_sys_pread64", 50),
            (1, "vfs_read", 50),
            (2, "rw_verify_area", 50),
            (2, "ext4_file_read_iter", 50),
            (3, "filemap_read", 250)
        ]
    );
    assert_eq!(path.registered(), ["vfs_read -> ext4_file_read_iter"]);
    assert_eq!(path.took, Nanos(450));
}

const GRAPH: &str = "\
 0)               |  __x64_sys_pread64() {
 0)               |    vfs_read() {
 0)   0.200 us    |      rw_verify_area();
 0)               |      ext4_file_read_iter() {
 0) + 12.500 us   |        filemap_read();
 0) ! 113.000 us  |      }
 0)   114.000 us  |    }
 0)   114.500 us  |  }
 0)   1.000 us    |  something_else();
";

#[test]
fn a_graph_gives_each_function_its_own_time() {
    let path = graph(GRAPH, "pread64").unwrap();
    let shown: Vec<(u32, &str, u64)> =
        path.steps.iter().map(|step| (step.depth, step.name.as_str(), step.own.0)).collect();
    assert_eq!(
        shown,
        [
            (0, "__x64_sys_pread64", 500),
            (1, "vfs_read", 800),
            (2, "rw_verify_area", 200),
            (2, "ext4_file_read_iter", 100_500),
            (3, "filemap_read", 12_500)
        ]
    );
    assert_eq!(path.took, Nanos(114_500));
}

#[test]
fn sleep_in_a_graph_is_waiting_whatever_the_scheduler_calls_meanwhile() {
    let text = concat!(
        " 0)               |  __x64_sys_pread64() {\n",
        " 0)               |    io_schedule() {\n",
        " 0)               |      schedule() {\n",
        " 0)   1.000 us    |        dequeue_task();\n",
        " 0) ! 90.000 us   |        finish_task_switch.isra.0();\n",
        " 0) ! 95.000 us   |      }\n",
        " 0) ! 97.000 us   |    }\n",
        " 0)   1.000 us    |    strange_function();\n",
        " 0) ! 100.000 us  |  }\n"
    );
    let by = graph(text, "pread64").unwrap().by_layer();
    assert_eq!(by.get(&Layer::Waiting), Some(&Nanos(97_000)));
    assert_eq!(by.get(&Layer::Other), Some(&Nanos(1_000)));
}

#[test]
fn hostile_text_is_no_call_and_no_panic() {
    for text in [
        "",
        "[",
        "-[0] x",
        "a-1 [0] ..... 1.x: sys_pread64(",
        " |  }",
        "0) | __x64_sys_pread64() {",
        "a-77 [0] . 9: \u{e9}\u{e9}: b",
    ] {
        assert_eq!((call(text, 77, "pread64", Clock::NANOS), graph(text, "pread64")), (None, None), "{text}");
    }
    assert_eq!(
        marks("a-1 [0] ..... 5: tracing_mark_write: ramline mark\nb-1 [0] ..... 9: tracing_mark_write: ramline mark"),
        Some((5, 9))
    );
}

#[test]
fn two_marks_a_known_time_apart_set_the_clock() {
    let text =
        "a-1 [0] ..... 256: tracing_mark_write: ramline mark\nb-1 [0] ..... 25856: tracing_mark_write: ramline mark";
    assert_eq!(Clock::by_marks(text, Nanos(51_200)), Clock { tick_ns: 2.0 });
    assert_eq!(Clock::by_marks("", Nanos(9)), Clock::NANOS);
}
