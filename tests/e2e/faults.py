# SPDX-License-Identifier: Apache-2.0
"""Faults under load: what test_faults.py, test_stores.py and soak.py share.

    with Federation() as f:
        load = Load(f, seed)
        faults = Faults(f, random.Random(seed))
        f.start("broker", "north", "south")
        with load:                    # jobs are submitted at both sites all the while
            for _ in range(12):
                faults.one()
        load.judge()                  # no job lost or run twice, no slot used twice
        agree(f)                      # broker, provider and consumer say the same

Each job writes when and where it began and when it ended, into a file named by its id;
from these, not from what the daemons say, is judged what ran.
"""
import os
import random
import re
import signal
import subprocess
import threading
import time

from federation import LEASE, LIMIT, Failure, expect, expect_equal

SLOTS = {"n1": 4, "n2": 4, "s1": 2}
NS = 10 ** 9


def stamped(f, site, seconds):
    """The command of a job that leaves a line at its beginning and one at its end."""
    file = "%s/%s.$LSB_JOBID" % (f.marks, site)
    return ("umask 0; echo begin $(date +%%s%%N) $LSB_HOSTS >>%s; sleep %.2f; "
            "echo end $(date +%%s%%N) >>%s" % (file, seconds, file))


def stamps(f):
    """{(site, job): [(begin, end, host), ...]}; end None where the job has not written
    it."""
    found = {}
    for name in os.listdir(f.marks):
        site, job = name.split(".")
        runs = found.setdefault((site, int(job)), [])
        with open(os.path.join(f.marks, name)) as file:
            for line in file:
                words = line.split()
                if words[0] == "begin":
                    runs.append((int(words[1]), None, words[2].split("@")[0]))
                else:
                    runs[-1] = (runs[-1][0], int(words[1]), runs[-1][2])
    return found


def most_at_once(runs):
    """{host: the most runs at one time}, an end before a begin of the same instant."""
    most, now = {}, {}
    changes = []
    for begin, end, host in runs:
        changes.append((begin, 1, host))
        changes.append((end if end is not None else 1 << 80, -1, host))
    for _, step, host in sorted(changes, key=lambda change: change[:2]):
        now[host] = now.get(host, 0) + step
        most[host] = max(most.get(host, 0), now[host])
    return most


class Load:
    """Jobs come at both sites, some rerunnable, until it is left."""

    def __init__(self, f, seed, pause=0.25, seconds=(0.1, 1.2)):
        self.f, self.seed = f, seed
        self.pause, self.seconds = pause, seconds
        self.given = set()  # (site, job) of which a user was told
        self.rerunnable = set()
        self.n_refused = 0  # no answer, or that it was not taken
        self.is_over = threading.Event()
        self.threads = [threading.Thread(target=self.submit_all, args=(site,))
                        for site in ("north", "south")]

    def submit_all(self, site):
        rng = random.Random("%s %s" % (self.seed, site))
        while not self.is_over.wait(rng.uniform(0, 2 * self.pause)):
            is_rerunnable = rng.random() < 0.2
            options = ["-r"] if is_rerunnable else []
            if site == "south" and rng.random() < 0.5:
                options += ["-q", "away"]
            command = stamped(self.f, site, rng.uniform(*self.seconds))
            try:
                job = self.f.submit(site, command, *options)
            except (Failure, OSError, ValueError, subprocess.TimeoutExpired):
                self.n_refused += 1
                continue
            self.given.add((site, job))
            if is_rerunnable:
                self.rerunnable.add((site, job))

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        for thread in self.threads:
            thread.join(90)

    def listed(self):
        return {(site, job): row for site in ("north", "south")
                for job, row in self.f.jobs(site).items()}

    def judge(self, limit=LIMIT, sites=("north", "south")):
        """All is over, and everything ran once."""
        self.f.wait_for("all jobs to end", lambda: all(
            row["state"] in ("DONE", "EXIT") for row in self.listed().values()), limit)
        listed, ran = self.listed(), stamps(self.f)
        lost = self.given - set(listed)
        expect(not lost, "jobs with an id are lost: %s" % sorted(lost))
        for key, row in sorted(listed.items()):
            expect_equal(row["state"], "DONE", "%s job %d (%s)" % (*key, row["reason"]))
            runs = ran.get(key, [])
            whole = [run for run in runs if run[1] is not None]
            expect(whole, "%s job %d is DONE and never ran to its end" % key)
            # One whose answer was lost may have been rerunnable too.
            if key in self.given and key not in self.rerunnable:
                expect_equal(len(runs), 1, "runs of %s job %d" % key)
        ghosts = set(ran) - set(listed)
        expect(not ghosts, "jobs ran that are not listed: %s" % sorted(ghosts))
        most = most_at_once([run for runs in ran.values() for run in runs])
        for host, count in most.items():
            expect(count <= SLOTS[host],
                   "%s has %d slots and ran %d jobs at once" % (host, SLOTS[host], count))
        return "%d jobs, %d submissions without answer, most at once %s" % (
            len(listed), self.n_refused,
            " ".join("%s:%d" % pair for pair in sorted(most.items())))


