#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The demo's story, step by step, through --json; then the demo itself."""
import os
import signal
import subprocess
import tempfile
import time

from federation import BIN, LEASE, LIMIT, ROOT, Failure, Federation, expect, expect_equal, main


def work(f, until):
    """A processor kept busy until the story has come there."""
    return "while [ ! -e %s/%s ]; do nice timeout 1 sha256sum /dev/zero; done; true" % (
        f.marks, until)


def come_to(f, point):
    open(os.path.join(f.marks, point), "w").close()


def sides(lease):
    return (lease["provider"]["available"], lease["consumer"]["available"])


def test_story():
    with Federation(reclaim="2s") as f:
        f.start("broker", "north", "south")
        f.wait_lease("the lease to be registered",
                     lambda l: l["state"] == "pending" and l["status"] == "conn")
        expect_equal(sides(f.lease()), (7, 1), "all but one slot are the provider's")
        expect_equal(f.lease()["epoch"], 1, "epoch at registration")
        expect_equal(f.lease()["type"], "shared", "type")
        expect_equal(f.lease()["reclaim_delay_s"], 2, "the provider's reclaim delay")

        # Nothing moves before the lease is made, however idle the provider is.
        time.sleep(2.5)
        expect_equal(sides(f.lease()), (7, 1), "no rebalance before the lease is made")

        # Nothing moves while the waiting job is looked at.
        f.ops("reclaim-delay", "1h", "--lease", LEASE)
        first = [f.submit("south", work(f, "south")) for _ in range(3)]
        f.wait_lease("the third job to make the lease", lambda l: l["state"] != "pending")
        expect_equal(f.lease()["epoch"], 1, "making the lease leaves the epoch")
        f.wait_state("south", first[2], "RUN")
        expect_equal(f.job("south", first[0])["hosts"], {"s1": 1}, "own hosts first")
        expect_equal(f.job("south", first[2])["hosts"], {"n1@north": 1}, "the leased slot")

        more = [f.submit("south", work(f, "south"))]
        expect_equal(f.job("south", more[0])["state"], "PEND", "no slot yet")
        more += [f.submit("south", work(f, "south")) for _ in range(6)]
        f.wait_for("a waiting job to say why", lambda: f.job("south", more[0])["reason"])
        f.ops("reclaim-delay", "default", "--lease", LEASE)
        f.wait_lease("idle slots to go to the consumer", lambda l: sides(l) == (0, 8))
        f.wait_for("all jobs to run", lambda: f.n_jobs("south", "RUN") == 10)
        expect_equal(f.lease()["epoch"], 2, "the next epoch")
        f.wait_lease("the lease to be active", lambda l: l["state"] == "active")
        f.wait_lease("use to be shown", lambda l: l["consumer"]["used"] == 8)
        hosts = {host["host"]: host for host in f.lease()["hosts"]}
        expect_equal(hosts["n1"]["consumer"]["available"], 4, "held on n1")
        expect_equal(hosts["n2"]["consumer"]["used"], 4, "used on n2")

        own = [f.submit("north", work(f, "north")) for _ in range(4)]
        expect_equal(f.job("north", own[0])["state"], "PEND", "no slot for the provider")
        come_to(f, "south")
        f.wait_for("idle slots to go home and be used",
                   lambda: f.n_jobs("north", "RUN") == 4)
        expect(f.lease()["epoch"] >= 3, "epochs grow")
        come_to(f, "north")
        f.cli("north", "wait", *map(str, own))
        f.cli("south", "wait", *map(str, first + more))

        check_history(f.history())


def check_history(history):
    events = [row["event"] for row in history]
    expect_equal(events[0], "registered", "first of the history")
    expect("made" in events, "the history tells when it was made")
    expect(events.index("made") < events.index("inactive"), "made before any change")
    epochs = [row["epoch"] for row in history]
    expect_equal(epochs, sorted(epochs), "epochs never go back")
    for before, after in zip(history, history[1:]):
        if before["event"] == "inactive":
            expect(after["event"] in ("active", "made"), "inactive is followed by active")
    for row in history:
        expect(row["reason"], "every change says why: %r" % row)
        expect(row["provider"]["used"] <= row["provider"]["available"], "used fits")
        expect(row["consumer"]["used"] <= row["consumer"]["available"], "used fits")
    to_consumer = [r for r in history if r["event"] == "active"
                   and r["consumer"]["available"] == 8]
    expect(to_consumer, "idle slots went to the consumer")
    to_provider = [r for r in history if r["event"] == "active"
                   and r["provider"]["available"] > 0]
    expect(to_provider, "idle slots went home")


def processes(directory):
    """Ids of those that were started with this TMPDIR."""
    for entry in os.listdir("/proc"):
        try:
            with open("/proc/%s/environ" % entry, "rb") as file:
                if ("TMPDIR=" + directory).encode() in file.read().split(b"\0"):
                    yield int(entry)
        except OSError:
            pass


def run_demo(until=None):
    """Its exit status and what it said; interrupted as soon as it has said `until`."""
    with tempfile.TemporaryDirectory(prefix="sublet-e2e-") as directory:
        os.chmod(directory, 0o711)
        demo = subprocess.Popen(
            [os.path.join(ROOT, "deploy", "demo", "run")], text=True,
            env=dict(os.environ, SUBLET_BIN=BIN, TMPDIR=directory), bufsize=1,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            # A shell cannot trap what it inherits as ignored, as from "make test &".
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
        text = ""
        for line in demo.stdout:
            text += line
            if until is not None and until in line:
                demo.send_signal(signal.SIGINT)
                until = None
        code = demo.wait(LIMIT)
        expect_equal(os.listdir(directory), [], "files left behind")
        expect_equal(list(processes(directory)), [], "processes left behind")
        return code, text


def test_demo():
    """`make demo` as a user sees it: ends well, says the story, leaves nothing."""
    code, text = run_demo()
    if code != 0:
        raise Failure("exit %d\n%s" % (code, text))
    expect("n1@north" in text, "jobs of south run at north")
    expect("registered" in text, "the history ends it")


def test_demo_interrupted():
    code, text = run_demo(until="n1@north")
    expect_equal(code, 130, "exit after Ctrl-C; it said %s" % text)


main(test_story, test_demo, test_demo_interrupted, at_once=3)
