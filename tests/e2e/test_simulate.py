#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`sublet simulate` as a program: exit status, streams, files, the same bytes each time
and from another build."""
import json
import os
import subprocess
import tempfile
import xml.etree.ElementTree

from federation import BIN, LIMIT, Skip, expect, expect_equal, main

NORTH = """Begin Site
NAME = north
End Site
Begin Host
HOST_NAME MXJ
n1 4
n2 4
End Host
Begin Queue
QUEUE_NAME = normal
PRIORITY = 30
End Queue
Begin HostExport
NAME = spare
PER_HOST = n1 n2
SLOTS = 4
TYPE = shared
DISTRIBUTION = ([south, 1])
End HostExport
"""
SOUTH = """Begin Site
NAME = south
End Site
Begin Host
HOST_NAME MXJ
s1 2
End Host
Begin Queue
QUEUE_NAME = normal
PRIORITY = 30
HOSTS = all allremote
End Queue
"""
SITES = "site north conf.d\nsite south south.conf\n"
STORY = SITES + """
at 0   submit south run=30m name=a count=9 user=ana
at 5m  submit north run=20m name=b count=3
until  2h
expect at 10m lease north/spare/south consumer.available == 5
expect at 10m job south a[4] state == RUN
expect at 2h  job south a[9] state == DONE
"""
FAULTS = SITES + """
at 0   loss 10%
at 0   reorder 2
at 0   crashes 1% 10s
at 1   submit south run=1m name=a count=40 rerun=yes
at 5m  partition south 1m
at 6m  crash broker 20
at 7m  crash north 20
at 20m loss 0
at 20m reorder 0
at 20m crashes 0
until  1h
"""
NUMBERS = ["jobs_done", "wait_mean_s", "wait_p95_s", "slowdown_mean", "slowdown_p95",
           "utilisation", "lent_slot_h", "borrowed_slot_h", "preemptions", "recalls"]

place = tempfile.TemporaryDirectory()


def put(name, text):
    path = os.path.join(place.name, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w") as file:
        file.write(text)
    return path


put("conf.d/lsb.north", NORTH)  # a directory is a configuration too
put("south.conf", SOUTH)
story = put("story.scn", STORY)
faults = put("faults.scn", FAULTS)


def simulate(*args, code=0, program=None, directory=None):
    """Runs it from anywhere: paths are relative to the scenario."""
    result = subprocess.run([program or os.path.join(BIN, "sublet"), "simulate", *args],
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            cwd=directory or "/", timeout=LIMIT)
    expect_equal(result.returncode, code, "exit of %s: %s" % (args, result.stderr))
    return result


def events_of(*args, **options):
    text = simulate(*args, "--events", "-", **options).stdout
    return [json.loads(line) for line in text.splitlines()]


def test_summary():
    result = simulate(story)
    expect_equal(result.stderr, "", "standard error")
    lines = result.stdout.splitlines()
    expect_equal([line.split()[0] for line in lines], ["SITE", "north", "south"], "table")
    summary = json.loads(simulate(story, "--json", "--seed", "5").stdout)
    expect_equal([summary["schema_version"], summary["seed"], summary["until_s"]],
                 [1, 5, 7200], "summary")
    for site in "north", "south":
        expect_equal(sorted(summary["sites"][site]), sorted(NUMBERS), "numbers of " + site)
    expect_equal([summary["sites"][site]["jobs_done"] for site in ("north", "south")],
                 [3, 9], "jobs that are done")
    # what one lends the other borrows
    expect_equal(summary["sites"]["north"]["lent_slot_h"],
                 summary["sites"]["south"]["borrowed_slot_h"], "slot hours")


def test_events():
    events = events_of(story)
    expect_equal(sorted(event["t"] for event in events), [event["t"] for event in events],
                 "in the order of their time")
    starts = [event for event in events if event["event"] == "job_start"]
    expect_equal(len(starts), 12, "starts")
    expect_equal(starts[2]["hosts"], {"n1@north": 1}, "a borrowed host")
    submits = [event for event in events if event["event"] == "job_submit"]
    expect_equal({key: submits[0][key] for key in ("t", "site", "queue", "user", "slots")},
                 {"t": 0, "site": "south", "queue": "normal", "user": "ana", "slots": 1},
                 "a submission")
    names = [event["event"] for event in events if "lease" in event]
    expect(names.index("lease_made") < names.index("job_start"), "made before it is used")
    changes = [event for event in events
               if event["event"] in ("lease_inactive", "lease_active")]
    expect_equal([(event["t"], event["epoch"]) for event in changes[:2]],
                 [(600, 1), (600, 2)], "the first change")
    expect_equal([changes[0]["consumer"]["available"], changes[1]["consumer"]["available"]],
                 [1, 5], "the old split, the new one")
    ends = [event for event in events if event["event"] == "job_end"]
    expect_equal({(event["state"], event["exit_code"]) for event in ends}, {("DONE", 0)},
                 "ends")
    path = os.path.join(place.name, "events")
    expect("SITE" in simulate(story, "--events", path).stdout, "the table besides")
    with open(path) as file:
        expect_equal([json.loads(line) for line in file], events, "in a file")


def test_exit_codes():
    result = simulate(put("fails.scn", STORY + "expect at 1h job south a[9] state == DONE\n"
                          "expect at 40m job south a[8] state == PEND\n"), code=1)
    expect_equal(result.stderr.count("\n"), 1, result.stderr)
    expect("fails.scn:11: failed: " in result.stderr and "== PEND, found \"RUN\"" in
           result.stderr, "both values: " + result.stderr)
    expect("north" in result.stdout, "the summary all the same")
    bad = put("bad.scn", STORY + "at 0 fly south\nat 0 kill south nobody\n")
    events = os.path.join(place.name, "none")
    result = simulate(bad, "--events", events, code=2)
    for part in "bad.scn:10: error: ", "bad.scn:11: error: ":
        expect(part in result.stderr, result.stderr)
    expect_equal((result.stdout, os.path.exists(events)), ("", False), "nothing ran")
    put("broken.conf", SOUTH.replace("PRIORITY = 30", "PRIORITY = high"))
    result = simulate(put("broken.scn", "site south broken.conf\nuntil 1h\n"), code=2)
    expect("broken.conf:10: error: PRIORITY: " in result.stderr, result.stderr)
    for args in ([], [place.name + "/nothing.scn"], [story, story], [story, "--seed", "x"],
                 [story, "--nonsense"], [story, "--events", "/no/such/place"],
                 ["--compare", story, bad], ["--compare", story, "--plot", "x"],
                 ["--compare", story, "--usage", "x"], [story, "--usage", "/no/such/place"],
                 [story, "--usage", "-", "--events", "-"],
                 [place.name]):
        result = simulate(*args, code=2)
        expect_equal((result.stdout, bool(result.stderr)), ("", True), args)


def slot_seconds_of(rows, side, field="held_s"):
    return sum(row[field] for row in rows if row["side"] == side)


def used_by_events(events):
    """Slot-seconds of leased jobs, from their starts, suspensions, resizes and ends."""
    running, used_s = {}, 0
    for event in events:
        if not event["event"].startswith("job_"):
            continue
        key = event["site"], event["job"]
        if event["event"] in ("job_start", "job_resume", "job_resize", "job_suspend",
                              "job_requeue", "job_end") and key in running:
            since, n_slots = running.pop(key)
            used_s += (event["t"] - since) * n_slots
        if event["event"] in ("job_start", "job_resume", "job_resize") and "lease" in event:
            running[key] = event["t"], sum(event["hosts"].values())
    expect_equal(running, {}, "jobs that have not ended")
    return used_s


def test_usage():
    path = os.path.join(place.name, "usage")
    summary = json.loads(simulate(story, "--json", "--usage", path).stdout)
    with open(path) as file:
        text = file.read()
    expect_equal(simulate(story, "--usage", "-").stdout, text, "standard output")
    rows = json.loads(text)["usage"]
    # Policy spare exports all 8 slots for 2 hours from the first instant on.
    expect_equal(sum(row["held_s"] for row in rows), 8 * 7200, "what the lease has")
    expect_equal(slot_seconds_of(rows, "consumer"),
                 round(summary["sites"]["south"]["borrowed_slot_h"] * 3600), "borrowed")
    events = events_of(story)
    expect_equal(slot_seconds_of(rows, "consumer", "used_s"), used_by_events(events), "used")
    ana = [row for row in rows if row["user"] == "ana"]
    expect_equal([[row[key] for key in ("lease", "provider", "consumer", "side", "site",
                                        "queue", "project", "day", "idle_s")]
                  for row in ana],
                 [["north/spare/south", "north", "south", "consumer", "south", "normal",
                   "default", "1970-01-01", 0]], "the user")
    # The three jobs of north take slots that only the lease has.
    expect_equal(slot_seconds_of(rows, "provider", "used_s"), 3 * 1200, "north's jobs")
    for row in rows:
        expect_equal(row["held_s"], row["used_s"] + row["idle_s"], row)


def test_usage_over_midnight():
    night = put("night.scn", SITES + "at 23h submit south run=90m name=a count=3 user=ana "
                "project=p\nat 24h stop south a[3]\nat 25h resume south a[3]\nuntil 30h\n")
    rows = json.loads(simulate(night, "--usage", "-").stdout)["usage"]
    expect_equal(slot_seconds_of(rows, "consumer", "used_s"),
                 used_by_events(events_of(night)), "used")
    # Two of the three jobs have the own slots; the third one runs for an hour, is
    # stopped for an hour, and runs for another half.
    expect_equal([(row["day"], row["used_s"], row["project"]) for row in rows
                  if row["user"] == "ana"],
                 [("1970-01-01", 3600, "p"), ("1970-01-02", 1800, "p")], "by day")


def test_usage_of_a_lost_consumer():
    """Its jobs are ended without its knowledge: it holds no more than the provider says."""
    lost = put("lost.scn", SITES + "broker lost.conf\n"
               "at 0 submit south run=1h name=a count=6 user=ana rerun=yes\n"
               "at 10m partition south 30m\nuntil 4h\n")
    put("lost.conf", "Begin Broker\nLOST_AFTER = 20s\nEnd Broker\nBegin Member\n"
        "NAME ROLES\nnorth (provider)\nsouth (consumer)\nEnd Member\n")
    put("conf.d/lsb.north", NORTH.replace("TYPE = shared",
                                          "TYPE = shared\nLEASE_TERM = 1m\nON_LOST = kill"))
    result = simulate(lost, "--json", "--usage", os.path.join(place.name, "lost"))
    put("conf.d/lsb.north", NORTH)
    with open(os.path.join(place.name, "lost")) as file:
        rows = json.load(file)["usage"]
    borrowed = json.loads(result.stdout)["sites"]["south"]["borrowed_slot_h"] * 3600
    expect(abs(slot_seconds_of(rows, "consumer") - borrowed) <= 4, (rows, borrowed))
    # What it counted meanwhile is corrected once it learns of the ends.
    expect(all(row["used_s"] <= row["held_s"] for row in rows), rows)


def test_plot():
    path = os.path.join(place.name, "plot.svg")
    simulate(story, "--plot", path)
    root = xml.etree.ElementTree.parse(path).getroot()
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    for part in "north", "south", "slots lent", "2h":
        expect(part in texts, "%s in %s" % (part, texts))
    expect_equal(len(list(root.iter("{http://www.w3.org/2000/svg}path"))), 8,
                 "two axes, the area, and the line of what one lends and the other borrows")


def test_compare():
    other = put("other.scn", STORY.replace("run=30m", "run=40m").split("expect")[0])
    lines = simulate("--compare", story, other).stdout.splitlines()
    expect_equal(lines[0].split(), ["SITE", "NUMBER", "story.scn", "other.scn"], "heading")
    expect_equal(len(lines), 1 + 2 * len(NUMBERS), "lines")
    expect_equal([line.split() for line in lines if "south" in line][0],
                 ["south", "jobs_done", "9", "9"], "a line")
    both = json.loads(simulate("--compare", "--json", story, other).stdout)["scenarios"]
    expect_equal([one["scenario"] for one in both], [story, other], "JSON")
    alone = json.loads(simulate(other, "--json").stdout)
    expect_equal(both[1]["sites"], alone["sites"], "the same as alone")
    expect(both[0]["sites"] != alone["sites"], "a longer job is seen")


def test_log():
    text = simulate(story, "--log").stderr
    expect(" 0.000 broker: site south is connected" in text, "times since the start: " + text[:300])


def test_same_seed_same_bytes():
    for scenario in story, faults:
        first = simulate(scenario, "--events", "-", "--json", "--seed", "3").stdout
        again = simulate(scenario, "--events", "-", "--json", "--seed", "3").stdout
        expect_equal(first, again, scenario)
    other = simulate(faults, "--events", "-", "--json", "--seed", "4").stdout
    expect(first != other, "another seed tells another story")


def test_same_bytes_from_another_build():
    """Compilers and optimisation change nothing. `make test` names the other build."""
    other = os.environ.get("SUBLET_OTHER_BIN")
    if not other:
        raise Skip("no SUBLET_OTHER_BIN names a build with another compiler or -O")
    for scenario in story, faults:
        args = scenario, "--events", "-", "--json", "--seed", "3"
        expected = simulate(*args).stdout.splitlines()
        found = simulate(*args, program=os.path.join(other, "sublet")).stdout.splitlines()
        for number, (one, two) in enumerate(zip(expected, found)):
            expect_equal(two, one, "line %d of %s" % (number + 1, scenario))
        expect_equal(len(found), len(expected), "lines of " + scenario)


main(test_summary, test_events, test_exit_codes, test_usage, test_usage_over_midnight,
     test_usage_of_a_lost_consumer, test_plot, test_compare, test_log, test_same_seed_same_bytes,
     test_same_bytes_from_another_build)
