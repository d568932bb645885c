#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A Slurm cluster lends whole nodes to a site of the built-in kind: real daemons on a real
cluster (tests/slurm/cluster) with nodes n1 of 2 CPUs and n2 of 4. Several stories share a
cluster, because starting one takes longer than most of them.

    SLOW=10 tests/slurm/test_slurm_lending.py test_slow

lets slurmctld take ten seconds for each answer, instead of one."""
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from slurm_inside import LIMIT, kill_slurmctld, main_inside, run, run_inside
from federation import SITE, Failure, Federation, expect, expect_equal

NORTH = SITE.replace("HOSTS_HERE = @HOSTS@", """SCHEDULER = slurm
SLURM_CONF = @SLURM_CONF@
SLURM_INTERVAL = @INTERVAL@
SLURM_TERM = @TERM@""") + """
Begin UserMap
LOCAL REMOTE DIRECTION
@ACCOUNT@ root@south import
End UserMap
Begin Queue
QUEUE_NAME = normal
HOSTS = allremote
End Queue
Begin Parameters
MC_RECLAIM_DELAY = @RECLAIM@
RECLAIM_POLICY = demand
ON_LOST = @ON_LOST@
End Parameters
Begin HostExport
NAME = spare
RES_SELECT = @SELECT@
NHOSTS = 2
TYPE = shared
DISTRIBUTION = ([south, 1])
End HostExport
"""

SOUTH = SITE.replace("HOSTS_HERE = @HOSTS@\n", "") + """
Begin Queue
QUEUE_NAME = normal
HOSTS = allremote
End Queue
"""

LEASE = "north/spare/south"
ACCOUNT = "games"  # of Debian's base system
SLOW = int(os.environ.get("SLOW", "1"))  # seconds


def federation(**words):
    f = Federation(below=os.environ.get("TMPDIR"))
    f.words.update({"SLURM_CONF": os.environ["SLURM_CONF"], "INTERVAL": "1s", "TERM": "1m",
                    "ACCOUNT": ACCOUNT, "ON_LOST": "keep", "SELECT": "type==any",
                    "RECLAIM": "1s", **words})
    f.configure("north", NORTH)
    f.configure("south", SOUTH)
    return f


def wait(what, condition, limit=LIMIT):
    deadline = time.monotonic() + limit
    while not condition():
        if time.monotonic() > deadline:
            nodes = run("sinfo", "-h", "-N", "-o", "%N %T %C", code=None).stdout
            raise Failure("waited %d s for %s: %s; nodes: %s; jobs: %s" % (
                limit, what, reservations(), nodes.splitlines(), slurm_jobs()))
        time.sleep(0.2)


def wait_nodes():
    """Both nodes are idle: a node that has not registered yet is not lent, so its lease
    would begin with the other one."""
    wait("the nodes", lambda: {"n1 idle", "n2 idle"} <= set(
        run("sinfo", "-h", "-N", "-o", "%N %T", code=None).stdout.splitlines()))


def reservations():
    """Nodes and users of each reservation, by its name."""
    text = run("scontrol", "-o", "show", "reservation", code=None).stdout
    return {re.search(r"ReservationName=(\S+)", line).group(1):
            (re.search(r" Nodes=(\S+)", line).group(1), re.search(r" Users=(\S+)", line).group(1))
            for line in text.splitlines() if "ReservationName=" in line}


def lent():
    """Nodes that are reserved for jobs of the lease."""
    nodes = set()
    for name, (listed, users) in reservations().items():
        if name.startswith("sublet_north_spare_south_e") and users == ACCOUNT:
            nodes |= set(run("scontrol", "show", "hostnames", listed).stdout.split())
    return nodes


def slurm_jobs(*options):
    text = run("squeue", "-h", "-a", "--states=all", "-o", "%i %t %u %N %v", *options).stdout
    return [line.split() for line in text.splitlines()]


def own_job(node, seconds=3600, cpus=1):
    return run("sbatch", "--parsable", "--output=/dev/null", "-w", node, "-n", str(cpus),
               "--wrap", "sleep %d" % seconds).stdout.strip()


def held(f):
    """CPUs of the consumer on each node, as the provider says."""
    row = f.lease("north", LEASE)
    return row["consumer_slots"] if "consumer_slots" in row else row


# ---------------------------------------------------------------- lending

def story_one_job(f):
    """A leased job runs in the reservation, as the account of UserMap; status, output and
    times come home."""
    out = os.path.join(f.dir, "home", "out")
    job = f.submit("south", "echo hello; id -un; echo $SLURM_JOB_RESERVATION; "
                   "echo \"it's $MINE\"; exit 7", "-o", out)
    f.wait_state("south", job, "EXIT")
    row = f.job("south", job)
    expect_equal(row["exit_code"], 7, "exit code")
    expect_equal(row["hosts"], {"n1@north": 1}, "hosts")
    with open(out) as file:
        lines = file.read().splitlines()
    expect_equal(lines[:2], ["hello", ACCOUNT], "output")
    expect(lines[2].startswith("sublet_north_spare_south_e"), "the reservation: %s" % lines)
    expect(row["start_at"] <= row["end_at"], "times: %s" % row)


def story_shares(f):
    """The consumer has waiting jobs, so that idle nodes go to it, as a whole and after they
    were held; a node with a job of Slurm's own does not. When that ends, its node follows.
    When nobody waits there, the nodes stay; Slurm's users take them by waiting."""
    own = own_job("n2")
    wait("the own job", lambda: [own, "R", "root", "n2", "(null)"] in slurm_jobs())
    jobs = [f.submit("south", "sleep 3600", "-n", "2") for _ in range(3)]
    f.wait_state("south", jobs[0], "RUN")
    time.sleep(4)  # several reclaim delays, in which nothing may move
    expect_equal(lent(), {"n1"}, "a busy node stays with Slurm")
    run("scancel", own)
    f.wait_for("the second node", lambda: f.n_jobs("south", "RUN") == 3)
    expect_equal(lent(), {"n1", "n2"}, "both nodes are lent")
    mine = own_job("n2")
    time.sleep(2)
    expect_equal([row[1] for row in slurm_jobs("-j", mine)], ["PD"], "an own job waits")
    for job in jobs:
        f.cli("south", "kill", str(job))
    for job in jobs:
        f.wait_state("south", job, "EXIT")
    return mine


