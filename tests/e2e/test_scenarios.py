#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The examples of docs/scenarios say what happens, and their expectations hold: each is a
test. One whose traces are not there is skipped ($SUBLET_DATA names their directory,
default ../shared/data)."""
import json
import os
import random
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


def slot_time(events, since, until):
    """The slot time of each queue between the two instants."""
    jobs, started, used = {}, {}, {}
    for line in events.splitlines() + ['{"event": "over", "t": %d}' % until]:
        event = json.loads(line)
        if event["event"] == "job_submit":
            jobs[event["job"]] = (event["queue"], event["slots"])
        elif event["event"] == "job_start":
            started[event["job"]] = event["t"]
        ended = [event["job"]] if event["event"] == "job_end" else \
            list(started) if event["event"] == "over" else []
        for job in ended:
            queue, slots = jobs[job]
            for_s = min(event["t"], until) - max(started.pop(job), since)
            used[queue] = used.get(queue, 0) + slots * max(for_s, 0)
    return used


def test_parallel_jobs_have_their_share_of_a_slot_pool():
    """Jobs of 1 to 10 slots in one queue, of 1 slot in another, of 10 in a third: the first
    job of a queue that finds no room collects slots."""
    shares, sizes, seed = {"a": 50, "b": 30, "c": 20}, {"a": (1, 10), "b": (1, 1),
                                                        "c": (10, 10)}, random.Random(7)
    with tempfile.TemporaryDirectory() as directory:
        with open(os.path.join(directory, "s.conf"), "w") as file:
            file.write("Begin Site\nNAME = s\nEnd Site\nBegin Host\nHOST_NAME MXJ\n"
                       "n1 20\nn2 20\nn3 20\nEnd Host\n")
            for number, (queue, share) in enumerate(shares.items()):
                file.write("Begin Queue\nQUEUE_NAME = %s\nPRIORITY = %d\nSLOT_POOL = A\n"
                           "SLOT_SHARE = %d\nHOSTS = all\nEnd Queue\n"
                           % (queue, 30 + number, share))
        path = os.path.join(directory, "pool.scn")
        with open(path, "w") as file:
            file.write("site s s.conf\n")
            for queue, (least, most) in sizes.items():
                for number in range(1500):
                    file.write("at %d submit s queue=%s slots=%d run=%d name=%s%d\n" % (
                        number // 50, queue, seed.randint(least, most),
                        seed.randint(300, 900), queue, number))
            file.write("until 4h\n")
        result = subprocess.run([os.path.join(BIN, "sublet"), "simulate", path, "--events",
                                 "-"], stdout=subprocess.PIPE, text=True, timeout=2 * LIMIT)
    expect_equal(result.returncode, 0, "exit code")
    used = slot_time(result.stdout, 3600, 14000)
    for queue, share in shares.items():
        percent = 100 * used[queue] / sum(used.values())
        expect(abs(percent - share) < 2, "%s has %.1f %% of %d" % (queue, percent, share))
    expect(sum(used.values()) > 0.85 * 60 * 10400, "most slots are in use: %s" % used)


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
     test_parallel_jobs_have_their_share_of_a_slot_pool, test_each_is_in_the_index)
