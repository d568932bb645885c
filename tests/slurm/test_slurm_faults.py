#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What befalls a Slurm cluster that lends nodes: nodes that are down, a slurmctld that is
away for longer than the term, orders that it refuses, and a site that is not root.

    AWAY=600 TERM_OF=15m tests/slurm/test_slurm_faults.py test_away

plays ten minutes without slurmctld instead of little more than a minute."""
import os
import pwd
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from slurm_inside import LIMIT, is_running, kill_slurmctld, main_inside, run, run_inside
from test_slurm_lending import (ACCOUNT, LEASE, NORTH, SOUTH, federation, lent, own_job,
                                reservations, slurm_jobs, wait, wait_nodes, wrap)
from federation import BIN, Federation, expect, expect_equal

AWAY, TERM = int(os.environ.get("AWAY", "75")), os.environ.get("TERM_OF", "1m")


def start(f):
    f.start("broker", "north", "south")
    wait("the reserved node", lambda: lent() == {"n1"})
    f.wait_for("the lease", lambda: f.lease("south", LEASE) is not None)


def read(path):
    with open(path) as file:
        return file.read()


def commands_of(f):
    """Slurm's commands of north, which a test can wrap."""
    path = os.path.join(f.dir, "bin")
    wrap(path, "")
    text = read(f.conf("north"))
    with open(f.conf("north"), "w") as file:
        file.write(text.replace("SCHEDULER = slurm", "SCHEDULER = slurm\nSLURM_BIN = " + path))
    return path


# ---------------------------------------------------------------- nodes

def node_down(f):
    """An administrator sets a node down under two leased jobs."""
    mark = os.path.join(f.marks, "down")
    one = f.submit("south", "echo x >>%s1; sleep 3600" % mark)
    two = f.submit("south", "echo x >>%s2; [ -e %s ] && exit 9; touch %s; sleep 3600"
                   % (mark, mark, mark), "-r")
    for job in (one, two):
        f.wait_state("south", job, "RUN")
    f.wait_for("both to begin", lambda: os.path.exists(mark) and os.path.exists(mark + "1"))
    run("scontrol", "update", "NodeName=n1", "State=DOWN", "Reason=test")
    f.wait_state("south", one, "EXIT")
    expect("node" in f.job("south", one)["reason"], f.job("south", one)["reason"])
    run("scontrol", "update", "NodeName=n1", "State=RESUME", code=None)  # it may be back
    f.wait_state("south", two, "EXIT")
    expect_equal(f.job("south", two)["exit_code"], 9, "it was requeued")
    expect_equal((read(mark + "1"), read(mark + "2")), ("x\n", "x\nx\n"), "begins")


def slurmd_killed(f):
    """The job goes on without it, and its end comes home; slurmd is started again."""
    mark = os.path.join(f.marks, "slurmd")
    job = f.submit("south", "while [ ! -e %s ]; do sleep 0.1; done; exit 3" % mark)
    f.wait_state("south", job, "RUN")
    (host, _), = f.job("south", job)["hosts"].items()
    node = host.split("@")[0]
    pid = int(read(os.path.join(os.path.dirname(os.environ["SLURM_CONF"]), "..",
                                "slurmd-%s.pid" % node)))
    os.kill(pid, signal.SIGKILL)
    wait("slurmd's end", lambda: not is_running(pid))
    open(mark, "w").close()
    f.wait_state("south", job, "EXIT")
    expect_equal(f.job("south", job)["exit_code"], 3, "status")
    run("slurmd-wlm", "-N", node)
    job = f.submit("south", "exit 5")
    f.wait_state("south", job, "EXIT")
    expect_equal(f.job("south", job)["exit_code"], 5, "slurmd is back")


def inside_nodes():
    wait_nodes()
    with federation() as f:
        start(f)
        node_down(f)
        slurmd_killed(f)


# ---------------------------------------------------------------- what is refused

def refused_others(f):
    """A job of another user of the cluster is refused by slurmctld."""
    done = run("sbatch", "--uid=daemon", "--chdir=/", "--output=/dev/null", "--reservation=" +
               next(iter(reservations())), "--wrap", "sleep 3600", code=None)
    expect(done.returncode != 0 and "Access denied" in done.stderr, done.stderr)


def refused_yesterday(f):
    """The contract has another epoch: what would start under the old one is refused."""
    old = next(iter(reservations()))
    f.cli("north", "lease", "drain", LEASE)
    wait("the nodes at home", lambda: reservations() == {})
    f.cli("north", "lease", "resume", LEASE)
    wait("the reserved node", lambda: lent() == {"n1"})
    expect(old not in reservations(), "another epoch: %s" % reservations())
    done = run("sbatch", "--uid=" + ACCOUNT, "--chdir=/", "--output=/dev/null",
               "--reservation=" + old, "--wrap", "sleep 3600", code=None)
    expect(done.returncode != 0 and "reservation is invalid" in done.stderr, done.stderr)
    job = f.submit("south", "exit 2")
    f.wait_state("south", job, "EXIT")
    expect_equal(f.job("south", job)["exit_code"], 2, "a job of today")


