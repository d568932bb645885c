#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A lease is drained for maintenance while jobs run on it, with every daemon killed in
between: nothing new starts, what runs ends well, slots go home, and it stays drained
until it is resumed."""
import json
import os
import pty
import subprocess

from federation import BIN, LEASE, LIMIT, Federation, expect, expect_equal, main


def with_jobs(f, gate):
    """Three jobs run on the lease until the file `gate` is there; north has none."""
    f.start("broker", "north", "south")
    f.wait_lease("the lease", lambda l: l["status"] == "conn")
    jobs = [f.submit("south", "while [ ! -e %s ]; do sleep 0.1; done" % gate,
                     "-q", "away") for _ in range(3)]
    f.wait_for("three jobs to run", lambda: f.n_jobs("south", "RUN") == 3)
    f.wait_lease("the broker to know of them", lambda l: l["consumer"]["used"] == 3)
    return jobs


def read_to_end(near):
    """What a terminal shows until the last who had it has gone."""
    text = b""
    try:
        while piece := os.read(near, 4096):
            text += piece
    except OSError:  # so ends a terminal
        pass
    os.close(near)
    return text


def test_drain():
    with Federation() as f:
        gate = os.path.join(f.marks, "gate")
        jobs = with_jobs(f, gate)
        text = f.ops("lease", "drain", LEASE, "--no-wait").stderr
        expect_equal(text, "sublet: Lease <%s> is draining: slots in use: 3.\n" % LEASE, "answer")
        late = f.submit("south", "true", "-q", "away")
        f.wait_lease("idle slots to go home", lambda l: l["state"] == "draining"
                     and l["consumer"] == {"site": "south", "available": 3, "used": 3})
        for name in ("broker", "north", "south"):
            f.restart(name)
        f.wait_lease("all to be back", lambda l: l["status"] == "ok")
        result = f.ops("lease", "drain", LEASE, "--timeout", "1", code=1)
        expect("still drains" in result.stderr, result.stderr)
        expect_equal(f.job("south", late)["state"], "PEND", "nothing new starts")
        open(gate, "w").close()
        answer = json.loads(f.ops("lease", "drain", LEASE, "--json").stdout)
        expect_equal([(row["id"], row["state"], row["drained"]) for row in answer["leases"]],
                     [(LEASE, "ended", True)], "at the end")
        f.cli("south", "wait", *map(str, jobs))
        for name in ("broker", "north"):
            f.restart(name)
        f.wait_lease("the broker to know of it", lambda l: l["state"] == "ended")
        expect_equal(f.rows("north", "hosts", "n1")[0]["max"], 4, "north has its slots")
        # its own administrator takes it back
        f.wait_for("north to be connected",
                   lambda: f.rows("south", "sites", "north")[0]["status"] == "ok")
        expect("resumed" in f.cli("north", "lease", "resume", LEASE).stderr, "resumed")
        f.cli("south", "wait", str(late))
        f.wait_lease("it to be made again", lambda l: l["state"] == "active")


def test_site():
    with Federation() as f:
        gate = os.path.join(f.marks, "gate")
        with_jobs(f, gate)
        f.cli("south", "lease", "drain", "--site", "south", "--no-wait")
        f.wait_lease("it to drain", lambda l: l["state"] == "draining")
        text = f.ops("lease", "resume", LEASE, code=1).stderr
        expect("--site south" in text, text)
        expect(f.rows("south", "sites", "south")[0]["drained"], "the site is drained")
        open(gate, "w").close()
        text = f.ops("lease", "drain", "--site", "south").stderr
        expect("Site <south> is drained." in text, text)
        f.ops("lease", "resume", "--site", "south")
        f.wait_lease("the lease to be back", lambda l: l["state"] == "pending")


def test_terminal():
    """On a terminal a line tells how far it is."""
    with Federation() as f:
        gate = os.path.join(f.marks, "gate")
        with_jobs(f, gate)
        near, far = pty.openpty()
        process = subprocess.Popen(
            [os.path.join(BIN, "sublet"), "--socket",
             os.path.join(f.dir, "north", "sublet.sock"), "lease", "drain", LEASE],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=far)
        os.close(far)
        text = b""
        while b"slots in use: 3" not in text.split(b"\033[K")[-1]:
            text += os.read(near, 4096)
        open(gate, "w").close()
        expect_equal(process.wait(LIMIT), 0, "exit")
        text = read_to_end(near)
        expect(b"Lease <north/1/south> is drained." in text, repr(text))


def test_terminal_site():
    """Likewise for a site: until the last job on any of its leases has ended."""
    with Federation() as f:
        gate = os.path.join(f.marks, "gate")
        with_jobs(f, gate)
        near, far = pty.openpty()
        process = subprocess.Popen(
            [os.path.join(BIN, "sublet"), "--socket",
             os.path.join(f.dir, "south", "sublet.sock"), "lease", "drain", "--site", "south"],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=far)
        os.close(far)
        text = b""
        while b"draining south: leases: 1, slots in use: 3" not in text.split(b"\033[K")[-1]:
            text += os.read(near, 4096)
        expect_equal(process.poll(), None, "it waits while they run")
        open(gate, "w").close()
        expect_equal(process.wait(LIMIT), 0, "exit")
        text = read_to_end(near)
        expect(b"Site <south> is drained." in text, repr(text))
        expect_equal(f.lease()["state"], "ended", "the lease")


def test_refused():
    with Federation() as f:
        f.start("broker", "north", "south")
        f.wait_lease("the lease", lambda l: l["status"] == "conn")
        for run, args in ((f.ops, ["north/9/south"]), (f.ops, ["--site", "east"]),
                          (lambda *a, code: f.cli("south", *a, code=code), [LEASE])):
            text = run("lease", "drain", *args, code=1).stderr
            expect_equal(text.count("\n"), 1, "one line: " + text)
        expect_equal(f.lease()["state"], "pending", "nothing happened")


main(test_drain, test_site, test_terminal, test_terminal_site, test_refused, at_once=2)
