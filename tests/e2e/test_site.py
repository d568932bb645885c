#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The manual as a site: it builds without a warning, has every page and an index for
searching, and loads nothing from elsewhere. What pages say of bounds is so."""
import os
import re
import shutil
import subprocess
import tempfile

from federation import ROOT, Failure, Skip, expect, expect_equal, main

PYTHON = "/usr/bin/python3"  # of Debian's packages


def build(source, target):
    """What Sphinx says of it."""
    made = subprocess.run([PYTHON, "-m", "sphinx", "-q", "-n", "-W", "--keep-going", "-b", "html",
                           "-c", os.path.join(ROOT, "docs", "site"), "-d", target + ".trees",
                           source, target], capture_output=True, text=True)
    return made.returncode, made.stderr


def needs_sphinx():
    if subprocess.run([PYTHON, "-c", "import sphinx, myst_parser"], capture_output=True).returncode:
        raise Skip("python3-sphinx and python3-myst-parser are not installed: deploy/deps.sh docs")


def in_directory(test):
    directory = tempfile.mkdtemp(prefix="sublet-site-")
    try:
        test(directory)
    finally:
        shutil.rmtree(directory)


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def check_site(directory):
    site = os.path.join(directory, "site")
    environment = {name: value for name, value in os.environ.items()
                   if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")}
    made = subprocess.run(["make", "-s", "site", "SITE_DIR=" + site], cwd=ROOT, env=environment,
                          capture_output=True, text=True)
    expect_equal((made.returncode, made.stderr), (0, ""), "make site")
    pages = [os.path.relpath(os.path.join(parent, name), os.path.join(ROOT, "docs"))
             for parent, _, names in os.walk(os.path.join(ROOT, "docs"))
             for name in names if name.endswith(".md")]
    expect(len(pages) > 40, "pages: %d" % len(pages))
    for page in pages:
        text = read(site, page[:-3] + ".html")
        loaded = re.findall(r"<(?:script|link|img|iframe)\b[^>]*?(?:src|href)=\"([^\"]+)\"", text)
        expect(loaded, "%s loads its style" % page)
        expect(not [at for at in loaded if re.match(r"(?:\w+:)?//", at)],
               "%s loads %r" % (page, loaded))
    index = read(site, "searchindex.js")
    expect("reclaim" in index and '"guide/two-sites"' in index, "words and pages to search for")
    for name in ("federation.svg", "handover.svg", "page.png"):
        expect(os.path.exists(os.path.join(site, "_images", name)), "picture " + name)


def test_site():
    needs_sphinx()
    in_directory(check_site)


def check_faults(directory):
    source = os.path.join(directory, "docs")
    os.mkdir(source)
    with open(os.path.join(source, "index.md"), "w") as page:
        page.write("# Title\n\n[there](#title) [nowhere](gone.md) [no place](#gone)\n")
    code, said = build(source, os.path.join(directory, "site"))
    expect(code != 0 and "gone" in said, "a link that leads nowhere: %d %s" % (code, said))
    with open(os.path.join(source, "index.md"), "w") as page:
        page.write("# Title\n\n[there](#title)\n")
    expect_equal(build(source, os.path.join(directory, "site2")), (0, ""), "a good page")


def test_faults_are_errors():
    needs_sphinx()
    in_directory(check_faults)


def check_lint(directory):
    """tools/check-links, on a tree with each kind of fault."""
    here = "docs/"
    pages = {"README.md": "[a](%sa.md) [b](%sa.md#two-words) `[code](x.md)`\n" % (here, here),
             here + "a.md": "# A\n\n## Two `words`\n\n[up](../README.md)\n[no](#three)\n"
                            "```\n[code](y.md)\n```\n[out](https://example.org/z)\n[x]: gone.md\n"}
    os.mkdir(os.path.join(directory, here))
    for path, text in pages.items():
        with open(os.path.join(directory, path), "w") as page:
            page.write(text)
    subprocess.run(["git", "init", "-q", directory], check=True)
    said = subprocess.run([os.path.join(ROOT, "tools", "check-links")], cwd=directory,
                          capture_output=True, text=True)
    expect_equal((said.returncode, said.stdout.splitlines()), (1, [
        here + "a.md:5: README.md is not below docs/, so the site does not have it",
        here + 'a.md:6: ' + here + 'a.md has no heading "#three"',
        here + "a.md:11: " + here + "gone.md is not there"]), "what it says")


def test_links_are_checked():
    in_directory(check_lint)


def constants():
    """{name: {values}} of the enumerations in the source."""
    known = {}
    files = subprocess.run(["git", "ls-files", "*.h", "*.c"], cwd=ROOT, check=True,
                           capture_output=True, text=True).stdout.split()
    for path in files:
        if path.startswith("tests/"):
            continue
        for name, value in re.findall(r"^\s*(?:enum \{ )?([A-Z0-9_]+) =\s+(\d+(?: << \d+)?)\s*[,\s]",
                                      read(ROOT, path), re.M):
            base, _, shift = value.partition(" << ")
            known.setdefault(name, set()).add(int(base) << int(shift or 0))
    return known


def test_limits():
    """Each number of docs/limits.md is that of the source."""
    rows = re.findall(r"^\| (.*?) \| ([\d,]+) \| `(\w+)` \|$", read(ROOT, "docs", "limits.md"), re.M)
    expect(len(rows) > 30, "rows: %d" % len(rows))
    known = constants()
    for what, number, name in rows:
        if name not in known:
            raise Failure("docs/limits.md: no %s in the source" % name)
        expect_equal(known[name], {int(number.replace(",", ""))}, "docs/limits.md: " + what)


main(test_limits, test_links_are_checked, test_faults_are_errors, test_site)
