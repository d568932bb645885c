#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who may say what: keys, names, users."""
import os
import subprocess

from federation import (LEASE, NORTH, SOUTH, Federation, expect, expect_equal, main)

f = Federation()


def test_unknown_key_gets_nothing():
    """A key that is no member's: the handshake fails, there is no answer."""
    result = f.ops("leases", "--json", key="stranger", code=1)
    expect_equal(result.stdout, "", "not a byte")
    expect("does not know this key" in result.stderr, result.stderr)


def test_unknown_key_as_a_site():
    f.configure("east", SOUTH.replace("allremote", "others"), key="stranger")
    f.start("east")
    sites = [row["site"] for row in f.rows("south", "sites")]
    expect("east" not in sites, "an unknown site is not shown: %r" % sites)
    f.cli("east", "leases", code=1)
    f.stop("east")


def test_another_sites_name():
    """south's key, north's name: refused, and north's lease stays as it is."""
    before = f.lease()
    text = NORTH.replace("SPOOL = @DIR@/@NAME@", "SPOOL = @DIR@/thief").replace(
        "NAME = @NAME@", "NAME = north").replace("n1 n2", "n1 n2")
    f.configure("thief", text, key="south")
    f.stop("south")
    f.spawn("thief")
    f.wait_for("the broker to say no",
               lambda: "north" in open(f.log("thief")).read()
               and any(word in open(f.log("broker")).read()
                       for word in ("refused", "denied", "another")))
    f.kill9("thief")
    f.start("south")
    f.wait_lease("all as before", lambda l: l["status"] in ("conn", "ok"))
    after = f.lease()
    for field in ("epoch", "state", "hosts"):
        expect_equal(after[field], before[field], field)


def test_only_admins_set_the_delay():
    keys = os.path.join(f.dir, "keys")
    result = f.ops("reclaim-delay", "5s", key="south", code=1)
    expect_equal(result.stdout, "", "south is no administrator")
    f.ops("reclaim-delay", "1s")
    f.ops("reclaim-delay", "default")
    expect(keys, "keys")


def test_other_users_jobs():
    """Another user of this machine sees jobs but does not touch them."""
    if os.geteuid() != 0:
        return
    job = f.submit("south", "sleep 30")
    path = os.path.join(f.dir, "south", "sublet.sock")

    def as_nobody(*args):
        return subprocess.run(
            [os.path.join(__import__("federation").BIN, "sublet"), "--socket", path, *args],
            user="nobody", group="nogroup", extra_groups=[], cwd="/", text=True,
            env={"PATH": "/usr/bin:/bin", "SUBLET_E2E": f.dir},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    result = as_nobody("kill", str(job))
    expect_equal(result.returncode, 1, "kill of another's job: %r" % result)
    f.wait_state("south", job, "RUN")
    result = as_nobody("reclaim-delay", "5s")
    expect_equal(result.returncode, 1, "reclaim-delay by a user: %r" % result)
    f.cli("south", "kill", str(job))


def test_secret_that_others_can_read():
    keys = os.path.join(f.dir, "keys")
    os.chmod(keys + "/ops.key_secret", 0o644)
    result = f.ops("leases", code=1)
    expect("ops.key_secret" in result.stderr, result.stderr)
    os.chmod(keys + "/ops.key_secret", 0o600)
    expect(LEASE in f.ops("leases").stdout, "and with mode 0600 it is fine")


def setup():
    f.start("broker", "north", "south")
    f.wait_lease("the lease", lambda l: l["status"] == "conn")


main(test_unknown_key_gets_nothing, test_unknown_key_as_a_site, test_another_sites_name,
     test_only_admins_set_the_delay, test_other_users_jobs,
     test_secret_that_others_can_read, shared=f, setup=setup)
