#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What jobs do to a site: they fork away, ignore signals, fill their output, outlive
their limit, die while suspended; a machine restarts under them; a host or a site runs
out of descriptors, processes or disk. On own hosts and on leased ones: nothing is left
behind, nothing runs twice, the daemons stay as they are."""
import concurrent.futures
import contextlib
import json
import os
import resource
import signal
import subprocess
import tempfile
import time

from federation import BIN, Federation, expect, expect_equal, is_sanitized, main

QUEUES = ("normal", "away")
MIB = 1 << 20
# What a daemon may grow by in its busiest moment; a sanitizer keeps what is freed.
FLAT_MIB = 512 if is_sanitized() else 48


@contextlib.contextmanager
def federation():
    with Federation() as f:
        f.start("broker", "north", "south")
        f.wait_lease("the lease", lambda l: l["status"] == "conn")
        yield f


def both(f, test):
    """The same at home and on the lease at once, each with names of its own."""
    with concurrent.futures.ThreadPoolExecutor(len(QUEUES)) as pool:
        list(pool.map(lambda queue: test(queue, os.path.join(f.marks, queue)), QUEUES))


def ended(f, job):
    f.wait_state("south", job, "DONE", "EXIT")
    return f.job("south", job)


def text_of(path):
    with open(path) as file:
        return file.read()


def pid_in(f, path):
    """The process id that a job leaves in a file."""
    f.wait_for(path + " to be written", lambda: text_or_none(path).endswith("\n"))
    return int(text_of(path))


def text_or_none(path):
    return text_of(path) if os.path.exists(path) else ""


def state_of(pid):
    """T stopped, S asleep, ...; "" for a process that is gone (or only a zombie)."""
    try:
        state = text_of("/proc/%d/stat" % pid).rsplit(")", 1)[1].split()[0]
    except OSError:
        return ""
    return "" if state in "ZX" else state


def memory_mib(pid):
    for line in text_of("/proc/%d/status" % pid).split("\n"):
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) // 1024
    return 0


def daemons(f):
    """Ids of all daemons but guards, by a name for talk."""
    found = {name: process.pid for name, process in f.daemons.items()}
    for host in ("n1", "n2", "s1"):
        for pid in f.hosts(host):
            found["host " + host] = pid
    return found


@contextlib.contextmanager
def flat_memory(f):
    before = {name: (pid, memory_mib(pid)) for name, pid in daemons(f).items()}
    yield
    for name, (pid, mib) in before.items():
        expect(memory_mib(pid) - mib <= FLAT_MIB,
               "memory of %s: %d MiB, before %d" % (name, memory_mib(pid), mib))


def still_serving(f):
    """The same daemons as before, and a job goes through at both sites."""
    for name, process in f.daemons.items():
        expect(process.poll() is None, name + " lives")
    f.cli("south", "sub", "-K", "true")
    f.cli("south", "sub", "-K", "-q", "away", "true")


# ---- jobs that will not go

# A daemon's double fork: its own session, its parent gone, its environment bare.
FORK_AWAY = ("(setsid env -i sh -c 'echo $$ >%s; exec sleep 300' >/dev/null 2>&1 </dev/null &); "
             "while [ ! -s %s ]; do sleep 0.05; done; ")


def test_forks_away():
    """What a job leaves behind ends with it."""
    with federation() as f:
        def one(queue, mark):
            job = f.submit("south", FORK_AWAY % (mark, mark), "-q", queue)
            expect_equal(ended(f, job)["state"], "DONE", "how it ended")
            expect_equal(state_of(pid_in(f, mark)), "", "it forked away and is gone")
        both(f, one)


def test_forks_away_and_is_controlled():
    """Stop, resume and kill reach who forked away."""
    with federation() as f:
        def one(queue, mark):
            job = f.submit("south", FORK_AWAY % (mark, mark) + "sleep 300", "-q", queue)
            pid = pid_in(f, mark)
            f.wait_state("south", job, "RUN")
            f.cli("south", "stop", str(job))
            f.wait_state("south", job, "USUSP")
            f.wait_for("it to stop", lambda: is_still(pid))
            f.cli("south", "resume", str(job))
            f.wait_for("it to go on", lambda: not is_still(pid))
            f.cli("south", "kill", str(job))
            expect_equal(ended(f, job)["state"], "EXIT", "killed")
            expect_equal(state_of(pid), "", "and who forked away with it")
        both(f, one)


def is_still(pid):
    """Stopped, or in a frozen cgroup."""
    if state_of(pid) == "T":
        return True
    with contextlib.suppress(OSError):
        for line in text_of("/proc/%d/cgroup" % pid).split("\n"):
            if line.startswith("0::") and "sublet" in line:
                for mount in ("/sys/fs/cgroup", "/sys/fs/cgroup/unified"):
                    events = mount + line[3:] + "/cgroup.events"
                    if os.path.exists(events):
                        return "frozen 1" in text_of(events)
    return False


def test_ignores_signals():
    """TERM, INT and HUP mean nothing to it; KILL comes after the grace."""
    with federation() as f:
        def one(queue, mark):
            job = f.submit("south", "trap '' TERM INT HUP; echo $$ >%s; "
                           "while :; do sleep 0.1; done" % mark, "-q", queue)
            pid = pid_in(f, mark)
            for name in ("TERM", "INT", "HUP"):
                f.cli("south", "kill", "-s", name, str(job))
            f.wait_state("south", job, "RUN")
            expect(state_of(pid) != "", "it lives on")
            f.cli("south", "kill", str(job))
            row = ended(f, job)
            expect_equal((row["state"], row["exit_code"]), ("EXIT", 128 + signal.SIGKILL),
                         "killed at last")
            expect_equal(state_of(pid), "", "and gone")
        both(f, one)


# ---- limits of time

def test_outlives_its_limit():
    """Time counts in RUN alone; a job that ignores the end is killed."""
    with federation() as f:
        def one(queue, mark):
            job = f.submit("south", "trap '' TERM; echo $$ >%s; while :; do sleep 0.1; done"
                           % mark, "-q", queue, "-W", "5s")
            pid = pid_in(f, mark)
            f.wait_state("south", job, "RUN")
            f.cli("south", "stop", str(job))
            f.wait_state("south", job, "USUSP")
            stopped = time.monotonic()
            f.wait_for("more than its limit to pass while it is suspended",
                       lambda: time.monotonic() - stopped > 6)
            expect_equal(f.job("south", job)["state"], "USUSP", "that does not count")
            f.cli("south", "resume", str(job))
            f.wait_state("south", job, "RUN")
            row = ended(f, job)
            expect_equal(row["state"], "EXIT", "its limit ends it")
            expect("limit" in (row["reason"] or ""), "and is the reason: %r" % row["reason"])
            expect_equal(state_of(pid), "", "it does not exist any more")
        both(f, one)


# ---- dying while suspended

def suspended(f, queue, mark):
    job = f.submit("south", "echo $$ >%s; while :; do sleep 0.1; done" % mark, "-q", queue)
    pid = pid_in(f, mark)
    f.wait_state("south", job, "RUN")
    f.cli("south", "stop", str(job))
    f.wait_state("south", job, "USUSP")
    return job, pid


def test_dies_while_suspended():
    with federation() as f:
        def one(queue, mark):
            job, pid = suspended(f, queue, mark)
            os.kill(pid, signal.SIGKILL)
            row = ended(f, job)
            expect_equal((row["state"], row["exit_code"]), ("EXIT", 128 + signal.SIGKILL),
                         "killed from outside")
            expect("signal 9" in (row["reason"] or ""), "the reason: %r" % row["reason"])
        both(f, one)
        still_serving(f)


def test_killed_while_suspended():
    with federation() as f:
        def one(queue, mark):
            job, pid = suspended(f, queue, mark)
            f.cli("south", "kill", str(job))
            expect_equal(ended(f, job)["state"], "EXIT", "killed")
            expect_equal(state_of(pid), "", "and gone")
        both(f, one)


def test_guard_dies_while_suspended():
    """The guard, too: what it guarded ends with it, and the job says that it is lost."""
    with federation() as f:
        def one(queue, mark):
            job, pid = suspended(f, queue, mark)
            guard = int(text_of("/proc/%d/stat" % pid).rsplit(")", 1)[1].split()[1])
            os.kill(guard, signal.SIGKILL)
            row = ended(f, job)
            expect_equal(row["state"], "EXIT", "lost")
            expect("lost" in (row["reason"] or ""), "the reason: %r" % row["reason"])
            f.wait_for("the process to be gone", lambda: state_of(pid) == "")
        both(f, one)
        still_serving(f)


# ---- output

def test_fills_its_output():
    """Hundreds of megabytes at once: daemons stay flat, peek answers, nothing is cut."""
    size = 300 * MIB

    def one(queue, mark):
        job = f.submit("south", "head -c %d /dev/zero; echo $$ >%s; while [ ! -e %s.go ]; "
                       "do sleep 0.05; done" % (size, mark, mark), "-q", queue)
        f.wait_state("south", job, "RUN")
        peek = [os.path.join(BIN, "sublet"), "--socket",
                os.path.join(f.dir, "south", "sublet.sock"), "peek", str(job)]

        def peeked():  # as much as there is
            with subprocess.Popen(peek, stdout=subprocess.PIPE, env=f.environment) as process:
                text = process.stdout.read(MIB)
                process.kill()
            expect_equal(text, b"\0" * len(text), "what is peeked at")
            return len(text) == MIB
        f.wait_for("peek to answer meanwhile", peeked)
        expect_equal(os.stat("/proc/%d/fd/1" % pid_in(f, mark)).st_size, size,
                     "the file is what it is")
        open(mark + ".go", "w").close()
        expect_equal(ended(f, job)["state"], "DONE", "how it ended")

    with federation() as f:
        with flat_memory(f):
            both(f, one)
        still_serving(f)


def test_large_output_comes_home():
    """-o of a leased job: the whole of it, through flat daemons."""
    size = 100 * MIB
    with federation() as f:
        with flat_memory(f):
            path = os.path.join(f.dir, "home", "large")
            job = f.submit("south", "head -c %d /dev/zero" % size, "-q", "away", "-o", path)
            expect_equal(ended(f, job)["state"], "DONE", "how it ended")
            expect_equal(os.path.getsize(path), size, "the whole of it")


@contextlib.contextmanager
def small_disk(mib):
    """A file system of so many MiB; None where none can be mounted."""
    with tempfile.TemporaryDirectory(prefix="sublet-disk-") as path:
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=%dm,mode=1777" % mib,
                                  "tmpfs", path], stderr=subprocess.DEVNULL).returncode == 0
        os.chmod(path, 0o1777) if mounted else None
        try:
            yield path if mounted else None
        finally:
            if mounted:
                subprocess.run(["umount", "-l", path], check=True)


def test_output_disk_full():
    """The job hears of it by its own writes; what comes home and has no room is said."""
    with federation() as f, small_disk(1) as disk:
        if disk is None:
            print("skipped: no file system can be mounted here")
            return
        path = os.path.join(disk, "out")
        job = f.submit("south", "head -c %d /dev/zero || exit 9" % (4 * MIB), "-o", path)
        row = ended(f, job)
        expect_equal((row["state"], row["exit_code"]), ("EXIT", 9), "its write failed")
        expect_equal(os.path.getsize(path), MIB, "what had room is there")
        os.unlink(path)
        job = f.submit("south", "head -c %d /dev/zero" % (4 * MIB), "-q", "away", "-o", path)
        row = ended(f, job)
        expect("could not be written" in (row["reason"] or ""),
               "the reason: %r" % row["reason"])
        still_serving(f)


def test_host_disk_full():
    """A host without room for a run: the job says so; with room, jobs run again."""
    with Federation() as f, small_disk(1) as disk:
        if disk is None:
            print("skipped: no file system can be mounted here")
            return
        os.makedirs(os.path.join(f.dir, "south", "hosts"), mode=0o711)
        os.symlink(disk, os.path.join(f.dir, "south", "hosts", "s1"))
        os.chmod(os.path.join(f.dir, "south"), 0o711)
        f.start("south")
        filler = os.path.join(disk, "filler")
        with contextlib.suppress(OSError), open(filler, "wb", buffering=0) as file:
            while True:
                file.write(b"\0" * 4096)
        job = f.submit("south", "true")
        row = ended(f, job)
        expect_equal(row["state"], "EXIT", "it could not be begun")
        expect("No space left" in (row["reason"] or ""), "the reason: %r" % row["reason"])
        os.unlink(filler)
        f.cli("south", "sub", "-K", "true")


# ---- a machine restarts

def power_cut(f, *names):
    """All that was started there dies at once: daemons, guards and jobs."""
    victims = [os.path.join(f.dir, name) for name in names]
    daemons_there = [f.daemons.pop(name) for name in names]
    for daemon in daemons_there:
        daemon.kill()
    for _ in range(3):
        for pid in f.processes():
            with contextlib.suppress(OSError):
                cwd = os.readlink("/proc/%d/cwd" % pid)
                line = open("/proc/%d/cmdline" % pid, "rb").read().decode(errors="replace")
                if any(path in cwd or path in line for path in victims) or "mark-of" in line:
                    os.kill(pid, signal.SIGKILL)
    for daemon in daemons_there:
        daemon.wait()


def restarted(victim, queue):
    """`victim`'s machine restarts while jobs of south run there."""
    with Federation() as f:
        boot = os.path.join(f.dir, "boot")
        f.environment["SUBLET_BOOT_ID_FILE"] = boot
        with open(boot, "w") as file:
            file.write("the-first-boot\n")
        f.start("broker", "north", "south")
        f.wait_lease("the lease", lambda l: l["status"] == "conn")
        command = (": mark-of; echo begin >>%s.$LSB_JOBID; while [ ! -e %s/go ]; do "
                   "sleep 0.05; done; echo end >>%s.$LSB_JOBID" % (f.marks + "/m", f.marks,
                                                                   f.marks + "/m"))
        # At home it stays there: another account could not add to the marks.
        where = ("-q", queue) + (("-m", "s1") if queue == "normal" else ())
        again = f.submit("south", command, "-r", *where)
        once = f.submit("south", command, *where)
        for job in (again, once):
            f.wait_state("south", job, "RUN")
            f.wait_for("its mark", lambda: text_or_none("%s/m.%d" % (f.marks, job)))
        power_cut(f, victim)
        with open(boot, "w") as file:
            file.write("the-second-boot\n")
        f.start(victim)
        row = ended(f, once)
        expect_equal(row["state"], "EXIT", "it is lost")
        expect("lost" in row["reason"] and "the machine went down" in row["reason"],
               "the reason: %r" % row["reason"])
        f.wait_for("the other to begin again",
                   lambda: text_of("%s/m.%d" % (f.marks, again)) == "begin\nbegin\n")
        open(f.marks + "/go", "w").close()
        expect_equal(ended(f, again)["state"], "DONE", "it ends well")
        expect_equal(text_of("%s/m.%d" % (f.marks, once)), "begin\n", "what began once")
        expect_equal(text_of("%s/m.%d" % (f.marks, again)), "begin\nbegin\nend\n",
                     "one run a boot")
        still_serving(f)


