#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a daemon's file can come to: a full disk, a sync that fails, damage, another
version, two owners, an old copy, none at all. The daemon goes on with what it promised,
or says why it does not start and leaves the file as it is."""
import contextlib
import itertools
import os
import pwd
import shutil
import sqlite3
import subprocess
import time

from faults import Load, Watch, agree, stamped, stamps
from federation import (BIN, BROKER, LEASE, LIMIT, NORTH, SOUTH, Failure, Federation, Skip,
                        expect, expect_equal, is_sanitized, main)

PAGE = 4096
SCHEMAS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "schemas")


# ---------------------------------------------------------------- words of the tests


def store(f, name):
    return os.path.join(f.dir, "broker.db" if name == "broker" else name + "/journal.db")


def begin(f):
    """A federation with a lease that has moved, and jobs that have ended."""
    f.start("broker", "north", "south")
    f.wait_lease("the lease", lambda l: l["status"] in ("conn", "ok"))
    # Slots move once the lease is made, by a job that runs there.
    jobs = [f.submit("south", stamped(f, "south", 0.2), "-q", queue)
            for queue in ("normal", "away") for _ in range(2)]
    f.cli("south", "wait", *map(str, jobs))
    f.wait_lease("slots to move", lambda l: l["epoch"] >= 2)
    return {("south", job) for job in jobs}


def end(f, *names):
    for name in names or ("broker", "north", "south"):
        expect_equal(f.stop(name), 0, "exit of " + name)


def said_since(f, name, start):
    with open(f.log(name), errors="replace") as log:
        log.seek(start)
        return log.read()


def ended(f, name, start, words):
    """It ends by itself, with exit 1, and says why."""
    code = f.wait_end(name)
    said = said_since(f, name, start)
    expect_equal(code, 1, "exit of %s, saying %s" % (name, said))
    expect(any(word in said for word in words),
           "%s says %r, expected one of %r" % (name, said, words))
    return said


def refused(f, name, *words):
    """It does not start, says so, and leaves the file as it is."""
    before = read(store(f, name))
    said = ended(f, name, f.spawn(name), words)
    expect("ready" not in said.split("\n"), "%s was ready: %s" % (name, said))
    expect("cannot start" in said, "%s says %r" % (name, said))
    expect(read(store(f, name)) == before, "the file of %s was changed" % name)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def write(path, content):
    with open(path, "wb") as file:
        file.write(content)


def goes_on(f, given, watch=None):
    """All of it is there again, agrees, and works."""
    f.wait_lease("the lease to be back", lambda l: l["status"] == "ok")
    if watch is not None:
        watch.look()
    for _ in range(3):
        given.add(("south", f.submit("south", stamped(f, "south", 0.1), "-q", "away")))
    load = Load(f, 0)
    load.given = given
    load.judge()
    agree(f)


# ---------------------------------------------------------------- damage


def test_damaged_pages():
    with Federation() as f:
        given = begin(f)
        end(f)
        for name in ("broker", "north", "south"):
            whole = read(store(f, name))
            expect(len(whole) >= 4 * PAGE, "%s has pages" % name)
            pages = range(0, len(whole), PAGE)
            for at in pages:
                write(store(f, name),
                      whole[:at] + b"\xa5" * PAGE + whole[at + PAGE:])
                refused(f, name, "damaged", "malformed", "not a database")
            write(store(f, name), whole)
        f.start("broker", "north", "south")
        goes_on(f, given)


def test_truncated():
    with Federation() as f:
        given = begin(f)
        end(f)
        for name in ("broker", "north"):
            whole = read(store(f, name))
            for size in (100, PAGE, len(whole) // 2, len(whole) - PAGE):
                write(store(f, name), whole[:size])
                refused(f, name, "damaged", "malformed", "not a database", "I/O")
            write(store(f, name), whole)
        f.start("broker", "north", "south")
        goes_on(f, given)


def test_not_ours():
    with Federation() as f:
        given = begin(f)
        end(f)
        whole = {name: read(store(f, name)) for name in ("broker", "north")}
        for name in whole:  # as of a file that is replaced
            os.unlink(store(f, name) + "-commit")
        write(store(f, "broker"), b"Begin Broker\nLISTEN = tcp://...\n" * 400)
        refused(f, "broker", "not a database")
        write(store(f, "broker"), whole["north"])
        refused(f, "broker", "\" belongs to another program")
        write(store(f, "north"), whole["broker"])
        refused(f, "north", "\" belongs to another program")
        for name, content in whole.items():
            write(store(f, name), content)
            with contextlib.closing(sqlite3.connect(store(f, name))) as db:
                version = db.execute("PRAGMA user_version").fetchone()[0]
                db.execute("PRAGMA user_version = %d" % (version + 1))
            refused(f, name, "has schema %d, this program knows %d" % (version + 1, version))
            write(store(f, name), content)
        f.start("broker", "north", "south")
        goes_on(f, given)


# ---------------------------------------------------------------- the schema before


def load_schema(f, name, dump):
    """Makes a daemon's file as an earlier release wrote it, of the user who tests."""
    me = pwd.getpwuid(os.geteuid())
    with open(os.path.join(SCHEMAS, dump + ".sql")) as file:
        script = file.read().replace("'root',0,0,", "'%s',%d,%d," % (
            me.pw_name, me.pw_uid, me.pw_gid))
    os.makedirs(os.path.dirname(store(f, name)), exist_ok=True)
    with contextlib.closing(sqlite3.connect(store(f, name))) as db:
        db.executescript(script)


