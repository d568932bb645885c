# SPDX-License-Identifier: Apache-2.0
"""A headless Chromium for tests of the page, through playwright-core.

    browser = Browser()
    browser.open("http://127.0.0.1:5571/")
    expect_equal(browser.text("h1"), "Sublet", "heading")

playwright-core comes from npm, by tests/page/package-lock.json, into build/page.
Browser() raises Skip where node, Chromium or playwright-core cannot be had.
"""
import json
import os
import shutil
import subprocess

from federation import LIMIT, ROOT, Failure, Skip

MODULES = os.path.join(ROOT, "build", "page")
SOURCES = os.path.join(ROOT, "tests", "page")


def find_chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if shutil.which(name):
            return shutil.which(name)
    raise Skip("no Chromium: run deploy/deps.sh")


def install_modules():
    """By the lock file, once for each of its versions."""
    stamp = os.path.join(MODULES, "node_modules", ".sublet-lock")
    with open(os.path.join(SOURCES, "package-lock.json")) as file:
        lock = file.read()
    if os.path.exists(stamp):
        with open(stamp) as file:
            if file.read() == lock:
                return
    if not shutil.which("node") or not shutil.which("npm"):
        raise Skip("no node and npm: run deploy/deps.sh")
    os.makedirs(MODULES, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(os.path.join(SOURCES, name), MODULES)
    result = subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=MODULES, text=True,
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode != 0:
        raise Skip("npm cannot install playwright-core: %s" % result.stdout[-500:])
    with open(stamp, "w") as file:
        file.write(lock)


class Browser:
    def __init__(self):
        chromium = find_chromium()
        install_modules()
        self.process = subprocess.Popen(
            ["node", os.path.join(SOURCES, "driver.mjs"), chromium, MODULES],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def do(self, action, **given):
        self.process.stdin.write(json.dumps({"action": action, **given}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise Failure("the browser has ended")
        answer = json.loads(line)
        if "error" in answer:
            raise Failure("%s %s: %s" % (action, given, answer["error"]))
        return answer["value"]

    def open(self, url, **how):
        self.do("open", url=url, **how)
        self.wait("document.getElementById('link').dataset.state === 'live'")

    def evaluate(self, script):
        return self.do("evaluate", script=script)

    def wait(self, script):
        """Until the expression is true in the page."""
        self.do("wait", script=script)

    def text(self, selector):
        return self.evaluate("document.querySelector(%s)?.innerText ?? null" % json.dumps(selector))

    def texts(self, selector):
        return self.evaluate("[...document.querySelectorAll(%s)].map((one) => one.innerText)"
                             % json.dumps(selector))

    def click(self, selector):
        self.do("click", selector=selector)

    def fill(self, selector, text):
        self.do("fill", selector=selector, text=text)

    def select(self, selector, value):
        self.do("select", selector=selector, value=value)

    def press(self, key):
        self.do("press", key=key)

    def close(self):
        self.process.stdin.close()
        try:
            self.process.wait(LIMIT)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
