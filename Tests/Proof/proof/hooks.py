# SPDX-License-Identifier: Apache-2.0
"""The merchant's server for the ledger's webhooks, at two encrypted addresses, and a merchant
who asks for some of them again. The server writes each message down before it answers, and now
and then answers badly, late or not at all."""

import base64
import datetime
import ipaddress
import itertools
import json
import os
import random
import ssl
import threading
import time
from http.server import BaseHTTPRequestHandler

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from .actor import TROUBLES, exchange
from .journal import Journal
from .unreliable import UnreliableServer
from .network import hang_up

#: The addresses: whether a message waits for the earlier ones of its account, and what is
#: sent there. What happens often goes to one of them alone.
ENDPOINTS = {
    "ordered": (True, [
        "purchase.booked", "unit.redeemed", "purchase.restored", "credits.spent",
        "account.merged"]),
    "loose": (False, ["purchase.updated", "purchase.restored", "account.merged"]),
}
# What may happen to a message, and how often in a thousand.
MISCHIEF = [("fail", 15), ("hang up", 15), ("slow", 20), ("wait", 4), ("gone", 4)]
STATUSES = {"fail": 500, "hang up": 0, "wait": 503, "gone": 410}
SLOW_SECONDS = 0.3
#: So that the checker can read what came without the store's clock.
HEADERS = ("webhook-id", "webhook-timestamp", "webhook-signature")
# Between two messages that are asked for again; and in the calm, between two looks for all
# that were postponed, and before the same one is asked for again.
PAUSES, LOOK_SECONDS, AGAIN_SECONDS = (0.4, 1.5), 1, 2
CALM_PAUSE = 0.1
PAGE, PAGES_MAX = 100, 100
OPEN = ("waiting", "parked")
# Without any progress in the calm.
PATIENCE_SECONDS = 30


class HookReceiver(UnreliableServer):
    """Listens until it is closed; what came is in `hooked.log`."""

    def __init__(self, folder, seed):
        #: A certificate of its own, which the ledger is to trust (`trust.c`).
        self.certificate = os.path.join(folder, "hooks.pem")
        # A handshake is made by the thread of its connection.
        super().__init__(
            seed, MISCHIEF, handler(self),
            lambda listener: certified(self.certificate).wrap_socket(
                listener, server_side=True, do_handshake_on_connect=False))
        #: How many messages came.
        self.count = 0
        #: By the name of the address.
        self.secrets = {name: self._secret() for name in ENDPOINTS}
        self._log = Journal(os.path.join(folder, "hooked.log"))
        self.listen()

    def _secret(self):
        return f"whsec_{base64.b64encode(self._random.randbytes(32)).decode()}"

    def url(self, name):
        return f"https://127.0.0.1:{self.port}/{name}"

    def settings(self, folder):
        """The part of ledger.yaml; the secrets are in files beside it."""
        yield "webhooks:"
        for name, (is_ordered, events) in ENDPOINTS.items():
            path = os.path.join(folder, f"{name}.secret")
            with open(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w",
                      encoding="utf-8") as file:
                file.write(self.secrets[name] + "\n")
            yield f"  - url: {self.url(name)}"
            yield f"    secretFile: {name}.secret"
            yield f"    ordered: {'true' if is_ordered else 'false'}"
            yield f"    events: [{', '.join(events)}]"

    def come(self, name, headers, body):
        """The number of a message that came now, and what time it is."""
        entry = self._log.write(
            act="came", endpoint=name, body=body, wall=time.time_ns() // 1_000_000,
            headers={each: headers.get(each) for each in HEADERS})
        with self._lock:
            self.count += 1
        return entry["at"]

    def answer(self, came, status):
        """Notes the answer before it is given."""
        self._log.write(act="answered", came=came, status=status)


def certified(path):
    """Makes a certificate of this machine for years, because clocks are stepped. Its file
    contains the key too."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "proof")])
    now, year = datetime.datetime.now(datetime.timezone.utc), datetime.timedelta(days=365)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    certificate = (
        x509.CertificateBuilder().subject_name(name).issuer_name(name)
        .public_key(key.public_key()).serial_number(x509.random_serial_number())
        .not_valid_before(now - year).not_valid_after(now + year)
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, SHA256()))
    with open(os.open(path, os.O_CREAT | os.O_WRONLY, 0o600), "wb") as file:
        file.write(certificate.public_bytes(Encoding.PEM))
        file.write(key.private_bytes(
            Encoding.PEM, PrivateFormat.TraditionalOpenSSL, NoEncryption()))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context


def handler(receiver):
    """The class of requests to one receiver."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 30

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
            came = receiver.come(self.path.strip("/"), self.headers, body)
            mischief = receiver.mischief()
            if mischief == "slow":
                threading.Event().wait(SLOW_SECONDS)
            status = STATUSES.get(mischief, 204)
            receiver.answer(came, status)
            if mischief == "hang up":
                self.close_connection = True
                hang_up(self.connection)
                return
            self.send_response(status)
            if mischief == "wait":
                self.send_header("Retry-After", "1")
            if status != 204:
                self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *arguments):
            pass

    return Handler


