#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Load of real hosts: what is read of this machine, what elims measure, what becomes of
elims that misbehave, and what an administrator sees of it."""
import json
import os
import signal
import time

from federation import NORTH, Failure, Federation, expect, expect_equal, main

ALONE = """
EGO_DEFINE_NCPUS = threads
@MORE@
Begin Site
NAME = @NAME@
SPOOL = @DIR@/@NAME@
HOSTS_HERE = n1 n2
ELIM = @ELIM@
End Site
Begin Host
HOST_NAME MXJ type model RESOURCES
n1 4 ! ! (linux !bigmem)
n2 4 X86_64 EPYC (linux)
End Host
Begin Resource
RESOURCENAME TYPE INTERVAL INCREASING DESCRIPTION
linux Boolean () () (the system)
bigmem Boolean () () (for large jobs)
licences Numeric 30 N (measured, one for all)
heat Numeric 30 Y (measured, each its own)
os_version String 30 () (measured)
scratch Numeric () N (configured)
End Resource
Begin ResourceMap
RESOURCENAME LOCATION
licences ([all])
scratch (500@[n1] 200@[default])
End ResourceMap
Begin Queue
QUEUE_NAME = normal
End Queue
"""

GOOD = "#!/bin/sh\nwhile :; do read licences <@DIR@/licences\n" \
       "echo 3 licences $licences heat 40.5 os_version 4.2; sleep 0.2; done\n"


class Site(Federation):
    """north alone, with elims; `more` is for its lsf.conf."""

    def __init__(self, *elims, more=""):
        super().__init__()
        paths = []
        for number, script in enumerate(elims):
            path = os.path.join(self.dir, "elim.%d" % number)
            with open(path, "w") as file:
                file.write(script.replace("@DIR@", self.dir))
            os.chmod(path, 0o755)
            paths.append(path)
        self.put("licences", "17")
        self.put("heat", "40")
        self.words.update(ELIM="(%s)" % " ".join(paths), MORE=more)
        self.configure("north", ALONE)
        try:
            self.start("north")
        except Exception:
            self.print_logs()
            self.close()
            raise

    def put(self, name, text):
        path = os.path.join(self.dir, name)
        with open(path + ".new", "w") as file:
            file.write(text + "\n")
        os.rename(path + ".new", path)

    def load(self, host="n1"):
        return self.rows("north", "load", host)[0]

    def measured(self, host="n1"):
        return self.load(host)["resources"]

    def own(self, host):
        """What its own elim measures; `licences` may be what the other's told."""
        return "heat" in self.measured(host)

    def logged(self, text):
        with open(self.log("north"), errors="replace") as log:
            return log.read().count(text)

    def elims(self, number=0):
        """Ids of the processes of that elim."""
        script = os.path.join(self.dir, "elim.%d" % number).encode()
        found = []
        for pid in self.processes():
            try:
                with open("/proc/%d/cmdline" % pid, "rb") as file:
                    words = file.read().split(b"\0")
            except OSError:
                continue
            if words[1:2] == [script]:
                found.append(pid)
        return found


