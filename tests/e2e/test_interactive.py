#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Interactive jobs, at real terminals: what is typed and written arrives whole, signals
and sizes too, whoever of the daemons is killed meanwhile; and the job ends with its
user."""
import hashlib
import os
import random
import select
import signal
import subprocess

from federation import LIMIT, SOUTH, Federation, expect, expect_equal, main
from terminal import Terminal, job_of, piped, words

f = Federation()
QUEUES = """
Begin Queue
QUEUE_NAME = batch
PRIORITY = 10
INTERACTIVE = NO
End Queue
Begin Queue
QUEUE_NAME = desk
PRIORITY = 10
INTERACTIVE = ONLY
End Queue
Begin Queue
QUEUE_NAME = before
PRIORITY = 10
PRE_EXEC = true
POST_EXEC = true
RERUNNABLE = yes
End Queue
"""


def last_job():
    return max(f.jobs("south"))


def test_pipes():
    out, said = piped(f, "echo out; echo err >&2; exit 3", code=3)
    expect_equal(out, b"out\n", "standard output is the job's alone")
    expect("<<Waiting for dispatch ...>>\n<<Starting on s1>>\nerr\n" in said, said)
    row = f.job("south", job_of(said))
    expect_equal((row["exit_code"], row["interactive"]), (3, "pipes"), "the job")
    expect_equal(piped(f, "cat; wc -c", stdin=b"a\nb\n")[0], b"a\nb\n0\n", "input, and its end")
    out, said = piped(f, "kill -9 $$", code=137)
    expect("ended by signal 9" in said, said)
    expect_equal(piped(f, "echo $LSB_INTERACTIVE; tty", code=1)[0], b"Y\nnot a tty\n", "no terminal")
    out, said = piped(f, "echo x")
    said = f.cli("south", "peek", str(job_of(said)), code=1).stderr
    expect("its user's terminal" in said, said)


def test_bytes():
    """Both ways at once, more than any buffer holds, every byte in its place."""
    data = random.Random(8).randbytes(5 << 20)
    out, _ = piped(f, "cat", stdin=data)
    expect_equal(hashlib.md5(out).hexdigest(), hashlib.md5(data).hexdigest(), "the digest")


def test_files():
    """-o, -e, -i name files as for any other job."""
    path = os.path.join(f.marks, "file")
    with open(path + ".in", "w") as file:
        file.write("from the file\n")
    out, said = piped(f, "-i", path + ".in", "-o", path + ".%J", "cat; echo e >&2", stdin=b"typed")
    job = job_of(said)
    expect_equal((out, open("%s.%d" % (path, job)).read()), (b"", "from the file\n"), "output")
    expect("\ne\n" in said, said)


def test_around():
    """Commands before and after it have no part in its terminal."""
    out, said = piped(f, "-q", "before", "cat", stdin=b"x")
    expect_equal(out, b"x", "the output")


def test_terminal():
    t = Terminal(f, "-Ip", "tty; stty size; read x; echo got-$x; "
                 "until [ \"$(stty size)\" = '40 120' ]; do sleep 0.1; done; echo wide; exit 5")
    t.wait_for("/dev/pts/")
    t.wait_for("30 100")
    t.resize(40, 120)
    t.type("word\n")
    t.wait_for("got-word")
    t.wait_for("wide")
    expect_equal(t.end(), 5, "exit code")


def test_window_change():
    """A program hears of it."""
    t = Terminal(f, "-Is", "trap 'stty size' WINCH; echo ready; while :; do sleep 0.1; done")
    t.wait_for("ready")
    t.resize(50, 60)
    t.wait_for("50 60")
    t.type("\x03")
    expect_equal(t.end(), 130, "Ctrl-C at its terminal")


def test_shell():
    """A shell with its own Ctrl-C and Ctrl-Z."""
    t = Terminal(f, "-Is", "bash --norc --noprofile -i")
    t.wait_for("bash")
    t.type("sh -c 'echo up-$((1 + 1)); exec sleep 1000'\n")
    t.wait_for("up-2")  # not the echo of what was typed
    t.type("\x03")
    t.wait_for("^C")
    t.type("sh -c 'echo up-$((1 + 2)); exec sleep 1000'\n")
    t.wait_for("up-3")
    t.type("\x1a")
    t.wait_for("Stopped")
    # "wait" does not wait for what bash still believes to be stopped.
    t.type("kill -9 %1; while [ -n \"$(jobs -s)\" ]; do sleep 0.1; done; echo gone-$((3 + 1))\n")
    t.wait_for("gone-4")
    t.type("exit 4\n")
    expect_equal(t.end(), 4, "exit code of the shell")


def test_interrupt():
    """-I and -Ip: the keys are signals to the job."""
    for option in ("-I", "-Ip"):
        t = Terminal(f, option, "trap 'echo caught; exit 9' INT; echo ready; "
                             "while :; do sleep 0.1; done")
        t.wait_for("ready")
        t.type("\x03")
        t.wait_for("caught")
        expect_equal(t.end(), 9, "exit code with " + option)


def test_suspend():
    t = Terminal(f, "-Ip", "echo ready; while :; do sleep 0.1; done")
    t.wait_for("ready")
    job = last_job()
    t.type("\x1a")
    f.wait_state("south", job, "USUSP")
    f.wait_for("it to stop too", lambda: t.state() == "T")
    os.kill(t.pid, signal.SIGCONT)
    f.wait_state("south", job, "RUN")
    t.type("\x03")
    expect_equal(t.end(), 130, "exit code")


def test_user_gone():
    """Whatever takes the user's side away ends the job, also one that waits."""
    for end in (signal.SIGKILL, signal.SIGHUP, signal.SIGTERM):
        t = Terminal(f, "-Is", "echo ready; trap '' INT TERM; while :; do sleep 0.1; done")
        t.wait_for("ready")
        job = last_job()
        os.kill(t.pid, end)
        expect_equal(t.end(), 128 + end, "end of the user's side")
        f.wait_state("south", job, "EXIT")
        reason = f.job("south", job)["reason"]
        expect("the end of its user's connection" in reason, reason)
    f.cli("south", "close", "s1")
    t = Terminal(f, "-I", "true")
    t.wait_for("<<Waiting for dispatch ...>>")
    job = last_job()
    os.kill(t.pid, signal.SIGKILL)
    t.end()
    f.wait_state("south", job, "EXIT")
    t = Terminal(f, "-I", "true")
    t.wait_for("<<Waiting for dispatch ...>>")
    t.type("\x03")
    expect_equal(t.end(), 1, "a job that is withdrawn")
    expect("killed by" in t.seen, t.seen)
    f.cli("south", "open", "s1")
    head = subprocess.Popen(words(f, "-I", "yes"), env=f.environment, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    head.stdout.readline()
    head.stdout.close()
    expect_equal(head.wait(LIMIT), 128 + signal.SIGPIPE, "exit with a broken pipe")
    f.wait_state("south", last_job(), "EXIT")


def test_said():
    """What becomes of the job is said to who is connected."""
    t = Terminal(f, "-Ip", "echo ready $LSB_JOBID; sleep 100")
    t.wait_for("ready")
    job = last_job()
    f.cli("south", "stop", str(job))
    t.wait_for("<<Stopped by a user>>")
    f.cli("south", "resume", str(job))
    t.wait_for("<<Running again>>")
    f.cli("south", "close", "s1")
    f.cli("south", "requeue", str(job))
    t.wait_for("<<Waiting again: requeued by ")
    f.cli("south", "open", "s1")
    t.wait_for("<<Starting on s1>>")
    t.wait_for("ready")
    f.cli("south", "kill", str(job))
    t.wait_for("killed by ")
    expect_equal(t.end(), 130, "exit code")


def test_restarts():
    """Site, host and guard's peers are killed under it; nothing is lost or doubled."""
    t = Terminal(f, "-Is", "stty -echo; echo ready; while read x; do echo \"<$x>\"; done; exit 6")
    t.wait_for("ready")
    job = last_job()
    for i in range(3):
        t.type("before %d\n" % i)
        t.wait_for("<before %d>" % i)
        if i == 0:
            f.restart("south")
        elif i == 1:
            for pid in f.hosts("s1"):
                os.kill(pid, signal.SIGKILL)
        else:
            f.kill9("south")
            t.type("meanwhile\n")
            f.start("south")
            t.wait_for("<meanwhile>")
        t.type("after %d\n" % i)
        t.wait_for("<after %d>" % i)
    t.type("\x04")
    expect_equal(t.end(), 6, "exit code")
    expect_equal(f.job("south", job)["state"], "EXIT", "state")


def test_bytes_and_restarts():
    data = random.Random(9).randbytes(3 << 20)
    head = subprocess.Popen(
        words(f, "-I", "cat; sleep 0.1"), env=f.environment, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.set_blocking(head.stdin.fileno(), False)
    got, at, restarts = b"", 0, [1 << 18, 1 << 20, 2 << 20]
    while len(got) < len(data):
        wants = [head.stdin] if at < len(data) else []
        r, w, _ = select.select([head.stdout], wants, [], LIMIT)
        expect(r or w, "nothing moves at %d of %d" % (len(got), len(data)))
        if w:
            at += os.write(head.stdin.fileno(), data[at:at + 65536])
        if r:
            got += os.read(head.stdout.fileno(), 65536)
        if restarts and len(got) > restarts[0]:
            restarts.pop(0)
            f.restart("south")
    head.stdin.close()
    expect_equal(head.wait(LIMIT), 0, "exit code")
    got += head.stdout.read()
    expect_equal(hashlib.md5(got).hexdigest(), hashlib.md5(data).hexdigest(), "the digest")


def test_flood():
    """A flood that nobody reads stops at its source, and holds nobody up."""
    path = os.path.join(f.marks, "count")
    head = subprocess.Popen(
        words(f, "-I", "i=0; while :; do i=$((i + 1)); echo $i > %s.part; mv %s.part %s; "
                    "head -c 4096 /dev/zero; done" % (path, path, path)),
        env=f.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL)
    expect_equal(len(head.stdout.read(100000)), 100000, "bytes")
    first = last_job()

    def is_still():
        before = open(path).read()
        for _ in range(3):
            f.jobs("south")
        return before == open(path).read()
    f.wait_for("the job to stand still", is_still)
    blocks = int(open(path).read())
    expect(blocks < 200, "%d blocks of 4 KiB were taken of who is not read" % blocks)
    job = f.submit("south", "true")
    f.wait_state("south", job, "DONE")
    flood = subprocess.Popen(words(f, "-I", "cat /dev/zero"), env=f.environment,
                             stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                             stderr=subprocess.DEVNULL)
    f.cli("south", "kill", str(first))
    head.stdout.close()
    head.wait(LIMIT)
    jobs = [f.submit("south", "true") for _ in range(10)]
    for job in jobs:
        f.wait_state("south", job, "DONE")
    flood.kill()
    flood.wait()


def test_refused():
    for args, part in ((("-I", "-q", "batch", "true"), "does not accept interactive jobs"),
                       (("-q", "desk", "true"), "only accepts interactive jobs"),
                       (("-I", "-r", "true"), "rerunnable"),
                       (("-I", "-J", "a[1-3]", "true"), "array")):
        said = f.cli("south", "sub", *args, code=1).stderr
        expect(part in said, said)
    expect("-K" in f.cli("south", "sub", "-I", "-K", "true", code=2).stderr, "-I and -K")
    expect_equal(piped(f, "-q", "desk", "echo x")[0], b"x\n", "INTERACTIVE = ONLY")
    f.cli("south", "close", "s1")
    job = f.submit("south", "true", "-q", "normal")
    expect("only accepts" in f.cli("south", "switch", "desk", str(job), code=1).stderr, "switch")
    f.cli("south", "open", "s1")
    f.wait_state("south", job, "DONE")
    queue = f.rows("south", "queues", "desk")[0]
    expect_equal(queue["interactive"], "only", "the queue")


def setup():
    f.configure("south", SOUTH + QUEUES)
    f.start("south")


main(test_pipes, test_bytes, test_files, test_around, test_terminal, test_window_change,
     test_shell, test_interrupt, test_suspend, test_user_gone, test_said, test_restarts,
     test_bytes_and_restarts, test_flood, test_refused, shared=f, setup=setup)
