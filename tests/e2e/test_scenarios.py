#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/scenarios say what happens, and their expectations hold: each is a
test. One whose traces are not there is skipped ($SUBLET_DATA names their directory,
default ../shared/data)."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

from federation import BIN, LIMIT, ROOT, Skip, expect, expect_equal, main

SCENARIOS = os.path.join(ROOT, "docs", "scenarios")
DATA = os.environ.get("SUBLET_DATA") or os.path.join(ROOT, "..", "shared", "data")


def simulate(path):
    return subprocess.run([os.path.join(BIN, "sublet"), "simulate", path],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=2 * LIMIT)


def lay_out(name, directory):
    """A copy of the example whose traces are where they are here: its scenarios."""
    copy = os.path.join(directory, name)
    shutil.copytree(os.path.join(SCENARIOS, name), copy)
    paths = [os.path.join(copy, file) for file in sorted(os.listdir(copy))
             if not file.endswith(".conf") and os.path.isfile(os.path.join(copy, file))]
    for path in paths:
        with open(path) as file:
            text = file.read()
        for trace in re.findall(r"\S+\.swf\b", text):
            here = os.path.join(os.path.abspath(DATA), os.path.basename(trace))
            if not os.path.exists(here):
                raise Skip("no %s" % here)
            text = text.replace(trace, here)
        with open(path, "w") as file:
            file.write(text)
    expect(paths, "a scenario in " + name)
    return paths


def surprises(path, said):
    """What it said but for the refusals and warnings that the file's comments announce."""
    with open(path) as file:
        lines = file.read().splitlines()
    announced = {"sublet: %s:%d: note: " % (path, number)
                 for number, line in enumerate(lines, 1)
                 if re.search(r"^\s*[^#\s].*#.*refused", line)}
    warnings = re.findall(r"^# warning: (.*)$", "\n".join(lines), re.M)
    notes = [n for n in said.splitlines()
             if not any(": warning: %s" % text in n for text in warnings)]
    for note in announced:
        expect([n for n in notes if n.startswith(note)], "refused, as said: " + note)
    return [n for n in notes if not any(n.startswith(note) for note in announced)]


def example(name):
    def test():
        with tempfile.TemporaryDirectory() as directory:
            for path in lay_out(name, directory):
                result = simulate(path)
                expect_equal((result.returncode, surprises(path, result.stderr)), (0, []),
                             path)
    test.__name__ = "test_" + name.replace("-", "_")
    return test


def test_an_example_that_is_wrong_is_seen():
    """Not each expectation holds for any world: one is turned round."""
    with tempfile.TemporaryDirectory() as directory:
        path, = lay_out("shared-lease", directory)
        with open(path) as file:
            text = file.read()
        with open(path, "w") as file:
            file.write(text.replace("provider.available == 7", "provider.available == 8", 1))
        result = simulate(path)
    expect_equal(result.returncode, 1, "exit code")
    expect("provider.available" in result.stderr, result.stderr)


def test_each_is_in_the_index():
    with open(os.path.join(SCENARIOS, "README.md")) as file:
        index = file.read()
    for name in names:
        for path in os.listdir(os.path.join(SCENARIOS, name)):
            if path == "scenario" or path.endswith(".scn"):
                expect("(%s/%s)" % (name, path) in index, path)


names = sorted(name for name in os.listdir(SCENARIOS)
               if os.path.isdir(os.path.join(SCENARIOS, name)))
if not names:
    sys.exit("no example in %s" % SCENARIOS)
main(*[example(name) for name in names], test_an_example_that_is_wrong_is_seen,
     test_each_is_in_the_index)
