#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whom a leased job runs as, by UserMap: that account with its groups and nothing more,
or not at all, and then its owner is told."""
import grp
import os
import pwd

from federation import NORTH, Federation, Skip, expect, expect_equal, main

f = Federation()


def need_root():
    if os.geteuid() != 0:
        raise Skip("only root's daemons run jobs of others")


def user_map(*rows):
    return NORTH + "Begin UserMap\nLOCAL REMOTE DIRECTION\n%s\nEnd UserMap\n" % "\n".join(rows)


def change(*rows):
    f.configure("north", user_map(*rows))
    f.cli("north", "reconfig")


def submit(command, *options):
    path = os.path.join(f.dir, "out-%d" % len(f.rows("south", "jobs", "-a")))
    text = f.cli("south", "sub", "-q", "away", "-o", path, *options, command).stdout
    return text.split("<")[1].split(">")[0], path


def lines_of(job, path):
    f.wait_state("south", job, "DONE")
    with open(path) as file:
        return file.read().splitlines()


def test_account():
    """Ids, groups, no way to more, before the first instruction; also for what is run
    before it."""
    need_root()
    entry = pwd.getpwnam("daemon")
    groups = sorted(set(os.getgrouplist("daemon", entry.pw_gid)))
    job, path = submit("id -un; id -gn; echo $(id -G | tr ' ' '\\n' | sort -n); "
                       "sed -n 's/^NoNewPrivs:.//p' /proc/self/status; umask; pwd; "
                       "cat %s/who; sed -n 's/^CapEff:.//p' /proc/self/status" % f.marks,
                       "-E", "id -un > %s/who" % f.marks)
    lines = lines_of(job, path)
    expect_equal(lines[:5], ["daemon", grp.getgrgid(entry.pw_gid).gr_name,
                             " ".join(map(str, groups)), "1", "0022"], "surroundings")
    expect("/runs/" in lines[5], "a directory of its own: " + lines[5])
    expect_equal(lines[6:], ["daemon", "0000000000000000"], "before it; capabilities")


def test_nobody():
    """Who is not in the map does not run, and hears why; a reload lets them in."""
    need_root()
    change("daemon ana@south import", "daemon all@west import")
    job, path = submit("id -un")
    f.wait_for("the refusal", lambda: "has no account" in (f.job("south", job)["reason"] or ""))
    row = f.job("south", job)
    expect("user root of south has no account at north (UserMap)" in row["reason"],
           row["reason"])
    expect_equal((row["state"], row["start_at"]), ("PEND", None), "it never ran")
    expect("has no account" in f.cli("south", "jobs", "-l", job).stdout, "jobs -l")
    change("daemon ana@south import", "bin root@south import")
    expect_equal(lines_of(job, path), ["bin"], "once it has one")


def test_no_such_account():
    need_root()
    change("no-such-account root@south import")
    job, _ = submit("true")
    f.wait_state("south", job, "EXIT")
    reason = f.job("south", job)["reason"]
    expect('no account "no-such-account" on this host' in reason, reason)


def test_never_root():
    for row, says in (("root ana@south import", "a user of another site cannot run as root, expected another account"),
                      ("all root@south import", "would run as root"),
                      ("ana ana@north export", "export has no effect")):
        f.configure("north", user_map(row))
        result = f.run("sublet", "check", f.conf("north"))
        expect(says in result.stdout, "%s: %s" % (row, result.stdout))
    need_root()
    f.configure("north", user_map("all all@south import"))
    f.cli("north", "reconfig")
    job, _ = submit("true")
    f.wait_for("the refusal", lambda: "has no account" in (f.job("south", job)["reason"] or ""))
    f.cli("south", "kill", job)


def setup():
    f.configure("north", user_map("daemon root@south import"))
    f.start("broker", "north", "south")
    f.wait_lease("the lease", lambda lease: lease["status"] == "conn")


if __name__ == "__main__":
    main(test_account, test_nobody, test_no_such_account, test_never_root, shared=f,
         setup=setup)
