#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Manual pages, help and completion: all from the tables that the program runs by."""
import os
import re
import shutil
import subprocess

from federation import BIN, LEASE, Federation, Skip, expect, expect_equal, main

f = Federation()


def sublet(*args, code=0):
    return f.run("sublet", *args, code=code).stdout


def built_commands():
    return re.findall(r"^  ([a-z-]+)  ", sublet("help").split("Not built yet")[0], re.M)


def formatted(page):
    """The page as a terminal of 100 columns shows it, with every warning an error."""
    if shutil.which("groff") is None:
        raise Skip("no groff here")
    result = subprocess.run(["groff", "-man", "-ww", "-Tascii", "-P-c", "-rLL=100n"],
                            input=sublet("help", "--man", page), text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    expect_equal((result.returncode, result.stderr), (0, ""), "groff on " + page)
    return re.sub(r".\x08", "", result.stdout)


def test_commands_page():
    text = formatted("sublet")
    names = built_commands()
    expect(len(names) > 15, "commands: %r" % names)
    for name in names:
        expect(re.search(r"^ +sublet %s\b" % name, text, re.M), "no %s in it" % name)
    expect("-cwd DIR" in text and "SUBLET_SOCKET" in text, "options and environment")


def test_keys_page():
    text = formatted("sublet.conf")
    for words in ("Section Queue", "PRIORITY (number, 1 to 2147483647; default 1)",
                  "FREEZE_TIMEOUT (time, 1s to 1d, a bare number is seconds; default 30s)",
                  "RECLAIM_POLICY (one of: lsf demand"):
        expect(words in text, "no %r in it" % words)
    expect_equal(f.run("sublet", "help", "--man", "nonsense").returncode, 2, "another page")


def test_configuration_page():
    """The pages in docs/ are what `make docs` writes."""
    docs = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs")
    for option, name in (("--markdown", "configuration.md"), ("--lsf", "lsf-parameters.md")):
        with open(os.path.join(docs, name)) as page:
            expect_equal(sublet("help", option), page.read(), "docs/%s: run make docs" % name)


def test_help_of_a_section():
    text = sublet("help", "Queue")
    expect(text.startswith("Section Queue:") and "PRIORITY" in text, text)
    for name in built_commands():
        expect(sublet("help", name).startswith("sublet " + name), "help of " + name)
    expect_equal(f.run("sublet", "help", "nonsense").returncode, 2, "neither")


def complete(*words):
    script = sublet("completion") + """
COMP_WORDS=(sublet "$@"); COMP_CWORD=$(($# < 1 ? 1 : $#)); _sublet; echo "${COMPREPLY[@]}"
"""
    path = os.path.abspath(BIN) + os.pathsep + os.environ["PATH"]
    return subprocess.run(["bash", "-c", script, "bash", *words], text=True, check=True,
                          env=dict(os.environ, PATH=path), stdout=subprocess.PIPE).stdout.split()


def test_completion():
    if shutil.which("bash") is None:
        raise Skip("no bash here")
    expect_equal(complete("reclaim"), ["reclaim-delay"], "a command")
    expect_equal(complete("--socket", "kil", "ki"), ["kill"], "behind a global option")
    expect_equal(complete("sub", "-cw"), ["-cwd"], "an option of the command")
    expect("-cwd" not in complete("jobs", "-"), "and not of another")
    expect_equal(complete("check", "fi"), [], "operands are files")
    expect_equal(complete("lease", "dr"), ["drain"], "a subcommand")
    expect_equal(complete("plan", ""), ["show", "quota", "explain"], "all of them")
    expect_equal(complete("lease", "drain", "dr"), [], "only as the first operand")


def test_completion_of_names():
    if shutil.which("bash") is None:
        raise Skip("no bash here")
    f.start("broker", "north", "south")
    f.wait_lease("the lease", lambda l: l["status"] == "conn")
    job = str(f.submit("north", "true", "-n", "8000"))
    north = ["--socket", os.path.join(f.dir, "north", "sublet.sock")]
    expect_equal(complete(*north, "hosts", "n"), ["n1", "n2"], "hosts")
    expect_equal(complete(*north, "hosts", "n1", "n2"), ["n2"], "also the second one")
    expect_equal(complete(*north, "jobs", "-u", "all", "-q", "nor"), ["normal"], "a queue")
    expect_equal(complete(*north, "jobs", "-q", "normal", ""), [job], "a job")
    expect_equal(complete(*north, "lease", "drain", "no"), [LEASE], "a lease")
    expect_equal(complete(*north, "switch", "nor"), ["normal"], "a queue, then jobs")
    expect_equal(complete(*north, "switch", "normal", ""), [job], "jobs")
    expect_equal(complete("--socket", "/nowhere", "hosts", "n"), [], "nobody answers")


main(test_commands_page, test_keys_page, test_configuration_page, test_help_of_a_section,
     test_completion, test_completion_of_names, shared=f)
