# SPDX-License-Identifier: Apache-2.0
"""Runs COMMAND (a built `shopkeeper`) behind nginx and Caddy, each with the configuration that
docs/OPERATING.md prints, and buys through them over https. `make test-proxy` runs it.

Only addresses, ports, names of files and the host's name are put into the printed text: what is
tested is what an operator copies. Exits with 1 and says what differed."""
import concurrent.futures
import copy
import http.client
import json
import os
import pathlib
import re
import secrets
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import uuid

os.environ["PATH"] += ":/usr/sbin"
COMMAND = pathlib.Path(sys.argv[1]).resolve()
PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "OPERATING.md"
PRODUCT, PRICE = "com.example.monkeycredits.credits5", 990
SECONDS_MAX = 60


class Broken(Exception):
    """Something is not as it should be."""


def check(name, condition, told=""):
    print(("ok    " if condition else "WRONG ") + name + (f": {told}" if told else ""), flush=True)
    if not condition:
        raise Broken(name)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def block_after(word):
    """The first block of the page behind a line that begins so."""
    page = PAGE.read_text()
    start = re.search(rf"^{word}.*$", page, re.MULTILINE)
    return re.search(r"^```\n(.*?)^```$", page[start.end():], re.MULTILINE | re.DOTALL).group(1)


def certificate(folder):
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
         "-nodes", "-keyout", "tls.key", "-out", "tls.pem", "-days", "2", "-subj",
         "/CN=store.example", "-addext", "subjectAltName=DNS:store.example,DNS:test.store.example"],
        cwd=folder, check=True, capture_output=True)


class Store:
    """A served store with a customer who has a password, and a realm that has a host."""

    def __init__(self, folder):
        self.keys = {}
        for name in ("operator", "control", "metrics"):
            self.keys[name] = secrets.token_hex(32)
            path = folder / f"{name}.key"
            path.touch(mode=0o600)
            path.write_text(self.keys[name])
        arguments = [
            str(COMMAND), "serve", "--port", "0", "--data", str(folder / "data"),
            "--behind-proxy", "127.0.0.1", "--public-url", "https://store.example",
            "--realm-host", "test=test.store.example", "--scrypt-rounds", "1024",
        ] + [part for name in self.keys for part in (f"--{name}-key", str(folder / f"{name}.key"))]
        self.process = subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if line.startswith("Serving"):
                break
        else:
            raise Broken("the store does not start")
        run = json.loads((folder / "data" / "run.json").read_text())
        self.port = int(run["url"].rsplit(":", 1)[1])
        self.operate("POST", "/operator/v1/customers", {"name": "blob", "password": "secret"})
        self.operate("POST", "/operator/v1/realms", {"name": "test"})

    def operate(self, method, path, body=None):
        """As an operator on the machine itself, past the proxy."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS_MAX)
        connection.request(
            method, path, json.dumps(body),
            {"Authorization": "Bearer " + self.keys["operator"],
             "Content-Type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise Broken(f"{method} {path}: {answer.status} {text}")
        return json.loads(text)

    def stop(self):
        self.process.terminate()
        self.process.wait(SECONDS_MAX)


class Client:
    """Somebody outside, who knows the proxy's address and certificate alone."""

    def __init__(self, folder, port, host="store.example"):
        self.context = ssl.create_default_context(cafile=folder / "tls.pem")
        self.port, self.host = port, host

    def ask(self, method, path, body=None, token=None, headers=None, raw=None):
        plain = socket.create_connection(("127.0.0.1", self.port), timeout=SECONDS_MAX)
        connection = http.client.HTTPConnection(self.host, timeout=SECONDS_MAX)
        connection.sock = self.context.wrap_socket(plain, server_hostname=self.host)
        fields = {"Content-Type": "application/json", **(headers or {})}
        if token:
            fields["Authorization"] = "Bearer " + token
        data = raw if raw is not None else json.dumps(body).encode() if body is not None else None
        connection.request(method, path, data, fields)
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        try:
            return answer.status, json.loads(text)
        except ValueError:
            return answer.status, text

    def session(self):
        status, told = self.ask(
            "POST", "/device/v1/sessions",
            {"deviceUUID": str(uuid.uuid4()), "customer": "blob", "password": "secret"})
        check("sign in", status == 200, status if status != 200 else "")
        return told

    def buy(self, token):
        return self.ask(
            "PUT", f"/device/v1/purchases/{uuid.uuid4()}",
            {"productId": PRODUCT, "quantity": 1, "unitPrice": PRICE, "currency": "USD"}, token)