def refused_constraints(f, commands):
    """The node leaves the reservation just before sbatch, which slurmctld refuses: the job
    never was, and waits again, although it is not rerunnable."""
    once = os.path.join(f.dir, "once")
    wrap(commands, """case $0 in */sbatch) if mkdir %s 2>/dev/null; then
    for word; do case $word in
        --reservation=*) /usr/bin/scontrol update ReservationName=${word#*=} Nodes=n2;;
    esac; done >&2
fi;; esac""" % once)
    job = f.submit("south", "exit 6")
    f.wait_state("south", job, "EXIT")
    expect_equal(f.job("south", job)["exit_code"], 6, f.job("south", job)["reason"])
    expect(os.path.isdir(once), "its reservation was changed")
    reasons = run("squeue", "-h", "-a", "--states=all", "-o", "%r").stdout.split()
    expect("BadConstraints" in reasons, "a record of a refusal: %s" % reasons)
    wrap(commands, "")


def refused_held(f, commands):
    """A job waits in Slurm when its reservation ends, and is held for ever: its owner kills
    it, and Slurm has it no more."""
    wait("a reserved node", lambda: lent() != set())
    wrap(commands, """case $0 in */sbatch)
    for node in n1 n2; do
        /usr/bin/scontrol update NodeName=$node State=DRAIN Reason=test
    done;; esac""")
    job = f.submit("south", "exit 7")
    wait("the job in Slurm", lambda: "PD" in [row[1] for row in slurm_jobs()])
    wrap(commands, "exit 1")  # the site sees and orders nothing
    for name in reservations():
        run("scontrol", "update", "ReservationName=" + name, "EndTime=now+1")
    wait("the end of the reservation", lambda: "RD" in [row[1] for row in slurm_jobs()])
    f.cli("south", "kill", str(job))
    wrap(commands, "")
    f.wait_state("south", job, "EXIT")
    wait("nothing to wait", lambda: not {"RD", "PD"} & {row[1] for row in slurm_jobs()})
    for node in ("n1", "n2"):
        run("scontrol", "update", "NodeName=" + node, "State=RESUME")
    job = f.submit("south", "exit 8")
    f.wait_state("south", job, "EXIT")
    expect_equal(f.job("south", job)["exit_code"], 8, "the node is lent again")


def inside_refused():
    wait_nodes()
    with federation(ON_LOST="kill") as f:  # with FLEX a job may run beside its reservation
        commands = commands_of(f)
        start(f)
        refused_others(f)
        refused_yesterday(f)
        refused_constraints(f, commands)
        refused_held(f, commands)


# ---------------------------------------------------------------- slurmctld is away

def inside_away():
    """Jobs run on, and their ends come home, while slurmctld is away; what is submitted
    meanwhile waits. Once it is back the nodes are reserved again, and no job has begun
    twice."""
    wait_nodes()
    with federation(TERM=TERM) as f:
        start(f)
        mark = os.path.join(f.marks, "go")
        jobs = [f.submit("south", "echo x >>%s.begun%d; while [ ! -e %s%d ]; do sleep 0.1; "
                         "done; exit %d" % (mark, i, mark, i, i)) for i in (3, 4)]
        for job in jobs:
            f.wait_state("south", job, "RUN")
        kill_slurmctld()
        back = time.monotonic() + AWAY
        open(mark + "3", "w").close()
        f.wait_state("south", jobs[0], "EXIT")
        expect_equal(f.job("south", jobs[0])["exit_code"], 3, "ended meanwhile")
        late = f.submit("south", "echo x >>%s.late; exit 5" % mark)
        while time.monotonic() < back:
            time.sleep(min(5, max(0, back - time.monotonic())))
            expect_equal(f.job("south", jobs[1])["state"], "RUN", "the job that runs")
        expect(not os.path.exists(mark + ".late"), "nothing begins meanwhile")
        run("slurmctld-wlm")
        returned = time.monotonic()
        f.wait_state("south", late, "EXIT")
        print("slurmctld was away for %d s; a job that waited has ended %.0f s later"
              % (AWAY, time.monotonic() - returned), flush=True)
        expect_equal(f.job("south", late)["exit_code"], 5, "submitted meanwhile")
        open(mark + "4", "w").close()
        f.wait_state("south", jobs[1], "EXIT")
        expect_equal(f.job("south", jobs[1])["exit_code"], 4, "ran on")
        for name in ("begun3", "begun4", "late"):
            expect_equal(read("%s.%s" % (mark, name)), "x\n", name)
        wait("the reserved node", lambda: lent() != set())


# ---------------------------------------------------------------- the site is away

