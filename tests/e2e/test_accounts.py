#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""As whom jobs of other sites run where no UserMap says so, and what they can reach."""
import json
import os
import pwd
import signal
import subprocess

from federation import BIN, NORTH, Federation, Skip, expect, expect_equal, main

OWN = NORTH.replace("HOSTS_HERE", "LEASE_USER = self\nHOSTS_HERE")


def need_root():
    if os.geteuid() != 0:
        raise Skip("only root's daemons run jobs as others")


def give(f, name, user):
    """The site's daemon runs as that user from now on, and has what it needs."""
    entry = pwd.getpwnam(user)
    os.makedirs(os.path.join(f.dir, name), exist_ok=True)
    os.chmod(os.path.join(f.dir, "keys"), 0o711)
    for path in (name, "keys/%s.key_secret" % name):
        os.chown(os.path.join(f.dir, path), entry.pw_uid, entry.pw_gid)
    f.prefixes[name] = ["setpriv", "--reuid", str(entry.pw_uid), "--regid",
                        str(entry.pw_gid), "--clear-groups"]


def test_not_root():
    """A daemon that is not root lends nothing until its configuration says that jobs of
    other sites may run as the daemon does."""
    need_root()
    with Federation() as f:
        give(f, "north", "nobody")
        f.start("broker", "north", "south")
        f.wait_lease("the reason", lambda lease: "LEASE_USER = self" in lease["reason"])
        lease = f.lease()
        expect_equal((lease["state"], lease["provider"]["available"],
                      lease["consumer"]["available"]), ("pending", 0, 0), "the lease")
        job = f.submit("south", "id -un", "-q", "away", "-o", f.marks + "/whose")
        f.wait_for("its owner to be told",
                   lambda: "LEASE_USER = self" in f.cli("south", "jobs", "-l", str(job)).stdout)
        expect_equal(f.job("south", job)["state"], "PEND", "it has not run")
        with open(f.log("north")) as log:
            expect("it lends nothing without LEASE_USER = self" in log.read(),
                   "the daemon's warning")
        checked = subprocess.run([*f.prefixes["north"], os.path.join(BIN, "sublet"), "check",
                                  f.conf("north")], stdout=subprocess.PIPE, text=True)
        expect_equal(checked.returncode, 0, "exit of check")
        expect("warning: the daemon runs as \"nobody\" and not as root: it lends nothing "
               "without LEASE_USER = self" in checked.stdout, checked.stdout)
        f.configure("north", OWN)
        f.daemons["north"].send_signal(signal.SIGHUP)
        f.wait_state("south", job, "DONE")
        with open(f.marks + "/whose") as file:
            expect_equal(file.read(), "nobody\n", "as whom it ran")
        f.wait_lease("no such reason",
                     lambda lease: "LEASE_USER" not in (lease["reason"] or ""))
        f.stop("north")
        f.start("north")
        with open(f.log("north")) as log:
            log.seek(f.starts["north"])
            expect('run as "nobody"' in log.read(), "it warns at each start")
        f.configure("north", NORTH)
        f.daemons["north"].send_signal(signal.SIGHUP)
        f.wait_lease("its slots to go home",
                     lambda lease: "LEASE_USER = self" in lease["reason"]
                     and lease["provider"]["available"] + lease["consumer"]["available"] == 0)


# ---- an account for each user

BELOW = "/var/lib"  # a spool in /tmp would leave jobs the machine's


def as_user(f, user, *args):
    """Runs `sublet` at south as that user; the words on standard output."""
    entry = pwd.getpwnam(user)
    environment = dict(f.environment, USER=user, HOME="/home/of-" + user, MINE="kept",
                       SSH_AUTH_SOCK="/secret/agent", SUBLET_KEY="/secret/key",
                       LD_LIBRARY_PATH="/opt/south/lib")
    result = subprocess.run(
        [os.path.join(BIN, "sublet"), "--socket", os.path.join(f.dir, "south", "sublet.sock"),
         *args], user=entry.pw_uid, group=entry.pw_gid, extra_groups=[], cwd="/", text=True,
        env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE)
    expect_equal(result.returncode, 0, "%s: %s" % (args, result.stderr))
    return result.stdout


def submit_as(f, user, command, *options):
    answer = as_user(f, user, "sub", "--json", "-q", "away", *options, command)
    return json.loads(answer)["job"]


def output_of(f, user, command):
    path = "%s/out-%d" % (f.marks, len(os.listdir(f.marks)))
    job = submit_as(f, user, command, "-o", path, "-e", path + ".err")
    f.wait_state("south", job, "DONE", "EXIT")
    with open(path) as file:
        return job, file.read()


def open_world(f):
    """The lease is made, and south holds slots enough for several jobs at once."""
    f.start("broker", "north", "south")
    job = f.submit("south", "true", "-q", "away")
    f.wait_state("south", job, "DONE")
    f.wait_lease("slots", lambda lease: lease["consumer"]["available"] >= 4)


