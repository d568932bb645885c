#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is around a job's execution, with real processes at home and on a lease: limits
that end it, commands before and after it, application profiles, how often it is tried
again. None of it runs twice, whoever is killed."""
import contextlib
import os
import re
import signal

from federation import SOUTH, Federation, expect, expect_equal, main

f = Federation()
BOTH = ("all", "allremote")  # at home, on the lease

QUEUES = "".join("""
Begin Queue
QUEUE_NAME = %(name)s
PRIORITY = 40
HOSTS = %(hosts)s
CPULIMIT = 1s 2s
MEMLIMIT = 100 200
PROCESSLIMIT = 20
NICE = 3
End Queue
Begin Queue
QUEUE_NAME = %(name)s-commands
PRIORITY = 41
HOSTS = %(hosts)s
PRE_EXEC = echo "queue before $LSB_JOBID" >> %(marks)s/$MARK
POST_EXEC = echo "queue after $LSB_JOBEXIT_STAT $LSB_JOBPEND" >> %(marks)s/$MARK
MAX_PREEXEC_RETRY = 2
End Queue
""" % {"name": "q" + hosts, "hosts": hosts, "marks": f.marks} for hosts in BOTH) + """
Begin Queue
QUEUE_NAME = again
PRIORITY = 50
REQUEUE_EXIT_VALUES = 98 99
MAX_JOB_REQUEUE = 2
POST_EXEC = echo "after $LSB_JOBEXIT_STAT pend=$LSB_JOBPEND of $LSB_EXIT_REQUEUE" >> %(marks)s/after-$MARK
End Queue
Begin Application
NAME = gene
CPULIMIT = 1:00
MEMLIMIT = 150
PRE_EXEC = echo "app before" >> %(marks)s/$MARK
POST_EXEC = echo "app after" >> %(marks)s/$MARK
JOB_STARTER = env GENE=yes sh -c '%%USRCMD'
REQUEUE_EXIT_VALUES = 7
MAX_JOB_REQUEUE = 1
SUCCESS_EXIT_VALUES = 5
RES_REQ = select[ncpus >= 1]
End Application
LSF_UNIT_FOR_LIMITS = MB
""" % {"marks": f.marks}


def submit(*args, mark="none"):
    result = f.run("sublet", "--socket", os.path.join(f.dir, "south", "sublet.sock"), "sub",
                   *args, code=0, environment=dict(f.environment, MARK=mark))
    return result.stdout.split("<")[1].split(">")[0]


def ended(job):
    f.wait_state("south", job, "DONE", "EXIT")
    return f.job("south", job)


def refused(*args):
    return f.cli("south", "sub", *args, code=1).stderr


def trace(mark):
    try:
        with open(os.path.join(f.marks, mark)) as file:
            return file.read().splitlines()
    except FileNotFoundError:
        return []


# ---- limits

def test_limits():
    """The queue's default, what the job asks for, and where it runs make no difference."""
    burn = "while :; do :; done"
    # More than it may have, long before its processor time is over.
    memory = "head -c 120000000 /dev/zero | tail -c 100000000 | sleep 60"
    jobs = [(submit("-q", "q" + hosts, *options, command), word)
            for hosts in BOTH for options, command, word in (
                ((), burn + " & " + burn + "; wait", "TERM_CPULIMIT"),
                (("-M", "50", "-c", "2s"), memory, "TERM_MEMLIMIT"),
                (("-p", "2"), "sleep 60 & sleep 60 & sleep 60", "TERM_PROCESSLIMIT"),
                (("-W", "1s"), "sleep 60", "TERM_RUNLIMIT"))]
    for job, word in jobs:
        row = ended(job)
        expect_equal(row["state"], "EXIT", "state of " + word)
        expect(word in row["reason"], "%s in %r" % (word, row["reason"]))


