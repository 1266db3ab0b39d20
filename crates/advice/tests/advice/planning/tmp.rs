use ramline_plan::{Decision, Goal, PlanLine, Step, Topic};
use ramline_snapshot::Seen;
use ramline_snapshot::dirs::DirUse;
use ramline_snapshot::setup::SetUp;
use ramline_units::Bytes;

use super::{is_refused, line, planned, steps, systemd, why};
use crate::cases::{Case, without_swap};

/// /tmp on the root disk with so much in so many files.
fn on_disk(mib: u64, inodes: u64) -> Case {
    let mut case = without_swap();
    let Seen::Seen { data, .. } = &mut case.now.mounts else { panic!("no mounts") };
    data.retain(|mount| mount.at != "/tmp");
    let held = Bytes::from_mib(mib);
    let dir =
        DirUse { path: "/tmp".into(), allocated: held, on_tmpfs: held, inodes, complete: true, ..DirUse::default() };
    case.now.dirs = Seen::new(vec![dir]);
    case
}

/// /tmp is a tmpfs.
pub fn in_ram() -> Case {
    let mut case = on_disk(4 * 1024, 9);
    let Seen::Seen { data, .. } = &mut case.now.mounts else { panic!("no mounts") };
    let Some(root) = data.iter().find(|mount| mount.at == "/").cloned() else { panic!("no mount at /") };
    data.push(ramline_snapshot::mounts::Mount { at: "/tmp".into(), fs: "tmpfs".into(), capacity: None, ..root });
    case
}

fn flash(case: &Case) -> PlanLine {
    planned(case, &systemd(), &[Topic::Tmp], Goal::FlashWear).lines[0].clone()
}

#[test]
fn tmp_goes_to_ram_only_where_it_is_asked_for_and_fits() {
    assert_eq!(line(&on_disk(100, 9), &systemd(), Topic::Tmp, "/tmp").decision, Decision::Keep);
    assert_eq!(flash(&on_disk(60 * 1024, 9)).decision, Decision::Keep, "60 GiB do not fit into 24");
    let moved = flash(&on_disk(100, 9));
    assert_eq!(steps(&moved), ["reload units of systemd", "create /etc/fstab", "reload units of systemd"]);
    assert!(moved.new.as_deref().unwrap().ends_with("1m inodes, nosuid, nodev, from the next boot"), "{moved:?}");
    assert!(moved.risk.contains("the 8 files in it now stay on the disk below the mount, hidden"), "{}", moved.risk);
    let empty = flash(&on_disk(0, 1));
    assert!(steps(&empty)[3].starts_with("mount tmpfs at /tmp (tmpfs, mode=1777,nosuid,nodev,size=12"), "{empty:?}");
}

/// The plan to move /tmp, and the entry it makes in fstab.
fn moved(case: &Case, limits_users: Option<bool>) -> (PlanLine, String) {
    let mut set_up = systemd();
    set_up.tmp.limits_users = limits_users;
    let line = planned(case, &set_up, &[Topic::Tmp], Goal::FlashWear).lines[0].clone();
    let Step::EditFile { after: Some(fstab), .. } = &line.steps[1] else { panic!("{line:?}") };
    let entry = fstab.clone();
    (line, entry)
}

#[test]
fn one_user_gets_four_fifths_of_it_where_the_kernel_has_quotas_on_tmpfs() {
    let (line, entry) = moved(&on_disk(0, 1), Some(true));
    assert!(line.new.as_deref().unwrap().contains(" a user, 1m inodes"), "{line:?}");
    assert!(line.risk.ends_with("a kernel without quotas on tmpfs leaves /tmp on the disk"), "{}", line.risk);
    let of = |option: &str| -> u64 {
        let value = entry.split([',', ' ']).find_map(|word| word.strip_prefix(option)?.strip_suffix('M'));
        value.unwrap_or_else(|| panic!("no {option} in {entry}")).parse().unwrap()
    };
    let (size, limit) = (of("size="), of("usrquota_block_hardlimit="));
    assert!(limit == size * 4 / 5 || limit + 1 == size * 4 / 5, "{entry}");
    assert!(entry.ends_with("M,nofail,x-systemd.before=local-fs.target 0 0\n"), "{entry}");
    // What is mounted now is mounted by hand: it may not fail unseen.
    assert!(steps(&line)[3].contains(",usrquota,") && !steps(&line)[3].contains("nofail"), "{line:?}");
}

#[test]
fn it_has_no_quotas_where_the_kernel_has_none_was_not_asked_or_more_is_in_it_already() {
    for (limits_users, says) in [(Some(false), "from all others"), (None, "planned as root, each user is limited")] {
        let (line, entry) = moved(&on_disk(0, 1), limits_users);
        assert!(entry.ends_with("M,nr_inodes=1m 0 0\n"), "{entry}");
        assert!(line.risk.contains(says) && !line.risk.contains("of one user"), "{}", line.risk);
    }
    // Nine tenths of half the RAM, and all of it free: it fits, and is more than one user would get.
    let mut full = on_disk(0, 1);
    let Seen::Seen { data, .. } = &mut full.now.meminfo else { panic!("no meminfo") };
    let ram = data.mem_total.unwrap();
    (data.mem_free, data.mem_available) = (Some(ram), Some(ram));
    let Seen::Seen { data, .. } = &mut full.now.dirs else { panic!("no directories") };
    data[0].on_tmpfs = Bytes(ram.0 / 20 * 9);
    let (line, entry) = moved(&full, Some(true));
    assert!(!entry.contains("quota"), "{line:?}");
}

#[test]
fn an_entry_that_is_there_or_a_masked_unit_blocks_it() {
    let mut set_up = systemd();
    set_up.tmp.masked = true;
    let of = |set_up: &SetUp| planned(&on_disk(100, 9), set_up, &[Topic::Tmp], Goal::Latency).lines[0].clone();
    assert!(is_refused(&of(&set_up), "sudo systemctl unmask tmp.mount"));
    set_up.tmp.masked = false;
    set_up.fstab = Some("/dev/sdb1 /tmp ext4 defaults 0 2\n".into());
    assert!(is_refused(&of(&set_up), "/etc/fstab:1 mounts /dev/sdb1"));
}

#[test]
fn tmp_in_ram_is_kept_while_it_fits_and_goes_back_by_a_link_or_its_entry() {
    let case = in_ram();
    let mut set_up = systemd();
    set_up.tmp.file = Some("/usr/lib/systemd/system/tmp.mount".into());
    let kept = line(&case, &set_up, Topic::Tmp, "/tmp");
    assert_eq!(kept.decision, Decision::Keep, "{kept:?}");
    let back = |set_up: &SetUp| planned(&case, set_up, &[Topic::Tmp], Goal::Capacity).lines[0].clone();
    assert_eq!(steps(&back(&set_up))[1], "link /etc/systemd/system/tmp.mount -> /dev/null", "{}", why(&back(&set_up)));
    set_up.fstab = Some("a / ext4\ntmpfs /tmp tmpfs defaults 0 0\n".into());
    let line = back(&set_up);
    let Step::EditFile { after: Some(after), .. } = &line.steps[1] else { panic!("{line:?}") };
    assert_eq!(after, "a / ext4\n");
}
