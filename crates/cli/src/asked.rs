//! First words that are no command of ramline, and the command that answers what they ask.
//!
//! What it is not: other names for commands; nothing is run. Worked example: `ramline htop` ends with `try: ramline top`.

/// Words that people type first, and what answers them.
const ANSWERS: &[(&[&str], &str)] = &[
    (&["status", "state", "info", "free", "mem", "summary", "overview", "usage", "used", "ram"], "ramline"),
    (
        &[
            "doctor",
            "check",
            "health",
            "diagnose",
            "diagnosis",
            "analyze",
            "analyse",
            "problem",
            "problems",
            "advice",
            "test",
        ],
        "ramline checkup --quick",
    ),
    (&["why", "slow", "help-me", "what"], "ramline explain slow"),
    (
        &[
            "fix",
            "optimize",
            "optimise",
            "repair",
            "improve",
            "config",
            "configure",
            "settings",
            "setup",
            "plan",
            "set",
        ],
        "ramline tune plan",
    ),
    (
        &["metrics", "prometheus", "exporter", "openmetrics", "scrape", "node-exporter", "grafana", "alerts"],
        "ramline export --help",
    ),
    (&["daemon", "start", "enable", "install", "agent", "yesterday", "past"], "ramline record --help"),
    (&["apply"], "ramline tune apply"),
    (&["undo", "revert", "rollback", "restore"], "ramline tune undo"),
    (
        &[
            "htop",
            "btop",
            "atop",
            "btm",
            "bottom",
            "bpytop",
            "glances",
            "nmon",
            "below",
            "tui",
            "ui",
            "watch",
            "live",
            "monitor",
            "dashboard",
        ],
        "ramline top",
    ),
    (&["ps", "process", "list", "smem", "ps-mem", "pss", "who"], "ramline show processes"),
    (&["vmstat", "sar", "stat", "iostat", "psi", "stalls"], "ramline show pressure --for 2"),
    (&["leak", "leaks", "growth", "growing"], "ramline show processes --sort growth --for 60"),
    (&["pmap", "smaps", "lsof"], "ramline show maps"),
    (&["slabtop", "slab"], "ramline explain kernel-memory"),
    (&["zramctl"], "ramline show zram"),
    (&["swapon", "swaps", "swapoff"], "ramline show swap"),
    (&["df", "shm", "ipcs"], "ramline show tmpfs"),
    (&["numastat", "numactl"], "ramline explain numa"),
    (&["vmtouch", "fincore", "pcstat", "hcache", "cachestat"], "ramline cache stat --help"),
    (&["damo", "damon"], "ramline explain evictors"),
    (&["log", "logs", "dmesg", "killed", "oom-killer", "kills", "kill"], "ramline explain kill"),
    (&["free-cache", "drop", "drop-caches", "evict"], "ramline cache evict --help"),
    (&["clean", "cleanup"], "ramline lab clean"),
    (&["bench", "benchmark", "speed"], "ramline measure tiers"),
    (&["report", "html"], "ramline checkup --html report.html"),
    (&["run", "knee", "limit", "experiment", "try"], "ramline lab run --help"),
    (&["capture", "dump", "save"], "ramline snapshot"),
    (&["simulate", "forecast", "what-if"], "ramline predict"),
    (
        &[
            "docker",
            "podman",
            "kubectl",
            "cgtop",
            "systemd-cgtop",
            "container",
            "containers",
            "cgroup",
            "group",
            "groups",
            "service",
            "services",
        ],
        "ramline show cgroups",
    ),
    (&["free-memory", "available", "left"], "ramline explain available"),
];

/// The command that answers a first word; `below` are the names of what `show` shows.
pub fn answer<'a>(word: &str, below: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let word = word.to_ascii_lowercase().replace('_', "-");
    let known =
        ANSWERS.iter().find(|(words, _)| words.contains(&word.as_str())).map(|(_, command)| (*command).to_owned());
    let shown = || below.into_iter().any(|name| name == word).then(|| format!("ramline show {word}"));
    let topic = || ramline_advice::topic_named(&word).map(|topic| format!("ramline explain {}", topic.id));
    let moment = || ramline_units::is_time_of_day(&word).then(|| format!("ramline show --at {word}"));
    known.or_else(shown).or_else(topic).or_else(moment)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_first_word_that_is_no_command_is_answered_with_one() {
        let of = |word: &str| answer(word, ["zram", "cgroups", "tmpfs"]);
        assert_eq!(of("htop").as_deref(), Some("ramline top"));
        assert_eq!(of("vmstat").as_deref(), Some("ramline show pressure --for 2"));
        assert_eq!(of("status").as_deref(), Some("ramline"));
        assert_eq!(of("Doctor").as_deref(), Some("ramline checkup --quick"));
        assert_eq!(of("zram").as_deref(), Some("ramline show zram"));
        assert_eq!(of("kswapd").as_deref(), Some("ramline explain watermarks"));
        assert_eq!(of("postgres").as_deref(), Some("ramline explain more-ram"));
        assert_eq!(of("00:46").as_deref(), Some("ramline show --at 00:46"));
        assert_eq!(of("00:61"), None);
        assert_eq!(of("blah"), None);
    }

    #[test]
    fn every_answer_is_a_command_line_that_parses_and_no_word_is_a_command() {
        let mut seen = std::collections::BTreeSet::new();
        for (words, command) in ANSWERS {
            for word in *words {
                assert!(seen.insert(word), "{word} stands twice");
                assert!(crate::command().find_subcommand(word).is_none(), "{word} is a command");
            }
            let parsed = crate::command().try_get_matches_from(command.split(' '));
            let is_help = |error: &clap::Error| matches!(error.kind(), clap::error::ErrorKind::DisplayHelp);
            assert!(parsed.as_ref().err().is_none_or(is_help), "{command}: {parsed:?}");
        }
    }
}
