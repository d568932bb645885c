#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The guides, word by word: every command of docs/guide on machines of namespaces, with
the programs of this tree installed where packages put them."""
import os
import shutil
import subprocess
import tempfile

import guide
from federation import ROOT, Failure, expect, expect_equal, main
from machines import Machines, needs

# What apt-get install does with the packages, beyond their files.
APT_GET = """#!/bin/sh
systemd-sysusers && systemd-tmpfiles --create /usr/lib/tmpfiles.d/sublet-*.conf
"""


def stage():
    """The tree as it is installed, in a directory."""
    needs("unshare", "systemd-sysusers", "systemd-tmpfiles", "curl")
    files = tempfile.mkdtemp(prefix="sublet-guides-")
    os.chmod(files, 0o755)  # of the root directory, then
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    made = subprocess.run(["make", "-s", "install", "PREFIX=/usr", "DESTDIR=" + files], cwd=ROOT,
                          env=environment, capture_output=True, text=True)
    if made.returncode != 0:
        raise Failure("make install: %s%s" % (made.stdout, made.stderr))
    os.makedirs(files + "/usr/local/sbin")
    with open(files + "/usr/local/sbin/apt-get", "w") as script:
        script.write(APT_GET)
    os.chmod(files + "/usr/local/sbin/apt-get", 0o755)
    return files


def run_guide(name, *machines, user=None):
    """`user` is one that the guide takes for granted."""
    files = stage()
    try:
        with Machines(*machines, files=files) as made:
            for machine in machines if user else ():
                made[machine].run("useradd --create-home " + user)
            guide.run(made, name)
    finally:
        shutil.rmtree(files)


def test_two_sites():
    run_guide("two-sites.md", "alpha", "beta")


def test_tutorial():
    run_guide("tutorial.md", "demo", user="ana")


def test_many_hosts():
    run_guide("many-hosts.md", "alpha", "gamma")


def test_reading_guides():
    """What the tests above believe: a line that is not printed is noticed."""
    wanted = ["SITE  STATUS ...", "north ok ..."]
    expect(guide.is_printed(wanted, "SITE STATUS SINCE\nnorth   ok  now\n"), "both lines")
    expect(not guide.is_printed(wanted, "SITE STATUS SINCE\nnorth disc now\n"), "another status")
    expect(not guide.is_printed(wanted, "north ok now\nSITE STATUS SINCE\n"), "another order")
    expect(not guide.is_printed(wanted, "SITE STATUS SINCE\nnorth ok\n"), "less than was said")
    steps = guide.read("two-sites.md")
    expect_equal({step.machine for step in steps}, {"alpha", "beta"}, "machines of the guide")
    expect(sum(len(step.prints) for step in steps) > 20, "what the commands print is read")
    expect(any("End Member" in step.command for step in steps), "here-documents are read")


main(test_reading_guides, test_tutorial, test_two_sites, test_many_hosts, at_once=2)