def story_demand(mine):
    """The consumer's nodes are idle, and a job of Slurm's own waits for one of them: they go
    home by RECLAIM_POLICY = demand."""
    wait("the own job", lambda: slurm_jobs("-j", mine)[0][1] == "R")
    run("scancel", mine)


def story_home(f):
    """A drain, after which nothing is reserved, and its end. The node of the job that has
    just ended is lent, or the other one, as the site's last look at Slurm has it."""
    mine = own_job("n1")
    f.cli("north", "lease", "drain", LEASE)
    wait("the nodes at home", lambda: reservations() == {})
    wait("the own job", lambda: slurm_jobs("-j", mine)[0][1] == "R")
    run("scancel", mine)
    wait_nodes()
    f.cli("north", "lease", "resume", LEASE)
    wait("the reserved node", lambda: lent() in ({"n1"}, {"n2"}))


def story_controls(f):
    """Suspended by a signal to all processes, never by `scontrol suspend`; resumed, killed."""
    mark = os.path.join(f.marks, "beat")
    job = f.submit("south", "while :; do date +%%s%%N >%s; sleep 0.1; done" % mark)
    f.wait_state("south", job, "RUN")
    f.wait_for("the job to beat", lambda: os.path.exists(mark))
    f.cli("south", "stop", str(job))
    f.wait_state("south", job, "USUSP")
    expect_equal([row[1] for row in slurm_jobs() if row[1] == "ST"], ["ST"], "stopped in Slurm")
    with open(mark) as file:
        before = file.read()
    time.sleep(1)
    with open(mark) as file:
        expect_equal(file.read(), before, "nothing runs")
    f.cli("south", "resume", str(job))
    f.wait_state("south", job, "RUN")
    f.wait_for("the job to go on", lambda: open(mark).read() != before)
    f.cli("south", "kill", str(job))
    f.wait_state("south", job, "EXIT")


def story_run_limit(f):
    """A job's own limit ends it, which is not the end of its reservation."""
    job = f.submit("south", "sleep 3600", "-W", "2s")
    f.wait_state("south", job, "EXIT")
    expect("TERM_RUNLIMIT" in f.cli("south", "jobs", "-l", str(job)).stdout
           or "run limit" in f.job("south", job)["reason"].lower(),
           "its reason: %s" % f.job("south", job)["reason"])


