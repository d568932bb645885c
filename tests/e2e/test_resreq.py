#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Requirement strings with real daemons: what sub refuses and how, where jobs go on own
and on borrowed hosts, what survives a restart; resreq check and match without any."""
import json
import os

from federation import NORTH, SOUTH, Federation, expect, expect_equal, main

HOSTS = """
Begin Host
HOST_NAME MXJ type model RESOURCES
n1 4 X86_64 EPYC (linux fast !bigmem)
n2 4 X86_64 EPYC (linux fast)
n3 2 ARM GRAVITON (linux)
End Host
"""
QUEUES = """
Begin Queue
QUEUE_NAME = normal
End Queue
Begin Queue
QUEUE_NAME = arm
RES_REQ = type==ARM order[-maxslots]
End Queue
"""
ALONE = """
@MORE@
Begin Site
NAME = north
SPOOL = @DIR@/north
HOSTS_HERE = n1 n2 n3
End Site
""" + HOSTS + QUEUES


def alone(more=""):
    f = Federation()
    f.configure("north", ALONE.replace("@MORE@", more))
    return f


def host_of(f, site, job):
    f.wait_state(site, job, "DONE")
    return list(f.job(site, job)["hosts"])[0]


def ready(f, site, n_hosts):
    f.wait_for("the hosts of " + site, lambda: sum(
        row["status"] == "ok" for row in f.rows(site, "hosts")) >= n_hosts)


# ---- sub


def test_a_bad_string_is_refused_with_its_place():
    with alone() as f:
        f.start("north")
        cases = [
            ("select[nosuch]", "Error in select section: Error near \"nosuch\" : incorrect "
             "section name, resource name, or resource function name. Job not submitted.", 7),
            ("select[type==local] select[hname=abc]",
             "Error near \"select\": duplicate section. Job not submitted.", 20),
            ("hname!=''", "Error in select section: Error near \"hname\" : missing value. "
             "Job not submitted.", 0),
            ("linux:fast", "Error near \":\" : syntax error. Job not submitted.", 5),
            ("mem>5 cu[excl]", "Job not submitted.", 6),
            ("order[type]", "Error in order section", 6),
        ]
        for string, sentence, column in cases:
            result = f.cli("north", "sub", "-R", string, "true", code=255)
            lines = result.stderr.splitlines()
            expect(sentence in lines[0], "%s: %s" % (string, result.stderr))
            expect_equal(lines[1], string, "the string")
            expect_equal(lines[2].index("^"), column, "the column of " + string)
            expect_equal(result.stdout, "", "standard output")
        expect_equal(f.jobs("north"), {}, "jobs")
        result = f.cli("north", "sub", "-R", "linux", "-R", "1/0 > 2", "true")
        expect("division by zero" in result.stderr, "a warning: " + result.stderr)
        expect("is submitted" in result.stdout, "and a job")


def test_check_alone():
    with alone() as f:  # no daemon
        f.environment["BSUB_CHK_RESREQ"] = "1"
        for strings, code in [(["type==local"], 0), ([], 0), (["swp>5", "fs"], 0),
                              (["select[mem>0] select[maxmem>0]"], 255), (["!!mg"], 255),
                              (["rusage[nosuch"], 255), (["rusage[nosuch]"], 0)]:
            options = [word for string in strings for word in ("-R", string)]
            result = f.cli("north", "sub", *options, "sleep", "10", code=code)
            expect_equal("valid." in result.stdout, code == 0, str(strings))
        expect_equal(f.cli("north", "sub", "true").stdout,
                     "Resource requirement string is valid.\n", "without -R")
        for n_strings, code in [(256, 0), (257, 255)]:
            options = [w for i in range(n_strings) for w in ("-R", "swp>%d" % i)]
            result = f.cli("north", "sub", *options, "true", code=code)
            expect_equal("at most 256 strings" in result.stderr, code != 0, n_strings)


def test_check_by_the_names_of_the_site():
    with alone() as f:
        known, unknown = "fast || bigmem", "fast && nosuch"
        f.cli("north", "resreq", "check", unknown)
        expect("socket" in f.cli("north", "resreq", "check", "--site", known, code=1).stderr,
               "no site, no names")
        f.start("north")
        f.cli("north", "resreq", "check", "--site", known)
        expect("nosuch" in f.cli("north", "resreq", "check", "--site", unknown,
                                 code=255).stderr, "the name")
        f.environment["BSUB_CHK_RESREQ"] = "1"
        f.cli("north", "sub", "-R", known, "true")
        expect("nosuch" in f.cli("north", "sub", "-R", unknown, "true", code=255).stderr,
               "the name")


def test_lenient_where_the_site_says_so():
    with alone("LSF_STRICT_RESREQ = N") as f:
        f.start("north")
        result = f.cli("north", "sub", "--json", "-R", "linux:-fast:nosuch", "true")
        expect("nosuch" in result.stderr, "a warning: " + result.stderr)
        expect_equal(host_of(f, "north", json.loads(result.stdout)["job"]), "n3", "the host")


# ---- where jobs go


def test_jobs_go_where_they_ask():
    with alone() as f:
        f.start("north")
        ready(f, "north", 3)
        cases = [
            ([], "n2"),  # n1 is exclusive, n3 of another type
            (["-R", "bigmem"], "n1"),
            (["-R", "type==ARM"], "n3"),
            (["-R", "type!=local"], "n3"),
            (["-R", "linux order[maxslots]"], "n2"),
            (["-R", "linux", "-R", "order[-maxslots]"], "n3"),
            (["-R", "hname==n1 && (bigmem || 1)"], "n1"),
            (["-R", "slots > 3 && maxslots == 4"], "n2"),
            (["-q", "arm"], "n3"),
            (["-q", "arm", "-R", "maxslots < 9"], "n3"),
        ]
        for options, host in cases:
            expect_equal(host_of(f, "north", f.submit("north", "true", *options)), host,
                         "the host of " + " ".join(options))
        job = f.submit("north", "true", "-R", "mem < 0", "-R", "linux order[mem]")
        f.wait_for("its reason", lambda: "No host meets the job's resource requirements" in
                   f.job("north", job)["reason"])
        text = "select[(mem < 0) && (linux)] order[mem]"
        expect_equal(f.job("north", job)["resreq"], text, "the strings joined")
        expect(text in f.cli("north", "jobs", "-l", str(job)).stdout, "jobs -l")
        both = f.submit("north", "true", "-q", "arm", "-R", "fast")
        f.wait_for("its reason", lambda: "meets" in f.job("north", both)["reason"])


def test_a_string_survives_a_restart():
    with alone() as f:
        f.start("north")
        ready(f, "north", 3)
        job = f.submit("north", "true", "-R", "type==ARM && slots > 1")
        filler = f.submit("north", "sleep 600", "-R", "type==ARM", "-n", "2")
        expect_equal(host_of(f, "north", job), "n3", "the host")
        f.wait_state("north", filler, "RUN")
        waiting = f.submit("north", "true", "-R", "type==ARM")
        f.restart("north")
        ready(f, "north", 2)  # n3 is full
        expect_equal(f.job("north", waiting)["resreq"], "type==ARM", "the string")
        expect_equal(f.job("north", waiting)["state"], "PEND", "the state")
        f.cli("north", "kill", str(filler))
        expect_equal(host_of(f, "north", waiting), "n3", "the host")


def test_borrowed_hosts():
    with Federation() as f:
        f.configure("north", NORTH.replace("n2 4 X86_64 EPYC (linux)", "n2 4 ARM G (linux)"))
        f.configure("south", SOUTH)
        f.start("broker", "north", "south")
        f.wait_lease("the lease", lambda l: l["status"] == "conn")
        f.wait_for("what n2 is", lambda: any(
            row["host"] == "n2@north" and row.get("type") == "ARM"
            for row in f.rows("south", "hosts", "-l")))
        # The first job makes the lease, on the slot that it has; later ones find more.
        for options, host in [(["-q", "away"], "n1@north"),  # type==local
                              (["-R", "hname==n1@north"], "n1@north"),
                              (["-R", "type==ARM"], "n2@north")]:
            expect_equal(host_of(f, "south", f.submit("south", "true", *options)), host,
                         "the host of " + " ".join(options))


def test_exports_what_hosts_tell():
    """RES_SELECT by what only hosts can tell: picked once, and kept over a restart."""
    policy = """
