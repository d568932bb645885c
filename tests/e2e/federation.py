# SPDX-License-Identifier: Apache-2.0
"""A federation of real daemons in a temporary directory, for tests.

    with Federation() as f:
        f.start("broker", "north", "south")
        job = f.submit("south", "echo hello")
        f.wait_for("the job to end", lambda: f.job("south", job)["state"] == "DONE")

north has hosts n1 and n2 of 4 slots and exports them to south (lease north/1/south);
south has s1 of 2 slots. Everything that was started, and everything that this started
in turn, is ended on leaving; the daemons' logs are printed when a test failed.
Programs come from $SUBLET_BIN (default build/bin).

A daemon that ends by itself fails the test, at once: where it is waited for anything,
and at the latest on leaving. So does a sanitizer's word in any log. A test that makes a
daemon end by itself says so with `wait_end` or `let_end`.
"""
import concurrent.futures
import datetime
import http.client
import json
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import traceback

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BIN = os.environ.get("SUBLET_BIN") or os.path.join(ROOT, "build", "bin")
LEASE = "north/1/south"
# Seconds in which what is waited for has come, however busy the machine: nobody measures
# by it, it ends a test that hangs.
LIMIT = 150
# Of everyone who runs the tests: files of jobs are looked at with their modes.
os.umask(0o022)

BROKER = """
Begin Broker
LISTEN = tcp://127.0.0.1:@PORT@
STATE = @DIR@/broker.db
KEY = @DIR@/keys/broker.key_secret
LOST_AFTER = 3s
End Broker
Begin Member
NAME KEY_FILE ROLES
north @DIR@/keys/north.key (provider consumer)
south @DIR@/keys/south.key (consumer)
ops @DIR@/keys/ops.key (admin)
End Member
"""

SITE = """
Begin Site
NAME = @NAME@
BROKER = tcp://127.0.0.1:@PORT@
KEY = @DIR@/keys/@KEY@.key_secret
BROKER_KEY = @DIR@/keys/broker.key
SPOOL = @DIR@/@NAME@
HOSTS_HERE = @HOSTS@
End Site
"""

# Daemons that are not root lend nothing without it.
if os.geteuid() != 0:
    SITE = SITE.replace("End Site", "LEASE_USER = self\nEnd Site")

NORTH = SITE.replace("@HOSTS@", "n1 n2") + """
Begin Host
HOST_NAME MXJ type model RESOURCES
n1 4 X86_64 EPYC (linux)
n2 4 X86_64 EPYC (linux)
End Host
Begin Queue
QUEUE_NAME = normal
PRIORITY = 30
HOSTS = all
End Queue
Begin Parameters
MC_RECLAIM_DELAY = @RECLAIM@
JOB_TERMINATE_INTERVAL = 2
End Parameters
Begin HostExport
PER_HOST = n1 n2
SLOTS = 4
TYPE = shared
DISTRIBUTION = ([south, 1])
End HostExport
"""

SOUTH = SITE.replace("@HOSTS@", "s1") + """
Begin Host
HOST_NAME MXJ type model RESOURCES
s1 2 X86_64 EPYC (linux)
End Host
Begin Queue
QUEUE_NAME = normal
PRIORITY = 30
HOSTS = all allremote
End Queue
Begin Queue
QUEUE_NAME = away
PRIORITY = 20
HOSTS = allremote
End Queue
Begin Parameters
JOB_TERMINATE_INTERVAL = 2
End Parameters
"""


# What sanitizers, asserts, the C library and a site say of a process that is broken; the
# signals that tests send to a sublet-host are no fault of its.
COMPLAINT = re.compile(
    r".*(?:\w+Sanitizer: |: runtime error: |: Assertion `|\*\*\*: terminated"
    r"|sublet-host was ended by signal (?!9;|15;)).*")


def how_ended(code):
    return "was ended by signal %d" % -code if code < 0 else "ended with status %d" % code


class Failure(Exception):
    """What a test expected did not happen."""


class Died(Failure):
    """A daemon has ended that nobody has ended: nothing is left to wait for."""


class Skip(Exception):
    """What a test needs is not here."""


def expect(condition, what):
    if not condition:
        raise Failure(what)


def expect_equal(got, wanted, what):
    if got != wanted:
        raise Failure("%s: got %r, expected %r" % (what, got, wanted))


taken = []  # what keeps ports from other tests until this program ends


def is_sanitized():
    """Whether the programs are a build with sanitizers: they take more memory, and no
    library may be loaded before theirs."""
    with open(os.path.join(BIN, "sublet-broker"), "rb") as program:
        return b"__asan_init" in program.read()


