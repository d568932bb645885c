#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Preemption with real daemons, seen from the processes: each process of a job writes
down when it runs, again and again, and no two jobs of one slot ever run at one time: not
while one is being stopped, not over kill -9, not on borrowed slots."""
import datetime
import os
import shutil
import sys

from federation import NORTH, SOUTH, Federation, expect, expect_equal, main

f = Federation()

STAMP = """
import os, sys, time
name, stop = sys.argv[1:]
with open(name, "a") as out:
    while not os.path.exists(stop):
        out.write("%d\\n" % time.monotonic_ns())
        out.flush()
        time.sleep(0.001)
"""

QUEUES = """
Begin Queue
QUEUE_NAME = high
PRIORITY = 90
HOSTS = s1
PREEMPTION = PREEMPTIVE
End Queue
Begin Queue
QUEUE_NAME = low
PRIORITY = 10
HOSTS = s1
End Queue
Begin Queue
QUEUE_NAME = far_high
PRIORITY = 90
HOSTS = allremote
PREEMPTION = PREEMPTIVE[far_low]
End Queue
Begin Queue
QUEUE_NAME = far_low
PRIORITY = 10
HOSTS = allremote
End Queue
"""


def start_job(name, queue, *options):
    """A job of two processes, one in a session of its own, that run until told."""
    one = "%s %s %s %s" % (f.python, os.path.join(f.dir, "stamp.py"),
                           os.path.join(f.marks, name + ".%d"), mark(name))
    command = "setsid %s & %s & wait" % (one % 1, one % 2)
    return f.submit("south", command, "-q", queue, *options)


def mark(name):
    return os.path.join(f.marks, name + ".stop")


def end_job(name):
    open(mark(name), "w").close()


def stamps(name):
    times = []
    for part in (1, 2):
        path = os.path.join(f.marks, "%s.%d" % (name, part))
        if os.path.exists(path):
            with open(path) as file:
                times += [int(line) for line in file if line.endswith("\n")]
    return sorted(times)


def runs_now(name):
    before = len(stamps(name))
    f.wait_for(name + " to run", lambda: len(stamps(name)) > before + 5)


def turns(*names):
    """Whose process ran, in the order of time."""
    seen = sorted((time, name) for name in names for time in stamps(name))
    order = []
    for _, name in seen:
        if not order or order[-1] != name:
            order.append(name)
    return order


def test_one_slot():
    low = start_job("low", "low")
    f.wait_state("south", low, "RUN")
    runs_now("low")
    high = start_job("high", "high")
    f.wait_state("south", high, "RUN")
    runs_now("high")
    job = f.job("south", low)
    expect_equal((job["state"], job["preempted_by"], job["preemptions"]),
                 ("SSUSP", str(high), 1), "who gave way")
    expect("preempted by job <%s>" % high in job["reason"], job["reason"])
    expect("Times preempted" in f.cli("south", "jobs", "-l", str(low)).stdout, "jobs -l")
    text = f.cli("south", "jobs", "-l", str(high)).stdout
    expect("Times preempted" not in text and "Suspended for" not in text, "of one that never was")
    end_job("high")
    f.wait_state("south", high, "DONE")
    f.wait_state("south", low, "RUN")
    runs_now("low")
    end_job("low")
    f.wait_state("south", low, "DONE")
    expect_equal(turns("low", "high"), ["low", "high", "low"], "one after the other")


def test_crashes():
    """The site dies while a job is being stopped, and while it is suspended."""
    low = start_job("c_low", "low")
    f.wait_state("south", low, "RUN")
    runs_now("c_low")
    high = start_job("c_high", "high")
    f.kill9("south")
    f.start("south")
    f.wait_state("south", high, "RUN")
    runs_now("c_high")
    f.kill9("south")
    f.start("south")
    f.wait_state("south", high, "RUN")
    f.wait_state("south", low, "SSUSP")
    runs_now("c_high")
    end_job("c_high")
    f.wait_state("south", low, "RUN")
    runs_now("c_low")
    expect_equal(f.job("south", low)["preemptions"], 1, "counted once")
    end_job("c_low")
    f.wait_state("south", low, "DONE")
    expect_equal(turns("c_low", "c_high"), ["c_low", "c_high", "c_low"], "turns")


def test_user_over_system():
    low = start_job("u_low", "low")
    f.wait_state("south", low, "RUN")
    runs_now("u_low")
    high = start_job("u_high", "high")
    f.wait_state("south", high, "RUN")
    f.wait_state("south", low, "SSUSP")
    refusal = f.cli("south", "resume", str(low), code=1).stderr
    expect("suspended by the system" in refusal, refusal)
    f.cli("south", "stop", str(low))
    f.wait_state("south", low, "USUSP")
    runs_now("u_high")
    end_job("u_high")
    f.wait_state("south", high, "DONE")
    expect_equal(f.job("south", low)["state"], "USUSP", "the user's word holds")
    f.cli("south", "resume", str(low))
    f.wait_state("south", low, "RUN")
    runs_now("u_low")
    # A user's stop gives the slot away too, and the job takes its turn to get it back.
    f.cli("south", "stop", str(low))
    f.wait_state("south", low, "USUSP")
    other = start_job("u_other", "low")
    f.wait_state("south", other, "RUN")
    f.cli("south", "resume", str(low))
    f.wait_state("south", low, "SSUSP")
    runs_now("u_other")
    end_job("u_other")
    f.wait_state("south", low, "RUN")
    runs_now("u_low")
    end_job("u_low")
    f.wait_state("south", low, "DONE")
    expect_equal(turns("u_low", "u_high", "u_other"),
                 ["u_low", "u_high", "u_low", "u_other", "u_low"], "turns")


def test_killed_where_it_stands():
    low = start_job("k_low", "low")
    f.wait_state("south", low, "RUN")
    runs_now("k_low")
    high = start_job("k_high", "high")
    f.wait_state("south", high, "RUN")
    runs_now("k_high")
    f.cli("south", "kill", str(low))
    f.wait_state("south", low, "EXIT")
    runs_now("k_high")
    end_job("k_high")
    f.wait_state("south", high, "DONE")
    expect_equal(turns("k_low", "k_high"), ["k_low", "k_high"], "it did not wake")


def clean_up_in_turn(low_queue, high_queue, name, *options):
    """Killed while another has its slot: what comes after it waits for the slot."""
    after, above = name + "_after", name + "_high"
    command = "%s %s %s %s" % (f.python, os.path.join(f.dir, "stamp.py"),
                               os.path.join(f.marks, after + ".1"), mark(after))
    low = start_job(name, low_queue, "-Ep", command)
    f.wait_state("south", low, "RUN")
    runs_now(name)
    high = start_job(above, high_queue, *options)
    f.wait_state("south", high, "RUN")
    runs_now(above)
    f.cli("south", "kill", str(low))
    runs_now(above)
    job = f.job("south", low)
    expect_equal(job["state"], "SSUSP", "it waits")
    expect("; ends as soon as it has its slots back, since commands run after it" in job["reason"], job["reason"])
    expect_equal(stamps(after), [], "nothing runs beside")
    end_job(above)
    f.wait_state("south", high, "DONE")
    runs_now(after)
    expect_equal(f.job("south", low)["state"], "RUN", "they belong to the job")
    end_job(after)
    f.wait_state("south", low, "EXIT")
    expect_equal(turns(above, after), [above, after], "one after the other")


def test_cleans_up_in_its_slot():
    clean_up_in_turn("low", "high", "own")


def test_parallel():
    """Of a parallel job all processes are suspended before its slots are another's."""
    first = f.submit("south", "true", "-q", "far_low")  # which makes the lease
    f.wait_state("south", first, "DONE")
    low = start_job("p_low", "far_low", "-n", "2")
    f.wait_state("south", low, "RUN")
    runs_now("p_low")
    high = start_job("p_high", "far_high", "-n", "8")
    f.wait_state("south", high, "RUN")
    runs_now("p_high")
    expect_equal(f.job("south", low)["state"], "SSUSP", "on borrowed slots")
    lease = f.lease()
    expect_equal(lease["consumer"]["used"], 8, "it keeps its slots in the lease")
    f.kill9("north")
    f.start("north")
    runs_now("p_high")
    end_job("p_high")
    f.wait_state("south", high, "DONE")
    f.wait_state("south", low, "RUN")
    runs_now("p_low")
    end_job("p_low")
    f.wait_state("south", low, "DONE")
    expect_equal(turns("p_low", "p_high"), ["p_low", "p_high", "p_low"], "turns")


