#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What users wait for, with real daemons: other jobs, an instant, their array, a queue
that is stopped; options in a script; jobs that are moved. It all outlives kill -9."""
import os
import unicodedata

from federation import SOUTH, Federation, expect, expect_equal, main, tomorrow

f = Federation()

QUEUES = """
Begin Queue
QUEUE_NAME = one
PRIORITY = 50
QJOB_LIMIT = 1
HOSTS = all
End Queue
Begin Queue
QUEUE_NAME = thin
QJOB_LIMIT = 1
HOSTS = allremote
End Queue
Begin Queue
QUEUE_NAME = later
NEW_JOB_SCHED_DELAY = 7200
End Queue
Begin Queue
QUEUE_NAME = again
PRIORITY = 40
REQUEUE_EXIT_VALUES = 99
JOB_STARTER = env STARTED=yes
RUNLIMIT = 5 10
USERS = all ~nobody
End Queue
Begin Parameters
MAX_USER_PRIORITY = 100
End Parameters
"""


def submit(*args, stdin=None):
    return f.cli("south", "sub", *args, stdin=stdin).stdout.split("<")[1].split(">")[0]


def pending(job):
    return f.job("south", job)["pending"]


def waits_for(job, word):
    """By the next pass it is told."""
    f.wait_for("job %s to wait: %s" % (job, word), lambda: pending(job) == word)


def refused(*args, code=1):
    result = f.cli("south", *args, code=code)
    expect_equal(result.stdout, "", "standard output of a failure")
    return result.stderr


def test_depends():
    mark = os.path.join(f.marks, "go")
    first = submit("-J", "prep", "while [ ! -e %s ]; do sleep 0.05; done; exit 3" % mark)
    then = submit("-w", 'exit("prep",>=3)', "true")
    never = submit("-w", "done(%s)" % first, "true")
    waits_for(then, "dependency")
    f.wait_state("south", first, "RUN")
    f.kill9("south")
    f.start("south")
    waits_for(then, "dependency")  # after a crash
    open(mark, "w").close()
    f.wait_state("south", then, "DONE")
    f.wait_for("the other to wait for ever",
               lambda: pending(never) == "dependency_never")
    expect("never satisfied" in f.job("south", never)["reason"], "the reason")
    f.cli("south", "kill", never)
    expect("No matching job found" in refused("sub", "-w", "done(99999)", "true"),
           "an unknown job")


def display_width(text):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 0 if unicodedata.combining(c)
               else 1 for c in text)


def test_names_in_unicode():
    """Names are printed as they are, and the columns behind them stay in line."""
    names = ["größe", "計算", "na\u0308chte", "plain"]
    jobs = [submit("-b", tomorrow(), "-J", name, "true") for name in names]
    path = os.path.join(f.dir, "south", "sublet.sock")

    def lines(locale, *args):
        environment = {name: value for name, value in f.environment.items() if name != "LC_ALL"}
        environment.update(locale)
        text = f.run("sublet", "--socket", path, "jobs", *args, code=0,
                     environment=environment).stdout
        return [line for name in names for line in text.split("\n") if name in line]
    for locale in ({"LC_ALL": "C.UTF-8"}, {"LC_ALL": "C"}, {}, {"LC_ALL": "no_SUCH.locale"}):
        for option in ("-p", "-o"):
            rows = lines(locale, option, *(["name,submit_at"] if option == "-o" else []), *jobs)
            expect_equal(len(rows), len(names), "jobs %s with %s: %r" % (option, locale, rows))
            widths = {display_width(row.rstrip()) for row in rows}  # the last is a time
            expect_equal(len(widths), 1, "columns of %r" % rows)
        expect_equal(len(lines(locale, "-l", *jobs)), len(names), "jobs -l with %s" % locale)
    f.cli("south", "kill", *jobs)


def test_limit_is_named():
    mark = os.path.join(f.marks, "one")
    first = submit("-q", "one", "while [ ! -e %s ]; do sleep 0.05; done" % mark)
    second = submit("-q", "one", "true")
    f.wait_for("the second to be told", lambda: pending(second) == "limit")
    expect("QJOB_LIMIT of queue one (1)" in f.job("south", second)["reason"], "the limit")
    text = f.cli("south", "jobs", "-p").stdout
    expect("\n Resource limit QJOB_LIMIT of queue one (1) has been reached;\n" in text,
           "jobs -p says why: " + text)
    expect("What to do" in f.cli("south", "jobs", "-l", second).stdout, "jobs -l helps")
    row = f.rows("south", "limits", "-q", "one", "-n", "QJOB_LIMIT")[0]
    expect_equal(row["limit"], "QJOB_LIMIT of queue one (1)", "the same words in limits")
    expect_equal((row["slots"]["used"], row["slots"]["limit"], row["is_full"]), (1, 1, True),
                 "how full it is")
    text = f.cli("south", "limits", "-q", "one").stdout.split("\n")
    expect_equal(text[0].split(),
                 "NAME USERS QUEUES HOSTS PROJECTS EACH_OF SLOTS JOBS RESOURCES".split(),
                 "the heading of limits")
    expect_equal(text[1].split(), "QJOB_LIMIT - one - - - 1/1 - -".split(), "a limit in use")
    f.kill9("south")
    f.start("south")
    expect_equal(f.rows("south", "limits", "QJOB_LIMIT")[0], row, "after a crash")
    open(mark, "w").close()
    f.wait_state("south", second, "DONE")
    f.wait_state("south", first, "DONE")
    f.wait_for("nothing to be used of it",
               lambda: not f.rows("south", "limits", "-q", "one"))
    expect_equal(f.rows("south", "limits", "-a", "-q", "one")[0]["slots"]["used"], 0, "-a")
    row = f.rows("south", "limits", "-c", "-q", "one")[0]
    expect_equal((row["slots"]["used"], row["slots"]["limit"]), (None, 1), "-c")
    expect("<nope> is not found" in refused("limits", "nope"), "an unknown limit")
    text = f.ops("limits", code=1).stderr
    expect("ask a site" in text, "the broker has none: " + text)


def test_limit_of_a_lease():
    """The lease has room: jobs -l does not promise what a limit forbids."""
    mark = os.path.join(f.marks, "thin")
    first = submit("-q", "thin", "while [ ! -e %s ]; do sleep 0.05; done" % mark)
    f.wait_state("south", first, "RUN")
    f.wait_lease("more slots of it", lambda l: l["consumer"]["available"] > 1)
    second = submit("-q", "thin", "true")
    f.wait_for("the second to be told", lambda: pending(second) == "limit")
    f.wait_for("the lease to be open", lambda: "limit QJOB_LIMIT of queue thin (1)" in
               f.rows("south", "jobs", second)[0]["leases"][0]["reason"])
    open(mark, "w").close()
    f.wait_state("south", second, "DONE")


def test_array_limit():
    mark = os.path.join(f.marks, "many")
    job = submit("-J", "many[1-4]%1",
                 "until [ -e %s.$LSB_JOBINDEX ]; do sleep 0.05; done" % mark)

    def counts():
        rows = f.rows("south", "jobs", "-a", job)
        return [row["state"] for row in rows]
    for index in range(1, 5):
        f.wait_for("element %d to run" % index, lambda: counts().count("RUN") == 1 and
                   counts().count("DONE") == index - 1)
        # Who comes behind them in the queue runs: so the others had every occasion.
        f.wait_state("south", submit("true"), "DONE")
        expect_equal(counts().count("RUN"), 1, "elements at a time")
        open("%s.%d" % (mark, index), "w").close()
    f.wait_for("all four to end", lambda: counts().count("DONE") == 4)


def test_begin():
    job = submit("-b", tomorrow(), "true")
    waits_for(job, "begin_time")
    f.cli("south", "kill", job)
    refused("sub", "-b", "25:00", "true", code=2)
    refused("sub", "-b", "2000:1:1:8:00", "true", code=2)


def test_new_job_delay():
    """It counts from the submission, so that another queue may start the job at once."""
    job = submit("-q", "later", "true")
    waits_for(job, "new_job_delay")
    expect_equal(f.job("south", job)["state"], "PEND", "a new job")
    for queue, has_delay in ("later", True), ("one", False):
        text = f.run("sublet-lsf", "bqueues", "-l", queue, code=0, environment=dict(
            f.environment, SUBLET_SOCKET=os.path.join(f.dir, "south", "sublet.sock"))).stdout
        expect_equal("Schedule delay for a new job is 7200 seconds\n" in text, has_delay, text)
        expect_equal("Schedule delay" in text, has_delay, text)
    f.cli("south", "switch", "one", job)
    f.wait_state("south", job, "DONE")


def test_script():
    out = os.path.join(f.marks, "script.out")
    script = ("#!/bin/sh\n#BSUB -J \"from a script\"   # a name\n#BSUB -q again -o %s\n"
              "#BSUB -n 1\necho $LSB_JOBNAME $STARTED\n" % out)
    job = submit(stdin=script)
    f.wait_state("south", job, "DONE")
    row = f.job("south", job)
    expect_equal(row["queue"], "again", "the queue")
    expect_equal(row["name"], "from a script", "the name")
    job = submit("-J", "mine", stdin=script)
    expect_equal(f.job("south", job)["name"], "mine", "the command line wins")
    f.wait_state("south", job, "DONE")
    many = "".join("#BSUB -J a%d -q again\n" % i for i in range(300))
    job = submit(stdin=many + "true\n")
    expect_equal(f.job("south", job)["name"], "a299", "the last of many options wins")
    f.wait_state("south", job, "DONE")
    expect("unknown option" in refused_script("#BSUB -Zz 1\ntrue\n", code=2), "one we lack")
    expect("quote" in refused_script("#BSUB -J 'x\ntrue\n"), "an open quote")


def refused_script(text, code=1):
    return f.cli("south", "sub", code=code, stdin=text).stderr


def test_starter_and_requeue():
    mark = os.path.join(f.marks, "twice")
    job = submit("-q", "again", "sh -c 'test $STARTED = yes || exit 1; "
                 "test -e %s && exit 0; touch %s; exit 99'" % (mark, mark))
    f.wait_state("south", job, "DONE")
    expect(f.job("south", job)["attempt"] > 1, "a second attempt")
    long = submit("-q", "again", "sleep 300")
    f.wait_state("south", long, "RUN")
    attempt = f.job("south", long)["attempt"]
    expect("requeued" in f.cli("south", "requeue", long).stdout, "the answer")
    f.wait_for("it to run again", lambda: (f.job("south", long)["attempt"] or 0) > attempt)
    f.cli("south", "kill", long)
    f.wait_state("south", long, "EXIT")
    expect("RUNLIMIT" in refused("sub", "-q", "again", "-W", "11", "true"), "too long")


def test_queue_and_moves():
    f.cli("south", "queue", "inactivate", "normal")
    first, second = submit("true"), submit("true")
    waits_for(first, "queue_inactive")
    expect("Open:Inact_Adm" in f.cli("south", "queues").stdout, "its status")
    expect("switched" in f.cli("south", "switch", "one", first).stdout, "the answer")
    f.wait_state("south", first, "DONE")
    expect_equal(f.job("south", first)["queue"], "one", "where it went")
    f.cli("south", "btop", second)
    f.cli("south", "queue", "close", "normal")
    f.kill9("south")
    f.start("south")
    expect("Queue is closed" in refused("sub", "true"), "closed after a crash")
    f.cli("south", "queue", "open", "normal")
    f.cli("south", "queue", "activate", "normal")
    f.wait_state("south", second, "DONE")
    refused("queue", "explode", "normal", code=2)
    refused("queue", "open", "nowhere")
    refused("sub", "-sp", "101", "true")


def setup():
    f.configure("south", SOUTH + QUEUES)
    f.start("broker", "north", "south")
    f.wait_for("its host", lambda: f.has_hosts("south"))


if __name__ == "__main__":
    main(test_depends, test_names_in_unicode, test_limit_is_named, test_limit_of_a_lease, test_array_limit,
         test_begin, test_new_job_delay, test_script, test_starter_and_requeue, test_queue_and_moves, shared=f,
         setup=setup)
