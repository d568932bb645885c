#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A sublet-host that the site did not start: on another machine, over TCP with keys."""
import os
import subprocess

from federation import BIN, SOUTH, Federation, expect, expect_equal, free_port, main

f = Federation()
PORT = free_port()
OWN_KEYS = "HOST_KEYS = @DIR@/keys/hosts"
FAR = SOUTH.replace("HOSTS_HERE", "LISTEN = tcp://127.0.0.1:%d\n%s\nHOSTS_HERE" % (
    PORT, OWN_KEYS)).replace(
    "s1 2 X86_64 EPYC (linux)\n", "s1 2 X86_64 EPYC (linux)\nfar 2 X86_64 EPYC (linux)\n"
    "next 2 X86_64 EPYC (linux)\n")


def keys(name):
    return os.path.join(f.dir, "keys", name)


def spawn_host(key="hosts/far", site_key="south", name="far"):
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
    for key, site_key in (("stranger", "south"), ("hosts/far", "north")):
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


def refused(name, key, words):
    """The site refuses that name with that key in these words; who is there stays."""
    host = spawn_host(name=name, key=key)
    f.wait_for("the site to say so", lambda: log_says(
        "south", 'host "%s" is refused: %s' % (name, words)))
    f.wait_for("the host to hear it", lambda: log_says("far", words))
    end(host)


def test_another_hosts_name():
    """The key of one host does not let in another, nor one of HOSTS_HERE."""
    before = f.rows("south", "hosts")
    refused("next", "hosts/far", "this key is that of host far")
    refused("s1", "hosts/far", "this name is in HOSTS_HERE")
    expect_equal(f.rows("south", "hosts"), before, "hosts as before")


def configure(keys_row):
    f.configure("south", FAR.replace(OWN_KEYS, keys_row))
    f.cli("south", "reconfig")


def test_one_key_for_all():
    """HOST_KEY goes on working, with a warning; not for the names of HOSTS_HERE."""
    f.run("sublet", "keygen", keys("shared"), code=0)
    configure("HOST_KEY = @DIR@/keys/shared.key")
    result = f.run("sublet", "check", f.conf("south"), code=0)
    expect("warning: HOST_KEY: whoever has this key takes the place" in result.stdout,
           result.stdout)
    refused("s1", "shared", "this name is in HOSTS_HERE")
    host = spawn_host(key="shared")
    wait_up()
    end(host)
    f.wait_for("the host to be missed", lambda: status() == "unavail")
    configure(OWN_KEYS)


def test_another_key_without_restart():
    """A new key counts from the reload on, and the old one does not; jobs run on."""
    mark = os.path.join(f.marks, "rotation")
    host = spawn_host()
    wait_up()
    job = f.submit("south", "echo x >>%s; until [ -e %s.on ]; do sleep 0.05; done" % (
        mark, mark), "-m", "far")
    f.wait_for("the job to run", lambda: os.path.exists(mark))
    f.run("sublet", "keygen", keys("new"), code=0)
    os.replace(keys("new.key"), keys("hosts/far.key"))
    f.cli("south", "reconfig")
    f.wait_for("the old key to be refused", lambda: status() == "unavail")
    end(host)
    host = spawn_host(key="new")
    wait_up()
    f.wait_state("south", job, "RUN")
    open(mark + ".on", "w").close()
    f.wait_state("south", job, "DONE")
    with open(mark) as text:
        expect_equal(text.read(), "x\n", "it began once")
    end(host)


def test_own_key():
    """The site's own key never goes to hosts."""
    f.configure("south", FAR.replace(OWN_KEYS, "HOST_KEY = @DIR@/keys/south.key"))
    result = f.cli("south", "reconfig", code=1)
    expect("is the site's own key" in result.stderr, result.stderr)
    f.configure("south", FAR.replace(OWN_KEYS + "\n", ""))
    result = f.run("sublet", "check", f.conf("south"), code=1)
    expect("HOST_KEYS is missing, expected it with LISTEN" in result.stdout, result.stdout)
    f.configure("south", FAR)


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
    os.mkdir(keys("hosts"))
    f.run("sublet", "keygen", keys("hosts/far"), code=0)
    f.configure("south", FAR)
    f.start("broker")
    f.spawn("south")
    f.wait_for("south to answer", lambda: status("s1") == "ok")


# The far host is not there before test_jobs_run_there.
main(test_wrong_keys_are_nobody, test_a_host_that_is_not_listed,
     test_another_hosts_name, test_jobs_run_there, test_found_again_after_kill,
     test_one_key_for_all, test_own_key, test_another_key_without_restart, shared=f, setup=setup)
