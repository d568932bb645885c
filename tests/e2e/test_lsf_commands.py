#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The commands of LSF: scripts as users have them, in tests/data/lsf/scripts, each with
what it prints; Snakemake with bsub; the calls that Nextflow makes."""
import concurrent.futures
import json
import os
import re
import shutil
import socket
import subprocess

from federation import BIN, LIMIT, ROOT, Federation, Skip, expect, expect_equal, main

SCRIPTS = os.path.join(ROOT, "tests", "data", "lsf", "scripts")

SITE = """
Begin Site
NAME = north
SPOOL = @DIR@/north
HOSTS_HERE = n1 n2
End Site
Begin Host
HOST_NAME MXJ type model RESOURCES
n1 48 X86_64 EPYC (linux)
n2 48 X86_64 EPYC (linux)
End Host
Begin Resource
RESOURCENAME TYPE
linux Boolean
os_version String
End Resource
Begin ResourceMap
RESOURCENAME LOCATION
os_version (4.2@[n1] 4.0@[n2])
End ResourceMap
Begin HostGroup
GROUP_NAME GROUP_MEMBER
both (n1 n2)
End HostGroup
Begin UserGroup
GROUP_NAME GROUP_MEMBER
staff (lisa mona)
End UserGroup
Begin Queue
QUEUE_NAME = normal
PRIORITY = 30
End Queue
Begin Queue
QUEUE_NAME = night
PRIORITY = 40
End Queue
Begin Application
NAME = solver
End Application
Begin Parameters
DEFAULT_QUEUE = normal
JOB_TERMINATE_INTERVAL = 1
End Parameters
"""

f = Federation()


def links():
    """A directory with a link for each name, as the package has them."""
    path = os.path.join(f.dir, "lsf")
    os.mkdir(path)
    names = subprocess.run([os.path.join(BIN, "sublet-lsf"), "--names"], check=True,
                           stdout=subprocess.PIPE, text=True).stdout.split()
    for name in names:
        os.symlink(os.path.join(BIN, "sublet-lsf"), os.path.join(path, name))
    output = os.path.join(path, "output")
    with open(output, "w") as file:
        file.write("#!/bin/sh\n# Prints files of -o without the report at their end.\n"
                   "for file; do sed -n '/^$/{N;/\\n----/q};p' \"$file\"; done\n")
    os.chmod(output, 0o755)
    return path


def environment():
    return dict(f.environment, PATH=f.links + ":" + os.environ["PATH"],
                SUBLET_SOCKET=os.path.join(f.dir, "north", "sublet.sock"))


def sh(text, cwd, code=None):
    process = subprocess.Popen(["sh", "-c", text], env=environment(), cwd=cwd, text=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT)
    status, out, _ = f.hear_out(process)
    if code is not None:
        expect_equal(status, code, "exit of %s (%s)" % (text, out))
    return out


def directory(name):
    path = os.path.join(f.dir, "home", name)
    os.mkdir(path)
    return path


def normal(text):
    """Without what differs from run to run: ids in sentences, dates, this machine."""
    text = re.sub(r"([Jj]ob|array,) <\d+", r"\1 <ID", text)
    text = text.replace(socket.gethostname(), "HOST")
    return re.sub(r"([A-Z][a-z]{2} )?[A-Z][a-z]{2} [ 0-9]\d \d\d:\d\d(:\d\d)?", "DATE", text)


def start():
    f.configure("north", SITE)
    f.links = links()
    f.start("north")


def run_script(name):
    cwd = directory(name)
    with open(os.path.join(cwd, "job.lsf"), "w") as file:
        file.write("#!/bin/sh\n#BSUB -q night\n#BSUB -J stdin\ntrue\n")
    with open(os.path.join(SCRIPTS, name + ".sh")) as script:
        got = normal(sh(script.read(), cwd))
    path = os.path.join(SCRIPTS, name + ".expected")
    if os.environ.get("SUBLET_WRITE_EXPECTED"):
        with open(path, "w") as file:
            file.write(got)
    with open(path) as expected:
        return name, got, expected.read()


# They change what others see.
ALONE = {"admin"}


def test_scripts():
    """Each script of tests/data/lsf/scripts prints what stands beside it."""
    names = sorted(name[:-3] for name in os.listdir(SCRIPTS) if name.endswith(".sh"))
    expect(len(names) >= 60, "%d scripts" % len(names))
    with concurrent.futures.ThreadPoolExecutor(12) as pool:
        results = list(pool.map(run_script, [n for n in names if n not in ALONE]))
    results += [run_script(name) for name in sorted(ALONE)]
    wrong = ["%s printed\n%swhere this was expected:\n%s" % result
             for result in results if result[1] != result[2]]
    expect(not wrong, "\n".join(wrong))


def test_nextflow():
    """The calls of Nextflow's executor: bsub < .command.run, bjobs -w, bkill IDS."""
    cwd = directory("nextflow")
    with open(os.path.join(cwd, ".command.run"), "w") as file:
        file.write("#!/bin/bash\n#BSUB -o %s/.command.log\n#BSUB -q normal\n#BSUB -n 2\n"
                   "#BSUB -R \"span[hosts=1]\"\n#BSUB -W 01:30\n#BSUB -M 524288\n"
                   "#BSUB -R \"select[mem>=64] rusage[mem=64]\"\n"
                   "#BSUB -R \"select[tmp>=1] rusage[tmp=1]\"\n#BSUB -J nf-align_(1)\nNXF=(a b)\necho ${NXF[1]}\n"
                   "until test -e %s/go; do sleep 0.1; done\n" % (cwd, cwd))
    submitted = sh("bsub < .command.run", cwd, code=0)
    match = re.fullmatch(r"Job <(\d+)> is submitted to queue <normal>\.\n", submitted)
    expect(match, submitted)
    job = match[1]

    def status():
        lines = sh("bjobs -w -q normal", cwd).splitlines()
        heading = lines[0].split()
        rows = [line.split() for line in lines[1:]]
        return {row[heading.index("JOBID")]: row[heading.index("STAT")] for row in rows}
    f.wait_for("the job to run", lambda: status()[job] == "RUN")
    got = sh("bjobs -o \"JOBID STAT SUBMIT_TIME delimiter=','\" " + job, cwd, code=0)
    expect(re.fullmatch(r"JOBID,STAT,SUBMIT_TIME\n%s,RUN,\w+ [ \d]\d \d\d:\d\d\n" % job,
                        got), got)
    other = sh("bsub true", cwd).split("<")[1].split(">")[0]
    sh("bwait -w 'ended(%s)'" % other, cwd, code=0)
    sh("bwait -w 'post_done(%s) && !post_err(%s)'" % (other, other), cwd, code=0)
    text = sh("bjobs -l " + other, cwd, code=0)
    expect(": Post job process done successfully;\n" in text, text)
    killed = sh("bkill %s %s" % (other, job), cwd, code=255)  # as LSF: one has finished
    expect_equal(killed, "Job <%s>: Job has already finished\nJob <%s> is being terminated\n"
                 % (other, job), "a line for each")
    f.wait_for("its end", lambda: sh("bjobs -noheader -o stat " + job, cwd).strip() == "EXIT")
    with open(os.path.join(cwd, ".command.log")) as log:
        text = log.read()
    expect("b\n" in text, "the script ran in bash")
    expect("\nExited by signal " in text, "the report of its end: " + text)


