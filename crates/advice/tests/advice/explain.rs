//! Every topic answers with this machine's numbers, names what was not seen, and sends the reader on.

use crate::cases::{THRASHING, with_idle_anonymous, with_zram, without_swap};
use ramline_advice::{TOPICS, explain};
use ramline_snapshot::{Seen, Snapshot};
use ramline_units::Bytes;

#[test]
fn every_topic_answers_on_a_real_machine_with_numbers_and_sources() {
    for case in [with_zram().window(THRASHING), without_swap()] {
        for topic in TOPICS {
            let told = case.inputs(|inputs| explain(topic.id, inputs)).unwrap();
            assert!(
                told.question.ends_with('?') && told.answer_short.ends_with('.'),
                "{}: {}",
                topic.id,
                told.answer_short
            );
            assert!(!told.answer_short.contains("Cannot tell"), "{}: {}", topic.id, told.answer_short);
            assert!(!told.numbers.is_empty(), "{}: no numbers", topic.id);
            assert!(told.numbers.iter().all(|n| !n.value.is_empty() && !n.source.is_empty()), "{}", topic.id);
            assert!(told.mechanism.len() >= 3 && told.mechanism.iter().all(|s| s.ends_with('.')), "{}", topic.id);
            assert!(told.next_command.starts_with("ramline "), "{}", topic.id);
            assert!(told.to_do.ends_with('.') && told.to_do.len() > 5, "{}: what to do: {}", topic.id, told.to_do);
            let first = told.answer_short.split(". ").next().unwrap();
            assert!(first.chars().count() < 100, "{}: the first sentence is too long: {first}", topic.id);
        }
    }
}

#[test]
fn a_topic_without_its_data_says_so_and_does_not_invent_numbers() {
    let mut case = with_zram();
    *case.now = Snapshot::from_json("s", r#"{"schema_version":1,"machine":{}}"#).unwrap();
    for topic in TOPICS {
        let told = case.inputs(|inputs| explain(topic.id, inputs)).unwrap();
        assert!(
            told.answer_short.contains("annot tell") || topic.id == "pressure",
            "{}: {}",
            topic.id,
            told.answer_short
        );
    }
}

#[test]
fn an_unknown_topic_is_an_error_that_lists_all_and_names_the_closest() {
    let error = with_zram().inputs(|inputs| explain("swapiness\u{1b}[31m", inputs)).unwrap_err();
    assert_eq!(error.closest, "swappiness");
    let text = error.to_string();
    assert!(
        !text.contains('\u{1b}') && text.contains("zram-unused") && text.contains("try: ramline explain swappiness")
    );
}

#[test]
fn every_topic_of_the_issue_is_there_and_docs_list_them_all() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/explain.md");
    let page = std::fs::read_to_string(page).unwrap();
    for id in ["used", "available", "buff-cache", "swap-in-use", "zram-unused", "swappiness", "no-swap"] {
        assert!(TOPICS.iter().any(|topic| topic.id == id), "{id}");
    }
    for topic in TOPICS {
        assert!(
            page.contains(&format!("| [`{0}`](#{0}) | {1} |", topic.id, topic.question)),
            "docs/explain.md lacks {}",
            topic.id
        );
    }
}

#[test]
fn no_swap_tells_a_machine_without_swap_what_it_has_left_and_one_with_swap_what_would_come_back() {
    let case = with_idle_anonymous(without_swap()).tier("disk:/", 100);
    let without = case.inputs(|i| explain("no-swap", i)).unwrap();
    assert!(without.answer_short.starts_with("There is no swap here: to make room the kernel can only drop from"));
    let reread = without.numbers.iter().find(|n| n.what.starts_with("to read the mapped pages again")).unwrap();
    // Pages of 4 KiB at 100 us each.
    let mapped = case.now.meminfo.data().unwrap().mapped.unwrap();
    assert_eq!(reread.value, ramline_units::Nanos(mapped.0 / 4096 * 100_000).to_string());
    let with = with_zram().inputs(|i| explain("no-swap", i)).unwrap();
    // 24576 KiB swapped, of which the pool of 6156288 B gives back 5.9 MiB.
    assert!(
        with.answer_short.contains("bring 24.0 MiB back into RAM, less 5.9 MiB of compressed pool"),
        "{}",
        with.answer_short
    );
    assert!(with.mechanism.iter().any(|s| s.contains("never swapoff")));
}

#[test]
fn no_swap_warns_when_what_is_swapped_would_not_fit() {
    let case = with_zram().swaps("/dev/vda2 partition 8388604 1048576 -2\n");
    let told = case.inputs(|inputs| explain("no-swap", inputs)).unwrap();
    assert!(told.answer_short.contains("out-of-memory killer"), "{}", told.answer_short);
}

