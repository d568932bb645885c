#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Processes die, stand still and come back, and the network fails, while jobs run: no
contract or job is lost, nothing runs twice, and all agree in the end.

A dozen faults of a fixed seed; `make soak` does some hundred of any seed."""
import contextlib
import os
import random
import shutil
import subprocess
import time

from faults import Faults, Load, Watch, agree, stamped, stamps, use_proxy
from federation import BROKER, NORTH, SOUTH, Failure, Federation, Skip, expect_equal, main
from proxy import Proxy

SEED = "1"
COUNT = 12


def storm(kinds, count, seed, stop_s=(0.2, 2.5)):
    """So many faults, one after the other, under load; every kind at least once where
    there are enough."""
    with Federation() as f, Proxy(int(f.words["PORT"])) as to_north, \
            Proxy(int(f.words["PORT"])) as to_south:
        use_proxy(f, to_north, "north", NORTH)
        use_proxy(f, to_south, "south", SOUTH)
        rng = random.Random(seed)
        faults = Faults(f, rng, {"north": to_north, "south": to_south}, stop_s)
        f.start("broker", "north", "south")
        watch, load = Watch(f), Load(f, seed)
        chosen = [getattr(faults, kind) for kind in kinds]
        order = (chosen * (count // len(chosen) + 1))[:count]
        rng.shuffle(order)
        try:
            with load:
                f.wait_lease("the lease to be made", lambda l: l["epoch"] >= 2)
                for kind in order:
                    faults.one(kind)
                    watch.look()
                    faults.pause()
            load.judge()
            agree(f)
        except Exception as error:
            raise Failure("seed %s: %s\n  after: %s" % (
                seed, error, "\n         ".join(faults.done))) from error


def test_processes_die_and_stand_still():
    storm(("kill", "kill_host", "stop", "stop_host", "end", "kill_with_hosts", "kill_two",
           "kill_stopped"), COUNT, SEED)


def test_network_fails():
    storm(("hold", "cut", "delay", "kill", "kill_stopped"), COUNT // 2, SEED)


@contextlib.contextmanager
def network_of_its_own(f, name):
    """A namespace for a daemon, joined to this one by a pair of interfaces; yields the
    address of this end and a function that takes the link away or brings it back."""
    space = "sublet-%d" % os.getpid()
    near, far = "sub%d" % (os.getpid() % 10 ** 7), "peer%d" % (os.getpid() % 10 ** 7)
    net = "10.213.%d." % (os.getpid() % 250)

    def ip(*words):
        if shutil.which("ip") is None or subprocess.run(
                ["ip", *words], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            raise Skip("network namespaces are not allowed here")

    ip("netns", "add", space)
    try:
        ip("link", "add", near, "type", "veth", "peer", "name", far, "netns", space)
        ip("addr", "add", net + "1/30", "dev", near)
        ip("link", "set", near, "up")
        ip("-n", space, "addr", "add", net + "2/30", "dev", far)
        ip("-n", space, "link", "set", far, "up")
        f.prefixes[name] = ["nsenter", "--net=/run/netns/" + space]
        yield net + "1", lambda state: ip("link", "set", near, state)
    finally:
        subprocess.run(["ip", "netns", "del", space], stderr=subprocess.DEVNULL,
                       check=False)


def test_network_namespace():
    """A site's network goes away beneath its connections: longer than LOST_AFTER and
    than the site waits for the broker. Jobs on both sides of it run on."""
    with Federation() as f, network_of_its_own(f, "south") as (address, link):
        f.configure("broker", BROKER.replace("127.0.0.1", "0.0.0.0"))
        f.configure("south", SOUTH.replace("127.0.0.1", address))
        load = Load(f, SEED)
        f.start("broker", "north", "south")
        watch = Watch(f)
        with load:
            f.wait_lease("the lease to be made", lambda l: l["epoch"] >= 2)
            link("down")
            f.wait_for("south to be lost",
                       lambda: f.lease("north")["status"] == "disc")
            watch.look()
            time.sleep(4)
            link("up")
            f.wait_for("south to be back",
                       lambda: f.lease("north")["status"] == "ok")
            watch.look()
        load.judge()
        agree(f)


def test_hosts_end_with_their_site():
    """A site that is killed leaves guards and jobs behind, but no sublet-host that the
    next site does not own; that one's hosts find the jobs again."""
    with Federation() as f:
        f.start("north")
        gate = os.path.join(f.dir, "gate")
        job = f.submit("north", "until [ -e %s ]; do sleep 0.1; done; " % gate
                       + stamped(f, "north", 0.1))
        f.wait_state("north", job, "RUN")
        f.kill9("north")
        f.wait_for("its hosts to end", lambda: not [*f.hosts("n1"), *f.hosts("n2")])
        f.start("north")
        expect_equal(f.job("north", job)["state"], "RUN", "the job runs on")
        open(gate, "w").close()
        f.wait_state("north", job, "DONE")
        expect_equal(len(stamps(f)[("north", job)]), 1, "times it ran")
        expect_equal(f.stop("north"), 0, "exit of north")
        expect_equal([*f.hosts("n1"), *f.hosts("n2")], [], "hosts left behind")


main(test_processes_die_and_stand_still, test_network_fails, test_network_namespace,
     test_hosts_end_with_their_site, at_once=3)
