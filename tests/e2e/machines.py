# SPDX-License-Identifier: Apache-2.0
"""Machines for tests: namespaces of their own for mounts, processes, network and name,
joined by virtual cables. The first machine has a cable to each of the others, and passes on
what these send to one another.

    with Machines("alpha", "beta") as machines:
        machines["alpha"].run("getent hosts beta")

Files are this machine's own, under an overlay that takes all changes; or, with `root`,
those of another root directory. With `boots`, systemd of that root is the first process
(systemd-nspawn); otherwise a small systemctl and journalctl stand in for it. What cannot
be made here raises Skip with the reason. Nothing is left behind."""
import os
import shlex
import shutil
import subprocess
import tempfile
import time

from federation import LIMIT, Failure, Skip, expect

HERE = os.path.dirname(os.path.abspath(__file__))
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

# In a mount namespace of its own: the machine's files, then its first process.
FILES = """
set -e
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs {dir}
mkdir {dir}/upper {dir}/work {dir}/root
mount -t overlay -o lowerdir={lower},upperdir={dir}/upper,workdir={dir}/work overlay {dir}/root
rm -rf {dir}/root/etc/sublet {dir}/root/var/lib/sublet {dir}/root/run/sublet
echo {name} >{dir}/root/etc/hostname
cp {hosts} {dir}/root/etc/hosts
cp -rp {files}/. {dir}/root/
"""
STANDS_IN = """
cp {here}/systemctl_stub.py {dir}/root/usr/local/sbin/systemctl
cp {here}/systemctl_stub.py {dir}/root/usr/local/sbin/journalctl
mount --rbind /dev {dir}/root/dev
mount --rbind /sys {dir}/root/sys
mount -t tmpfs tmpfs {dir}/root/run
mkdir {dir}/root/.old
cd {dir}/root
pivot_root . .old  # not chroot, in which the kernel makes no user namespaces
exec unshare --net --uts --ipc --pid --fork --kill-child --mount-proc sh -c 'umount -l /.old; \\
    rmdir /.old; hostname {name}; ip link set lo up; \\
    mkdir -p /run/systemd/system; exec sleep infinity'
"""
BOOTS = """
exec systemd-nspawn -q -D {dir}/root -M {name} --register=no --keep-unit \\
    --private-network --kill-signal=SIGRTMIN+3 --console=pipe -b
"""


def needs(*programs):
    if os.geteuid() != 0:
        raise Skip("namespaces, packages and accounts need root")
    for program in programs:
        if shutil.which(program) is None:
            raise Skip("%s is not installed; run deploy/deps.sh" % program)


class Machine:
    def __init__(self, name, script, log):
        self.name = name
        self.log = log
        with open(log, "w") as out:
            self.process = subprocess.Popen(
                ["unshare", "--mount", "sh", "-c", script], stdin=subprocess.DEVNULL,
                stdout=out, stderr=out, start_new_session=True)
        self.pid = None

    def find_first(self):
        """The first process of the machine: once that is another namespace's."""
        own = os.readlink("/proc/self/ns/pid")
        pids = [self.process.pid]
        while pids:
            pid = pids.pop()
            try:
                if os.readlink("/proc/%d/ns/pid" % pid) != own:
                    self.pid = pid
                    return True
                with open("/proc/%d/task/%d/children" % (pid, pid)) as file:
                    pids += [int(word) for word in file.read().split()]
            except OSError:
                pass
        return False

    def start(self, command, user="root", outside=False):
        """A command, as `user`; `outside`: with the network of this machine."""
        words = ["nsenter", "-t", str(self.pid), "-m", "-u", "-i", "-p", "-r", "-w"]
        if not outside:
            words.append("-n")
        home = "/root" if user == "root" else "/home/" + user
        words += ["env", "-i", "PATH=" + PATH, "HOME=" + home, "USER=" + user, "TERM=dumb",
                  "LC_ALL=C.UTF-8", "DEBIAN_FRONTEND=noninteractive", "TZ=UTC"]
        for name in ("http_proxy", "https_proxy"):
            if outside and name in os.environ:
                words.append("%s=%s" % (name, os.environ[name]))
        if user != "root":
            words += ["setpriv", "--reuid", user, "--regid", user, "--init-groups"]
        words += ["sh", "-c", "cd %s\n%s" % (home, command)]
        return subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, errors="replace")

    def run(self, command, user="root", code=0, outside=False):
        """What it prints; `code` None: however it ends."""
        process = self.start(command, user, outside)
        try:
            out, _ = process.communicate(timeout=2 * LIMIT)
        except subprocess.TimeoutExpired:
            process.kill()
            raise Failure("%s: %s does not end" % (self.name, command)) from None
        expect(code is None or process.returncode == code, "%s: %s: exit %d: %s" % (
            self.name, command, process.returncode, out))
        return out

    def write(self, path, text):
        self.run("cat >%s <<'END OF FILE'\n%s\nEND OF FILE" % (
            shlex.quote(path), text.rstrip("\n")))

    def wait_for(self, what, condition, limit=LIMIT):
        deadline = time.monotonic() + limit
        while not (answer := condition()):
            if time.monotonic() > deadline:
                raise Failure("%s: waited %d s for %s\n%s" % (
                    self.name, limit, what, self.last_words()))
            time.sleep(0.1)
        return answer

    def last_words(self):
        return self.run("journalctl --no-pager -u 'sublet-*' | tail -n 60", code=None)