#[test]
fn zram_unused_walks_from_the_device_to_the_balance() {
    let told = without_swap().inputs(|inputs| explain("zram-unused", inputs)).unwrap();
    assert!(told.answer_short.starts_with("No area is enabled as swap"), "{}", told.answer_short);
    let told = with_zram()
        .mglru(0)
        .swaps("/dev/zram0 partition 118812 0 100\n")
        .inputs(|i| explain("zram-unused", i))
        .unwrap();
    assert!(told.answer_short.starts_with("Nothing has to be reclaimed: "), "{}", told.answer_short);
    assert!(told.answer_short.contains("MiB"), "the distance is in MiB: {}", told.answer_short);
    for step in ["1. ", "2. ", "3. ", "4. ", "5. "] {
        assert!(told.numbers.iter().any(|n| n.what.starts_with(step)), "step {step} is missing");
    }
    assert!(told.numbers.iter().any(|n| n.what.ends_with("free blocks of order 0 to 10")), "{:#?}", told.numbers);
    // Swappiness 60 at equal costs: 60·7/4 = 105 against 140·7/4 = 245.
    assert!(told.numbers.iter().any(|n| n.value.contains("105:245")), "{:#?}", told.numbers);
}

#[test]
fn zram_unused_counts_its_steps_without_a_gap_whatever_was_seen() {
    let steps = |case: &crate::cases::Case| {
        let told = case.inputs(|i| explain("zram-unused", i)).unwrap();
        let mut steps: Vec<char> = told.numbers.iter().filter_map(|n| n.what.chars().next()).collect();
        steps.dedup();
        steps.into_iter().collect::<String>()
    };
    let mut nothing = with_zram();
    *nothing.now = Snapshot::from_json("s", r#"{"schema_version":1,"machine":{}}"#).unwrap();
    for case in [with_zram(), without_swap(), crate::cases::Case::tree("healthy/container"), nothing] {
        assert_eq!(steps(&case), "12345");
    }
}

#[test]
fn in_a_container_zram_is_the_hosts_and_not_said_to_be_missing() {
    let case = crate::cases::Case::tree("healthy/container");
    let told = case.inputs(|i| explain("zram-unused", i)).unwrap();
    assert!(told.answer_short.contains("zram is not known here"), "{}", told.answer_short);
    assert!(told.answer_short.contains("This is a container (docker)"), "{}", told.answer_short);
    assert!(!told.numbers.iter().any(|n| n.what.contains("next step")), "nothing can be set up here");
}

#[test]
fn in_a_group_with_a_limit_available_is_what_the_limit_leaves() {
    let case = crate::cases::Case::tree("healthy/container");
    let told = case.inputs(|i| explain("available", i)).unwrap();
    // 256 MiB less 46.375 used, and 14.125 of its cache again.
    assert_eq!(
        told.answer_short,
        "About 223.8 MiB in this group: it uses 46.4 MiB of its limit of 256.0 MiB. The machine has about 379.7 MiB of 464.1 MiB."
    );
    let without = with_zram().inputs(|i| explain("available", i)).unwrap();
    assert!(!without.numbers.iter().any(|n| n.what.contains("group")), "{}", without.answer_short);
}

#[test]
fn used_is_what_processes_tmpfs_and_the_kernel_have_and_cache_is_not_used() {
    use ramline_model::ledger::{Freeable, Ledger};
    use ramline_model::verdict::amount_of;
    let case = with_zram();
    let told = case.inputs(|i| explain("used", i)).unwrap();
    let ledger = Ledger::from_snapshot(&case.now).unwrap();
    let whole = ledger.lines.iter().filter(|line| line.freeable != Freeable::Now).map(|line| line.bytes);
    let dirty = ledger.bytes(ramline_model::ledger::Term::FileDirty);
    let held = whole.sum::<Bytes>().saturating_sub(dirty) + ledger.leftover.or_zero();
    assert!(told.answer_short.starts_with(&amount_of(held, ledger.total)), "{}", told.answer_short);
    let cache = ledger.lines.iter().find(|l| l.freeable == Freeable::Now && l.bytes.0 > 0).unwrap();
    assert!(!told.numbers.iter().any(|n| n.what == cache.label), "{}", cache.label);
}

#[test]
fn swap_in_use_tells_stock_from_flow() {
    let told = |case: crate::cases::Case| case.inputs(|inputs| explain("swap-in-use", inputs)).unwrap().answer_short;
    assert!(told(with_zram()).contains("shows with --for 2s"));
    assert!(told(with_zram().window(&[("pswpin", 5, 5), ("pswpout", 9, 9)])).contains("harmless"));
    assert!(told(with_zram().window(&[("pswpin", 5, 2005), ("pswpout", 9, 9)])).contains("is read back"));
}

#[test]
fn no_swap_does_not_call_free_memory_file_pages() {
    // It was "23.2 GiB of 23.2 GiB available, all of it file pages" with 31.7 MiB of file pages.
    let mut case = without_swap().swaps("/dev/zram0 partition 118812 24 100\n");
    let Seen::Seen { data, .. } = &mut case.now.meminfo else { panic!("no meminfo") };
    (data.active_file, data.inactive_file) = (Some(Bytes::from_kib(22_461)), Some(Bytes::from_mib(10)));
    let told = case.inputs(|i| explain("no-swap", i)).unwrap();
    assert!(!told.answer_short.contains("all of it file pages"), "{}", told.answer_short);
    assert!(told.answer_short.contains("could only drop from 31.9 MiB of file pages"), "{}", told.answer_short);
    assert!(told.mechanism.iter().any(|s| s.contains("It does for a group at its limit")), "swappiness 0 in a group");
}

#[test]
fn oom_counts_free_memory_before_the_next_kill() {
    // It was "the next kill comes once 3.4 GiB of file pages are dropped" with 19.5 GiB free.
    let case = without_swap();
    let free = case.now.meminfo.data().unwrap().mem_free.unwrap();
    let told = case.inputs(|i| explain("oom", i)).unwrap().answer_short;
    assert!(told.contains(&format!("Before the machine kills, {free} of free memory")), "{told}");
    assert!(!told.contains("the next kill comes once"), "{told}");
}

#[test]
fn dirty_names_the_amount_whose_writing_it_times_and_the_speed() {
    // It was "308.0 KiB wait now; ... writing all of it would take 4.2 s", meant of the threshold.
    let told = crate::users::slow_disk(100e6).inputs(|i| explain("dirty", i)).unwrap();
    let limit = told.numbers.iter().find(|n| n.what.starts_with("to write the limit of 4.6 GiB takes")).unwrap();
    assert_eq!(limit.value, "49.2 s at the 95.4 MiB/s measured for reading (n 5)");
    assert!(told.numbers.iter().any(|n| n.what == "to write what is unwritten now takes at least"));
    assert!(!told.numbers.iter().any(|n| n.what.contains("all of it")), "{:?}", told.numbers);
}

#[test]
fn pressure_answers_for_the_machine_and_for_the_group_each_by_itself() {
    // It was "Yes, badly: Thrashing ... in a group at its limit" with 22.1 GiB of 23.5 GiB available.
    let case = crate::users::group(8000, 99);
    let told = case.inputs(|i| explain("pressure", i)).unwrap();
    assert!(told.answer_short.starts_with("No, the machine is not: "), "{}", told.answer_short);
    assert!(
        told.answer_short.contains("But a group is: group /batch/job 7 is at its limit of 480.0 MiB"),
        "{}",
        told.answer_short
    );
    // It was "a limit of 600.0 MiB would let it keep more": no measurement said so.
    assert!(told.to_do.contains("sudo ramline need") && !told.to_do.contains("600"), "{}", told.to_do);
    let told = without_swap().inputs(|i| explain("pressure", i)).unwrap();
    assert!(told.answer_short.starts_with("No. Memory is fine"), "{}", told.answer_short);
}

#[test]
fn thp_keeps_shared_memory_apart_from_tmpfs_mounts() {
    use ramline_snapshot::mounts;
    // shmem_enabled was "never", and a mount with huge=always got 1 GiB of them.
    let mut case = crate::cases::Case::tree("healthy/debian-13");
    let Seen::Seen { data, .. } = &mut case.now.thp else { panic!("no thp") };
    data.shmem_enabled = Some("never".into());
    let line = "99 1 0:99 / /big rw - tmpfs tmpfs rw,huge=always\n";
    case.now.mounts = Seen::new(mounts::parse("mountinfo", line).unwrap());
    let value = |case: &crate::cases::Case, what: &str| {
        let told = case.inputs(|i| explain("thp", i)).unwrap();
        told.numbers.into_iter().find(|n| n.what.starts_with(what)).unwrap().value
    };
    assert_eq!(value(&case, "tmpfs mounts"), "/big (always)");
    assert_eq!(value(&case, "System V, memfd"), "never (setting)");
    let Seen::Seen { data, .. } = &mut case.now.thp else { panic!("no thp") };
    data.shmem_enabled = Some("deny".into());
    assert_eq!(value(&case, "tmpfs mounts"), "none: shmem_enabled is deny");
}
