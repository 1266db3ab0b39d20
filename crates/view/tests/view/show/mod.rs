//! The screens of `show` on small machines made by hand: the expected text stands here.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

mod gaps;
mod shared;
mod zram;

use ramline_snapshot::machine::Machine;
use ramline_snapshot::meminfo::Meminfo;
use ramline_snapshot::pressure::Pressure;
use ramline_snapshot::sysctl::VmSettings;
use ramline_snapshot::vmstat::Vmstat;
use ramline_snapshot::zoneinfo::Zoneinfo;
use ramline_snapshot::zram::{Zram, ZramDevice, ZramSupport};
use ramline_snapshot::{Seen, Snapshot, Window, dirs::DirUse, mounts, swaps};
use ramline_units::{Bytes, Nanos};
use ramline_view::text::Style;
use ramline_view::{Screen, ShowMemory, ShowPressure, ShowSwap, ShowTiers, ShowTmpfs};

const STYLE: Style = Style { colour: false, width: 100 };

const MEMINFO: &str = "\
MemTotal:        8388608 kB
MemFree:         1048576 kB
MemAvailable:    4194304 kB
Buffers:          131072 kB
SwapCached:        65536 kB
Active(anon):    1048576 kB
Inactive(anon):  1048576 kB
Active(file):    1572864 kB
Inactive(file):  2621440 kB
Unevictable:           0 kB
SwapTotal:       4194304 kB
SwapFree:        3145728 kB
Dirty:            102400 kB
Writeback:             0 kB
Mapped:           524288 kB
Shmem:            524288 kB
KReclaimable:     262144 kB
SReclaimable:     262144 kB
SUnreclaim:       131072 kB
KernelStack:        8192 kB
PageTables:        32768 kB
VmallocUsed:       16384 kB
Percpu:             4096 kB
";

const ZONEINFO: &str = "\
Node 0, zone   Normal
  pages free     262144
        boost    0
        min      10240
        low      12800
        high     15360
        spanned  2097152
        present  2097152
        managed  2097152
        protection: (0, 0)
      nr_zone_inactive_anon 262144
      nr_zone_active_anon 262144
      nr_zone_inactive_file 655360
      nr_zone_active_file 393216
      nr_zone_unevictable 0
  pagesets
    cpu: 0
              count: 2560
              high:  5120
              batch: 63
  vm stats threshold: 64
";

fn machine(seconds: u64) -> Snapshot {
    let boot =
        Machine { boot_id: Some("b".into()), uptime: Some(Nanos(seconds * 1_000_000_000)), ..Machine::default() };
    let mut seen = Snapshot::new(boot);
    seen.meminfo = Seen::new(Meminfo::parse("meminfo", MEMINFO).unwrap());
    seen.zoneinfo = Seen::new(Zoneinfo::parse("zoneinfo", ZONEINFO).unwrap());
    let vmstat = format!(
        "nr_zspages 65536\nnr_isolated_anon 0\nnr_isolated_file 0\npswpin {}\npswpout 0\npgmajfault {}\nworkingset_refault_file {}\n\
         workingset_refault_anon 0\npgscan_anon 0\npgscan_file 0\npgsteal_anon 0\npgsteal_file 0\n",
        seconds * 100,
        seconds * 3,
        seconds * 50
    );
    seen.vmstat = Seen::new(Vmstat::parse("vmstat", &vmstat).unwrap());
    let psi = format!(
        "some avg10=0.50 avg60=0.20 avg300=0.10 total={}\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n",
        seconds * 2000
    );
    seen.pressure_memory = Seen::new(Pressure::parse("memory", &psi).unwrap());
    let areas = "Filename\tType\tSize\tUsed\tPriority\n/dev/zram0 partition 2097152 1048576 100\n/dev/sda2 partition 2097152 0 -2\n";
    seen.swaps = Seen::new(swaps::parse("swaps", areas).unwrap());
    let mut settings = VmSettings::default();
    for (key, value) in
        [("swappiness", "60"), ("page-cluster", "3"), ("min_free_kbytes", "40960"), ("watermark_scale_factor", "10")]
    {
        settings.put(key, value);
    }
    seen.settings = Seen::new(settings);
    let files = [
        ("disksize", "2147483648"),
        ("initstate", "1"),
        ("comp_algorithm", "lzo [lz4] zstd"),
        ("mm_stat", "1073741824 251658240 268435456 0 268435456 1024 0 2048 2100"),
        ("io_stat", "0 5 0 12"),
    ];
    let files = files.map(|(k, v)| (k.to_owned(), v.to_owned())).into();
    let device = ZramDevice::from_files("zram0", &files, &mut Vec::new());
    seen.zram = Seen::new(Zram {
        support: ZramSupport { control: true, ..ZramSupport::default() },
        devices: device.into_iter().collect(),
        unseen: vec![],
    });
    seen
}

