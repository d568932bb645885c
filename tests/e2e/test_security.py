#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who may say what: keys, names, users."""
import os
import resource
import socket
import subprocess
import time

from federation import (LEASE, LIMIT, NORTH, SOUTH, Federation, Skip, expect,
                        expect_equal, free_port, main)

f = Federation()


def test_unknown_key_gets_nothing():
    """A key that is no member's: the handshake fails, there is no answer."""
    result = f.ops("leases", "--json", key="stranger", code=1)
    expect_equal(result.stdout, "", "not a byte")
    expect("does not know this key" in result.stderr, result.stderr)


def test_unknown_key_as_a_site():
    f.configure("east", SOUTH.replace("allremote", "others"), key="stranger")
    f.start("east")
    sites = [row["site"] for row in f.rows("south", "sites")]
    expect("east" not in sites, "an unknown site is not shown: %r" % sites)
    f.cli("east", "leases", code=1)
    f.stop("east")


def test_another_sites_name():
    """south's key, north's name: refused, and north's lease stays as it is."""
    before = f.lease()
    text = NORTH.replace("SPOOL = @DIR@/@NAME@", "SPOOL = @DIR@/thief").replace(
        "NAME = @NAME@", "NAME = north").replace("n1 n2", "n1 n2")
    f.configure("thief", text, key="south")
    f.stop("south")
    f.spawn("thief")
    f.wait_for("the broker to say no",
               lambda: "north" in open(f.log("thief")).read()
               and any(word in open(f.log("broker")).read()
                       for word in ("refused", "denied", "another")))
    f.kill9("thief")
    f.start("south")
    f.wait_lease("all as before", lambda l: l["status"] in ("conn", "ok"))
    after = f.lease()
    for field in ("epoch", "state", "hosts"):
        expect_equal(after[field], before[field], field)


def test_only_admins_set_the_delay():
    keys = os.path.join(f.dir, "keys")
    result = f.ops("reclaim-delay", "5s", key="south", code=1)
    expect_equal(result.stdout, "", "south is no administrator")
    f.ops("reclaim-delay", "1s")
    f.ops("reclaim-delay", "default")
    expect(keys, "keys")


