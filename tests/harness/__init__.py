"""What all test scripts share: counted checks, skips and repeats, the binary under test, and what they make on this machine, with its undoing.

    sys.path.append(str(Path(__file__).resolve().parents[1]))
    from harness import check, equal, needs_root, ramline, run, undo

    def main():
        needs_root()
        done = ramline("show", "memory")
        equal("show memory ends with status 0", done.returncode, 0)

    if __name__ == "__main__":
        run(main)                   # "1 passed, 0 failed, 0 skipped"

A skip says why, and RAMLINE_FORCE=1 makes every skip a failure: `skip`, or `raise Skip` within a part.

Waiting is no repeat, and a repeat is counted. What decides is who was asked:

- Waiting: the kernel, or a clock, is asked until a condition holds without which nothing can be judged (a process has started, two sums of the
  kernel's own agree, memory stands still). What ramline said has no part in it. It is bounded, and where the condition never holds it ends in a
  skip or a failure.
- A repeat: ramline's answer was looked at, was not as it should be, and ramline is asked once more, for whatever good reason. `repeated` counts
  it and prints a line that begins with `REPEATED:`, which tests/run collects: `make test` says how many there were, and which, and fails above a
  budget. Tests in Rust print the same line (ramline_testkit::repeated).

A number of readings that is fixed beforehand, of which the median is judged, is neither.

What is made is undone by `undo`, the last first, when the test ends: by itself, by an exception, SIGTERM, SIGHUP or SIGINT. What a `kill -9` leaves,
tests/left removes by the number of the process in its name (Group, scratch).
"""

from .checks import Skip, aloud, check, equal, finish, near, note, passed, repeated, skip
from .program import NOBODY, RAMLINE, STATIC, TOP, ask, as_nobody, calls, document, environment, ramline, start
from .undo import Undo, needs_root, part, run, scratch, undo

__all__ = ["NOBODY", "RAMLINE", "STATIC", "TOP", "Skip", "Undo", "aloud", "as_nobody", "ask", "calls", "check", "document", "environment", "equal", "finish",
           "near", "needs_root", "note", "part", "passed", "ramline", "repeated", "run", "scratch", "skip", "start", "undo"]
