#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A rolling upgrade of the brokers of one database: the program of the commit before the
last migration leads, with load; the program of this tree joins it as a standby and expands
the tables; then it leads, and the other broker is upgraded. The old program comes from the
repository's history."""
import os
import subprocess
import tempfile

from brokers import (Load, ask, check_books, check_marks, federation, is_connected, leader,
                     start_brokers, wait_says)
from federation import ROOT, Skip, expect, main
from postgres import Server


def git(*words):
    done = subprocess.run(["git", "-C", ROOT, *words], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Skip("the old program needs the repository's history: " + done.stderr.strip())
    return done.stdout.strip()


def build_before():
    """The path of the old sublet-broker."""
    last = sorted(os.listdir(os.path.join(ROOT, "schema/postgres")))[-1]
    added = git("log", "--diff-filter=A", "--format=%H", "--", "schema/postgres/" + last)
    if not added:
        raise Skip("the repository's history does not reach back to " + last)
    before = git("rev-parse", added.split()[-1] + "^")
    tree = os.path.join(ROOT, "build", "before", before[:12])
    program = os.path.join(tree, "build", "gcc", "bin", "sublet-broker")
    if not os.path.exists(program):
        os.makedirs(tree, exist_ok=True)
        with tempfile.NamedTemporaryFile() as archive:
            git("archive", "-o", archive.name, "--format=tar", before)
            subprocess.run(["tar", "-xf", archive.name, "-C", tree], check=True)
        environment = {name: value for name, value in os.environ.items()
                       if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS", "BUILD")}
        made = subprocess.run(["make", "-s", "-C", tree, "-j2", "build/gcc/bin/sublet-broker"],
                              env=environment, capture_output=True, text=True, check=False)
        expect(made.returncode == 0, made.stdout + made.stderr)
    return program


def step_down(f, name):
    f.wait_for("%s to step down" % name, lambda: "steps down" in ask(
        f, f.urls[name], "brokers", "step-down", code=None).stderr)


def test_brokers_are_upgraded_one_by_one():
    old = build_before()
    with Server() as server, federation(server) as f:
        f.prefixes["broker"] = ("sh", "-c", 'old=$1; shift 2; exec "$old" "$@"', "sh", old)
        f.start("broker")
        wait_says(f, "broker", "this broker leads")
        before = server.ask("SELECT number FROM schema_version")
        f.start("north", "south", "west")
        f.wait_lease("the contract", is_connected)
        load = Load(f)
        load.start()
        f.start("broker2")  # it expands the tables beneath the leader
        wait_says(f, "broker2", "this broker is a standby")
        expect(int(server.ask("SELECT number FROM schema_version")) > int(before),
               "the tables are expanded")
        batch = int(server.ask("SELECT batch FROM leader"))
        f.wait_for("the old program to commit", lambda: int(
            server.ask("SELECT batch FROM leader")) > batch + 1)
        step_down(f, "broker")
        f.wait_for("the new program to lead", lambda: leader(f, server) == "broker2")
        f.wait_lease("the sites to be back", is_connected)
        wait_says(f, "broker", "this broker is a standby: %s leads" % f.urls["broker2"])
        f.stop("broker")
        del f.prefixes["broker"]
        f.start("broker")
        wait_says(f, "broker", "this broker is a standby: %s leads" % f.urls["broker2"])
        step_down(f, "broker2")
        f.wait_for("the upgraded broker to lead", lambda: leader(f, server) == "broker")
        f.wait_lease("the sites to be back", is_connected)
        for site, jobs in load.end().items():
            f.cli(site, "wait", *map(str, jobs))
            check_marks(f, site, jobs)
        check_books(f)


def test_a_program_goes_on_beside_a_later_one():
    """A later version has expanded the tables, and says from which version on programs may
    use them."""
    with Server() as server, federation(server) as f:
        start_brokers(f)
        f.start("north", "south")
        server.ask("ALTER TABLE lease ADD COLUMN of_later TEXT NOT NULL DEFAULT 'x'")
        server.ask("UPDATE schema_version SET number = number + 1")
        f.restart("broker2")
        wait_says(f, "broker2", "this broker is a standby")
        step_down(f, "broker")
        f.wait_for("the other broker to lead", lambda: leader(f, server) == "broker2")
        f.wait_lease("the sites to be back", is_connected)
        f.cli("south", "wait", str(f.submit("south", "true")))
        server.ask("UPDATE schema_version SET usable_from = number")  # it has contracted them
        f.kill9("broker")
        f.spawn("broker")
        f.let_end("broker")
        wait_says(f, "broker", "this program knows")


if __name__ == "__main__":
    main(test_brokers_are_upgraded_one_by_one, test_a_program_goes_on_beside_a_later_one,
         at_once=2)
