#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""peers.py BENCHMARK: runs a benchmark of Sublet, and the same work of other programs
before and after it, then prints the ratios.

    changes  a durable change of a contract: etcd (a transaction that compares a lease and
             puts a value; the grant of a lease), PostgreSQL's advisory locks
    usage    a site's report: etcd's keep-alive of a lease
    jobs     a job of /bin/true: Slurm

The peers are Debian's packages: etcd-server, apache2-utils (ab), postgresql, slurmctld,
slurmd and munge. A peer that is not installed is named, and left out."""
import contextlib
import json
import os
import re
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "..", "..")
for room in ("e2e", "slurm"):
    sys.path.insert(0, os.path.join(HERE, "..", room))
from federation import Skip
from figures import figures
from postgres import Server
from slurm_inside import main_inside, run_inside

SECONDS = 3      # for each figure of etcd and PostgreSQL
SLURM_JOBS = 200
LEASE = 7        # of etcd
READY_SECONDS = 30

ETCD_TRANSACTION = ("a key has no history, no hosts and no books; one member, so no copy on "
                    "another machine")
ETCD_GRANT = "a grant names no slots and no two sides"
ETCD_KEEPALIVE = "a keep-alive says that the client is there, and reports nothing"
POSTGRES_LOCK = ("a lock ends with its connection and has no epoch; only the row that it "
                 "protects is durable")
SLURM_JOB = "accounting is off; an end is stored in slurmctld's state file later, not at once"


# ---------------------------------------------------------------- etcd

def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def post(url, body):
    with urllib.request.urlopen(url, json.dumps(body).encode(), timeout=10) as answer:
        return json.load(answer)


@contextlib.contextmanager
def etcd():
    """The URL of a server that has a lease."""
    for program in ("etcd", "ab"):
        if shutil.which(program) is None:
            raise Skip("%s is not installed" % program)
    directory = tempfile.mkdtemp(prefix="sublet-etcd-")
    url = "http://127.0.0.1:%d" % free_port()
    server = subprocess.Popen(
        ["etcd", "--data-dir", directory, "--listen-client-urls", url, "--advertise-client-urls",
         url, "--listen-peer-urls", "http://127.0.0.1:%d" % free_port(), "--log-level", "error"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + READY_SECONDS
        while True:
            try:
                post(url + "/v3/lease/grant", {"TTL": 3600, "ID": LEASE})
                break
            except OSError:
                if time.monotonic() > deadline:
                    raise
                time.sleep(0.1)
        yield url, directory
    finally:
        server.kill()
        server.wait()
        shutil.rmtree(directory)


def posts_per_second(url, directory, body, outstanding):
    """That many connections post the body again and again."""
    path = os.path.join(directory, "body.json")
    with open(path, "w") as file:
        json.dump(body, file)
    done = subprocess.run(["ab", "-q", "-k", "-c", str(outstanding), "-t", str(SECONDS), "-n",
                           "100000000", "-p", path, "-T", "application/json", url],
                          capture_output=True, text=True)
    rate = re.search(r"Requests per second:\s+([\d.]+)", done.stdout)
    if rate is None or "Non-2xx" in done.stdout:
        sys.exit("peers: ab of %s failed: %s%s" % (url, done.stdout, done.stderr))
    return float(rate.group(1))


# Compares the lease of the key, and puts 150 bytes: a contract is about as long.
TRANSACTION = {
    "compare": [{"key": "Yw==", "target": "LEASE", "result": "EQUAL", "lease": LEASE}],
    "success": [{"requestPut": {"key": "Yw==", "value": "eHh4" * 50, "lease": LEASE}}],
    "failure": [{"requestPut": {"key": "Yw==", "value": "eHh4" * 50, "lease": LEASE}}],
}


def etcd_changes():
    with etcd() as (url, directory):
        for row, outstanding in (("1 site, 1 lease,", 1), ("1 site, 16 leases", 16),
                                 ("16 sites, 16 leases each", 256),
                                 ("64 sites, 16 leases each", 1024)):
            yield (row, "etcd: a transaction, %d outstanding" % outstanding,
                   posts_per_second(url + "/v3/kv/txn", directory, TRANSACTION, outstanding),
                   ETCD_TRANSACTION)
        yield ("16 sites, 16 leases each", "etcd: a lease is granted, 256 outstanding",
               posts_per_second(url + "/v3/lease/grant", directory, {"TTL": 3600}, 256), ETCD_GRANT)


def etcd_usage():
    with etcd() as (url, directory):
        for row, outstanding in (("USAGE and PONG: 16 sites", 256),
                                 ("USAGE and PONG: 64 sites", 1024)):
            rate = posts_per_second(url + "/v3/lease/keepalive", directory, {"ID": LEASE},
                                    outstanding)
            yield row, "etcd: keep-alive, %d outstanding" % outstanding, rate, ETCD_KEEPALIVE


# ---------------------------------------------------------------- PostgreSQL

LOCK = """\\set id random(1, 1000)
SELECT pg_advisory_lock(:id);
UPDATE contract SET epoch = epoch + 1 WHERE id = :id;
SELECT pg_advisory_unlock(:id);
"""


def postgres_changes():
    with Server() as server:
        server.ask("CREATE TABLE contract (id int PRIMARY KEY, epoch bigint NOT NULL);"
                   "INSERT INTO contract SELECT id, 0 FROM generate_series(1, 1000) id")
        script = os.path.join(server.dir, "lock.sql")
        with open(script, "w") as file:
            file.write(LOCK)
        pgbench = os.path.join(sorted(
            os.path.join("/usr/lib/postgresql", version, "bin")
            for version in os.listdir("/usr/lib/postgresql"))[-1], "pgbench")
        for row, clients in (("1 site, 1 lease,", 1), ("1 site, 16 leases", 16),
                             ("64 sites, 16 leases each", 64)):
            done = subprocess.run([pgbench, "-n", "-h", server.dir, "-U", "sublet", "-f", script,
                                   "-c", str(clients), "-T", str(SECONDS), "sublet"],
                                  capture_output=True, text=True)
            rate = re.search(r"tps = ([\d.]+)", done.stdout)
            if rate is None:
                sys.exit("peers: pgbench failed: %s%s" % (done.stdout, done.stderr))
            yield (row, "PostgreSQL: an advisory lock and a row, %d clients" % clients,
                   float(rate.group(1)), POSTGRES_LOCK)


# ---------------------------------------------------------------- Slurm

def slurm_jobs():
    host = socket.gethostname()
    defaults = {"SCHEDULER": "sched_interval=60"}
    found = run_inside(__file__, "jobs", seconds=900, environment=defaults, settings="\n".join((
        "NodeName=n3 NodeAddr=10.99.0.1 NodeHostname=%s Port=17003 CPUs=64 RealMemory=4000" % host,
        "PartitionName=bench Nodes=n3 State=UP")))
    for line in found.splitlines():
        what, rate = line.split("\t")
        yield "submitted to exit status on record", "Slurm: " + what, float(rate), SLURM_JOB


def inside_jobs():
    """Prints the jobs per second of a node with 64 CPUs."""
    subprocess.run(["slurmd-wlm", "-N", "n3"], check=True)
    words = ["sbatch", "--parsable", "--partition=bench", "--output=/dev/null", "--mem=1",
             "--chdir=/", "--wait", "--wrap=exec /bin/true"]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)  # waits for the node
    for what, commands in (
            ("one sbatch for each job", [words[:-2] + words[-1:]] * SLURM_JOBS),
            ("one array of jobs", [words[:-2] + ["--array=1-%d" % SLURM_JOBS] + words[-1:]])):
        start = time.monotonic()
        for command in commands:
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        while subprocess.run(["squeue", "--noheader"], capture_output=True, text=True,
                             check=True).stdout:
            time.sleep(0.1)
        print("%s\t%.1f" % (what, SLURM_JOBS / (time.monotonic() - start)))


# ---------------------------------------------------------------- the table

PEERS = {"changes": (etcd_changes, postgres_changes), "usage": (etcd_usage,),
         "jobs": (slurm_jobs,)}


def ask_peers(name, rows):
    """Adds the figures of one turn to rows: {(ours, theirs, lacks): [figure...]}."""
    for peer in PEERS[name]:
        try:
            for ours, theirs, figure, lacks in peer():
                rows.setdefault((ours, theirs, lacks), []).append(figure)
        except Skip as skip:
            print("peers: %s: %s" % (peer.__name__.split("_")[0], skip))


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in PEERS:
        sys.exit(__doc__)
    name = sys.argv[1]
    program = os.path.join(os.environ.get("SUBLET_BENCHES", os.path.join(
        ROOT, "build", "gcc", "tests", "bench")), "bench_" + name)
    rows = {}
    ask_peers(name, rows)
    done = subprocess.run([program], stdout=subprocess.PIPE, text=True)
    print(done.stdout, end="")
    if done.returncode != 0:
        sys.exit(1)
    ask_peers(name, rows)
    ours = figures(done.stdout)
    print("\n%s beside other programs, per second; each did its work before and after" % name)
    print("%-9s %9s %6s  %-44s %s" % ("peer", "sublet", "ratio", "sublet's work", "the peer's"))
    for (row, theirs, _), values in rows.items():
        mine = {work: figure for work, figure in ours.items() if row in work and " / " not in work}
        if not mine:
            sys.exit("peers: %s has no row \"%s\"" % (program, row))
        peer = statistics.median(values)
        for work, figure in mine.items():
            print("%9.0f %9.0f %6.1f  %-44s %s" % (peer, figure, figure / peer, work, theirs))
    print("\nwhat the peers do not promise:")
    for theirs, lacks in {theirs.split(",")[0]: lacks for _, theirs, lacks in rows}.items():
        print("  %s: %s" % (theirs, lacks))


if sys.argv[1:2] == ["--inside"]:
    main_inside({"jobs": inside_jobs}, ())
elif __name__ == "__main__":
    main()
