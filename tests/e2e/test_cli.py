#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The command line: exit status, texts, what goes to which stream, -o, --sort."""
import json
import os
import re
import subprocess

from federation import BIN, LEASE, LIMIT, Federation, expect, expect_equal, main

f = Federation()

UNBUILT_COMMANDS = ["rsv", "launch", "study", "what-if"]

UNBUILT_SUB = [["-U", "r"]]


def one_line(result):
    """Failed: nothing on standard output, one line on standard error."""
    expect_equal(result.stdout, "", "standard output of a failure")
    expect_equal(result.stderr.count("\n"), 1, "lines of %r" % result.stderr)
    return result.stderr


def test_usage():
    for args in ([], ["nonsense"], ["jobs", "--nonsense"], ["jobs", "abc"],
                 ["sub", "-n"], ["sub", "-n", "0", "true"], ["sub", "-n", "x", "true"],
                 ["sub", "-W", "soon", "true"], ["sub", " "], ["kill"], ["kill", "x"],
                 ["kill", "1", "0"], ["kill", "-s", "NOPE", "1"], ["wait"], ["peek"],
                 ["peek", "1", "2"], ["lease"], ["lease", "show"], ["lease", "x", "y"],
                 ["lease", "drain"], ["lease", "drain", "a/1/b", "--site", "a"],
                 ["lease", "drain", "a/1/b", "--timeout", "soon"], ["lease", "resume"],
                 ["lease", "recover"], ["lease", "recover", "--site", "a"],
                 ["lease", "show", "a/1/b", "--no-wait"], ["limits", "-n", "a", "b"],
                 ["version", "x"],
                 ["keygen"], ["check"], ["reclaim-delay", "soon"],
                 ["reclaim-delay", "1", "2"], ["jobs", "--sort"],
                 ["reclaim-delay", "1", "--lease", "a/1/b", "--provider", "a"]):
        one_line(f.cli("south", *args, code=2))


def test_unbuilt():
    before = len(f.jobs("south"))
    for command in UNBUILT_COMMANDS:
        text = one_line(f.cli("south", command, code=1))
        expect("not built yet" in text, text)
    for options in UNBUILT_SUB:
        text = one_line(f.cli("south", "sub", *options, "true", code=1))
        expect("not supported yet" in text, text)
    text = one_line(f.cli("south", "sub", code=1, stdin="#!/bin/sh\n#BSUB -U r\ntrue\n"))
    expect("not supported yet" in text, text)
    expect_equal(len(f.jobs("south")), before, "nothing was submitted")


def test_no_daemon():
    text = one_line(f.run("sublet", "--socket", f.dir + "/none", "jobs", code=1))
    expect(f.dir + "/none" in text, text)
    text = one_line(f.run("sublet", "jobs", code=1,
                          environment=dict(f.environment, SUBLET_SOCKET=f.dir + "/nix")))
    expect(f.dir + "/nix" in text, "the environment names the socket: " + text)
    text = one_line(f.run("sublet", "--broker", "tcp://127.0.0.1:1", "leases", code=1))
    expect("--key" in text, text)


def test_global_options_anywhere():
    path = os.path.join(f.dir, "south", "sublet.sock")
    for args in (["--socket", path, "queues"], ["queues", "--socket", path],
                 ["queues", "--socket=" + path, "--json"]):
        f.run("sublet", *args, code=0)
    f.run("sublet", "queues", code=0,
          environment=dict(f.environment, SUBLET_SOCKET=path))