#[test]
fn show_memory_puts_every_byte_on_a_line_with_its_owner_and_the_way_to_free_it() {
    let (before, after) = (machine(100), machine(102));
    let window = Window::new(&before, &after).unwrap();
    assert_eq!(
        ShowMemory::new(&after, Some(&window)).text(&STYLE),
        "\
Memory is fine: 4.0 of 8.0 GiB available, no task waits noticeably (0.2 %).
1.5 GiB of that holds files in use; if taken, they are read from disk again.
PPPPPPPPPPPPPPPPPPPTTTTTTZZZkkkkkkkkkddcccccccccccccccccccccccccccccccccccccccccccccccc.............
P processes                    1.5 GiB  18.8 %  freed by swapping
T tmpfs and shared memory    512.0 MiB   6.2 %  freed by swapping
Z compressed (zram, zswap)   256.0 MiB   3.1 %  freed when read back
k kernel                     758.0 MiB   9.3 %  freed in part
d page cache, to be written  100.0 MiB   1.2 %  freed after a write
c page cache                   3.9 GiB  48.8 %  freed at once
. free                         1.0 GiB  12.6 %

Every line of MemTotal: 8.0 GiB (now; they add up)
line                              bytes   share  whose; freed by what, at what cost
free                            1.0 GiB  12.5 %  unused; yes, by any allocation
free, in per-CPU lists         10.0 MiB  0.12 %  unused; not in MemFree; yes, by any allocation
process memory                  1.5 GiB  18.8 %  processes: heaps and stacks; their code is page
                                                 cache; by swapping out; costs a write now, swap-ins
                                                 later
- also on swap                 64.0 MiB  0.78 %
tmpfs and shared memory       512.0 MiB   6.2 %  tmpfs files, shared segments, memfd; by swapping
                                                 out; costs a write now, swap-ins later
page cache, clean               3.9 GiB  48.8 %  files read or written lately; yes, by reclaim;
                                                 costs a read of what is needed again
- used at least twice lately    1.5 GiB  18.8 %
- mapped into processes       512.0 MiB   6.2 %  at most
- blocks of devices           128.0 MiB   1.6 %
page cache, to be written     100.0 MiB   1.2 %  files written lately; by writeback, then reclaim;
                                                 costs a write
kernel objects, reclaimable   256.0 MiB   3.1 %  cached names and inodes above all; partly, by
                                                 shrinkers; costs looking names up again
kernel objects, in use        128.0 MiB   1.6 %  the kernel; only by closing files, sockets, groups
vmalloc                        16.0 MiB  0.20 %  kernel modules, buffers, stacks; only by ending
                                                 threads, unloading modules
page tables                    32.0 MiB  0.39 %  processes; only by ending or shrinking them
per-CPU data                    4.0 MiB  0.05 %  kernel statistics, control groups; only by removing
                                                 groups and devices
compressed pool               256.0 MiB   3.1 %  what was swapped to zram or zswap; partly, by
                                                 reading it back; costs more RAM than it frees
- zram                        256.0 MiB   3.1 %
leftover                      322.0 MiB   3.9 %  drivers, pipes, sockets: in no counter; freed by
                                                 their owners only; 13 counters may be off by 3.2
                                                 MiB in all
Nothing in: locked files and ramfs, in transit, other reclaimable kernel memory.
Not shown here, so in the leftover if there is any: SecPageTables, Hugetlb, GPUActive, GPUReclaim.
Drift over 2.0 s: no line; leftover +0 B.
Swap: 1.0 of 4.0 GiB used.

Next: ramline show --all, ramline show processes
"
    );
}