def test_cleans_up_in_a_borrowed_slot():
    clean_up_in_turn("far_low", "far_high", "far", "-n", "8")


def test_why():
    shown = f.cli("south", "queues", "-l", "far_high").stdout
    expect("far_low" in shown.split("Preempts")[1].split("\n")[0], shown)
    row, = [row for row in f.rows("south", "queues") if row["queue"] == "far_high"]
    expect_equal(row["preemption"], [{"queue": "far_low", "preference": 0}], "as JSON")
    matrix = f.cli("south", "queues", "-l").stdout.split("PREEMPTION")[1].split("\n")
    columns = matrix[0].split()
    high, = [line.split() for line in matrix if line.startswith("high ")]
    far, = [line.split() for line in matrix if line.startswith("far_high ")]
    expect_equal((dict(zip(columns, high[1:]))["low"], dict(zip(columns, far[1:]))),
                 ("yes", {name: "yes" if name == "far_low" else "-" for name in columns}),
                 "the matrix")
    first = start_job("w_first", "high")
    f.wait_state("south", first, "RUN")
    waiting = f.submit("south", "true", "-q", "high")
    f.wait_for("a reason", lambda: "no running job on its hosts may be preempted by it" in
               (f.job("south", waiting)["reason"] or ""))
    end_job("w_first")
    f.wait_state("south", waiting, "DONE")


