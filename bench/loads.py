"""Readers of files for bench/need: each runs for ever in a control group, reads from a file system of its own, and counts what it did.

None of them is of the study by which the method was found. The counter is a file of eight bytes that is mapped.
"""

import array
import itertools
import mmap
import os
import random
import sqlite3
import struct
from pathlib import Path

MIB, PAGE = 1 << 20, 4096
PICKS = 1 << 19


class Count:
    """What was done, for whoever has the file."""

    def __init__(self, path):
        path.write_bytes(bytes(8))
        with open(path, "r+b") as file:
            self.map = mmap.mmap(file.fileno(), 8)

    def __call__(self, done):
        struct.pack_into("<Q", self.map, 0, done)


def zipf(count, exponent, seed=1):
    """Numbers below `count` by Zipf's law, the ranks scattered."""
    chance = random.Random(seed)
    order = list(range(count))
    chance.shuffle(order)
    weights = list(itertools.accumulate(1 / (rank + 1) ** exponent for rank in range(count)))
    return array.array("I", (order[rank] for rank in chance.choices(range(count), cum_weights=weights, k=PICKS)))


def skewed(count, power, seed=1):
    chance = random.Random(seed)
    return array.array("I", (int(chance.random() ** power * count) for _ in range(PICKS)))


def for_ever(picks, start):
    """All of them again and again, each time from another place."""
    chance = random.Random(start)
    while True:
        at = chance.randrange(len(picks))
        yield from itertools.chain(itertools.islice(picks, at, None), itertools.islice(picks, at))


def opened(path):
    file = os.open(path, os.O_RDONLY)
    os.posix_fadvise(file, 0, 0, os.POSIX_FADV_RANDOM)
    return file


def data(folder, size):
    path = folder / "data"
    with open(path, "wb") as out:
        for _ in range(size // MIB):
            out.write(os.urandom(MIB))
    return path


def counted(count, places, act):
    for done, place in enumerate(places):
        act(place)
        if done & 15 == 0:
            count(done)


def by_zipf(folder, count):
    """4 KiB of 200 MiB by Zipf's law."""
    file, picks = opened(folder / "data"), zipf(200 * MIB // PAGE, 0.9)
    counted(count, for_ever(picks, 1), lambda page: os.pread(file, PAGE, page * PAGE))


def two_sets(folder, count):
    """4 KiB, nine of ten from 24 MiB, the tenth from 176 MiB."""
    file, chance = opened(folder / "data"), random.Random(2)
    small, all_pages = 24 * MIB // PAGE, 200 * MIB // PAGE
    pages = (chance.randrange(small) if chance.random() < 0.9 else chance.randrange(small, all_pages) for _ in itertools.count())
    counted(count, pages, lambda page: os.pread(file, PAGE, page * PAGE))


def window(folder, count):
    """4 KiB of 96 MiB, which move on through 400 MiB by a page in 50 reads."""
    file, chance = opened(folder / "data"), random.Random(3)
    wide, all_pages = 96 * MIB // PAGE, 400 * MIB // PAGE
    pages = ((done // 50 + chance.randrange(wide)) % all_pages for done in itertools.count())
    counted(count, pages, lambda page: os.pread(file, PAGE, page * PAGE))


def mapped(folder, count):
    """Bytes of a mapped file of 200 MiB, skewed, without read-around."""
    with open(folder / "data", "rb") as file:
        held = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    held.madvise(mmap.MADV_RANDOM)
    counted(count, for_ever(skewed(200 * MIB // PAGE, 2.5), 4), lambda page: held[page * PAGE])


def records(folder, count):
    """Records of 16 KiB of 160 MiB, all alike."""
    file, chance = opened(folder / "data"), random.Random(5)
    places = (chance.randrange(160 * MIB // (4 * PAGE)) for _ in itertools.count())
    counted(count, places, lambda place: os.pread(file, 4 * PAGE, place * 4 * PAGE))


def around(folder, count):
    """4 KiB after 4 KiB of 90 MiB, again and again."""
    file = opened(folder / "data")
    counted(count, itertools.cycle(range(90 * MIB // PAGE)), lambda page: os.pread(file, PAGE, page * PAGE))


FILES, FILE = 6000, 24 << 10


def many_files(folder):
    for number in range(FILES):
        (folder / f"{number:05}").write_bytes(os.urandom(FILE))


def whole_files(folder, count):
    """Whole files of 24 KiB, 6,000 of them by Zipf's law."""
    def read(number):
        file = os.open(folder / f"{number:05}", os.O_RDONLY)
        os.pread(file, FILE, 0)
        os.close(file)
    counted(count, for_ever(zipf(FILES, 0.8), 7), read)


def table(folder):
    base = sqlite3.connect(folder / "table.db")
    base.execute("create table t(id integer primary key, b blob)")
    base.executemany("insert into t values(?, ?)", ((number, os.urandom(300)) for number in range(500_000)))
    base.commit()
    base.close()


def sqlite(folder, count):
    """SQLite, mapped: look-ups in a table of 500,000 rows, skewed."""
    base = sqlite3.connect(f"file:{folder}/table.db?mode=ro", uri=True)
    base.execute("pragma mmap_size=1073741824")
    base.execute("pragma cache_size=-1000")
    find = lambda row: base.execute("select length(b) from t where id=?", (row,)).fetchone()
    counted(count, for_ever(skewed(500_000, 2.0), 8), find)


# Name, what it is made of, what it does, the size it is watched at in MiB, whether the kernel reads more than was asked for.
LOADS = [
    ("zipf", lambda folder: data(folder, 200 * MIB), by_zipf, 64, False),
    ("two sets", lambda folder: data(folder, 200 * MIB), two_sets, 64, False),
    ("moving window", lambda folder: data(folder, 400 * MIB), window, 64, False),
    ("mapped", lambda folder: data(folder, 200 * MIB), mapped, 64, False),
    ("records", lambda folder: data(folder, 160 * MIB), records, 64, False),
    ("loop", lambda folder: data(folder, 90 * MIB), around, 64, False),
    ("whole files", many_files, whole_files, 64, True),
    ("sqlite, mapped", table, sqlite, 64, True),
]


def main_of(name, folder, count):
    work = next(load[2] for load in LOADS if load[0] == name)
    work(Path(folder), Count(Path(count)))
