#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`sublet top` on a terminal and printed, and `sublet events --last`."""
import fcntl
import json
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

from federation import BIN, LIMIT, Federation, expect, expect_equal, main

f = Federation(reclaim="1h")
LEASE = "north/1/south"


class Terminal:
    """A program on a terminal of its own; what it draws, put together as a screen."""

    def __init__(self, *args, lines=30, columns=110):
        self.cells = [[" "] * columns for _ in range(lines)]
        self.y = self.x = 0
        self.region = (0, lines - 1)  # what scrolls
        main_end, other = pty.openpty()
        fcntl.ioctl(other, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.process = subprocess.Popen(
            [os.path.join(BIN, "sublet"), "--socket", f.dir + "/south/sublet.sock", *args],
            env=dict(f.environment, TERM="vt100"), stdin=other, stdout=other,
            stderr=subprocess.PIPE, start_new_session=True)
        os.close(other)
        self.fd = main_end
        self.rest = ""

    def put(self, text):
        """vt100, as far as ncurses uses it here."""
        text = self.rest + text
        self.rest = ""
        at = 0
        while at < len(text):
            c = text[at]
            if c == "\x1b":
                match = re.match(r"\x1b(?:\[([?0-9;]*)([A-Za-z])|[()][A-Z0-9]|[=>78M])", text[at:])
                if match is None:
                    self.rest = text[at:]
                    return
                if match[0] == "\x1bM":
                    self.scroll(-1)
                elif match[2]:
                    self.control(match[2], [int(n or 0) for n in match[1].strip("?").split(";")])
                at += match.end()
                continue
            if c == "\r":
                self.x = 0
            elif c == "\n":
                self.scroll(1)
            elif c == "\b":
                self.x = max(self.x - 1, 0)
            elif c >= " ":
                if self.x < len(self.cells[0]):
                    self.cells[self.y][self.x] = c
                self.x += 1
            at += 1

    def scroll(self, by):
        """One line on, or back; at the end of the region its lines move."""
        first, last = self.region
        if self.y != (last if by > 0 else first):
            self.y = min(max(self.y + by, 0), len(self.cells) - 1)
            return
        self.cells.pop(first if by > 0 else last)
        self.cells.insert(last if by > 0 else first, [" "] * len(self.cells[0]))

    def control(self, letter, numbers):
        n = numbers[0] or 1
        if letter == "H":
            self.y, self.x = n - 1, (numbers[1] if len(numbers) > 1 else 1) - 1
        elif letter == "r":
            self.region = (n - 1, numbers[1] - 1)
            self.y = self.x = 0
        elif letter in "ABCD":
            self.y += {"A": -n, "B": n}.get(letter, 0)
            self.x += {"D": -n, "C": n}.get(letter, 0)
        elif letter == "J":
            for row in self.cells if numbers[0] == 2 else self.cells[self.y + 1:]:
                row[:] = " " * len(row)
            if numbers[0] != 2:
                self.control("K", [0])
        elif letter == "K":
            row = self.cells[self.y]
            first, last = (0, self.x + 1) if numbers[0] == 1 else (self.x, len(row))
            row[first:last] = " " * (last - first)

    def screen(self):
        while select.select([self.fd], [], [], 0)[0]:
            try:
                text = os.read(self.fd, 65536).decode(errors="replace")
            except OSError:
                break
            if not text:
                break
            self.put(text)
        return "\n".join("".join(row).rstrip() for row in self.cells)

    def wait(self, what, condition):
        f.wait_for(what, lambda: condition(self.screen()) or self.process.poll() is not None)
        expect(self.process.poll() is None, "it goes on")

    def press(self, keys):
        os.write(self.fd, keys.encode())

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self.fd)