# ---------------------------------------------------------------- books


def books(f):
    """What each party says of the lease: (epoch, {host: (provider, consumer)}), and
    what the consumer may use: {host: slots}."""
    row = f.lease()
    broker = (row["epoch"], {h["host"]: (h["provider"]["available"],
                                         h["consumer"]["available"]) for h in row["hosts"]})
    export = [e for e in f.rows("north", "exports") if e["lease"] == LEASE][0]
    lent = {h["host"]: h["lent"] for h in f.rows("north", "hosts")}
    slots = {h["host"]: h["slots"] for h in export["hosts"]}
    provider = (export["epoch"], {h: (n - lent[h], lent[h]) for h, n in slots.items()})
    consumer = {h["host"].split("@")[0]: h["max"] for h in f.rows("south", "hosts")
                if h["lease"] == LEASE}
    return row, broker, provider, consumer, (export["provider"], export["lent"])


def is_agreed(f):
    """All three tell the same of an active lease of which no slot is in use, and of
    all the slots that are exported."""
    row, broker, provider, consumer, totals = books(f)
    if row["state"] != "active" or row["status"] != "ok":
        raise Failure("the lease is %s, %s" % (row["state"], row["status"]))
    if broker != provider:
        raise Failure("broker %r, provider %r" % (broker, provider))
    split = broker[1]
    if {h: n for h, n in consumer.items() if n} != {h: c for h, (_, c) in split.items() if c}:
        raise Failure("broker %r, consumer %r" % (broker, consumer))
    if totals != tuple(sum(side) for side in zip(*split.values())):
        raise Failure("split %r, exports %r" % (split, totals))
    expect_equal({h: sum(sides) for h, sides in split.items()}, {"n1": 4, "n2": 4},
                 "slots of the lease")
    used = (row["provider"]["used"], row["consumer"]["used"])
    if used != (0, 0):
        raise Failure("slots used by nobody: %r" % (used,))
    shown = {h["host"]: (h["max"], h["njobs"], h["exported"])
             for h in f.rows("north", "hosts", "-e")}
    if shown != {h: (lent, 0, sum(split[h])) for h, (_, lent) in split.items()}:
        raise Failure("hosts -e: %r" % shown)
    return True


def agree(f, limit=LIMIT):
    """Nothing is moved meanwhile: an idle lease goes to and fro with every reclaim delay,
    and the books are read one after the other."""
    f.ops("reclaim-delay", "1h", "--lease", LEASE)
    f.wait_for("broker and sites to agree", lambda: is_agreed(f), limit)
    f.ops("reclaim-delay", "default", "--lease", LEASE)
    epochs = [row["epoch"] for row in f.history()]
    expect_equal(epochs, sorted(epochs), "epochs in history never go back")


class Broken(Exception):
    """A promise is broken: not what one waits to pass."""


class Watch:
    """The epoch that the provider has acknowledged never goes back."""

    def __init__(self, f):
        self.f, self.epoch = f, 0

    def look(self):
        rows = [e for e in self.f.rows("north", "exports") if e["lease"] == LEASE]
        if not rows:
            raise Broken("the provider has lost the lease")
        if rows[0]["epoch"] < self.epoch:
            raise Broken("the provider's epoch was %d and is %d" % (
                self.epoch, rows[0]["epoch"]))
        self.epoch = rows[0]["epoch"]


# ---------------------------------------------------------------- faults