Begin HostExport
NAME = spare
RES_SELECT = mem > 1 && ncpus > 0 && hname != n1
NHOSTS = 1
DISTRIBUTION = ([south, 1])
End HostExport
"""
    with Federation() as f:
        text = NORTH[:NORTH.index("Begin HostExport")] + policy
        f.configure("north", text.replace("mem > 1 ", "mem > 1e9 "))
        f.configure("south", SOUTH)
        result = f.run("sublet", "check", f.conf("north"))
        expect("warning: RES_SELECT: mem is reported by hosts" in result.stdout, result.stdout)
        f.start("broker", "north", "south")
        row = f.rows("north", "exports")[0]
        expect_equal((row["policy"], row["lease"], row["state"], row["slots"]),
                     ("spare", None, "unpicked", 0), "a policy that waits")
        expect("unpicked" in f.cli("north", "exports").stdout, "shown")
        f.configure("north", text)
        f.cli("north", "reconfig")

        def exported():
            return [host["host"] for lease in f.rows("south", "leases")
                    for host in lease["hosts"]]
        f.wait_for("the pick", lambda: exported() == ["n2"])  # hosts tell again
        f.kill9("north")
        f.start("north")
        f.wait_for("north to be back", lambda: [
            lease["status"] for lease in f.rows("south", "leases")] == ["conn"])
        expect_equal(exported(), ["n2"], "the pick is on record")
        with open(f.log("north")) as log:
            expect_equal(log.read().count(": picked n2"), 1, "picks")


def test_hosts_that_match():
    with alone() as f:
        f.start("north")
        ready(f, "north", 3)
        for string, names in [("linux", "n2 n3"), ("mem > 0", "n2"), ("type==ARM", "n3"),
                              ("bigmem", "n1"), ("slots == 2 && status == ok && linux", "n3"),
                              ("hname==nobody", ""), ("linux order[maxslots]", "n2 n3"),
                              ("linux order[-maxslots]", "n3 n2"),
                              ("linux order[-maxslots] rusage[mem=1]", "n3 n2")]:
            rows = f.rows("north", "hosts", "-R", string)
            expect_equal(" ".join(row["host"] for row in rows), names, string)
        result = f.cli("north", "hosts", "-R", "nosuch", code=255)
        expect("incorrect section name" in result.stderr, result.stderr)


def test_loads_that_match():
    """As hosts -R, but of any type where the string names none."""
    with alone("LSF_STRICT_RESREQ = N") as f:
        f.start("north")
        ready(f, "north", 3)
        for string, names in [("type==local", "n2"), ("maxslots > 0 order[maxslots]", "n2 n3"),
                              ("maxslots > 0 order[-maxslots]", "n3 n2"),
                              ("linux:-fast:nosuch", "n3")]:
            rows = f.rows("north", "load", "-R", string)
            expect_equal(" ".join(row["host"] for row in rows), names, string)


def test_a_queues_string_is_judged():
    with alone() as f:
        f.configure("north", ALONE.replace("type==ARM", "type==ARM && nosuch"))
        result = f.run("sublet", "check", f.conf("north"), code=1)
        expect("RES_REQ: Error in select section: Error near \"nosuch\"" in result.stdout,
               result.stdout)


# ---- resreq


def test_match():
    with alone() as f:
        path = os.path.join(f.dir, "hosts")
        with open(path, "w") as file:
            file.write('{"name":"hA","resources":{"type":"LINUX","swp":60,"fs":true},'
                       '"exclusive":["bigmem"],"cu":"rack1","slots":4,"maxslots":8}\n'
                       '{"name":"hB","resources":{"type":"LINUX","swp":40},"slots":2}\n'
                       '{"name":"hC","resources":{"type":"HP","swp":90}}\n')
        for args, names, code in [
                (["swp > 15"], "hB hC", 0), (["swp > 15", "--local", "hA"], "hB", 0),
                (["bigmem"], "hA", 0), (["fs || swp order[-swp]"], "hB hC", 0),
                (["swp > 99"], "", 0), (["type==local"], "", 255), (["no"], "", 255),
                (["no", "--lenient"], "hB hC", 0), (["bigmem||swp cu[type=r]"], "hA", 0),
                (["slots == 2", "swp < 50"], "hB", 0)]:
            result = f.run("sublet", "resreq", "match", *args, "--hosts", path, code=code)
            expect_equal(" ".join(result.stdout.split()), names, str(args))


if __name__ == "__main__":
    main(*[test for name, test in sorted(globals().items()) if name.startswith("test_")])
