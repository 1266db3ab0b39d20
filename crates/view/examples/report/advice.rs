//! Findings: one of each weight and confidence, with and without a change.

use ramline_advice::{Change, Confidence, Evidence, Finding, Weight};

fn evidence(what: &str, value: &str, source: &str) -> Evidence {
    Evidence { what: what.into(), value: value.into(), source: source.into() }
}

/// Three findings.
pub fn findings() -> Vec<Finding> {
    let hostile = super::machine::HOSTILE_COMMAND;
    vec![
        Finding {
            id: "swap-outranked".into(),
            title: "Pages go to /dev/vda2 first, which takes 1,060 times as long as zram0 behind it".into(),
            weight: Weight::Critical,
            group: None,
            effect: "saves about 8.4 ms for each page that comes back, 303 a second now".into(),
            evidence: vec![
                evidence("priority of /dev/vda2", "100, filled first", "/proc/swaps"),
                evidence("priority of /dev/zram0", "5", "/proc/swaps"),
                evidence("read of one page from /dev/vda2", "8.41 ms (n 20,000, p99 31.8 ms)", "ramline measure tiers"),
                evidence("read of one page from zram0", "7.9 µs (n 20,000, p99 19.4 µs)", "ramline measure tiers"),
            ],
            confidence: Confidence::High,
            already: vec!["a zram device of 4.0 GiB is on".into()],
            cost_if_wrong: "up to 1.3 GiB of RAM for the pool, should the data turn out not to compress; mem_limit bounds it at 1.0 GiB".into(),
            change: Some(Change {
                what: "use zram before the partition, now and after a restart".into(),
                commands: vec!["swapoff /dev/zram0".into(), "swapon --priority 101 /dev/zram0".into(), "sed -i 's/^swap-priority.*/swap-priority = 101/' /etc/systemd/zram-generator.conf".into()],
                undo: vec!["swapoff /dev/zram0".into(), "swapon --priority 5 /dev/zram0".into()],
            }),
            explain: "zram-unused".into(),
            tune: None,
            docs: "docs/findings/swap-outranked.md".into(),
        },
        Finding {
            id: "refaults-without-swap".into(),
            title: "412 file pages a second are read again after they were evicted".into(),
            weight: Weight::Warning,
            group: None,
            effect: "about 54 ms of waiting a second".into(),
            evidence: vec![
                evidence("file refaults", "412 pages/s over 10.0 s", "/proc/vmstat workingset_refault_file"),
                evidence("largest reader", hostile, "/proc/2211/comm"),
            ],
            confidence: Confidence::Medium,
            already: vec![],
            cost_if_wrong: "some anonymous pages come back from swap instead".into(),
            change: Some(Change { what: "let idle memory go before files".into(), commands: vec!["sysctl vm.swappiness=133".into(), format!("echo {hostile} > /dev/null")], undo: vec!["sysctl vm.swappiness=60".into()] }),
            explain: "swappiness".into(),
            tune: None,
            docs: "docs/findings/refaults-without-swap.md".into(),
        },
        Finding {
            id: "tmpfs-near-limit".into(),
            title: "/tmp holds 471.0 MiB of the 512.0 MiB it may hold".into(),
            weight: Weight::Note,
            group: None,
            effect: "41.0 MiB until writes to /tmp fail".into(),
            evidence: vec![evidence("use of /tmp", "92.0 % of its size", "statfs /tmp")],
            confidence: Confidence::Low,
            already: vec![],
            cost_if_wrong: "none: looking closer is the advice".into(),
            change: None,
            explain: "tmpfs".into(),
            tune: None,
            docs: "docs/findings/tmpfs-near-limit.md".into(),
        },
    ]
}
