#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What jobs reserve (rusage), with real daemons: who waits for it and says so, what is
given back by who stands still, that a restart changes none of it, and a lease's part."""
import os

from federation import NORTH, SOUTH, Federation, expect, expect_equal, main

RESOURCES = """
Begin Resource
RESOURCENAME TYPE INTERVAL INCREASING RELEASE CONSUMABLE DESCRIPTION
lic Numeric () N Y Y (licences, given back by who stands still)
seat Numeric () N N Y (kept by who stands still)
End Resource
"""
PLACES = """
Begin ResourceMap
RESOURCENAME LOCATION
lic (%d@[all])
seat (2@[all])
End ResourceMap
"""
SHARED = """
Begin SharedResourceExport
NAME = lic
NINSTANCES = 3
DISTRIBUTION = ([south, 1])
End SharedResourceExport
"""
QUEUES = """
Begin Queue
QUEUE_NAME = high
PRIORITY = 90
HOSTS = s1
PREEMPTION = PREEMPTIVE[low]
RESRSV_LIMIT = [lic=1,2] [seat=2]
End Queue
Begin Queue
QUEUE_NAME = low
PRIORITY = 10
HOSTS = s1
End Queue
Begin Parameters
PREEMPTABLE_RESOURCES = lic
End Parameters
"""

f = Federation()


def south_text(n_licences=2):
    """Two hosts share what there is; all jobs here run on one of them."""
    text = SOUTH.replace("HOSTS_HERE = s1", "HOSTS_HERE = s1 s2")
    text = text.replace("s1 2 X86_64 EPYC (linux)", "s1 6 X86_64 EPYC (linux)\n"
                        "s2 1 X86_64 EPYC (linux)")
    return text + QUEUES + RESOURCES + PLACES % n_licences


def start_job(*options):
    """Runs until `end_job`, or is told to."""
    start_job.count += 1
    path = os.path.join(f.marks, "stop.%d" % start_job.count)
    job = f.submit("south", "while [ ! -e %s ]; do sleep 0.05; done" % path, *options)
    start_job.paths[job] = path
    return job


start_job.count = 0
start_job.paths = {}


def end_job(job, state="DONE"):
    open(start_job.paths[job], "w").close()
    f.wait_state("south", job, state)


def shared(site, name):
    """[total, reserved, available] of `hosts -s`, of own hosts."""
    row, = [row for row in f.rows(site, "hosts", "-s")
            if row["resource"] == name and "@" not in row["location"]]
    return [row["total"], row["reserved"], row["available"]]


def own_hosts(listing):
    rows = f.rows("south", listing, "-R", "lic >= 2")
    return sorted(row["host"] for row in rows if "@" not in row["host"])


def waits_for(job, pending, words):
    def is_told():
        row = f.job("south", job)
        return row["pending"] == pending and words in (row["reason"] or "")
    f.wait_for("job %s to wait: %s" % (job, pending), is_told)


def test_it_waits_and_says_so():
    first = start_job("-q", "low", "-R", "rusage[lic=1:seat=1]")
    f.wait_state("south", first, "RUN")
    expect_equal(f.job("south", first)["reserved"], "lic=1/job,seat=1/job", "what it holds")
    expect_equal(shared("south", "lic"), [2, 1, 1], "hosts -s")
    both = start_job("-q", "low", "-R", "rusage[lic=2]")
    waits_for(both, "reserve", "lic (need 2")
    picky = start_job("-q", "low", "-R", "select[lic >= 2]")
    waits_for(picky, "spent", "lic (2, of which 1 are reserved)")
    text = f.cli("south", "hosts", "-s").stdout
    expect(["lic", "2", "1", "1"] in [line.split()[:4] for line in text.split("\n")], text)
    text = f.cli("south", "hosts", "-l", "s1").stdout
    expect("lic" in text.split("RESERVED")[-1], text)
    expect_equal([own_hosts(listing) for listing in ("hosts", "load")], [[], ["s1", "s2"]],
                 "-R of hosts, what is left; of load, what is told")
    end_job(first)
    f.wait_state("south", both, "RUN")
    expect_equal(shared("south", "lic"), [2, 2, 0], "all of it")
    end_job(both)
    f.wait_state("south", picky, "RUN")
    end_job(picky)
    expect_equal(shared("south", "lic"), [2, 0, 2], "none of it")


def test_a_queue_has_a_range():
    sentence = "The merged job-level and application-level rusage value is outside the range"
    for string, hint in (("rusage[lic=3]", "allows lic=from 1 to 2"),
                         ("rusage[lic=0]", "allows lic=from 1 to 2"),
                         ("rusage[lic=1 || seat=3]", "allows seat=up to 2")):
        refused = f.cli("south", "sub", "-q", "high", "-R", string, "true", code=255).stderr
        expect(sentence in refused and "Job not submitted." in refused and hint in refused,
               refused)
    job = start_job("-q", "high", "-R", "rusage[lic=2]")
    f.wait_state("south", job, "RUN")
    # Whoever is here already runs on under another range, over a restart too.
    f.configure("south", south_text().replace("[lic=1,2]", "[lic=1]"))
    f.cli("south", "reconfig")
    f.cli("south", "requeue", str(job))
    f.wait_state("south", job, "RUN")
    end_job(job)
    bad = south_text().replace("[lic=1,2]", "[nosuch=1]")
    f.configure("south", bad)
    refused = f.cli("south", "reconfig", code=1).stderr
    expect("there is no resource of this name" in refused, refused)
    f.configure("south", south_text())
    f.cli("south", "reconfig")


