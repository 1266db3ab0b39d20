//! The screen of zram.

use ramline_snapshot::Seen;
use ramline_snapshot::zram::{Zram, ZramSupport};
use ramline_view::{Screen, ShowZram};

use super::{STYLE, machine};

#[test]
fn show_zram_tells_the_ladder_every_field_with_unit_and_scope_and_the_capacity_formula() {
    assert_eq!(
        ShowZram::new(&machine(100)).text(&STYLE),
        "\
zram is used as swap.

zram0: active as swap, lz4, swap priority 100
5 writes failed since the device was made: its limit was hit, or no memory was found.
It stores 1.0 GiB of pages in 256.0 MiB of RAM, plus 8.0 MiB slot table (now): net gain 760.0 MiB.

What zram0 gains, number by number
  true ratio               4.25:1  compressed pages over their payload; same-filled and written-back
                                   pages left out
  effective ratio          3.98:1  the same over the RAM used, allocator overhead included
  zramctl's COMP-RATIO     4.00:1  DATA over TOTAL: counts same-filled and written-back pages too,
                                   so it overstates
  allocator efficiency     93.8 %  payload over RAM used
  incompressible           0.78 %  of compressed pages are kept whole and gain nothing
  room left               1.0 GiB  of its size, uncompressed
  RAM when full         522.0 MiB  at the effective ratio, slot table included
Capacity when full = RAM - zram/ratio + zram = 8.0 GiB - 2.0 GiB/3.98 + 2.0 GiB = 9.5 GiB, at the
ratio so far.

What zram0 can do
Algorithms this kernel offers here: lzo, lz4, zstd.
Writeback: not in this kernel. Recompression: not in this kernel.

Every statistic of zram0
field                     zramctl           value  scope               meaning
disksize                  DISKSIZE        2.0 GiB  setting             uncompressed capacity, not
                                                                       RAM
mm_stat.orig_data_size    DATA            1.0 GiB  now                 stored, uncompressed;
                                                                       same-filled and written-back
                                                                       pages included
mm_stat.compr_data_size   COMPR         240.0 MiB  now                 compressed payload
mm_stat.mem_used_total    TOTAL         256.0 MiB  now                 RAM used by the allocator;
                                                                       slot table excluded
mm_stat.mem_limit         MEM-LIMIT      no limit  setting             limit on mem_used_total;
                                                                       writes fail at it
mm_stat.mem_used_max      MEM-USED      256.0 MiB  peak                highest mem_used_total
mm_stat.same_pages        ZERO-PAGES  1,024 pages  now                 pages of one repeated word,
                                                                       zero or not; they cost no
                                                                       memory
mm_stat.pages_compacted   MIGRATED        0 pages  counter since made  freed by compaction of the
                                                                       pool
mm_stat.huge_pages                    2,048 pages  now                 incompressible, kept whole:
                                                                       they gain nothing
mm_stat.huge_pages_since              2,100 pages  counter since made  incompressible pages ever
                                                                       stored
io_stat.failed_reads                     0 events  counter since made  reads that failed
io_stat.failed_writes                    5 events  counter since made  writes that failed: limit hit
                                                                       or no memory
io_stat.invalid_io                       0 events  counter since made  unaligned requests; always 0
                                                                       on newer kernels
io_stat.notify_free                     12 events  counter since made  slots freed by the swap layer
"
    );
}

#[test]
fn zram_that_is_not_there_names_the_next_step() {
    let mut seen = machine(100);
    let support = ZramSupport { module_installed: Some(true), ..ZramSupport::default() };
    seen.zram = Seen::new(Zram { support, ..Zram::default() });
    assert_eq!(
        ShowZram::new(&seen).text(&STYLE),
        "\
zram is not used as swap: its module is installed and not loaded.
[x] module present  [ ] loaded  [ ] device exists  [ ] sized  [ ] formatted  [ ] active as swap

How to use zram
load the module
  modprobe zram
"
    );
}