class Faults:
    """Faults at random, each healed before the next: by name, in a log of what was
    done, so that a failure can be read."""

    DAEMONS = ("broker", "north", "south")
    HOSTS = ("n1", "n2", "s1")

    def __init__(self, f, rng, proxies=None, stop_s=(0.2, 2.5)):
        self.f, self.rng, self.stop_s = f, rng, stop_s
        self.proxies = proxies or {}
        self.done = []
        self.kinds = [self.kill, self.kill_host, self.stop, self.stop_host,
                      self.end, self.kill_with_hosts, self.kill_two, self.kill_stopped]
        if self.proxies:
            self.kinds += [self.hold, self.cut, self.delay]

    def one(self, kind=None):
        kind = kind or self.rng.choice(self.kinds)
        started = time.monotonic()
        what = kind()
        self.done.append("%s %s (%.1f s)" % (kind.__name__, what, time.monotonic() - started))
        return self.done[-1]

    def pause(self, least=0.0, most=0.6):
        time.sleep(self.rng.uniform(least, most))

    def daemon(self):
        return self.rng.choice(self.DAEMONS)

    def signal_host(self, host, number):
        pids = list(self.f.hosts(host))
        for pid in pids:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass
        return len(pids)

    # ---- one process

    def kill(self):
        name = self.daemon()
        self.f.kill9(name)
        self.pause()
        self.f.start(name)
        return name

    def end(self):
        name = self.daemon()
        expect_equal(self.f.stop(name), 0, "exit of %s on SIGTERM" % name)
        self.pause()
        self.f.start(name)
        return name

    def stop(self):
        name = self.daemon()
        seconds = self.rng.uniform(*self.stop_s)
        os.kill(self.f.daemons[name].pid, signal.SIGSTOP)
        time.sleep(seconds)
        os.kill(self.f.daemons[name].pid, signal.SIGCONT)
        return "%s for %.1f s" % (name, seconds)

    def kill_host(self):
        host = self.rng.choice(self.HOSTS)
        self.signal_host(host, signal.SIGKILL)
        self.pause()
        return host

    def stop_host(self):
        host = self.rng.choice(self.HOSTS)
        seconds = self.rng.uniform(*self.stop_s)
        self.signal_host(host, signal.SIGSTOP)
        time.sleep(seconds)
        self.signal_host(host, signal.SIGCONT)
        return "%s for %.1f s" % (host, seconds)

    # ---- several

    def kill_with_hosts(self):
        """Only guards and jobs are left of a site."""
        name, hosts = self.rng.choice((("north", ("n1", "n2")), ("south", ("s1",))))
        for host in hosts:
            self.signal_host(host, signal.SIGKILL)
        self.f.kill9(name)
        self.pause()
        self.f.start(name)
        return name

    def kill_two(self):
        names = self.rng.sample(self.DAEMONS, 2)
        for name in names:
            self.f.kill9(name)
        self.pause()
        self.f.start(*names)
        return "%s %s" % tuple(names)

    def kill_stopped(self):
        """One goes while another is stopped and cannot hear of it."""
        stopped, killed = self.rng.sample(self.DAEMONS, 2)
        os.kill(self.f.daemons[stopped].pid, signal.SIGSTOP)
        try:
            self.f.kill9(killed)
            self.pause(0.1, 1)
            start = self.f.spawn(killed)
            self.pause(0.1, 1)
        finally:
            os.kill(self.f.daemons[stopped].pid, signal.SIGCONT)
        self.f.wait_for("%s to be ready" % killed, lambda: self.f.is_ready(killed, start))
        return "%s, %s stopped" % (killed, stopped)

    # ---- the network

    def proxy(self):
        name = self.rng.choice(sorted(self.proxies))
        return name, self.proxies[name]

    def hold(self):
        """A partition; what was held comes late, or never."""
        name, proxy = self.proxy()
        seconds = self.rng.uniform(*self.stop_s)
        is_lost = self.rng.random() < 0.5
        proxy.hold()
        time.sleep(seconds)
        if is_lost:
            proxy.cut()
        proxy.heal()
        return "%s for %.1f s%s" % (name, seconds, ", lost" if is_lost else "")

    def cut(self):
        name, proxy = self.proxy()
        n_cuts = self.rng.randint(1, 4)
        for _ in range(n_cuts):
            proxy.cut()
            self.pause(0, 0.3)
        return "%s %d times" % (name, n_cuts)

    def delay(self):
        name, proxy = self.proxy()
        seconds = self.rng.uniform(0.05, 0.8)
        proxy.delay(seconds)
        self.pause(0.5, 2)
        proxy.heal()
        return "%s by %.2f s" % (name, seconds)


def use_proxy(f, proxy, name, text):
    """The site's broker is behind the proxy."""
    f.configure(name, text.replace("BROKER = tcp://127.0.0.1:@PORT@",
                                   "BROKER = tcp://127.0.0.1:%d" % proxy.port))
    with open(f.conf(name)) as file:
        expect(re.search(r"BROKER = \S+:%d\n" % proxy.port, file.read()),
               "%s is behind the proxy" % name)
