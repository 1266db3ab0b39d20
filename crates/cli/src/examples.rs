//! Examples of every command: in its help and in its man page, from this one table. A test parses each.
//!
//! What it is not: documentation of options. An example is what a new user types first, with what it is for.

use clap::Command;

/// A command line, and what it is for.
pub type Example = (&'static str, &'static str);

/// Examples by command, in the order of the help.
pub const EXAMPLES: &[(&str, &[Example])] = &[
    (
        "",
        &[
            ("ramline", "where memory is, on one screen"),
            ("ramline checkup --quick", "what is wrong and what to do, in 15 s, changing nothing"),
            ("ramline explain available", "a question, answered with this machine's numbers"),
            ("sudo ramline checkup --html report.html", "measure, prove, and write a report"),
        ],
    ),
    (
        "show",
        &[
            ("ramline show", "where memory is"),
            ("ramline show --watch 1", "the same every second, with rates"),
            ("ramline show pressure --for 2", "rates over 2 s"),
            ("sudo ramline show --at 00:46", "as it was then, from what ramline record has written"),
            ("ramline show --json --snapshot state.json", "a captured machine, as data"),
        ],
    ),
    (
        "top",
        &[
            ("ramline top", "memory, live: ? lists the keys, q quits"),
            ("ramline top --every 5s", "the same every 5 s, for a slow line"),
        ],
    ),
    ("show memory", &[("ramline show memory --watch", "where memory is, every 2 s")]),
    ("show tiers", &[("ramline show tiers", "what is reclaimed first, and what it costs")]),
    (
        "show processes",
        &[
            ("ramline show processes --sort swap", "which programs are swapped out"),
            ("ramline show processes --sort growth --for 10", "which grow"),
            ("ramline show processes --user postgres --command", "each process of a user, with its command line"),
            ("ramline show processes 1 --tree", "a process and all that it started"),
            ("sudo ramline show processes --by container", "by container; root sees all"),
        ],
    ),
    (
        "show cgroups",
        &[
            ("ramline show cgroups --sort pressure", "which groups wait for memory"),
            ("ramline show cgroups ssh.service", "one group in full"),
        ],
    ),
    (
        "show maps",
        &[
            ("sudo ramline show maps", "files that processes map, and what of them is in RAM"),
            ("ramline show maps 1", "one process, exactly"),
            ("ramline show maps sshd --ranges", "by its name, every address range"),
        ],
    ),
    ("show zram", &[("ramline show zram", "every statistic, with its unit")]),
    (
        "show swap",
        &[
            ("ramline show swap --for 10", "what moves in 10 s"),
            (
                "sudo ramline show swap --sample",
                "who owns what is in swap, and what that costs in RAM, within a few percent",
            ),
        ],
    ),
    (
        "show tmpfs",
        &[
            ("ramline show tmpfs --files", "with the largest files in RAM"),
            ("ramline show tmpfs --by user", "whose they are"),
        ],
    ),
    ("show pressure", &[("ramline show pressure --watch", "waiting and reclaim, every 2 s")]),
    (
        "show translate",
        &[
            ("ramline show translate", "what free, htop and others call used here"),
            ("ramline show translate --cgroup /system.slice", "and container tools for one group"),
        ],
    ),
    (
        "checkup",
        &[
            ("ramline checkup --quick", "in 15 s, reading only"),
            ("sudo ramline checkup --html report.html", "measured and proved in a sandbox, as a page"),
            ("sudo ramline checkup --json new.json --compare old.json", "what changed since"),
            ("ramline checkup --quick --exit-code", "for cron and monitoring: 10 on a warning, 0 on notes"),
        ],
    ),
    (
        "explain",
        &[
            ("ramline explain", "the topics"),
            ("ramline explain swappiness", "one of them"),
            ("ramline explain ledger.leftover", "a number of a screen or a report"),
            ("sudo ramline explain kill", "who was killed last for memory here, by whom and why"),
            ("ramline explain kill dmesg.txt --at 00:46", "the same of a log from anywhere, without root"),
        ],
    ),
    (
        "export",
        &[
            ("ramline export", "the metrics, once"),
            ("ramline export --listen", "at http://127.0.0.1:9821/metrics, for Prometheus on this machine"),
            (
                "sudo ramline export --textfile /var/lib/prometheus/node-exporter --every 30",
                "beside node_exporter, every 30 s",
            ),
            ("ramline export --format prometheus | promtool check metrics", "what promtool says of them"),
        ],
    ),
    (
        "measure",
        &[
            ("sudo ramline measure tiers", "what each tier costs on this machine"),
            ("sudo ramline measure pages", "what this machine's own pages compress to, and how fast"),
        ],
    ),
    (
        "measure pages",
        &[
            ("sudo ramline measure pages --prove", "all processes, and the kernel's zram beside the libraries"),
            ("ramline measure pages --pid 4711 --algorithms lz4,zstd:3", "one process of yours"),
            ("sudo ramline measure pages --prove --judge -- make test", "your own command under each winner"),
            ("sudo ramline measure pages --profile web.json", "kept without contents, for another host"),
            ("ramline measure pages --from web.json", "shown there"),
        ],
    ),
    (
        "measure tiers",
        &[
            ("ramline measure tiers --quick", "in 6 s, writing nothing to a disk"),
            ("sudo ramline measure tiers --prove --dir /srv", "with zram, and the disk of /srv"),
        ],
    ),
    (
        "cache",
        &[
            ("ramline cache stat /var/lib", "how much of a tree is in the page cache"),
            ("sudo ramline cache top", "what fills the page cache"),
        ],
    ),
    (
        "cache stat",
        &[
            ("ramline cache stat big.iso", "one file"),
            ("ramline cache stat --du /usr", "summed up by directory"),
            ("ramline cache stat --map big.iso", "where in the file its pages are"),
        ],
    ),
    ("cache top", &[("sudo ramline cache top --within 5s", "what was found after 5 s")]),
    (
        "cache evict",
        &[
            ("ramline cache evict --dry-run big.iso", "what would go"),
            ("ramline cache evict --sync big.iso", "write it first, so that all of it can go"),
        ],
    ),
    ("cache warm", &[("ramline cache warm /usr/lib/chromium", "read it in before it is needed")]),
    ("cache save", &[("sudo ramline cache save hot.set /srv", "remember what is in the page cache")]),
    ("cache restore", &[("sudo ramline cache restore hot.set", "read it in again, after a reboot")]),
    ("cache run", &[("sudo ramline cache run -- tar cf /backup/home.tar /home", "a backup that pushes nothing out")]),
    (
        "cache pin",
        &[("sudo ramline cache pin --budget 200MiB /usr/bin/vim", "keep a program in memory while this runs")],
    ),
    (
        "cache trace",
        &[
            ("sudo ramline cache trace -- git status", "hits and misses of a command"),
            ("sudo ramline cache trace --for 30", "of all processes, for 30 s"),
            ("sudo ramline cache trace --pid 1 --for 10", "of one process and what it starts"),
        ],
    ),
    ("cache watch", &[("sudo ramline cache watch --for 60 /var/lib/mysql", "what pushes these files out")]),
    (
        "predict",
        &[
            ("sudo ramline predict -- make", "a program: what it needs, and what helps it with less"),
            ("sudo ramline predict --pid postgres --ram 2GiB,4GiB", "a process that runs, with other amounts of RAM"),
            ("ramline predict", "a load without swap, with swap and with zram, by swappiness"),
            ("ramline predict --fill random --read-ahead 128KiB,8MiB", "data that does not compress, two read-aheads"),
            (
                "ramline predict known-load --load server --limit 64MiB",
                "a server with a heap, files and code in 64 MiB",
            ),
            ("ramline predict load.trace --limit 64MiB", "the touches of a file, made by trace make or trace import"),
            ("sudo ramline predict --verify", "the best, the worst and no-swap proved in the lab"),
        ],
    ),
    (
        "need",
        &[
            ("sudo ramline need postgresql.service", "how much memory a service needs for what it does now"),
            ("sudo ramline need /docker/4f0c --for 30s --json", "a container, watched for 30 s, as data"),
            ("sudo ramline need postgresql --zram", "and whether zram would help it"),
            ("sudo ramline need redis --try", "the same measured: its size is changed for a while, and put back"),
            ("sudo ramline need redis --try --verify", "and what it misses with the answer as its limit"),
        ],
    ),
    (
        "curve",
        &[
            ("sudo ramline curve", "how many of the machine's page cache misses more memory would save"),
            ("sudo ramline curve --cgroup postgresql.service --for 30s", "the same of a service, watched for 30 s"),
        ],
    ),
    (
        "trace",
        &[
            ("ramline trace make code-plus-data --out load.trace", "what a load touches, as a file"),
            ("ramline trace curve load.trace", "how much of it misses in a memory of each size"),
        ],
    ),
    ("trace make", &[("ramline trace make code-plus-data --rounds 2 --out load.trace", "two rounds of it")]),
    (
        "trace record",
        &[
            ("sudo ramline trace record --pid postgres --for 60s --out load.trace", "a minute of one process"),
            ("sudo ramline trace record --out build.trace -- make", "a command and all it starts"),
        ],
    ),
    ("trace info", &[("ramline trace info load.trace", "what is in it, and whether it is whole")]),
    (
        "trace curve",
        &[
            ("ramline trace curve load.trace", "twelve sizes of memory"),
            ("ramline trace curve load.trace --sizes 256MiB,480MiB,1GiB --json", "sizes of your own, as data"),
        ],
    ),
    ("trace export", &[("ramline trace export load.trace --to oracle-general --out load.oracle", "for libCacheSim")]),
    (
        "trace import",
        &[("ramline trace import cache.oracle --from oracle-general --out cache.trace", "from libCacheSim")],
    ),
    (
        "tune",
        &[
            ("ramline tune plan", "what to change and what to keep, and why"),
            ("ramline tune plan zram --goal capacity", "zram for the most data in RAM"),
        ],
    ),
    (
        "tune apply",
        &[
            ("sudo ramline tune apply zram", "what the plan advises, after a question"),
            ("sudo ramline tune apply swap-outranked", "what a finding of checkup advises"),
            ("sudo ramline tune apply --set vm.swappiness=100 --yes", "a value of your own, with the same undo"),
            ("sudo ramline tune apply vm --revert-after 10m", "taken back unless it is kept"),
        ],
    ),
    ("swap", &[("sudo ramline swap maintain --once", "one pass over zram swap in use")]),
    (
        "swap maintain",
        &[
            ("ramline swap maintain --dry-run", "what a pass would write, in order"),
            ("sudo ramline swap maintain --once --idle 6h --budget 512MiB/day", "one pass, with bounds of your own"),
            (
                "sudo ramline swap maintain --once --device zram0 --json",
                "one device, even if another program manages it; as JSON",
            ),
        ],
    ),
    (
        "fleet",
        &[
            ("ramline fleet collect store --ssh hosts.txt", "ask every host of a file"),
            ("ramline fleet report store", "on how many hosts would /tmp fit into memory?"),
        ],
    ),
    (
        "fleet report",
        &[
            ("ramline fleet report examples/study.tsv", "of a file of the study"),
            ("ramline fleet report store --last 90d", "judged by the worst of the last 90 days"),
            ("ramline fleet report store --html fleet.html", "as a page with charts"),
            ("ramline fleet report store --engine spark://host:7077", "asked of a cluster"),
        ],
    ),
    (
        "fleet collect",
        &[
            ("ramline fleet collect store --ssh hosts.txt", "over ssh; the same again asks only those that failed"),
            ("ramline fleet collect store --prometheus http://localhost:9090", "what a server knows of its hosts"),
            ("ramline fleet collect store --reports reports/*", "what `checkup --json FILE` wrote on each host"),
        ],
    ),
    ("fleet ingest", &[("ramline fleet ingest store study.tsv --layout old", "lines of the study's file")]),
    ("fleet query", &[("ramline fleet query models store", "rows of one of the queries")]),
    (
        "fleet rollout",
        &[("ramline fleet rollout store --bounds 1%", "a first wave that shows fewer than 1 % break, then the rest")],
    ),
    (
        "fleet settings",
        &[("ramline fleet settings store --roles roles.tsv", "what most hosts of a role have, and which differ")],
    ),
    ("fleet size", &[("ramline fleet size store --roles roles.tsv", "RAM that a host never used, or lacked")]),
    ("fleet outliers", &[("ramline fleet outliers store --roles roles.tsv", "hosts unlike the others of their role")]),
    ("fleet zram", &[("ramline fleet zram store", "what it stores, what that takes, and what is saved")]),
    ("fleet kills", &[("ramline fleet kills store --last 90d", "hosts where processes were killed for memory")]),
    ("fleet pressure", &[("ramline fleet pressure store --roles roles.tsv", "who waits for memory, by role")]),
    ("fleet trend", &[("ramline fleet trend store --last 90d", "which hosts run out of memory, and when")]),
    (
        "fleet compare",
        &[(
            "ramline fleet compare store --changed hosts.txt --on 2026-11-15",
            "what a change of some hosts has changed",
        )],
    ),
    ("fleet host", &[("ramline fleet host web1 store", "its days")]),
    ("fleet compact", &[("ramline fleet compact store --keep 400d", "without days that are older")]),
    ("fleet findings", &[("ramline fleet findings store", "on how many hosts checkup finds what")]),
    ("fleet summarize", &[("ramline fleet summarize store", "after days were removed from it")]),
    ("fleet synth", &[("ramline fleet synth study.tsv", "a made-up file of 502 hosts")]),
    ("fleet textfile", &[("ramline fleet textfile", "the script; run it by a timer on each host")]),
    ("tune status", &[("ramline tune status --all", "each step, as it is now")]),
    ("tune diff", &[("ramline tune diff 2", "the lines of files that change 2 has changed")]),
    (
        "tune undo",
        &[("sudo ramline tune undo", "the last change"), ("sudo ramline tune undo 2", "change 2 and all after it")],
    ),
    ("tune verify", &[("sudo ramline tune verify", "what the boot runs, now")]),
    ("tune finish", &[("sudo ramline tune finish", "a change that a crash has cut off")]),
    ("tune keep", &[("sudo ramline tune keep", "what its timer would take back")]),
    ("tune history", &[("ramline tune history --json", "every change there ever was, as data")]),
    (
        "tune plan",
        &[
            ("ramline tune plan vm --for 10", "rates over 10 s"),
            ("ramline tune plan zram swap --all", "each step, and the same as commands"),
            ("ramline tune plan swap-outranked", "what a finding of checkup advises"),
            ("sudo ramline tune plan zram swap vm --judge -- ./job", "by what your own command runs fastest with"),
            ("ramline tune plan --runtime-only --json", "for this boot alone, as data"),
        ],
    ),
    (
        "lab",
        &[
            ("ramline lab list", "the experiments"),
            ("sudo ramline lab run code-plus-data", "programs and data that do not fit, with and without swap"),
            ("ramline lab report", "the last result again"),
        ],
    ),
    ("lab list", &[("ramline lab list", "the experiments")]),
    ("lab describe", &[("ramline lab describe knee", "what it asks, does and needs")]),
    (
        "lab run",
        &[
            ("sudo ramline lab run code-plus-data --dry-run", "what would be done"),
            ("sudo ramline lab run cold-warm -- python3 -V", "how much slower a cold start is"),
            ("sudo ramline lab run knee --within 10% -- make", "how little memory a command needs"),
        ],
    ),
    ("lab run cold-warm", &[("sudo ramline lab run cold-warm -- python3 -V", "how much slower a cold start is")]),
    (
        "lab run swap-command",
        &[(
            "sudo ramline lab run swap-command --prove --arms as-configured,zram:lz4 -- make",
            "with zram, and as it is",
        )],
    ),
    ("lab run knee", &[("sudo ramline lab run knee --within 10% -- make", "how little memory a command needs")]),
    ("lab resume", &[("sudo ramline lab resume", "go on with the last series")]),
    ("lab report", &[("ramline lab report --html series.html", "the last series, as a page")]),
    ("lab compare", &[("ramline lab compare before/ after/", "two series, side by side")]),
    ("lab clean", &[("sudo ramline lab clean", "remove what a killed run left")]),
    (
        "record",
        &[
            ("sudo ramline record", "until Ctrl-C; as a service: systemctl enable --now ramline-record"),
            ("ramline record --history ./history --for 10min", "as any user, for a while"),
        ],
    ),
    (
        "history",
        &[
            ("sudo ramline history", "files, gaps, boots"),
            ("sudo ramline show --at 00:46", "a screen as it was then"),
            ("sudo ramline explain kill", "the last kill, and who grew before it"),
        ],
    ),
    ("history check", &[("sudo ramline history check", "every frame, and what is lost")]),
    ("history prune", &[("sudo ramline history prune --max-age 7d", "the last week is kept")]),
    (
        "history sar",
        &[
            ("sudo ramline history sar -r --from 00:30 --to 01:00 --every 1min", "memory, a line a minute"),
            ("sudo ramline history sar -BW --yesterday", "paging and swapping of yesterday"),
        ],
    ),
    (
        "history export",
        &[
            ("sudo ramline history export --csv -o history.csv", "the last 24 hours, for a spreadsheet or DuckDB"),
            ("sudo ramline history export --json --from 00:30", "a JSON object a line"),
        ],
    ),
    (
        "history import",
        &[
            (
                "ramline history import sa29.json --history ./old",
                "what 'sadf -j /var/log/sysstat/sa29 -- -A >sa29.json' printed",
            ),
            ("ramline show --at 2026-11-29T00:46 --history ./old", "a moment of it"),
        ],
    ),
    (
        "snapshot",
        &[
            ("ramline snapshot > state.json", "this machine as one document"),
            ("ramline snapshot --redact > state.json", "without names, for a report of a fault"),
            ("sudo ramline snapshot --tree /tmp/tree", "as files, for --root"),
        ],
    ),
    ("generate", &[("ramline generate schema show-memory", "what `ramline show memory --json` prints, for a script")]),
    ("generate man", &[("sudo ramline generate man /usr/local/share/man/man1", "as make install does")]),
    ("generate completions", &[("sudo ramline generate completions /usr/local/share", "as make install does")]),
    (
        "generate schema",
        &[
            ("ramline generate schema > ramline.schema.json", "all documents, with shared definitions"),
            ("ramline generate schema snapshot", "one by itself"),
        ],
    ),
    ("generate metrics", &[("ramline generate metrics", "names, kinds and meanings")]),
];

