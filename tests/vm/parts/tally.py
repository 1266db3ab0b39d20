"""Counts checks and prints them: one line for each that fails, one for each part, one closing line.

Example:
    tally = Tally()
    tally.part("bare 6.12")
    tally.check("show ends with status 0", status == 0, stderr)
    sys.exit(tally.close())          # "1 passed, 0 failed"
"""

import sys
import time


class Tally:
    """Passed and failed checks, and what was skipped and why."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0
        self.start = time.monotonic()
        self.name = ""

    def part(self, name):
        """Names the part that the next checks belong to."""
        self.name = name
        print(f"{name} (after {time.monotonic() - self.start:.0f} s)", flush=True)

    def check(self, claim, holds, detail=""):
        """Counts one claim; tells it, and what was seen instead, when it does not hold."""
        if holds:
            self.passed += 1
            return True
        self.failed += 1
        print(f"  FAILED {self.name}: {claim}", flush=True)
        for line in str(detail).strip().splitlines()[-25:]:
            print(f"    {line}", flush=True)
        return False

    def note(self, text):
        """Says a number or a fact that a reader wants to see also when all is well."""
        print(f"  {text}", flush=True)

    def skip(self, what, why):
        """Counts what could not be run here, with the reason."""
        self.skipped += 1
        print(f"SKIP: {what}: {why}", flush=True)

    def close(self):
        """Prints the closing line; returns the exit status."""
        print(f"{time.monotonic() - self.start:.0f} s", file=sys.stderr)
        print(f"{self.passed} passed, {self.failed} failed")
        return 1 if self.failed else 0
