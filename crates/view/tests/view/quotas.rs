//! `show tmpfs` where users have a quota, on the captured machine of the finding.

use ramline_gather::gather;
use ramline_kernel::Root;
use ramline_snapshot::Wanted;
use ramline_testkit::tree;
use ramline_view::text::Style;
use ramline_view::{Screen, ShowTmpfs};

#[test]
fn a_user_near_its_quota_stands_below_the_mounts_with_what_others_get() {
    let seen = gather(&Root::new(tree("findings/tmpfs-quota-near-limit/fires")), Wanted::ALL);
    let shown = ShowTmpfs::new(&seen).text(&Style { colour: false, width: 100 });
    let rows: Vec<String> = shown
        .lines()
        .skip_while(|line| !line.starts_with("Quotas:"))
        .skip(1)
        .take(4)
        .map(|line| line.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    assert_eq!(
        rows,
        [
            "mount of used allowed share inodes",
            "/tmp user 1000 183.0 MiB 185.6 MiB 98.6 % 212 of no limit",
            "/tmp user 1001 2.0 MiB 185.6 MiB 1.1 % 9 of no limit",
            "/tmp any other user 185.6 MiB",
        ],
        "{shown}"
    );
}
