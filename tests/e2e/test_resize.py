#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs that are resized while they run, with real daemons: what they are told and what
they say to it, what their users ask for, and kill -9 of everybody in the midst of it."""
import os
import signal
import time

from federation import NORTH, SOUTH, Federation, expect, expect_equal, main

f = Federation()

QUEUES = """
Begin Queue
QUEUE_NAME = low
PRIORITY = 1
HOSTS = all
End Queue
Begin Queue
QUEUE_NAME = high
PRIORITY = 90
HOSTS = all
PREEMPTION = PREEMPTIVE[low]
End Queue
Begin Application
NAME = solver
RESIZABLE_JOBS = auto
RESIZE_NOTIFY_CMD = @TELL@ solver
End Application
Begin Application
NAME = fixed
RESIZABLE_JOBS = N
End Application
"""

# Writes down what it is told, and exits with what it is let go with.
TELL = """#!/bin/sh
n=1
while ! mkdir @MARKS@/$1.$n 2>/dev/null; do n=$((n + 1)); done
env > @MARKS@/$1.$n/new
mv @MARKS@/$1.$n/new @MARKS@/$1.$n/env
while [ ! -e @MARKS@/$1.$n/go ]; do sleep 0.05; done
exit $(cat @MARKS@/$1.$n/go)
"""


def mark(*words):
    return os.path.join(f.marks, *words)


def told(name, n):
    """The variables of the n-th time that the job was told of a resize."""
    path = mark("%s.%d" % (name, n), "env")
    f.wait_for("%s to be told for time %d" % (name, n), lambda: os.path.exists(path))
    with open(path) as file:
        return dict(line.rstrip("\n").split("=", 1) for line in file if "=" in line)


def say(name, n, code):
    path = mark("%s.%d" % (name, n), "go")
    with open(path + ".new", "w") as file:
        file.write("%d\n" % code)
    os.rename(path + ".new", path)


def submit(name, *options):
    """A job that writes down that it runs, until it is told to end."""
    end = mark(name + ".end")
    return f.submit("south", "while [ ! -e %s ]; do echo . >> %s; sleep 0.05; done"
                    % (end, mark(name + ".ticks")), "-J", name, *options)


def end(name, job):
    open(mark(name + ".end"), "w").close()
    f.wait_state("south", job, "DONE")


def ticks(name):
    return os.path.getsize(mark(name + ".ticks"))


def resize(job, *words, code=0):
    result = f.cli("south", "resize", str(job), *words, code=code)
    return result.stderr if code else result.stdout


def fields(job):
    row = f.job("south", job)
    return row["slots"], row["pending_slots"], row["resizing"]


def wait_fields(job, *wanted):
    f.wait_for("job %s to have %r" % (job, wanted), lambda: fields(job) == wanted)


def begin(name, *options):
    """A job with both slots of s1, which asks for two more."""
    blocker = submit(name + "-blocker", "-n", "2", "-m", "s2", "-q", "low")
    f.wait_state("south", blocker, "RUN")
    job = submit(name, "-n", "2,4", *options)
    f.wait_state("south", job, "RUN")
    expect_equal(f.job("south", job)["hosts"], {"s1": 2}, "its hosts")
    wait_fields(job, 2, 2, None)
    return job, lambda: end(name + "-blocker", blocker)


def test_grow_and_release():
    """Told, and it agrees; told, and it does not; from then on with other variables."""
    after = mark("grow.after")
    job, make_room = begin("grow", "-q", "low", "-app", "solver", "-Ep",
                           "env > %s.new; mv %s.new %s" % (after, after, after))
    expect("slot" in f.job("south", job)["pending_slots_reason"], "why it has no more")
    make_room()
    env = told("solver", 1)
    expect_equal({key: env.get(key) for key in env if key.startswith("LSB_RESIZE")},
                 {"LSB_RESIZE_EVENT": "grow", "LSB_RESIZE_HOSTS": "s2 2",
                  "LSB_RESIZE_NOTIFY_OK": "0", "LSB_RESIZE_NOTIFY_FAIL": "1"}, "what it is told")
    expect_equal(env["LSB_MCPU_HOSTS"], "s1 2 s2 2", "its hosts then")
    expect_equal(env["LSB_HOSTS"], "s1 s1 s2 s2", "slot by slot")
    expect_equal(env["LSB_JOBID"], str(job), "the job's own variables")
    wait_fields(job, 4, None, "grow")
    say("solver", 1, 0)
    wait_fields(job, 4, None, None)
    expect_equal(f.job("south", job)["hosts"], {"s1": 2, "s2": 2}, "hosts")
    expect_equal(sum(row["run"] for row in f.rows("south", "hosts") if not row["lease"]), 4, "RUN")

    expect_equal(resize(job, "release", "1@s2"),
                 "Job <%d> is being resized: releases s2 1\n" % job, "answer")
    env = told("solver", 2)
    expect_equal((env["LSB_RESIZE_EVENT"], env["LSB_RESIZE_HOSTS"], env["LSB_MCPU_HOSTS"]),
                 ("shrink", "s2 1", "s1 2 s2 1"), "what it is told")
    expect("under way" in resize(job, "slots=2", code=1), "one at a time")
    expect_equal(fields(job), (4, None, "shrink"), "its own until it agrees")
    say("solver", 2, 7)
    wait_fields(job, 4, None, None)

    resize(job, "release", "all-but", "s1")
    told("solver", 3)
    say("solver", 3, 0)
    wait_fields(job, 2, None, None)
    resize(job, "slots=3")
    told("solver", 4)
    say("solver", 4, 0)
    wait_fields(job, 3, None, None)
    end("grow", job)
    shown = f.cli("south", "hist", "-l", str(job)).stdout
    expect("Resized to <" in shown and "2 slots more: s2 2" in shown, shown)
    expect("1 slot less: s2 1: not wanted, its resize notification command exited with 7"
           in shown, shown)
    f.wait_for("the command after it", lambda: os.path.exists(after))
    with open(after) as file:
        variables = file.read()
    expect("LSB_MCPU_HOSTS=s1 2 s2 1\n" in variables, variables)


def test_refused():
    """A command that does not want more: the slots are others', and it is asked again."""
    job, make_room = begin("shy", "-q", "low", "-ar", "-rnc", f.tell + " shy")
    make_room()
    told("shy", 1)
    say("shy", 1, 1)
    wait_fields(job, 2, 2, None)
    expect("its resize notification command refused more slots; this is tried again" in f.job("south", job)["pending_slots_reason"], "why")
    other = submit("other", "-n", "2", "-q", "low")
    f.wait_state("south", other, "RUN")
    end("other", other)
    expect_equal(resize(job, "cancel"), "Job <%d> requests no more slots\n" % job, "answer")
    expect_equal(fields(job), (2, None, None), "no request")
    end("shy", job)


