#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Faults at random on a real Slurm cluster (tests/slurm/cluster) that lends nodes, while
leased jobs and jobs of its own users run.

    FAULTS=200 SEED=1 tests/slurm/test_slurm_random.py

Each job stamps a file of its own: its node and CPUs when it begins, then the time twice a
second, then its end. These stamps, and the CPUs that slurmctld says each job has, prove at
the end that at no instant a CPU was used by two jobs, that each leased job has come to an
end, that a job that is not rerunnable has begun once at most, and that no job has begun
again while it ran, or after it had done its work."""
import collections
import os
import random
import re
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from slurm_inside import LIMIT, is_running, kill_slurmctld, main_inside, run, run_inside
from test_slurm_lending import ACCOUNT, LEASE, NORTH, SOUTH
from federation import Failure, Federation, expect, expect_equal

CPUS = {"n1": 2, "n2": 4, "n3": 2, "n4": 2}
HOSTNAME = os.uname().nodename
SETTINGS = "".join("NodeName=%s NodeAddr=10.99.0.1 NodeHostname=%s Port=1700%s CPUs=2 "
                   "RealMemory=1000\n" % (node, HOSTNAME, node[1]) for node in ("n3", "n4"))
SETTINGS += "KillWait=2\nMinJobAge=60\n"

# $1: its name, $2: half seconds that it takes. Slurm says where it is.
STAMPS = """#!/bin/sh
file=%s/$1.$SLURM_JOB_ID.$$
echo "$SLURMD_NODENAME $SLURM_JOB_CPUS_PER_NODE" >$file
i=0
while [ $i -lt $2 ]; do
    date +%%s.%%N >>$file
    sleep 0.5
    i=$((i + 1))
