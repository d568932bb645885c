#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The broker's page in a real browser: that it shows what the API says, live, and how
it is used: filters, a lease, admin actions, the broker gone and back, keyboard, phone.

SUBLET_SHOTS=DIR keeps screenshots there, of both widths and themes."""
import csv
import http.client
import io
import json
import os
import signal
import sqlite3
import urllib.parse

from browser import Browser
from federation import (BROKER, LIMIT, NORTH, SOUTH, Federation, Skip, expect,
                        expect_equal, free_port, main)

f = Federation(reclaim="1h")
PORT = free_port()
URL = "http://127.0.0.1:%d/" % PORT
TOKEN = "a-token-for-tests-0123456789"
LEASE = "north/1/south"
ROW = "tr[data-lease='%s']" % LEASE
browser = None


def get(path):
    connection = http.client.HTTPConnection("127.0.0.1", PORT, timeout=LIMIT)
    connection.request("GET", path)
    answer = json.loads(connection.getresponse().read())
    connection.close()
    return answer


def delays():
    return {row["name"] or "": row["override_s"]
            for row in get("/api/v1/reclaim-delay")["reclaim_delay"]}


def with_browser(test):
    def run():
        global browser
        if browser is None:
            browser = Browser()
        test()
        expect_equal(browser.do("complaints"), [], "complaints of the browser")
    run.__name__ = test.__name__
    return run


def bar(selector):
    """{class: slots} of a split bar, of parts that are in sight."""
    return browser.evaluate(
        "Object.fromEntries([...document.querySelectorAll(%s)].filter((part) => !part.hidden)"
        ".map((part) => [part.className, Number(part.style.flexGrow)]))"
        % json.dumps(selector + " .bar b"))


@with_browser
def test_shows_what_the_api_says():
    browser.open(URL)
    lease = get("/api/v1/leases")["leases"][0]
    expect_equal(browser.texts("#lease-rows tr .who"), ["north → south"], "leases")
    words = browser.text(ROW)
    for word in (LEASE, lease["state"], "every 1h", lease["reason"]):
        expect(word in words, "%r in %r" % (word, words))
    sides = [lease["provider"], lease["consumer"]]
    wanted = {"provider-used": sides[0]["used"],
              "provider-idle": sides[0]["available"] - sides[0]["used"],
              "consumer-idle": sides[1]["available"] - sides[1]["used"],
              "consumer-used": sides[1]["used"]}
    expect_equal(bar(ROW), {name: slots for name, slots in wanted.items() if slots}, "split")
    for site in get("/api/v1/sites")["sites"]:
        slots, drawn = site["slots"], bar("[data-site=%s]" % site["site"])
        expect_equal(drawn.get("lent-used", 0) + drawn.get("lent-idle", 0), slots["lent"], "lent by " + site["site"])
        expect_equal(drawn.get("own-used", 0), slots["used"], "used by " + site["site"])
        expect_equal(drawn.get("borrowed-used", 0) + drawn.get("borrowed-idle", 0),
                     slots["borrowed"], "borrowed by " + site["site"])
    expect("2 of 2" in browser.text("[data-fact='sites connected']"), "sites connected")
    events = get("/api/v1/events?last=200")["events"]
    browser.evaluate("document.getElementById('log-folded').checked"
                     " && document.getElementById('log-folded').click()")
    expect_equal(browser.evaluate("[...document.querySelectorAll('#log li')]"
                                  ".map((row) => Number(row.dataset.event))"),
                 [row["id"] for row in reversed(events)], "log")
    browser.wait("document.getElementById('chart-slots').getAttribute('aria-label')"
                 "?.startsWith('Now: ')")
    browser.evaluate("window.scrollTo(0, 0)")


@with_browser
def test_latest_rows_of_short_answers():
    """An answer that has no room for all of the latest rows: the others are asked for."""
    browser.open(URL)
    events = get("/api/v1/events?last=5")["events"]
    expect(len(events) > 1, "more than one event: %s" % events)
    read = browser.evaluate(
        "import('/page/feed.js').then(async ({ askLast }) => { const whole = window.fetch;"
        " window.fetch = (path, how) => whole(path + '&limit=1', how);"
        " try { return (await askLast('/api/v1/events', 'events', 5)).map((row) => row.id); }"
        " finally { window.fetch = whole; } })")
    expect_equal(read[:len(events)], [row["id"] for row in events], "read row by row")


@with_browser
def test_changes_live():
    """Without losing scroll or focus, and without a reload."""
    browser.open(URL, height=500)
    browser.evaluate("window.mark = 1; document.querySelector(\"%s button\").focus();"
                     "window.scrollTo(0, 300)" % ROW)
    before = browser.evaluate("window.scrollY")
    jobs = [f.submit("south", "sleep 600", "-q", "away"), f.submit("north", "sleep 600")]
    browser.wait("document.querySelector(\"%s .consumer-used:not([hidden])\")"
                 "?.style.flexGrow === '1'" % ROW)
    browser.wait("document.querySelector('[data-site=north] .own-used:not([hidden])')"
                 "?.style.flexGrow === '1'")
    expect_equal(browser.evaluate("[window.mark, window.scrollY,"
                                  " document.activeElement.closest('tr')?.dataset.lease]"),
                 [1, before, LEASE], "the same page, place and focus")
    for site, job in zip(("south", "north"), jobs):
        f.cli(site, "kill", str(job))
    browser.wait("document.querySelector(\"%s .consumer-used\").hidden" % ROW)


@with_browser
def test_filters_stand_in_the_address():
    browser.open(URL)
    browser.fill("#f-q", "nothing like it")
    browser.wait("document.querySelectorAll('#lease-rows tr').length === 0")
    expect(browser.text("#no-leases"), "that there is none is said")
    expect("q=nothing" in browser.evaluate("location.search"), "in the address")
    browser.click("#clear")
    browser.wait("document.querySelectorAll('#lease-rows tr').length === 1")
    browser.select("#f-consumer", "south")
    browser.select("#f-state", get("/api/v1/leases")["leases"][0]["state"])
    expect_equal(len(browser.texts("#lease-rows tr")), 1, "rows that fit")
    address = browser.evaluate("location.href")
    browser.open(address)
    expect_equal(browser.evaluate("document.getElementById('f-consumer').value"), "south",
                 "the address brings the filter back")
    browser.open(URL + "?provider=gone&q=" + urllib.parse.quote("<b>&\"'"))
    expect_equal(browser.evaluate("document.getElementById('f-q').value"), "<b>&\"'", "as typed")


@with_browser
def test_one_lease():
    browser.open(URL)
    browser.click(ROW + " button")
    browser.wait("document.getElementById('lease').open"
                 " && document.querySelectorAll('#lease .timeline li').length > 0")
    expect_equal(browser.text("#lease-id"), LEASE, "title")
    expect_equal(browser.evaluate("new URLSearchParams(location.search).get('lease')"), LEASE,
                 "in the address")
    rows = get("/api/v1/leases/%s/history" % LEASE)["history"]
    expect_equal(len(browser.texts("#lease .timeline li")), len(rows), "timeline")
    expect_equal(browser.texts("#lease .hosts td:first-child"), ["n1", "n2"], "hosts")
    expect(browser.evaluate("[...document.querySelectorAll('#lease button')]"
                            ".find((one) => one.innerText.startsWith('Drain')).disabled")
           is False, "what the broker can do is offered")
    browser.press("Escape")
    browser.wait("!document.getElementById('lease').open && location.search === ''")
    browser.open(URL + "?lease=" + LEASE)
    browser.wait("document.getElementById('lease').open")
    browser.open(URL + "?lease=north/9/south")
    browser.wait("document.getElementById('lease-body').innerText.includes('knows no lease of this id')")


@with_browser
def test_a_site_opens():
    """What the site tells, the slots that it lends and borrows, and why nothing is told."""
    waits = f.submit("south", "true", "-b", "2099:1:1:0:0")
    browser.open(URL)
    browser.click("[data-site=south] .name button")
    browser.wait("document.getElementById('site').open && "
                 "document.getElementById('site-body').innerText.includes('Queues')")
    expect_equal(browser.text("#site-name"), "south", "title")
    expect_equal(browser.evaluate("new URLSearchParams(location.search).get('overview')"), "south",
                 "in the address")
    rows = [row.split("\t") for row in browser.texts("#site .overview tbody tr")]
    lease = get("/api/v1/leases")["leases"][0]["consumer"]
    expect([LEASE, "north", str(lease["available"]), str(lease["used"]),
            str(lease["available"] - lease["used"]), "active"] in rows, rows)
    browser.wait("document.getElementById('site-body').innerText.includes("
                 "'The job has a specified start time')")
    rows = [row.split("\t") for row in browser.texts("#site .overview tbody tr")]
    for wanted in (["normal", "Open:Active", "30", "1", "0", "0"],
                   ["The job has a specified start time", "1"], ["s1", "ok", "2", "0", "0", "0", "0"]):
        expect(wanted in rows, "%s in %s" % (wanted, rows))
    expect_equal(browser.evaluate(CONTRAST), [], "contrast")
    f.cli("south", "kill", str(waits))
    browser.wait("document.getElementById('site-body').innerText.includes('No job is pending.')")
    browser.press("Escape")
    browser.wait("!document.getElementById('site').open && location.search === ''")
    f.kill9("south")
    browser.open(URL + "?overview=south")
    browser.wait("document.querySelector('#site .error')?.innerText.includes('site \"south\": ')")
    f.start("south")
    browser.wait("document.querySelector('#site .error') === null && "
                 "document.getElementById('site-body').innerText.includes('Queues')")
    browser.open(URL + "?overview=nobody")
    browser.wait("document.getElementById('site-body').innerText.includes('knows no site of this name')")


CAPTURE = """window.saved = null;
URL.createObjectURL = (blob) => { blob.text().then((text) => { window.saved = text; });
  return 'data:text/csv,'; };
