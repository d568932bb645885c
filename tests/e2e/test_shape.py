#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How the slots of parallel jobs lie on hosts (span, same), as the jobs see it."""
import os

from federation import Federation, expect, expect_equal, main

NORTH = """
Begin Site
NAME = north
SPOOL = @DIR@/north
HOSTS_HERE = n1 n2 n3
End Site
Begin HostModel
MODELNAME CPUFACTOR
old        1
new        2
End HostModel
Begin Host
HOST_NAME MXJ model
n1        3   old
n2        4   new
n3        4   old
End Host
Begin Queue
QUEUE_NAME = normal
End Queue
Begin Queue
QUEUE_NAME = mpi
RES_REQ = span[ptile=2]
End Queue
"""


def seen(f, *options):
    """LSB_MCPU_HOSTS and LSB_HOSTS as a job has them."""
    out = os.path.join(f.dir, "seen")
    job = f.submit("north", "echo $LSB_MCPU_HOSTS, $LSB_HOSTS >" + out, *options)
    f.wait_state("north", job, "DONE")
    with open(out) as text:
        return text.read().strip()


def test_jobs_see_how_their_slots_lie():
    with Federation() as f:
        f.configure("north", NORTH)
        f.start("north")
        f.wait_for("its hosts", lambda: all(
            row["status"] == "ok" for row in f.rows("north", "hosts")))
        for options, lies in [
                (["-n", "4", "-R", "span[hosts=1]"], "n2 4, n2 n2 n2 n2"),
                (["-n", "5", "-R", "span[ptile=2]"], "n1 2 n2 2 n3 1, n1 n1 n2 n2 n3"),
                (["-n", "4", "-q", "mpi"], "n1 2 n2 2, n1 n1 n2 n2"),
                (["-n", "4", "-q", "mpi", "-R", "same[model]"], "n1 2 n3 2, n1 n1 n3 n3"),
                (["-n", "4", "-q", "mpi", "-R", "span[hosts=-1]"],
                 "n1 3 n2 1, n1 n1 n1 n2"),
                (["-n", "8", "-R", "span[block=2]"],
                 "n1 2 n2 4 n3 2, n1 n1 n2 n2 n2 n2 n3 n3"),
                (["-n", "7", "-R", "span[ptile='!'] same[model]"],
                 "n1 3 n3 4, n1 n1 n1 n3 n3 n3 n3"),
                (["-n", "4", "-R", "{model==new span[ptile=2]} || {model==old span[ptile=2]}"],
                 "n1 2 n3 2, n1 n1 n3 n3")]:
            expect_equal(seen(f, *options), lies, " ".join(options))


def test_who_waits_is_told_what_is_missing():
    with Federation() as f:
        f.configure("north", NORTH)
        f.start("north")
        filler = f.submit("north", "sleep 600", "-n", "2", "-m", "n2")
        f.wait_state("north", filler, "RUN")
        job = f.submit("north", "true", "-n", "4", "-m", "n1 n2", "-R", "span[hosts=1]")
        large = f.submit("north", "true", "-n", "5", "-R", "span[hosts=1]")
        told = ("no host has 4 free slots (span[hosts=1]); most free: n1 with 3")
        f.wait_for("its reason", lambda: told in f.job("north", job)["reason"])
        expect_equal(f.job("north", job)["pending"], "shape", "the word")
        expect("with too few free slots for the span" in
               f.cli("north", "jobs", "-l", str(job)).stdout, "jobs -l counts hosts")
        expect("spanning requirement" in f.cli("north", "jobs", "-p").stdout, "jobs -p")
        f.wait_for("its reason", lambda: "the largest: n2 with 4" in
                   f.job("north", large)["reason"])
        f.restart("north")
        f.cli("north", "kill", str(filler))
        f.wait_state("north", job, "DONE")


def test_what_does_not_go_together_is_refused():
    with Federation() as f:
        f.configure("north", NORTH.replace("span[ptile=2]", "span[ptile=0]"))
        result = f.run("sublet", "check", f.conf("north"), code=1)
        expect("RES_REQ" in result.stdout + result.stderr and
               "incorrect value" in result.stdout + result.stderr,
               result.stdout + result.stderr)
        f.configure("north", NORTH)
        f.start("north")
        result = f.cli("north", "sub", "-R", "span[ptile='!',old:2]", "true", code=255)
        expect("slots by type need same[type]" in result.stderr, result.stderr)
        expect_equal(f.jobs("north"), {}, "jobs")


if __name__ == "__main__":
    main(*[test for name, test in sorted(globals().items()) if name.startswith("test_")])
