#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What one user of a machine can do to the others at its site: hold connections, ask
without end, and fill it with pending jobs. Real users: the test is root, and its children
take accounts that every Debian has."""
import contextlib
import json
import os
import pwd
import signal
import socket
import subprocess

from federation import BIN, SITE, Federation, Skip, expect, expect_equal, main

USERS = ("daemon", "bin", "sys", "games")  # who attack, 250 connections each
OTHER, ADMIN = "man", "mail"

CROWD = SITE.replace("@HOSTS@", "s1").replace("End Site", "ADMINS = %s\nEnd Site" % ADMIN) + """
Begin Host
HOST_NAME MXJ
s1 2
End Host
Begin Queue
QUEUE_NAME = normal
HOSTS = all
End Queue
Begin Parameters
SUB_TRY_INTERVAL = 1
End Parameters
Begin UserGroup
GROUP_NAME GROUP_MEMBER
crowd (bin sys)
each (games man)
End UserGroup
Begin User
USER_NAME MAX_PEND_JOBS
daemon 5
crowd 6
each@ 3
End User
"""


def begin(f):
    if os.geteuid() != 0:
        raise Skip("only root can be several users")
    for name in USERS + (OTHER, ADMIN):
        with contextlib.suppress(KeyError):
            pwd.getpwnam(name)
            continue
        raise Skip("no account " + name)
    f.configure("south", CROWD)
    f.start("south")


def socket_of(f):
    return os.path.join(f.dir, "south", "sublet.sock")


def run_as(f, user, *args):
    entry = pwd.getpwnam(user)
    return subprocess.run([os.path.join(BIN, "sublet"), "--socket", socket_of(f), *args],
                          user=entry.pw_uid, group=entry.pw_gid, extra_groups=[], cwd="/",
                          text=True, env=f.environment, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def become(user):
    entry = pwd.getpwnam(user)
    os.setgroups([])
    os.setgid(entry.pw_gid)
    os.setuid(entry.pw_uid)


@contextlib.contextmanager
def child_of(user, act):
    """A process of that user; it says when it has done what it was asked to, and waits."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        signal.alarm(600)
        os.close(read)
        become(user)
        kept = act()
        os.write(write, b"%d" % len(kept))
        signal.pause()
        os._exit(0)
    os.close(write)
    try:
        with open(read) as pipe:
            yield pipe
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


def connect_often(path):
    """As many idle connections as are kept open, of a thousand."""
    def act():
        kept = []
        for _ in range(1000):
            one = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            one.connect(path)
            kept.append(one)
        return kept
    return act


def n_held(f):
    """Connections that the daemon has on its socket."""
    below = "/proc/%d/fd" % f.daemons["south"].pid
    n = 0
    for fd in os.listdir(below):
        with contextlib.suppress(OSError):  # closed meanwhile
            n += os.readlink(os.path.join(below, fd)).startswith("socket:")
    return n


def test_idle_connections():
    with Federation() as f:
        begin(f)
        with contextlib.ExitStack() as stack:
            for i, user in enumerate(USERS):
                pipe = stack.enter_context(child_of(user, connect_often(socket_of(f))))
                expect_equal(pipe.read(4), "1000", "connections that %s has tried" % user)
                # The 250 of this user alone are taken; others work.
                if i < len(USERS) - 1:
                    result = run_as(f, OTHER, "jobs")
                    expect_equal(result.returncode, 0, result.stderr)
            f.wait_for("900 at most to be left", lambda: n_held(f) < 950)
            result = run_as(f, OTHER, "jobs")
            expect("too many connections (900)" in result.stderr, result.stderr)
            for user in (ADMIN, "root"):  # for whom a hundred are kept
                result = run_as(f, user, "jobs", "-u", "all")
                expect_equal(result.returncode, 0, result.stderr)
        f.wait_for("it to go on once they are gone",
                   lambda: run_as(f, OTHER, "sub", "true").returncode == 0)


def submit_as(f, user, *args):
    result = run_as(f, user, "sub", "--json", *args)
    return json.loads(result.stdout)["job"] if result.returncode == 0 else result.stderr


def refused(f, user, words, *args):
    said = submit_as(f, user, *args)
    expect(isinstance(said, str) and words in said, "%s: %s" % (user, said))


