#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Slurm on both sides: two clusters on one machine, each with its slurmctld, key of munge,
configuration and nodes. North lends its node n1 of 2 CPUs by reservations. South borrows it
by `sublet sub`, and as a dynamic node of its own cluster, whose slurmd is a job of north's
cluster."""
import datetime
import os
import re
import signal

from slurm_inside import LIMIT, Cluster, main_inside, run, run_inside
from slurm_service import Service, read

from federation import BIN, SITE, Federation, expect, expect_equal

ACCOUNT = "games"  # of south's jobs, at north
PARTITION = "borrowed"
SETTINGS = """MaxNodeCount=16
NodeSet=guests Feature=sublet
PartitionName=%s Nodes=guests State=UP""" % PARTITION
NORTH = SITE.replace("HOSTS_HERE = @HOSTS@", """SCHEDULER = slurm
SLURM_CONF = @SLURM_CONF@
SLURM_INTERVAL = 1s""") + """
Begin UserMap
LOCAL REMOTE DIRECTION
%s root@south import
End UserMap
Begin Queue
QUEUE_NAME = normal
HOSTS = allremote
End Queue
Begin Parameters
MC_RECLAIM_DELAY = 1s
RECLAIM_POLICY = demand
End Parameters
Begin HostExport
NAME = spare
RES_SELECT = big
NHOSTS = 1
TYPE = shared
DISTRIBUTION = ([south, 1])
End HostExport
""" % ACCOUNT
SOUTH = SITE.replace("HOSTS_HERE = @HOSTS@", """SCHEDULER = slurm
SLURM_CONF = @SOUTH_CONF@
SLURM_INTERVAL = 1s
SLURM_BORROW_PARTITION = %s
SLURM_BORROW_SLURMD = %s/sublet-slurmd @DIR@/slurmd.sock
SLURM_BORROW_IDLE = 5s""" % (PARTITION, os.path.abspath(BIN))) + """
Begin Queue
QUEUE_NAME = away
HOSTS = allremote
End Queue
Begin Queue
QUEUE_NAME = %s
HOSTS = allremote
End Queue
""" % PARTITION
LEASE = "north/spare/south"
N1_CPUS = 2


class Both:
    """The federation, both clusters, and the service on north's node."""

    def __init__(self, f, south):
        self.f, self.south = f, south
        f.words.update({"SLURM_CONF": os.environ["SLURM_CONF"], "SOUTH_CONF": south.conf})
        f.prefixes["south"] = south.prefix
        self.service = Service(os.path.join(f.dir, "slurmd.sock"), ACCOUNT,
                               south.dir + "/munge/key", south.conf)
        f.configure("north", NORTH)
        f.configure("south", SOUTH)
        f.start("broker", "north", "south")
        f.wait_for("the lease", lambda: f.lease(lease=LEASE) is not None)

    def wait_for(self, what, condition):
        self.f.wait_for("%s (north: %s; south: %s)" % (what, rows(run), rows(self.south.run)),
                        condition, limit=2 * LIMIT)

    def nodes(self):
        """States of the borrowed nodes of south's cluster."""
        text = self.south.run("sinfo", "-h", "-N", "-p", PARTITION, "-o", "%N %T", code=None)
        return dict(line.split() for line in text.stdout.splitlines())

    def submit(self, mark, *options):
        """To south's partition, a job that leaves marks."""
        return sbatch(self.south.run, self.beat(mark), "--partition=" + PARTITION,
                      "--uid=daemon", *options)

    def own(self, mark):
        """A job of north's own users, which needs all of n1."""
        return sbatch(run, self.beat(mark), "-w", "n1", "-n", str(N1_CPUS))

    def beat(self, mark):
        return "while :; do date +%%s%%N >>%s/%s; sleep 0.1; done" % (self.f.marks, mark)

    def beats(self, mark):
        return [int(line) for line in read(os.path.join(self.f.marks, mark)).split()]

    def wait_home(self):
        self.wait_for("the node is gone", lambda: self.nodes() == {})
        self.wait_for("the guest ends", lambda: self.f.n_jobs("south", "RUN") == 0)
        self.f.wait_for("its processes end", lambda: self.service.processes() == {})