def test_limits_are_shown_and_bounded():
    job = submit("-q", "qall", "-M", "64", "-c", "2s", "-C", "0", "-v", "4GB", "sleep 60")
    expect_equal(f.job("south", job)["limits"],
                 {"cpu_s": 2, "mem_kib": 65536, "processes": 20, "core_kib": 0,
                  "swap_kib": 4 << 20, "nice": 3}, "limits of the job")
    expect("mem_kib=65536" in f.cli("south", "jobs", "-l", job).stdout, "jobs -l")
    f.cli("south", "kill", job)
    text = refused("-q", "qall", "-M", "201", "true")
    expect("MEMLIMIT: Cannot exceed queue's hard limit(s), which is 204800 KB" in text, text)
    text = refused("-q", "qall", "-c", "3s", "true")
    expect("CPULIMIT: Cannot exceed queue's hard limit" in text, text)
    text = refused("-c", "1/fast", "true")
    expect("-c: fast is no host model" in text, text)
    for options in (("-M", "4XB"), ("-c", "soon"), ("-p", "0"), ("-c", "1/a/b")):
        f.cli("south", "sub", *options, "true", code=2)
    row, = [row for row in f.rows("south", "queues") if row["queue"] == "qall"]
    expect_equal((row["limits"]["mem_kib"], row["default_limits"]["mem_kib"]),
                 (204800, 102400), "of the queue")


def test_imposed():
    for hosts in BOTH:
        path = os.path.join(f.dir, "imposed-" + hosts)
        job = submit("-q", "q" + hosts, "-F", "1", "-S", "8", "-C", "0", "-o", path,
                     "nice; ulimit -c; ulimit -s; ulimit -f")
        expect_equal(ended(job)["state"], "DONE", "state")
        expect_equal(trace(path), ["3", "0", "8192", "2048"], "at " + hosts)


# ---- before and after

def test_commands_around():
    for hosts in BOTH:
        mark = "around-" + hosts
        job = submit("-q", "q%s-commands" % hosts, "-E",
                     "echo job before >> %s/$MARK" % f.marks,
                     "-Ep", "echo job after >> %s/$MARK" % f.marks,
                     "echo job >> %s/$MARK; exit 3" % f.marks, mark=mark)
        row = ended(job)
        expect_equal((row["state"], row["exit_code"]), ("EXIT", 3), "its own exit counts")
        expect_equal(trace(mark), ["queue before " + job, "job before", "job", "job after",
                                   "queue after 768 "], "order at " + hosts)
        expect_equal(len(row["pre_exec"]), 2, "commands that are shown")


def test_pre_exec_fails():
    """It waits again, is tried as often as the queue says, then held."""
    for hosts in BOTH:
        mark, go = "fails-" + hosts, os.path.join(f.marks, "go-" + hosts)
        job = submit("-q", "q%s-commands" % hosts, "-E", "test -e %s" % go,
                     "echo job >> %s/$MARK" % f.marks, mark=mark)
        f.wait_state("south", job, "PSUSP")
        row = f.job("south", job)
        expect("pre-execution command failed 2 times" in row["reason"], row["reason"])
        expect_equal(row["start_at"], None, "it never ran")
        expect_equal(trace(mark), ["queue before " + job, "queue after 0 1"] * 2,
                     "what ran at " + hosts)
        open(go, "w").close()
        f.cli("south", "resume", job)
        expect_equal(ended(job)["state"], "DONE", "once it succeeds")
        expect_equal(trace(mark)[-2:], ["job", "queue after 0 "], "the job, at last")


def test_kill_before_and_after():
    job = submit("-E", "sleep 61", "touch %s/never" % f.marks)
    f.wait_state("south", job, "RUN")
    f.cli("south", "kill", job)
    row = ended(job)
    expect_equal((row["state"], row["exit_code"]), ("EXIT", 130), "killed before")
    expect(not os.path.exists(f.marks + "/never"), "the job did not run")
    job = submit("-Ep", "touch %s/cleaning; sleep 62" % f.marks, "exit 4")
    f.wait_for("the command after it", lambda: os.path.exists(f.marks + "/cleaning"))
    f.cli("south", "kill", job)
    row = ended(job)
    expect_equal((row["state"], row["exit_code"]), ("EXIT", 4), "its exit stays")


