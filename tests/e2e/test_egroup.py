#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Groups whose members a program tells (EGROUP, members (!)): at the start, at a reload and
in its interval; a program that fails or hangs changes nothing and stops nothing."""
import os

from federation import Federation, expect, expect_equal, main

ALONE = """
Begin Site
NAME = north
SPOOL = @DIR@/north
HOSTS_HERE = n1 n2
EGROUP = @DIR@/egroup
End Site
Begin Parameters
@MORE@
End Parameters
Begin Host
HOST_NAME MXJ
n1 2
n2 2
End Host
Begin UserGroup
GROUP_NAME GROUP_MEMBER
team (!)
plain (nobody)
End UserGroup
Begin HostGroup
GROUP_NAME GROUP_MEMBER
fast (!)
End HostGroup
Begin Queue
QUEUE_NAME = theirs
USERS = team
HOSTS = fast
End Queue
Begin Queue
QUEUE_NAME = normal
PRIORITY = 10
End Queue
"""


def alone(more=""):
    f = Federation()
    f.configure("north", ALONE.replace("@MORE@", more))
    return f


def tell(f, **members):
    """The program prints these names; of a group that is not there it fails."""
    lines = ["#!/bin/sh", "case $1$2 in"]
    lines += ["-%s) echo '%s';;" % (group, names) for group, names in members.items()]
    lines += ["*) echo no such group >&2; exit 3;;", "esac"]
    program(f, "\n".join(lines) + "\n")


def program(f, text):
    path = os.path.join(f.dir, "egroup")
    with open(path + ".new", "w", encoding="ascii") as file:
        file.write(text)
    os.chmod(path + ".new", 0o755)
    os.rename(path + ".new", path)


def group(f, name):
    text = f.run("sublet-lsf", "bmgroup" if name == "fast" else "bugroup", name, code=0,
                 environment=dict(f.environment,
                                  SUBLET_SOCKET=f.dir + "/north/sublet.sock")).stdout
    lines = [line.split() for line in text.split("\n") if line.split()[:1] == [name]]
    return " ".join(lines[0][1:])


def wait_members(f, name, members):
    f.wait_for("group %s to be %s" % (name, members),
               lambda: group(f, name) == members)


def says(f, text):
    with open(f.log("north"), encoding="utf-8") as log:
        return text in log.read()


def test_members_decide_who_may_submit_and_where_jobs_run():
    with alone() as f:
        tell(f, uteam="root ana", mfast="n2 n9")
        f.start("north")
        wait_members(f, "team", "ana root")
        wait_members(f, "fast", "n2")
        expect(says(f, '"n9" of group fast is no host of the site: left out'), "the log")
        job = f.submit("north", "true", "-q", "theirs")
        f.wait_state("north", job, "DONE")
        expect_equal(list(f.job("north", job)["hosts"]), ["n2"], "the host")
        tell(f, uteam="ana", mfast="n1")
        f.cli("north", "reconfig")
        wait_members(f, "team", "ana")
        wait_members(f, "fast", "n1")
        f.cli("north", "sub", "-q", "theirs", "true", code=1)


def test_a_program_that_fails_or_hangs_changes_nothing():
    with alone() as f:
        tell(f, uteam="root", mfast="n1")
        f.start("north")
        wait_members(f, "team", "root")
        wait_members(f, "fast", "n1")
        tell(f, mfast="n2")
        f.cli("north", "reconfig")
        wait_members(f, "fast", "n2")
        f.wait_for("the log", lambda: says(f, "group team keeps its members"))
        expect_equal(group(f, "team"), "root", "the members of before")
        program(f, "#!/bin/sh\nexec sleep 1000\n")
        f.cli("north", "reconfig")
        job = f.submit("north", "true", "-q", "theirs")  # the loop does not wait for it
        f.wait_state("north", job, "DONE")
        f.kill9("north")
        f.start("north")
        expect_equal(group(f, "team"), "root", "kept over a restart")
        job = f.submit("north", "true", "-q", "theirs")
        f.wait_state("north", job, "DONE")


def test_the_interval():
    with alone("EGROUP_UPDATE_INTERVAL = 1s") as f:
        tell(f, uteam="", mfast="n1")
        f.start("north")
        wait_members(f, "fast", "n1")
        tell(f, uteam="root", mfast="n1 n2")
        wait_members(f, "fast", "n1 n2")
        wait_members(f, "team", "root")


def test_a_group_without_a_program_is_an_error():
    with alone() as f:
        path = f.conf("north")
        f.run("sublet", "check", path, code=0)
        f.configure("north", ALONE.replace("@MORE@", "").replace("EGROUP = ", "# "))
        result = f.run("sublet", "check", path, code=1)
        text = result.stdout + result.stderr
        expect("expected EGROUP in section Site" in text, text)
        f.configure("north", ALONE.replace("@MORE@", "").replace("@DIR@/egroup", "egroup"))
        result = f.run("sublet", "check", path, code=1)
        expect("expected a path that begins with /" in result.stdout + result.stderr,
               "a path that depends on the directory")


if __name__ == "__main__":
    main(*[test for name, test in sorted(globals().items()) if name.startswith("test_")])