HTMLAnchorElement.prototype.click = () => {}; 0"""


@with_browser
def test_csv_of_what_is_shown():
    """With the filters of the table, and without formulas for spreadsheets."""
    browser.open(URL)
    browser.evaluate(CAPTURE)
    browser.click("#lease-csv")
    browser.wait("window.saved !== null")
    rows = list(csv.DictReader(io.StringIO(browser.evaluate("window.saved"))))
    lease = get("/api/v1/leases")["leases"][0]
    expect_equal([row["lease"] for row in rows], [LEASE], "leases")
    expect_equal(rows[0]["provider_available"], str(lease["provider"]["available"]), "slots")
    expect_equal(rows[0]["reason"], lease["reason"], "reason")
    browser.fill("#f-q", "nothing like it")
    browser.wait("document.querySelectorAll('#lease-rows tr').length === 0")
    browser.evaluate("window.saved = null; 0")
    browser.click("#lease-csv")
    browser.wait("window.saved !== null")
    expect_equal(len(browser.evaluate("window.saved").splitlines()), 1, "only the head")
    browser.evaluate("window.saved = null; import('/page/format.js').then(({ saveCsv }) =>"
                     " saveCsv('x', [['=1+1', 'a,\"b\"', -5]]))")
    browser.wait("window.saved !== null")
    expect_equal(browser.evaluate("window.saved"), "'=1+1,\"a,\"\"b\"\"\",-5\r\n", "cells")
    browser.click("#clear")
    browser.evaluate("window.saved = null; 0")
    browser.click("#log-csv")
    browser.wait("window.saved !== null")
    rows = list(csv.DictReader(io.StringIO(browser.evaluate("window.saved"))))
    events = get("/api/v1/events?last=200")["events"]
    expect_equal([row["id"] for row in rows], [str(row["id"]) for row in reversed(events)],
                 "changes")


def saved_by(selector):
    browser.evaluate("window.saved = null; 0")
    browser.click(selector)
    browser.wait("window.saved !== null")
    return list(csv.DictReader(io.StringIO(browser.evaluate("window.saved"))))


@with_browser
def test_csv_of_sites_hosts_pools_and_charts():
    """Under the names of the API's fields, an object's within another joined by _."""
    browser.open(URL)
    browser.evaluate(CAPTURE)
    sites = get("/api/v1/sites")["sites"]
    rows = saved_by("#site-csv")
    expect_equal([(row["site"], row["status"], row["slots_own"], row["roles"]) for row in rows],
                 [(site["site"], site["status"], str(site["slots"]["own"]), " ".join(site["roles"]))
                  for site in sorted(sites, key=lambda site: site["site"])], "sites")
    browser.wait("document.querySelectorAll('#pools [data-node]').length === 2")
    nodes = get("/api/v1/plans/p")["nodes"]
    expect_equal([(row["node"], row["owned"]) for row in saved_by("#pools h3 .csv")],
                 [(node["node"], str(node["owned"])) for node in nodes], "nodes of a pool")
    f.wait_for("a sample", lambda: get("/api/v1/series")["series"])
    browser.open(URL)
    browser.evaluate(CAPTURE)
    browser.wait("document.getElementById('chart-slots').getAttribute('aria-label')"
                 "?.startsWith('Now: ')")
    rows, series = saved_by("#chart-csv"), get("/api/v1/series")["series"]
    samples = {row["at"]: row for row in series}
    expect(rows, "samples of the chart")
    for row in rows:
        expect_equal(row["own"], str(samples[row["at"]]["own"]), "own slots at " + row["at"])
    browser.click(ROW + " button")
    browser.wait("document.querySelectorAll('#lease .hosts tr').length === 2")
    hosts = get("/api/v1/leases/" + LEASE)["leases"][0]["hosts"]
    expect_equal([(row["lease"], row["host"], row["slots"])
                  for row in saved_by("#lease [aria-label='CSV of the hosts']")],
                 [(LEASE, host["host"], str(host["slots"])) for host in hosts], "hosts")


@with_browser
def test_hand_overs_are_folded():
    """A run of rows that only say that idle slots changed sides is one row, which opens."""
    event = ("{ id: %d, at: '2026-01-01T00:00:0%d.000Z', event: '%s', lease: 'a/1/b', epoch: %d,"
             " provider: { available: 1 }, consumer: { available: 1 }, reason: 'idle' }")
    names = ["lease_made"] + ["lease_inactive", "lease_active"] * 3 + ["lease_drain"]
    rows = ",".join(event % (900000 + i, i, name, i) for i, name in reversed(list(enumerate(names))))
    browser.open(URL)
    browser.evaluate("Promise.all([import('/page/feed.js'), import('/page/log.js')])"
                     ".then(([{ known }, { drawLog }]) => { known.events = [%s]; drawLog(); })"
                     % rows)
    lines = browser.texts("#log li .why")
    expect_equal(len(lines), 3, "rows: %s" % lines)
    expect_equal(lines[1], "6 rows: idle slots changed sides: idle", "the fold")
    browser.click("#log .fold")
    expect_equal(len(browser.texts("#log li")), 8, "opened")


@with_browser
def test_only_equal_hand_overs_are_folded():
    """Equal are those of one lease for one reason, also if another lease's stand between."""
    rows = []
    for i in range(3):
        for lease, reason in (("a/1/b", "south asks"), ("c/1/d", "south asks"),
                              ("e/1/f", "reason %d" % i)):
            rows.insert(0, {"id": 900000 + len(rows), "at": "2026-01-01T00:00:%02d.000Z" % len(rows),
                            "event": "lease_active", "lease": lease, "epoch": i, "reason": reason,
                            "provider": {"available": 1}, "consumer": {"available": 1}})
    browser.open(URL)
    browser.evaluate("Promise.all([import('/page/feed.js'), import('/page/log.js')])"
                     ".then(([{ known }, { drawLog }]) => { known.events = %s; drawLog(); })"
                     % json.dumps(rows))
    fold = "3 rows: idle slots changed sides: south asks"
    said = list(zip(browser.texts("#log li .what"), browser.texts("#log li .why")))
    expect_equal(said, [("e/1/f", "active (1 + 1 slots): reason 2"), ("c/1/d", fold), ("a/1/b", fold),
                        ("e/1/f", "active (1 + 1 slots): reason 1"),
                        ("e/1/f", "active (1 + 1 slots): reason 0")], "rows, latest first")


