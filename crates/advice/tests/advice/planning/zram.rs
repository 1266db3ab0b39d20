use ramline_advice::planning::{Ask, plan};
use ramline_evidence::pages::{AlgorithmPages, By, Lengths, PageProfile, Sampling};
use ramline_plan::{Decision, Goal, PlanLine, Topic};
use ramline_snapshot::setup::{ConfFile, ConfLine, Generator, Manager, SetUp, UnitLink};
use ramline_units::Bytes;

use super::{is_refused, line, planned, steps, systemd, why};
use crate::cases::{Case, with_zram, without_swap};

fn capacity(case: &Case, set_up: &SetUp) -> PlanLine {
    let plan = planned(case, set_up, &[Topic::Zram], Goal::Capacity);
    assert_eq!(plan.lines.len(), 1, "{plan:?}");
    plan.lines[0].clone()
}

fn with_generator(main: Option<(&str, &str)>) -> SetUp {
    let main = main.map(|(path, text)| ConfFile { path: path.into(), text: text.into() });
    SetUp { generator: Generator { program: Some("/x".into()), main, drop_ins: vec![] }, ..systemd() }
}

#[test]
fn where_memory_is_not_short_no_zram_is_planned_and_for_capacity_it_is() {
    let idle = line(&without_swap(), &systemd(), Topic::Zram, "zram");
    assert_eq!(idle.decision, Decision::Keep);
    assert!(why(&idle).starts_with("memory is not short: 23.0 GiB of 23.5 GiB is available"), "{}", why(&idle));
    let asked = capacity(&without_swap(), &systemd());
    assert_eq!(asked.new.as_deref(), Some("zram0: 23.5 GiB, lzo-rle, priority 100"));
    let done = steps(&asked);
    assert!(done.contains(&"create /etc/udev/rules.d/90-ramline-zram.rules".into()), "{done:?}");
    assert!(why(&asked).contains("there is no disk area below it"), "{}", why(&asked));
}

#[test]
fn much_in_swap_on_disk_is_a_reason_for_zram_above_it() {
    let disk = without_swap().swaps("/dev/vda2 partition 8388604 2097152 120\n");
    let wanted = line(&disk, &systemd(), Topic::Zram, "zram");
    // A quarter of the RAM at 2:1 is half of it; above 120.
    assert_eq!(wanted.new.as_deref(), Some("zram0: 11.8 GiB, lzo-rle, priority 130"));
    assert!(why(&wanted).contains("/dev/vda2 stays below it for what spills"), "{}", why(&wanted));
}

#[test]
fn zram_generator_gets_its_section_on_top_of_the_file_that_is_in_force() {
    let packaged = capacity(
        &without_swap(),
        &with_generator(Some(("/usr/lib/systemd/zram-generator.conf", "[zram1]\nmount-point = /var/tmp\n"))),
    );
    assert_eq!(steps(&packaged)[1], "create /etc/systemd/zram-generator.conf");
    let ramline_plan::Step::EditFile { after: Some(after), .. } = &packaged.steps[1] else { panic!("{packaged:?}") };
    assert!(after.starts_with("[zram1]\nmount-point = /var/tmp\n\n[zram0]\nzram-size = "), "{after}");
    let own = capacity(&without_swap(), &with_generator(Some(("/etc/systemd/zram-generator.conf", ""))));
    assert_eq!(steps(&own)[1], "replace /etc/systemd/zram-generator.conf");
    let odd = capacity(&without_swap(), &with_generator(Some(("/etc/systemd/zram-generator.conf", "what\n"))));
    assert!(is_refused(&odd, "line 1"), "{odd:?}");
}

