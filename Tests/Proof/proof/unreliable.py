# SPDX-License-Identifier: Apache-2.0
"""A server of the proof's own to which now and then something happens."""

import random
import threading
from http.server import ThreadingHTTPServer


class UnreliableServer:
    """Listens until it is closed. `mischief`: what may happen to a request, and how often in a
    thousand. `secure` encrypts its socket."""

    def __init__(self, seed, mischief, handler, secure=lambda listener: listener):
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self._is_calm = False
        self._shares = mischief
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._server.socket = secure(self._server.socket)
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None

    @property
    def port(self):
        return self._server.server_address[1]

    def listen(self):
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def calm(self):
        self._is_calm = True

    def close(self):
        self._server.shutdown()
        self._server.server_close()

    def mischief(self):
        """What happens to the next request, if anything."""
        with self._lock:
            drawn = self._random.randrange(1000)
        if self._is_calm:
            return None
        for name, share in self._shares:
            if drawn < share:
                return name
            drawn -= share
        return None
