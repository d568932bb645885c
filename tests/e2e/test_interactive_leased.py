#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Interactive jobs on borrowed hosts: a terminal across two sites and their broker, who
may all be killed under it; a flood is bounded, and arrives whole."""
import hashlib
import os
import random
import select
import signal
import subprocess
import time

from federation import LIMIT, NORTH, Federation, expect, expect_equal, main
from terminal import Terminal, job_of, piped, words

f = Federation()


def last_job():
    return max(f.jobs("south"))


def away(*args, **more):
    return piped(f, "-q", "away", *args, **more)


def at_north(job):
    """The job's row at home says that it runs, or ran, under the lease."""
    row = f.job("south", job)
    return row["lease"] == "north/1/south"


def n_lent():
    lease = f.lease()
    return lease["consumer"]["used"]


def test_pipes():
    out, said = away("echo out; echo err >&2; cat; echo $LSB_INTERACTIVE; tty; exit 3",
                     stdin=b"a\nb\n", code=3)
    expect_equal(out, b"out\na\nb\nY\nnot a tty\n", "standard output is the job's alone")
    expect("<<Waiting for dispatch ...>>\n<<Starting on n" in said and "@north>>\nerr\n" in said,
           said)
    job = job_of(said)
    expect(at_north(job), "where it ran: %s" % f.job("south", job))
    expect_equal(f.job("south", job)["exit_code"], 3, "the job's exit code")
    out, said = away("kill -9 $$", code=137)
    expect("ended by signal 9" in said, said)
    f.wait_for("the slots to be free", lambda: n_lent() == 0)


def test_files():
    """-o: the file is at home, as for any other job; the rest is at the terminal."""
    path = os.path.join(f.dir, "home", "out")
    out, said = away("-o", path + ".%J", "echo text; echo e >&2; cat >&2", stdin=b"typed\n")
    job = job_of(said)
    expect_equal((out, open("%s.%d" % (path, job)).read()), (b"", "text\n"), "output")
    expect("e\ntyped\n" in said, said)


def test_terminal():
    t = Terminal(f, "-q", "away", "-Is", "stty size; trap 'stty size' WINCH; echo ready; "
                 "while :; do sleep 0.1; done")
    t.wait_for("30 100")
    t.wait_for("ready")
    t.resize(50, 60)
    t.wait_for("50 60")
    t.type("\x03")
    expect_equal(t.end(), 130, "Ctrl-C at its terminal")
    t = Terminal(f, "-q", "away", "-Is", "bash --norc --noprofile -i")
    t.wait_for("bash")
    t.type("sh -c 'echo up-$((1 + 1)); exec sleep 1000'\n")
    t.wait_for("up-2")  # not the echo of what was typed
    t.type("\x1a")
    t.wait_for("Stopped")
    # "wait" does not wait for what bash still believes to be stopped.
    t.type("kill -9 %1; while [ -n \"$(jobs -s)\" ]; do sleep 0.1; done; echo gone-$((3 + 1))\n")
    t.wait_for("gone-4")
    t.type("exit 4\n")
    expect_equal(t.end(), 4, "exit code of the shell")
    t = Terminal(f, "-q", "away", "-Ip", "trap 'echo caught; exit 9' INT; echo ready; "
                 "while :; do sleep 0.1; done")
    t.wait_for("ready")
    t.type("\x03")
    t.wait_for("caught")
    expect_equal(t.end(), 9, "exit code with -Ip, where the key is a signal")


def test_said():
    """Stopped, resumed, requeued: who is connected is told."""
    t = Terminal(f, "-q", "away", "-Ip", "echo ready $LSB_JOBID; sleep 100")
    t.wait_for("ready")
    job = last_job()
    f.cli("south", "stop", str(job))
    t.wait_for("<<Stopped by a user>>")
    f.cli("south", "resume", str(job))
    t.wait_for("<<Running again>>")
    f.cli("south", "requeue", str(job))
    t.wait_for("<<Waiting again: requeued by ")
    t.wait_for("<<Starting on ")
    t.wait_for("ready")
    f.cli("south", "kill", str(job))
    t.wait_for("killed by ")
    expect_equal(t.end(), 130, "exit code")
    f.wait_for("the slots to be free", lambda: n_lent() == 0)