/// Of an experiment without examples of its own.
const EXPERIMENT: &str = "lab run ";

/// The examples of a command, by its words without the program's.
#[must_use]
pub fn for_command(path: &str) -> Vec<(String, String)> {
    let own = EXAMPLES.iter().find(|(command, _)| *command == path).map(|(_, examples)| *examples);
    let given = own.unwrap_or_default().iter().map(|(line, what)| ((*line).to_owned(), (*what).to_owned()));
    let usual = path.strip_prefix(EXPERIMENT).filter(|_| own.is_none()).map(|name| {
        [("--dry-run", "what would be done"), ("--runs 6", "enough runs to claim a difference")]
            .map(|(option, what)| (format!("sudo ramline lab run {name} {option}"), what.to_owned()))
    });
    given.chain(usual.into_iter().flatten()).collect()
}

/// The same as the end of a help text.
fn text(examples: &[(String, String)]) -> String {
    /// As wide as a help text is.
    const WIDE: usize = 96;
    let widest = examples.iter().map(|(line, _)| line.len()).max().unwrap_or(0);
    let beside = examples.iter().all(|(_, what)| widest + what.len() + 4 <= WIDE);
    let one = |(line, what): &(String, String)| {
        if beside { format!("\n  {line:<widest$}  {what}") } else { format!("\n  {line}\n      {what}") }
    };
    format!("Examples:{}", examples.iter().map(one).collect::<String>())
}

