# SPDX-License-Identifier: Apache-2.0
"""A person at a store's doors, as a thread: each request is written down before it
is sent, and each answer before it is acted on."""

import http.client
import itertools
import json
import random
import threading

from .journal import Journal

TIMEOUT_SECONDS = 10
# Before anything else is asked for, where no server listens.
UNSENT_PAUSE = 0.1
INSISTED = 8
#: An answer without one of these was cut in its headers.
LENGTHS = {"content-length", "transfer-encoding"}
#: What reading a server's keys and calling it may meet while servers come and go.
TROUBLES = (OSError, ValueError, KeyError, http.client.HTTPException)


class Actor:
    """Acts again and again until it is closed. Half of its requests go through the
    network that loses, repeats and delays them."""

    def __init__(self, servers, path, seed, pauses=(0.05, 0.2)):
        self._servers, self._pauses = servers, pauses
        self.random = random.Random(seed)
        self._log = Journal(path)
        self._calls = itertools.count(1)
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self):
        self._thread.start()
        return self

    def end(self):
        self._is_over.set()

    def close(self):
        """Returns when it has done what it was about."""
        self.end()
        self._thread.join(TIMEOUT_SECONDS * INSISTED * 2)

    def _run(self):
        while not self._is_over.wait(self.random.uniform(*self._pauses)):
            self.act()

    def act(self):
        """One thing, as the lot falls."""

    def call(self, door, method, path, body=None, server=None, **noted):
        """An answer's status and body, or nothing where none came."""
        number = next(self._calls)
        self._log.write(act="ask", call=number, path=path, body=body, **noted)
        server = server or self.random.choice(self._servers)
        port = server.port if self.random.randrange(2) else server.proxy.port
        try:
            status, text = exchange(port, method, path, body, server.keys()[f"{door}Key"])
            answer = json.loads(text) if text else {}
        except ConnectionRefusedError:
            self._log.write(act="unsent", call=number)
            self._is_over.wait(UNSENT_PAUSE)
            return None
        except TROUBLES as problem:
            self._log.write(act="lost", call=number, why=type(problem).__name__)
            return None
        if status >= 500 or status == 408:
            self._log.write(act="put off", call=number, status=status, answer=answer)
            return None
        self._log.write(act="heard", call=number, status=status, answer=answer)
        return status, answer

    def insist(self, *request, **noted):
        """Repeats a request until it is answered, as often as is sensible while servers
        come and go."""
        for _ in range(INSISTED):
            if (answer := self.call(*request, **noted)) is not None:
                return answer
        return None

    def at_once(self, *calls):
        """Makes calls at the same moment."""
        threads = [threading.Thread(target=call) for call in calls]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()


def exchange(port, method, path, body, key):
    """One request; its status and its whole body."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT_SECONDS)
    headers = {"Connection": "close"}
    if key is not None:
        headers["Authorization"] = f"Bearer {key}"
    if body is not None:
        headers["Content-Type"] = "application/json"
    try:
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        response = connection.getresponse()
        text = response.read()
        if not LENGTHS & {name.lower() for name, _ in response.getheaders()}:
            raise http.client.IncompleteRead(b"")
        return response.status, text
    finally:
        connection.close()
