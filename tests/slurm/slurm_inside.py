# SPDX-License-Identifier: Apache-2.0
"""Runs parts of a test inside of a Slurm cluster of its own (tests/slurm/cluster).

A test calls `run_inside(FILE, PART)`, which starts the cluster and FILE again in it, with
`--inside PART`. FILE ends by `main_inside(PARTS, TESTS)`."""
import glob
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "e2e"))
from federation import Failure, main
from machines import needs

LIMIT = 120  # seconds for anything that a busy machine has to do


def run_inside(file, part, settings="", seconds=540, environment=None):
    needs("unshare", "ip", "munged", "slurmctld-wlm", "slurmd-wlm", "sinfo", "sbatch")
    files = tempfile.mkdtemp(prefix="sublet-slurm-")
    os.chmod(files, 0o755)
    command = ["unshare", "--net", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
               os.path.join(HERE, "cluster"), files, sys.executable, os.path.abspath(file),
               "--inside", part]
    done = subprocess.run(command, env={**os.environ, "SETTINGS": settings, **(environment or {})}, text=True,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=seconds)
    try:
        if done.returncode != 0:
            logs = "".join("\n%s:\n%s" % (os.path.relpath(path, files), open(path).read()[-3000:])
                           for path in sorted(glob.glob(files + "/**/log/*", recursive=True))
                           if os.path.isfile(path))
            raise Failure("%s%s\n%s" % (done.stdout, logs, done.stderr))
        if os.environ.get("SHOW"):
            print(done.stdout)
        return done.stdout
    finally:
        shutil.rmtree(files)


class Cluster:
    """A further cluster beside the one that the test is in: in a mount namespace of its
    own, where its munged is; its ports follow `port`."""

    def __init__(self, name, directory, port, settings=""):
        self.dir = os.path.join(directory, name)
        os.makedirs(self.dir + "/log")
        self.process = subprocess.Popen(
            ["unshare", "--mount", os.path.join(HERE, "cluster"), self.dir, "sleep", "infinity"],
            env={**os.environ, "CLUSTER": name, "PORT": str(port), "SETTINGS": settings,
                 "KEEPS_RUN": ""}, stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.conf = self.dir + "/etc/slurm.conf"
        self.prefix = ["nsenter", "--mount=/proc/%d/ns/mnt" % self.process.pid, "env",
                       "SLURM_CONF=" + self.conf]
        deadline = time.monotonic() + LIMIT
        while self.run("sinfo", "-h", "-o", "%T", code=None).stdout != "idle\n":
            if time.monotonic() > deadline:
                raise Failure("the nodes of %s: %s" % (name, self.run("sinfo", code=None)))
            time.sleep(0.2)

    def run(self, *words, code=0):
        return run(*self.prefix, *words, code=code)

    def restart_slurmctld(self, how):
        """Ended by that signal: SIGTERM lets it save what it knows."""
        end_slurmctld(self.dir, how)
        self.run("slurmctld-wlm")


def run(*words, code=0):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=LIMIT)
    if code is not None and done.returncode != code:
        raise Failure("%s: exit %d, expected %d: %s%s"
                      % (" ".join(words), done.returncode, code, done.stdout, done.stderr))
    return done


def is_running(pid):
    """Nobody in the namespace reaps daemons."""
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rsplit(")", 1)[1].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def kill_slurmctld():
    """Once it has saved what it knows now: it gives numbers of other jobs again."""
    below = os.path.dirname(os.path.dirname(os.environ["SLURM_CONF"]))
    state = os.path.join(below, "state", "job_state")
    now = time.time()
    job = run("sbatch", "--parsable", "--hold", "--output=/dev/null", "--chdir=/", "--wrap", "true")
    run("scancel", job.stdout.strip())  # there is something to save
    deadline = time.monotonic() + LIMIT
    while time.monotonic() < deadline and not (
            os.path.exists(state) and os.path.getmtime(state) >= now):
        time.sleep(0.2)
    end_slurmctld(below, signal.SIGKILL)


def end_slurmctld(below, how):
    with open(os.path.join(below, "slurmctld.pid")) as file:
        pid = int(file.read())
    os.kill(pid, how)
    deadline = time.monotonic() + LIMIT
    while is_running(pid) and time.monotonic() < deadline:
        time.sleep(0.05)


def main_inside(parts, tests):
    if sys.argv[1:2] == ["--inside"]:
        try:
            parts[sys.argv[2]]()
        except Failure as failure:
            sys.exit("%s: %s" % (sys.argv[2], failure))
    else:
        main(*tests, at_once=4)  # each has a cluster of its own