done
date +%%s.%%N >>$file
echo end >>$file
"""
N_LEASED, N_OWN = 6, 3  # jobs that have not ended, while faults go on

Run = collections.namedtuple("Run", "job slurm node cpus begin end is_whole")


class Play:
    def __init__(self, f, seed):
        self.f = f
        self.random = random.Random(seed)
        self.stamps = os.path.join(f.marks, "stamps")
        self.script = os.path.join(f.marks, "job")
        with open(self.script, "w") as file:
            file.write(STAMPS % self.stamps)
        os.chmod(self.script, 0o755)
        os.mkdir(self.stamps)
        os.chmod(self.stamps, 0o1777)
        self.leased = {}  # id at south: whether it is rerunnable
        self.n_own = 0
        self.has_ctld = self.has_south = True
        self.submits = True
        self.overlaps = []  # of CPUs, as slurmctld says
        self.n_samples = 0
        self.next_pump = 0

    # ---- jobs

    def slurm(self, *words, seconds=20):
        """A command whose failure is part of the play. None: it does not end."""
        try:
            return subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True,
                                  text=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            return None

    def n_unfinished(self):
        return sum(row["state"] not in ("DONE", "EXIT") for row in self.f.jobs("south").values())

    def submit_leased(self):
        is_rerunnable = self.random.random() < 0.5
        slots, halves = self.random.choice([1, 1, 2]), self.random.randint(2, 16)
        options = ["-n", str(slots)] + (["-r"] if is_rerunnable else [])
        job = self.f.submit("south", "exec %s L$LSB_JOBID %d" % (self.script, halves), *options)
        self.leased[int(job)] = is_rerunnable

    def submit_own(self):
        self.n_own += 1
        self.slurm("sbatch", "--output=/dev/null", "--chdir=/", "--job-name=own", "-N1",
                   "-n%d" % self.random.choice([1, 1, 2, 4]),
                   "--wrap", "exec %s O%d %d" % (self.script, self.n_own,
                                                 self.random.randint(2, 12)))

    def sample(self):
        """CPUs of each node, as slurmctld has given them to jobs that run."""
        done = self.slurm("scontrol", "-o", "-d", "show", "job")
        if done is None or done.returncode != 0:
            return []
        lines = [line for line in done.stdout.splitlines() if "JobId=" in line]
        owners = {}
        for line in lines:
            if not re.search(r"JobState=(RUNNING|STOPPED|SUSPENDED)", line):
                continue
            job = re.search(r"JobId=(\d+)", line).group(1)
            for nodes, cpus in re.findall(r" Nodes=(\S+) CPU_IDs=(\S+)", line):
                for cpu in numbers(cpus):
                    other = owners.setdefault((nodes, cpu), job)
                    if other != job:
                        self.overlaps.append((nodes, cpu, job, other))
        self.n_samples += 1
        return lines

    def pump(self):
        """What goes on all the time."""
        if time.monotonic() < self.next_pump:
            return
        self.next_pump = time.monotonic() + 0.7
        if self.has_south and self.submits and self.n_unfinished() < N_LEASED:
            self.submit_leased()
        if self.has_ctld:
            own = [line for line in self.sample() if "JobName=own" in line and
                   re.search("JobState=(PENDING|RUNNING)", line)]
            if self.submits and len(own) < N_OWN and self.random.random() < 0.4:
                self.submit_own()

    def pass_time(self, least, most):
        until = time.monotonic() + self.random.uniform(least, most)
        while time.monotonic() < until:
            self.pump()
            time.sleep(0.1)

    # ---- faults of daemons

    def fault_site_killed(self):
        self.f.kill9("north")
        self.pass_time(0, 4)
        self.f.start("north")

    def fault_consumer_killed(self):
        self.has_south = False
        self.f.kill9("south")
        self.pass_time(0, 3)
        self.f.start("south")
        self.has_south = True

    def fault_broker_killed(self):
        self.f.kill9("broker")
        self.pass_time(0, 4)
        self.f.start("broker")

    def pid(self, name):
        with open(os.path.join(below(), name + ".pid")) as file:
            return int(file.read())

    def end(self, pid, number):
        os.kill(pid, number)
        deadline = time.monotonic() + LIMIT
        while is_running(pid) and time.monotonic() < deadline:
            time.sleep(0.05)

    def start_slurmctld(self):
        run("slurmctld-wlm")
        deadline = time.monotonic() + LIMIT
        while time.monotonic() < deadline:
            done = self.slurm("sinfo")
            if done is not None and done.returncode == 0:
                break
            time.sleep(0.2)
        self.has_ctld = True

    def fault_slurmctld_killed(self):
        """slurmctld is on disk some seconds late. What it forgets it may give away again,
        also among its own users' jobs: nothing begins between its last words and its end."""
        self.submits = False
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline and self.f.n_jobs("south", "PEND") > 0:
            self.pass_time(0.5, 0.5)
        self.has_ctld = False
        kill_slurmctld()
        self.submits = True
        self.pass_time(0, 6)
        self.start_slurmctld()

    def fault_slurmctld_stopped(self):
        self.has_ctld = False
        self.end(self.pid("slurmctld"), signal.SIGTERM)
        self.pass_time(0, 8)
        self.start_slurmctld()

    def fault_slurmctld_hangs(self):
        pid = self.pid("slurmctld")
        self.has_ctld = False
        os.kill(pid, signal.SIGSTOP)
        self.pass_time(1, 12)
        os.kill(pid, signal.SIGCONT)
        self.has_ctld = True

    def fault_reconfigure(self):
        self.slurm("scontrol", "reconfigure")

    def fault_slurmd_killed(self):
        node = self.random.choice(list(CPUS))
        self.end(self.pid("slurmd-" + node), signal.SIGKILL)
        self.pass_time(0, 5)
        run("slurmd-wlm", "-N", node)

    def fault_munged_stopped(self):
        with open(os.path.join(below(), "munge", "pid")) as file:
            pid = int(file.read())
        with open("/proc/%d/cmdline" % pid) as file:
            words = file.read().split("\0")[:-1]
        self.has_ctld = False
        self.end(pid, signal.SIGTERM)
        self.pass_time(0, 6)
        run(*words)
        self.has_ctld = True

    # ---- faults of administrators and users

    def reservation(self):
        done = self.slurm("scontrol", "-o", "show", "reservation")
        found = re.findall(r"ReservationName=(sublet_\S+)", done.stdout if done else "")
        return self.random.choice(found) if found else "none"

    def fault_reservation_deleted(self):
        self.slurm("scontrol", "delete", "ReservationName=" + self.reservation())

    def fault_reservation_edited(self):
        change = self.random.choice([
            "Users=root", "Users=%s,root" % ACCOUNT, "EndTime=now+60", "Flags-=FLEX",
            "Nodes=" + self.random.choice(list(CPUS)), "Nodes=n1,n2,n3,n4",
            "StartTime=now+3600"])
        self.slurm("scontrol", "update", "ReservationName=" + self.reservation(), change)

    def fault_reservation_of_others(self):
        node = self.random.choice(list(CPUS))
        self.slurm("scontrol", "create", "reservation", "ReservationName=maintenance",
                   "StartTime=now", "Duration=5", "Users=root", "Nodes=" + node)
        self.pass_time(1, 5)
        self.slurm("scontrol", "delete", "ReservationName=maintenance")

    def fault_drained(self):
        self.set_state(self.random.choice(list(CPUS)), "DRAIN")

    def fault_down(self):
        self.set_state(self.random.choice(list(CPUS)), "DOWN")

    def set_state(self, node, state):
        self.slurm("scontrol", "update", "NodeName=" + node, "State=" + state, "Reason=test")
        self.pass_time(1, 6)
        self.slurm("scontrol", "update", "NodeName=" + node, "State=RESUME")

    def leased_job(self):
        """Of Slurm, that runs; None."""
        done = self.slurm("squeue", "-h", "-t", "R,ST", "-o", "%i", "-u", ACCOUNT)
        found = done.stdout.split() if done else []
        return self.random.choice(found) if found else None

    def fault_cancelled(self):
        job = self.leased_job()
        if job:
            self.slurm("scancel", job)

    def fault_requeued(self):
        job = self.leased_job()
        if job:
            self.slurm("scontrol", "requeue", job)

    def fault_intruder(self):
        """A job of the leased jobs' account in a reservation, by itself."""
        self.n_own += 1
        self.slurm("sbatch", "--output=/dev/null", "--uid=" + ACCOUNT, "--chdir=/",
                   "--reservation=" + self.reservation(), "--wrap",
                   "exec %s I%d 20" % (self.script, self.n_own))

    def fault_controls(self):
        running = [job for job, row in self.f.jobs("south").items() if row["state"] == "RUN"]
        if running:
            job = str(self.random.choice(running))
            self.f.cli("south", "stop", job, code=None)
            self.pass_time(0, 3)
            self.f.cli("south", self.random.choice(["resume", "resume", "kill"]), job, code=None)
            self.f.cli("south", "resume", job, code=None)

    def fault_recall(self):
        self.f.cli("north", "lease", "drain", "--no-wait", LEASE, code=None)
        self.pass_time(1, 8)
        self.f.cli("north", "lease", "resume", LEASE, code=None)

    def fault_term(self):
        """The site is gone for longer than the term."""
        self.f.kill9("north")
        self.pass_time(65, 75)
        self.f.start("north")

    # ---- the play

    def play(self, n_faults):
        kinds = sorted(name for name in dir(Play) if name.startswith("fault_"))
        # A fault that takes more than a minute is rare.
        weights = [1 if name == "fault_term" else 8 for name in kinds]
        for number in range(n_faults):
            kind = self.random.choices(kinds, weights)[0]
            if kind == "fault_term" and n_faults < 50:
                kind = "fault_site_killed"
            print("%5.1f %d %s" % (time.monotonic() - self.began, number, kind), flush=True)
            getattr(self, kind)()
            self.pass_time(0, 4)

    def heal(self):
        for node in CPUS:
            self.slurm("scontrol", "update", "NodeName=" + node, "State=RESUME")
        self.f.cli("north", "lease", "resume", LEASE, code=None)
        self.submits = False
        deadline = time.monotonic() + 4 * LIMIT
        while self.n_unfinished() > 0 and time.monotonic() < deadline:
            self.pass_time(0.5, 0.5)

    # ---- the proof

    def runs(self):
        found = []
        for name in sorted(os.listdir(self.stamps)):
            with open(os.path.join(self.stamps, name)) as file:
                lines = file.read().splitlines()
            if len(lines) < 2:
                continue  # it was killed before its first stamp
            node, cpus = lines[0].split()
            times = [float(line) for line in lines[1:] if line != "end"]
            job, slurm, _ = name.split(".")
            found.append(Run(job, slurm, node, int(cpus), times[0], times[-1],
                             lines[-1] == "end"))
        return found


