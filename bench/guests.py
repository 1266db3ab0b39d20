"""Series of the lab in a bare guest (vm/bare): one boot, a kernel with the page lists asked for, several series of one run each, one after the other.

The guest has control groups of version 2, an ext4 on a disk of its own for the lab's scratch files, zram, and mke2fs of this machine. Its clock goes by its instructions, a
nanosecond each, so that what the kernel does every two seconds happens as often in a load as on a machine. The kernel has page tables of its own, so that each fault clears the
TLB: that of the emulator holds more than any processor's, and while a page is in it page tables do not say that it is used. Without that mapped files had
5 to 12 % more major faults. Such a guest does the same each time it is booted, to the page, which no machine does: so addresses are random, and each run begins at
a time of its own, after another program wrote a number of pages of its own. What the lab records comes home as it is.

Example: boot("6.12 mglru", [("server", ["lab", "run", "known-load", "--load", "server", "--runs", 1])], Path("ramline"), 400, out)  # [("server", Path(folder))]
"""

import random
import subprocess
import sys
from pathlib import Path

TOP = Path(__file__).resolve().parent.parent
LISTS = {"classic": "n", "mglru": "y"}
TABLES = "mitigations=auto pti=on"
# A kernel sums up what it counts each two seconds, and has batches of 31 pages: at most so late, and so many pages, a run begins.
LATE, PAGES = 4.0, 62

# Of the machine's clock, not of the guest's: what must fit into a boot is real time.
HEAD = """now() { cat /sys/class/rtc/rtc0/since_epoch; }
begin=$(now)
cd /
echo %(lists)s >/sys/kernel/mm/lru_gen/enabled && echo 2 >/proc/sys/kernel/randomize_va_space || exit 3
/usr/local/bin/mke2fs -q -t ext4 -F /dev/vda && mkdir /scratch && mount -t ext4 /dev/vda /scratch || exit 4
echo "guest: $(uname -r), lru_gen $(cat /sys/kernel/mm/lru_gen/enabled), $(cat /proc/cmdline)"
"""
ONE = """if [ $(($(now) - begin)) -lt %(budget)d ]; then
    at=$(now)
    export RAMLINE_STATE_DIR=/scratch/state-%(number)d
    dd if=/dev/zero of=/scratch/other bs=4k count=%(pages)d 2>/dev/null; sleep %(late).4f
    ramline %(words)s --dir /scratch --prove --allow-busy --json >/dev/null 2>/tmp/err || { echo "%(name)s: exit $?"; tail -n 5 /tmp/err; }
    if [ -d $RAMLINE_STATE_DIR/lab ]; then mkdir -p /out/%(number)d && cp -a $RAMLINE_STATE_DIR/lab/. /out/%(number)d/; fi
    rm -rf $RAMLINE_STATE_DIR
    echo "%(name)s: $(($(now) - at)) s"
fi
"""


def boot(place, series, binary, budget, out):
    """Runs series, each a name and the words of ramline's command line, as long as none is begun after so many seconds; name and folder of each that has ended."""
    kernel, lists = place.split()
    if lists not in LISTS:
        sys.exit(f"{place}: no page lists {lists}; there are {', '.join(LISTS)}")
    script = HEAD % {"lists": LISTS[lists]}
    chance = random.SystemRandom()
    script += "".join(ONE % {"budget": budget, "number": n, "name": name, "words": " ".join(map(str, words)), "late": chance.uniform(0, LATE), "pages": chance.randint(1, PAGES)}
                      for n, (name, words) in enumerate(series))
    path = out / "script.sh"
    path.write_text(script)
    words = [TOP / "vm/bare", kernel, "--append", TABLES, "--bin", binary, "--tool", "mke2fs", "--script", path, "--disk", "1G", "--mem", "512M", "--icount", "0", "--timeout", budget + 900, "--out", out]
    done = subprocess.run([str(word) for word in words], check=False)
    if done.returncode:
        print(f"{place}: the guest ended with status {done.returncode}", file=sys.stderr)
    return [(name, path.parent) for n, (name, _) in enumerate(series) for path in (out / str(n)).glob("*/series.json")]