def test_stop_waits():
    """While it is told of more, nothing suspends it."""
    job, make_room = begin("held", "-q", "low", "-ar", "-rnc", f.tell + " held")
    make_room()
    told("held", 1)
    f.cli("south", "stop", str(job))
    before = ticks("held")
    f.wait_for("the job to go on", lambda: ticks("held") > before + 20)
    expect_equal(f.job("south", job)["state"], "RUN", "its state")
    say("held", 1, 0)
    f.wait_state("south", job, "USUSP")
    expect_equal(fields(job), (4, None, None), "all that it asked for")
    f.cli("south", "resume", str(job))
    f.wait_state("south", job, "RUN")
    end("held", job)


def test_preempted_as_a_whole():
    """What it has grown to is what others get by preempting it."""
    job, make_room = begin("low", "-q", "low", "-ar")
    make_room()
    wait_fields(job, 4, None, None)
    high = submit("high", "-n", "4", "-q", "high")
    f.wait_state("south", high, "RUN")
    f.wait_state("south", job, "SSUSP")
    end("high", high)
    f.wait_state("south", job, "RUN")
    end("low", job)


def kill_hosts():
    for host in ("s1", "s2"):
        for pid in list(f.hosts(host)):
            os.kill(pid, signal.SIGKILL)


def test_kill9_site():
    """Its site dies while it is told, and once more when it has answered."""
    job, make_room = begin("site", "-q", "low", "-ar", "-rnc", f.tell + " site")
    make_room()
    told("site", 1)
    f.restart("south")
    f.wait_state("south", job, "RUN")
    wait_fields(job, 4, None, "grow")
    f.kill9("south")
    say("site", 1, 0)
    f.start("south")
    wait_fields(job, 4, None, None)
    expect(not os.path.exists(mark("site.2")), "it is told once")
    end("site", job)


