#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Borrowed hosts as nodes of the consumer's own Slurm cluster (tests/slurm/cluster): south
has Slurm and borrows from north, whose host is in the same namespace."""
import os
import signal

from slurm_inside import LIMIT, kill_slurmctld, main_inside, run, run_inside
from slurm_service import ACCOUNTS, Service, read

from federation import BIN, BROKER, NORTH, SOUTH, Federation, expect, expect_equal

PARTITION = "borrowed"
ACCOUNT = "games"  # of the guests, at north
# A requeued job waits as long as a credential of Slurm is valid, by default two minutes.
SETTINGS = """AuthInfo=cred_expire=20
MaxNodeCount=16
NodeSet=guests Feature=sublet
PartitionName=%s Nodes=guests State=UP""" % PARTITION
POOL = """
Begin Pool
NAME = p
CYCLE = 1s
End Pool
Begin PlanNode
NAME  POOL  OWNED  GRACE  SITE
/eng  p     0      70s    south
/ops  p     4      0s     north
End PlanNode
"""


# ---------------------------------------------------------------- what Slurm says

def squeue(fields, *words):
    done = run("squeue", "--noheader", "--states=all", "--Format",
               ",".join("%s:32|" % field for field in fields), *words, code=None)
    return [[cell.strip() for cell in line.split("|")[:-1]]
            for line in done.stdout.splitlines()]


def state(job):
    rows = [row for row in squeue(["JobID", "StateCompact"]) if row[0] == job]
    return rows[0][1] if rows else None


def guests():
    """The borrowed nodes: their state and features."""
    done = run("sinfo", "--noheader", "--Node", "--partition=" + PARTITION, "--Format",
               "NodeList:32|,StateComplete:64|,Features:64|,CPUsState:16|", code=None)
    rows = [[cell.strip() for cell in line.split("|")[:-1]]
            for line in done.stdout.splitlines()]
    return {name: (state, features, cpus) for name, state, features, cpus in rows}


def submit(command, *options):
    return run("sbatch", "--parsable", "--partition=" + PARTITION, "--output=/dev/null",
               "--chdir=/", "--uid=daemon", *options, "--wrap", command).stdout.strip()


def wait_for(f, what, condition):
    f.wait_for("%s (%s)" % (what, squeue(["JobID", "StateCompact", "Reason", "NodeList"])),
               condition, limit=2 * LIMIT)


# ---------------------------------------------------------------- in the cluster

def below():
    return os.path.dirname(os.path.dirname(os.environ["SLURM_CONF"]))


def start_federation(f, keys="", pool="", accounts=ACCOUNTS):
    service = Service(os.path.join(f.dir, "slurmd.sock"), ACCOUNT, below() + "/munge/key",
                      os.environ["SLURM_CONF"], accounts)
    south = SOUTH.replace("End Site", """SLURM_BORROW_PARTITION = %s
