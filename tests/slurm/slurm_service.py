# SPDX-License-Identifier: Apache-2.0
"""sublet-slurmd on a host that is lent to a Slurm cluster, and what it has started."""
import collections
import os
import subprocess
import time

from federation import BIN, Failure
from slurm_inside import LIMIT

ACCOUNTS = "0:200000:65536"
Process = collections.namedtuple("Process", "comm uid state")


class Service:
    """Jobs of `user` may have a slurmd of the cluster with that key started, by --conf as it
    is in `conf`."""

    def __init__(self, path, user, key, conf, accounts=ACCOUNTS):
        self.path = path
        with open(path + ".log", "a") as log:
            self.process = subprocess.Popen(
                [os.path.join(BIN, "sublet-slurmd"), "--serve", path, "--user", user,
                 "--munge-key", key, "--accounts", accounts, "slurmd-wlm", "-f", conf],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        deadline = time.monotonic() + LIMIT
        while not os.path.exists(path):
            if self.process.poll() is not None or time.monotonic() > deadline:
                raise Failure(read(path + ".log"))
            time.sleep(0.05)

    def processes(self):
        """Processes of the namespaces that it has made, by their number here. A process that
        ends meanwhile is left out."""
        own = os.readlink("/proc/self/ns/pid")
        found = {}
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.readlink("/proc/%s/ns/pid" % pid) == own:
                    continue
                with open("/proc/%s/stat" % pid) as file:
                    before, _, after = file.read().rpartition(")")
                process = Process(before.partition("(")[2], os.stat("/proc/%s" % pid).st_uid,
                                  after.split()[0])
            except OSError:
                continue
            if process.state not in "ZX":
                found[int(pid)] = process
        return found


def read(path):
    """"" if there is no such file."""
    try:
        with open(path) as file:
            return file.read()
    except FileNotFoundError:
        return ""
