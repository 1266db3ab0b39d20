"""A terminal of fixed size, as far as htop and btop use one: runs a full-screen program in a pty and keeps what is on the screen.

What it is not: a terminal. Colours and modes are passed over; an unknown sequence is passed over too.

Example: run(["htop"], {"TERM": "xterm"}, 2.0)  # the screen's lines after two seconds; earlier with `ready`
"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time

ROWS, COLUMNS = 40, 220
SEQUENCE = re.compile(r"\x1b(?:\[([?>=]?)([\d;]*)([ -/]*)([@-~])|\][^\x07\x1b]*(?:\x07|\x1b\\)|[()*+].|[=>78cDEHMNOZ])")


def lines(data, rows=ROWS, columns=COLUMNS):
    """What the screen shows after these bytes."""
    text = data.decode("utf-8", "replace") if isinstance(data, bytes) else data
    screen = [[" "] * columns for _ in range(rows)]
    row = column = at = 0
    while at < len(text):
        found = SEQUENCE.match(text, at)
        if found:
            at = found.end()
            if found[4] and not found[1]:
                row, column = control(screen, row, column, found[4], found[2])
            continue
        char, at = text[at], at + 1
        if char == "\r":
            column = 0
        elif char == "\n":
            row += 1
        elif char == "\b":
            column -= 1
        elif char >= " " and 0 <= row < rows and 0 <= column < columns:
            screen[row][column] = char
            column += 1
        row, column = min(max(row, 0), rows - 1), max(column, 0)
    return ["".join(cells).rstrip() for cells in screen]


def control(screen, row, column, final, words):
    """One control sequence; the new place of the cursor."""
    numbers = [int(word) if word else 0 for word in words.split(";")]
    first = numbers[0]
    many = max(first, 1)
    if final in "Hf":
        return max(first, 1) - 1, max(numbers[1] if len(numbers) > 1 else 1, 1) - 1
    if final == "d":
        return many - 1, column
    if final in "G`":
        return row, many - 1
    if final in "ABCD":
        down, right = {"A": (-many, 0), "B": (many, 0), "C": (0, many), "D": (0, -many)}[final]
        return row + down, column + right
    if 0 <= row < len(screen):
        line = screen[row]
        if final == "K":
            start, end = (column, len(line)) if first == 0 else (0, column + 1) if first == 1 else (0, len(line))
            line[start:end] = " " * (min(end, len(line)) - min(start, len(line)))
        if final == "X":
            line[column:column + many] = " " * len(line[column:column + many])
    if final == "J" and first == 2:
        for line in screen:
            line[:] = " " * len(line)
    return row, column


def run(argv, environment, seconds, ready=lambda screen: False):
    """Runs a program in a pty of its own until its screen is ready, but not longer than this, then ends it; the screen's lines."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(environment)
        try:
            os.execvp(argv[0], argv)
        finally:
            os._exit(127)
    data = b""
    try:
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            quiet = not select.select([terminal], [], [], 0.3)[0]
            if quiet and data and ready(lines(data)):
                break
            if not quiet:
                try:
                    read = os.read(terminal, 1 << 16)
                except OSError:
                    break
                if not read:
                    break
                data += read
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)
    return lines(data)