def nginx(folder, port, store):
    text = block_after("nginx:")
    for old, new in (
        ("listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;"),
        ("server_name store.example;", "server_name store.example test.store.example;"),
        ("/etc/ssl/store.example.pem", str(folder / "tls.pem")),
        ("/etc/ssl/store.example.key", str(folder / "tls.key")),
        ("http://127.0.0.1:4780", f"http://127.0.0.1:{store.port}"),
    ):
        if old not in text:
            raise Broken(f"the page's nginx lacks `{old}`")
        text = text.replace(old, new)
    temporary = "".join(
        f"{kind}_temp_path {folder}/{kind};\n"
        for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;\n"
        f"events {{}}\nhttp {{\naccess_log off;\n{temporary}{text}}}\n")
    start = ["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")]
    tried = subprocess.run(start + ["-t"], capture_output=True, text=True)
    check("nginx takes the configuration", tried.returncode == 0, tried.stderr.strip()[-300:])
    return subprocess.Popen(start)


def caddy(folder, port, store):
    text = block_after("Caddy sets")
    for old, new in (
        ("store.example {",
         f"https://store.example:{port}, https://test.store.example:{port} {{\n"
         f"    tls {folder}/tls.pem {folder}/tls.key"),
        ("127.0.0.1:4780", f"127.0.0.1:{store.port}"),
    ):
        if old not in text:
            raise Broken(f"the page's Caddy lacks `{old}`")
        text = text.replace(old, new)
    (folder / "Caddyfile").write_text(
        "{\n    admin off\n    auto_https disable_redirects\n    skip_install_trust\n}\n" + text)
    environment = {"HOME": str(folder), "PATH": "/usr/sbin:/usr/bin:/bin:/usr/local/bin"}
    arguments = ["--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]
    tried = subprocess.run(
        ["caddy", "validate"] + arguments, capture_output=True, text=True, env=environment)
    check("Caddy takes the configuration", tried.returncode == 0, tried.stderr[-300:]
          if tried.returncode else "")
    return subprocess.Popen(
        ["caddy", "run"] + arguments, env=environment, stderr=(folder / "caddy.log").open("w"))


def wait_until_up(port):
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise Broken("the proxy does not listen")


def buys(client):
    session = client.session()
    token = session["token"]
    status, bought = client.buy(token)
    check("buy", (status, bought.get("state")) == (200, "sold"), status if status != 200 else "")
    revision = bought["revision"]

    with concurrent.futures.ThreadPoolExecutor(2) as threads:
        silent = client.session()["token"]

        def poll(since, seconds, bearer):
            begun = time.monotonic()
            answer = client.ask(
                "GET", f"/device/v1/transactions?since={since}&wait={seconds}", token=bearer)
            return answer, time.monotonic() - begun

        waiting = threads.submit(poll, revision, 50, token)
        time.sleep(1)
        check("a long poll waits", not waiting.done())
        client.buy(silent)
        (status, told), took = waiting.result()
        check("and is answered by a purchase", status == 200 and len(told["transactions"]) == 1
              and took < 20, f"after {took:.1f} s")
        last = told["revision"]
        (status, told), took = poll(last, 50, token)
        check("a silent one ends by itself, with an answer",
              status == 200 and not told["transactions"] and 45 < took < 59, f"after {took:.1f} s")


def refuses(client, store):
    closed = [
        ("GET", "/operator/v1/realms", "operator"), ("GET", "/operator/v1/audit", "operator"),
        ("GET", "/control/v1/clock", "control"), ("GET", "/metrics", "metrics"),
        ("GET", "/realms/test/operator/v1/customers", "operator"),
        ("GET", "/realms/default/control/v1/clock", "control"),
    ]
    # However it is spelled.
    spelled = [
        "//operator/v1/realms", "/./operator/v1/realms", "/device/../operator/v1/realms",
        "/%6fperator/v1/realms", "/realms/test/%6fperator/v1/customers", "//metrics",
        "/realms/../operator/v1/realms", "/realms//test/operator/v1/customers",
        "/realms/a%2Fb/operator/v1/customers", "/metrics/", "/metrics?a=b", "/%6detrics",
    ]
    for method, path, key in closed + [("GET", path, "operator") for path in spelled]:
        keys = [store.keys[key]] if path not in spelled else list(store.keys.values())
        for bearer in keys:
            status, told = client.ask(method, path, token=bearer)
            secret = status < 300 or (isinstance(told, dict) and "realms" in told)
            check(f"{path} is closed from outside", status in (400, 403, 404) and not secret,
                  status)
    for method, path, _ in closed:
        status, _ = client.ask(method, path)
        check(f"{path} without a key too", status == 403, status)


def tells(client, store):
    for name in ("/health", "/ready", "/certificates/root"):
        status, _ = client.ask("GET", name)
        check(name, status == 200, status)
    forged = {
        "X-Forwarded-For": "127.0.0.1", "X-Forwarded-Proto": "http",
        "X-Forwarded-Host": "test.store.example",
    }
    status, told = client.ask(
        "POST", "/device/v1/sessions",
        {"deviceUUID": str(uuid.uuid4()), "customer": "blob", "password": "secret"},
        headers=forged)
    check("headers that a client forges count for nothing",
          status == 200 and told["realm"]["name"] == "default", status)
    there = copy.copy(client)
    there.host = "test.store.example"
    status, told = there.ask("GET", "/device/v1/receipt", token="1.00")
    check("a realm by its host is asked", status == 401, status)
    store.operate(
        "POST", "/realms/test/operator/v1/customers", {"name": "only here", "password": "secret"})
    where = {}
    for one in (client, there):
        status, told = one.ask(
            "POST", "/device/v1/sessions",
            {"deviceUUID": str(uuid.uuid4()), "customer": "only here", "password": "secret"})
        where[one.host] = (status, told.get("code"))
    check("and its customers are its own",
          where == {"store.example": (401, "signInRefused"),
                    "test.store.example": (400, "bundleIdMissing")}, where)
    status, _ = client.ask("POST", "/device/v1/sessions", raw=b" " * (513 * 1024))
    check("a body that is too large is refused", status == 413, status)
    status, told = client.ask("POST", "/device/v1/sessions", raw=b"{")
    check("the store's own refusals come through",
          status == 400 and told.get("code") == "notJSON", status)


def run(kind, start):
    print(f"-- {kind}", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        certificate(folder)
        store = Store(folder)
        proxy = None
        try:
            port = free_port()
            proxy = start(folder, port, store)
            wait_until_up(port)
            client = Client(folder, port)
            tells(client, store)
            refuses(client, store)
            buys(client)
            store.stop()
            status, _ = client.ask("GET", "/ready")
            check("a store that is gone is the proxy's 502", status == 502, status)
        finally:
            if proxy:
                proxy.terminate()
                proxy.wait(SECONDS_MAX)
            if store.process.poll() is None:
                store.stop()


def main():
    ran = 0
    for kind, start in (("nginx", nginx), ("caddy", caddy)):
        if shutil.which(kind) is None:
            print(f"-- {kind} is not installed: skipped")
            continue
        run(kind, start)
        ran += 1
    if not ran:
        raise Broken("neither nginx nor Caddy is installed")


try:
    main()
except Broken as broken:
    sys.exit(f"WRONG: {broken}")