def test_who_stands_still_gives_it_back():
    low = start_job("-q", "low", "-R", "rusage[lic=2:seat=1]")
    f.wait_state("south", low, "RUN")
    high = start_job("-q", "high", "-R", "rusage[lic=1]")
    f.wait_state("south", high, "RUN")
    job = f.job("south", low)
    expect_equal([job["state"], job["preempted_by"]], ["SSUSP", str(high)], "who held it")
    expect_equal([shared("south", "lic"), shared("south", "seat")], [[2, 1, 1], [2, 1, 1]],
                 "the licences, and not the seat")
    other = start_job("-q", "low", "-R", "rusage[seat=2]")
    waits_for(other, "reserve", "seat (need 2")
    # Its slot is free, and one licence of two.
    expect_equal(f.job("south", low)["state"], "SSUSP", "it wants both")
    end_job(high)
    f.wait_state("south", low, "RUN")
    expect_equal(shared("south", "lic"), [2, 2, 0], "it has them again")
    end_job(low)
    f.wait_state("south", other, "RUN")
    end_job(other)


def test_alternatives():
    low = start_job("-q", "low", "-R", "rusage[lic=2]")
    f.wait_state("south", low, "RUN")
    either = start_job("-q", "low", "-R", "rusage[lic=1 || seat=1]")
    f.wait_state("south", either, "RUN")
    expect_equal(f.job("south", either)["reserved"], "seat=1/job", "the second")
    expect_equal(f.job("south", low)["state"], "RUN", "nobody is preempted for the first")
    # seat 1 is left: the first alternative is not to be had, lic is by preempting.
    high = start_job("-q", "high", "-R", "rusage[seat=2 || lic=2]")
    f.wait_state("south", high, "RUN")
    expect_equal(f.job("south", high)["reserved"], "lic=2/job", "by preempting")
    f.wait_state("south", low, "SSUSP")
    end_job(high)
    f.wait_state("south", low, "RUN")
    end_job(low)
    end_job(either)


def test_a_restart_changes_nothing():
    """Neither kill -9 of the site, nor that there are fewer or more of it now."""
    low = start_job("-q", "low", "-R", "rusage[lic=1:seat=1]")
    held = start_job("-q", "low", "-R", "rusage[lic=1]")
    f.wait_state("south", low, "RUN")
    f.wait_state("south", held, "RUN")
    high = start_job("-q", "high", "-R", "rusage[lic=1]")
    f.wait_state("south", high, "RUN")
    f.wait_for("one to stand still", lambda: f.n_jobs("south", "SSUSP") == 1)
    before = [shared("south", "lic"), shared("south", "seat")]
    still = [job for job in (low, held) if f.job("south", job)["state"] == "SSUSP"]
    f.restart("south")
    expect_equal([shared("south", "lic"), shared("south", "seat")], before, "what is held")
    expect_equal([job for job in (low, held) if f.job("south", job)["state"] == "SSUSP"], still,
                 "who stands still")
    waits = start_job("-q", "low", "-R", "rusage[lic=1]")
    waits_for(waits, "reserve", "lic (need 1")
    f.configure("south", south_text(1))
    f.cli("south", "reconfig")
    expect_equal(shared("south", "lic"), [1, 2, 0], "more is held than there is")
    f.configure("south", south_text(4))
    f.cli("south", "reconfig")
    f.wait_state("south", still[0], "RUN")
    f.wait_state("south", waits, "RUN")
    expect_equal(shared("south", "lic"), [4, 4, 0], "four of four")
    for job in (high, low, held, waits):
        end_job(job)
    f.configure("south", south_text())
    f.cli("south", "reconfig")


def test_instances_of_a_lease():
    """On borrowed hosts jobs reserve of what the lease has, over restarts of either side."""
    first = f.submit("south", "true", "-q", "away")  # which makes the lease
    f.wait_state("south", first, "DONE")
    f.wait_for("3 of 10", lambda: f.lease()["resources"][0]["instances"] == 3)
    two = start_job("-q", "away", "-R", "rusage[lic=2]")
    f.wait_state("south", two, "RUN")
    expect_equal(f.job("south", two)["reserved"], "lic=2/job", "of hosts that share it")
    more = start_job("-q", "away", "-R", "rusage[lic=2]")
    waits_for(more, "reserve", "lic (need 2")
    one = start_job("-q", "away", "-R", "rusage[lic=1]")
    f.wait_state("south", one, "RUN")

    def left():
        host, = f.job("south", one)["hosts"]
        row, = f.rows("south", "hosts", "-l", host)
        return [row["reserved"]["lic"][key] for key in ("total", "reserved", "available")]
    f.wait_for("all to be held of a borrowed host", lambda: left() == [3, 3, 0])
    expect_equal(shared("north", "lic"), [7, 0, 7], "the provider's own are its own")
    f.restart("south")
    f.restart("north")
    f.wait_state("south", two, "RUN")
    f.wait_for("all of it to be held after restarts", lambda: left() == [3, 3, 0])
    waits_for(more, "reserve", "lic (need 2")
    end_job(two)
    f.wait_state("south", more, "RUN")
    f.wait_for("as much to be held", lambda: left() == [3, 3, 0])
    end_job(one)
    end_job(more)


def setup():
    f.configure("south", south_text())
    f.configure("north", NORTH + RESOURCES + PLACES % 10 + SHARED)
    f.start("broker", "north", "south")


main(test_it_waits_and_says_so, test_a_queue_has_a_range, test_who_stands_still_gives_it_back, test_alternatives,
     test_a_restart_changes_nothing, test_instances_of_a_lease, shared=f, setup=setup)