TIP = "document.getElementById('tip')"


@with_browser
def test_tips_by_keyboard():
    """A list of colours is one stop of Tab, arrows go through it; Escape hides the tip and
    does not close a dialog; a tip is tied to what has the focus."""
    browser.open(URL)
    expect_equal(browser.evaluate("document.querySelectorAll('[title]').length"), 0,
                 "titles, which only the mouse shows")
    browser.evaluate("document.getElementById('theme').focus()")
    browser.press("Tab")
    browser.wait(TIP + ".matches(':popover-open')")
    expect_equal(browser.text("#tip"), "Slots of the site that its own jobs use", "first colour")
    expect_equal(browser.evaluate("document.activeElement.getAttribute('aria-describedby')"),
                 "tip", "told to screen readers")
    browser.press("ArrowRight")
    expect_equal(browser.text("#tip"), "Slots of the site that are neither used nor lent", "next")
    browser.press("End")
    expect_equal(browser.text("#tip"), "Slots that pending jobs of the site wait for", "last")
    box = browser.evaluate("(({ left, right, top, bottom }) => left >= 0 && top >= 0 &&"
                           " right <= innerWidth && bottom <= innerHeight)(%s.getBoundingClientRect())" % TIP)
    expect(box, "in sight")
    browser.press("Escape")
    expect(not browser.evaluate(TIP + ".matches(':popover-open')"), "hidden by Escape")
    browser.press("Tab")
    expect_equal(browser.evaluate("document.activeElement.id"), "site-csv", "one stop of Tab")
    browser.evaluate("document.querySelector('#leases th[data-sort=next] button').focus()")
    browser.wait(TIP + ".innerText.startsWith('When the rebalance rule')")
    browser.open(URL + "?lease=" + LEASE)
    browser.wait("document.querySelector('#lease .csv') !== null")
    browser.press("Tab")
    browser.evaluate("document.querySelector('#lease .csv').focus()")
    browser.wait(TIP + ".matches(':popover-open')")
    browser.press("Escape")
    expect(not browser.evaluate(TIP + ".matches(':popover-open')"), "hidden in a dialog")
    expect(browser.evaluate("document.getElementById('lease').open"), "the dialog is open")