def double_use(runs):
    """Instants at which the jobs on a node used more CPUs than it has."""
    for node, n_cpus in CPUS.items():
        steps = []
        for item in runs:
            if item.node == node and item.end > item.begin:
                steps += [(item.begin, item.cpus, item), (item.end, -item.cpus, item)]
        used, here = 0, []
        for _, change, item in sorted(steps, key=lambda step: step[:2]):
            used += change
            here.append(item) if change > 0 else here.remove(item)
            if used > n_cpus:
                yield "%d CPUs of %s were used at once by %s" % (used, node, here)


def ends(runs, leased, states):
    """`leased`: whether a job is rerunnable; `states`: those of the consumer."""
    for job, is_rerunnable in sorted(leased.items()):
        mine = sorted((item for item in runs if item.job == "L%d" % job),
                      key=lambda item: item.begin)
        state = states.get(job, "not known")
        if state not in ("DONE", "EXIT"):
            yield "job %d is %s" % (job, state)
        if state == "DONE" and not any(item.is_whole for item in mine):
            yield "job %d is DONE and has not done its work: %s" % (job, mine)
        if len(mine) > 1 and not is_rerunnable:
            yield "job %d has begun %d times: %s" % (job, len(mine), mine)
        for one, two in zip(mine, mine[1:]):
            if two.begin < one.end or one.is_whole:
                yield "job %d has begun again: %s, %s" % (job, one, two)