SLURM_BORROW_SLURMD = %s/sublet-slurmd %s
SLURM_BORROW_IDLE = 5s
SLURM_INTERVAL = 1s
%s
End Site""" % (PARTITION, os.path.abspath(BIN), service.path, keys), 1)
    south += "Begin Queue\nQUEUE_NAME = %s\nHOSTS = allremote\nEnd Queue\n" % PARTITION
    north = (NORTH.replace("HOSTS_HERE = n1 n2", "HOSTS_HERE = n1")
             .replace("n2 4 X86_64 EPYC (linux)\n", "").replace("PER_HOST = n1 n2", "PER_HOST = n1")
             + "Begin UserMap\nLOCAL REMOTE DIRECTION\n%s root@south import\nEnd UserMap\n"
             % ACCOUNT)
    if pool:
        north = north.replace("TYPE = shared\n", "").replace("([south, 1])", "([pool:p])")
    f.configure("south", south)
    f.configure("north", north)
    f.configure("broker", BROKER + pool)
    f.start("broker", "north", "south")
    f.wait_for("the sites", lambda: f.rows("south", "leases"))
    return service


def guest_is_home(f, service):
    """No node, no guest, no process of theirs, and no slot that is in use."""
    wait_for(f, "the idle node is given back", lambda: guests() == {})
    f.wait_for("the guest ends", lambda: f.n_jobs("south", "RUN") == 0)
    f.wait_for("north has its slots", lambda: all(
        row["used"] == 0 for row in f.rows("north", "hosts") if "used" in row))
    f.wait_for("processes end", lambda: service.processes() == {})


def beat(f, name):
    """A command that leaves a mark for as long as it runs."""
    return "while :; do date +%%s%%N >>%s/%s; sleep 0.1; done" % (f.marks, name)


def beats(f, name):
    return [int(line) for line in read(os.path.join(f.marks, name)).split()]


def inside_borrow():
    """A job of Slurm's users makes a guest, runs on it, and the guest goes home."""
    with Federation(below=below()) as f:
        service = start_federation(f)
        expect_equal(guests(), {}, "nodes before")
        first = submit("id -un >%s/who; cat /proc/self/uid_map >%s/map; sleep 3600"
                       % (f.marks, f.marks), "-n1")
        wait_for(f, "the job starts", lambda: state(first) == "R")
        wait_for(f, "its user", lambda: read(f.marks + "/who") == "daemon\n")
        (name, (_, features, _)), = guests().items()
        job, = [row for row in f.rows("south", "jobs") if row["queue"] == PARTITION]
        expect_equal(name, "sublet%s" % job["id"], "the node is named after the guest")
        expect_equal(features, "sublet,north", "its features")
        expect_equal(job["state"], "RUN", "the guest")

        # Nobody there is an account of this host that matters.
        wait_for(f, "the map", lambda: read(f.marks + "/map").split() == ["0", "200000", "65536"])
        expect_equal(os.stat(f.marks + "/map").st_uid, 200001, "daemon, outside")
        inside = service.processes()
        expect({"slurmd-wlm", "munged"} <= {process.comm for process in inside.values()}, inside)
        for process in inside.values():
            expect(process.uid >= 200000, "%s is no root" % process.comm)

        # What waits is demand; it ends with what waits.
        second = submit("sleep 3600", "-n3")
        f.wait_for("a guest waits", lambda: [row["slots"] for row in f.rows("south", "jobs")
                                             if row["state"] == "PEND"] == [3])
        run("scancel", second)
        f.wait_for("it waits no more", lambda: f.n_jobs("south", "PEND") == 0)

        # slurmctld is killed and started, and so is the site: the job goes on.
        time_of = lambda: squeue(["JobID", "StartTime"], "--jobs", first)[0][1]
        started = time_of()
        run("scontrol", "reconfigure")
        kill_slurmctld()
        f.restart("south")
        run("slurmctld-wlm")
        f.wait_for("the site is back", lambda: f.job("south", job["id"])["state"] == "RUN")
        wait_for(f, "slurmctld is back", lambda: state(first) == "R" and list(guests()) == [name])
        expect_equal(time_of(), started, "the job after a restart")

        run("scancel", first)
        guest_is_home(f, service)


def kill_guest(f, service, name):
    f.cli("south", "kill", name[len("sublet"):])


def kill_slurmd(f, service, name):
    pid, = [pid for pid, process in service.processes().items()
            if process.comm == "slurmd-wlm"]
    os.kill(pid, signal.SIGKILL)


def lose(f, service, end):
    first = submit(beat(f, end.__name__), "-n1", "--requeue")
    wait_for(f, "the job starts", lambda: state(first) == "R" and beats(f, end.__name__))
    (name, _), = guests().items()
    end(f, service, name)
    wait_for(f, "the node is gone", lambda: name not in guests())
    expect(state(first) == "PD", "the job waits: %s" % state(first))
    f.wait_for("processes end", lambda: service.processes() == {})
    before = beats(f, end.__name__)
    wait_for(f, "it runs again", lambda: state(first) == "R")
    wait_for(f, "its marks", lambda: len(beats(f, end.__name__)) > len(before))
    run("scancel", first)
    guest_is_home(f, service)


def inside_lost():
    """A guest is killed, or its slurmd: its job is requeued by Slurm and runs again on another
    guest; its node is gone. Nothing of it is left on the host."""
    with Federation(below=below()) as f:
        service = start_federation(f)
        lose(f, service, kill_guest)
        lose(f, service, kill_slurmd)