def test_conditions_about_commands_after():
    """post_done and post_err: jobs that wait while the commands run, or that come after the
    end, and a site that is killed in between."""
    for hosts in BOTH:
        go = os.path.join(f.marks, "post-go-" + hosts)
        queue = ("-q", "q" + hosts)
        wait = "while [ ! -e %s ]; do sleep 0.1; done; " % go
        bad = submit(*queue, "-Ep", "touch %s-began; %sexit 3" % (go, wait), "true")
        good = submit(*queue, "-Ep", wait + "exit 0", "exit 4")
        after_bad = submit(*queue, "-w", "post_err(%s)" % bad, "true")
        never = submit(*queue, "-w", "done(%s) && post_done(%s)" % (bad, bad), "true")
        after_good = submit(*queue, "-w", "post_done(%s)" % good, "true")
        f.wait_for("the command after it", lambda: os.path.exists(go + "-began"))
        expect_equal([f.job("south", job)["state"] for job in (after_bad, never, after_good)],
                     ["PEND"] * 3, "none is released before the commands have ended")
        f.kill9("south")
        f.start("south")
        open(go, "w").close()
        expect_equal([(row["state"], row["post_state"]) for row in (ended(bad), ended(good))],
                     [("DONE", "POST_ERR"), ("EXIT", "POST_DONE")], "at " + hosts)
        expect_equal([ended(job)["state"] for job in (after_bad, after_good)],
                     ["DONE", "DONE"], "those that wait for it")
        row = f.job("south", never)
        expect_equal(row["state"], "PEND", "it cannot be met")
        expect("never satisfied" in row["reason"], row["reason"])
        f.kill9("south")
        f.start("south")
        expect_equal(f.job("south", bad)["post_state"], "POST_ERR", "it is on record")
        later = submit(*queue, "-w", "post_err(%s) && !post_err(%s)" % (bad, good), "true")
        expect_equal(ended(later)["state"], "DONE", "of jobs that have ended")
        expect_equal(f.job("south", later)["post_state"], "POST_DONE", "it has no commands")
        expect("POST_ERR" in f.cli("south", "jobs", "-l", bad).stdout, "jobs -l")
        f.cli("south", "kill", never)
        row = ended(never)
        expect_equal((row["state"], row["post_state"]), ("EXIT", None), "it never started")


def guards():
    found = []
    for entry in os.listdir("/proc"):
        try:
            with open("/proc/%s/cmdline" % entry, "rb") as file:
                words = file.read().split(b"\0")
            cwd = os.readlink("/proc/%s/cwd" % entry)
        except (OSError, ValueError):
            continue
        if words[0].endswith(b"sublet-guard") and cwd.startswith(f.dir) and "/runs/" in cwd:
            found.append(int(entry))
    return found


def test_killed_guard():
    """Guard, site and all are killed while the job runs: what comes after it runs once."""
    for hosts in BOTH:
        mark = "guard-" + hosts
        job = submit("-q", "q%s-commands" % hosts,
                     "echo job >> %s/$MARK; sleep 63" % f.marks, mark=mark)
        f.wait_for("the job to run", lambda: "job" in trace(mark))
        for guard in guards():
            with contextlib.suppress(OSError):  # of a job that has ended meanwhile
                os.kill(guard, signal.SIGKILL)
        f.kill9("south")
        f.kill9("north")
        f.start("north", "south")
        row = ended(job)
        expect_equal(row["state"], "EXIT", "lost")
        expect("lost" in row["reason"], row["reason"])
        expect_equal(trace(mark), ["queue before " + job, "job", "queue after 0 "],
                     "each once at " + hosts)


# ---- applications

def test_application():
    job = submit("-app", "gene", "-q", "qall-commands",
                 "echo $GENE >> %s/$MARK; exit 5" % f.marks, mark="gene")
    row = ended(job)
    expect_equal((row["state"], row["exit_code"], row["app"]), ("DONE", 5, "gene"),
                 "its success value")
    expect_equal(trace("gene"), ["queue before " + job, "app before", "yes", "app after",
                                 "queue after 1280 "], "commands")
    expect_equal([row["id"] for row in f.rows("south", "jobs", "-a", "-app", "gene")],
                 [job], "jobs -app")
    expect("Application" in f.cli("south", "jobs", "-l", job).stdout, "jobs -l")
    text = refused("-app", "nix", "true")
    expect("nix: No such application profile. Job not submitted." in text, text)
    row = f.job("south", submit("-app", "gene", "-q", "qall", "true"))
    expect_equal((row["limits"]["cpu_s"], row["limits"]["mem_kib"]), (2, 153600),
                 "beats the queue's default, not its maximum")