def test_own_machine_restarts():
    restarted("south", "normal")


def test_provider_machine_restarts():
    restarted("north", "away")


def test_restart_strikes_nobody():
    """After a restart a process id, and a session, is somebody else's: not killed."""
    with Federation() as f:
        boot = os.path.join(f.dir, "boot")
        f.environment["SUBLET_BOOT_ID_FILE"] = boot
        with open(boot, "w") as file:
            file.write("the-first-boot\n")
        f.start("south")
        mark = os.path.join(f.marks, "m")
        job = f.submit("south", "echo $$ >%s; sleep 300" % mark)
        pid = pid_in(f, mark)
        f.wait_state("south", job, "RUN")
        guard = int(text_of("/proc/%d/stat" % pid).rsplit(")", 1)[1].split()[1])
        f.kill9("south")
        for host in list(f.hosts("s1")):
            os.kill(host, signal.SIGKILL)
        os.kill(guard, signal.SIGKILL)
        with open(boot, "w") as file:
            file.write("the-second-boot\n")
        f.start("south")
        expect_equal(ended(f, job)["state"], "EXIT", "it is lost")
        expect(state_of(pid) != "", "who has its number in this boot lives")


# ---- arrays

def with_arrays(f, size):
    with open(f.conf("south"), "a") as file:
        file.write("\nBegin Parameters\nMAX_JOB_ARRAY_SIZE = %d\nEnd Parameters\n" % size)


