#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A sublet-host that the site did not start: on another machine, over TCP with keys."""
import os
import subprocess

from federation import BIN, SOUTH, Federation, expect, expect_equal, free_port, main

f = Federation()
PORT = free_port()
FAR = SOUTH.replace("HOSTS_HERE", "LISTEN = tcp://127.0.0.1:%d\n"
                    "HOST_KEY = @DIR@/keys/far.key\nHOSTS_HERE" % PORT).replace(
    "s1 2 X86_64 EPYC (linux)\n", "s1 2 X86_64 EPYC (linux)\nfar 2 X86_64 EPYC (linux)\n")


def keys(name):
    return os.path.join(f.dir, "keys", name)


def spawn_host(key="far", site_key="south", name="far"):
    log = open(os.path.join(f.dir, "far.log"), "a")
    process = subprocess.Popen(
        [os.path.join(BIN, "sublet-host"), "-n", name,
         "--site", "tcp://127.0.0.1:%d" % PORT, "--key", keys(key + ".key_secret"),
         "--site-key", keys(site_key + ".key"), "--spool", os.path.join(f.dir, "far")],
        cwd=f.dir, env=f.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        start_new_session=True)
    log.close()
    return process


def end(process):
    process.kill()
    process.wait()


def status(host="far"):
    return next(row["status"] for row in f.rows("south", "hosts") if row["host"] == host)


def wait_up():
    f.wait_for("the far host to be there", lambda: status() == "ok")


def log_says(name, words):
    with open(f.log(name), errors="replace") as log:
        return words in log.read()


def test_wrong_keys_are_nobody():
    """A key that is not the host's, and a site that is not the one it knows."""
    for key, site_key in (("stranger", "south"), ("far", "north")):
        host = spawn_host(key=key, site_key=site_key)
        job = f.submit("south", "true", "-m", "far")
        # What is submitted later runs: so the site had every occasion.
        later = f.submit("south", "true", "-m", "s1")
        f.wait_state("south", later, "DONE")
        expect_equal(f.job("south", job)["state"], "PEND", "nobody to run it")
        expect_equal(status(), "unavail", "not let in with %s, %s" % (key, site_key))
        f.cli("south", "kill", str(job))
        end(host)


def test_a_host_that_is_not_listed():
    host = spawn_host(name="nobody")
    f.wait_for("the site to say so", lambda: log_says("south", "nobody"))
    expect("nobody" not in [row["host"] for row in f.rows("south", "hosts")], "not taken in")
    end(host)


def test_jobs_run_there():
    host = spawn_host()
    wait_up()
    job = f.submit("south", "echo $LSB_HOSTS; exit 3", "-m", "far",
                   "-o", os.path.join(f.marks, "out"))
    f.wait_state("south", job, "EXIT")
    expect_equal(f.job("south", job)["exit_code"], 3, "exit code from over there")
    with open(os.path.join(f.marks, "out")) as out:
        expect_equal(out.read(), "far\n", "output from over there")
    end(host)


def test_found_again_after_kill():
    """The host is killed, its job is not, and both are found again."""
    host = spawn_host()
    wait_up()
    mark = os.path.join(f.marks, "again")
    job = f.submit("south", "echo x >>%s; until [ -e %s.on ]; do sleep 0.05; done" % (
        mark, mark), "-m", "far")
    f.wait_for("the job to run", lambda: os.path.exists(mark))
    end(host)
    f.wait_for("the host to be missed", lambda: status() == "unavail")
    expect(f.job("south", job)["state"] in ("RUN", "UNKWN"), "the job is not given up")
    host = spawn_host()
    wait_up()
    f.wait_state("south", job, "RUN")
    open(mark + ".on", "w").close()
    f.wait_state("south", job, "DONE")
    with open(mark) as text:
        expect_equal(text.read(), "x\n", "it began once")
    end(host)


def setup():
    f.run("sublet", "keygen", keys("far"), code=0)
    f.configure("south", FAR)
    f.start("broker")
    f.spawn("south")
    f.wait_for("south to answer", lambda: status("s1") == "ok")


# The far host is not there before test_jobs_run_there.
main(test_wrong_keys_are_nobody, test_a_host_that_is_not_listed, test_jobs_run_there,
     test_found_again_after_kill, shared=f, setup=setup)
