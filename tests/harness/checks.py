"""Counts what a test has checked, skipped and repeated; any thread may ask."""

import os
import textwrap
import threading


class Skip(Exception):
    """This machine cannot show it; holds the reason."""


class Tally:
    """What was counted so far."""

    def __init__(self):
        self.passed = self.failed = self.skipped = self.repeats = 0
        self.lock = threading.RLock()
        self.aloud, self.within = False, ""
        # Failures that are said when it is known that they stand (harness/steady.py), and who else wants to know of one at once.
        self.unsaid, self.noticed = None, None


TALLY = Tally()


def aloud():
    """Checks that pass are told as well, with their details."""
    TALLY.aloud = True


def check(what, ok, details=""):
    """Counts a claim and tells it, with what was seen instead, when it does not hold."""
    with TALLY.lock:
        TALLY.passed, TALLY.failed = TALLY.passed + bool(ok), TALLY.failed + (not ok)
        if ok and TALLY.aloud:
            print(f"ok: {what}{': ' * (details != '')}{' '.join(str(details).split())[:120]}", flush=True)
        if not ok:
            if TALLY.noticed:
                TALLY.noticed()
            said = f"{TALLY.within}{what}\n{textwrap.indent(str(details).strip()[-2000:], '  ')}".rstrip()
            if TALLY.unsaid is None:
                print(f"FAILED: {said}", flush=True)
            else:
                TALLY.unsaid.append(said)
    return bool(ok)


def passed(count):
    """So many checks that hold, of a test that makes thousands of one kind and tells those that fail one by one."""
    with TALLY.lock:
        TALLY.passed += count


def equal(what, found, expected):
    return check(what, found == expected, f"{found!r}, not {expected!r}")


def near(what, found, expected, share=0.0, within=0, because=""):
    """Within that share of what is expected, or within so much. From a tenth on a test can hardly fail: then it says `because` of what."""
    room = max(share * abs(expected), within)
    if room * 10 >= abs(expected) and not because:
        raise ValueError(f"{what}: a tolerance of {room} for {expected} needs a reason")
    return check(what, abs(found - expected) <= room, f"{found}, not {expected} within {room:g}")


def note(text):
    """A number or a fact that a reader wants to see also when all is well."""
    print(f"  {text}", flush=True)


def skip(reason):
    """What cannot be tested here, and why; a failure with RAMLINE_FORCE=1."""
    if os.environ.get("RAMLINE_FORCE") == "1":
        check(f"must run here: {reason}", False)
        return
    with TALLY.lock:
        TALLY.skipped += 1
        print(f"SKIP: {reason} (force: RAMLINE_FORCE=1)", flush=True)


def repeated(what, why):
    """Ramline is asked once more after an answer that was not as it should be: counted, with the reason."""
    with TALLY.lock:
        TALLY.repeats += 1
        print(f"REPEATED: {what}: {why}", flush=True)


def finish():
    """The closing line that tests/run reads; the exit status. A test that has nothing to say has not tested."""
    if not TALLY.passed + TALLY.failed + TALLY.skipped:
        check("something was checked", False)
    print(f"{TALLY.passed} passed, {TALLY.failed} failed, {TALLY.skipped} skipped", flush=True)
    return 1 if TALLY.failed else 0