def test_first_schema():
    """Files of schema 1: a lease of epoch 4 with an override, five jobs that ended long
    ago, and job 6, which waits for a borrowed slot."""
    with Federation() as f:
        for name, dump in (("broker", "broker-001"), ("north", "provider-001"),
                           ("south", "consumer-001")):
            load_schema(f, name, dump)
        f.start("broker", "north", "south")
        f.wait_state("south", 6, "DONE")
        expect_equal(f.submit("south", stamped(f, "south", 0.1)), 7, "the next job's id")
        history = f.history()
        expect_equal([row["epoch"] for row in history[:8]], [1, 1, 1, 2, 2, 3, 3, 4],
                     "what was history")
        expect(f.lease()["epoch"] >= 4, "the epoch did not go back")
        expect_equal(f.lease()["reclaim_delay_s"], 2, "the override")
        f.wait_state("south", 7, "DONE")
        agree(f)
        end(f)
        for name in ("broker", "north", "south"):
            with contextlib.closing(sqlite3.connect(store(f, name))) as db:
                version = db.execute("PRAGMA user_version").fetchone()[0]
            expect_equal(os.path.exists(store(f, name) + ".v1.backup"), version > 1,
                         "a copy of the file of %s, now of schema %d" % (name, version))


# ---------------------------------------------------------------- two owners


def test_two_owners():
    """A second daemon on the file of one that runs is refused; the first does not
    notice."""
    with Federation() as f:
        given = begin(f)
        twins = {"broker": BROKER.replace("@PORT@", "*"),
                 "north": NORTH.replace("SPOOL = ", "SOCKET = @DIR@/twin.sock\nSPOOL = ")}
        for name, text in twins.items():
            f.configure("twin", text.replace("@NAME@", name), key=name)
            program = "sublet-broker" if name == "broker" else "sublet-site"
            result = f.run(program, f.conf("twin"), code=1)
            expect("cannot start" in result.stderr and
                   "open in another process" in result.stderr, result.stderr)
        goes_on(f, given)
        for name in ("broker", "north"):
            f.restart(name)
        goes_on(f, given)


# ---------------------------------------------------------------- old, or gone


def changed_while(f):
    """The lease changes and jobs run: what an old copy does not know."""
    epoch = f.lease()["epoch"]
    given = {("south", f.submit("south", stamped(f, "south", 0.2))) for _ in range(4)}
    f.wait_lease("the lease to move on", lambda l: l["epoch"] >= epoch + 2)
    return given


def test_broker_from_old_backup():
    with Federation() as f:
        given = begin(f)
        end(f, "broker")
        old = read(store(f, "broker"))
        f.start("broker")
        f.wait_lease("both sites to be back", lambda l: l["status"] == "ok")
        given |= changed_while(f)
        watch = Watch(f)
        watch.look()
        given.add(("south", f.submit("south", stamped(f, "south", 3), "-q", "away")))
        f.kill9("broker")
        remove_store(f, "broker")
        write(store(f, "broker"), old)
        start = os.path.getsize(f.log("broker"))
        f.start("broker")
        goes_on(f, given, watch)
        # The sites know how far it was. The alarm lasts until it is accepted.
        expect("the store is behind what site " in said_since(f, "broker", start),
               "the log says that the store is behind")
        end(f, "broker")
        expect(lost_commits(f) > 0, "commits are missing")
        f.options["broker"] = ["--accept-loss"]
        f.start("broker")
        f.wait_lease("both sites to be back", lambda l: l["status"] == "ok")
        end(f, "broker")
        expect_equal(lost_commits(f), 0, "commits missing once that is accepted")


