#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hosts closed by their provider and by a consumer, and why a job waits."""
import os

from federation import LEASE, Federation, expect, expect_equal, main


def why(f, job):
    row = f.job("south", job)
    return {item["lease"]: item["reason"] for item in row["leases"]}[LEASE]


def waits(f, job, word):
    f.wait_for("job %s to wait: %s" % (job, word), lambda: word in why(f, job))


def test_consumer_closes():
    with Federation() as f:
        f.start("broker", "north", "south")
        gate = os.path.join(f.marks, "gate")
        first = f.submit("south", "while [ ! -e %s ]; do sleep 0.1; done" % gate, "-q", "away")
        f.wait_state("south", first, "RUN")
        for host in ("n1@north", "n2@north"):
            expect_equal(f.cli("south", "close", host).stdout, "Host <%s> is closed.\n" % host, "answer")
        job = f.submit("south", "true", "-q", "away")
        waits(f, job, "closed here")
        local = f.submit("south", "true", "-q", "normal", "-n", "3")
        waits(f, local, "closed here")
        f.restart("south")
        waits(f, job, "closed here")
        expect_equal({row["status"] for row in f.rows("south", "hosts") if row["lease"]},
                     {"closed_Adm"}, "what south sees")
        expect_equal({row["status"] for row in f.rows("north", "hosts")}, {"ok"}, "north")
        expect_equal(f.job("south", first)["state"], "RUN", "what runs goes on")
        open(gate, "w").close()
        f.cli("south", "open", "n1@north", "n2@north")
        f.cli("south", "wait", str(first), str(job), str(local))


def test_provider_closes():
    with Federation() as f:
        f.start("broker", "north", "south")
        f.wait_lease("the lease", lambda l: l["status"] == "conn")
        f.cli("north", "close", "n1", "n2")
        f.wait_lease("no slot to be available", lambda l: l["provider"]["available"] == 0
                     and l["consumer"]["available"] == 0)
        job = f.submit("south", "true", "-q", "away")
        waits(f, job, "closed by their provider")
        mine = f.submit("north", "true")
        expect_equal(f.job("north", mine)["state"], "PEND", "north starts nothing there")
        f.restart("north")
        f.restart("broker")
        waits(f, job, "closed by their provider")
        f.cli("north", "open", "n1", "n2")
        f.cli("south", "wait", str(job))
        f.cli("north", "wait", str(mine))


def test_reasons():
    with Federation(reclaim="1h") as f:
        f.start("broker", "north", "south")
        f.wait_lease("the lease", lambda l: l["status"] == "conn")
        job = f.submit("south", "true", "-q", "away", "-n", "2")
        waits(f, job, "needs slots: 2, idle: 1 of 1 held; the lease is not made yet")
        shown = f.cli("south", "jobs", "-l", str(job)).stdout
        expect("not made yet" in shown, shown)
        f.cli("north", "lease", "drain", LEASE, "--no-wait")
        f.wait_for("the lease to be gone", lambda: not f.job("south", job)["leases"])
        f.cli("north", "lease", "resume", LEASE)
        waits(f, job, "not made yet")
        f.cli("south", "wait", str(f.submit("south", "true", "-q", "away")))
        waits(f, job, "needs slots: 2, idle: 1 of 1 held; the next rebalance is in 3")  # 3600 s
        f.kill9("north")
        waits(f, job, "its provider is not connected")
        f.kill9("broker")
        waits(f, job, "the broker cannot be reached")


def test_refused():
    with Federation() as f:
        f.start("broker", "north", "south")
        for args in (["close", "n9"], ["close", "n9@north"], ["open", "nix"]):
            text = f.cli("south", *args, code=1).stderr
            expect_equal(text.count("\n"), 1, text)
        f.cli("south", "close", code=2)


main(test_consumer_closes, test_provider_closes, test_reasons, test_refused, at_once=2)
