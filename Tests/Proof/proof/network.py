# SPDX-License-Identifier: Apache-2.0
"""A TCP proxy that is an unreliable network: it refuses, drops connections,
swallows requests and loses answers, as its seed says."""

import random
import socket
import threading

# What may happen to a connection, and how often in a thousand.
MISCHIEF = [
    ("drop", 15), ("lose request", 15), ("lose answer", 60), ("cut answer", 25),
    ("late request", 6), ("double request", 15), ("hold request", 25),
]
# A request that is late comes when its sender has long asked again; one that is
# held for a moment is overtaken by others.
LATE_SECONDS = (0.3, 10)
HELD_SECONDS = (0.02, 0.4)
LOOK_SECONDS = 2


class Proxy:
    """Listens on a port of its own for as long as the round lasts; where it
    leads to may change, as servers come and go."""

    def __init__(self, seed):
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self._open = set()
        self.target = None
        self._calm = threading.Event()
        self._late = set()
        self.counts = {name: 0 for name, _ in MISCHIEF}
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=256)
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def is_calm(self):
        return self._calm.is_set()

    def calm(self):
        """No more mischief; returns when what was late has arrived."""
        self._calm.set()
        with self._lock:
            late = list(self._late)
        for thread in late:
            thread.join(LOOK_SECONDS * 2)

    def drop_all(self):
        """Breaks every connection that is open now."""
        with self._lock:
            victims = list(self._open)
        for connection in victims:
            hang_up(connection)
        return len(victims)

    def close(self):
        self._listener.close()
        self.drop_all()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _draw(self):
        with self._lock:
            drawn = self._random.randrange(1000)
            if self.is_calm:
                return None
            for name, share in MISCHIEF:
                if drawn < share:
                    self.counts[name] += 1
                    return name
                drawn -= share
        return None

    def _pause(self, bounds):
        with self._lock:
            return self._random.uniform(*bounds)

    def _send_later(self, request, mischief):
        """Sends a request by itself, some time from now; its answer is lost."""
        seconds = self._pause(LATE_SECONDS if mischief == "late request" else HELD_SECONDS)

        def send():
            try:
                self._calm.wait(seconds)
                server = socket.create_connection(("127.0.0.1", self.target), LOOK_SECONDS)
                with server:
                    server.sendall(request)
                    while server.recv(65536):
                        pass
            except OSError:
                pass
            finally:
                with self._lock:
                    self._late.discard(thread)

        thread = threading.Thread(target=send, daemon=True)
        # Started behind the lock, so that whoever finds it there can wait for it.
        with self._lock:
            self._late.add(thread)
            thread.start()

    def _serve(self, client):
        mischief, target = self._draw(), self.target
        server = None
        try:
            if mischief == "drop" or target is None:
                return
            server = socket.create_connection(("127.0.0.1", target), timeout=10)
            server.settimeout(None)
            with self._lock:
                self._open |= {client, server}
            if mischief == "lose request":
                client.recv(65536)
                return
            if mischief in ("late request", "double request"):
                request = client.recv(65536)
                self._send_later(request, mischief)
                if mischief == "late request":
                    return
                server.sendall(request)
            elif mischief == "hold request":
                self._calm.wait(self._pause(HELD_SECONDS))
            forth = threading.Thread(target=pump, args=(client, server), daemon=True)
            forth.start()
            carry(server, client, mischief)
        except OSError:
            pass
        finally:
            with self._lock:
                self._open -= {client, server}
            for connection in (client, server):
                if connection is not None:
                    hang_up(connection)


# What may happen to a connection at a COMMIT, and how often in a thousand.
COMMIT_MISCHIEF = [("lose commit", 8), ("lose commit's answer", 25), ("delay commit", 12)]
COMMIT = b"COMMIT\0"
# Now and then longer than a device waits for its answer.
DELAY_SECONDS = (0.05, 0.5)
LONG_DELAY_SECONDS = 9


class DatabaseProxy:
    """A Unix socket before a PostgreSQL's, which breaks connections at the
    moment that matters: as a transaction is to be committed."""

    def __init__(self, path, seed):
        self._random = random.Random(seed)
        self._lock = threading.Lock()
        self._open = set()
        self.target = None
        self._calm = threading.Event()
        self._calm.set()
        self.counts = {name: 0 for name, _ in COMMIT_MISCHIEF}
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(path)
        self._listener.listen(128)
        threading.Thread(target=self._accept, daemon=True).start()

    @property
    def is_calm(self):
        return self._calm.is_set()

    def calm(self):
        """No more mischief."""
        self._calm.set()

    def disturb(self):
        """Mischief from now on."""
        self._calm.clear()

    def drop_all(self):
        with self._lock:
            victims = list(self._open)
        for connection in victims:
            hang_up(connection)

    def close(self):
        self._listener.close()
        self.drop_all()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _draw(self):
        with self._lock:
            drawn = self._random.randrange(1000)
            if self.is_calm:
                return None
            for name, share in COMMIT_MISCHIEF:
                if drawn < share:
                    self.counts[name] += 1
                    return name
                drawn -= share
        return None

    def _delay(self):
        with self._lock:
            if self._random.randrange(40) == 0:
                return LONG_DELAY_SECONDS
            return self._random.uniform(*DELAY_SECONDS)

    def _serve(self, client):
        server = socket.socket(socket.AF_UNIX)
        try:
            target = self.target
            if target is None:
                return
            server.connect(target)
            with self._lock:
                self._open |= {client, server}
            loses_answers = threading.Event()
            back = threading.Thread(
                target=self._answer, args=(server, client, loses_answers), daemon=True
            )
            back.start()
            while data := client.recv(65536):
                mischief = self._draw() if COMMIT in data else None
                if mischief == "lose commit":
                    return
                if mischief == "delay commit":
                    self._calm.wait(self._delay())
                    mischief = None
                if mischief:
                    loses_answers.set()
                server.sendall(data)
                if mischief:
                    # Until the server has answered, and the answer is lost.
                    back.join(LOOK_SECONDS)
                    return
        except OSError:
            pass
        finally:
            with self._lock:
                self._open -= {client, server}
            hang_up(client)
            hang_up(server)

    @staticmethod
    def _answer(server, client, loses_answers):
        try:
            while data := server.recv(65536):
                if loses_answers.is_set():
                    return
                client.sendall(data)
        except OSError:
            pass
        finally:
            hang_up(client)


def pump(source, sink):
    """Carries bytes one way until one end is gone."""
    try:
        while data := source.recv(65536):
            sink.sendall(data)
    except OSError:
        pass


def carry(server, client, mischief):
    """Carries the answer; with mischief it is lost, or cut in the middle."""
    while data := server.recv(65536):
        if mischief == "lose answer":
            return
        if mischief == "cut answer":
            client.sendall(data[: len(data) // 2])
            return
        client.sendall(data)


def hang_up(connection):
    try:
        connection.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    try:
        connection.close()
    except OSError:
        pass
