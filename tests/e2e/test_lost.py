#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A consumer that is lost while its jobs run at a provider: its daemon is suspended, or
the network to it is gone. By default they run on, and only idle slots go home when
LEASE_TERM is over; ON_LOST = kill ends them then, and all slots go home. When it is back
it is told, and runs again what may be run again."""
import datetime
import json
import os
import signal

from faults import use_proxy
from federation import NORTH, SOUTH, Federation, expect, expect_equal, main
from proxy import Proxy

TERM_S = 4
TERMS = "TYPE = shared\nLEASE_TERM = %ds\nON_LOST = %%s\n" % TERM_S


def policy(on_lost):
    return NORTH.replace("TYPE = shared\n", TERMS % on_lost)


def with_jobs(f):
    """One that may be run again, and one that may not; each leaves a line a start."""
    f.start("broker", "north", "south")
    f.wait_lease("the lease", lambda l: l["status"] == "conn")
    again, once = [
        f.submit("south", "echo x >> %s/%s; while [ ! -e %s/gate ]; do sleep 0.1; done" %
                 (f.marks, name, f.marks), "-q", "away", *options)
        for name, options in (("again", ("-r",)), ("once", ()))]
    f.wait_for("both to run", lambda: f.n_jobs("south", "RUN") == 2)
    return again, once


def n_starts(f, name):
    with open(os.path.join(f.marks, name)) as file:
        return len(file.readlines())


def open_gate(f):
    open(os.path.join(f.marks, "gate"), "w").close()


def lease(f):
    """As north sees it: south is not there to be asked."""
    return f.lease("north")


def n_running(f):
    return sum(row["run"] for row in f.rows("north", "hosts") if not row["lease"])


def was_killed(f, again, once):
    """What south finds when it is back."""
    f.wait_state("south", once, "EXIT")
    expect("lost" in f.job("south", once)["reason"], f.job("south", once)["reason"])
    f.wait_for("the other to run again", lambda: n_starts(f, "again") == 2)
    f.wait_state("south", again, "RUN")
    expect_equal(n_starts(f, "once"), 1, "starts of what may not be run again")
    open_gate(f)
    f.cli("south", "wait", str(again))
    expect_equal(n_starts(f, "again"), 2, "starts of what may be run again")


def instant(text):
    return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").timestamp()


def slots_go_home(f, *jobs):
    """And its jobs run on until the term is over: by what the daemons wrote down."""
    f.wait_for("its jobs to be ended", lambda: n_running(f) == 0)
    lost = [event for event in map(json.loads, f.cli(
        "north", "events", "--last", "500").stdout.splitlines())
        if event["event"] == "site_lost" and event["site"] == "south"]
    for job in jobs:
        end = f.rows("north", "hist", "%d@south" % job)[0]["events"][-1]
        expect_equal(end["event"], "end", "the last of job %d" % job)
        expect(instant(end["at"]) - instant(lost[-1]["at"]) >= TERM_S,
               "job %d ended at %s, south was lost at %s" % (job, end["at"], lost[-1]["at"]))
    f.wait_for("the slots to go home", lambda: lease(f)["provider"]["available"] == 8 and
               lease(f)["consumer"] == {"site": "south", "available": 0, "used": 0})


def test_kill_stopped():
    """Its daemon is suspended; the broker dies and is back while the term runs."""
    with Federation() as f:
        f.configure("north", policy("kill"))
        again, once = with_jobs(f)
        f.daemons["south"].send_signal(signal.SIGSTOP)
        f.wait_for("south to be lost", lambda: lease(f)["status"] == "disc")
        f.restart("broker")
        f.wait_for("north to be connected",
                   lambda: f.rows("north", "sites", "north")[0]["status"] == "ok")
        slots_go_home(f, again, once)
        f.daemons["south"].send_signal(signal.SIGCONT)
        was_killed(f, again, once)


def test_kill_cut():
    """Nothing passes between it and the broker, and nobody is told so."""
    with Federation() as f, Proxy(int(f.words["PORT"])) as network:
        f.configure("north", policy("kill"))
        use_proxy(f, network, "south", SOUTH)
        again, once = with_jobs(f)
        network.hold()
        slots_go_home(f, again, once)
        expect_equal(f.n_jobs("south", "RUN") + f.n_jobs("south", "UNKWN"), 2,
                     "south knows of nothing")
        network.cut()
        network.heal()
        was_killed(f, again, once)


def test_keep():
    with Federation() as f:
        f.configure("north", policy("keep"))
        again, once = with_jobs(f)
        f.daemons["south"].send_signal(signal.SIGSTOP)
        f.wait_for("idle slots to go home", lambda: lease(f)["status"] == "disc" and
                   lease(f)["consumer"] == {"site": "south", "available": 2, "used": 2})
        expect_equal(n_running(f), 2, "its jobs run on")
        f.daemons["south"].send_signal(signal.SIGCONT)
        f.wait_lease("south to be back", lambda l: l["status"] == "ok")
        open_gate(f)
        f.cli("south", "wait", str(again), str(once))
        expect_equal((n_starts(f, "again"), n_starts(f, "once")), (1, 1), "starts")


main(test_kill_stopped, test_kill_cut, test_keep, at_once=3)