@with_browser
def test_drained_leases_stay_and_resume():
    """A lease that a drain has ended stays visible, and is resumed where it was drained."""
    browser.open(URL + "?lease=" + LEASE)
    browser.click("text=Drain …")
    browser.fill("[name=token]", TOKEN)
    browser.click("#act-do")
    f.wait_lease("it to be drained", lambda l: l["drained"] and l["state"] == "ended")
    browser.wait("document.querySelector(\"%s .badge\")?.innerText === 'drained'" % ROW)
    browser.open(URL + "?state=ended")
    expect_equal(browser.texts("#lease-rows tr .who"), ["north → south"], "by its state")
    browser.open(URL + "?state=active")
    expect_equal(browser.text("#no-leases"), "No lease fits these filters.", "none is active")
    browser.open(URL)
    browser.click(ROW + " button")
    browser.click("text=Resume …")
    browser.fill("[name=token]", TOKEN)
    browser.click("#act-do")
    f.wait_lease("it to be back", lambda l: not l["drained"] and l["state"] != "ended")
    browser.wait("document.querySelector(\"%s .badge\")?.innerText !== 'drained'" % ROW)
    log = [line for line in open(f.log("broker")) if 'http: token "ops": POST' in line]
    expect(len(log) >= 2, "who did it, in the broker's log: %s" % log)
    job = f.submit("south", "true", "-q", "away")
    f.wait_state("south", job, "DONE")


@with_browser
def test_rebalance_now():
    """The button asks first; the history says who asked and what the rule called for."""
    f.wait_lease("it to be active", lambda l: l["state"] == "active")
    browser.open(URL + "?lease=" + LEASE)
    browser.wait("[...document.querySelectorAll('button')].some("
                 "(b) => b.innerText === 'Rebalance …' && !b.disabled)")
    browser.click("text=Rebalance …")
    expect("No job is stopped" in browser.text("#act-body"), browser.text("#act-body"))
    browser.fill("[name=token]", TOKEN)
    browser.click("#act-do")
    f.wait_for("the event", lambda: any(
        event["event"] == "lease_rebalance" and "requested by ops (HTTP): " in event["reason"]
        for event in get("/api/v1/events?limit=500")["events"]))


