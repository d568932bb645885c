#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`usage` with real daemons: what a lease held and used is in the ledger of either side,
also over kill -9, and is summed as it is asked for."""
import contextlib
import csv
import datetime
import html.parser
import http.client
import io
import json
import os
import signal
import sqlite3
import subprocess
import time

from federation import (BIN, BROKER, LEASE, LIMIT, NORTH, Federation, expect, expect_equal, free_port,
                        main)

f = Federation()
ALONE = """Begin Site
NAME = alone
End Site
Begin Host
HOST_NAME MXJ
n1        8
End Host
Begin Queue
QUEUE_NAME = normal
End Queue
"""
SCENARIO = """site alone alone.conf
at 0 workload alone jobs.swf queue=normal
until 1h
"""
PORT = free_port()
CONSUMER, PROVIDER, LENT = 0, 1, 2  # in column side of the journal


def instant(at_ms):
    at = datetime.datetime.fromtimestamp(at_ms // 1000, datetime.timezone.utc)
    return at.strftime("%%Y-%%m-%%dT%%H:%%M:%%S.%03dZ" % (at_ms % 1000))


def usage(site, *args):
    return json.loads(f.cli(site, "usage", "--json", *args).stdout)["usage"]


def used_s(site, **filters):
    rows = usage(site, "--by", "lease,user,project,queue")
    return sum(row["used_s"] for row in rows
               if all(row[key] == value for key, value in filters.items()))


def test_a_leased_job_over_a_crash():
    mark = os.path.join(f.marks, "go")
    job = f.submit("south", "while [ ! -e %s ]; do sleep 0.05; done" % mark,
                   "-q", "away", "-P", "paper, or \"not\"")
    f.wait_state("south", job, "RUN")
    f.wait_for("the job's slot to be booked", lambda: used_s("south", queue="away") >= 1)
    f.kill9("south")
    before = None
    f.start("south")
    before = used_s("south", queue="away")
    expect(before >= 1, "what was booked before the crash: %s" % before)
    f.wait_for("the clock to go on", lambda: used_s("south", queue="away") > before)
    open(mark, "w").close()
    f.wait_state("south", job, "DONE")
    after = used_s("south", queue="away")
    f.wait_for("idle slots of the consumer",
               lambda: any(row["idle_s"] > 0 for row in usage("south")))
    expect_equal(used_s("south", queue="away"), after, "after its end")
    expect_equal({(row["lease"], row["side"]) for row in usage("south")},
                 {(LEASE, "consumer")}, "the consumer's side")
    f.wait_for("the provider's side",
               lambda: {(row["lease"], row["side"]) for row in usage("north")} ==
               {(LEASE, "provider")})
    expect_equal({(row["lease"], row["side"]) for row in usage("north", "--by", "lease,lent")},
                 {(LEASE, "provider"), (LEASE, "lent")}, "with what is lent")
    f.wait_for("the provider's records to have the job's use",
               lambda: any(row["used_s"] >= before for row in usage("north", "--by", "lent,lease")
                           if row["side"] == "lent"))


def test_sums():
    rows = usage("south", "--by", "site,day,project")
    ours = [row for row in rows if row["project"] == "paper, or \"not\""]
    expect(ours and all(row["used_s"] >= 0 and row["provider"] == "north" and
                        row["consumer"] == "south" and len(row["day"]) == 10 and
                        "lease" not in row and "user" not in row for row in ours),
           "rows by site, day and project: %s" % rows)
    text = f.cli("south", "usage", "--by", "project", "--csv").stdout
    cells = list(csv.DictReader(io.StringIO(text, newline="")))
    expect(ours[0]["project"] in [row["project"] for row in cells], "as CSV: %r" % text)
    table = f.cli("south", "usage").stdout.splitlines()
    expect_equal(table[0].split(), ["LEASE", "SIDE", "HELD_S", "USED_S", "IDLE_S", "CREDITS"],
                 "heading")
    expect_equal(table[1].split()[:2], [LEASE, "consumer"], "row")
    expect_equal(usage("south", "--to", "2020-01-01", "--from", "2019-12-31T23:00"), [],
                 "another year")
    expect_equal(usage("south", "-q", "nothing"), [], "another queue")
    expect(usage("south", LEASE), "by name")


def test_errors():
    for args, word in ((["--by", "colour"], "expected lease, site, node"),
                       (["--from", "yesterday"], "expected a day"),
                       (["--from", "2026-11-23T08:30"], "expected a day"),
                       (["--from", "2026-11-23", "--to", "2026-11-22"], "not later"),
                       (["no/1/lease"], "is not found")):
        result = f.cli("south", "usage", *args, code=None)
        expect(result.returncode != 0 and word in result.stderr and not result.stdout,
               "%s: %s" % (args, result))


def trace(*args):
    text = f.cli("south", "usage", "--swf", *args).stdout
    return [[int(word) for word in line.split()] for line in text.splitlines()
            if not line.startswith(";")], text


def test_a_trace_of_ended_jobs():
    """Fields by the description of the format; a scenario reads the trace as it is."""
    done = f.submit("south", "sleep 2", "-q", "away", "-P", "traced")
    f.wait_state("south", done, "DONE")
    failed = f.submit("south", "exit 3", "-q", "away", "-P", "traced")
    f.wait_state("south", failed, "EXIT")
    killed = f.submit("south", "sleep 600", "-q", "away", "-P", "traced")
    f.wait_state("south", killed, "RUN")
    f.cli("south", "kill", str(killed))
    f.wait_state("south", killed, "EXIT")
    never = f.submit("south", "true", "-q", "away", "-P", "traced", "-b", "2036:01:01:00:00")
    f.cli("south", "kill", str(never))
    f.wait_state("south", never, "EXIT")
    f.wait_for("all in the history", lambda: len(trace("-P", "traced")[0]) == 4)
    rows, text = trace("-P", "traced")
    expect_equal([len(row) for row in rows], [18] * 4, "fields")
    expect_equal([row[0] for row in rows], [1, 2, 3, 4], "numbers")
    expect_equal([row[10] for row in rows], [1, 0, 5, 5], "states: %s" % rows)
    expect_equal([row[4] for row in rows], [1, 1, 1, -1], "allocated slots: %s" % rows)
    expect_equal([row[7] for row in rows], [1, 1, 1, 1], "requested slots")
    expect(rows[0][1] == 0 and rows[0][3] >= 2, "times of the first: %s" % rows[0])
    expect_equal((rows[3][3], rows[3][15]), (-1, -1), "one that never ran: %s" % rows[3])
    expect(all(a[1] <= b[1] for a, b in zip(rows, rows[1:])), "by submission: %s" % rows)
    expect("; Queue: 1 away\n" in text and "; Partition: 1 %s\n" % LEASE in text and
           "; MaxJobs: 4\n" in text, "header: %s" % text)
    expect_equal(trace("-P", "traced", LEASE)[0], rows[:3], "of a lease")
    expect_equal(trace("-P", "nothing")[0], [], "of another project")
    expect_equal(trace("--to", "2020-01-01", "--from", "2019-12-31")[0], [], "another year")
    result = f.cli("south", "usage", "--swf", "--csv", code=None)
    expect(result.returncode == 2 and "--csv cannot be given with --swf" in result.stderr,
           "both formats: %s" % result)
    expect_equal(play(text), [("1", "DONE", rows[0][3]), ("2", "DONE", rows[1][3]),
                              ("3", "DONE", rows[2][3])], "as simulate reads it")


def play(text):
    """Name, state and run time of the jobs of the trace, in a simulated site."""
    for name, content in (("jobs.swf", text), ("play", SCENARIO), ("alone.conf", ALONE)):
        with open(os.path.join(f.dir, name), "w") as file:
            file.write(content)
    result = subprocess.run([os.path.join(BIN, "sublet"), "simulate", "--events", "-",
                             os.path.join(f.dir, "play")], stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True, timeout=LIMIT)
    expect_equal(result.returncode, 0, "simulate: %s" % result)
    events = [json.loads(line) for line in result.stdout.splitlines()]
    starts = {e["job"]: e["t"] for e in events if e["event"] == "job_start"}
    return sorted((e["job"].split(":")[1], e["state"], round(e["t"] - starts[e["job"]]))
                  for e in events if e["event"] == "job_end")


def over_http(parameters=""):
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=LIMIT)
    connection.request("GET", "/api/v1/usage" + parameters)
    answer = connection.getresponse()
    body = json.loads(answer.read())
    connection.close()
    expect_equal(answer.status, 200, "status of %s: %s" % (parameters, body))
    return body


def test_over_http():
    """Both sides in one answer, as each site tells it; page by page, and without a site."""
    def sides():
        page = over_http()
        expect_equal((page["missing"], page["next"]), ([], None), "a whole answer")
        return [(row["site"], row["side"], row["lease"]) for row in page["usage"]]
    f.wait_for("both sides", lambda: sides() == [("north", "provider", LEASE),
                                                 ("south", "consumer", LEASE)])
    by = "by=lease,queue,project"
    mine = [row for row in usage("south", "--by", "lease,queue,project") if row["queue"]]
    theirs = [row for row in over_http("?" + by)["usage"] if row["queue"]]
    expect_equal(theirs, [dict(row, site="south") for row in mine], "of jobs that have ended")
    expect(theirs, "there are such rows")
    rows = over_http("?by=lease,queue")["usage"]
    paged, after = [], ""
    while after is not None:
        page = over_http("?by=lease,queue&limit=1&after=" + after)
        expect(len(page["usage"]) <= 1, "rows of a page: %s" % page)
        paged += page["usage"]
        after = page["next"]

    def names(some):
        return [(row["site"], row["lease"], row["queue"]) for row in some]
    expect(len(rows) >= 3, "rows: %s" % rows)
    expect_equal(names(paged), names(rows), "page by page")
    expect_equal({row["site"] for row in over_http("?site=north")["usage"]}, {"north"}, "a site")
    expect_equal({row["queue"] for row in over_http("?by=queue&queue=away")["usage"]}, {"away"},
                 "a queue")
    expect_equal(over_http("?lease=north%2F2%2Fsouth")["usage"], [], "another lease")
    expect_equal(over_http("?lease=east%2F1%2Fwest")["missing"], [], "of sites that are none")
    expect_equal(over_http("?from=2019-12-31T23:00&to=2020-01-01")["usage"], [], "another year")


def test_over_http_without_a_site():
    f.stop("north")
    f.wait_for("north to be missing", lambda: over_http()["missing"] ==
               [{"site": "north", "reason": "away"}])
    expect_equal({row["site"] for row in over_http()["usage"]}, {"south"}, "the others")
    expect_equal(over_http("?site=south")["missing"], [], "it is not asked")
    f.start("north")
    f.wait_for("north to be back", lambda: over_http()["missing"] == [])


def test_over_http_a_site_that_does_not_answer():
    """It is stopped: its connection is there. The others are told, and the request ends."""
    f.daemons["north"].send_signal(signal.SIGSTOP)
    try:
        page = over_http()
        expect_equal([row["site"] for row in page["missing"]], ["north"], "who is missing")
        expect_equal({row["site"] for row in page["usage"]}, {"south"}, "who answered")
    finally:
        f.daemons["north"].send_signal(signal.SIGCONT)
    f.wait_for("north to answer again", lambda: over_http()["missing"] == [])


def reconcile(site, *args, code=0):
    result = f.cli(site, "usage", "--reconcile", "--json", *args, code=code)
    return json.loads(result.stdout)


def change(site, *statements):
    """Changes the journal of the site while it is stopped, each time one row."""
    f.stop(site)
    path = os.path.join(f.dir, site, "journal.db")
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        changed = [db.execute(*statement).rowcount for statement in statements]
    os.unlink(path + "-commit")  # without it the change counts as a damage
    expect_equal(changed, [1] * len(statements), "rows that were changed in %s" % path)
    f.start(site)
    f.wait_for("%s to answer again" % site,
               lambda: f.cli("south", "usage", "--reconcile", code=None).stdout)


def booking(add_ms, side, what="idle_ms"):
    """Changes an hour that the site has booked of that side."""
    return ("UPDATE usage SET held_ms = held_ms + ?, %s = %s + ?"
            " WHERE (start_ms, side, user) IN (SELECT min(start_ms), ?, ''"
            " FROM usage WHERE user = '')" % (what, what), (add_ms, add_ms, side))


def book(site, add_ms, side, what="idle_ms"):
    change(site, booking(add_ms, side, what))


def used(site, side):
    """What the stopped site has booked, in slot-milliseconds, and its runs."""
    path = os.path.join(f.dir, site, "journal.db")
    with contextlib.closing(sqlite3.connect(path)) as db:
        return (db.execute("SELECT sum(used_ms) FROM usage WHERE side = ?",
                           (side,)).fetchone()[0],
                db.execute("SELECT attempt, job, start_ms, end_ms, used_ms FROM usage_run"
                           " WHERE side = ? ORDER BY attempt", (side,)).fetchall())


def test_books_balance_and_a_changed_row_is_named():
    for site in ("south", "north"):
        books = reconcile(site)
        expect(books["balanced"] and books["leases"] == 1, "the books: %s" % books)
    expect_equal(f.cli("south", "usage", "--reconcile", LEASE).stdout,
                 "The books of 1 lease balance.\n", "in words")
    extra_ms = 4 * 3600 * 1000 + 1234
    book("north", extra_ms, PROVIDER)
    for site in ("south", "north"):
        books = reconcile(site, code=1)
        rows = [row for row in books["differences"] if row["cause"] == "unknown"]
        expect(not books["balanced"] and len(rows) == 1, "the books: %s" % books)
        expect_equal((rows[0]["lease"], rows[0]["side"], rows[0]["site"]),
                     (LEASE, "provider", "north"), "what differs")
        expect(abs(rows[0]["difference_s"] * 1000 - extra_ms) < 60000, "by how much: %s" % rows)
        expect_equal(rows[0]["splits"], [], "behind it")
    text = f.cli("south", "usage", "--reconcile", LEASE, code=1).stdout
    expect("%s, provider (north)" % LEASE in text and "no split differs" in text and
           "do not balance" in text, "in words: %s" % text)
    book("north", -extra_ms, PROVIDER)
    expect(reconcile("south")["balanced"], "the books are as they were")


def test_what_jobs_used_is_compared_with_the_providers_runs():
    extra_ms = 3 * 3600 * 1000
    book("north", extra_ms, LENT, "used_ms")
    rows = [row for row in reconcile("south", code=1)["differences"]
            if row["cause"] == "unknown"]
    expect_equal([(row["lease"], row["side"], row["site"]) for row in rows],
                 [(LEASE, "lent", "south")], "what differs")
    expect(abs(rows[0]["difference_s"] * 1000 + extra_ms) < 60000, "by how much: %s" % rows)
    text = f.cli("north", "usage", "--reconcile", LEASE, code=1).stdout
    expect("%s, consumer (south), used" % LEASE in text and "in the provider's" in text,
           "in words: %s" % text)
    expect_equal(rows[0]["runs"], [], "behind it")
    expect("no run differs" in rows[0]["reason"], "why: %s" % rows)
    book("north", -extra_ms, LENT, "used_ms")
    expect(reconcile("south")["balanced"], "the books are as they were")


def test_a_run_that_differs_is_named():
    """To the job, its times by both sites, and the second; also one that a site has not."""
    longer_ms = 3 * 3600 * 1000 + 1234
    f.stop("south")
    attempt, job, start_ms, end_ms, used_ms = used("south", CONSUMER)[1][0]
    f.start("south")
    which = " WHERE attempt = %d" % attempt
    change("south", booking(longer_ms, CONSUMER, "used_ms"),
           ("UPDATE usage_run SET start_ms = start_ms - ?, used_ms = used_ms + ?" + which,
            (longer_ms, longer_ms)))
    for site in ("south", "north"):
        rows = [row for row in reconcile(site, code=1)["differences"] if row["side"] == "lent"]
        [run] = [run for row in rows for run in row["runs"]]
        expect_equal((run["job"], run["run"], run["difference_s"], run["cause"]),
                     (job, attempt, longer_ms / 1000, "unknown"), "the run")
        for whose, from_ms, slot_ms in (("provider", start_ms, used_ms),
                                        ("consumer", start_ms - longer_ms, used_ms + longer_ms)):
            expect_equal(run[whose], {"from": instant(from_ms), "to": instant(end_ms),
                                      "used_ms": slot_ms}, whose)
    text = f.cli("south", "usage", "--reconcile", LEASE, code=1).stdout
    expect("job <%s>, run %d; consumer: from %s to %s" %
           (job, attempt, instant(start_ms - longer_ms), instant(end_ms)) in text and
           "difference +10801.234" in text, "in words: %s" % text)
    lines = csv.DictReader(io.StringIO(
        f.cli("south", "usage", "--reconcile", "--csv", LEASE, code=1).stdout))
    [cells] = [line for line in lines if line["run"]]
    expect_equal((cells["lease"], cells["job"], cells["run"], cells["from"], cells["other_from"]),
                 (LEASE, job, str(attempt), instant(start_ms - longer_ms), instant(start_ms)),
                 "CSV")
    change("south", booking(-longer_ms, CONSUMER, "used_ms"),
           ("UPDATE usage_run SET start_ms = start_ms + ?, used_ms = used_ms - ?" + which,
            (longer_ms, longer_ms)))
    expect(reconcile("south")["balanced"], "the books are as they were")
    change("north", booking(longer_ms, LENT, "used_ms"),
           ("UPDATE usage_run SET attempt = attempt + 1000" + which,))

    def named():
        [row] = reconcile("south", code=1)["differences"]
        return [(run["run"], run["consumer"] is None, run["provider"] is None)
                for run in row["runs"]]
    f.wait_for("both, whose ends are not on their way any more",
               lambda: named() == [(attempt, False, True), (attempt + 1000, True, False)])
    change("north", booking(-longer_ms, LENT, "used_ms"),
           ("UPDATE usage_run SET attempt = attempt - 1000 WHERE attempt = %d" %
            (attempt + 1000),))
    expect(reconcile("south")["balanced"], "the books are as they were")


def test_a_clock_that_jumped_is_named():
    """North has the run three hours earlier than south: the same time, at another time."""
    f.stop("south")
    attempt, job, start_ms, _, used_ms = used("south", CONSUMER)[1][0]
    f.start("south")
    shift_ms = 3 * 3600 * 1000
    hour_ms = (start_ms - shift_ms) // 3600000 * 3600000
    shift = ("UPDATE usage_run SET start_ms = start_ms + ?, end_ms = end_ms + ?, at_ms = at_ms + ?"
             " WHERE attempt = ?")
    change("north", (shift, (-shift_ms, -shift_ms, -shift_ms, attempt)),
           ("INSERT INTO usage VALUES (1, ?, ?, 2, '', '', '', '', ?, ?, 0, 0, 0)",
            (hour_ms, LEASE, used_ms, used_ms)))
    [row] = [row for row in reconcile("south")["differences"]
             if row["from"] == instant(hour_ms)]
    expect_equal(row["cause"], "begins_later", "of the hour")  # south's books begin later
    [run] = row["runs"]
    expect_equal((run["run"], run["job"], run["difference_s"], run["cause"]),
                 (attempt, job, 0, "clock"), "the run")
    expect_equal((run["provider"]["from"], run["consumer"]["from"]),
                 (instant(start_ms - shift_ms), instant(start_ms)), "its times")
    change("north", (shift, (shift_ms, shift_ms, shift_ms, attempt)),
           ("DELETE FROM usage WHERE start_ms = ? AND side = 2", (hour_ms,)))
    expect(reconcile("south")["balanced"], "the books are as they were")


def test_what_ended_while_a_site_was_away_comes_later():
    """In the end both have booked the same milliseconds, of the same runs."""
    go = os.path.join(f.dir, "go")
    job = f.submit("south", "while ! test -e %s; do sleep 0.05; done" % go, "-q", "away")
    f.wait_state("south", job, "RUN")
    f.kill9("south")
    open(go, "w").close()
    f.wait_for("the end at north",
               lambda: f.rows("north", "leases")[0]["consumer"]["used"] == 0)
    f.start("south")
    f.wait_state("south", job, "DONE")
    f.stop("south")
    f.stop("north")
    ours, theirs = used("south", CONSUMER), used("north", LENT)
    expect_equal(ours, theirs, "slot-milliseconds and runs of both")
    expect(str(job) in [run[1] for run in ours[1]], "the job is among them: %s" % (ours,))
    f.start("north")
    f.start("south")
    f.wait_for("south to answer again",
               lambda: f.cli("south", "usage", "--reconcile", code=None).stdout)
    expect(reconcile("south")["balanced"], "the books balance")


def test_balances():
    """What south owes north, as each of the two has it."""
    f.wait_for("a price", lambda: f.rows("south", "leases")[0]["price"] == 3600)
    job = f.submit("south", "sleep 2", "-q", "away")
    f.wait_state("south", job, "DONE")

    def balance(site):
        return json.loads(f.cli(site, "usage", "--balance", "--json").stdout)["balances"]
    f.wait_for("credits", lambda: balance("north") and balance("north")[0]["owes"] > 0)
    [theirs], [ours] = balance("north"), balance("south")
    expect_equal((theirs["site"], theirs["net"], theirs["is_owed"]),
                 ("south", theirs["owes"], 0), "at north")
    expect_equal((ours["site"], ours["net"], ours["owes"]), ("north", -ours["is_owed"], 0),
                 "at south")
    expect(ours["is_owed"] > 0, "at south: %s" % ours)
    table = f.cli("north", "usage", "--balance").stdout.splitlines()
    expect_equal(table[0].split(), ["SITE", "OWES", "IS_OWED", "NET"], "as a table")


class Page(html.parser.HTMLParser):
    """The page is well formed, and loads nothing."""
    def __init__(self):
        super().__init__()
        self.open, self.tags, self.cells = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        expect(not any(key in ("src", "href", "srcset") for key, _ in attrs), (tag, attrs))
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        expect_equal(self.open.pop(), tag, "nesting")

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "h1", "h2"):
            self.cells.append(data)


def test_a_report_of_the_month():
    text = f.cli("north", "usage", "--report").stdout
    page = Page()
    page.feed(text)
    expect_equal(page.open, [], "open elements")
    expect("script" not in page.tags and "rect" in page.tags, "what it has: %s" % page.tags)
    expect(LEASE in page.cells and "lent" in page.cells, "cells: %s" % page.cells)
    page = Page()
    page.feed(f.cli("south", "usage", "--report").stdout)
    expect("paper, or \"not\"" in "".join(page.cells), "a project with quotes: %s" % page.cells)
    page = Page()
    page.feed(f.cli("south", "usage", "--report", "--month", "2020-02").stdout)
    expect("Leases in 2020-02" in page.cells and "rect" not in page.tags, "an empty month")
    for args, word in ((["--month", "2020"], "expected a month"),
                       (["--from", "2026-11-23"], "is of a --month"),
                       (["--json"], "cannot be given")):
        result = f.cli("south", "usage", "--report", *args, code=None)
        expect(result.returncode != 0 and word in result.stderr and not result.stdout,
               "%s: %s" % (args, result))


def test_other_sites_books_need_the_other_site():
    result = f.cli("south", "usage", "--reconcile", "east/1/west", code=None)
    expect(result.returncode == 1 and "no lease of this site" in result.stderr,
           "a lease of others: %s" % result)
    f.stop("north")
    result = f.cli("south", "usage", "--reconcile", code=None)
    expect(result.returncode == 1 and not result.stdout and result.stderr,
           "without the other site: %s" % result)


def test_a_ledger_of_400_days():
    """It is read in several slices, while other commands are answered."""
    hour_ms, users = 3600 * 1000, 6
    f.stop("south")
    path = os.path.join(f.dir, "south", "journal.db")
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        [end_ms] = db.execute("SELECT max(start_ms) FROM usage").fetchone()
        hours = [end_ms - at * hour_ms for at in range(1, 399 * 24 + 1)]
        db.executemany("INSERT INTO usage VALUES (1, ?, 'north/9/south:/eng/sim', 0, ?, 'normal', 'p', '',"
                       " 7000, 7000, 0, 0, 0)",
                       [(at, "u%d" % user) for at in hours for user in range(users)])
    os.unlink(path + "-commit")
    f.start("south")
    first = time.strftime("%Y-%m-%dT%H:00", time.gmtime(hours[-1] / 1000))

    def ask(*args, code=0):
        return f.cli("south", "usage", "--from", first, "--json", *args, code=code)
    rows = json.loads(ask("--by", "user", "north/9/south:/eng/sim").stdout)["usage"]
    expect_equal([(row["user"], row["used_s"]) for row in rows],
                 [("u%d" % user, 7 * len(hours)) for user in range(users)], "all of it")
    all_s = users * 7 * len(hours)
    rows = json.loads(ask("--by", "node").stdout)["usage"]
    expect_equal([row["used_s"] for row in rows if row["node"] == "/eng/sim"], [all_s], "by node")
    expect("provider" not in rows[0] and any(row["node"] is None for row in rows), rows)
    rows = json.loads(ask("--by", "site,node").stdout)["usage"]
    expect_equal([(row["provider"], row["consumer"], row["used_s"]) for row in rows
                  if row["node"] == "/eng/sim"], [("north", "south", all_s)], "by site and node")
    rows = json.loads(ask("--by", "lease,node").stdout)["usage"]
    expect_equal([row["lease"] for row in rows if row["node"] == "/eng/sim"],
                 ["north/9/south:/eng/sim"], "by lease and node")
    f.wait_for("south at the broker", lambda: over_http("?site=south")["missing"] == [])
    rows, after, n_pages = [], "", 0
    while after is not None:  # the sums of the first page serve the others
        pages = []

        def is_whole():  # the broker may see the site's old connection end meanwhile
            pages.append(over_http("?site=south&by=day,user&limit=500&from=%s&lease=%s&after=%s" % (
                first, "north%2F9%2Fsouth%3A%2Feng%2Fsim", after)))
            return pages[-1]["missing"] == []
        f.wait_for("a page", is_whole)
        page = pages[-1]
        rows, after, n_pages = rows + page["usage"], page["next"], n_pages + 1
    expect(n_pages >= 3 and len(rows) >= users * 399, "%d rows on %d pages" % (len(rows), n_pages))
    expect_equal([(row["day"], row["user"]) for row in rows],
                 sorted({(row["day"], row["user"]) for row in rows}), "each once, in order")
    expect_equal(sum(row["used_s"] for row in rows), all_s, "of all pages")
    result = ask("--by", "hour,user", code=None)
    expect(result.returncode != 0 and "shorter period" in result.stderr, "%s" % result)


def setup():
    f.configure("broker", BROKER.replace("STATE", "HTTP = 127.0.0.1:%d\nSTATE" % PORT))
    f.configure("north", NORTH.replace("DISTRIBUTION", "PRICE = 3600\nDISTRIBUTION"))
    f.start("broker", "north", "south")
    f.wait_for("its host", lambda: f.has_hosts("south"))


main(test_a_leased_job_over_a_crash, test_sums, test_errors,
     test_books_balance_and_a_changed_row_is_named,
     test_what_jobs_used_is_compared_with_the_providers_runs,
                        test_a_run_that_differs_is_named, test_a_clock_that_jumped_is_named,
                        test_what_ended_while_a_site_was_away_comes_later, test_balances,
     test_a_report_of_the_month,
     test_a_trace_of_ended_jobs, test_over_http,
     test_over_http_without_a_site, test_over_http_a_site_that_does_not_answer,
     test_other_sites_books_need_the_other_site, test_a_ledger_of_400_days, shared=f, setup=setup)
