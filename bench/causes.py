"""Why a cell of docs/accuracy.md is wrong, by load, setting and figure, as they stand there: a paragraph each for the worst. Data, not code.

A cause is one that was tried: what was changed, and what came of it. Without one the page says "not known".
"""

# Runs of swap:180 and zram:lz4:180 were traced: reclaim by reclaim, the count of misses at each fault, and requests of the disk.
SHARED = (
    "Shared data leaves in bursts, and when a burst comes is chance. Reclaim for read-ahead may not write shared pages, so code alone has to go, until one of two things happens. The kernel "
    "stops reading ahead, since its count of misses (`mmap_miss`) has passed 100, and each fault may write; the count goes up by one a fault and down by about one, so it wanders (simulated "
    "and traced it passes after some 1,000 faults, or not at all). Or the program needs pages of its own that have left; reclaim for them writes up to 8,000 pages at once, as its writes are "
    "kept back while a cluster is read. With swappiness 180, 15 of 23 traced runs came to the first, and 15 of 22 on another machine; runs of one setting differ by 2 to 5 times. "
    "Beside chance the simulator has the second too seldom: with swappiness 100 pages of the program's own came back in 34 of 100 looks before the first burst (20 runs, one look each 100 ms), "
    "simulated in 18 (64 runs), so that the burst comes after 1,900 major faults in the middle and simulated after 3,100; with 60 in 16 and 11 of 100, after 3,000 and 3,500. Why is not known."
)
CAUSES = {("code-plus-data, shared", setting, figure): SHARED for setting in ("swap:1 text", "swap:60 text", "swap:100 text", "swap:180 text", "zram:lz4:60 text", "zram:lz4:180 text") for figure in ("major faults", "swap-ins", "file pages back")}
