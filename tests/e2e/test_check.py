#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Bad configuration: `sublet check` names file, line, key and what was expected; the
daemon refuses to start. A row each, with the line that is complained about marked."""
import os
import re

from federation import BROKER, NORTH, Federation, expect, expect_equal, main

f = Federation()

# why, text to replace, replacement (its marked line is complained about), key
BAD_SITE = [
    ("a bad number", "n1 4 X86_64", "n1 many X86_64 ###", "MXJ"),
    ("a negative number", "n1 4 X86_64", "n1 -4 X86_64 ###", "MXJ"),
    ("a bad duration", "MC_RECLAIM_DELAY = @RECLAIM@", "MC_RECLAIM_DELAY = soon ###",
     "MC_RECLAIM_DELAY"),
    ("a bad word", "TYPE = shared", "TYPE = sharde ###", "TYPE"),
    ("a duplicate queue", "Begin Parameters",
     "Begin Queue\nQUEUE_NAME = normal ###\nEnd Queue\nBegin Parameters", "QUEUE_NAME"),
    ("a duplicate host", "n2 4 X86_64", "n1 4 X86_64 ###", "HOST_NAME"),
    ("a key twice", "PRIORITY = 30", "PRIORITY = 30\nPRIORITY = 31 ###", "PRIORITY"),
    ("a queue's host that is none", "HOSTS = all\n", "HOSTS = n7 ###\n", "HOSTS"),
    ("an exported host that is none", "PER_HOST = n1 n2", "PER_HOST = n1 n7 ###", "PER_HOST"),
    ("more slots than the host has", "SLOTS = 4", "SLOTS = 5 ###", "SLOTS"),
    ("a share that is no number", "([south, 1])", "([south, few]) ###", "DISTRIBUTION"),
    ("shared PER_HOST with two consumers", "([south, 1])", "([south, 1] [east, 1]) ###",
     "DISTRIBUTION"),
    ("a host of a shared policy that another policy exports to someone else",
     "Begin HostExport",
     "Begin HostExport\nPER_HOST = n2\nSLOTS = 1\nDISTRIBUTION = ([east, 1])\n"
     "End HostExport\nBegin HostExport", None),
    ("no distribution", "DISTRIBUTION = ([south, 1])\n", "", None),
    ("a section without its end", "End Parameters\n", "", None),
    ("what is not built, to the harm of jobs", "Begin Queue", "Begin Queue\nCHKPNT = /ckpt ###",
     "CHKPNT"),
]

BAD_BROKER = [
    ("a bad role", "(consumer)", "(customer) ###", "ROLES"),
    ("a member twice", "south @DIR@", "north @DIR@", None),
    ("no state", "STATE = @DIR@/broker.db\n", "", None),
    ("a bad duration", "LOST_AFTER = 3s", "LOST_AFTER = 3x ###", "LOST_AFTER"),
]


def check_bad(name, good, why, old, new, key):
    expect(old in good, "%s: the row fits the text" % why)
    text = good.replace(old, new, 1)
    lines = [i for i, line in enumerate(text.split("\n"), 1) if "###" in line]
    f.configure(name, text.replace(" ###", ""))
    result = f.run("sublet", "check", f.conf(name), code=1)
    errors = [line for line in result.stdout.splitlines() if ": error: " in line]
    expect(errors, "%s: an error, in %r" % (why, result.stdout))
    expect_equal(result.stderr.count("\n"), 1, why + ": one line of talk")
    start = r"%s:%s: error: %s" % (re.escape(f.conf(name)), lines[0] if lines else r"\d+",
                                   re.escape(key) + ": " if key else "")
    expect(any(re.match(start, line) for line in errors),
           "%s: no line matches %s in\n%s" % (why, start, result.stdout))
    expect(any("expected" in line for line in errors),
           "%s: says what was expected: %s" % (why, result.stdout))
    program = "sublet-broker" if name == "broker" else "sublet-site"
    result = f.run(program, f.conf(name))
    expect(result.returncode not in (0, None), why + ": the daemon refuses to start")
    expect("ready" not in result.stderr.split("\n"), why + ": and is never ready")
    expect(any(re.search(start, line) for line in result.stderr.splitlines()),
           "%s: and says the same: %s" % (why, result.stderr))


def each_row(rows, name, good):
    failures = []
    for row in rows:
        try:
            check_bad(name, good, *row)
        except Exception as error:
            failures.append(str(error))
    expect(not failures, "\n".join(failures))


def test_bad_site():
    each_row(BAD_SITE, "north", NORTH)


def test_bad_broker():
    each_row(BAD_BROKER, "broker", BROKER)


def test_good():
    for name, text in (("north", NORTH), ("broker", BROKER)):
        f.configure(name, text)
        result = f.run("sublet", "check", f.conf(name), code=0)
        expect_equal(result.stderr, "", name + ": no talk")
        if name == "broker" or os.geteuid() == 0:  # of LEASE_USER = self it warns
            expect_equal(result.stdout, "", name + " is clean")


def test_unknown_only_warns():
    f.configure("north", NORTH.replace("PRIORITY = 30", "PRIORITY = 30\nCOLOUR = blue")
                + "Begin Garden\nFLOWERS = 2\nEnd Garden\n")
    result = f.run("sublet", "check", f.conf("north"), code=0)
    expect(": warning: COLOUR: " in result.stdout, result.stdout)
    expect("Garden" in result.stdout, result.stdout)
    expect_equal(result.stderr, "", "no talk")
    f.configure("broker", BROKER)
    f.start("north")
    expect_equal(f.stop("north"), 0, "SIGTERM ends it with exit 0")


def test_paths():
    f.configure("north", NORTH)
    f.configure("broker", BROKER)
    os.makedirs(f.dir + "/both", exist_ok=True)
    os.makedirs(f.dir + "/empty", exist_ok=True)
    for name in ("north", "broker"):
        with open(f.conf(name)) as source, open(f.dir + "/both/%s.conf" % name, "w") as to:
            to.write(source.read())
    with open(f.dir + "/both/notes.txt", "w") as to:
        to.write("Begin Nonsense\n")
    result = f.run("sublet", "check", f.dir + "/both", code=0)
    expect_equal(result.stdout, "", "both kinds in one directory")
    f.run("sublet", "check", f.conf("north"), f.conf("broker"), code=0)
    for path in (f.dir + "/empty", f.dir + "/nowhere"):
        result = f.run("sublet", "check", path, code=1)
        expect(path in result.stdout + result.stderr, path)
    with open(f.dir + "/both/a.conf", "w") as to:
        to.write("Begin Queue\nQUEUE_NAME = normal\nEnd Queue\n")
    result = f.run("sublet", "check", f.dir + "/both", code=1)
    expect("north.conf" in result.stdout, "a duplicate in another file: " + result.stdout)


main(test_good, test_bad_site, test_bad_broker, test_unknown_only_warns, test_paths,
     shared=f)