def test_submit():
    result = f.cli("south", "sub", "true")
    expect(re.fullmatch(r"Job <\d+> is submitted to queue <normal>\.\n", result.stdout),
           result.stdout)
    expect_equal(result.stderr, "", "talk")
    result = f.cli("south", "sub", "-q", "away", "true")
    expect("queue <away>" in result.stdout, result.stdout)
    answer = json.loads(f.cli("south", "sub", "--json", "true").stdout)
    expect(isinstance(answer["job"], int), answer)
    job = f.submit("south", "true", "-J", "some.name", "-n", "2", "-r", "-W", "1:30")
    row = f.job("south", job)
    expect_equal((row["name"], row["slots"], row["queue"]), ("some.name", 2, "normal"),
                 "what was asked for")
    one_line(f.cli("south", "sub", "-q", "nope", "true", code=1))
    one_line(f.cli("south", "sub", "-m", "nope", "true", code=1))
    # A script on standard input; the rest of a line is the command, options and all.
    f.cli("south", "sub", "-K", "-o", f.dir + "/script", stdin="echo a\necho b >&2\n")
    expect_equal(open(f.dir + "/script").read(), "a\nb\n", "output of a script")
    f.cli("south", "sub", "-o", f.dir + "/words", "-K", "echo", "-n", "--json")
    expect_equal(open(f.dir + "/words").read(), "--json", "options after the command")


def test_environment_bound():
    big = dict(f.environment, BIG="x" * 100000,
               SUBLET_SOCKET=os.path.join(f.dir, "south", "sublet.sock"))
    text = one_line(f.run("sublet", "sub", "true", code=1, environment=big))
    expect("98304" in text, text)