def test_drained():
    """Its lease is drained for maintenance: it runs on, and its user knows of it."""
    t = Terminal(f, "-q", "away", "-Ip", "echo ready $LSB_JOBID; sleep 100")
    t.wait_for("ready")
    job = last_job()
    f.ops("lease", "drain", "north/1/south", "--no-wait")
    t.wait_for("<<Its lease is being drained: it keeps running, nothing new starts there>>")
    f.ops("lease", "resume", "north/1/south")
    t.wait_for("<<Its lease is no longer being drained>>")
    f.cli("south", "kill", str(job))
    expect_equal(t.end(), 130, "exit code")
    f.wait_for("the slots to be free", lambda: n_lent() == 0)


def test_user_gone():
    """Whatever takes the user's side away ends the job, at the other site too."""
    t = Terminal(f, "-q", "away", "-Is", "echo ready; trap '' INT TERM; while :; do sleep 0.1; done")
    t.wait_for("ready")
    job = last_job()
    os.kill(t.pid, signal.SIGKILL)
    t.end()
    f.wait_state("south", job, "EXIT")
    reason = f.job("south", job)["reason"]
    expect("the end of its user's connection" in reason, reason)
    f.wait_for("the slots to be free", lambda: n_lent() == 0)


def test_killed():
    """Broker, either site and the host's agent, one after the other, under one session."""
    t = Terminal(f, "-q", "away", "-Is",
                 "stty -echo; echo ready; while read x; do echo \"<$x>\"; done; exit 6")
    t.wait_for("ready")
    job = last_job()
    host = f.job("south", job)["hosts"]
    host = list(host)[0].split("@")[0]
    for victim in ("broker", "north", "south", "host"):
        t.type("before %s\n" % victim)
        t.wait_for("<before %s>" % victim)
        if victim == "host":
            for pid in f.hosts(host):
                os.kill(pid, signal.SIGKILL)
        else:
            f.kill9(victim)
            t.type("meanwhile\n")
            f.start(victim)
            t.wait_for("<meanwhile>")
        t.type("after %s\n" % victim)
        t.wait_for("<after %s>" % victim)
    t.type("\x04")
    expect_equal(t.end(), 6, "exit code")
    f.wait_state("south", job, "EXIT")


def test_cut():
    """While the broker is away the user is told so, and nothing that is typed is lost."""
    t = Terminal(f, "-q", "away", "-Is", "stty -echo; echo ready; while read x; do echo \"<$x>\"; done")
    t.wait_for("ready")
    f.kill9("broker")
    t.wait_for("<<The broker cannot be reached: the session waits for it>>")
    t.type("typed\n")
    f.start("broker")
    t.wait_for("<<Connected again>>")
    t.wait_for("<typed>")
    t.type("\x04")
    expect_equal(t.end(), 0, "exit code")