@with_browser
def test_charts_show_the_whole_time():
    """An hour shows an hour, also when the broker has samples of a minute only. Lent slots
    are used or idle: all areas together are the slots of the sites."""
    browser.open(URL)
    browser.wait("Chart.getChart('chart-slots')?.data.datasets[0].data.length > 0")
    areas = browser.evaluate("Chart.getChart('chart-slots').data.datasets.map("
                             "({ label, data }) => [label, data[data.length - 1].y])")
    expect_equal([label for label, _ in areas], ["own, used", "lent, used", "lent, idle", "own, idle"],
                 "areas")
    expect_equal(sum(slots for _, slots in areas), 10, "slots of %s" % areas)
    for span in (3600, 86400, 604800):
        browser.open(URL + "?span=%d" % span)
        browser.wait("Chart.getChart('chart-slots') !== undefined")
        expect_equal(browser.evaluate("(({ min, max }) => Math.round((max - min) / 1000))"
                                      "(Chart.getChart('chart-slots').scales.x)"), span, "seconds")


RANGE = "(({ min, max }) => [Math.round(min / 1000), Math.round(max / 1000)])(Chart.getChart('%s').scales.x)"


def shown_range(chart="chart-slots"):
    return browser.evaluate(RANGE % chart)


@with_browser
def test_charts_are_zoomed():
    """By the mouse and by keys; the part stands in the address, and all charts show it."""
    browser.open(URL)
    browser.wait("Chart.getChart('chart-slots')?.data.datasets[0].data.length > 0")
    first, last = shown_range()
    browser.evaluate("""(() => { const canvas = document.getElementById('chart-slots');
        canvas.setPointerCapture = () => {};
        const { left, right, top } = Chart.getChart(canvas).chartArea, box = canvas.getBoundingClientRect();
        const tell = (name, part) => canvas.dispatchEvent(new PointerEvent(name, { button: 0,
          clientX: box.left + left + part * (right - left), clientY: box.top + top + 5 }));
        tell('pointerdown', 0.5); tell('pointermove', 0.75); tell('pointerup', 0.75); })()""")
    browser.wait("!document.getElementById('zoom-out').hidden")
    browser.wait("(([a, b]) => Math.abs(b - a - 900) < 20)(%s)" % (RANGE % "chart-slots"))
    begin, end = shown_range()
    expect(abs(begin - (first + last) // 2) < 60, "from the middle: %s of %s" % (begin, (first, last)))
    browser.wait("JSON.stringify(%s) === '[%d,%d]'" % (RANGE % "chart-moves", begin, end))
    address = browser.evaluate("location.href")
    browser.open(address)
    browser.wait("window.Chart?.getChart('chart-slots') !== undefined")
    expect_equal(shown_range(), [begin, end], "from the address")
    browser.evaluate("document.getElementById('chart-slots').focus()")
    browser.press("-")
    browser.wait("(([a, b]) => Math.abs(b - a - 1800) < 40)(%s)" % (RANGE % "chart-slots"))
    browser.press("+")
    browser.wait("(([a, b]) => Math.abs(b - a - 900) < 20)(%s)" % (RANGE % "chart-slots"))
    before = shown_range()[0]
    browser.press("ArrowLeft")
    browser.wait("%s[0] < %d" % (RANGE % "chart-slots", before - 200))
    browser.click("#zoom-out")
    browser.wait("(([a, b]) => b - a === 3600)(%s)" % (RANGE % "chart-slots"))
    expect("zoom" not in browser.evaluate("location.search"), "not in the address any more")


@with_browser
def test_a_silent_stream_is_noticed():
    """A broker that keeps its connections and says nothing is gone with its second beat."""
    browser.open(URL)
    os.kill(f.daemons["broker"].pid, signal.SIGSTOP)
    try:
        f.wait_for("the page to notice", lambda: browser.evaluate(
            "document.getElementById('link').dataset.state") == "gone")
    finally:
        os.kill(f.daemons["broker"].pid, signal.SIGCONT)
    browser.wait("document.getElementById('link').dataset.state === 'live'")


@with_browser
def test_pools():
    browser.open(URL)
    browser.wait("document.querySelectorAll('#pools [data-node]').length === 2")
    rows = {row["node"]: row for row in get("/api/v1/plans/p")["nodes"]}
    cells = browser.texts("#pools [data-node='/eng/sim'] td")
    expect_equal(cells[0], "south", "the leaf's site")
    expect_equal(cells[1], str(rows["/eng/sim"]["owned"]), "what it owns")
    expect("2 slots" not in browser.text("#pools h3"), "no slots are in the pool")
    expect_equal(browser.texts("#pools thead th")[-2:], ["Slot hours", "Price"], "columns")
    expect_equal(browser.texts("#pools [data-node='/eng'] td")[-2:], ["0 of 100", "0"], "hours")
    expect_equal(cells[-2:], ["0", "3"], "of a node without HOURS, and its price")


@with_browser
def test_a_pool_over_time():
    """Its chart says what the API's series say: of the pool, and of a node that is
    chosen, which stands in the address."""
    with Federation() as other:
        port = free_port()
        other.configure("broker", BROKER.replace(
            "STATE", "HTTP = 127.0.0.1:%d\nSAMPLE_INTERVAL = 1s\nSTATE" % port) + FULL_POOL)
        other.configure("north", NORTH.replace("TYPE = shared\n", "")
                        .replace("([south, 1])", "([pool:p])"))
        other.start("broker", "north", "south")
        for _ in range(9):
            other.submit("south", "sleep 600", "-q", "away")
        other.wait_for("south to have all slots", lambda: other.n_jobs("south", "RUN") == 8)
        for _ in range(3):
            other.submit("north", "sleep 600")
        other.wait_for("north to have three", lambda: other.n_jobs("north", "RUN") == 3)
        url = "http://127.0.0.1:%d/" % port
        browser.open(url)
        browser.wait("document.querySelector('#pools canvas')?.getAttribute('aria-label') ==="
                     " 'Now: with nodes 8, on their way back 0, idle 0, wanted 12'")
        expect_equal(browser.text("#pools figcaption"), "all of p over time", "of what")
        browser.click("#pools [data-node='/eng/sim'] button")
        browser.wait("document.querySelector('#pools canvas').getAttribute('aria-label') ==="
                     " 'Now: has 5, on its way back 0, quota 5, wants 9'")
        expect_equal(browser.text("#pools figcaption"), "/eng/sim over time", "of whom")
        expect_equal(browser.evaluate("document.activeElement.innerText"), "/eng/sim", "focus")
        browser.open(browser.evaluate("location.href"))
        browser.wait("document.querySelector('#pools figcaption')?.innerText"
                     " === '/eng/sim over time'")
        for width, height in ((1280, 900), (360, 740)):
            for theme in ("light", "dark"):
                browser.open(url + "?node=p/eng/sim", width=width, height=height, theme=theme)
                browser.wait("document.querySelector('#pools canvas')?.hasAttribute('aria-label')")
                expect(browser.evaluate("document.documentElement.scrollWidth <= innerWidth"),
                       "nothing is wider than %d" % width)
                expect_equal(browser.evaluate(CONTRAST), [], "text with little contrast, " + theme)
                shots = os.environ.get("SUBLET_SHOTS")
                if shots:
                    browser.do("screenshot", whole=True, path=os.path.join(
                        shots, "pool-%d-%s.png" % (width, theme)))
        browser.click("#pools [data-node='/eng/sim'] button")
        browser.wait("document.querySelector('#pools figcaption').innerText"
                     " === 'all of p over time' && location.search === ''")


def open_delay():
    browser.open(URL + "?lease=" + LEASE)
    browser.click("text=Set reclaim delay …")
    browser.wait("document.getElementById('act').open")


@with_browser
def test_reclaim_delay():
    open_delay()
    browser.fill("[name=delay]", "never")
    expect("Type a time" in browser.text("#act .preview"), "what is no delay")
    browser.fill("[name=delay]", "99999999d")
    expect("99999999d is out of bounds, expected 1s to 3650d" in browser.text("#act .preview"),
           "a delay without bounds")
    browser.fill("[name=token]", TOKEN)
    browser.click("#act-do")
    browser.wait("document.getElementById('act-error').innerText.includes('3650d')")
    browser.fill("[name=delay]", "90s")
    words = browser.text("#act .preview")
    for word in (LEASE, "1h becomes 1m 30s", "idle slots"):
        expect(word in words, "what it will do: %r in %r" % (word, words))
    expect_equal(delays()[LEASE], None, "nothing is done before it is asked for")
    browser.fill("[name=token]", "not-the-token-of-anybody")
    browser.click("#act-do")
    browser.wait("document.getElementById('act-error').innerText.includes('token is wrong')")
    expect_equal(delays()[LEASE], None, "nothing is done with a wrong token")
    browser.fill("[name=token]", TOKEN)
    browser.click("#act-do")
    browser.wait("!document.getElementById('act').open")
    expect_equal(delays()[LEASE], 90, "done")
    browser.wait("document.getElementById('lease-body').innerText.includes('1m 30s')")
    # The token is kept for the tab; default removes the override.
    browser.click("text=Set reclaim delay …")
    browser.fill("[name=delay]", "default")
    expect("removed" in browser.text("#act .preview"), "what default does")
    browser.click("#act-do")
    browser.wait("!document.getElementById('act').open")
    expect_equal(delays()[LEASE], None, "removed")
    # A token with what no header can carry is refused here.
    browser.press("Escape")
    browser.wait("!document.getElementById('lease').open")
    browser.click("#sign")
    browser.click("#sign")
    browser.fill("[name=token]", "töken\n")
    browser.click("#act-do")
    browser.wait("document.getElementById('act-error').innerText.includes('no such characters')")


@with_browser
def test_broker_gone_and_back():
    browser.open(URL)
    known = browser.text(ROW + " .who")
    f.kill9("broker")
    browser.wait("document.getElementById('link').dataset.state === 'gone'"
                 " && document.getElementById('alarms').innerText.includes('does not answer')")
    expect_equal(browser.text(ROW + " .who"), known, "what was known is still shown")
    f.start("broker")
    browser.wait("document.getElementById('link').dataset.state === 'live'"
                 " && document.getElementById('alarms').children.length === 0")
    f.wait_for("the lease", lambda: f.lease()["status"] == "ok")


@with_browser
def test_site_lost_is_an_alarm():
    browser.open(URL)
    f.kill9("south")
    browser.wait("document.getElementById('alarms').innerText.includes('south disconnected')")
    browser.wait("document.querySelector(\"%s .badge\")?.innerText === 'disconnected'" % ROW)
    browser.wait("[...document.querySelectorAll('#log li')].some("
                 "(line) => line.querySelector('.what').innerText === 'south')")
    f.start("south")
    browser.wait("document.getElementById('alarms').children.length === 0")


@with_browser
def test_phone_and_themes():
    for name, width, height, theme in (("wide", 1440, 900, "light"), ("wide", 1440, 900, "dark"),
                                       ("middle", 1024, 768, "light"), ("middle", 1024, 768, "dark"),
                                       ("phone", 360, 740, "light"), ("phone", 360, 740, "dark")):
        browser.open(URL, width=width, height=height, theme=theme)
        expect(browser.evaluate("document.documentElement.scrollWidth <= innerWidth"),
               "nothing is wider than the %s" % name)
        back = browser.evaluate("getComputedStyle(document.body).backgroundColor")
        light = sum(int(part) for part in back[4:-1].split(",")) > 3 * 128
        expect_equal(light, theme == "light", "theme")
        browser.click("#theme")
        expect(browser.evaluate("getComputedStyle(document.body).backgroundColor") != back,
               "the other theme")
        browser.click("#theme")
        shots = os.environ.get("SUBLET_SHOTS")
        if shots:
            browser.wait("document.getElementById('chart-slots').hasAttribute('aria-label')")
            browser.do("screenshot", path=os.path.join(shots, "%s-%s.png" % (name, theme)),
                       whole=True)
            browser.click(ROW + " button")
            browser.wait("document.querySelectorAll('#lease .timeline li').length > 0")
            browser.do("screenshot", path=os.path.join(shots, "lease-%s-%s.png" % (name, theme)))
            browser.press("Escape")
            browser.click("[data-site=south] .name button")
            browser.wait("document.getElementById('site-body').innerText.includes('Queues')")
            browser.do("screenshot", path=os.path.join(shots, "site-%s-%s.png" % (name, theme)))


@with_browser
def test_keyboard_and_names():
    """Everything that can be used can be reached and has a name; text has contrast."""
    browser.open(URL)
    nameless = browser.evaluate("""[...document.querySelectorAll(
        'button, input, select, a, [role=img], table, ol[tabindex]')]
        .filter((one) => one.offsetParent !== null && !(one.innerText?.trim() ||
            one.getAttribute('aria-label') || one.labels?.length || one.caption))
        .map((one) => one.outerHTML.slice(0, 100))""")
    expect_equal(nameless, [], "without a name")
    reached = set()
    for _ in range(50):
        browser.press("Tab")
        reached.add(browser.evaluate("document.activeElement.id || document.activeElement"
                                     ".closest('tr')?.dataset.lease || document.activeElement"
                                     ".className"))
    for wanted in ("sign", "theme", "f-q", "f-state", LEASE, "chart-span", "log-filtered", "log"):
        expect(wanted in reached, "%s is reached by Tab (%s)" % (wanted, reached))
    for theme in ("light", "dark"):
        browser.open(URL, theme=theme)
        expect_equal(browser.evaluate(CONTRAST), [], "text with little contrast, " + theme)


def make_leases(path, n_providers, n_each):
    """Into a store that the broker has made: shared leases of sites that are away."""
    store = sqlite3.connect(path)
    for i in range(n_providers):
        for j in range(n_each):
            lease = "p%d/%03d/south" % (i, j)
            store.execute(
                "INSERT INTO lease (id, provider, policy, consumer, type, state, epoch,"
                " is_made, is_withdrawn, registered_ms, made_ms, changed_ms, judged_ms, reason)"
                " VALUES (?, ?, ?, 'south', 'shared', 'active', 3, 1, 0,"
                " 1700000000000, 1700000000000, 1700000000000, 1700000000000, 'a reason')",
                (lease, "p%d" % i, "%03d" % j))
            for place in range(4):
                store.execute("INSERT INTO lease_host (lease, place, host, n_slots, provider,"
                              " consumer, provider_used, consumer_used, is_down)"
                              " VALUES (?, ?, ?, 8, 5, 3, ?, ?, 0)",
                              (lease, place, "h%d" % place, j % 6, j % 4))
    store.commit()
    store.close()
    os.unlink(path + "-commit")  # its pages are not the broker's any more


LONG_TASKS = """window.longest = 0;
new PerformanceObserver((list) => list.getEntries().forEach((one) => {
  window.longest = Math.max(window.longest, one.duration); }))
  .observe({type: 'longtask', buffered: true}); 0"""


@with_browser
def test_a_thousand_leases():
    """All are counted, found and sorted; a change of all of them reaches each row in
    sight, which stays the row it was."""
    with Federation() as other:
        port = free_port()
        url = "http://127.0.0.1:%d/" % port
        members = "".join("p%d %s/keys/%s.key (provider)\n" % (i, other.dir, "p%d" % i)
                          for i in range(10))
        for i in range(10):
            other.run("sublet", "keygen", "%s/keys/p%d" % (other.dir, i), code=0)
        other.configure("broker", BROKER.replace("STATE", "HTTP = 127.0.0.1:%d\nSTATE" % port)
                        .replace("End Member", members + "End Member"))
        other.start("broker")
        other.stop("broker")
        make_leases(other.dir + "/broker.db", 10, 100)
        other.start("broker")
        browser.open(url)
        browser.evaluate(LONG_TASKS)
        browser.wait("document.querySelectorAll('#lease-rows tr').length === 150")
        expect_equal(browser.text("#lease-count"), "1000", "count")
        first = browser.evaluate("performance.getEntriesByName('first-contentful-paint')[0]"
                                 ".startTime")
        browser.click("#more-leases")
        browser.wait("document.querySelectorAll('#lease-rows tr').length === 300")
        browser.fill("#f-q", "p7 042")
        browser.wait("document.querySelectorAll('#lease-rows tr').length === 1")
        browser.click("#clear")
        browser.wait("document.querySelectorAll('#lease-rows tr').length >= 150")
        browser.click("th[data-sort=slots] button")
        browser.click("th[data-sort=id] button")
        browser.evaluate("window.row = document.querySelector(\"tr[data-lease='p0/002/south']\");"
                         "window.longest = 0; 0")
        other.ops("reclaim-delay", "17m")
        browser.wait("[...document.querySelectorAll('#lease-rows tr')]"
                     ".every((row) => row.textContent.includes('every 17m'))")
        expect(browser.evaluate("window.row.isConnected && window.row.textContent.includes('17m')"),
               "the same row")
        loaded = browser.evaluate("performance.getEntriesByType('resource')"
                                  ".filter((one) => one.name.includes('/page/'))"
                                  ".reduce((sum, one) => sum + one.encodedBodySize, 0)"
                                  " + performance.getEntriesByType('navigation')[0].encodedBodySize")
        print("figures: page %.1f KiB compressed, first content after %.0f ms, longest task "
              "when 1,000 leases change %.0f ms" % (
                  loaded / 1024, first, browser.evaluate("window.longest")))
        expect(loaded < 300 * 1024, "a page of %d bytes" % loaded)


# Of each text in sight with its own background (flat ones): WCAG's ratio below 4.5.
CONTRAST = """(() => {
  const parse = (text) => text.match(/[\\d.]+/g).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((v) => v / 255)
    .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const backOf = (element) => {
    for (let at = element; at !== null; at = at.parentElement) {
      const style = getComputedStyle(at);
      if (style.backgroundImage !== 'none') return null;
      const colour = parse(style.backgroundColor);
      if (colour.length === 3 || colour[3] === 1) return colour;
    }
    return [255, 255, 255];
  };
  const bad = [];
  for (const element of document.querySelectorAll('body *')) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
    if (!own || element.offsetParent === null || element.closest(':disabled')) continue;
    const back = backOf(element);
    if (back === null) continue;
    const [a, b] = [light(parse(getComputedStyle(element).color)), light(back)];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.push(`${element.className || element.tagName} ${ratio.toFixed(2)}`);
  }
  return [...new Set(bad)];
})()"""


POOL = """
Begin Pool
NAME = p
End Pool
Begin PlanNode
NAME      POOL  OWNED  SITE   HOURS  PRICE
/eng      p     4      -      100    -
/eng/sim  p     2      south  -      3
End PlanNode
"""

FULL_POOL = """
Begin Pool
NAME = p
CYCLE = 1s
End Pool
Begin PlanNode
NAME      POOL  OWNED  GRACE  SITE
/eng      p     4      -      -
/eng/sim  p     2      3s     south
/ops      p     4      0s     north
End PlanNode
"""


def setup():
    tokens = os.path.join(f.dir, "tokens")
    with open(tokens, "w") as file:
        file.write("ops " + TOKEN + "\n")
    os.chmod(tokens, 0o600)
    f.configure("broker", BROKER.replace(
        "STATE", "HTTP = 127.0.0.1:%d\nTOKENS = %s\nSAMPLE_INTERVAL = 1s\nSTATE" % (
            PORT, tokens)) + POOL)
    f.configure("south", SOUTH)
    f.start("broker", "north", "south")
    job = f.submit("south", "true", "-q", "away")
    f.wait_state("south", job, "DONE")
    f.wait_for("a sample", lambda: get("/api/v1/series")["series"])


try:
    main(test_shows_what_the_api_says, test_changes_live, test_filters_stand_in_the_address,
         test_latest_rows_of_short_answers, test_one_lease, test_a_site_opens,
         test_pools,
         test_csv_of_what_is_shown, test_csv_of_sites_hosts_pools_and_charts,
         test_hand_overs_are_folded, test_only_equal_hand_overs_are_folded, test_tips_by_keyboard,
         test_drained_leases_stay_and_resume, test_rebalance_now, test_charts_show_the_whole_time, test_charts_are_zoomed, test_a_pool_over_time, test_reclaim_delay, test_broker_gone_and_back,
         test_a_silent_stream_is_noticed, test_site_lost_is_an_alarm, test_phone_and_themes, test_keyboard_and_names,
         test_a_thousand_leases,
         shared=f, setup=setup)
finally:
    if browser is not None:
        browser.close()