def test_other_users_jobs():
    """Another user of this machine sees jobs but does not touch them."""
    if os.geteuid() != 0:
        raise Skip("another user's kill takes root to try")
    job = f.submit("south", "sleep 30")
    path = os.path.join(f.dir, "south", "sublet.sock")

    def as_nobody(*args):
        return subprocess.run(
            [os.path.join(__import__("federation").BIN, "sublet"), "--socket", path, *args],
            user="nobody", group="nogroup", extra_groups=[], cwd="/", text=True,
            env={"PATH": "/usr/bin:/bin", "SUBLET_E2E": f.dir},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    result = as_nobody("kill", str(job))
    expect_equal(result.returncode, 1, "kill of another's job: %r" % result)
    f.wait_state("south", job, "RUN")
    result = as_nobody("reclaim-delay", "5s")
    expect_equal(result.returncode, 1, "reclaim-delay by a user: %r" % result)
    f.cli("south", "kill", str(job))


def test_secret_that_others_can_read():
    keys = os.path.join(f.dir, "keys")
    os.chmod(keys + "/ops.key_secret", 0o644)
    result = f.ops("leases", code=1)
    expect("ops.key_secret" in result.stderr, result.stderr)
    os.chmod(keys + "/ops.key_secret", 0o600)
    expect(LEASE in f.ops("leases").stdout, "and with mode 0600 it is fine")


# ---- the site's socket

def connect():
    """A connection to south's socket that says nothing yet."""
    client = socket.socket(socket.AF_UNIX)
    client.connect(os.path.join(f.dir, "south", "sublet.sock"))
    client.settimeout(LIMIT)
    return client


def read_to_end(client):
    """All that comes until the site closes; None where it does not."""
    text = b""
    try:
        while True:
            piece = client.recv(65536)
            if not piece:
                return text
            text += piece
    except ConnectionResetError:
        return text
    except socket.timeout:
        return None


def memory_kib(name, field):
    with open("/proc/%d/status" % f.daemons[name].pid) as status:
        for line in status:
            if line.startswith(field + ":"):
                return int(line.split()[1])
    return None


def processor_seconds(name):
    with open("/proc/%d/stat" % f.daemons[name].pid) as stat:
        words = stat.read().rsplit(")", 1)[1].split()
    return (int(words[11]) + int(words[12])) / os.sysconf("SC_CLK_TCK")


def capture(*args):
    """What `sublet ARGS` says to a site, byte by byte."""
    path = os.path.join(f.dir, "ear.sock")
    with socket.socket(socket.AF_UNIX) as ear:
        ear.bind(path)
        ear.listen(1)
        caller = subprocess.Popen(
            [os.path.join(__import__("federation").BIN, "sublet"), "--socket", path, *args],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        client, _ = ear.accept()
        with client:
            head = client.recv(4, socket.MSG_WAITALL)
            body = client.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL)
        caller.wait(LIMIT)
    os.unlink(path)
    return head + body


def test_rubbish_on_the_socket():
    before = memory_kib("south", "VmRSS")
    rows = (b"GET / HTTP/1.0\r\n\r\n", b"\xff\xff\xff\xff" + b"x" * 100000,
            b"\x00\x04\x00\x01" + b"x" * 100, b"\x00\x00\x00\x00" * 100,
            b"\x00\x00\x00\x04" + os.urandom(4), b"\x00\x03\xff\xff" + b"\x1a\x00" * 131072)
    for row in rows:
        for _ in range(20):
            client = connect()
            try:
                client.sendall(row)
            except OSError:
                pass
            expect(read_to_end(client) is not None, "not closed after %r" % row[:20])
            client.close()
    expect_equal(f.rows("south", "queues")[0]["queue"], "normal", "others are served")
    after = memory_kib("south", "VmHWM")
    expect(after < before + 60000, "memory: %s KiB before, then %s" % (before, after))


def test_a_message_that_stays_away():
    """A length of 256 KiB and nothing behind it: 900 times, and nobody waits for them."""
    before = memory_kib("south", "VmRSS")
    clients = [connect() for _ in range(900)]
    for client in clients:
        client.sendall(b"\x00\x03\xff\xff")
    f.cli("south", "queues")
    after = memory_kib("south", "VmHWM")
    for client in clients:
        client.close()
    expect(after < before + 200000, "memory: %s KiB before, then %s" % (before, after))


def test_a_client_that_never_reads():
    question = capture("queues", "--json")
    before = memory_kib("south", "VmRSS")
    client = connect()
    client.settimeout(LIMIT)
    try:
        for _ in range(400):
            client.sendall(question * 100)
        expect(False, "40000 questions were taken of who reads no answer")
    except (BrokenPipeError, ConnectionResetError):
        pass
    except socket.timeout:
        expect(False, "neither read nor closed")
    client.close()
    f.cli("south", "queues")
    after = memory_kib("south", "VmHWM")
    expect(after < before + 100000, "memory: %s KiB before, then %s" % (before, after))


def test_1001_connections():
    clients = [connect() for _ in range(1000)]
    one_more = connect()
    expect_equal(read_to_end(one_more), b"", "the 1001st is closed")
    one_more.close()
    for client in clients:
        client.close()
    f.wait_for("room for others", lambda: f.rows("south", "queues"))


def test_no_descriptors_left():
    """The site turns clients away rather than look at them again and again."""
    pid = f.daemons["south"].pid
    open_now = [int(fd) for fd in os.listdir("/proc/%d/fd" % pid)]
    before = resource.prlimit(pid, resource.RLIMIT_NOFILE)
    resource.prlimit(pid, resource.RLIMIT_NOFILE, (max(open_now) + 5, before[1]))
    try:
        clients = [connect() for _ in range(60)]
        turned_away = sum(read_to_end(client) == b"" for client in clients[20:])
        expect_equal(turned_away, 40, "turned away")
        used, begun = processor_seconds("south"), time.monotonic()
        time.sleep(1.5)  # what is measured is the time, so it has to pass
        used, passed = processor_seconds("south") - used, time.monotonic() - begun
        expect(used < 0.5 * passed, "%.2f s of processor time in %.2f s of doing nothing" % (
            used, passed))
        for client in clients:
            client.close()
    finally:
        resource.prlimit(pid, resource.RLIMIT_NOFILE, before)
    f.wait_for("room for others", lambda: f.rows("south", "queues"))


def test_rubbish_on_the_port_for_hosts():
    port = free_port()
    f.configure("south", SOUTH.replace(
        "End Site", "LISTEN = tcp://127.0.0.1:%d\nHOST_KEYS = @DIR@/keys\n"
        "End Site" % port))
    f.stop("south")
    f.start("south")
    clients = []
    for row in (b"", b"\xff\0\0\0\0\0\0\0\x01\x7f\x03\x01CURVE", b"GET / HTTP/1.0\r\n\r\n") * 20:
        client = socket.create_connection(("127.0.0.1", port))
        client.settimeout(LIMIT)
        client.sendall(row)
        clients.append(client)
    f.cli("south", "queues")
    for client in clients:
        expect(read_to_end(client) is not None, "half a handshake is not closed")
        client.close()
    f.configure("south", SOUTH)
    f.stop("south")
    f.start("south")


def setup():
    f.start("broker", "north", "south")
    f.wait_lease("the lease", lambda l: l["status"] == "conn")


main(test_unknown_key_gets_nothing, test_unknown_key_as_a_site, test_another_sites_name,
     test_only_admins_set_the_delay, test_other_users_jobs,
     test_secret_that_others_can_read, test_rubbish_on_the_socket,
     test_a_message_that_stays_away, test_a_client_that_never_reads, test_1001_connections,
     test_no_descriptors_left, test_rubbish_on_the_port_for_hosts, shared=f, setup=setup)
