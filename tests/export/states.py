"""Series of states, for `promtool test rules`: which alerts fire in each.

The five first were measured in a memory group of 128 MiB (512 for the first read) on one machine, three runs of 20 s each; a row here has the
figures of each run. The others are what an alert is for, by its definition.
"""

MIB = 1 << 20
GIB = 1 << 30
LIMIT = 128 * MIB

# Of a run: major faults, refaults and restored refaults, limit hits a second; usage of the limit; full pressure.
RUNS = {
    # 300 MiB read in order again and again: healthy.
    "stream": [(0, 232788, 465, 785, 0.994, 0.131), (0, 417461, 1252, 1406, 0.996, 0.095), (0, 422801, 1268, 1425, 0.995, 0.120)],
    # 100 MiB of data and 96 MiB of mapped code, at random: sick.
    "mapped-thrash": [(6017, 5939, 0, 6147, 0.999, 0.387), (6840, 6762, 0, 6981, 0.999, 0.392), (9407, 9376, 0, 9595, 0.999, 0.034)],
    # 200 MiB mapped and read for the first time: healthy.
    "first-read": [(6686, 0, 0, 0, 0.06, 0), (9948, 0, 0, 0, 0.15, 0), (11356, 0, 0, 0, 0.24, 0)],
    # 115 of 128 MiB held and not used: healthy.
    "idle-at-90": [(0, 0, 0, 0, 0.90, 0)],
    # 4 KiB reads at random over 180 MiB: sick.
    "random-reads": [(0, 18215, 6193, 18587, 1.0, 0.301), (0, 18179, 6181, 18550, 1.0, 0.300), (0, 16864, 2698, 17209, 1.0, 0.277)],
}
SICK = {"mapped-thrash": ["GroupThrash"], "random-reads": ["GroupThrash"]}

STEP = 15
MINUTES = 20


