#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A site's journal is replaced by a copy from before its jobs, which run on an own and on
a borrowed host. New jobs run by themselves, under numbers that were never used; the old
runs are listed and go on, until an administrator adopts one and ends the other."""
import glob
import os
import shutil

from federation import Federation, expect, expect_equal, main


def job_text(f, name):
    """Says its name on its output once a second until the gate is open."""
    return ("echo %s >> %s/%s; while [ ! -e %s/gate ]; do sleep 0.1; done; echo out-%s" %
            (name, f.marks, name, f.marks, name))


def n_starts(f, name):
    path = os.path.join(f.marks, name)
    return len(open(path).readlines()) if os.path.exists(path) else 0


def journal(f):
    return os.path.join(f.dir, "south", "journal.db")


def lost(f):
    row, = [row for row in f.rows("south", "sites") if row["site"] == "south"]
    return row["journal_lost"]


def orphans(f):
    return {row["at"]: row for row in f.rows("south", "runs", "--orphans")}


def test_behind():
    with Federation() as f:
        f.start("broker", "north", "south")
        f.wait_lease("the lease", lambda l: l["status"] == "conn")
        f.stop("south")
        shutil.copy(journal(f), f.dir + "/copy.db")
        f.start("south")
        f.wait_lease("the lease", lambda l: l["status"] == "conn")
        # The host of the later one knows that attempts are missing up to that number.
        old = {"away": f.submit("south", job_text(f, "away"), "-q", "away", "-o",
                                f.marks + "/away.out")}
        f.wait_for("the leased job to run", lambda: n_starts(f, "away") == 1)
        old["own"] = f.submit("south", job_text(f, "own"), "-m", "s1")
        f.wait_for("both to run", lambda: n_starts(f, "own") + n_starts(f, "away") == 2 and
                   f.n_jobs("south", "RUN") == 2)
        expect_equal(lost(f), {"commits": 0, "attempts": 0, "jobs": 0}, "nothing is lost")

        f.kill9("south")
        for path in glob.glob(journal(f) + "*"):
            os.remove(path)
        shutil.copy(f.dir + "/copy.db", journal(f))
        f.start("south")
        f.wait_for("the loss to be shown", lambda: lost(f)["jobs"] == 2)
        expect(lost(f)["attempts"] >= 2 and lost(f)["commits"] > 0, lost(f))
        f.wait_for("both runs to be listed", lambda: sorted(orphans(f)) == ["north", "s1"])
        expect_equal({row["job"] for row in orphans(f).values()},
                     {str(id) for id in old.values()}, "their jobs")
        expect_equal({row["state"] for row in orphans(f).values()}, {"RUN"}, "they run")

        new = {
            "own2": f.submit("south", job_text(f, "own2"), "-m", "s1"),
            "away2": f.submit("south", job_text(f, "away2"), "-q", "away"),
        }
        expect(min(new.values()) > max(old.values()), "numbers are not used again")
        f.wait_for("new jobs to run themselves",
                   lambda: n_starts(f, "own2") == 1 and n_starts(f, "away2") == 1)
        expect_equal((n_starts(f, "own"), n_starts(f, "away")), (1, 1), "old ones run once")

        run = orphans(f)["north"]["attempt"]
        text = f.cli("south", "runs", "--adopt", str(run)).stdout
        expect_equal(text, "Run %d on north is job <%d> now.\n" % (run, old["away"]), "adopt")
        f.wait_state("south", old["away"], "RUN")
        f.cli("south", "runs", "--end", "%d@s1" % orphans(f)["s1"]["attempt"])
        f.wait_for("no run to be left", lambda: orphans(f) == {})
        f.restart("south")
        f.wait_state("south", old["away"], "RUN")
        f.wait_for("the loss to be shown still", lambda: lost(f)["jobs"] == 2)
        f.wait_for("no run to come back", lambda: orphans(f) == {})

        open(os.path.join(f.marks, "gate"), "w").close()
        f.cli("south", "wait", str(old["away"]), str(new["own2"]), str(new["away2"]))
        with open(f.marks + "/away.out") as file:
            expect_equal(file.read(), "out-away\n", "the output of the adopted job")
        expect_equal([n_starts(f, name) for name in ("own", "away", "own2", "away2")],
                     [1, 1, 1, 1], "each ran once")
        f.cli("south", "runs", "--accept-loss")
        f.wait_for("the alarm to end", lambda: lost(f)["jobs"] == 0)


main(test_behind)
