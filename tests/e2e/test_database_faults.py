#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Two brokers and three sites under load while their database fails: its server fails over
to a synchronous replica, has no disk space, takes no connections, needs 0.1 s for a commit;
and the network between a broker and the server is cut, also while a commit is answered.
Afterwards every job has begun and ended once, no event is missing, and the contracts are
the same everywhere."""
import contextlib
import os
import subprocess
import tempfile

from brokers import (BROKERS, JOBS, Load, check_books, check_marks, federation, is_connected,
                     leader, marked, says, start_brokers, term, wait_says)
from federation import Skip, expect, expect_equal, free_port, main
from postgres import Server
from proxy import Proxy

CUTS = 12


@contextlib.contextmanager
def load(f, server):
    """Short jobs while something fails, and three of each consumer that run all the time,
    of which one needs a borrowed slot."""
    f.wait_lease("the sites to be here", is_connected)
    gated = {site: [f.submit(site, marked(f, site)) for _ in range(JOBS // 2)]
             for site in ("south", "west")}
    f.wait_for("them to run", lambda: all(
        f.n_jobs(site, "RUN") >= JOBS // 2 for site in gated))
    short = Load(f)
    short.start()
    f.wait_for("a job of the load to end", lambda: f.n_jobs("south", "DONE") > 0)
    yield
    f.wait_lease("the sites to be back", is_connected)
    for site, jobs in short.end().items():
        jobs += gated[site]
        open(os.path.join(f.dir, "gate"), "w").close()
        f.cli(site, "wait", *map(str, jobs))
        check_marks(f, site, jobs)
    check_books(f)
    n_events, last = server.ask("SELECT count(*), max(id) FROM event").split("|")
    expect_equal(n_events, last, "events without a gap")
    expect_equal(server.ask("SELECT count(*) FROM event WHERE event = 'made'"), "2",
                 "each contract was made once")


def wait_commits(f, server):
    """The leader commits what the load changes."""
    batch = int(server.ask("SELECT batch FROM leader"))
    f.wait_for("more commits", lambda: int(server.ask("SELECT batch FROM leader")) > batch + 3)


def test_a_replica_takes_the_place_of_the_server():
    with Server() as first, Server(of=first) as second:
        url = "postgresql://sublet@/sublet?host=%s,%s&target_session_attrs=read-write" % (
            first.dir, second.dir)
        with federation(first, url, url) as f:
            start_brokers(f)
            f.start("north", "south", "west")
            with load(f, second):
                epoch, before = f.lease()["epoch"], first.ask("SELECT max(id) FROM event")
                first.control("kill")
                second.control("promote")
                second.set(synchronous_standby_names="")
                f.wait_lease("the contract to go on",
                             lambda l: is_connected(l) and l["epoch"] >= epoch)
                expect(int(second.ask("SELECT max(id) FROM event")) >= int(before),
                       "what was committed is there")
                wait_commits(f, second)


@contextlib.contextmanager
def small_disk():
    """A directory on a file system of 160 MB of its own."""
    directory = tempfile.mkdtemp(prefix="sublet-postgres-")
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=160m,mode=755", "tmpfs",
                              directory], capture_output=True, text=True, check=False)
    if mounted.returncode != 0:
        os.rmdir(directory)
        raise Skip("a small file system needs root: " + mounted.stderr.strip())
    try:
        yield directory
    finally:
        subprocess.run(["umount", "-l", directory], check=True)
        with contextlib.suppress(OSError):
            os.rmdir(directory)


def test_the_disk_of_the_server_is_full():
    with small_disk() as disk, Server(dir=os.path.join(disk, "server")) as server, \
            federation(server) as f:
        start_brokers(f)
        f.start("north", "south", "west")
        with load(f, server):
            filler = os.path.join(disk, "filler")
            with contextlib.suppress(OSError), open(filler, "wb", buffering=0) as file:
                while True:
                    file.write(b"x" * 65536)
            with contextlib.suppress(subprocess.CalledProcessError):
                server.ask("SELECT pg_switch_wal()", "admin")  # the next segment has no space
            f.wait_for("a broker to say so", lambda: any(
                says(f, name, "No space left") or says(f, name, "PostgreSQL: ")
                for name in BROKERS))
            os.unlink(filler)
            server.control("kill", check=False)
            server.control("start")
            wait_commits(f, server)


def test_the_server_takes_no_connections():
    with Server() as server, federation(server) as f:
        start_brokers(f)
        f.start("north", "south", "west")
        with load(f, server):
            server.ask("ALTER ROLE sublet CONNECTION LIMIT 0", "admin")
            for name in BROKERS:
                f.kill9(name)
            for name in BROKERS:
                f.spawn(name)
            for name in BROKERS:
                wait_says(f, name, "too many connections")
            server.ask("ALTER ROLE sublet CONNECTION LIMIT -1", "admin")
            f.wait_for("a leader", lambda: any(says(f, name, "this broker leads")
                                               for name in BROKERS))
            wait_commits(f, server)


def test_commits_are_slow():
    with Server() as server, federation(server) as f:
        server.set(commit_delay="100000", commit_siblings="0")
        start_brokers(f)
        f.start("north", "south", "west")
        with load(f, server):
            before = term(server)
            wait_commits(f, server)
            expect_equal(term(server), before, "the term: a slow server is no reason for another")


def test_the_network_to_the_server_is_cut():
    port = free_port()
    with Server(port) as server, Proxy(port) as proxy:
        through = "postgresql://sublet@127.0.0.1:%d/sublet" % proxy.port
        with federation(server, through, server.url.replace(
                "/sublet?", "/sublet?port=%d&" % port)) as f:
            start_brokers(f)
            f.start("north", "south", "west")
            with load(f, server):
                for _ in range(CUTS):  # most of them while a commit is under way
                    wait_commits(f, server)
                    proxy.cut()
                expect(says(f, "broker", "it is opened again") or leader(f, server) == "broker2",
                       "the broker has lost its connection")
                proxy.hold()
                f.wait_for("the other broker to lead", lambda: leader(f, server) == "broker2")
                wait_commits(f, server)
                proxy.heal()
                wait_says(f, "broker", "this broker is a standby")


if __name__ == "__main__":
    main(test_a_replica_takes_the_place_of_the_server, test_the_disk_of_the_server_is_full,
         test_the_server_takes_no_connections, test_commits_are_slow,
         test_the_network_to_the_server_is_cut, at_once=2)
