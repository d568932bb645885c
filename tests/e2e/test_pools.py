#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A pool that runs: north exports all its slots to it and is a leaf of its plan itself;
south borrows what north does not want, is warned when north wants it back, and what
still runs after the grace is ended and waits again."""
import contextlib
import datetime
import json
import os
import sqlite3
import time
import urllib.request

from federation import BROKER, NORTH, Federation, expect, expect_equal, free_port, main

POOL = """
Begin Pool
NAME = p
CYCLE = 1s
End Pool
Begin PlanNode
NAME  POOL  OWNED  GRACE  SITE
/eng  p     2      2s     south
/ops  p     6      0s     north
End PlanNode
"""
EXPORT = NORTH.replace("TYPE = shared\n", "").replace("([south, 1])", "([pool:p])")
IDLE, ENG, OPS = "north/1/pool:p", "north/1/south:/eng", "north/1/north:/ops"


def instant(text):
    return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").timestamp()


def lease(f, name):
    return {row["id"]: row for row in f.rows("south", "leases", "--all")}.get(name)


def held(f, name):
    row = lease(f, name)
    return None if row is None else row["provider"]["available"] + row["consumer"]["available"]


def ready(f):
    f.configure("broker", BROKER + POOL)
    f.configure("north", EXPORT)
    f.start("broker", "north", "south")
    f.wait_for("the pool's idle slots", lambda: held(f, IDLE) == 8)


def test_recall():
    with Federation() as f:
        ready(f)
        expect_equal(f.run("sublet", "check", f.conf("north"), code=0).stdout, "", "check")
        loop = ("trap 'date >> %s/warned' URG; echo $SUBLET_RECALL_GRACE > %s/grace; "
                "while [ ! -e %s/gate ]; do sleep 0.1; done" % ((f.marks,) * 3))
        jobs = [f.submit("south", loop, "-q", "away") for _ in range(9)]
        f.wait_for("south to have all slots", lambda: f.n_jobs("south", "RUN") == 8)
        expect_equal((held(f, IDLE), held(f, ENG)), (0, 8), "idle, and /eng's")
        expect_equal(lease(f, ENG)["type"], "pool", "type")
        rows = {row["lease"]: row["consumer"] for row in f.rows("north", "exports")}
        expect_equal(rows[ENG], "south:/eng", "whom it is exported to")
        own = [f.submit("north", "while [ ! -e %s/gate ]; do sleep 0.1; done" % f.marks)
               for _ in range(6)]
        f.wait_for("north to have what it owns", lambda: f.n_jobs("north", "RUN") == 6)
        f.wait_for("south to have the rest", lambda: held(f, ENG) == 2)
        expect_equal(held(f, OPS), 6, "/ops's slots")
        f.wait_for("six to wait again", lambda: f.n_jobs("south", "PEND") == 7)
        expect(os.path.exists(os.path.join(f.marks, "warned")), "a warning came")
        with open(os.path.join(f.marks, "grace")) as file:
            expect_equal(file.read(), "2\n", "the grace in the environment")
        node = {row["node"]: row for row in f.rows("south", "plan", "show")}
        expect_equal([node["/eng"][key] for key in ("owned", "quota", "alloc", "site")],
                     [2, 2, 2, "south"], "/eng")
        expect_equal([node["/ops"][key] for key in ("quota", "alloc", "shortfall")],
                     [6, 6, 0], "/ops")
        pool = f.rows("south", "pools")[0]
        expect_equal([pool[key] for key in ("pool", "slots", "alloc", "idle", "providers")],
                     ["p", 8, 8, 0, 1], "the pool")
        text = f.cli("south", "plan", "explain", "/eng").stdout
        expect("its scaled ownership" in text and "recalled, as" in text, text)
        events = [json.loads(line) for line in f.cli("south", "events", "--last", "500")
                  .stdout.splitlines()]
        expect_equal(sum(event["slots"] for event in events if event["event"] == "recall"
                         and event["node"] == "/eng"), 6, "slots that were recalled")
        expect(any(event["event"] == "quota" and event["node"] == "/ops"
                   and event["quota"] == 6 for event in events), "the quota")
        done = [event for event in events if event["event"] == "recall_done"
                and event["node"] == "/eng"]
        print("figures: slots home after their deadline, grace 2 s: %s ms" % ", ".join(
            "%.0f" % (1000 * (instant(event["at"]) - instant(event["deadline"])))
            for event in done))
        again = [job for job in jobs if f.job("south", job)["state"] == "PEND"
                 and "recalled" in f.job("south", job)["reason"]]
        expect_equal(len(again), 6, "jobs that were recalled")
        for name in ("broker", "north", "south"):
            f.restart(name)
        f.wait_for("all to be back", lambda: held(f, ENG) == 2 and held(f, OPS) == 6)
        open(os.path.join(f.marks, "gate"), "w").close()
        f.cli("south", "wait", *map(str, jobs))
        f.cli("north", "wait", *map(str, own))
        f.wait_for("no slot to be lost", lambda: sum(
            held(f, name) for name in (IDLE, ENG, OPS)) == 8)


def test_reload():
    with Federation() as f:
        ready(f)
        f.submit("south", "while [ ! -e %s/gate ]; do sleep 0.1; done" % f.marks, "-q", "away")
        f.wait_for("south to run", lambda: f.n_jobs("south", "RUN") == 1)
        f.configure("broker", BROKER + POOL.replace("6      0s     north", "x 0s north"))
        result = f.ops("reconfig", code=1)
        expect("OWNED" in result.stderr and "nothing is changed" in result.stderr, result.stderr)
        expect_equal(lease(f, ENG)["state"], "active", "the old plan stays")
        f.configure("broker", BROKER + POOL.replace("/eng  p     2      2s     south", ""))
        f.ops("reconfig")
        f.wait_for("the leaf's contract to end",
                   lambda: lease(f, ENG)["state"] == "ended")
        expect(lease(f, ENG)["drained"], "drained")
        f.wait_for("its slots to be back", lambda: held(f, IDLE) == 8)
        f.configure("broker", BROKER + POOL)
        f.ops("reconfig")
        f.wait_for("south to run again", lambda: f.n_jobs("south", "RUN") == 1)


def test_large_plan():
    """All rows of a plan of many pages, each once and in the order of the file; some
    rows are so long that their pages are cut."""
    leaves = ["/leaf%d" % i for i in range(4500)]
    queues = ["%s%d" % ("q" * 25, i) for i in range(50000)]
    plan = POOL.split("/eng")[0].replace("GRACE  SITE", "GRACE  SITE  QUEUES") + "\n".join(
        "%s p 1 0s south (%s)" % (name, " ".join(queues[10 * i:10 * i + (10 if i > 2000 else 1)]))
        for i, name in enumerate(leaves)) + "\nEnd PlanNode\n"
    with Federation() as f:
        f.configure("broker", BROKER + plan)
        f.start("broker", "north", "south")
        f.wait_for("the site to reach the broker",
                   lambda: f.cli("south", "pools", code=None).returncode == 0)
        expect_equal([row["node"] for row in f.rows("south", "plan", "show")], leaves, "nodes")
        expect_equal([row["node"] for row in f.rows("south", "plan", "explain", leaves[4400])],
                     [leaves[4400]], "one node")
        rows = json.loads(f.ops("plan", "show", "--json").stdout)["nodes"]
        expect_equal([row["node"] for row in rows], leaves, "nodes that the broker tells")
        expect_equal([len(row["queues"]) for row in rows], [1] * 2001 + [10] * 2499, "queues")
        for run in (lambda *args: f.cli("south", *args), f.ops):
            lines = run("plan", "show", "--noheader", "-o", "node,quota,site").stdout.split("\n")
            expect_equal([line.split() for line in lines[:-1]],
                         [[leaf, "0", "south"] for leaf in leaves], "lines")
        result = f.ops("plan", "show", "-o", "node,colour", code=2)
        expect("colour" in result.stderr and "shortfall" in result.stderr, result.stderr)


WINDOWS = POOL.replace("""GRACE  SITE
/eng  p     2      2s     south
/ops  p     6      0s     north
""", """GRACE  SITE   POLICY     WINDOW
/eng  p     2      10m    south  hybrid     early
/eng  p     2      10m    south  ownership  late
/ops  p     6      0s     north  hybrid     -
""") + """
Begin TimeWindow
NAME   POOL  FROM   TO
early  p     00:00  12:00
late   p     12:00  24:00
End TimeWindow
"""


def at_hour(f, hour):
    """The broker that is started next has wait until that time of the day."""
    f.prefixes["broker"] = ["env", "TZ=HERE%+d" % (time.gmtime().tm_hour - hour)]


def node(f, name):
    return {row["node"]: row for row in f.rows("south", "plan", "show")}[name]


def wait_cycles(f, n_cycles):
    """So many more than the one that is the latest now."""
    seen = set()

    def look():
        seen.add(f.rows("south", "pools")[0]["last_cycle_at"])
        return len(seen - {None}) > n_cycles
    f.wait_for("%d cycles" % n_cycles, look)


def recalls(f):
    events = [json.loads(line) for line in f.cli("south", "events", "--last", "500")
              .stdout.splitlines()]
    return [(event["event"], event["slots"]) for event in events
            if event["event"].startswith("recall")]


def test_window():
    """A window begins while no broker runs: its policy recalls what is borrowed, though
    nobody misses it. The broker is killed again while that is on its way."""
    with Federation() as f:
        at_hour(f, 6)
        f.configure("broker", BROKER + WINDOWS)
        f.configure("north", EXPORT)
        f.start("broker", "north", "south")
        f.wait_for("the pool's idle slots", lambda: held(f, IDLE) == 8)
        loop = "while [ ! -e %s/gate ]; do sleep 0.1; done" % f.marks
        jobs = [f.submit("south", loop, "-q", "away") for _ in range(8)]
        f.wait_for("south to have all slots", lambda: f.n_jobs("south", "RUN") == 8)
        wait_cycles(f, 1)
        f.kill9("broker")
        at_hour(f, 18)
        f.start("broker")
        f.wait_for("six to be recalled", lambda: node(f, "/eng")["recalled"] == 6)
        expect_equal(recalls(f), [("recall", 6)], "events")
        f.restart("broker")
        wait_cycles(f, 2)
        expect_equal(node(f, "/eng")["recalled"], 6, "recalled, after the restart")
        expect_equal(held(f, ENG), 8, "none is home")
        open(os.path.join(f.marks, "gate"), "w").close()
        f.cli("south", "wait", *map(str, jobs))
        f.wait_for("six to be home", lambda: held(f, ENG) == 2)
        expect_equal(recalls(f), [("recall", 6), ("recall_done", 6)], "events, in the end")


HOURS = POOL.replace("""NAME  POOL  OWNED  GRACE  SITE
/eng  p     2      2s     south
/ops  p     6      0s     north
""", """NAME      POOL  OWNED  GRACE  SITE   HOURS  PRICE
/all      p     8      0      -      1      3600
/all/eng  p     2      2s     south  -      -
/all/ops  p     6      0s     north  -      -
""")
ALL_ENG = "north/1/south:/all/eng"


def hours_events(f):
    return [json.loads(line) for line in f.cli("south", "events", "--last", "500")
            .stdout.splitlines() if json.loads(line)["event"] == "hours"]


def set_hours_used(f, ms):
    """north has counted so much in this month."""
    path = os.path.join(f.dir, "north", "journal.db")
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        changed = db.execute("UPDATE quota SET used_ms = ? WHERE name = ?", (ms, ALL_ENG))
        expect_equal(changed.rowcount, 1, "the count of the leaf")
    os.unlink(path + "-commit")  # its pages are not the daemon's any more


def metric(port, node):
    with urllib.request.urlopen("http://127.0.0.1:%d/metrics" % port) as page:
        lines = page.read().decode().splitlines()
    return [line.split()[1] for line in lines
            if line.startswith("sublet_plan_node_hours_used_ratio") and node in line]


def test_hours():
    """The hours of a node are used up while the broker is away, and then the broker is
    killed while north is away: nothing is forgotten, and nothing recorded twice."""
    port = free_port()
    with Federation() as f:
        f.configure("broker", BROKER.replace("STATE", "HTTP = 127.0.0.1:%d\nSTATE" % port) + HOURS)
        f.configure("north", EXPORT)
        expect_equal(f.run("sublet", "check", f.conf("broker"), code=0).stdout, "", "check")
        f.start("broker", "north", "south")
        f.wait_for("the pool's idle slots", lambda: held(f, IDLE) == 8)
        loop = "while [ ! -e %s/gate ]; do sleep 0.1; done" % f.marks
        first = [f.submit("south", loop, "-q", "away") for _ in range(2)]
        f.wait_for("two to run", lambda: f.n_jobs("south", "RUN") == 2)
        row = node(f, "/all")
        expect_equal([row[key] for key in ("hours", "hours_used", "hours_level", "price")],
                     [1, 0, "free", 3600], "hours")
        expect_equal(node(f, "/all/eng")["price"], 3600, "the price of the node above")
        f.wait_for("the price to reach north", lambda: lease(f, ALL_ENG)["price"] == 3600)
        f.stop("north")
        f.stop("broker")
        set_hours_used(f, 3600 * 1000)
        f.start("north")
        f.start("broker")
        f.wait_for("the hours to be used up", lambda: node(f, "/all")["hours_level"] == "spent")
        expect_equal(node(f, "/all/eng")["spent_by"], "/all", "of a leaf")
        [event] = hours_events(f)
        expect_equal((event["pool"], event["node"]), ("p", "/all"), "whose")
        expect("1.0 of 1 slot hours" in event["reason"], event)
        more = f.submit("south", loop, "-q", "away")
        own = f.submit("north", loop)
        f.wait_for("north to use its own host", lambda: f.job("north", own)["state"] == "RUN")
        wait_cycles(f, 2)
        expect_equal(sorted(f.job("south", job)["state"] for job in [*first, more]),
                     ["PEND", "RUN", "RUN"], "south's jobs")
        expect_equal(held(f, ALL_ENG), 2, "slots in use")
        f.stop("north")
        f.kill9("broker")
        f.start("broker")
        f.wait_for("the broker", lambda: node(f, "/all")["hours_level"] == "spent")
        expect_equal(len(hours_events(f)), 1, "events")
        [ratio] = metric(port, "/all")
        expect(float(ratio) >= 1, ratio)
        f.start("north")
        open(os.path.join(f.marks, "gate"), "w").close()
        f.wait_for("its slots to be home", lambda: held(f, ALL_ENG) == 0)
        expect_equal(f.job("south", more)["state"], "PEND", "the third")
        expect("slot hours of /all are used up" in node(f, "/all/eng")["why"], "why")
        rows = json.loads(f.cli("south", "usage", "--by", "node", "--json").stdout)["usage"]
        [mine] = [row for row in rows if row["node"] == "/all/eng"]
        expect_equal((mine["price"], mine["hours"]), (3600, None), "by node")
        expect(abs(mine["credits"] - mine["used_s"]) < 2, "a credit a second: %s" % mine)
        [owed] = json.loads(f.cli("south", "usage", "--balance", "--json").stdout)["balances"]
        expect(owed["site"] == "north" and owed["is_owed"] > 0, owed)
        report = f.cli("north", "usage", "--report").stdout
        expect("p: /all<" in report and "p: /all/eng<" in report, "the report: %s" % report)
        # HOURS that are raised let it borrow again.
        f.configure("broker", BROKER.replace("STATE", "HTTP = 127.0.0.1:%d\nSTATE" % port)
                    + HOURS.replace("1      3600", "90     3600"))
        f.ops("reconfig")
        f.cli("south", "wait", str(more))
        expect_equal(node(f, "/all")["hours_level"], "free", "of 90")


main(test_recall, test_reload, test_large_plan, test_window, test_hours)
