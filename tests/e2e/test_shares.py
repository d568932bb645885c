#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Shares with real daemons: who may submit, whose turn it is, what queues -l and users
show, and that kill -9 changes nothing of what was used."""
import getpass
import os

from federation import SOUTH, Federation, expect, expect_equal, main, tomorrow

f = Federation()
ME = getpass.getuser()

QUEUES = """
Begin UserGroup
GROUP_NAME GROUP_MEMBER USER_SHARES
lab (@ME@ bo) ([@ME@, 2] [bo, 1])
chem (@ME@ dan) ()
theirs (bo) ()
End UserGroup
Begin Queue
QUEUE_NAME = fair
PRIORITY = 60
FAIRSHARE = USER_SHARES[[lab, 3] [chem, 2] [default, 1]]
ENABLE_HIST_RUN_TIME = Y
HOSTS = all
End Queue
Begin Queue
QUEUE_NAME = theirs
PRIORITY = 55
FAIRSHARE = USER_SHARES[[bo, 1]]
End Queue
Begin Queue
QUEUE_NAME = far
PRIORITY = 58
FAIRSHARE = USER_SHARES[[default, 1]]
ENABLE_HIST_RUN_TIME = Y
HOSTS = allremote
End Queue
Begin Queue
QUEUE_NAME = high
PRIORITY = 50
SLOT_POOL = A
SLOT_SHARE = 50
HOSTS = all
End Queue
Begin Queue
QUEUE_NAME = low
PRIORITY = 40
SLOT_POOL = A
SLOT_SHARE = 50
HOSTS = all
End Queue
""".replace("@ME@", ME)


def submit(queue, command):
    return f.cli("south", "sub", "-q", queue, command).stdout.split("<")[1].split(">")[0]


def until(mark):
    return "while [ ! -e %s ]; do sleep 0.05; done" % os.path.join(f.marks, mark)


def make(mark):
    open(os.path.join(f.marks, mark), "w").close()


def queue(name):
    return f.rows("south", "queues", name)[0]


def account(path):
    return [row for row in f.rows("south", "users") if row["account"] == path][0]


def test_only_who_has_a_share():
    text = f.cli("south", "sub", "-q", "theirs", "true", code=1).stderr
    expect("User cannot use the queue" in text and ME in text, text)
    job = f.cli("south", "sub", "-q", "low", "-b", tomorrow(), "true").stdout
    job = job.split("<")[1].split(">")[0]
    text = f.cli("south", "switch", "theirs", job, code=1).stderr
    expect("User cannot use the queue" in text, text)
    f.cli("south", "switch", "fair", job)
    f.cli("south", "kill", job)


def test_accounts_are_shown():
    first = submit("fair", until("fair") + "; i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done")
    f.wait_state("south", first, "RUN")
    f.wait_for("a slot of the account", lambda: account("/lab/" + ME)["started"] == 1)
    row = account("/lab")
    expect_equal((row["shares"], row["is_group"], row["run"]), (3, True, 1), "the group")
    expect(0 < row["priority"] < 1, "below 3 / (2 * 3): %s" % row)
    text = f.cli("south", "queues", "-l", "fair").stdout
    expect("SHARE_INFO_FOR: fair/" in text and "/lab/bo" in text, text)
    f.wait_for("run time", lambda: account("/lab/" + ME)["run_s"] > 0.3)
    f.kill9("south")
    f.start("south")
    expect(account("/lab/" + ME)["run_s"] > 0.3, "it runs on over a crash")
    f.wait_state("south", first, "RUN")
    make("fair")
    f.wait_state("south", first, "DONE")
    used = account("/lab/" + ME)
    expect(used["cpu_s"] > 0 and used["run_s"] > 0.3 and used["started"] == 0, used)
    f.kill9("south")
    f.start("south")
    after = account("/lab/" + ME)
    for key in ("cpu_s", "run_s"):
        expect(abs(after[key] - used[key]) < 0.05 * used[key] + 0.01,
               "%s: %s, then %s" % (key, used[key], after[key]))
    expect(account("/lab")["cpu_s"] > 0, "its group has used it too")


def test_usage_is_known_while_a_job_runs():
    """Processor time, which counts for the user's share, and memory: 20 MB of it."""
    before = account("/lab/" + ME)["cpu_s"]
    job = submit("fair", "x=$(head -c 20000000 /dev/zero | tr '\\0' x); "
                 "while [ ! -e %s ]; do :; done" % os.path.join(f.marks, "busy"))
    f.wait_state("south", job, "RUN")
    f.wait_for("its processor time", lambda: (f.job("south", job)["cpu_s"] or 0) > 0.2)
    f.wait_for("its memory", lambda: (f.job("south", job)["rss_kib"] or 0) > 19000)
    row = f.job("south", job)
    expect(row["vsz_kib"] > row["rss_kib"] and row["mem_kib"] >= row["rss_kib"] and
           row["threads"] >= 1, row)
    now = account("/lab/" + ME)["cpu_s"]
    expect(now > before + 0.1, "%s, before %s" % (now, before))
    f.kill9("south")
    f.start("south")
    f.wait_for("it to be known again", lambda: (f.job("south", job)["cpu_s"] or 0) > 0.1)
    expect(account("/lab/" + ME)["cpu_s"] > 0.9 * now, "nothing is lost over a crash")
    expect(f.job("south", job)["rss_kib"] > 19000, "memory after a crash")
    make("busy")
    f.wait_state("south", job, "DONE")
    ended = account("/lab/" + ME)["cpu_s"]
    row = f.job("south", job)
    expect(row["rss_kib"] is None and row["mem_kib"] > 19000, "the peak: %s" % row)
    cpu = f.job("south", job)["cpu_s"]
    expect(before * 0.9 + 0.9 * cpu < ended < before + 1.1 * cpu + 0.1,
           "%s: %s before, and %s of the job" % (ended, before, cpu))


