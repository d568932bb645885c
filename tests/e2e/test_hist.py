#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`hist` with real daemons: what happened to a job is told after its site has forgotten
it, over kill -9, of elements, of leased jobs on both sides."""
import os

from federation import SOUTH, Federation, expect, expect_equal, main, tomorrow

f = Federation()

SHORT = """
Begin Parameters
CLEAN_PERIOD = 1s
End Parameters
Begin Queue
QUEUE_NAME = other
HOSTS = all
End Queue
"""


AGAIN = """
Begin Queue
QUEUE_NAME = again
PRIORITY = 30
HOSTS = allremote
REQUEUE_EXIT_VALUES = 99
End Queue
"""

def submit(*args):
    return f.cli("south", "sub", *args).stdout.split("<")[1].split(">")[0]


def hist(job, site="south"):
    return f.rows(site, "hist", job)[0]


def wait_end(job, state):
    """By its history: the site forgets it soon."""
    f.wait_for("job %s to be %s" % (job, state), lambda: hist(job)["state"] == state)


def events(row):
    return [event["event"] for event in row["events"]]


def gone(job):
    return f.cli("south", "jobs", job, code=None).returncode != 0


def test_life():
    mark = os.path.join(f.marks, "go")
    job = submit("-J", "story", "-P", "paper",
                 "while [ ! -e %s ]; do sleep 0.05; done; exit 3" % mark)
    f.wait_state("south", job, "RUN")
    f.cli("south", "stop", job)
    f.wait_state("south", job, "USUSP")
    f.cli("south", "resume", job)
    f.wait_state("south", job, "RUN")
    expect_equal(hist(job)["state"], "RUN", "while it runs")
    f.kill9("south")
    f.start("south")
    f.cli("south", "requeue", job)
    f.wait_for("a second start", lambda: events(hist(job)).count("start") == 2)
    open(mark, "w").close()
    wait_end(job, "EXIT")
    f.wait_for("the site to forget it", lambda: gone(job))
    row = hist(job)
    expect_equal(events(row), ["submit", "dispatch", "start", "suspend", "resume",
                               "run_end", "requeue", "dispatch", "start", "end"], "its life")
    expect_equal((row["name"], row["project"], row["state"], row["exit_code"]),
                 ("story", "paper", "EXIT", 3), "who it was")
    expect_equal(row["events"][1]["hosts"], {"s1": 1}, "where")
    expect("requeued by" in row["events"][6]["reason"], "why it waited again")
    expect(row["run_s"] > 0 and row["ususp_s"] > 0, "times: %s" % row)
    total = sum(row[key] for key in ("pend_s", "psusp_s", "run_s", "ususp_s", "ssusp_s",
                                   "unkwn_s"))
    expect(abs(total - row["total_s"]) < 0.01, "the sum")
    text = f.cli("south", "hist", "-l", job).stdout
    for part in ("Job <%s>, Job Name <story>" % job, "Submitted to queue <normal>;",
                 "Started on <s1>", "Waits again: requeued by",
                 "Exited with exit code 3"):
        expect(part in text, "%r in\n%s" % (part, text))
    expect(["PEND", "PSUSP", "RUN", "USUSP", "SSUSP", "UNKWN", "TOTAL"] in
           [line.split() for line in text.splitlines()], "the times in\n%s" % text)


def test_waiting_and_moved():
    f.cli("south", "queue", "inactivate", "other")
    job = submit("-q", "normal", "-b", tomorrow(), "true")
    f.cli("south", "switch", "other", job)
    f.cli("south", "btop", job)
    f.cli("south", "stop", job)
    f.cli("south", "resume", job)
    row = hist(job)
    expect_equal(events(row), ["submit", "switch", "move", "suspend", "resume"], "moves")
    expect_equal(row["queue"], "other", "where it is")
    expect(job in [row["id"] for row in f.rows("south", "hist")], "it is listed")
    f.cli("south", "kill", job)
    expect(job not in [row["id"] for row in f.rows("south", "hist")], "no more")
    expect(job in [row["id"] for row in f.rows("south", "hist", "-d")], "with -d")
    expect_equal(f.cli("south", "hist", "-u", "nobody").stdout, "", "nobody's")
    expect("HISTORY_PERIOD" in f.cli("south", "hist", "99999", code=1).stderr, "unknown")
    f.cli("south", "hist", "x", code=1)


def test_array():
    job = submit("-J", "many[1-3]", "exit $((LSB_JOBINDEX - 1))")
    for index in (1, 2, 3):
        f.wait_for("element %d" % index, lambda: any(
            row["id"] == "%s[%d]" % (job, index) and row["end_at"]
            for row in f.rows("south", "hist", job)))
    rows = f.rows("south", "hist", job)
    expect_equal([row["exit_code"] for row in rows], [0, 1, 2], "exit codes")
    expect_equal(events(hist(job + "[2]")), ["submit", "dispatch", "start", "end"],
                 "an element")
    expect_equal(len(f.rows("south", "hist", job + "[2-3]")), 2, "two of them")
    job = submit("-J", "late[1-250]", "-b", tomorrow(), "true")  # more than a page
    ids = [row["id"] for row in f.rows("south", "hist")]
    expect_equal([id for id in ids if id.startswith(job + "[")],
                 ["%s[%d]" % (job, index) for index in range(1, 251)], "all that wait")
    expect_equal(hist(job + "[2]")["id"], job + "[2]", "one of them")
    expect_equal([row["id"] for row in f.rows("south", "hist", job)], [job], "all of it")
    f.cli("south", "kill", job)
    rows = f.rows("south", "hist", job)
    expect_equal(len(rows), 250, "each with its end, over pages")
    expect_equal({row["state"] for row in rows}, {"EXIT"}, "their ends")
    ended = [row["id"] for row in f.rows("south", "hist", "-a")]
    expect_equal(len([id for id in ended if id.startswith(job)]), 250, "with -a")
    expect_equal(len(ended), len(set(ended)), "each once")


def test_leased():
    f.wait_for("the lease",
               lambda: any(row["lease"] for row in f.rows("south", "hosts")))
    job = submit("-q", "away", "true")
    wait_end(job, "DONE")
    here = hist(job)
    expect_equal(events(here), ["submit", "dispatch", "accept", "start", "end"], "here")
    host, = here["events"][1]["hosts"]
    expect("@north" in host, "the borrowed host: " + host)
    f.wait_for("north's side", lambda: events(hist(job + "@south", "north")) ==
               ["accept", "start", "end"])
    there = hist(job + "@south", "north")
    expect_equal(list(there["events"][0]["hosts"]), [host.split("@")[0]], "its host")
    expect_equal(there["events"][0]["lease"], here["events"][1]["lease"], "its lease")
    expect_equal(there["state"], "DONE", "its end")


def test_leased_again():
    """Both runs are told at home, each with its start and its end."""
    mark = os.path.join(f.marks, "second")
    job = submit("-q", "again", "test -e %s && exit 0; touch %s; exit 99" % (mark, mark))
    wait_end(job, "DONE")
    row = hist(job)
    expect_equal(events(row), ["submit"] + ["dispatch", "accept", "start"] +
                 ["run_end", "requeue"] + ["dispatch", "accept", "start", "end"], "its life")
    expect_equal(row["events"][4]["exit_code"], 99, "how the first run ended")
    expect(row["events"][3]["at"] <= row["events"][4]["at"] <= row["events"][5]["at"], "when")
    text = f.cli("south", "hist", "-l", job).stdout
    expect("Its run ended with exit code 99" in text, text)
    expect("UNKWN" in text, text)


def setup():
    f.configure("south", SOUTH + SHORT + AGAIN)
    f.start("broker", "north", "south")
    f.wait_for("its host", lambda: f.has_hosts("south"))


if __name__ == "__main__":
    main(test_life, test_waiting_and_moved, test_array, test_leased, test_leased_again, shared=f,
         setup=setup)