def memory():
    with open("/proc/meminfo") as file:
        return {line.split(":")[0]: int(line.split()[1]) // 1024 for line in file}


def test_indices():
    """They are those of this machine."""
    with Site() as f:
        f.wait_for("rates, which take two readings",
                   lambda: f.load()["ut"] is not None and f.load()["pg"] is not None)

        def agrees():
            """Others work on this machine between the host's look at it and ours."""
            row, mem, tmp = f.load(), memory(), os.statvfs("/tmp")
            expect(abs(row["mem"] - mem["MemAvailable"]) < 0.1 * mem["MemTotal"] + 100,
                   "mem %s, the kernel has %s" % (row["mem"], mem["MemAvailable"]))
            expect(abs(row["swp"] - mem["SwapFree"]) < 0.1 * mem["SwapTotal"] + 100, "swp")
            expect(abs(row["tmp"] - tmp.f_bavail * tmp.f_frsize / 2**20) < 2000, "tmp")
            expect(abs(row["r15m"] - os.getloadavg()[2]) < 2, "r15m is the kernel's")
            return True
        f.wait_for("what the kernel says", agrees)
        row = f.load()
        expect_equal(row["status"], "ok", "status")
        for name in ("r15s", "r1m", "r15m"):
            expect(0 <= row[name] < 10000, "%s is %s" % (name, row[name]))
        expect(0 <= row["ut"] <= 1, "ut %s" % row["ut"])
        expect(row["pg"] >= 0 and row["ls"] >= 0 and row["it"] >= 0, "pg, ls, it")


def test_shown_as_lsload():
    with Site(GOOD) as f:
        f.wait_for("what the elim says", lambda: f.measured() and f.measured("n2"))
        f.wait_for("a rate", lambda: f.load()["ut"] is not None)
        lines = f.cli("north", "load").stdout.splitlines()
        expect_equal(lines[0].split(), "HOST_NAME status r15s r1m r15m ut pg ls it tmp "
                     "swp mem".split(), "the heading")
        words = lines[1].split()
        expect_equal(words[:2], ["n1", "ok"], "a row")
        expect(words[5].endswith("%"), "ut in percent: " + words[5])
        expect(all(word[-1] in "MGT" for word in words[9:]), "sizes: %s" % words)
        lines = f.cli("north", "load", "-l", "n2").stdout.splitlines()
        expect_equal(len(lines), 2, "one host")
        expect_equal(sorted(lines[0].split()[12:]),
                     ["heat", "io", "licences", "os_version"], "-l has more columns")
        text = f.cli("north", "hosts", "-l", "n1").stdout
        for part in ("Resources: linux !bigmem", "Values: scratch=500", "licences=17",
                     "os_version=4.2", "CPU factor: 1", "mem="):
            expect(part in text, "hosts -l has %r:\n%s" % (part, text))
        expect("is not found" in f.cli("north", "load", "n9", code=1).stderr, "no such host")


def test_what_a_host_is():
    with Site() as f:
        f.wait_for("n1", lambda: f.load()["status"] == "ok")
        n1, n2 = f.rows("north", "hosts")
        machine = os.uname().machine
        expect_equal(n1["type"], {"x86_64": "X86_64"}.get(machine, n1["type"]), "detected")
        expect_equal(n1["model"], n1["architecture"], "no HostModel names it")
        expect_equal((n2["type"], n2["model"]), ("X86_64", "EPYC"), "configured")
        expect_equal(n1["ncpus"], n1["nprocs"] * n1["ncores"] * n1["nthreads"], "threads")
        expect(n1["ncpus"] >= len(os.sched_getaffinity(0)), "processors")
        expect(abs(n1["maxmem"] - memory()["MemTotal"]) <= 1, "maxmem")
        expect_equal(n1["resources"], ["linux", "!bigmem"], "Booleans of n1")
        expect_equal(n2["resources"], ["linux"], "Booleans of n2")
        expect_equal(n2["values"], {"scratch": 200}, "values of n2")


def test_elim_tells():
    """A change is seen at once, not at the next interval; hosts share a number."""
    with Site(GOOD) as f:
        f.wait_for("both hosts", lambda: f.measured("n1") == f.measured("n2") == {
            "licences": 17, "heat": 40.5, "os_version": "4.2"})
        f.put("licences", "3")
        f.wait_for("the change", lambda: f.measured("n2").get("licences") == 3)
        f.put("licences", "-")
        f.wait_for("it to be unknown", lambda: "licences" not in f.measured())
        expect_equal(f.measured().get("heat"), 40.5, "the rest stays")


def test_elim_overrides_an_index():
    with Site("#!/bin/sh\necho 3 tmp 47.5 mem x ncpus 99; sleep 1000\n") as f:
        f.wait_for("its tmp", lambda: f.load()["tmp"] == 47.5)
        expect(f.load()["mem"] > 1, "what is no number does not stand for ours")
        expect(f.rows("north", "hosts", "n1")[0]["ncpus"] != 99, "what the host is, is not")


def test_elim_that_dies():
    """It is started again, with a growing pause; what it said counts while it lives."""
    with Site("#!/bin/sh\necho x >>@DIR@/starts\necho 1 heat 1\nsleep 4\nexit 3\n") as f:
        f.wait_for("what it says", lambda: f.measured() == {"heat": 1})
        f.wait_for("its end", lambda: f.measured() == {})
        f.wait_for("the next one", lambda: f.measured() == {"heat": 1})
        f.wait_for("a longer pause", lambda: f.logged("started again in 2 s") > 0)
        expect(f.logged("ended with status 3") > 0, "the log says why")
        expect_equal(f.load()["status"], "ok", "the host is as it was")


def test_elim_that_has_nothing_to_do():
    with Site("#!/bin/sh\necho x >>@DIR@/starts\nexit $ELIM_ABORT_VALUE\n") as f:
        f.wait_for("both ends", lambda: f.logged("nothing to measure here") == 2)
        f.wait_for("a job", lambda: f.job("north", f.submit("north", "true")))
        expect_equal(f.logged("started again"), 0, "starts")


def test_elims_that_misbehave():
    """One floods, one prints rubbish, one an endless line, one says nothing: the good
    one is heard, jobs run, and the agent does not work for them."""
    flood = "#!/bin/sh\nexec yes '1 heat 1'\n"
    rubbish = "#!/bin/sh\nexec cat /dev/urandom\n"
    endless = "#!/bin/sh\nexec tr '\\0' x </dev/zero\n"
    silent = "#!/bin/sh\nexec sleep 1000\n"
    with Site(rubbish, endless, silent, GOOD, flood) as f:
        f.wait_for("the good one", lambda: f.measured().get("licences") == 17)
        f.put("licences", "5")
        f.wait_for("it again", lambda: f.measured().get("licences") == 5)
        job = f.submit("north", "echo done")
        f.wait_state("north", job, "DONE")
        expect_equal(f.load()["status"], "ok", "the host")
        host = next(f.hosts("n1"))
        before, at = cpu_ms(host), time.monotonic()
        f.put("licences", "6")
        f.wait_for("a while", lambda: time.monotonic() - at > 3 and
                   f.measured().get("licences") == 6)
        share = (cpu_ms(host) - before) / 1000 / (time.monotonic() - at)
        expect(share < 0.5, "the agent uses %.0f%% of a processor" % (share * 100))
        expect(f.logged("a line is ignored") >= 1, "what is wrong is logged")
        expect(f.logged("a line is ignored") < 100, "and not again and again")


def cpu_ms(pid):
    with open("/proc/%d/stat" % pid) as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) * 1000 // os.sysconf("SC_CLK_TCK")