def test_snakemake():
    """Snakemake with bsub as its cluster command, and bjobs for the states."""
    if shutil.which("snakemake") is None:
        raise Skip("no snakemake here")
    cwd = directory("snakemake")
    with open(os.path.join(cwd, "Snakefile"), "w") as file:
        file.write("localrules: sum\nrule all:\n    input: 'sum'\n"
                   "rule part:\n    output: 'part.{n}'\n"
                   "    shell: 'echo {wildcards.n} $LSB_QUEUE >{output}'\n"
                   "rule sum:\n    input: 'part.1', 'part.2'\n"
                   "    output: 'sum'\n    shell: 'cat {input} >{output}'\n")
    with open(os.path.join(cwd, "submit"), "w") as file:
        file.write("#!/bin/sh\nbsub -q normal -J snake -n 1 -o log.%J \"$1\" | "
                   "sed 's/Job <\\([0-9]*\\)>.*/\\1/'\n")
    with open(os.path.join(cwd, "status"), "w") as file:
        file.write("#!/bin/sh\ncase $(bjobs -noheader -o stat $1) in DONE*) echo success;;\n"
                   "EXIT*|'') echo failed;; *) echo running;; esac\n")
    os.chmod(os.path.join(cwd, "submit"), 0o755)
    os.chmod(os.path.join(cwd, "status"), 0o755)
    out = sh("HOME=$PWD snakemake --cores 4 -j 4 --latency-wait 30 --nolock "
             "--max-status-checks-per-second 5 --cluster ./submit --cluster-status ./status",
             cwd, code=0)
    with open(os.path.join(cwd, "sum")) as file:
        expect_equal(file.read(), "1 normal\n2 normal\n", "the sum (%s)" % out)


def test_json():
    """-json is JSON of LSF's form."""
    cwd = directory("json")
    hosts = json.loads(sh("bhosts -json -o 'host_name max'", cwd, code=0))
    expect_equal(hosts, {"COMMAND": "bhosts", "HOSTS": 2, "RECORDS": [
        {"HOST_NAME": "n1", "MAX": "48"}, {"HOST_NAME": "n2", "MAX": "48"}]}, "bhosts")
    out = sh("bjobs -json", cwd, code=255)
    expect("-json needs -o" in out, out)


