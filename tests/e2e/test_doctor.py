#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`sublet doctor`: a line for each check, and what to do where one fails."""
import os

from federation import SOUTH, Federation, expect, expect_equal, free_port, main

f = Federation()


def doctor(*names, code=0):
    """Its lines, by what they check."""
    result = f.run("sublet", "doctor", *[f.conf(name) for name in names], code=code)
    lines = {}
    for line in result.stdout.splitlines():
        word, _, rest = line.partition(" ")
        expect(word in ("ok", "warn", "FAIL"), line)
        lines[rest.strip().replace(f.dir, "DIR")] = word
    expect(code == 0 or "failed" in result.stderr, result.stderr)
    return lines


def failed(lines):
    return [text for text, word in lines.items() if word == "FAIL"]


def has(lines, word, begin):
    return any(text.startswith(begin) and found == word for text, found in lines.items())


def test_all_is_well():
    lines = doctor("broker", "north", "south")
    expect_equal(failed(lines), [], "what fails")
    for begin in ("DIR/broker.conf", "the broker's key DIR/keys/broker.key_secret",
                  "key of member north", "the site's key", "socket DIR/north",
                  "connection to the broker, tcp://127.0.0.1",
                  "clock of the broker, tcp://127.0.0.1"):
        expect(has(lines, "ok", begin), "%s in %s" % (begin, lines))
    # A busy disk is slow, and what a machine has is its own.
    for begin in ("disk DIR: a sync took", "clock", "cgroups", "descriptors"):
        expect(any(text.startswith(begin) for text in lines), "%s in %s" % (begin, lines))


def test_wrong_key():
    f.configure("stray", SOUTH, key="stranger")
    os.makedirs(os.path.join(f.dir, "stray"), exist_ok=True)
    lines = failed(doctor("stray", code=1))
    expect(any("connection to the broker" in text and "does not know this key" in text
               for text in lines), lines)


def test_wrong_port():
    f.configure("stray", SOUTH.replace("@PORT@", str(free_port())), key="stranger")
    lines = failed(doctor("stray", code=1))
    expect(any("refuses connections" in text for text in lines), lines)
    expect(any(text.startswith("socket ") and "systemctl status" in text for text in lines), lines)


def test_mode_of_a_key():
    path = os.path.join(f.dir, "keys", "south.key_secret")
    os.chmod(path, 0o644)
    try:
        lines = failed(doctor("south", code=1))
        expect(any("mode 0644, expected 0600" in text and "chmod 600" in text
                   for text in lines), lines)
    finally:
        os.chmod(path, 0o600)


def test_users_cannot_reach_the_spool():
    if os.geteuid() != 0:
        return  # a site of one user is nobody else's
    os.chmod(f.dir, 0o700)
    try:
        lines = failed(doctor("south", code=1))
        expect(any("users reach" in text and "chmod o+x" in text for text in lines), lines)
    finally:
        os.chmod(f.dir, 0o711)


def test_wrong_configuration():
    f.configure("stray", "Begin Site\nNAME = stray\n")
    lines = failed(doctor("stray", code=1))
    expect(any("run: sublet check" in text for text in lines), lines)


main(test_all_is_well, test_wrong_key, test_wrong_port, test_mode_of_a_key,
     test_users_cannot_reach_the_spool, test_wrong_configuration, shared=f,
     setup=lambda: f.start("broker", "north", "south"))
