use ramline_kernel::Root;
use ramline_snapshot::setup::Etc;

use super::managers::knob_of_rule;
use super::*;

fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, SetUp) {
    let dir = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let seen = set_up(&Root::new(dir.path()));
    (dir, seen)
}

#[test]
fn of_the_generators_files_the_strongest_main_file_stands_and_drop_ins_come_after_it() {
    let (_dir, seen) = tree(&[
        ("usr/lib/systemd/system-generators/zram-generator", "x"),
        ("usr/lib/systemd/zram-generator.conf", "[zram0]\nzram-size = 1\n"),
        ("etc/systemd/zram-generator.conf", "[zram0]\nzram-size = 2\n"),
        ("usr/lib/systemd/zram-generator.conf.d/b.conf", "[zram0]\nzram-size = 3\n"),
        ("etc/systemd/zram-generator.conf.d/b.conf", "[zram0]\nzram-size = 4\n"),
        ("run/systemd/zram-generator.conf.d/a.conf", "[zram1]\n"),
    ]);
    let generator = seen.generator;
    assert!(generator.program.is_some());
    assert_eq!(generator.main.unwrap().path, "/etc/systemd/zram-generator.conf");
    let names: Vec<&str> = generator.drop_ins.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(names, ["/run/systemd/zram-generator.conf.d/a.conf", "/etc/systemd/zram-generator.conf.d/b.conf"]);
}

#[test]
fn managers_are_seen_with_the_links_that_switch_them_on() {
    let (_dir, seen) = tree(&[
        ("usr/lib/systemd/system/zramswap.service", ""),
        ("etc/systemd/system/multi-user.target.wants/zramswap.service", ""),
        ("etc/udev/rules.d/30-z.rules", "# vm.swappiness=1\nKERNEL==\"zram0\", SYSCTL{vm.swappiness}=\"150\"\n"),
        ("etc/modules-load.d/z.conf", "zram\n"),
    ]);
    let manager = &seen.managers[0];
    assert_eq!((manager.name.as_str(), manager.unit.as_str()), ("zram-tools", "zramswap.service"));
    assert_eq!(manager.enabled_by[0].path, "/etc/systemd/system/multi-user.target.wants/zramswap.service");
    let set: Vec<_> = seen.others_of("vm.swappiness").map(|s| (s.value.as_str(), s.line)).collect();
    assert_eq!(set, [("150", 2)]);
    assert_eq!(seen.zram_lines.len(), 2, "{:?}", seen.zram_lines);
}

#[test]
fn units_and_scripts_of_the_administrators_own_are_seen_and_links_to_packages_are_not() {
    let (dir, seen) = tree(&[
        ("etc/systemd/system/mine.service", "[Service]\nExecStart=/bin/sh -c \"echo 1 >/sys/block/zram0/disksize\"\n"),
        ("etc/systemd/system/ramline-zram0.service", "ExecStart=/sbin/mkswap /dev/zram0\n"),
        ("usr/lib/systemd/system/zramswap.service", "ExecStart=/usr/sbin/zramswap start\n"),
        ("etc/rc.local", "#!/bin/sh\nzramctl --find --size 1G\n"),
    ]);
    let found: Vec<_> = seen.zram_lines.iter().map(|line| (line.file.as_str(), line.line)).collect();
    assert_eq!(found, [("/etc/systemd/system/mine.service", 2), ("/etc/rc.local", 2)]);
    let alias = dir.path().join("etc/systemd/system/zram.service");
    std::os::unix::fs::symlink(dir.path().join("usr/lib/systemd/system/zramswap.service"), alias).unwrap();
    assert_eq!(set_up(&Root::new(dir.path())).zram_lines, seen.zram_lines);
}

#[test]
fn tuned_counts_with_its_profile_and_those_it_includes() {
    let (_dir, seen) = tree(&[
        ("usr/lib/systemd/system/tuned.service", ""),
        ("etc/systemd/system/multi-user.target.wants/tuned.service", ""),
        ("etc/tuned/active_profile", "mine\n"),
        ("etc/tuned/mine/tuned.conf", "[main]\ninclude=base\n[sysctl]\nvm.swappiness=30\n"),
        ("usr/lib/tuned/base/tuned.conf", "[sysctl]\nvm.swappiness = 10\n[vm]\nvm.nothing=1\n"),
        ("etc/tuned/tuned-main.conf", "reapply_sysctl = 0\n"),
    ]);
    let set: Vec<&str> = seen.others_of("vm.swappiness").map(|s| s.value.as_str()).collect();
    assert_eq!((set, seen.tuned_yields, seen.others_set.len()), (vec!["10", "30"], false, 2));
}

#[test]
fn a_rule_of_udev_sets_a_knob_in_three_ways() {
    let of = |rule| knob_of_rule(rule).map(|(key, value)| format!("{key}={value}"));
    assert_eq!(of("x, SYSCTL{vm/swappiness}=\"150\"").as_deref(), Some("vm.swappiness=150"));
    assert_eq!(of("RUN+=\"/bin/sh -c 'echo 150 > /proc/sys/vm/swappiness'\"").as_deref(), Some("vm.swappiness=150"));
    assert_eq!(of("RUN+=\"/sbin/sysctl -w vm.page-cluster=0\"").as_deref(), Some("vm.page-cluster=0"));
    assert_eq!(of("KERNEL==\"vm.x\""), None);
}

#[test]
fn etc_resume_and_tmp_are_seen_as_they_are() {
    let (_dir, seen) = tree(&[
        ("proc/self/mountinfo", "1 0 8:1 / / ro - ext4 /dev/sda1 ro\n"),
        ("proc/cmdline", "quiet resume=UUID=1-2 rw\n"),
        ("usr/lib/systemd/system/tmp.mount", ""),
        ("etc/crypttab", "# x\ncryptswap /dev/sda3 /dev/urandom swap\n"),
        ("swapfile", ""),
    ]);
    assert_eq!((seen.etc, seen.tmp.file.as_deref()), (Etc::ReadOnly, Some("/usr/lib/systemd/system/tmp.mount")));
    assert_eq!(seen.resume.map(|s| (s.value, s.file)), Some(("UUID=1-2".into(), "/proc/cmdline".into())));
    assert_eq!((seen.encrypted, seen.swap_files), (vec!["cryptswap".to_owned()], vec!["/swapfile".to_owned()]));
    let (_dir, seen) = tree(&[("etc/NIXOS", "")]);
    assert_eq!(seen.etc, Etc::Managed("NixOS".into()));
}
