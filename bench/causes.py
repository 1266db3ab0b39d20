"""Why a cell of docs/accuracy.md is wrong, by load, setting and figure, as they stand there: a paragraph each for the worst. Data, not code.

A cause is one that was tried: what was changed, and what came of it. Without one the page says "not known".
"""

# Runs of swap:180 and zram:lz4:180 were traced: reclaim by reclaim, the count of misses at each fault, and requests of the disk.
SHARED = (
    "Shared data leaves in bursts, and when a burst comes is chance. Reclaim for read-ahead may not write shared pages, so code alone has to go, until one of two things happens. The kernel "
    "stops reading ahead, since its count of misses (`mmap_miss`) has passed 100, and each fault may write; the count goes up by one a fault and down by about one, so it wanders (simulated "
    "and traced it passes after some 1,000 faults, or not at all). Or the program needs pages of its own that have left; reclaim for them writes up to 8,000 pages at once, as its writes are "
    "kept back while a cluster is read. With swappiness 180, 15 of 23 traced runs came to the first, and 6 of 32 simulated ones; runs of one setting differ by 2 to 5 times."
)
# One run of swap:60 was counted by /proc/vmstat (swap_ra, swap_ra_hit).
CHASE = (
    "As many pages come back from swap as in the kernel, but in more reads: the kernel brings 1.9 pages with each one that is asked for, 97 of 100 of which are then used, simulated it is 1.4. "
    "Tried: slots in clusters of 512, a free one before one with holes, as 6.18 gives them; it changes nothing."
)
CAUSES = {("code-plus-data, shared", setting, figure): SHARED for setting in ("swap:1 text", "swap:60 text", "swap:100 text", "swap:180 text", "zram:lz4:60 text") for figure in ("major faults", "swap-ins", "file pages back")} | {
    ("chase", setting, "major faults"): CHASE for setting in ("swap:60 text", "swap:180 text")
}