def numbers(text):
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def below():
    return os.path.dirname(os.path.dirname(os.environ["SLURM_CONF"]))


def inside_random():
    n_faults, seed = int(os.environ["FAULTS"]), int(os.environ["SEED"])
    for node in ("n3", "n4"):
        run("slurmd-wlm", "-N", node)
    with Federation(below=os.environ.get("TMPDIR")) as f:
        f.words.update({"SLURM_CONF": os.environ["SLURM_CONF"], "INTERVAL": "1s", "TERM": "1m",
                        "ACCOUNT": ACCOUNT, "ON_LOST": "keep", "SELECT": "type==any",
                        "RECLAIM": "2s"})
        f.configure("north", NORTH.replace("NHOSTS = 2", "NHOSTS = 4"))
        f.configure("south", SOUTH)
        f.start("broker", "north", "south")
        play = Play(f, seed)
        play.began = time.monotonic()
        try:
            play.play(n_faults)
            play.heal()
        finally:
            runs = play.runs()
            states = {job: row["state"] for job, row in f.jobs("south").items()}
            found = ["slurmctld has given CPU %s of %s to jobs %s and %s" % (cpu, node, one, two)
                     for node, cpu, one, two in play.overlaps]
            found += [*double_use(runs), *ends(runs, play.leased, states)]
            whole = sum(item.is_whole for item in runs if item.job.startswith("L"))
            print("seed %d: %d faults in %d s, %d leased jobs (%d DONE, %d EXIT), %d of their "
                  "runs whole; %d jobs of others; %d looks at slurmctld's records; %d violations"
                  % (seed, n_faults, time.monotonic() - play.began, len(play.leased),
                     list(states.values()).count("DONE"), list(states.values()).count("EXIT"),
                     whole,
                     sum(not item.job.startswith("L") for item in runs), play.n_samples,
                     len(found)), flush=True)
            for job, row in f.jobs("south").items():
                if row["state"] == "EXIT":
                    print("job %s: %s" % (job, row["reason"]), flush=True)
        if found:
            raise Failure("\n".join(found))
        expect(whole > 0 and play.n_samples > 0, "jobs have run")


# ---------------------------------------------------------------- tests

def test_proof():
    """The proof finds what it is there for, and nothing else."""
    def item(job, node, cpus, begin, end, is_whole=True):
        return Run(job, "1", node, cpus, begin, end, is_whole)
    one_after_another = [item("L1", "n1", 2, 0, 5), item("O1", "n1", 2, 5, 9),
                         item("L2", "n2", 2, 0, 9), item("O2", "n2", 2, 0, 9)]
    expect_equal(list(double_use(one_after_another)), [], "one after another")
    expect_equal(len(list(double_use(one_after_another + [item("O3", "n1", 1, 4, 5)]))), 1,
                 "three CPUs of two")
    cases = [
        ("it ran once", 0, [item("L1", "n1", 1, 0, 5)], False, "DONE"),
        ("lost, and again", 0, [item("L1", "n1", 1, 0, 5, False), item("L1", "n2", 1, 6, 9)],
         True, "DONE"),
        ("lost, and not rerunnable", 0, [item("L1", "n1", 1, 0, 5, False)], False, "EXIT"),
        ("not rerunnable, and again", 1, [item("L1", "n1", 1, 0, 5, False),
                                          item("L1", "n2", 1, 6, 9)], False, "DONE"),
        ("again while it runs", 1, [item("L1", "n1", 1, 0, 5, False), item("L1", "n2", 1, 4, 9)],
         True, "DONE"),
        ("again after its work", 1, [item("L1", "n1", 1, 0, 5), item("L1", "n2", 1, 6, 9)],
         True, "DONE"),
        ("done without its work", 1, [item("L1", "n1", 1, 0, 5, False)], True, "DONE"),
        ("it waits for ever", 1, [], True, "PEND"),
    ]
    for what, count, runs, is_rerunnable, state in cases:
        expect_equal(len(list(ends(runs, {1: is_rerunnable}, {1: state}))), count, what)


def test_random():
    """The seed is printed if it fails."""
    os.environ.setdefault("FAULTS", "12")
    os.environ.setdefault("SEED", str(random.randrange(1 << 30)))
    os.environ["NODES"] = ",".join(CPUS)
    run_inside(__file__, "random", settings=SETTINGS,
               seconds=600 + 60 * int(os.environ["FAULTS"]))


if __name__ == "__main__":
    main_inside({"random": inside_random}, [test_proof, test_random])
