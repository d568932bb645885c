#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Jobs bound to processors (affinity[]) by real daemons: what a job may use, that no two
have the same core, what survives a restart, and what is refused."""
import os

from federation import Federation, Skip, expect, expect_equal, main

ALONE = """
Begin Site
NAME = north
SPOOL = @DIR@/north
HOSTS_HERE = n1
End Site
Begin Host
HOST_NAME MXJ AFFINITY
n1 8 @AFFINITY@
End Host
Begin Queue
QUEUE_NAME = normal
RERUNNABLE = N
End Queue
Begin Queue
QUEUE_NAME = alone
EXCLUSIVE = Y
End Queue
"""


def alone(affinity="Y"):
    f = Federation()
    f.configure("north", ALONE.replace("@AFFINITY@", affinity))
    f.start("north")
    f.wait_for("the host", lambda: f.rows("north", "hosts")[0]["status"] == "ok")
    return f


def own_cpus():
    """The processors of this machine that a test may use."""
    cpus = sorted(os.sched_getaffinity(0))
    if len(cpus) < 2:
        raise Skip("two processors are needed")
    return cpus


def submit_waiting(f, name, string, *more):
    """A job that says what it may use, and then runs until its file is there."""
    command = ("grep Cpus_allowed_list /proc/self/status | cut -f2 >%s/%s.new; "
               "echo $LSB_BIND_CPU_LIST/$LSB_BIND_MEM_LIST/$LSB_BIND_MEM_POLICY "
               ">>%s/%s.new; mv %s/%s.new %s/%s; "
               "while [ ! -e %s/%s.go ]; do sleep 0.1; done" % ((f.dir, name) * 5))
    return f.submit("north", command, "-R", string, *more)


def said(f, name):
    path = os.path.join(f.dir, name)
    f.wait_for("job " + name, lambda: os.path.exists(path))
    with open(path, encoding="ascii") as file:
        return file.read().split("\n")[:2]


def go(f, name):
    with open(os.path.join(f.dir, name + ".go"), "w", encoding="ascii"):
        pass


def numbers(text):
    listed = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        listed += range(int(first), int(last or first) + 1)
    return listed


def test_two_jobs_have_two_threads_and_a_third_waits_for_one():
    cpus = own_cpus()
    with alone("(%d-%d)" % (cpus[0], cpus[1]) if cpus[1] == cpus[0] + 1
               else "(%d,%d)" % (cpus[0], cpus[1])) as f:
        jobs = [submit_waiting(f, name, "affinity[thread(1)]") for name in ("a", "b")]
        seen = [said(f, name) for name in ("a", "b")]
        expect_equal(sorted(numbers(line[0])[0] for line in seen), cpus[:2],
                     "each has its own")
        for line in seen:
            expect_equal(line[1], line[0] + "//", "LSB_BIND_CPU_LIST; no memory is bound")
        third = submit_waiting(f, "c", "affinity[thread(1)]")
        free = f.submit("north", "true")  # without affinity: slots are enough
        f.wait_state("north", free, "DONE")
        expect_equal(f.job("north", third)["state"], "PEND", "the third job")
        text = f.cli("north", "jobs", "-l", str(third)).stdout
        expect("thread (2, of which 2 are reserved)" in " ".join(text.split()),
               "why it waits: " + text)
        row = f.rows("north", "hosts")[0]
        expect_equal(numbers(row["affinity_cpus"]), cpus[:2], "hosts: for such jobs")
        expect_equal(row["affinity_used"], row["affinity_cpus"], "hosts: in use")
        text = " ".join(f.cli("north", "jobs", "-l", str(jobs[0])).stdout.split())
        expect("Processors: n1 %s " % seen[0][0] in text, "jobs -l: " + text)
        for ids, count in ([str(jobs[0])], 1), ([], 2):
            text = f.run("sublet-lsf", "bjobs", "-l", "-aff", *ids, code=0, environment=dict(
                f.environment, SUBLET_SOCKET=f.dir + "/north/sublet.sock")).stdout
            found = [line for line in text.split("\n") if line.startswith(" n1 ") and
                     line.split()[1:4] == ["thread", "-", "-"] and line.count("/") == 4]
            expect_equal(len(found), count, "bjobs -l -aff %s: %s" % (ids, text))
        go(f, "b")
        f.wait_state("north", jobs[1], "DONE")
        expect_equal(said(f, "c")[0], seen[1][0], "the thread of the job that has ended")
        go(f, "a")
        go(f, "c")
        f.wait_state("north", jobs[0], "DONE")
        f.wait_state("north", third, "DONE")


def test_bindings_survive_a_restart_and_a_suspension():
    cpus = own_cpus()
    with alone("(%d,%d)" % (cpus[0], cpus[1])) as f:
        first = submit_waiting(f, "a", "affinity[thread(1)]")
        has = said(f, "a")[0]
        f.kill9("north")
        f.start("north")
        f.wait_state("north", first, "RUN")
        f.cli("north", "stop", str(first))
        f.wait_state("north", first, "USUSP")
        second = submit_waiting(f, "b", "affinity[thread(1)]")
        expect(said(f, "b")[0] != has, "a suspended job keeps its processors")
        third = submit_waiting(f, "c", "affinity[thread(1)]")
        free = f.submit("north", "true")
        f.wait_state("north", free, "DONE")
        expect_equal(f.job("north", third)["state"], "PEND", "none is left")
        f.cli("north", "kill", str(first), str(third))
        f.wait_state("north", first, "EXIT")
        go(f, "b")
        f.wait_state("north", second, "DONE")


def test_tasks_of_a_job_share_what_they_have_and_memory_is_bound():
    cpus = own_cpus()
    with alone() as f:
        job = submit_waiting(f, "a", "affinity[thread(1):membind=localprefer]", "-n", "2")
        allowed, said_of = said(f, "a")
        expect_equal(len(numbers(allowed)), 2, "a thread for each task")
        expect(set(numbers(allowed)) <= set(cpus), "of this machine")
        cpu_list, nodes, policy = said_of.split("/")
        expect_equal(cpu_list, ",".join(str(cpu) for cpu in numbers(allowed)), "CPU_LIST")
        expect(nodes != "", "the nodes: " + said_of)
        expect_equal(policy, "localprefer", "LSB_BIND_MEM_POLICY")
        go(f, "a")
        f.wait_state("north", job, "DONE")
        job = submit_waiting(f, "b", "affinity[thread(1):cpubind=numa:membind=localonly]")
        allowed, said_of = said(f, "b")
        expect(len(numbers(allowed)) >= 2, "cpubind=numa: the whole node: " + allowed)
        go(f, "b")
        f.wait_state("north", job, "DONE")


def test_what_is_refused():
    own_cpus()
    with alone() as f:
        cases = [
            ("affinity[core(1,exclusive=(core,alljobs))]", [], "EXCLUSIVE = Y"),
            ("affinity[chip]", [], "expected numa, socket, core or thread"),
            ("1*{affinity[core]} + 1*{mem>1}", [], "has no affinity"),
            ("affinity[core]", ["-n", "2000"], "at most 1024 slots"),
        ]
        for string, options, sentence in cases:
            result = f.cli("north", "sub", "-R", string, *options, "true", code=255)
            expect(sentence in result.stderr, "%s: %s" % (string, result.stderr))
        result = f.cli("north", "sub", "-R", "affinity[core]", "-ar", "true", code=1)
        expect("or affinity" in result.stderr, "a resizable job: " + result.stderr)
        job = submit_waiting(f, "a", "affinity[thread(1,exclusive=(core,alljobs))]", "-q",
                             "alone")
        said(f, "a")
        go(f, "a")
        f.wait_state("north", job, "DONE")


def test_a_host_without_affinity_takes_no_such_job():
    with alone("N") as f:
        job = f.submit("north", "true", "-R", "affinity[core]")
        free = f.submit("north", "true")
        f.wait_state("north", free, "DONE")
        expect_equal(f.job("north", job)["state"], "PEND", "no host has AFFINITY")
        f.configure("north", ALONE.replace("@AFFINITY@", "Y"))
        f.cli("north", "reconfig")
        f.wait_state("north", job, "DONE")


if __name__ == "__main__":
    main(*[test for name, test in sorted(globals().items()) if name.startswith("test_")])