def test_the_queue_that_had_least_is_next():
    held = [submit("high", until("high%d" % i)) for i in range(2)]
    for job in held:
        f.wait_state("south", job, "RUN")
    f.wait_for("use of the queue", lambda: queue("high")["slot_use_h"] > 0)
    high, low = submit("high", until("end")), submit("low", until("end"))
    f.wait_for("the first to be ahead", lambda: queue("high")["slot_ahead_h"] >= 0.001)
    ahead = queue("high")["slot_ahead_h"]
    f.kill9("south")
    f.start("south")
    f.wait_for("its host", lambda: f.has_hosts("south"))
    expect(queue("high")["slot_use_h"] > 0, "what it has used")
    expect(queue("high")["slot_ahead_h"] >= ahead, "it has its slots still")
    both = {row["queue"]: row["slot_ahead_h"] for row in f.rows("south", "queues")}
    high_h, low_h = both["high"], both["low"]
    expect(high_h > 0 > low_h and abs(high_h + low_h) < 0.002,
           "one slot each would be fair: %s and %s" % (high_h, low_h))
    make("high0")
    f.wait_state("south", low, "RUN")
    expect_equal(f.job("south", high)["state"], "PEND", "the other queue's")
    make("high1")
    f.wait_state("south", high, "RUN")
    make("end")


def test_of_which_group():
    for group, why in (("nope", "No such user group"), ("theirs", "not a member"),
                       ("~lab", "not supported")):
        result = f.cli("south", "sub", "-q", "fair", "-G", group, "true", code=1)
        expect(why in result.stderr and "Job not submitted" in result.stderr, result.stderr)
    f.cli("south", "sub", "-G", "", "true", code=2)
    job = f.submit("south", until("chem"), "-q", "fair", "-G", "chem", "-r")
    f.wait_state("south", job, "RUN")
    row = f.job("south", job)
    expect_equal(row["user_group"], "chem", "the group of the job")
    expect("User group: chem" in f.cli("south", "jobs", "-l", str(job)).stdout, "jobs -l")
    expect_equal([row["id"] for row in f.rows("south", "jobs", "-G", "chem")], [str(job)],
                 "jobs -G")
    expect_equal(f.rows("south", "jobs", "-G", "lab"), [], "another group's")
    expect_equal(account("/chem/" + ME)["started"], 1, "its account")
    expect_equal(account("/lab/" + ME)["started"], 0, "the user's own")
    f.kill9("south")
    f.start("south")
    expect_equal(account("/chem/" + ME)["started"], 1, "its account, after a crash")
    f.cli("south", "requeue", str(job))
    f.wait_for("it to run again",
               lambda: f.job("south", job)["start_at"] != row["start_at"]
               and f.job("south", job)["state"] == "RUN")
    expect_equal(account("/chem/" + ME)["started"], 1, "its account, once it was requeued")
    f.wait_for("run time", lambda: account("/chem/" + ME)["run_s"] > 0.3)
    make("chem")
    f.wait_state("south", job, "DONE")
    used = account("/chem/" + ME)
    expect(used["run_s"] > 0.3 and used["started"] == 0, used)
    f.kill9("south")
    f.start("south")
    expect(account("/chem/" + ME)["run_s"] > 0.9 * used["run_s"], "what it used")


def far():
    rows = [row for row in f.rows("south", "users") if row["queue"] == "far"]
    return rows[0] if rows else {"started": 0, "run_s": 0, "cpu_s": 0}


def test_borrowed_slots_count_at_home():
    """A job on a host of north's counts for its user in south, over crashes of both."""
    work = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); done"
    job = submit("far", until("far") + "; " + work)
    f.wait_state("south", job, "RUN")
    expect("@north" in str(f.job("south", job)), f.job("south", job))
    expect_equal(far()["started"], 1, "its slot")
    expect(not [row for row in f.rows("north", "users") if row["started"]],
           "north has no account of it")
    f.wait_for("run time", lambda: far()["run_s"] > 0.5)
    before = far()["run_s"]
    f.kill9("south")
    f.kill9("north")
    f.start("north", "south")
    expect(far()["run_s"] >= before, "it runs on while both are down")
    expect_equal(far()["started"], 1, "its slot, after crashes")
    f.wait_state("south", job, "RUN")
    make("far")
    f.wait_state("south", job, "DONE")
    used = far()
    expect(used["started"] == 0 and used["cpu_s"] > 0 and used["run_s"] >= before, used)
    f.kill9("south")
    f.start("south")
    after = far()
    for key in ("cpu_s", "run_s"):
        expect(abs(after[key] - used[key]) < 0.05 * used[key] + 0.01,
               "%s: %s, then %s" % (key, used[key], after[key]))


def setup():
    f.configure("south", SOUTH + QUEUES)
    f.start("broker", "north", "south")
    f.wait_for("its host", lambda: f.has_hosts("south"))


if __name__ == "__main__":
    main(test_only_who_has_a_share, test_accounts_are_shown,
         test_usage_is_known_while_a_job_runs,
         test_the_queue_that_had_least_is_next, test_of_which_group, test_borrowed_slots_count_at_home, shared=f, setup=setup)