def test_array_runs():
    """Each element once, with its own index and files, at home and on the lease."""
    with federation() as f:
        def one(queue, mark):
            out = os.path.join(f.dir, "home", queue + ".%J.%I")
            answer = json.loads(f.cli(
                "south", "sub", "--json", "-q", queue, "-J", "lisa[1-7:2,4]", "-o", out,
                "echo $LSB_JOBID $LSB_JOBINDEX $LSB_JOBNAME; test $LSB_JOBINDEX != 4").stdout)
            expect_equal(answer["elements"], 5, "how many")
            job = answer["job"]
            f.cli("south", "wait", str(job), code=1)  # element 4 fails
            f.cli("south", "wait", "%d[1-3]" % job, "%d[7]" % job)
            rows = f.rows("south", "jobs", str(job))
            expect_equal([row["id"] for row in rows],
                         ["%d[%d]" % (job, i) for i in (1, 3, 4, 5, 7)], "its elements")
            for row in rows:
                index = int(row["id"].split("[")[1][:-1])
                expect_equal(row["state"], "EXIT" if index == 4 else "DONE", row["id"])
                path = os.path.join(f.dir, "home", "%s.%d.%d" % (queue, job, index))
                expect_equal(text_of(path), "%d %d lisa[%d]\n" % (job, index, index), path)
        both(f, one)
        expect_equal(len(f.rows("south", "jobs", "-a", "-J", "lisa")), 10, "by name")