def test_bytes_and_restarts():
    """Both ways at once, more than any buffer holds, while each of the daemons is killed."""
    data = random.Random(10).randbytes(3 << 20)
    head = subprocess.Popen(
        words(f, "-q", "away", "-I", "cat"), env=f.environment, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    os.set_blocking(head.stdin.fileno(), False)
    got, at = b"", 0
    restarts = [(1 << 18, "broker"), (1 << 20, "north"), (2 << 20, "south")]
    while len(got) < len(data):
        wants = [head.stdin] if at < len(data) else []
        r, w, _ = select.select([head.stdout], wants, [], LIMIT)
        expect(r or w, "nothing moves at %d of %d" % (len(got), len(data)))
        if w:
            at += os.write(head.stdin.fileno(), data[at:at + 65536])
        if r:
            got += os.read(head.stdout.fileno(), 65536)
        if restarts and len(got) > restarts[0][0]:
            f.restart(restarts.pop(0)[1])
    head.stdin.close()
    expect_equal(head.wait(LIMIT), 0, "exit code")
    got += head.stdout.read()
    expect_equal(hashlib.md5(got).hexdigest(), hashlib.md5(data).hexdigest(), "the digest")


def test_flood():
    """50 MB of one job arrive whole; the broker confirms contracts and passes on the start
    of others all the while."""
    flood = subprocess.Popen(words(f, "-q", "away", "-I", "yes | head -c 50000000"),
                             env=f.environment, stdin=subprocess.DEVNULL,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    digest, size, n_looks = hashlib.md5(), 0, 0
    look_at = time.monotonic()
    while True:
        piece = os.read(flood.stdout.fileno(), 1 << 20)
        if not piece:
            break
        digest.update(piece)
        size += len(piece)
        if time.monotonic() >= look_at:
            lease = f.lease()
            expect(lease["status"] != "disc", "the lease: %s" % lease)  # conn: a hand-over
            n_looks += 1
            look_at = time.monotonic() + 1
            if n_looks == 3:
                job = f.submit("south", "true", "-q", "away")
    expect_equal(flood.wait(LIMIT), 0, "exit code")
    expect_equal((size, digest.hexdigest()),
                 (50000000, hashlib.md5(b"y\n" * 25000000).hexdigest()), "what arrived")
    f.wait_state("south", job, "DONE")


def test_many_floods():
    """Above the bound: who types next to them is answered, and all that was lost comes again."""
    floods = [subprocess.Popen(words(f, "-q", "away", "-I", "yes | head -c 8000000; sleep 0.2"),
                               env=f.environment, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
              for _ in range(5)]
    t = Terminal(f, "-q", "away", "-Is", "stty -echo; echo ready; while read x; do echo \"<$x>\"; done")
    t.wait_for("ready")
    for i in range(10):
        t.type("word %d\n" % i)
        t.wait_for("<word %d>" % i)
    whole = hashlib.md5(b"y\n" * 4000000).hexdigest()
    for flood in floods:
        expect_equal(hashlib.md5(flood.communicate(timeout=LIMIT)[0]).hexdigest(), whole, "a flood")
    t.type("\x04")
    expect_equal(t.end(), 0, "exit code")


def test_refused():
    """A provider that does not want them says so, and they wait at home."""
    def configure(word):
        f.configure("north", NORTH.replace("SLOTS = 4\n", "SLOTS = 4\nINTERACTIVE = %s\n" % word))
        f.cli("north", "reconfig")
    configure("N")
    f.wait_for("the lease to say so", lambda: f.lease()["interactive"] is False)
    f.wait_for("a refusal", lambda: "no interactive jobs" in f.cli(
        "south", "sub", "-I", "-q", "away", "true", code=None).stderr)
    busy = [f.submit("south", "sleep 100", "-m", "s1") for _ in range(2)]
    f.wait_for("both to run", lambda: f.n_jobs("south", "RUN") >= 2)
    t = Terminal(f, "-I", "echo here; hostname")
    t.wait_for("<<Waiting for dispatch ...>>")
    job = last_job()
    batch = f.submit("south", "true")
    f.wait_state("south", batch, "DONE")
    expect_equal(f.job("south", job)["state"], "PEND", "state, while others borrow")
    f.wait_for("it to be told why", lambda: "its provider accepts no interactive jobs" in
               f.cli("south", "jobs", "-l", str(job)).stdout)
    configure("Y")
    t.wait_for("@north>>")
    t.wait_for("here")
    expect_equal(t.end(), 0, "exit code")
    for one in busy:
        f.cli("south", "kill", str(one))


def setup():
    f.start("broker", "north", "south")
    f.wait_lease("the lease", lambda lease: lease["state"] in ("pending", "active"))
    job = f.submit("south", "true", "-q", "away")  # the lease is made
    f.wait_state("south", job, "DONE")


main(test_pipes, test_files, test_terminal, test_said, test_drained, test_user_gone,
     test_killed, test_cut,
     test_bytes_and_restarts, test_flood, test_many_floods, test_refused, shared=f, setup=setup)
