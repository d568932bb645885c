#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`sublet check --lsf DIR`: the configuration of an LSF cluster, each parameter sorted by
what becomes of it. The trees are those of tests/data/lsf, made after LSF's manuals."""
import os
import shutil
import tempfile

from federation import ROOT, Federation, expect, expect_equal, main

TREES = os.path.join(ROOT, "tests", "data", "lsf")
f = Federation()


def check(path):
    result = f.run("sublet", "check", "--lsf", path)
    return result.returncode, result.stdout, result.stderr


def test_report():
    """A tree of 360 lines as sites have them: everything is known, and a site could start."""
    code, text, errors = check(os.path.join(TREES, "plain"))
    with open(os.path.join(TREES, "plain.expected")) as expected:
        expect_equal(text.replace(TREES + "/", ""), expected.read(), "the report")
    expect_equal((code, errors), (0, ""), "nothing keeps a site from starting")


def test_guide():
    """What docs/guide/from-lsf.md shows: parts of that report, and the number of parameters
    of each class."""
    with open(os.path.join(ROOT, "docs", "guide", "from-lsf.md")) as file:
        guide = file.read()
    with open(os.path.join(TREES, "plain.expected")) as expected:
        report = expected.read()
    shown = guide[guide.index("LSF configuration in plain"):]
    for part in shown[:shown.index("```")].split("\n...\n"):
        expect(part.strip("\n") in report, "in the report: " + part)
    with open(os.path.join(ROOT, "docs", "lsf-parameters.md")) as file:
        counts = [line for line in file if line.rstrip().endswith(" |") and line.count("|") == 3]
    expect(len(counts) > 4, "a table: %r" % counts)
    for line in counts:
        expect(line in guide, "in the guide: " + line)


def test_harm():
    """What would run jobs to their harm, typing errors and malformed values, all at once."""
    code, text, errors = check(os.path.join(TREES, "harm"))
    with open(os.path.join(TREES, "harm.expected")) as expected:
        expect_equal(text.replace(TREES + "/", ""), expected.read(), "the report")
    expect_equal(code, 1, "a site does not start")
    expect_equal(errors.count("\n"), 1, "one line says so: " + errors)


def test_directives():
    """#if and #INCLUDE: what counts, and each error at its file and line."""
    code, text, _ = check(os.path.join(TREES, "timed"))
    with open(os.path.join(TREES, "timed.expected")) as expected:
        expect_equal(text.replace(TREES + "/", ""), expected.read(), "the report")
    expect_equal(code, 1, "errors")


def test_lines_of_another_system():
    """Ends of lines as in CR LF, and comments in Latin-1, change nothing in the report."""
    folder = tempfile.mkdtemp()
    try:
        tree = os.path.join(folder, "plain")
        shutil.copytree(os.path.join(TREES, "plain"), tree)
        for path, _, names in os.walk(tree):
            for name in names:
                with open(os.path.join(path, name), "rb") as file:
                    lines = file.read().split(b"\n")
                with open(os.path.join(path, name), "wb") as file:
                    file.write(b"\r\n".join(lines) + b"# f\xfcr alle\r\n")
        code, text, errors = check(tree)
        with open(os.path.join(TREES, "plain.expected")) as expected:
            expect_equal(text.replace(folder + "/", ""), expected.read(), "the report")
        expect_equal((code, errors), (0, ""), "nothing keeps a site from starting")
    finally:
        shutil.rmtree(folder)


def test_daemon_reads_the_tree():
    """A site starts on the tree, with a file of its own for section Site."""
    tree = os.path.join(f.dir, "lsf")
    shutil.copytree(os.path.join(TREES, "plain"), tree)
    f.configure("north", "Begin Site\nNAME = north\nSPOOL = @DIR@/north\nEnd Site\n")
    result = f.run("sublet", "check", f.conf("north"), tree, code=0)
    expect("error" not in result.stdout, result.stdout)
    f.options["north"] = [tree]
    start = f.spawn("north")
    f.wait_for("the site to be ready", lambda: f.is_ready("north", start))
    names = [row["host"] for row in f.rows("north", "hosts")]
    expect("node001" in names and "p9-01" in names, names)
    queues = [row["queue"] for row in f.rows("north", "queues")]
    expect_equal(queues[0], "admin", "the queue with the highest priority")


def test_several_clusters():
    tree = tempfile.mkdtemp()
    try:
        for cluster in ("one", "two"):
            os.makedirs(os.path.join(tree, "lsbatch", cluster, "configdir"))
        code, text, _ = check(tree)
        expect(code == 1 and "several clusters" in text, text)
    finally:
        shutil.rmtree(tree)


def test_large_file():
    """100,000 lines, half of them wrong."""
    with tempfile.NamedTemporaryFile("w", suffix=".conf") as file:
        for i in range(25000):
            file.write("Begin Queue\nQUEUE_NAME = q%d\nRUNLIMT = %d\nEnd Queue\n" % (i, i))
        file.flush()
        code, text, errors = check(file.name)
        expect("RUNLIMT (25000 times)" in text, text[-2000:])
        expect(code == 1 and "24000 errors" in errors, errors)  # 1,000 queues at most


if __name__ == "__main__":
    main(test_report, test_guide, test_harm, test_directives,
         test_lines_of_another_system, test_daemon_reads_the_tree,
         test_several_clusters, test_large_file, shared=f)
