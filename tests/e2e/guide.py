# SPDX-License-Identifier: Apache-2.0
"""Runs the commands of a guide (docs/guide/*.md), in their order.

In indented lines a prompt begins a command: `alpha# ` is root on the machine alpha,
`beta$ ` the user ana on beta. A command may have a here-document. Lines without a prompt
after it are what it prints: in that order, any blanks between words, "..." for whatever
is there. A listing is asked for again until it prints that."""
import os
import re
import time

from federation import LIMIT, ROOT, Failure, expect

LISTS = re.compile(r"sublet (sites|leases|lease|jobs|hosts|events|doctor|exports|brokers)\b|curl |sinfo |squeue ")


class Step:
    def __init__(self, line, machine, user, command):
        self.line, self.machine, self.user, self.command = line, machine, user, command
        self.prints = []


def read(name):
    """The steps of docs/guide/NAME."""
    steps, end = [], None
    with open(os.path.join(ROOT, "docs", "guide", name)) as file:
        for number, line in enumerate(file, 1):
            text = line.rstrip("\n")
            if not text.startswith("    "):
                end = None if text else end
                if text:
                    steps.append(None)  # what follows belongs to no command
                continue
            text = text[4:]
            if end is not None:
                steps[-1].command += "\n" + text
                end = None if text == end else end
                continue
            begins = re.match(r"(\w+)([#$])\s+(.*)", text)
            if begins:
                user = "root" if begins[2] == "#" else "ana"
                steps.append(Step(number, begins[1], user, begins[3]))
                here = re.search(r"<<'(\w+)'", begins[3])
                end = here and here[1]
            elif steps and steps[-1]:
                steps[-1].prints.append(text)
    return [step for step in steps if step]


def is_printed(wanted, text):
    """Whether the lines are in the text, in this order."""
    at = 0
    for line in wanted:
        words = r"\s+".join(r"\S.*" if word == "..." else re.escape(word)
                            for word in line.split())
        found = re.compile(r"^\s*%s\s*$" % words, re.M).search(text, at)
        if not found:
            return False
        at = found.end()
    return True


def copy(machines, step):
    """scp, between machines that have no server for it."""
    machine, path, to = re.fullmatch(r"scp (\w+):(\S+) (\S+)", step.command).groups()
    machines[step.machine].write(to, machines[machine].run("cat " + path))


def run(machines, name, outside=()):
    """`outside`: beginnings of commands that use this machine's network. Returns each step
    with the seconds until it was done."""
    start, done = time.monotonic(), []
    for step in read(name):
        where = "docs/guide/%s:%d" % (name, step.line)
        if step.command.startswith("scp "):
            copy(machines, step)
            continue
        deadline = time.monotonic() + LIMIT
        while True:
            lists = LISTS.search(step.command)
            try:
                out = machines[step.machine].run(
                    step.command, step.user, code=None if lists and step.prints else 0,
                    outside=step.command.startswith(tuple(outside)))
            except Failure as error:
                raise Failure("%s: %s" % (where, error)) from None
            if is_printed(step.prints, out):
                done.append((step, time.monotonic() - start))
                break
            expect(lists and time.monotonic() < deadline, "%s: %s prints\n%s\nexpected\n%s" % (
                where, step.command.split("\n")[0], out, "\n".join(step.prints)))
            time.sleep(0.2)
    return done
