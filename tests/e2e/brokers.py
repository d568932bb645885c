# SPDX-License-Identifier: Apache-2.0
"""Two brokers, "broker" and "broker2", on one database of PostgreSQL, with three sites."""
import os
import re
import threading
import time

from federation import BROKER, NORTH, SOUTH, Federation, expect, expect_equal, free_port

JOBS = 6
BROKERS = ("broker", "broker2")
WEST = "north/2/west"


def federation(server, *urls):
    """North lends a host to each of south and west. The sites list the second broker first.
    `urls`: the database as each of the two brokers reaches it."""
    urls = urls or (server.url, server.url)
    f = Federation()
    f.run("sublet", "keygen", f.dir + "/keys/west", code=0)
    text = BROKER.replace("@DIR@/broker.db", "DATABASE").replace(
        "ops @DIR@", "west @DIR@/keys/west.key (consumer)\nops @DIR@")
    expect("DATABASE" in text, "the broker's STATE is replaced")
    f.urls = {"broker": "tcp://127.0.0.1:" + f.words["PORT"],
              "broker2": "tcp://127.0.0.1:%d" % free_port()}
    for name, url in zip(BROKERS, urls):
        own = re.sub("LISTEN = .*", "LISTEN = " + f.urls[name], text)
        f.configure(name, own.replace("DATABASE", url))
    for site, of in (("north", NORTH), ("south", SOUTH), ("west", SOUTH)):
        of = re.sub("BROKER = .*", "BROKER = %s %s" % (f.urls["broker2"], f.urls["broker"]), of)
        of = of.replace("PER_HOST = n1 n2", "PER_HOST = n1")
        if site == "north":
            of += of[of.index("Begin HostExport"):].replace("n1", "n2").replace("south", "west")
        f.configure(site, of.replace("s1", "w1") if site == "west" else of)
    return f


def ask(f, url, *args, code=0):
    """By an administrator's key, through no site."""
    return f.run("sublet", *args, "--broker", url, "--key", f.dir + "/keys/ops.key_secret",
                 "--broker-key", f.dir + "/keys/broker.key", code=code)


def says(f, name, words):
    """Since its last start."""
    with open(f.log(name)) as log:
        log.seek(f.starts[name])
        return words in log.read()


def wait_says(f, name, words):
    f.wait_for("%s to say: %s" % (name, words), lambda: says(f, name, words))


def term(server):
    return int(server.ask("SELECT term FROM leader"))


def leader(f, server):
    url = server.ask("SELECT name FROM leader")
    return next(name for name in BROKERS if f.urls[name] == url)


def start_brokers(f):
    """The first one leads."""
    f.start("broker")
    wait_says(f, "broker", "this broker leads")
    f.start("broker2")
    wait_says(f, "broker2", "this broker is a standby: %s leads" % f.urls["broker"])


def is_connected(lease):
    """Whether or not its slots are in use."""
    return lease["status"] in ("ok", "conn")


def marked(f, site):
    file = "%s/%s.$LSB_JOBID" % (f.marks, site)
    return ("echo begin >>%s; while [ ! -e %s/gate ]; do sleep 0.1; done; echo end >>%s" %
            (file, f.dir, file))


def check_marks(f, site, jobs):
    for job in jobs:
        with open("%s/%s.%d" % (f.marks, site, job)) as file:
            expect_equal(file.read().split(), ["begin", "end"], "job %d of %s" % (job, site))


class Load(threading.Thread):
    """Short jobs of both consumers, some of which run on borrowed hosts, one after the
    other until it is ended."""

    def __init__(self, f):
        super().__init__()
        self.f = f
        self.jobs = {"south": [], "west": []}
        self.is_over = False
        self.error = None

    def run(self):
        try:
            while not self.is_over:
                for site, jobs in self.jobs.items():
                    file = "%s/%s.$LSB_JOBID" % (self.f.marks, site)
                    jobs.append(self.f.submit(
                        site, "echo begin >>%s; sleep 0.3; echo end >>%s" % (file, file)))
                time.sleep(0.5)
        except Exception as error:  # the test's own thread says it
            self.error = error

    def end(self):
        self.is_over = True
        self.join()
        if self.error is not None:
            raise self.error
        return self.jobs


def is_same(a, b):
    """No slot is in use, and both have the contract of one epoch."""
    return a["epoch"] == b["epoch"] and all(
        is_connected(row) and row["provider"]["used"] == row["consumer"]["used"] == 0
        for row in (a, b))


def check_books(f):
    """The contracts are the same at the broker, the provider and the consumers, and so is
    the slot time that each of the three has booked."""
    for site, lease in (("south", "north/1/south"), ("west", WEST)):
        f.wait_for("%s to be the same everywhere" % lease, lambda: is_same(
            f.lease("north", lease), f.lease(site, lease)))
        f.cli(site, "usage", "--reconcile", lease)
