# SPDX-License-Identifier: Apache-2.0
"""Hands the notifications that the merchant's server received on to the ledger: in no
order, some twice or twice at once, through the network that loses answers. It writes each
down before it sends it, and the answer."""

import itertools
import json
import os
import random
import threading
import time

from .actor import TROUBLES, exchange
from .journal import Journal

PAUSE, CARRIERS = 0.02, 3
# Without any progress in the calm.
PATIENCE_SECONDS = 30


class Courier:
    def __init__(self, folder, ledgers, seed):
        self._ledgers, self._random = ledgers, random.Random(seed)
        self._log = Journal(os.path.join(folder, "courier.log"))
        self._lock, self._is_over = threading.Lock(), threading.Event()
        self._waiting, self._calls = [], itertools.count(1)
        self._threads = [
            threading.Thread(target=self._run, daemon=True) for _ in range(CARRIERS)]

    def start(self):
        for thread in self._threads:
            thread.start()
        return self

    def add(self, signed):
        with self._lock:
            self._waiting.append(signed)

    def _run(self):
        while not self._is_over.is_set():
            if not self._carry():
                self._is_over.wait(PAUSE)

    def _carry(self):
        """Hands one in, drawn from all that wait. False if it has to wait."""
        with self._lock:
            if not self._waiting:
                return False
            place = self._random.randrange(len(self._waiting))
            signed, is_kept = self._waiting[place], not self._random.randrange(12)
            port = self._random.choice(self._ledgers).proxy.port
        number = next(self._calls)
        self._log.write(act="ask", call=number, signed=signed)
        try:
            status, text = exchange(
                port, "POST", "/ledger/v1/notifications", {"signedPayload": signed}, None)
            answer = json.loads(text) if text else {}
        except TROUBLES as problem:
            self._log.write(act="lost", call=number, why=type(problem).__name__)
            return False
        if status >= 500 or status == 408:
            self._log.write(act="put off", call=number, status=status, answer=answer)
            return False
        self._log.write(act="heard", call=number, status=status, answer=answer)
        with self._lock:
            if not is_kept and signed in self._waiting:
                self._waiting.remove(signed)
        return True

    def rest(self):
        """Hands in what waits. True if nothing is left, false if nothing improves."""
        pause = threading.Event()
        left, deadline = len(self._waiting), time.monotonic() + PATIENCE_SECONDS
        while self._waiting and time.monotonic() < deadline:
            pause.wait(PAUSE)
            if len(self._waiting) < left:
                left, deadline = len(self._waiting), time.monotonic() + PATIENCE_SECONDS
        self.close()
        return not self._waiting

    def close(self):
        self._is_over.set()
        for thread in self._threads:
            thread.join(PATIENCE_SECONDS)