#[test]
fn a_device_that_the_generator_makes_at_boot_and_is_not_on_is_the_one_that_is_set() {
    let conf = "/etc/systemd/zram-generator.conf";
    let set_up = |text| with_generator(Some((conf, text)));
    let planned = |text| capacity(&without_swap(), &set_up(text)).new.unwrap();
    assert!(planned("[zram0]\nhost-memory-limit = 128\n").starts_with("zram0: "));
    assert!(planned("[zram3]\nzram-size = 512\n").starts_with("zram3: "));
    // One that holds a file system is neither swap nor free.
    assert!(planned("[zram0]\nmount-point = /var/tmp\n").starts_with("zram1: "));
    assert!(planned("[zram0]\nfs-type = ext4\n[zram1]\nfs-type = swap\n").starts_with("zram1: "));
    let both = capacity(&without_swap(), &set_up("[zram0]\n[zram1]\n"));
    assert!(is_refused(&both, "zram0 and zram1 at boot, and none is on"), "{both:?}");
    // A device with a size that is off as swap.
    let off = capacity(&with_zram().swaps(""), &set_up("[zram0]\nzram-size = 116\n"));
    assert!(is_refused(&off, "systemctl stop systemd-zram-setup@zram0.service"), "{off:?}");
    let other =
        ConfFile { path: "/etc/systemd/zram-generator.conf.d/a.conf".into(), text: "[zram0]\nzram-size = 1\n".into() };
    let mut dropped = set_up("");
    dropped.generator.drop_ins.push(other);
    assert!(is_refused(&capacity(&without_swap(), &dropped), "a.conf sets [zram0] and wins"));
}

#[test]
fn another_manager_is_named_with_the_command_that_stops_it() {
    let mut set_up = systemd();
    let other = Manager { name: "zramd".into(), unit: "zramd.service".into(), ..tools() };
    set_up.managers.push(other);
    assert!(is_refused(&capacity(&without_swap(), &set_up), "sudo systemctl disable --now zramd.service"));
    let untold = vec![UnitLink { path: "/etc/x".into(), target: String::new() }];
    set_up.managers = vec![Manager { enabled_by: untold, ..tools() }];
    assert!(is_refused(&capacity(&without_swap(), &set_up), "systemctl disable"), "a link that could not be put back");
    set_up.managers = vec![Manager { enabled_by: vec![], ..tools() }];
    assert_eq!(capacity(&without_swap(), &set_up).decision, Decision::Change, "installed and off is not in the way");
}

fn tools() -> Manager {
    let link = UnitLink {
        path: "/etc/systemd/system/multi-user.target.wants/zramswap.service".into(),
        target: "/usr/lib/systemd/system/zramswap.service".into(),
    };
    Manager { name: "zram-tools".into(), unit: "zramswap.service".into(), enabled_by: vec![link] }
}

#[test]
fn zram_tools_are_switched_off_and_their_device_is_drained_into_a_second_one() {
    let mut set_up = systemd();
    set_up.managers.push(tools());
    let taken = planned(&with_zram(), &set_up, &[Topic::Zram], Goal::Capacity).lines[0].clone();
    assert_eq!(taken.decision, Decision::Change, "{taken:?}");
    let done = steps(&taken);
    let disable = "disable zramswap.service (unlink /etc/systemd/system/multi-user.target.wants/zramswap.service)";
    assert_eq!(done[..2], ["reload units of systemd", disable]);
    assert_eq!(
        done[done.len() - 4..],
        ["start ramline-zram1.service", "swapoff /dev/zram0", "stop zramswap.service", "reset zram0"]
    );
    // Its unit is on and its device not made: its stop and the reset are of zram0, so ours is another.
    let mut gone = with_zram().swaps("");
    let ramline_snapshot::Seen::Seen { data, .. } = &mut gone.now.zram else { panic!("no zram") };
    data.devices.clear();
    let off = capacity(&gone, &set_up);
    assert_eq!(off.decision, Decision::Change, "{off:?}");
    assert!(off.new.as_deref().unwrap().starts_with("zram1: "), "{off:?}");
    assert_eq!(steps(&off)[1], disable);
    assert!(steps(&off).ends_with(&["stop zramswap.service".into(), "reset zram0".into()]), "{off:?}");
}

