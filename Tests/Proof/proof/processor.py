# SPDX-License-Identifier: Apache-2.0
"""A payment processor as a program of its own: it charges once for one key,
writes every charge into its own synced log before it answers, and is as
unreliable as its seed says: it loses answers, answers twice, is slow, declines,
and dies after charging. It gives a sum back once for one name of a refund.

    python -m proof.processor --port PORT --log FILE --seed N [--calm-file FILE]

While the calm file is there it only does its work.
"""

import argparse
import json
import os
import random
import signal
import socket
import threading
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from . import journal

# What may happen to a call, and how often in a thousand.
MISCHIEF = [
    ("lose request", 25),
    ("lose answer", 60),
    ("answer twice", 40),
    ("slow", 40),
    ("fail", 25),
    ("die after charging", 8),
]
DECLINED_IN_A_THOUSAND = 60
SLOW_SECONDS = 0.25


class Book:
    """What was charged and given back, from the log."""

    def __init__(self, path):
        self._lock = threading.Lock()
        self._charges = {}
        self._voided = set()
        #: The last entry of each refund, by the charge's key and its own name.
        self._refunds = {}
        #: The arrival at which the void of a key was acknowledged. A void of an
        #: earlier process counts as acknowledged before everything that arrives.
        self._acknowledged = {}
        self._arrivals = 0
        for entry in journal.read(path):
            if entry["act"] == "charge":
                self._charges[entry["key"]] = entry
            elif entry["act"] == "void":
                self._voided.add(entry["key"])
                self._acknowledged[entry["key"]] = 0
            elif entry["act"] in ("refund", "take back"):
                self._refunds[entry["key"], entry["refund"]] = entry
        trim(path)
        self._log = journal.Journal(path, synced=True)

    def arrive(self):
        """The number of a request that arrived now. Later requests have higher numbers."""
        with self._lock:
            self._arrivals += 1
            return self._arrivals

    def acknowledge(self, key):
        """Notes that the void of a key is answered now. Charges that arrive from
        now on are late."""
        with self._lock:
            self._acknowledged.setdefault(key, self._arrivals)

    def charge(self, key, order, declines, arrival):
        """The charge of a key: made now, or as it was made before. A voided key
        stays voided, and is declined from then on, charged before or not.

        A charge is late if it arrived after the void was acknowledged. One that arrived
        earlier may come from a store that was killed before another voided the key, and
        is no mistake."""
        with self._lock:
            if key in self._voided:
                is_late = arrival > self._acknowledged.get(key, arrival)
                self._log.write(act="late charge" if is_late else "overtaken charge", key=key)
            elif key not in self._charges:
                state = "declined" if declines else "approved"
                entry = {"act": "charge", "key": key, "state": state, "order": order}
                if state == "approved":
                    entry["reference"] = f"c{len(self._charges) + 1}-{os.getpid()}"
                self._charges[key] = self._log.write(**entry)
            return self.answer(key)

    def answer(self, key):
        if key in self._voided:
            return {"key": key, "state": "declined"}
        entry = self._charges.get(key)
        if entry is None:
            return None
        return {name: entry[name] for name in ("key", "state", "reference") if name in entry}

    def find(self, key):
        with self._lock:
            return self.answer(key)

    def refund(self, key, name, order):
        """Gives a sum back, once for one name. One that was taken back stays so."""
        with self._lock:
            known = self._refunds.get((key, name))
            if known is None:
                self._refunds[key, name] = self._log.write(
                    act="refund", key=key, refund=name, order=order)
            elif known["order"] is not None and known["order"] != order:
                self._log.write(act="other refund", key=key, refund=name, order=order)
            return self.refunded(key, name)

    def take_back(self, key, name):
        """Takes it back, or prevents that it is given."""
        with self._lock:
            known = self._refunds.get((key, name))
            if known is None or known["act"] == "refund":
                self._refunds[key, name] = self._log.write(
                    act="take back", key=key, refund=name,
                    order=None if known is None else known["order"])
            return self.refunded(key, name)

    def refunded(self, key, name):
        is_back = self._refunds[key, name]["act"] == "take back"
        return {"key": key, "refund": name, "state": "takenBack" if is_back else "refunded"}

    def note(self, act, key):
        with self._lock:
            self._log.write(act=act, key=key)
            if act == "void":
                self._voided.add(key)


def trim(path):
    """Takes away a last line that a kill cut short, so that appending is safe."""
    if not os.path.exists(path):
        return
    with open(path, "r+b") as file:
        text = file.read()
        file.truncate(text.rfind(b"\n") + 1)


class Mischief:
    """What is to happen to the next call."""

    def __init__(self, seed, calm_file):
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self._calm_file = calm_file

    def next(self):
        """The mischief's name, or nothing; and whether a new charge is declined."""
        with self._lock:
            drawn = self._random.randrange(1000)
            declines = self._random.randrange(1000) < DECLINED_IN_A_THOUSAND
        if self._calm_file and os.path.exists(self._calm_file):
            return None, declines
        for name, share in MISCHIEF:
            if drawn < share:
                return name, declines
            drawn -= share
        return None, declines


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 30

    def do_GET(self):
        self.serve(None)

    def do_POST(self):
        length = int(self.headers.get("Content-Length") or 0)
        body = self.rfile.read(length)
        self.serve(json.loads(body) if body else {})

    def serve(self, order):
        parts = self.path.strip("/").split("/")
        if len(parts) not in (2, 3, 4, 5) or parts[0] != "charges":
            return self.answer(404, {"error": "unknown path"})
        key = urllib.parse.unquote(parts[1])
        verb = "/".join(parts[2:]) or None
        arrival = self.server.book.arrive()
        mischief, declines = self.server.mischief.next()
        if mischief == "lose request":
            return self.hang_up()
        if mischief == "fail":
            return self.answer(500, {"error": "out of order"})
        if mischief == "slow":
            self.server.pause(SLOW_SECONDS)
        status, answer = self.act(key, verb, order, declines, arrival)
        if mischief == "die after charging" and order is not None:
            os.kill(os.getpid(), signal.SIGKILL)
        if mischief == "lose answer":
            return self.hang_up()
        if verb == "void":
            self.server.book.acknowledge(key)
        self.answer(status, answer)
        if mischief == "answer twice":
            self.answer(status, answer)
            self.close_connection = True

    def act(self, key, verb, order, declines, arrival):
        book = self.server.book
        if verb in ("void", "capture"):
            book.note(verb, key)
            return 200, {"key": key, "state": {"void": "voided", "capture": "captured"}[verb]}
        if verb is not None and verb.startswith("refunds/"):
            _, name, *rest = verb.split("/")
            return 200, book.take_back(key, name) if rest else book.refund(key, name, order)
        found = (
            book.find(key) if order is None else book.charge(key, order, declines, arrival))
        return (200, found) if found else (404, {"error": "never heard of this key"})

    def answer(self, status, body):
        text = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def hang_up(self):
        self.close_connection = True
        try:
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def log_message(self, *arguments):
        pass


class Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128

    @staticmethod
    def pause(seconds):
        """What a slow call waits for."""
        threading.Event().wait(seconds)

    def handle_error(self, request, client_address):
        """A caller that is gone is no news."""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--log", required=True)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--calm-file")
    arguments = parser.parse_args()
    server = Server(("127.0.0.1", arguments.port), Handler)
    server.book = Book(arguments.log)
    server.mischief = Mischief(arguments.seed, arguments.calm_file)
    print(f"listening {server.server_address[1]}", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
