# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server of a test's own (tests/postgres-server)."""
import os
import shutil
import subprocess
import tempfile

from federation import ROOT, Skip

PROGRAM = os.path.join(ROOT, "tests", "postgres-server")


class Server:
    def __enter__(self):
        self.dir = tempfile.mkdtemp(prefix="sublet-postgres-")
        done = subprocess.run([PROGRAM, "start", self.dir], stdout=subprocess.PIPE, text=True,
                              check=False)
        if done.returncode == 77:
            shutil.rmtree(self.dir)
            raise Skip("PostgreSQL is not installed")
        done.check_returncode()
        self.url = done.stdout.strip()
        return self

    def __exit__(self, kind, error, trace):
        self.control("stop")
        shutil.rmtree(self.dir)

    def control(self, command):
        """restart is a kill of the whole server and a start."""
        subprocess.run([PROGRAM, command, self.dir], check=True)

    def ask(self, sql):
        """What a statement returns, as text."""
        return subprocess.run(["psql", "-qAtX", self.url, "-c", sql], check=True, text=True,
                              stdout=subprocess.PIPE).stdout.strip()
