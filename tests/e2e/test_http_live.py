#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The broker's HTTP port, what changes and what is changed: conditional and compressed
answers, streams that are resumed, slow readers, admin calls and their tokens, series
over a restart; and every answer against the OpenAPI document that the broker serves."""
import gzip
import http.client
import json
import os
import socket
import sqlite3

from federation import (BROKER, LIMIT, SOUTH, Failure, Federation, Skip, expect, expect_equal,
                        free_port, main)

f = Federation()
PORT = free_port()
LEASE = "north/1/south"
TOKEN = "a-token-for-tests-0123456789"
ADMIN = {"Authorization": "Bearer " + TOKEN}
STREAMS_MAX = 64


def ask(path, method="GET", headers={}, body=None):
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=LIMIT)
    connection.request(method, path, headers=headers, body=body)
    response = connection.getresponse()
    answer = response.status, response.headers, response.read()
    connection.close()
    return answer


def get(path):
    status, _, body = ask(path)
    expect_equal(status, 200, "status of %s (%s)" % (path, body[:200]))
    return json.loads(body)


def delays():
    return {row["name"] or "": row for row in get("/api/v1/reclaim-delay")["reclaim_delay"]}


# ---- conditional, compressed

def test_etags():
    # Sites tell of each scheduling pass: only what stands still is the same for long.
    for path in ("/api/v1/leases", "/api/v1/hosts", "/api/v1/events?last=1", "/",
                 "/api/v1/openapi.json", "/api/v1/reclaim-delay"):
        def is_stable():
            first = ask(path)
            second = ask(path, headers={"If-None-Match": first[1]["ETag"]})
            return second[0] == 304 and second[2] == b"" and \
                second[1]["ETag"] == first[1]["ETag"]
        f.wait_for("a 304 of " + path, is_stable)
    tag = ask("/api/v1/leases")[1]["ETag"]
    expect(ask("/api/v1/leases?limit=1")[1]["ETag"] != tag, "another page has another tag")
    ask("/api/v1/reclaim-delay", "PUT", ADMIN, '{"delay":"77s"}')
    status, headers, _ = ask("/api/v1/leases", headers={"If-None-Match": tag})
    expect_equal(status, 200, "status after a change")
    expect(headers["ETag"] != tag, "another tag after a change")
    ask("/api/v1/reclaim-delay", "PUT", ADMIN, '{"delay":"default"}')


def test_gzip():
    for path in ("/api/v1/openapi.json", "/", "/api/v1/events", "/metrics"):
        _, headers, plain = ask(path)
        expect(headers["Content-Encoding"] is None, "nobody asked for gzip")
        _, headers, packed = ask(path, headers={"Accept-Encoding": "br, gzip"})
        if len(plain) >= 1024:
            expect_equal(headers["Content-Encoding"], "gzip", "encoding of " + path)
            expect(len(packed) < len(plain), "smaller")
            packed = gzip.decompress(packed)
        expect_equal(headers["Vary"], "Accept-Encoding", "Vary")
        if path in ("/", "/api/v1/openapi.json"):
            expect_equal(packed, plain, "the same")
    _, headers, _ = ask("/", headers={"Accept-Encoding": "gzip;q=0"})
    expect(headers["Content-Encoding"] is None, "gzip that is not wanted")


def test_page_is_closed():
    """Nothing from elsewhere, nothing inline."""
    _, headers, body = ask("/")
    policy = headers["Content-Security-Policy"]
    expect("default-src 'none'" in policy and "unsafe" not in policy, policy)
    for word in (b"http://", b"https://", b" style=", b"<style", b" onclick"):
        expect(word not in body, "%r in the page" % word)


# ---- streams

class Stream:
    """A reader of server-sent events."""

    def __init__(self, last=None, query="", port=None, source="127.0.0.1"):
        self.socket = socket.create_connection(("127.0.0.1", port or PORT), timeout=LIMIT,
                                               source_address=(source, 0))
        self.socket.sendall(("GET /api/v1/stream%s HTTP/1.1\r\nHost: a\r\n%s\r\n" % (
            query, "Last-Event-ID: %s\r\n" % last if last is not None else "")).encode())
        self.file = self.socket.makefile("rb")
        self.status = int(self.file.readline().split()[1])
        self.headers = {}
        while (line := self.file.readline().strip()):
            name, _, value = line.decode().partition(": ")
            self.headers[name] = value
        self.text = b""

    def message(self):
        """The next message: its fields, data as JSON."""
        while b"\n\n" not in self.text:
            size = int(self.file.readline(), 16)
            expect(size > 0, "the stream goes on")
            self.text += self.file.read(size)
            self.file.readline()
        one, _, self.text = self.text.partition(b"\n\n")
        fields = dict(line.split(": ", 1) for line in one.decode().split("\n"))
        return {**fields, "data": json.loads(fields["data"])} if "data" in fields else fields

    def until(self, what, condition, limit=1000):
        for _ in range(limit):
            message = self.message()
            if condition(message):
                return message
        expect(False, "%s among %d messages" % (what, limit))

    def close(self):
        self.file.close()
        self.socket.close()


def test_stream():
    stream = Stream()
    expect_equal((stream.status, stream.headers["Content-Type"]), (200, "text/event-stream"),
                 "a stream")
    hello = stream.message()
    expect_equal(hello["event"], "hello", "the first message")
    last = get("/api/v1/about")["last_event"]
    expect(int(hello["id"]) <= last, "hello names the latest event")
    job = f.submit("south", "sleep 60", "-q", "away")
    used = stream.until("a lease in use", lambda m: m["event"] == "lease"
                        and m["data"]["consumer"]["used"] == 1)
    expect_equal(used["data"]["id"], LEASE, "the lease")
    f.cli("south", "kill", str(job))
    stream.until("a lease not in use", lambda m: m["event"] == "lease"
                 and m["data"]["consumer"]["used"] == 0)
    stream.until("a site", lambda m: m["event"] == "site" and m["data"]["site"] == "south")
    stream.close()


def test_stream_is_resumed():
    """None is missed, none comes twice, over a restart of the broker."""
    before = get("/api/v1/events?last=3")["events"]
    stream = Stream(last=before[0]["id"])
    stream.message()
    got = [stream.until("an event", lambda m: m["event"] == "event") for _ in before[1:]]
    expect_equal([m["data"] for m in got], before[1:], "what was missed")
    expect_equal([int(m["id"]) for m in got], [row["id"] for row in before[1:]], "ids")
    stream.close()
    f.restart("broker")
    f.kill9("north")
    f.wait_for("north to be lost", lambda: get("/api/v1/events?last=1")["events"][0]["event"]
               == "site_lost")
    stream = Stream(query="?after=%d" % before[-1]["id"])
    stream.message()
    wanted = get("/api/v1/events?after=%d" % before[-1]["id"])["events"]
    for row in wanted:
        expect_equal(stream.until("an event", lambda m: m["event"] == "event")["data"], row,
                     "in order")
    f.start("north")
    stream.until("north is back", lambda m: m["event"] == "event"
                 and m["data"]["event"] == "site_back")
    stream.close()
    f.wait_for("the lease", lambda: f.lease()["status"] == "ok")
    expect_equal(Stream(last="x").status, 400, "an id that is none")
    late = Stream(last=10 ** 17)
    expect(int(late.message()["id"]) < 10 ** 9, "an id of another life: from now on")
    late.close()


def broker_rss_kib():
    with open("/proc/%d/status" % f.daemons["broker"].pid) as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


def test_one_address_does_not_take_all_streams():
    """Whoever has most of them gives one to who has fewer."""
    def fill():
        streams.append(Stream(source="127.0.0.2"))
        return streams[-1].status == 503
    streams = []
    f.wait_for("all streams taken", fill)
    taken = sum(stream.status == 200 for stream in streams)
    others = [Stream(source="127.0.0.3") for _ in range(3)]
    expect_equal([other.status for other in others], [200] * 3, "streams of another address")
    expect_equal(Stream(source="127.0.0.2").status, 503, "the first address still has most")
    others[0].message()
    expect(taken > STREAMS_MAX // 2, "one address had most of them")
    for stream in streams + others:
        stream.close()
    f.wait_for("room again", lambda: Stream().status == 200)


def test_one_address_does_not_take_all_connections():
    """300 connections that say nothing: they are half of all at most."""
    silent = []
    for _ in range(300):
        one = socket.socket()
        one.bind(("127.0.0.2", 0))
        one.connect(("127.0.0.1", PORT))
        silent.append(one)
    expect_equal(ask("/healthz")[0], 200, "status for another address")
    for one in silent:
        one.close()


def test_a_request_byte_by_byte():
    """It is not complete in the time for all of it, though it is never idle."""
    slow = socket.create_connection(("127.0.0.1", PORT), timeout=LIMIT)
    slow.sendall(b"GET /healthz HTTP/1.1\r\nHost: a\r\nX: ")

    def is_closed():
        try:
            slow.sendall(b"x")
            slow.settimeout(0.5)
            return slow.recv(1) == b""
        except socket.timeout:
            return False
        except OSError:
            return True
    f.wait_for("the connection to be closed", is_closed)


def test_many_readers():
    """More than there is room for are told so; one that does not read holds nobody up,
    and costs little."""
    streams = [Stream() for _ in range(STREAMS_MAX + 1)]
    expect_equal(streams[0].status, 200, "the first")
    expect_equal(streams[-1].status, 503, "one too many")
    before = broker_rss_kib()
    for stream in streams:
        stream.close()
    # Who has gone is noticed when there is something to say to him, at the latest a
    # heartbeat.
    f.wait_for("room again", lambda: Stream().status == 200)
    slow = socket.socket()
    slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    slow.connect(("127.0.0.1", PORT))
    slow.sendall(b"GET /api/v1/stream?after=0 HTTP/1.1\r\nHost: a\r\n\r\n")
    reader = Stream()
    job = f.submit("south", "sleep 60", "-q", "away")
    reader.until("a change", lambda m: m.get("event") == "lease"
                 and m["data"]["consumer"]["used"] == 1)
    f.cli("south", "kill", str(job))
    reader.close()
    slow.close()
    expect(broker_rss_kib() < before + 32 * 1024, "memory of %d KiB" % broker_rss_kib())


def count_descriptors(process):
    return len(os.listdir("/proc/%d/fd" % process.pid))


def test_slow_and_idle_readers():
    """Who does not take what he asked for is cut off; who has nothing to take is told
    that he is still heard."""
    with Federation() as other:
        port = free_port()
        other.configure("broker", BROKER.replace(
            "STATE", "HTTP = 127.0.0.1:%d\nSTATE" % port))
        other.start("broker")
        other.stop("broker")
        store = sqlite3.connect(other.dir + "/broker.db")
        store.executemany(
            "INSERT INTO event (at_ms, event, lease, site, state, epoch, provider_available,"
            " provider_used, consumer_available, consumer_used, reason)"
            " VALUES (1, 'lost', '', 'north', '', 0, 0, 0, 0, 0, ?)", [("x" * 200,)] * 60000)
        store.commit()
        store.close()
        os.unlink(other.dir + "/broker.db-commit")  # its pages are not the broker's any more
        other.start("broker")
        before = count_descriptors(other.daemons["broker"])
        idle = Stream(port=port)
        slow = socket.socket()
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.connect(("127.0.0.1", port))
        slow.sendall(b"GET /api/v1/stream?after=0 HTTP/1.1\r\nHost: a\r\n\r\n")
        other.wait_for("both to be connected", lambda: count_descriptors(
            other.daemons["broker"]) == before + 2)
        other.wait_for("the slow one to be cut off", lambda: count_descriptors(
            other.daemons["broker"]) == before + 1)
        idle.socket.settimeout(LIMIT)
        expect_equal(idle.message()["event"], "hello", "hello")
        expect("" in idle.message(), "a comment")
        slow.close()
        idle.close()


# ---- changes

def change(body, headers=ADMIN, path="/api/v1/reclaim-delay", method="PUT"):
    status, _, answer = ask(path, method, headers,
                            body if isinstance(body, (str, bytes)) else json.dumps(body))
    return status, json.loads(answer)


def test_reclaim_delay():
    for body, name, wanted in (
            ({"delay": "7m"}, "", 420), ({"delay_s": 90.5}, "", 90.5),
            ({"delay": "3s", "lease": LEASE}, LEASE, 3),
            ({"delay": "1h", "provider": "north"}, "north", 3600)):
        status, answer = change(body)
        expect_equal(status, 200, "status of %s (%s)" % (body, answer))
        expect(answer["message"].startswith("The reclaim delay is set"), answer)
        expect_equal(delays()[name]["override_s"], wanted, "override")
    expect_equal(get("/api/v1/leases/" + LEASE)["leases"][0]["reclaim_delay_s"], 3, "in force")
    f.restart("broker")
    expect_equal(delays()[LEASE]["override_s"], 3, "kept over kill -9")
    for body in ({"delay": "default"}, {"delay_s": None, "lease": LEASE},
                 {"delay": "default", "provider": "north"}):
        expect_equal(change(body)[0], 200, "removed")
    expect_equal({row["override_s"] for row in delays().values()}, {None}, "none is left")


def test_refused_changes():
    before = delays()
    for body, wanted, *words in (
            ("", 400, "expected"), ("no json", 400), ("[]", 400), ("{}", 400, "delay"),
            ({"delay": "5m", "delay_s": 5}, 400, "both"), ({"delay": 5}, 400, "text"),
            ({"delay": "soon"}, 400, "soon"),
            ({"delay_s": 0}, 400, "0s is out of bounds, expected 1s to 3650d"),
            ({"delay_s": -5}, 400, "-5s is out of bounds"), ({"delay_s": 0.5}, 400, "0.5s"),
            ({"delay_s": -0.001}, 400, "out of bounds"), ({"delay_s": True}, 400),
            ({"delay": "9999d"}, 400, "9999d is out of bounds, expected 1s to 3650d"),
            ({"delay": "0"}, 400, "0 is out of bounds"), ({"delay_s": 1e300}, 400),
            ({"delay": "5m", "leese": LEASE}, 400, "another name"),
            ({"delay": "5m", "lease": LEASE, "provider": "north"}, 400, "together"),
            ({"delay": "5m", "lease": ""}, 400), ({"delay": "5m", "lease": "x" * 200}, 400),
            ({"delay": "5m", "lease": "a\0b"}, 400),
            ('{"delay":"1m","delay":"2m"}', 400),
            ({"delay": "5m", "lease": "north/9/south"}, 404, "north/9/south"),
            ({"delay": "5m", "provider": "nobody"}, 404, "nobody")):
        status, answer = change(body)
        expect_equal(status, wanted, "status of %s (%s)" % (body, answer))
        for word in words:
            expect(word in answer["error"]["message"], "%r in %s" % (word, answer))
    expect_equal(change(b"x" * 20000)[0], 413, "a long body")
    status, answer = change({"now": 1}, path="/api/v1/leases/%s/drain" % LEASE, method="POST")
    expect_equal((status, answer["error"]["code"]), (400, "bad_request"), "a body for drain")
    expect_equal(delays(), before, "nothing was changed")


def test_drain():
    """Ordered over HTTP, carried out by the provider, taken back over HTTP; the log says who."""
    path = "/api/v1/leases/%s/drain" % LEASE
    expect_equal(change({}, path="/api/v1/leases/north/9/south/drain", method="POST")[0], 404,
                 "no such lease")
    status, answer = change({}, path=path, method="POST")
    expect_equal(status, 200, answer)
    expect("drain" in answer["message"], answer)
    f.wait_lease("it to be drained", lambda l: l["drained"] and l["state"] == "ended")
    resume = "/api/v1/leases/%s/resume" % LEASE
    expect_equal(change({}, path=resume.replace("/1/", "/9/"), method="POST")[0], 404,
                 "resume of no such lease")
    expect_equal(change({}, headers={}, path=resume, method="POST")[0], 401, "without a token")
    status, answer = change({}, path=resume, method="POST")
    expect_equal(status, 200, answer)
    for word in ("drain: ", "resume: ", "drain: refused: "):
        expect([line for line in open(f.log("broker")).read().splitlines()
                if 'http: token "' in line and word in line], "in the broker's log: " + word)
    f.wait_lease("it to be back", lambda l: not l["drained"] and l["state"] == "pending")


def test_rebalance():
    """The rule on request: over HTTP, then too soon again on the command line."""
    path = "/api/v1/leases/%s/rebalance" % LEASE
    expect_equal(change({}, path="/api/v1/leases/north/9/south/rebalance", method="POST")[0],
                 404, "no such lease")
    expect_equal(change({"now": 1}, path=path, method="POST")[0], 400, "a body")
    answers = []
    f.wait_for("no hand-over to be under way", lambda: answers.append(
        change({}, path=path, method="POST")) or answers[-1][0] == 200)
    expect(answers[-1][1]["message"].startswith("Lease <%s> is rebalanced: " % LEASE), answers)
    rows = [json.loads(line) for line in f.ops("events", "--json").stdout.splitlines()]
    asked = [row for row in rows if row["event"] == "lease_rebalance"]
    expect_equal(len(asked), 1, "events of requests")
    expect(asked[0]["reason"].startswith("requested by "), asked)
    expect("lease %s" % LEASE in f.ops("rebalance", LEASE, code=1).stderr, "refused: too soon")


def test_tokens():
    before = delays()
    for headers, word in (({}, "no token"), ({"Authorization": "Bearer "}, "not one"),
                          ({"Authorization": "Bearer " + TOKEN + "x"}, "not one"),
                          ({"Authorization": "Bearer " + TOKEN[:-1]}, "not one"),
                          ({"Authorization": "Bearer x" + TOKEN}, "not one"),
                          ({"Authorization": "Basic " + TOKEN}, "no token")):
        for path, method in (("/api/v1/reclaim-delay", "PUT"),
                             ("/api/v1/leases/%s/drain" % LEASE, "POST")):
            status, answer = change({"delay": "5m"}, headers, path, method)
            expect_equal((status, answer["error"]["code"]), (401, "unauthorized"), headers)
            expect(word in answer["error"]["message"], answer)
    expect_equal(ask("/api/v1/reclaim-delay", "PUT", {}, "{}")[1]["WWW-Authenticate"],
                 "Bearer", "WWW-Authenticate")
    expect_equal(delays(), before, "nothing was changed")


def test_tokens_are_replaced():
    path, other = os.path.join(f.dir, "tokens"), {"Authorization": "Bearer " + "n" * 32}
    for mode, text, code, allowed in ((0o644, "n" * 32, 1, ADMIN), (0o600, "short", 1, ADMIN),
                                      (0o600, "n" * 32, 0, other), (0o600, TOKEN, 0, ADMIN)):
        with open(path, "w") as file:
            file.write(text + "\n")
        os.chmod(path, mode)
        f.ops("reconfig", code=code)
        for headers in (ADMIN, other):
            status, answer = change({"delay": "7m"}, headers)
            expect_equal(status, 200 if headers is allowed else 401, (oct(mode), text, answer))


def test_orders_are_events():
    """What an administrator changed is in the history, with his name."""
    path, alice = os.path.join(f.dir, "tokens"), {"Authorization": "Bearer " + "a" * 32}
    with open(path, "w") as file:
        file.write("%s\nalice %s\n" % (TOKEN, "a" * 32))
    last = get("/api/v1/events?last=1")["events"][0]["id"]
    f.ops("reconfig")
    for body in ({"delay": "9m"}, {"delay": "9m", "lease": LEASE},
                 {"delay": "9m", "provider": "north"}, {"delay": "default", "lease": LEASE}):
        expect_equal(change(body, alice)[0], 200, body)
    f.ops("lease", "drain", "--site", "south", "--no-wait")
    f.ops("lease", "resume", "--site", "south")
    expect_equal(change({}, alice, "/api/v1/plans/reload", "POST")[0], 200, "reload")
    rows = [row for row in get("/api/v1/events?after=%d&limit=500" % last)["events"]
            if row["event"] in ("reclaim_delay", "reload", "site_drain", "site_resume")]
    set_to, removed = "The reclaim delay is set to 9m. By alice (HTTP).", \
        "The override is removed. By alice (HTTP)."
    loaded = "The configuration is reloaded. By "
    expect_equal([(row["event"], row.get("lease", row.get("site", "")), row["reason"])
                  for row in rows],
                 [("reload", "", loaded + "ops."), ("reclaim_delay", "", set_to),
                  ("reclaim_delay", LEASE, set_to), ("reclaim_delay", "north", set_to),
                  ("reclaim_delay", LEASE, removed),
                  ("site_drain", "south", "drained by ops"),
                  ("site_resume", "south", "resumed by ops"),
                  ("reload", "", loaded + "alice (HTTP).")], "orders")
    for body in ({"delay": "default"}, {"delay": "default", "provider": "north"}):
        expect_equal(change(body)[0], 200, "removed")
    f.wait_lease("it to be back", lambda l: l["state"] != "ended" and not l["drained"])


def test_no_tokens_no_changes():
    with Federation() as other:
        port = free_port()
        other.configure("broker", BROKER.replace(
            "STATE", "HTTP = 127.0.0.1:%d\nSTATE" % port))
        other.start("broker")
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT)
        connection.request("PUT", "/api/v1/reclaim-delay", body="{}", headers=ADMIN)
        answer = connection.getresponse()
        expect_equal(answer.status, 403, "status without TOKENS")
        expect("TOKENS" in json.loads(answer.read())["error"]["message"], "what to do")
        connection.close()
        # A file that others may read: the broker does not start, and says what to do.
        other.stop("broker")
        path = os.path.join(other.dir, "tokens")
        with open(path, "w") as file:
            file.write(TOKEN + "\n")
        os.chmod(path, 0o644)
        other.configure("broker", BROKER.replace("STATE", "TOKENS = %s\nSTATE" % path))
        process = (other.spawn("broker"), other.daemons.pop("broker"))[1]
        expect_equal(process.wait(LIMIT), 1, "exit")
        with open(other.log("broker")) as log:
            text = log.read()
        expect("chmod 600 " + path in text and TOKEN not in text, text)


# ---- series

def test_series():
    f.wait_for("samples", lambda: len(get("/api/v1/series")["series"]) >= 2)
    f.wait_for("a lease's", lambda: get("/api/v1/series/leases/" + LEASE)["series"])
    rows = get("/api/v1/series/sites/north")["series"]
    instants = [row["at"] for row in rows]
    expect_equal(sorted(set(instants)), instants, "instants")
    expect(all(at.endswith(".000Z") for at in instants), "whole seconds")
    expect_equal(rows[-1]["own"], 8, "slots of north")
    total = get("/api/v1/series")["series"]
    f.restart("broker")
    f.wait_for("samples after a restart", lambda: get("/api/v1/series")["series"][-1]["at"]
               > total[-1]["at"])
    after = get("/api/v1/series")["series"]
    expect_equal(after[:len(total)], total, "what was sampled before kill -9")
    expect(len(get("/api/v1/series?span_s=1")["series"]) <= 2, "the last second")


def test_series_of_lent_slots_in_use():
    """A job of the consumer uses one of the slots that are lent, and then none."""
    def latest(path):
        row = get("/api/v1/series" + path)["series"][-1]
        return row["lent_used"], row["lent_used"] <= row["lent"]

    job = f.submit("south", "sleep 600", "-q", "away")
    for path in ("/sites/north", ""):
        f.wait_for("the job in a sample", lambda: latest(path) == (1, True))
    expect_equal(latest("/sites/south")[0], 0, "south lends nothing")
    f.cli("south", "kill", str(job))
    for path in ("/sites/north", ""):
        f.wait_for("its end in a sample", lambda: latest(path) == (0, True))


# ---- what a site tells of itself

def overview(site, **wanted):
    """What the site tells once it tells `wanted`: answers are kept for 3 s."""
    path = "/api/v1/sites/%s/overview" % site
    seen = {}

    def is_wanted():
        seen["status"], _, body = ask(path)
        seen["answer"] = json.loads(body)
        return all(value == (seen["status"] if name == "status" else seen["answer"].get(name))
                   for name, value in wanted.items())
    try:
        f.wait_for("the overview of %s to have %s" % (site, wanted), is_wanted)
    except Failure as error:
        raise Failure("%s: %s" % (error, seen)) from None
    return seen["answer"]


def test_overview():
    secret = f.submit("south", "sleep 600", "-q", "away", "-J", "secret-name", "-b", "2099:1:1:0:0")
    answer = overview("south", pending=[
        {"pending": "begin_time", "reason": "The job has a specified start time", "jobs": 1}])
    expect_equal(answer["jobs"], None, "names, which the default does not tell")
    expect("secret-name" not in json.dumps(answer), answer)
    expect_equal([(q["queue"], q["pend"], q["run"]) for q in answer["queues"]],
                 [("normal", 0, 0), ("away", 1, 0)], "queues")
    expect_equal([h["host"] for h in answer["hosts"] if h["lease"] is None], ["s1"], "own hosts")
    expect_equal(answer["n_hosts"], len(answer["hosts"]), "all hosts are shown")
    f.configure("south", SOUTH.replace("SPOOL", "OVERVIEW = names\nSPOOL", 1))
    f.cli("south", "reconfig")
    path = "/api/v1/sites/south/overview"
    f.wait_for("names", lambda: json.loads(ask(path)[2])["jobs"] is not None)
    row = get(path)["jobs"][0]
    expect_equal([row["id"], row["name"], row["queue"], row["slots"], row["pending"]],
                 [str(secret), "secret-name", "away", 1, "begin_time"], "the job")
    f.configure("south", SOUTH.replace("SPOOL", "OVERVIEW = none\nSPOOL", 1))
    f.cli("south", "reconfig")
    answer = overview("south", status=403)
    expect_equal(answer["error"]["message"],
                 'site "south": the site shows nothing of itself: OVERVIEW is none', "refusal")
    f.configure("south", SOUTH)
    f.cli("south", "reconfig")
    f.cli("south", "kill", str(secret))
    overview("south", pending=[])


def test_overview_of_a_site_that_is_away():
    f.kill9("north")
    answer = overview("north", status=503)
    expect('site "north": ' in answer["error"]["message"], answer)
    f.start("north")
    overview("north", status=200)


# ---- the OpenAPI document

def asked_pages():
    lease = get("/api/v1/leases")["leases"][0]["id"]
    one = "/api/v1/leases/{provider}/{policy}/{consumer}"
    series = "/api/v1/series/leases/{provider}/{policy}/{consumer}"
    return [("/api/v1/leases", ""), ("/api/v1/leases", "?limit=1"), (one, ""),
            (one + "/history", "?last=50"), ("/api/v1/sites", ""),
            ("/api/v1/sites/{site}/overview", ""), ("/api/v1/hosts", ""),
            ("/api/v1/events", "?last=500"), ("/api/v1/reclaim-delay", ""),
            ("/api/v1/series", ""), ("/api/v1/series/sites/{site}", ""), (series, ""),
            ("/api/v1/series/pools/{pool}", ""),
            ("/api/v1/series/plans/{pool}", "?node=/eng"),
            ("/api/v1/pools", ""), ("/api/v1/plans/{pool}", ""),
            ("/api/v1/usage", "?by=lease,node,user,queue,project,account,hour"),
            ("/api/v1/about", ""), ("/api/v1/openapi.json", ""), ("/healthz", "")], lease


def close_objects(part):
    """Fields may be added later, but those of today all stand in the document."""
    if isinstance(part, list):
        for one in part:
            close_objects(one)
    elif isinstance(part, dict):
        if part.get("type") == "object" and "properties" in part:
            part["additionalProperties"] = False
        for one in part.values():
            close_objects(one)


def test_openapi():
    try:
        import jsonschema
    except ImportError:
        raise Skip("no python3-jsonschema")
    document = get("/api/v1/openapi.json")
    expect_equal(document["openapi"], "3.1.0", "openapi")
    close_objects(document["components"]["schemas"])
    close_objects(document["paths"])

    def check(schema, value, what):
        errors = list(jsonschema.Draft202012Validator(
            {**schema, "components": document["components"]}).iter_errors(value))
        expect(not errors, "%s: %s" % (what, errors and errors[0]))

    f.submit("south", "true", "-q", "away")
    f.wait_for("a sample", lambda: get("/api/v1/series/leases/" + LEASE)["series"])
    f.wait_for("a node's", lambda: ask("/api/v1/series/plans/p?node=/eng")[0] == 200)
    pages, lease = asked_pages()
    provider, policy, consumer = lease.split("/")
    for template, query in pages:
        path = template.format(provider=provider, policy=policy, consumer=consumer,
                               site="north", pool="p") + query
        content = document["paths"][template]["get"]["responses"]["200"]["content"]
        check(content["application/json"]["schema"], get(path), path)
    refusal = document["components"]["schemas"]["Error"]
    for path, method, headers in (
            ("/nothing", "GET", {}), ("/api/v1/leases", "PUT", {}), ("/api/v1/plans/q", "GET", {}),
            ("/api/v1/reclaim-delay", "PUT", {}), ("/api/v1/reclaim-delay", "PUT", ADMIN),
            ("/api/v1/leases?limit=0", "GET", {})):
        check(refusal, json.loads(ask(path, method, headers)[2]), method + " " + path)
    body = document["components"]["schemas"]["SetReclaimDelay"]
    for good in ({"delay": "5m"}, {"delay_s": None}, {"delay_s": 3, "lease": LEASE}):
        check(body, good, "a body")
        status, answer = change(good)
        expect_equal(status, 200, answer)
        check(document["components"]["schemas"]["Message"], answer, "what is said")
    change({"delay": "default"})
    change({"delay": "default", "lease": LEASE})
    # Every page that answers stands in the document.
    asked = {template for template, _ in pages}
    reads = {path for path, item in document["paths"].items() if "get" in item}
    expect_equal(reads - asked, {"/metrics", "/api/v1/stream"}, "pages nobody checked")
    stream = Stream(last=0)
    check(document["components"]["schemas"]["About"], stream.message()["data"], "hello")
    check(document["components"]["schemas"]["Event"], stream.message()["data"], "event")
    stream.close()


POOL = """
Begin Pool
NAME = p
CYCLE = 1s
End Pool
Begin PlanNode
NAME  POOL  OWNED  SITE
/eng  p     2      south
End PlanNode
"""


def setup():
    tokens = os.path.join(f.dir, "tokens")
    with open(tokens, "w") as file:
        file.write("# of the tests\n%s\n" % TOKEN)
    os.chmod(tokens, 0o600)
    f.configure("broker", BROKER.replace(
        "STATE", "HTTP = 127.0.0.1:%d\nTOKENS = %s\nSAMPLE_INTERVAL = 1s\nSTATE" % (
            PORT, tokens)) + POOL)
    f.start("broker", "north", "south")
    job = f.submit("south", "true", "-q", "away")
    f.wait_state("south", job, "DONE")
    f.wait_for("the lease", lambda: f.lease()["status"] == "ok")


main(test_etags, test_gzip, test_page_is_closed, test_stream, test_stream_is_resumed,
     test_many_readers, test_one_address_does_not_take_all_streams,
     test_one_address_does_not_take_all_connections, test_a_request_byte_by_byte,
     test_slow_and_idle_readers, test_reclaim_delay, test_refused_changes,
     test_tokens, test_tokens_are_replaced, test_rebalance, test_drain,
     test_orders_are_events, test_no_tokens_no_changes, test_series,
     test_series_of_lent_slots_in_use, test_overview,
     test_overview_of_a_site_that_is_away, test_openapi, shared=f, setup=setup)
