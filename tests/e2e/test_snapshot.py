#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Snapshots: what Python's sqlite3 reads in one is what the listings say, while the
broker works; who may fetch one; the regular one; a file of the schema before."""
import os
import sqlite3
import subprocess

from federation import (BIN, BROKER, LEASE, LIMIT, ROOT, Federation, expect,
                        expect_equal, main)

f = Federation()


def read(path):
    """{view: rows as dictionaries} of a snapshot, and the whole is sound."""
    expect_equal(sorted(name for name in os.listdir(os.path.dirname(path))
                        if name.startswith(os.path.basename(path))),
                 [os.path.basename(path)], "a single file")
    with open(path, "rb") as file:
        header = file.read(20)
    expect_equal(header[18:20], b"\1\1", "a rollback journal, no WAL")
    db = sqlite3.connect("file:%s?mode=ro" % path, uri=True)
    db.row_factory = sqlite3.Row
    expect_equal(db.execute("PRAGMA integrity_check").fetchone()[0], "ok", "integrity")
    views = {view: [dict(row) for row in db.execute("SELECT * FROM " + view)]
             for view in ("v_leases", "v_lease_hosts", "v_lease_history", "v_sites")}
    db.close()
    return views


def flat(row):
    """A row of JSON as a row of a view."""
    out = {}
    for key, value in row.items():
        if key == "schedule_within":  # for metrics: the view has sum and count
            continue
        if isinstance(value, dict):
            for part, number in value.items():
                out[key if part == "site" else key + "_" + part] = number
        elif key == "roles":
            out[key] = " ".join(value)
        elif key not in ("hosts", "resources"):  # views of their own
            out[key] = int(value) if isinstance(value, bool) else value
    return out


def listings():
    leases = f.rows("south", "leases", "--all")
    hosts = [dict(flat(host), lease=row["id"]) for row in leases for host in row["hosts"]]
    return {"v_leases": [flat(row) for row in leases], "v_lease_hosts": hosts,
            "v_lease_history": [flat(row) for row in f.history()],
            "v_sites": [flat(row) for row in f.rows("south", "sites")]}


def snapshot(name="snap.db", code=0, **options):
    path = os.path.join(f.dir, "home", name)
    result = f.ops("snapshot", path, code=code, **options)
    return path, result


def is_same():
    """A snapshot between two equal listings is equal to them."""
    before = listings()
    views = read(snapshot()[0])
    if before != listings():
        return False
    for view, rows in before.items():
        expect_equal(views[view], rows, view)
    return True


def test_equals_listings():
    f.wait_for("a quiet moment while pending", is_same)
    job = f.submit("south", "sleep 600", "-q", "away", "-n", "1")
    f.wait_state("south", job, "RUN")
    f.wait_lease("the contract", lambda l: l["state"] == "active" and l["consumer"]["used"] == 1)
    f.ops("reclaim-delay", "1h")
    f.wait_for("a quiet moment with a job", is_same)
    f.ops("reclaim-delay", "1s")
    f.cli("south", "kill", str(job))
    f.wait_state("south", job, "EXIT")


def test_who_may():
    path, result = snapshot("denied.db", code=1, key="north")
    expect("administrator" in result.stderr, result.stderr)
    expect(not os.path.exists(path), "nothing is written")
    result = f.cli("south", "snapshot", path, code=1)
    expect("--broker" in result.stderr, result.stderr)
    f.cli("south", "snapshot", code=2)
    path, result = snapshot("no/such/place.db", code=1)
    expect("place.db" in result.stderr, result.stderr)


def test_over_an_old_one():
    path, _ = snapshot("again.db")
    snapshot("again.db")
    read(path)
    expect_equal(os.stat(path).st_mode & 0o777, 0o600, "mode")
    f.wait_for("nothing to be left beside the store", lambda: not [
        name for name in os.listdir(f.dir)  # the regular one is being made now and then
        if name.endswith((".fetch", ".part"))])


def test_two_at_once():
    """One after the other, or told to try again; never a broken file."""
    keys = os.path.join(f.dir, "keys")
    paths = [os.path.join(f.dir, "home", "at-once-%d.db" % i) for i in range(4)]
    running = [subprocess.Popen(
        [os.path.join(BIN, "sublet"), "--broker", "tcp://127.0.0.1:" + f.words["PORT"],
         "--key", keys + "/ops.key_secret", "--broker-key", keys + "/broker.key",
         "snapshot", path], env=f.environment, stderr=subprocess.PIPE, text=True)
        for path in paths]
    n_made = 0
    for process, path in zip(running, paths):
        _, words = process.communicate(timeout=LIMIT)
        expect(process.returncode == 0 or "another snapshot" in words, words)
        expect_equal(os.path.exists(path), process.returncode == 0, path)
        if process.returncode == 0:
            n_made += 1
            read(path)
    expect(n_made > 0, "at least one is made")


def test_regular():
    path = os.path.join(f.dir, "regular.db")
    f.wait_for("the first", lambda: os.path.exists(path))
    inode = os.stat(path).st_ino
    f.wait_for("the next", lambda: os.stat(path).st_ino != inode)
    expect_equal([row["id"] for row in read(path)["v_leases"]], [LEASE], "leases")

    def is_barred():  # the next one may just have come
        os.rename(path, os.path.join(f.dir, "kept.db"))
        os.mkdir(path)
        return True
    f.wait_for("a directory in its place", is_barred)  # that is said, and no more
    f.wait_for("the complaint", lambda: "no snapshot is made" in open(f.log("broker")).read())
    os.rmdir(path)
    f.wait_for("it to work again", lambda: os.path.isfile(path))
    read(path)


def test_many_rows():
    """A store that takes many steps to copy, changed meanwhile; and one of the schema
    before, whose history is kept."""
    f.stop("broker")
    path = os.path.join(f.dir, "broker.db")
    db = sqlite3.connect(path)
    # Those of no lease, such as a new delay for all, were not in the schema before.
    ids = [row[0] for row in
           db.execute("SELECT id FROM event WHERE lease <> '' ORDER BY id")]
    db.executescript("""
        DROP VIEW v_leases; DROP VIEW v_lease_hosts; DROP VIEW v_lease_history;
        DROP VIEW v_sites; DROP TABLE present_lease; DROP TABLE present_site;
        ALTER TABLE lease DROP COLUMN drain; ALTER TABLE lease DROP COLUMN is_drained;
        ALTER TABLE lease DROP COLUMN is_drain_ordered;
        ALTER TABLE lease DROP COLUMN is_pool; ALTER TABLE lease DROP COLUMN commits;
        DROP VIEW v_lease_resources; DROP TABLE lease_resource;
        ALTER TABLE lease DROP COLUMN split_ms;
        ALTER TABLE lease_host DROP COLUMN mem_mib;
        ALTER TABLE lease_host DROP COLUMN swp_mib;
        DROP TABLE sample; DROP TABLE series; DROP TABLE site;
        DROP TABLE pool_kept; DROP TABLE pool; DROP TABLE held; DROP TABLE held_sum;
        DROP TABLE held_size; DROP TABLE held_recent; DROP TABLE pool_hours;
        ALTER TABLE event RENAME TO old;""")
    with open(os.path.join(ROOT, "schema/broker/001_leases.sql")) as file:
        text = file.read()
    db.executescript(text[text.index("CREATE TABLE history"):])
    db.execute("""INSERT INTO history SELECT id, at_ms, lease, event, state, epoch,
        provider_available, provider_used, consumer_available, consumer_used, reason
        FROM old WHERE lease <> ''""")
    db.execute("DROP TABLE old")
    # 50,000 rows of a lease that is gone: some 8 MiB, of which a step copies one.
    db.execute("""INSERT INTO history SELECT n, n, 'gone/1/gone', 'ended', 'ended', 1, 0, 0,
        0, 0, 'long ago, and for a reason that takes some room' FROM (
        WITH RECURSIVE c(n) AS (SELECT 1000 UNION ALL SELECT n + 1 FROM c LIMIT 50000)
        SELECT n FROM c)""")
    # More leases than a page of a listing has.
    for i in range(600):
        db.execute("INSERT INTO lease VALUES (?, 'north', ?, 'south', 'shared', 'active', 1, 1,"
                   " 0, 1, 1, 1, 1, '')", ("north/p%03d/south" % i, "p%03d" % i))
        db.execute("INSERT INTO lease_host VALUES (?, 0, 'n9', 4, 2, 2, 0, 0, 0)",
                   ("north/p%03d/south" % i,))
    db.execute("PRAGMA user_version = 1")
    db.commit()
    db.close()
    os.unlink(path + "-commit")  # its pages are not the broker's any more
    f.start("broker")
    f.wait_lease("the sites", lambda l: l["status"] == "ok" or l["status"] == "conn")
    job = f.submit("south", "sleep 1", "-q", "away")  # things change meanwhile
    made, _ = snapshot("large.db")
    views = read(made)
    expect(len(views["v_lease_history"]) >= len(ids) + 50000, "rows of history")
    expect_equal([row["id"] for row in views["v_leases"]],
                 [LEASE] + ["north/p%03d/south" % i for i in range(600)], "leases")
    expect(all(row["reclaim_delay_s"] for row in views["v_leases"]), "of all pages")
    expect_equal([row["seq"] for row in f.history()][:len(ids[:3])], ids[:3],
                 "history from before")
    f.wait_state("south", job, "DONE")


def setup():
    f.configure("broker", BROKER.replace(
        "STATE", "SNAPSHOT = @DIR@/regular.db\nSNAPSHOT_INTERVAL = 1s\nSTATE"))
    f.start("broker", "north", "south")
    f.wait_lease("the lease", lambda l: l["status"] == "conn")


main(test_equals_listings, test_who_may, test_over_an_old_one, test_two_at_once,
     test_regular, test_many_rows, shared=f, setup=setup)