def sbatch(on, command, *options):
    return on("sbatch", "--parsable", "--output=/dev/null", "--chdir=/", *options,
              "--wrap", command).stdout.strip()


def rows(on, *options):
    text = on("squeue", "-h", "-a", "--states=all", "-o", "%i %t %u %N %v", *options, code=None)
    return [line.split() for line in text.stdout.splitlines()]


def state(on, job):
    found = rows(on, "-j", job)
    return found[0][1] if found else None


# ---------------------------------------------------------------- no CPU used by two

def seconds(text):
    return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S").timestamp()


def records(on, node):
    """Begin, end and CPUs of each job that Slurm has on record there."""
    text = on("scontrol", "-o", "show", "jobs").stdout
    found = []
    for line in text.splitlines():
        fields = dict(re.findall(r"(\w+)=(\S+)", line))
        if fields.get("NodeList") == node:
            end = fields["EndTime"] if fields["JobState"] not in ("RUNNING",) else "Unknown"
            found.append((seconds(fields["StartTime"]),
                          float("inf") if end == "Unknown" else seconds(end),
                          int(fields["NumCPUs"])))
    return found


def expect_no_overlap(both, marks_of_north, marks_of_south):
    """By Slurm's records n1 never has more than its CPUs in use, where a leased job counts
    with all of them; and by the stamps of the processes, no job of south's runs from the
    first to the last stamp of one of north's."""
    used = records(run, "n1")
    expect(len(used) > 1, "north has records: %s" % used)
    for begin, _, _ in used:
        n_cpus = sum(cpus for first, end, cpus in used if first <= begin < end)
        expect(n_cpus <= N1_CPUS, "%d CPUs of n1 at %d: %s" % (n_cpus, begin, used))
    n_pairs = 0
    for own in marks_of_north:
        stamps = both.beats(own)
        for guest in marks_of_south:
            inside = [at for at in both.beats(guest) if min(stamps) <= at <= max(stamps)]
            expect_equal(inside, [], "%s ran while %s did" % (guest, own))
            n_pairs += 1
    expect(n_pairs > 0, "stamps were compared")


# ---------------------------------------------------------------- stories

def story_sub(both):
    """Way 1: users of south submit to a queue with borrowed hosts."""
    out = os.path.join(both.f.dir, "home", "out")
    job = both.f.submit("south", "id -un; echo $SLURM_CLUSTER_NAME $SLURM_JOB_RESERVATION; exit 3",
                        "-q", "away", "-o", out)
    both.f.wait_state("south", job, "EXIT")
    row = both.f.job("south", job)
    expect_equal((row["exit_code"], row["hosts"]), (3, {"n1@north": 1}), "its end and its host")
    lines = read(out).splitlines()
    expect_equal(lines[0], ACCOUNT, "its account")
    expect(re.fullmatch("north sublet_north_spare_south_e[0-9]+", lines[1]), lines)


def story_node(both):
    """Way 2: a node of south's cluster is a job of north's cluster, in the reservation."""
    job = both.submit("first", "-n%d" % N1_CPUS)
    both.wait_for("it runs", lambda: state(both.south.run, job) == "R" and both.beats("first"))
    (name, _), = both.nodes().items()
    expect_equal(rows(both.south.run, "-j", job)[0][3], name, "its node")
    leased = [row for row in rows(run) if row[1] == "R"]
    expect_equal([(row[2], row[3], row[4][:25]) for row in leased],
                 [(ACCOUNT, "n1", "sublet_north_spare_south_")], "north's record of the node")
    return job, name


