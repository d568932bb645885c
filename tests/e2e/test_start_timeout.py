#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A job that does not start on a borrowed host: after START_TIMEOUT its provider is asked
to withdraw it. It goes back to its queue with the answer alone, and starts once, later;
while the provider is silent it stays where it is, and says so."""
import contextlib
import os
import signal

from federation import SOUTH, Federation, expect, expect_equal, main

TIMED = SOUTH.replace("End Site", "START_TIMEOUT = 2s\nEnd Site")


def begin(f):
    f.configure("south", TIMED)
    f.start("broker", "north", "south")
    f.wait_lease("the lease", lambda l: l["status"] in ("conn", "ok"))
    job = f.submit("south", "true", "-q", "away")
    f.wait_state("south", job, "DONE")


def signal_all(pids, number):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, number)


def counted(f):
    path = os.path.join(f.marks, "starts")
    return len(open(path).readlines()) if os.path.exists(path) else 0


def submit(f):
    return f.submit("south", "echo x >> %s/starts" % f.marks, "-q", "away")


def events(f, job):
    return f.rows("south", "hist", str(job))[0]["events"]


def test_withdrawn():
    """The hosts do not answer; their site does."""
    with Federation() as f:
        begin(f)
        pids = [*f.hosts("n1"), *f.hosts("n2")]
        expect(len(pids) >= 2, "hosts of north: %s" % pids)
        signal_all(pids, signal.SIGSTOP)
        try:
            job = submit(f)
            f.wait_for("it to go back to its queue", lambda: any(
                "START_TIMEOUT" in (event["reason"] or "") for event in events(f, job)))
            expect_equal(counted(f), 0, "starts")
            f.wait_for("the lease to be avoided", lambda: "START_TIMEOUT" in
                       f.cli("south", "jobs", "-l", str(job)).stdout)
        finally:
            signal_all(pids, signal.SIGCONT)
        f.wait_state("south", job, "DONE")
        expect_equal(counted(f), 1, "starts of a job that was withdrawn")


def test_silence():
    """The site does not answer: nothing is requeued, however long that takes."""
    with Federation() as f:
        begin(f)
        f.daemons["north"].send_signal(signal.SIGSTOP)
        try:
            job = submit(f)
            said = "its provider, which was asked to withdraw it, has not answered"
            f.wait_for("the reason to say so", lambda: said in f.cli(
                "south", "jobs", "-l", str(job)).stdout.replace("\n", " "))
            f.wait_lease("north to be lost", lambda l: l["status"] == "disc")
            expect_equal([event["event"] for event in events(f, job)
                          if event["event"] in ("requeue", "run_end")], [], "requeues")
        finally:
            f.daemons["north"].send_signal(signal.SIGCONT)
        f.wait_state("south", job, "DONE")
        expect_equal(counted(f), 1, "starts")


main(test_withdrawn, test_silence, at_once=2)