def test_elims_end_with_their_agent():
    with Site("#!/bin/sh\ntrap '' TERM HUP\nwhile :; do sleep 1000; done\n") as f:
        f.wait_for("both to run", lambda: len(f.elims()) == 2)
        first = set(f.elims())
        os.kill(next(f.hosts("n1")), signal.SIGKILL)
        f.wait_for("the killed one's to be another",
                   lambda: len(first & set(f.elims())) == 1 and len(f.elims()) == 2)
        expect_equal(f.stop("north"), 0, "end of the site")
        f.wait_for("none to be left", lambda: not f.elims())


def test_local_resources():
    with Site(more='LSF_LOCAL_RESOURCES = "[resource !bigmem] [type SUN] '
              '[resourcemap 7*heat] [resource nothing]"') as f:
        f.wait_for("n1", lambda: f.measured() == {"heat": 7})
        n1, n2 = f.rows("north", "hosts")
        expect_equal(n1["type"], "SUN", "instead of what is detected")
        expect_equal(n2["type"], "X86_64", "not of what is configured")
        expect_equal(n2["resources"], ["linux", "!bigmem"], "n2 has it now")
        f.wait_for("word of what is none", lambda: f.logged("reports \"nothing\"") == 2)


def test_a_host_that_is_away():
    with Site(GOOD) as f:
        f.wait_for("both", lambda: f.own("n1") and f.own("n2"))
        os.kill(next(f.hosts("n2")), signal.SIGSTOP)
        f.wait_for("n2 to be away", lambda: f.load("n2")["status"] == "unavail")
        row = f.load("n2")
        expect(all(row[name] is None for name in ("r15s", "ut", "mem", "tmp")), "no load")
        words = f.cli("north", "load", "n2").stdout.splitlines()[1].split()
        expect_equal(words, ["n2", "unavail"] + ["-"] * 10, "as it is shown")
        expect(f.rows("north", "hosts", "n2")[0]["maxmem"] > 0, "what it is, is known")
        expect_equal(f.measured("n1").get("licences"), 17, "n1 tells the shared one")
        os.kill(next(f.hosts("n2")), signal.SIGCONT)
        f.wait_for("n2 to be back", lambda: f.load("n2")["status"] == "ok" and
                   f.load("n2")["mem"] is not None)


def test_selected():
    with Site(GOOD) as f:
        f.wait_for("both", lambda: f.own("n1") and f.own("n2"))

        def names(string):
            return [row["host"] for row in f.rows("north", "load", "-R", string)]
        expect_equal(names("scratch > 300 && bigmem"), ["n1"], "one")
        expect_equal(sorted(names("bigmem || scratch == 200")), ["n1", "n2"],
                     "of any type; least loaded first")
        expect_equal(names("type == X86_64 && os_version == '4.2' && scratch < 300"),
                     ["n2"], "texts")
        expect_equal(names("(bigmem || linux) order[scratch]"), ["n1", "n2"], "more first")
        expect_equal(names("(bigmem || linux) order[-scratch]"), ["n2", "n1"], "turned")
        expect_equal(names("mem > 1e9"), [], "none")
        expect("no host found" in f.cli("north", "load", "-R", "mem > 1e9").stderr, "said")
        expect_equal(names("(bigmem || linux) order[scratch] rusage[mem=1]"), ["n1", "n2"],
                     "what is good for sub is good here")
        ready = "slots > 0 && status == ok && (bigmem || 1) order[-scratch]"
        f.wait_for("slots and states", lambda: names(ready) == ["n2", "n1"])
        for string in ("mem >", "nothing > 1", "mem > 5 rusage[mem=", "linux:bigmem"):
            result = f.cli("north", "load", "-R", string, code=255)
            expect(result.stdout == "" and "Column" in result.stderr, result.stderr)


