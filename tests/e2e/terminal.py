# SPDX-License-Identifier: Apache-2.0
"""`sublet sub -I` as its users have it: at a terminal of its own, or with pipes.

    t = Terminal(f, "-Is", "bash")
    t.type("exit 4\n")
    t.end()                # its exit code
"""
import fcntl
import os
import pty
import re
import select
import struct
import subprocess
import termios
import time

from federation import BIN, LIMIT, expect, expect_equal


def words(f, *args):
    return [os.path.join(BIN, "sublet"), "--socket", os.path.join(f.dir, "south", "sublet.sock"),
            "sub", *args]


def piped(f, *args, stdin=b"", code=0):
    """A job with pipes: what it wrote, and what was said on standard error."""
    process = subprocess.Popen(words(f, "-I", *args), env=f.environment, cwd=f.dir + "/home",
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                               stderr=subprocess.PIPE)
    got, out, err = f.hear_out(process, stdin)
    expect_equal(got, code, "exit of %s (%s)" % (args, err))
    return out, err.decode()


def job_of(said):
    return int(re.search(r"Job <(\d+)>", said).group(1))


class Terminal:
    """`sublet sub` at a terminal of its own."""

    def __init__(self, f, *args, rows=30, columns=100):
        self.f = f
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(f.dir + "/home")
            # The size is there before the program is.
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            os.execve(words(f)[0], words(f, *args), f.environment)
        self.seen = ""
        self.status = None

    def read(self, limit=0.05):
        if select.select([self.fd], [], [], limit)[0]:
            try:
                self.seen += os.read(self.fd, 65536).decode(errors="replace")
            except OSError:
                return False
        return True

    def wait_for(self, text, limit=LIMIT):
        """Until it shows the text, which then is behind us."""
        deadline = time.monotonic() + limit
        while text not in self.seen:
            self.f.check_daemons()
            expect(time.monotonic() < deadline, "the terminal to show %r, it shows %r" % (
                text, self.seen))
            if not self.read() and text not in self.seen:
                expect(False, "it ended without %r: %r" % (text, self.seen))
        before, self.seen = self.seen.split(text, 1)
        return before

    def type(self, text):
        os.write(self.fd, text.encode())

    def resize(self, rows, columns):
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def end(self, limit=LIMIT):
        """Its exit code, 128 and the signal."""
        deadline = time.monotonic() + limit
        while True:
            self.f.check_daemons()
            self.read()
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid != 0:
                while self.read(0):
                    if not select.select([self.fd], [], [], 0)[0]:
                        break
                os.close(self.fd)
                return (os.WEXITSTATUS(status) if os.WIFEXITED(status)
                        else 128 + os.WTERMSIG(status))
            expect(time.monotonic() < deadline, "it does not end: %r" % self.seen)

    def state(self):
        with open("/proc/%d/stat" % self.pid) as file:
            return file.read().rsplit(")", 1)[1].split()[0]
