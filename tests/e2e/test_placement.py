#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Where jobs run, with real daemons: hosts that a job asks for and likes better, a range
of slots, hosts of one's own, at home and borrowed."""
import os

from federation import NORTH, SOUTH, Federation, expect, expect_equal, main

f = Federation()

QUEUES = """
Begin Queue
QUEUE_NAME = alone
PRIORITY = 40
HOSTS = all
EXCLUSIVE = Y
PLACEMENT = balanced
PROCLIMIT = 6
End Queue
Begin HostGroup
GROUP_NAME GROUP_MEMBER
pair (n1 n2)
End HostGroup
"""
GUEST = """
Begin Queue
QUEUE_NAME = guest
PRIORITY = 40
HOSTS = allremote
EXCLUSIVE = Y
End Queue
"""


def submit(site, *args):
    return f.cli(site, "sub", *args).stdout.split("<")[1].split(">")[0]


def refused(site, *args, code=1):
    return f.cli(site, "sub", *args, code=code).stderr


def waiting(name):
    return "while [ ! -e %s ]; do sleep 0.05; done" % os.path.join(f.marks, name)


def release(name):
    open(os.path.join(f.marks, name), "w").close()


def status(site, host):
    rows = {row["host"]: row for row in f.rows(site, "hosts")}
    return rows[host]["status"]


def hosts_of(site, job):
    return f.job(site, job)["hosts"]


def test_asked():
    job = submit("north", "-m", "n2+3 others", "-n", "2", "sleep 300")
    f.wait_state("north", job, "RUN")
    expect_equal(hosts_of("north", job), {"n2": 2}, "the host that it likes")
    f.cli("north", "kill", job)
    f.wait_state("north", job, "EXIT")
    job = submit("north", "-m", "pair", "true")
    f.wait_state("north", job, "DONE")
    expect("~n1" in refused("north", "-m", "all ~n1", "true"), "an exclusion")
    expect("n9: no such host" in refused("north", "-m", "n9+1", "true"), "an unknown one")
    expect("hosts or host groups before !" in refused("north", "-m", "all!", "true"), "all!")


def test_first():
    out = os.path.join(f.marks, "first.out")
    job = submit("north", "-m", "n2! n1", "-n", "6", "-o", out, "echo $LSB_HOSTS:")
    f.wait_state("north", job, "DONE")
    hosts = open(out).read().split()
    expect(hosts[0] == "n2" and hosts[-1] == "n1:", "not the host that comes first: %s" % hosts)
    job = submit("north", "-m", "n1+5 pair!", "-n", "6", "-o", out + "2", "echo $LSB_HOSTS:")
    f.wait_state("north", job, "DONE")
    hosts = open(out + "2").read().split()
    expect(hosts[0] == "n1" and hosts[-1] == "n2:", "the preferred host of the group: %s" % hosts)


def test_compound():
    parts = "1*{hname == n2} + 3*{hname == n1}"
    job = submit("north", "-R", parts, "sleep 300")
    f.wait_state("north", job, "RUN")
    expect_equal(hosts_of("north", job), {"n2": 1, "n1": 3}, "slots of its parts without -n")
    f.cli("north", "kill", job)
    f.wait_state("north", job, "EXIT")
    out = os.path.join(f.marks, "compound.out")
    job = submit("north", "-n", "4", "-R", "1*{hname == n2} + {hname == n1}", "-o", out, "echo $LSB_HOSTS:")
    f.wait_state("north", job, "DONE")
    expect("n2 n1 n1 n1:" in open(out).read(), open(out).read())
    expect("the parts have 4 slots, the job has 5" in refused("north", "-n", "5", "-R", parts, "true", code=255), "-n")


def test_range():
    out = os.path.join(f.marks, "range.out")
    job = submit("north", "-q", "alone", "-n", "2,20", "-o", out,
                 'echo $LSB_MCPU_HOSTS')
    f.wait_state("north", job, "DONE")
    row = f.job("north", job)
    expect_equal(sum(row["hosts"].values()), row["slots"], "the slots that it had")
    expect(2 <= row["slots"] <= 6, "within the range and PROCLIMIT: %d" % row["slots"])
    expect_equal(len(row["hosts"]), 2, "balanced over both hosts")
    with open(out) as file:
        words = file.read().split()
    expect_equal(dict(zip(words[::2], map(int, words[1::2]))), row["hosts"],
                 "what the job is told")
    refused("north", "-n", "8,2", "true", code=2)
    refused("north", "-n", "2,x", "true", code=2)
    expect("Too many processors" in refused("north", "-q", "alone", "-n", "7,9", "true"),
           "more than PROCLIMIT")


def test_exclusive():
    expect("does not accept exclusive" in refused("north", "-x", "true"), "the queue")
    mine = submit("north", "-q", "alone", "-x", "-m", "n1", waiting("mine"))
    f.wait_state("north", mine, "RUN")
    expect_equal(status("north", "n1"), "closed_Excl", "its host")
    other = submit("north", "-m", "n1", "true")
    f.wait_for("the other to be told", lambda: f.job("north", other)["pending"] == "busy")
    expect("1 host with an exclusive job" in f.job("north", other)["reason"], "why")
    expect(" Running an exclusive job: 1 host;" in f.cli("north", "jobs", "-p").stdout,
           "jobs -p")
    f.kill9("north")
    f.start("north")
    f.wait_state("north", mine, "RUN")
    expect_equal(f.job("north", other)["state"], "PEND", "after a crash")
    second = submit("north", "-q", "alone", "-x", "-m", "n1", "true")
    release("mine")
    for job in (mine, other, second):
        f.wait_state("north", job, "DONE")
    expect_equal(status("north", "n1"), "ok", "afterwards")


def test_borrowed():
    f.wait_for("the lease",
               lambda: any(row["lease"] for row in f.rows("south", "hosts")))
    guest = submit("south", "-q", "guest", "-x", waiting("guest"))
    f.wait_state("south", guest, "RUN")
    host, = hosts_of("south", guest)
    expect_equal(status("south", host), "closed_Excl", "for the consumer")
    name = host.split("@")[0]
    expect_equal(status("north", name), "closed_Excl", "for the provider")
    own = submit("north", "-m", name, "true")
    f.wait_for("its own to wait", lambda: f.job("north", own)["pending"] == "busy")
    release("guest")
    f.wait_state("south", guest, "DONE")
    f.wait_state("north", own, "DONE")
    # One of north's is there: south's is refused and tries again.
    own = submit("north", "-m", name, waiting("own"))
    f.wait_state("north", own, "RUN")
    late = submit("south", "-q", "guest", "-x", "-m", host, "true")
    f.wait_for("it to be refused",
               lambda: "other jobs run on host" in (f.job("south", late)["reason"] or ""))
    release("own")
    f.wait_state("north", own, "DONE")
    f.wait_state("south", late, "DONE")


def setup():
    f.configure("north", NORTH + QUEUES)
    f.configure("south", SOUTH + GUEST)
    f.start("broker", "north", "south")
    f.wait_for("hosts", lambda: f.has_hosts("north"))


if __name__ == "__main__":
    main(test_asked, test_first, test_compound, test_range, test_exclusive, test_borrowed, shared=f, setup=setup)