def inside_stopped():
    """A guest that is suspended takes no CPU: what its slurmd runs is stopped, and resumes
    with it."""
    with Federation(below=below()) as f:
        service = start_federation(f)
        first = submit(beat(f, "beat"), "-n1")
        wait_for(f, "the job beats", lambda: beats(f, "beat"))
        (name, _), = guests().items()
        f.cli("south", "stop", name[len("sublet"):])
        states = lambda: {process.state for process in service.processes().values()
                          if process.comm != "sublet-slurmd"}
        f.wait_for("all are stopped", lambda: states() == {"T"})
        before = len(beats(f, "beat"))
        f.cli("south", "resume", name[len("sublet"):])
        wait_for(f, "the job goes on", lambda: len(beats(f, "beat")) > before)
        run("scancel", first)
        guest_is_home(f, service)


def inside_root():
    """Without a user namespace slurmd is root, and its jobs have the accounts of the host.
    When the service ends, so does all that it has started."""
    with Federation(below=below()) as f:
        service = start_federation(f, accounts="root")
        submit("id -u >%s/who; %s" % (f.marks, beat(f, "beat")), "-n1")
        wait_for(f, "the job beats", lambda: beats(f, "beat"))
        expect_equal((read(f.marks + "/who"), os.stat(f.marks + "/who").st_uid), ("1\n", 1),
                     "daemon, on both sides")
        users = {process.comm: process.uid for process in service.processes().values()}
        expect_equal((users["slurmd-wlm"], users["slurm_script"]), (0, 1), "accounts")
        service.process.terminate()
        service.process.wait()
        f.wait_for("processes end", lambda: service.processes() == {})


def inside_refused():
    """Another account cannot connect, and other requests start nothing."""
    with Federation(below=below()) as f:
        service = start_federation(f)
        ask = [os.path.join(BIN, "sublet-slurmd"), service.path, "-D", "-Z", "-N"]
        good = "CPUs=1 Feature=sublet,north"
        for user, node, conf, words in (
                ("nobody", "sublet1", good, "Permission denied"),
                ("root", "sublet1", good, "only jobs of the account"),
                (ACCOUNT, "n1", good, "not a request of a guest"),
                (ACCOUNT, "sublet1", good + " Gres=gpu:8", "not a request of a guest"),
                (ACCOUNT, "sublet1 CPUs=1", "x", "not a request of a guest")):
            done = run("setpriv", "--reuid", user, "--clear-groups", *ask, node, "--conf", conf,
                       code=1)
            expect(words in done.stderr, "%s, %s: %s" % (user, node, done.stderr))
        expect_equal(service.processes(), {}, "processes")
        expect_equal(guests(), {}, "nodes")


def inside_recall():
    """North wants its slots back, in 70 s: the node is drained, its job is requeued a minute
    before the deadline, and the guest ends before it is ended by north. Meanwhile north's own
    job waits, and no CPU is used by both."""
    with Federation(below=below()) as f:
        service = start_federation(f, pool=POOL)
        first = submit(beat(f, "guest"), "-n4", "--requeue")
        wait_for(f, "the job starts", lambda: state(first) == "R" and beats(f, "guest"))
        (name, _), = guests().items()
        own = f.submit("north", beat(f, "own"), "-n", "4")
        wait_for(f, "the node is drained", lambda: "drain" in guests().get(name, ("drain",))[0])
        wait_for(f, "the job is requeued", lambda: state(first) == "PD")
        f.wait_state("north", own, "RUN")
        f.wait_for("its marks", lambda: beats(f, "own"))
        f.wait_for("processes end", lambda: service.processes() == {})
        expect(max(beats(f, "guest")) < min(beats(f, "own")), "no CPU is used by two")
        guest, = [row for row in f.rows("south", "jobs", "-a") if "sublet%s" % row["id"] == name]
        expect("recall" not in guest["reason"], "south has ended it: %s" % guest["reason"])
        wait_for(f, "the node is gone", lambda: guests() == {})
        run("scancel", first)


# ---------------------------------------------------------------- tests

def test_borrow():
    run_inside(__file__, "borrow", settings=SETTINGS)


def test_lost():
    run_inside(__file__, "lost", settings=SETTINGS)


def test_stopped():
    run_inside(__file__, "stopped", settings=SETTINGS)


def test_root():
    run_inside(__file__, "root", settings=SETTINGS)


def test_refused():
    run_inside(__file__, "refused", settings=SETTINGS)


def test_recall():
    run_inside(__file__, "recall", settings=SETTINGS)


main_inside({"borrow": inside_borrow, "lost": inside_lost, "stopped": inside_stopped,
             "recall": inside_recall, "root": inside_root, "refused": inside_refused},
            [test_borrow, test_lost, test_stopped, test_recall, test_root, test_refused])