#[test]
fn who_makes_a_device_at_boot_is_named_by_file_and_line() {
    let line = |file: &str, line, text: &str| ConfLine { file: file.into(), line, text: text.into() };
    let set_up = |lines: &[ConfLine]| SetUp { zram_lines: lines.to_vec(), ..systemd() };
    let blocked = |set_up: &SetUp| capacity(&with_zram(), set_up);
    let (unit, rule) = ("/etc/systemd/system/mine.service", "/etc/udev/rules.d/60-mine.rules");
    let module = line(unit, 6, "ExecStart=/sbin/modprobe zram");
    let sized = line(unit, 7, "ExecStart=/bin/sh -c \"echo 1G >/sys/block/zram0/disksize\"");
    let script = line(unit, 7, "ExecStart=/usr/local/sbin/my-zram start");
    assert_eq!(blocked(&set_up(&[module.clone(), sized])).set_by, ["/etc/systemd/system/mine.service:7"]);
    assert_eq!(blocked(&set_up(&[module, script])).set_by, ["/etc/systemd/system/mine.service:7"]);
    let mut both = set_up(&[line(rule, 1, "KERNEL==\"zram0\", ATTR{disksize}=\"134217728\"")]);
    both.fstab = Some("/dev/zram0 none swap defaults,pri=77 0 0\n".into());
    let named = blocked(&both);
    assert_eq!(named.set_by, ["/etc/fstab:1", "/etc/udev/rules.d/60-mine.rules:1"]);
    assert!(is_refused(&named, "for this boot alone: ramline tune plan zram --runtime-only"), "{named:?}");
}

#[test]
fn a_live_zram_is_kept_and_one_behind_a_disk_is_moved_through_the_units_that_make_it() {
    let kept = line(&with_zram(), &systemd(), Topic::Zram, "zram0");
    assert_eq!(kept.decision, Decision::Keep);
    let behind = with_zram().swaps("/dev/sda1 partition 523260 0 5\n/dev/zram0 partition 118812 24576 -2\n");
    let set_up = with_generator(Some(("/etc/systemd/zram-generator.conf", "[zram0]\nzram-size = 116\n")));
    let moved = line(&behind, &set_up, Topic::Zram, "zram0");
    assert_eq!(moved.new.as_deref(), Some("priority 100"));
    let through = [
        "stop dev-zram0.swap",
        "reload units of systemd",
        "replace /etc/systemd/zram-generator.conf",
        "reload units of systemd",
        "start dev-zram0.swap (zram0: 116.0 MiB, priority 100)",
    ];
    assert_eq!(steps(&moved), through);
    // For this boot alone what makes it stays as it is: another device takes its place.
    let ask = Ask { topics: vec![Topic::Zram], runtime_only: true, ..Ask::default() };
    let now = behind.inputs(|inputs| plan(inputs, &set_up, &ask)).lines[0].clone();
    let second =
        ["size zram1: 116.0 MiB, zstd", "mkswap /dev/zram1", "swapon /dev/zram1 at priority 100", "swapoff /dev/zram0"];
    assert_eq!(steps(&now), second);
    assert!(!steps(&moved).iter().any(|step| step.contains("reset")));
    assert!(is_refused(&line(&behind, &systemd(), Topic::Zram, "zram0"), "--runtime-only"));
}

#[test]
fn a_device_of_the_generator_is_made_again_where_its_pages_have_room_and_else_from_the_next_boot_on() {
    let set_up = with_generator(Some(("/etc/systemd/zram-generator.conf", "[zram0]\nzram-size = 116\n")));
    let larger = planned(&with_zram(), &set_up, &[Topic::Zram], Goal::Capacity).lines[0].clone();
    assert!(larger.new.as_deref().unwrap().starts_with("zram0: "), "{larger:?}");
    let done = steps(&larger);
    assert_eq!(done[0], "stop dev-zram0.swap");
    assert!(done[4].starts_with("start dev-zram0.swap (zram0: "), "{done:?}");
    let mut tight = with_zram();
    let meminfo = tight.now.meminfo.data_mut().unwrap();
    meminfo.mem_available = Some(Bytes::from_mib(1));
    let later = planned(&tight, &set_up, &[Topic::Zram], Goal::Capacity).lines[0].clone();
    assert!(later.new.as_deref().unwrap().ends_with(", from the next boot on"), "{later:?}");
    let file = ["reload units of systemd", "replace /etc/systemd/zram-generator.conf", "reload units of systemd"];
    assert_eq!(steps(&later), file);
}

