#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every scenario of docs/scenarios keeps what it says: its `expect` lines hold."""
import glob
import os
import subprocess

from federation import BIN, ROOT, expect, expect_equal, main


def test_scenarios():
    paths = sorted(glob.glob(os.path.join(ROOT, "docs", "scenarios", "*", "*.scn")))
    expect(len(paths) >= 7, "scenarios are found")
    for path in paths:
        with open(path) as file:
            expect("\nexpect at" in file.read(), path + " expects nothing")
        result = subprocess.run([os.path.join(BIN, "sublet"), "simulate", path], text=True,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        expect_equal(result.returncode, 0, "%s: %s" % (path, result.stdout))


def test_a_wrong_expectation_fails():
    """So that an exit of 0 means something."""
    folder = os.path.join(ROOT, "docs", "scenarios", "leases")
    path = os.path.join(folder, ".wrong-%d.scn" % os.getpid())
    with open(os.path.join(folder, "rule.scn")) as file:
        text = file.read().replace("provider.available == 3", "provider.available == 2")
    try:
        with open(path, "w") as file:
            file.write(text)
        result = subprocess.run([os.path.join(BIN, "sublet"), "simulate", path],
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        expect_equal(result.returncode, 1, "exit")
    finally:
        os.unlink(path)


main(test_scenarios, test_a_wrong_expectation_fails)
