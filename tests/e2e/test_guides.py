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
set -e
case $* in
*postgresql*)
    make-ssl-cert generate-default-snakeoil
    pg_lsclusters -h | while read -r version name rest; do pg_dropcluster "$version" "$name"; done
    pg_createcluster "$(ls /usr/lib/postgresql | sort -V | tail -n 1)" main >/dev/null
    systemctl start postgresql
    ;;
*) systemd-sysusers && systemd-tmpfiles --create /usr/lib/tmpfiles.d/sublet-*.conf ;;
esac
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


def run_guides(names, *machines, user=None):
    """On the same machines. `user` is one that the guides take for granted."""
    files = stage()
    try:
        with Machines(*machines, files=files) as made:
            for machine in machines if user else ():
                made[machine].run("useradd --create-home " + user)
            for name in names:
                guide.run(made, name)
    finally:
        shutil.rmtree(files)


def test_two_sites():
    run_guides(["two-sites.md"], "alpha", "beta")


def test_tutorial():
    run_guides(["tutorial.md"], "demo", user="ana")


def test_from_lsf():
    run_guides(["two-sites.md", "from-lsf.md"], "alpha", "beta")


def test_standby():
    needs("pg_ctlcluster", "pg_createcluster")
    run_guides(["two-sites.md", "standby.md"], "alpha", "beta", "delta")


def test_many_hosts():
    run_guides(["many-hosts.md"], "alpha", "gamma")


def test_slurm():
    needs("munged", "slurmctld-wlm", "slurmd-wlm", "sinfo", "sbatch")
    files = stage()
    shutil.copy(os.path.join(ROOT, "tests", "slurm", "cluster"), files + "/usr/local/sbin/cluster")
    try:
        with Machines("alpha", "beta", files=files) as machines:
            machines["alpha"].run(
                "mkdir -p /srv/slurm /etc/slurm && ln -sf /srv/slurm/etc/slurm.conf /etc/slurm && "
                "KEEPS_RUN=1 setsid cluster /srv/slurm sleep infinity >/srv/cluster.log 2>&1 &")
            machines["alpha"].wait_for("the nodes", lambda: machines["alpha"].run(
                "sinfo -h -N -o '%N %T'", code=None).count("idle") == 3)
            guide.run(machines, "slurm.md")
    finally:
        shutil.rmtree(files)


def test_slurm_borrow():
    needs("munged", "slurmctld-wlm", "slurmd-wlm", "sinfo", "sbatch")
    files = stage()
    shutil.copy(os.path.join(ROOT, "tests", "slurm", "cluster"), files + "/usr/local/sbin/cluster")
    try:
        with Machines("alpha", "beta", files=files) as machines:
            guide.run(machines, "two-sites.md")
            machines["beta"].run(  # a key that is a line of text
                "mkdir -p /srv/slurm/munge /etc/munge && umask 077 && base64 -w 0 /dev/urandom | "
                "head -c 900 >/srv/slurm/munge/key && echo >>/srv/slurm/munge/key && "
                "ln -sf /srv/slurm/munge/key /etc/munge/munge.key")
            machines["beta"].run(
                "mkdir -p /etc/slurm && ln -sf /srv/slurm/etc/slurm.conf /etc/slurm && "
                "ADDRESS=10.77.1.1 CLUSTER=south KEEPS_RUN=1 setsid cluster /srv/slurm "
                "sleep infinity >/srv/cluster.log 2>&1 &")
            machines["beta"].wait_for("the nodes", lambda: machines["beta"].run(
                "sinfo -h -N -o '%N %T'", code=None).count("idle") == 3)
            guide.run(machines, "slurm-borrow.md")
    finally:
        shutil.rmtree(files)


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


main(test_reading_guides, test_tutorial, test_two_sites, test_from_lsf, test_many_hosts, test_standby, test_slurm,
     test_slurm_borrow,
     at_once=2)