def test_array_of_ten_thousand():
    """One submission, held in little memory, found again after kill -9, ended by its id."""
    size = 10000
    with Federation() as f:
        with_arrays(f, size)
        f.start("south")
        memory = memory_mib(f.daemons["south"].pid)
        answer = json.loads(f.cli("south", "sub", "--json", "-J", "big[1-%d]" % size,
                                  "-m", "s1", "echo >>%s/$LSB_JOBINDEX; sleep 300"
                                  % f.marks).stdout)
        expect_equal(answer, {"job": 1, "elements": size}, "the answer")
        f.wait_for("two to run", lambda: f.n_jobs("south", "RUN") == 2)
        expect(memory_mib(f.daemons["south"].pid) - memory <= FLAT_MIB, "memory of the site")
        f.restart("south")
        f.wait_for("two to be found again", lambda: f.n_jobs("south", "RUN") == 2)
        expect_equal(f.n_jobs("south", "PEND"), size - 2, "the others")
        f.cli("south", "kill", "1[1-2]")
        f.wait_for("the next two", lambda: text_or_none(f.marks + "/4"))
        f.cli("south", "kill", "1")
        f.cli("south", "wait", "1", code=1)
        expect_equal(f.n_jobs("south", "EXIT"), size, "all of it")
        for name in os.listdir(f.marks):
            expect_equal(text_of(os.path.join(f.marks, name)), "\n", name + " ran once")
        refused = f.cli("south", "sub", "-J", "big[1-%d]" % (size + 1), "true", code=1)
        expect("MAX_JOB_ARRAY_SIZE" in refused.stderr, "why: " + refused.stderr)