def test_pending_jobs():
    """Bounds of a user, of a group as a whole, of each user of a group."""
    with Federation() as f:
        begin(f)
        f.cli("south", "queue", "inactivate", "normal")
        submit_as(f, "daemon", "-J", "a[1-5]", "true")
        refused(f, "daemon", "user daemon has 5 pending jobs", "true")
        submit_as(f, "bin", "-J", "a[1-4]", "true")
        refused(f, "sys", "the users of group crowd have 4 pending jobs", "-J", "a[1-3]", "true")
        submit_as(f, "sys", "-J", "a[1-2]", "true")
        refused(f, "bin", "the users of group crowd have 6 pending jobs", "true")
        refused(f, "games", "4 pending jobs at once are more than the 3 of MAX_PEND_JOBS "
                "that user games may have", "-J", "a[1-4]", "true")
        expect(isinstance(submit_as(f, OTHER, "true"), int), "another user's job")
        # All of one's own at once, and nobody else's.
        result = run_as(f, "bin", "kill", "0")
        expect_equal(result.returncode, 0, result.stderr)
        f.wait_for("those of bin to end", lambda: f.n_jobs("south", "PEND") == 8)
        expect(isinstance(submit_as(f, "sys", "-J", "a[1-4]", "true"), int), "room again")


def bsub_as(f, user, *args, **variables):
    entry = pwd.getpwnam(user)
    return subprocess.Popen(["bsub", *args], executable=os.path.join(BIN, "sublet-lsf"),
                            user=entry.pw_uid, group=entry.pw_gid, extra_groups=[],
                            cwd="/", text=True, stdin=subprocess.DEVNULL,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            env=dict(f.environment, SUBLET_SOCKET=socket_of(f), **variables))


def test_bsub_tries_again():
    """As LSF's: until there is room, or LSB_NTRIES times; not if there can be no room."""
    again = "User <daemon>: Pending job threshold reached. Retrying in 1 seconds...\n"
    with Federation() as f:
        begin(f)
        f.cli("south", "queue", "inactivate", "normal")
        array = submit_as(f, "daemon", "-J", "a[1-5]", "true")
        status, out, said = f.hear_out(bsub_as(f, "daemon", "true", LSB_NTRIES="2"))
        expect_equal((status, out), (255, ""), said)
        expect(said.startswith(again + "user daemon has 5 pending jobs"), said)
        status, _, said = f.hear_out(bsub_as(f, "daemon", "-J", "b[1-6]", "true"))
        expect(status == 255 and said.startswith("6 pending jobs at once"), said)
        bsub = bsub_as(f, "daemon", "true")
        expect_equal(bsub.stderr.readline(), again, "while there is no room")
        f.cli("south", "kill", "%d[1]" % array)
        status, out, said = f.hear_out(bsub)
        expect_equal(status, 0, said)
        expect("is submitted to default queue <normal>" in out, out)


def test_a_user_who_asks_without_end():
    """Others are answered meanwhile."""
    with Federation() as f:
        begin(f)
        job = f.submit("south", "true")
        f.wait_state("south", job, "DONE")

        def ask():
            command = [os.path.join(BIN, "sublet"), "--socket", socket_of(f), "jobs", "-u", "all"]
            return [subprocess.Popen(["sh", "-c", 'while :; do "$@"; done', "sh", *command],
                                     env=f.environment, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                     process_group=0) for _ in range(4)]
        with child_of("daemon", ask) as pipe:
            expect_equal(pipe.read(1), "4", "loops")
            try:
                for _ in range(20):
                    result = run_as(f, OTHER, "sub", "-K", "true")
                    expect_equal(result.returncode, 0, result.stderr)
            finally:
                end_all_of(f, "daemon")


def end_all_of(f, user):
    """The loops of this test: processes of that user with its socket in their command."""
    uid = pwd.getpwnam(user).pw_uid
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            with open("/proc/%s/cmdline" % pid, "rb") as file:
                words = file.read()
            if os.stat("/proc/" + pid).st_uid == uid and socket_of(f).encode() in words:
                os.kill(int(pid), signal.SIGKILL)


main(test_idle_connections, test_pending_jobs, test_bsub_tries_again, test_a_user_who_asks_without_end, at_once=2)