def test_printed():
    text = f.cli("south", "top").stdout
    for word in ("sites 2 of 2", "own slots 10", LEASE, "north", "south", "REASON"):
        expect(word in text, "%r in %s" % (word, text))
    bar = next(line.split()[1] for line in text.splitlines() if line.startswith(LEASE))
    lease = f.lease()
    wanted = [("P", lease["provider"]["used"]),
              ("p", lease["provider"]["available"] - lease["provider"]["used"]),
              ("c", lease["consumer"]["available"] - lease["consumer"]["used"]),
              ("C", lease["consumer"]["used"])]
    expect_equal(re.sub(r"(.)\1*", r"\1", bar), "".join(c for c, n in wanted if n > 0), "bar")
    expect_equal(f.cli("south", "top", "--once", "--filter", "nothing").stdout.count(LEASE), 0,
                 "filtered")
    expect_equal(f.ops("top").stdout.splitlines()[3], text.splitlines()[3], "of the broker itself")
    for args in (["x"], ["--interval", "0"], ["--interval", "soon"], ["--filter", "x" * 64]):
        expect_equal(f.cli("south", "top", *args, code=2).stdout, "", "nothing printed")


def test_on_a_terminal():
    terminal = Terminal("top", "--interval", "1s")
    try:
        terminal.wait("the picture", lambda s: LEASE in s and "sites 2 of 2" in s)
        job = f.submit("south", "sleep 600", "-q", "away")
        terminal.wait("a slot in use", lambda s: re.search(LEASE + r".*C", s))
        f.cli("south", "kill", str(job))
        terminal.wait("none in use", lambda s: not re.search(LEASE + r".*cC", s))
        terminal.press("s")
        terminal.wait("another order", lambda s: "sorted by slots" in s)
        terminal.press("S")
        terminal.press("r")
        terminal.wait("the other way", lambda s: "sorted by id, reversed" in s)
        terminal.press("/nothing")
        terminal.wait("what is typed", lambda s: "filter: nothing_" in s and LEASE not in s
                      and "no lease fits" in s)
        terminal.press("\n")
        terminal.wait("the filter kept", lambda s: "filter: nothing   (h" in s)
        terminal.press("\x1b")
        terminal.wait("the filter gone", lambda s: LEASE in s)
        terminal.press("h")
        terminal.wait("help", lambda s: "/         filters by words; Enter applies the filter, Esc clears it" in s)
        terminal.press("h")
        f.kill9("broker")
        terminal.wait("that nobody answers", lambda s: "no answer for" in s and LEASE in s)
        f.start("broker")
        terminal.wait("an answer", lambda s: "no answer" not in s and "sites 2 of 2" in s)
        terminal.press("q")
        expect_equal(terminal.process.wait(LIMIT), 0, "exit")
    finally:
        terminal.close()


def test_small_terminals():
    for lines, columns in ((8, 40), (3, 20), (1, 5)):
        terminal = Terminal("top", lines=lines, columns=columns)
        try:
            terminal.wait("something", lambda s: "s" in s)
            time_out = time.monotonic() + 1
            terminal.press("jks")
            while time.monotonic() < time_out and not terminal.screen().strip():
                select.select([terminal.fd], [], [], 0.1)
            terminal.press("q")
            expect_equal(terminal.process.wait(LIMIT), 0, "exit in %d x %d" % (lines, columns))
        finally:
            terminal.close()


def test_events_last():
    rows = [json.loads(line) for line in f.cli("south", "events").stdout.splitlines()]
    last = [json.loads(line) for line in
            f.cli("south", "events", "--last", "2").stdout.splitlines()]
    expect_equal(last, rows[-2:], "the last two")
    for wrong in ("0", "501", "x", "-1"):
        f.cli("south", "events", "--last", wrong, code=2)


def setup():
    f.start("broker", "north", "south")
    job = f.submit("south", "true", "-q", "away")
    f.wait_state("south", job, "DONE")


main(test_printed, test_on_a_terminal, test_small_terminals, test_events_last, shared=f,
     setup=setup)