def lost_commits(f):
    """What the broker's store says that it has lost."""
    with contextlib.closing(sqlite3.connect(store(f, "broker"))) as db:
        rows = db.execute("SELECT value FROM counter WHERE name = 'lost_commits'").fetchall()
    return rows[0][0] if rows else 0


def remove_store(f, name):
    for tail in ("", "-wal", "-commit"):
        with contextlib.suppress(FileNotFoundError):
            os.unlink(store(f, name) + tail)


def test_broker_without_file():
    with Federation() as f:
        given = begin(f)
        given |= changed_while(f)
        watch = Watch(f)
        watch.look()
        f.kill9("broker")
        remove_store(f, "broker")
        f.start("broker")
        goes_on(f, given, watch)


def test_log_of_broker_cut():
    """The end of the write-ahead log is gone, as after a power cut on a disk that lied:
    older than it was, as if from a backup."""
    with Federation() as f:
        given = begin(f)
        given |= changed_while(f)
        watch = Watch(f)
        watch.look()
        f.kill9("broker")
        log = store(f, "broker") + "-wal"
        content = read(log)
        write(log, content[:len(content) // 2] + b"\xa5" * (len(content) // 3))
        refuse_loss(f, "broker")
        f.options["broker"] = ["--accept-loss"]
        f.start("broker")
        goes_on(f, given, watch)


def refuse_loss(f, name):
    """The daemon does not start, says what would be lost, and changes nothing."""
    log = read(store(f, name) + "-wal")
    program = "sublet-broker" if name == "broker" else "sublet-site"
    result = f.run(program, f.conf(name), code=1)
    expect("of committed changes would be lost" in result.stderr and
           "--accept-loss" in result.stderr, result.stderr)
    expect_equal(read(store(f, name) + "-wal"), log, "the log")


def test_log_of_site_cut():
    """Jobs that were acknowledged would be forgotten, and their numbers given to new
    jobs."""
    with Federation() as f:
        begin(f)
        jobs = [f.submit("south", "true") for _ in range(5)]
        f.kill9("south")
        log = store(f, "south") + "-wal"
        content = read(log)
        write(log, content[:32])  # what a log begins with; old pages may follow the valid ones
        refuse_loss(f, "south")
        write(log, content)
        f.start("south")
        for job in jobs:
            f.wait_state("south", job, "DONE")


def test_missing_with_witnesses():
    """A store that is missing or empty is refused where something beside it says that
    there was one: a broker's copy, the runs of a site's hosts."""
    with Federation() as f:
        f.configure("broker", BROKER.replace(
            "STATE", "SNAPSHOT = @DIR@/copy.db\nSNAPSHOT_INTERVAL = 1s\nSTATE"))
        begin(f)
        f.wait_for("a copy", lambda: os.path.exists(f.dir + "/copy.db"))
        for name, witness in (("broker", "copy.db"), ("south", "hosts/s1/mark")):
            f.kill9(name)
            remove_store(f, name)
            for make in (lambda path: None, lambda path: write(path, b"")):
                make(store(f, name))
                program = "sublet-broker" if name == "broker" else "sublet-site"
                said = f.run(program, f.conf(name), code=1).stderr
                expect("is missing or empty, but" in said and witness in said and
                       "--accept-loss" in said, said)
            f.options[name] = ["--accept-loss"]
            f.start(name)
        f.wait_lease("the lease to be back", lambda l: l["status"] in ("conn", "ok"))
        f.cli("south", "sub", "-K", "true")


# ---------------------------------------------------------------- full disk


@contextlib.contextmanager
def small_disk(f, mib):
    """A file system of that size in the federation's directory."""
    path = os.path.join(f.dir, "small")
    os.mkdir(path)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%dm,mode=711" % mib, "sublet",
                       path], stderr=subprocess.DEVNULL, check=False).returncode != 0:
        raise Skip("mounting a small file system is not allowed here")
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", path], check=True)


def fill(path):
    """Until there is no room for another byte."""
    filler = os.path.join(path, "filler")
    with contextlib.suppress(OSError), open(filler, "ab", 0) as file:
        while True:
            file.write(bytes(PAGE))
    return filler


def run_full(f, name, given, burden):
    """Its disk is full: it ends at the next thing it would have to promise. `burden`
    makes it promise something."""
    watch = Watch(f)
    watch.look()
    f.let_end(name)
    filler = fill(os.path.join(f.dir, "small"))
    start = os.path.getsize(f.log(name))
    # Free pages of the database may take what some hundred jobs or events add.
    deadline = time.monotonic() + LIMIT
    while f.ending[name].poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(Failure, ValueError):
            burden()
    said = ended(f, name, start, ("full",))
    expect("; nothing of the batch was sent, and the next start continues from what is on disk" in said, said)
    # Until there is room it ends again, and promises no more than before.
    ended(f, name, f.spawn(name), ("full",))
    os.unlink(filler)
    f.start(name)
    goes_on(f, given, watch)


