#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SLOT_RESERVE, RESOURCE_RESERVE and BACKFILL with real daemons: LSF's example in seconds,
over a kill -9 of the site; the same with licences; who may preempt a backfill job; a lease
whose slots are wanted by both."""
import os

from federation import SOUTH, Federation, expect, expect_equal, main

QUEUES = """
Begin Queue
QUEUE_NAME = top
PRIORITY = 90
HOSTS = all
PREEMPTION = PREEMPTIVE
End Queue
Begin Queue
QUEUE_NAME = wide
PRIORITY = 80
HOSTS = all
SLOT_RESERVE = MAX_RESERVE_TIME[600]
End Queue
Begin Queue
QUEUE_NAME = urgent
PRIORITY = 75
HOSTS = all
PREEMPTION = PREEMPTIVE[short]
End Queue
Begin Queue
QUEUE_NAME = short
PRIORITY = 50
HOSTS = all
BACKFILL = Y
PREEMPTION = PREEMPTABLE
End Queue
Begin Queue
QUEUE_NAME = many
PRIORITY = 45
HOSTS = all
RESOURCE_RESERVE = MAX_RESERVE_TIME[600]
End Queue
Begin Queue
QUEUE_NAME = plain
PRIORITY = 30
HOSTS = all
End Queue
Begin Resource
RESOURCENAME TYPE INTERVAL INCREASING DESCRIPTION
lic Numeric () N (licences)
End Resource
Begin ResourceMap
RESOURCENAME LOCATION
lic (3@[all])
End ResourceMap
Begin Queue
QUEUE_NAME = wideaway
PRIORITY = 40
HOSTS = allremote
SLOT_RESERVE = MAX_RESERVE_TIME[600]
End Queue
Begin Parameters
MBD_SLEEP_TIME = 1
PREEMPT_JOBTYPE = BACKFILL
End Parameters
"""

f = Federation()


def start():
    text = SOUTH.replace("s1 2 X86_64 EPYC (linux)", "s1 4 X86_64 EPYC (linux)")
    f.configure("south", text + QUEUES)
    f.start("broker", "north", "south")


def start_job(*options):
    """Runs until `end_job`."""
    start_job.count += 1
    path = os.path.join(f.marks, "stop.%d" % start_job.count)
    job = f.submit("south", "while [ ! -e %s ]; do sleep 0.05; done" % path, *options)
    start_job.paths[job] = path
    return job


start_job.count = 0
start_job.paths = {}


def end_job(job):
    open(start_job.paths[job], "w").close()
    f.wait_state("south", job, "DONE")


def begin():
    """One of four slots is in use, a job that wants all has reserved the others."""
    first = start_job("-q", "wide", "-W", "120")
    f.wait_state("south", first, "RUN")
    wide = start_job("-q", "wide", "-n", "4", "-W", "60")
    f.wait_for("slots to be reserved",
               lambda: f.job("south", wide)["reserved_slots"] == {"s1": 3})
    return first, wide


def rsv(listing, name):
    key = {"hosts": "host", "queues": "queue"}[listing]
    return [row["rsv"] for row in f.rows("south", listing) if row[key] == name][0]


def test_ends_before():
    first, wide = begin()
    expect_equal((rsv("hosts", "s1"), rsv("queues", "wide")), (3, 3), "RSV")
    expect(f.job("south", wide)["start_estimate"] is not None, "nobody knows the start")
    late = start_job("-q", "short", "-n", "2", "-W", "240")
    filler = start_job("-q", "short", "-n", "2", "-W", "60")
    f.wait_state("south", filler, "RUN")
    expect_equal(f.job("south", late)["state"], "PEND", "who would end too late")
    f.restart("south")
    row = f.job("south", filler)
    expect_equal((row["state"], row["backfill_of"]), ("RUN", str(wide)), "after kill -9")
    f.wait_for("the reservation after kill -9",
               lambda: f.job("south", wide)["reserved_slots"] == {"s1": 3})
    shown = f.cli("south", "jobs", "-l", str(wide)).stdout
    expect("it has reserved 3 of 4 slots, of which backfill jobs use 2" in shown, shown)
    told = f.cli("south", "hist", "-l", str(filler)).stdout
    expect("backfill, on slots that job <%s> reserves" % wide in told, told)
    end_job(filler)
    expect_equal(f.job("south", wide)["state"], "PEND", "the reserving job")
    end_job(first)
    f.wait_state("south", wide, "RUN")
    expect_equal((rsv("hosts", "s1"), rsv("queues", "wide")), (0, 0), "RSV at last")
    end_job(wide)
    end_job(late)


def test_licences():
    """A job of one slot that wants all licences keeps those that are left."""
    first = start_job("-q", "plain", "-W", "120", "-R", "rusage[lic=1]")
    f.wait_state("south", first, "RUN")
    many = start_job("-q", "many", "-W", "60", "-R", "rusage[lic=3]")
    kept = {"s1": {"lic": 2}}
    f.wait_for("licences to be reserved",
               lambda: f.job("south", many)["reserved_resources"] == kept)
    plain = start_job("-q", "plain", "-W", "1", "-R", "rusage[lic=1]")
    filler = start_job("-q", "short", "-W", "60", "-R", "rusage[lic=2]")
    f.wait_state("south", filler, "RUN")
    f.wait_for("who comes behind to wait",
               lambda: f.job("south", plain)["pending"] == "reserve")
    shown = f.cli("south", "jobs", "-l", str(many)).stdout
    expect("0 of 3 lic on s1; it can start at about" in shown, shown)
    f.restart("south")
    end_job(filler)
    f.wait_for("the licences after kill -9",
               lambda: f.job("south", many)["reserved_resources"] == kept)
    expect_equal(f.job("south", plain)["state"], "PEND", "after kill -9")
    end_job(first)
    f.wait_state("south", many, "RUN")
    end_job(many)
    end_job(plain)


def test_preemption():
    """LSF's queueR, queueB and queueP, and one above queueR."""
    first, wide = begin()
    filler = start_job("-q", "short", "-n", "3", "-W", "60")
    f.wait_state("south", filler, "RUN")
    urgent = start_job("-q", "urgent")
    top = start_job("-q", "top")
    f.wait_state("south", top, "RUN")
    row = f.job("south", filler)
    expect_equal((row["state"], row["preempted_by"]), ("SSUSP", str(top)), "the filler")
    expect_equal(f.job("south", urgent)["state"], "PEND", "who stands below wide")
    # It goes on in its gap, although the slots that it had were reserved again.
    end_job(top)
    f.wait_state("south", filler, "RUN")
    for job in (filler, first, wide, urgent):
        end_job(job)


def test_lease():
    """The slot of a lease that is still to be made is kept for nobody; afterwards what
    is kept is idle to the contract, and the provider may have it back."""
    wide = start_job("-q", "wideaway", "-n", "8", "-W", "60")
    single = start_job("-q", "wideaway", "-W", "60")
    f.wait_state("south", single, "RUN")
    f.wait_for("slots of the lease to be reserved",
               lambda: sum((f.job("south", wide)["reserved_slots"] or {}).values()) > 1)
    f.cli("north", "sub", "-n", "4", "true")
    f.wait_for("the provider's job to end", lambda: f.n_jobs("north", "DONE") == 1)
    expect_equal(f.job("south", wide)["state"], "PEND", "the reserving job")
    end_job(single)
    f.wait_state("south", wide, "RUN")
    end_job(wide)


if __name__ == "__main__":
    main(test_ends_before, test_licences, test_preemption, test_lease, shared=f, setup=start)