# As LSF prints them, without blanks at the end; a row has its values in these columns.
HEADINGS = {
    "bjobs": "JOBID   USER    STAT  QUEUE      FROM_HOST   EXEC_HOST   JOB_NAME   SUBMIT_TIME",
    "bjobs -WL": "JOBID   USER    STAT  QUEUE      FROM_HOST   EXEC_HOST   JOB_NAME   SUBMIT_TIME"
                 "  TIME_LEFT",
    "bjobs -A": "JOBID    ARRAY_SPEC  OWNER   NJOBS PEND DONE  RUN EXIT SSUSP USUSP PSUSP",
    "bjobs -sum": "RUN          SSUSP        USUSP        UNKNOWN      PEND         FWD_PEND",
    "bhosts": "HOST_NAME          STATUS       JL/U    MAX  NJOBS    RUN  SSUSP  USUSP    RSV",
    "bqueues": "QUEUE_NAME      PRIO STATUS          MAX JL/U JL/P JL/H NJOBS  PEND   RUN  SUSP",
    "busers": "USER/GROUP          JL/P    MAX  NJOBS   PEND    RUN  SSUSP  USUSP    RSV",
    "lsload": "HOST_NAME       status  r15s   r1m  r15m   ut    pg  ls    it   tmp   swp   mem",
    "lsload -l": "HOST_NAME       status  r15s   r1m  r15m   ut    pg    io  ls    it   tmp   swp"
                 "   mem",
    "lshosts": "HOST_NAME      type    model  cpuf ncpus maxmem maxswp server RESOURCES",
    "lsinfo": "RESOURCE_NAME   TYPE   ORDER  DESCRIPTION",
    "lsinfo -m": "MODEL_NAME      CPU_FACTOR      ARCHITECTURE",
    "lsinfo -t": "TYPE_NAME",
    "bugroup": "GROUP_NAME    USERS",
    "bmgroup": "GROUP_NAME    HOSTS",
    "bslots": "SLOTS          RUNTIME",
}
COUNT = r" [ \d]{{{0}}}"  # of jobs: other tests run some, too
ROWS = {
    "bhosts n1": r"n1                 ok              -     48" + COUNT.format(6) * 5,
    "bqueues night": r"night            40  Open:Active       -    -    -    -" + COUNT.format(5) * 4,
    "lshosts n1": r"n1           X86_64     EPYC .{5} .{5} .{6} .{6}    Yes \(linux\)",
    "lsinfo -r r15s": r"r15s          Numeric   Inc   15-second CPU run queue length",
    "lsinfo -r type": r"type           String   N/A   host type",
    "bmgroup both": r"both          n1 n2",
}


def test_headings():
    cwd = directory("headings")
    job = re.search(r"<(\d+)>", sh("bsub -J 'headings[1-2]' sleep 600", cwd, code=0))[1]
    for command, heading in HEADINGS.items():
        expect_equal(sh(command, cwd).split("\n")[0].rstrip(), heading, command)
    for command, row in ROWS.items():
        line = sh(command, cwd).split("\n")[1]
        expect(re.fullmatch(row, line), "%s: %r, expected %r" % (command, line, row))
    past = sh("bhist -a", cwd).split("\n")
    expect_equal(past[:2], ["Summary of time in seconds spent in various states:",
                            "JOBID   USER    JOB_NAME  PEND    PSUSP   RUN     USUSP   SSUSP   "
                            "UNKWN   TOTAL"], "bhist")
    sh("bkill %s" % job, cwd)


SOUTH = """
Begin Site
NAME = south
SPOOL = @DIR@/south
HOSTS_HERE = s1 s2 s3 s4 s5
End Site
Begin Host
HOST_NAME MXJ JL/U
s1 4 4
s2 4 4
s3 4 4
s4 8 8
s5 8 -
End Host
Begin HostGroup
GROUP_NAME GROUP_MEMBER CONDENSE
blades (s1 s2 s3) Y
later (s3 s4) Y
plain (s2 s5) N
End HostGroup
Begin Queue
QUEUE_NAME = normal
End Queue
"""


