# SPDX-License-Identifier: Apache-2.0
"""Reads the figures that benchmarks print (bench.h)."""
import re

# "work, unit   median  low..high  ..." as bench_print_row has it, or a row of plain
# columns below a heading.
SERIES = re.compile(r"^(\s*)(\S.*?)\s+([\d.]+)\s+([\d.]+)\.\.([\d.]+)(\s|$)")
COLUMNS = re.compile(r"^(\s*)(\S.*?)((?:\s{2,}[\d.]+)+)\s*$")


def figures(text):
    """Figures of one run by name, in their order. A name that a table above has is
    preceded by the title of its own table."""
    found, above, title, before = {}, "", "", ""

    def add(name, figure):
        found["%s: %s" % (title, name) if name in found else name] = figure

    for line in text.splitlines():
        if line.startswith("work "):
            title = before
        before = line
        match = SERIES.match(line)
        if match:
            name = match.group(2)
            if match.group(1):
                name = above + " / " + name
            else:
                above = name
            add(name, float(match.group(3)))
            continue
        match = COLUMNS.match(line)
        if match:
            numbers = match.group(3).split()
            for place, number in enumerate(numbers, 1):
                add(match.group(2) + (" [%d]" % place if len(numbers) > 1 else ""), float(number))
    return found