#[test]
fn show_tiers_tells_the_order_of_giving_way() {
    assert_eq!(
        ShowTiers::new(&machine(100), None).text(&STYLE),
        "\
When memory runs short the page cache is reclaimed first.

tier                          uses       of  RAM it takes  reclaimed
process memory             1.5 GiB                1.5 GiB     second
page cache                 4.0 GiB                4.0 GiB      first
tmpfs and shared memory  512.0 MiB              512.0 MiB     second
/dev/zram0                 1.0 GiB  2.0 GiB     256.0 MiB         no
/dev/sda2                      0 B  2.0 GiB           0 B         no
files on disk            not known                    0 B         no

How each is reclaimed
  1. page cache: clean pages are dropped, dirty ones written first
  2. process memory: idle pages are swapped out, balanced against the page cache by swappiness
  2. tmpfs and shared memory: idle pages are swapped out, balanced against the page cache by
     swappiness
  -  /dev/zram0: keeps what it has, however old; full, it passes new pages to the next area
  -  /dev/sda2: keeps what it has until it is read back; full, it passes new pages to the next area
  -  files on disk: holds the files; what was dropped from the page cache is read from here
Sizes are of now, uncompressed. Tiers with the same number are balanced by swappiness and age.
vm.swappiness is 60 (setting, 0 to 200): at equal costs 30.0 % of scanning goes to process and tmpfs
memory, between 17.6 % and 46.2 % as file or swap reads get cheaper; the kernel does not export the
costs it sees.

Next: ramline measure tiers (what an access to each costs here)
"
    );
}

#[test]
fn show_swap_keeps_stock_and_flow_apart() {
    let (before, after) = (machine(100), machine(102));
    let window = Window::new(&before, &after).unwrap();
    assert_eq!(
        ShowSwap::new(&after, Some(&window)).text(&STYLE),
        "\
Swapped in at 400.0 KiB/s, out at 0 B/s (over 2.0 s): tasks wait for what is swapped in.

Areas in the order of use (now, uncompressed bytes)
turn  area        device                priority     size     uses   share
   1  /dev/zram0  zram: compressed RAM       100  2.0 GiB  1.0 GiB  50.0 %  #####.....
   2  /dev/sda2   device not known            -2  2.0 GiB      0 B   0.0 %  ..........

What is in swap, and what moves
  in swap  1.0 GiB of 4.0 GiB (now)
  moving   areas: 400.0 KiB/s in, 0 B/s out, over 2.0 s
           refaults: 0 process pages/s needed again after they left, over 2.0 s

vm.swappiness is 60 (setting, 0 to 200): at equal costs 30.0 % of scanning goes to process and tmpfs
memory, between 17.6 % and 46.2 % as file or swap reads get cheaper; the kernel does not export the
costs it sees.
A swap-in from a disk reads 8 pages at once (2^vm.page-cluster, setting), one from zram a single
page (before Linux 7.0 except pages that processes share).
"
    );
    let alone = ShowSwap::new(&after, None).text(&STYLE);
    assert!(alone.contains("since boot only, no rate; try: ramline show swap --for 2s"), "{alone}");
}