def story_restart(f):
    """The site's daemon is killed. The job runs on, is found again by its comment, and its
    end comes home; a job that ended meanwhile too."""
    mark = os.path.join(f.marks, "go")
    count = os.path.join(f.marks, "count")
    one = f.submit("south", "echo x >>%s; while [ ! -e %s ]; do sleep 0.1; done; exit 3"
                   % (count, mark))
    two = f.submit("south", "while [ ! -e %s2 ]; do sleep 0.1; done; exit 4" % mark)
    for job in (one, two):
        f.wait_state("south", job, "RUN")
    f.kill9("north")
    open(mark, "w").close()
    wait("the end in Slurm", lambda: sum(row[1] == "R" for row in slurm_jobs()) == 1)
    f.start("north")
    f.wait_state("south", one, "EXIT")
    expect_equal(f.job("south", one)["exit_code"], 3, "ended while the daemon was away")
    open(mark + "2", "w").close()
    f.wait_state("south", two, "EXIT")
    expect_equal(f.job("south", two)["exit_code"], 4, "ran on")
    with open(count) as file:
        expect_equal(file.read(), "x\n", "it ran once")


def inside_lending():
    wait_nodes()
    with federation() as f:
        f.start("broker", "north", "south")
        rows = {row["host"]: row for row in f.rows("north", "hosts")}
        expect_equal({name: row["max"] for name, row in rows.items()}, {"n1": 2, "n2": 4},
                     "hosts come from Slurm")
        wait("the reserved node", lambda: lent() == {"n1"})
        story_one_job(f)
        mine = story_shares(f)
        story_demand(mine)
        story_home(f)
        story_controls(f)
        story_run_limit(f)
        story_restart(f)


# ---------------------------------------------------------------- faults

def fault_intruder(f):
    """A job of the account's own in the reservation is cancelled."""
    name = next(iter(reservations()))
    job = run("sbatch", "--parsable", "--output=/dev/null", "--uid=" + ACCOUNT,
              "--reservation=" + name, "--chdir=/", "--wrap", "sleep 3600").stdout.strip()
    wait("the intruder's end", lambda: slurm_jobs("-j", job)[0][1] == "CA")


def fault_slurmctld(f):
    """slurmctld is killed and started again: a script that it starts a second time does
    nothing, and the first one's end counts."""
    count = os.path.join(f.marks, "again")
    job = f.submit("south", "echo x >>%s; sleep 10; exit 5" % count)
    f.wait_for("the job to begin", lambda: os.path.exists(count))
    kill_slurmctld()
    time.sleep(1)
    run("slurmctld-wlm")
    f.wait_state("south", job, "EXIT")
    expect_equal(f.job("south", job)["exit_code"], 5, "status")
    wait("slurmctld", lambda: run("sinfo", code=None).returncode == 0)
    with open(count) as file:
        expect_equal(file.read(), "x\n", "it ran once")
    wait("the reserved node", lambda: lent() >= {"n1"})


def fault_reconfigure(f):
    job = f.submit("south", "sleep 2; exit 6")
    f.wait_state("south", job, "RUN")
    run("scontrol", "reconfigure")
    f.wait_state("south", job, "EXIT")
    expect_equal(f.job("south", job)["exit_code"], 6, "status")


def fault_admin(f):
    """An administrator deletes the reservation of an idle node, and edits one."""
    name = next(name for name, (nodes, users) in reservations().items() if users == ACCOUNT)
    run("scontrol", "delete", "ReservationName=" + name)
    try:
        wait("the reservation again", lambda: lent() >= {"n1"})
    except Failure as failure:
        raise Failure("%s; leases: %s; hosts: %s" % (
            failure, f.rows("north", "leases"), f.rows("north", "hosts"))) from failure
    name = next(name for name, (nodes, users) in reservations().items() if users == ACCOUNT)
    run("scontrol", "update", "ReservationName=" + name, "Users=root")
    wait("its users again", lambda: lent() >= {"n1"})


def fault_down(f):
    """A drained node takes no more jobs, and is back with its state."""
    run("scontrol", "update", "NodeName=n1", "State=DRAIN", "Reason=test")
    f.wait_for("the node to be closed", lambda: {row["host"]: row["status"] for row in
               f.rows("north", "hosts")}["n1"].startswith("closed"))
    run("scontrol", "update", "NodeName=n1", "State=RESUME")
    f.wait_for("the node to be open", lambda: {row["host"]: row["status"] for row in
               f.rows("north", "hosts")}["n1"] == "ok")


def inside_faults():
    wait_nodes()
    with federation() as f:
        f.start("broker", "north", "south")
        wait("the reserved node", lambda: lent() == {"n1"})
        job = f.submit("south", "true")
        f.wait_state("south", job, "DONE")
        wait("a node", lambda: lent() != set())
        fault_intruder(f)
        fault_slurmctld(f)
        fault_reconfigure(f)
        fault_admin(f)
        fault_down(f)


