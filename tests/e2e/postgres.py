# SPDX-License-Identifier: Apache-2.0
"""A PostgreSQL server of a test's own (tests/postgres-server)."""
import os
import shutil
import subprocess
import tempfile

from federation import ROOT, Skip

PROGRAM = os.path.join(ROOT, "tests", "postgres-server")


class Server:
    """`port`: it also listens there, on 127.0.0.1. `of`: a synchronous replica of that
    server. `dir`: an empty directory that takes its files."""

    def __init__(self, port=None, of=None, dir=None):
        self.environment = dict(os.environ, **({"PORT": str(port)} if port else {}))
        self.of, self.dir = of, dir

    def __enter__(self):
        self.dir = self.dir or tempfile.mkdtemp(prefix="sublet-postgres-")
        command = ["replicate", self.dir, self.of.dir] if self.of else ["start", self.dir]
        done = subprocess.run([PROGRAM, *command], stdout=subprocess.PIPE, text=True,
                              env=self.environment, check=False)
        if done.returncode == 77:
            shutil.rmtree(self.dir)
            raise Skip("PostgreSQL is not installed")
        done.check_returncode()
        self.url = done.stdout.strip()
        return self

    def __exit__(self, kind, error, trace):
        self.control("stop", check=False)
        shutil.rmtree(self.dir, ignore_errors=True)

    def control(self, command, check=True):
        """restart is a kill of the whole server and a start."""
        subprocess.run([PROGRAM, command, self.dir], check=check, env=self.environment)

    def ask(self, sql, user="sublet"):
        """What a statement returns, as text. The user admin may do everything."""
        port = self.environment.get("PORT", "5432")
        return subprocess.run(["psql", "-qAtX", "-h", self.dir, "-p", port, "-U", user, "sublet",
                               "-c", sql], check=True, text=True,
                              stdout=subprocess.PIPE).stdout.strip()

    def set(self, **settings):
        """Of the whole server."""
        for name, value in settings.items():
            self.ask("ALTER SYSTEM SET %s = '%s'" % (name, value), "admin")
        self.ask("SELECT pg_reload_conf()", "admin")
