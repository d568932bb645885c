#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`sublet plan quota`, `plan explain` and `check` of plans, without a daemon; a broker
that refuses pools."""
import json

from federation import BROKER, Federation, expect, expect_equal, main

f = Federation()

POOL = "Begin Pool\nNAME = p\n@KEYS@End Pool\n"
NODES = "Begin PlanNode\nNAME POOL OWNED RESERVE LIMIT RANK GRACE POLICY SITE WINDOW\n"
END = "End PlanNode\n"
W16 = (POOL.replace("@KEYS@", "") + NODES + "/X p 4 3 - - 0 - s1 -\n"
       "/Y p 6 0 - - 0 - s2 -\n/Z p 0 0 - - 2m - s3 -\n" + END)
FIELDS = ["node", "owned", "scaled", "reserve", "limit", "demand", "claim", "quota", "alloc",
          "grant", "recall", "free"]


def plan(verb, text, *args, code=0):
    f.configure("plan", text)
    return f.run("sublet", "plan", verb, f.conf("plan"), *args, code=code)


def rows(text, *args):
    answer = json.loads(plan("quota", text, *args, "--json").stdout)
    expect_equal(answer["schema_version"], 1, "schema")
    return {row["node"]: row for row in answer["nodes"]}


def test_json():
    args = ["--pool", "p", "--slots", "10", "--demand", "/Y=inf,/Z=9", "--alloc", "/Y=5,/Z=2"]
    answer = json.loads(plan("quota", W16, *args, "--json").stdout)
    expect_equal(list(answer), ["schema_version", "slots", "nodes"], "keys")
    expect_equal([list(row) for row in answer["nodes"]], [FIELDS] * 3, "fields")
    expect_equal([list(row.values()) for row in answer["nodes"]],
                 [["/X", 4, 4, 3, None, 0, 3, 3, 0, 0, 0, 3],
                  ["/Y", 6, 6, 0, None, None, None, 7, 5, 0, 0, 0],
                  ["/Z", 0, 0, 0, None, 9, 9, 0, 2, 0, 2, 0]], "W16")
    result = plan("explain", W16, "/Z", *args, "--json")
    row, = json.loads(result.stdout)["nodes"]
    expect_equal((row["rule"], row["recall"]), ("last", 2), "the rule")
    expect("2 are recalled within 120 s" in row["why"], row["why"])


def test_table():
    result = plan("quota", W16, "--slots", "10", "--demand", "/Y=inf", "-o", "node,quota",
                  "--noheader")
    expect_equal(result.stdout.split(), ["/X", "3", "/Y", "7", "/Z", "0"], "a table")
    expect_equal(result.stderr, "", "no talk")


def test_demand_of_a_file():
    """100,000 leaves: more than fits into a command line."""
    path = f.dir + "/demand"
    with open(path, "w", encoding="utf-8") as file:
        file.write("# leaves\n/Y=inf, /Z=9\n\n  /X=1 # idle\n")
    args = ["--slots", "10", "--demand", "@" + path]
    expect_equal([row["quota"] for row in rows(W16, *args).values()], [3, 7, 0], "quotas")
    result = plan("quota", W16, "--slots", "10", "--demand", "@" + path + "x", code=1)
    expect("No such file" in result.stderr, result.stderr)
    many = (POOL.replace("@KEYS@", "") + NODES +
            "".join("/n%d p 1 0 - - 0 - s%d -\n" % (i, i) for i in range(100000)) + END)
    with open(path, "w", encoding="utf-8") as file:
        file.write("".join("/n%d=%d\n" % (i, i % 3) for i in range(100000)))
    quotas = rows(many, "--slots", "100000", "--demand", "@" + path)
    expect_equal(sum(row["quota"] for row in quotas.values()), 99999, "all that is wanted")


def test_windows_and_hosts():
    text = (POOL.replace("@KEYS@", "PLACEMENT = exclusive\n") +
            "Begin TimeWindow\nNAME POOL FROM TO\nday p 08:00 20:00\nnight p 20:00 08:00\n"
            "End TimeWindow\n" + NODES + "/A p 12 0 - - 0 - s1 -\n/B p 12 0 - - 0 - s2 day\n"
            "/B p 36 0 - - 0 - s2 night\n" + END)
    args = ["--slots", "24", "--hosts", "3x8", "--demand", "/A=inf,/B=100"]
    day, night = (rows(text, "--window", name, *args) for name in ("day", "night"))
    expect_equal([day[n]["quota"] for n in ("/A", "/B")], [16, 8], "by day")
    expect_equal([night[n]["quota"] for n in ("/A", "/B")], [8, 16], "by night")
    for missing, code in (("--window day --slots 24", 2), ("--slots 24 --hosts 3x8", 2),
                          ("--window day --hosts 3x8", 2), ("--window noon --slots 24", 1),
                          ("--window day --slots 23 --hosts 3x8", 2),
                          ("--window day --slots 24 --hosts 3by8", 2)):
        expect_equal(plan("quota", text, *missing.split(), code=code).stderr.count("\n"), 1,
                     "one line for " + missing)


def test_misuse():
    tree = W16.replace(END, "/Z/a p 0 0 - - 0 - s4 -\n" + END).replace("s3", "-")
    for text, args, code, part in (
            (tree, ["--slots", "5", "--demand", "/Z=3"], 1, "has children"),
            (W16, ["--slots", "5", "--demand", "/Q=3"], 1, 'no node "/Q"'),
            (W16, ["--slots", "5", "--demand", "/X=3,/X=4"], 1, "twice"),
            (W16, ["--slots", "5", "--demand", "/X"], 2, "expected NODE=N"),
            (W16, ["--slots", "5", "--demand", "/X=-1"], 2, "out of bounds"),
            (W16, ["--slots", "5", "--alloc", "/X=inf"], 2, "whole number"),
            (W16, ["--slots", "5", "--recalled", "/X=1"], 1, "has only the 0"),
            (W16, ["--slots", "many"], 2, "whole number"),
            (W16, [], 2, "--slots"),
            (W16, ["--slots", "5", "--pool", "q"], 1, 'no pool "q"'),
            (W16.replace("4 3 -", "4 5 -"), ["--slots", "5"], 1, "RESERVE"),
            ("", ["--slots", "5"], 1, "no section Pool")):
        result = plan("quota", text, *args, code=code)
        expect_equal(result.stdout, "", "no data with %r" % args)
        expect(part in result.stderr, "%r: %s" % (args, result.stderr))
    f.run("sublet", "plan", "quota", f.dir + "/none", "--slots", "5", code=1)
    f.run("sublet", "plan", "quota", code=2)
    f.run("sublet", "plan", "nonsense", f.conf("plan"), code=2)
    f.run("sublet", "plan", "show", "p", "q", code=2)


def test_check():
    f.configure("plan", W16)
    result = f.run("sublet", "check", f.conf("plan"), code=0)
    expect_equal((result.stdout, result.stderr), ("", ""), "a good plan")
    f.configure("plan", W16.replace("4 3 -", "4 5 3").replace("s2", "s1"))
    result = f.run("sublet", "check", f.conf("plan"), code=1)
    lines = [":".join(line.split(":")[1:4]) for line in result.stdout.splitlines()]
    expect_equal(lines, ["6: error: LIMIT", "6: error: RESERVE", "7: error: SITE"],
                 "every violated rule: " + result.stdout)
    expect(all("expected" in line for line in result.stdout.splitlines()), result.stdout)


def test_broker_reads_plans():
    plan = W16.replace("s1", "north").replace("s2", "south").replace("s3", "ops")
    f.configure("broker", BROKER + plan)
    result = f.run("sublet", "check", f.conf("broker"), code=0)
    expect_equal((result.stdout, result.stderr), ("", ""), "a broker with a plan")
    f.configure("broker", BROKER + plan.replace("4 3 -", "4 5 3"))
    result = f.run("sublet-broker", f.conf("broker"), code=1)
    expect("error: RESERVE" in result.stderr, result.stderr)
    expect("ready" not in result.stderr.split("\n"), "never ready")


main(test_json, test_table, test_windows_and_hosts, test_misuse, test_check,
     test_broker_reads_plans, test_demand_of_a_file, shared=f)
