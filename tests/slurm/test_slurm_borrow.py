#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Borrowed hosts as nodes of the consumer's own Slurm cluster (tests/slurm/cluster): south
has Slurm and borrows from north, whose host is in the same namespace. A slurmd of north's
host is started by deploy/slurm/sublet-slurmd, for which this test stands in for systemd."""
import os
import signal
import socket
import subprocess
import sys
import threading
import time

from slurm_inside import HERE, LIMIT, main_inside, run, run_inside

from federation import NORTH, SOUTH, Federation, expect, expect_equal

PARTITION = "borrowed"
SETTINGS = """MaxNodeCount=16
NodeSet=guests Feature=sublet
PartitionName=%s Nodes=guests State=UP""" % PARTITION
START = os.path.join(HERE, "..", "..", "deploy", "slurm", "sublet-slurmd")


class Service:
    """The socket of sublet-slurmd, as systemd has it with Accept=yes: a process for each
    connection, and when that ends, everything that it has started."""

    def __init__(self, path):
        self.path = path
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(path)
        os.chmod(path, 0o666)
        self.listener.listen()
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            connection, _ = self.listener.accept()
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        with connection, open(self.path + ".log", "a") as log:
            service = subprocess.Popen([START, "--service", "slurmd-wlm"], stdin=connection,
                                       stderr=log)
        service.wait()
        for pid in sorted(steps(), key=lambda pid: comm(pid) != "slurmstepd\n"):
            os.kill(pid, signal.SIGKILL)


def comm(pid):
    return read("/proc/%d/comm" % pid)


def steps():
    """Steps of Slurm's jobs, and their processes; all jobs of this test are on borrowed
    nodes."""
    found = []
    for pid in map(int, filter(str.isdigit, os.listdir("/proc"))):
        try:
            with open("/proc/%d/environ" % pid, "rb") as file:
                is_task = b"SLURM_JOB_ID=" in file.read()
        except OSError:
            continue
        if is_task or comm(pid) == "slurmstepd\n":
            found.append(pid)
    return found


def read(path):
    """"" if there is no such file."""
    try:
        with open(path) as file:
            return file.read()
    except FileNotFoundError:
        return ""


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


def start_federation(f, keys=""):
    path = os.path.join(f.dir, "slurmd.sock")
    Service(path)
    south = SOUTH.replace("End Site", """SLURM_BORROW_PARTITION = %s
SLURM_BORROW_SLURMD = %s %s
SLURM_BORROW_IDLE = 5s
SLURM_INTERVAL = 1s
%s
End Site""" % (PARTITION, os.path.abspath(START), path, keys), 1)
    south += "Begin Queue\nQUEUE_NAME = %s\nHOSTS = allremote\nEnd Queue\n" % PARTITION
    f.configure("south", south)
    f.configure("north", NORTH.replace("HOSTS_HERE = n1 n2", "HOSTS_HERE = n1")
                .replace("n2 4 X86_64 EPYC (linux)\n", "")
                .replace("PER_HOST = n1 n2", "PER_HOST = n1"))
    f.start("broker", "north", "south")
    f.wait_for("the sites", lambda: f.lease() is not None)


def inside_borrow():
    """A job of Slurm's users makes a guest, runs on it, and the guest goes home."""
    with Federation(below=below()) as f:
        start_federation(f)
        expect_equal(guests(), {}, "nodes before")
        first = submit("id -un >%s/who; sleep 3600" % f.marks, "-n1")
        wait_for(f, "the job starts", lambda: state(first) == "R")
        wait_for(f, "its user", lambda: read(f.marks + "/who") == "daemon\n")
        (name, (_, features, _)), = guests().items()
        job, = [row for row in f.rows("south", "jobs") if row["queue"] == PARTITION]
        expect_equal(name, "sublet%s" % job["id"], "the node is named after the guest")
        expect_equal(features, "sublet,north", "its features")
        expect_equal(job["state"], "RUN", "the guest")

        # What waits is demand; it ends with what waits.
        second = submit("sleep 3600", "-n3")
        f.wait_for("a guest waits", lambda: [row["slots"] for row in f.rows("south", "jobs")
                                             if row["state"] == "PEND"] == [3])
        run("scancel", second)
        f.wait_for("it waits no more", lambda: f.n_jobs("south", "PEND") == 0)

        # slurmctld is killed and started: the job goes on.
        time_of = lambda: squeue(["JobID", "StartTime"], "--jobs", first)[0][1]
        started = time_of()
        run("scontrol", "reconfigure")
        f.restart("south")
        f.wait_for("the site is back", lambda: f.job("south", job["id"])["state"] == "RUN")
        expect_equal((state(first), time_of()), ("R", started), "the job after a restart")

        run("scancel", first)
        wait_for(f, "the idle node is given back", lambda: guests() == {})
        f.wait_for("the guest ends", lambda: f.n_jobs("south", "RUN") == 0)
        f.wait_for("north has its slot", lambda: all(
            row["used"] == 0 for row in f.rows("north", "hosts") if "used" in row))
        expect_equal(steps(), [], "processes that are left")


def inside_lost():
    """A guest is killed: its job is requeued by Slurm and runs again on another guest; its
    node is gone. Nothing of it is left on the host."""
    with Federation(below=below()) as f:
        start_federation(f)
        first = submit("echo x >>%s/runs; sleep 3600" % f.marks, "-n1", "--requeue")
        wait_for(f, "the job starts", lambda: state(first) == "R")
        (name, _), = guests().items()
        run(os.path.join(os.environ["SUBLET_BIN"], "sublet"), "--socket",
            os.path.join(f.dir, "south", "sublet.sock"), "kill", name[len("sublet"):])
        wait_for(f, "the node is gone", lambda: name not in guests())
        expect(state(first) == "PD", "the job waits: %s" % state(first))
        expect_equal(steps(), [], "processes that are left")
        # Slurm lets a requeued job wait for two minutes.
        wait_for(f, "it runs again", lambda: state(first) == "R" and
                 read(f.marks + "/runs") == "x\nx\n")
        run("scancel", first)
        wait_for(f, "the idle node is given back", lambda: guests() == {})


# ---------------------------------------------------------------- tests

def test_borrow():
    run_inside(__file__, "borrow", settings=SETTINGS)


def test_lost():
    run_inside(__file__, "lost", settings=SETTINGS)


main_inside({"borrow": inside_borrow, "lost": inside_lost}, [test_borrow, test_lost])