def window_at(hours):
    """A run window of an hour that begins so many hours from now, where the daemons are."""
    now = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(hours=5, minutes=30)
    first = now + datetime.timedelta(hours=hours)
    last = first + datetime.timedelta(hours=1)
    return "RUN_WINDOW = %d:%02d-%d:%02d\n" % (first.hour, first.minute, last.hour, last.minute)


def test_window():
    """Outside of the run window the processes of a job are suspended. The clock on the wall
    is that of TZ."""
    low = start_job("t_low", "low")
    f.wait_state("south", low, "RUN")
    runs_now("t_low")
    queue = "QUEUE_NAME = low\n"
    text = SOUTH.replace("s1 2 ", "s1 1 ") + QUEUES
    f.configure("south", text.replace(queue, queue + window_at(2)))
    f.cli("south", "reconfig")
    f.wait_state("south", low, "SSUSP")
    expect("outside of the run window" in f.job("south", low)["reason"], "why")
    status = {row["queue"]: row["status"] for row in f.rows("south", "queues")}
    expect_equal(status["low"], "Open:Inact_Win", "its queue")
    waits = f.submit("south", "true", "-q", "low")
    high = start_job("t_high", "high")
    f.wait_state("south", high, "RUN")
    runs_now("t_high")
    end_job("t_high")
    f.wait_state("south", high, "DONE")
    expect_equal(f.job("south", low)["state"], "SSUSP", "its slot is free, and its window shut")
    f.wait_for("who came to wait", lambda: f.job("south", waits)["pending"] == "queue_window")
    f.configure("south", text.replace(queue, queue + window_at(-0.5)))
    f.cli("south", "reconfig")
    f.wait_state("south", low, "RUN")
    runs_now("t_low")
    end_job("t_low")
    f.wait_state("south", low, "DONE")
    f.wait_state("south", waits, "DONE")
    expect_equal(turns("t_low", "t_high"), ["t_low", "t_high", "t_low"], "turns")
    f.configure("south", text)
    f.cli("south", "reconfig")


def setup():
    f.environment["TZ"] = "XST-5:30"
    # One that whoever leased jobs run as may start.
    f.python = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable
    with open(os.path.join(f.dir, "stamp.py"), "w") as file:
        file.write(STAMP)
    f.configure("south", SOUTH.replace("s1 2 ", "s1 1 ") + QUEUES)
    f.configure("north", NORTH.replace("MC_RECLAIM_DELAY",
                                       "RECLAIM_POLICY = demand\nMC_RECLAIM_DELAY"))
    f.start("broker", "north", "south")


main(test_one_slot, test_crashes, test_user_over_system, test_killed_where_it_stands,
     test_cleans_up_in_its_slot, test_parallel, test_cleans_up_in_a_borrowed_slot,
     test_why, test_window, shared=f, setup=setup)