class Replayer:
    """Asks the ledger for messages again: in the load now and then for one that arrived, and
    in the calm for all that wait or are parked, until none is left. What it asked for is in
    `replayer.log`."""

    def __init__(self, folder, ledgers, key, receiver, seed):
        self._ledgers, self._key, self._receiver = ledgers, key, receiver
        self._random = random.Random(seed)
        self._log = Journal(os.path.join(folder, "replayer.log"))
        self._calls = itertools.count(1)
        self._is_over, self._is_calm = threading.Event(), threading.Event()
        #: When a message was asked for, in the calm.
        self._asked = {}
        self._is_done = False
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self):
        self._thread.start()
        return self

    def calm(self):
        """One message more that arrived is asked for, and everything that did not."""
        self._is_calm.set()

    def _run(self):
        is_asked, looked_at = False, 0
        while not self._is_over.is_set():
            if self._is_calm.is_set():
                # So that a short round has one.
                is_asked = is_asked or self._ask_for_one()
                self._is_done = is_asked and self._has_none()
                if not self._is_done and time.monotonic() - looked_at > LOOK_SECONDS:
                    self._ask_for_all()
                    looked_at = time.monotonic()
                self._is_over.wait(CALM_PAUSE)
            elif not self._is_calm.wait(self._random.uniform(*PAUSES)):
                self._ask_for_one()

    def _call(self, method, path, body=None):
        port = self._random.choice(self._ledgers).proxy.port
        try:
            status, text = exchange(port, method, f"/ledger/v1/webhooks{path}", body, self._key)
            return json.loads(text) if status == 200 else None
        except TROUBLES:
            return None

    def _replay(self, url, ids):
        number = next(self._calls)
        self._log.write(act="ask", call=number, url=url, ids=ids)
        answer = self._call("POST", "/replay", {"url": url, "messageIds": ids})
        if answer is not None:
            self._log.write(act="heard", call=number, changed=answer["changed"])
        return answer is not None

    def _ask_for_one(self):
        page = self._call("GET", f"?state=sent&limit={PAGE}")
        if page and page["webhooks"]:
            message = self._random.choice(page["webhooks"])
            return self._replay(message["url"], [message["messageId"]])
        return False

    def _has_none(self):
        """Whether no message waits or is parked."""
        pages = [self._call("GET", f"?state={state}&limit=1") for state in OPEN]
        return all(page is not None and not page["webhooks"] for page in pages)

    def _ask_for_all(self):
        """Asks for what was postponed or parked."""
        found = []
        for state in OPEN:
            after = ""
            for _ in range(PAGES_MAX):
                page = self._call("GET", f"?state={state}&limit={PAGE}{after}")
                if page is None:
                    return
                found += page["webhooks"]
                if "next" not in page:
                    break
                after = f"&after={page['next']}"
        now = time.monotonic()
        for name in ENDPOINTS:
            url = self._receiver.url(name)
            # What was not tried yet comes by itself.
            late = [
                each["messageId"] for each in found
                if each["url"] == url and (each["attempts"] or each["state"] == "parked")
                and now - self._asked.get((url, each["messageId"]), 0) > AGAIN_SECONDS]
            for message in late:
                self._asked[url, message] = now
            for start in range(0, len(late), PAGE):
                self._replay(url, late[start:start + PAGE])

    def rest(self):
        """True once every message has arrived, false if nothing improves."""
        pause = threading.Event()
        self._is_done, count = False, 0
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not self._is_done and time.monotonic() < deadline:
            pause.wait(CALM_PAUSE)
            if self._receiver.count > count:
                count, deadline = self._receiver.count, time.monotonic() + PATIENCE_SECONDS
        self.close()
        return self._is_done

    def close(self):
        self._is_over.set()
        self._is_calm.set()
        self._thread.join(PATIENCE_SECONDS)
