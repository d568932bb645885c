#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What jobs write and how they end comes back, from own hosts and leased ones; stop,
resume and kill reach them there."""
import os
import re
import subprocess

from federation import BIN, Federation, expect, expect_equal, main

f = Federation()


def read(name):
    with open(os.path.join(f.dir, name)) as file:
        return file.read()


def both(test):
    """The same at home and on the lease."""
    for queue, host in (("normal", "s1"), ("away", "n1@north")):
        test(queue, host)


def ended(job):
    f.wait_state("south", job, "DONE", "EXIT")
    return f.job("south", job)


def test_output_to_files():
    def one(queue, host):
        name = "out." + queue
        job = f.submit("south", "echo out; echo err >&2; exit 7", "-q", queue,
                       "-o", f.dir + "/" + name + ".%J", "-e", f.dir + "/err." + queue)
        row = ended(job)
        expect_equal((row["state"], row["exit_code"], row["hosts"]), ("EXIT", 7, {host: 1}),
                     "how it ended")
        expect_equal(read("%s.%d" % (name, job)), "out\n", "standard output")
        expect_equal(read("err." + queue), "err\n", "standard error")
    both(one)


def test_large_output():
    def one(queue, host):
        path = f.dir + "/large." + queue
        f.cli("south", "sub", "-K", "-q", queue, "-o", path, "seq 200000")
        expect_equal(read("large." + queue), "".join("%d\n" % i for i in range(1, 200001)),
                     "the whole of it, in order")
    both(one)


def test_output_joined():
    def one(queue, host):
        f.cli("south", "sub", "-K", "-q", queue, "-o", f.dir + "/joined." + queue,
              "echo one; echo two >&2; echo three")
        expect_equal(read("joined." + queue), "one\ntwo\nthree\n", "-o alone takes both")
    both(one)


def test_appended_and_replaced():
    """-o and -e add to their files, -oo and -eo empty them, wherever the job runs."""
    def one(queue, host):
        out, err = "kept." + queue, "kept_err." + queue
        for name in (out, err):
            with open(os.path.join(f.dir, name), "w") as file:
                file.write("before\n")
        command = "echo %s; echo %s >&2"
        f.cli("south", "sub", "-K", "-q", queue, "-o", f.dir + "/" + out, "-e",
              f.dir + "/" + err, command % (1, 1))
        expect_equal((read(out), read(err)), ("before\n1\n", "before\n1\n"), "appended")
        f.cli("south", "sub", "-K", "-q", queue, "-oo", f.dir + "/" + out, "-e",
              f.dir + "/" + err, command % (2, 2))
        expect_equal((read(out), read(err)), ("2\n", "before\n1\n2\n"), "-oo")
        f.cli("south", "sub", "-K", "-q", queue, "-o", f.dir + "/" + out, "-eo",
              f.dir + "/" + err, command % (3, 3))
        expect_equal((read(out), read(err)), ("2\n3\n", "3\n"), "-eo")
    both(one)


def test_report():
    """The report of -report, which bsub asks for: at the end of the file of -o, of a job
    that failed too, and only there."""
    def one(queue, host):
        path = f.dir + "/report." + queue
        f.cli("south", "sub", "-K", "-report", "-q", queue, "-J", "told", "-o", path, "-e",
              path + ".err", "echo out; echo err >&2; exit 5", code=5)
        text = read("report." + queue)
        expect(text.startswith("out\n\n----"), text)
        expect(re.search(r"^Subject: Job \d+: <told> in cluster <south> Exited$", text, re.M),
               text)
        expect("<%s>" % host.split("@")[0] in text, "its host: " + text)
        expect(re.search(r"\n\nExited with exit code 5\.\n\n", text), text)
        expect_equal(read("report.%s.err" % queue), "err\n", "-e has no report")
        job = f.submit("south", "echo alone", "-report", "-q", queue)
        ended(job)
        if queue == "normal":
            expect_equal(f.cli("south", "peek", str(job)).stdout, "alone\n", "no file")
    both(one)


def test_output_directory():
    """-outdir is made before the output is written, by the host or by the site."""
    def one(queue, host):
        base = os.path.join(f.dir, "made", queue)
        f.cli("south", "sub", "-K", "-q", queue, "-outdir", base + "/%J", "-o", "out", "-e",
              "err", "echo out; echo err >&2")
        job, = os.listdir(base)
        expect_equal(read(os.path.join("made", queue, job, "out")), "out\n", "output")
        expect_equal(read(os.path.join("made", queue, job, "err")), "err\n", "errors")
    both(one)


def test_warning():
    """A job is warned before its run limit (-wt, -wa), wherever it runs."""
    def one(queue, host):
        job = f.submit("south", "trap 'exit 0' USR1; while :; do sleep 0.1; done", "-q", queue,
                       "-W", "300s", "-wt", "298s", "-wa", "USR1")
        expect_equal(ended(job)["state"], "DONE", "it has ended by itself")
    both(one)


def test_peek():
    def one(queue, host):
        job = f.submit("south", "echo begun; while [ ! -e %s/go.%s ]; do sleep 0.1; done; "
                       "echo ended" % (f.marks, queue), "-q", queue)
        f.wait_for("its output so far",
                   lambda: f.cli("south", "peek", str(job)).stdout == "begun\n")
        open("%s/go.%s" % (f.marks, queue), "w").close()
        expect_equal(ended(job)["state"], "DONE", "state")
        if queue == "normal":
            expect_equal(f.cli("south", "peek", str(job)).stdout, "begun\nended\n",
                         "output is kept")
        else:
            f.cli("south", "peek", str(job), code=1)  # the provider has forgotten it
    both(one)


def test_peek_follows():
    mark = os.path.join(f.marks, "follows")
    job = f.submit("south", "echo 1; until [ -e %s ]; do sleep 0.1; done; echo 2" % mark)
    f.wait_for("its output so far",
               lambda: f.cli("south", "peek", str(job)).stdout == "1\n")
    follower = subprocess.Popen(
        [os.path.join(BIN, "sublet"), "--socket", f.dir + "/south/sublet.sock", "peek", "-f",
         str(job)], env=f.environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True)
    expect_equal(follower.stdout.readline(), "1\n", "what is there")
    open(mark, "w").close()
    expect_equal(f.hear_out(follower), (0, "2\n", ""), "followed to its end")


def test_surroundings():
    """A job sees its caller's environment, directory and umask, and LSF's variables."""
    job = f.submit("south", 'pwd; umask; echo "$LSB_JOBID $LSB_JOBNAME $LSB_QUEUE '
                   '$LSB_HOSTS $LSB_MCPU_HOSTS $SUBLET_E2E"', "-J", "here", "-n", "2",
                   "-o", f.dir + "/surroundings")
    expect_equal(ended(job)["state"], "DONE", "state")
    lines = read("surroundings").splitlines()
    expect_equal(lines[0], os.path.join(f.dir, "home"), "working directory")
    expect_equal(int(lines[1], 8), 0o022, "umask")
    expect_equal(lines[2], "%d here normal s1 s1 s1 2 %s" % (job, f.dir), "variables")


def test_signalled():
    def one(queue, host):
        job = f.submit("south", "kill -TERM $$", "-q", queue)
        row = ended(job)
        expect_equal((row["state"], row["exit_code"]), ("EXIT", 143), "128 + 15")
    both(one)


def test_run_limit():
    def one(queue, host):
        job = f.submit("south", "timeout 30 sha256sum /dev/zero", "-q", queue, "-W", "1s")
        row = ended(job)
        expect_equal(row["state"], "EXIT", "ended by its run limit")
        expect(re.search("limit", row["reason"] or ""), "and says so: %r" % row["reason"])
    both(one)


def ticking(queue):
    """A job that writes a dot now and then while it runs."""
    path = "%s/ticks.%s.%d" % (f.marks, queue, len(os.listdir(f.marks)))
    job = f.submit("south", "while :; do printf . >>%s; sleep 0.05; done" % path, "-q", queue)
    f.wait_for("it to tick", lambda: os.path.exists(path) and os.path.getsize(path) > 2)
    return job, path


def test_changed_limits():
    """A run limit and a memory limit that a job gets while it runs end it."""
    def one(queue, host):
        job = f.submit("south", "sleep 1000", "-q", queue)
        f.wait_state("south", job, "RUN")
        out = f.cli("south", "modify", "-q", "normal", str(job), code=1).stderr
        where = " on borrowed hosts" if queue == "away" else ""
        expect("has started%s: only its run limit" % where in out, out)
        f.cli("south", "modify", "-W", "1h", str(job))
        expect_equal(f.job("south", job)["limits"]["run_s"], 3600, "the new limit")
        f.cli("south", "modify", "-W", "1s", str(job))
        expect("run limit" in (ended(job)["reason"] or ""), "its end: %r" % f.job("south", job))
        job = f.submit("south", "until test -e %s/eat.%s; do sleep 0.1; done; "
                       "python3 -c 'x = bytearray(300 << 20); x[::4096] = b\"1\" * len(x[::4096]); "
                       "import time; time.sleep(1000)'" % (f.marks, queue), "-q", queue)
        f.wait_state("south", job, "RUN")
        f.cli("south", "modify", "-M", "100MB", str(job))
        open("%s/eat.%s" % (f.marks, queue), "w").close()
        expect("memory limit" in (ended(job)["reason"] or ""), "its end: %r" % f.job("south", job))
    both(one)


def test_stop_resume_kill():
    def one(queue, host):
        job, path = ticking(queue)
        f.cli("south", "stop", str(job))
        f.wait_state("south", job, "USUSP")
        size = os.path.getsize(path)
        f.cli("south", "hosts")
        expect(os.path.getsize(path) - size <= 1, "a stopped job does nothing")
        f.cli("south", "resume", str(job))
        f.wait_state("south", job, "RUN")
        f.wait_for("it to go on", lambda: os.path.getsize(path) > size + 2)
        f.cli("south", "kill", str(job))
        row = ended(job)
        expect_equal(row["state"], "EXIT", "killed")
        size = os.path.getsize(path)
        f.cli("south", "hosts")
        expect_equal(os.path.getsize(path), size, "a killed job does nothing")
        expect(f.cli("south", "kill", str(job), code=1).stderr, "it has ended already")
    both(one)


def test_stop_while_stopped_kill():
    def one(queue, host):
        job, _ = ticking(queue)
        f.cli("south", "stop", str(job))
        f.wait_state("south", job, "USUSP")
        f.cli("south", "kill", str(job))
        expect_equal(ended(job)["state"], "EXIT", "a stopped job is killed too")
    both(one)


def test_signal():
    def one(queue, host):
        job = f.submit("south", "trap 'echo got; exit 4' USR1; echo begun; "
                       "while :; do sleep 0.05; done", "-q", queue)
        f.wait_for("it to begin", lambda: "begun" in f.cli("south", "peek", str(job)).stdout)
        f.cli("south", "kill", "-s", "USR1", str(job))
        row = ended(job)
        expect_equal(row["exit_code"], 4, "its trap ran")
        if queue == "normal":
            expect("got" in f.cli("south", "peek", str(job)).stdout, "and wrote")
    both(one)


def test_waiting_jobs():
    """Orders about jobs that have not begun."""
    job = f.submit("south", "true", "-n", "100")
    f.cli("south", "stop", str(job))
    f.wait_state("south", job, "PSUSP")
    f.cli("south", "resume", str(job))
    f.wait_state("south", job, "PEND")
    f.cli("south", "kill", str(job))
    expect_equal(ended(job)["state"], "EXIT", "killed while waiting")
    expect_equal(f.cli("south", "peek", str(job), code=None).stdout, "", "no output")


def test_kill_all():
    jobs = [f.submit("south", "sleep 60") for _ in range(4)]
    f.cli("south", "kill", "0")
    for job in jobs:
        expect_equal(ended(job)["state"], "EXIT", "all of one's own")


def setup():
    f.start("broker", "north", "south")
    f.wait_lease("the lease", lambda l: l["status"] == "conn")


main(test_output_to_files, test_appended_and_replaced, test_report, test_large_output,
     test_output_joined, test_peek,
     test_peek_follows, test_surroundings, test_signalled, test_run_limit,
     test_changed_limits, test_output_directory, test_warning, test_stop_resume_kill,
     test_stop_while_stopped_kill, test_signal, test_waiting_jobs, test_kill_all,
     shared=f, setup=setup)