def test_condensed_groups():
    """bhosts and bjobs show condensed groups in place of their hosts, and with -X the hosts."""
    cwd = directory("condensed")
    f.configure("south", SOUTH)
    f.start("south")
    socket_path = os.path.join(f.dir, "south", "sublet.sock")

    def south(text, code=0):
        return sh("export SUBLET_SOCKET=%s; %s" % (socket_path, text), cwd, code=code)

    def rows(text):
        return [line.split() for line in south("bhosts -noheader " + text).splitlines()]
    every = ["s%d" % i for i in range(1, 6)]
    expect_equal([row[0] for row in rows("")], ["blades", "later", "s5"], "bhosts")
    expect_equal(rows("-w blades s5")[0][:6], ["blades", "ok", "3/0/0/0", "4", "12", "0"],
                 "the sums of a group, and a limit that its hosts share")
    expect_equal(rows("later")[0], ["later", "ok", "-", "12", "0", "0", "0", "0", "0"],
                 "a group that is named has all its hosts, also one of an earlier group")
    for operands, names in (("s2", ["blades"]), ("plain", ["blades", "s5"]),
                            ("s2 s5 blades s1", ["blades", "s5"])):
        got = rows(operands)
        expect_equal([row[0] for row in got], names, operands)
        expect_equal(got[0][3], "12", "the group as a whole for " + operands)
    expect_equal([row[0] for row in rows("-X")], every, "bhosts -X")
    expect_equal([row[0] for row in rows("-X plain")], ["s2", "s5"], "bhosts -X GROUP")
    expect_equal(re.findall(r"^HOST  (\w+)", south("bhosts -l blades"), re.M), every[:3],
                 "bhosts -l")
    south("bhosts nowhere", code=255)

    def job(options):
        return re.search(r"<(\d+)>", south("bsub %s 'until test -e go; do sleep 0.1; done'"
                                           % options))[1]
    wide = job("-n 9 -m 's1 s2 s5' -R 'span[ptile=3]'")
    full = job("-n 4 -m s3")
    apart = job("-n 3 -m s5")
    for one in (wide, full, apart):
        f.wait_for("job %s to run" % one,
                   lambda: south("bjobs -noheader -o stat " + one).strip() == "RUN")

    def exec_hosts(text):
        return sorted(south("bjobs -noheader -o exec_host " + text).split())
    expect_equal(exec_hosts(wide), ["3*s5", "6*blades"], "bjobs of a job on two of its hosts")
    expect_equal(exec_hosts("-X " + wide), ["3*s1", "3*s2", "3*s5"], "bjobs -X")
    expect_equal(exec_hosts(apart), ["3*s5"], "a job on no host of a group")
    expect("<6*blades>" not in south("bjobs -l " + wide), "bjobs -l shows hosts")
    expect_equal(rows("-w blades")[0], ["blades", "ok", "2/0/0/1", "4", "12", "10", "10",
                                        "0", "0", "0"], "a full host is busy")
    south("badmin hclose s1")
    expect_equal(rows("-w blades")[0][1:3], ["ok", "1/0/0/1"], "a closed host has no count")
    south("badmin hclose s2")
    expect_equal(rows("-w blades")[0][1:3], ["closed", "4"], "no host is ok")
    open(os.path.join(cwd, "go"), "w").close()


def manual_options():
    """The options of LSF's manual by command, from tests/data/lsf/options."""
    options, command = {}, ""
    with open(os.path.join(ROOT, "tests", "data", "lsf", "options")) as file:
        for line in file:
            words = [] if line.startswith("#") else line.split()
            if words and not line.startswith(" "):
                command = words.pop(0)
                options[command] = []
            options.get(command, []).extend(words)
    return options


def test_every_option_of_the_manual():
    """Each is known by name, and what is refused says what to use."""
    page = f.run("sublet-lsf", "--markdown", code=0).stdout
    known = {part.split("\n")[0]: set(re.findall(r"`(-[^` ]+)`", part))
             for part in page.split("\n## ")}
    options = manual_options()
    expect(len(options) > 30 and len(options["bsub"]) > 90, "%d commands" % len(options))
    missing = ["%s %s" % (command, option) for command in options
               for option in options[command] if option not in known[command]]
    expect_equal(missing, [], "options that only LSF knows")
    cwd = directory("options")
    for command in options:
        rows = re.findall(r"^\| `(-[^` ]+)` \| refused \| (.+) \|$",
                          page.split("\n## %s\n" % command)[1].split("\n## ")[0], re.M)
        for option, why in rows[:3]:
            said = sh("%s %s x y" % (command, option), cwd, code=255)
            expect(option + ": " + why in said, "%s %s says %s" % (command, option, said))


def test_documented():
    """docs/lsf-commands.md is what `make docs` writes; the guide names each command."""
    with open(os.path.join(ROOT, "docs", "lsf-commands.md")) as page:
        text = page.read()
    expect_equal(f.run("sublet-lsf", "--markdown", code=0).stdout, text, "run make docs")
    with open(os.path.join(ROOT, "docs", "guide", "from-lsf.md")) as page:
        guide = page.read()
    for name in f.run("sublet-lsf", "--names", code=0).stdout.split():
        expect("`%s`" % name in guide, "%s in docs/guide/from-lsf.md" % name)


if __name__ == "__main__":
    start()
    main(test_snakemake, test_scripts, test_nextflow, test_json, test_headings, test_documented,
         test_every_option_of_the_manual, test_condensed_groups, shared=f,
         at_once=3)
