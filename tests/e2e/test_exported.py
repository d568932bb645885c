#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What leases export besides slots, with real daemons: memory and swap space leave the
provider's hosts and are all that a borrowed host has."""
from federation import NORTH, SOUTH, Federation, expect, expect_equal, main

f = Federation()


def north(*policies):
    """north exports by these lines."""
    text = NORTH[:NORTH.index("Begin HostExport")]
    for policy in policies:
        text += "Begin HostExport\n%s\nEnd HostExport\n" % policy.replace(";", "\n")
    f.configure("north", text)


def load(site, host):
    return f.rows(site, "load", host)[0]


def host(site, name):
    rows = f.rows(site, "hosts", name)
    return rows[0] if rows else None


def reload_north(*policies):
    north(*policies)
    f.cli("north", "reconfig")


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
    expect_equal(host("north", "n2")["maxmem"], machine["maxmem"], "of n2")
    f.wait_for("all there is of it", lambda: host("south", "n1@north")["maxmem"] == 100)
    borrowed = host("south", "n1@north")
    swap = min(7, machine["maxswp"] or 0)
    expect_equal(borrowed["maxswp"], swap, "swap space")
    expect_equal([load("south", "n1@north")[key] for key in ("mem", "swp")], [100, swap], "load")
    expect(load("north", "n1")["mem"] < machine["maxmem"] - 100, "what is free is less too")
    # select goes by it, at once
    expect_equal([row["host"] for row in f.rows("south", "load", "-R", "select[mem == 100]")],
                 ["n1@north"], "select at the consumer")


if __name__ == "__main__":
    main(test_memory_is_the_consumers_alone, shared=f)