#[test]
fn zswap_in_front_of_a_disk_and_containers_are_left_as_they_are() {
    let mut zswap = without_swap().swaps("/dev/vda2 partition 8388604 2097152 -2\n");
    zswap.now.zswap =
        ramline_snapshot::Seen::new(ramline_snapshot::zswap::Zswap { enabled: true, ..Default::default() });
    assert_eq!(line(&zswap, &systemd(), Topic::Zram, "zram").decision, Decision::Keep);
    assert_eq!(capacity(&Case::tree("healthy/container"), &systemd()).decision, Decision::Keep);
}

/// A profile of pages whose compressed lengths spread a little around these, by the kernel; the levels of zstd beside them.
fn profile(lengths: &[(&str, u64)]) -> PageProfile {
    let algorithms = lengths.iter().map(|(name, length)| {
        let mut of = Lengths::new(4096);
        (0..1000).for_each(|n| of.add(length + n % 64));
        AlgorithmPages {
            algorithm: (*name).into(),
            by: By::Kernel,
            code: "test".into(),
            lengths: of,
            compress: None,
            compress_mean: None,
            reads: vec![],
            swap_in: None,
            pool: None,
            notes: vec![],
        }
    });
    let sampling = Sampling { taken: 1000, scope: "all processes".into(), ..Sampling::default() };
    PageProfile { format: 1, sampling, algorithms: algorithms.collect(), ..PageProfile::default() }
}

fn by_pages(case: &Case, lengths: &[(&str, u64)]) -> PlanLine {
    let pages = Some(profile(lengths));
    let ask = Ask { topics: vec![Topic::Zram], goal: Goal::Capacity, pages, ..Ask::default() };
    case.inputs(|inputs| plan(inputs, &systemd(), &ask)).lines.remove(0)
}

#[test]
fn the_pages_of_this_machine_choose_the_algorithm_and_the_size_with_its_interval() {
    let line = by_pages(&without_swap(), &[("lzo-rle", 2000), ("lz4", 1300), ("zstd", 900)]);
    // This kernel has lzo-rle, lzo and lz4: zstd is denser and not here. Half of the RAM at 3:1 is 1.5 times the RAM.
    assert!(line.new.as_deref().unwrap().contains(", lz4, priority 100"), "{line:?}");
    assert!(
        why(&line).contains("lz4 has the most pages in the same RAM on 1000 pages of all processes"),
        "{}",
        why(&line)
    );
    assert!(why(&line).contains(" to ") && why(&line).contains("its pool and table take"), "{}", why(&line));
    let half = by_pages(&without_swap(), &[("lzo-rle", 1300), ("lz4", 2000)]);
    assert!(half.new.as_deref().unwrap().contains(", lzo-rle, "), "{half:?}");
}

#[test]
fn a_profile_from_outside_names_no_algorithm_that_no_kernel_has() {
    let mut case = without_swap();
    let ramline_snapshot::Seen::Seen { data, .. } = &mut case.now.zram else { panic!("no zram") };
    data.devices.clear();
    let line = by_pages(&case, &[("lz4\", RUN+=\"/bin/x", 900), ("lz4", 1300), ("lzo", 2000)]);
    assert!(line.new.as_deref().unwrap().contains(", lz4, "), "{line:?}");
    assert!(!steps(&line).iter().any(|step| step.contains("RUN")), "{line:?}");
}

#[test]
fn what_cannot_be_told_apart_keeps_the_choice_of_the_kernel_and_without_a_profile_its_command_is_named() {
    let level = by_pages(&without_swap(), &[("lzo-rle", 1301), ("lz4", 1300)]);
    assert!(level.new.as_deref().unwrap().contains(", lzo-rle, "), "{level:?}");
    assert!(why(&level).contains("cannot be told apart from it"), "{}", why(&level));
    assert!(why(&capacity(&without_swap(), &systemd())).contains("sudo ramline measure pages"));
}

#[test]
fn pages_that_hardly_compress_get_no_zram_though_it_is_asked_for() {
    let line = by_pages(&without_swap(), &[("lzo-rle", 4032), ("lz4", 4030)]);
    assert_eq!(line.decision, Decision::Keep, "{line:?}");
    assert!(
        why(&line).starts_with("these pages hardly compress: in zram they would save at most 0 % of their RAM"),
        "{}",
        why(&line)
    );
    assert!(
        why(&line).contains("asked for: the most data in RAM") && why(&line).contains("tune plan swap"),
        "{}",
        why(&line)
    );
}
