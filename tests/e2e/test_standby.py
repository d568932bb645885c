#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two brokers on one database of PostgreSQL: one leads, the other one waits. The leader is
killed, stopped and continued, ended, and its server is killed; contracts and jobs go on,
and a broker that was replaced commits nothing more. Each job leaves a line when it begins
and when it ends."""
import os
import signal

from federation import BROKER, Federation, expect, expect_equal, free_port, main
from postgres import Server

JOBS = 6


def federation(server, own_ports=False):
    """Its brokers have one address, which the leader alone has, or each its own."""
    f = Federation()
    text = BROKER.replace("@DIR@/broker.db", server.url)
    expect(server.url in text, "the broker's STATE is replaced")
    f.configure("broker", text)
    f.configure("broker2", text.replace("@PORT@", str(free_port())) if own_ports else text)
    return f


def says(f, name, words):
    with open(f.log(name)) as log:
        return words in log.read()


def wait_says(f, name, words):
    f.wait_for("%s to say: %s" % (name, words), lambda: says(f, name, words))


def term(server):
    return int(server.ask("SELECT term FROM leader"))


def marked(f):
    file = "%s/south.$LSB_JOBID" % f.marks
    return ("echo begin >>%s; while [ ! -e %s/gate ]; do sleep 0.1; done; echo end >>%s" %
            (file, f.dir, file))


def test_a_standby_takes_over_from_a_killed_broker():
    with Server() as server, federation(server) as f:
        f.start("broker", "broker2")
        wait_says(f, "broker", "this broker leads")
        wait_says(f, "broker2", "this broker is a standby")
        f.start("north", "south")
        jobs = [f.submit("south", marked(f)) for _ in range(JOBS)]
        f.wait_for("jobs to run", lambda: f.n_jobs("south", "RUN") == JOBS)
        epoch = f.lease()["epoch"]
        for leader, other in (("broker", "broker2"), ("broker2", "broker")):
            before = term(server)
            f.kill9(leader)
            f.wait_for("another term", lambda: term(server) > before)
            f.wait_lease("the sites to be back", lambda l: l["status"] == "ok")
            expect(f.lease()["epoch"] >= epoch, "the contract goes on")
            f.start(leader)
            wait_says(f, leader, "this broker is a standby")
            expect(other in f.daemons, "the other one leads")
        open(os.path.join(f.dir, "gate"), "w").close()
        f.cli("south", "wait", *map(str, jobs))
        for job in jobs:
            with open("%s/south.%d" % (f.marks, job)) as file:
                expect_equal(file.read().split(), ["begin", "end"], "job %d" % job)
        events = server.ask("SELECT count(*), max(id) FROM event")
        expect_equal(*events.split("|"), "events without a gap")
        expect_equal(server.ask("SELECT count(*) FROM event WHERE event = 'made'"), "1",
                     "one contract was made")


def test_a_stopped_broker_commits_nothing_more():
    with Server() as server, federation(server, own_ports=True) as f:
        f.start("broker", "broker2")
        wait_says(f, "broker2", "this broker is a standby")
        before = term(server)
        os.kill(f.daemons["broker"].pid, signal.SIGSTOP)
        f.wait_for("another term", lambda: term(server) > before)
        wait_says(f, "broker2", "this broker leads")
        os.kill(f.daemons["broker"].pid, signal.SIGCONT)
        wait_says(f, "broker", "becomes a standby")
        wait_says(f, "broker", "this broker is a standby")
        # A busy machine may have delayed a renewal, so that either leads by now.
        before = term(server)
        for name in ("broker", "broker2"):
            expect_equal(f.stop(name), 0, "the exit status")
        f.wait_for("the leader to have left", lambda: server.ask(
            "SELECT has_left FROM leader WHERE term >= %d" % before) == "t")


def test_a_leader_goes_on_when_its_server_is_back():
    with Server() as server, federation(server) as f:
        f.start("broker", "north", "south")
        jobs = [f.submit("south", marked(f)) for _ in range(JOBS)]
        f.wait_for("jobs to run", lambda: f.n_jobs("south", "RUN") == JOBS)
        before = term(server)
        server.control("restart")
        wait_says(f, "broker", "it is opened again")
        open(os.path.join(f.dir, "gate"), "w").close()
        f.cli("south", "wait", *map(str, jobs))
        expect_equal(term(server), before, "the term")
        f.wait_lease("slots to return", lambda l: l["consumer"]["used"] == 0)


if __name__ == "__main__":
    main(test_a_standby_takes_over_from_a_killed_broker,
         test_a_stopped_broker_commits_nothing_more,
         test_a_leader_goes_on_when_its_server_is_back)