def wrap(directory, words):
    """Slurm's commands in a directory of their own, with these words before each."""
    os.makedirs(directory, exist_ok=True)
    for name in ("sinfo", "squeue", "scontrol", "sbatch", "scancel"):
        path = os.path.join(directory, name)
        with open(path + ".new", "w") as file:
            file.write("#!/bin/sh\n%s\nexec /usr/bin/%s \"$@\"\n" % (words, name))
        os.chmod(path + ".new", 0o755)
        os.rename(path + ".new", path)


def inside_slow():
    """Each command takes seconds: a hand-over takes longer, and nothing else happens. Then
    slurmctld is away for longer than a job runs: the job's end comes home all the same."""
    wait_nodes()
    with federation(TERM="15m") as f:
        slow = os.path.join(f.dir, "bin")
        wrap(slow, "sleep %d" % SLOW)
        with open(f.conf("north")) as file:
            text = file.read()
        with open(f.conf("north"), "w") as file:
            file.write(text.replace("SCHEDULER = slurm", "SCHEDULER = slurm\nSLURM_BIN = " + slow))
        began, limit = time.monotonic(), LIMIT + 60 * SLOW
        took = lambda: time.monotonic() - began
        f.start("broker", "north", "south")
        jobs = [f.submit("south", "sleep 3600", "-n", "2") for _ in range(2)]
        f.wait_for("a job", lambda: f.n_jobs("south", "RUN") == 1, limit)
        print("%d s an answer: after %.0f s a job runs on the first node" % (SLOW, took()))
        f.wait_for("both jobs", lambda: f.n_jobs("south", "RUN") == 2, limit)
        print("after %.0f s one on the second node, after a rebalance" % took())
        expect_equal(lent(), {"n1", "n2"}, "both nodes are lent")
        for job in jobs:
            f.cli("south", "kill", str(job))
        for job in jobs:
            f.wait_state("south", job, "EXIT", limit=limit)
        print("after %.0f s both have been killed" % took(), flush=True)
        mark = os.path.join(f.marks, "away")
        job = f.submit("south", "while [ ! -e %s ]; do sleep 0.1; done; exit 4" % mark)
        f.wait_state("south", job, "RUN", limit=limit)
        wrap(slow, "exit 1")
        f.cli("north", "reconfig")  # a daemon does not wait for slurmctld
        open(mark, "w").close()
        f.wait_state("south", job, "EXIT")
        expect_equal(f.job("south", job)["exit_code"], 4, "status")
        wrap(slow, "")
        job = f.submit("south", "exit 5")
        f.wait_state("south", job, "EXIT")
        expect_equal(f.job("south", job)["exit_code"], 5, "slurmctld is back")


def inside_switch():
    """The site's daemon is gone for longer than the term: slurmctld itself ends the lease's
    jobs (ON_LOST = kill). A rerunnable one is requeued, another one is EXIT."""
    wait_nodes()
    with federation(ON_LOST="kill") as f:
        f.start("broker", "north", "south")
        wait("the reserved node", lambda: lent() == {"n1"})
        mark = os.path.join(f.marks, "count")
        one = f.submit("south", "echo x >>%s; sleep 3600" % mark)
        two = f.submit("south", "[ -e %s2 ] && exit 9; touch %s2; sleep 3600" % (mark, mark), "-r")
        for job in (one, two):
            f.wait_state("south", job, "RUN")
        f.kill9("north")
        wait("the jobs' end", lambda: [row[1] for row in slurm_jobs()] == ["TO", "TO"])
        own = own_job("n1")
        wait("the node at home", lambda: slurm_jobs("-j", own)[0][1] == "R")
        run("scancel", own)
        f.start("north")
        f.wait_state("south", one, "EXIT")
        expect("reservation" in f.job("south", one)["reason"],
               "its reason: %s" % f.job("south", one)["reason"])
        f.wait_state("south", two, "EXIT")
        expect_equal(f.job("south", two)["exit_code"], 9, "it was requeued")
        with open(mark) as file:
            expect_equal(file.read(), "x\n", "it ran once")


# ---------------------------------------------------------------- borrowing

