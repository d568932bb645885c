#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`sublet slurm` on a real Slurm cluster (tests/slurm/cluster). Each test starts a cluster
in namespaces, and this file again in it, with the name of the part that runs there."""
import json
import os
import signal
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
from federation import BIN, Failure, expect, expect_equal
from slurm_inside import LIMIT, end_slurmctld, main_inside, run, run_inside


def sublet(*words, code=0):
    return run(os.path.join(BIN, "sublet"), "slurm", *words, code=code)


def nodes(*words):
    """The nodes by name; none while slurmctld does not answer."""
    done = sublet("nodes", "--json", *words, code=None)
    return {row["host"]: row for row in json.loads(done.stdout)["nodes"]} if done.stdout else {}


def reasons(*words):
    """Why each node is not idle; None: it is."""
    found = nodes(*words)
    for row in found.values():
        expect_equal(row["idle"], row["reason"] is None, "idle and reason of %s" % row)
    return {name: row["reason"] for name, row in found.items()}


def wait_reasons(is_wanted, what):
    deadline = time.monotonic() + LIMIT
    while not is_wanted(found := reasons()):
        if time.monotonic() > deadline:
            raise Failure("%s: %s" % (what, found))
        time.sleep(0.2)


def wait_idle(what):
    wait_reasons(lambda found: found == {"n1": None, "n2": None}, what)


def inside_nodes():
    wait_idle("nodes register")
    found = nodes()
    one, two = found["n1"], found["n2"]
    expect_equal((one["cpus"], one["used_cpus"], one["mem"], one["features"], one["gres"]),
                 (2, 0, 1000, "big,ib", None), "n1")
    expect_equal(set(one["partitions"].split(",")), {"main", "big"}, "partitions of n1")
    expect_equal((two["cpus"], two["mem"], two["features"], two["partitions"]),
                 (4, 2000, None, "main"), "n2")
    expect_equal(reasons("--partition", "big"), {"n1": None}, "nodes of a partition")
    table = sublet("nodes").stdout.splitlines()
    expect_equal(table[0].split(), ["HOST_NAME", "STATE", "CPUS", "USED", "MEM", "GRES",
                                    "FEATURES", "PARTITIONS", "IDLE", "REASON"], "heading")
    expect_equal([line.split()[0] for line in table[1:]], ["n1", "n2"], "lines")

    job = run("sbatch", "--parsable", "--output=/dev/null", "-w", "n1", "-n", "1", "--wrap",
              "sleep 3600").stdout.strip()
    wait_reasons(lambda found: found == {"n1": "1 of 2 CPUs are in use", "n2": None},
                 "a job of Slurm's own")
    run("scancel", job)
    wait_idle("the job has ended")

    run("scontrol", "create", "reservation", "ReservationName=r", "StartTime=now",
        "Duration=60", "Nodes=n2", "Users=root")
    wait_reasons(lambda found: "reserved" in (found.get("n2") or "") and found["n1"] is None,
                 "a reservation")
    run("scontrol", "delete", "ReservationName=r")
    wait_idle("the reservation is gone")

    run("scontrol", "update", "NodeName=n2", "State=DRAIN", "Reason=test")
    wait_reasons(lambda found: "drain" in (found.get("n2") or "") and found["n1"] is None,
                 "a drained node")
    run("scontrol", "update", "NodeName=n2", "State=RESUME")
    wait_idle("the node is back")
    inside_away()


def inside_away():
    """slurmctld is ended, and started again: an error that says so, then an answer."""
    end_slurmctld(os.path.dirname(os.path.dirname(os.environ["SLURM_CONF"])), signal.SIGTERM)
    done = sublet("nodes", code=1)
    expect("sinfo" in done.stderr and done.stdout == "", "an error: %s" % done)
    expect("scontrol" in sublet("check", code=1).stderr, "an error of check")
    run("slurmctld-wlm")
    wait_idle("slurmctld is back")


def verdicts(code):
    rows = json.loads(sublet("check", "--json", code=code).stdout)["settings"]
    for row in rows:
        expect_equal(row["advice"] is None, row["verdict"] == "ok", "advice of %s" % row)
    return {row["setting"]: row["verdict"] for row in rows}


def inside_settings():
    wait_idle("nodes register")
    found = verdicts(0)
    found.pop("SLURM_VERSION")  # another one is worth a warning
    expect_equal(found, {"ResvOverRun": "ok", "SelectType": "ok",
                         "AccountingStorageEnforce": "ok", "PrivateData": "ok"}, "settings")


def inside_overrun():
    wait_idle("nodes register")
    found = verdicts(1)
    expect_equal(found["ResvOverRun"], "FAIL", "jobs that outlive their reservation")
    expect_equal(found["PrivateData"], "warn", "what others do not see")
    expect("scontrol reconfigure" in sublet("check", code=1).stdout, "what to do")


# ---------------------------------------------------------------- tests

def test_nodes():
    run_inside(__file__, "nodes")


def test_settings():
    run_inside(__file__, "settings")


def test_overrun():
    run_inside(__file__, "overrun", settings="ResvOverRun=UNLIMITED\nPrivateData=jobs")


main_inside({"nodes": inside_nodes, "settings": inside_settings, "overrun": inside_overrun},
            (test_nodes, test_settings, test_overrun))
