//! `ramline explain kill`: logs made of figures, in every prefix, whole, cut, mixed and hostile.

use std::fs;
use std::io::Write;
use std::process::{Command, Stdio};

use ramline_testkit::ramline;
use serde_json::Value;

/// 4 GiB with 3.6 GiB of processes, swap full, every zone below its mark: `hog` has 3.4 GiB, and dies.
const MACHINE: &str = "\
web invoked oom-killer: gfp_mask=0x140cca(GFP_HIGHUSER_MOVABLE|__GFP_COMP), order=0, oom_score_adj=0
CPU: 1 PID: 300 Comm: web Not tainted 6.1.0-test #1
Call Trace:
 dump_header+0x4a/0x1d4
 out_of_memory+0xed/0x2e0
 __alloc_pages+0x35d/0x370
Mem-Info:
active_anon:1000 inactive_anon:942718 isolated_anon:0
 active_file:100 inactive_file:150 isolated_file:0
 unevictable:0 dirty:0 writeback:0
 slab_reclaimable:4000 slab_unreclaimable:8000
 mapped:90 shmem:500 pagetables:3000 bounce:0
 free:11000 free_pcp:100 free_cma:0
Node 0 active_anon:4000kB inactive_anon:3770872kB active_file:400kB inactive_file:600kB unevictable:0kB kernel_stack:4000kB all_unreclaimable? yes
Node 0 DMA32 free:20000kB boost:0kB min:22000kB low:27500kB high:33000kB reserved_highatomic:0KB managed:1900000kB free_cma:0kB
lowmem_reserve[]: 0 0 1900 1900 1900
Node 0 Normal free:24000kB boost:0kB min:25000kB low:31000kB high:37000kB reserved_highatomic:0KB managed:2100000kB free_cma:0kB
lowmem_reserve[]: 0 0 0 0 0
Node 0 DMA32: 5000*4kB (UME) 0*8kB 0*16kB = 20000kB
Node 0 Normal: 6000*4kB (UME) 0*8kB 0*16kB = 24000kB
Free swap  = 0kB
Total swap = 1048572kB
1048576 pages RAM
0 pages HighMem/MovableOnly
48576 pages reserved
Tasks state (memory values in pages):
[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name
[    300]     0   300    20000     2000    36864      100             0 web
[    301]  1000   301  1000000   900000  8000000   250000             0 hog
oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/user.slice,task=hog,pid=301,uid=1000
Out of memory: Killed process 301 (hog) total-vm:4000000kB, anon-rss:3600000kB, file-rss:0kB, shmem-rss:0kB, UID:1000 pgtables:7812kB oom_score_adj:0
";

/// A group of version 2 at 64 MiB, full of memory of its processes, without swap.
const GROUP: &str = "\
job invoked oom-killer: gfp_mask=0xcc0(GFP_KERNEL), order=0, oom_score_adj=0
memory: usage 65536kB, limit 65536kB, failcnt 12
swap: usage 0kB, limit 0kB, failcnt 0
Memory cgroup stats for /system.slice/job.service:
anon 62914560
file 0
kernel 2097152
shmem 0
Tasks state (memory values in pages):
[  pid  ]   uid  tgid total_vm      rss pgtables_bytes swapents oom_score_adj name
[     41]     0    41    20000    15360    36864        0             0 job
oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,oom_memcg=/system.slice/job.service,task_memcg=/system.slice/job.service,task=job,pid=41,uid=0
Memory cgroup out of memory: Killed process 41 (job) total-vm:80000kB, anon-rss:61440kB, file-rss:0kB, shmem-rss:0kB, UID:0 pgtables:36kB oom_score_adj:0
";

/// What stands in front of the line with this number.
type Prefix = fn(usize) -> String;

fn explained(log: &[u8], more: &[&str]) -> Value {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    fs::write(&path, log).unwrap();
    let run = ramline(&[&["explain", "kill", path.to_str().unwrap(), "--json"], more].concat());
    assert_eq!(run.code, 0, "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

/// Each line with its own prefix.
fn prefixed(log: &str, prefix: impl Fn(usize) -> String) -> Vec<u8> {
    log.lines().enumerate().map(|(number, line)| prefix(number) + line + "\n").collect::<String>().into_bytes()
}

fn is_the_machine(answer: &Value, what: &str) {
    assert_eq!(answer["killer"], "kernel-global", "{what}");
    assert_eq!((&answer["victim"]["name"], &answer["victim"]["pid"]), (&"hog".into(), &301.into()), "{what}");
    assert_eq!(
        (&answer["cause"], &answer["confidence"]),
        (&"user_anon".into(), &"sure".into()),
        "{what}: {}",
        answer["why"]
    );
    assert_eq!((&answer["innocent_victim"], &answer["limit_bytes"]), (&false.into(), &Value::Null), "{what}");
}

#[test]
fn the_answer_is_the_same_under_every_prefix_a_tool_puts_before_a_line() {
    is_the_machine(&explained(MACHINE.as_bytes(), &[]), "none");
    let prefixes: [(&str, Prefix); 9] = [
        ("dmesg", |n| format!("[  100.{n:06}] ")),
        ("caller", |n| format!("[  100.{n:06}][ T300] ")),
        ("dmesg -T", |n| format!("[Mon Nov 30 00:46:{:02} 2026] ", n % 60)),
        ("dmesg -x", |n| format!("kern  :warn  : [  100.{n:06}] ")),
        ("syslog", |n| format!("Nov 30 00:46:{:02} host kernel: [  100.{n:06}] ", n % 60)),
        ("short-iso", |n| format!("2026-11-30T00:46:{:02}+0100 host kernel: ", n % 60)),
        ("kmsg", |n| format!("4,{n},{},-;", 100_000_000 + n)),
        ("container", |n| format!("2026-11-30T00:46:{:02}.123456789Z stdout F [  100.{n:06}] ", n % 60)),
        ("colours", |n| format!("\u{1b}[32m[  100.{n:06}]\u{1b}[0m ")),
    ];
    for (name, prefix) in prefixes {
        is_the_machine(&explained(&prefixed(MACHINE, prefix), &[]), name);
    }
    let json = MACHINE.lines().enumerate().map(|(n, line)| {
        let realtime = (1_772_322_360_000_000_u64 + n as u64).to_string();
        serde_json::json!({"__REALTIME_TIMESTAMP": realtime, "SYSLOG_IDENTIFIER": "kernel", "MESSAGE": line})
            .to_string()
            + "\n"
    });
    is_the_machine(&explained(json.collect::<String>().as_bytes(), &[]), "journal as JSON");
    let export = MACHINE.lines().map(|line| {
        format!("__CURSOR=s\n__REALTIME_TIMESTAMP=1772322360000000\nSYSLOG_IDENTIFIER=kernel\nMESSAGE={line}\n\n")
    });
    is_the_machine(&explained(export.collect::<String>().as_bytes(), &[]), "journal export");
    is_the_machine(&explained(MACHINE.replace('\n', "\r\n").as_bytes(), &[]), "CRLF");
    let mut latin = prefixed(MACHINE, |_| "f?vr. 01 00:46:00 host kernel: ".to_owned());
    latin.iter_mut().filter(|byte| **byte == b'?').for_each(|byte| *byte = 0xe9);
    is_the_machine(&explained(&latin, &[]), "Windows-1252");
    let mut lines: Vec<&str> = MACHINE.lines().collect();
    let stamped: Vec<String> =
        lines.drain(..).enumerate().map(|(n, line)| format!("[  100.{n:06}] {line}\n")).collect();
    let newest_first: String = stamped.into_iter().rev().collect();
    is_the_machine(&explained(newest_first.as_bytes(), &[]), "newest first");
}

#[test]
fn pages_of_64_kib_are_known_from_the_figures() {
    let large = MACHINE.replace("4kB (UME) 0*8kB 0*16kB", "64kB (UME) 0*128kB 0*256kB");
    let answer = explained(large.as_bytes(), &[]);
    assert_eq!(answer["page_size"], serde_json::json!({"size": 65536, "assumed": false}));
}

#[test]
fn a_group_at_its_limit_is_named_with_the_limit() {
    let answer = explained(GROUP.as_bytes(), &[]);
    assert_eq!((&answer["killer"], &answer["limit_bytes"]), (&"kernel-memcg".into(), &67_108_864.into()));
    assert_eq!(
        (&answer["cause"], &answer["confidence"], &answer["victim"]["pid"]),
        (&"memcg_anon".into(), &"sure".into(), &41.into())
    );
    let headline = answer["headline"].as_str().unwrap();
    assert!(
        headline.contains("job (pid 41)") && headline.contains("job.service") && headline.contains("64.0 MiB"),
        "{headline}"
    );
    let commands = answer["avoid"].to_string();
    assert!(commands.contains("systemctl set-property job.service MemoryMax=96M"), "{commands}");
    let dirty = GROUP.replace("anon 62914560\nfile 0", "anon 0\nfile 62914560\nfile_dirty 62000000");
    assert_eq!(explained(dirty.as_bytes(), &[])["cause"], "memcg_dirty_file");
}

#[test]
fn lines_missing_doubled_or_of_others_cost_certainty_and_not_the_answer() {
    for missing in 0..MACHINE.lines().count() {
        let kept =
            MACHINE.lines().enumerate().filter(|(number, _)| *number != missing).map(|(_, line)| format!("{line}\n"));
        let answer = explained(kept.collect::<String>().as_bytes(), &[]);
        assert_eq!(answer["killer"], "kernel-global", "without line {missing}");
        assert!(
            ["user_anon", "unknown"].contains(&answer["cause"].as_str().unwrap()),
            "without line {missing}: {}",
            answer["cause"]
        );
        assert!(answer["innocent_victim"] != true, "without line {missing}");
    }
    let doubled: String = MACHINE.lines().map(|line| format!("{line}\n{line}\n")).collect();
    assert_eq!(explained(doubled.as_bytes(), &[])["victim"]["name"], "hog");
    let mixed: String = MACHINE.lines().map(|line| format!("{line}\naudit: type=1400 audit(1.2:3): pid=1\n")).collect();
    is_the_machine(&explained(mixed.as_bytes(), &[]), "mixed");
    let cut = MACHINE.find("Tasks state").unwrap();
    let answer = explained(&MACHINE.as_bytes()[..cut], &[]);
    assert_eq!((&answer["victim"], &answer["cause"]), (&Value::Null, &"user_anon".into()));
}

#[test]
fn a_machine_that_was_not_short_is_not_called_short() {
    // A block of 64 KiB, of which there is none, with much free memory.
    let failed = "leak: page allocation failure: order:4, mode:0x40cc0(GFP_KERNEL|__GFP_COMP), nodemask=(null),cpuset=/,mems_allowed=0\n";
    let rest: String =
        MACHINE.lines().skip(1).take_while(|line| !line.starts_with("Tasks")).map(|line| format!("{line}\n")).collect();
    let free = rest.replace("Normal free:24000kB", "Normal free:900000kB").replace("6000*4kB", "225000*4kB");
    let answer = explained((failed.to_owned() + &free).as_bytes(), &[]);
    assert_eq!(
        (&answer["killer"], &answer["cause"], &answer["confidence"]),
        (&"none".into(), &"fragmentation".into(), &"sure".into())
    );
    assert!(answer["headline"].as_str().unwrap().starts_with("Nothing was killed"), "{}", answer["headline"]);
}

#[test]
fn one_of_several_kills_is_chosen_by_its_time_and_the_others_are_listed() {
    let first = prefixed(GROUP, |n| format!("Nov 29 23:10:{n:02} host kernel: "));
    let second = prefixed(MACHINE, |n| format!("Nov 30 00:46:{n:02} host kernel: "));
    let log = [first, second].concat();
    let last = explained(&log, &[]);
    is_the_machine(&last, "the last");
    assert_eq!((&last["other_kills"], &last["others"][0]["victim"]["name"]), (&1.into(), &"job".into()));
    assert_eq!(explained(&log, &["--at", "23:10"])["victim"]["name"], "job");
    assert_eq!(explained(&log, &["--at", "Nov 30 00:46"])["victim"]["name"], "hog");
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("log");
    fs::write(&path, &log).unwrap();
    let run = ramline(&["explain", "kill", path.to_str().unwrap(), "--at", "12:00"]);
    assert_eq!(run.code, 2);
    assert!(run.stderr.contains("no kill within ten minutes") && run.stderr.contains("try:"), "{}", run.stderr);
    assert!(ramline(&["explain", "kill", path.to_str().unwrap(), "--at", "soon"]).stderr.contains("no time"));
    assert!(ramline(&["explain", "swappiness", path.to_str().unwrap()]).stderr.contains("belongs to 'explain kill'"));
    assert!(ramline(&["explain", "kill", "/nonexistent/log"]).stderr.contains("/nonexistent/log"));
}

#[test]
fn a_hostile_name_is_data() {
    for name in ["(sd-pam)", "531", "a) total-vm:1kB", "\u{1b}[31mred", "x,pid=1,uid=0", "runc:[2:INIT]"] {
        let log = MACHINE.replace("hog", name);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("log");
        fs::write(&path, &log).unwrap();
        let run = ramline(&["explain", "kill", path.to_str().unwrap()]);
        assert_eq!(run.code, 0, "{name:?}");
        assert!(!run.stdout.contains('\u{1b}'), "{name:?}: {}", run.stdout);
        let answer = explained(log.as_bytes(), &[]);
        assert_eq!((&answer["victim"]["pid"], &answer["cause"]), (&301.into(), &"user_anon".into()), "{name:?}");
    }
    // What another program logs is not the kernel's.
    let forged = explained(
        b"Nov 30 00:46:00 host sshd[7]: Out of memory: Killed process 1 (init) total-vm:1kB, anon-rss:1kB\n",
        &[],
    );
    assert_eq!(forged["nothing_found"], true);
}

#[test]
fn programs_that_kill_are_named_and_a_full_disk_is_no_lack_of_memory() {
    let oomd = explained(b"Nov 30 00:46:00 host systemd-oomd[840]: Killed /user.slice/app.scope due to memory pressure for /user.slice being 61.00% > 50.00% for > 20s with reclaim activity\n", &[]);
    assert_eq!(
        (&oomd["killer"], &oomd["victim"]["name"], &oomd["cause"]),
        (&"systemd-oomd".into(), &"app.scope".into(), &"pressure_policy".into())
    );
    let early = explained(
        b"Nov 30 00:46:00 host earlyoom[7]: sending SIGTERM to process 99 uid 5 \"db\": badness 800, VmRSS 700 MiB\n",
        &[],
    );
    assert_eq!(
        (&early["killer"], &early["victim"]["pid"], &early["cause"]),
        (&"earlyoom".into(), &99.into(), &"threshold_policy".into())
    );
    let low = explained(b"Nov 30 00:46:00 host earlyoom[7]: mem avail:    50 of 16000 MiB ( 0.31%), swap free: 3000 of 4000 MiB (75.00%)\n", &[]);
    assert_eq!((&low["killer"], &low["victim"]), (&"none".into(), &Value::Null));
    let disk = explained(b"Nov 30 00:46:00 host kubelet[7]: I1130 00:46:00.000000    1200 eviction_manager.go:376] \"Eviction manager: attempting to reclaim\" resourceName=\"ephemeral-storage\"\nNov 30 00:46:01 host kubelet[7]: I1130 00:46:01.000000    1200 eviction_manager.go:629] \"Eviction manager: pod is evicted successfully\" pod=\"shop/cart\"\n", &[]);
    assert_eq!(
        (&disk["killer"], &disk["victim"]["name"], &disk["cause"]),
        (&"kubelet".into(), &"shop/cart".into(), &"not_memory".into())
    );
}

#[test]
fn a_log_is_read_from_standard_input_and_an_empty_one_says_so() {
    let binary = ramline_testkit::binary();
    let mut child = Command::new(binary)
        .args(["explain", "kill", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(GROUP.as_bytes()).unwrap();
    let out = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
    assert!(
        out.starts_with("job (pid 41) was killed by the kernel: job.service was at its limit of 64.0 MiB."),
        "{out}"
    );
    assert!(out.lines().all(|line| line.chars().count() <= 100), "{out}");
    let nothing = explained(b"", &[]);
    assert_eq!((&nothing["nothing_found"], &nothing["killer"]), (&true.into(), &"none".into()));
}

/// What `sadf -j` prints of a minute each, in which some task waited for memory, and all of them, so many percent.
fn recorded(waits: &[(f64, f64)]) -> String {
    let minute = |(at, (some, full)): (usize, &(f64, f64))| {
        format!(
            r#"{{"timestamp": {{"date": "2026-11-29", "time": "00:{:02}:00", "utc": 1, "interval": 60}},
            "memory": {{"memfree": 900, "memused": 3100, "avail": 500, "buffers": 0, "cached": 400}},
            "psi": {{"psi-mem": {{"some_avg10": 0, "some_avg60": 0, "some_avg300": 0, "some_avg": {some},
                "full_avg10": 0, "full_avg60": 0, "full_avg300": 0, "full_avg": {full}}}}}}}"#,
            40 + at
        )
    };
    let minutes: Vec<String> = waits.iter().enumerate().map(minute).collect();
    let host = r#""nodename": "db", "release": "6.1.0", "machine": "x86_64", "number-of-cpus": 2, "restarts": []"#;
    format!(r#"{{"sysstat": {{"hosts": [{{{host}, "statistics": [{}]}}]}}}}"#, minutes.join(","))
}

#[test]
fn a_freeze_that_killed_nothing_is_found_in_what_was_recorded() {
    let folder = tempfile::tempdir().unwrap();
    let explained_of = |name: &str, waits: &[(f64, f64)]| {
        let (json, history) = (folder.path().join(format!("{name}.json")), folder.path().join(name));
        std::fs::write(&json, recorded(waits)).unwrap();
        let history = history.to_str().unwrap().to_owned();
        let import = ramline(&["history", "import", json.to_str().unwrap(), "--history", &history]);
        assert_eq!(import.code, 0, "{}", import.stderr);
        explained(b"", &["--history", &history, "--from", "2026-11-28 00:00", "--to", "2026-11-30 12:00"])
    };
    let froze = explained_of("froze", &[(0.0, 0.0), (1.0, 0.0), (80.0, 30.0), (60.0, 12.0), (0.0, 0.0)]);
    assert_eq!(
        (&froze["cause"], &froze["victim"], &froze["killer"]),
        (&"thrash_freeze".into(), &Value::Null, &"none".into())
    );
    let stall = &froze["stall"];
    let length = stall["to_unix_ms"].as_u64().unwrap() - stall["from_unix_ms"].as_u64().unwrap();
    assert_eq!(
        (length, stall["some"].as_u64(), stall["full"].as_u64()),
        (120_000, Some(84_000_000_000), Some(25_200_000_000))
    );
    let headline = froze["headline"].as_str().unwrap();
    assert!(
        headline.starts_with("The log has no kill. From ") && headline.ends_with("waited for memory 70 % of the time."),
        "{headline}"
    );
    let calm = explained_of("calm", &[(0.0, 0.0), (20.0, 5.0), (9.0, 0.0)]);
    assert_eq!((&calm["nothing_found"], &calm["stall"]), (&true.into(), &Value::Null));
}