def test_each_user_has_an_account():
    need_root()
    with Federation(below=BELOW) as f:
        open_world(f)
        ask = ("echo $(id -u) $(id -g) $(id -G) $USER $LOGNAME; echo $HOME; pwd; "
               "stat -c '%a %u' .; env; echo here >/tmp/mine; cat /tmp/*; touch /dev/shm/x")
        users = {}
        for user in ("daemon", "bin", "daemon"):
            job, text = output_of(f, user, ask)
            expect_equal(f.job("south", job)["state"], "DONE", text)
            lines = text.splitlines()
            uid, gid, groups, name, login = lines[0].split()
            expect_equal((gid, groups, name, login), (uid, uid, "sublet-" + uid, "sublet-" + uid),
                         "its ids and names")
            expect(2000000000 <= int(uid) <= 2000065535, "of LEASE_UIDS: " + uid)
            expect_equal(users.setdefault(user, uid), uid, "the same as before")
            expect_equal(lines[1], lines[2], "HOME is its own directory")
            expect(lines[2].startswith(os.path.join(f.dir, "north")), lines[2])
            expect_equal(lines[3], "700 " + uid, "of that directory")
            # LSB_SUB_USER names the user, as in LSF.
            for word in ("of-" + user, "/secret/", "/opt/south", "\nUSER=" + user):
                expect(word not in text, "%s leaks in:\n%s" % (word, text))
            expect("MINE=kept" in lines, "its own variables stay")
            expect_equal(lines[-1], "here", "nothing of others in its /tmp")
        expect(users["daemon"] != users["bin"], "two users, two accounts")
        expect(not os.path.exists("/tmp/mine") and not os.path.exists("/dev/shm/x"),
               "nothing is left on the machine")
        # Also after a restart of the site, whose journal has them.
        f.restart("north")
        f.wait_lease("the lease again", lambda lease: lease["status"] == "ok")
        expect_equal(output_of(f, "bin", "id -u")[1], users["bin"] + "\n", "after a restart")


def test_out_of_reach():
    """A job finds no process of another user's job, and cannot read its environment or
    output, write to its output or signal it."""
    need_root()
    with Federation(below=BELOW) as f:
        open_world(f)
        victim = submit_as(f, "bin", "echo secret output; TOKEN=sesame sh -c 'echo $$ >%s/pid; "
                           "while [ ! -e %s/go ]; do sleep 0.1; done'; echo end" %
                           (f.marks, f.marks), "-o", f.marks + "/victim")
        f.wait_for("the victim", lambda: os.path.getsize(f.marks + "/pid") > 0)
        with open(f.marks + "/pid") as file:
            pid = int(file.read())
        run = os.path.dirname(os.readlink("/proc/%d/cwd" % pid))
        expect(os.path.exists(run + "/stdout"), "its run is in " + run)
        _, text = output_of(
            f, "daemon",
            "cat /proc/%d/environ; ls -d /proc/%d; ls /proc | grep -cx '[0-9]*'; "
            "kill -9 %d; cat %s/stdout; echo forged >>%s/stdout; ls %s/work; cat %s/spec; "
            "kill -9 -1; echo done" % (pid, pid, pid, run, run, run, run))
        expect("sesame" not in text and "secret output" not in text, text)
        expect("/proc/%d\n" % pid not in text, "it sees the process: " + text)
        expect_equal(f.job("south", victim)["state"], "RUN", "the victim runs on")
        with open(f.marks + "/go", "w"):
            pass
        f.wait_state("south", victim, "DONE")
        with open(f.marks + "/victim") as file:
            expect_equal(file.read(), "secret output\nend\n", "what it wrote")


def test_range():
    """LEASE_UIDS that meets an account is an error of check, and of the daemon."""
    need_root()
    with Federation() as f:
        for value, says in (("LEASE_UIDS = 1-5", "expected FIRST-LAST"),
                            ("LEASE_UIDS = 70000", "expected FIRST-LAST"),
                            ("LEASE_UIDS = 60000-70000", "contains the number of user "),
                            ("LEASE_USER = no-such-user", "expected a user of this machine"),
                            ("LEASE_USER = self", "never run as root")):
            f.configure("north", NORTH.replace("HOSTS_HERE", value + "\nHOSTS_HERE"))
            result = f.run("sublet", "check", f.conf("north"), code=1)
            expect(says in result.stdout, "%s: %s" % (value, result.stdout))
            result = f.run("sublet-site", f.conf("north"), code=1)
            expect(says in result.stderr, "%s: %s" % (value, result.stderr))
        two = NORTH.replace("HOSTS_HERE", "LEASE_USER = nobody\nHOSTS_HERE").replace(
            "TYPE = shared\nDISTRIBUTION = ([south, 1])",
            "DISTRIBUTION = ([south, 1] [east, 1])")
        f.configure("north", two)
        result = f.run("sublet", "check", f.conf("north"), code=0)
        expect('jobs of several sites run as "nobody"' in result.stdout, result.stdout)


if __name__ == "__main__":
    main(test_not_root, test_each_user_has_an_account, test_out_of_reach, test_range)