def inside_borrowing():
    """A Slurm cluster as a consumer: its users submit to a queue with borrowed hosts. Its own
    nodes are Slurm's, and no job of `sublet sub` starts there."""
    wait_nodes()
    with Federation(below=os.environ.get("TMPDIR")) as f:
        f.words["SLURM_CONF"] = os.environ["SLURM_CONF"]
        f.configure("south", SITE.replace("HOSTS_HERE = @HOSTS@", "SCHEDULER = slurm\n"
                                          "SLURM_CONF = @SLURM_CONF@\nSLURM_INTERVAL = 1s") + """
Begin Queue
QUEUE_NAME = away
HOSTS = allremote
End Queue
Begin Queue
QUEUE_NAME = here
HOSTS = all
End Queue
""")
        f.start("broker", "north", "south")
        here = f.submit("south", "true", "-q", "here")
        out = os.path.join(f.dir, "home", "out")
        job = f.submit("south", "echo hello; exit 3", "-q", "away", "-o", out)
        f.wait_state("south", job, "EXIT")
        expect_equal(f.job("south", job)["exit_code"], 3, "exit code")
        expect_equal(list(f.job("south", job)["hosts"]), ["n1@north"], "hosts")
        with open(out) as file:
            expect_equal(file.read().splitlines()[0], "hello", "output")
        expect_equal(f.job("south", here)["state"], "PEND", "a job for the cluster's own nodes")
        expect_equal(reservations(), {}, "nothing of Slurm is touched")
        expect_equal(slurm_jobs(), [], "nor anything started")


def inside_check():
    """What `sublet check` refuses."""
    wait_nodes()
    with federation() as f:
        def check(*changes):
            with open(f.conf("north")) as file:
                text = file.read()
            for old, new in changes:
                expect(old in text, "%s in the file" % old)
                text = text.replace(old, new)
            path = os.path.join(f.dir, "changed.conf")
            with open(path, "w") as file:
                file.write(text)
            done = f.run("sublet", "check", path)
            return done.returncode, done.stdout + done.stderr
        code, text = check()
        expect_equal(code, 0, text)
        whole = "RES_SELECT = type==any\nNHOSTS = 2"
        refused = [
            ("would divide the node", [(whole, "PER_HOST = n2\nSLOTS = 2")]),
            ("would divide the node", [(whole, "PER_HOST = n2\nSLOTS = 4"), ("TYPE = shared", ""),
                                       ("([south, 1])", "([south, 1] [west, 1])")]),
            ("expected neither MEM nor SWAP", [(whole, whole + "\nMEM = 100")]),
            ("would divide nodes of Slurm", [("([south, 1])", "([pool:p])"), ("TYPE = shared", "")]),
            ("expected a section UserMap", [("Begin UserMap", "Begin Unknown"),
                                            ("End UserMap", "End Unknown")]),
            ("one by one", [(ACCOUNT + " root@south", "all all@south")]),
            ("no section Host", [("Begin Queue", "Begin Host\nHOST_NAME\nn1\nEnd Host\nBegin Queue")]),
            ("a quarter of SLURM_TERM", [("SLURM_INTERVAL = 1s", "SLURM_INTERVAL = 1m")]),
            ("no HOSTS_HERE", [("SCHEDULER = slurm", "SCHEDULER = slurm\nHOSTS_HERE = n1")]),
            ("cannot be started", [("SCHEDULER = slurm", "SCHEDULER = slurm\nSLURM_BIN = /nowhere")]),
        ]
        for words, changes in refused:
            code, text = check(*changes)
            expect(code != 0 and words in text, "%s: %s" % (words, text))
        for select in ("big", "select_none", "ib && maxmem>100"):
            code, text = check(("type==any", select))
            expect_equal(code == 0, select != "select_none", text)


def inside_overrun():
    """A setting that defeats the switch."""
    wait_nodes()
    with federation() as f:
        done = f.run("sublet", "check", f.conf("north"))
        expect(done.returncode != 0 and "ResvOverRun" in done.stdout, done.stdout)


# ---------------------------------------------------------------- tests

def test_lending():
    run_inside(__file__, "lending")


def test_faults():
    run_inside(__file__, "faults")


def test_slow():
    run_inside(__file__, "slow", seconds=540 + 120 * SLOW)


def test_switch():
    run_inside(__file__, "switch")


def test_borrowing():
    run_inside(__file__, "borrowing")


def test_check():
    run_inside(__file__, "check")


def test_overrun():
    run_inside(__file__, "overrun", settings="ResvOverRun=UNLIMITED")


if __name__ == "__main__":
    main_inside({"lending": inside_lending, "faults": inside_faults, "switch": inside_switch,
                 "borrowing": inside_borrowing, "slow": inside_slow, "check": inside_check,
                 "overrun": inside_overrun},
                [test_lending, test_faults, test_slow, test_switch, test_borrowing, test_check,
                 test_overrun])
