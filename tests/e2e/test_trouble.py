#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A wrong key, a wrong name and a wrong port say so, on both sides."""
import os
import re
import shutil
import signal
import socket
import subprocess

from federation import BIN, BROKER, NORTH, SOUTH, Federation, Skip, expect, free_port, main


def public_key(f, name):
    with open(os.path.join(f.dir, "keys", name + ".key")) as file:
        return re.search(r'public-key = "(.*)"', file.read())[1]


def log_of(f, name):
    with open(f.log(name), errors="replace") as log:
        return log.read()


def with_broker(f):
    f.configure("broker", BROKER.replace(
        "LOST_AFTER", "HTTP = 127.0.0.1:%s\nLOST_AFTER" % f.words["HTTP"]))
    f.start("broker")


def metrics(f):
    return subprocess.run(["curl", "-s", "http://127.0.0.1:%s/metrics" % f.words["HTTP"]],
                          capture_output=True, text=True).stdout


def started(south, key=None):
    """A federation with a broker and this south, which does not connect."""
    f = Federation()
    f.words["HTTP"] = str(free_port())
    with_broker(f)
    f.configure("south", south, key=key)
    f.spawn("south")
    return f


def says(f, *words):
    """`sites` and the log of south have these words."""
    def has_all():
        text = f.cli("south", "sites", code=None).stderr
        return all(word in text and word in log_of(f, "south") for word in words)
    f.wait_for("south to say %s" % (words,), has_all)


def test_unknown_key():
    with started(SOUTH, key="stranger") as f:
        key = public_key(f, "stranger")
        says(f, "does not know this key", key)
        f.wait_for("the broker to say so", lambda: re.search(
            "a handshake from 127.0.0.1 is refused: no Member has the public key "
            + re.escape(key), log_of(f, "broker")))
        f.wait_for("the broker to count it", lambda: re.search(
            r'sublet_handshakes_refused_total\{reason="key"\} [1-9]', metrics(f)))
        # The key is added: the site connects by itself.
        f.configure("broker", BROKER.replace("keys/south.key", "keys/stranger.key"))
        f.restart("broker")
        f.wait_for("south to connect", lambda: [
            row["status"] for row in f.rows("south", "sites") if row["site"] == "south"] == ["ok"])


def test_unknown_broker_key():
    with started(SOUTH.replace("BROKER_KEY = @DIR@/keys/broker.key",
                               "BROKER_KEY = @DIR@/keys/stranger.key")) as f:
        says(f, "answers, but not as the broker", public_key(f, "stranger"), "BROKER_KEY")
        f.wait_for("the broker to say so", lambda: re.search(
            "a handshake from (127.0.0.1|an unknown address) is refused: it is meant for "
            "another public key", log_of(f, "broker")))
        f.wait_for("the broker to count it", lambda: re.search(
            r'sublet_handshakes_refused_total\{reason="broker_key"\} [1-9]', metrics(f)))


def test_name():
    with started(SOUTH.replace("tcp://127.0.0.1:@PORT@", "tcp://nowhere.invalid:@PORT@")) as f:
        says(f, 'the name "nowhere.invalid" cannot be resolved', "correct BROKER")


def test_port():
    with started(SOUTH.replace("127.0.0.1:@PORT@", "127.0.0.1:%d" % free_port())) as f:
        says(f, "127.0.0.1 refuses connections to port", "the port of its LISTEN")


def test_port_of_something_else():
    """What listens there is the broker's page, which waits for the rest of a request."""
    with started(SOUTH.replace("127.0.0.1:@PORT@", "127.0.0.1:@HTTP@")) as f:
        says(f, "accepts connections, but the broker does not answer", "the port of its LISTEN")


def test_stopped_broker():
    """Its kernel accepts connections. Nothing is wrong with the keys."""
    with Federation() as f:
        f.start("broker")
        os.kill(f.daemons["broker"].pid, signal.SIGSTOP)
        try:
            f.spawn("south")
            says(f, "accepts connections, but the broker does not answer", "stopped or overloaded")
            expect("BROKER_KEY" not in log_of(f, "south"), log_of(f, "south"))
        finally:
            os.kill(f.daemons["broker"].pid, signal.SIGCONT)
        f.wait_for("south to connect", lambda: "connected to the broker" in log_of(f, "south"))


def test_command_line():
    """The same words from `sublet --broker`."""
    with Federation() as f:
        f.start("broker")
        text = f.ops("sites", code=1, key="stranger").stderr
        expect("does not know this key" in text and public_key(f, "stranger") in text, text)
        f.stop("broker")
        text = f.ops("sites", code=1).stderr
        expect("refuses connections to port" in text, text)


def test_host():
    """A sublet-host and its site."""
    with Federation() as f:
        port = free_port()
        f.configure("south", SOUTH.replace(
            "HOSTS_HERE", "LISTEN = tcp://127.0.0.1:%d\nHOST_KEYS = @DIR@/hosts\nHOSTS_HERE"
            % port).replace("s1 2 X86_64 EPYC (linux)\n",
                            "s1 2 X86_64 EPYC (linux)\nfar 2 X86_64 EPYC (linux)\n"))
        os.mkdir(os.path.join(f.dir, "hosts"))
        shutil.copy(os.path.join(f.dir, "keys", "ops.key"), os.path.join(f.dir, "hosts", "far.key"))
        f.start("broker")
        f.spawn("south")
        f.wait_for("south to serve", lambda: "ready" in log_of(f, "south").split("\n"))
        for key, site_key, host_says, site_says in (
                ("stranger", "south", "does not know this key: its public half is "
                 + public_key(f, "stranger"), "no host has the public key "
                 + public_key(f, "stranger")),
                ("ops", "north", "answers, but not as the site",
                 "it is meant for another public key")):
            with open(f.log("far"), "w") as log:
                host = subprocess.Popen(
                    [os.path.join(BIN, "sublet-host"), "-n", "far",
                     "--site", "tcp://127.0.0.1:%d" % port,
                     "--key", os.path.join(f.dir, "keys", key + ".key_secret"),
                     "--site-key", os.path.join(f.dir, "keys", site_key + ".key"),
                     "--spool", os.path.join(f.dir, "far")],
                    env=f.environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
            try:
                f.wait_for("the host to say so", lambda: host_says in log_of(f, "far"))
                f.wait_for("the site to say so", lambda: site_says in log_of(f, "south"))
            finally:
                host.kill()
                host.wait()


def test_ipv6():
    """An address of IPv6 in brackets, of which a site and an administrator know no other."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError as error:
        raise Skip("no IPv6 here: %s" % error) from None
    with Federation() as f:
        f.configure("broker", BROKER.replace("127.0.0.1", "[::1]"))
        f.configure("north", NORTH.replace("127.0.0.1", "[::1]"))
        f.start("broker", "north")
        f.wait_for("north to be connected", lambda: any(
            row["status"] == "ok" for row in f.rows("north", "sites")))
        keys = os.path.join(f.dir, "keys")
        f.run("sublet", "--broker", "tcp://[::1]:" + f.words["PORT"], "--key",
              keys + "/ops.key_secret", "--broker-key", keys + "/broker.key", "sites", code=0)


main(test_unknown_key, test_unknown_broker_key, test_name, test_port,
     test_port_of_something_else, test_stopped_broker, test_command_line, test_host,
     test_ipv6, at_once=4)