def counter(per_second, samples=MINUTES * 60 // STEP):
    return f"0+{per_second * STEP:.4f}x{samples}"


def gauge(value, samples=MINUTES * 60 // STEP):
    return f"{value}x{samples}"


def machine(faults=0, refaults=0, restored=0, scanned=0, some=0.0, available=0.9, **more):
    """Series of a machine with 24 GiB; what is not named is quiet."""
    series = {
        "ramline_major_faults_total": counter(faults),
        'ramline_refaults_total{kind="file"}': counter(refaults),
        'ramline_refaults_total{kind="anon"}': counter(0),
        'ramline_restored_refaults_total{kind="file"}': counter(restored),
        'ramline_reclaim_scanned_pages_total{by="kswapd"}': counter(scanned),
        'ramline_reclaim_scanned_pages_total{by="direct"}': counter(0),
        'ramline_pressure_waiting_seconds_total{resource="memory",tasks="some"}': counter(some),
        "ramline_memory_total_bytes": gauge(24 * GIB),
        "ramline_memory_available_bytes": gauge(int(available * 24 * GIB)),
        "ramline_kills_total": gauge(3),
        "ramline_allocation_stalls_total": counter(0),
        "ramline_swap_in_pages_total": counter(0),
        "ramline_kernel_unreclaimable_bytes": gauge(180 * MIB),
        'ramline_finding{id="killer-cannot-trigger"}': gauge(0),
    }
    series.update(more.pop("series", {}))
    return series


def group(run, version, name="/lab"):
    faults, refaults, restored, hits, usage, full = run
    of = f'{{group="{name}"}}'
    series = {
        f"ramline_group_major_faults_total{of}": counter(faults),
        f'ramline_group_refaults_total{{group="{name}",kind="file"}}': counter(refaults),
        f"ramline_group_limit_hits_total{of}": counter(hits),
        f"ramline_group_kills_total{of}": gauge(0),
        f"ramline_group_memory_bytes{of}": gauge(int(usage * LIMIT)),
        f"ramline_group_limit_bytes{of}": gauge(LIMIT),
    }
    if version == 2:
        series[f'ramline_group_restored_refaults_total{{group="{name}",kind="file"}}'] = counter(restored)
        series[f'ramline_group_pressure_waiting_seconds_total{{group="{name}",tasks="some"}}'] = counter(full)
    return series


def five():
    """Each run of each state, with groups of both versions: the machine's counters hold those of its groups, and its own reclaim rests."""
    for state, runs in RUNS.items():
        for number, run in enumerate(runs, 1):
            for version in (1, 2):
                faults, refaults, restored, *_, full = run
                series = machine(faults, refaults, restored, some=full)
                series.update(group(run, version))
                yield f"{state}, run {number}, version {version}", series, SICK.get(state, []), "8m"


ZRAM = 'device="zram0"'
AREA = 'device="/dev/zram0",kind="zram"'
DISK = 'device="/dev/sda2",kind="flash"'


def zram(used, gain=GIB, stored=2 * GIB, limit=None, disk_free=0):
    series = {
        f"ramline_swap_size_bytes{{{AREA}}}": gauge(8 * GIB),
        f"ramline_swap_used_bytes{{{AREA}}}": gauge(int(used * 8 * GIB)),
        f"ramline_zram_net_gain_bytes{{{ZRAM}}}": gauge(gain, 400),
        f"ramline_zram_stored_bytes{{{ZRAM}}}": gauge(stored, 400),
    }
    if limit is not None:
        series[f"ramline_zram_limit_used_ratio{{{ZRAM}}}"] = gauge(limit)
    if disk_free:
        series[f"ramline_swap_size_bytes{{{DISK}}}"] = gauge(4 * GIB)
        series[f"ramline_swap_used_bytes{{{DISK}}}"] = gauge(4 * GIB - disk_free)
    return series


def falling(start, per_second):
    return f"{start}-{int(per_second * STEP)}x{MINUTES * 60 // STEP}"


def killed(at=40):
    """One more from that sample on."""
    return f"0x{at} 1x{MINUTES * 60 // STEP - at}"


def others():
    """The state that each alert is for, and one beside it in which it must not fire."""
    yield "a machine that thrashes mapped files", machine(7000, 6800, 0, 20000, 0.3), ["MemoryThrash"], "18m"
    yield "a machine that thrashes on a slow disk", machine(80, 75, 0, 2000, 0.6), ["MemoryThrash"], "18m"
    yield "a backup streams through a full cache", machine(20, 80000, 160, 90000, 0.01), [], "18m"
    yield "quiet", machine(), [], "18m"
    of = {'ramline_group_kills_total{group="/web"}': killed(), 'ramline_group_limit_hits_total{group="/web"}': counter(1), "ramline_kills_total": killed()}
    yield "a group's limit killed", machine(series=of), ["GroupKill"], "14m"
    of = {'ramline_group_kills_total{group="/web"}': killed(), 'ramline_group_limit_hits_total{group="/web"}': gauge(4), "ramline_kills_total": killed()}
    yield "the machine killed in a group", machine(series=of), ["MachineKill"], "14m"
    yield "a cache fills its group and nothing is killed", machine(series=group((0, 2000, 4, 900, 0.99, 0.01), 2)), [], "18m"
    of = {"ramline_memory_available_bytes": falling(6 * GIB, 3 * MIB)}
    yield "available falls by 3 MiB a second", machine(series=of), ["AvailableRunsOut"], "18m"
    yield "a database holds 92 % for ever", machine(available=0.08), [], "18m"
    tmpfs = lambda share, of: {f'ramline_tmpfs_used_ratio{{mount="/tmp",of="{of}"}}': gauge(share)}
    yield "a quota of a tmpfs is nearly used up", machine(series=tmpfs(0.95, "quota")), ["TmpfsFills"], "18m"
    yield "a tmpfs is half full", machine(series=tmpfs(0.5, "size")), [], "18m"
    yield "zram is at its limit", machine(series=zram(0.3, limit=0.97)), ["CompressedSwapFull"], "18m"
    yield "zram is full by slots", machine(series=zram(0.93)), ["CompressedSwapFull"], "18m"
    yield "zram is full and a disk has room", machine(series=zram(0.93, limit=0.99, disk_free=2 * GIB)), [], "18m"
    yield "what lies in zram does not compress", machine(series=zram(0.3, gain=-20 * MIB)), ["CompressedSwapUseless"], "50m"
    yield "a small zram costs its table", machine(series=zram(0.01, gain=-20 * MIB, stored=MIB)), [], "50m"
    yield "swap-ins from a disk are waited for", machine(some=0.3, series={"ramline_swap_in_pages_total": counter(900)}), ["SwapInWait"], "18m"
    yield "as many swap-ins from zram", machine(some=0.003, series={"ramline_swap_in_pages_total": counter(900)}), [], "18m"
    yield "cold pages lie in swap", machine(series=zram(0.6)), [], "18m"
    grows = {"ramline_kernel_unreclaimable_bytes": f"{200 * MIB}+{2 * MIB}x500", "ramline_memory_total_bytes": gauge(24 * GIB, 500), "ramline_memory_available_bytes": gauge(20 * GIB, 500)}
    yield "kernel memory leaks 2 MiB a minute", machine(series=grows), ["KernelMemoryGrows"], "8h"
    burst = {"ramline_kernel_unreclaimable_bytes": f"{200 * MIB}x200 {900 * MIB}x300", "ramline_memory_total_bytes": gauge(24 * GIB, 500)}
    yield "kernel memory has grown once", machine(series=burst), [], "8h"
    stalls = {"ramline_allocation_stalls_total": counter(40)}
    yield "allocations stall", machine(some=0.08, series=stalls), ["AllocationStalls"], "18m"
    yield "allocations stall while little is available", machine(some=0.04, available=0.08, series=stalls), ["AllocationStalls"], "18m"
    yield "allocations stall a little while much is available", machine(some=0.04, series=stalls), [], "18m"
    yield "a few stalls that nothing waits for", machine(some=0.001, series=stalls), [], "18m"
    yield "a killer cannot act", machine(series={'ramline_finding{id="killer-cannot-trigger"}': gauge(1)}), ["ProtectionBlind"], "18m"