def test_wait():
    done = f.submit("south", "true")
    bad = f.submit("south", "exit 3")
    f.cli("south", "wait", str(done))
    expect_equal(f.cli("south", "wait", str(done), str(bad), code=1).stdout, "", "output")
    one_line(f.cli("south", "wait", "999999", code=1))
    f.cli("south", "sub", "-K", "true")
    f.cli("south", "sub", "-K", "exit 3", code=3)
    f.cli("south", "sub", "-K", "-q", "away", "exit 4", code=4)
    f.cli("south", "sub", "-K", "kill -9 $$", code=137)
    f.cli("south", "sub", "-K", "-J", "three[1-3]", "exit $((LSB_JOBINDEX - 1))", code=1)
    f.cli("south", "close", "s1")
    waits = subprocess.Popen(
        [os.path.join(BIN, "sublet"), "--socket", os.path.join(f.dir, "south", "sublet.sock"),
         "sub", "-K", "-m", "s1", "true"], env=f.environment, cwd=f.dir + "/home",
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    job = re.search(r"<(\d+)>", waits.stdout.readline()).group(1)
    f.cli("south", "kill", job)
    expect_equal(waits.wait(LIMIT), 126, "exit of sub -K where the job never ran")
    waits.communicate()
    f.cli("south", "open", "s1")


def test_listings():
    for listing, heading, fields in (
            ("jobs", "JOBID", "id name state user queue slots hosts submit_at start_at "
             "end_at exit_code reason"),
            ("hosts", "HOST_NAME", "host status max njobs run ssusp ususp rsv"),
            ("queues", "QUEUE_NAME", "queue priority status max jl_u jl_p jl_h njobs "
             "pend run susp rsv users slots_per_job"),
            ("limits", "NAME", "name section limit users queues hosts projects each slots "
             "jobs is_full"),
            ("sites", "SITE", "site roles status slots pending since"),
            ("leases", "LEASE", "id provider consumer policy type state status epoch hosts "
             "reclaim_delay_s next_rebalance_at changed_at reason")):
        options = ["-a"] if listing in ("jobs", "limits") else []
        answer = json.loads(f.cli("south", listing, "--json", *options).stdout)
        expect_equal(answer["schema_version"], 1, "schema_version")
        expect(answer[listing], "the array is named as the command")
        for field in fields.split():
            expect(field in answer[listing][0], "%s has %s" % (listing, field))
        table = f.cli("south", listing, *options).stdout
        expect(table.startswith(heading) or table.split()[0] == heading, table)
        expect("\033" not in table, "no colour but on a terminal")
        bare = f.cli("south", listing, "--noheader", *options).stdout
        expect_equal(len(bare.split("\n")), len(table.split("\n")) - 1, "lines without heading")
    expect_equal(f.cli("north", "exports", "--noheader").stdout.split()[0], LEASE, "exports")
    header = f.cli("north", "hosts", "-e").stdout.split("\n")[0].split()
    expect_equal(header, "HOST_NAME MAX NJOBS RUN SSUSP USUSP RSV".split(), "hosts -e")
    header = f.cli("north", "hosts").stdout.split("\n")[0].split()
    expect_equal(header, "HOST_NAME STATUS JL/U MAX NJOBS RUN SSUSP USUSP RSV".split(),
                 "hosts")
    expect("n1" in f.cli("north", "hosts", "n1").stdout, "one host")
    one_line(f.cli("north", "hosts", "n9", code=1))
    one_line(f.cli("south", "jobs", "999999", code=1))
    one_line(f.cli("south", "lease", "show", "a/1/b", code=1))
    for args in (["lease", "show", LEASE], ["lease", "history", LEASE], ["jobs", "-l", "-a"],
                 ["hosts", "-l"], ["queues", "-l"], ["leases", "-l"]):
        expect(f.cli("south", *args).stdout, " ".join(args))


def test_fields_and_order():
    out = f.cli("south", "queues", "-o", "queue,priority", "--noheader").stdout
    expect_equal([line.split() for line in out.splitlines()],
                 [["normal", "30"], ["away", "20"]], "-o")
    out = f.cli("south", "queues", "-o", "queue", "--sort", "priority").stdout
    expect_equal(out, "QUEUE\naway\nnormal\n", "--sort")
    out = f.cli("south", "queues", "-o", "queue", "--sort=-priority", "--noheader").stdout
    expect_equal(out, "normal\naway\n", "--sort the other way round")
    out = f.cli("south", "leases", "-o", "id,consumer.available", "--noheader").stdout
    expect_equal(len(out.split()), 2, "a path into an object")
    text = one_line(f.cli("south", "queues", "-o", "nope", code=2))
    expect("priority" in text, "the known fields are named: " + text)
    one_line(f.cli("south", "queues", "--sort", "nope", code=2))
    rows = f.rows("south", "queues", "--sort", "queue")
    expect_equal([row["queue"] for row in rows], ["away", "normal"], "--sort of --json")


def test_jobs_filters():
    # Too many slots for any host: they wait for ever.
    job = f.submit("south", "true", "-n", "100", "-q", "away", "-J", "patient")
    name = lambda *args: [int(row["id"].split("[")[0])
                          for row in f.rows("south", "jobs", *args)]
    expect(job in name(), "one's own unfinished jobs")
    expect(job in name("-p"), "-p")
    expect(job in name("-q", "away"), "-q")
    expect(job not in name("-q", "normal"), "-q of another queue")
    expect_equal(name("-J", "patient"), [job], "-J")
    expect(job not in name("-u", "somebody"), "-u")
    expect(job not in name("-m", "s1"), "-m")
    text = f.cli("south", "jobs", "-l", str(job)).stdout
    expect("Reason" in text, text)
    f.cli("south", "kill", str(job))
    f.wait_state("south", job, "EXIT")
    expect(job not in name(), "ended jobs are not shown")
    expect(job in name("-a"), "-a")
    result = f.cli("south", "jobs", "-J", "nothing-of-that-name")
    expect_equal(result.stdout, "", "no table without rows")
    expect(result.stderr, "but a word about it")


def test_ids_are_strings():
    """Also that of a job which is no array; they are sorted as numbers are."""
    first = f.submit("north", "true", "-n", "8000", "-J", "ids")
    f.cli("north", "sub", "-n", "8000", "-J", "ids[1-11]", "true")
    rows = f.rows("north", "jobs", "--sort", "-id")
    array = str(first + 1)
    expect_equal([row["id"] for row in rows],
                 ["%s[%d]" % (array, i) for i in range(11, 0, -1)] + [str(first)], "jobs")
    expect_equal(f.rows("north", "hist", str(first))[0]["id"], str(first), "hist")
    f.cli("north", "kill", str(first), array)
    f.wait_state("north", first, "EXIT")


def test_strange_texts():
    """What a user wrote reaches JSON whole, and no terminal raw."""
    job = f.submit("south", "true \033[31m 'ä' \n\ttrue")
    row = f.job("south", job)
    expect("\033[31m 'ä' \n\ttrue" in row["command"], row["command"])
    for args in (["-l", str(job)], ["-o", "command", str(job)], [str(job)]):
        out = f.cli("south", "jobs", *args).stdout
        expect("\033" not in out and "\t" not in out, repr(out))
        expect("x1b" in out, repr(out))


def test_many_jobs_page():
    """More rows than one page takes."""
    count = 520
    jobs = set()
    before = f.submit("north", "true", "-n", "8000", "-J", "page")
    script = "for i in $(seq %d); do %s --socket %s sub -n 8000 -J page true; done" % (
        count - 1, os.path.join(__import__("federation").BIN, "sublet"),
        os.path.join(f.dir, "north", "sublet.sock"))
    __import__("subprocess").run(["sh", "-c", script], env=f.environment, check=True,
                                 stdout=-3)
    jobs = [int(row["id"]) for row in f.rows("north", "jobs", "-J", "page")]
    expect_equal(len(jobs), count, "rows of all pages")
    expect_equal(jobs, sorted(set(jobs)), "each once, in order")
    expect_equal(jobs[0], before, "the first")
    f.cli("north", "kill", "0")
    f.wait_for("them to end", lambda: not f.rows("north", "jobs"))


def test_reclaim_delay():
    f.ops("reclaim-delay", "90s", "--lease", LEASE)
    f.wait_lease("the delay", lambda l: l["reclaim_delay_s"] == 90)
    expect(LEASE in f.ops("reclaim-delay").stdout, "overrides are shown")
    f.ops("reclaim-delay", "2", "--provider", "north")
    expect_equal(f.lease()["reclaim_delay_s"], 90, "a lease's own beats the provider's")
    f.ops("reclaim-delay", "default", "--lease", LEASE)
    f.wait_lease("the provider's", lambda l: l["reclaim_delay_s"] == 120)
    f.ops("reclaim-delay", "default", "--provider", "north")
    f.ops("reclaim-delay", "3s")
    f.wait_lease("all's", lambda l: l["reclaim_delay_s"] == 3)
    f.ops("reclaim-delay", "default")
    f.wait_lease("the provider's value", lambda l: l["reclaim_delay_s"] == 1)
    one_line(f.ops("reclaim-delay", "3s", "--lease", "no/1/such", code=1))
    for option, name, what in (("--lease", "x", "lease"), ("--lease", "no/1/such", "lease"),
                               ("--lease", "", "lease"), ("--provider", "x", "site"),
                               ("--provider", LEASE, "site")):
        said = one_line(f.ops("reclaim-delay", option, name, code=1))
        expect('%s "%s": no such %s; see `sublet %ss`' % (what, name, what, what) in said, said)
    refused = f.ops("reclaim-delay", "3651d", code=2).stderr
    expect("3651d is out of bounds, expected 1s to 3650d" in refused, refused)


def test_help_and_version():
    for word in ("version", "--version"):
        expect(re.fullmatch(r"sublet \d+\.\d+\.\d+\n", f.run("sublet", word, code=0).stdout), word)
    for program in ("sublet-broker", "sublet-site", "sublet-host", "sublet-guard",
                    "sublet-lsf"):
        version = f.run(program, "--version", code=0).stdout
        expect(re.fullmatch(program + r" \d+\.\d+\.\d+\n", version), program)
    expect("jobs" in f.run("sublet", "help", code=0).stdout, "help")
    expect("-cwd" in f.run("sublet", "help", "sub", code=0).stdout, "help sub")
    expect("--json" in f.run("sublet", "jobs", "--help", code=0).stdout, "jobs --help")
    path = f.dir + "/keys/new"
    expect_equal(f.run("sublet", "keygen", path, code=0).stdout.split(),
                 [path + ".key", path + ".key_secret"], "keygen")
    expect_equal(os.stat(path + ".key_secret").st_mode & 0o777, 0o600, "mode of a secret")
    one_line(f.run("sublet", "keygen", path, code=1))


def setup():
    f.start("broker", "north", "south")
    f.wait_lease("the lease", lambda l: l["status"] == "conn")


main(test_usage, test_unbuilt, test_no_daemon, test_global_options_anywhere,
     test_submit, test_environment_bound, test_wait, test_listings,
     test_fields_and_order, test_jobs_filters, test_ids_are_strings,
     test_strange_texts, test_many_jobs_page, test_reclaim_delay, test_help_and_version, shared=f, setup=setup)