# ---- limits of descriptors and processes

def set_limit(pid, what, value):
    hard = resource.prlimit(pid, what)[1]
    resource.prlimit(pid, what, (value, hard))


def leave_descriptors(pid, count):
    """It may open so many more: each new one is the lowest number that is free."""
    taken = {int(name) for name in os.listdir("/proc/%d/fd" % pid)}
    free = [number for number in range(len(taken) + count + 1) if number not in taken]
    set_limit(pid, resource.RLIMIT_NOFILE, free[count])


def test_host_out_of_descriptors():
    """A job that cannot be started ends with the reason; with room, jobs run again."""
    with federation() as f:
        host = next(iter(f.hosts("s1")))
        limits = resource.prlimit(host, resource.RLIMIT_NOFILE)
        leave_descriptors(host, 1)
        jobs = [f.submit("south", "true", "-m", "s1") for _ in range(4)]
        rows = [ended(f, job) for job in jobs]
        for row in rows:
            expect(row["state"] == "DONE" or "Too many open files" in (row["reason"] or ""),
                   "%s: %r" % (row["state"], row["reason"]))
        expect(any(row["state"] == "EXIT" for row in rows), "there was no room")
        resource.prlimit(host, resource.RLIMIT_NOFILE, limits)
        expect_equal(list(f.hosts("s1")), [host], "the same sublet-host")
        still_serving(f)


NOBODY = 65534