def story_restart(both, job, name):
    """South's slurmctld is restarted: the node and its job are as before."""
    before = len(both.beats("first"))
    both.south.restart_slurmctld(signal.SIGTERM)
    both.wait_for("it knows its node", lambda: both.nodes().get(name) in ("allocated", "mixed")
                  and state(both.south.run, job) == "R")
    both.wait_for("the job goes on", lambda: len(both.beats("first")) > before)


def story_forgotten(both, job, name):
    """South's slurmctld is killed. If it had not saved the node, it takes the job for one that
    waits: what still runs there is ended, and the job runs again, once."""
    both.south.restart_slurmctld(signal.SIGKILL)
    both.wait_for("slurmctld", lambda: state(both.south.run, job) in ("R", "PD"))
    is_known = name in both.nodes()
    both.wait_for("it runs, on a node that is known", lambda: state(both.south.run, job) == "R"
                  and list(both.nodes()) == [rows(both.south.run, "-j", job)[0][3]])
    print("slurmctld was killed: the node was %s" % ("known" if is_known else "forgotten"))
    before = len(both.beats("first"))
    both.wait_for("its marks", lambda: len(both.beats("first")) > before)
    scripts = [pid for pid, process in both.service.processes().items()
               if process.comm == "slurm_script"]
    expect_equal(len(scripts), 1, "it runs once")
    (name, _), = both.nodes().items()
    return name


def story_drain(both, job, name):
    """North drains the lease: the node takes no more jobs, the one there runs to its end, and
    then north's own job has n1."""
    both.f.cli("north", "lease", "drain", "--no-wait", LEASE)
    own = both.own("own1")
    both.wait_for("the node is drained", lambda: both.nodes().get(name) == "draining")
    expect_equal((state(both.south.run, job), state(run, own)), ("R", "PD"), "both jobs")
    second = both.submit("second", "-n1")
    both.south.run("scancel", job)
    both.wait_for("north's job runs", lambda: both.beats("own1"))
    both.wait_home()
    expect_equal(state(both.south.run, second), "PD", "nothing starts on a drained lease")
    run("scancel", own)
    both.f.cli("north", "lease", "resume", LEASE)
    both.wait_for("the next one runs", lambda: both.beats("second"))
    return second


def story_idle(both, job):
    """A node that is idle goes home, and what waits at north starts."""
    own = both.own("own2")
    both.south.run("scancel", job)
    both.wait_home()
    both.wait_for("north's job runs", lambda: both.beats("own2"))
    run("scancel", own)


def story_taken(both):
    """An administrator of north cancels the leased job: nothing of south's runs on n1 any
    more, and Slurm requeues its job."""
    job = both.submit("third", "-n1", "--requeue")
    both.wait_for("it runs", lambda: both.beats("third"))
    (name, _), = both.nodes().items()
    leased, = [row[0] for row in rows(run) if row[1] == "R" and row[2] == ACCOUNT]
    both.f.cli("north", "lease", "drain", "--no-wait", LEASE)
    run("scancel", leased)
    own = both.own("own3")
    both.wait_for("north's job runs", lambda: both.beats("own3"))
    both.wait_home()
    both.wait_for("its job waits", lambda: state(both.south.run, job) == "PD")
    run("scancel", own)
    both.south.run("scancel", job)


def inside_both():
    files = os.path.dirname(os.path.dirname(os.environ["SLURM_CONF"]))
    south = Cluster("south", files, 7817, SETTINGS)
    with Federation(below=files) as f:
        both = Both(f, south)
        story_sub(both)
        job, name = story_node(both)
        story_restart(both, job, name)
        name = story_forgotten(both, job, name)
        second = story_drain(both, job, name)
        story_idle(both, second)
        story_taken(both)
        expect_no_overlap(both, ["own1", "own2", "own3"], ["first", "second", "third"])


def test_both():
    run_inside(__file__, "both")


main_inside({"both": inside_both}, [test_both])
