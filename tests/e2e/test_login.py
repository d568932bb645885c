#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The page behind nginx, by deploy/nginx/sublet.conf: TLS and a login. By HTTP_ROLES ann
may make changes and bob may read; the broker's log says that it was ann."""
import base64
import http.client
import json
import os
import shutil
import ssl
import subprocess

from browser import Browser
from federation import BROKER, LEASE, ROOT, Federation, Skip, expect, expect_equal, free_port, main

TOKEN = "0123456789abcdef-nginx"
PASSWORDS = {"ann": "ann's password", "bob": "bob's password"}


class Nginx:
    """By the file that is shipped, with other ports and paths, and a port without TLS."""

    def __init__(self, f, broker_port):
        if not shutil.which("nginx") and not os.path.exists("/usr/sbin/nginx"):
            raise Skip("no nginx: run deploy/deps.sh")
        self.port, self.plain_port = free_port(), free_port()
        self.dir = os.path.join(f.dir, "nginx")
        os.mkdir(self.dir)
        with open(self.path("htpasswd"), "w") as file:
            for user, password in PASSWORDS.items():
                hashed = subprocess.run(["openssl", "passwd", "-apr1", password], check=True,
                                        text=True, capture_output=True).stdout.strip()
                file.write("%s:%s\n" % (user, hashed))
        with open(self.path("token"), "w") as file:
            file.write('proxy_set_header Authorization "Bearer %s";\n' % TOKEN)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                        "-subj", "/CN=127.0.0.1", "-keyout", self.path("key"),
                        "-out", self.path("cert")], check=True, capture_output=True)
        with open(os.path.join(ROOT, "deploy/nginx/sublet.conf")) as file:
            text = file.read()
        for old, new in (
                ("listen 443 ssl;", "listen 127.0.0.1:%d ssl;\n    listen 127.0.0.1:%d;" % (
                    self.port, self.plain_port)),
                ("/etc/ssl/sublet.pem", self.path("cert")),
                ("/etc/ssl/private/sublet.key", self.path("key")),
                ("/etc/nginx/sublet.htpasswd;", self.path("htpasswd") + ";"),
                ("include /etc/nginx/sublet.token", "include " + self.path("token")),
                ("http://127.0.0.1:5571", "http://127.0.0.1:%d" % broker_port)):
            expect(old in text, "sublet.conf has " + old)
            text = text.replace(old, new)
        paths = "".join("%s_temp_path %s;\n" % (name, self.path(name)) for name in (
            "client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        with open(self.path("nginx.conf"), "w") as file:
            file.write("daemon off;\npid %s;\nerror_log stderr;\n%sworker_processes 1;\n"
                       "events {}\nhttp {\naccess_log off;\n%s%s}\n" % (
                           self.path("pid"), "user root;\n" if os.geteuid() == 0 else "", paths,
                           text))
        self.log = open(os.path.join(self.dir, "log"), "w")
        self.process = subprocess.Popen(
            ["nginx", "-e", "stderr", "-c", self.path("nginx.conf")], stderr=self.log,
            env=dict(os.environ, PATH=os.environ["PATH"] + ":/usr/sbin"))

    def path(self, name):
        return os.path.join(self.dir, name)

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()

    def connect(self):
        context = ssl.create_default_context(cafile=self.path("cert"))
        context.check_hostname = False
        return http.client.HTTPSConnection("127.0.0.1", self.port, timeout=60, context=context)

    def ask(self, method, path, user=None, **headers):
        """(status, JSON or None)"""
        if user is not None:
            login = "%s:%s" % (user, PASSWORDS.get(user, "a guess"))
            headers["Authorization"] = "Basic " + base64.b64encode(login.encode()).decode()
        connection = self.connect()
        connection.request(method, path, headers={
            name.replace("_", "-"): value for name, value in headers.items()})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        is_json = (answer.getheader("Content-Type") or "").startswith("application/json")
        return answer.status, json.loads(text) if is_json else None


f = Federation()
port = free_port()
nginx = None


def write_roles(text):
    path = os.path.join(f.dir, "roles")
    with open(path, "w") as file:
        file.write(text)
    os.chmod(path, 0o644)


def setup():
    global nginx
    tokens = os.path.join(f.dir, "tokens")
    with open(tokens, "w") as file:
        file.write("nginx %s proxy\n" % TOKEN)
    os.chmod(tokens, 0o600)
    write_roles("ann change\n")
    f.configure("broker", BROKER.replace(
        "STATE", "HTTP = 127.0.0.1:%d\nTOKENS = %s\nHTTP_ROLES = %s\nSTATE" % (
            port, tokens, os.path.join(f.dir, "roles"))))
    f.start("broker", "north", "south")
    f.wait_lease("the lease", lambda l: l["status"] == "conn")
    nginx = Nginx(f, port)
    f.wait_for("nginx", lambda: nginx.ask("GET", "/healthz")[0] == 401)


def drain_path(what="drain"):
    return "/api/v1/leases/%s/%s" % (LEASE, what)


def test_who_reads():
    for user, status in ((None, 401), ("eve", 401), ("bob", 200), ("ann", 200)):
        expect_equal(nginx.ask("GET", "/api/v1/leases", user)[0], status, "status of %s" % user)
    for user, may_change in (("ann", True), ("bob", False)):
        about = nginx.ask("GET", "/api/v1/about", user)[1]
        expect_equal(about["user"], user, "the user")
        expect_equal(about["actions"], {"reclaim_delay": may_change, "drain": may_change}, user)


def test_who_changes():
    # A header that says ann is the browser's, and nginx replaces it.
    for headers in ({}, {"X_Remote_User": "ann"}, {"X_Remote_Groups": "ops"}):
        status, answer = nginx.ask("POST", drain_path(), "bob", **headers)
        expect_equal(status, 403, "bob's status")
        expect('user "bob" may read only' in answer["error"]["message"], answer)
    expect(not f.lease()["drained"], "nothing is drained")
    # Not by a request that a page of somebody else made ann's browser send.
    for origin in ("cross-site", "same-site"):
        expect_equal(nginx.ask("POST", drain_path(), "ann", Sec_Fetch_Site=origin)[0], 403, origin)
    expect(not f.lease()["drained"], "nothing is drained")
    status, answer = nginx.ask("POST", drain_path(), "ann", Sec_Fetch_Site="same-origin")
    expect_equal(status, 200, answer)
    f.wait_lease("the drain", lambda l: l["drained"])
    expect_equal(nginx.ask("POST", drain_path("resume"), "ann")[0], 200, "status")
    f.wait_lease("its end", lambda l: not l["drained"])
    with open(f.log("broker")) as file:
        expect('http: token "nginx", user "ann": POST %s: ' % drain_path() in file.read(),
               "a line of the log")


def test_a_header_alone_is_no_proof():
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", drain_path(), headers={"X-Remote-User": "ann"})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    expect_equal(answer.status, 401, "status of a request that nginx has not sent")
    expect(not f.lease()["drained"], "nothing is drained")


def test_roles_are_read_at_a_reload():
    write_roles("ann read\n@ops change\nbob change\n")
    f.ops("reconfig")
    expect_equal(nginx.ask("POST", drain_path("resume"), "ann")[0], 403, "ann's status")
    expect_equal(nginx.ask("POST", drain_path("resume"), "bob")[0], 200, "bob's status")
    write_roles("ann changes\n")
    expect("expected USER or @GROUP" in f.ops("reconfig", code=1).stderr, "a wrong line is refused")
    expect_equal(nginx.ask("POST", drain_path("resume"), "bob")[0], 200, "and changes nothing")
    write_roles("ann change\n")
    f.ops("reconfig")


def test_the_stream_is_not_held_back():
    connection = nginx.connect()
    login = base64.b64encode(("bob:" + PASSWORDS["bob"]).encode()).decode()
    connection.request("GET", "/api/v1/stream", headers={"Authorization": "Basic " + login})
    answer = connection.getresponse()
    expect_equal(answer.status, 200, "status")
    text = b""
    while b"event: hello" not in text:
        line = answer.readline()
        expect(line != b"", "the stream has ended after %r" % text)
        text += line
    connection.close()


def test_a_reader_sees_no_button():
    browser = Browser()
    try:
        url = "http://127.0.0.1:%d/?lease=%s" % (nginx.plain_port, LEASE)
        browser.open(url, login={"username": "bob", "password": PASSWORDS["bob"]})
        browser.wait("document.getElementById('lease-body').innerText.includes('bob may read only.')")
        expect(browser.evaluate("[...document.querySelectorAll('#lease-body button')].filter("
                           "(b) => /Drain|Rebalance|delay/.test(b.innerText)).every((b) => b.disabled)"),
               "no change can be made")
    finally:
        browser.close()


def test_the_page_needs_no_token():
    job = f.submit("south", "true", "-q", "away")
    f.wait_state("south", job, "DONE")
    f.wait_lease("it to be active", lambda l: l["state"] == "active")
    browser = Browser()
    try:
        url = "http://127.0.0.1:%d/?lease=%s" % (nginx.plain_port, LEASE)
        browser.open(url, login={"username": "ann", "password": PASSWORDS["ann"]})
        browser.wait("document.getElementById('sign').hidden")  # no button for a token
        browser.wait("[...document.querySelectorAll('button')].some("
                     "(b) => b.innerText === 'Rebalance …' && !b.disabled)")
        browser.click("text=Rebalance …")
        expect("You are ann." in browser.text("#act-body"), browser.text("#act-body"))

        def is_rebalanced():
            # Slots may be changing hands: that is a refusal, and the button is there again.
            if browser.evaluate("document.getElementById('act').open && "
                           "!document.getElementById('act-do').disabled"):
                browser.click("#act-do")
            return any(event["event"] == "lease_rebalance" and
                       "requested by ann (HTTP): " in event["reason"]
                       for event in nginx.ask("GET", "/api/v1/events?limit=500", "bob")[1]["events"])
        f.wait_for("the event", is_rebalanced)
    finally:
        browser.close()


try:
    main(test_who_reads, test_who_changes, test_a_header_alone_is_no_proof,
         test_the_stream_is_not_held_back, test_a_reader_sees_no_button,
         test_the_page_needs_no_token, test_roles_are_read_at_a_reload, shared=f, setup=setup)
finally:
    if nginx is not None:
        nginx.close()
