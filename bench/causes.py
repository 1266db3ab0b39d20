"""Why a cell of docs/accuracy.md is wrong, by load, setting and figure, as they stand there: a paragraph each for the worst. Data, not code.

A cause is one that was tried: what was changed, and what came of it. Without one the page says "not known".
"""

# Six runs each of swap:60 and swap:180, held against the simulator count by count.
SHARED_ON_DISK = (
    "Reclaim for read-ahead may not write shared pages, so it looks at them in vain. A round, averaged over four, the kernel looked at 0.2 to 0.4 million "
    "of them with swap:60 and at 0.2 to 1.0 million with swap:180; the simulator looks at 1.7 and 6.6 million. More code has to go meanwhile. In a traced "
    "run of swap:180 each of the kernel's 438 reclaims for read-ahead freed something, 25 of them after 5 ms or more, and only 3 reclaims were allowed to "
    "write shared pages. Two things were tried with swap:60, where 13,245 file pages came back: half a microsecond a page looked at, as the kernel's stall times say, "
    "instead of 0.08 (11,540), and statistics summed up every 2 s instead of every 100 ms (52,592). Neither explains it; why the kernel goes through all "
    "lists so much more rarely is not known."
)
CAUSES = {("code-plus-data, shared", setting, figure): SHARED_ON_DISK for setting in ("swap:60 text", "swap:180 text") for figure in ("major faults", "swap-ins", "file pages back")}
