# SPDX-License-Identifier: Apache-2.0
"""The merchant's server for notifications: writes each down before it answers,
and now and then answers badly, late or not at all."""

import json
import os
import threading
from http.server import BaseHTTPRequestHandler

from .journal import Journal
from .network import hang_up
from .unreliable import UnreliableServer

# What may happen to a delivery, and how often in a thousand.
MISCHIEF = [("fail", 30), ("hang up", 30), ("slow", 30)]
SLOW_SECONDS = 0.3


class Receiver(UnreliableServer):
    """Listens until it is closed; what came is in `received.log`."""

    def __init__(self, folder, seed):
        super().__init__(seed, MISCHIEF, handler(self))
        #: Called with each notification that was accepted.
        self.on_accepted = lambda signed: None
        self._log = Journal(os.path.join(folder, "received.log"))
        self.listen()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}/notifications"

    def note(self, payload, status):
        self._log.write(act="received", payload=payload, status=status)
        if status == 200:
            self.on_accepted(payload)


def handler(receiver):
    """The class of requests to one receiver."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        timeout = 30

        def do_POST(self):
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            mischief = receiver.mischief()
            if mischief == "slow":
                threading.Event().wait(SLOW_SECONDS)
            status = {"fail": 500, "hang up": 0}.get(mischief, 200)
            receiver.note(json.loads(body)["signedPayload"], status)
            if mischief == "hang up":
                self.close_connection = True
                hang_up(self.connection)
                return
            self.send_response(status)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *arguments):
            pass

    return Handler