def test_kill9_host():
    """The agents die while it is told; guard and command outlive them."""
    job, make_room = begin("host", "-q", "low", "-ar", "-rnc", f.tell + " host")
    make_room()
    told("host", 1)
    kill_hosts()
    say("host", 1, 0)
    wait_fields(job, 4, None, None)
    f.wait_state("south", job, "RUN")
    resize(job, "release", "s2")
    told("host", 2)
    kill_hosts()
    f.restart("south")
    f.wait_state("south", job, "RUN")
    say("host", 2, 0)
    wait_fields(job, 2, None, None)
    expect(not os.path.exists(mark("host.3")), "it is told once of each")
    end("host", job)


def test_kill_while_told():
    """Nobody waits for a command that hangs, and it is not left behind."""
    job, make_room = begin("gone", "-q", "low", "-ar", "-rnc",
                           "echo $$ > %s.new; mv %s.new %s; exec sleep 1000"
                           % ((mark("gone.pid"),) * 3))
    make_room()
    f.wait_for("the command", lambda: os.path.exists(mark("gone.pid")))
    with open(mark("gone.pid")) as file:
        pid = int(file.read())
    f.cli("south", "kill", str(job))
    f.wait_state("south", job, "EXIT")
    f.wait_for("the command to go", lambda: not os.path.exists("/proc/%d" % pid))


def test_borrowed():
    """On borrowed hosts a job keeps what it has."""
    first = f.submit("south", "true", "-q", "away")
    f.wait_state("south", first, "DONE")
    job = f.submit("south", "sleep 1000", "-q", "away", "-ar", "-n", "1,3")
    f.wait_state("south", job, "RUN")
    expect_equal(f.job("south", job)["pending_slots"], None, "no request")
    expect("borrowed" in resize(job, "slots=1", code=1), "refused")
    f.cli("south", "kill", str(job))
    f.wait_state("south", job, "EXIT")


def test_submission():
    """What cannot be is refused, and nothing is submitted."""
    for options, code, says in (
            (["-ar", "-app", "fixed"], 1, "does not allow resizable jobs"),
            (["-rnc", "true"], 1, "not resizable"),
            (["-ar", "-rnc", " "], 2, "-rnc"),
            (["-ar", "-R", "rusage[mem=1||mem=2]"], 1, "alternative"),
            (["-ar", "-R", "{select[mem>1]} || {select[swp>1]}"], 1, "alternative")):
        result = f.cli("south", "sub", *options, "true", code=code)
        expect(says in result.stderr, result.stderr)
    for words in ([], ["12"], ["12", "grow"], ["12", "slots=x"], ["12", "release"],
                  ["12", "cancel", "n1"], ["12", "cancel", "-c"], ["12", "release", "x@n1"]):
        f.cli("south", "resize", *words, code=2)
    expect("no matching job" in f.cli("south", "resize", "9999", "cancel", code=1).stderr, "9999")


def setup():
    f.tell = os.path.join(f.dir, "tell")
    with open(f.tell, "w") as file:
        file.write(TELL.replace("@MARKS@", f.marks))
    os.chmod(f.tell, 0o755)
    f.configure("south", SOUTH.replace("HOSTS_HERE = s1", "HOSTS_HERE = s1 s2")
                .replace("s1 2 X86_64 EPYC (linux)",
                         "s1 2 X86_64 EPYC (linux)\ns2 2 X86_64 EPYC (linux)")
                + QUEUES.replace("@TELL@", f.tell))
    f.configure("north", NORTH.replace("MC_RECLAIM_DELAY",
                                       "RECLAIM_POLICY = demand\nMC_RECLAIM_DELAY"))
    f.start("broker", "north", "south")


main(test_grow_and_release, test_refused, test_stop_waits, test_preempted_as_a_whole,
     test_kill9_site, test_kill9_host, test_kill_while_told, test_borrowed, test_submission,
     shared=f, setup=setup)
