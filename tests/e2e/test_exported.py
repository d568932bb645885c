#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What leases export besides slots, with real daemons: memory, swap space and shared
resources leave the provider's hosts and are all that a borrowed host has."""
from federation import NORTH, SOUTH, Federation, expect, expect_equal, main

LICENCES = """
Begin Resource
RESOURCENAME TYPE INTERVAL INCREASING CONSUMABLE DESCRIPTION
lic Numeric () N %s (licences)
End Resource
"""
PLACES = """
Begin ResourceMap
RESOURCENAME LOCATION
lic (10@[n1 n2])
End ResourceMap
"""
SHARED = """
Begin SharedResourceExport
NAME = lic
NINSTANCES = %d
DISTRIBUTION = ([south, 1])
End SharedResourceExport
"""
NAMED = "NAME=p;PER_HOST=n1;SLOTS=4;MEM=100;TYPE=shared;DISTRIBUTION=([south, 1])"

f = Federation()


def north(*policies, shared=0):
    """north exports by these lines, and so many licences."""
    text = NORTH[:NORTH.index("Begin HostExport")] + LICENCES % "Y" + PLACES
    for policy in policies:
        text += "Begin HostExport\n%s\nEnd HostExport\n" % policy.replace(";", "\n")
    f.configure("north", text + (SHARED % shared if shared else ""))


def load(site, host):
    return f.rows(site, "load", host)[0]


def host(site, name):
    rows = f.rows(site, "hosts", name)
    return rows[0] if rows else None


def reload_north(*policies, shared=0):
    north(*policies, shared=shared)
    f.cli("north", "reconfig")


def lease():
    rows = [row for row in f.rows("south", "leases") if row["id"] == "north/p/south"]
    return rows[0] if rows else None


def test_memory_is_the_consumers_alone():
    machine = None
    north("PER_HOST=n1;SLOTS=4;TYPE=shared;DISTRIBUTION=([south, 1])",
          "PER_HOST=n2;SLOTS=4;DISTRIBUTION=([south, 1])")
    f.start("broker", "north", "south")
    f.wait_for("the machine's memory", lambda: host("north", "n1")["maxmem"])
    machine = host("north", "n1")
    f.wait_for("the same at the consumer: nothing is exported of it, it is competed for",
               lambda: host("south", "n1@north")["maxmem"] == machine["maxmem"])
    reload_north("PER_HOST=n1;SLOTS=4;TYPE=shared;MEM=100;SWAP=7;DISTRIBUTION=([south, 1])",
                 "PER_HOST=n2;SLOTS=4;DISTRIBUTION=([south, 1])")
    f.wait_for("100 MB less", lambda: host("north", "n1")["maxmem"] == machine["maxmem"] - 100)
    f.wait_for("all of it at n2", lambda: host("north", "n2")["maxmem"] == machine["maxmem"])
    f.wait_for("all there is of it", lambda: host("south", "n1@north")["maxmem"] == 100)
    borrowed = host("south", "n1@north")
    swap = min(7, machine["maxswp"] or 0)
    expect_equal(borrowed["maxswp"], swap, "swap space")
    expect_equal([load("south", "n1@north")[key] for key in ("mem", "swp")], [100, swap], "load")
    expect(load("north", "n1")["mem"] < machine["maxmem"] - 100, "what is free is less too")
    # select goes by it, at once
    expect_equal([row["host"] for row in f.rows("south", "load", "-R", "select[mem == 100]")],
                 ["n1@north"], "select at the consumer")


def test_a_host_exports_what_it_has():
    total = host("north", "n2")["maxmem"]
    reload_north("NAME=p;PER_HOST=n1;SLOTS=4;MEM=999999999;TYPE=shared;DISTRIBUTION=([south, 1])")
    f.wait_for("what there is", lambda: lease() and lease()["hosts"][0]["mem"] == total)
    f.wait_for("nothing left at home", lambda: host("north", "n1")["maxmem"] == 0)
    f.wait_for("all at the consumer", lambda: host("south", "n1@north")["maxmem"] == total)
    # A restart of everything: the same contract, before any host has told anything.
    epoch = lease()["epoch"]
    f.restart("broker")
    f.restart("north")
    f.restart("south")
    f.wait_for("the lease", lambda: lease() and lease()["status"] in ("ok", "conn")
               and host("south", "n1@north")["maxmem"] == total)
    f.wait_for("the host", lambda: host("north", "n1")["maxmem"] == 0)
    expect_equal([lease()["epoch"], lease()["hosts"][0]["mem"]], [epoch, total], "contract")


def test_resources_go_with_hosts():
    f.configure("south", SOUTH + LICENCES % "Y")
    f.cli("south", "reconfig")
    reload_north(NAMED, shared=3)
    f.wait_for("3 at the consumer",
               lambda: (host("south", "n1@north") or {}).get("values") == {"lic": 3})
    expect_equal([host("north", name)["values"]["lic"] for name in ("n1", "n2")], [7, 7],
                 "7 at home, in all of the place")
    wanted = [{"name": "lic", "instances": 3, "hosts": None, "n_hosts": None}]
    expect_equal(lease()["resources"], wanted, "the contract")
    export = [row for row in f.rows("north", "exports") if row["lease"] == "north/p/south"][0]
    expect_equal([export["mem"], export["swp"], export["resources"]], [100, None, wanted],
                 "exports")
    exported = [row for row in f.rows("north", "hosts", "-e") if row["lease"] == "north/p/south"]
    expect_equal([[row["host"], row["mem"], row["resources"][0]["instances"]]
                  for row in exported], [["n1", 100, 3]], "hosts -e")
    expect("lic=3" in f.cli("south", "lease", "show", "north/p/south").stdout, "lease show")
    # A limit for its jobs.
    waits = f.submit("south", "true", "-q", "away", "-R", "select[lic > 3 && type==any]")
    runs = f.submit("south", "true", "-q", "away", "-R", "select[lic == 3 && type==any]")
    f.wait_state("south", runs, "DONE")
    expect_equal(f.job("south", waits)["state"], "PEND", "what asks for more")
    reload_north(NAMED, shared=4)  # it goes when there are more
    f.wait_state("south", waits, "DONE")
    reload_north(NAMED)
    f.wait_for("all of it home", lambda: host("north", "n1")["values"]["lic"] == 10)
    expect_equal(lease()["resources"], [], "the contract then")


def test_both_sites_must_define_it_alike():
    f.configure("south", SOUTH + LICENCES % "N")
    f.cli("south", "reconfig")
    reload_north(NAMED, shared=3)
    f.wait_for("the complaint", lambda: 'exports resource "lic", which is defined differently'
               in open(f.log("south")).read())
    expect_equal(host("south", "n1@north")["values"], {}, "none of it")


if __name__ == "__main__":
    main(test_memory_is_the_consumers_alone, test_a_host_exports_what_it_has,
         test_resources_go_with_hosts, test_both_sites_must_define_it_alike, shared=f)
