#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What is shipped for Prometheus and Grafana, with a real Prometheus that scrapes real
daemons: metrics are well made, each alert has a test, each expression of the dashboard
has an answer.

Prometheus and promtool come from Debian's package prometheus; where that is not
installed (it would start a daemon) its programs are taken out of it into
build/prometheus."""
import glob
import json
import os
import re
import shutil
import subprocess
import urllib.parse
import urllib.request

from federation import (BROKER, LIMIT, NORTH, ROOT, SOUTH, Federation, Skip, expect,
                        expect_equal, free_port, main)

f = Federation()
DEPLOY = os.path.join(ROOT, "deploy")
UNPACKED = os.path.join(ROOT, "build", "prometheus")
BROKER_PORT, NORTH_PORT, SOUTH_PORT, PORT = [free_port() for _ in range(4)]
RANGE = "10s"


def find_program(name):
    """In the path, unpacked, or unpacked now."""
    path = os.path.join(UNPACKED, "usr", "bin", name)
    if shutil.which(name):
        return shutil.which(name)
    if not os.path.exists(path):
        os.makedirs(UNPACKED, exist_ok=True)
        subprocess.run(["apt-get", "download", "-q", "prometheus"], cwd=UNPACKED,
                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for package in glob.glob(os.path.join(UNPACKED, "prometheus_*.deb")):
            subprocess.run(["dpkg", "-x", package, UNPACKED])
    if not os.path.exists(path):
        raise Skip("no %s, and Debian's package prometheus cannot be had" % name)
    return path


def promtool(*args, stdin=None, cwd=None):
    result = subprocess.run([find_program("promtool"), *args], input=stdin, cwd=cwd, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    expect_equal(result.returncode, 0, "exit of promtool %s (%s)" % (args, result.stdout))
    return result.stdout


def fetch(port, path):
    with urllib.request.urlopen("http://127.0.0.1:%d%s" % (port, path), timeout=LIMIT) as answer:
        return answer.read().decode()


def test_metrics_are_well_made():
    for port in (BROKER_PORT, NORTH_PORT, SOUTH_PORT):
        text = fetch(port, "/metrics")
        said = promtool("check", "metrics", stdin=text)
        expect_equal(said, "", "what promtool says of the metrics of %d" % port)
        names = set(re.findall(r"^# TYPE (\S+)", text, re.M))
        expect(all(name.startswith("sublet_") for name in names), names)


def test_metrics_of_a_site():
    text = fetch(SOUTH_PORT, "/metrics")
    for line in ('sublet_broker_up 1', 'sublet_queue_slots{queue="away",state="pend"} 0',
                 'sublet_pending_jobs{reason="dependency"} 0',
                 'sublet_pending_jobs{reason="busy"} 0',
                 'sublet_hosts{kind="own",status="ok"} 1',
                 'sublet_hosts{kind="own",status="unavail"} 0',
                 'sublet_site_info{site="south",version="'):
        expect(line in text, "%s in %s" % (line, text))
    with open(os.path.join(ROOT, "sched/pending/pending.h")) as table:
        reasons = set(re.findall(r'X\(REASON_\w+, "(\w+)",', table.read())) - {"started"}
    counted = re.findall(r'^sublet_pending_jobs\{reason="(\w+)"\} \d+$', text, re.M)
    expect(len(reasons) > 20, "the table of reasons")
    expect_equal(sorted(counted), sorted(reasons), "reasons that are counted, zeros too")
    count = re.search(r"^sublet_journal_commit_seconds_count (\d+)", text, re.M)
    expect(int(count[1]) > 0, "commits")
    expect_equal(fetch(SOUTH_PORT, "/healthz"), '{"status":"ok"}', "healthz")
    for path, method, status in (("/", "GET", 404), ("/metrics", "POST", 405)):
        request = urllib.request.Request("http://127.0.0.1:%d%s" % (SOUTH_PORT, path),
                                         method=method)
        try:
            urllib.request.urlopen(request, timeout=LIMIT)
            expect(False, "%s %s is refused" % (method, path))
        except urllib.error.HTTPError as error:
            expect_equal(error.code, status, path)
            expect("message" in json.loads(error.read())["error"], "an error")
    # Passes are counted where they are made, and shown by the broker.
    def is_told():
        counts = [int(number) for number in re.findall(
            r'^sublet_schedule_seconds_bucket\{site="south",le="[^"]*"\} (\d+)',
            fetch(BROKER_PORT, "/metrics"), re.M)]
        expect(counts and counts == sorted(counts), "buckets %s" % counts)
        return counts[-1] > 0
    f.wait_for("passes of south", is_told)

    def has_slot_time(port, side, use):
        line = re.escape('sublet_usage_slot_seconds_total{lease="north/1/south",side="%s",use="%s"}'
                         % (side, use))
        found = re.search(r"^%s (\d+\.\d{3})$" % line, fetch(port, "/metrics"), re.M)
        return found is not None and float(found[1]) > 0
    f.wait_for("slot time of the consumer", lambda: has_slot_time(SOUTH_PORT, "consumer", "held"))
    f.wait_for("slot time of the provider", lambda: has_slot_time(NORTH_PORT, "provider", "idle"))


def test_rules():
    directory = os.path.join(DEPLOY, "prometheus")
    promtool("check", "config", "prometheus.yml", cwd=directory)
    promtool("test", "rules", "alerts_test.yml", cwd=directory)
    with open(os.path.join(directory, "alerts.yml")) as file:
        alerts = set(re.findall(r"- alert: (\w+)", file.read()))
    with open(os.path.join(directory, "alerts_test.yml")) as file:
        text = file.read()
    for alert in alerts:
        blocks = [block for block in text.split("  - name: ") if block.startswith(alert + "\n")]
        expect(any("exp_labels" in block for block in blocks), "a test in which %s fires" % alert)
        expect(any("exp_alerts: []" in block for block in blocks), "and one in which not")
    with open(os.path.join(ROOT, "docs", "operations.md")) as file:
        manual = file.read()
    for alert in alerts:
        expect(alert in manual, "%s in docs/operations.md" % alert)


def query(expression):
    answer = json.loads(fetch(PORT, "/api/v1/query?query=" + urllib.parse.quote(expression)))
    expect_equal(answer["status"], "success", expression)
    return answer["data"]["result"]


def is_ready():
    try:
        return "Ready" in fetch(PORT, "/-/ready")
    except OSError:
        return False


def expressions(dashboard):
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            expression = target["expr"].replace("$__rate_interval", RANGE)
            yield panel["title"], re.sub(r"\$\w+", ".*", expression)


def start_prometheus():
    """On the shipped configuration, but for the ports and the haste."""
    with open(os.path.join(DEPLOY, "prometheus", "prometheus.yml")) as file:
        text = file.read()
    for old, new in (("15s", "1s"), ("5571", str(BROKER_PORT)), ("5581", str(NORTH_PORT)),
                     ("5591", str(SOUTH_PORT)),
                     ("alerts.yml", os.path.join(DEPLOY, "prometheus", "alerts.yml"))):
        expect(old in text, "%s in prometheus.yml" % old)
        text = text.replace(old, new)
    with open(f.dir + "/prometheus.yml", "w") as file:
        file.write(text)
    return subprocess.Popen(
        [find_program("prometheus"), "--config.file=" + f.dir + "/prometheus.yml",
         "--storage.tsdb.path=" + f.dir + "/tsdb",
         "--web.listen-address=127.0.0.1:%d" % PORT],
        env=f.environment, stdout=subprocess.DEVNULL,
        stderr=open(f.dir + "/prometheus.log", "w"))


def test_dashboard():
    with open(os.path.join(DEPLOY, "grafana", "sublet.json")) as file:
        dashboard = json.load(file)
    asked = list(expressions(dashboard))
    expect(len(asked) > 20, "expressions")
    prometheus = start_prometheus()
    try:
        def has_all():
            expect_equal(len(query("up == 1")), 3, "targets that answer")
            # A range wants two samples; before them there is nothing to be had.
            empty = [(title, expression) for title, expression in asked
                     if not query(expression)]
            expect_equal(empty, [], "expressions without an answer")
            return True
        f.wait_for("Prometheus", is_ready)
        f.wait_for("an answer to every expression", has_all)
        # NaN until a hand-over lies between two samples.
        f.wait_for("the time of a hand-over", lambda: any(
            0 < float(row["value"][1]) < 60 for title, expression in asked
            for row in query(expression) if title == "Hand-over"))
        expect_equal(float(query('sum(sublet_site_slots{use="own"})')[0]["value"][1]), 10, "slots")
        expect_equal({row["metric"]["site"] for row in query("sublet_broker_up")},
                     {"north", "south"}, "sites that are scraped")
        rules = json.loads(fetch(PORT, "/api/v1/rules"))["data"]["groups"][0]["rules"]
        expect_equal({rule["health"] for rule in rules}, {"ok"}, "rules")
    finally:
        prometheus.terminate()
        prometheus.wait()
    for variable in dashboard["templating"]["list"]:
        if variable["type"] == "query":
            name, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", variable["query"]).groups()
            expect(re.search(r'^%s\{.*%s="' % (name, label), fetch(BROKER_PORT, "/metrics"), re.M),
                   "label %s of %s" % (label, name))


def setup():
    http = "Begin Site\nHTTP = 127.0.0.1:%d\n"
    f.configure("broker", BROKER.replace("STATE", "HTTP = 127.0.0.1:%d\nSTATE" % BROKER_PORT))
    f.configure("north", NORTH.replace("Begin Site\n", http % NORTH_PORT))
    f.configure("south", SOUTH.replace("Begin Site\n", http % SOUTH_PORT))
    f.start("broker", "north", "south")
    job = f.submit("south", "true", "-q", "away")
    f.wait_state("south", job, "DONE")


main(test_metrics_are_well_made, test_metrics_of_a_site, test_rules, test_dashboard,
     shared=f, setup=setup)
