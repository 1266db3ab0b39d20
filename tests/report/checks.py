"""What must hold for a report: checks, functions of a browser that has it open, and probes that are asked in every view; each returns complaints.

What it is not: a test of the numbers; those are tested where they are made. Worked example: `complaints(browser, file)`
returns pairs of a check's sentence and the list of what is wrong, empty where it holds.
"""

import json
import re
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROBES = (HERE / "probes.js").read_text()

WIDTHS = (400, 1280)
# WCAG 2.1, level AA, for text of ordinary size.
LEAST_CONTRAST = 4.5
MOST_BYTES = 150 * 1000
# Screens of 800 px a report may take with its details closed, by width.
MOST_SCREENS = {1280: 5, 400: 12}
SCREEN = 800

# Bytes that steer a terminal, and characters that reorder or hide text. Tab and newline are layout.
STEERING = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2064\u2066-\u206f\ufeff]")


def probe(browser, name, *args):
    return browser.run(PROBES, name, *args)


def in_every_view(browser, looks):
    """What each of `looks` finds at each width in each scheme, with details closed and open, with the view named: a list for each."""
    found = [[] for _ in looks]
    for unfolded in (False, True):
        browser.run("for (const part of document.querySelectorAll('details')) part.open = arguments[0]", unfolded)
        for width in WIDTHS:
            for dark in (False, True):
                browser.view(width, dark)
                view = f"{width} px, {'dark' if dark else 'light'}, details {'open' if unfolded else 'closed'}"
                for look, wrongs in zip(looks, found):
                    wrongs += [f"at {view}: {wrong}" for wrong in probe(browser, *look)]
    return found


def size(_browser, file):
    size = file.stat().st_size
    return [] if size < MOST_BYTES else [f"{size} bytes, at most {MOST_BYTES}"]


def height(browser, _file):
    """A report of a checkup is read at a glance; the page of a series has what a series has."""
    if not browser.run("return document.querySelector('#record, .tall') !== null"):
        return []
    found = []
    for width, screens in MOST_SCREENS.items():
        browser.view(width, height=SCREEN)
        high = browser.run("return document.documentElement.scrollHeight")
        if high > screens * SCREEN:
            found.append(f"at {width} px it takes {high / SCREEN:.1f} screens of {SCREEN} px, at most {screens}")
    return found


def steering(_browser, file):
    text = file.read_text(encoding="utf-8")
    return [f"U+{ord(m[0]):04X} at character {m.start()}: {text[max(0, m.start() - 30):m.start()]!r}" for m in STEERING.finditer(text)][:5]


def console(browser, _file):
    return [f"{e['level']}: {e['message']}" for e in browser.logs("browser")]


def requests(browser, file):
    events = [json.loads(e["message"])["message"] for e in browser.logs("performance")]
    asked = [e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"]
    own = file.resolve().as_uri()
    if own not in asked:
        return [f"the log shows no request for the file itself, so it proves nothing: {asked}"]
    return [f"asked for {url[:80]}" for url in asked if url != own]


def without_scripts(browser, file):
    """The same things stand in the same places with scripts on and off."""
    browser.view(1280)
    browser.open(file)
    with_scripts = probe(browser, "layout")
    browser.scripts(False)
    try:
        browser.open(file)
        found = probe(browser, "figures")
        without = probe(browser, "layout")
    finally:
        browser.scripts(True)
    return found + [f"with scripts {a}, without {b}" for a, b in zip(with_scripts, without) if a != b] + (
        [] if len(with_scripts) == len(without) else ["parts are missing without scripts"])


def inert(browser, _file):
    return probe(browser, "inert")


def manners(browser, _file):
    return probe(browser, "manners")


def planted(browser, _file):
    """Markup in names has not run. The planted scripts would set the title, leave a mark or open a dialog (`complaints`)."""
    found = []
    if browser.run("return 'ramlinePwned' in window || /pwned/i.test(document.title)"):
        found.append("a planted script ran")
    return found


# What a check says, and its function. These ask the file that was opened.
OPENED = [
    ("runs nothing that is planted in a name", planted),
    ("is under 150 KB", size),
    ("takes at most 5 screens of 1280 x 800 and 12 of 400 x 800", height),
    ("holds no character that steers a terminal or reorders text", steering),
    ("logs nothing to the console", console),
    ("asks the network for nothing", requests),
    ("runs nothing, loads nothing and leads only to itself", inert),
    ("has language, title, viewport, policy and an order of headings", manners),
]
# What a check says, and its probe with what it is given, asked in every view.
VIEWED = [
    ("is nowhere wider than 400 or 1280 px and cuts no label off", ["overflow"]),
    ("has a contrast of at least 4.5 for all text, light and dark", ["contrast", LEAST_CONTRAST]),
    ("shows every figure, with a title, a description and a caption", ["figures"]),
]
# These open the file themselves.
REOPENED = [
    ("shows the same with scripts off", without_scripts),
]
CHECKS = [sentence for sentence, _ in OPENED + VIEWED + REOPENED]


def complaints(browser, file):
    browser.open(file)
    # While a dialog is open a page answers nothing else.
    if (text := browser.dialog()) is not None:
        return [(CHECKS[0], [f"a dialog is open: {text}"])]
    found = [check(browser, file) for _, check in OPENED]
    found += in_every_view(browser, [look for _, look in VIEWED])
    return list(zip(CHECKS, found + [check(browser, file) for _, check in REOPENED], strict=True))