def test_reload():
    with open(f.conf("south")) as file:
        before = file.read()
    with open(f.conf("south"), "a") as file:
        file.write("Begin Application\nNAME = late\nNICE = 7\nEnd Application\n"
                   "Begin Parameters\nDEFAULT_APPLICATION = late\nEnd Parameters\n")
    f.cli("south", "reconfig")
    job = submit("sleep 64")
    expect_equal(f.job("south", job)["app"], "late", "the default one")
    f.wait_state("south", job, "RUN")
    with open(f.conf("south"), "w") as file:
        file.write(before)
    f.cli("south", "reconfig")
    expect_equal(f.job("south", job)["app"], "late", "it runs on")
    f.cli("south", "kill", job)
    with open(f.conf("south"), "a") as file:
        file.write("Begin Parameters\nDEFAULT_APPLICATION = nix\nEnd Parameters\n")
    text = f.cli("south", "reconfig", code=1).stderr
    expect("unknown application" in text, text)
    with open(f.conf("south"), "w") as file:
        file.write(before)


# ---- variables

def test_env():
    rows = (("none", "unset unset"), ("all", f.dir + " unset"), ("all,~SUBLET_E2E", "unset unset"),
            ("A=b", "unset b"), ("SUBLET_E2E, A='x,y'", f.dir + " x,y"),
            ("all, A=1, A=2", f.dir + " 2"))
    for value, says in rows:
        path = os.path.join(f.dir, "env-out")
        job = submit("-env", value, "-o", path, "echo ${SUBLET_E2E-unset} ${A-unset}")
        expect_equal(ended(job)["state"], "DONE", value)
        expect_equal(trace(path), [says], value)
        os.unlink(path)
    for value in ("NOT_SET_HERE", "1A=b", "~A=b", "a b", "A='x", "none,all"):
        f.cli("south", "sub", "-env", value, "true", code=2)


# ---- again

def test_max_requeue():
    """Counted over a crash; held then; a user's resume begins anew."""
    mark = "again"
    job = submit("-q", "again", "echo run >> %s/$MARK; exit 99" % f.marks, mark=mark)
    f.wait_for("the first run", lambda: len(trace(mark)) > 0)
    f.kill9("south")
    f.start("south")
    f.wait_state("south", job, "PSUSP")
    expect_equal(len(trace(mark)), 3, "runs")
    expect_equal(trace("after-" + mark), ["after %d pend=1 of 98 99" % (99 << 8)] * 3,
                 "what commands after it know")
    row = f.job("south", job)
    expect("requeued for its exit code 2 times" in row["reason"], row["reason"])
    f.kill9("south")
    f.start("south")
    expect_equal(f.job("south", job)["state"], "PSUSP", "over a crash")
    f.cli("south", "resume", job)
    f.wait_for("three more", lambda: len(trace(mark)) == 6)
    f.wait_state("south", job, "PSUSP")
    f.cli("south", "kill", job)


def test_bad_configuration():
    rows = (("CPULIMIT = 2:00 1:00", "the default is above the maximum"),
            ("CPULIMIT = 1:00/hostA", "\"hostA\" is no host model, and no host with a model"),
            ("RUNLIMIT = 1:00/hostA", "\"hostA\" is no host model, and no host with a model"),
            ("MEMLIMIT = lots", "is not a size"),
            ("MEMLIMIT = 1 2 3", r"expected \[DEFAULT\] MAX"), ("NICE = 21", "expected -20 to 20"),
            ("MAX_JOB_REQUEUE = 0", "expected 1 to"))
    for key, says in rows:
        path = f.dir + "/bad.conf"
        with open(path, "w") as file:
            file.write("Begin Queue\nQUEUE_NAME = q\n%s\nEnd Queue\n" % key)
        text = f.run("sublet", "check", f.conf("south"), path, code=1).stdout
        expect(re.search(r"bad.conf:3: error: .*" + says, text), "%s: %s" % (key, text))


def setup():
    f.configure("south", SOUTH + QUEUES)
    f.start("broker", "north", "south")


if __name__ == "__main__":
    main(test_limits, test_limits_are_shown_and_bounded, test_imposed, test_commands_around,
         test_pre_exec_fails, test_kill_before_and_after,
         test_conditions_about_commands_after, test_killed_guard,
         test_application, test_reload, test_env, test_max_requeue, test_bad_configuration, shared=f,
         setup=setup)