def inside_keep():
    """The site's daemon is gone for longer than the term, with ON_LOST = keep: the job runs
    on without its reservation, and Slurm's users get what it leaves of the node. The site
    finds the job again, and reserves a node for the next one."""
    wait_nodes()
    with federation() as f:
        start(f)
        mark = os.path.join(f.marks, "keep")
        job = f.submit("south", "echo x >>%s.begun; while [ ! -e %s ]; do sleep 0.1; done; exit 4"
                       % (mark, mark))
        f.wait_state("south", job, "RUN")
        f.wait_for("it to begin", lambda: os.path.exists(mark + ".begun"))
        f.kill9("north")
        wait("the end of the reservation", lambda: reservations() == {}, limit=2 * LIMIT)
        own = [own_job("n1") for _ in range(2)]
        state = lambda job: slurm_jobs("-j", job)[0][1]
        wait("a job beside it", lambda: sorted(map(state, own)) == ["PD", "R"])
        f.start("north")
        f.wait_state("south", job, "RUN")
        expect_equal(sorted(map(state, own)), ["PD", "R"], "no CPU is used by two")
        open(mark, "w").close()
        f.wait_state("south", job, "EXIT")
        expect_equal(f.job("south", job)["exit_code"], 4, "status")
        expect_equal(read(mark + ".begun"), "x\n", "it ran once")
        wait("both jobs of Slurm's users", lambda: list(map(state, own)) == ["R", "R"])
        run("scancel", *own)
        job = f.submit("south", "exit 5")  # they have waited, so that the node went home
        f.wait_state("south", job, "EXIT")
        expect_equal(f.job("south", job)["exit_code"], 5, "a node is lent again")


# ---------------------------------------------------------------- a site that is SlurmUser

def inside_self():
    """The site runs as SlurmUser, and so do all leased jobs (LEASE_USER = self)."""
    wait_nodes()
    entry = pwd.getpwnam(os.environ["SLURM_USER"])
    with Federation(below=os.environ.get("TMPDIR")) as f:
        f.words.update({"SLURM_CONF": os.environ["SLURM_CONF"], "INTERVAL": "1s", "TERM": "1m",
                        "ACCOUNT": ACCOUNT, "ON_LOST": "keep", "SELECT": "type==any",
                        "RECLAIM": "1s"})
        text = NORTH.replace("SCHEDULER", "LEASE_USER = self\nSCHEDULER", 1)
        first, last = text.index("Begin UserMap"), text.index("End UserMap") + len("End UserMap")
        f.configure("north", text[:first] + text[last:])
        f.configure("south", SOUTH)
        os.chmod(os.path.join(f.dir, "keys"), 0o711)
        os.mkdir(os.path.join(f.dir, "north"))
        for path in ("north", "keys/north.key_secret"):
            os.chown(os.path.join(f.dir, path), entry.pw_uid, entry.pw_gid)
        as_user = ["setpriv", "--reuid", str(entry.pw_uid), "--regid", str(entry.pw_gid),
                   "--clear-groups"]
        f.prefixes["north"] = as_user
        done = subprocess.run([*as_user, os.path.join(BIN, "sublet"), "check", f.conf("north")],
                              capture_output=True, text=True)
        expect_equal(done.returncode, 0, done.stdout + done.stderr)
        f.start("broker", "north", "south")
        wait("the reserved node", lambda: [users for _, users in reservations().values()] ==
             [entry.pw_name])
        out = os.path.join(f.dir, "home", "out")
        job = f.submit("south", "id -un; exit 7", "-o", out)
        f.wait_state("south", job, "EXIT")
        expect_equal((f.job("south", job)["exit_code"], read(out).split("\n")[0]),
                     (7, entry.pw_name), "status and account")
        # A rebalance, a restart and a drain.
        jobs = [f.submit("south", "sleep 3600", "-n", "2") for _ in range(2)]
        f.wait_for("both nodes", lambda: f.n_jobs("south", "RUN") == 2)
        f.restart("north")
        f.wait_for("both jobs", lambda: f.n_jobs("south", "RUN") == 2)
        f.cli("south", "stop", str(jobs[0]))
        f.wait_state("south", jobs[0], "USUSP")
        for job in jobs:
            f.cli("south", "kill", str(job))
            f.wait_state("south", job, "EXIT")
        done = run("sbatch", "--uid=daemon", "--chdir=/", "--output=/dev/null", "--reservation=" +
                   next(iter(reservations())), "--wrap", "sleep 3600", code=None)
        expect(done.returncode != 0 and "Access denied" in done.stderr, done.stderr)
        f.cli("north", "lease", "drain", LEASE)
        wait("the nodes at home", lambda: reservations() == {})


# ---------------------------------------------------------------- tests

def test_nodes():
    run_inside(__file__, "nodes")


def test_refused():
    run_inside(__file__, "refused")


def test_away():
    run_inside(__file__, "away", seconds=540 + AWAY)


def test_keep():
    run_inside(__file__, "keep")


def test_self():
    run_inside(__file__, "self", environment={"SLURM_USER": "irc"})


if __name__ == "__main__":
    main_inside({"nodes": inside_nodes, "refused": inside_refused, "away": inside_away,
                 "keep": inside_keep, "self": inside_self},
                [test_away, test_keep, test_refused, test_self, test_nodes])
