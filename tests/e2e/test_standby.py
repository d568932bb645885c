#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two brokers on one database of PostgreSQL, which all sites list: one leads, the other one
is a standby, which refuses with the leader's endpoint. The leader is killed again and again
under load ($KILLS times), stopped and continued ($PAUSE_S later), ended, and its server is killed; contracts
and jobs go on, and a broker that was replaced commits nothing more. Each job leaves a line
when it begins and when it ends."""
import json
import os
import signal
import statistics
import sys
import time
import urllib.error
import urllib.request

from brokers import (BROKERS, JOBS, Load, ask, check_books, check_marks, federation,
                     is_connected, leader, marked, start_brokers, term, wait_says)
from federation import expect, expect_equal, free_port, main
from postgres import Server

KILLS = int(os.environ.get("KILLS", "5"))
PAUSE_S = float(os.environ.get("PAUSE_S", "0"))


def test_the_leader_is_killed_again_and_again_under_load():
    with Server() as server, federation(server) as f:
        start_brokers(f)
        f.start("north", "south", "west")
        jobs = {site: [f.submit(site, marked(f, site)) for _ in range(JOBS // 2)]
                for site in ("south", "west")}
        f.wait_for("jobs to run", lambda: all(
            f.n_jobs(site, "RUN") == JOBS // 2 for site in jobs))
        load = Load(f)
        load.start()
        times = []
        for _ in range(KILLS):
            victim = leader(f, server)
            epoch, before, batch = f.lease()["epoch"], term(server), None
            start = time.monotonic()
            f.kill9(victim)
            f.wait_for("another term", lambda: term(server) > before)
            batch = int(server.ask("SELECT batch FROM leader"))
            f.wait_for("a change of a contract or a site to be stored", lambda: int(
                server.ask("SELECT batch FROM leader")) > batch)
            times.append(time.monotonic() - start)
            f.wait_lease("the contract to go on",
                         lambda l: is_connected(l) and l["epoch"] >= epoch)
            f.start(victim)
            wait_says(f, victim, "this broker ")
        of_load = load.end()
        print("takeover: %d kills, median %.1f s, worst %.1f s" %
              (KILLS, statistics.median(times), max(times)), file=sys.stderr)
        open(os.path.join(f.dir, "gate"), "w").close()
        for site, gated in jobs.items():
            done = gated + of_load[site]
            f.cli(site, "wait", *map(str, done))
            check_marks(f, site, done)
        check_books(f)
        events = server.ask("SELECT count(*), max(id) FROM event")
        expect_equal(*events.split("|"), "events without a gap")
        expect_equal(server.ask("SELECT count(*) FROM event WHERE event = 'made'"), "2",
                     "each contract was made once")


def test_a_standby_refuses_with_the_leaders_endpoint():
    with Server() as server, federation(server) as f:
        start_brokers(f)
        f.start("north", "south")  # they list the standby first
        f.wait_lease("the contract", is_connected)
        wait_says(f, "south", "the broker is a standby: %s leads" % f.urls["broker"])
        refused = ask(f, f.urls["broker2"], "sites", code=1).stderr
        expect("a standby: %s leads" % f.urls["broker"] in refused, refused)
        both = "%s %s" % (f.urls["broker2"], f.urls["broker"])
        expect("north" in ask(f, both, "sites").stdout, "the command line asks the other one")
        ask(f, both, "reclaim-delay", "2m", "--lease", "north/1/south")
        f.kill9("broker")
        f.wait_for("broker2 to lead", lambda: leader(f, server) == "broker2")
        f.wait_lease("the override at the other broker",
                     lambda l: is_connected(l) and l["reclaim_delay_s"] == 120)


def fetch(port, path, method="GET"):
    """(status, text) of one request."""
    request = urllib.request.Request("http://127.0.0.1:%d%s" % (port, path), method=method,
                                     data=b"{}" if method != "GET" else None)
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def health(port):
    """Of a port that may not be open yet."""
    try:
        return json.loads(fetch(port, "/healthz")[1])
    except OSError:
        return {}


def test_a_standby_serves_pages_that_change_nothing():
    with Server() as server, federation(server) as f:
        ports = {name: free_port() for name in BROKERS}
        for name in BROKERS:
            with open("%s/%s.conf" % (f.dir, name)) as file:
                text = file.read()
            f.configure(name, text.replace("LISTEN", "HTTP = 127.0.0.1:%d\nLISTEN" %
                                           ports[name], 1))
        start_brokers(f)
        leads, waits = ports["broker"], ports["broker2"]
        f.wait_for("the standby to serve", lambda: health(waits) == {
            "status": "ok", "role": "standby", "leader": f.urls["broker"]})
        expect_equal(health(leads), {"status": "ok", "role": "leader"}, "the leader")
        f.start("north", "south")
        job = f.submit("south", "while [ ! -e %s/gate ]; do sleep 0.1; done" % f.dir)
        f.wait_lease("the contract", is_connected)

        def contracts(port):
            rows = json.loads(fetch(port, "/api/v1/leases")[1])["leases"]
            return [(row["id"], row["epoch"], row["state"], row["provider"]["available"],
                     row["consumer"]["available"]) for row in rows]
        f.wait_for("the standby to have what the leader has", lambda: contracts(
            waits) == contracts(leads) != [])
        rows = json.loads(fetch(waits, "/api/v1/leases")[1])["leases"]
        expect_equal({(row["status"], row["reclaim_delay_s"]) for row in rows},
                     {(None, None)}, "what the leader alone knows")
        sites = json.loads(fetch(waits, "/api/v1/sites")[1])["sites"]
        expect_equal({row["status"] for row in sites}, {None}, "which sites are connected")
        expect_equal(fetch(waits, "/")[0], 200, "the page")
        expect_equal(fetch(waits, "/api/v1/events")[1], fetch(leads, "/api/v1/events")[1],
                     "the events")
        for method, path in (("PUT", "/api/v1/reclaim-delay"), ("GET", "/api/v1/stream"),
                             ("POST", "/api/v1/leases/north/1/south/drain")):
            status, text = fetch(waits, path, method)
            expect_equal(status, 503, path)
            expect("a standby; ask the broker that leads, " + f.urls["broker"] in text, text)
        metrics = fetch(waits, "/metrics")[1]
        expect("\nsublet_broker_leader 0\n" in metrics, metrics)
        expect("sublet_peer_up" not in metrics and "sublet_lease" not in metrics, metrics)
        f.wait_for("the standby to be counted", lambda: "\nsublet_broker_standbys 1\n" in fetch(
            leads, "/metrics")[1])
        metrics = fetch(leads, "/metrics")[1]
        expect("\nsublet_broker_leader 1\n" in metrics, metrics)
        expect("\nsublet_broker_term %d\n" % term(server) in metrics, metrics)

        f.kill9("broker")
        f.wait_for("the standby to lead", lambda: health(waits) == {
            "status": "ok", "role": "leader"})
        f.wait_for("the sites to be here", lambda: {"north", "south"} == {
            row["site"] for row in json.loads(fetch(waits, "/api/v1/sites")[1])["sites"]
            if row["status"] == "ok"})
        expect_equal(fetch(waits, "/api/v1/reclaim-delay", "PUT")[0], 403, "no token")
        open(os.path.join(f.dir, "gate"), "w").close()
        f.cli("south", "wait", str(job))


def brokers(f):
    """{role: row} as the leader lists them."""
    listed = json.loads(f.cli("south", "brokers", "--json").stdout)["brokers"]
    return {row["role"]: row for row in listed}


def test_a_leader_steps_down_for_its_standby():
    with Server() as server, federation(server) as f:
        f.start("broker")
        wait_says(f, "broker", "this broker leads")
        refused = ask(f, f.urls["broker"], "brokers", "step-down", code=1).stderr
        expect("there is no standby that could lead" in refused, refused)
        f.start("broker2")
        wait_says(f, "broker2", "this broker is a standby")
        f.start("north", "south", "west")
        f.wait_lease("the contract", is_connected)
        f.wait_for("both brokers to be listed", lambda: len(brokers(f)) == 2)
        rows = brokers(f)
        expect_equal((rows["leader"]["endpoint"], rows["leader"]["term"], rows["leader"]["store"]),
                     (f.urls["broker"], term(server), "postgresql"), "the leader")
        expect_equal((rows["standby"]["endpoint"], rows["standby"]["term"]),
                     (f.urls["broker2"], 0), "the standby")
        load = Load(f)
        load.start()
        for victim, heir in (BROKERS, BROKERS[::-1]):
            f.wait_for("%s to be seen as a standby" % heir, lambda: "steps down" in ask(
                f, f.urls[victim], "brokers", "step-down").stderr)
            f.wait_for("%s to lead" % heir, lambda: leader(f, server) == heir)
            wait_says(f, victim, "this broker is a standby: %s leads" % f.urls[heir])
            f.wait_lease("the sites to be back", is_connected)
        for site, jobs in load.end().items():
            f.cli(site, "wait", *map(str, jobs))
            check_marks(f, site, jobs)
        check_books(f)
        for site in ("north", "south"):
            books = json.loads(f.cli(site, "usage", "--reconcile", "--json").stdout)
            expect(books["balanced"] and books["leases"] > 0,
                   "the books of sites and broker, whichever led: %s" % books)


def test_a_stopped_broker_commits_nothing_more():
    with Server() as server, federation(server) as f:
        start_brokers(f)
        f.start("north", "south")
        f.wait_lease("the contract", is_connected)
        before = term(server)
        os.kill(f.daemons["broker"].pid, signal.SIGSTOP)
        f.wait_for("another term", lambda: term(server) > before)
        wait_says(f, "broker2", "this broker leads")
        f.wait_lease("the sites to be back", is_connected)
        time.sleep(PAUSE_S)
        os.kill(f.daemons["broker"].pid, signal.SIGCONT)
        wait_says(f, "broker", "becomes a standby")
        wait_says(f, "broker", "this broker is a standby")
        # A busy machine may have delayed a renewal, so that either leads by now.
        before = term(server)
        for name in BROKERS:
            expect_equal(f.stop(name), 0, "the exit status")
        f.wait_for("the leader to have left", lambda: server.ask(
            "SELECT has_left FROM leader WHERE term >= %d" % before) == "t")


def test_a_broker_leads_again_when_its_server_is_back():
    with Server() as server, federation(server) as f:
        f.start("broker", "north", "south")
        jobs = [f.submit("south", marked(f, "south")) for _ in range(JOBS)]
        f.wait_for("jobs to run", lambda: f.n_jobs("south", "RUN") == JOBS)
        epoch = f.lease()["epoch"]
        server.control("restart")
        wait_says(f, "broker", "it is opened again")
        f.wait_lease("the contract to go on",
                     lambda l: is_connected(l) and l["epoch"] >= epoch)
        open(os.path.join(f.dir, "gate"), "w").close()
        f.cli("south", "wait", *map(str, jobs))
        check_marks(f, "south", jobs)
        f.wait_lease("slots to return", lambda l: l["consumer"]["used"] == 0)


if __name__ == "__main__":
    main(test_the_leader_is_killed_again_and_again_under_load,
         test_a_standby_refuses_with_the_leaders_endpoint,
         test_a_standby_serves_pages_that_change_nothing,
         test_a_leader_steps_down_for_its_standby,
         test_a_stopped_broker_commits_nothing_more,
         test_a_broker_leads_again_when_its_server_is_back)