def test_borrowed_hosts():
    """A consumer sees what its provider's hosts are and how loaded, also anew."""
    with Federation() as f:
        f.start("broker", "north", "south")

        def load(host):
            return f.rows("south", "load", host)[0]
        f.wait_for("load of north's hosts", lambda: load("n1@north")["mem"] and
                   load("n2@north")["mem"] and load("n1@north")["status"] == "ok")
        row = f.rows("south", "hosts", "n2@north")[0]
        expect_equal((row["type"], row["model"], row["resources"]),
                     ("X86_64", "EPYC", ["linux"]), "what n2 is")
        expect(row["maxmem"] > 0 and row["ncpus"] >= 1, "its processors and memory")
        expect_equal([r["host"] for r in f.rows("north", "load")], ["n1", "n2"], "north's")
        f.restart("south")
        f.wait_for("the same, after a restart", lambda: load("n1@north")["mem"])
        f.restart("broker")
        f.wait_for("the contract's return", lambda: load("n1@north")["status"] == "ok")


HOT = """
Begin Parameters
SBD_SLEEP_TIME = 15
End Parameters
Begin Queue
QUEUE_NAME = hot
PRIORITY = 10
heat = 50/70
End Queue
Begin Queue
QUEUE_NAME = cold
PRIORITY = 50
End Queue
"""
HEAT = "#!/bin/sh\nwhile :; do read heat <@DIR@/heat; echo 1 heat $heat; sleep 0.2; done\n"


def test_thresholds():
    """Load suspends a real job and lets it go on, seen from its process."""
    with Site(HEAT, more=HOT) as f:
        ticks = os.path.join(f.dir, "ticks")
        command = "while :; do echo >>%s; sleep 0.1; done" % ticks

        def n_ticks():
            return os.path.getsize(ticks) if os.path.exists(ticks) else 0

        def runs():
            before = n_ticks()
            return lambda: n_ticks() > before + 3
        f.wait_for("its heat", lambda: f.measured("n2").get("heat") == 40)
        other = f.submit("north", "sleep 1000", "-q", "cold", "-m", "n2")
        job = f.submit("north", command, "-q", "hot", "-m", "n2")
        f.wait_for("the job to run", runs())
        f.put("heat", "80.5")
        f.wait_for("it to stand still", lambda: f.job("north", job)["state"] == "SSUSP")
        before = n_ticks()
        waits = f.submit("north", "true", "-q", "hot", "-m", "n2")
        f.wait_for("another to wait", lambda: f.job("north", waits)["pending"] == "load")
        expect("heat 80.5 > 50 on n2" in f.job("north", waits)["reason"], "and for what")
        expect("heat 80.5 > 70 on n2" in f.job("north", job)["reason"], "why it stands still")
        expect_equal(f.job("north", other)["state"], "RUN", "a job of another queue")
        expect_equal(n_ticks(), before, "its process stood still meanwhile")
        block = f.cli("north", "queues", "-l", "hot").stdout
        expect("SCHEDULING_PARAMETERS_OF: hot/" in block and "heat=50" in block, block)
        f.put("heat", "45")
        f.wait_for("it to go on", lambda: f.job("north", job)["state"] == "RUN")
        f.wait_for("its process to run", runs())
        f.wait_for("the other to run", lambda: f.job("north", waits)["state"] == "DONE")
        told = f.cli("north", "hist", "-l", str(job)).stdout
        expect("its host is overloaded: heat 80.5 > 70 on n2" in told and
               "load is within its thresholds again" in told, told)


DESK = NORTH.replace("HOSTS_HERE", "ELIM = (@DIR@/elim)\nHOSTS_HERE").replace(
    "RESOURCES", "RESOURCES it").replace("(linux)", "(linux) 10/1").replace(
        "PER_HOST = n1 n2", "PER_HOST = n1").replace("TYPE = shared\n", "")
