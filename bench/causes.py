"""Why a cell of docs/accuracy.md is wrong, by load, setting and figure, as they stand there: a paragraph each for the worst. Data, not code.

A cause is one that was tried: what was changed, and what came of it. Without one the page says "not known".
"""

# Runs of swap:180 and zram:lz4:180 were traced: reclaim by reclaim, the count of misses at each fault, and requests of the disk.
SHARED = (
    "Shared data leaves in bursts, and when a burst comes is chance. Reclaim for read-ahead may not write shared pages, so code alone has to go, until one of two things happens. The kernel "
    "stops reading ahead, since its count of misses (`mmap_miss`) has passed 100, and each fault may write; the count goes up by one a fault and down by about one, so it wanders (simulated "
    "and traced it passes after some 1,000 faults, or not at all). Or the program needs pages of its own that have left; reclaim for them writes up to 8,000 pages at once, as its writes are "
    "plugged while a cluster is read. With swappiness 180, 15 of 23 traced runs came to the first, and 15 of 22 on another machine; runs of one setting differ by 2 to 5 times. "
    "Traced and simulated, the first 500 reclaims with swappiness 100 agree within a few percent: how deep they go, how many pages they look at and free. One thing left there beside "
    "chance is that a processor has one pace: where reads are cheap it is taken for faster in reclaim than it is (0.27 µs for a page by tracing, where a round said 0.14). Other settings "
    "were not traced so."
)
RANDOM = (
    "Chance: runs are bimodal, with 2,440 to 2,660 or 3,360 to 3,380 swap-ins a round. Ten of the twenty runs are of the first kind, so that the median lies between both; of 128 simulated "
    "ones 85 are. Within each kind simulations are right to 2 %. What decides between them was not traced."
)
# Its runs have 164,392 to 189,323 and 247,922 to 256,307 file pages a round.
NO_SWAPPING = (
    "Runs are bimodal: 164,000 to 189,000 or about 250,000 file pages a round. Of twenty runs eighteen are of the first kind, and most simulated ones of the second. What decides between them is not known."
)
CAUSES = {("code-plus-data, two read-aheads", "swap:0 text 8192KiB", "file pages re-read"): NO_SWAPPING}
CAUSES |= {("code-plus-data, random", "swap:60 random", figure): RANDOM for figure in ("major faults", "swap-ins")}
CAUSES |= {("code-plus-data, shared", setting, figure): SHARED for setting in ("swap:1 text", "swap:60 text", "swap:100 text", "swap:180 text", "zram:lz4:60 text", "zram:lz4:180 text") for figure in ("major faults", "swap-ins", "file pages re-read")}
