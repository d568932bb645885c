#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""soak.py [N [SEED]]: N faults of all kinds under load, some of them a minute long.

After every twenty the load stops, all jobs must have run once, and broker and sites
must agree; then it goes on with the same federation. The seed decides kinds, victims
and durations, not the instants: those are as random as the machine is."""
import os
import random
import signal
import sys
import time

from faults import Faults, Load, Watch, agree, use_proxy
from federation import NORTH, SOUTH, Federation
from proxy import Proxy

ROUND = 20
# Sites forget ended jobs after an hour otherwise, and each job that ran has to be listed.
KEPT = "Begin Parameters\nCLEAN_PERIOD = 30d\nEnd Parameters\n"
LONG = 25  # one fault in so many suspends a daemon for a minute
LONG_S = 60


def go_round(f, faults, watch, rng, seed, count):
    load = Load(f, seed)
    with load:
        f.wait_lease("the lease to be made", lambda l: l["epoch"] >= 2)
        for _ in range(count):
            if rng.randrange(LONG) == 0:
                faults.stop_s = (LONG_S, LONG_S)
                print(faults.one(rng.choice([faults.stop, faults.stop_host, faults.hold])),
                      flush=True)
                faults.stop_s = (0.2, 8)
            else:
                print(faults.one(), flush=True)
            f.wait_for("the provider's books", lambda: watch.look() is None)
            faults.pause()
    print("    " + load.judge(limit=180), flush=True)
    agree(f)


def main():
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    seed = sys.argv[2] if len(sys.argv) > 2 else str(int(time.time()))
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    print("seed %s" % seed, flush=True)
    passed, rng = 0, random.Random(seed)
    try:
        with Federation() as f, Proxy(int(f.words["PORT"])) as to_north, \
                Proxy(int(f.words["PORT"])) as to_south:
            use_proxy(f, to_north, "north", NORTH + KEPT)
            use_proxy(f, to_south, "south", SOUTH + KEPT)
            faults = Faults(f, rng, {"north": to_north, "south": to_south}, (0.2, 8))
            f.start("broker", "north", "south")
            watch = Watch(f)
            while count > passed:
                n_faults = min(ROUND, count - passed)
                go_round(f, faults, watch, rng, "%s %d" % (seed, passed), n_faults)
                passed += n_faults
    except Exception as error:
        print("%s: %s\n(make soak N=%d S=%s)" % (type(error).__name__, error, count, seed))
        print("%d passed, 1 failed" % passed)
        if os.environ.get("KEEP"):
            print(f.dir)
        sys.exit(1)
    print("%d passed, 0 failed" % passed)


main()
