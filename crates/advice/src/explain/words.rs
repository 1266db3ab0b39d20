//! Other words for a topic, as people type them, and the topics nearest to a word that is none.
//!
//! What it is not: a search. Worked example: `kswapd` is the topic `watermarks`, `swapiness` is near `swappiness`, `blah` is near none.

use super::{TOPICS, Topic};

/// Other words for a topic. A name that a number of a screen has is not among them: that number is explained.
const ALSO: &[(&str, &[&str])] = &[
    ("used", &["memory", "ram", "usage", "memory-usage", "mem", "who-uses-memory", "leftover", "leak", "memory-leak"]),
    ("available", &["can-be-had", "memavailable", "free-memory", "how-much-is-left", "headroom"]),
    (
        "available-but-frozen",
        &["frozen", "freeze", "hang", "thrashing", "thrash", "livelock", "unresponsive", "sluggish"],
    ),
    ("rss-pss", &["pss", "rss", "uss", "res", "smem", "process-memory", "processes"]),
    ("pressure", &["memory-pressure", "short-of-memory", "low-memory"]),
    (
        "more-ram",
        &[
            "enough-ram",
            "enough-memory",
            "ram-size",
            "sizing",
            "how-much-ram",
            "how-much-memory",
            "add-ram",
            "add-memory",
            "more-memory",
            "upgrade",
            "working-set",
            "heap",
            "database",
            "databases",
            "db",
            "postgres",
            "postgresql",
            "mysql",
            "mariadb",
            "redis",
            "mongodb",
            "elasticsearch",
            "java",
            "jvm",
            "program",
            "service",
            "server",
            "build",
            "compile",
        ],
    ),
    (
        "psi",
        &[
            "stall",
            "stalls",
            "stall-time",
            "pressure-stall",
            "waiting",
            "slow",
            "slowness",
            "lag",
            "laggy",
            "stutter",
            "performance",
            "latency",
        ],
    ),
    (
        "watermarks",
        &["kswapd", "reclaim", "watermark", "min-free-kbytes", "watermark-scale-factor", "zones", "direct-reclaim"],
    ),
    (
        "oom",
        &[
            "oom-killer",
            "oom-kill",
            "oomkilled",
            "oom-killed",
            "killer",
            "killed",
            "kill",
            "out-of-memory",
            "earlyoom",
            "systemd-oomd",
            "oomd",
        ],
    ),
    ("overcommit", &["commit", "committed-as", "commitlimit", "overcommit-memory", "enomem", "cannot-allocate-memory"]),
    ("mglru", &["lru", "lru-gen", "generations", "min-ttl-ms"]),
    ("numa", &["nodes", "node", "zone-reclaim-mode", "demotion", "cxl"]),
    (
        "evictors",
        &["evictor", "damon", "kdamond", "damon-reclaim", "proactive-reclaim", "memory.reclaim", "madvise", "fadvise"],
    ),
    ("no-swap", &["without-swap", "noswap", "swapoff", "disable-swap"]),
    ("swap-in-use", &["swap", "swapping", "swap-used", "swapped"]),
    ("swap-order", &["swap-priority", "swapon", "priorities"]),
    ("swappiness", &["vm.swappiness"]),
    ("page-cluster", &["vm.page-cluster", "swap-readahead", "swap-read-ahead"]),
    ("zram-vs-zswap", &["zswap", "zswap-vs-zram", "compressed-memory"]),
    ("zram-unused", &["zram", "zram-not-used"]),
    ("zram-ratio", &["compression", "compression-ratio", "zramctl"]),
    ("zram-limit", &["mem-limit", "disksize"]),
    ("buff-cache", &["buff/cache", "buffers/cache", "buffer-cache"]),
    ("page-cache", &["cache", "pagecache", "drop-caches", "drop-cache", "file-cache", "disk-cache"]),
    ("dirty", &["writeback", "dirty-ratio", "dirty-bytes", "fsync", "flush", "unwritten"]),
    ("read-ahead", &["readahead", "read-ahead-kb", "fault", "faults", "page-fault", "page-faults"]),
    ("tmpfs", &["tmp", "/tmp", "ramdisk", "ramfs"]),
    ("shmem", &["shared-memory", "shm", "/dev/shm", "dev-shm", "memfd", "sysv", "posix-shm"]),
    (
        "cgroup-memory",
        &[
            "cgroup",
            "cgroups",
            "container",
            "containers",
            "docker",
            "podman",
            "kubernetes",
            "kubelet",
            "pod",
            "pods",
            "memory-limit",
            "memory.max",
        ],
    ),
    ("kernel-memory", &["slab", "kernel", "dentry", "dentries", "inodes", "vfs-cache-pressure", "slabtop"]),
    ("thp", &["transparent-huge-pages", "transparent-hugepages", "khugepaged", "shmem-enabled"]),
    ("hugepages", &["hugetlb", "huge-pages", "huge-page", "nr-hugepages", "hugetlbfs"]),
];

/// Every other word with its topic.
pub fn also() -> impl Iterator<Item = (&'static str, &'static str)> {
    ALSO.iter().flat_map(|(id, words)| words.iter().map(|word| (*word, *id)))
}

fn plain(name: &str) -> String {
    name.trim().to_ascii_lowercase().replace(['_', ' '], "-")
}

