#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The broker's HTTP port over real connections: every page, filters, pages of pages,
what is refused and how, rude clients; and events, the same over HTTP and `sublet`.
Streams and changes: test_http_live.py."""
import gzip
import http.client
import json
import re
import socket
import subprocess
import os

from federation import (BIN, BROKER, LIMIT, NORTH, SOUTH, Federation, expect,
                        expect_equal, free_port, main)

f = Federation()
PORT = free_port()
A, B, BACK = "north/a/south", "north/b/south", "south/1/north"

EXPORT = """
Begin HostExport
NAME = %s
PER_HOST = %s
SLOTS = %d
TYPE = shared
DISTRIBUTION = ([%s, 1])
End HostExport
"""


def ask(path, method="GET", headers={}, body=None, connection=None):
    """Status, headers, body as bytes."""
    own = connection or http.client.HTTPConnection("127.0.0.1", PORT, timeout=LIMIT)
    own.request(method, path, headers=headers, body=body)
    response = own.getresponse()
    body = response.read()
    if connection is None:
        own.close()
    return response.status, response.headers, body


def get(path):
    status, headers, body = ask(path)
    expect_equal(status, 200, "status of %s (%s)" % (path, body[:200]))
    expect_equal(headers["Content-Type"], "application/json", "type of " + path)
    expect_equal(headers["Cache-Control"], "no-cache" if headers["ETag"] else "no-store",
                 "Cache-Control of " + path)
    expect_equal(headers["X-Content-Type-Options"], "nosniff", "nosniff of " + path)
    return json.loads(body)


def refused(path, wanted, *words, method="GET"):
    status, headers, body = ask(path, method)
    expect_equal(status, wanted, "status of %s %s" % (method, path))
    error = json.loads(body)["error"]
    expect_equal(sorted(error), ["code", "message"], "members of error")
    for word in words:
        expect(word in error["message"], "%r in %r" % (word, error["message"]))
    return headers


def ids(path):
    return [row["id"] for row in get(path)["leases"]]


def all_pages(path, name, limit):
    """Rows of all pages, which are of at most `limit` each."""
    rows, after = [], ""
    while True:
        page = get("%s?limit=%d&after=%s" % (path, limit, after))
        expect_equal(page["schema_version"], 1, "schema_version")
        expect(len(page[name]) <= limit, "rows of a page")
        rows += page[name]
        if page["next"] is None:
            return rows
        expect_equal(len(page[name]), limit, "rows of a page that is not the last")
        after = page["next"].replace("/", "%2F")


def test_leases():
    page = get("/api/v1/leases")
    expect_equal(page["next"], None, "next of the only page")
    mine = json.loads(f.ops("leases", "--json").stdout)
    expect_equal([row["id"] for row in page["leases"]],
                 [row["id"] for row in mine["leases"]], "as the command line has it")
    expect_equal(sorted(page["leases"][0]), sorted(mine["leases"][0]), "fields")
    expect_equal(ids("/api/v1/leases"), [A, B, BACK], "all")
    expect_equal(ids("/api/v1/leases?provider=north"), [A, B], "provider")
    expect_equal(ids("/api/v1/leases?consumer=north"), [BACK], "consumer")
    expect_equal(ids("/api/v1/leases?provider=north&consumer=north"), [], "both")
    expect_equal(ids("/api/v1/leases?provider=nobody"), [], "an unknown provider")
    expect_equal(ids("/api/v1/leases?state=pending&provider=&limit="), [A, B, BACK], "state")
    expect_equal(ids("/api/v1/leases?state=ended"), [], "another state")
    expect_equal(ids("/api/v1/leases?provider=n%6Frth"), [A, B], "decoded")
    for limit in (1, 2, 3, 500):
        expect_equal([row["id"] for row in all_pages("/api/v1/leases", "leases", limit)],
                     [A, B, BACK], "pages of %d" % limit)
    expect_equal([row["id"] for row in json.loads(
        f.cli("south", "leases", "--json", "--provider", "south").stdout)["leases"]],
        [BACK], "the same filter on the command line")


def test_one_lease():
    page = get("/api/v1/leases/" + A)
    expect_equal([row["id"] for row in page["leases"]], [A], "one")
    expect_equal(page["leases"][0],
                 [row for row in get("/api/v1/leases")["leases"] if row["id"] == A][0],
                 "the same object")
    rows = get("/api/v1/leases/%s/history" % A)["history"]
    expect_equal(rows, f.history(lease=A), "history")
    expect_equal(all_pages("/api/v1/leases/%s/history" % A, "history", 1), rows, "pages")
    refused("/api/v1/leases/north/a/nobody", 404, "north/a/nobody")
    refused("/api/v1/leases/north/a/nobody/history", 404, "north/a/nobody")
    refused("/api/v1/leases/%s?limit=1" % A, 400, "limit")


def test_sites():
    page = get("/api/v1/sites")
    expect_equal([row["site"] for row in page["sites"]], ["north", "south"], "sites")
    expect_equal([row["status"] for row in page["sites"]], ["ok", "ok"], "status")
    expect_equal(len(all_pages("/api/v1/sites", "sites", 1)), 2, "pages")


def test_errors():
    for path, *words in (
            ["/api/v1/leases?limit=0", "limit", "1 to 500"],
            ["/api/v1/leases?limit=501", "limit"],
            ["/api/v1/leases?limit=x", "limit"],
            ["/api/v1/leases?limit=99999999999999999999", "limit"],
            ["/api/v1/leases?limit=1&limit=1", "limit", "twice"],
            ["/api/v1/leases?state=busy", "state", "draining"],
            ["/api/v1/leases?nonsense=1", "nonsense"],
            ["/api/v1/leases?provider=" + "n" * 64, "provider"],
            ["/api/v1/leases?provider=a%00b", "%"], ["/api/v1/leases?provider=%4", "%"],
            ["/api/v1/leases?after=" + "a" * 200, "after"],
            ["/api/v1/events?after=-1", "after", "id of an event"],
            ["/api/v1/events?after=x", "after"], ["/api/v1/events?last=0", "last"],
            ["/api/v1/series?span_s=x", "span_s"], ["/api/v1/stream?after=x", "after"], ["/healthz?x=1", "x"],
            ["/healthz%00", "%"], ["/%zz", "%"]):
        refused(path, 400, *words)
    for path in ("/nonsense", "/api/v1", "/api/v1/leases/", "/api/v1/leases/a/b",
                 "/api/v1/leases/a/b/c/d", "/api/v1//leases", "/healthz/",
                 "/a" * 100, "/api%2Fv1%2Fleases", "/page/nothing", "/page/../tokens",
                 "/api/v1/series/sites/nobody", "/api/v1/series/leases/a/b/c"):
        refused(path, 404)
    for path, *words in (
            ["/api/v1/usage?by=colour", "parameter by", '"colour", expected lease, site'],
            ["/api/v1/usage?from=yesterday", "parameter from", "expected a day or a full hour"],
            ["/api/v1/usage?to=2026-11-23T08:30", "parameter to", "expected a day"],
            ["/api/v1/usage?from=2026-11-23&to=2026-11-22", "not later"],
            ["/api/v1/usage?after=x", "after", "`next` of the page before"],
            ["/api/v1/usage?after=north:x", "after"], ["/api/v1/usage?limit=0", "limit"]):
        refused(path, 400, *words)
    refused("/api/v1/usage?site=nobody", 404, "nobody")
    refused("/api/v1/sites/nobody/overview", 404, "nobody")
    refused("/api/v1/plans/p", 404, "no such pool")
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "PATCH"):
        headers = refused("/api/v1/leases", 405, "GET", method=method)
        expect_equal(headers["Allow"], "GET, HEAD", "Allow")
    headers = refused("/api/v1/leases/a/b/c/drain", 405, "POST")
    expect_equal(headers["Allow"], "POST", "Allow")
    refused("/api/v1/plans/reload", 405, "POST")
    expect_equal(ask("/api/v1/leases", "POST", body=b"x" * 100000)[0], 405, "with a body")
    expect_equal(ask("/healthz", body=b"x")[0], 400, "GET with a body")


def test_host_header():
    """A page that reaches this port by a public name of its own gets nothing."""
    for name, wanted in (("evil.example.net", 421), ("evil.example.net:%d" % PORT, 421),
                         ("sublet.example.org", 200), ("127.0.0.1:%d" % PORT, 200),
                         ("localhost", 200)):
        status, _, body = ask("/api/v1/leases", headers={"Host": name})
        expect_equal(status, wanted, "status of a request to " + name)
        expect((b"HTTP_HOSTS" in body) == (wanted == 421), "%s: %s" % (name, body[:200]))


def test_head_and_keep_alive():
    status, headers, body = ask("/api/v1/sites", "HEAD")
    expect_equal((status, body), (200, b""), "HEAD")
    expect(int(headers["Content-Length"]) > 100, "length of what GET would give")
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=LIMIT)
    for path in ("/healthz", "/nonsense", "/api/v1/leases", "/metrics", "/healthz"):
        ask(path, connection=connection)
        expect(connection.sock is not None, "kept open after " + path)
    connection.close()
    expect_equal(get("/healthz"), {"status": "ok"}, "healthz")


def test_rude_clients():
    """One that stays in the middle of a request, one that asks for too much, many."""
    half = socket.create_connection(("127.0.0.1", PORT))
    half.sendall(b"GET /api/v1/lea")
    silent = socket.create_connection(("127.0.0.1", PORT))
    many = [http.client.HTTPConnection("127.0.0.1", PORT, timeout=LIMIT) for _ in range(100)]
    for connection in many:
        connection.request("GET", "/api/v1/leases")
    for connection in many:
        response = connection.getresponse()
        expect_equal(len(json.loads(response.read())["leases"]), 3, "one of many")
    for connection in many:
        expect_equal(ask("/healthz", connection=connection)[0], 200, "the same, again")
        connection.close()
    with socket.create_connection(("127.0.0.1", PORT)) as long:
        long.sendall(b"GET /" + b"a" * 65536 + b" HTTP/1.1\r\nHost: a\r\n\r\n")
        words = long.recv(4096).split()
        expect_equal(words[1], b"414", "status of a target of 64 KiB")
    rude = socket.create_connection(("127.0.0.1", PORT))
    rude.sendall(b"\0\1\2 rubbish\r\n\r\n")
    expect_equal(get("/healthz"), {"status": "ok"}, "all the while")
    for client, what in ((half, "half a request"), (silent, "silence")):
        client.settimeout(LIMIT)
        try:
            while client.recv(4096):
                pass
        except ConnectionError:
            pass
        except socket.timeout:
            expect(False, what + " is not ended")
    expect_equal({row["status"] for row in get("/api/v1/sites")["sites"]}, {"ok"},
                 "sites were served meanwhile")


def metrics():
    """{name: {labels: value}}, after a look at each line."""
    status, headers, body = ask("/metrics")
    expect_equal(status, 200, "status of /metrics")
    expect(headers["Content-Type"].startswith("text/plain; version=0.0.4"), "type")
    types, helps, values = {}, set(), {}
    for line in body.decode().splitlines():
        if line.startswith("# HELP "):
            helps.add(line.split()[2])
        elif line.startswith("# TYPE "):
            types[line.split()[2]] = line.split()[3]
        else:
            match = re.fullmatch(
                r'([a-z_]+)(?:\{((?:[a-z]+="(?:[^"\\\n]|\\.)*",?)+)\})? (\S+)', line)
            expect(match, "a line of metrics: %r" % line)
            name, labels, value = match.groups()
            float(value)
            base = re.sub("_(bucket|sum|count)$", "", name)
            expect(name in types or types.get(base) in ("histogram", "summary"), "TYPE of " + name)
            expect(name in helps or base in helps, "HELP of " + name)
            key = tuple(sorted(re.findall(r'([a-z]+)="([^"]*)"', labels or "")))
            expect(key not in values.setdefault(name, {}), "twice: " + line)
            values[name][key] = float(value)
    expect_equal(set(types), helps, "HELP and TYPE")
    return values


def jobs_of(values, site, state):
    return values["sublet_jobs"][(("site", site), ("state", state))]


def test_metrics():
    job = f.submit("south", "true", "-q", "away")
    f.wait_state("south", job, "DONE")
    f.wait_for("a hand-over", lambda: metrics()["sublet_handover_seconds_count"][()] > 0)
    f.wait_for("south to tell of its job", lambda: jobs_of(metrics(), "south", "DONE") >= 1)
    values = metrics()
    for lease in (A, B, BACK):
        for side in ("provider", "consumer"):
            for use in ("used", "idle"):
                key = (("lease", lease), ("side", side), ("use", use))
                expect(key in values["sublet_lease_slots"], str(key))
        states = [values["sublet_lease_state"][(("lease", lease), ("state", state))]
                  for state in ("pending", "active", "inactive", "draining", "ended")]
        expect_equal(sum(states), 1, "states of " + lease)
        expect(values["sublet_lease_epoch"][(("lease", lease),)] >= 1, "epoch")
    expect(values["sublet_rebalances_total"][(("result", "moved"),)] > 0, "rebalances")
    expect(values["sublet_commit_seconds_count"][()] > 0, "commits")
    expect_equal(values["sublet_peer_up"], {(("site", "north"),): 1, (("site", "south"),): 1},
                 "peers")
    expect((("reason", "denied"),) in values["sublet_messages_refused_total"], "refused")
    expect(values["sublet_schedule_seconds_count"][(("site", "south"),)] >= 1, "passes")
    expect(values["sublet_schedule_seconds_sum"][(("site", "south"),)] > 0, "their time")
    expect_equal(jobs_of(values, "south", "PSUSP"), 0, "zeros are shown")
    stopped = f.submit("south", "sleep 60")
    f.wait_state("south", stopped, "RUN")
    f.cli("south", "stop", str(stopped))
    f.wait_for("a suspended job", lambda: jobs_of(metrics(), "south", "USUSP") == 1)
    f.cli("south", "kill", str(stopped))
    expect_equal(list(values["sublet_build_info"].values()), [1], "build_info")
    for name in ("handover", "commit"):
        buckets = values["sublet_%s_seconds_bucket" % name]
        rising = [buckets[key] for key in sorted(
            buckets, key=lambda key: float(dict(key)["le"]))]
        expect_equal(rising, sorted(rising), "buckets")
        expect_equal(rising[-1], values["sublet_%s_seconds_count" % name][()], "+Inf")


def test_metrics_of_many_clients():
    """Clients that go away before their answer, more than answers are kept for: those that
    stay get all of it, compressed or not."""
    request = b"GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n"
    stay = [http.client.HTTPConnection("127.0.0.1", PORT, timeout=LIMIT) for _ in range(40)]
    for i, connection in enumerate(stay):
        with socket.create_connection(("127.0.0.1", PORT)) as gone:
            gone.sendall(request)
        connection.request("GET", "/metrics", headers={"Accept-Encoding": "gzip"} if i % 2 else {})
    for i, connection in enumerate(stay):
        response = connection.getresponse()
        text = response.read()
        expect_equal(response.headers["Content-Encoding"], "gzip" if i % 2 else None, "encoding")
        text = gzip.decompress(text) if i % 2 else text
        expect(text.startswith(b"# HELP sublet_lease_slots ") and
               b"\nsublet_build_info{" in text and text.endswith(b"\n"), "a whole answer")
        connection.close()


def check_events(rows):
    numbers = [row["id"] for row in rows]
    expect_equal(numbers, list(range(numbers[0], numbers[0] + len(rows))), "ids, no gap")
    for row in rows:
        if row["event"].startswith("site_"):
            expect_equal(sorted(row), ["at", "event", "id", "reason", "site"], row["event"])
        elif row["event"] not in ("reclaim_delay", "reload"):
            expect_equal(sorted(row["provider"]), ["available", "site", "used"], "a side")
            expect("epoch" in row and "lease" in row, row)


def test_events():
    before = all_pages("/api/v1/events", "events", 500)
    check_events(before)
    expect_equal(all_pages("/api/v1/events", "events", 3)[:len(before)], before, "pages")
    kinds = [row["event"] for row in before]
    expect("site_back" not in kinds and "site_lost" not in kinds, "nobody was lost")
    made = [row for row in before if row["event"] == "lease_made"]
    expect(made and made[0]["provider"]["site"] == "north", "lease_made")
    # The broker dies: ids go on, nobody is said to be lost or back.
    f.restart("broker")
    f.wait_for("the sites", lambda: metrics()["sublet_peer_up"]
               == {(("site", "north"),): 1, (("site", "south"),): 1})
    f.kill9("north")
    f.wait_for("north to be lost", lambda: "site_lost" in [
        row["event"] for row in get("/api/v1/events?after=%d" % before[-1]["id"])["events"]])
    f.start("north")
    f.wait_for("north to be back", lambda: "site_back" in [
        row["event"] for row in get("/api/v1/events?after=%d" % before[-1]["id"])["events"]])
    # Lost while the broker is away: said once that is certain.
    f.kill9("north")
    f.restart("broker")
    f.wait_for("north to be lost again", lambda: [
        row["event"] for row in all_pages("/api/v1/events", "events", 500)
        if "site" in row] == ["site_lost", "site_back", "site_lost"])
    f.start("north")
    f.wait_for("all three leases", lambda: all(
        row["status"] != "disc" for row in get("/api/v1/leases")["leases"]))
    after = all_pages("/api/v1/events", "events", 500)
    check_events(after)
    expect_equal(after[:len(before)], before, "what was is as it was")
    site_events = [(row["event"], row["site"]) for row in after if "site" in row]
    expect_equal(site_events, [("site_lost", "north"), ("site_back", "north")] * 2, "order")
    lines = [json.loads(line) for line in f.cli("south", "events").stdout.splitlines()]
    expect_equal(lines[:len(after)], after, "through a site")
    lines = [json.loads(line) for line in
             f.ops("events", "--after", str(before[-1]["id"])).stdout.splitlines()]
    expect_equal(lines[:len(after) - len(before)], after[len(before):], "after ID")


def test_events_followed():
    last = all_pages("/api/v1/events", "events", 500)[-1]["id"]
    follower = subprocess.Popen(
        [os.path.join(BIN, "sublet"), "--socket", f.dir + "/south/sublet.sock", "events",
         "--follow", "--after", str(last)], env=f.environment, stdout=subprocess.PIPE, text=True)
    try:
        f.ops("reclaim-delay", "1s")
        sleeper = f.submit("south", "sleep 60", "-q", "away")
        f.wait_for("an event", lambda: get("/api/v1/events?after=%d" % last)["events"])
        expect_equal(json.loads(follower.stdout.readline()),
                     get("/api/v1/events?after=%d" % last)["events"][0], "the first to come")
        f.cli("south", "kill", str(sleeper))
    finally:
        follower.kill()
        follower.wait()


def setup():
    # Nobody may be lost but whom a test kills: also where a disk stalls for seconds.
    f.configure("broker", BROKER.replace("STATE", "HTTP = 127.0.0.1:%d\n"
                                         "HTTP_HOSTS = sublet.example.org\nSTATE" % PORT)
                .replace("LOST_AFTER = 3s", "LOST_AFTER = 8s")
                .replace("(consumer)", "(provider consumer)"))
    one = NORTH[:NORTH.index("Begin HostExport")]
    f.configure("north", one.replace("HOSTS = all\n", "HOSTS = all allremote\n")
                + EXPORT % ("a", "n1", 4, "south") + EXPORT % ("b", "n2", 4, "south"))
    f.configure("south", SOUTH.replace("Begin Queue", "Begin Parameters\nMC_RECLAIM_DELAY = 1h\n"
                                       "End Parameters\nBegin Queue", 1)
                + (EXPORT % ("x", "s1", 2, "north")).replace("NAME = x\n", ""))
    f.start("broker", "north", "south")
    f.wait_for("three leases", lambda: len(get("/api/v1/leases")["leases"]) == 3)
    f.wait_for("all connected", lambda: {row["status"] for row in
                                         get("/api/v1/leases")["leases"]} == {"conn"})


main(test_leases, test_one_lease, test_sites, test_errors, test_host_header,
     test_head_and_keep_alive,
     test_metrics, test_metrics_of_many_clients, test_rude_clients, test_events,
     test_events_followed, shared=f, setup=setup)