class Machines(dict):
    def __init__(self, *names, root="/", files=None, boots=False):
        super().__init__()
        self.names = names
        needs("unshare", "nsenter", "ip", *(["systemd-nspawn"] if boots else []))
        self.dir = tempfile.mkdtemp(prefix="sublet-machines-")
        self.files = files or os.path.join(self.dir, "no-files")
        os.makedirs(os.path.join(self.dir, "no-files"))
        self.hosts = os.path.join(self.dir, "hosts")
        with open(self.hosts, "w") as file:
            file.write("127.0.0.1 localhost\n" + "".join(
                "10.77.%d.1 %s\n" % (i, name) for i, name in enumerate(names)))
        try:
            for name in names:
                self[name] = self.make(name, root, boots)
            for i, name in enumerate(names):
                self.connect(i, name)
        except BaseException:
            self.close()
            raise

    def make(self, name, root, boots):
        words = {"dir": os.path.join(self.dir, name), "name": name, "lower": root,
                 "hosts": self.hosts, "files": self.files, "here": HERE}
        os.mkdir(words["dir"])
        script = (FILES + (BOOTS if boots else STANDS_IN)).format(**words)
        machine = Machine(name, script, os.path.join(self.dir, name + ".console"))
        deadline = time.monotonic() + LIMIT
        test = "systemctl is-system-running --wait >/dev/null" if boots else "hostname"
        while True:
            if machine.process.poll() is not None or time.monotonic() > deadline:
                machine.process.kill()
                with open(machine.log, errors="replace") as log:
                    raise Skip("no machine can be made here: " + log.read()[-400:].strip())
            if machine.find_first():
                process = machine.start(test)
                out = process.communicate(timeout=LIMIT)[0]
                if process.returncode == 0 and (boots or out.strip() == name):
                    return machine
            time.sleep(0.05)

    def connect(self, i, name):
        """Each machine has an address of its own on a cable to the first one."""
        first, machine = self[self.names[0]], self[name]
        if i == 0:
            first.run("ip link set lo up; ip addr add 10.77.0.1/32 dev lo")
            return
        try:
            subprocess.run(
                ["nsenter", "-t", str(first.pid), "-n", "ip", "link", "add", "eth%d" % i,
                 "type", "veth", "peer", "name", "eth0", "netns", str(machine.pid)],
                check=True, capture_output=True, text=True)
        except subprocess.CalledProcessError as error:
            raise Skip("no virtual cable can be made here: " + error.stderr) from None
        first.run("ip link set eth{0} up && ip route add 10.77.{0}.1 dev eth{0} src 10.77.0.1 && "
                  "echo 1 >/proc/sys/net/ipv4/ip_forward".format(i))
        machine.run("ip link set lo up; ip addr add 10.77.{0}.1/32 dev eth0; "
                    "ip link set eth0 up; ip route add 10.77.0.1 dev eth0 src 10.77.{0}.1 && "
                    "ip route add 10.77.0.0/16 via 10.77.0.1 dev eth0 src 10.77.{0}.1".format(i))

    def close(self):
        for machine in self.values():
            if machine.pid is not None:
                try:
                    os.kill(machine.pid, 9)
                except ProcessLookupError:
                    pass
            machine.process.kill()
            machine.process.wait()
        shutil.rmtree(self.dir, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if error is not None and kind is not Skip:
            for machine in self.values():
                print("--- %s\n%s" % (machine.name, machine.last_words()), flush=True)
        self.close()
