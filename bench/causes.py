"""Why a cell of docs/accuracy.md is wrong, by load, setting and figure, as they stand there: a paragraph each for the worst. Data, not code.

A cause is one that was tried: what was changed, and what came of it. Without one the page says "not known".
"""

# Four runs of swap:180 were traced reclaim by reclaim, a fifth was counted by /proc/vmstat every 20 ms, and held against the simulator.
SHARED_ON_DISK = (
    "Of swappiness 180, whose runs were traced, this is known. Reclaim for read-ahead may not write shared pages, so code alone has to go, until the kernel stops reading ahead: its "
    "count of misses (`mmap_miss`) has passed 100. From then on each fault may write shared pages, and some thousands leave. The count goes up by one a fault and down by each page the "
    "fault maps that is not of the working set, which is about one as well. So it wanders, and when it passes 100 decides everything. In five runs it did after 21,000 to 28,000 pages "
    "of code had come back; simulated, it comes to 60 or 90 there, and passes 100 sooner or much later, if at all. Of the pages that come back 95 to 98 of 100 are of the working set, "
    "simulated and in the kernel, and reclaim finds the same lists; what moves the count a little faster is not known. Of the program's own pages the kernel writes a hundred as well, "
    "34 of which are simulated. Tried: pages of a later request that a fault does not find yet, and all hundred own pages; neither explains it."
)
CAUSES = {("code-plus-data, shared", setting, figure): SHARED_ON_DISK for setting in ("swap:1 text", "swap:100 text") for figure in ("major faults", "swap-ins", "file pages back")}