AT_IT = "#!/bin/sh\nwhile :; do read it <%s/it; echo 1 it $it; sleep 0.2; done\n"


def test_a_lent_desk():
    """The thresholds of a provider's host hold for its consumer's jobs, which stand still
    while somebody is at it: seen from the process."""
    with Federation() as f:
        def is_at(minutes):
            path = os.path.join(f.dir, "it")
            with open(path + ".new", "w") as file:
                file.write("%d\n" % minutes)
            os.rename(path + ".new", path)

        def status(site, host):
            return f.rows(site, "hosts", host)[0]["status"]
        is_at(30)
        with open(os.path.join(f.dir, "elim"), "w") as file:
            file.write(AT_IT % f.dir)
        os.chmod(file.name, 0o755)
        f.configure("north", DESK)
        f.start("broker", "north", "south")
        f.wait_for("load of n1", lambda: f.rows("south", "load", "n1@north")[0]["it"] == 30)
        ticks = os.path.join(f.marks, "ticks")
        job = f.submit("south", "while :; do echo >>%s; sleep 0.1; done" % ticks, "-q", "away")
        f.wait_for("the job to run", lambda: os.path.getsize(ticks) > 3 if
                   os.path.exists(ticks) else False)
        epoch = f.lease()["epoch"]
        is_at(0)
        f.wait_state("south", job, "SSUSP")
        before = os.path.getsize(ticks)
        waits = f.submit("south", "true", "-q", "away")
        f.wait_for("another to wait", lambda: f.job("south", waits)["pending"] == "load")
        expect_equal((status("north", "n1"), status("south", "n1@north")),
                     ("closed_Busy", "closed_Busy"), "the host, on both sides")
        block = f.cli("south", "hosts", "-l", "n1@north").stdout
        expect("it" in block and "10" in block, block)
        reason = f.job("south", job)["reason"]
        expect("it 0 < 1 on n1@north" in reason, reason)
        row = f.lease()
        expect_equal((row["epoch"], row["consumer"]["used"]), (epoch, 1), "it keeps its slot")
        expect_equal(os.path.getsize(ticks), before, "its process stood still meanwhile")
        f.restart("south")  # what it is told is in no journal
        f.wait_for("the host to be known", lambda: status("south", "n1@north") == "closed_Busy")
        expect_equal(f.job("south", job)["state"], "SSUSP", "after a restart")
        is_at(20)
        f.wait_state("south", job, "RUN")
        f.wait_for("its process to run", lambda: os.path.getsize(ticks) > before + 3)
        f.wait_state("south", waits, "DONE")


def test_what_is_wrong_is_said():
    with Site() as f:
        path = os.path.join(f.dir, "bad.conf")

        def host(*options, **environment):
            return f.run("sublet-host", "-n", "n1", "--site", "ipc:///nowhere", "--spool",
                         os.path.join(f.dir, "spool"), *options, code=1,
                         environment=dict(f.environment, **environment)).stderr
        expect("begins with /" in host("--elim", "elim"), "a relative path")
        expect("No such file" in host("--elim", "/no/elim"), "no program")
        expect("Permission denied" in host("--elim", f.conf("north")), "not executable")
        expect("LSF_LOCAL_RESOURCES: " in host(LSF_LOCAL_RESOURCES="[resource 1a]"),
               "a name that is none")
        with open(f.conf("north")) as file:
            good = file.read()
        for before, after, said in (
                ("scratch (500@[n1]", "scratch (x@[n1]", "LOCATION: \"x\" is not a value"),
                ("licences ([all])", "licences ([n9])", "unknown host \"n9\""),
                ("licences ([all])", "nothing ([all])", "unknown resource \"nothing\""),
                ("heat Numeric", "heat Number", "TYPE: "),
                ("NCPUS = threads", "NCPUS = all", "EGO_DEFINE_NCPUS: "),
                ("ELIM = ()", "ELIM = elim", "ELIM: \"elim\", expected a path")):
            expect(before in good, before)
            with open(path, "w") as file:
                file.write(good.replace(before, after))
            output = f.run("sublet", "check", path, code=1).stdout
            expect(said in output and "error" in output, "%s: %s" % (said, output))


main(test_indices, test_shown_as_lsload, test_what_a_host_is, test_elim_tells,
     test_elim_overrides_an_index, test_elim_that_dies, test_elim_that_has_nothing_to_do,
     test_elims_that_misbehave, test_elims_end_with_their_agent, test_local_resources,
     test_a_host_that_is_away, test_selected, test_borrowed_hosts, test_thresholds,
     test_a_lent_desk, test_what_is_wrong_is_said, at_once=3)