def start_as_nobody(f, site):
    """A site without root's rights, and without a broker."""
    spool = os.path.join(f.dir, site)
    os.mkdir(spool)
    for path in (spool, os.path.join(f.dir, "keys"),
                 os.path.join(f.dir, "keys", site + ".key_secret")):
        os.chown(path, NOBODY, NOBODY)
    with open(f.log(site), "a") as log:
        f.daemons[site] = subprocess.Popen(
            [os.path.join(BIN, "sublet-site"), f.conf(site)], cwd=f.dir, env=f.environment,
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
            user=NOBODY, group=NOBODY, extra_groups=[])
    f.wait_for("it to be ready", lambda: f.is_ready(site, 0))
    f.wait_for("its hosts", lambda: f.has_hosts(site))


def submit_as_nobody(f):
    return json.loads(subprocess.run(
        [os.path.join(BIN, "sublet"), "--socket", os.path.join(f.dir, "south", "sublet.sock"),
         "sub", "--json", "true"], check=True, stdout=subprocess.PIPE, env=f.environment,
        cwd=os.path.join(f.dir, "home"), user=NOBODY, group=NOBODY, extra_groups=[]).stdout)["job"]


def allow_processes(pid, count):
    """By its own user: root may lack the right over another's process."""
    subprocess.run(["prlimit", "--pid", str(pid), "--nproc=%s:" % count], check=True,
                   user=NOBODY, group=NOBODY, extra_groups=[])


def test_host_out_of_processes():
    """As above, for processes: as another user, since root has no such limit."""
    if os.geteuid() != 0:
        print("skipped: needs root, to start a site as nobody")
        return
    with Federation() as f:
        start_as_nobody(f, "south")
        host = next(iter(f.hosts("s1")))
        limits = resource.getrlimit(resource.RLIMIT_NPROC)  # it has them from here
        allow_processes(host, "1")
        job = submit_as_nobody(f)
        row = ended(f, job)
        expect_equal(row["state"], "EXIT", "it could not be begun")
        expect("Resource temporarily unavailable" in (row["reason"] or ""),
               "the reason: %r" % row["reason"])
        allow_processes(host, str(limits[0]) if limits[0] >= 0 else "unlimited")
        expect_equal(ended(f, submit_as_nobody(f))["state"], "DONE", "there is room again")
        expect_equal(list(f.hosts("s1")), [host], "the same sublet-host")


def test_site_out_of_descriptors():
    """Clients are turned away, jobs run on, and with room all is as before."""
    with federation() as f:
        mark = os.path.join(f.marks, "m")
        job = f.submit("south", "while [ ! -e %s ]; do sleep 0.05; done" % mark)
        f.wait_state("south", job, "RUN")
        site = f.daemons["south"].pid
        limits = resource.prlimit(site, resource.RLIMIT_NOFILE)
        f.wait_for("our own clients to be gone", lambda: f.n_clients("south") == 0)
        leave_descriptors(site, 0)
        refused = f.cli("south", "jobs", code=None)
        expect_equal(refused.returncode, 1, "there is no room for a client")
        expect(refused.stderr.strip(), "and it is told")
        busy = cpu_ticks(site)
        begun = time.monotonic()
        f.wait_for("a second to pass", lambda: time.monotonic() - begun > 1)
        used = (cpu_ticks(site) - busy) / os.sysconf("SC_CLK_TCK")
        expect(used < 0.5 * (time.monotonic() - begun), "it does not spin meanwhile")
        open(mark, "w").close()
        resource.prlimit(site, resource.RLIMIT_NOFILE, limits)
        expect_equal(ended(f, job)["state"], "DONE", "the job ran on")
        still_serving(f)


def cpu_ticks(pid):
    words = text_of("/proc/%d/stat" % pid).rsplit(")", 1)[1].split()
    return int(words[11]) + int(words[12])


main(test_forks_away, test_forks_away_and_is_controlled, test_ignores_signals,
     test_outlives_its_limit, test_dies_while_suspended, test_killed_while_suspended,
     test_guard_dies_while_suspended, test_fills_its_output, test_large_output_comes_home,
     test_output_disk_full, test_host_disk_full, test_own_machine_restarts,
     test_provider_machine_restarts, test_restart_strikes_nobody,
     test_array_runs, test_array_of_ten_thousand,
     test_host_out_of_descriptors, test_host_out_of_processes, test_site_out_of_descriptors,
     at_once=3)