#[test]
fn show_tmpfs_holds_directories_against_four_limits_with_margins() {
    let mut seen = machine(100);
    let text = "22 1 0:20 / / rw - ext4 /dev/sda1 rw\n23 22 0:21 / /dev/shm rw - tmpfs tmpfs rw\n24 22 0:22 / /run rw - tmpfs tmpfs rw,noswap\n";
    let mut mounts = mounts::parse("mountinfo", text).unwrap();
    for mount in mounts.iter_mut().filter(|m| m.fs == "tmpfs") {
        let (size, free) = (Bytes::from_gib(4), Bytes::from_gib(3));
        mount.capacity = Some(mounts::Capacity { size, free, available: free, inodes: 1000, inodes_free: 600 });
    }
    seen.mounts = Seen::new(mounts);
    let dir = |path: &str, gib: u64, complete| DirUse {
        path: path.into(),
        allocated: Bytes::from_gib(gib),
        on_tmpfs: Bytes::from_gib(gib),
        inodes: 12_000,
        cached: Some(Bytes::from_mib(100)),
        refused: 0,
        complete,
    };
    seen.dirs = Seen::new(vec![dir("/tmp", 3, true), dir("/var/tmp", 0, false)]);
    assert_eq!(
        ShowTmpfs::new(&seen).text(&STYLE),
        "\
File systems in RAM use 2.0 GiB (now); together they may take 8.0 GiB, 100 % of RAM.

mount     type      uses  at most   share              of RAM        inodes  may go to swap
/dev/shm  tmpfs  1.0 GiB  4.0 GiB  25.0 %  ###.......  12.5 %  400 of 1,000  yes
/run      tmpfs  1.0 GiB  4.0 GiB  25.0 %  ###.......  12.5 %  400 of 1,000  no
The mounts hold 1.5 GiB more than Shmem counts in RAM (now): as much of them is on swap.

Would these directories fit into RAM?
/tmp would need 3.0 GiB and 12,000 inodes: does not fit into half of the free memory; it fits into
half of RAM, what is available, free memory and swap.

What each limit would leave (negative: it breaks)
directory    needs  half of RAM  half of free  available  free + swap  inodes  inodes left
/tmp       3.0 GiB      1.0 GiB      -2.5 GiB    1.0 GiB      1.0 GiB  12,000    1,036,576
/var/tmp    >= 0 B      4.0 GiB     512.0 MiB    4.0 GiB      4.0 GiB  12,000    1,036,576
  - /tmp: 100.0 MiB of it are in the page cache already: moving them needs no further RAM, but they
    can then no longer be dropped (without swap they stay); it would push out 1.9 GiB of clean page
    cache.
Limits: half of RAM (the size a tmpfs gets by default) 4.0 GiB; half of free memory (nothing else
has to move) 512.0 MiB; available memory (clean page cache is reclaimed) 4.0 GiB; free memory and
free swap 4.0 GiB. No limit credits what is in the page cache already.

What lies in tmpfs does not survive a reboot, and under pressure it reaches the swap area
unencrypted.
"
    );
}

#[test]
fn show_pressure_tells_the_distance_in_mib_and_from_two_seconds_forecasts_nothing() {
    let (mut before, after) = (machine(100), machine(102));
    let more = ZONEINFO.replace("pages free     262144", "pages free     264192");
    before.zoneinfo = Seen::new(Zoneinfo::parse("zoneinfo", &more).unwrap());
    let window = Window::new(&before, &after).unwrap();
    assert_eq!(
        ShowPressure::new(&after, Some(&window)).text(&STYLE),
        "\
No task waits for memory noticeably.

stalled (PSI)                  over 2.0 s  last 10 s    60 s   300 s  since boot
memory, some task  ..........      0.20 %     0.50 %  0.20 %  0.10 %       0.2 s
memory, all tasks  ..........      0.00 %     0.00 %  0.00 %  0.00 %       0.0 s
Reclaim: 974.0 MiB more can be used before the kernel starts to free memory, 984.0 MiB before tasks
wait for it.

Reclaim, per second, over 2.0 s
  50.0  pages/s   of files read again after they were evicted (refaults)
     0  pages/s   of processes needed again after they were swapped out (refaults)
  3.00  faults/s  had to read a device (major faults)
     0  pages/s   looked at by reclaim
     0  pages/s   freed by reclaim

Distance to reclaim, in MiB (now)
MiB            managed    free   min   low  high  reserve  to kswapd  to stalls  band
node 0 Normal   8192.0  1024.0  40.0  50.0  60.0      0.0      974.0      984.0  above high
kswapd wakes at low, allocations stall at min. A zone's distance is free less watermark; a node's
leaves out what zones reserve for other allocations.
Above high: kswapd sleeps: nothing is reclaimed, so nothing is swapped.
vm.watermark_scale_factor is 10 (setting); it works only above 12.2 (2500 x min_free / managed), so
it changes nothing here; the gap between two watermarks is 10.0 MiB over all zones.

Pages reclaim can look at (now)
MiB            active  inactive  unevictable
node 0 Normal  2560.0    3584.0          0.0
"
    );
}
