#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A value that is refused is named as the user wrote it, by its option or operand: never by
a field or a kind of the messages between programs."""
import os
import re
import subprocess

from federation import BIN, ROOT, Federation, expect, main

f = Federation()
BAD = [b"x" * 5000, b"\x01", b"\xff", b"a b", b"-1", b"99999999999999999999"]
# What the codec says of a value; its own checks do not come to that.
CODEC = re.compile("bytes, expected|control character|not UTF-8|byte 0x|out of bounds")
# They show, or wait for, what does not end; or name fields of JSON, as users do.
LEFT_OUT = ("top", "help", "version", "completion", "simulate", "resreq", "plan", "keygen")
EVERYWHERE = ("--socket", "--broker", "--key", "--broker-key")
FIELDS_OF_JSON = ("-o", "--sort")
OPERANDS = {"sub": ["true"], "reclaim-delay": ["1m"], "kill": ["1"], "lease": ["drain"]}


def sublet(*words):
    socket = os.path.join(f.dir, "north", "sublet.sock").encode()
    words = [word if isinstance(word, bytes) else word.encode() for word in words]
    done = subprocess.run(
        [os.path.join(BIN, "sublet").encode(), b"--socket", socket, *words],
        env=f.environment, cwd=os.path.join(f.dir, "home"), stdin=subprocess.DEVNULL,
        capture_output=True, timeout=60)
    return done.returncode, (done.stdout + done.stderr).decode(errors="replace")


def words_of_messages():
    """Fields with an underscore, and kinds: no user writes these."""
    with open(os.path.join(ROOT, "proto", "sublet.proto")) as file:
        text = file.read()
    fields = set(re.findall(r" (\w+) = \d+;", text))
    kinds = {kind.upper() for kind in re.findall(
        r" (\w+) = \d+;", text.split("message Envelope")[1].split("oneof")[1])}
    return re.compile(r"\b(%s)\b|\b(%s|spec|terms): " % (
        "|".join(sorted(field for field in fields if "_" in field)), "|".join(sorted(kinds))))


def commands():
    _, text = sublet("help")
    text = text.split("Not built yet")[0]
    return [name for name in re.findall(r"^  ([a-z-]+) +[A-Z]", text, re.M)
            if name not in LEFT_OUT]


def options(command):
    _, text = sublet("help", command)
    return [name for name in re.findall(r"^  (-\S+) [A-Z\[]\S* ", text, re.M)
            if name not in (*EVERYWHERE, *FIELDS_OF_JSON)]


def check(forbidden, name, *words):
    """Returns whether the value came to the codec."""
    code, text = sublet(*words)
    if code == 0:
        return False
    found = forbidden.search(text)
    expect(not found, "%s: %s: %s" % (words[:2], found, text[:300]))
    if CODEC.search(text):
        expect(name in text, "%s does not name %s: %s" % (words[:2], name, text[:300]))
        return True
    return False


def test_options():
    forbidden = words_of_messages()
    expect(forbidden.search("SUBMIT: spec: n_slots: 0") and forbidden.search("run_limit_ms"),
           "what the codec says is noticed")
    n_options = n_codec = 0
    for command in commands():
        for option in options(command):
            n_options += 1
            for bad in BAD:
                n_codec += check(forbidden, option, command, option, bad,
                                 *OPERANDS.get(command, []))
    expect(n_options > 50, "options were found: %d" % n_options)
    expect(n_codec > 40, "values came as far as the codec: %d" % n_codec)


def test_operands():
    forbidden = words_of_messages()
    for command, word in (("jobs", ""), ("hosts", "HOST"), ("queues", "QUEUE"),
                          ("leases", "LEASE"), ("sites", "SITE"), ("hist", "JOB"),
                          ("users", "USER"), ("close", "HOST"), ("rebalance", ""),
                          ("peek", ""), ("wait", ""), ("sub", "COMMAND")):
        for bad in BAD:
            check(forbidden, word, command, bad)
    for words in (("switch", BAD[0], "1"), ("queue", "open", BAD[1]), ("queue", "close", "a b")):
        check(forbidden, "QUEUE", *words)
    for words in (("lease", "show", BAD[0]), ("lease", "drain", BAD[1])):
        check(forbidden, "LEASE", *words)
    check(forbidden, "--site", "lease", "drain", "--site", BAD[0])


main(test_options, test_operands, shared=f, setup=lambda: f.start("broker", "north"))
