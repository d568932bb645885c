#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""JOB_CONTROLS with real daemons: signals and commands that suspend, resume and end jobs,
what they are told, those that hang, and on borrowed hosts."""
import os
import shutil
import sys
import time

from federation import NORTH, SOUTH, Federation, expect, expect_equal, main

f = Federation()

QUEUE = """
Begin Queue
QUEUE_NAME = %s
PRIORITY = %d
HOSTS = %s
%s
End Queue
"""

# Writes down each signal that it hears, and when it runs. A file object could not be used:
# it raises an error if a handler writes while the program is writing.
LISTENER = """
import os, signal, sys, time
name, stop, deaf = sys.argv[1:4]
out = os.open(name, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
def say(word):
    os.write(out, (word + "\\n").encode())
def hear(number, frame):
    say(signal.Signals(number).name)
    if number in (signal.SIGINT, signal.SIGTERM) and deaf != "deaf":
        sys.exit(3)
for number in (signal.SIGTSTP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGCONT,
               signal.SIGINT, signal.SIGTERM):
    signal.signal(number, hear)
say("begun")
while not os.path.exists(stop):
    say("tick")
    time.sleep(0.02)
"""


def marks(name):
    return os.path.join(f.marks, name)


def start(name, queue, deaf="-", site="south"):
    job = f.submit(site, "%s %s %s %s %s" % (f.python, os.path.join(f.dir, "listener.py"),
                                             marks(name), marks(name + ".stop"), deaf),
                   "-q", queue, "-J", name)
    f.wait_state(site, job, "RUN")
    f.wait_for(name + " to begin", lambda: "begun" in heard(name))
    return job


def finish(name):
    open(marks(name + ".stop"), "w").close()


def heard(name):
    try:
        with open(marks(name)) as file:
            return [word for word in file.read().split("\n") if word and word != "tick"]
    except FileNotFoundError:
        return []


def ticks(name):
    with open(marks(name)) as file:
        return file.read().count("tick")


def expect_suspended(name):
    """Nothing moves from when the job counts as suspended on."""
    before = ticks(name)
    time.sleep(0.3)
    expect_equal(ticks(name), before, name + " is suspended")


def runs_on(name):
    before = ticks(name)
    f.wait_for(name + " to run", lambda: ticks(name) > before)


def pid_in(name, *known):
    """The process id that a command leaves in a file: not one that is known."""
    found = []

    def is_there():
        with open(marks(name)) as file:
            found.append(int(file.read()))
        return found[-1] not in known
    f.wait_for("a process id in " + name, is_there)
    return found[-1]


def told(name):
    with open(marks(name)) as file:
        return dict(line.rstrip("\n").split("=", 1) for line in file if "=" in line)


def stop(job):
    f.cli("south", "stop", str(job))
    f.wait_state("south", job, "USUSP")


def resume(job):
    f.cli("south", "resume", str(job))
    f.wait_state("south", job, "RUN")


def test_signals():
    job = start("signals", "signals")
    stop(job)
    expect_suspended("signals")
    resume(job)
    # The first one's word may wait until the process runs again.
    f.wait_for("both signals", lambda: {"SIGUSR1", "SIGUSR2"} <= set(heard("signals")))
    runs_on("signals")
    f.cli("south", "kill", str(job))
    f.wait_state("south", job, "EXIT")
    expect("SIGTERM" in heard("signals") and "SIGINT" not in heard("signals"),
           heard("signals"))


def test_commands():
    job = start("commands", "commands")
    stop(job)
    said = told("commands.suspend")
    expect_equal((said["LSB_JOBID"], said["LS_EXEC_T"], said["LSB_SUSP_REASONS"]),
                 (str(job), "JOB_CONTROLS", "2"), "SUSPEND: a user's stop")
    expect(int(said["N_PIDS"]) >= 1 and said["ALL_LIVE"] == "yes", said)
    expect("SIGUSR1" in heard("commands"), "the command reached the job's processes")
    expect_suspended("commands")
    resume(job)
    f.wait_for("RESUME", lambda: os.path.exists(marks("commands.resume")))
    expect("LSB_SUSP_REASONS" not in told("commands.resume"), "only SUSPEND has reasons")
    runs_on("commands")
    f.cli("south", "kill", str(job))
    f.wait_state("south", job, "EXIT")
    expect("cleaned up" in open(marks("commands.end")).read(),
           "what ends a job is let come to its end")


def test_deaf():
    """What TERMINATE does not end, the usual signals do."""
    job = start("deaf", "signals", deaf="deaf")
    f.cli("south", "kill", str(job))
    f.wait_state("south", job, "EXIT")
    expect_equal([word for word in heard("deaf") if word != "begun"],
                 ["SIGTERM", "SIGINT", "SIGTERM"], "its own, then the ladder")


def test_hangs():
    """A command that hangs holds nobody up who gives another order; nor is it left."""
    job = start("hangs", "hangs")
    f.cli("south", "stop", str(job))
    pid = pid_in("hangs.pid")
    expect_equal(f.job("south", job)["state"], "RUN", "not yet")
    runs_on("hangs")
    f.cli("south", "resume", str(job))
    f.wait_for("the command to go", lambda: not os.path.exists("/proc/%d" % pid))
    runs_on("hangs")
    f.cli("south", "stop", str(job))
    pid = pid_in("hangs.pid", pid)
    f.cli("south", "kill", str(job))
    f.wait_state("south", job, "EXIT")
    f.wait_for("nobody to be left", lambda: not os.path.exists("/proc/%d" % pid))


def test_requeue():
    """SUSPEND[brequeue $LSB_JOBID]: who is preempted waits again."""
    job = start("again", "again")
    high = start("high", "high")
    f.wait_state("south", job, "PEND")
    expect_equal(f.job("south", job)["preemptions"], 1, "counted")
    expect_equal(f.job("south", high)["state"], "RUN", "who preempted")
    shown = f.cli("south", "hist", "-l", str(job)).stdout
    expect("TERM_PREEMPT" in shown, shown)
    finish("high")
    f.wait_state("south", job, "RUN")
    f.wait_for("it to begin anew", lambda: heard("again").count("begun") == 2)
    finish("again")
    f.wait_state("south", job, "DONE")


def test_borrowed():
    """The consumer's queue says what suspends its job, as the account that it has there."""
    first = f.submit("south", "true", "-q", "far")
    f.wait_state("south", first, "DONE")
    job = start("far", "far")
    stop(job)
    f.wait_for("SUSPEND", lambda: os.path.exists(marks("far.suspend")))
    expect_equal(told("far.suspend")["LSB_SUSP_REASONS"], "2", "why, over the lease")
    expect_suspended("far")
    resume(job)
    runs_on("far")
    finish("far")
    f.wait_state("south", job, "DONE")


def test_check():
    """What would wait for itself, and what is not there, is an error."""
    for value, says in (("TERMINATE[bkill $LSB_JOBID]", "wait for itself"),
                        ("SUSPEND[CHKPNT]", "checkpoints are not supported"),
                        ("SUSPEND[kill", "not closed"),
                        ("STOP[kill]", "expected SUSPEND"),
                        ("SUSPEND[SIGFOO]", "unknown signal")):
        path = os.path.join(f.dir, "check.conf")
        with open(path, "w") as file:
            file.write("Begin Site\nNAME = x\nEnd Site\nBegin Host\nHOST_NAME MXJ\nh 1\nEnd Host\n"
                       "Begin Queue\nQUEUE_NAME = q\nJOB_CONTROLS = %s\nEnd Queue\n" % value)
        result = f.run("sublet", "check", path, code=1)
        expect("JOB_CONTROLS" in result.stdout and says in result.stdout, result.stdout)


def script(name, text):
    path = os.path.join(f.dir, name)
    with open(path, "w") as file:
        file.write("#!/bin/sh\n" + text)
    os.chmod(path, 0o755)
    return path


def setup():
    # One that whoever leased jobs run as may start.
    f.python = shutil.which("python3", path="/usr/bin:/usr/local/bin") or sys.executable
    with open(os.path.join(f.dir, "listener.py"), "w") as file:
        file.write(LISTENER)
    tell = ("{ env; n=0; live=yes; for p in $LSB_JOBPIDS; do n=$((n+1)); kill -0 $p || live=no;"
            " done; echo N_PIDS=$n; echo ALL_LIVE=$live; } > %s.new; mv %s.new %s\n")
    suspend = marks("commands.suspend")
    far = marks("far.suspend")
    on_suspend = script("suspend", tell % (suspend, suspend, suspend)
                        + "kill -USR1 $LSB_JOBPIDS\n"
                        "until grep -q SIGUSR1 %s; do sleep 0.05; done\n" % marks("commands"))
    on_resume = script("resume", "env > %s\n" % marks("commands.resume"))
    on_end = script("end", "kill -KILL $LSB_JOBPIDS; sleep 0.5; echo cleaned up > %s\n"
                    % marks("commands.end"))
    on_hang = script("hang", "echo $$ > %s; exec sleep 1000\n" % marks("hangs.pid"))
    on_far = script("far", tell % (far, far, far))
    queues = (QUEUE % ("signals", 10, "s1", "JOB_CONTROLS = SUSPEND[SIGUSR1] RESUME[USR2] "
                       "TERMINATE[SIGTERM]")
              + QUEUE % ("commands", 10, "s1", "JOB_CONTROLS = SUSPEND[%s] RESUME[%s] "
                         "TERMINATE[%s]" % (on_suspend, on_resume, on_end))
              + QUEUE % ("hangs", 10, "s1", "JOB_CONTROLS = SUSPEND[%s]" % on_hang)
              + QUEUE % ("again", 10, "s1", "JOB_CONTROLS = SUSPEND[brequeue $LSB_JOBID]")
              + QUEUE % ("high", 90, "s1", "PREEMPTION = PREEMPTIVE[again]")
              + QUEUE % ("far", 10, "allremote", "JOB_CONTROLS = SUSPEND[%s]" % on_far))
    f.configure("south", SOUTH.replace("s1 2 ", "s1 1 ") + queues)
    f.configure("north", NORTH.replace("MC_RECLAIM_DELAY",
                                       "RECLAIM_POLICY = demand\nMC_RECLAIM_DELAY"))
    f.start("broker", "north", "south")


main(test_signals, test_commands, test_deaf, test_hangs, test_requeue, test_borrowed,
     test_check, shared=f, setup=setup)
