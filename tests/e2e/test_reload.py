#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""SIGHUP and `sublet reconfig`: daemons read their files anew while jobs run; where
there are errors they keep what they had, and say so."""
import os
import signal

from federation import LEASE, BROKER, NORTH, SOUTH, Federation, expect, expect_equal, main


def hosts(f, site):
    return {row["host"]: (row["status"], row["max"]) for row in f.rows(site, "hosts")
            if not row["lease"]}


def running(f, site, *options):
    gate = os.path.join(f.marks, "gate")
    job = f.submit(site, "while [ ! -e %s ]; do sleep 0.1; done" % gate, *options)
    f.wait_state(site, job, "RUN")
    return job, gate


def test_errors_change_nothing():
    with Federation() as f:
        f.start("broker", "north", "south")
        f.configure("south", SOUTH.replace("s1 2", "s1 many"))
        result = f.cli("south", "reconfig", code=1)
        expect_equal(result.stderr.count("\n"), 1, "one line: " + result.stderr)
        for word in ("nothing is changed", f.conf("south") + ":", "MXJ", "many"):
            expect(word in result.stderr, result.stderr)
        os.kill(f.daemons["south"].pid, signal.SIGHUP)
        f.wait_for("the log to say so", lambda: "nothing is changed" in
                   open(f.log("south")).read())
        expect_equal(hosts(f, "south")["s1"], ("ok", 2), "as it was")
        f.configure("south", SOUTH.replace("@DIR@/@NAME@", "@DIR@/elsewhere"))
        text = f.cli("south", "reconfig", code=1).stderr
        expect("SPOOL" in text and "restart" in text, text)
        f.configure("broker", BROKER.replace("(consumer)", "(consumer painter)"))
        text = f.ops("reconfig", code=1).stderr
        expect("nothing is changed" in text and "painter" in text, text)
        text = f.ops("reconfig", code=1, key="north").stderr
        expect("administrator" in text, text)


def test_site():
    """Hosts come, grow and go, a queue comes, with a job that runs all the time."""
    with Federation() as f:
        f.start("broker", "north", "south")
        job, gate = running(f, "south", "-m", "s1")
        f.configure("south", SOUTH.replace("HOSTS_HERE = s1", "HOSTS_HERE = s2")
                    .replace("s1 2 X86_64", "s2 3 X86_64")
                    .replace("= away", "= other"))
        expect("reloaded" in f.cli("south", "reconfig").stderr, "answer")
        f.wait_for("s2 to be there", lambda: hosts(f, "south")["s2"] == ("ok", 3))
        expect_equal(f.job("south", job)["state"], "RUN", "the job on s1")
        f.submit("south", "true", "-q", "other")
        f.cli("south", "sub", "-q", "away", "true", code=1)
        open(gate, "w").close()
        f.wait_state("south", job, "DONE")
        f.wait_for("s1 to be forgotten", lambda: set(hosts(f, "south")) == {"s2"})
        f.wait_for("its sublet-host to end", lambda: not list(f.hosts("s1")))
        f.configure("south", SOUTH)
        os.kill(f.daemons["south"].pid, signal.SIGHUP)
        f.wait_for("s1 to be back", lambda: hosts(f, "south") == {"s1": ("ok", 2)})
        f.cli("south", "wait", str(f.submit("south", "true", "-q", "away")))


def test_leaving_host():
    """A host that was taken out has a job still when the site is killed: it is looked
    after by the next one too, and by a sublet-host that is killed meanwhile."""
    with Federation() as f:
        f.start("broker", "south")
        job, gate = running(f, "south", "-m", "s1")
        f.configure("south", SOUTH.replace("HOSTS_HERE = s1", "HOSTS_HERE = s2")
                    .replace("s1 2 X86_64", "s2 3 X86_64"))
        f.cli("south", "reconfig")
        f.wait_for("s2 to be there", lambda: hosts(f, "south")["s2"] == ("ok", 3))
        f.restart("south")
        f.wait_for("its sublet-host to be back", lambda: list(f.hosts("s1")))
        f.wait_state("south", job, "RUN")
        for pid in f.hosts("s1"):
            os.kill(pid, signal.SIGKILL)
        open(gate, "w").close()
        f.wait_state("south", job, "DONE")
        f.wait_for("s1 to be forgotten", lambda: set(hosts(f, "south")) == {"s2"})
        f.wait_for("its sublet-host to end", lambda: not list(f.hosts("s1")))
        f.configure("south", SOUTH)
        f.cli("south", "reconfig")
        f.wait_for("s1 to be back", lambda: hosts(f, "south") == {"s1": ("ok", 2)})
        f.restart("south")
        f.wait_for("s1 to be there again", lambda: hosts(f, "south") == {"s1": ("ok", 2)})
        f.cli("south", "wait", str(f.submit("south", "true", "-q", "normal", "-m", "s1")))


def test_policy():
    """A changed policy without a name is another contract: the old one drains, its job
    ends well, and a policy that shrinks takes what falls idle."""
    with Federation() as f:
        f.start("broker", "north", "south")
        f.wait_lease("the lease", lambda l: l["status"] == "conn")
        job, gate = running(f, "south", "-q", "away")
        f.configure("north", NORTH.replace("SLOTS = 4", "SLOTS = 2"))
        f.cli("north", "reconfig")
        f.wait_lease("the old one to drain", lambda l: l["state"] == "draining"
                     and l["consumer"]["available"] == 1)
        f.wait_for("the new one", lambda: f.lease(lease="north/2/south")["state"] == "pending")
        open(gate, "w").close()
        f.cli("south", "wait", str(job))
        f.wait_lease("the old one to end", lambda l: l["state"] == "ended")
        f.configure("north", NORTH)  # its number comes back with its content
        f.cli("north", "reconfig")
        f.wait_lease("the first to be back", lambda l: l["state"] == "pending")
        f.wait_for("the second to end", lambda: f.lease(lease="north/2/south")["state"] == "ended")
        epochs = [row["epoch"] for row in f.history()]
        expect_equal(epochs, sorted(epochs), "epochs never go back")


def test_members():
    """South is taken off the list, with a job on the lease, and put back."""
    with Federation() as f:
        f.start("broker", "north", "south")
        f.wait_lease("the lease", lambda l: l["status"] == "conn")
        job, gate = running(f, "south", "-q", "away")
        f.configure("broker", "".join(line + "\n" for line in BROKER.split("\n")
                                      if not line.startswith("south ")))
        f.ops("reconfig")
        f.wait_for("the lease to drain",
                   lambda: f.lease("north")["state"] == "draining")
        expect("south" not in [row["site"] for row in f.rows("north", "sites")], "sites")
        f.configure("broker", BROKER)
        f.ops("reconfig")
        f.wait_lease("the lease to be back", lambda l: l["state"] == "active"
                     and l["status"] == "ok")
        open(gate, "w").close()
        f.cli("south", "wait", str(job))


main(test_errors_change_nothing, test_site, test_leaving_host, test_policy, test_members, at_once=2)