/// Adds them to the help of all commands.
#[must_use]
pub fn attach(command: Command) -> Command {
    below(command, "")
}

fn below(mut command: Command, path: &str) -> Command {
    let names: Vec<String> = command.get_subcommands().map(|below| below.get_name().to_owned()).collect();
    for name in names {
        let path = if path.is_empty() { name.clone() } else { format!("{path} {name}") };
        command = command.mut_subcommand(&name, |command| below(command, &path));
    }
    let examples = for_command(path);
    if examples.is_empty() {
        return command;
    }
    let after = command.get_after_help().map(|after| format!("\n\n{after}")).unwrap_or_default();
    command.after_help(format!("{}{after}", text(&examples)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(command: &Command, path: &str, out: &mut Vec<String>) {
        out.push(path.to_owned());
        for below in command.get_subcommands().filter(|command| !command.is_hide_set()) {
            paths(below, format!("{path} {}", below.get_name()).trim(), out);
        }
    }

    #[test]
    fn every_command_has_an_example_and_every_example_a_command() {
        let mut all = Vec::new();
        paths(&crate::command(), "", &mut all);
        for path in &all {
            assert!(!for_command(path).is_empty(), "'{path}' has no example");
        }
        for (path, _) in EXAMPLES {
            assert!(all.iter().any(|known| known == path), "'{path}' is no command");
        }
    }

    #[test]
    fn every_example_is_understood() {
        let mut all = Vec::new();
        paths(&crate::command(), "", &mut all);
        for (line, _) in all.iter().flat_map(|path| for_command(path)) {
            let line = line.split(['>', '|']).next().unwrap_or_default().trim_end().trim_start_matches("sudo ");
            let parsed = crate::command().try_get_matches_from(line.split(' '));
            assert!(parsed.is_ok(), "{line}: {}", parsed.unwrap_err());
        }
    }

    #[test]
    fn lines_of_the_help_are_not_too_long() {
        for (path, _) in EXAMPLES {
            let text = text(&for_command(path));
            assert!(text.lines().all(|line| line.len() <= 100), "{text}");
        }
    }
}
