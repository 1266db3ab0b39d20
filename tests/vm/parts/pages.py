"""The pool that `measure pages` predicts is the one a scratch device of the guest's kernel has, also for algorithms this machine's kernel lacks.

Example: predicted(machine)
"""

import sys

from harness import TOP, check, equal, near, note

sys.path.append(str(TOP / "tests/pages"))
from holder import contents  # noqa: E402

KINDS = ("text", "heap", "random", "mix")
PAGES = 3500
# What a kernel of Debian has, by vm/matrix, and ours in user space beside it where there is one. The binary is not optimised, and the guest emulated.
KERNELS = {"6.12": (("zstd", "lz4", "lz4hc"), "zstd:3,lz4,lz4hc:9"), "6.1": (("zstd", "lz4", "lz4hc", "lzo", "lzo-rle"), "zstd:3,lz4,lz4hc:9,lzo,lzo-rle")}
# mem_used_total against the prediction.
WITHIN = 0.03


def predicted(machine, version="6.12"):
    """One boot: each kind of page, predicted from the kernel's lengths and from those of the libraries."""
    kernels, algorithms = KERNELS[version]
    options = ["--kernel", version]
    machine.folder.mkdir(parents=True, exist_ok=True)
    for kind in KINDS:
        file = machine.folder / f"pages-{kind}"
        file.write_bytes(contents(kind, PAGES))
        options += ["--bin", str(file)]
    seen = machine.debian("pages", *options, KINDS=" ".join(KINDS), ALGORITHMS=algorithms, BUDGET="300s")
    here = seen.text("kernel").strip()
    for kind in KINDS:
        document = seen.json(f"{kind}.out")
        if not check(f"{kind}: measure pages answers", seen.status(kind) == 0 and document is not None, seen.said(kind)):
            continue
        judge(f"{here}, {kind}", document, kernels)
    changes = seen.changes("before", "after")
    check("the guest is as before", not changes, "\n".join(changes))


def judge(what, document, kernels):
    """One document: every algorithm, by both ways."""
    profile, rows = document["profile"], document["judged"]["rows"]
    check(f"{what}: the chain is found on a device", profile["chain"]["probed"], profile["skipped"])
    of = lambda by: {row["algorithm"].split(":")[0]: row for row in rows if row["by"] == by}
    library, kernel = of("library"), of("kernel")
    check(f"{what}: the kernel's algorithms are measured", set(kernels) <= set(kernel), sorted(kernel))
    off = []
    for name in kernels:
        if name not in kernel:
            continue
        row, stat = kernel[name], next(a for a in profile["algorithms"] if a["by"] == "kernel" and a["algorithm"] == name)
        near(f"{what}, {name}: the pool from the kernel's lengths is mem_used_total", row["pool"]["used"], row["measured"], WITHIN)
        near(f"{what}, {name}: the pool from the library's lengths is mem_used_total", library[name]["pool"]["used"], row["measured"], WITHIN)
        equal(f"{what}, {name}: the lengths add up to compr_data_size", row["pool"]["stored"], stat["pool"]["compr_data"])
        check(f"{what}, {name}: swap-ins are measured", (stat["swap_in"] or {"n": 0})["n"] > 1000, stat["notes"])
        off.append(f"{name} {row['pool']['used'] / row['measured'] - 1:+.2%} and {library[name]['pool']['used'] / row['measured'] - 1:+.2%} of {row['measured'] / 2**20:.1f} MiB")
    note(f"{what}: the pool predicted from the kernel's lengths, and from the library's: {'; '.join(off)}; took {profile['took_s']:.0f} s")