def free_port():
    """Nobody listens there, no other test is given it, and, where the kernel's own range
    leaves room below it, no connection begins there: a client that tries a port of that
    range again and again connects to itself one day, and the daemon cannot listen any
    more."""
    with open("/proc/sys/net/ipv4/ip_local_port_range") as file:
        first_of_kernel = int(file.read().split()[0])
    ports = range(10000, first_of_kernel if first_of_kernel > 12000 else 32768)
    while True:
        port = random.choice(ports)
        claim = socket.socket(socket.AF_UNIX)
        try:
            claim.bind("\0sublet-e2e-port-%d" % port)
            with socket.socket() as s:
                s.bind(("127.0.0.1", port))
        except OSError:
            claim.close()
            continue
        taken.append(claim)
        return port


def tomorrow():
    """An instant for `sub -b` that does not come while a test runs, in TZ=UTC."""
    day = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(days=1)
    return day.strftime("%Y:%m:%d:%H:%M")


class Federation:
    def __init__(self, reclaim="1s", below=None):
        self.dir = tempfile.mkdtemp(prefix="sublet-e2e-", dir=below)
        os.chmod(self.dir, 0o711)  # leased jobs run as another user
        self.daemons = {}
        self.ending = {}  # those that may end by themselves
        self.starts = {}  # daemon: where its words begin in its log
        self.prefixes = {}  # daemon: the words of a command that starts it
        self.options = {}  # of daemons, by name
        self.words = {"DIR": self.dir, "PORT": str(free_port()), "RECLAIM": reclaim}
        self.environment = dict(os.environ, SUBLET_E2E=self.dir, TZ="UTC", LC_ALL="C.UTF-8")
        for name in ("SUBLET_SOCKET", "SUBLET_BROKER", "SUBLET_KEY", "SUBLET_BROKER_KEY",
                     "LANGUAGE", "ENV", "BASH_ENV", "PS1", "PROMPT_COMMAND"):
            self.environment.pop(name, None)
        # Where jobs leave marks: of whatever user they run as.
        self.marks = os.path.join(self.dir, "marks")
        os.mkdir(self.marks)
        os.chmod(self.marks, 0o1777)
        os.mkdir(os.path.join(self.dir, "keys"), 0o700)
        os.mkdir(os.path.join(self.dir, "home"), 0o755)
        for name in ("broker", "north", "south", "ops", "stranger"):
            self.run("sublet", "keygen", os.path.join(self.dir, "keys", name), code=0)
        self.configure("broker", BROKER)
        self.configure("north", NORTH)
        self.configure("south", SOUTH)

    # ---- configuration and daemons

    def configure(self, name, text, key=None):
        for word, value in dict(self.words, NAME=name, KEY=key or name).items():
            text = text.replace("@%s@" % word, value)
        with open(self.conf(name), "w") as file:
            file.write(text)

    def conf(self, name):
        return os.path.join(self.dir, name + ".conf")

    def log(self, name):
        return os.path.join(self.dir, name + ".log")

    def spawn(self, name):
        """Starts a daemon without waiting for it."""
        program = "sublet-broker" if name.startswith("broker") else "sublet-site"
        log = open(self.log(name), "a")
        start = log.tell()
        process = subprocess.Popen(
            [*self.prefixes.get(name, ()), os.path.join(BIN, program),
             *self.options.get(name, ()), self.conf(name)],
            cwd=self.dir, env=self.environment, stdin=subprocess.DEVNULL,
            stdout=log, stderr=log, start_new_session=True)
        log.close()
        self.daemons[name] = process
        self.starts[name] = start
        return start

    def start(self, *names):
        """Starts daemons and waits until each is ready."""
        for name in names:
            start = self.spawn(name)
            self.wait_for("%s to be ready" % name, lambda: self.is_ready(name, start))
            if not name.startswith("broker"):
                self.wait_for("the hosts of " + name, lambda: self.has_hosts(name))

    def is_ready(self, name, start):
        with open(self.log(name)) as log:
            log.seek(start)
            return "ready" in log.read().split("\n")

    def has_hosts(self, site):
        """Its own hosts are there; what they run is known."""
        return all(row["lease"] or row["status"] != "unavail"
                   for row in self.rows(site, "hosts"))

    def check_daemons(self):
        """None has ended that nobody has ended."""
        for name, process in list(self.daemons.items()):
            if process.poll() is not None:
                self.daemons.pop(name, None)
                raise Died("%s %s by itself; the end of its log:\n%s" % (
                    name, how_ended(process.returncode), self.last_words(name)))

    def last_words(self, name, count=25):
        with open(self.log(name), errors="replace") as log:
            log.seek(self.starts.get(name, 0))
            return "\n".join("    " + line for line in log.read().split("\n")[-count:])

    def check_logs(self):
        """No process said that it is broken: only daemons are looked at for their ends."""
        for name in sorted(os.listdir(self.dir)):
            if name.endswith(".log"):
                with open(os.path.join(self.dir, name), errors="replace") as log:
                    found = COMPLAINT.search(log.read())
                expect(not found, "%s says %s" % (name, found and found[0]))

    def kill9(self, name):
        self.check_daemons()
        process = self.daemons.pop(name)
        process.kill()
        process.wait()

    def stop(self, name):
        self.check_daemons()
        process = self.daemons.pop(name)
        process.terminate()
        return process.wait(LIMIT)

    def let_end(self, name):
        """From now on it may end by itself."""
        self.ending[name] = self.daemons.pop(name)

    def wait_end(self, name):
        """Until it has ended by itself, as it should: its exit code."""
        process = self.ending.pop(name, None) or self.daemons.pop(name)
        return process.wait(LIMIT)

    def restart(self, name):
        self.kill9(name)
        self.start(name)

    # ---- the command line

    def run(self, program, *args, code=None, stdin=None, environment=None, cwd=None):
        process = subprocess.Popen(
            [os.path.join(BIN, program), *args], env=environment or self.environment,
            cwd=cwd or os.path.join(self.dir, "home"), text=True, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        result = subprocess.CompletedProcess(
            process.args, *self.hear_out(process, stdin or ""))
        words = "%s %s" % (program, " ".join(args))
        expect(result.returncode >= 0, "%s %s" % (words, how_ended(result.returncode)))
        found = COMPLAINT.search(result.stderr)
        expect(not found, "%s says %s" % (words, result.stderr))
        if code is not None and result.returncode != code:
            self.check_daemons()
        if code is not None:
            expect_equal(result.returncode, code,
                         "exit of %s (%s%s)" % (words, result.stdout, result.stderr))
        return result

    def hear_out(self, process, stdin=None):
        """Its exit code and what it wrote, once it has ended: a daemon's end ends it."""
        deadline = time.monotonic() + 2 * LIMIT
        while True:
            try:
                out, err = process.communicate(stdin, timeout=1)
                return process.returncode, out, err
            except subprocess.TimeoutExpired:
                stdin = None  # it is on its way
            try:
                self.check_daemons()
                expect(time.monotonic() < deadline, "%s does not end" % process.args)
            except Failure:
                process.kill()
                process.communicate()
                raise

    def cli(self, site, *args, code=0, stdin=None):
        """Runs `sublet` at a site; the result has stdout, stderr and returncode."""
        path = os.path.join(self.dir, site, "sublet.sock")
        return self.run("sublet", "--socket", path, *args, code=code, stdin=stdin)

    def ops(self, *args, code=0, key="ops"):
        """Runs `sublet` at the broker, as an administrator."""
        keys = os.path.join(self.dir, "keys")
        return self.run(
            "sublet", "--broker", "tcp://127.0.0.1:" + self.words["PORT"],
            "--key", os.path.join(keys, key + ".key_secret"),
            "--broker-key", os.path.join(keys, "broker.key"), *args, code=code)

    def rows(self, site, listing, *args):
        """The array of a listing's JSON."""
        answer = json.loads(self.cli(site, listing, "--json", *args).stdout)
        expect_equal(answer["schema_version"], 1, listing + " schema_version")
        arrays = [value for value in answer.values() if isinstance(value, list)]
        expect_equal(len(arrays), 1, "arrays in " + listing)
        return arrays[0]

    def jobs(self, site):
        return {int(row["id"]) if row["id"].isdigit() else row["id"]: row
                for row in self.rows(site, "jobs", "-a", "-u", "all")}

    def job(self, site, job):
        return self.rows(site, "jobs", str(job))[0]

    def n_jobs(self, site, state):
        return sum(row["state"] == state for row in self.jobs(site).values())

    def lease(self, site="south", lease=LEASE):
        for row in self.rows(site, "leases", "--all"):
            if row["id"] == lease:
                return row
        return None

    def history(self, site="south", lease=LEASE):
        return json.loads(self.cli(site, "lease", "history", lease, "--json").stdout)["history"]

    def n_clients(self, site):
        """Connections to the site's socket now."""
        path = " " + os.path.join(self.dir, site, "sublet.sock")
        with open("/proc/net/unix") as file:
            return sum(line.rstrip().endswith(path) for line in file) - 1

    def submit(self, site, command, *options):
        answer = self.cli(site, "sub", "--json", *options, command).stdout
        return json.loads(answer)["job"]

    # ---- waiting

    def wait_for(self, what, condition, limit=LIMIT):
        """Waits until condition() is true; an error of it counts as not yet."""
        deadline = time.monotonic() + limit
        why = None
        while True:
            try:
                if condition():
                    return
                why = None
            except Died:
                raise
            except (Failure, KeyError, TypeError, IndexError, ValueError, OSError,
                    http.client.HTTPException, subprocess.TimeoutExpired) as error:
                why = error
            self.check_daemons()
            if time.monotonic() > deadline:
                raise Failure("waited %d s for %s%s" % (limit, what, why and ": %s" % why or ""))
            time.sleep(0.05)

    def wait_lease(self, what, condition, limit=LIMIT):
        self.wait_for(what, lambda: condition(self.lease()), limit)

    def wait_state(self, site, job, *states, limit=LIMIT):
        self.wait_for("job %s at %s to be %s" % (job, site, " or ".join(states)),
                      lambda: self.job(site, job)["state"] in states, limit)

    # ---- the end

    def processes(self):
        """Ids of all that was started here, directly or not."""
        mine = ("SUBLET_E2E=" + self.dir).encode()
        for entry in os.listdir("/proc"):
            if not entry.isdigit() or int(entry) == os.getpid():
                continue
            try:
                with open("/proc/%s/environ" % entry, "rb") as file:
                    if mine in file.read().split(b"\0"):
                        yield int(entry)
            except OSError:
                pass

    def hosts(self, host):
        """Ids of the sublet-host processes of that host."""
        for pid in self.processes():
            try:
                with open("/proc/%d/cmdline" % pid, "rb") as file:
                    words = file.read().split(b"\0")
            except OSError:
                continue
            if os.path.basename(words[0]) == b"sublet-host" and host.encode() in words:
                yield pid

    def print_logs(self):
        text = ""
        for name in sorted(os.listdir(self.dir)):
            if name.endswith(".log"):
                with open(os.path.join(self.dir, name), errors="replace") as log:
                    lines = log.read().split("\n")
                text += "--- %s\n%s\n" % (name, "\n".join(lines[-60:]))
        print(text, end="", flush=True)

    def close(self):
        """Ends everything; fails where something went wrong that no test has seen."""
        try:
            self.check_daemons()
            self.check_logs()
        except Failure:
            self.print_logs()
            raise
        finally:
            self.end_all()

    def end_all(self):
        for process in [*self.daemons.values(), *self.ending.values()]:
            process.kill()
            process.wait()
        deadline = time.monotonic() + LIMIT
        while (left := list(self.processes())) and time.monotonic() < deadline:
            for pid in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
            time.sleep(0.05)
        shutil.rmtree(self.dir, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if error is None:
            self.close()
            return
        if kind is not Skip:
            self.print_logs()
        self.end_all()


failures = []  # what the failed tests said last


def run_test(test):
    """"ok", "FAIL" or "skip". One print, as others may run at the same time."""
    started = time.monotonic()
    word, why = "ok", ""
    try:
        test()
    except Skip as reason:
        word, why = "skip", "%s\n" % reason
    except Exception as error:
        word, why = "FAIL", "%s: %s\n" % (test.__name__, error)
        if not isinstance(error, Failure):
            why = traceback.format_exc() + why
        failures.append("FAIL %s" % why.rstrip()[-600:])
    print("%s%-4s %s (%.1f s)" % (why, word, test.__name__, time.monotonic() - started),
          flush=True)
    return word


def main(*tests, shared=None, setup=None, at_once=1):
    """Runs functions, each a test; the last line counts them. `shared`: one federation
    for all of them, after setup(); its logs are printed where a test failed. `at_once`:
    so many at a time, each with a federation of its own. No test_... may be left out."""
    written = [name for name, what in vars(sys.modules["__main__"]).items()
               if name.startswith("test_") and callable(what)]
    left_out = set(written) - {test.__name__ for test in tests}
    if left_out:
        sys.exit("never run: %s" % ", ".join(sorted(left_out)))
    chosen = [t for t in tests if len(sys.argv) < 2 or t.__name__ in sys.argv[1:]]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    words = ["FAIL"] * len(chosen)  # unless it turns out otherwise
    try:
        if setup is not None:
            setup()
        with concurrent.futures.ThreadPoolExecutor(at_once) as pool:
            words = list(pool.map(run_test, chosen))
    except Exception:
        traceback.print_exc(file=sys.stdout)
    finally:
        if shared is not None:
            if "FAIL" in words:
                shared.print_logs()
            try:
                shared.close()
            except Failure as error:
                print("at the end: %s" % error)
                words.append("FAIL")
    if failures:
        print("", *failures, sep="\n")
    n_skipped = words.count("skip")
    print("%d passed, %d failed%s" % (words.count("ok"), words.count("FAIL"),
                                      ", %d skipped" % n_skipped if n_skipped else ""))
    sys.exit(1 if "FAIL" in words else 0)
