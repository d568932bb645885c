#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/guide/from-slurm.md: each of its commands and options is run, and each option,
variable and state of Slurm's manual (tests/data/slurm/words) has a row."""
import itertools
import os
import re
import subprocess

from federation import BIN, LIMIT, ROOT, SITE, Federation, expect, expect_equal, main, tomorrow

NORTH = SITE.replace("@HOSTS@", "n1 n2") + """
Begin Host
HOST_NAME MXJ type model RESOURCES
n1 48 X86_64 EPYC (ib)
n2 48 X86_64 EPYC ()
End Host
Begin Resource
RESOURCENAME TYPE INTERVAL INCREASING
ib     Boolean () ()
gpu    Numeric () N
matlab Numeric () N
End Resource
Begin ResourceMap
RESOURCENAME LOCATION
gpu    (4@[n1] 4@[n2])
matlab (8@[all])
End ResourceMap
Begin UserGroup
GROUP_NAME GROUP_MEMBER
staff (root)
End UserGroup
Begin Queue
QUEUE_NAME = normal
PRIORITY = 30
EXCLUSIVE = Y
End Queue
Begin Queue
QUEUE_NAME = night
PRIORITY = 20
End Queue
Begin Parameters
DEFAULT_QUEUE = normal
MAX_USER_PRIORITY = 100
JOB_TERMINATE_INTERVAL = 1
End Parameters
"""
PENDING = ("switch", "btop")  # commands that take jobs which wait

f = Federation()
numbers = itertools.count(1)
with open(os.path.join(ROOT, "docs", "guide", "from-slurm.md")) as page:
    text = page.read()


def table(heading):
    """Both columns of its rows."""
    part = text.split("\n## %s\n" % heading)[1].split("\n## ")[0]
    rows = [line.strip("|").split(" | ") for line in part.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in row] for row in rows[1:]]


def spans(cell):
    return re.findall(r"`([^`]+)`", cell)


def sh(line, code=0):
    """In a directory with job.sh, and with a terminal for -Is."""
    place = os.path.join(f.dir, "home", "run%d" % next(numbers))
    os.mkdir(place)
    with open(os.path.join(place, "job.sh"), "w") as script:
        script.write("#!/bin/sh\n#BSUB -J script\nhostname\n")
    environment = dict(f.environment, A="1", PATH=BIN + ":" + os.environ["PATH"],
                       SUBLET_SOCKET=os.path.join(f.dir, "north", "sublet.sock"))
    words = (["script", "-qec", line, "/dev/null"] if " -Is " in line else ["sh", "-c", line])
    done = subprocess.run(words, env=environment, cwd=place, text=True, input="exit\n",
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=LIMIT)
    expect_equal(done.returncode, code, "%s: %s" % (line, done.stdout))
    return done.stdout


def submit(line):
    return re.search(r"Job <(\d+)", sh(line))[1]


def job_for(command):
    """In the state that the command is for."""
    if command in PENDING:
        return submit("sublet sub -b %s true" % tomorrow())
    job = submit("sublet sub -n 1,2 -ar -W 120 'echo begins; sleep %d'"
                 % (1 if command in ("wait", "peek") else 1000))
    f.wait_for("the job", lambda: f.job("north", job)["state"] in ("RUN", "DONE"))
    if command == "resume":
        sh("sublet stop " + job)
        f.wait_for("the job to stop", lambda: f.job("north", job)["state"] == "USUSP")
    return job


def run_command(line):
    command = line.split()[1]
    if " 12" in line:
        line = re.sub(r"\b12\b", job_for(command), line)
    elif command == "doctor":
        line += " " + f.conf("north")  # it is not in /etc/sublet here
    sh(line)
    if command == "close":
        sh("sublet open n1")


def test_commands():
    """One after the other, as they stand there."""
    lines = [span for _, cell in table("Commands") for span in spans(cell)
             if span.startswith("sublet ")]
    expect(len(lines) > 50, "commands: %d" % len(lines))
    for line in lines:
        if line not in ("sublet kill 0", "sublet top"):
            run_command(line)
    sh("sublet kill 0")


def test_options():
    """A job is submitted with each."""
    other = submit("sublet sub sleep 1000")
    options = [span for _, cell in table("Options of a submission") for span in spans(cell)]
    tried = 0
    for option in options:
        if option.startswith("sublet ") and " 12" not in option:
            sh(option)
        elif option.startswith("-") and "COMMAND" not in option:
            held = "" if option in ("-K", "--json") else "-H "
            sh("sublet sub %s%s true" % (held, re.sub(r"\b12\b", other, option)))
            tried += 1
    expect(tried > 60, "options: %d" % tried)


def test_variables():
    """A job has those of the second column."""
    mark = os.path.join(f.marks, "variables")
    sh("sublet sub -n 2 -J 'sweep[1-3:2]' 'env >%s.$LSB_JOBINDEX; mv %s.$LSB_JOBINDEX %s'"
       % (mark, mark, mark))
    f.wait_for("the job", lambda: os.path.exists(mark))
    with open(mark) as file:
        has = {line.partition("=")[0] for line in file}
    wanted = {span for _, cell in table("Variables of a job") for span in spans(cell)
              if re.fullmatch("(LSB|LS)_[A-Z_]+", span)}
    expect(len(wanted) > 12, "variables: %s" % wanted)
    expect_equal(wanted - has, set(), "variables that a job does not have")


def test_all_words():
    """No word of Slurm's manual is left out."""
    columns = {kind: [row[0] for row in table(heading)] for kind, heading in (
        ("option", "Options of a submission"), ("variable", "Variables of a job"),
        ("state", "States"))}
    with open(os.path.join(ROOT, "tests", "data", "slurm", "words")) as file:
        words = [line.rstrip("\n").split(" ", 1) for line in file if not line.startswith("#")]
    expect(len(words) > 200, "words: %d" % len(words))
    missing = [word for kind, word in words if not any(
        re.search(r"(?<![\w-])%s(?![\w-])" % re.escape(word), cell) for cell in columns[kind])]
    expect_equal(missing, [], "words of Slurm without a row")


def start():
    f.configure("north", NORTH)
    f.start("broker", "north")


main(test_commands, test_options, test_variables, test_all_words, shared=f, setup=start)
