#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""kill -9 of each daemon in the middle of the story: after the restart the same
contracts, the same jobs, running jobs found again, nothing run twice.

Each job appends a line to a file named by its id when it begins and when it ends, so
that what really ran can be counted."""
import concurrent.futures
import os
import signal

from federation import LIMIT, Federation, expect, expect_equal, main

RUNNING = 10  # two at home, eight on the lease


def marked(f, site, seconds=0.2):
    """A job that leaves a line at its beginning and one at its end."""
    file = "%s/%s.$LSB_JOBID" % (f.marks, site)
    return ("echo begin >>%s; sleep %s; echo end >>%s" %
            (file, seconds, file))


def gated(f, site):
    """The same, and its end waits for `open_gate`."""
    return marked(f, site, "0.1; while [ ! -e %s/gate ]; do sleep 0.1; done" % f.dir)


def open_gate(f):
    open(os.path.join(f.dir, "gate"), "w").close()


def in_the_middle(f):
    """Two jobs run at home and eight on the lease; two more wait."""
    f.start("broker", "north", "south")
    f.wait_lease("the lease", lambda l: l["state"] == "pending" and l["status"] == "conn")
    jobs = [f.submit("south", gated(f, "south")) for _ in range(RUNNING)]
    f.wait_lease("slots to go to south", lambda l: l["consumer"]["available"] == 8)
    f.wait_for("jobs to run", lambda: f.n_jobs("south", "RUN") == RUNNING)
    jobs += [f.submit("south", marked(f, "south")) for _ in range(2)]
    jobs_north = [f.submit("north", marked(f, "north")) for _ in range(2)]
    return jobs, jobs_north


def standing(f):
    """What a restart must not change."""
    jobs = {key: (row["hosts"], row["start_at"]) for key, row in f.jobs("south").items()
            if row["state"] == "RUN"}
    return jobs


def all_end(f, jobs, jobs_north):
    """Everything ends well, and ran once."""
    open_gate(f)
    f.cli("south", "wait", *map(str, jobs))
    if jobs_north:
        f.cli("north", "wait", *map(str, jobs_north))
    for site, ids in (("south", jobs), ("north", jobs_north)):
        for job in ids:
            with open("%s/%s.%d" % (f.marks, site, job)) as file:
                expect_equal(file.read(), "begin\nend\n", "%s job %d ran once" % (site, job))
    epochs = [row["epoch"] for row in f.history()]
    expect_equal(epochs, sorted(epochs), "epochs never go back")
    f.wait_lease("the lease to be active", lambda l: l["state"] == "active")


def killed(victims, hosts=()):
    with Federation() as f:
        jobs, jobs_north = in_the_middle(f)
        before = standing(f)
        epoch = f.lease()["epoch"]
        pids = [pid for host in hosts for pid in f.hosts(host)]
        expect_equal(len(pids), len(hosts), "one sublet-host a host")
        for name in victims:
            f.kill9(name)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        for name in victims:
            f.start(name)
        f.wait_lease("both sites to be back", lambda l: l["status"] == "ok")
        expect(f.lease()["epoch"] >= epoch, "the epoch did not go back")
        expect_equal(set(f.jobs("south")), set(jobs), "the same jobs")
        expect_equal(set(f.jobs("north")), set(jobs_north), "the same jobs")
        f.wait_for("running jobs to be found again",
                   lambda: all(f.job("south", job)["state"] == "RUN" for job in before))
        for job, (hosts, start_at) in before.items():
            now = f.job("south", job)
            expect_equal(now["hosts"], hosts, "job %d is where it was" % job)
            expect_equal(now["start_at"], start_at, "job %d began when it did" % job)
        all_end(f, jobs, jobs_north)


def test_broker():
    killed(["broker"])


def test_provider():
    killed(["north"])


def test_consumer():
    killed(["south"])


def test_all_at_once():
    killed(["broker", "north", "south"])


def test_provider_with_its_hosts():
    """Only the guards are left, and take the jobs to their ends."""
    killed(["north"], ["n1", "n2"])


def test_host():
    """A sublet-host dies: its guards keep the jobs, and it is started again."""
    with Federation() as f:
        jobs, jobs_north = in_the_middle(f)
        before = standing(f)
        victims = list(f.hosts("n1")) + list(f.hosts("s1"))
        expect_equal(len(victims), 2, "one sublet-host a host")
        for pid in victims:
            os.kill(pid, signal.SIGKILL)
        f.wait_for("them to be started again",
                   lambda: set(list(f.hosts("n1")) + list(f.hosts("s1"))) - set(victims)
                   and len(list(f.hosts("n1"))) == 1 and len(list(f.hosts("s1"))) == 1)
        for job, (hosts, start_at) in before.items():
            now = f.job("south", job)
            expect_equal((now["hosts"], now["start_at"]), (hosts, start_at),
                         "job %d goes on" % job)
        all_end(f, jobs, jobs_north)


def test_waiting_outlives_a_site():
    """`sublet wait` finds its job again when the site is back."""
    with Federation() as f:
        f.start("south")
        job = f.submit("south", gated(f, "south"))
        f.wait_for("nobody else to be connected", lambda: f.n_clients("south") == 0)
        with concurrent.futures.ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(f.cli, "south", "wait", str(job))
            f.wait_for("it to be connected", lambda: f.n_clients("south") == 1)
            f.restart("south")
            open_gate(f)
            expect_equal(waiting.result(LIMIT).stdout, "", "standard output")
        expect_equal(f.job("south", job)["state"], "DONE", "how it ended")


def test_again_and_again():
    """A job's daemons die while it is The job is being started, several times."""
    with Federation() as f:
        f.start("broker", "north", "south")
        f.wait_lease("the lease", lambda l: l["state"] == "pending" and l["status"] == "conn")
        jobs = []
        for victim in ("north", "broker", "south", "north"):
            jobs += [f.submit("south", marked(f, "south"), "-q", "away")
                     for _ in range(2)]
            f.kill9(victim)
            f.start(victim)
        all_end(f, jobs, [])


main(test_broker, test_provider, test_consumer, test_all_at_once,
     test_provider_with_its_hosts, test_host, test_waiting_outlives_a_site,
     test_again_and_again, at_once=4)