def submitting(f, given):
    return lambda: given.add(("south", f.submit("south", stamped(f, "south", 0.1))))


def test_full_disk_of_broker():
    with Federation() as f, small_disk(f, 2):
        f.configure("broker", BROKER.replace("@DIR@/broker.db", "@DIR@/small/broker.db"))
        delays = itertools.cycle(["3s", "default"])
        # Each is an event, which is appended to the history.
        run_full(f, "broker", begin(f),
                 lambda: f.ops("reclaim-delay", next(delays), "--lease", LEASE))


def test_full_disk_of_consumer():
    with Federation() as f, small_disk(f, 4):
        f.configure("south", SOUTH.replace("SPOOL = @DIR@/", "SPOOL = @DIR@/small/"))
        os.symlink("small/south", os.path.join(f.dir, "south"))
        given = begin(f)
        run_full(f, "south", given, submitting(f, given))


def test_full_disk_of_provider():
    """Guards keep their records on the same disk, and the ends of jobs until there is
    room."""
    with Federation() as f, small_disk(f, 4):
        f.configure("north", NORTH.replace("SPOOL = @DIR@/", "SPOOL = @DIR@/small/"))
        os.symlink("small/north", os.path.join(f.dir, "north"))
        given = begin(f)
        given |= {("south", f.submit("south", stamped(f, "south", 2), "-q", "away"))
                  for _ in range(4)}
        f.wait_for("jobs to run", lambda: f.n_jobs("south", "RUN") == 4)
        run_full(f, "north", given, submitting(f, given))


# ---------------------------------------------------------------- failed sync


def with_faulty_calls(f, name):
    """The daemon alone runs with libfiu, which is a thread that takes signals: its
    hosts and guards would miss theirs."""
    fifo = os.path.join(f.dir, "fiu")
    program = "sublet-broker" if name == "broker" else "sublet-site"
    copies = os.path.join(f.dir, "copies")
    os.mkdir(copies)
    shutil.copy(os.path.join(BIN, program), copies)
    host = os.path.join(copies, "sublet-host")
    with open(host, "w") as file:
        file.write('#!/bin/sh\nunset LD_PRELOAD\nexec %s/sublet-host "$@"\n' % BIN)
    os.chmod(host, 0o755)
    f.prefixes[name] = ["sh", "-c", 'shift; exec fiu-run -x -f %s %s/%s "$@"' % (
        fifo, copies, program), "sh"]
    return fifo


def run_unsynced(name):
    """A sync fails once, and is taken for the end."""
    if shutil.which("fiu-run") is None:
        raise Skip("libfiu is not here (package fiu-utils)")
    if is_sanitized():
        raise Skip("libfiu and sanitizers each have to be the first library")
    with Federation() as f:
        fifo = with_faulty_calls(f, name)
        given, watch = begin(f), Watch(f)
        watch.look()
        start = os.path.getsize(f.log(name))
        enable = ["enable_random name=posix/io/sync/%s,probability=1,failinfo=5" % call
                  for call in ("fsync", "fdatasync")]
        words = [word for command in enable for word in ("-c", command)]
        f.let_end(name)
        subprocess.run(["fiu-ctrl", "-f", fifo, *words, str(f.ending[name].pid)], check=True, timeout=LIMIT)
        with contextlib.suppress(Failure, ValueError):
            given.add(("south", f.submit("south", stamped(f, "south", 0.1), "-q", "away")))
        said = ended(f, name, start, ("disk I/O error",))
        # The commit that fails first may be that of the books.
        expect("the next start continues from what is on disk" in said, said)
        f.start(name)
        goes_on(f, given, watch)


def test_failed_sync_of_broker():
    run_unsynced("broker")


def test_failed_sync_of_provider():
    run_unsynced("north")


def test_failed_sync_of_consumer():
    run_unsynced("south")


main(test_damaged_pages, test_truncated, test_not_ours, test_first_schema, test_two_owners,
     test_broker_from_old_backup, test_broker_without_file, test_log_of_broker_cut,
     test_missing_with_witnesses,
     test_log_of_site_cut, test_full_disk_of_broker, test_full_disk_of_consumer,
     test_full_disk_of_provider, test_failed_sync_of_broker,
     test_failed_sync_of_provider, test_failed_sync_of_consumer, at_once=3)
