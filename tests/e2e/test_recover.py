#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A provider loses its journal while jobs of a lease run there. Its hosts end them, as
they are on no record; nothing starts on the lease, and it is shown why, until an
administrator says that it may go on: above all epochs that were."""
import glob
import os
import urllib.request

from federation import BROKER, LEASE, Federation, expect, expect_equal, free_port, main

PORT = free_port()


def n_starts(f, name):
    with open(os.path.join(f.marks, name)) as file:
        return len(file.readlines())


def job_text(f, name):
    return ("echo x >> %s/%s; while [ ! -e %s/gate ]; do sleep 0.1; done" %
            (f.marks, name, f.marks))


def lose_journal(f):
    f.kill9("north")
    files = glob.glob(os.path.join(f.dir, "north", "journal.db*"))
    expect(files, "north has a journal")
    for path in files:
        os.remove(path)
    said = f.run("sublet-site", f.conf("north"), code=1).stderr
    expect("journal.db\" is missing or empty, but" in said and "--accept-loss" in said, said)
    expect(not os.path.exists(files[0]), "nothing is made in its place")
    f.options["north"] = ["--accept-loss"]
    f.start("north")


def metric():
    with urllib.request.urlopen("http://127.0.0.1:%d/metrics" % PORT) as page:
        text = page.read().decode()
    value, = [line.split()[1] for line in text.splitlines()
              if line.startswith('sublet_lease_behind_epoch{lease="%s"}' % LEASE)]
    return int(value)


def test_recover():
    with Federation() as f:
        f.configure("broker", BROKER.replace("LOST_AFTER", "HTTP = 127.0.0.1:%d\nLOST_AFTER"
                                             % PORT))
        f.start("broker", "north", "south")
        f.wait_lease("the lease", lambda l: l["status"] == "conn")
        again = f.submit("south", job_text(f, "again"), "-q", "away", "-r")
        once = f.submit("south", job_text(f, "once"), "-q", "away")
        f.wait_for("both to run", lambda: f.n_jobs("south", "RUN") == 2)
        f.wait_lease("slots to have moved", lambda l: l["epoch"] > 2)
        text = f.ops("lease", "recover", LEASE, code=1).stderr
        expect("is not behind" in text and text.count("\n") == 1, text)

        expect_equal(metric(), 0, "the metric before")
        lose_journal(f)
        f.wait_lease("it to be shown", lambda l: l["behind_epoch"] is not None)
        epoch = f.lease()["epoch"]
        expect(f.lease()["behind_epoch"] < epoch, "behind")
        expect_equal(metric(), f.lease()["behind_epoch"], "the metric")
        with open(f.log("north")) as log:
            expect("sublet lease recover " + LEASE in log.read(), "north is told what to do")
        f.wait_state("south", once, "EXIT")
        f.wait_state("south", again, "PEND")
        f.wait_for("what ran to be ended", lambda: sum(
            row["run"] for row in f.rows("north", "hosts") if not row["lease"]) == 0)
        for _ in range(2):  # and it stays so
            f.restart("broker")
            f.wait_lease("it to be shown again", lambda l: l["behind_epoch"] is not None)
        expect_equal((n_starts(f, "again"), n_starts(f, "once")), (1, 1), "starts")

        text = f.cli("south", "lease", "recover", LEASE, code=1).stderr
        expect("may not recover" in text and text.count("\n") == 1, text)
        text = f.cli("north", "lease", "recover", LEASE).stderr
        expect("is recovered" in text, text)
        f.wait_lease("the lease to go on", lambda l: l["behind_epoch"] is None and
                     l["epoch"] > epoch and l["status"] in ("ok", "conn"))
        expect_equal(metric(), 0, "the metric after")
        f.wait_for("the job to run again", lambda: n_starts(f, "again") == 2)
        open(os.path.join(f.marks, "gate"), "w").close()
        f.cli("south", "wait", str(again))
        expect_equal((n_starts(f, "again"), n_starts(f, "once")), (2, 1), "starts in all")
        epochs = [row["epoch"] for row in f.history()]
        expect_equal(epochs, sorted(epochs), "epochs never go back")


main(test_recover)
