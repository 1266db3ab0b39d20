"""Why a cell of docs/accuracy.md is wrong, by load, setting and figure, as they stand there: a paragraph each for the worst. Data, not code.

A cause is one that was tested by changing it. Without one the page says "not known".
"""

# Runs of swap:180 and zram:lz4:180 were traced: reclaim by reclaim, the count of misses at each fault, and requests of the disk.
SHARED = (
    "Shared data is evicted in bursts, and chance decides when. Reclaim for read-ahead may not write shared pages, so only code is evicted, until one of two things happens. Either the kernel stops "
    "reading ahead because its count of misses (`mmap_miss`) passes 100; the count wanders, so that takes some 1,000 faults or never happens. Or the program needs evicted pages of its own; "
    "reclaim for them writes up to 8,000 pages at once. With swappiness 180, 15 of 23 traced runs did the first, 15 of 22 on another machine. Runs of one setting differ by 2 to 5 times."
    "\n\nWith swappiness 100 the first 500 reclaims, traced and simulated, agree within a few per cent. One known error: a processor has a single speed in the simulator, so reclaim is taken for "
    "faster than it is (0.14 µs a page where tracing found 0.27). Other settings were not traced."
)
RANDOM = (
    "Runs are bimodal: 2,440 to 2,660 or 3,360 to 3,380 swap-ins a round. Ten of twenty runs are in the lower mode, 85 of 128 simulations. Within a mode the error is 2 %. What decides was not traced."
)
# Its runs have 164,392 to 189,323 and 247,922 to 256,307 file pages a round.
NO_SWAPPING = (
    "Runs are bimodal: 164,000 to 189,000 or about 250,000 file pages a round. Eighteen of twenty runs are in the lower mode, most simulations in the upper. What decides is not known."
)
CAUSES = {("code-plus-data, two read-aheads", "swap:0 text 8192KiB", "file pages re-read"): NO_SWAPPING}
CAUSES |= {("code-plus-data, random", "swap:60 random", figure): RANDOM for figure in ("major faults", "swap-ins")}
CAUSES |= {("code-plus-data, shared", setting, figure): SHARED for setting in ("swap:1 text", "swap:60 text", "swap:100 text", "swap:180 text", "zram:lz4:60 text", "zram:lz4:180 text") for figure in ("major faults", "swap-ins", "file pages re-read")}