/// The topic of this name, or of another word for it.
#[must_use]
pub fn topic_named(name: &str) -> Option<&'static Topic> {
    let name = plain(name);
    let id = also().find(|(word, _)| *word == name).map_or(name.as_str(), |(_, id)| id);
    TOPICS.iter().find(|topic| topic.id == id)
}

/// Words of a question that say nothing of its topic.
const EMPTY: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "been", "box", "by", "can", "cannot", "computer", "desktop", "did",
    "do", "does", "for", "from", "has", "have", "help", "helps", "host", "how", "i", "in", "is", "it", "its", "laptop",
    "large", "low", "machine", "make", "many", "me", "much", "my", "need", "needs", "not", "of", "on", "or", "our",
    "pc", "should", "so", "system", "that", "the", "there", "this", "to", "use", "used", "uses", "was", "we", "what",
    "when", "where", "which", "who", "why", "will", "with", "would", "you", "your",
];

/// The topic of a question in a reader's own words: of all neighbouring words, the longest that name a topic, and of equally long ones the first.
/// `None` of a single word, which [`topic_named`] knows or which is a slip.
///
/// Worked example: "why is my box slow" is the topic of `slow`, "how much swap do I need" that of `swap`.
#[must_use]
pub fn topic_of_question(question: &str) -> Option<&'static Topic> {
    let question = plain(&question.chars().take(200).collect::<String>());
    let all: Vec<&str> = question.split('-').map(|word| word.trim_matches(['?', '!', '.', ',', '\''])).collect();
    let all: Vec<&str> = all.into_iter().filter(|word| !word.is_empty()).collect();
    if all.len() < 2 {
        return None;
    }
    let lengths = (1..=all.len().min(4)).rev();
    lengths.flat_map(|length| all.windows(length)).find_map(|words| match words {
        [word] if EMPTY.contains(word) => None,
        words => topic_named(&words.join("-")),
    })
}

/// Topics that a word may have meant, the nearest first; none where nothing is near: a wrong guess is worse than the list.
#[must_use]
pub fn closest_topics(name: &str) -> Vec<&'static str> {
    // What no name holds (control characters of a hostile one) is no letter that differs.
    let known = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '/' | '+' | '.' | '%');
    let name: String = plain(name).chars().take_while(|c| known(*c)).take(60).collect();
    // A third of the letters may differ, rounded down, so that `blah` is neither `slab` nor `blocks`.
    let near = name.chars().count() / 3;
    let names = TOPICS.iter().map(|topic| (topic.id, topic.id)).chain(also());
    let inside =
        |word: &str| name.chars().count() > 3 && (word.contains(&name) || word.len() > 3 && name.contains(word));
    let mut all: Vec<(usize, &'static str)> = names
        .filter_map(|(word, id)| {
            let far = Some(strsim::levenshtein(word, &name)).filter(|far| *far <= near);
            let part = inside(word).then_some(2);
            Some((far.into_iter().chain(part).min()?, id))
        })
        .collect();
    all.sort();
    let mut out: Vec<&'static str> = Vec::new();
    for (_, id) in all {
        if !out.contains(&id) {
            out.push(id);
        }
    }
    out.truncate(3);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_words_name_their_topic() {
        let named = |word: &str| topic_named(word).map(|topic| topic.id);
        assert_eq!(named("kswapd"), Some("watermarks"));
        assert_eq!(named("memory"), Some("used"));
        assert_eq!(named("can be had"), Some("available"));
        assert_eq!((named("DAMON"), named("/tmp"), named("blah")), (Some("evictors"), Some("tmpfs"), None));
    }

    #[test]
    fn a_question_in_the_readers_words_finds_its_topic() {
        let of = |question: &str| topic_of_question(question).map(|topic| topic.id);
        assert_eq!(of("why is my box slow"), Some("psi"));
        assert_eq!(of("Why is my machine slow?"), Some("psi"));
        assert_eq!(of("how much RAM does my database need?"), Some("more-ram"));
        assert_eq!(of("would more RAM help"), Some("more-ram"));
        assert_eq!(of("is the page cache spare"), Some("page-cache"));
        assert_eq!(of("what was killed last night"), Some("oom"));
        assert_eq!(of("how much swap do i need"), Some("swap-in-use"));
        // A word alone is a name or a slip, and a question without a known word has no answer here.
        assert_eq!((of("slowly"), of("what is the capital of france"), of("")), (None, None, None));
    }

    #[test]
    fn every_word_names_one_topic_and_is_none_itself() {
        let mut seen = std::collections::BTreeSet::new();
        for (word, id) in also() {
            assert!(seen.insert(word), "{word} stands twice");
            assert!(TOPICS.iter().any(|topic| topic.id == id) && TOPICS.iter().all(|topic| topic.id != word), "{word}");
            assert_eq!(plain(word), word);
        }
    }

    #[test]
    fn a_word_near_a_topic_is_answered_with_it_and_one_near_none_with_none() {
        assert_eq!(closest_topics("swapiness").first(), Some(&"swappiness"));
        assert_eq!(closest_topics("kswapdd").first(), Some(&"watermarks"));
        assert_eq!(closest_topics("blah"), Vec::<&str>::new());
        assert_eq!(closest_topics(""), Vec::<&str>::new());
    }
}
